"""Mixed random measures: limits, sets of labels, the oracle, new documents, mutants."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.geweke import geweke
from bnpzoo.diagnostics.laboratory.ladder import Case
from bnpzoo.diagnostics.laboratory.mutants.labels import MUTANTS
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.sequential import sequential
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.diagnostics.laboratory.token_law import joint
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.families.hdp.sticks import log_tables
from bnpzoo.zoo.models import get
from bnpzoo.zoo.toolbox.enumeration import restricted_growth_strings
from samplers import HEAVY_COMPILED, on_rung
from scipy import sparse, stats
from scipy.special import logsumexp

FALSE_ALARM_RATE = 1e-5

SETS = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 1, 1]])
CORPUS = Corpus([0, 0, 1, 0, 1, 2], [0, 1, 3, 4, 6], n_words=3, covariates={"tag": sparse.csr_array(SETS)})
FIXED = get("dp_mrm", gamma=1.3, alpha=0.8, tau=0.6, eta=0.5)
HYPER = {name: np.array(value) for name, value in FIXED.hyperparameters().items()}


def design_of(lengths, sets):
    doc_ptr = np.append(0, np.cumsum(lengths))
    covariates = {"tag": sparse.csr_array(np.asarray(sets))}
    return Design.of(Corpus(np.zeros(doc_ptr[-1], int), doc_ptr, n_words=5, covariates=covariates))


DESIGN = design_of(
    [4, 1, 0, 3, 2, 6, 2],
    [[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 0], [0, 0, 1, 0]],
)
"""Documents of three labels, two, one and none; one label nobody has."""

OF_SEVERAL_LABELS = {
    "a new topic is of any label, whatever the shares": (
        "rate = documents.share[e] * documents.left[documents.row_label[e]]",
        "rate = documents.left[documents.row_label[e]]",
    ),
    "a new topic is of the first label": ("if rings < first:", "if first == math.inf:"),
    "tau as if each table opened one of its own": ("shape += crt(rng, n_of[e], tau)", "shape += n_of[e]"),
    "tau as if documents had two labels": ("rate -= (end - first) * log_beta", "rate -= 2.0 * log_beta"),
    "shares that know no tables": ("documents.tau[0] + n_of[e])", "documents.tau[0])"),
}
"""Mistakes that leave the sampler right where each document has one label, as in the laboratory."""


class Changed(ModelSubject):
    """The sampler with a change in it, on documents with several labels."""

    def __init__(self, change, model=None):
        super().__init__(model or FIXED.set_to("prior"), DESIGN)
        self.changed = self.model.kernels_in(load_room(change))["sparse"]

    @property
    def kernel(self):
        return self.changed


def test_without_labels_it_is_hdp():
    model, hdp = FIXED.replaced(labels="none"), get("hdp", gamma=1.3, alpha=0.8, eta=0.5)
    for z in ([0, 0, 0, 0, 0, 0], [0, 1, 0, 2, 1, 0], [0, 1, 2, 3, 4, 5]):
        z = np.array(z)
        assert model.log_marginal(z, CORPUS, HYPER) == pytest.approx(
            hdp.log_marginal(z, CORPUS, HYPER), rel=1e-12
        )


def test_a_document_of_one_label_is_one_of_an_hdp():
    corpus = Corpus([0, 1, 0, 2, 1], [0, 3, 5], n_words=3, group=[0, 1], group_names=["a", "b"])
    z = np.array([0, 1, 0, 2, 2])
    each = [
        log_tables(np.array([counts]), np.zeros(1, int), np.array([0.8]), None, 1.3)
        for counts in ([2, 1], [2])
    ]
    expected = sum(each) + FIXED.log_words(z, corpus, HYPER)
    assert FIXED.log_marginal(z, corpus, HYPER) == pytest.approx(expected, rel=1e-12)
    assert FIXED.log_marginal(np.array([0, 1, 0, 0, 2]), corpus, HYPER) == -np.inf


def test_probabilities_of_partitions_sum_to_one():
    total = [
        FIXED.log_marginal(z, CORPUS, HYPER) - FIXED.log_words(z, CORPUS, HYPER)
        for z in restricted_growth_strings(CORPUS.n_tokens)
    ]
    assert logsumexp(total) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.heavy
def test_the_generator_has_the_law_of_the_marginal():
    rng, n = np.random.default_rng(0), 20_000
    design = Design.of(CORPUS)
    found = {}
    for _ in range(n):
        key = tuple(FIXED.draw_topics(design, HYPER, rng)["z"])
        found[key] = found.get(key, 0) + 1
    for z in restricted_growth_strings(CORPUS.n_tokens):
        p = np.exp(FIXED.log_marginal(z, CORPUS, HYPER) - FIXED.log_words(z, CORPUS, HYPER))
        error = np.sqrt(max(p * (1.0 - p), 1e-4) / n)
        assert abs(found.get(tuple(z), 0) / n - p) < 5.5 * error, z


@pytest.mark.parametrize("variant", [pytest.param("sparse", marks=HEAVY_COMPILED), "dense"])
@pytest.mark.slow
def test_chains_agree_with_the_enumerated_posterior(variant):
    subject = ModelSubject(FIXED, Design.of(CORPUS), variant)
    oracle = Oracle.of_model(FIXED, CORPUS)
    verdict = agrees_with_oracle(subject, oracle, CORPUS, draws=5000, false_alarm_rate=FALSE_ALARM_RATE)
    assert verdict.passed, verdict


def test_topics_of_tokens_have_their_conditional_law():
    model = FIXED.set_to("prior")
    kernel = model.kernels_in(load_room(PLAIN_PYTHON))["sparse"]
    verdict = joint("dp_mrm/sparse", kernel, model, DESIGN, states=100, seed=0)
    assert verdict.passed, verdict


@pytest.mark.heavy
def test_it_is_calibrated_where_documents_have_several_labels():
    subject = ModelSubject(FIXED.set_to("prior"), DESIGN)
    verdict = sequential(subject, samples=500, transitions=5, false_alarm_rate=FALSE_ALARM_RATE)
    assert verdict.passed, verdict
    verdict = geweke(subject, draws=1000, chains=40, transitions=50, false_alarm_rate=FALSE_ALARM_RATE)
    assert verdict.passed, verdict


def test_probability_of_a_document_given_labels_is_an_integral_over_shares():
    latents = FIXED.simulate(Design.of(CORPUS), np.random.default_rng(5)).latents
    predictive, document = FIXED.predictive(latents, CORPUS), CORPUS.take(np.array([1]))
    first, second = predictive.topics.words[:, document.words].T
    nodes, weights = np.polynomial.legendre.leggauss(400)
    for given in ([1, 0, 0], [0, 1, 1]):
        own = np.flatnonzero(given)
        part = 0.5 + 0.5 * np.sin(0.5 * np.pi * nodes)  # so that the ends of a beta law are smooth
        density = stats.beta.pdf(part, 0.6, 0.6) * 0.25 * np.pi * np.cos(0.5 * np.pi * nodes) * weights
        exact = 0.0
        for p, weight in zip(part, density, strict=True):
            share = np.zeros((1, 3))
            share[0, own] = [p, 1.0 - p] if own.size == 2 else 1.0
            (prior,) = predictive.prior_at(share)
            both = (prior @ first) * (prior @ second) + prior @ (first * second)
            exact += weight * both / (0.8 * 1.8)
        labels, rng = sparse.csr_array(np.array([given], float)), np.random.default_rng(0)
        estimates = [predictive.log_labelled(document, labels, rng, particles=50)[0] for _ in range(200)]
        error = np.std(np.exp(estimates)) / np.sqrt(200)
        assert abs(np.exp(logsumexp(estimates) - np.log(200)) - exact) < 5.0 * error + 1e-6


def test_tokens_keep_to_topics_of_their_labels():
    rng = np.random.default_rng(0)
    tags = sparse.csr_array((rng.random((100, 1000)) < 0.002).astype(int))
    corpus = Corpus(rng.integers(50, size=3000), 30 * np.arange(101), n_words=50, covariates={"tag": tags})
    model = get("dp_mrm")
    kernel = model.kernel()
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(5):
        state = kernel.step(rng, state)
        kernel.check(state)
    latents, rows = kernel.snapshot(state), model.rows_of_corpus(corpus)
    for d in range(100):
        own = latents["z"][corpus.doc_ptr[d] : corpus.doc_ptr[d + 1]]
        owner = latents["root"][:, :-1].argmax(axis=0)
        assert np.isin(owner[own], rows.labels(d)).all()


@pytest.mark.heavy
@pytest.mark.parametrize("mutant", [m.id for m in MUTANTS if m.id.startswith("measures")])
def test_mutants_are_rejected(judged, mutant):
    verdict = judged(Case("dp_mrm", "sparse", "sequential", mutant=mutant))
    assert verdict.status == "rejected", verdict


@pytest.mark.heavy
@pytest.mark.parametrize(("find", "replace"), OF_SEVERAL_LABELS.values(), ids=OF_SEVERAL_LABELS)
def test_mistakes_that_take_several_labels_are_rejected(find, replace):
    subject = Changed(Change("labels/mixed.py", find, replace))
    verdict = sequential(subject, samples=2000, transitions=5, false_alarm_rate=FALSE_ALARM_RATE)
    assert verdict.status == "rejected", verdict


@pytest.mark.heavy
def test_a_wrong_part_for_a_new_topic_is_rejected():
    # The stick of a new topic is drawn anew at the end of the sweep: only tokens that follow look at it.
    change = Change(
        "labels/mixed.py", "log_beta_variate(rng, 1.0, documents", "log_beta_variate(rng, 20.0, documents"
    )
    subject = Changed(change, get("dp_mrm", gamma=4.0, alpha=3.0, tau=0.6, eta=0.5))
    verdict = sequential(subject, samples=2000, transitions=5, false_alarm_rate=FALSE_ALARM_RATE)
    assert verdict.status == "rejected", verdict


@pytest.mark.parametrize("rung", [on_rung(rung) for rung in ("joint", "oracle", "sequential", "geweke")])
def test_it_climbs(judged, rung):
    verdict = judged(Case("dp_mrm", "sparse", rung))
    assert verdict.status == "passed", verdict
