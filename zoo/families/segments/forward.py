"""References of processes of sticks by the forward algorithm: for documents too long to be enumerated.

Sticks stay in the programs. Given them, the dishes and tables of a document are summed over token by token;
see `lattice`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...contract import Hyperparameter, Latents
from ...corpus import Corpus
from ...toolbox.draws import draw_categorical
from .lattice import Lattice, log_offers, log_seats

NOTHING = -1e30
"""Log of no probability, of which there are derivatives."""


def words_of(lattice: Lattice, corpus: Corpus) -> np.ndarray:
    """Document, dish and word of each edge as one number, int (E,)."""
    token = lattice.token[lattice.step]
    return (corpus.doc_of[token] * lattice.n_dishes + lattice.dish) * corpus.n_words + corpus.words[token]


def program(
    lattice: Lattice, corpus: Corpus, n_topics: int, hyper: Mapping[str, Hyperparameter]
) -> Callable[[], None]:
    """NumPyro program; its sites are ``sticks`` (S J, 2), ``dishes`` (D L, K), ``phi`` and hyperparameters.

    Parameters
    ----------
    lattice : Lattice
    corpus : Corpus
    n_topics : int
    hyper : mapping of str to float or Prior
    """
    n_sentences, n_tables, n_dishes = lattice.n_sentences, lattice.n_tables, lattice.n_dishes
    words = words_of(lattice, corpus)

    def numpyro_program() -> None:
        import jax.numpy as jnp
        import numpyro
        from jax.scipy.special import logsumexp

        from ...toolbox import blocks

        log_a, log_b = (blocks.log_hyperparameter(name, hyper[name]) for name in ("a", "b"))
        zeta = blocks.hyperparameter("zeta", hyper["zeta"])
        log_kappa, log_eta = (blocks.log_hyperparameter(name, hyper[name]) for name in ("kappa", "eta"))
        shape = (n_sentences * n_tables, 2)
        sticks = blocks.log_dirichlet("sticks", jnp.stack([log_a, log_b]), shape)
        log_dishes = blocks.log_dirichlet("dishes", log_kappa, (corpus.n_documents * n_dishes, n_topics))
        log_phi = blocks.log_dirichlet("phi", log_eta, (n_topics, corpus.n_words))
        log_words = logsumexp(log_dishes[:, :, None] + log_phi, axis=1).ravel()
        log_edges = (
            log_seats(jnp, sticks.reshape(n_sentences, n_tables, 2))[lattice.seat]
            + log_offers(jnp, zeta, n_dishes)[lattice.offer]
            + log_words[words]
        )
        numpyro.factor("words", _forward(lattice, log_edges))

    return numpyro_program


def _forward(lattice: Lattice, log_edges: Any) -> Any:
    """Log probability of all documents, by a scan over their tokens; arrays are JAX's."""
    import jax
    import jax.numpy as jnp
    from jax.scipy.special import logsumexp

    first_state, step = lattice.first_state, lattice.step
    n_steps, n_states = first_state.size - 1, int(np.diff(first_state).max(initial=0))
    per_step = np.bincount(step, minlength=n_steps)
    place = np.arange(step.size) - np.repeat(np.cumsum(per_step) - per_step, per_step)
    shape = (n_steps, int(per_step.max(initial=0)))

    def padded(values: np.ndarray, filling: int) -> np.ndarray:
        out = np.full(shape, filling, np.int64)
        out[step, place] = values
        return out

    state = np.repeat(np.arange(lattice.first_edge.size - 1), np.diff(lattice.first_edge))
    before = lattice.source - np.append(0, first_state)[step]
    edges = padded(np.arange(step.size), step.size)
    sources = padded(np.where(lattice.source < 0, n_states, before), 0)
    targets = padded(state - first_state[step], n_states)
    is_reached = np.arange(n_states + 1) < np.diff(first_state)[:, None]
    padded_edges = jnp.append(log_edges, NOTHING)

    def seat(log_p: Any, token: Any) -> tuple[Any, Any]:
        edge, source, target, reached = token
        value = jnp.append(log_p, 0.0)[source] + padded_edges[edge]
        highest = jax.ops.segment_max(jax.lax.stop_gradient(value), target, n_states + 1)
        highest = jnp.where(reached, highest, 0.0)
        total = jax.ops.segment_sum(jnp.exp(value - highest[target]), target, n_states + 1)
        log_p = jnp.where(reached, jnp.log(jnp.where(reached, total, 1.0)) + highest, NOTHING)[:-1]
        return log_p, log_p

    start = jnp.full(n_states, NOTHING, log_edges.dtype)
    _, after = jax.lax.scan(seat, start, (edges, sources, targets, is_reached))
    return logsumexp(after[lattice.last], axis=1).sum()


def stan_data(lattice: Lattice, corpus: Corpus) -> dict[str, Any]:
    """Return what the Stan program asks for but hyperparameters and the number of topics."""
    return {
        "D": corpus.n_documents,
        "V": corpus.n_words,
        "L": lattice.n_dishes,
        "J": lattice.n_tables,
        "S": lattice.n_sentences,
        "N": lattice.token.size,
        "M": lattice.last.size,
        "T": lattice.first_edge.size - 1,
        "E": lattice.source.size,
        "last": lattice.last + 1,
        "first_state": lattice.first_state + 1,
        "first_edge": lattice.first_edge + 1,
        "source": lattice.source + 1,
        "seat": lattice.seat + 1,
        "offer": lattice.offer + 1,
        "word": words_of(lattice, corpus) + 1,
    }


def latents_at(
    draw: Mapping[str, np.ndarray],
    lattice: Lattice,
    corpus: Corpus,
    zeta: float,
    rng: np.random.Generator,
) -> Latents:
    """Draw dishes, by sampling backwards, and topics of tokens given the parameters at one draw."""
    n_tables, n_dishes = lattice.n_tables, lattice.n_dishes
    dishes, phi = draw["dishes"].reshape(corpus.n_documents, n_dishes, -1), draw["phi"]
    with np.errstate(divide="ignore"):
        log_sticks, log_words = np.log(draw["sticks"].reshape(-1, n_tables, 2)), np.log(dishes @ phi).ravel()
    log_edges = log_seats(np, log_sticks)[lattice.seat] + log_offers(np, zeta, n_dishes)[lattice.offer]
    log_edges += log_words[words_of(lattice, corpus)]
    dish = np.zeros(corpus.n_tokens, np.int64)
    log_p = log_forward(lattice, log_edges)
    ends = set(lattice.last.tolist())
    state = -1
    for n in range(lattice.token.size)[::-1]:
        if n in ends:
            first, behind = lattice.first_state[n : n + 2]
            state = first + _draw(log_p[first:behind], rng)
        begin, end = lattice.first_edge[state : state + 2]
        source = lattice.source[begin:end]
        edge = begin + _draw(log_edges[begin:end] + np.where(source < 0, 0.0, log_p[source]), rng)
        dish[lattice.token[n]], state = lattice.dish[edge], lattice.source[edge]
    z = draw_categorical(dishes[corpus.doc_of, dish] * phi.T[corpus.words], rng)
    return {"z": z, "dish": dish}


def log_forward(lattice: Lattice, log_edges: np.ndarray) -> np.ndarray:
    """Log probability of the words up to each token and of the state after it, float (T,)."""
    log_p = np.zeros(lattice.first_edge.size - 1)
    for first, end in zip(lattice.first_state[:-1], lattice.first_state[1:], strict=True):
        edges = slice(lattice.first_edge[first], lattice.first_edge[end])
        source = lattice.source[edges]
        values = log_edges[edges] + np.where(source < 0, 0.0, log_p[source])
        log_p[first:end] = np.logaddexp.reduceat(values, lattice.first_edge[first:end] - edges.start)
    return log_p


def _draw(log_weights: np.ndarray, rng: np.random.Generator) -> int:
    return int(draw_categorical(np.exp(log_weights - log_weights.max())[None], rng)[0])
