"""tomotopy under the laboratory: only what must hold of any version, and what was found in one."""

import bnpzoo
import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.geweke import geweke
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.sbc import sbc
from bnpzoo.diagnostics.laboratory.sequential import sequential
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.zoo.contract import Design, Gamma

tomotopy = pytest.importorskip("tomotopy", reason="tomotopy is not installed (extra peers)")
from bnpzoo.diagnostics.laboratory.peers import Tomotopy  # noqa: E402

HDP_FOUND_WRONG = ("0.14.0",)  # docs/tomotopy.md; other versions may be right

LDA = bnpzoo.get("lda", n_topics=2, alpha=0.7, eta=0.4)
HDP = bnpzoo.get("hdp", gamma=1.0, alpha=1.0, eta=0.5)
TWO_DOCUMENTS = bnpzoo.Corpus([0, 1, 0, 2, 1, 0], [0, 4, 6])
ONE_WORD = bnpzoo.Corpus([0] * 5, [0, 5])


def verdict_on(subject, model, corpus):
    # False alarms: 1e-5 a verdict.
    oracle = Oracle.of_model(model, corpus)
    return agrees_with_oracle(subject, oracle, corpus, draws=2500, warmup=200, seed=1)


@pytest.mark.parametrize("corpus", [TWO_DOCUMENTS, ONE_WORD], ids=["two documents", "one word"])
def test_lda_agrees_with_the_oracle(corpus):
    verdict = verdict_on(Tomotopy(LDA, Design.of(corpus)), LDA, corpus)
    assert verdict.passed, verdict


def test_lda_with_another_prior_does_not():
    other = bnpzoo.get("lda", n_topics=2, alpha=0.5, eta=0.4)
    verdict = verdict_on(Tomotopy(other, Design.of(TWO_DOCUMENTS)), LDA, TWO_DOCUMENTS)
    assert verdict.status == "rejected", verdict


def test_lda_is_calibrated():
    # Data are drawn until they hold every word, and that does not bias the ranks. False alarms: 1e-5.
    subject = Tomotopy(LDA, Design(np.array([3, 3]), 3))
    verdict = sbc(subject, replications=100, draws=15, thin=3, seed=1)
    assert verdict.passed, verdict


@pytest.mark.parametrize("corpus", [TWO_DOCUMENTS, ONE_WORD], ids=["two documents", "one word"])
def test_hdp(corpus):
    own = verdict_on(ModelSubject(HDP, Design.of(corpus)), HDP, corpus)
    assert own.passed, own
    peer = verdict_on(Tomotopy(HDP, Design.of(corpus)), HDP, corpus)
    if tomotopy.__version__ in HDP_FOUND_WRONG:
        assert peer.status == "rejected", peer


def test_two_tokens_of_one_word_by_hand():
    # alpha / (1 + alpha) * gamma / (1 + gamma)
    oracle = Oracle.of_model(HDP, bnpzoo.Corpus([0, 0], [0, 2]))
    assert oracle.n_topics.mean[2] == pytest.approx(0.25, abs=1e-12)


@pytest.mark.parametrize("rung", [geweke, sequential])
def test_rungs_that_need_given_latents_refuse(rung):
    verdict = rung(Tomotopy(LDA, Design.of(TWO_DOCUMENTS)))
    assert verdict.status == "broken"
    assert "starts by itself" in verdict.message


def test_what_tomotopy_cannot_represent():
    with pytest.raises(ValueError, match="hdp: alpha: expected a fixed number"):
        Tomotopy(bnpzoo.get("hdp", gamma=1.0, alpha=Gamma(1, 1), eta=0.5), Design(np.array([2]), 2))
    with pytest.raises(ValueError, match="at least one token in every document"):
        Tomotopy(LDA, Design(np.array([2, 0]), 2))
    with pytest.raises(ValueError, match="n_words: expected at most one a token, found 3"):
        Tomotopy(LDA, Design(np.array([2]), 3))


def test_chain_repeats_under_its_seed():
    subject = Tomotopy(HDP, Design.of(TWO_DOCUMENTS))
    one, other = (subject.transitions(np.random.default_rng(3), {}, TWO_DOCUMENTS) for _ in range(2))
    assert all(np.array_equal(next(one)["z"], next(other)["z"]) for _ in range(20))
