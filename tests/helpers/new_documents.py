"""What is said of the topic proportions of new documents."""

import numpy as np

SWEEPS = {"burn_in": 20, "sweeps": 1000}


def proportions_in_three_ways(predictive, documents, rng):
    """Posterior mean proportions as completion has them, as `transform` has them, and of draws, (3, D, K)."""
    each = [documents.take(np.array([d])) for d in range(documents.n_documents)]
    both = [predictive.draw_proportions(one, rng, **SWEEPS, repeats=1) for one in each]
    means, draws = zip(*both, strict=True)
    return np.stack([
        predictive.proportions(documents, rng, **SWEEPS), np.mean(means, axis=1), np.mean(draws, axis=1)
    ])  # fmt: skip
