"""The fourth version of a model against its references, without Monte Carlo error.

The density of a NumPyro program at its continuous parameters equals the sum, over all topics z of the tokens
of a micro corpus, of the model's density of z times the laws of these parameters given z. A reference makes
Dirichlet variables of gamma variates, and these of two variables each; what is left, given the Dirichlet
variables, does not depend on z, save in a scaling process, whose bridge stands at some u. Sticks that are cut
off have the reference's own density, which is tested by itself, and so have Pitman-Yor topics. `test_stan.py`
compares the Stan programs with those of NumPyro.
"""

from dataclasses import replace
from functools import cache
from itertools import product
from typing import NamedTuple

import jax
import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import neighbours
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.families.labels.family import LabelledFamily
from bnpzoo.zoo.models import get
from numpyro import handlers
from numpyro.infer import init_to_uniform
from numpyro.infer.util import log_density
from scipy import sparse, stats
from scipy.integrate import quad
from scipy.special import gammaln, logsumexp
from spelled_out import FORMS, WITH_REFERENCE

CORPUS = Design(
    np.array([2, 1, 0, 1, 1]), n_words=4, group=np.array([2, 0, 1, 2, 0]), associations=neighbours(4, 3)
).corpus(np.array([0, 3, 1, 3, 0]))
"""As little symmetry as five tokens have: five documents, four words, three groups; two topics."""

SETS = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
"""Labels of the documents in the forms that take sets; nobody has the last."""

OF_SETS = replace(Design.of(CORPUS), covariates={"tag": sparse.csr_array(SETS)}).corpus(CORPUS.words)

TRUNCATION = 2
SUPERVISED = ("slda", "medlda", "shdp")
POINTS, DRAWS = 3, 400


def make(name):
    """Model before the ladder, every hyperparameter under a prior of its own."""
    model_id, options = FORMS[name]
    model = get(model_id, **options).set_to("prior")
    return model.replaced(**{key: value for key, value in options.items() if key != "topics"})


def corpus_of(model):
    """Corpus of a model: documents have sets of labels where it takes them."""
    return OF_SETS if getattr(model, "labels", "") == "tag" else CORPUS


def shapes_of(program):
    """Shapes of the sample sites of a NumPyro program."""
    sites = {}

    def collect():
        seeded = handlers.seed(program, jax.random.key(0))
        sites.update(handlers.trace(handlers.substitute(seeded, substitute_fn=init_to_uniform)).get_trace())

    jax.eval_shape(collect)
    return {
        name: site["value"].shape
        for name, site in sites.items()
        if site["type"] == "sample" and not site["is_observed"]
    }


def point(model, program, rng):
    """Values of all sample sites."""
    priors, out, shapes = model.hyperparameters(), {}, shapes_of(program)
    is_deep = not shapes.keys().isdisjoint({"popularity_x", "rates_x"})
    scale = 0.02 if is_deep else 1.0  # or layers upon layers of tiny shapes leave no word
    for name, shape in shapes.items():
        if name in priors:
            out[name] = np.asarray(priors[name].draw(rng, shape or None))
        elif name == "shape":
            out[name] = rng.gamma(2.0, 0.7, shape)
        elif name == "log_sticks":
            out[name] = -rng.exponential(1.0, shape)
        elif name == "cut":
            out[name] = rng.uniform(size=shape)
        elif name.endswith("_x"):
            out[name] = rng.exponential(scale, shape)
        else:
            out[name] = rng.normal(size=shape)
    return out


class Shares(NamedTuple):
    """Rows of a Dirichlet variable, and the density of what they are made of.

    Attributes
    ----------
    shapes, log_share : float (…, K)
    log_g : float (…, K)
        Logarithms of the gamma variates.
    log_density : float
    """

    shapes: np.ndarray
    log_share: np.ndarray
    log_g: np.ndarray
    log_density: float

    @classmethod
    def of(cls, values, site, shapes):
        """Read off the values of `site`: log h - x / a, h ~ Gamma(a + 1, 1) and x ~ Exponential(1)."""
        log_h, x = values[f"{site}_log_h"], values[f"{site}_x"]
        shapes = np.broadcast_to(shapes, x.shape)
        log_g = log_h - x / shapes
        density = np.sum(stats.loggamma(shapes + 1.0).logpdf(log_h)) + np.sum(stats.expon.logpdf(x))
        return cls(shapes, log_g - logsumexp(log_g, axis=-1, keepdims=True), log_g, float(density))

    def tilt(self, counts):
        """Log of the Dirichlet density given counts over that without them."""
        return log_tilt(self.shapes, self.log_share, counts)


class Rates(NamedTuple):
    """Gamma variables, with the odds p / (1 - p) as their scale, and the density of what they are made of."""

    shapes: np.ndarray
    log_odds: np.ndarray
    log_g: np.ndarray
    log_density: float

    @classmethod
    def of(cls, values, site, shapes, log_odds):
        """Read off the values of `site`; see `Shares.of`."""
        made = Shares.of(values, site, shapes)
        return cls(made.shapes, log_odds, made.log_g, made.log_density)

    def tilt(self, counts):
        """Log of the gamma densities given Poisson counts, of scale p, over those without them."""
        theta, p = np.exp(self.log_g + self.log_odds), 1.0 / (1.0 + np.exp(-self.log_odds))
        given = stats.gamma.logpdf(theta, self.shapes + counts, scale=p)
        return float(np.sum(given - stats.gamma.logpdf(theta, self.shapes, scale=np.exp(self.log_odds))))


def log_tilt(shapes, log_share, counts):
    total, n = shapes.sum(axis=-1), counts.sum(axis=-1)
    constants = np.sum(gammaln(total + n) - gammaln(total)) - np.sum(
        gammaln(shapes + counts) - gammaln(shapes)
    )
    return float(constants + np.sum(counts * log_share))


def tally(shape, *index):
    out = np.zeros(shape)
    np.add.at(out, index, 1)
    return out


def of_seeds(model, n_topics, n_words):
    """What is added to eta for a word of a topic."""
    if model.spelled().get("topics") != "seeded":
        return 0.0
    out = np.zeros((n_topics, n_words))
    for k, words in enumerate(model.topics.seeds):
        out[k, list(words)] = model.topics.seed_tokens
    return out


def bridge(model, values, sites):
    """Log density of the reference at `values`, from the model's densities."""
    model_id, corpus = model.card.id, corpus_of(model)
    n_documents, n_words, n_groups = corpus.n_documents, corpus.n_words, corpus.n_groups
    group, doc, words = corpus.group_of_doc, corpus.doc_of, corpus.words
    own_bridges = {
        "sparse_transfer": transfer,
        "focused": focused,
        "author_topic": by_authors,
        "dp_mrm": of_measures,
        "hdsp": scaled,
        "whdsp": scaled,
    }
    if model_id in own_bridges:
        return own_bridges[model_id](model, values, sites)
    hyper = {name: values[name] for name in model.hyperparameters()}
    latents, fixed, n_topics = dict(hyper), 0.0, 2
    is_belief_network = "popularity_x" in values
    match model_id:
        case "lda":
            alpha = values["alpha"]
            latents["alpha"] = alpha[0] if model.symmetric else alpha
            prior = np.broadcast_to(alpha, (n_documents, n_topics))
        case "hdp" | "mt_hdp" | "shdp":
            root = np.exp(values["sticks"] - logsumexp(values["sticks"]))
            fixed += float(sites["sticks"]["fn"].log_prob(values["sticks"]))
            latents["root"] = np.append(root, 0.0)
            if model_id != "mt_hdp":
                prior = np.broadcast_to(values["alpha"] * root, (n_documents, n_topics))
            else:
                tasks = Shares.of(values, "tasks", values["alpha0"] * root)
                fixed += tasks.log_density
                latents["tasks"] = np.column_stack([np.exp(tasks.log_share), np.zeros(n_groups)])
                prior = (values["alpha"][:, None] * np.exp(tasks.log_share))[group]
        case "labeled_lda" | "partially_labeled_lda" | "dmr":
            if model_id == "dmr":
                standard = values["standard_coefficients"]
                fixed += float(np.sum(stats.norm.logpdf(standard)))
                latents["log_factor"] = model.deviations(hyper, len(standard)) * standard
            n_topics = model.n_topics_of(latents)
            prior = model.document_prior(latents, corpus)[model.document_rows(corpus), :-1]
            prior = np.maximum(prior, np.exp(-300.0))  # of topics that a document may not have
        case "pfa":
            if model.n_topics or is_belief_network:  # so many topics, and no more
                root = Shares.of(values, "root", values["gamma"] / len(values["root_x"]))
                fixed, share = fixed + root.log_density, np.exp(root.log_share)
            else:
                fixed += float(sites["sticks"]["fn"].log_prob(values["sticks"]))
                share = np.exp(values["sticks"] - logsumexp(values["sticks"]))
            mass = Shares.of(values, "mass", values["gamma"])
            r = np.exp(mass.log_g) / values["c"] * share
            fixed += mass.log_density + log_lengths(model.length_shape, np.full(n_documents, r.sum()), corpus)
            latents["r"], n_topics = np.append(r, 0.0), len(r)
            prior = np.broadcast_to(r, (n_documents, n_topics))
        case "bgg":
            parts = {
                site: Shares.of(values, site, shape) for site, shape in zip("pq", model.p_shapes, strict=True)
            }
            parts["r"] = Shares.of(values, "r", values["gamma"] / n_topics)
            fixed += sum(part.log_density for part in parts.values())
            latents["log_odds"] = parts["p"].log_g - parts["q"].log_g
            latents["r"] = np.exp(parts["r"].log_g) / values["c"]
            fixed += model.log_lengths(latents, corpus)
            prior = np.broadcast_to(latents["r"], (n_documents, n_topics))
        case "gbn":
            density, of_layers = layers(model, values)
            fixed += density
            latents |= of_layers
            prior = of_layers["theta"][0] @ of_layers["link"][0]
            fixed += log_lengths(model.length_shape, prior.sum(axis=1), corpus)
        case "slda" | "medlda":
            latents["alpha"] = values["alpha"][0]
            prior = np.broadcast_to(values["alpha"], (n_documents, n_topics))
        case "metalda":
            fixed += float(np.sum(stats.loggamma(model.weight_shape).logpdf(values["weight_x"])))
            latents["log_weight"] = values["weight_x"] - np.log(model.weight_rate)
            prior = np.exp(features_of(model) @ latents["log_weight"])
        case _:
            prior = np.broadcast_to(values["alpha"][group, None], (n_documents, n_topics))
    if model_id in SUPERVISED:
        standard = values["standard_coefficients"]
        fixed += float(np.sum(stats.norm.logpdf(standard)))
        of = [0] * (len(standard) - 1) + [1]  # the group is a category, and a number
        latents["intercept"] = values["intercept_precision"][of] ** -0.5 * standard[:, 0]
        latents["coefficient"] = values["precision"][of, None] ** -0.5 * standard[:, 1:]
    if model_id == "bgg":
        theta = Rates.of(values, "theta", prior, latents["log_odds"])
    else:
        theta = Shares.of(values, "theta", prior)
    fixed += theta.log_density
    has_own_law = is_belief_network or "phi_stable" in values  # which is seen to in tests of these families
    if is_belief_network:
        of_documents = {*hyper, "standard_coefficients", "weight_x"}
        of_gammas = ("theta", "root", "sticks", "tasks", "mass", "log_rate", "rates_", "link_log_h", "link_x")
        of_gammas += ("r_", "p_", "q_")
        own = [site for site in values if site not in of_documents and not site.startswith(of_gammas)]
        fixed += sum(float(np.sum(sites[site]["fn"].log_prob(values[site]))) for site in own)
        log_phi = np.repeat(np.log(sites["phi"]["value"])[None], n_groups, 0)
    elif has_own_law:
        fixed += Shares.of(values, "phi0", values["eta"]).log_density
        fixed += float(np.sum(sites["phi_stable"]["fn"].log_prob(values["phi_stable"])))
        log_phi = np.log(sites["phi"]["value"])
    else:
        phi = Shares.of(values, "phi", values["eta"] + of_seeds(model, n_topics, n_words))
        fixed += phi.log_density
    if model_id == "cclda":
        sigma = Shares.of(values, "sigma", values["delta"])
        origin = Shares.of(values, "origin", np.array([values["gamma0"], values["gamma1"]]))
        fixed += sigma.log_density + origin.log_density
    terms = []
    for k in model.assignments(corpus) if isinstance(model, LabelledFamily) else all_topics(n_topics):
        z = k + n_topics * group[doc] if model_id == "group_lda" else k
        at = latents | {"z": z}
        out = theta.tilt(tally((n_documents, n_topics), doc, k))
        if has_own_law:
            out += model.log_assignments(at, corpus) + log_phi[group[doc], k, words].sum()
        elif model_id == "group_lda":
            out += model.log_assignments(at, corpus) + model.log_likelihood(at, corpus)
            out += phi.tilt(tally((n_groups, n_topics, n_words), group[doc], k, words))
        elif model_id == "cclda":
            of_origins = []
            for own in product((0, 1), repeat=corpus.n_tokens):
                s, g = np.array(own), group[doc]
                here = at | {"own": s}
                is_own = s == 1
                of_origins.append(
                    model.log_assignments(here, corpus)
                    + model.log_likelihood(here, corpus)
                    + phi.tilt(tally((n_topics, n_words), k[~is_own], words[~is_own]))
                    + sigma.tilt(tally((n_groups, n_topics, n_words), g[is_own], k[is_own], words[is_own]))
                    + origin.tilt(tally((n_groups, n_topics, 2), g, k, s))
                )
            out += logsumexp(of_origins)
        else:
            out += model.log_assignments(at, corpus) + model.log_likelihood(at, corpus)
            out += phi.tilt(tally((n_topics, n_words), k, words))
        if model_id in SUPERVISED:
            out += log_responses(model, latents, k)
        terms.append(out)
    return fixed + model.log_hyperparameters(hyper) + logsumexp(terms)


def features_of(model):
    """Features of the documents: one that all have, and their labels, float (D, 1 + J)."""
    labels = SETS if corpus_of(model) is OF_SETS else np.eye(CORPUS.n_groups)[CORPUS.group_of_doc]
    return np.column_stack([np.ones(len(labels)), labels])


def layers(model, values):
    """Log density of the upper layers of a gamma belief network, and its latents, the lengths apart."""
    above, n_documents = model.n_layers - 1, CORPUS.n_documents
    root, mass = (
        Shares.of(values, "root", values["gamma"] / TRUNCATION),
        Shares.of(values, "mass", values["gamma"]),
    )
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


def log_lengths(a, masses, corpus):
    """Log density of the lengths of documents, negative binomial, without the factors 1 / (N! B(a, a)).

    The integral over p of `Gamma(M + N) / Gamma(M) p^N (1 - p)^M p^(a - 1) (1 - p)^(a - 1)`.
    """
    out = 0.0
    if a == 0.0:  # lengths are given
        return out
    for mass, n in zip(masses, corpus.doc_lengths, strict=True):
        integral = quad(lambda p: 1.0, 0.0, 1.0, weight="alg", wvar=(n + a - 1.0, mass + a - 1.0))[0]
        out += gammaln(mass + n) - gammaln(mass) + np.log(integral)
    return out


def log_responses(model, latents, z):
    """Log probability, or factor, of the groups as categories, and as numbers, given topics."""
    counts = tally((CORPUS.n_documents, TRUNCATION), CORPUS.doc_of, z)
    shares = counts / np.maximum(CORPUS.doc_lengths, 1)[:, None]
    *own, mean = (latents["intercept"] + shares @ latents["coefficient"].T).T
    group = CORPUS.group_of_doc
    if model.card.id == "medlda":
        sides = np.where(np.arange(CORPUS.n_groups) == group[:, None], 1.0, -1.0)
        loss = np.maximum(0.0, model.margin - sides * np.transpose(own)).sum(axis=1)
        of_categories = -2.0 * model.cost * loss
    else:
        odds = np.column_stack([np.zeros(len(group)), *own])
        of_categories = odds[np.arange(len(group)), group] - logsumexp(odds, axis=1)
    return np.sum(of_categories + stats.norm(mean, latents["noise_precision"][0] ** -0.5).logpdf(group))


def all_topics(n_topics):
    """All topics that the tokens of the corpus may have."""
    return (np.array(k) for k in product(range(n_topics), repeat=CORPUS.n_tokens))


def authors_of(corpus):
    """Return the authors of the documents, and how many there are: an unknown one has the next number."""
    is_of_sets = corpus is OF_SETS
    own = (
        [np.flatnonzero(row) for row in SETS] if is_of_sets else [np.array([g]) for g in corpus.group_of_doc]
    )
    n_labels = SETS.shape[1] if is_of_sets else corpus.n_groups
    unknown = [d for d, authors in enumerate(own) if not authors.size]
    own = [
        authors if authors.size else np.array([n_labels + unknown.index(d)]) for d, authors in enumerate(own)
    ]
    return own, n_labels + len(unknown)


def by_authors(model, values, sites):
    """Bridge to the author-topic model: the sum is over the authors of the tokens as well."""
    corpus = corpus_of(model)
    own, n_authors = authors_of(corpus)
    hyper = {name: values[name] for name in model.hyperparameters()}
    theta, phi = Shares.of(values, "of_author", values["alpha"]), Shares.of(values, "phi", values["eta"])
    assert theta.log_g.shape == (n_authors, TRUNCATION)
    terms = []
    for authors in product(*(own[d] for d in corpus.doc_of)):
        for z in all_topics(TRUNCATION):
            latents = hyper | {"z": z, "author": np.array(authors)}
            terms.append(
                model.log_assignments(latents, corpus)
                + model.log_likelihood(latents, corpus)
                + theta.tilt(tally((n_authors, TRUNCATION), np.array(authors), z))
                + phi.tilt(tally((TRUNCATION, corpus.n_words), z, corpus.words))
            )
    fixed = theta.log_density + phi.log_density + model.log_hyperparameters(hyper)
    return fixed + logsumexp(terms)


def of_measures(model, values, sites):
    """Bridge to mixed random measures; a document without labels may have any, one of one has no shares."""
    corpus = corpus_of(model)
    hyper = {name: values[name] for name in model.hyperparameters()}
    has = SETS > 0 if corpus is OF_SETS else np.eye(corpus.n_groups)[corpus.group_of_doc] > 0
    has = np.where(has.any(axis=1, keepdims=True), has, True)
    n_labels = has.shape[1]
    # Documents of the same single label share a row; these come first, and all others have their own.
    keys = [
        (n, own.argmax() if n == 1 else d)
        for d, (n, own) in enumerate(zip(has.sum(axis=1), has, strict=True))
    ]
    rows = sorted(set(keys), key=lambda key: (key[0] > 1, key[1]))
    has_row = np.array([has[keys.index(row)] for row in rows])
    share = Shares.of(values, "share", np.where(has_row, values["tau"], np.exp(-300.0)))
    cut = values["cut"]
    sticks = np.column_stack([cut, 1.0 - cut])  # two a label, the last being all that is left
    weights = np.exp(share.log_share)[[rows.index(key) for key in keys]]
    theta_shape = values["alpha"] * (weights[:, :, None] * sticks).reshape(len(keys), -1)
    theta = Shares.of(values, "theta", np.maximum(theta_shape, np.exp(-300.0)))
    phi = Shares.of(values, "phi", values["eta"])
    fixed = share.log_density + theta.log_density + phi.log_density + model.log_hyperparameters(hyper)
    fixed += np.sum(stats.beta(1.0, values["gamma"]).logpdf(cut))
    root = np.zeros((n_labels, n_labels * TRUNCATION + 1))
    for j in range(n_labels):
        root[j, TRUNCATION * j : TRUNCATION * (j + 1)] = sticks[j]
    several = has_row.sum(axis=1) > 1
    of_several = np.exp(share.log_share)[several][has_row[several]]
    latents = hyper | {"root": root} | ({"share": of_several} if several.any() else {})
    may_have = [np.flatnonzero(np.repeat(has[d], TRUNCATION)) for d in corpus.doc_of]
    terms = []
    for z in map(np.array, product(*may_have)):
        at = latents | {"z": z}
        terms.append(
            model.log_assignments(at, corpus)
            + model.log_likelihood(at, corpus)
            + theta.tilt(tally(theta.log_g.shape, corpus.doc_of, z))
            + phi.tilt(tally(phi.log_g.shape, z, corpus.words))
        )
    return fixed + logsumexp(terms)


def labels_of(model):
    """Labels of the documents of a scaling process; `whdsp` takes the group as a number as well."""
    if corpus_of(model) is OF_SETS:
        return SETS
    group, labels = CORPUS.group_of_doc, np.eye(CORPUS.n_groups)[CORPUS.group_of_doc]
    is_number = model.card.id == "whdsp"
    return np.column_stack([labels, (group - group.mean()) / group.std()]) if is_number else labels


def scaled(model, values, sites):
    """Bridge to the scaling processes, at some u: the model's density has it, and the reference has not.

    Given topics and u, the gamma variates g of a document are independent, of rates 1 + u s.
    """
    corpus, labels = corpus_of(model), labels_of(model)
    hyper = {name: values[name] for name in model.hyperparameters()}
    root = np.exp(values["sticks"] - logsumexp(values["sticks"]))
    g = Shares.of(values, "theta", values["alpha"] * root)
    phi = Shares.of(values, "phi", values["eta"])
    fixed = g.log_density + phi.log_density + model.log_hyperparameters(hyper)
    fixed += float(sites["sticks"]["fn"].log_prob(values["sticks"]))
    if model.card.id == "hdsp":  # log w, of w ~ InvGamma
        fixed += np.sum(stats.loggamma(values["w_shape"]).logpdf(values["scale_x"]))
        log_scale = np.log(values["w_rate"]) - values["scale_x"]
    else:
        fixed += np.sum(stats.norm.logpdf(values["scale_x"]))
        log_scale = np.sqrt(values["w_variance"]) * values["scale_x"]
    filled = corpus.doc_lengths > 0
    log_u = np.where(filled, np.linspace(-1.0, 1.0, corpus.n_documents), 0.0)
    us = np.exp(log_u)[:, None] * np.exp(labels @ log_scale)
    latents = hyper | {"root": np.append(root, 0.0), "log_scale": log_scale, "log_u": log_u}
    terms = []
    for z in all_topics(TRUNCATION):
        at, n = latents | {"z": z}, tally(g.log_g.shape, corpus.doc_of, z)
        given_u = stats.loggamma(g.shapes + n).logpdf(g.log_g + np.log1p(us))
        terms.append(
            model.log_assignments(at, corpus)
            + model.log_likelihood(at, corpus)
            + phi.tilt(tally(phi.log_g.shape, z, corpus.words))
            + np.sum((given_u - stats.loggamma(g.shapes).logpdf(g.log_g))[filled])
        )
    rate = np.sum(np.exp(g.log_g + labels @ log_scale), axis=1)[filled]
    of_u = stats.loggamma(corpus.doc_lengths[filled]).logpdf(log_u[filled] + np.log(rate))
    return fixed + logsumexp(terms) - np.sum(of_u)


def masks_of(rows):
    """All sets of topics of each row, bool (rows, K)."""
    return [np.reshape(on, (rows, TRUNCATION)) for on in product((False, True), repeat=rows * TRUNCATION)]


def transfer(model, values, sites):
    """Bridge to the sparse transfer model: the sum is over its masks as well."""
    corpus, group, doc = CORPUS, CORPUS.group_of_doc, CORPUS.doc_of
    hyper = {name: values[name] for name in model.hyperparameters()}
    weight = Shares.of(values, "weight", values["shape"])
    g = Shares.of(values, "g", np.exp(weight.log_g)[group])
    phi = Shares.of(values, "phi", values["eta"])
    fixed = weight.log_density + g.log_density + phi.log_density + model.log_hyperparameters(hyper)
    fixed += float(sites["log_sticks"]["fn"].log_prob(values["log_sticks"]))
    fixed += np.sum(stats.gamma(model.a1, scale=model.a2).logpdf(values["shape"]))
    kept = model.epsilon * np.exp(values["log_sticks"])
    terms = []
    for on in masks_of(corpus.n_groups):
        log_weight = np.where(on, weight.log_g, -np.inf)
        of_mask = np.sum(np.where(on, np.log(kept), np.log1p(-kept)))
        if np.any(~on[group[doc]].any(axis=1)):  # a task with tokens has a topic
            continue
        for k in product(*(np.flatnonzero(row) for row in on[group[doc]])):
            z = np.array(k)
            latents = hyper | {"z": z, "log_weight": log_weight, "shape": values["shape"]}
            counts = tally((corpus.n_documents, TRUNCATION), doc, z)
            terms.append(
                of_mask
                + model.log_assignments(latents, corpus)
                + model.log_likelihood(latents, corpus)
                + phi.tilt(tally((TRUNCATION, corpus.n_words), z, corpus.words))
                + sum(map(tilt_of_mask, g.shapes, g.log_g, counts, on[group]))
            )
    return fixed + logsumexp(terms)


def tilt_of_mask(shapes, log_g, counts, on):
    """Of the proportions of a document, the normalised variates of the topics that are on."""
    if not on.any():
        return 0.0
    return log_tilt(shapes[on], log_g[on] - logsumexp(log_g[on]), counts[on])


def focused(model, values, sites):
    """Bridge to the focused model, which sums masks out: given z, a topic is on where it has tokens.

    It is on in another document with the odds that it is silent there to that it is off.
    """
    corpus, doc = CORPUS, CORPUS.doc_of
    hyper = {name: values[name] for name in model.hyperparameters()}
    strength = Shares.of(values, "strength", values["gamma"])
    inclusion, weight = np.exp(values["log_sticks"]), np.exp(strength.log_g[0])
    g = Shares.of(values, "g", weight)
    phi = Shares.of(values, "phi", values["eta"])
    fixed = strength.log_density + g.log_density + phi.log_density + model.log_hyperparameters(hyper)
    fixed += float(sites["log_sticks"]["fn"].log_prob(values["log_sticks"]))
    # Where there are two topics, nothing is said of others; the reference has no factors of lengths alone.
    some = [
        quad(lambda x, j=j: stats.gamma.pdf(x, values["gamma"]) * (1.0 - 2.0 ** (-j * x)) / j, 0.0, np.inf)[0]
        for j in range(1, corpus.n_documents + 1)
    ]
    fixed += values["alpha"] * sum(some)
    fixed += corpus.n_tokens * np.log(2.0) + np.sum(gammaln(corpus.doc_lengths + 1.0))
    silent = inclusion * 2.0**-weight
    is_on = silent / (1.0 - inclusion + silent)
    terms = []
    for k in product(range(TRUNCATION), repeat=corpus.n_tokens):
        z = np.array(k)
        latents = hyper | {"z": z, "strength": weight, "inclusion": inclusion}
        counts = tally((corpus.n_documents, TRUNCATION), doc, z)
        out = model.log_assignments(latents, corpus) + model.log_likelihood(latents, corpus)
        out += phi.tilt(tally((TRUNCATION, corpus.n_words), z, corpus.words))
        for d in range(corpus.n_documents):
            probability = np.where(counts[d] > 0, 1.0, is_on)
            out += logsumexp(
                [
                    np.log(np.prod(np.where(on[0], probability, 1.0 - probability)))
                    + tilt_of_mask(g.shapes[d], g.log_g[d], counts[d], on[0])
                    for on in masks_of(1)
                    if np.all(on[0] | (counts[d] == 0))
                ]
            )
        terms.append(out)
    return fixed + logsumexp(terms)


@cache
def visited(name):
    """Return a model, and points of its reference: values of the sample sites, density, and all sites."""
    model, rng, found = make(name), np.random.default_rng(11), []
    program = model.reference.numpyro(corpus_of(model), TRUNCATION)
    with jax.enable_x64(True):
        for _ in range(POINTS):
            values = point(model, program, rng)
            density, sites = log_density(program, (), {}, values)
            sites = {key: site | {"value": np.asarray(site["value"])} for key, site in sites.items()}
            found.append((values, float(density), sites))
    return model, found


@pytest.mark.parametrize("name", WITH_REFERENCE)
def test_reference_is_the_sum_over_all_topics(name):
    model, points = visited(name)
    with jax.enable_x64(True):
        for values, density, sites in points:
            assert density == pytest.approx(bridge(model, values, sites), rel=1e-10)


def laws_of_topics(draw, n_topics):
    """Return P(z_i = k) and P(z_i = z_j) at a draw of a reference, from the model's definition."""
    group, doc, words = CORPUS.group_of_doc, CORPUS.doc_of, CORPUS.words
    topics = draw["phi"] if draw["phi"].ndim == 3 else np.repeat(draw["phi"][None], CORPUS.n_groups, 0)
    if "psi" in draw:
        topics = (1.0 - draw["psi"][..., None]) * topics + draw["psi"][..., None] * draw["sigma"]
    of_word = topics[group[doc], :, words]
    if "mask" not in draw:
        law = of_word * draw["theta"][doc]
        law /= law.sum(axis=1, keepdims=True)
        return law, law @ law.T
    # tasks, or documents, choose sets of topics: given these, tokens are independent
    task = group[doc] if len(draw["mask"]) == CORPUS.n_groups else doc
    on = np.arange(2**n_topics)[:, None] >> np.arange(n_topics) & 1
    given = on[:, None] * of_word * np.exp(draw["log_g"][doc])
    given /= np.maximum(given.sum(axis=2, keepdims=True), np.finfo(float).tiny)
    chances = draw["mask"][task] / draw["mask"][task].sum(axis=1, keepdims=True)
    law = np.einsum("im,mik->ik", chances, given)
    together = np.einsum("im,mik,mjk->ij", chances, given, given)
    return law, np.where(task[:, None] == task, together, law @ law.T)


def laws_given_responses(model, draw):
    """See `laws_of_topics`, of a supervised model: topics of a document depend on each other."""
    ways = list(all_topics(TRUNCATION))
    of_word = (draw["theta"][CORPUS.doc_of] * draw["phi"][:, CORPUS.words].T)[
        np.arange(CORPUS.n_tokens), ways
    ]
    log_p = np.log(of_word).sum(axis=1) + [log_responses(model, draw, z) for z in ways]
    chances = np.exp(log_p - logsumexp(log_p))
    each = np.array(ways)[:, :, None] == np.arange(TRUNCATION)
    return np.einsum("w,wik->ik", chances, each), np.einsum("w,wik,wjk->ij", chances, each, each)


@pytest.mark.parametrize("name", WITH_REFERENCE)
def test_latents_are_drawn_given_the_parameters(name):
    """With a false alarm rate of 1e-5 a model, were the seed not fixed."""
    model, points = visited(name)
    corpus = corpus_of(model)
    draw = {key: points[-1][2][key]["value"] for key in model.reference.parameters}
    rng, pairs = np.random.default_rng(12), np.triu_indices(CORPUS.n_tokens, 1)
    drawn = [model.reference.latents(draw, corpus, rng) for _ in range(DRAWS)]
    is_supervised = model.card.id in SUPERVISED
    law, same = laws_given_responses(model, draw) if is_supervised else laws_of_topics(draw, TRUNCATION)
    if model.card.id == "group_lda":  # topics of groups have numbers of their own
        same = same * (CORPUS.group_of_doc[CORPUS.doc_of][:, None] == CORPUS.group_of_doc[CORPUS.doc_of])
    compared = [(np.sum([z[pairs[0]] == z[pairs[1]] for z in (one["z"] for one in drawn)], 0), same[pairs])]
    if drawn[0].get("root", np.zeros(1)).ndim > 1:  # sticks a label: of which is the topic of a token?
        label = np.array([one["root"][:, one["z"]].argmax(axis=0) for one in drawn])
        for j in range(len(draw["root"])):
            own = slice(TRUNCATION * j, TRUNCATION * (j + 1))
            compared.append((np.sum(label == j, axis=0), law[:, own].sum(axis=1)))
    for of_topic in ("root", "strength", "shape", "b"):
        if of_topic in drawn[0] and drawn[0][of_topic].ndim == 1:
            first = [one[of_topic][one["z"]] == draw[of_topic][0] for one in drawn]
            compared.append((np.sum(first, axis=0), law[:, 0]))
    if "own" in drawn[0]:
        psi, (k, w) = draw["psi"], (slice(None), CORPUS.words)
        group = CORPUS.group_of_doc[CORPUS.doc_of]
        sigma = psi[group] * draw["sigma"][group, k, w]
        own = law * sigma / (sigma + (1.0 - psi[group]) * draw["phi"].T[w])
        compared.append((np.sum([one["own"] for one in drawn], axis=0), own.sum(axis=1)))
    if "log_u" in drawn[0]:  # sum(pi) ~ Gamma(alpha, rate), u ~ Gamma(n, sum(pi)), so u / rate is beta prime
        rate = np.sum(draw["theta"] * np.exp(-labels_of(model) @ draw["log_scale"]), axis=1)
        is_low = [one["log_u"] < np.log(rate) for one in drawn]
        filled = corpus.doc_lengths > 0
        law_of_u = stats.betaprime(corpus.doc_lengths[filled], draw["alpha"])
        compared.append((np.sum(is_low, axis=0)[filled], law_of_u.cdf(1.0)))
    if "author" in drawn[0]:  # given words, author and topic have a joint law
        own, n_authors = authors_of(corpus)
        is_own = np.array([np.isin(np.arange(n_authors), own[d]) for d in corpus.doc_of])
        chances = is_own * (draw["of_author"] @ draw["phi"][:, corpus.words]).T
        chances /= chances.sum(axis=1, keepdims=True)
        by = np.array([one["author"] for one in drawn])[:, :, None] == np.arange(n_authors)
        compared.append((by.sum(axis=0).ravel(), chances.ravel()))
    if is_supervised:
        compared.append((np.sum([one["z"] == 0 for one in drawn], axis=0), law[:, 0]))
    n_tests = sum(expected.size for _, expected in compared)
    for found, expected in compared:
        for count, chance in zip(found, expected, strict=True):
            assert stats.binomtest(int(count), DRAWS, min(chance, 1.0)).pvalue > 1e-5 / n_tests
    for one in drawn[:20]:
        assert one.keys() == model.simulate(Design.of(corpus), rng).latents.keys()
        assert np.isfinite(model.log_joint(one, corpus))
        for hyper in model.hyperparameters().keys() & draw.keys():
            assert np.isin(one[hyper], draw[hyper]).all()
        for shares in one.keys() & {"root", "tasks"}:
            np.testing.assert_allclose(np.sum(one[shares], axis=-1), 1.0, rtol=1e-12)
