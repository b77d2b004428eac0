"""Draws of the family `responses`, spelled out: the group is a category, and a number as well."""

import math

import numpy as np
from bnpzoo.diagnostics.laboratory.ladder import DESIGN
from quantities_lda import Hdp, Lda
from quantities_state import DOCUMENTS
from scipy import stats


class Supervised:
    """What supervised models add to a state."""

    def predictors(self, d):
        """Linear predictors of the responses of a document."""
        x, n = self.latents, max(int(DESIGN.doc_lengths[d]), 1)
        shares = [len(self.tokens(doc=d, z=k)) / n for k in self.topics]
        return [
            b0 + sum(share * b for share, b in zip(shares, row, strict=True))
            for b0, row in zip(x["intercept"], x["coefficient"], strict=True)
        ]

    def of_category(self, predictors, c):
        """Log probability of a category, or its log factor."""
        weights = [1.0, *map(math.exp, predictors)]
        return math.log(weights[c] / sum(weights))

    def own_quantities(self):
        """Of responses and their predictors."""
        predictors = [self.predictors(d) for d in DOCUMENTS]
        category, number = (self.corpus.covariates[name] for name in ("group", "group:number"))
        deviation, log_p = float(self.latents["noise_precision"][0]) ** -0.5, 0.0
        for (*odds, mean), c, y in zip(predictors, category, number, strict=True):
            log_p += self.of_category(odds, c) + stats.norm(mean, deviation).logpdf(y)
        return {
            "log_responses": log_p,
            "mean_predictor": np.mean(predictors, axis=0),
            "mean_square_predictor": np.mean([[psi * psi for psi in row] for row in predictors], axis=0),
        }


class Slda(Supervised, Lda):
    """Supervised LDA."""


class Shdp(Supervised, Hdp):
    """Supervised HDP."""


class Medlda(Supervised, Lda):
    """Categories have hinge losses."""

    def of_category(self, predictors, c):
        cost, margin = self.model.cost, self.model.margin
        signs = [1.0 if j == c else -1.0 for j in range(3)]
        return -2.0 * cost * sum(max(0.0, margin - s * x) for s, x in zip(signs, predictors, strict=True))
