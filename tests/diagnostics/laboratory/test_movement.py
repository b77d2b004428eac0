"""Designs without symmetry, and what moves before the ladder: hyperparameters one at a time."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory import ladder
from bnpzoo.diagnostics.laboratory.ladder import (
    DESIGN,
    LONG,
    MICRO,
    REFERENCE_DESIGNS,
    Case,
    CaseSubject,
    climb,
)
from bnpzoo.diagnostics.laboratory.movement import check_movement, one_at_a_time
from bnpzoo.diagnostics.laboratory.subject import BrokenSubject
from bnpzoo.diagnostics.laboratory.verdict import Verdict
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.models import combinations, get

CASES = [
    Case(model_id, variant, "joint", topics=topics)  # of this rung kernels are plain Python
    for model_id, topics in combinations()
    for variant, kernel in get(model_id, topics=topics or None).kernels.items()
    if kernel.exact
]


@pytest.mark.parametrize("design", [DESIGN, LONG, Design.of(MICRO)])
def test_nothing_stands_in_for_another(design):
    sizes = {"documents": len(design.doc_lengths), "words": design.n_words, "groups": design.n_groups}
    assert len({*sizes.values()}) == len(sizes)
    assert {0, 1} <= {*design.doc_lengths}
    group = design.group
    assert np.count_nonzero(np.diff(group)) >= design.n_groups  # groups come back: they are not contiguous
    lengths = [int(np.sum(design.doc_lengths[group == g])) for g in range(design.n_groups)]
    assert len({*lengths}) == design.n_groups
    for g in range(1, design.n_groups):
        matrix = design.associations.matrix(g).toarray()
        assert not np.allclose(matrix, matrix.T)


def test_documents_of_a_group_come_in_a_row_once():
    """Or nothing shows what a sweep keeps from one to the next."""
    filled = DESIGN.doc_lengths > 0
    assert np.count_nonzero((np.diff(DESIGN.group) == 0) & filled[1:] & filled[:-1]) == 1


def test_topics_are_not_as_many_as_anything_else():
    for model_id, topics in combinations():
        model = Case(model_id, "", "sequential", topics=topics).make_model()
        n_topics = getattr(model, "n_topics", None)
        assert n_topics not in (len(DESIGN.doc_lengths), DESIGN.n_words, DESIGN.n_groups)
        if n_topics:
            assert n_topics * DESIGN.n_groups not in (len(DESIGN.doc_lengths), DESIGN.n_words)


def test_long_documents_have_more_than_a_hundred_tokens_where_lengths_are_given(monkeypatch):
    assert LONG.doc_lengths.max() > 100
    designs = {}
    monkeypatch.setattr(
        ladder, "sbc", lambda subject, **settings: designs.update({subject.name: subject.design})
    )
    for case in (Case("lda", "sparse", "sbc"), Case("focused", "exact", "sbc")):
        climb(case)
    assert designs == {"lda/sparse": LONG, "focused/exact": DESIGN}
    assert {len(design.doc_lengths) for design in REFERENCE_DESIGNS.values()} == {4, 6}


def test_one_at_a_time():
    model = Case("mt_hdp", "sparse", "sequential").make_model()
    forms = dict(one_at_a_time(model))
    assert {*forms} == {"gamma", "alpha0", "alpha", "eta"}
    for name, form in forms.items():
        assert form.sampled() == (name,)
        assert form.hyperparameters()[name] == model.hyperparameters()[name]
        fixed = form.set_to("fixed").hyperparameters()
        assert all(form.hyperparameters()[other] == fixed[other] for other in forms if other != name)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.subject)
def test_right_samplers_move_what_they_should(case):
    subject, rng = CaseSubject(case), np.random.default_rng(1)
    check_movement(subject, rng)
    if case.variant == next(iter(subject.model.kernels)):  # variants share the moves of hyperparameters
        for _, model in one_at_a_time(subject.model):
            check_movement(CaseSubject(case, model=model), rng)


@pytest.mark.parametrize(
    ("model_id", "mutant", "message"),
    [
        ("mt_hdp", "alpha0-asks-gamma", "alpha0 moved though it is fixed, where gamma alone is sampled"),
        ("sparse_transfer", "transfer-smoothing-stays", "eta never moved in 20 transitions"),
        ("hpyp", "pyp-discount-stays", "a never moved in 20 transitions"),
        ("hpyp", "pyp-base-under-prior-of-concentration", "eta never moved .* where eta alone is sampled"),
    ],
)
def test_what_stays_or_moves_wrongly_is_told(model_id, mutant, message):
    variant = {"hpyp": "forced", "sparse_transfer": "masks"}.get(model_id, "sparse")
    verdict = climb(Case(model_id, variant, "sequential", mutant=mutant))
    assert verdict.status == "broken"
    with pytest.raises(BrokenSubject, match=message):
        raise BrokenSubject(verdict.message)


def test_each_hyperparameter_alone_is_calibrated_at_budget_full(monkeypatch):
    asked = []

    def sequential(subject, *, false_alarm_rate, samples, **others):
        asked.append((subject.model.sampled(), samples))
        assert false_alarm_rate == 1e-5 / 3
        status = "rejected" if subject.model.sampled() == ("eta",) else "passed"
        return Verdict("sequential", subject.name, status, "Round 1.", false_alarm_rate)

    monkeypatch.setattr(ladder, "sequential", sequential)
    verdict = climb(Case("lda", "sparse", "sequential", "full"))
    assert asked == [(("alpha", "eta"), 2000), (("alpha",), 1000), (("eta",), 1000)]
    assert (verdict.status, verdict.message) == ("rejected", "eta alone sampled: Round 1.")
    assert verdict.false_alarm_rate == 1e-5


def test_a_sampler_that_fails_is_broken():
    """And ends no round of verdicts."""

    class Failing(CaseSubject):
        def transitions(self, rng, latents, data):
            raise ValueError("negative dimensions are not allowed")
            yield

    subject = Failing(Case("lda", "sparse", "sequential"))
    with pytest.raises(BrokenSubject, match="transition raised ValueError: negative dimensions"):
        check_movement(subject, np.random.default_rng(1))
