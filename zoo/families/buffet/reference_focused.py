"""References of the focused topic model: the NumPyro program, and the data of the Stan program.

The documents' sets of topics are enumerated, so that the cost doubles with every topic.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...contract import Hyperparameter, Latents
from ...corpus import Corpus
from ...toolbox.draws import draw_categorical
from ...toolbox.laws import by_first_appearance
from ...toolbox.stan_data import stan_counts
from .reference import check_truncation, masked_proportions

PARAMETERS = ("log_g", "phi", "strength", "inclusion", "mask", "alpha", "gamma", "eta")
"""What `latents_of` needs of a draw; both programs use these names."""


def focused(
    corpus: Corpus, truncation: int, alpha: Hyperparameter, gamma: Hyperparameter, eta: Hyperparameter
) -> Callable[[], None]:
    """Focused topic model with the `truncation` largest sticks of its buffet.

    It is the sparse transfer model of documents that are tasks of their own and share their topics' weights.

    Parameters
    ----------
    corpus : Corpus
    truncation : int
        At most 10.
    alpha, gamma, eta : float or Gamma

    Returns
    -------
    callable
        NumPyro program with sites ``inclusion`` (K,), ``strength`` (K,), ``log_g`` (D, K), ``phi`` (K, V),
        ``mask`` (D, 2^K), ``alpha``, ``gamma`` and ``eta``. The K topics are exchangeable.

    Raises
    ------
    ValueError
        `truncation` is above 10.
    """
    check_truncation("focused", truncation)
    counts = corpus.counts()
    size = (corpus.n_documents, truncation)

    def program() -> None:
        import jax.numpy as jnp
        import numpyro

        from ...toolbox import blocks
        from . import blocks as ibp

        masks = ibp.all_masks(truncation)
        log_alpha = blocks.log_hyperparameter("alpha", alpha)
        log_gamma = blocks.log_hyperparameter("gamma", gamma)
        log_sticks = numpyro.sample("log_sticks", ibp.BuffetSticks(jnp.exp(log_alpha), truncation))
        log_strength = blocks.log_gamma("strength", log_gamma, (1, truncation))
        log_g = blocks.log_gamma("g", log_strength, size)
        log_eta = blocks.log_hyperparameter("eta", eta)
        log_phi = blocks.log_dirichlet("phi", log_eta, (truncation, corpus.n_words))
        numpyro.deterministic("inclusion", jnp.exp(log_sticks))
        numpyro.deterministic("strength", jnp.exp(log_strength[0]))
        numpyro.deterministic("log_g", log_g)
        ibp.masked_words(
            counts,
            np.arange(corpus.n_documents),
            corpus.n_documents,
            ibp.log_mask_prior(log_sticks, 1.0, masks),
            jnp.broadcast_to(log_strength, size),
            log_g,
            log_phi,
            masks,
            "document",
        )

    return program


def stan_data(corpus: Corpus, truncation: int) -> dict[str, Any]:
    """Return the data of ``stan/focused.stan`` but those of the hyperparameters; see `focused`."""
    check_truncation("focused", truncation)
    return stan_counts(corpus) | {"K": truncation}


def latents_of(draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator) -> Latents:
    """Draw where topics are on and then topics of tokens; topics without tokens are left out."""
    _, g = masked_proportions(draw["mask"], draw["log_g"], np.arange(corpus.n_documents), rng)
    z, used = by_first_appearance(draw_categorical(g[corpus.doc_of] * draw["phi"].T[corpus.words], rng))
    return (
        {"z": z}
        | {name: draw[name][used] for name in ("strength", "inclusion")}
        | {name: np.asarray(draw[name]) for name in ("alpha", "gamma", "eta")}
    )
