"""Layers of a gamma belief network in plain NumPy: draws from the prior, and their density."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from scipy.special import gammaln

from ....kernels.poisson.weights import LEAST
from ...contract import Latents
from ...toolbox.draws import draw_dirichlet, log_gamma

TINY = float(np.finfo(float).tiny)


class Layered(Protocol):
    """What is asked of a model of layers."""

    @property
    def n_topics(self) -> int: ...  # noqa: D102
    @property
    def n_layers(self) -> int: ...  # noqa: D102
    @property
    def link_eta(self) -> float: ...  # noqa: D102
    @property
    def rate_shape(self) -> float: ...  # noqa: D102
    @property
    def rate_rate(self) -> float: ...  # noqa: D102


def draw_gammas(shape: np.ndarray, rate: np.ndarray | float, rng: np.random.Generator) -> np.ndarray:
    """Draw gamma variables of shapes (…, K), tiny or zero; see `kernels.poisson.weights.draw_gammas`."""
    logs = log_gamma(shape, np.shape(shape), rng) - np.log(rate)
    high = logs.max(axis=-1, keepdims=True)
    return np.exp(logs - high) * np.exp(np.maximum(high, np.log(LEAST)))


def draw_layers(
    model: Layered, n: int, n_documents: int, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
) -> Latents:
    """Draw weights, links, rates and theta of documents from the prior, `n` times: a first axis of all."""
    n_above, n_topics = model.n_layers - 1, model.n_topics
    r = draw_gammas(np.full((n, n_topics), float(hyper["gamma"]) / n_topics), float(hyper["c"]), rng)
    link = draw_dirichlet(np.full((n, n_above, n_topics, n_topics), model.link_eta), rng)
    return {"r": r, "link": link} | draw_documents(model, r, link, n_documents, rng)


def draw_documents(
    model: Layered, r: np.ndarray, link: np.ndarray, n_documents: int, rng: np.random.Generator
) -> Latents:
    """Draw ``rate`` (n, S - 1, D) and ``theta`` (n, S - 1, D, K) of documents given `r` (n, K) and links."""
    n, n_topics = r.shape
    n_above = model.n_layers - 1
    rate = rng.gamma(model.rate_shape, 1.0 / model.rate_rate, (n, n_above, n_documents))
    rate = np.maximum(rate, TINY)
    theta = np.empty((n, n_above, n_documents, n_topics))
    shape = np.broadcast_to(r[:, None], (n, n_documents, n_topics))
    for s in range(n_above - 1, -1, -1):
        theta[:, s] = draw_gammas(shape, rate[:, s, :, None], rng)
        shape = theta[:, s] @ link[:, s]
    return {"rate": rate, "theta": theta}


def log_gammas(x: np.ndarray, shape: np.ndarray, rate: np.ndarray | float) -> float:
    """Log density of gamma variables, summed; zero stands for the least positive number."""
    x, shape = np.maximum(x, TINY), np.maximum(shape, TINY)
    return float(np.sum(shape * np.log(rate) - gammaln(shape) + (shape - 1.0) * np.log(x) - rate * x))


def log_density(model: Layered, latents: Latents) -> float:
    """Log density of weights, links, rates and theta given gamma and c."""
    theta, link, rate, r = (latents[name] for name in ("theta", "link", "rate", "r"))
    n_topics, eta = model.n_topics, model.link_eta
    out = log_gammas(r, np.full(n_topics, float(latents["gamma"]) / n_topics), float(latents["c"]))
    out += log_gammas(rate, np.full(rate.shape, model.rate_shape), model.rate_rate)
    rows = link.shape[0] * n_topics
    out += rows * float(gammaln(n_topics * eta) - n_topics * gammaln(eta))
    out += (eta - 1.0) * float(np.sum(np.log(np.maximum(link, TINY))))
    for s in range(len(theta)):
        above = np.broadcast_to(r, theta[s].shape) if s == len(theta) - 1 else theta[s + 1] @ link[s + 1]
        out += log_gammas(theta[s], above, rate[s][:, None])
    return out
