"""Scaling processes: densities by hand, exact posteriors, limits, labels of all kinds, mutants."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.laboratory.ladder import DESIGN, MICRO, Case
from bnpzoo.diagnostics.laboratory.mutants.scaling import MUTANTS
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.diagnostics.laboratory.token_law import joint
from bnpzoo.zoo.contract import Design, Gamma
from bnpzoo.zoo.corpus import CorpusError
from bnpzoo.zoo.corpus.labels import distinct_rows
from bnpzoo.zoo.families.scaling import family
from bnpzoo.zoo.inference.record import global_of
from bnpzoo.zoo.models import get
from scipy import integrate, sparse
from scipy.stats import beta as beta_law

FALSE_ALARM_RATE = 1e-5
TOLERANCE = 5.0
"""Standard errors: with the normal law, a false alarm in any of 12 comparisons has probability 7e-6."""

BROKEN_WITHOUT_END = "gamma: expected at most 37,949 without a limit to the number of topics"

TWO = Corpus([0, 0, 1, 2, 2, 1], [0, 3, 6], n_words=3)
ROWS = {"hdsp": [[1.0, 0.0], [1.0, 1.0]], "whdsp": [[1.0, 0.0], [-0.5, 2.0]]}
LAWS = {"hdsp": {"w_shape": 3.0, "w_rate": 2.0}, "whdsp": {"w_variance": 1.0}}
EXACT = {
    ("hdsp", 3): (0.8170, 0.6271, 0.2948, 0.5344, 2.1421),
    ("hdsp", 0): (0.7707, 0.5720, 0.2362, 0.4429, 2.4412),
    ("whdsp", 2): (0.8933, 0.7412, 0.3376, 0.5681, 1.8117),
    ("whdsp", 0): (0.7929, 0.6022, 0.1893, 0.3701, 2.4154),
}
"""By simulation from the prior, without u: P(z_i = z_j) of four pairs and the mean number of topics."""


@pytest.mark.parametrize("name", ["hdsp", "whdsp"])
@pytest.mark.parametrize("gamma", [1e6, 1e300, Gamma(3.0, 1e-6)])
def test_a_gamma_that_breaks_sticks_without_end_is_one_line(name, gamma):
    with pytest.raises(ValueError, match=rf"^{name}: {BROKEN_WITHOUT_END}, or .*, found [^\n]*$"):
        get(name, gamma=gamma)
    assert get(name, gamma=gamma, n_topics=3).gamma == gamma


@pytest.mark.parametrize(
    ("name", "setting", "bad", "fair"),
    [
        ("hdsp", "w_shape", (1e-300, 1e300), (0.1, 1e6)),
        ("hdsp", "w_rate", (1e-300, 1e300), (1e-6, 1e6)),
        ("whdsp", "w_variance", (1e-300, 1e4), (1e-6, 1000.0)),
    ],
)
def test_laws_of_scales_that_are_no_numbers_are_one_line(name, setting, bad, fair):
    for value in bad:
        with pytest.raises(ValueError, match=f"^{name}: {setting}: expected a number from .*, found "):
            get(name, **{setting: value})
    for value in fair:
        model, rng = get(name, n_topics=3, **{setting: value}), np.random.default_rng(0)
        latents, corpus = model.simulate(DESIGN, rng)
        kernel = model.kernel()
        state = kernel.step(rng, kernel.load(latents, corpus, model))
        assert np.isfinite(model.log_joint(kernel.snapshot(state), corpus))


def test_topics_that_the_prior_breaks_are_reckoned_with():
    corpus = Design(np.ones(1_000_000, int), 2).corpus(np.zeros(1_000_000, np.int32))
    assert get("hdsp", gamma=1000.0).memory_of_chain(corpus)["topics of documents"] > 2e11
    assert get("hdsp", gamma=1000.0, n_topics=3).memory_of_chain(corpus)["topics of documents"] == 24_000_000


@pytest.fixture
def rows_of(monkeypatch):
    """Give all documents labels of their own, whatever the corpus knows."""

    def rows_of(rows):
        matrix = sparse.csr_array(np.array(rows))
        monkeypatch.setattr(family.ScalingFamily, "label_rows", lambda self, corpus: distinct_rows(matrix))
        monkeypatch.setattr(family.ScalingFamily, "labels_of", lambda self, corpus, n: matrix)

    return rows_of


def chain(model, corpus, n, seed=1):
    """Latents of a chain of `n` sweeps."""
    rng, kernel = np.random.default_rng(seed), model.kernel()
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(n):
        state = kernel.step(rng, state)
        yield state
    kernel.check(state)


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "n_topics"), EXACT)
def test_posterior_is_that_of_a_simulation_without_u(name, n_topics, rows_of):
    rows_of(ROWS[name])
    model = get(name, gamma=1.0, alpha=1.5, eta=0.5, n_topics=n_topics, **LAWS[name])
    found = []
    for state in chain(model, TWO, 12_000):
        z = state.tokens.topic
        found.append((z[0] == z[1], z[0] == z[2], z[0] == z[3], z[2] == z[5], np.unique(z).size))
    blocks = np.array(found, float).reshape(40, -1, 5).mean(axis=1)
    error = blocks.std(axis=0, ddof=1) / np.sqrt(len(blocks))
    assert np.abs((blocks.mean(axis=0) - EXACT[name, n_topics]) / error).max() < TOLERANCE


@pytest.mark.parametrize("name", ["hdsp", "whdsp"])
def test_log_assignments_is_that_of_proportions_once_u_is_integrated_out(name, rows_of):
    rows_of(ROWS[name])
    model = get(name, gamma=1.0, alpha=1.5, eta=0.5, n_topics=2)
    rng = np.random.default_rng(0)
    hyper = model.draw_hyperparameters(Design.of(TWO), rng)
    latents = model.draw_topics(Design.of(TWO), hyper, rng) | hyper
    scale = np.exp(np.array(ROWS[name]) @ latents["log_scale"])
    a, b = 1.5 * latents["root"][:2]
    for z in ([0, 0, 1, 1, 1, 1], [1, 0, 0, 0, 1, 0]):
        at = np.array(z)
        for d in (0, 1):
            one = TWO.take(np.array([d]))
            rows_of([ROWS[name][d]])
            here = latents | {"z": at[3 * d : 3 * d + 3]}
            density = lambda t, here=here, one=one: np.exp(  # noqa: E731
                model.log_assignments(here | {"log_u": np.array([t])}, one)
            )
            with_u = integrate.quad(density, -30.0, 60.0, limit=500, epsabs=1e-12)[0]

            def product(x, s=scale[d], topics=here["z"]):
                theta = s * np.array([x, 1.0 - x]) / (s @ [x, 1.0 - x])
                return np.prod(theta[topics])

            exact = beta_law(a, b).expect(product, epsabs=1e-12)
            assert with_u == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("name", ["hdsp", "whdsp"])
@pytest.mark.slow
def test_without_labels_it_is_hdp(name):
    hyper = {"gamma": 1.1, "alpha": 1.4, "eta": 0.5}
    model, hdp = get(name, labels="none", **hyper), get("hdp", **hyper)
    judge = partial(agrees_with_oracle, ModelSubject(model, Design.of(MICRO)), data=MICRO, draws=5000)
    assert judge(Oracle.of_model(hdp, MICRO), false_alarm_rate=FALSE_ALARM_RATE).passed
    other = hdp.replaced(alpha=3.0)
    assert not judge(Oracle.of_model(other, MICRO), false_alarm_rate=FALSE_ALARM_RATE).passed


def labelled(n=12, **covariates):
    """Corpus of `n` documents with covariates, drawn from no model."""
    rng = np.random.default_rng(3)
    return Corpus(rng.integers(5, size=4 * n), np.arange(0, 4 * n + 1, 4), n_words=5, covariates=covariates)


def test_labels_that_nobody_has_and_documents_with_all_or_none():
    tags = np.zeros((12, 3), int)
    tags[0], tags[1, 0] = [1, 0, 1], 1
    tags[2] = 1
    tags[2, 1] = 0
    corpus = labelled(tags=sparse.csr_array(tags))
    for n_topics in (0, 3):
        model = get("hdsp", n_topics=n_topics, gamma=1.0, alpha=1.0, eta=0.5)
        assert [c.name for c in model.columns(corpus)] == ["tags: tags 0", "tags: tags 1", "tags: tags 2"]
        drawn = [state.documents.log_scale[1, 0] for state in chain(model, corpus, 3000)]
        # of no document: its log scale is a draw from the prior, log of an inverse gamma variate of mean log
        # rate - digamma(shape) = 0.6931 - 0.9228 and variance trigamma(shape) = 0.3949
        error = np.sqrt(0.3949 / len(drawn)) * np.sqrt(8.0)  # slices are correlated, less than that
        assert abs(np.mean(drawn) + 0.2297) < TOLERANCE * error


def test_documents_with_all_labels_beside_such_with_none():
    tags = np.zeros((12, 3), int)
    tags[::3] = 1
    corpus = labelled(tags=sparse.csr_array(tags))
    for n_topics in (0, 3):
        model = get("hdsp", n_topics=n_topics, gamma=1.0, alpha=1.0, eta=0.5)
        rows, of_document = model.label_rows(corpus)
        assert rows.toarray().tolist() == [[1, 1, 1], [0, 0, 0]]
        assert of_document.tolist() == [0, 1, 1] * 4
        for state in chain(model, corpus, 200):
            assert np.isfinite(state.documents.log_scale).all()


def test_a_constant_covariate_and_ratings_of_a_million():
    corpus = labelled(rating=np.where(np.arange(12) % 2, 1e6, 2.0), constant=np.full(12, 0.1))
    model = get("whdsp")
    assert [c.name for c in model.columns(corpus)] == ["rating", "constant"]
    matrix = model.labels_of(corpus, 12).toarray()
    np.testing.assert_allclose(np.unique(matrix[:, 0]), [-1.0, 1.0])
    assert not matrix[:, 1].any()
    for state in chain(model, corpus, 200):
        assert np.isfinite(state.documents.log_scale).all()


def test_a_rating_far_from_all_others_leaves_scales_finite():
    corpus = labelled(3000, rating=np.append(np.zeros(2999), 1e6))
    model = get("whdsp", w_variance=100.0, gamma=1.0, alpha=1.0, eta=0.5)
    for state in chain(model, corpus, 5):
        assert np.isfinite(state.documents.scale).all()


def test_a_tiny_alpha_has_a_u_beyond_the_floats():
    model = get("hdsp", gamma=1.0, alpha=0.002, eta=0.5)
    largest = max(state.documents.log_u.max() for state in chain(model, labelled(), 300))
    assert largest > 710.0
    latents, corpus = model.simulate(DESIGN, np.random.default_rng(0))
    assert np.isfinite(model.log_joint(latents, corpus))


def test_labels_of_every_kind():
    corpus = replace(
        labelled(
            kind=np.arange(12) % 2,
            stars=np.arange(12) % 3,
            site=np.array(["a", "b", "", "a"] * 3),
            price=np.linspace(0.0, 1.0, 12),
            is_test=np.arange(12) < 4,
        ),
        covariate_names={"kind": ["plain", "fancy"]},
    )

    def names(model, labels=""):
        return [column.name for column in get(model, labels=labels).columns(corpus)]

    assert names("hdsp") == ["kind: plain", "kind: fancy"]
    assert names("whdsp") == ["kind: plain", "kind: fancy", "price"]
    assert names("hdsp", "none") == []
    assert names("hdsp", "stars, site") == ["stars: 0", "stars: 1", "stars: 2", "site: a", "site: b"]
    assert names("whdsp", "stars, kind:number") == ["stars", "kind"]
    assert names("whdsp", "stars:category") == ["stars: 0", "stars: 1", "stars: 2"]
    assert names("hdsp", "is_test") == ["is_test: True"]
    sites = get("hdsp", labels="site").labels_of(corpus, 12).toarray()
    assert sites[:4].tolist() == [[1, 0], [0, 1], [0, 0], [1, 0]]
    grouped = corpus.grouped("kind")
    assert names("hdsp") == [column.name for column in get("hdsp").columns(grouped)]


@pytest.mark.parametrize(
    ("model", "labels", "message"),
    [
        ("hdsp", "colour", "hdsp: labels: expected a covariate, found 'colour'; there are price, places"),
        ("hdsp", "price", "expected categories in 'price', found numbers; whdsp takes these"),
        ("hdsp", "price:number", "expected categories, found price:number; whdsp takes numbers"),
        ("whdsp", "places", r"expected one value a document in 'places', found shape \(12, 2\)"),
        ("whdsp", "group", "expected a covariate, found 'group'"),
    ],
)
def test_labels_that_are_of_no_use_are_named(model, labels, message):
    corpus = labelled(price=np.linspace(0.0, 1.0, 12), places=np.zeros((12, 2)))
    with pytest.raises(CorpusError, match=message):
        get(model, labels=labels).initial_latents(corpus, np.random.default_rng(0))


def test_covariates_that_are_no_numbers_are_refused():
    with pytest.raises(
        CorpusError, match=r"covariates\['rating'\]\[3\]: expected a finite number, found nan"
    ):
        labelled(rating=np.where(np.arange(12) == 3, np.nan, 1.0))


@pytest.mark.parametrize("value", [-1, 2.5, True])
def test_a_wrong_number_of_topics_is_named(value):
    with pytest.raises(ValueError, match="hdsp: n_topics: expected a whole number, 0 for no limit"):
        get("hdsp", n_topics=value)


NAIVE_U = Change(
    "scaling/documents.py",
    "    documents.log_u[d] = slice_sample(rng, target, documents.log_u[d], width)\n",
    """    mass = 0.0
    for k in range(n_topics):
        rate = 1.0 / target.scale[k] + documents.u[d]
        mass += gamma_variate(rng, max(target.shapes[k], 1e-300), rate)
    documents.log_u[d] = math.log(gamma_variate(rng, target.length, mass))
""",
)
"""u given proportions that are drawn given u: as exact, and of an autocorrelation of n / (n + alpha - 1)."""


def test_u_given_drawn_proportions_hardly_moves():
    model = get("hdsp", n_topics=2, gamma=1.0, alpha=1.0, eta=0.5, labels="none")
    corpus = Corpus(np.zeros(50, int), [0, 50], n_words=1)

    def autocorrelation(*changes):
        kernel = model.kernels_in(load_room(*changes, PLAIN_PYTHON))["auxiliary"]
        rng = np.random.default_rng(0)
        state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
        path = []
        for _ in range(600):
            state = kernel.step(rng, state)
            path.append(state.documents.log_u[0])
        path = np.array(path) - np.mean(path)
        return path[1:] @ path[:-1] / (path @ path)

    assert autocorrelation() < 0.5
    assert autocorrelation(NAIVE_U) > 0.8


def test_quantities_of_single_documents_are_not_global():
    model, corpus = get("hdsp", n_topics=2, labels="none"), Corpus([0, 1, 0], [0, 2, 3], n_words=2)
    latents = model.initial_latents(corpus, np.random.default_rng(0)) | {"z": np.array([0, 1, 1])}
    quantities = model.quantities(latents, corpus)
    assert "probed_log_u" in quantities
    assert "probed_log_u" not in global_of(quantities)


@pytest.mark.parametrize("name", ["hdsp", "whdsp"])
@pytest.mark.parametrize("n_topics", [0, 3])
@pytest.mark.slow
def test_information_of_the_scales_is_zero_on_average(name, n_topics):
    """And is not where the scales of a label have moved together, and u has not followed."""
    model, rng = (
        get(name, n_topics=n_topics).set_to("prior").replaced(n_topics=n_topics),
        np.random.default_rng(0),
    )
    draws = [model.simulate(DESIGN, rng) for _ in range(1500)]
    assert any(column.is_number for column in model.columns(DESIGN)) == (name == "whdsp")

    def error(change):
        found = [model.scale_information(change(draw.latents), draw.corpus) for draw in draws]
        return abs(np.mean(found)) / (np.std(found) / np.sqrt(len(found)))

    assert error(lambda latents: latents) < TOLERANCE
    assert error(lambda latents: latents | {"log_scale": latents["log_scale"] + 1.0}) > TOLERANCE


def test_a_covariate_can_be_a_category_and_a_number():
    corpus = labelled(kind=np.arange(12) % 3)
    model = get("whdsp", labels="kind:category, kind:number")
    matrix = model.labels_of(corpus, 12).toarray()
    np.testing.assert_array_equal(matrix[:, :3], np.eye(3)[np.arange(12) % 3])
    np.testing.assert_allclose(matrix[:3, 3], [-np.sqrt(1.5), 0.0, np.sqrt(1.5)], atol=1e-12)


FOUND_BY_SEQUENTIAL = (("hdsp", "scaling-u-not-shifted", 3), ("whdsp", "scaling-values-forgotten", 0))


@pytest.mark.heavy
@pytest.mark.parametrize(("name", "mutant", "n_topics"), FOUND_BY_SEQUENTIAL)
def test_sequential_finds_scales_that_do_not_fit_their_documents(judged, name, mutant, n_topics):
    case = Case(name, "auxiliary", "sequential", mutant=mutant, options=f'{{"n_topics": {n_topics}}}')
    assert judged(case).status != "passed"


FOUND_BY_JOINT = ("scaling-scale-forgotten", "scaling-mass-not-scaled", "scaling-stale-coefficient")


@pytest.mark.parametrize("mutant", ["", *FOUND_BY_JOINT])
def test_joint_finds_wrong_weights_of_tokens(mutant):
    case = Case("hdsp", "auxiliary", "joint", mutant=mutant, options='{"n_topics": 3}')
    verdict = joint(case.subject, case.kernel, case.make_model(), DESIGN, states=12)
    assert verdict.passed == (not mutant), verdict


def test_there_are_enough_mutants_and_each_applies():
    assert len(MUTANTS) >= 8
    for mutant in MUTANTS:
        load_room(mutant.change, PLAIN_PYTHON)
