"""Labels that are not known: questions, probabilities of answers, exact posteriors, mutants."""

from dataclasses import replace

import numpy as np
import pytest
from bnpzoo import Corpus, load, sample, save
from bnpzoo.diagnostics.laboratory.mutants.scaling import MISSING, MUTANTS
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.kernels.scaling import missing
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import CorpusError
from bnpzoo.zoo.families.scaling import family
from bnpzoo.zoo.inference import ResultsError
from bnpzoo.zoo.inference.schema import check_fit
from bnpzoo.zoo.models import get
from scipy import sparse
from scipy.special import betaln, gammaln, log_softmax

FALSE_ALARM_RATE = 1e-5
TOLERANCE = 5.0
"""Standard errors: with the normal law, a false alarm in any of 12 comparisons has probability 7e-6."""

KEPT = {"gamma": 1.0, "alpha": 1.5, "eta": 0.5}
SITES = Corpus(
    [0, 0, 1, 2, 2, 1, 0],
    [0, 2, 4, 6, 6, 7],
    n_words=3,
    covariates={"site": np.array(["a", "b", "?", "?", "a"])},
)
TAGS = Corpus(
    [0, 0, 1, 2, 2, 1],
    [0, 2, 4, 6],
    n_words=3,
    covariates={"tags": sparse.csr_array(np.array([[1, 0, 1], [0, 1, 0], [0, 0, 1]]))},
    covariate_names={"tags": ["x", "y", "?"]},
)


def model_of(corpus, name="hdsp", **settings):
    """Model of one of the corpora, in which "?" stands for a label that is not known."""
    return get(name, labels=next(iter(corpus.covariates)), missing="?", **KEPT | settings)


def test_a_category_is_one_question_and_each_label_of_a_set_is_one():
    asked = model_of(SITES).asked(SITES, 5)
    assert asked.document.tolist() == [2, 3]
    assert asked.n_answers.tolist() == [2, 2]
    assert asked.n_known.tolist() == [2, 1]
    rows = asked.rows_at(np.array([1, 0]))[asked.of_document].toarray()
    assert rows.tolist() == [[1, 0], [0, 1], [0, 1], [1, 0], [1, 0]]
    of_sets = model_of(TAGS).asked(TAGS, 3)
    assert of_sets.document.tolist() == [0, 2, 2]  # x of the first is known
    assert of_sets.label.tolist() == [1, 0, 1]
    rows = of_sets.rows_at(np.array([1, 0, 1]))[of_sets.of_document].toarray()
    assert rows.tolist() == [[1, 1], [0, 1], [0, 1]]
    assert of_sets.n_with(np.array([1, 0, 1])).tolist() == [1, 3]


@pytest.mark.parametrize("corpus", [SITES, TAGS])
def test_answers_are_those_to_their_questions(corpus, tmp_path):
    of_one_word = replace(corpus, words=np.zeros_like(corpus.words), n_words=1, vocabulary=None)
    model = model_of(of_one_word)
    fit = sample(model, of_one_word, chains=1, tune=1, draws=30, keep=30)
    assert fit["latents"]["missing_label"].max() == 1  # there may be more answers than words
    save(fit, tmp_path / "fit.nc")
    assert load(tmp_path / "fit.nc").equals(fit)
    for i, n_answers in enumerate(model.asked_of(of_one_word).n_answers):
        with pytest.raises(ResultsError, match="missing_label: expected values in its range"):
            check_fit(_with_answer(fit, i, n_answers))


def _with_answer(fit, question, answer):
    changed = fit.copy(deep=True)
    changed["latents"]["missing_label"][..., question] = answer
    return changed


def test_probabilities_of_answers_are_those_of_urns():
    asked = model_of(SITES).asked(SITES, 5)
    of_all = {tuple(answer): asked.log_probability(answer) for answer in asked.all_answers()}
    assert np.sum(np.exp(list(of_all.values()))) == pytest.approx(1.0)
    for answer, log_p in of_all.items():  # Dirichlet-multinomial, 2 of a and 1 of b known, ones a priori
        n = np.bincount(answer, minlength=2)
        exact = gammaln(5) - gammaln(7) + np.sum(gammaln(n + np.array([3, 2])) - gammaln([3, 2]))
        assert log_p == pytest.approx(exact)
    asked = model_of(TAGS).asked(TAGS, 3)
    for answer in asked.all_answers():  # x: 1 known to be there, 1 not; y: 1 there
        x, y = int(answer[1]), int(answer[0] + answer[2])
        exact = betaln(2 + x, 2 + 1 - x) - betaln(2, 2) + betaln(2 + y, 1 + 2 - y) - betaln(2, 1)
        assert asked.log_probability(answer) == pytest.approx(exact)


def test_answers_are_drawn_by_their_probabilities():
    asked, rng = model_of(TAGS).asked(TAGS, 3), np.random.default_rng(0)
    drawn = np.array([asked.draw(rng) for _ in range(4000)])
    for answer in asked.all_answers():
        p = np.exp(asked.log_probability(answer))
        share = np.mean(np.all(drawn == answer, axis=1))
        assert abs(share - p) < TOLERANCE * np.sqrt(p * (1.0 - p) / len(drawn))


@pytest.mark.parametrize("corpus", [SITES, TAGS], ids=["category", "set"])
@pytest.mark.parametrize(
    ("name", "n_topics"), [("hdsp", 2), pytest.param("whdsp", 0, marks=pytest.mark.heavy)]
)
@pytest.mark.slow
def test_posterior_of_topics_and_labels_is_the_enumerated_one(corpus, name, n_topics, monkeypatch):
    monkeypatch.setattr(family, "DRAWS", 300_000)
    law = {"w_shape": 1.2, "w_rate": 0.8} if name == "hdsp" else {"w_variance": 2.5}
    model = model_of(corpus, name, n_topics=n_topics, **law)
    asked, subject = model.asked(corpus, corpus.n_documents), ModelSubject(model, Design.of(corpus))
    oracle = Oracle.of_model(model, corpus)
    settings = {"data": corpus, "draws": 6000, "false_alarm_rate": FALSE_ALARM_RATE}
    assert agrees_with_oracle(subject, oracle, **settings).passed

    def evidence(answer):  # of the words, with the labels known
        labels = asked.rows_at(answer)[asked.of_document]
        monkeypatch.setattr(type(model), "all_labels", lambda *_: iter([(labels, 0.0)]))
        return Oracle.of_model(model, corpus).log_evidence.mean + asked.log_probability(answer)

    answers = list(asked.all_answers())
    exact = np.exp([evidence(answer) - oracle.log_evidence.mean for answer in answers])
    assert exact.sum() == pytest.approx(1.0, abs=1e-9)
    assert np.ptp(exact) > 0.05
    rng, kernel = np.random.default_rng(1), model.kernel()
    state, found = kernel.load(model.initial_latents(corpus, rng), corpus, model), []
    for _ in range(16_000):
        state = kernel.step(rng, state)
        found.append(np.all(state.documents.questions.answer == answers, axis=1))
    kernel.check(state)
    blocks = np.array(found, float).reshape(40, -1, len(answers)).mean(axis=1)
    error = np.hypot(
        blocks.std(axis=0, ddof=1) / np.sqrt(len(blocks)), 1e-3
    )  # the oracle's own: a simulation
    assert np.abs((blocks.mean(axis=0) - exact) / error).max() < TOLERANCE


def test_plain_python_makes_the_same_draws():
    model = model_of(TAGS)
    paths = []
    for kernel in (model.kernel(), next(iter(model.kernels_in(load_room(PLAIN_PYTHON)).values()))):
        rng = np.random.default_rng(3)
        state = kernel.load(model.initial_latents(TAGS, rng), TAGS, model)
        for _ in range(15):
            state = kernel.step(rng, state)
            kernel.check(state)
        paths.append(kernel.snapshot(state))
    for name, value in paths[0].items():
        np.testing.assert_allclose(value, paths[1][name], rtol=1e-9)


def test_a_fit_resumes_and_predicts(tmp_path):
    from bnpzoo.diagnostics.heldout.labels import predict_labels

    model = model_of(SITES)
    settings = {"chains": 1, "tune": 5, "draws": 10, "seed": 4}
    whole = sample(model, SITES, **settings)
    assert whole["latents"]["missing_label"].shape == (1, 10, 2)
    found = predict_labels(whole, SITES, "site")
    assert found.values == ("a", "b")
    assert found.truth.tolist() == [0, 1, -1, -1, 0]


def test_what_is_not_offered_is_one_line():
    with pytest.raises(
        CorpusError, match=r"hdsp: missing: expected one of several labels, no number, found 'c'"
    ):
        get("hdsp", labels="site", missing="c").initial_latents(SITES, np.random.default_rng(0))
    numbers = Corpus([0, 1], [0, 1, 2], n_words=2, covariates={"rating": np.array([1.0, 2.5])})
    with pytest.raises(
        CorpusError, match=r"missing: expected one of several labels, no number, found '1\.0'"
    ):
        get("whdsp", missing="1.0").initial_latents(numbers, np.random.default_rng(0))
    with pytest.raises(ValueError, match="there is no reference program"):
        model_of(SITES).require_reference()
    with pytest.raises(ValueError, match="hdsp: missing: the back end vi samples no labels"):
        sample(model_of(SITES, n_topics=2), SITES, backend="vi", chains=1, tune=2, draws=2)


ANSWERS = [mutant for mutant in MUTANTS if mutant.requires == MISSING]


def error_of_conditionals(name, *changes):
    """Largest error in the log probability of an answer given all else, over random states."""
    room, rng, worst = load_room(*changes, PLAIN_PYTHON), np.random.default_rng(0), 0.0
    for corpus in (SITES, TAGS):
        covariates = dict(corpus.covariates) | {"rating": np.linspace(0.0, 1.0, corpus.n_documents)}
        numbers = ", rating" if name == "whdsp" else ""
        design = replace(Design.of(corpus), covariates=covariates)
        model = get(name, labels=next(iter(covariates)) + numbers, missing="?", n_topics=3, **KEPT)
        kernel = next(iter(model.kernels_in(room).values()))
        for _ in range(20):
            latents, drawn = model.simulate(design, rng)
            state = kernel.load(latents, drawn, model)
            room(missing).move_labels(rng, state.tokens, state.documents, state.scratch, 3)
            kernel.check(state)
            at = kernel.snapshot(state)
            n_answers = model.asked_of(drawn).n_answers[-1]
            implied = [
                model.log_joint(at | {"missing_label": np.append(at["missing_label"][:-1], a)}, drawn)
                for a in range(n_answers)
            ]
            weights = state.documents.questions.weights[:n_answers]  # of the last question
            error = np.log(weights / weights.sum()) - log_softmax(implied)
            worst = max(worst, float(np.abs(error).max()))
    return worst


@pytest.mark.parametrize("name", ["hdsp", "whdsp"])
def test_conditionals_of_answers_are_ratios_of_the_joint(name):
    assert error_of_conditionals(name) < 1e-8


def is_found(mutant):
    """Whether its conditionals are wrong, or the recount of statistics stumbles over it."""
    name = "hdsp" if isinstance(get("hdsp"), mutant.concerns) else "whdsp"
    try:
        return error_of_conditionals(name, mutant.change) > 0.01
    except AssertionError:
        return True


@pytest.mark.parametrize("mutant", ANSWERS, ids=lambda mutant: mutant.id)
def test_conditionals_find_wrong_answers(mutant):
    assert is_found(mutant)


def test_there_are_mutants_of_answers():
    assert len(ANSWERS) >= 6
