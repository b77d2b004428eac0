"""Models whose labels have topics of their own: limits, sets of labels, exact transitions, mutants."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import Case
from bnpzoo.diagnostics.laboratory.mutants.labels import MUTANTS
from bnpzoo.diagnostics.laboratory.oracle import invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.diagnostics.laboratory.sequential import sequential
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.diagnostics.laboratory.token_law import sweep_matrix
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.models import get
from samplers import on_rung
from scipy import sparse
from scipy.special import logsumexp

FALSE_ALARM_RATE = 1e-5

SETS = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1]])
"""Labels of five documents, one of which has none."""

CORPUS = Corpus(
    [0, 0, 1, 0, 1, 2, 0], [0, 1, 3, 4, 6, 7], n_words=3, covariates={"tags": sparse.csr_array(SETS)}
)
MODELS = {
    "labels": get("labeled_lda", alpha=0.7, eta=0.5),
    "labels and a topic of all": get("labeled_lda", alpha=0.7, eta=0.5, common=1),
    "two topics a label": get("partially_labeled_lda", alpha=0.7, eta=0.5, topics_per_label=2, common=0),
}


DOCUMENTS = {"labels": 4, "labels and a topic of all": 3, "two topics a label": 2}


def design_of(lengths, **covariates):
    """Design of documents with covariates, whose values have names."""
    doc_ptr = np.append(0, np.cumsum(lengths))
    return Design.of(Corpus(np.zeros(doc_ptr[-1], int), doc_ptr, n_words=5, covariates=covariates))


def fixed(model):
    """Hyperparameters of a model at their fixed values, for the corpus."""
    return model.draw_hyperparameters(Design.of(CORPUS), np.random.default_rng(0))


@pytest.mark.parametrize("model_id", ["labeled_lda", "partially_labeled_lda"])
def test_without_labels_it_is_lda(model_id):
    model = get(model_id, alpha=0.7, eta=0.5, labels="none", common=3)
    lda = get("lda", n_topics=3, alpha=0.7, eta=0.5)
    z = np.array([0, 2, 1, 1, 0, 0, 2])
    expected = lda.log_joint({"z": z, "alpha": 0.7, "eta": 0.5}, CORPUS)
    assert model.log_joint({"z": z, **fixed(model)}, CORPUS) == pytest.approx(expected, rel=1e-14)


def test_topics_are_those_of_the_labels():
    model = get("partially_labeled_lda", topics_per_label=2, common=1, alpha=0.7, eta=0.5)
    own = model.may_have(CORPUS)[model.document_rows(CORPUS)]
    assert [np.flatnonzero(row).tolist() for row in own] == [
        [0, 1, 6],
        [0, 1, 2, 3, 6],
        [0, 1, 2, 3, 4, 5, 6],  # its labels are not known
        [2, 3, 4, 5, 6],
        [0, 1, 2, 3, 4, 5, 6],
    ]
    z = np.array([2, 0, 0, 0, 2, 2, 0])
    assert model.log_joint({"z": z, **fixed(model)}, CORPUS) == -np.inf


@pytest.mark.parametrize("variant", ["sparse", "dense"])
@pytest.mark.parametrize("which", MODELS)
@pytest.mark.slow
def test_a_sweep_leaves_the_posterior_invariant(which, variant):
    model = MODELS[which]
    few = CORPUS.take(np.arange(DOCUMENTS[which]))  # or a sweep has too many ways to go
    kernel = model.kernels_in(load_room(PLAIN_PYTHON))[variant]
    hyper = model.draw_hyperparameters(Design.of(few), np.random.default_rng(0))
    states = np.array(list(model.assignments(few)))
    law = np.exp([model.log_joint({"z": z, **hyper}, few) for z in states])
    matrix = sweep_matrix(kernel, model, hyper, few, states)
    assert invariance_residual(matrix, law / law.sum()) < 1e-12


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("model_id", "options"), [("labeled_lda", {}), ("partially_labeled_lda", {"common": 2})]
)
def test_alpha_is_calibrated_where_documents_have_several_labels(model_id, options):
    rng = np.random.default_rng(1)
    tags = sparse.csr_array(rng.integers(2, size=(9, 4)) * np.array([1, 1, 1, 0]))  # a label that nobody has
    design = design_of([5, 0, 1, 7, 3, 2, 4, 6, 3], tags=tags)
    model = get(model_id).set_to("prior").replaced(**options)
    verdict = sequential(
        ModelSubject(model, design), samples=500, transitions=5, false_alarm_rate=FALSE_ALARM_RATE
    )
    assert verdict.passed, verdict


@pytest.mark.parametrize("variant", ["sparse", "dense"])
def test_tokens_keep_to_topics_of_their_labels(variant):
    rng = np.random.default_rng(0)
    tags = sparse.csr_array(rng.integers(2, size=(100, 6)))
    corpus = Corpus(rng.integers(50, size=3000), 30 * np.arange(101), n_words=50, covariates={"tags": tags})
    model = get("partially_labeled_lda", topics_per_label=3, common=2)
    kernel = model.kernel(variant)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(30):
        state = kernel.step(rng, state)
        kernel.check(state)


def test_a_thousand_labels():
    rng = np.random.default_rng(0)
    tags = sparse.csr_array(rng.random((400, 1000)) < 0.003)
    corpus = Corpus(
        rng.integers(50, size=4000), 10 * np.arange(401), n_words=50, covariates={"tags": tags.astype(int)}
    )
    model = get("labeled_lda")
    kernel = model.kernel()
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(5):
        state = kernel.step(rng, state)
    kernel.check(state)
    assert state.documents.alpha.size == 1000


def test_probability_of_a_document_given_labels_is_a_sum_over_its_topics():
    model = get("partially_labeled_lda", topics_per_label=2, common=1, alpha=0.7, eta=0.5)
    latents = {"z": np.array([0, 3, 0, 1, 5, 2, 4]), **fixed(model)}
    predictive = model.predictive(latents, CORPUS)
    document = CORPUS.take(np.array([1]))
    words = predictive.topics.words
    for labels in ([[1, 0, 0]], [[0, 1, 1]], [[0, 0, 0]]):
        given = sparse.csr_array(np.array(labels, float))
        (prior,) = model.prior_of(latents, given)
        exact = sum(
            prior[j] * (prior[k] + (j == k)) * words[j, document.words[0]] * words[k, document.words[1]]
            for j in range(7)
            for k in range(7)
        ) / (prior.sum() * (prior.sum() + 1.0))
        rng = np.random.default_rng(0)
        estimates = [predictive.log_labelled(document, given, rng, particles=50)[0] for _ in range(200)]
        error = np.std(np.exp(estimates)) / np.sqrt(200)
        assert abs(np.exp(logsumexp(estimates) - np.log(200)) - exact) < 5.0 * error


def test_a_corpus_without_labels():
    with pytest.raises(CorpusError, match="labeled_lda: expected a corpus with labels, found none"):
        get("labeled_lda").initial_latents(Corpus([0, 1], [0, 2]), np.random.default_rng(0))


@pytest.mark.parametrize("value", [-1, 1.5, True, 2**21])
def test_numbers_of_topics_are_checked(value):
    with pytest.raises(
        ValueError, match="labeled_lda: common: expected a whole number, 0 to 1,048,576, found"
    ):
        get("labeled_lda", common=value)
    with pytest.raises(ValueError, match="topics_per_label: expected a whole number, 1 to 1,048,576, found"):
        get("partially_labeled_lda", topics_per_label=value)


@pytest.mark.parametrize("rung", [on_rung(rung) for rung in ("joint", "sequential", "geweke")])
def test_it_climbs(judged, rung):
    verdict = judged(Case("partially_labeled_lda", "sparse", rung))
    assert verdict.status == "passed", verdict


@pytest.mark.heavy
@pytest.mark.parametrize("mutant", [m.id for m in MUTANTS if m.id.startswith("labels")])
def test_mutants_are_rejected(judged, mutant):
    verdict = judged(Case("partially_labeled_lda", "sparse", "sequential", mutant=mutant))
    assert verdict.status == "rejected", verdict
