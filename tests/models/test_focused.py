"""The focused topic model: what its density says of new topics, its ladder, and its mutants."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import Case
from bnpzoo.diagnostics.laboratory.mutants.buffet import FOCUSED_MUTANTS
from bnpzoo.diagnostics.laboratory.patched import Change, load_room
from bnpzoo.kernels.buffet import focused as kernel
from bnpzoo.kernels.toolbox.sides import tokens_of
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.models import get
from samplers import on_rung
from scipy.integrate import dblquad
from scipy.stats import kstest

FALSE_ALARM_RATE = 1e-5
HYPER = {"alpha": 1.5, "gamma": 0.8, "eta": 0.5}
MODEL = get("focused", **HYPER)
FIXED = {name: np.asarray(value) for name, value in HYPER.items()}

FOUND_BY_JOINT = ("own-count-kept", "empty-topic-kept", "silence-forgotten", "absence-forgotten")
FOUND_BY_ORACLE = ("new-for-all", "silent-not-on", "inclusion-prior-proper", "counts-for-tables")
FOUND_BY_SEQUENTIAL = ("rate-of-having", "void-forgotten", "alpha-of-all")


def integrated(corpus, z, fixed):
    """Integral of the joint density over strength and inclusion of the last topic."""

    def density(inclusion, strength):
        new = {"strength": [*fixed["strength"], strength], "inclusion": [*fixed["inclusion"], inclusion]}
        latents = {"z": z} | {name: np.array(values) for name, values in new.items()} | FIXED
        return np.exp(MODEL.log_joint(latents, corpus))

    return dblquad(density, 0.0, 40.0, 0.0, 1.0, epsabs=0.0, epsrel=1e-7)[0]


@pytest.mark.parametrize("doc_ptr", [[0, 3], [0, 2, 2, 3, 4], [0, 1, 4, 4]])
def test_joint_integrates_to_the_marginal(doc_ptr):
    corpus = Corpus(np.arange(doc_ptr[-1]) % 2, doc_ptr, n_words=2)
    z = np.zeros(corpus.n_tokens, np.int64)
    found = integrated(corpus, z, {"strength": [], "inclusion": []})
    assert found == pytest.approx(np.exp(MODEL.log_marginal(z, corpus, FIXED)), rel=1e-6)


def test_lengths_have_probabilities():
    # one document: the probabilities of its lengths sum to one
    total = 0.0
    for n in range(8):
        corpus = Corpus(np.zeros(n, int), [0, n], n_words=1)
        total += sum(np.exp(MODEL.log_marginal(z, corpus, FIXED)) for z in MODEL.assignments(corpus))
    assert 0.97 < total < 1.0


def test_weight_of_a_new_topic_is_the_joint_integrated():
    corpus = Corpus([0, 1, 0, 1], [0, 2, 3, 4], n_words=2)
    rest = {"strength": np.array([1.3]), "inclusion": np.array([0.4])}
    latents = {"z": np.zeros(4, np.int64), **rest, **FIXED}
    prior = MODEL.document_prior(latents, corpus)
    new = integrated(corpus, np.array([0, 0, 0, 1]), rest)
    # the last token is alone in its document: old topic with weight prior[2, 0], no longer having it there
    without = MODEL.document_prior(latents | {"z": np.zeros(3, np.int64)}, Corpus([0, 1, 0], [0, 2, 3, 3]))
    old = np.exp(MODEL.log_joint(latents, corpus))
    expected = (prior[2, 1] * 0.5) / (without[2, 0] * (1 + 0.5) / (3 + 1.0))
    assert new / old == pytest.approx(expected, rel=1e-6)


def opened(sweeps, n_documents, n=4000):
    """Strength and inclusion of topics that the kernel opens, (n, 2)."""
    rng = np.random.default_rng(1)
    tokens = tokens_of([], np.zeros(n_documents + 1), np.zeros(n_documents), [])
    nothing = {"strength": [], "inclusion": []}
    state = kernel.make_state(tokens, 1, nothing | HYPER, dict.fromkeys(HYPER, (0, 0)))
    out = []
    for _ in range(n):
        sweeps.open_focused_topic(rng, state.documents, 0, n_documents)
        out.append((state.documents.strength[0], state.documents.inclusion[0]))
    return np.array(out)


def law_of_a_new_topic(drawn, n_documents):
    """Smaller p-value of both margins against the joint density of one topic with one token, on a grid."""
    x = np.linspace(-12.0, 3.4, 800)
    strength, inclusion = np.exp(x), (np.arange(600) + 0.5) / 600
    corpus = Corpus([0], np.append(0, np.ones(n_documents)), n_words=1)
    density = np.empty((x.size, inclusion.size))
    for i, s in enumerate(strength):
        silent = np.log1p(inclusion * np.expm1(-s * np.log(2.0)))
        only = MODEL.log_joint(
            {"z": np.zeros(1, int), "strength": np.array([s]), "inclusion": np.ones(1)} | FIXED, corpus
        )
        # all but the inclusion by the model's density, at inclusion 1 where every other document is silent
        density[i] = only + (n_documents - 1) * (silent + s * np.log(2.0)) + x[i]
    density = np.exp(density - density.max())
    margins = density.sum(axis=1), density.sum(axis=0)
    return min(
        kstest(values, lambda v, at=at, m=m: np.interp(v, at, np.cumsum(m) / m.sum())).pvalue
        for values, at, m in zip(drawn.T, (strength, inclusion + 0.5 / 600), margins, strict=True)
    )


@pytest.mark.parametrize("n_documents", [1, 2, 7])
def test_new_topics_are_drawn_from_the_joint(n_documents):
    assert law_of_a_new_topic(opened(kernel, n_documents), n_documents) > FALSE_ALARM_RATE


@pytest.mark.parametrize(
    ("find", "replace"),
    [
        ("gamma_variate(rng, gamma + 1.0, ", "gamma_variate(rng, gamma, "),
        ("documents.inclusion[k] = inclusion\n", "documents.inclusion[k] = v\n"),
        ("if u < 0.0:\n            break", "if u < 1.0:\n            break"),
    ],
)
def test_wrong_laws_of_new_topics_are_seen(find, replace):
    wrong = load_room(Change("buffet/focused.py", find, replace))(kernel)
    assert law_of_a_new_topic(opened(wrong, 7), 7) < FALSE_ALARM_RATE


@pytest.mark.parametrize("rung", [on_rung(rung) for rung in ("joint", "oracle", "sequential", "geweke")])
def test_exact_sampler_climbs(judged, rung):
    verdict = judged(Case("focused", "exact", rung))
    assert verdict.status == "passed", verdict


@pytest.mark.parametrize("rung", [on_rung(rung) for rung in ("joint", "oracle")])
def test_expansion_is_rejected(judged, rung):
    verdict = judged(Case("focused", "taylor", rung))
    assert verdict.status == "rejected", verdict


def test_every_mutant_has_its_rung():
    assert {m.id for m in FOCUSED_MUTANTS} == {
        f"focused-{name}" for name in FOUND_BY_JOINT + FOUND_BY_ORACLE + FOUND_BY_SEQUENTIAL
    }


@pytest.mark.parametrize(
    ("mutant", "rung"),
    [(name, "joint") for name in FOUND_BY_JOINT]
    + [on_rung("oracle", name, "oracle") for name in FOUND_BY_ORACLE]
    + [on_rung("sequential", name, "sequential") for name in FOUND_BY_SEQUENTIAL],
)
def test_mutants_are_rejected(judged, mutant, rung):
    verdict = judged(Case("focused", "exact", rung, mutant=f"focused-{mutant}"))
    assert verdict.status == "rejected", verdict


def test_room_for_topics_does_not_change_the_draws():
    corpus = Corpus(np.arange(300) % 40, [0, 150, 150, 300], n_words=40)
    latents = MODEL.initial_latents(corpus, np.random.default_rng(0))
    exact = MODEL.kernel()
    small = exact.load(latents, corpus, MODEL)
    large = kernel.with_room(exact.load(latents, corpus, MODEL))
    assert small.topics.total.size < 150 < large.topics.total.size
    rngs = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(5):
        small, large = exact.step(rngs[0], small), exact.step(rngs[1], large)
        exact.check(small)
    for name, value in exact.snapshot(small).items():
        assert np.array_equal(value, exact.snapshot(large)[name]), name


def test_lengths_that_the_prior_hardly_makes_are_refused():
    with pytest.raises(ValueError, match=r"^focused: none of .* documents of the design's lengths"):
        get("focused", alpha=0.1, gamma=0.1).simulate(Design(np.full(6, 50), 3), np.random.default_rng(0))
