"""Combinations of document sides and topic sides against enumerated posteriors; growing and shrinking."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from bnpzoo.kernels.hdp.documents import stick_documents
from bnpzoo.kernels.lda.documents import asymmetric_documents, finite_documents
from bnpzoo.kernels.pitman_yor.counts import snapshot
from bnpzoo.kernels.pitman_yor.explicit import explicit_sweep
from bnpzoo.kernels.pitman_yor.topics import pitman_yor_topics
from bnpzoo.kernels.toolbox.dirichlet import dirichlet_topics
from bnpzoo.kernels.toolbox.sides import tokens_of
from bnpzoo.kernels.toolbox.sweeps import check, make_state, sparse_sweep, with_room
from bnpzoo.zoo.families.hdp.sticks import log_tables
from bnpzoo.zoo.families.pitman_yor.marginal import Cell, log_sum_over_tables
from bnpzoo.zoo.toolbox.enumeration import restricted_growth_strings
from frozen import as_of_a_corpus
from restaurants import P_GENERAL, rows_of
from samplers import as_plain_python
from scipy import stats
from scipy.special import gammaln, logsumexp

FALSE_ALARM_RATE = 1e-5
NAMES = ("alpha", "alpha0", "gamma", "b", "a", "eta")
WORDS, DOC_PTR, GROUP = np.array([0, 0, 1, 0, 2]), np.array([0, 3, 5]), np.array([0, 1])
ETA, B, A, GAMMA, ALPHA, ALPHA0 = 0.4, 1.5, 0.6, 1.2, 1.5, 2.0
B_PRIOR = (2.0, 1.0)


def priors(**sampled):
    return dict.fromkeys(NAMES, (0.0, 0.0)) | sampled


def sticks(n_levels, prior):
    """Document side without a topic, all of it rest."""
    n_rows = 2 if n_levels == 3 else 1
    hyper = {"alpha": np.full(n_rows, ALPHA), "alpha0": ALPHA0 if n_levels == 3 else 0.0, "gamma": GAMMA}
    return stick_documents(np.ones(1), np.ones((n_rows, 1)), hyper, prior, n_levels)


def hdp_state(n_levels, own_bases=False, same_word=True, scheme="forced", **sampled):
    """HDP documents over Pitman-Yor topics, not seated yet, of the micro corpus."""
    prior = priors(**sampled)
    row = GROUP if n_levels == 3 else np.zeros(2)
    tokens = tokens_of(*as_of_a_corpus(WORDS, DOC_PTR, row), np.full(WORDS.size, -1))
    documents = sticks(n_levels, prior)
    latents = {"association": np.full(WORDS.size, -1), "b": [], "a": A, "eta": ETA}
    bases = np.arange(2) if own_bases else np.zeros(2)
    p = {} if same_word else rows_of(P_GENERAL)
    *_, group = as_of_a_corpus(WORDS, DOC_PTR, GROUP)
    topics = pitman_yor_topics(
        tokens, group, 3, 0, documents.prior.shape[1], latents, prior, bases, **p, scheme=scheme, new_b=B
    )
    return make_state(tokens, documents, topics)


def log_words(z, own_bases, same_word, b):
    """Log probability of the words given topics, tables summed out."""
    group = np.repeat(GROUP, np.diff(DOC_PTR))
    matrices = (np.eye(3), np.eye(3)) if same_word else P_GENERAL
    out = 0.0
    for k in range(z.max() + 1):
        for groups in ((0,), (1,)) if own_bases else ((0, 1),):
            mine = (z == k) & np.isin(group, groups)
            count = np.zeros((2, 3), int)
            np.add.at(count, (group[mine], WORDS[mine]), 1)
            cells = [Cell(g, matrices[g][w], int(count[g, w])) for g, w in np.argwhere(count)]
            out = out + log_sum_over_tables(cells, ETA, b, A)
    return out


def log_words_any_b(z, own_bases, same_word):
    """The same with the b of every topic integrated over its prior."""
    log_b = np.linspace(np.log(1e-4), np.log(40.0), 400)
    log_p = stats.gamma.logpdf(np.exp(log_b), B_PRIOR[0], scale=1 / B_PRIOR[1]) + log_b
    log_p -= logsumexp(log_p)
    out = 0.0
    for k in range(z.max() + 1):
        only = np.where(z == k, 0, -1)
        values = [log_words(only, own_bases, same_word, b) for b in np.exp(log_b)]
        out += logsumexp(log_p + values)
    return out


def exact_answers(n_levels, own_bases=False, same_word=True, b_is_sampled=False):
    """Co-assignment probabilities of all pairs, and of each number of topics, by enumeration."""
    row = GROUP if n_levels == 3 else np.zeros(2, int)
    partitions = list(restricted_growth_strings(WORDS.size))
    log_p, known = [], {}
    for z in partitions:
        counts = np.array([np.bincount(part, minlength=z.max() + 1) for part in np.split(z, DOC_PTR[1:-1])])
        alpha = np.full(row.max() + 1, ALPHA)
        words = 0.0
        for k in range(z.max() + 1):
            block = (z == k).tobytes()
            if block not in known:
                of_words = log_words_any_b if b_is_sampled else log_words
                extra = () if b_is_sampled else (B,)
                known[block] = of_words(np.where(z == k, 0, -1), own_bases, same_word, *extra)
            words += known[block]
        log_p.append(words + log_tables(counts, row, alpha, ALPHA0 if n_levels == 3 else None, GAMMA))
    p = np.exp(log_p - logsumexp(log_p))
    return p @ np.array([statistics(z) for z in partitions])


def statistics(z):
    """Which pairs of tokens share a topic, and whether there are one, two, … topics."""
    pairs = [float(z[i] == z[j]) for i, j in itertools.combinations(range(z.size), 2)]
    return pairs + [float(np.unique(z).size == n) for n in range(1, z.size)]


def worst_p_value(draws, exact, n_batches=100):
    """Smallest p-value of the means over batches of draws against the exact values."""
    batches = draws.reshape(n_batches, -1, draws.shape[1]).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(n_batches)
    score = np.abs(batches.mean(axis=0) - exact) / np.maximum(error, 1e-12)
    return 2.0 * stats.t.sf(score, n_batches - 1).min() * exact.size


def run(state, sweep, n_sweeps, seed=0):
    """State after some sweeps, and the topics after each."""
    rng, z = np.random.default_rng(seed), np.empty((n_sweeps, state.tokens.words.size), int)
    for s in range(n_sweeps):
        while not sweep(rng, state):
            state = with_room(state)
        z[s] = state.tokens.topic
    check(state)
    return state, z


CASES = {
    "two_levels": (2, False, True),
    "three_levels": (3, False, True),
    "own_bases": (3, True, True),
    "associations": (2, False, False),
    "own_bases_and_associations": (3, True, False),
}


@pytest.mark.compiled
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name, marks=[pytest.mark.heavy] * (name != "own_bases_and_associations"))
        for name, case in CASES.items()
    ],
)
@pytest.mark.slow
def test_hdp_documents_over_pitman_yor_topics(case):
    _, z = run(hdp_state(*case), sparse_sweep, 100_000)
    draws = np.array([statistics(topics) for topics in z])
    assert worst_p_value(draws, exact_answers(*case)) > FALSE_ALARM_RATE


@pytest.mark.compiled
@pytest.mark.slow
def test_a_new_topic_draws_its_concentration():
    case = (3, False, True)
    _, z = run(hdp_state(*case, b=B_PRIOR), sparse_sweep, 100_000)
    draws = np.array([statistics(topics) for topics in z])
    assert worst_p_value(draws, exact_answers(*case, b_is_sampled=True)) > FALSE_ALARM_RATE


def exact_asymmetric(n_topics, prior):
    """Probabilities of all topics of the micro corpus, alpha of each topic integrated over a grid."""
    log_alpha = np.linspace(-7.0, 3.5, 120)
    log_p = prior[0] * log_alpha - prior[1] * np.exp(log_alpha)
    grid = np.exp(np.stack(np.meshgrid(*[log_alpha] * n_topics, indexing="ij"), axis=-1))
    weight = sum(np.meshgrid(*[log_p] * n_topics, indexing="ij"))
    answers, total = 0.0, 0.0
    for choice in itertools.product(range(n_topics), repeat=WORDS.size):
        z = np.array(choice)
        log_density = weight.copy()
        for part in np.split(z, DOC_PTR[1:-1]):
            n = np.bincount(part, minlength=n_topics)
            mass = grid.sum(axis=-1)
            log_density += gammaln(mass) - gammaln(mass + n.sum())
            log_density += np.sum(gammaln(grid + n) - gammaln(grid), axis=-1)
        for k in range(n_topics):
            n = np.bincount(WORDS[z == k], minlength=3)
            log_density += gammaln(3 * ETA) - gammaln(3 * ETA + n.sum())
            log_density += np.sum(gammaln(ETA + n) - gammaln(ETA))
        p = np.exp(log_density)
        total += p.sum()
        answers += np.append(p.sum() * np.array(statistics(z)), np.sum(p * grid[..., 0]))
    return answers / total


@pytest.mark.slow
def test_asymmetric_documents():
    prior, n_topics = (2.0, 1.5), 2
    tokens = tokens_of(WORDS, DOC_PTR, np.zeros(2), np.full(WORDS.size, -1))
    documents = asymmetric_documents(np.full((1, n_topics), 0.5), prior)
    state = make_state(tokens, documents, dirichlet_topics(tokens, 3, n_topics, n_topics, ETA))
    rng, draws = np.random.default_rng(0), []
    for _ in range(100_000):
        assert sparse_sweep(rng, state)
        draws.append([*statistics(state.tokens.topic), documents.prior[0, 0]])
    check(state)
    assert worst_p_value(np.array(draws), exact_asymmetric(n_topics, prior)) > FALSE_ALARM_RATE


def larger_corpus(seed=0, n_words=12, n_documents=30, n_groups=3):
    """Random words in groups, with matrices of associations."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 14, n_documents)
    matrices = [
        0.6 * np.eye(n_words) + (rng.random((n_words, n_words)) < 0.2) * rng.random((n_words, n_words))
        for _ in range(n_groups)
    ]
    return SimpleNamespace(
        words=rng.integers(n_words, size=lengths.sum()),
        doc_ptr=np.concatenate([[0], np.cumsum(lengths)]),
        group=np.sort(rng.integers(n_groups, size=n_documents)),
        n_words=n_words,
        n_groups=n_groups,
        matrices=matrices,
    )


def larger_state(kind, own_bases, same_word, scheme="forced", roomy=False):
    """Any document side over Pitman-Yor topics, all hyperparameters sampled, not seated yet."""
    corpus = larger_corpus()
    prior = {"b": (2.0, 0.5), "a": (2.0, 1.5)} | dict.fromkeys(
        ("alpha", "alpha0", "gamma", "eta"), (1.0, 1.0)
    )
    row = np.zeros_like(corpus.group) if kind == "two_levels" else corpus.group
    unseated = np.full(corpus.words.size, -1)
    *_, group = as_of_a_corpus(corpus.words, corpus.doc_ptr, corpus.group)
    tokens = tokens_of(*as_of_a_corpus(corpus.words, corpus.doc_ptr, row), unseated)
    n_topics, n_groups = 0, corpus.n_groups
    if kind in ("two_levels", "three_levels"):
        n_levels, n_rows = (2, 1) if kind == "two_levels" else (3, n_groups)
        hyper = {"alpha": np.full(n_rows, 8.0), "alpha0": 9.0 * (n_levels == 3), "gamma": 30.0}
        documents = stick_documents(np.ones(1), np.ones((n_rows, 1)), hyper, prior, n_levels)
    else:
        n_topics = 5
        symmetric = kind == "symmetric"
        documents = (
            finite_documents(np.ones((n_groups, n_topics)), 0.5, prior["alpha"])
            if symmetric
            else asymmetric_documents(np.full((n_groups, n_topics), 0.5), prior["alpha"])
        )
    latents = {"association": unseated, "b": np.full(n_topics, 2.0), "a": 0.5, "eta": 0.3}
    topics = pitman_yor_topics(
        tokens,
        group,
        corpus.n_words,
        n_topics,
        documents.prior.shape[1],
        latents,
        prior,
        np.arange(n_groups) if own_bases else np.zeros(n_groups),
        **({} if same_word else rows_of(corpus.matrices)),
        scheme=scheme,
    )
    state = make_state(tokens, documents, topics)
    return with_room(with_room(with_room(state))) if roomy else state


KINDS = ("symmetric", "asymmetric", "two_levels", "three_levels")


@as_plain_python
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("own_bases", "same_word"), [(False, True), (True, False)])
def test_counts_stay_consistent(kind, own_bases, same_word):
    for scheme in ("forced", "lock", "minus-one", "tables", "seating"):
        state, rng = larger_state(kind, own_bases, same_word, scheme), np.random.default_rng(1)
        for _ in range(5):
            while not sparse_sweep(rng, state):
                state = with_room(state)
            check(state)


@as_plain_python
@pytest.mark.parametrize(("own_bases", "same_word"), [(False, True), (True, False)])
def test_growth_does_not_change_the_draws(own_bases, same_word):
    states = [larger_state("three_levels", own_bases, same_word, roomy=roomy) for roomy in (False, True)]
    (grown, z), (roomy, same) = (run(state, sparse_sweep, 6, seed=3) for state in states)
    assert grown.documents.prior.shape[1] < roomy.documents.prior.shape[1]
    np.testing.assert_array_equal(z, same)
    first, second = (snapshot(state.tokens, state.topics) for state in (grown, roomy))
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


def test_check_notices_an_empty_topic_with_tables():
    state, _ = run(larger_state("two_levels", False, True), sparse_sweep, 3)
    state.topics.restaurants.tables[0, state.topics.n_topics[0]] += 1
    with pytest.raises(AssertionError, match="tables of a restaurant differ"):
        check(state)


@pytest.mark.slow
def test_explicit_bases_want_a_fixed_number_of_topics():
    with pytest.raises(ValueError, match="explicit bases: expected a document side with a fixed number"):
        explicit_sweep(np.random.default_rng(0), hdp_state(2))


def test_a_fixed_concentration_of_new_topics_is_asked_for():
    tokens = tokens_of(WORDS, DOC_PTR, np.zeros(2), np.full(WORDS.size, -1))
    latents = {"association": np.full(WORDS.size, -1), "b": [], "a": A, "eta": ETA}
    with pytest.raises(ValueError, match="b of new topics: expected a number"):
        pitman_yor_topics(tokens, GROUP, 3, 0, 64, latents, priors(), np.zeros(2))
