"""Draws of the family `poisson`, spelled out."""

import math

import numpy as np
from bnpzoo.diagnostics.laboratory.ladder import DESIGN
from quantities_state import DOCUMENTS, State
from scipy import stats


class Poisson(State):
    """Topics have gamma rates r."""

    def own_quantities(self):
        """Of rates."""
        return {"log_mass": math.log(sum(self.latents["r"])), "mean_log_prior": self.mean_log_prior()}


class Pfa(Poisson):
    """Documents have probabilities of their own."""

    topics_come_and_go = True

    def prior(self, d):
        *weights, rest = map(float, self.latents["r"])
        return weights, rest


class Bgg(Poisson):
    """Topics have probabilities of their own."""

    def prior(self, d):
        return list(map(float, self.latents["r"])), 0.0

    def prior_of_new(self, g):
        """See `State.prior_of_new`: a Dirichlet document of the same mass and first token."""
        prior, _ = self.prior(0)
        weights = [r * p for r, p in zip(prior, self.probabilities(), strict=True)]
        return [sum(prior) * weight / sum(weights) for weight in weights], 0.0

    def probabilities(self):
        """Of the topics."""
        return [1.0 / (1.0 + math.exp(-x)) for x in self.latents["log_odds"]]

    def weights(self, d):
        weights, rest = super().weights(d)
        return [p * weight for p, weight in zip(self.probabilities(), weights, strict=True)], rest

    def log_topics(self):
        return sum(map(self.log_convolved_topics, DOCUMENTS))

    def log_convolved_topics(self, d):
        """Log probability of a document's topics: negative binomial counts given their sum."""
        n, out, of_sum = int(DESIGN.doc_lengths[d]), 0.0, np.array([1.0])
        for k, (r, p) in enumerate(zip(self.latents["r"], self.probabilities(), strict=True)):
            count, law = len(self.tokens(doc=d, z=k)), stats.nbinom(r, 1.0 - p)
            out += law.logpmf(count) + math.lgamma(count + 1.0)
            of_sum = np.convolve(of_sum, law.pmf(np.arange(n + 1)))
        return out - math.log(of_sum[n]) - math.lgamma(n + 1.0)

    def own_quantities(self):
        """Of rates and probabilities."""
        log_odds = self.latents["log_odds"]
        return super().own_quantities() | {
            "mean_log_p": np.mean([-math.log1p(math.exp(-x)) for x in log_odds]),
            "mean_log_q": np.mean([-math.log1p(math.exp(x)) for x in log_odds]),
        }


class Gbn(Poisson):
    """Rates are mixtures of the topics of upper layers."""

    def prior(self, d):
        of_above = zip(self.latents["theta"][0, d], self.latents["link"][0], strict=True)
        return list(sum(theta * link for theta, link in of_above)), 0.0

    def prior_of_new(self, g):
        """See `State.prior_of_new`; a new document is like the mean of those of the fit."""
        return np.mean([self.prior(e)[0] for e in DOCUMENTS], axis=0), 0.0

    def own_quantities(self):
        """Of rates and upper layers."""
        x = self.latents
        return super().own_quantities() | {
            "mean_log_rate": [np.mean([math.log(c) for c in row]) for row in x["rate"]],
            "mean_log_theta": [np.mean([math.log(sum(t)) for t in layer]) for layer in x["theta"]],
        }
