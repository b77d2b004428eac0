"""Topic sides, spelled out: how likely words are given topics."""

import math
from abc import ABC, abstractmethod
from collections import Counter

import numpy as np
from bnpzoo.diagnostics.laboratory.ladder import DESIGN
from bnpzoo.zoo.families.belief_network import network
from scipy import stats

WORDS = range(DESIGN.n_words)


def topic_side_of(state):
    """Topic side of a draw, by its latents."""
    if "association" in state.latents:
        return PitmanYorTopics(state)
    if "log_links" in state.latents:
        return BeliefNetworkTopics(state)
    return DirichletTopics(state)


class TopicSide(ABC):
    """How likely words are under the topics of a draw."""

    def __init__(self, state):
        self.state, self.latents, self.model = state, state.latents, state.model

    @abstractmethod
    def word(self, g, k, w):
        """Probability of word w as the next of topic k in group g."""

    @abstractmethod
    def new_word(self, g, w):
        """Probability of word w as the first of a topic."""

    @abstractmethod
    def log_words(self):
        """Log probability of words given topics."""

    def quantities(self):
        """Test quantities that few sides have."""
        return {}


class DirichletTopics(TopicSide):
    """Topics with Dirichlet distributions over words."""

    def word(self, g, k, w):
        of_topic, shapes = self.state.tokens(z=k), [self.shape(k, v) for v in WORDS]
        return (len(self.state.tokens(z=k, words=w)) + shapes[w]) / (len(of_topic) + sum(shapes))

    def new_word(self, g, w):
        return 1.0 / DESIGN.n_words

    def shape(self, k, w):
        """Dirichlet parameter of word w in topic k."""
        return float(self.latents["eta"]) + self.of_seeds(k, w)

    def of_seeds(self, k, w):
        """What is added to eta for a word of a topic."""
        seeds = getattr(getattr(self.model, "topics", None), "seeds", ())
        return self.model.topics.seed_tokens if k < len(seeds) and w in seeds[k] else 0

    def log_words(self):
        """See `TopicSide.log_words`: one after the other."""
        out, seen = 0.0, Counter()
        for i, w in enumerate(self.state.words):
            where, shapes = self.urn(i)
            out += math.log((seen[where, w] + shapes[w]) / (seen[where] + sum(shapes)))
            seen[where, w] += 1
            seen[where] += 1
        return out

    def urn(self, i):
        """Name of the distribution that token i is drawn from, and its Dirichlet parameters."""
        k = self.state.z[i]
        return k, [self.shape(k, v) for v in WORDS]


class PitmanYorTopics(TopicSide):
    """Topics of groups under Pitman-Yor processes; the association of a table is its word in the base."""

    def word(self, g, k, w):
        x, state, a = self.latents, self.state, float(self.latents["a"])
        b, eta = float(x["b"][k]), float(x["eta"])
        heads = [i for i in range(len(state.z)) if x["association"][i] >= 0 and state.z[i] == k]
        of_base = [i for i in heads if self.model.topics.base == "shared" or state.group[i] == g]
        base = sum(
            self.becomes(g, v, w)
            * (sum(x["association"][i] == v for i in of_base) + eta)
            / (len(of_base) + DESIGN.n_words * eta)
            for v in WORDS
        )
        customers, mine = state.tokens(group=g, z=k), [i for i in heads if state.group[i] == g]
        if not customers:
            return base
        m, t = len(state.tokens(group=g, z=k, words=w)), sum(state.words[i] == w for i in mine)
        return (m - a * t + (b + a * len(mine)) * base) / (b + len(customers))

    def new_word(self, g, w):
        return sum(self.becomes(g, v, w) for v in WORDS) / DESIGN.n_words

    def becomes(self, g, v, w):
        """Probability that word v of a base becomes word w in group g."""
        if not self.model.topics.transformed:
            return float(v == w)
        return float(DESIGN.associations.matrix(g).toarray()[w, v])

    def log_words(self):
        """See `TopicSide.log_words`; tests of the family have its value."""
        return self.model.log_likelihood(self.latents, self.state.corpus)

    def quantities(self):
        return {"n_tables": sum(v >= 0 for v in self.latents["association"])}


class BeliefNetworkTopics(DirichletTopics):
    """Topics whose Dirichlet parameters are mixtures of the topics of upper layers."""

    def shape(self, k, w):
        return self.mixture(0, k, w)

    def new_word(self, g, w):
        gamma, topics = np.exp(self.latents["log_popularity"][0]), self.latents["log_upper_topics"][0]
        return sum(g * math.exp(topic[w]) for g, topic in zip(gamma, topics, strict=True)) / sum(gamma)

    def log_links(self, t):
        """Log links of the topics below an upper layer to those in it, the upper ones first."""
        return self.latents["log_links"] if t == 0 else self.latents["log_upper_links"][t - 1]

    def mixture(self, t, j, w):
        """What the topics of upper layer t give to word w of topic j below."""
        topics, links = self.latents["log_upper_topics"][t], np.exp(self.log_links(t))
        return sum(link * math.exp(topics[k, w]) for k, link in enumerate(links[:, j]))

    def log_words(self):
        """See `TopicSide.log_words`; tests of the family have the value of the network."""
        return super().log_words() + network.log_density(self.latents)

    def quantities(self):
        upper, topics = range(self.model.topics.layers - 1), np.exp(self.latents["log_upper_topics"])
        return {
            "upper_topics": self.effective_topics(upper),
            "popularity_density": [self.density_of_popularity(t) for t in upper],
            "link_density": [self.density_of_links(t) for t in upper],
            "upper_focus": [np.mean([sum(p * p for p in topic) for topic in topics[t]]) for t in upper],
            "upper_fit": [self.fit(topics[t], t + 1) for t in upper[:-1]],
        }

    def effective_topics(self, upper):
        """Perplexity of the tokens over the topics of each upper layer, which share them by their links."""
        weights, out = [self.state.z.count(k) for k in self.state.topics], []
        for t in upper:
            beta = np.exp(self.log_links(t))
            below = range(beta.shape[1])
            weights = [sum(weights[j] * b[j] / beta[:, j].sum() for j in below) for b in beta]
            shares = [m / sum(weights) for m in weights if m > 0.0]
            out.append(math.exp(-sum(p * math.log(p) for p in shares)))
        return out

    def density_of_popularity(self, t):
        """Mean log density of the popularities in an upper layer."""
        popularity = self.latents["log_popularity"][t]
        law = stats.loggamma(self.latents["layer_mass"][t] / len(popularity))
        return np.mean(law.logpdf(popularity + np.log(self.latents["layer_rate"][t])))

    def density_of_links(self, t):
        """Mean log density of the links to an upper layer."""
        law = stats.loggamma(np.exp(self.latents["log_popularity"][t])[:, None])
        return np.mean(law.logpdf(self.log_links(t) + np.log(self.latents["link_rate"][t])))

    def fit(self, topics, t):
        """Mean over topics below upper layer t of the probability that their words have there."""
        sums = np.exp(self.log_links(t)).sum(axis=0)
        return np.mean(
            [sum(topics[j, w] * self.mixture(t, j, w) for w in WORDS) / b for j, b in enumerate(sums)]
        )
