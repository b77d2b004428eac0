"""The law of topic vectors: a dish has one, from which its tokens have their topics.

    phi_dl ~ Dir(kappa, ..., kappa)                  where the number of topics is fixed,
    root ~ GEM(tau), phi_dl ~ DP(kappa, root)        where it is not.

Topic vectors are integrated out. Without bound, the weights of the topics that are represented are kept, and
after them one more, that of all others together: a topic without tokens. A token that draws it opens a topic
of its own, which takes its share (direct assignment; Teh, Jordan, Beal and Blei 2006, Section 5.3).
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..toolbox.jit import borrowing_kernel, kernel
from ..toolbox.random import concentration, dirichlet, is_sampled, log_beta_variate
from ..toolbox.sides import ROOM, check_positive, widened
from ..toolbox.smoothing import draw_smoothing


class TopicVectors(NamedTuple):
    """Dirichlet parameters of a dish, hyperparameters, and their priors, float64 (2,) or zeros.

    Attributes
    ----------
    base : float64 (capacity,)
        Parameter of each topic, kappa times `root`.
    root : float64 (capacity,)
        Ones where the number of topics is fixed; else weights of topics, the last in use of all others.
    mass : float64 (1,)
        Sum of `base`.
    n_topics : int64 (1,)
        Entries in use.
    tables : int64 (capacity,)
        Without bound, tables of all dishes with each topic, as a sweep noted them.
    next_token : int64 (1,)
        Where a pass that ran out of room goes on; 0 between passes.
    kappa, tau : float64 (1,)
        `tau` is zero where the number of topics is fixed.
    kappa_prior, tau_prior : float64 (2,)
    """

    base: np.ndarray
    root: np.ndarray
    mass: np.ndarray
    n_topics: np.ndarray
    tables: np.ndarray
    next_token: np.ndarray
    kappa: np.ndarray
    tau: np.ndarray
    kappa_prior: np.ndarray
    tau_prior: np.ndarray

    FIXED = ("kappa_prior", "tau_prior")
    BY_TOPIC = ("base", "root", "tables")


def make_vectors(
    latents: Mapping[str, np.ndarray], priors: Mapping[str, tuple[float, float]], n_topics: int
) -> TopicVectors:
    """Law that stands at the hyperparameters and, where `n_topics` is 0, at ``root`` among `latents`."""
    given = np.ones(n_topics) if n_topics else np.asarray(latents["root"], float)
    root = given if n_topics else widened(given, given.size + ROOM)
    kappa = float(latents["kappa"])
    return TopicVectors(
        base=kappa * root,
        root=root,
        mass=np.array([(n_topics or 1) * kappa]),
        n_topics=np.array([given.size]),
        tables=np.zeros(root.size, np.int64),
        next_token=np.zeros(1, np.int64),
        kappa=np.array([kappa]),
        tau=np.array([0.0 if n_topics else float(latents["tau"])]),
        kappa_prior=np.array(priors["kappa"], float),
        tau_prior=np.array((0.0, 0.0) if n_topics else priors["tau"], float),
    )


@borrowing_kernel
def is_unbounded(vectors):
    """Whether there are as many topics as are needed."""
    return vectors.tau[0] > 0.0


@borrowing_kernel
def is_full(vectors):
    """Whether a token that opens a topic would find no room."""
    return is_unbounded(vectors) and vectors.n_topics[0] == vectors.base.size


@borrowing_kernel
def open_topic(rng, vectors, k):
    """Split the weight of topic `k` off that of all others, if a token drew these."""
    if is_unbounded(vectors) and k == vectors.n_topics[0] - 1:
        split_rest(rng, vectors)


@kernel
def split_rest(rng, vectors):
    """Let one more topic have a share of the weight of all others: Beta(1, tau)."""
    k = vectors.n_topics[0] - 1
    log_share, log_left = log_beta_variate(rng, 1.0, vectors.tau[0])
    rest = vectors.root[k]
    vectors.root[k] = rest * math.exp(log_share)
    vectors.root[k + 1] = rest * math.exp(log_left)
    vectors.base[k] = vectors.kappa[0] * vectors.root[k]
    vectors.base[k + 1] = vectors.kappa[0] * vectors.root[k + 1]
    vectors.n_topics[0] += 1


@kernel
def spread(vectors):
    """Bring the parameters of topics up to date with kappa and the weights."""
    for k in range(vectors.n_topics[0]):
        vectors.base[k] = vectors.kappa[0] * vectors.root[k]
    vectors.mass[0] = vectors.kappa[0] * (1 if is_unbounded(vectors) else vectors.n_topics[0])


@kernel
def drop_empty_topics(tokens, topics, vectors):
    """Renumber the topics in use without gaps; the weight of all others is left to be drawn anew."""
    n_topics = vectors.n_topics[0] - 1
    name = np.full(n_topics, -1, np.int32)
    n_kept = 0
    for k in range(n_topics):
        if topics.total[k] > 0:
            name[k] = n_kept
            if n_kept < k:
                topics.counts[:, n_kept] = topics.counts[:, k]
                topics.total[n_kept] = topics.total[k]
                vectors.tables[n_kept] = vectors.tables[k]
            n_kept += 1
    if n_kept < n_topics:
        topics.counts[:, n_kept:n_topics] = 0
        topics.total[n_kept:n_topics] = 0
        vectors.n_topics[0] = n_kept + 1
        for i in range(tokens.topic.size):
            tokens.topic[i] = name[tokens.topic[i]]


@kernel
def update_root(rng, vectors, dish_size):
    """Draw kappa, tau and the weights of topics, given the tables that were noted.

    The tables of dishes are to the topics what those of documents are in a hierarchical Dirichlet process.
    """
    n_topics = vectors.n_topics[0] - 1
    n_tables = vectors.tables[:n_topics].sum()
    if is_sampled(vectors.kappa_prior):
        vectors.kappa[0] = concentration(rng, vectors.kappa[0], vectors.kappa_prior, n_tables, dish_size, 1.0)
    if is_sampled(vectors.tau_prior):
        vectors.tau[0] = concentration(
            rng, vectors.tau[0], vectors.tau_prior, n_topics, np.array([n_tables]), 1.0
        )
    vectors.root[:n_topics] = vectors.tables[:n_topics]
    vectors.root[n_topics] = vectors.tau[0]
    dirichlet(rng, vectors.root, n_topics + 1, vectors.root)


@kernel
def update_vectors(rng, vectors, tokens, topics, dish_size, in_dish):
    """Move kappa, and without bound tau and the weights of topics, unless they are fixed.

    Parameters
    ----------
    dish_size : int64 (dishes,)
    in_dish : int64 (most + 1,)
        How many pairs of dish and topic have so many tokens.
    """
    if is_unbounded(vectors):
        drop_empty_topics(tokens, topics, vectors)
        update_root(rng, vectors, dish_size)
    elif is_sampled(vectors.kappa_prior):
        n_topics = vectors.n_topics[0]
        draw_smoothing(rng, vectors.kappa, dish_size, in_dish, n_topics, vectors.kappa_prior)
    spread(vectors)


def with_room(part: Any) -> Any:
    """Copy of a state, or of a part of it, with twice the room for topics."""
    changed = {}
    for name, value in zip(part._fields, part, strict=True):
        if isinstance(value, tuple):
            changed[name] = with_room(value)
        elif name in getattr(part, "BY_TOPIC", ()):
            changed[name] = widened(value, 2 * value.shape[-1])
    return part._replace(**changed)


def values_of(vectors: TopicVectors) -> dict[str, np.ndarray]:
    """Return hyperparameters, and the weights of topics without bound, as latents."""
    kappa = {"kappa": np.array(vectors.kappa[0])}
    if vectors.tau[0] == 0.0:
        return kappa
    return kappa | {"tau": np.array(vectors.tau[0]), "root": vectors.root[: vectors.n_topics[0]].copy()}


def n_represented(vectors: TopicVectors) -> int:
    """Topics that tokens can have."""
    return int(vectors.n_topics[0]) - int(vectors.tau[0] > 0.0)


def check_vectors(vectors: TopicVectors) -> None:
    """Recount the statistics of topic vectors; raise AssertionError where one differs."""
    n, kappa, unbounded = vectors.n_topics[0], vectors.kappa[0], vectors.tau[0] > 0.0
    check_positive(kappa=vectors.kappa)
    if vectors.next_token[0] != 0:
        raise AssertionError("a pass was left unfinished")
    if unbounded:
        root = vectors.root[:n]
        if not (np.all((root >= 0.0) & np.isfinite(root)) and np.isclose(root.sum(), 1.0, atol=1e-12)):
            raise AssertionError("the weights of topics do not sum to one")
    if np.any(vectors.base[:n] != kappa * vectors.root[:n]):
        raise AssertionError("base is not kappa times root")
    if vectors.mass[0] != kappa * (1 if unbounded else n):
        raise AssertionError("mass is not that of kappa")
