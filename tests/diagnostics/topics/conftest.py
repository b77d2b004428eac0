"""Fits whose draws are chosen, not sampled."""

import numpy as np
import pytest
from bnpzoo import Corpus, get
from bnpzoo.zoo.contract import Probes
from bnpzoo.zoo.inference.chain import Record
from bnpzoo.zoo.inference.results import assemble


@pytest.fixture(scope="session")
def fit_of():
    """Make a fit of lda, alpha 0.5 and eta 0.1, whose kept draws are given: ``z`` (chains, draws, N)."""

    def fit_of(corpus, z, n_topics):
        model, probes = get("lda", n_topics=n_topics, alpha=0.5, eta=0.1), Probes.of(corpus)
        records = []
        for chain in np.asarray(z):
            latents = [{"z": own, "alpha": np.array(0.5), "eta": np.array(0.1)} for own in chain]
            quantities = [model.quantities(own, corpus, probes) for own in latents]
            records.append(Record(quantities, [0.0] * len(chain), list(enumerate(latents))))
        return assemble(model, corpus, probes, records, {}, {"backend": "kernel", "variant": "sparse"})

    return fit_of


@pytest.fixture(scope="session")
def corpus():
    """Three documents of four tokens, two of them with the words a and b, one with c and d."""
    words = [0, 1, 0, 1, 0, 0, 1, 1, 2, 3, 2, 3]
    return Corpus(words, [0, 4, 8, 12], [*"abcde"], covariates={"file": ["x.txt", "y.txt", "z.txt"]})
