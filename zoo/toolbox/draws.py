"""Random variates that NumPy lacks or draws badly, in plain NumPy."""

import numpy as np

from ..memory import require_memory
from ..priors import Hyperparameter, Prior


def log_gamma(
    shape: float | np.ndarray, size: tuple[int, ...] | None, rng: np.random.Generator
) -> np.ndarray:
    """Logarithms of gamma variates, which underflow themselves for tiny shapes: log X = log Y - E / shape.

    Y is a gamma variate of ``shape + 1`` and E an exponential one. A shape of zero gives -inf.
    """
    shape = np.where(np.asarray(shape) > 0.0, np.maximum(shape, 1e-300), 0.0)  # so that E / shape is finite
    with np.errstate(divide="ignore"):
        return np.log(rng.gamma(shape + 1.0, size=size)) - rng.exponential(size=size) / shape


def draw_dirichlet(shapes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Dirichlet draws, one a row of `shapes` (…, K); with tiny ones NumPy's own would divide zero by zero."""
    logs = log_gamma(shapes, shapes.shape, rng)
    out = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return out / out.sum(axis=-1, keepdims=True)


def draw_categorical(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one column index a row of unnormalised `weights` (R, K)."""
    cumulative = np.cumsum(weights, axis=1)
    u = rng.random(len(weights)) * cumulative[:, -1]
    return np.minimum((cumulative <= u[:, None]).sum(axis=1), weights.shape[1] - 1)


def draw_words(
    z: np.ndarray, n_topics: int, n_words: int, eta: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw a word for each token, from topics drawn from Dirichlet(`eta`)."""
    require_memory(24 * n_topics * n_words, f"{n_topics:,} topics of {n_words:,} words")
    topics = np.array([draw_dirichlet(np.full(n_words, eta), rng) for _ in range(n_topics)])
    topics = np.cumsum(topics.reshape(n_topics, n_words), axis=1)
    u = rng.random(z.size)
    return np.array(
        [min(np.searchsorted(topics[k], x), n_words - 1) for k, x in zip(z, u, strict=True)], np.int32
    )


def draw_hyperparameter(value: Hyperparameter, size: int | None, rng: np.random.Generator) -> np.ndarray:
    """Draw `size` values from a prior, one if None; a fixed value is repeated."""
    if isinstance(value, Prior):
        return np.asarray(value.draw(rng, size))
    return np.full(() if size is None else size, float(value))
