"""Test quantities and frozen topics of every model by value, against sums that are written out here.

A quantity is computed by the same code for every back end, so that no comparison of back ends sees a mistake
in it.
"""

import math
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import DESIGN
from bnpzoo.zoo.contract import Probes
from bnpzoo.zoo.families.belief_network import network
from bnpzoo.zoo.models import get
from scipy import sparse, stats
from scipy.integrate import quad
from spelled_out import FORMS

LOG2 = math.log(2.0)

PROBES = Probes.of(DESIGN.corpus(np.zeros(int(DESIGN.doc_lengths.sum()), int)))


SETS = [[0, 1], [], [0], [1, 2], [], [0, 1, 2], [2]]
"""Labels of the documents in the forms that take sets: three, two, one and none; nobody has the last."""

OF_SETS = replace(
    DESIGN,
    covariates={"tag": sparse.csr_array([[int(j in own) for j in range(4)] for own in SETS])},
    covariate_names={"tag": np.array(["a", "b", "c", "d"])},
)


OF_LABELS = ("labeled_lda", "partially_labeled_lda", "dmr", "metalda")
"""Models in which the topics of a document have weights that follow from its labels."""


class State:
    """A draw of a model, spelled out: lists of tokens, and the weights that the documents' topics have."""

    def __init__(self, name, seed):
        model_id, options = FORMS[name]
        model = get(model_id, **options).set_to("prior")
        self.model = model.replaced(**{name: value for name, value in options.items() if name != "topics"})
        self.has_sets = options.get("labels") == "tag"
        self.design = OF_SETS if self.has_sets else DESIGN
        self.latents, self.corpus = self.model.simulate(self.design, np.random.default_rng(seed))
        self.id, self.is_pitman_yor = model_id, "association" in self.latents
        self.is_belief_network = "log_links" in self.latents
        self.is_scaled = "log_scale" in self.latents
        self.z, self.words = self.latents["z"].tolist(), self.corpus.words.tolist()
        self.doc = [d for d, n in enumerate(DESIGN.doc_lengths) for _ in range(n)]
        self.group = [int(DESIGN.group[d]) for d in self.doc]
        self.topics = range(self.model.n_topics_of(self.latents))

    @property
    def n_labels(self):
        """How many labels there are."""
        return self.design.covariates["tag"].shape[1] if self.has_sets else DESIGN.n_groups

    def labels(self, d):
        """Labels of a document."""
        return SETS[d] if self.has_sets else [int(DESIGN.group[d])]

    def tokens(self, **wanted):
        """Tokens with the given values of ``doc``, ``group``, ``z``, ``words``."""
        return [
            i
            for i in range(len(self.z))
            if all(getattr(self, name)[i] == value for name, value in wanted.items())
        ]

    def prior(self, d):
        """Weight of each topic for a first token in document d, and of all that are not known yet."""
        x, g = self.latents, int(DESIGN.group[d])
        match self.id:
            case "lda" | "slda" | "medlda":
                return [float(np.broadcast_to(x["alpha"], len(self.topics))[k]) for k in self.topics], 0.0
            case "cclda" | "pyp" | "hpyp" | "tpyp":
                return [float(x["alpha"][g]) for _ in self.topics], 0.0
            case "group_lda":
                own = range(g * self.model.n_topics, (g + 1) * self.model.n_topics)
                return [float(x["alpha"][g]) if k in own else 0.0 for k in self.topics], 0.0
            case "hdp" | "shdp" | "hdsp" | "whdsp":  # of the latter, where nothing scales the topics
                *sticks, rest = float(x["alpha"]) * x["root"]
                return sticks, rest
            case "mt_hdp":
                *sticks, rest = x["alpha"][g] * x["tasks"][g]
                return sticks, rest
            case "sparse_transfer":
                return [math.exp(w) for w in x["log_weight"][g]], 0.0
            case "focused":
                return [self.first_weight(k) for k in self.topics], self.mass_of_new()
            case _ if self.id in OF_LABELS:
                return self.prior_given(self.labels(d)), 0.0
            case "pfa":
                *weights, rest = map(float, x["r"])
                return weights, rest
            case "bgg":
                return list(map(float, x["r"])), 0.0
            case "gbn":
                of_above = zip(x["theta"][0, d], x["link"][0], strict=True)
                return list(sum(theta * link for theta, link in of_above)), 0.0
            case "dp_mrm":
                return self.mixed(self.shares(d))
            case "author_topic":  # of a new author
                return [float(x["alpha"]) for _ in self.topics], 0.0
        raise KeyError(self.id)

    def prior_given(self, labels):
        """Weight of each topic for a first token in a document with these labels."""
        x = self.latents
        if self.id == "dmr":
            return [math.exp(sum(x["log_factor"][[0, *(1 + g for g in labels)], k])) for k in self.topics]
        if self.id == "metalda":
            weights = np.exp(x["log_weight"])
            return [math.prod(weights[[0, *(1 + g for g in labels)], k]) for k in self.topics]
        labels = labels or range(DESIGN.n_groups)
        of_label = 1 if self.id == "labeled_lda" else self.model.topics_per_label
        own = [k for g in labels for k in range(g * of_label, (g + 1) * of_label)]
        common = list(self.topics)[DESIGN.n_groups * of_label :]
        return [
            float(x["alpha"][-1 if k in common else k // of_label]) if k in own + common else 0.0
            for k in self.topics
        ]

    def shares(self, d):
        """Of mixed random measures: share of each label in a document; of all where none is known."""
        may_have = [self.labels(e) or list(range(self.n_labels)) for e in range(DESIGN.doc_lengths.size)]
        of_each = iter(self.latents.get("share", ()))  # of documents of several labels, one after the other
        shares = [
            {j: float(next(of_each)) if len(own) > 1 else 1.0 for j in own} for own in may_have[: d + 1]
        ]
        assert sum(shares[d].values()) == pytest.approx(1.0, rel=1e-12)
        return shares[d]

    def mixed(self, shares):
        """Weights of the topics, and of all that are not known yet, given shares of labels."""
        x = self.latents
        *weights, rest = sum(float(x["alpha"]) * share * x["root"][j] for j, share in shares.items())
        return weights, rest

    def predictors(self, d):
        """Of a supervised model: linear predictors of the responses of a document."""
        x, n = self.latents, max(int(DESIGN.doc_lengths[d]), 1)
        shares = [len(self.tokens(doc=d, z=k)) / n for k in self.topics]
        return [
            b0 + sum(share * b for share, b in zip(shares, row, strict=True))
            for b0, row in zip(x["intercept"], x["coefficient"], strict=True)
        ]

    def of_category(self, predictors, c):
        """Of a supervised model: log probability of a category, or its log factor."""
        if self.id == "medlda":
            cost, margin = self.model.cost, self.model.margin
            signs = [1.0 if j == c else -1.0 for j in range(3)]
            return -2.0 * cost * sum(max(0.0, margin - s * x) for s, x in zip(signs, predictors, strict=True))
        weights = [1.0, *map(math.exp, predictors)]
        return math.log(weights[c] / sum(weights))

    def of_responses(self):
        """All test quantities of a supervised model's own: the group is a category, and a number as well."""
        predictors = [self.predictors(d) for d in range(DESIGN.doc_lengths.size)]
        category, number = (self.corpus.covariates[name] for name in ("group", "group:number"))
        deviation, log_p = float(self.latents["noise_precision"][0]) ** -0.5, 0.0
        for (*odds, mean), c, y in zip(predictors, category, number, strict=True):
            log_p += self.of_category(odds, c) + stats.norm(mean, deviation).logpdf(y)
        return {
            "log_responses": log_p,
            "mean_predictor": np.mean(predictors, axis=0),
            "mean_square_predictor": np.mean([[psi * psi for psi in row] for row in predictors], axis=0),
        }

    def values(self, d):
        """Of a scaling process: values of all labels in a document."""
        out = [float(j in self.labels(d)) for j in range(self.n_labels)]
        if self.id == "whdsp":  # the group is a number as well
            out.append((DESIGN.group[d] - np.mean(DESIGN.group)) / np.std(DESIGN.group))
        return out

    def log_scale(self, d, k):
        """Of a scaling process: log scale of a topic in a document."""
        return sum(r * v for r, v in zip(self.values(d), self.latents["log_scale"][:, k], strict=True))

    def kept(self, d, k):
        """Of a scaling process: u s / (1 + u s), of a document and a topic."""
        us = math.exp(self.latents["log_u"][d] + self.log_scale(d, k))
        return us / (1.0 + us)

    def log_scaled_topics(self):
        """Log density of topics and log u, with each pi of a document integrated out.

        `u^n / Gamma(n) prod_k int pi^n_k exp(-u pi) Gamma(pi; a_k, 1 / s_k) dpi`.
        """
        out = 0.0
        for d, n in enumerate(DESIGN.doc_lengths):
            if n:
                log_u, (shapes, _) = self.latents["log_u"][d], self.prior(d)
                out += n * log_u - math.lgamma(n)
                for k, a in enumerate(shapes):
                    count, log_s = len(self.tokens(doc=d, z=k)), self.log_scale(d, k)
                    out += math.lgamma(a + count) - math.lgamma(a) + count * log_s
                    out -= (a + count) * math.log1p(math.exp(log_u + log_s))
        return out

    def slopes_of_law(self, v):
        """First and second derivative of the log density of a log scale."""
        if self.id == "whdsp":
            variance = float(self.latents["w_variance"])
            return -v / variance, -1.0 / variance
        shape, rate = float(self.latents["w_shape"]), float(self.latents["w_rate"])
        return -shape + rate * math.exp(-v), -rate * math.exp(-v)

    def of_scales(self):
        """All test quantities of a scaling process' own."""
        x, information = self.latents, 0.0
        filled = [d for d, n in enumerate(DESIGN.doc_lengths) if n]
        for j, k in product(range(len(x["log_scale"])), self.topics):
            first, second = self.slopes_of_law(x["log_scale"][j, k])
            for d in filled:
                r, n, kept = self.values(d)[j], len(self.tokens(doc=d, z=k)), self.kept(d, k)
                weight = float(x["alpha"]) * x["root"][k] + n
                first += r * (n - weight * kept)
                second -= r * r * weight * kept * (1.0 - kept)
            information += x["root"][k] * (first**2 + second)
        return {
            "probed_log_u": [x["log_u"][d] for d in PROBES.documents],
            "mean_log_scale": np.mean([self.log_scale(d, k) for d, k in zip(self.doc, self.z, strict=True)]),
            "mean_root": np.mean([x["root"][k] for k in self.z]),
            "scale_information": information,
        }

    def of_measures(self):
        """Entropy of documents over the labels of their topics, and how many topics labels have."""
        root = self.latents["root"]
        (label,) = zip(*([j for j, row in enumerate(root) if row[k] > 0.0] for k in self.topics), strict=True)
        filled = [d for d, n in enumerate(DESIGN.doc_lengths) if n]
        return {
            "label_entropy": np.mean(
                [entropy([label[self.z[i]] for i in self.tokens(doc=d)]) for d in filled]
            ),
            "label_topics": len(label) / len(set(label)),
        }

    def weights(self, d):
        """Weight of each topic for the next token of document d, and of all that are not known yet."""
        prior, rest = self.prior(d)
        counts = [len(self.tokens(doc=d, z=k)) for k in self.topics]
        if self.id == "focused":
            prior = [
                float(self.latents["strength"][k]) if n else weight
                for k, (n, weight) in enumerate(zip(counts, prior, strict=True))
            ]
        return [n + weight for n, weight in zip(counts, prior, strict=True)], rest

    def first_weight(self, k):
        """Of the focused model: the mean weight of a topic in a document without a token of it."""
        strength, inclusion = self.latents["strength"][k], self.latents["inclusion"][k]
        on = inclusion * 2.0**-strength
        return float(strength * on / (1.0 - inclusion + on))

    def mass_of_new(self):
        """Of the focused model: integral over topics without tokens in any of the documents, all asked."""
        alpha, gamma, n = float(self.latents["alpha"]), float(self.latents["gamma"]), DESIGN.doc_lengths.size

        def of_strength(phi):
            q = 2.0**-phi  # int_0^1 q (1 - pi + pi q)^(n - 1) dpi
            return stats.gamma.pdf(phi, gamma) * phi * q * (1.0 - q**n) / (n * (1.0 - q))

        return alpha * quad(of_strength, 0.0, np.inf)[0]

    def word(self, g, k, w):
        """Probability of word w as the next of topic k in group g."""
        x, n_words = self.latents, DESIGN.n_words
        if self.is_pitman_yor:
            return self.pitman_yor_word(g, k, w)
        if self.id == "cclda":
            own = [i for i in self.tokens(group=g, z=k) if x["own"][i]]
            shared = [i for i in self.tokens(z=k) if not x["own"][i]]
            share = (len(own) + x["gamma1"]) / (len(self.tokens(group=g, z=k)) + x["gamma0"] + x["gamma1"])
            of = [
                (sum(self.words[i] == w for i in where) + x[name]) / (len(where) + n_words * x[name])
                for where, name in ((shared, "eta"), (own, "delta"))
            ]
            return float((1.0 - share) * of[0] + share * of[1])
        shapes = [self.shape(k, v) for v in range(n_words)]
        return (len(self.tokens(z=k, words=w)) + shapes[w]) / (len(self.tokens(z=k)) + sum(shapes))

    def shape(self, k, w):
        """Dirichlet parameter of word w in topic k."""
        if self.is_belief_network:
            return self.mixture(0, k, w)
        return float(self.latents["eta"]) + self.of_seeds(k, w)

    def links(self, t):
        """Links of the topics below an upper layer to those in it, the upper ones first."""
        return np.exp(self.latents["log_links"] if t == 0 else self.latents["log_upper_links"][t - 1])

    def mixture(self, t, j, w):
        """Of a belief network: what the topics of upper layer t give to word w of topic j below."""
        topics = self.latents["log_upper_topics"][t]
        return sum(link * math.exp(topics[k, w]) for k, link in enumerate(self.links(t)[:, j]))

    def of_layers(self):
        """All test quantities of a belief network's own."""
        x, upper, words = self.latents, range(self.model.topics.layers - 1), range(DESIGN.n_words)
        weights, effective, of_popularity, of_links = [self.z.count(k) for k in self.topics], [], [], []
        for t in upper:
            beta, popularity = self.links(t), x["log_popularity"][t]
            below = range(beta.shape[1])
            weights = [sum(weights[j] * b[j] / beta[:, j].sum() for j in below) for b in beta]
            shares = [m / sum(weights) for m in weights if m > 0.0]
            effective.append(math.exp(-sum(p * math.log(p) for p in shares)))
            log_links = x["log_links"] if t == 0 else x["log_upper_links"][t - 1]
            law = stats.loggamma(x["layer_mass"][t] / len(popularity))
            of_popularity.append(np.mean(law.logpdf(popularity + np.log(x["layer_rate"][t]))))
            law = stats.loggamma(np.exp(popularity)[:, None])
            of_links.append(np.mean(law.logpdf(log_links + np.log(x["link_rate"][t]))))
        topics = np.exp(x["log_upper_topics"])
        fits = [
            np.mean(
                [
                    sum(topics[t, j, w] * self.mixture(t + 1, j, w) for w in words) / b
                    for j, b in enumerate(sums)
                ]
            )
            for t in upper[:-1]
            for sums in [self.links(t + 1).sum(axis=0)]
        ]
        return {
            "upper_topics": effective,
            "popularity_density": of_popularity,
            "link_density": of_links,
            "upper_focus": [np.mean([sum(p * p for p in topic) for topic in topics[t]]) for t in upper],
            "upper_fit": fits,
        }

    def of_seeds(self, k, w):
        """What is added to eta for a word of a topic."""
        seeds = getattr(self.model.topics, "seeds", ()) if self.id == "lda" else ()
        return self.model.topics.seed_tokens if k < len(seeds) and w in seeds[k] else 0

    def becomes(self, g, v, w):
        """Probability that word v of a base becomes word w in group g."""
        if not self.model.topics.transformed:
            return float(v == w)
        return float(DESIGN.associations.matrix(g).toarray()[w, v])

    def pitman_yor_word(self, g, k, w):
        x, n_words = self.latents, DESIGN.n_words
        a, b, eta = float(x["a"]), float(x["b"][k]), float(x["eta"])
        heads = [i for i in range(len(self.z)) if x["association"][i] >= 0 and self.z[i] == k]
        of_base = [i for i in heads if self.model.topics.base == "shared" or self.group[i] == g]
        base = sum(
            self.becomes(g, v, w)
            * (sum(x["association"][i] == v for i in of_base) + eta)
            / (len(of_base) + n_words * eta)
            for v in range(n_words)
        )
        customers, mine = self.tokens(group=g, z=k), [i for i in heads if self.group[i] == g]
        if not customers:
            return base
        m, t = len(self.tokens(group=g, z=k, words=w)), sum(self.words[i] == w for i in mine)
        return (m - a * t + (b + a * len(mine)) * base) / (b + len(customers))

    def new_word(self, g, w):
        """Probability of word w as the first of a topic."""
        n_words = DESIGN.n_words
        if self.is_belief_network:
            gamma, topics = np.exp(self.latents["log_popularity"][0]), self.latents["log_upper_topics"][0]
            return sum(g * math.exp(topic[w]) for g, topic in zip(gamma, topics, strict=True)) / sum(gamma)
        if not self.is_pitman_yor:
            return 1.0 / n_words
        return sum(self.becomes(g, v, w) for v in range(n_words)) / n_words

    def log_words(self):
        """Log probability of words given topics, one after the other."""
        x, out, seen = self.latents, 0.0, Counter()
        if self.is_pitman_yor:
            return self.model.log_likelihood(x, self.corpus)  # tests of the family have its value
        for i, (k, w) in enumerate(zip(self.z, self.words, strict=True)):
            eta, where = float(x["eta"]), ("shared", k)
            if self.id == "cclda" and x["own"][i]:
                eta, where = float(x["delta"]), (self.group[i], k)
            if self.id == "cclda":
                shapes = [eta] * DESIGN.n_words
            else:
                shapes = [self.shape(k, v) for v in range(DESIGN.n_words)]
            out += math.log((seen[where, w] + shapes[w]) / (seen[where] + sum(shapes)))
            seen[where, w] += 1
            seen[where] += 1
        if self.is_belief_network:
            out += network.log_density(x)  # tests of the family have its value
        return out

    def log_topics(self):
        """Log probability of topics, and of lengths where they are data."""
        if self.id == "focused":
            return self.log_focused_topics()
        if self.id == "author_topic":
            return self.log_authors()
        if self.is_scaled:
            return self.log_scaled_topics()
        if self.id == "bgg":
            return sum(map(self.log_convolved_topics, range(DESIGN.doc_lengths.size)))
        out = sum(map(self.log_lengths, range(DESIGN.n_groups))) if self.id == "sparse_transfer" else 0.0
        for d in range(DESIGN.doc_lengths.size):
            prior, rest = self.prior(d)
            seen = Counter()
            for n, i in enumerate(self.tokens(doc=d)):
                k = self.z[i]
                out += math.log((prior[k] + seen[k]) / (sum(prior) + rest + n))
                seen[k] += 1
        if self.id == "cclda":
            out += self.log_origins()
        return out

    def authors(self, d):
        """Authors of a document: its labels, or one of its own, whose number comes after all labels."""
        unknown = [e for e in range(DESIGN.doc_lengths.size) if not self.labels(e)]
        return self.labels(d) or [self.n_labels + unknown.index(d)]

    def log_authors(self):
        """Log probability of authors and topics of tokens, one after the other."""
        out, seen, alpha = 0.0, Counter(), float(self.latents["alpha"])
        for d, a, k in zip(self.doc, self.latents["author"].tolist(), self.z, strict=True):
            assert a in self.authors(d)
            of_topic = (seen[a, k] + alpha) / (seen[a] + len(self.topics) * alpha)
            out += math.log(of_topic / len(self.authors(d)))
            seen.update([a, (a, k)])
        return out

    def of_authors(self):
        """Entropy of documents over authors, and how many topics authors have."""
        by = list(zip(self.doc, self.latents["author"].tolist(), self.z, strict=True))
        active = {a for _, a, _ in by}
        filled = [d for d, n in enumerate(DESIGN.doc_lengths) if n]
        return {
            "author_entropy": np.mean([entropy([a for e, a, _ in by if e == d]) for d in filled]),
            "author_topics": np.mean([len({k for _, b, k in by if b == a}) for a in active]),
        }

    def log_origins(self):
        x, out, seen = self.latents, 0.0, Counter()
        for g, k, own in zip(self.group, self.z, x["own"].tolist(), strict=True):
            of = [seen[g, k, s] + float(x[f"gamma{s}"]) for s in (0, 1)]
            out += math.log(of[own] / sum(of))
            seen[g, k, own] += 1
        return out

    def log_lengths(self, c):
        """Negative binomials of a task's lengths, without the factors that its weights do not enter."""
        mass = float(np.exp(self.latents["log_weight"][c]).sum())
        lengths = [n for n, g in zip(DESIGN.doc_lengths, DESIGN.group, strict=True) if g == c]
        known = {"task": [sum(lengths)], "document": lengths, "none": []}[self.model.lengths]
        return sum(stats.nbinom(mass, 0.5).logpmf(n) + n * LOG2 + math.lgamma(n + 1.0) for n in known)

    def probabilities(self):
        """Of the topics where each has one of its own."""
        return [1.0 / (1.0 + math.exp(-x)) for x in self.latents["log_odds"]]

    def log_convolved_topics(self, d):
        """Log probability of a document's topics: negative binomial counts given their sum."""
        n, out, of_sum = int(DESIGN.doc_lengths[d]), 0.0, np.array([1.0])
        for k, (r, p) in enumerate(zip(self.latents["r"], self.probabilities(), strict=True)):
            count, law = len(self.tokens(doc=d, z=k)), stats.nbinom(r, 1.0 - p)
            out += law.logpmf(count) + math.lgamma(count + 1.0)
            of_sum = np.convolve(of_sum, law.pmf(np.arange(n + 1)))
        return out - math.log(of_sum[n]) - math.lgamma(n + 1.0)

    def log_focused_topics(self):
        """All counts n_dk are negative binomial, where the topic is on; any order of tokens is as likely."""
        x, out = self.latents, 0.0
        for d, n in enumerate(DESIGN.doc_lengths):
            out -= math.lgamma(n + 1.0)
            for k in self.topics:
                count, on = len(self.tokens(doc=d, z=k)), x["inclusion"][k]
                p = on * stats.nbinom(x["strength"][k], 0.5).pmf(count) + (1.0 - on) * (count == 0)
                out += math.log(p) + math.lgamma(count + 1.0)

        def of_strength(phi):  # int_0^1 [1 - (1 - pi (1 - q))^M] dpi / pi
            some = 1.0 - 2.0**-phi
            inner = sum((1.0 - (1.0 - some) ** j) / j for j in range(1, DESIGN.doc_lengths.size + 1))
            return stats.gamma.pdf(phi, float(x["gamma"])) * inner

        return out - float(x["alpha"]) * quad(of_strength, 0.0, np.inf)[0]

    def quantities(self):
        """All of them, written out."""
        x, sampled = self.latents, self.model.sampled()
        out = {name: x[name] for name in sampled}
        if "b" in sampled and self.id in ("hdp", "mt_hdp", "pfa"):  # of topics that come and go
            out["mean_log_b"] = sum(map(math.log, out.pop("b"))) / len(self.topics)
        out |= {
            "n_topics": len(set(self.z)),
            "log_likelihood": self.log_words(),
            "log_joint": self.log_words() + self.log_topics(),
            "same_topic": [self.z[i] == self.z[j] for i, j in PROBES.pairs],
            "topic_entropy": [entropy([self.z[i] for i in self.tokens(doc=d)]) for d in PROBES.documents],
            "predictive": [self.predictive(d, w) for d, w in PROBES.cells],
        }
        if self.is_belief_network:
            out |= self.of_layers()
        if self.is_pitman_yor:
            out["n_tables"] = sum(v >= 0 for v in x["association"])
        if self.id == "cclda":
            out["share_own"] = sum(x["own"]) / len(x["own"])
        if self.id == "focused":
            out |= {f"mean_{name}": sum(x[name]) / len(x[name]) for name in ("strength", "inclusion")}
        if self.id in ("slda", "medlda", "shdp"):
            out |= self.of_responses()
        if self.is_scaled:
            out |= self.of_scales()
        if self.id == "dp_mrm":
            out |= self.of_measures()
        if self.id == "author_topic":
            out |= self.of_authors()
        if self.id == "metalda":
            out |= {
                "mean_log_weight": [np.mean(row) for row in x["log_weight"]],
                "mean_log_prior": self.mean_log_prior(),
            }
        if self.id == "gbn":
            out |= {
                "mean_log_rate": [np.mean([math.log(c) for c in row]) for row in x["rate"]],
                "mean_log_theta": [np.mean([math.log(sum(t)) for t in layer]) for layer in x["theta"]],
            }
        if self.id == "bgg":
            out |= {
                "mean_log_p": np.mean([-math.log1p(math.exp(-x)) for x in x["log_odds"]]),
                "mean_log_q": np.mean([-math.log1p(math.exp(x)) for x in x["log_odds"]]),
            }
        if self.id in ("pfa", "bgg", "gbn"):
            out |= {"log_mass": math.log(sum(x["r"])), "mean_log_prior": self.mean_log_prior()}
        if self.id == "dmr":
            priors = [self.prior(d)[0] for d in range(DESIGN.doc_lengths.size)]
            effects = x["log_factor"][1:].ravel()
            out |= {
                "mean_log_weight": self.mean_log_prior(),
                "log_mass": np.mean([math.log(sum(prior)) for prior in priors]),
                "mean_square": sum(c * c for c in effects) / len(effects),
            }
        if self.id == "sparse_transfer":
            tasks = range(DESIGN.n_groups)
            on = [(c, k) for c, k in product(tasks, self.topics) if x["log_weight"][c, k] > -np.inf]
            out |= {
                "n_topics_of": len(self.topics),
                "n_pairs": len(set(zip(self.group, self.z, strict=True))),
                "n_on": len(on),
                "mass": [sum(math.exp(x["log_weight"][pair]) for pair in on if pair[0] == c) for c in tasks],
                "mean_shape": sum(x["shape"][k] for k in set(self.z)) / len(set(self.z)),
            }  # fmt: skip
        return out

    def mean_log_prior(self):
        """Mean over tokens of the log weight that their topic has a priori."""
        return np.mean([math.log(self.prior(d)[0][k]) for d, k in zip(self.doc, self.z, strict=True)])

    def predictive(self, d, w):
        if self.id == "author_topic":
            return np.mean([self.by_author(a, w) for a in self.authors(d)])
        weights, rest = self.weights(d)
        g = int(DESIGN.group[d])
        if self.id == "bgg":
            weights = [p * weight for p, weight in zip(self.probabilities(), weights, strict=True)]
        if self.is_scaled:  # the mean given u is that of u pi / n: of u given pi, n / sum(pi) is the mean
            of_known = sum(n * self.kept(d, k) * self.word(g, k, w) for k, n in enumerate(weights))
            return of_known / DESIGN.doc_lengths[d]
        of_known = sum(weight * self.word(g, k, w) for k, weight in enumerate(weights))
        return (of_known + rest * self.new_word(g, w)) / (sum(weights) + rest)

    def by_author(self, a, w):
        """Probability of word w as the next of author a."""
        own = [k for k, b in zip(self.z, self.latents["author"], strict=True) if b == a]
        weights = [own.count(k) + float(self.latents["alpha"]) for k in self.topics]
        return sum(weight * self.word(0, k, w) for k, weight in enumerate(weights)) / sum(weights)


def entropy(of):
    """Entropy of the values in a list, nats."""
    return -sum(n / len(of) * math.log(n / len(of)) for n in Counter(of).values())


@pytest.fixture(params=product(FORMS, (1, 2)), ids=lambda of: f"{of[0]}-{of[1]}")
def state(request):
    return State(*request.param)


def test_quantities_have_their_values(state):
    found = state.model.quantities(state.latents, state.corpus, PROBES)
    expected = state.quantities()
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], np.asarray(value, float), rtol=1e-9, atol=1e-12, err_msg=name)


def test_frozen_topics_are_what_is_known_of_a_new_document(state):
    frozen = state.model.frozen_topics(state.latents, state.corpus)
    groups, words = range(DESIGN.n_groups), range(DESIGN.n_words)
    for g in groups:
        row = 0 if len(frozen.prior) == 1 else g
        d = int(np.flatnonzero(DESIGN.group == g)[0])
        prior, rest = state.prior(d)
        if state.id in (
            "labeled_lda",
            "partially_labeled_lda",
            "dmr",
            "metalda",
        ):  # a new document has no labels
            prior = state.prior_given([])
        if state.id == "dp_mrm":
            prior, rest = state.mixed({j: 1.0 / state.n_labels for j in range(state.n_labels)})
        if state.id == "gbn":  # a new document is like the mean of those of the fit
            prior = np.mean([state.prior(e)[0] for e in range(DESIGN.doc_lengths.size)], axis=0)
        if state.id == "bgg":  # a Dirichlet document of the same mass and mean rates
            rates = [r * math.exp(x) for r, x in zip(prior, state.latents["log_odds"], strict=True)]
            prior = [sum(prior) * rate / sum(rates) for rate in rates]
        if state.id == "focused":  # a new document has not been asked yet
            np.testing.assert_allclose(frozen.inclusion[0, :-1], state.latents["inclusion"])
            assert frozen.inclusion[0, -1] == 1.0
            prior, rest = state.latents["strength"], new_in_another_document(state)
        elif frozen.inclusion is not None:
            raise AssertionError("only topics of the focused model may be off")
        np.testing.assert_allclose(frozen.prior[row], [*prior, *([rest] if rest else [])], rtol=1e-9)
        for k, w in product(state.topics, words):
            assert frozen.words_of(g)[k, w] == pytest.approx(state.word(g, k, w), rel=1e-10)
        if rest:
            np.testing.assert_allclose(frozen.words_of(g)[-1], [state.new_word(g, w) for w in words])


def new_in_another_document(state):
    """Mean strength of topics that no document of the corpus has a token of, in one more."""
    alpha, gamma = float(state.latents["alpha"]), float(state.latents["gamma"])
    n = DESIGN.doc_lengths.size

    def of_strength(phi):  # int_0^1 (1 - pi (1 - q))^n dpi
        q = 2.0**-phi
        return stats.gamma.pdf(phi, gamma) * phi * (1.0 - q ** (n + 1)) / ((n + 1) * (1.0 - q))

    return alpha * quad(of_strength, 0.0, np.inf)[0]
