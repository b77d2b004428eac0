"""The author-topic model: limits, sets of authors, exact transitions, new documents, mutants."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.geweke import geweke
from bnpzoo.diagnostics.laboratory.ladder import Case
from bnpzoo.diagnostics.laboratory.mutants.labels import MUTANTS
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle, invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.sequential import sequential
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.diagnostics.laboratory.token_law import joint, outcomes
from bnpzoo.kernels.labels import authors
from bnpzoo.kernels.toolbox.foldin import MOST_REDRAWN
from bnpzoo.zoo.contract import Design, Probes
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.models import get
from samplers import on_rung
from scipy import sparse
from scipy.special import logsumexp, roots_jacobi

FALSE_ALARM_RATE = 1e-5

SETS = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1]])
"""Authors of five documents, one of which has none; the third wrote none alone."""

CORPUS = Corpus(
    [0, 0, 1, 0, 1, 2, 0], [0, 1, 3, 4, 6, 7], n_words=3, covariates={"author": sparse.csr_array(SETS)}
)
FIXED = get("author_topic", n_topics=2, alpha=0.7, eta=0.5)
HYPER = {"alpha": np.array(0.7), "eta": np.array(0.5)}


def design_of(lengths, sets, n_words=5):
    doc_ptr = np.append(0, np.cumsum(lengths))
    covariates = {"author": sparse.csr_array(np.asarray(sets))}
    return Design.of(Corpus(np.zeros(doc_ptr[-1], int), doc_ptr, n_words=n_words, covariates=covariates))


DESIGN = design_of(
    [4, 1, 0, 3, 2, 6, 2],
    [[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 0], [0, 0, 1, 0]],
)
"""Documents of three, two, one and no authors; one author has written nothing."""


OF_ALPHA = ("author-tables-of-nobody", "author-one-topic-of-mass")

OF_SEVERAL_AUTHORS = {
    "authors are chosen evenly where a word is new to a topic": (
        "weight = eta * documents.mass[s] / (documents.total[author] + n_topics * alpha)",
        "weight = smooth_mass / own.size",
    ),
    "the mass of the first author follows the tokens of all": (
        "        if own[s] == author:\n",
        "        if s == 0:\n",
    ),
    "an author's own token stays in his total": (
        "documents.total[author] += step",
        "documents.total[author] += 1",
    ),
    "the first author has all tokens of words that topics know": (
        "            author = own[s]\n            u -= weight_of_author",
        "            author = own[0]\n            u -= weight_of_author",
    ),
}
"""Changes that leave the sampler right where each document has one author, as in the laboratory."""


def test_without_labels_it_is_lda():
    model = get("author_topic", n_topics=3, alpha=0.7, eta=0.5, labels="none")
    lda = get("lda", n_topics=3, alpha=0.7, eta=0.5)
    z = np.array([0, 2, 1, 1, 0, 0, 2])
    expected = lda.log_joint({"z": z, **HYPER}, CORPUS)
    assert model.log_joint({"z": z, "author": CORPUS.doc_of, **HYPER}, CORPUS) == pytest.approx(
        expected, rel=1e-14
    )


def test_authors_are_labels_or_not_known():
    found = FIXED.authors_of_corpus(CORPUS)
    assert [found.of(d).tolist() for d in range(5)] == [[0], [0, 1], [3], [1, 2], [0, 1, 2]]
    assert found.n_authors == 4


def test_density_of_two_tokens_by_hand():
    corpus = Corpus([0, 0], [0, 2], n_words=3, covariates={"author": sparse.csr_array([[1, 1]])})
    latents = {"z": np.array([0, 0]), "author": np.array([0, 0]), **HYPER}
    words = 0.5 / 1.5 * 1.5 / 2.5
    same = 0.25 * 0.5 * 1.7 / 2.4 * words  # authors, topics of one author, words
    assert FIXED.log_joint(latents, corpus) == pytest.approx(np.log(same), rel=1e-13)
    others = latents | {"author": np.array([1, 0])}
    assert FIXED.log_joint(others, corpus) == pytest.approx(np.log(0.25 * 0.25 * words), rel=1e-13)
    assert FIXED.log_joint(latents | {"author": np.array([0, 2])}, corpus) == -np.inf
    both = 2 * same + 2 * 0.25 * 0.25 * words
    assert FIXED.log_marginal(latents["z"], corpus, HYPER) == pytest.approx(np.log(both), rel=1e-13)


def test_quantities_have_their_values():
    latents = {"z": np.array([0, 1, 0, 1, 1, 0, 0]), "author": np.array([0, 0, 1, 3, 1, 2, 2]), **HYPER}
    probes = Probes.of(CORPUS)
    found = FIXED.quantities(latents, CORPUS, probes)
    theta = {0: [1, 1], 1: [1, 1], 2: [2, 0], 3: [0, 1]}  # tokens with each topic
    words = {0: [2, 1, 1], 1: [2, 1, 0]}
    for p, (d, w) in zip(found["predictive"], probes.cells, strict=True):
        own = FIXED.authors_of_corpus(CORPUS).of(d)
        expected = np.mean(
            [
                sum(
                    (theta[a][k] + 0.7) / (sum(theta[a]) + 1.4) * (words[k][w] + 0.5) / (sum(words[k]) + 1.5)
                    for k in range(2)
                )
                for a in own
            ]
        )
        assert p == pytest.approx(expected, rel=1e-13)
    assert found["author_entropy"] == pytest.approx(2.0 * np.log(2.0) / 5.0)  # of two documents of the five
    assert found["author_topics"] == pytest.approx(6 / 4)


@pytest.mark.slow
def test_a_sweep_leaves_the_posterior_invariant():
    few = CORPUS.take(np.arange(3))  # or a sweep has too many ways to go
    kernel = FIXED.kernels_in(load_room(PLAIN_PYTHON))["blocked"]
    found = FIXED.authors_of_corpus(few)
    of_tokens = [found.of(d) for d in few.doc_of]
    pairs = [[(a, k) for a in own for k in range(2)] for own in of_tokens]
    states = np.array(np.meshgrid(*[np.arange(len(p)) for p in pairs], indexing="ij"))
    states = states.reshape(len(pairs), -1).T

    def latents_of(state):
        author, z = np.array([pairs[i][j] for i, j in enumerate(state)]).T
        return {"z": z, "author": author, **HYPER}

    index = {tuple(state): a for a, state in enumerate(states)}
    law = np.exp([FIXED.log_joint(latents_of(state), few) for state in states])
    matrix = np.zeros((len(states), len(states)))

    def run(generator, latents):
        after = kernel.snapshot(kernel.step(generator, kernel.load(latents, few, FIXED)))
        chosen = zip(after["author"].tolist(), after["z"].tolist(), strict=True)
        return index[tuple(pairs[i].index(pair) for i, pair in enumerate(chosen))]

    for row, state in zip(matrix, states, strict=True):
        latents = latents_of(state)
        for a, probability in outcomes(lambda rng, at=latents: run(rng, at), most=few.n_tokens):
            row[a] += probability
    assert invariance_residual(matrix, law / law.sum()) < 1e-12


def test_authors_and_topics_of_tokens_have_their_conditional_law():
    model = FIXED.set_to("prior").replaced(n_topics=3)
    kernel = model.kernels_in(load_room(PLAIN_PYTHON))["blocked"]
    verdict = joint("author_topic/blocked", kernel, model, DESIGN, states=200, seed=0)
    assert verdict.passed, verdict


@pytest.mark.slow
def test_chains_agree_with_the_enumerated_posterior():
    subject = ModelSubject(FIXED, Design.of(CORPUS), "blocked")
    oracle = Oracle.of_model(FIXED, CORPUS)
    verdict = agrees_with_oracle(subject, oracle, CORPUS, false_alarm_rate=FALSE_ALARM_RATE)
    assert verdict.passed, verdict


@pytest.mark.heavy
def test_it_is_calibrated_where_documents_have_several_authors():
    subject = ModelSubject(FIXED.set_to("prior").replaced(n_topics=3), DESIGN)
    verdict = sequential(subject, samples=500, transitions=5, false_alarm_rate=FALSE_ALARM_RATE)
    assert verdict.passed, verdict
    verdict = geweke(subject, draws=1000, chains=40, transitions=50, false_alarm_rate=FALSE_ALARM_RATE)
    assert verdict.passed, verdict


def test_probability_of_a_document_given_authors_is_a_sum_over_authors_and_topics():
    latents = {"z": np.array([0, 1, 0, 1, 1, 0, 0]), "author": np.array([0, 0, 1, 3, 1, 2, 2]), **HYPER}
    predictive = FIXED.predictive(latents, CORPUS)
    document, words = CORPUS.take(np.array([1])), predictive.topics.words
    first, second = document.words
    for labels in ([[1, 0, 0]], [[0, 1, 1]], [[0, 0, 0]]):
        own = [predictive.authors[a] for a in np.flatnonzero(labels[0])] or [np.full(2, 0.7)]
        exact = 0.0
        for a, of_first in enumerate(own):
            for b, of_second in enumerate(own):
                for j in range(2):
                    for k in range(2):
                        p = of_first[j] / of_first.sum()
                        same = float(a == b)
                        q = (of_second[k] + same * (j == k)) / (of_second.sum() + same)
                        exact += p * q * words[j, first] * words[k, second] / len(own) ** 2
        given, rng = sparse.csr_array(np.array(labels, float)), np.random.default_rng(0)
        estimates = [predictive.log_labelled(document, given, rng, particles=50)[0] for _ in range(200)]
        error = np.std(np.exp(estimates)) / np.sqrt(200)
        assert abs(np.exp(logsumexp(estimates) - np.log(200)) - exact) < 5.0 * error


@pytest.mark.compiled
@pytest.mark.parametrize("length", [6, MOST_REDRAWN + 30])
def test_probability_of_a_document_given_two_authors_is_an_integral_over_their_proportions(length):
    words = np.random.default_rng(2).choice(3, size=length, p=[0.3, 0.3, 0.4])
    topics, prior = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), np.array([[0.3, 0.2], [2.0, 5.0]])
    (first, of_first), (second, of_second) = (roots_jacobi(length, b - 1, a - 1) for a, b in prior)
    share = (2 + np.add.outer(first, second)[..., None]) / 4  # of the first topic; exact for a polynomial
    likelihood = (share * topics[0, words] + (1 - share) * topics[1, words]).prod(-1)
    exact = of_first @ likelihood @ of_second / (of_first.sum() * of_second.sum())
    for given, is_right in ((prior, True), (prior * [10.0, 1.0], False)):
        found = np.empty((3000, length))
        kernel = authors.left_to_right
        kernel(np.random.default_rng(0), words, np.ascontiguousarray(topics.T), given, found)
        products = np.exp(found.sum(1))
        error = products.std() / np.sqrt(products.size)
        assert (abs(products.mean() - exact) < 4.9 * error) == is_right


def test_completion_given_several_authors_is_a_mean_over_their_topics():
    latents = {"z": np.array([0, 1, 0, 1, 1, 0, 0]), "author": np.array([0, 0, 1, 3, 1, 2, 2]), **HYPER}
    predictive = FIXED.predictive(latents, CORPUS)
    document = CORPUS.take(np.array([3]))  # of two authors
    none = Corpus([], [0, 0], n_words=3, covariates=document.covariates)
    found = predictive.log_completion(none, document, np.random.default_rng(0), burn_in=2, sweeps=3)
    proportions = predictive.proportions(predictive.labels_of(document))[0]
    assert found == pytest.approx(np.log(proportions @ predictive.topics.words[:, document.words]))


def test_a_thousand_authors_of_whom_some_wrote_one_document_and_one_wrote_none():
    rng = np.random.default_rng(0)
    sets = (rng.random((400, 1000)) < 0.003).astype(int)
    sets[:, 999] = 0
    corpus = Corpus(
        rng.integers(50, size=4000),
        10 * np.arange(401),
        n_words=50,
        covariates={"author": sparse.csr_array(sets)},
    )
    model = get("author_topic", n_topics=7)
    kernel = model.kernel()
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(5):
        state = kernel.step(rng, state)
        kernel.check(state)
    assert state.documents.total[999] == 0
    assert state.documents.count.shape == (1000 + np.count_nonzero(sets.sum(axis=1) == 0), 7)


def test_compiled_and_plain_sweeps_draw_the_same():
    model = FIXED.set_to("prior").replaced(n_topics=3)
    latents, corpus = model.simulate(DESIGN, np.random.default_rng(1))
    plain = model.kernels_in(load_room(PLAIN_PYTHON))["blocked"]
    found = []
    for kernel in (model.kernel(), plain):
        state, rng = kernel.load(latents, corpus, model), np.random.default_rng(2)
        for _ in range(20):
            state = kernel.step(rng, state)
        found.append(kernel.snapshot(state))
    for name, value in found[0].items():
        assert np.array_equal(value, found[1][name]), name


def test_it_takes_dirichlet_topics_alone():
    with pytest.raises(
        ValueError, match="author_topic: topics: its token steps draw an author with the topic"
    ):
        get("author_topic", topics="pitman-yor")


@pytest.mark.parametrize("rung", [on_rung(rung) for rung in ("joint", "oracle", "sequential", "geweke")])
def test_it_climbs(judged, rung):
    verdict = judged(Case("author_topic", "blocked", rung))
    assert verdict.status == "passed", verdict


def rung_of(mutant):
    return "sequential" if mutant in OF_ALPHA else "joint"


@pytest.mark.parametrize(
    "mutant", [on_rung(rung_of(m.id), m.id) for m in MUTANTS if m.id.startswith("author")]
)
def test_mutants_are_rejected(judged, mutant):
    verdict = judged(Case("author_topic", "blocked", rung_of(mutant), mutant=mutant))
    assert verdict.status == "rejected", verdict


@pytest.mark.parametrize(("find", "replace"), OF_SEVERAL_AUTHORS.values(), ids=OF_SEVERAL_AUTHORS)
def test_mistakes_that_take_several_authors_are_rejected(find, replace):
    model = FIXED.set_to("prior").replaced(n_topics=3)
    room = load_room(PLAIN_PYTHON, Change("labels/authors.py", find, replace))
    verdict = joint("changed", model.kernels_in(room)["blocked"], model, DESIGN, states=60)
    assert verdict.status == "rejected", verdict
