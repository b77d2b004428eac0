"""Draws of the family `labels`, spelled out."""

import math
from abc import abstractmethod
from collections import Counter

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import DESIGN
from quantities_state import DOCUMENTS, FILLED, State, entropy


class Labelled(State):
    """The topics of a document have weights that follow from its labels."""

    def prior(self, d):
        return self.prior_given(self.labels(d)), 0.0

    def prior_of_new(self, g):
        """See `State.prior_of_new`; a new document has no labels."""
        return self.prior_given([]), 0.0

    @abstractmethod
    def prior_given(self, labels):
        """Weight of each topic for a first token in a document with these labels."""


class PartiallyLabeledLda(Labelled):
    """Labels have topics of their own, and there may be others that all documents have."""

    @property
    def topics_per_label(self):
        """How many topics a label has."""
        return self.model.topics_per_label

    def prior_given(self, labels):
        """See `Labelled.prior_given`; a document without labels may have all topics."""
        alpha, labels, of_label = (
            self.latents["alpha"],
            labels or range(DESIGN.n_groups),
            self.topics_per_label,
        )
        own = [k for g in labels for k in range(g * of_label, (g + 1) * of_label)]
        common = list(self.topics)[DESIGN.n_groups * of_label :]
        return [
            float(alpha[-1 if k in common else k // of_label]) if k in own + common else 0.0
            for k in self.topics
        ]


class LabeledLda(PartiallyLabeledLda):
    """Labels are topics."""

    topics_per_label = 1


class Dmr(Labelled):
    """Logs of weights are sums over labels."""

    def prior_given(self, labels):
        factor = self.latents["log_factor"]
        return [math.exp(sum(factor[[0, *(1 + g for g in labels)], k])) for k in self.topics]

    def own_quantities(self):
        """Of weights, and effects of labels."""
        priors = [self.prior(d)[0] for d in DOCUMENTS]
        effects = self.latents["log_factor"][1:].ravel()
        return {
            "mean_log_weight": self.mean_log_prior(),
            "log_mass": np.mean([math.log(sum(prior)) for prior in priors]),
            "mean_square": sum(c * c for c in effects) / len(effects),
        }


class Metalda(Labelled):
    """Weights are products over labels."""

    def prior_given(self, labels):
        weights = np.exp(self.latents["log_weight"])
        return [math.prod(weights[[0, *(1 + g for g in labels)], k]) for k in self.topics]

    def own_quantities(self):
        """Of weights."""
        return {
            "mean_log_weight": [np.mean(row) for row in self.latents["log_weight"]],
            "mean_log_prior": self.mean_log_prior(),
        }


class AuthorTopic(State):
    """Tokens have authors, who are the labels of documents, and authors have topics."""

    def prior(self, d):
        """See `State.prior`; of a new author."""
        return [float(self.latents["alpha"]) for _ in self.topics], 0.0

    def authors(self, d):
        """Authors of a document: its labels, or one of its own, whose number comes after all labels."""
        unknown = [e for e in DOCUMENTS if not self.labels(e)]
        return self.labels(d) or [self.n_labels + unknown.index(d)]

    def log_topics(self):
        """Log probability of authors and topics of tokens, one after the other."""
        out, seen, alpha = 0.0, Counter(), float(self.latents["alpha"])
        for d, a, k in zip(self.doc, self.latents["author"].tolist(), self.z, strict=True):
            assert a in self.authors(d)
            of_topic = (seen[a, k] + alpha) / (seen[a] + len(self.topics) * alpha)
            out += math.log(of_topic / len(self.authors(d)))
            seen.update([a, (a, k)])
        return out

    def predictive(self, d, w):
        """See `State.predictive`; each author is as likely."""
        return np.mean([self.by_author(a, w) for a in self.authors(d)])

    def by_author(self, a, w):
        """Probability of word w as the next of author a."""
        own = [k for k, b in zip(self.z, self.latents["author"], strict=True) if b == a]
        weights = [own.count(k) + float(self.latents["alpha"]) for k in self.topics]
        return sum(weight * self.topic_side.word(0, k, w) for k, weight in enumerate(weights)) / sum(weights)

    def own_quantities(self):
        """Entropy of documents over authors, and how many topics authors have."""
        by = list(zip(self.doc, self.latents["author"].tolist(), self.z, strict=True))
        active = {a for _, a, _ in by}
        return {
            "author_entropy": np.mean([entropy([a for e, a, _ in by if e == d]) for d in FILLED]),
            "author_topics": np.mean([len({k for _, b, k in by if b == a}) for a in active]),
        }


class DpMrm(State):
    """Labels have measures over topics, which documents mix."""

    def prior(self, d):
        return self.mixed(self.shares(d))

    def prior_of_new(self, g):
        """See `State.prior_of_new`; a new document may have any label."""
        return self.mixed({j: 1.0 / self.n_labels for j in range(self.n_labels)})

    def shares(self, d):
        """Share of each label in a document; of all where none is known."""
        may_have = [self.labels(e) or list(range(self.n_labels)) for e in DOCUMENTS]
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

    def own_quantities(self):
        """Entropy of documents over the labels of their topics, and how many topics labels have."""
        root = self.latents["root"]
        (label,) = zip(*([j for j, row in enumerate(root) if row[k] > 0.0] for k in self.topics), strict=True)
        of_documents = [[label[self.z[i]] for i in self.tokens(doc=d)] for d in FILLED]
        return {
            "label_entropy": np.mean(list(map(entropy, of_documents))),
            "label_topics": len(label) / len(set(label)),
        }
