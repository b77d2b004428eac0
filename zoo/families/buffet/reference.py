"""References of the sparse transfer topic model: the NumPyro program, and the data of the Stan program.

The tasks' masks are enumerated, so that the cost doubles with every topic.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...contract import Latents
from ...corpus import Corpus
from ...toolbox.draws import draw_categorical
from ...toolbox.stan_data import stan_counts
from .generator import latents_of_tasks

if TYPE_CHECKING:
    from ...models.sparse_transfer import SparseTransfer

MOST_TOPICS = 10

PARAMETERS = ("log_g", "phi", "log_weight", "shape", "mask", "alpha", "eta")
"""What `latents_of` needs of a draw; both programs use these names."""


def sparse_transfer(
    model: "SparseTransfer", corpus: Corpus, truncation: int, weak_limit: bool = False
) -> Callable[[], None]:
    """Sparse transfer topic model with the `truncation` largest sticks of its buffet.

    Parameters
    ----------
    model : SparseTransfer
    corpus : Corpus
        With a task for every group.
    truncation : int
        At most 10.
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
        log_alpha = blocks.log_hyperparameter("alpha", model.alpha)
        log_sticks = numpyro.sample(
            "log_sticks", ibp.BuffetSticks(jnp.exp(log_alpha), truncation, weak_limit)
        )
        shape = numpyro.sample("shape", dist.Gamma(model.a1, 1.0 / model.a2).expand([truncation]).to_event())
        log_weight = blocks.log_gamma("weight", jnp.log(shape), (n_tasks, truncation))
        log_g = blocks.log_gamma("g", log_weight[group], (len(group), truncation))
        log_phi = blocks.log_dirichlet(
            "phi", blocks.log_hyperparameter("eta", model.eta), (truncation, corpus.n_words)
        )
        numpyro.deterministic("log_weight", log_weight)
        numpyro.deterministic("log_g", log_g)
        ibp.masked_words(
            counts,
            group,
            n_tasks,
            ibp.log_mask_prior(log_sticks, model.epsilon, masks),
            log_weight,
            log_g,
            log_phi,
            masks,
            model.lengths,
        )

    return program


def stan_data(
    model: "SparseTransfer", corpus: Corpus, truncation: int, weak_limit: bool = False
) -> dict[str, Any]:
    """Return the data of ``stan/sparse_transfer.stan`` but those of alpha and eta; see `sparse_transfer`."""
    check_truncation("sparse_transfer", truncation)
    return stan_counts(corpus) | {
        "K": truncation,
        "C": corpus.n_groups,
        "task": corpus.group_of_doc + 1,
        "lengths": ("none", "task", "document").index(model.lengths),
        "weak_limit": int(weak_limit),
        "epsilon": model.epsilon,
        "a1": model.a1,
        "a2": model.a2,
    }


def latents_of(draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator) -> Latents:
    """Draw masks and then topics of tokens; topics in use come first, then ghosts."""
    mask, g = masked_proportions(draw["mask"], draw["log_g"], corpus.group_of_doc, rng)
    z = draw_categorical(g[corpus.doc_of] * draw["phi"].T[corpus.words], rng)
    log_weight = np.where(mask, draw["log_weight"], -np.inf)
    return latents_of_tasks(z, log_weight, draw["shape"]) | {
        name: np.asarray(draw[name]) for name in ("alpha", "eta")
    }


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
