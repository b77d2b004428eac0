"""References of Pitman-Yor topics: stable variables against their moments, posteriors against enumeration."""

from dataclasses import replace

import arviz_stats
import bnpzoo
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.oracle import Oracle
from bnpzoo.zoo.contract import Beta, Gamma
from bnpzoo.zoo.corpus import CorpusError
from bnpzoo.zoo.corpus.associations import Associations
from bnpzoo.zoo.families.pitman_yor import blocks as topics
from bnpzoo.zoo.families.pitman_yor.restaurants import log_rising
from bnpzoo.zoo.inference import nuts, stan
from bnpzoo.zoo.toolbox.enumeration import log_stirling
from numpyro import handlers
from scipy.special import gammaln, logsumexp

ALARM = 5.0
"""Standard errors: with the normal law, a false alarm in any of 40 comparisons has probability 3e-5."""

N_DRAWS = 2500
"""Of a chain; half as many do not tell `pyp` from `hpyp` by their tables on every processor."""

BASE = np.array([0.5, 0.3, 0.2])

MICRO = bnpzoo.Corpus(
    np.array([0, 0, 0, 1, 0, 0, 0, 2]),
    np.array([0, 2, 4, 6, 8]),
    n_words=3,
    group=np.array([0, 0, 1, 1]),
    associations=Associations.of(
        [
            [[0.7, 0.2, 0.0], [0.3, 0.5, 0.4], [0.0, 0.3, 0.6]],
            [[0.5, 0.0, 0.1], [0.5, 0.6, 0.0], [0.0, 0.4, 0.9]],
        ]
    ),
)
FIXED = {"n_topics": 2, "alpha": 0.5, "eta": 0.4, "b": 1.5, "a": 0.7}
N_TABLES = {"tpyp": 7.115076731878, "hpyp": 7.414953}
"""Expected tables given MICRO, by enumeration of all 146,016 states and of the 1,296 that P = I leaves."""


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def grid(step):
    """Points (x, y), (n, 2, 1), and the mass of each under the logistic and Gumbel densities."""
    x, y = np.meshgrid(np.arange(-45.0, 45.0, step), np.arange(-5.0, 60.0, step), indexing="ij")
    log_density = -np.abs(x) - 2.0 * np.log1p(np.exp(-np.abs(x))) - y - np.exp(-y)
    return jnp.stack([x.ravel(), y.ravel()], -1)[..., None], np.exp(log_density).ravel() * step**2


@pytest.mark.parametrize("a", [0.3, 0.5, 0.7, 0.95])
def test_stable_variables_have_their_moments_under_an_exponential_tilt(a):
    # E[S^n exp(-u S)] = exp(-H u^a) sum_t (a H)^t u^(t a - n) S^n_t; at n = 0 the Laplace transform.
    points, mass = grid(0.1)
    h = 0.3
    log_s = np.asarray(topics.log_stable(points, jnp.asarray(a), jnp.log(jnp.array([h]))))[:, 0]
    for n, u in [(0, 0.1), (0, 3.0), (1, 0.5), (2, 3.0), (5, 1.0)]:
        t = np.arange(n + 1)
        terms = (a * h) ** t * u ** (t * a - n) * np.exp(log_stirling(n, a)[n])
        exact = np.exp(-h * u**a) * terms.sum()
        np.testing.assert_allclose(mass @ np.exp(n * log_s - u * np.exp(log_s)), exact, rtol=1e-7)


@pytest.mark.parametrize("a", [0.4, 0.7])
@pytest.mark.parametrize("b", [-0.2, 0.0, 1.0, 30.0])
def test_tilted_density_has_mass_one(a, b):
    points, _ = grid(0.1)
    law = topics.TiltedStable(jnp.asarray(a), jnp.asarray(b), jnp.zeros(1))
    np.testing.assert_allclose(np.exp(law.log_prob(points)).sum() * 0.1**2, 1.0, rtol=1e-6)


def log_probability(counts, a, b):
    """Log probability of words under PYP(a, b, BASE): the sum over tables."""
    log_s, log_terms = log_stirling(counts.max(), a), []
    for t in np.ndindex(*(counts + 1)):
        ways = log_s[counts, t].sum() + np.dot(t, np.log(BASE))
        log_terms.append(log_rising(b, a, counts.sum(), sum(t)) + ways if np.isfinite(ways) else -np.inf)
    return np.logaddexp.reduce(log_terms)


def posterior_mean(counts, a, b):
    """Probability of word 0 after `counts`."""
    return np.exp(log_probability(np.add(counts, [1, 0, 0]), a, b) - log_probability(counts, a, b))


def weighted_mean(values, weights):
    """Ratio estimate of a mean, and its standard error."""
    mean = (weights @ values) / weights.sum()
    return mean, np.std(weights * (values - mean)) / weights.mean() / np.sqrt(weights.size)


@pytest.mark.parametrize("b", [-0.3, 0.4])
def test_normalised_variables_are_a_pitman_yor_process(b):
    # Draws without the tilt, which then is their weight: of finite variance, b being small.
    a, rng, counts = 0.6, np.random.default_rng(1), np.array([3, 1, 0])
    value = jnp.asarray(np.stack([rng.logistic(size=(200_000, 3)), rng.gumbel(size=(200_000, 3))], 1))
    law, untilted = (topics.TiltedStable(jnp.asarray(a), jnp.asarray(x), jnp.log(BASE)) for x in (b, 0.0))
    tilt = np.exp(law.log_prob(value) - untilted.log_prob(value))
    phi = np.asarray(jax.nn.softmax(topics.log_stable(value, jnp.asarray(a), jnp.log(BASE))))
    seen = tilt * np.prod(phi**counts, axis=1)
    exact, error = np.exp(log_probability(counts, a, b)), seen.std() / np.sqrt(seen.size)
    assert abs(seen.mean() - exact) < ALARM * error
    assert abs(seen.mean() - np.exp(log_probability(counts, a, b + 0.3))) > ALARM * error


@pytest.mark.slow
def test_five_sticks_with_a_dirichlet_tail_come_close_and_other_tails_do_not():
    a, b, counts = 0.7, 1.0, np.array([6, 3, 1])

    def draw(key):
        program = handlers.seed(topics.truncated_pitman_yor, key)
        sites = handlers.trace(program).get_trace("phi", a, b, BASE, 5)
        values = {name: sites[f"phi{name}"]["value"] for name in ("", "_sticks", "_atoms", "_tail")}
        rest = jnp.prod(1.0 - values["_sticks"])
        sticks = values[""] - rest * values["_tail"]
        lumped = jax.nn.one_hot(values["_atoms"][-1], BASE.size)
        return {"Dirichlet": values[""], "mean": sticks + rest * BASE, "last stick": sticks + rest * lumped}

    draws = jax.jit(jax.vmap(draw))(jax.random.split(jax.random.key(0), 20_000))
    exact = posterior_mean(counts, a, b)
    distance = {}
    for tail, phi in draws.items():
        mean, error = weighted_mean(np.asarray(phi[:, 0]), np.prod(phi**counts, axis=1))
        distance[tail] = abs(mean - exact) / error
    # The Dirichlet tail is right in its first two moments only: what remains is below the error here.
    assert distance["Dirichlet"] < ALARM
    assert distance["mean"] > ALARM
    assert distance["last stick"] > ALARM


@pytest.mark.parametrize("model_id", ["tpyp", "hpyp", "pyp"])
def test_tables_are_what_the_moments_of_stable_variables_leave(model_id):
    """The density of words given topics, tables summed out, from the moments above and the tilt T^-b.

    Its base is uniform, as a Dirichlet variable of large parameters is. M customers of a restaurant have
    ``E[prod_w S_w^m_w T^(-b - M)] = int u^(b + M - 1) prod_w E[S_w^m_w exp(-u S_w)] du / Gamma(b + M)``.
    """
    model, z = bnpzoo.get(model_id, **FIXED), np.array([0, 1, 0, 0, 0, 0, 1, 1])
    b, a, n_words = np.array([0.4, 2.5]), 0.6, MICRO.n_words
    expected = 0.0
    for g, k in np.ndindex(2, 2):
        counts = np.bincount(
            MICRO.words[(MICRO.group_of_doc[MICRO.doc_of] == g) & (z == k)], minlength=n_words
        )
        base = model.topics.associations_of(MICRO).matrix(g).toarray().sum(axis=1) / n_words
        power = b[k] + counts.sum()

        def log_integrand(s, counts=counts, base=base, power=power):
            out = power * s - base.sum() * np.exp(a * s)  # u = exp(s)
            for m, h in zip(counts, base, strict=True):
                t = np.arange(m + 1)
                with np.errstate(divide="ignore"):
                    logs = t * np.log(a * h) + log_stirling(m, a)[m]
                out += logsumexp((logs + np.multiply.outer(s, t * a - m)), axis=-1)
            return out

        s = np.arange(-120.0, 25.0, 0.01)
        expected += logsumexp(log_integrand(s)) + np.log(0.01) - gammaln(power)
        expected += gammaln(1.0 + b[k]) - gammaln(1.0 + b[k] / a)
    # That of a Dirichlet base differs by order 1 / eta, which the two values cancel.
    hyper = {"b": b, "a": np.array(a)}
    near, nearer = (model.topics.log_marginal(z, MICRO, hyper | {"eta": np.array(eta)}) for eta in (1e5, 2e5))
    assert 2.0 * nearer - near == pytest.approx(expected, rel=1e-8)


RUNS = [
    pytest.param(("tpyp", nuts), id="tpyp-numpyro", marks=pytest.mark.heavy),
    pytest.param(("hpyp", nuts), id="hpyp-numpyro", marks=pytest.mark.heavy),
    pytest.param(("pyp", nuts), id="pyp-numpyro", marks=pytest.mark.heavy),
    pytest.param(("tpyp", stan), id="tpyp-stan", marks=[pytest.mark.heavy, pytest.mark.stan]),
]


@pytest.fixture(scope="module", params=RUNS)
def latents(request):
    """Name of a model, and latents at draws of one of its programs, [chain][draw]."""
    name, backend = request.param
    model, rng = bnpzoo.get(name, **FIXED), np.random.default_rng(0)
    draws = backend.run(model, MICRO, 0, 2, 400, N_DRAWS, 1)["draws"]
    states = [[{site: x[c, s] for site, x in draws.items()} for s in range(N_DRAWS)] for c in (0, 1)]
    return name, [[model.reference.latents(state, MICRO, rng) for state in row] for row in states]


def standard_scores(paths, exact):
    return np.array([(x.mean() - e) / float(arviz_stats.mcse(x)) for x, e in zip(paths, exact, strict=True)])


def co_assignment_scores(latents, name):
    """Distance of P(z_i = z_j) from the exact posterior under the model `name`."""
    first, second = np.triu_indices(MICRO.n_tokens, 1)
    z = np.array([[draw["z"] for draw in row] for row in latents])
    exact = Oracle.of_model(bnpzoo.get(name, **FIXED), MICRO).same_topic.mean[first, second]
    return standard_scores(np.moveaxis((z[:, :, first] == z[:, :, second]).astype(float), 2, 0), exact)


def test_posterior_equals_enumeration(latents):
    name, draws = latents
    assert np.abs(co_assignment_scores(draws, name)).max() < ALARM
    other = {"tpyp": "hpyp", "hpyp": "pyp", "pyp": "hpyp"}[name]
    assert np.abs(co_assignment_scores(draws, other)).max() > ALARM


def test_tables_equal_enumeration(latents):
    name, draws = latents
    n_tables = np.array([[np.count_nonzero(draw["association"] >= 0) for draw in row] for row in draws])
    scores = {of: standard_scores([n_tables.astype(float)], [exact])[0] for of, exact in N_TABLES.items()}
    if name in N_TABLES:
        assert abs(scores.pop(name)) < ALARM
    assert all(abs(score) > ALARM for score in scores.values())


def evidence(model, corpus, n_draws):
    """Probability of the words under a NumPyro program, and its standard error, from draws of the prior."""
    program = model.reference.numpyro(corpus, 0)

    def untilted(site):
        if site["type"] == "sample" and site["name"] == "phi_stable":
            first, second = jax.random.split(site["kwargs"]["rng_key"])
            shape = (*site["fn"].batch_shape, site["fn"].event_shape[1])
            return jnp.stack([jax.random.logistic(first, shape), jax.random.gumbel(second, shape)], -2)
        return None

    def log_weight(key):
        seeded = handlers.seed(program, key)
        sites = handlers.trace(handlers.substitute(seeded, substitute_fn=untilted)).get_trace()
        law, value = sites["phi_stable"]["fn"], sites["phi_stable"]["value"]
        without = topics.TiltedStable(law.discount, jnp.zeros(()), law.log_base)
        tilt = jnp.sum(law.log_prob(value) - without.log_prob(value))
        return tilt + sites["counts"]["fn"].log_prob(sites["counts"]["value"])

    weights = np.exp(jax.jit(jax.vmap(log_weight))(jax.random.split(jax.random.key(0), n_draws)))
    return weights.mean(), weights.std() / np.sqrt(n_draws)


@pytest.mark.slow
def test_evidence_equals_enumeration():
    # The tilts of four restaurants are weights; with a small b they have a variance.
    corpus = MICRO.take(slice(1, 3))
    model, other = (bnpzoo.get(name, **FIXED | {"b": 0.4, "a": 0.6}) for name in ("tpyp", "hpyp"))
    mean, error = evidence(model, corpus, 20_000)
    exact, wrong = (np.exp(Oracle.of_model(of, corpus).log_evidence.mean) for of in (model, other))
    assert abs(mean - exact) < ALARM * error
    assert abs(mean - wrong) > ALARM * error


@pytest.mark.heavy
def test_sampled_concentration_and_discount_equal_enumeration():
    # One topic, whose words repeat: they say something of both, and the sum over tables is short.
    words, doc_ptr = np.array([0, 0, 0, 0, 0, 2, 1, 1, 1, 1]), np.array([0, 6, 10])
    corpus = replace(MICRO, words=words, doc_ptr=doc_ptr, group=np.array([0, 1]))
    hyper = {"n_topics": 1, "b": Gamma(2.0, 1.0), "a": Beta(2.0, 2.0)}
    model = bnpzoo.get("tpyp", **FIXED | hyper)
    oracle = Oracle.of_model(model, corpus)
    draws = nuts.run(model, corpus, 0, 2, 500, 4000, 1)["draws"]
    for name, prior_mean in (("b", 2.0), ("a", 0.5)):
        exact, paths = oracle.hyperparameter(name), draws[name].reshape(2, 4000)
        error = np.hypot(float(arviz_stats.mcse(paths)), np.ravel(exact.se)[0])
        assert abs(paths.mean() - np.ravel(exact.mean)[0]) < ALARM * error
        assert abs(paths.mean() - prior_mean) > ALARM * error


def test_latents_of_a_draw_have_a_density(latents):
    name, draws = latents
    model = bnpzoo.get(name, **FIXED)
    assert np.isfinite([model.log_joint(draw, MICRO) for draw in draws[0][:50]]).all()


def test_a_word_that_no_word_becomes_has_no_weight_and_disturbs_no_gradient():
    log_base = topics.log_base(jnp.log(BASE)[None, None], [np.array([[1.0, 1.0, 0.0], [0, 0, 1], [0, 0, 0]])])
    np.testing.assert_allclose(np.exp(log_base[0, 0]), [0.8, 0.2, 0.0], rtol=1e-12)

    def log_density(a, value):
        return topics.TiltedStable(a, jnp.asarray(2.0), log_base[0, 0]).log_prob(value)

    slopes = jax.jit(jax.grad(log_density, (0, 1)))(jnp.asarray(0.7), jnp.ones((2, 3)))
    assert all(np.isfinite(slope).all() for slope in slopes)


def test_errors_of_what_the_references_do_not_have():
    empty_row = Associations.of([np.eye(3), [[1, 0, 0], [0, 1, 1], [0, 0, 0]]])
    corpus = replace(MICRO, associations=empty_row)
    for build in ("numpyro", "stan_data"):
        with pytest.raises(CorpusError, match="group 1 has word 2, which no word becomes"):
            getattr(bnpzoo.get("tpyp").reference, build)(corpus, 0)
        with pytest.raises(ValueError, match="expected a discount above 0, found 0"):
            getattr(bnpzoo.get("hpyp", a=0.0).reference, build)(corpus, 0)
