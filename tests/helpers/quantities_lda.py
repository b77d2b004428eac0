"""Draws of the families `lda`, `hdp` and `pitman_yor`, spelled out."""

import math
from collections import Counter

import numpy as np
from bnpzoo.diagnostics.laboratory.ladder import DESIGN
from quantities_state import State
from quantities_topics import WORDS, DirichletTopics


class Lda(State):
    """One alpha, or one a topic."""

    def prior(self, d):
        return [float(np.broadcast_to(self.latents["alpha"], len(self.topics))[k]) for k in self.topics], 0.0


class AnAlphaAGroup(State):
    """Groups have an alpha of their own."""

    def prior(self, d):
        return [float(self.latents["alpha"][int(DESIGN.group[d])]) for _ in self.topics], 0.0


class GroupLda(State):
    """Groups have topics of their own as well."""

    def prior(self, d):
        g = int(DESIGN.group[d])
        own = range(g * self.model.n_topics, (g + 1) * self.model.n_topics)
        return [float(self.latents["alpha"][g]) if k in own else 0.0 for k in self.topics], 0.0


class Cclda(AnAlphaAGroup):
    """Tokens come from a topic, or from its own form in their group."""

    def make_topic_side(self):
        return TopicsOfCollections(self)

    def log_topics(self):
        """See `State.log_topics`; with where the tokens come from."""
        x, out, seen = self.latents, super().log_topics(), Counter()
        for g, k, own in zip(self.group, self.z, x["own"].tolist(), strict=True):
            of = [seen[g, k, s] + float(x[f"gamma{s}"]) for s in (0, 1)]
            out += math.log(of[own] / sum(of))
            seen[g, k, own] += 1
        return out

    def own_quantities(self):
        """Share of tokens from a group's own form."""
        return {"share_own": sum(self.latents["own"]) / len(self.latents["own"])}


class TopicsOfCollections(DirichletTopics):
    """Topics, and the form that each has in each group."""

    def word(self, g, k, w):
        x, state = self.latents, self.state
        own = [i for i in state.tokens(group=g, z=k) if x["own"][i]]
        shared = [i for i in state.tokens(z=k) if not x["own"][i]]
        share = (len(own) + x["gamma1"]) / (len(state.tokens(group=g, z=k)) + x["gamma0"] + x["gamma1"])
        of = [
            (sum(state.words[i] == w for i in where) + x[name]) / (len(where) + DESIGN.n_words * x[name])
            for where, name in ((shared, "eta"), (own, "delta"))
        ]
        return float((1.0 - share) * of[0] + share * of[1])

    def urn(self, i):
        k, own = self.state.z[i], self.latents["own"][i]
        where, name = ((self.state.group[i], k), "delta") if own else (("shared", k), "eta")
        return where, [float(self.latents[name]) for _ in WORDS]


class Hdp(State):
    """Documents share the weights of topics."""

    topics_come_and_go = True

    def prior(self, d):
        *sticks, rest = float(self.latents["alpha"]) * self.latents["root"]
        return sticks, rest


class MtHdp(State):
    """Documents of a task share the weights of topics."""

    topics_come_and_go = True

    def prior(self, d):
        g = int(DESIGN.group[d])
        *sticks, rest = self.latents["alpha"][g] * self.latents["tasks"][g]
        return sticks, rest
