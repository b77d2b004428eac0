"""Draws of the family `scaling`, spelled out."""

import math
from itertools import product

import numpy as np
from bnpzoo.diagnostics.laboratory.ladder import DESIGN
from quantities_lda import Hdp
from quantities_state import FILLED, PROBES


class Hdsp(Hdp):
    """Labels scale topics in documents; the prior is that where nothing scales them."""

    def values(self, d):
        """Values of all labels in a document."""
        return [float(j in self.labels(d)) for j in range(self.n_labels)]

    def log_scale(self, d, k):
        """Log scale of a topic in a document."""
        return sum(r * v for r, v in zip(self.values(d), self.latents["log_scale"][:, k], strict=True))

    def kept(self, d, k):
        """Of a document and a topic: u s / (1 + u s)."""
        us = math.exp(self.latents["log_u"][d] + self.log_scale(d, k))
        return us / (1.0 + us)

    def log_topics(self):
        """Log density of topics and log u, with each pi of a document integrated out.

        `u^n / Gamma(n) prod_k int pi^n_k exp(-u pi) Gamma(pi; a_k, 1 / s_k) dpi`.
        """
        out = 0.0
        for d in FILLED:
            n, log_u, (shapes, _) = DESIGN.doc_lengths[d], self.latents["log_u"][d], self.prior(d)
            out += n * log_u - math.lgamma(n)
            for k, a in enumerate(shapes):
                count, log_s = len(self.tokens(doc=d, z=k)), self.log_scale(d, k)
                out += math.lgamma(a + count) - math.lgamma(a) + count * log_s
                out -= (a + count) * math.log1p(math.exp(log_u + log_s))
        return out

    def predictive(self, d, w):
        """See `State.predictive`.

        The mean given u is that of u pi / n: of u given pi, n / sum(pi) is the mean.
        """
        g, (weights, _) = int(DESIGN.group[d]), self.weights(d)
        of_known = sum(n * self.kept(d, k) * self.topic_side.word(g, k, w) for k, n in enumerate(weights))
        return of_known / DESIGN.doc_lengths[d]

    def slopes_of_law(self, v):
        """First and second derivative of the log density of a log scale."""
        shape, rate = float(self.latents["w_shape"]), float(self.latents["w_rate"])
        return -shape + rate * math.exp(-v), -rate * math.exp(-v)

    def scale_information(self):
        """Of each log scale, the square of the first derivative and the second; by the weights of topics."""
        x, out = self.latents, 0.0
        for j, k in product(range(len(x["log_scale"])), self.topics):
            first, second = self.slopes_of_law(x["log_scale"][j, k])
            for d in FILLED:
                r, n, kept = self.values(d)[j], len(self.tokens(doc=d, z=k)), self.kept(d, k)
                weight = float(x["alpha"]) * x["root"][k] + n
                first += r * (n - weight * kept)
                second -= r * r * weight * kept * (1.0 - kept)
            out += x["root"][k] * (first**2 + second)
        return out

    def own_quantities(self):
        """Of u and scales."""
        x = self.latents
        return {
            "probed_log_u": [x["log_u"][d] for d in PROBES.documents],
            "mean_log_scale": np.mean([self.log_scale(d, k) for d, k in zip(self.doc, self.z, strict=True)]),
            "mean_root": np.mean([x["root"][k] for k in self.z]),
            "scale_information": self.scale_information(),
        }


class Whdsp(Hdsp):
    """The group scales topics as a number as well; log scales are normal."""

    def values(self, d):
        return [*super().values(d), (DESIGN.group[d] - np.mean(DESIGN.group)) / np.std(DESIGN.group)]

    def slopes_of_law(self, v):
        variance = float(self.latents["w_variance"])
        return -v / variance, -1.0 / variance
