"""Deliberately wrong kernels of both Poisson factor analyses, MetaLDA and belief networks; see `registry`."""

from typing import Any

from ....zoo.families.belief_network.topics import BeliefNetwork
from ....zoo.families.poisson.family import OfDocumentProbabilities
from ....zoo.models.bgg import Bgg
from ....zoo.models.gbn import Gbn
from ....zoo.models.metalda import Metalda
from ....zoo.models.pfa import Pfa
from ..patched import Change, Mutant

FIXED = {"n_topics": 3}
RATES_FIRST = """\
    look_at_theta(rng, tokens, documents)
    linked = np.empty(documents.link.shape[1:])
    for s in range(documents.theta.shape[0]):
        linked[:] = 0.0
        count_upwards(rng, documents, s, linked)
        draw_links(rng, documents, s, linked)
    draw_r(rng, documents, count_tables(rng, documents.counts[-1], documents.r))
"""
R_FIRST = "".join([*RATES_FIRST.splitlines(True)[1:], *RATES_FIRST.splitlines(True)[:1]])


def _mutant(
    name: str, file: str, find: str, replace: str, about: str, concerns: Any = Pfa, **requires: Any
) -> Mutant:
    change = Change(f"poisson/{file}.py", find, replace)
    return Mutant(f"poisson-{name}", (concerns,), change, about, requires=requires)


def _in_parts(name: str, file: str, find: str, replace: str, about: str, *concerns: type) -> Mutant:
    return Mutant(f"parts-{name}", concerns, Change(file, find, replace), about, "parallel")


MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "gamma-before-weights", "weights",
        "gamma_prior[1] + math.log1p(exposure / c[0])",
        "gamma_prior[1] + exposure / c[0]",
        "the rate of gamma has the exposure as if no weights were integrated out",
        OfDocumentProbabilities,
    ),
    _mutant(
        "tables-of-all-topics", "weights",
        "crt(rng, tables[k], gamma[0] / n_fixed)",
        "crt(rng, tables[k], gamma[0])",
        "tables of a topic at the root are drawn with gamma instead of its share of it",
        **FIXED,
    ),
    _mutant(
        "share-of-all", "weights",
        "each = gamma[0] / n_fixed if",
        "each = gamma[0] if",
        "every weight has all of gamma as its prior shape",
        **FIXED,
    ),
    _mutant(
        "exposure-forgotten", "weights",
        "rate = c[0] + exposure",
        "rate = c[0]",
        "weights are drawn as if nothing were exposed to them",
        OfDocumentProbabilities,
    ),
    _mutant(
        "length-turned-around", "weights",
        "-log_beta_variate(rng, shape + length, shape + mass)[1]",
        "-log_beta_variate(rng, shape + length, shape + mass)[0]",
        "exposures are -log p instead of -log(1 - p)",
        OfDocumentProbabilities,
    ),
    _mutant(
        "c-without-rest", "weights",
        "c_prior[1] + r.sum() + rest[0])",
        "c_prior[1] + r.sum())",
        "c does not see the weight of topics that are not represented",
        n_topics=0,
    ),
    _mutant(
        "mass-without-rest", "documents",
        "documents.prior[0, :n_topics].sum() + documents.rest[0]",
        "documents.prior[0, :n_topics].sum()",
        "the mass of the documents lacks that of topics that are not represented",
        n_topics=0,
    ),
    _mutant(
        "dropped-weight-lost", "documents",
        "            documents.rest[0] += documents.prior[0, k]\n",
        "            pass\n",
        "the weights of topics that lost their tokens vanish before exposures are drawn",
        n_topics=0,
    ),
    _mutant(
        "rest-kept", "documents",
        "    documents.rest[0] *= math.exp(log_left)\n",
        "",
        "the weight of a new topic is not taken off the rest",
        n_topics=0,
    ),
    _mutant(
        "probability-forgotten", "probabilities",
        "np.exp(-np.logaddexp(0.0, -documents.log_odds))",
        "np.ones(documents.log_odds.size)",
        "tokens do not see the probabilities of their topics, as in the model with p of the document",
        Bgg,
    ),
    _mutant(
        "empty-documents-forgotten", "probabilities",
        "b + n_documents * documents.prior[0, k]",
        "b + (sizes.sum() > 0) * documents.prior[0, k]",
        "the probability of a topic has the weight of one document, however many there are",
        Bgg,
    ),
    _mutant(
        "odds-turned-around", "probabilities",
        "np.logaddexp(0.0, documents.log_odds)\n",
        "np.logaddexp(0.0, -documents.log_odds)\n",
        "exposures are -log p instead of -log(1 - p)",
        Bgg,
    ),
    _mutant(
        "gamma-of-all-topics", "probabilities",
        "math.log1p(exposure[k] / c[0]) / n_topics",
        "math.log1p(exposure[k] / c[0])",
        "the rate of gamma has every topic's exposure in full, and not its share",
        Bgg,
    ),
    _mutant(
        "common-exposure", "probabilities",
        "    r /= c[0] + exposure\n",
        "    r /= c[0] + exposure.mean()\n",
        "weights are exposed to the mean over topics",
        Bgg,
    ),
    _mutant(
        "share-of-all-topics", "probabilities",
        "draw_gammas(rng, gamma[0] / n_topics + tables",
        "draw_gammas(rng, gamma[0] + tables",
        "every weight has all of gamma as its prior shape",
        Bgg,
    ),
    _mutant(
        "r-before-rates", "layers",
        RATES_FIRST,
        R_FIRST,
        "p and the rates are drawn after r, with theta that were drawn before it (as in the authors' code)",
        Gbn,
    ),
    _mutant(
        "exposure-not-compounded", "layers",
        "np.logaddexp(0.0, log_ratio)",
        "math.exp(min(log_ratio, 600.0))",
        "the exposure of a layer is that of its mean, the layer below not being integrated out",
        Gbn,
    ),
    _mutant(
        "tokens-for-tables", "layers",
        "for _ in range(crt(rng, n, total)):",
        "for _ in range(n):",
        "every token is a table of the layer above",
        Gbn,
    ),
    _mutant(
        "links-forgotten", "layers",
        "weights[k] = theta[d, k] * link[k, i]",
        "weights[k] = theta[d, k]",
        "the topic above a table is drawn without its link to the topic below",
        Gbn,
    ),
    _mutant(
        "links-not-learnt", "layers",
        "                    linked[k, i] += 1.0\n",
        "",
        "links are drawn from their prior",
        Gbn,
    ),
    _mutant(
        "rates-from-prior", "layers",
        "(rate + documents.theta[s, d].sum())",
        "rate",
        "rates do not see their theta",
        Gbn,
    ),
    _mutant(
        "counts-of-tokens", "layers",
        "shapes + documents.counts[s + 1, d]",
        "shapes + documents.counts[0, d]",
        "theta count tokens where the tables of their own layer belong",
        Gbn,
    ),
    _mutant(
        "scale-at-this-rate", "scales",
        "(above + e) * np.logaddexp",
        "above * np.logaddexp",
        "theta are scaled as if their rate had an improper prior",
        Gbn,
    ),
    _mutant(
        "scale-of-any-length", "scales",
        "        n_units -= 1.0\n",
        "",
        "theta are scaled as if documents without a probability of their length had one token less",
        Gbn,
    ),
    _mutant(
        "scale-whatever-follows", "scales",
        "            out += shapes[k] * log_g[k] - math.lgamma(shapes[k] + 1.0)\n",
        "",
        "theta are scaled whatever the shapes of the layer below make of its g",
        Gbn, n_layers=3,
    ),
    _mutant(
        "scale-exponentials-anew", "scales",
        "shape * (document.log_g[layer, k] - log_y) if shape > 0.0 else 0.0",
        "rng.standard_exponential()",
        "the layer below follows with e that have nothing to do with its theta",
        Gbn, n_layers=3,
    ),
    _mutant(
        "mass-of-floats", "scales",
        "log_mass[d] = max(log_sum(log_theta[0], scratch[1]), -LARGEST)",
        "log_mass[d] = math.log(theta[0].sum())",
        "theta that stand for all that are smaller are taken for what they are",
        Gbn, n_layers=3,
    ),
    _mutant(
        "guard-dropped", "sweeps",
        "LEAST_MASS = 1e-3",
        "LEAST_MASS = 0.0",
        "documents of next to no mass are swept by differences of sums",
        Gbn, n_layers=3,
    ),
    _mutant(
        "own-weight-kept", "features",
        "if features.feature[j] != without:",
        "if without >= -1:",
        "the rate of a weight has the whole alpha, the weight itself among it",
        Metalda,
    ),
    _mutant(
        "last-document", "features",
        "out[row] += draw_exposure(",
        "out[row] = draw_exposure(",
        "of all documents with the same features one alone exposes the weights",
        Metalda,
    ),
    _mutant(
        "last-row", "features",
        "shape += tables[row, k]",
        "shape = documents.weight_prior[0] + tables[row, k]",
        "of all kinds of documents with a feature one alone counts",
        Metalda,
    ),
    _mutant(
        "others-forgotten", "features",
        "math.exp(log_alpha(features, log_weight, row, k, feature)) * exposure[row]",
        "exposure[row]",
        "the rate of a weight lacks the weights of the other features",
        Metalda,
    ),
    _mutant(
        "companion-forgotten", "features",
        "documents.prior[row].sum(), 0.0)",
        "documents.prior[row].sum() + 1.0, 0.0)",
        "Beta(alpha + 1, N) in the place of Beta(alpha, N)",
        Metalda,
    ),
    _mutant(
        "shape-of-logarithm", "features",
        "log_gamma_variate(rng, shape) - math.log(rate)",
        "log_gamma_variate(rng, shape + 1.0) - math.log(rate)",
        "the shape of a weight is one too large, as if its logarithm had been drawn",
        Metalda,
    ),
    _in_parts(
        "first-tables-left-out", "toolbox/parts.py",
        "in in_parts(tables_of, parts):",
        "in in_parts(tables_of, parts)[1:]:",
        "the tables of the first part of the documents are not counted",
        Bgg, Metalda,
    ),
    _in_parts(
        "generator-shared", "toolbox/parts.py",
        "in rng.integers(2**63, size=n_parts)]",
        "in [rng.integers(2**63)] * n_parts]",
        "all parts draw the same numbers",
        Bgg, Metalda, Gbn,
    ),
    _in_parts(
        "mass-of-first-words", "poisson/parallel.py",
        "sum(in_parts(relative, parts.words))",
        "in_parts(relative, parts.words)[0]",
        "topics are made to sum to one over the words of the first part",
        Bgg, Metalda, Gbn,
    ),
    _in_parts(
        "exposure-of-first", "poisson/features.py",
        "sum(in_parts(exposure_of, parts), np.zeros(documents.rest.size))",
        "in_parts(exposure_of, parts)[0]",
        "documents of the first part alone expose the weights",
        Metalda,
    ),
    _in_parts(
        "layers-of-first", "poisson/layers.py",
        "getattr(documents, name)[:, part.rows]",
        "getattr(documents, name)[:, : part.end - part.first]",
        "all parts read and write the layers of the first documents",
        Gbn,
    ),
    _in_parts(
        "links-of-first", "poisson/layers.py",
        "sum(in_parts(linked_by, parts, own), np.zeros((n_topics, n_topics)))",
        "in_parts(linked_by, parts, own)[0]",
        "links are drawn given the tables of the first part of the documents",
        Gbn,
    ),
    _in_parts(
        "upper-links-of-first", "belief_network/parts.py",
        "np.sum([used for used, _ in found], axis=0)",
        "found[0][0]",
        "links of a belief network are drawn given the tables of the first part of the words",
        BeliefNetwork,
    ),
    _in_parts(
        "companions-of-first", "belief_network/parts.py",
        "sum(of_part.sum(axis=0) for of_part in counts), log_links",
        "counts[0].sum(axis=0), log_links",
        "companions are those of the tokens of the first part of the words",
        BeliefNetwork,
    ),
)  # fmt: skip
