"""Sweeps of HDP documents in cells: exact given sticks and shares; the same bits in any threads and room."""

from itertools import chain, product

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.mutants.registry import mutant_by_id
from bnpzoo.diagnostics.laboratory.oracle import invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.token_law import outcomes
from bnpzoo.kernels.hdp import documents as compiled_documents
from bnpzoo.kernels.hdp import parallel as compiled
from bnpzoo.kernels.toolbox import blocked as compiled_blocked
from bnpzoo.kernels.toolbox import dirichlet as compiled_dirichlet
from bnpzoo.kernels.toolbox import sides as compiled_sides
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.inference.kernel_chains import _compile
from bnpzoo.zoo.models import get
from chains import end_of
from scipy.special import gammaln

ETA = 0.3
CORPUS = Corpus([0, 3, 0, 1], [0, 2, 3, 4], n_words=4)
GROUP = np.array([0, 1, 0])
ROOT = np.array([0.5, 0.1, 0.3])
PRIOR = np.array([[0.6, 0.2, 0.7], [1.1, 0.4, 0.3]])
IS_LONG = ROOT > 0.2
ASSIGNMENTS = np.array(list(product(range(ROOT.size), repeat=CORPUS.n_tokens)))


class Sampler:
    """Cells of two blocks and two shards in plain Python, with a change in the kernels."""

    def __init__(self, *changes):
        room = load_room(PLAIN_PYTHON, *changes)
        self.parallel, self.blocked, self.documents, self.dirichlet, self.sides = map(
            room, (compiled, compiled_blocked, compiled_documents, compiled_dirichlet, compiled_sides)
        )

    def load(self, z):
        tokens = self.sides.tokens_of(CORPUS.words, CORPUS.doc_ptr, GROUP, z)
        hyper = {"alpha": np.ones(2), "alpha0": 1.0, "gamma": 1.0}
        priors = {name: (0.0, 0.0) for name in hyper}
        tasks = np.column_stack([PRIOR, np.ones(2)])
        documents = self.documents.stick_documents(np.append(ROOT, 0.1), tasks, hyper, priors, 3)
        plain = self.dirichlet.dirichlet_topics(tokens, CORPUS.n_words, ROOT.size, ROOT.size, ETA)
        topics = self.blocked.blocked_topics(plain, tokens)
        assert len(topics.share) == 2
        return tokens, documents, topics

    def matrix(self, share):
        """Exact transition matrix of all cells given shares (B, K)."""
        index = {tuple(z): a for a, z in enumerate(ASSIGNMENTS)}
        matrix = np.zeros((len(index), len(index)))

        def run(generator, z):
            tokens, documents, topics = self.load(z)
            topics.share[:] = share
            for cell in chain(*self.blocked.diagonals(2)):
                working = self.sides.scratch(ROOT.size + 1)
                self.parallel.cell_pass(generator, tokens, documents, topics, IS_LONG, working, *cell)
            return index[tuple(tokens.topic)]

        for z, row in zip(ASSIGNMENTS, matrix, strict=True):
            for a, probability in outcomes(lambda generator, z=z: run(generator, z), most=CORPUS.n_tokens):
                row[a] += probability
        return matrix


def log_law(share, word_ptr, z):
    """Log probability of words and topics given sticks and shares, without constants."""
    out = 0.0
    for d, g in enumerate(GROUP):
        n = np.bincount(z[CORPUS.doc_ptr[d] : CORPUS.doc_ptr[d + 1]], minlength=ROOT.size)
        out += np.sum(gammaln(PRIOR[g] + n) - gammaln(PRIOR[g]))
    block = np.searchsorted(word_ptr, CORPUS.words, side="right") - 1
    out += np.sum(np.log(share[block, z]))
    for b, k in product(range(2), range(ROOT.size)):
        n = np.bincount(CORPUS.words[(block == b) & (z == k)], minlength=4)[word_ptr[b] : word_ptr[b + 1]]
        out += gammaln(ETA * n.size) - gammaln(ETA * n.size + n.sum())
        out += np.sum(gammaln(ETA + n) - gammaln(ETA))
    return out


def residual(sampler):
    share = np.random.default_rng(1).dirichlet([0.6, 1.4], ROOT.size).T
    word_ptr = sampler.load(ASSIGNMENTS[0])[2].cells.word_ptr
    law = np.exp([log_law(share, word_ptr, z) for z in ASSIGNMENTS])
    return invariance_residual(sampler.matrix(share), law / law.sum())


def test_cells_are_compiled_before_chains_run(monkeypatch):
    passes = []
    monkeypatch.setattr(compiled, "parallel_pass", lambda *arguments: passes.append(arguments))
    _compile(get("hdp"), CORPUS, "parallel")
    assert passes


def test_cells_leave_the_law_of_topics_given_sticks_and_shares_invariant():
    assert residual(Sampler()) < 1e-12


@pytest.mark.parametrize("mutant", ["short-can-be-entered", "short-can-be-left", "task-of-document-before"])
@pytest.mark.slow
def test_cells_that_are_wrong_do_not(mutant):
    assert residual(Sampler(mutant_by_id(f"cells-{mutant}").change)) > 1e-3


def test_tokens_of_short_topics_stay():
    sampler, share = Sampler(), np.full((2, ROOT.size), 0.5)
    reached = sampler.matrix(share) > 0.0
    stays = (ASSIGNMENTS[:, None] == 1) == (ASSIGNMENTS[None] == 1)
    np.testing.assert_array_equal(reached, stays.all(axis=2))


@pytest.mark.parametrize("gamma", [0.3, 4.0])
def test_what_is_left_of_the_root_is_broken_as_the_root_was(gamma):
    """The longest of the sticks at hand, and their number, are those of GEM(gamma) times the rest."""
    rng, rest, threshold, found, expected = np.random.default_rng(0), 0.4, 0.02, [], []
    for _ in range(3000):
        hyper = {"alpha": np.ones(1), "alpha0": 0.0, "gamma": gamma}
        priors = {name: (0.0, 0.0) for name in hyper}
        sticks = np.array([[0.6, rest]])
        side = compiled_documents.stick_documents(sticks[0], sticks, hyper, priors, 2)
        topics = compiled_dirichlet.dirichlet_topics(
            compiled_sides.tokens_of([], [0], [], []), 3, 1, side.prior.shape[1], ETA
        )
        assert compiled.break_root(rng, side, topics, threshold)
        assert side.root_rest[0] <= threshold
        new = side.root[1 : topics.n_topics[0]]
        assert new.sum() + side.root_rest[0] == pytest.approx(rest)
        np.testing.assert_allclose(side.prior[0], side.root)
        found.append([new.max(), np.sum(new > threshold)])
        left = rest * np.cumprod(np.append(1.0, rng.beta(gamma, 1.0, 200)))
        expected.append([-np.diff(left).min(), np.sum(-np.diff(left) > threshold)])
    apart = np.mean(found, axis=0) - np.mean(expected, axis=0)
    error = np.sqrt((np.var(found, axis=0) + np.var(expected, axis=0)) / 3000)
    assert np.all(np.abs(apart) < 4.5 * error)


def lost_by_tasks(parallel, documents, n=2000):
    """Of what is left of two tasks' sticks, how much more is broken off than of the root's; (n, 2)."""
    rng, found = np.random.default_rng(0), []
    for _ in range(n):
        hyper = {"alpha": np.ones(2), "alpha0": 2.0, "gamma": 1.5}
        priors = {name: (0.0, 0.0) for name in hyper}
        tasks = np.array([[0.5, 0.5], [0.8, 0.2]])
        side = documents.stick_documents(np.array([0.6, 0.4]), tasks, hyper, priors, 3)
        topics = compiled_dirichlet.dirichlet_topics(
            compiled_sides.tokens_of([], [0], [], []), 3, 1, side.prior.shape[1], ETA
        )
        assert parallel.break_root(rng, side, topics, 0.1)
        found.append(side.root_rest[0] / 0.4 - side.rest / tasks[:, 1])
    return np.array(found)


def test_sticks_of_tasks_are_broken_as_the_root_is_on_average():
    found = lost_by_tasks(compiled, compiled_documents)
    assert np.all(np.abs(found.mean(axis=0)) < 4.5 * found.std(axis=0) / np.sqrt(len(found)))


def test_sticks_of_a_task_are_not_as_if_one_of_its_tokens_had_chosen_them():
    wrong = Change("hdp/parallel.py", "topics.n_topics[0], -1)", "topics.n_topics[0], 0)")
    room = load_room(PLAIN_PYTHON, wrong)
    found = lost_by_tasks(room(compiled), room(compiled_documents), 300)
    assert found[:, 0].mean() > 10.0 * found[:, 0].std() / np.sqrt(len(found))


def subject(which, n_documents=60):
    model = get(which)
    group = np.arange(n_documents) % 3
    fixed = model.set_to("benchmark").hyperparameters()
    truth = model.replaced(**{name: fixed[name] for name in model.sampled()})
    design = Design(np.full(n_documents, 15), 40, group=group)
    return model, truth.simulate(design, np.random.default_rng(2)).corpus


hdp_and_mt_hdp = pytest.mark.parametrize("which", ["hdp", pytest.param("mt_hdp", marks=pytest.mark.heavy)])
"""The latter's sweep of three levels takes as long to compile as that of two."""


def assert_same(found, expected):
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.compiled
@hdp_and_mt_hdp
@pytest.mark.slow
def test_threads_do_not_change_a_bit(monkeypatch, which):
    monkeypatch.setattr(compiled_blocked, "TOKENS_OF_CELL", 100)
    model, corpus = subject(which)
    kernel, ends = model.kernel("parallel"), []
    for n_threads in (1, 2, 4):
        monkeypatch.setenv("BNPZOO_THREADS", str(n_threads))
        ends.append(end_of(model, corpus, kernel, 30))
    assert_same(ends[1], ends[0])
    assert_same(ends[2], ends[0])


@pytest.mark.compiled
@hdp_and_mt_hdp
def test_room_does_not_change_a_bit(monkeypatch, which):
    model, corpus = subject(which)
    expected = end_of(model, corpus, model.kernel("parallel"), 30)
    monkeypatch.setattr(compiled_documents, "ROOM", 1)
    assert_same(end_of(model, corpus, model.kernel("parallel"), 30), expected)


@hdp_and_mt_hdp
def test_compiled_cells_draw_what_plain_ones_draw(which):
    model, corpus = subject(which, 12)
    rooms = load_room(), load_room(PLAIN_PYTHON)
    found = [end_of(model, corpus, model.kernels_in(room)["parallel"], 6) for room in rooms]
    assert_same(*found)


def test_a_total_that_is_off_is_seen():
    model, corpus = subject("hdp", 12)
    kernel, rng = model.kernel("parallel"), np.random.default_rng(0)
    state = kernel.step(rng, kernel.load(model.initial_latents(corpus, rng), corpus, model))
    state.topics.total[0] += 1
    with pytest.raises(AssertionError, match="totals"):
        kernel.check(state)


@pytest.mark.parametrize("topics", ["pitman-yor"])
def test_other_topics_are_not_swept_in_cells(topics):
    assert "parallel" not in get("hdp", topics=topics).kernels
