"""Samplers of the sparse transfer topic model against its exact marginals, and against each other."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.mutants.registry import mutant_by_id
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.kernels.buffet.setup import with_room
from bnpzoo.zoo.contract import Design, Gamma
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.families.buffet.ibp import log_reach
from bnpzoo.zoo.models import get
from bnpzoo.zoo.models.sparse_transfer import SparseTransfer
from buffet_micro import HYPER, MICRO
from scipy.stats import gamma

FALSE_ALARM_RATE = 1e-5


@pytest.mark.parametrize(
    ("variant", "lengths"),
    [
        ("masks", "task"),
        ("masks", "none"),
        ("slice", "task"),
        ("slice", "document"),
        ("collapsed", "document"),
    ],
)
@pytest.mark.slow
def test_samplers_agree_with_the_oracle(variant, lengths):
    model = get("sparse_transfer", **HYPER, lengths=lengths)
    subject = ModelSubject(model, Design.of(MICRO), variant)
    verdict = agrees_with_oracle(
        subject, Oracle.of_model(model, MICRO), MICRO, draws=5_000, false_alarm_rate=FALSE_ALARM_RATE
    )
    assert verdict.passed, verdict


@pytest.mark.slow
def test_the_oracle_tells_a_wrong_collapsed_sampler():
    change = mutant_by_id("transfer-collapsed-closed-too-likely").change

    class Wrong(ModelSubject):
        kernel = SparseTransfer().kernels_in(load_room(change, PLAIN_PYTHON))["collapsed"]

    model = get("sparse_transfer", **HYPER | {"alpha": 4.0, "epsilon": 0.95}, lengths="document")
    wrong = Wrong(model, Design.of(MICRO), "collapsed")
    verdict = agrees_with_oracle(wrong, Oracle.of_model(model, MICRO), MICRO, draws=3_000)
    assert verdict.status == "rejected"


@pytest.mark.slow
def test_samplers_agree_with_the_oracle_on_alpha():
    model = get("sparse_transfer", **HYPER | {"alpha": Gamma(2.0, 2.0)})
    corpus = Corpus([0, 1, 0, 1, 1], [0, 3, 5], n_words=2, group=[0, 1])
    oracle = Oracle.of_model(model, corpus, replicates=4, nodes=32)
    for variant in ("masks", "slice"):
        subject = ModelSubject(model, Design.of(corpus), variant)
        verdict = agrees_with_oracle(subject, oracle, corpus, draws=5_000, false_alarm_rate=FALSE_ALARM_RATE)
        assert verdict.passed, verdict


def excess_of_ghosts(kernel, draws):
    """How far the mean number of ghosts is from what it should be, in standard errors.

    Where the lengths are those of documents, ghosts are a Poisson process apart from all else: the buffet's
    rows s of C that are on, times the probability that they bring no token, 2^-phi in each document.
    """
    alpha, a1, a2 = 1.5, 2.0, 0.5
    model = get("sparse_transfer", alpha=alpha, epsilon=1.0, a1=a1, a2=a2, eta=0.3, lengths="document")
    corpus = Corpus([0, 1, 1], [0, 1, 2, 3], n_words=3, group=[0, 1, 2])
    silent = [(1.0 + a2 * s * np.log1p(np.log(2.0))) ** -a1 for s in (1, 2, 3)]
    expected = alpha * np.array([3.0, 3.0, 1.0]) * np.exp(log_reach(3, 1.0)[1:]) @ silent
    rng = np.random.default_rng(0)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    n_ghosts = np.zeros(draws)
    for i in range(draws):
        state = kernel.step(rng, state)
        n_ghosts[i] = state.topics.n_topics[0] - np.unique(state.tokens.topic).size
    batches = n_ghosts.reshape(100, -1).mean(axis=1)
    return (batches.mean() - expected) / (batches.std(ddof=1) / 10.0)


@pytest.mark.parametrize("variant", ["masks", "collapsed", "slice"])
@pytest.mark.slow
def test_ghosts_are_as_many_as_they_should_be(variant):
    # 5 standard errors of 100 batches: false alarm rate 3e-6
    assert abs(excess_of_ghosts(SparseTransfer().kernels[variant], 50_000)) < 5.0


@pytest.mark.parametrize(
    ("variant", "mutant", "draws"),
    [
        ("masks", "transfer-births-without-prior-mass", 2_000),
        pytest.param("slice", "transfer-represented-topics-first", 50_000, marks=pytest.mark.heavy),
    ],
)
def test_ghosts_tell_wrong_samplers(variant, mutant, draws):
    changes = (mutant_by_id(mutant).change, *((PLAIN_PYTHON,) if draws < 10_000 else ()))
    assert abs(excess_of_ghosts(SparseTransfer().kernels_in(load_room(*changes))[variant], draws)) > 5.0


SHAPES_CUT = (1e-20, 1e-3)


def excess_of_tiny_shapes(kernel, draws):
    """How far topics with tiny shapes are from their law, in standard errors; weights underflow there.

    Topics that only a task without documents has on follow the prior: ``alpha int (1 - rho) d rho`` of them
    are expected, independently with shapes Gamma(a1, a2).
    """
    model = get("sparse_transfer", alpha=3.0, epsilon=1.0, a1=0.05, a2=1.0, eta=0.3, lengths="document")
    corpus = Corpus([0, 1, 1], [0, 3], n_words=2, group=[0], group_names=["a", "b"])
    expected = 1.5 * np.append(1.0, gamma.cdf(SHAPES_CUT, 0.05))
    rng = np.random.default_rng(1)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    seen = np.zeros((draws, 3))
    for i in range(draws):
        state = kernel.step(rng, state)
        masks, k = state.masks, state.topics.n_topics[0]
        alone = (masks.n_on[:k] == 1) & (masks.log_weight[1, :k] > -np.inf)
        shapes = masks.shape[:k][alone]
        seen[i] = shapes.size, *(np.count_nonzero(shapes < cut) for cut in SHAPES_CUT)
    batches = seen.reshape(100, -1, 3).mean(axis=1)
    return np.abs((batches.mean(axis=0) - expected) / (batches.std(axis=0, ddof=1) / 10.0)).max()


@pytest.mark.compiled
@pytest.mark.parametrize("variant", ["masks", "collapsed", "slice"])
def test_weights_that_underflow_follow_their_law(variant):
    # 5.3 standard errors of 100 batches, 3 means: false alarm rate 2e-6
    assert excess_of_tiny_shapes(SparseTransfer().kernels[variant], 20_000) < 5.3


@pytest.mark.slow
def test_a_sampler_that_clamps_small_weights_is_told():
    clamped = Change(
        "buffet/state.py",
        "    masks.log_weight[c, k] = log_weight\n",
        "    masks.log_weight[c, k] = max(log_weight, -700.0)\n",
    )
    kernel = SparseTransfer().kernels_in(load_room(clamped, PLAIN_PYTHON))["slice"]
    assert excess_of_tiny_shapes(kernel, 4_000) > 5.3


@pytest.mark.parametrize(
    ("lengths", "exact", "mean", "worst"), [("task", 2.4935, 3.86, 0.384), ("document", 2.3386, 3.84, 0.45)]
)
@pytest.mark.slow
def test_published_algorithm_is_rejected(lengths, exact, mean, worst):
    model = get("sparse_transfer", **HYPER, lengths=lengths)
    assert not model.kernel("published").exact
    oracle = Oracle.of_model(model, MICRO)
    verdict = agrees_with_oracle(
        ModelSubject(model, Design.of(MICRO), "published"), oracle, MICRO, draws=4_000
    )
    assert verdict.status == "rejected"
    table = verdict.table.to_dataframe()
    topics = table[table.index.str.startswith("n_topics")]
    assert topics["exact"] @ np.arange(1, 9) == pytest.approx(exact, abs=1e-4)
    assert topics["mean"] @ np.arange(1, 9) == pytest.approx(mean, abs=0.05)
    pairs = table[table.index.str.startswith("same_topic")]
    assert (pairs["mean"] - pairs["exact"]).abs().max() == pytest.approx(worst, abs=0.02)


@pytest.mark.parametrize("variant", ["masks", "collapsed", "slice", "published"])
def test_compiled_and_plain_sweeps_are_the_same(variant):
    required = SparseTransfer().kernels[variant].requires
    model = get("sparse_transfer", **required)
    design = Design(np.array([4, 3, 0, 5]), 4, group=np.array([0, 0, 1, 1]))
    latents, corpus = model.simulate(design, np.random.default_rng(1))
    after = []
    for kernels in (SparseTransfer().kernels, SparseTransfer().kernels_in(load_room(PLAIN_PYTHON))):
        rng = np.random.default_rng(2)
        state = kernels[variant].load(latents, corpus, model)
        for _ in range(10):
            state = kernels[variant].step(rng, state)
        after.append(kernels[variant].snapshot(state))
    for name, value in after[0].items():
        np.testing.assert_allclose(after[1][name], value, rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("variant", ["masks", "collapsed", "slice"])
def test_room_does_not_matter(variant):
    """A sweep that has to stop and go on with more room draws what it would have drawn."""
    required = SparseTransfer().kernels[variant].requires
    model = get("sparse_transfer", alpha=60.0, epsilon=1.0, a1=1.0, a2=1.0, eta=0.01, **required)
    corpus = Corpus(np.arange(240) % 120, [0, 80, 160, 240], n_words=120, group=[0, 1, 2])
    kernel = model.kernel(variant)
    start = model.initial_latents(corpus, np.random.default_rng(0))
    after = []
    for doublings in (0, 4):
        state = kernel.load(start, corpus, model)
        for _ in range(doublings):
            state = with_room(state)
        rng = np.random.default_rng(1)
        for _ in range(5):
            state = kernel.step(rng, state)
            kernel.check(state)
        after.append(kernel.snapshot(state))
    assert after[0]["shape"].size > 64
    for name, value in after[0].items():
        assert np.array_equal(after[1][name], value), name


def test_a_task_without_documents_follows_its_prior():
    model = get("sparse_transfer", **HYPER, lengths="document")
    corpus = Corpus([0, 1, 1], [0, 2, 3], n_words=2, group=[0, 0], group_names=["a", "b"])
    without = Corpus([0, 1, 1], [0, 2, 3], n_words=2, group=[0, 0], group_names=["a"])
    one = Oracle.of_model(model, corpus)
    other = Oracle.of_model(model, without)
    assert one.same_topic.mean == pytest.approx(other.same_topic.mean, abs=1e-10)
    for variant in ("masks", "collapsed", "slice"):
        verdict = agrees_with_oracle(
            ModelSubject(model, Design.of(corpus), variant), one, corpus, draws=2_000
        )
        assert verdict.passed, verdict
