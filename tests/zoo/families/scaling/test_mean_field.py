"""Variational inference against its bound: autodiff, monotony, printed updates, draws."""

import signal

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bnpzoo import Corpus, get, sample
from bnpzoo.diagnostics.compare import compare
from bnpzoo.diagnostics.heldout import posterior_predictives
from bnpzoo.zoo.families.scaling.bound import Maths, Points, bound
from bnpzoo.zoo.families.scaling.mean_field import CORRECTED, stick_slopes, update_scales
from bnpzoo.zoo.families.scaling.printed import documents_37, documents_48, sticks_30, sticks_38
from bnpzoo.zoo.inference.schema import check_fit
from jax.scipy import special as jax_special
from scipy import sparse

from tests.helpers.signals import send_until_heard

N_TOPICS = 4


def corpus_with(covariates, names, n=30):
    """Draw documents of a few words, one of them empty, with labels that go together with words."""
    rng = np.random.default_rng(5)
    lengths = rng.poisson(9, n)
    lengths[3] = 0
    kind = np.arange(n) % 3
    words = np.concatenate([(rng.integers(3, size=m) + 2 * k) for m, k in zip(lengths, kind, strict=True)])
    return Corpus(
        words,
        np.append(0, np.cumsum(lengths)),
        n_words=8,
        covariates=covariates(kind, rng),
        covariate_names=names,
    )


def corpus_of(name, n=30):
    """Corpus whose covariates are what a model takes."""
    if name == "hdsp":
        return corpus_with(
            lambda kind, rng: {"kind": kind, "other": rng.integers(2, size=kind.size)},
            {"kind": ["a", "b", "c"], "other": ["x", "y"]},
            n,
        )
    return corpus_with(
        lambda kind, rng: {"kind": kind, "rating": kind + rng.normal(size=kind.size)},
        {"kind": ["a", "b", "c"]},
        n,
    )


CORPORA = {name: corpus_of(name) for name in ("hdsp", "whdsp")}
NAMES = tuple(CORPORA)
JAX = Maths(jnp, jax_special)


def iteration(name, variant="mean-field", sweeps=5, seed=0, **hyper):
    model = get(name, n_topics=N_TOPICS, **hyper)
    out = model.require_variational().begin(CORPORA[name], 0, np.random.default_rng(seed), variant)
    for _ in range(sweeps):
        out.advance()
    return out


def dense(problem):
    return problem._replace(rows=problem.rows.toarray())


def slopes(q, problem, field):
    """Gradient of the bound in the logarithm of a field, by autodiff; in points and sticks as they are."""
    with jax.enable_x64(True):
        whole, given = jax.tree.map(jnp.asarray, q), dense(problem)
        found = jax.grad(lambda own: bound(whole._replace(**{field: own}), given, JAX))(getattr(whole, field))
        is_plain = field == "sticks" or isinstance(getattr(q, field), Points)
        scaled = found if is_plain else jax.tree.map(jnp.multiply, found, getattr(whole, field))
        return np.concatenate([np.ravel(part) for part in jax.tree.leaves(scaled)])


def disturbed(q, fields):
    """Law whose `fields` are not where the bound is highest."""
    parts = {field: jax.tree.map(lambda x: 1.3 * np.asarray(x), getattr(q, field)) for field in fields}
    return q._replace(**parts)


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def test_bound_is_the_same_in_jax(name):
    run = iteration(name)
    with jax.enable_x64(True):
        other = bound(jax.tree.map(jnp.asarray, run.q), dense(run.problem), JAX)
    assert float(other) == pytest.approx(bound(run.q, run.problem), rel=1e-13)


@pytest.mark.parametrize(
    ("part", "fields", "times"),
    [
        ("documents", ("shape", "rate", "xi"), 1),
        ("words", ("words",), 1),
        ("scales", ("scales",), 1000),
        ("hyperparameters", ("gamma", "alpha", "eta"), 1),
    ],
)
def test_updates_end_where_the_bound_is_stationary(name, part, fields, times):
    """Scales of `hdsp` are updated label by label, so that they need some rounds."""
    run = iteration(name)
    q = start = disturbed(run.q, fields)
    for _ in range(times):
        q = CORRECTED[part](q, run.problem)
    for field in fields:
        assert np.abs(slopes(start, run.problem, field)).max() > 1e-2
        assert np.abs(slopes(q, run.problem, field)).max() < 1e-10, field


def test_one_update_of_the_scales_of_one_label_is_stationary():
    """Equation 29: of a corpus whose only label that documents share with no other is drawn once."""
    model = get("hdsp", n_topics=N_TOPICS, labels="kind")
    run = model.require_variational().begin(CORPORA["hdsp"], 0, np.random.default_rng(0), "mean-field")
    q = update_scales(disturbed(run.q, ("scales",)), run.problem)
    assert np.abs(slopes(q, run.problem, "scales")).max() < 1e-10


def test_topics_of_tokens_are_where_the_bound_is_stationary(name):
    run = iteration(name)
    problem, q = dense(run.problem), disturbed(run.q, ("shape", "words"))
    best = CORRECTED["tokens"](q, run.problem)
    with jax.enable_x64(True):
        whole = jax.tree.map(jnp.asarray, q)
        logits = whole.log_pi(JAX)[problem.document] + whole.log_words(JAX).T[problem.word]

        def with_topics(logits):
            log_p = jax.nn.log_softmax(logits)
            expected = problem.count[:, None] * jnp.exp(log_p)
            by = {
                "doc_topic": jnp.zeros(q.shape.shape).at[problem.document].add(expected),
                "topic_word": jnp.zeros(q.words.T.shape).at[problem.word].add(expected).T,
                "entropy": -jnp.sum(expected * log_p),
            }
            return bound(whole._replace(**by), problem, JAX)

        assert np.abs(jax.grad(with_topics)(logits)).max() < 1e-10
        assert np.abs(jax.grad(with_topics)(0.5 * logits)).max() > 1e-2
        assert bound(best, run.problem) == pytest.approx(float(with_topics(logits)), rel=1e-13)


def test_gradient_in_the_sticks(name):
    run = iteration(name)
    q = disturbed(run.q, ("shape",))
    found, exact = stick_slopes(q, run.problem), slopes(q, run.problem, "sticks")
    np.testing.assert_allclose(found, exact, rtol=1e-10)
    assert np.abs(exact).max() > 1.0


@pytest.mark.parametrize("hyper", [{}, {"gamma": 1.0, "alpha": 2.0, "eta": 0.2}])
def test_no_update_lowers_the_bound(name, hyper):
    run = iteration(name, sweeps=0, **hyper)
    last = bound(run.q, run.problem)
    for _ in range(60):
        for update in CORRECTED.values():
            run.q = update(run.q, run.problem)
            now = bound(run.q, run.problem)
            assert now >= last - 1e-10 * abs(last), update
            last = now


@pytest.mark.parametrize(
    ("name", "part", "printed"),
    [("hdsp", "sticks", sticks_30), ("hdsp", "documents", documents_48), ("whdsp", "sticks", sticks_38)],
)
def test_printed_updates_lower_it(name, part, printed):
    run = iteration(name, sweeps=60)
    run.updates = run.updates | {part: printed}
    before = bound(run.q, run.problem)
    assert bound(printed(run.q, run.problem), run.problem) < before
    for _ in range(5):
        after = run.advance()
    assert after < before - 0.1


@pytest.mark.parametrize(("name", "printed"), [("hdsp", sticks_30), ("whdsp", sticks_38)])
def test_printed_updates_of_sticks_climb_the_printed_bound(name, printed):
    run = iteration(name)
    q, problem = run.q, run.problem
    if name == "hdsp":
        times = problem.rows.toarray().sum(axis=1)[problem.row_of, None]
    else:
        times = q.scales.log_scale(problem.rows)[problem.row_of]
    linear = np.sum(q.shape / q.rate - times * q.log_pi(), axis=0)

    def printed_bound(sticks):
        prior = q.alpha * q._replace(sticks=sticks).root(JAX)
        curved = problem.lengths.size * jnp.sum(jax_special.gammaln(prior))
        return prior @ linear - curved + (q.gamma - 1.0) * jnp.sum(jnp.log1p(-sticks))

    with jax.enable_x64(True):
        uphill = np.asarray(jax.grad(printed_bound)(jnp.asarray(q.sticks)))
    step = printed(q, problem).sticks - q.sticks
    np.testing.assert_allclose(step, 0.01 * uphill / np.abs(uphill).max(), rtol=1e-8)


@pytest.mark.parametrize(("name", "printed"), [("hdsp", documents_48), ("whdsp", documents_37)])
def test_printed_updates_of_documents_are_wrong_in_the_rate_alone(name, printed):
    run = iteration(name)
    q = run.q if name == "hdsp" else run.q._replace(scales=Points(0.5 * np.ones_like(run.q.scales.at)))
    found, corrected = printed(q, run.problem), CORRECTED["documents"](q, run.problem)
    np.testing.assert_allclose(found.shape, corrected.shape, rtol=1e-12)
    assert np.abs(found.rate / corrected.rate - 1.0).max() > 0.01


def test_a_rate_that_equation_37_makes_negative_is_named():
    run = iteration("whdsp")
    strong = run.q._replace(scales=Points(20.0 * np.ones_like(run.q.scales.at)))
    with pytest.raises(ValueError, match="expected positive rates of pi, found -"):
        documents_37(strong, run.problem)


def test_the_bound_is_below_the_evidence():
    """Of one document of two words the same; of sticks, which are points, it has the density."""
    corpus = Corpus([0, 0], [0, 2], n_words=2)
    model = get("hdsp", n_topics=2, labels="none", gamma=1.0, alpha=1.5, eta=0.5)
    run = model.require_variational().begin(corpus, 0, np.random.default_rng(0), "mean-field")
    for _ in range(200):
        run.advance()
    p = run.q.root()
    together = np.sum(p * (1.5 * p + 1.0)) / 2.5  # that both tokens have one topic: of a Dirichlet law
    same, other = 0.5 * 1.5 / 2.0, 0.25  # p(both words | one topic), p(both words | two topics)
    given = np.log(together * same + (1.0 - together) * other)
    evidence = given + np.log(p[0] * p[1])  # the density of V is 1 where gamma is
    assert evidence - 1.0 < bound(run.q, run.problem) < evidence


@pytest.mark.parametrize("hyper", [{}, {"gamma": 0.1}])
def test_sticks_end_where_the_objective_is_highest_and_not_at_an_end_of_their_range(name, hyper):
    """Where gamma is below 1, a density in V would send them to 1; a few documents would not hold them."""
    corpus, model = corpus_of(name, 4), get(name, n_topics=N_TOPICS, **hyper)
    run = model.require_variational().begin(corpus, 0, np.random.default_rng(0), "mean-field")
    for _ in range(400):
        run.advance()
    sticks = run.q.sticks
    assert np.all((sticks > 1e-6) & (sticks < 1.0 - 1e-6))
    slopes_in_logits = stick_slopes(run.q, run.problem) * sticks * (1.0 - sticks)
    assert np.abs(slopes_in_logits).max() < 1e-3


def test_the_objective_is_below_what_any_model_of_topics_gives_the_words():
    """Points have densities below 1 each, as these are."""
    corpus = Corpus([0, 0, 1, 2, 2, 1], [0, 3, 6], n_words=3)
    model = get("hdsp", n_topics=3, labels="none")
    most = 2.0 * (2.0 * np.log(2.0 / 3.0) + np.log(1.0 / 3.0))
    for seed in range(2):
        run = model.require_variational().begin(corpus, 0, np.random.default_rng(seed), "mean-field")
        assert max(run.advance() for _ in range(200)) < most


def test_draws_have_the_means_of_the_law(name):
    run, rng = iteration(name), np.random.default_rng(0)
    draws = [run.draw(rng) for _ in range(800)]
    token = np.array([draw["z"] for draw in draws])
    for k in range(N_TOPICS):
        share, expected = (token == k).mean(axis=0).sum(), run.q.doc_topic[:, k].sum()
        assert share == pytest.approx(expected, abs=5.0 * np.sqrt(token.shape[1] * 0.25 / len(draws)) + 1e-9)
    log_scale = np.mean([draw["log_scale"] for draw in draws], axis=0)
    rows = sparse.eye_array(log_scale.shape[0])
    np.testing.assert_allclose(log_scale, run.q.scales.log_scale(rows), atol=0.3)
    assert all(np.isfinite(draw["log_u"]).all() for draw in draws)


def test_fits_are_like_those_of_other_back_ends(name):
    corpus, model = CORPORA[name], get(name)
    given = {"chains": 2, "tune": 40, "draws": 30, "seed": 3}
    tree = sample(model, corpus, "vi", truncation=6, keep=4, **given)
    assert tree["posterior"].sizes["draw"] == 30
    assert tree["sample_stats"]["bound"].shape == (2, 30)
    assert (tree["sample_stats"]["iterations"] <= 40).all()
    assert tree.attrs["variant"] == "mean-field"
    check_fit(tree)
    again = sample(model, corpus, "vi", truncation=6, keep=4, **given)
    np.testing.assert_array_equal(tree["latents"]["log_scale"], again["latents"]["log_scale"])
    assert np.isfinite(
        next(posterior_predictives(tree, corpus)).log_documents(corpus, np.random.default_rng(0), particles=2)
    ).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "truncation: hdsp under backend 'vi' needs one, at least 2"),
        ({"truncation": 4, "variant": "auxiliary"}, "there are mean-field, published"),
        ({"truncation": 4, "until": 1.05}, "until: backend 'vi' takes none"),
        ({"truncation": 4, "tune": 0}, "tune: backend 'vi' needs at least one iteration, found 0"),
    ],
)
def test_what_it_does_not_take_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        sample(get("hdsp"), CORPORA["hdsp"], "vi", **arguments)


def test_a_chain_says_whether_it_has_converged():
    model = get("hdsp", n_topics=2)
    few, many = (
        sample(model, corpus_of("hdsp", 4), "vi", chains=2, tune=tune, draws=3, keep=1)["sample_stats"]
        for tune in (3, 2000)
    )
    assert few["converged"].dtype == bool
    assert few["converged"].shape == (2, 3)
    assert not few["converged"].any()
    assert many["converged"].all()
    assert (many["iterations"] < 2000).all()


def stopping(chain, done):
    """Report that asks to stop when a chain has made so many iterations."""

    def report(number, now, total, note=""):
        if (number, now) == (chain, done):
            send_until_heard(signal.SIGINT)

    return report


@pytest.mark.parametrize(("done", "converged", "left_out"), [(0, [True], "1,2,3"), (3, [True, False], "2,3")])
def test_ctrl_c_names_the_chains_that_had_not_begun_and_those_that_had_not_converged(
    done, converged, left_out
):
    """Of a chain that has made no iteration there is nothing to draw from."""
    model, corpus = get("hdsp", n_topics=2), corpus_of("hdsp", 4)
    given = {"chains": 4, "tune": 2000, "draws": 5, "keep": 1}
    tree = sample(model, corpus, "vi", progress=stopping(1, done), **given)
    assert (tree.attrs["interrupted"], tree.attrs["left_out"]) == (1, left_out)
    assert tree["sample_stats"]["converged"].values[:, 0].tolist() == converged
    assert tree["posterior"].sizes["draw"] == 5
    check_fit(tree)
    with pytest.raises(KeyboardInterrupt, match="before the last draw"):
        sample(model, corpus, "vi", progress=stopping(1, done), partial=False, **given)
    with pytest.raises(KeyboardInterrupt, match="before the first draw"):
        sample(model, corpus, "vi", progress=stopping(0, 0), **given)


def test_ctrl_c_after_the_last_iteration_takes_nothing_away():
    given = {"chains": 2, "tune": 4, "draws": 5, "keep": 1}
    tree = sample(get("hdsp", n_topics=2), corpus_of("hdsp", 4), "vi", progress=stopping(1, 4), **given)
    assert (tree.attrs["interrupted"], tree["posterior"].sizes["chain"]) == (0, 2)
    assert "left_out" not in tree.attrs


def test_without_labels_the_two_models_are_one():
    """`whdsp` ended in an error of NumPy, as there was no label to take a step for."""
    given = {"truncation": 3, "chains": 1, "tune": 5, "draws": 3, "keep": 1}
    bounds = [
        sample(get(name, labels="none"), CORPORA[name], "vi", **given)["sample_stats"]["bound"][0, 0]
        for name in NAMES
    ]
    assert float(bounds[0]) == pytest.approx(float(bounds[1]), rel=1e-12)


def test_models_without_it_say_so():
    with pytest.raises(ValueError, match="lda: there is no variational inference; use a kernel"):
        sample(get("lda", n_topics=2), CORPORA["hdsp"], "vi")


def test_a_comparison_says_that_it_is_an_approximation():
    tree = sample(get("hdsp", n_topics=N_TOPICS), CORPORA["hdsp"], "vi", chains=2, tune=5, draws=20, seed=1)
    headline = compare([tree]).headline()
    assert "is an approximation" in headline
    assert "Draw longer chains" not in headline
