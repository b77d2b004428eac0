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
from scipy import sparse

tomotopy = pytest.importorskip("tomotopy", reason="tomotopy is not installed (extra peers)")
from bnpzoo.diagnostics.laboratory.peers import (  # noqa: E402
    LabelledTomotopy,
    RegressionTomotopy,
    RespondingTomotopy,
    Tomotopy,
)

HDP_FOUND_WRONG = ("0.14.0",)  # docs/tomotopy.md; other versions may be right
SLDA_FOUND_TO_PLUG_IN = ("0.14.0",)

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
@pytest.mark.slow
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


LABELLED = bnpzoo.Corpus(
    [0, 1, 0, 2, 1, 0, 2],
    [0, 2, 5, 7],
    covariates={"tag": sparse.csr_array([[0, 1, 0], [1, 1, 0], [1, 0, 1]])},
)
"""Labels by first appearance are not in their own order, and documents have one or two."""

OF_LABELS = {
    "labeled LDA": bnpzoo.get("labeled_lda", alpha=0.7, eta=0.4),
    "PLDA": bnpzoo.get("partially_labeled_lda", alpha=0.7, eta=0.4, topics_per_label=2, common=1),
    "PLDA without common topics": bnpzoo.get(
        "partially_labeled_lda", alpha=0.7, eta=0.4, topics_per_label=2, common=0
    ),
}


@pytest.mark.parametrize("which", OF_LABELS)
@pytest.mark.slow
def test_models_of_labels_agree_with_the_oracle(which):
    model = OF_LABELS[which]
    subject = LabelledTomotopy(model, Design.of(LABELLED))
    verdict = verdict_on(subject, model, LABELLED)
    assert verdict.passed, verdict


def test_topics_are_those_of_labels():
    model = OF_LABELS["PLDA"]
    subject = LabelledTomotopy(model, Design.of(LABELLED))
    chain = subject.transitions(np.random.default_rng(3), {}, LABELLED)
    own = model.may_have(LABELLED)[model.document_rows(LABELLED)][LABELLED.doc_of]
    for _ in range(50):
        assert own[np.arange(LABELLED.n_tokens), next(chain)["z"]].all()


@pytest.mark.slow
def test_models_of_labels_with_another_prior_do_not():
    other = bnpzoo.get("partially_labeled_lda", alpha=0.3, eta=0.4, topics_per_label=2, common=1)
    subject = LabelledTomotopy(other, Design.of(LABELLED))
    verdict = verdict_on(subject, OF_LABELS["PLDA"], LABELLED)
    assert verdict.status == "rejected", verdict


@pytest.mark.parametrize("changed", [False, True])
def test_regression_given_its_coefficients(changed):
    """Topics of a chain against their exact law at the coefficients that tomotopy found, or at others."""
    corpus = bnpzoo.Corpus([0, 1, 0, 0, 1, 2, 2], [0, 2, 4, 7], group=[0, 0, 1], group_names=["a", "b"])
    model = bnpzoo.get("dmr", n_topics=2, intercept_precision=1.0, precision=1.0, eta=0.4)
    subject = RegressionTomotopy(model, corpus)
    found = subject.log_factor - 1.0 * changed
    fixed = {"log_factor": found, "intercept_precision": 1.0, "precision": 1.0, "eta": 0.4}
    oracle = Oracle.of(model.assignments(corpus), lambda z: model.log_joint({"z": z, **fixed}, corpus))
    verdict = agrees_with_oracle(subject, oracle, corpus, chains=1, draws=10_000, warmup=200, seed=1)
    assert verdict.passed != changed, verdict
    assert np.ptp(subject.log_factor[1:], axis=0).max() > 0.05  # labels differ, so that this is not LDA


RATED = bnpzoo.Corpus([0, 1, 0, 2, 1], [0, 2, 5], covariates={"y": np.array([3.0, -3.0])})
SLDA = bnpzoo.get(
    "slda", n_topics=2, alpha=0.7, eta=0.4, response="y",
    intercept_precision=1e8, precision=1.0, noise_precision=1.0,
)  # fmt: skip


def plugged_in(z, model, corpus):
    """Coefficients as tomotopy has them after an iteration that ends with topics `z`, float (K,)."""
    shares, y = model.shares(z, corpus, model.n_topics), corpus.covariates["y"]
    return np.linalg.solve(shares.T @ shares + model.precision * np.eye(model.n_topics), shares.T @ y)


def log_law_with_plugged_in_coefficients(model, corpus):
    """Exact stationary law of sweeps over the topics, each at the coefficients that the last one leaves.

    Documents are visited in either order, tokens from the first to the last.
    """
    states = list(model.assignments(corpus))
    number = {tuple(z): i for i, z in enumerate(states)}
    hyper = {name: np.atleast_1d(value) for name, value in model.hyperparameters().items()}
    hyper |= {name: hyper[name][0] for name in ("alpha", "eta")}
    tokens = [range(*corpus.doc_ptr[d : d + 2]) for d in range(corpus.n_documents)]
    neighbours = np.array(
        [[[number[(*z[:i], k, *z[i + 1 :])] for k in range(2)] for z in map(tuple, states)] for i in range(5)]
    )
    transitions = np.zeros((len(states), len(states)))
    for start, z in enumerate(states):
        at = {"intercept": np.zeros(1), "coefficient": plugged_in(z, model, corpus)[None], **hyper}
        weight = np.exp([model.log_joint({"z": state, **at}, corpus) for state in states])
        for order in ([0, 1], [1, 0]):
            law = np.eye(len(states))[start]
            for i in (i for d in order for i in tokens[d]):
                both = weight[neighbours[i]]
                step = np.zeros(transitions.shape)
                np.put_along_axis(step, neighbours[i], both / both.sum(axis=1, keepdims=True), axis=1)
                law = law @ step
            transitions[start] += law / 2.0
    law = np.linalg.matrix_power(transitions, 2**20)[0]
    return {tuple(z): float(np.log(p)) for z, p in zip(states, law, strict=True)}


def test_supervised_lda():
    """Its topics have the law of a sampler with coefficients plugged in, and not that of the posterior."""
    subject, settings = RespondingTomotopy(SLDA, RATED), {"draws": 5000, "warmup": 200, "seed": 1}
    log_law = log_law_with_plugged_in_coefficients(SLDA, RATED)
    predicted = Oracle.of(SLDA.assignments(RATED), lambda z: log_law[tuple(z)])
    exact = Oracle.of_model(SLDA, RATED)
    if tomotopy.__version__ in SLDA_FOUND_TO_PLUG_IN:
        verdict = agrees_with_oracle(subject, predicted, RATED, **settings)
        assert verdict.passed, verdict
        verdict = agrees_with_oracle(subject, exact, RATED, **settings)
        assert verdict.status == "rejected", verdict
    verdict = agrees_with_oracle(ModelSubject(SLDA, Design.of(RATED)), exact, RATED, **settings)
    assert verdict.passed, verdict


@pytest.mark.skipif(
    tomotopy.__version__ not in SLDA_FOUND_TO_PLUG_IN, reason="says nothing of other versions"
)
@pytest.mark.parametrize("ignored", [{}, {"glm_param": [4.0]}, {"mu": [5.0]}], ids=str)
def test_coefficients_of_supervised_lda_are_a_function_of_its_topics(ignored):
    common = {"alpha": [0.7, 0.7], "eta": 0.4, "seed": 3, "min_cf": 0, "min_df": 0, "rm_top": 0}
    peer = tomotopy.SLDAModel(k=2, vars="l", nu_sq=[1.0], **common, **ignored)
    peer.optim_interval = 0
    for words, y in zip(([0, 1], [0, 2, 1]), RATED.covariates["y"], strict=True):
        peer.add_doc([f"w{word}" for word in words], y=[float(y)])
    for _ in range(5):
        peer.train(1, workers=1)
        z = np.concatenate([document.topics for document in peer.docs])
        np.testing.assert_allclose(peer.get_regression_coef(0), plugged_in(z, SLDA, RATED), rtol=1e-5)


def test_labels_that_tomotopy_cannot_represent():
    with pytest.raises(ValueError, match="labeled_lda: common: tomotopy has none, found 2"):
        LabelledTomotopy(bnpzoo.get("labeled_lda", alpha=1.0, eta=0.5, common=2), Design.of(LABELLED))
    none = bnpzoo.Corpus([0, 1], [0, 1, 2], covariates={"tag": sparse.csr_array([[1], [0]])})
    with pytest.raises(ValueError, match="slda: expected numbers as responses, found categories"):
        RespondingTomotopy(SLDA.replaced(response="y:category"), RATED)
    gaps = bnpzoo.Corpus([0, 1], [0, 1, 2], covariates={"y": np.array(["1.5", ""])})
    with pytest.raises(ValueError, match="slda: expected every response of every document"):
        RespondingTomotopy(SLDA.replaced(response="y:number"), gaps)
    with pytest.raises(ValueError, match="labeled_lda: expected a label on every document"):
        LabelledTomotopy(OF_LABELS["labeled LDA"], Design.of(none))
