"""The rung that compares a kernel with the references; the fits themselves are judged elsewhere."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory import reference
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.inference import sample
from bnpzoo.zoo.models import get

HDP = get("hdp", gamma=0.7, alpha=1.0, eta=0.5)
LDA = get("lda", n_topics=2, alpha=1.0, eta=0.5)
CORPUS = LDA.simulate(Design(np.full(3, 4), n_words=3), np.random.default_rng(0)).corpus


@pytest.fixture
def calls(monkeypatch):
    """What is asked of `sample`, which a kernel answers whatever the back end."""
    made = []

    def fake(model, corpus, backend="kernel", *, truncation=None, variant=None, thin=1, **settings):
        made.append((backend, truncation))
        tree = sample(model, corpus, seed=len(made), tune=1, draws=8, chains=4)
        tree.attrs |= {"backend": backend, "truncation": "" if truncation is None else truncation}
        if len(made) == fake.stopped_at:
            raise KeyboardInterrupt
        return tree

    fake.stopped_at = 0
    monkeypatch.setattr(reference, "sample", fake)
    return made, fake


def climb(model, **settings):
    return reference.agrees_with_references(
        "subject", model, CORPUS, "sparse", truncations=(3, 4), draws=8, **settings
    )


def test_every_back_end_at_every_truncation_where_there_is_one(calls):
    assert climb(HDP).figures["fits"] == 5
    assert climb(LDA).figures["fits"] == 3
    made, _ = calls
    both = [(backend, truncation) for backend in ("numpyro", "stan") for truncation in (3, 4)]
    assert made == [("kernel", None), *both, ("kernel", None), ("numpyro", None), ("stan", None)]


@pytest.mark.slow
def test_a_run_that_is_stopped_goes_on_where_it_was(calls, tmp_path):
    made, fake = calls
    fake.stopped_at = 3
    with pytest.raises(KeyboardInterrupt):
        climb(HDP, store=tmp_path)
    verdict = climb(HDP, store=tmp_path)
    assert made[3:] == [("numpyro", 4), ("stan", 3), ("stan", 4)]
    assert verdict.figures["fits"] == 5
    assert len(made) == 6
    assert climb(HDP, store=tmp_path).message == verdict.message
    assert len(made) == 6


def test_fits_of_another_run_are_not_taken_for_its_own(calls, tmp_path):
    climb(HDP, store=tmp_path)
    with pytest.raises(
        ValueError, match="holds the results of another run, which differs in hyperparameters"
    ):
        climb(get("hdp", gamma=0.8, alpha=1.0, eta=0.5), store=tmp_path)
