"""Sweeps in blocks: exact, as is read off without Monte Carlo error, and the same bits in any threads."""

from itertools import chain, pairwise, product

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.oracle import invariance_residual
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.token_law import outcomes
from bnpzoo.kernels.lda import documents as compiled_documents
from bnpzoo.kernels.toolbox import blocked as compiled
from bnpzoo.kernels.toolbox import dirichlet as compiled_dirichlet
from bnpzoo.kernels.toolbox import sides as compiled_sides
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus
from bnpzoo.zoo.models import get
from scipy import stats
from scipy.special import gammaln

N_TOPICS, ALPHA, ETA = 2, 0.7, 0.3
CORPUS = Corpus([0, 3, 0, 1, 3], [0, 2, 3, 5], n_words=4)
ASSIGNMENTS = np.array(list(product(range(N_TOPICS), repeat=CORPUS.n_tokens)))
MODEL = get("lda", n_topics=N_TOPICS, alpha=ALPHA, eta=ETA)


class Sampler:
    """The parts of a sweep in plain Python, of two blocks and two shards, with a change in the kernels."""

    def __init__(self, *changes):
        room = load_room(PLAIN_PYTHON, *changes)
        self.blocked, self.documents, self.dirichlet, self.sides = map(
            room, (compiled, compiled_documents, compiled_dirichlet, compiled_sides)
        )

    def load(self, z, n_blocks=2):
        tokens = self.sides.tokens_of(CORPUS.words, CORPUS.doc_ptr, np.zeros(3), z)
        documents = self.documents.finite_documents(np.ones((1, N_TOPICS)), ALPHA)
        plain = self.dirichlet.dirichlet_topics(tokens, CORPUS.n_words, N_TOPICS, N_TOPICS, ETA)
        cells = self.blocked.cells_of(tokens, plain.word_ptr, n_blocks)
        topics = self.blocked.BlockedTopics(
            *plain, np.zeros((n_blocks, N_TOPICS), int), np.zeros((n_blocks, N_TOPICS)), cells
        )
        self.blocked.count_blocks(topics)
        return tokens, documents, topics

    def matrix(self, share, cells):
        """Exact transition matrix of some cells, one after the other, given shares (B, K)."""
        index = {tuple(z): a for a, z in enumerate(ASSIGNMENTS)}
        matrix = np.zeros((len(index), len(index)))

        def run(generator, z):
            tokens, documents, topics = self.load(z)
            topics.share[:] = share
            for shard, block in cells:
                working = self.sides.scratch(N_TOPICS + 1)
                self.blocked.cell_pass(generator, tokens, documents, topics, working, shard, block)
            return index[tuple(tokens.topic)]

        for z, row in zip(ASSIGNMENTS, matrix, strict=True):
            for a, probability in outcomes(lambda generator, z=z: run(generator, z), most=CORPUS.n_tokens):
                row[a] += probability
        return matrix


def log_joint_given(share, word_ptr, z):
    """Log density of words, topics `z` and shares (B, K), from the story: a block, and a word within it."""
    block = np.searchsorted(word_ptr, CORPUS.words, side="right") - 1
    in_document, in_block = np.zeros((3, N_TOPICS)), np.zeros((2, N_TOPICS))
    counts = np.zeros((CORPUS.n_words, N_TOPICS))
    np.add.at(in_document, (CORPUS.doc_of, z), 1)
    np.add.at(in_block, (block, z), 1)
    np.add.at(counts, (CORPUS.words, z), 1)
    out = polya(in_document, ALPHA) + np.sum(in_block * np.log(share))
    for b, (first, end) in enumerate(pairwise(word_ptr)):
        out += polya(counts[first:end].T, ETA)
        assert in_block[b].sum() == counts[first:end].sum()
    return out + log_dirichlet(share, ETA * np.diff(word_ptr)[:, None] * np.ones(N_TOPICS))


def polya(counts, shape):
    """Log probability of sequences with counts (rows, n), each of a symmetric Dirichlet."""
    total = shape * counts.shape[1]
    each = gammaln(shape + counts) - gammaln(shape)
    return np.sum(gammaln(total) - gammaln(total + counts.sum(axis=1))) + np.sum(each)


def log_dirichlet(x, shapes):
    """Log densities of columns, summed."""
    return sum(stats.dirichlet.logpdf(x[:, k], shapes[:, k]) for k in range(x.shape[1]))


def shares(seed):
    """Any shares will do, likely or not."""
    return np.random.default_rng(seed).dirichlet([0.6, 1.4], N_TOPICS).T


def residual(sampler, share):
    word_ptr = sampler.load(ASSIGNMENTS[0])[2].cells.word_ptr
    cells = list(chain(*sampler.blocked.diagonals(2)))
    law = np.exp([log_joint_given(share, word_ptr, z) for z in ASSIGNMENTS])
    return invariance_residual(sampler.matrix(share, cells), law / law.sum())


def test_blocks_and_shards_are_those_that_the_tests_need():
    cells = Sampler().load(ASSIGNMENTS[0])[2].cells
    np.testing.assert_array_equal(cells.word_ptr, [0, 2, 4])
    np.testing.assert_array_equal(cells.document_ptr, [0, 2, 3])
    np.testing.assert_array_equal(cells.order, [0, 2, 1, 3, 4])
    np.testing.assert_array_equal(cells.cell_ptr, [[0, 2, 3], [3, 4, 5]])


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.slow
def test_cells_leave_the_law_of_topics_given_shares_invariant(seed):
    assert residual(Sampler(), shares(seed)) < 1e-12


@pytest.mark.slow
def test_a_step_without_the_shares_does_not():
    wrong = Change("toolbox/blocked.py", "level = share / (", "level = 1.0 / (")
    assert residual(Sampler(wrong), shares(0)) > 1e-3


def test_shares_are_drawn_from_their_law_given_topics():
    """Joint density of topics, words and shares = density of the shares that are drawn times the model's."""
    sampler = Sampler()
    for z in ASSIGNMENTS[::7]:
        topics = sampler.load(z)[2]
        shapes = np.zeros((2, N_TOPICS))
        for k in range(N_TOPICS):
            sampler.blocked.share_shapes(topics, k, shapes[:, k])
        log_joint = MODEL.log_joint({"z": z, "alpha": ALPHA, "eta": ETA}, CORPUS)
        for seed in range(3):
            found = log_joint_given(shares(seed), topics.cells.word_ptr, z)
            assert found - log_dirichlet(shares(seed), shapes) == pytest.approx(log_joint, abs=1e-12)


def test_cells_of_a_diagonal_may_come_in_any_order():
    sampler, share = Sampler(), shares(1)
    for one, other in sampler.blocked.diagonals(2):
        first, second = sampler.matrix(share, [one]), sampler.matrix(share, [other])
        np.testing.assert_allclose(first @ second, second @ first, atol=1e-15)


@pytest.mark.parametrize("n_blocks", [1, 2, 3, 16])
def test_diagonals_hold_every_cell_once_and_share_no_shard_and_no_block(n_blocks):
    found = compiled.diagonals(n_blocks)
    for diagonal in found:
        assert all(len({*numbers}) == n_blocks for numbers in zip(*diagonal, strict=True))
    assert sorted(chain(*found)) == list(product(range(n_blocks), repeat=2))


def zipf_corpus(n_documents=400, length=40, n_words=500):
    rng = np.random.default_rng(4)
    weights = 1.0 / np.arange(1, n_words + 1)
    words = rng.choice(n_words, n_documents * length, p=weights / weights.sum())
    return Corpus(words, np.arange(0, words.size + 1, length), n_words=n_words)


@pytest.mark.compiled
@pytest.mark.parametrize("symmetric", [True, False])
def test_threads_do_not_change_a_bit(monkeypatch, symmetric):
    monkeypatch.setattr(compiled, "TOKENS_OF_CELL", 400)
    corpus, ends = zipf_corpus(), []
    model = get("lda", n_topics=7, symmetric=symmetric)
    kernel = model.kernel("parallel")
    for n_threads in (1, 2, 4):
        monkeypatch.setenv("BNPZOO_THREADS", str(n_threads))
        rng = np.random.default_rng(1)
        state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
        assert len(state.topics.share) == 6
        for _ in range(4):
            state = kernel.step(rng, state)
            kernel.check(state)
        ends.append(kernel.snapshot(state))
    for name, value in ends[0].items():
        np.testing.assert_array_equal(value, ends[1][name], err_msg=name)
        np.testing.assert_array_equal(value, ends[2][name], err_msg=name)


def test_compiled_cells_draw_what_plain_ones_draw():
    model = MODEL.replaced(n_topics=4)
    latents, corpus = model.simulate(Design(np.full(30, 12), 20), np.random.default_rng(2))
    found = []
    for room in (load_room(), load_room(PLAIN_PYTHON)):
        kernel = model.kernels_in(room)["parallel"]
        rng, state = np.random.default_rng(3), kernel.load(latents, corpus, model)
        for _ in range(3):
            state = kernel.step(rng, state)
        found.append(kernel.snapshot(state)["z"])
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("n_blocks", [2, 4])
def test_cells_have_about_as_many_tokens_each(monkeypatch, n_blocks):
    monkeypatch.setattr(compiled, "FEWEST_BLOCKS", n_blocks)
    corpus = zipf_corpus()
    model = get("lda", n_topics=3)
    cells = (
        model.kernel("parallel")
        .load(model.initial_latents(corpus, np.random.default_rng(0)), corpus, model)
        .topics.cells
    )
    sizes = np.diff(cells.cell_ptr, axis=1)
    assert sizes.shape == (n_blocks, n_blocks)
    assert sizes.sum() == corpus.n_tokens
    assert sizes.max() < 1.25 * sizes.mean()
    np.testing.assert_array_equal(np.sort(cells.order), np.arange(corpus.n_tokens))


def test_blocks_without_words_and_shards_without_documents_are_passed_over():
    corpus = Corpus([0, 0, 0], [0, 0, 3], n_words=1)
    model = get("lda", n_topics=3)
    kernel, rng = model.kernel("parallel"), np.random.default_rng(0)
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    for _ in range(20):
        state = kernel.step(rng, state)
        kernel.check(state)


@pytest.mark.parametrize("spoil", ["total", "block_total", "share"])
def test_a_statistic_that_is_off_is_seen(spoil):
    corpus = zipf_corpus(30)
    model = get("lda", n_topics=3)
    kernel, rng = model.kernel("parallel"), np.random.default_rng(0)
    state = kernel.step(rng, kernel.load(model.initial_latents(corpus, rng), corpus, model))
    kernel.check(state)
    getattr(state.topics, spoil).flat[0] += 1
    with pytest.raises(AssertionError):
        kernel.check(state)


@pytest.mark.parametrize("topics", ["pitman-yor", "seeded", "belief-network"])
def test_other_topics_are_not_swept_in_blocks(topics):
    assert "parallel" not in get("lda", topics=topics).kernels
