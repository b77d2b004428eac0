"""Draws of the family `buffet`, spelled out."""

import math
from itertools import product

import numpy as np
from bnpzoo.diagnostics.laboratory.ladder import DESIGN
from quantities_state import DOCUMENTS, State
from scipy import stats
from scipy.integrate import quad

LOG2 = math.log(2.0)


class SparseTransfer(State):
    """Tasks have sets of topics, and weights of these."""

    def prior(self, d):
        return [math.exp(w) for w in self.latents["log_weight"][int(DESIGN.group[d])]], 0.0

    def log_topics(self):
        return super().log_topics() + sum(map(self.log_lengths, range(DESIGN.n_groups)))

    def log_lengths(self, c):
        """Negative binomials of a task's lengths, without the factors that its weights do not enter."""
        mass = float(np.exp(self.latents["log_weight"][c]).sum())
        lengths = [n for n, g in zip(DESIGN.doc_lengths, DESIGN.group, strict=True) if g == c]
        known = {"task": [sum(lengths)], "document": lengths, "none": []}[self.model.lengths]
        return sum(stats.nbinom(mass, 0.5).logpmf(n) + n * LOG2 + math.lgamma(n + 1.0) for n in known)

    def own_quantities(self):
        """Which topics tasks have, and the weights of those."""
        x, tasks = self.latents, range(DESIGN.n_groups)
        on = [(c, k) for c, k in product(tasks, self.topics) if x["log_weight"][c, k] > -np.inf]
        return {
            "n_represented": len(self.topics),
            "n_pairs": len(set(zip(self.group, self.z, strict=True))),
            "n_on": len(on),
            "mass": [sum(math.exp(x["log_weight"][pair]) for pair in on if pair[0] == c) for c in tasks],
            "mean_shape": sum(x["shape"][k] for k in set(self.z)) / len(set(self.z)),
        }


class Focused(State):
    """Documents have sets of topics, each with a strength and a probability that it is on."""

    def prior(self, d):
        return [self.first_weight(k) for k in self.topics], self.mass_of_new()

    def prior_of_new(self, g):
        """See `State.prior_of_new`; a new document has not been asked yet."""
        return self.latents["strength"], self.new_in_another_document()

    def weights(self, d):
        """See `State.weights`; a topic with tokens is on."""
        prior, rest = self.prior(d)
        counts = [len(self.tokens(doc=d, z=k)) for k in self.topics]
        return [
            n + (float(self.latents["strength"][k]) if n else prior[k]) for k, n in enumerate(counts)
        ], rest

    def first_weight(self, k):
        """The mean weight of a topic in a document without a token of it."""
        strength, inclusion = self.latents["strength"][k], self.latents["inclusion"][k]
        on = inclusion * 2.0**-strength
        return float(strength * on / (1.0 - inclusion + on))

    def mass_of_new(self):
        """Integral over topics without tokens in any of the documents, all asked."""
        n = DESIGN.doc_lengths.size

        def of_strength(phi):
            q = 2.0**-phi  # int_0^1 q (1 - pi + pi q)^(n - 1) dpi
            return phi * q * (1.0 - q**n) / (n * (1.0 - q))

        return self.over_strengths(of_strength)

    def new_in_another_document(self):
        """Mean strength of topics that no document of the corpus has a token of, in one more."""
        n = DESIGN.doc_lengths.size

        def of_strength(phi):  # int_0^1 (1 - pi (1 - q))^n dpi
            q = 2.0**-phi
            return phi * (1.0 - q ** (n + 1)) / ((n + 1) * (1.0 - q))

        return self.over_strengths(of_strength)

    def over_strengths(self, function):
        """Alpha times the mean of a function of a strength."""
        gamma = float(self.latents["gamma"])
        mean = quad(lambda phi: stats.gamma.pdf(phi, gamma) * function(phi), 0.0, np.inf)[0]
        return float(self.latents["alpha"]) * mean

    def log_topics(self):
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
            return sum((1.0 - (1.0 - some) ** (d + 1)) / (d + 1) for d in DOCUMENTS)

        return out - self.over_strengths(of_strength)

    def own_quantities(self):
        """Means over topics."""
        return {f"mean_{name}": np.mean(self.latents[name]) for name in ("strength", "inclusion")}
