"""What draws of all models have in common, spelled out; families add what they have in their own way."""

import math
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
from bnpzoo.diagnostics.laboratory.ladder import DESIGN
from bnpzoo.zoo.contract import Probes
from bnpzoo.zoo.models import get
from quantities_topics import topic_side_of
from scipy import sparse
from spelled_out import FORMS

N_TOKENS = int(DESIGN.doc_lengths.sum())
PROBES = Probes.of(DESIGN.corpus(np.zeros(N_TOKENS, int)))._replace(
    pairs=np.array(list(combinations(range(N_TOKENS), 2)))  # all: a few may agree with a mistake by chance
)

SETS = [[0, 1], [], [0], [1, 2], [], [0, 1, 2], [2]]
"""Labels of the documents in the forms that take sets: three, two, one and none; nobody has the last."""

OF_SETS = replace(
    DESIGN,
    covariates={"tag": sparse.csr_array([[int(j in own) for j in range(4)] for own in SETS])},
    covariate_names={"tag": np.array(["a", "b", "c", "d"])},
)

DOCUMENTS = range(DESIGN.doc_lengths.size)

FILLED = [d for d, n in enumerate(DESIGN.doc_lengths) if n]
"""Documents with tokens."""


class State(ABC):
    """A draw of a model, spelled out: lists of tokens, and the weights that the documents' topics have."""

    topics_come_and_go = False

    def __init__(self, name, seed):
        self.id, options = FORMS[name]
        model = get(self.id, **options).set_to("prior")
        self.model = model.replaced(**{name: value for name, value in options.items() if name != "topics"})
        self.has_sets = options.get("labels") == "tag"
        self.design = OF_SETS if self.has_sets else DESIGN
        self.latents, self.corpus = self.model.simulate(self.design, np.random.default_rng(seed))
        self.z, self.words = self.latents["z"].tolist(), self.corpus.words.tolist()
        self.doc = [d for d, n in enumerate(DESIGN.doc_lengths) for _ in range(n)]
        self.group = [int(DESIGN.group[d]) for d in self.doc]
        self.topics = range(self.model.n_topics_of(self.latents))
        self.topic_side = self.make_topic_side()

    def make_topic_side(self):
        """How likely words are under topics."""
        return topic_side_of(self)

    @abstractmethod
    def prior(self, d):
        """Weight of each topic for a first token in document d, and of all that are not known yet."""

    def prior_of_new(self, g):
        """See `prior`, of a new document in group g; it is like an old one unless a family says otherwise."""
        return self.prior(int(np.flatnonzero(DESIGN.group == g)[0]))

    def own_quantities(self):
        """Test quantities that few models have."""
        return {}

    def tokens(self, **wanted):
        """Tokens with the given values of ``doc``, ``group``, ``z``, ``words``."""
        return [
            i
            for i in range(len(self.z))
            if all(getattr(self, name)[i] == value for name, value in wanted.items())
        ]

    @property
    def n_labels(self):
        """How many labels there are."""
        return self.design.covariates["tag"].shape[1] if self.has_sets else DESIGN.n_groups

    def labels(self, d):
        """Labels of a document."""
        return SETS[d] if self.has_sets else [int(DESIGN.group[d])]

    def weights(self, d):
        """Weight of each topic for the next token of document d, and of all that are not known yet."""
        prior, rest = self.prior(d)
        counts = [len(self.tokens(doc=d, z=k)) for k in self.topics]
        return [n + weight for n, weight in zip(counts, prior, strict=True)], rest

    def log_topics(self):
        """Log probability of topics, one after the other, and of lengths where they are data."""
        out = 0.0
        for d in DOCUMENTS:
            prior, rest = self.prior(d)
            seen = Counter()
            for n, i in enumerate(self.tokens(doc=d)):
                k = self.z[i]
                out += math.log((prior[k] + seen[k]) / (sum(prior) + rest + n))
                seen[k] += 1
        return out

    def mean_log_prior(self):
        """Mean over tokens of the log weight that their topic has a priori."""
        return np.mean([math.log(self.prior(d)[0][k]) for d, k in zip(self.doc, self.z, strict=True)])

    def predictive(self, d, w):
        """Probability of word w as the next of document d."""
        weights, rest = self.weights(d)
        g = int(DESIGN.group[d])
        of_known = sum(weight * self.topic_side.word(g, k, w) for k, weight in enumerate(weights))
        return (of_known + rest * self.topic_side.new_word(g, w)) / (sum(weights) + rest)

    def quantities(self):
        """All of them, written out."""
        out = {name: self.latents[name] for name in self.model.sampled()}
        if "b" in out and self.topics_come_and_go:
            out["mean_log_b"] = sum(map(math.log, out.pop("b"))) / len(self.topics)
        out |= {
            "n_topics": len(set(self.z)),
            "log_likelihood": self.topic_side.log_words(),
            "log_joint": self.topic_side.log_words() + self.log_topics(),
            "same_topic": [self.z[i] == self.z[j] for i, j in PROBES.pairs],
            "topic_entropy": [entropy([self.z[i] for i in self.tokens(doc=d)]) for d in PROBES.documents],
            "predictive": [self.predictive(d, w) for d, w in PROBES.cells],
        }
        return out | self.topic_side.quantities() | self.own_quantities()


def entropy(of):
    """Entropy of the values in a list, nats."""
    return -sum(n / len(of) * math.log(n / len(of)) for n in Counter(of).values())
