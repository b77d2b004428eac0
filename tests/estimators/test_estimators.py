"""Models as scikit-learn's estimators."""

import pickle

import bnpzoo
import numpy as np
import pandas as pd
import pytest
import sklearn
from bnpzoo.sklearn import Dmr, Focused, Hpyp, Lda, Slda, TopicModel
from bnpzoo.zoo.formats import from_counts
from bnpzoo.zoo.inference import ResultsError, sample
from bnpzoo.zoo.models import MODELS, get
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

SHORT = {"chains": 1, "tune": 2, "draws": 4, "keep": 2, "random_state": 0}
TEXTS = ["river bank water", "money bank loan", "river water fish", "loan money interest"] * 3

EXPECTED_FAILURES: dict[str, str] = {}
"""Checks of scikit-learn that a topic model cannot pass, and why."""


@parametrize_with_checks(
    [Lda(n_topics=2, alpha=0.5, eta=0.5, **SHORT)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
    xfail_strict=True,
)
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def counts():
    return np.random.default_rng(0).poisson(0.8, (12, 6))


@pytest.fixture(scope="module")
def fitted(counts):
    return Lda(n_topics=2, alpha=0.5, eta=0.5, **SHORT).fit(counts)


def test_there_is_a_class_for_every_model_with_its_settings():
    import bnpzoo.sklearn as estimators

    for model_id, cls in MODELS.items():
        estimator = getattr(estimators, cls.__name__)()
        assert cls.__name__ in dir(estimators)
        assert estimator.make_model() == get(model_id)
        assert set(get(model_id).spelled()) <= set(estimator.get_params())
    with pytest.raises(AttributeError, match="there are TopicModel, Lda"):
        _ = estimators.Ldaa


def test_settings_reach_the_model():
    assert Lda(n_topics=3, alpha=0.1).make_model() == get("lda", n_topics=3, alpha=0.1)
    assert TopicModel("hdp", settings={"eta": 0.2}).make_model() == get("hdp", eta=0.2)
    power_law = Lda(topics="pitman-yor", a=0.3).make_model()
    assert power_law == get("lda", topics="pitman-yor", a=0.3)
    with pytest.raises(TypeError, match="alhpa"):
        Lda(alhpa=1.0)


def test_draws_are_those_of_sample(counts, fitted):
    model = get("lda", n_topics=2, alpha=0.5, eta=0.5)
    corpus = from_counts(counts, [f"x{w}" for w in range(counts.shape[1])])
    tree = sample(model, corpus, chains=1, tune=2, draws=4, keep=2, seed=0)
    assert tree["posterior"].identical(fitted.fit_["posterior"])
    again = clone(fitted).set_params(n_jobs=-1).fit(sparse.csr_array(counts))
    assert np.array_equal(again.components_, fitted.components_)


def test_the_type_of_the_counts_plays_no_part(counts, fitted):
    for kind in (np.float16, np.uint8, np.float64):
        assert np.array_equal(fitted.transform(counts.astype(kind)), fitted.transform(counts))


def test_draws_must_be_kept(counts):
    with pytest.raises(ValueError, match="keep: expected a whole number, 1 or more, found 0"):
        Lda(n_topics=2, **SHORT | {"keep": 0}).fit(counts)


def test_a_fit_that_failed_leaves_none(counts):
    model = Lda(n_topics=2, **SHORT).fit(counts)
    with pytest.raises(ValueError, match="eta"):
        model.set_params(eta=-1.0).fit(counts[:, :4])
    assert model.transform(counts).shape == (len(counts), 2)  # nothing was begun
    model.set_params(eta=0.5, draws=0)
    with pytest.raises(ValueError, match="draws"):
        model.fit(counts[:, :4])
    with pytest.raises(NotFittedError):
        model.transform(counts[:, :4])


def test_documents_of_some_topics_are_scored_as_wholes(counts):
    model = Focused(**SHORT).fit(counts)
    assert model.score(counts) == pytest.approx(-np.log(model.perplexity(counts)))


def test_topics_and_proportions(counts, fitted):
    assert fitted.components_.shape == (2, 6)
    assert fitted.components_.sum(axis=1) == pytest.approx(1.0)
    assert fitted.get_feature_names_out().tolist() == ["lda0", "lda1"]
    proportions = fitted.proportions(counts[:3], interval=0.8)
    assert np.array_equal(proportions.mean, fitted.transform(counts[:3]))
    assert (proportions.low <= proportions.high).all(axis=None)
    assert fitted.score(counts) == pytest.approx(-np.log(fitted.perplexity(counts)))


def test_counts_must_be_whole(counts):
    with pytest.raises(ValueError, match="whole"):
        Lda(n_topics=2, **SHORT).fit(counts + 0.5)


def test_groups_are_metadata(counts):
    model = Hpyp(n_topics=2, alpha=0.5, eta=0.5, b=1.0, a=0.5, **SHORT)
    groups = np.array(["new", "old"] * 6)
    with sklearn.config_context(enable_metadata_routing=True):
        requested = model.set_fit_request(groups=True).set_transform_request(groups=True)
        pipeline = make_pipeline(requested).fit(counts, groups=groups)
        shares = pipeline.transform(counts[:2], groups=["old", "new"])
    assert pipeline[0].matched_.corpus.group_names.tolist() == ["new", "old"]
    assert shares.shape == (2, 2)
    with pytest.raises(ValueError, match="middle"):
        pipeline[0].transform(counts[:1], groups=["middle"])


@pytest.mark.parametrize("nothing", [np.nan, None, pd.NA])
def test_a_document_without_a_group_is_refused(counts, nothing):
    model = Hpyp(n_topics=2, alpha=0.5, eta=0.5, b=1.0, a=0.5, **SHORT)
    with pytest.raises(ValueError, match=r"groups\[3\]: expected a label, found"):
        model.fit(counts, groups=["old"] * 3 + [nothing] + ["new"] * 8)
    model.fit(counts, groups=["old"] * 6 + ["new"] * 6)
    with pytest.raises(ValueError, match=r"groups\[1\]: expected a label, found"):
        model.transform(counts[:2], groups=pd.Series(["old", nothing]))


def test_groups_are_the_categories_of_labels_and_responses(counts):
    groups = ["new", "old"] * 6
    labelled = Dmr(n_topics=2, **SHORT).fit(counts, groups=groups).matched_
    assert [column.value for column in labelled.model.columns(labelled.corpus)] == ["new", "old"]
    responding = Slda(n_topics=2, **SHORT).fit(counts, groups=groups).matched_
    assert responding.model.responses(responding.corpus)[0].values == ("new", "old")


def test_in_a_pipeline_and_a_search():
    pipeline = make_pipeline(CountVectorizer(), Lda(n_topics=2, alpha=0.5, eta=0.5, **SHORT))
    assert pipeline.fit_transform(TEXTS).shape == (12, 2)
    search = GridSearchCV(pipeline, {"lda__n_topics": [1, 2]}, cv=2).fit(TEXTS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_words_are_the_names_of_columns(counts):
    pandas = pytest.importorskip("pandas")
    named = pandas.DataFrame(counts, columns=list("abcdef"))
    assert clone(Lda(n_topics=2, **SHORT)).fit(named).matched_.corpus.vocabulary.tolist() == list("abcdef")


def test_a_pickle_holds_a_checked_fit(counts, fitted):
    state = pickle.dumps(fitted)
    again = pickle.loads(state)
    assert again.fit_["posterior"].identical(fitted.fit_["posterior"])
    assert np.array_equal(again.transform(counts), fitted.transform(counts))
    damaged = fitted.__getstate__()
    damaged["fit_"] = damaged["fit_"][:1000] + b"damage" + damaged["fit_"][1006:]
    with pytest.raises(ResultsError):
        clone(fitted).__setstate__(damaged)


def test_the_package_says_where_it_is():
    assert bnpzoo.sklearn.TopicModel is TopicModel
