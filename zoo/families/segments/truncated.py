"""Truncated sticks of sentences: generator, and the NumPyro program and data of its references."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...contract import Hyperparameter, Latents
from ...corpus import Corpus
from ...toolbox.draws import draw_categorical
from .order import Seating


def draw_dishes(seats: Seating, n_dishes: int, a: float, b: float, rng: np.random.Generator) -> np.ndarray:
    """Draw the dish of every token, int (N,), from weights of its sentence's own."""
    n_sentences = int(seats.sentence.max(initial=-1)) + 1
    sticks = rng.beta(a, b, (n_sentences, n_dishes))
    sticks[:, -1] = 1.0
    left = np.cumprod(1.0 - sticks, axis=1)
    weights = sticks * np.hstack([np.ones((n_sentences, 1)), left[:, :-1]])
    return draw_categorical(weights[seats.sentence], rng)


def mean_weights(n_dishes: int, a: float, b: float) -> np.ndarray:
    """Prior mean of a sentence's weights, float (T,)."""
    passed = (b / (a + b)) ** np.arange(n_dishes)
    return np.append(passed[:-1] * a / (a + b), passed[-1])


def counts_of(rows: np.ndarray, columns: np.ndarray, n_columns: int) -> np.ndarray:
    """How often each pair occurs, int (largest row + 1, n_columns)."""
    counts = np.zeros((int(rows.max(initial=-1)) + 1, n_columns), np.int64)
    np.add.at(counts, (rows, columns), 1)
    return counts


def word_counts(corpus: Corpus, seats: Seating) -> tuple[np.ndarray, np.ndarray]:
    """Count the words of sentences, int (S, V); and return the document of each sentence, int (S,)."""
    counts = counts_of(seats.sentence, corpus.words, corpus.n_words)
    document = np.zeros(len(counts), np.int64)
    document[seats.sentence] = seats.document
    return counts, document


def program(
    corpus: Corpus, seats: Seating, n_dishes: int, n_topics: int, hyper: Mapping[str, Hyperparameter]
) -> Callable[[], None]:
    """NumPyro program, dishes and topics of tokens summed out.

    Its sites are ``theta`` (S, T), ``dishes`` (D T, K), ``phi`` (K, V) and the hyperparameters.
    """
    counts, document = word_counts(corpus, seats)
    n_sentences, n_words = counts.shape

    def numpyro_program() -> None:
        import jax.numpy as jnp
        import numpyro
        from jax.scipy.special import logsumexp

        from ...toolbox import blocks

        log_a, log_b = (blocks.log_hyperparameter(name, hyper[name]) for name in ("a", "b"))
        log_kappa, log_eta = (blocks.log_hyperparameter(name, hyper[name]) for name in ("kappa", "eta"))
        shape = (n_sentences * (n_dishes - 1), 2)
        sticks: Any = blocks.log_dirichlet("sticks", jnp.stack([log_a, log_b]), shape)
        sticks = sticks.reshape(n_sentences, n_dishes - 1, 2)
        nothing = jnp.zeros((n_sentences, 1))
        left = jnp.hstack([nothing, jnp.cumsum(sticks[:, :, 1], axis=1)])
        log_theta = left + jnp.hstack([sticks[:, :, 0], nothing])
        numpyro.deterministic("theta", jnp.exp(log_theta))
        log_dishes = blocks.log_dirichlet("dishes", log_kappa, (corpus.n_documents * n_dishes, n_topics))
        log_phi = blocks.log_dirichlet("phi", log_eta, (n_topics, n_words))
        log_words = logsumexp(log_dishes[:, :, None] + log_phi, axis=1)
        by_document = log_words.reshape(corpus.n_documents, n_dishes, n_words)
        blocks.see_words(counts, log_theta, by_document, document)

    return numpyro_program


def latents_at(
    draw: Mapping[str, np.ndarray], corpus: Corpus, seats: Seating, rng: np.random.Generator
) -> Latents:
    """Draw dishes and topics of tokens given the parameters at one draw."""
    theta, phi = draw["theta"], draw["phi"]
    dishes = draw["dishes"].reshape(corpus.n_documents, theta.shape[1], len(phi))
    weights = theta[seats.sentence][:, :, None] * dishes[seats.document] * phi.T[corpus.words][:, None]
    both = draw_categorical(weights.reshape(corpus.n_tokens, -1), rng)
    hyper = {name: np.asarray(draw[name]) for name in ("a", "b", "kappa", "eta")}
    return {"z": both % len(phi), "dish": both // len(phi)} | hyper
