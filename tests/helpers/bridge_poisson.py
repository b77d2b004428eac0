"""Document sides of the family `poisson`, for bridges."""

import numpy as np
from bridge_toolbox import (
    CORPUS,
    TRUNCATION,
    Documents,
    Rates,
    Shares,
    hyper_of,
    own_density,
    root_of_sticks,
)
from scipy import stats
from scipy.integrate import quad
from scipy.special import gammaln


def pfa(model, values, sites):
    if model.n_topics or "popularity_x" in values:  # so many topics, and no more
        root = Shares.of(values, "root", values["gamma"] / len(values["root_x"]))
        density, share = root.log_density, np.exp(root.log_share)
    else:
        density, share = own_density(values, sites, "sticks"), root_of_sticks(values)
    mass = Shares.of(values, "mass", values["gamma"])
    r = np.exp(mass.log_g) / values["c"] * share
    density += mass.log_density + log_lengths(model.length_shape, np.full(CORPUS.n_documents, r.sum()))
    theta = Shares.of(values, "theta", np.broadcast_to(r, (CORPUS.n_documents, len(r))))
    return Documents(theta, {"r": np.append(r, 0.0)}, density)


def bgg(model, values, sites):
    parts = {site: Shares.of(values, site, shape) for site, shape in zip("pq", model.p_shapes, strict=True)}
    parts["r"] = Shares.of(values, "r", values["gamma"] / TRUNCATION)
    own = {
        "log_odds": parts["p"].log_g - parts["q"].log_g,
        "r": np.exp(parts["r"].log_g) / values["c"],
    }
    density = sum(part.log_density for part in parts.values())
    density += model.log_lengths(hyper_of(model, values) | own, CORPUS)
    shapes = np.broadcast_to(own["r"], (CORPUS.n_documents, TRUNCATION))
    return Documents(Rates.of(values, "theta", shapes, own["log_odds"]), own, density)


def gbn(model, values, sites):
    density, own = layers(model, values)
    shapes = own["theta"][0] @ own["link"][0]
    density += log_lengths(model.length_shape, shapes.sum(axis=1))
    return Documents(Shares.of(values, "theta", shapes), own, density)


def layers(model, values):
    """Log density of the upper layers of a gamma belief network, and its latents, the lengths apart."""
    above, n_documents = model.n_layers - 1, CORPUS.n_documents
    root = Shares.of(values, "root", values["gamma"] / TRUNCATION)
    mass = Shares.of(values, "mass", values["gamma"])
    link = Shares.of(values, "link", model.link_eta)
    links = np.exp(link.log_share).reshape(above, TRUNCATION, TRUNCATION)
    log_rate = values["log_rate"].reshape(above, n_documents)
    out = root.log_density + mass.log_density + link.log_density
    out += np.sum(stats.loggamma(model.rate_shape).logpdf(log_rate))
    rate, theta = np.exp(log_rate) / model.rate_rate, {}
    r = np.exp(mass.log_g) / values["c"] * np.exp(root.log_share)
    shapes = np.tile(r, (n_documents, 1))
    for s in reversed(range(above)):
        of_layer = {
            site: values[site].reshape(above, n_documents, TRUNCATION)[s]
            for site in ("rates_log_h", "rates_x")
        }
        rates = Shares.of(of_layer, "rates", shapes)
        out += rates.log_density
        theta[s] = np.exp(rates.log_g) / rate[s][:, None]
        shapes = theta[s] @ links[s]
    thetas = np.array([theta[s] for s in range(above)])
    return out, {"r": r, "link": links, "rate": rate, "theta": thetas}


def log_lengths(a, masses):
    """Log density of the lengths of documents, negative binomial, without the factors 1 / (N! B(a, a)).

    The integral over p of `Gamma(M + N) / Gamma(M) p^N (1 - p)^M p^(a - 1) (1 - p)^(a - 1)`.
    """
    out = 0.0
    if a == 0.0:  # lengths are given
        return out
    for mass, n in zip(masses, CORPUS.doc_lengths, strict=True):
        integral = quad(lambda p: 1.0, 0.0, 1.0, weight="alg", wvar=(n + a - 1.0, mass + a - 1.0))[0]
        out += gammaln(mass + n) - gammaln(mass) + np.log(integral)
    return out
