"""References of models with a buffet: the NumPyro programs, and the data of the Stan programs.

The masks of tasks (sparse transfer) or of documents (focused) are enumerated, so that the cost doubles with
every topic.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...contract import Hyperparameter, Latents
from ...corpus import Corpus
from ...toolbox.draws import draw_categorical
from ...toolbox.laws import by_first_appearance
from ...toolbox.stan_data import stan_counts
from .generator import latents_of_tasks
from .lengths import Lengths

MOST_TOPICS = 10

SPARSE_TRANSFER_PARAMETERS = ("log_g", "phi", "log_weight", "shape", "mask", "alpha", "eta")
"""What `sparse_transfer_latents` needs of a draw; both programs use these names."""

FOCUSED_PARAMETERS = ("log_g", "phi", "strength", "inclusion", "mask", "alpha", "gamma", "eta")
"""What `focused_latents` needs of a draw; both programs use these names."""


def sparse_transfer(
    corpus: Corpus,
    truncation: int,
    alpha: Hyperparameter,
    epsilon: float,
    eta: Hyperparameter,
    a1: float,
    a2: float,
    lengths: Lengths,
    weak_limit: bool = False,
) -> Callable[[], None]:
    """Sparse transfer topic model with the `truncation` largest sticks of its buffet.

    Parameters
    ----------
    corpus : Corpus
        With a task for every group.
    truncation : int
        At most 10.
    alpha, eta : float or Gamma
    epsilon, a1, a2 : float
    lengths : {"none", "task", "document"}
        As in `SparseTransfer`.
    weak_limit : bool
        Sticks Beta(alpha / truncation, 1) instead.

    Returns
    -------
    callable
        NumPyro program with sites ``log_sticks`` (K,), ``shape`` (K,), ``log_weight`` (C, K), ``log_g``
        (D, K), ``phi`` (K, V), ``mask`` (C, 2^K), ``alpha`` and ``eta``. The K topics are exchangeable. A
        ``log_weight`` is that of a topic that is on; where it is off, it is a draw from its prior.

    Raises
    ------
    ValueError
        `truncation` is above 10.
    """
    check_truncation("sparse_transfer", truncation)
    counts, group, n_tasks = corpus.counts(), corpus.group_of_doc, corpus.n_groups

    def program() -> None:
        import jax.numpy as jnp
        import numpyro
        import numpyro.distributions as dist

        from ...toolbox import blocks
        from . import blocks as ibp

        masks = ibp.all_masks(truncation)
        log_alpha = blocks.log_hyperparameter("alpha", alpha)
        log_sticks = numpyro.sample(
            "log_sticks", ibp.BuffetSticks(jnp.exp(log_alpha), truncation, weak_limit)
        )
        shape = numpyro.sample("shape", dist.Gamma(a1, 1.0 / a2).expand([truncation]).to_event())
        log_weight = blocks.log_gamma("weight", jnp.log(shape), (n_tasks, truncation))
        log_g = blocks.log_gamma("g", log_weight[group], (len(group), truncation))
        log_phi = blocks.log_dirichlet(
            "phi", blocks.log_hyperparameter("eta", eta), (truncation, corpus.n_words)
        )
        numpyro.deterministic("log_weight", log_weight)
        numpyro.deterministic("log_g", log_g)
        ibp.masked_words(
            counts,
            group,
            n_tasks,
            ibp.log_mask_prior(log_sticks, epsilon, masks),
            log_weight,
            log_g,
            log_phi,
            masks,
            lengths,
        )

    return program


def sparse_transfer_data(
    corpus: Corpus,
    truncation: int,
    epsilon: float,
    a1: float,
    a2: float,
    lengths: Lengths,
    weak_limit: bool = False,
) -> dict[str, Any]:
    """Return the data of ``stan/sparse_transfer.stan`` but those of alpha and eta; see `sparse_transfer`."""
    check_truncation("sparse_transfer", truncation)
    return stan_counts(corpus) | {
        "K": truncation,
        "C": corpus.n_groups,
        "task": corpus.group_of_doc + 1,
        "lengths": ("none", "task", "document").index(lengths),
        "weak_limit": int(weak_limit),
        "epsilon": epsilon,
        "a1": a1,
        "a2": a2,
    }


def sparse_transfer_latents(
    draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
) -> Latents:
    """Draw masks and then topics of tokens; topics in use come first, then ghosts."""
    mask, g = masked_proportions(draw["mask"], draw["log_g"], corpus.group_of_doc, rng)
    z = draw_categorical(g[corpus.doc_of] * draw["phi"].T[corpus.words], rng)
    log_weight = np.where(mask, draw["log_weight"], -np.inf)
    return latents_of_tasks(z, log_weight, draw["shape"]) | {
        name: np.asarray(draw[name]) for name in ("alpha", "eta")
    }


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


def focused_data(corpus: Corpus, truncation: int) -> dict[str, Any]:
    """Return the data of ``stan/focused.stan`` but those of the hyperparameters; see `focused`."""
    check_truncation("focused", truncation)
    return stan_counts(corpus) | {"K": truncation}


def focused_latents(draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator) -> Latents:
    """Draw where topics are on and then topics of tokens; topics without tokens are left out."""
    _, g = masked_proportions(draw["mask"], draw["log_g"], np.arange(corpus.n_documents), rng)
    z, used = by_first_appearance(draw_categorical(g[corpus.doc_of] * draw["phi"].T[corpus.words], rng))
    return (
        {"z": z}
        | {name: draw[name][used] for name in ("strength", "inclusion")}
        | {name: np.asarray(draw[name]) for name in ("alpha", "gamma", "eta")}
    )


def masked_proportions(
    mask: np.ndarray, log_g: np.ndarray, task: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the tasks' masks; return them, bool (C, K), and the documents' weights of topics, (D, K).

    Parameters
    ----------
    mask : float (C, 2^K)
        Posterior of the masks.
    log_g : float (D, K)
    task : int (D,)
    rng : numpy.random.Generator
    """
    on = (draw_categorical(mask, rng)[:, None] >> np.arange(log_g.shape[1])) % 2 == 1
    kept = np.where(on[task], log_g, -np.inf)
    return on, np.exp(kept - np.max(kept, axis=1, keepdims=True, initial=np.finfo(float).min))


def check_truncation(model_id: str, truncation: int) -> None:
    """Raise ValueError unless all masks can be enumerated."""
    if not 1 <= truncation <= MOST_TOPICS:
        raise ValueError(
            f"{model_id}: the reference enumerates all sets of topics; expected a truncation of 1 to "
            f"{MOST_TOPICS}, found {truncation}"
        )
