import itertools
from dataclasses import replace
from math import lgamma

import numpy as np
import pytest
from bnpzoo.diagnostics.heldout import scores
from bnpzoo.diagnostics.heldout.empirical_likelihood import empirical_likelihood
from bnpzoo.kernels.toolbox import foldin
from bnpzoo.zoo.contract import FrozenTopics
from bnpzoo.zoo.corpus import Corpus
from scipy.special import roots_jacobi

# Each z-test below compares one mean with an exact number at 4.9 standard errors: false alarm 1e-6.
Z = 4.9

PHI = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
PRIOR = np.array([0.3, 0.2])


def log_dirichlet_multinomial(counts, prior):
    """Log probability of a sequence of topics with these counts."""
    return (
        lgamma(prior.sum())
        - lgamma(prior.sum() + counts.sum())
        + sum(lgamma(n + a) - lgamma(a) for n, a in zip(counts, prior, strict=True))
    )


def enumerate_topics(words, phi, prior):
    """All topic sequences of a document: their counts (S, K) and joint probabilities with the words (S,)."""
    n_topics = len(prior)
    sequences = list(itertools.product(range(n_topics), repeat=len(words)))
    counts = np.array([np.bincount(z, minlength=n_topics) for z in sequences]).reshape(-1, n_topics)
    joint = np.array(
        [
            np.exp(log_dirichlet_multinomial(c, prior))
            * np.prod([phi[k, w] for k, w in zip(z, words, strict=True)])
            for z, c in zip(sequences, counts, strict=True)
        ]
    )
    return counts, joint


def document(words, n_words=3):
    return Corpus(np.array(words, np.int32), np.array([0, len(words)]), n_words=n_words)


def z_score(sample, truth):
    return (sample.mean() - truth) / (sample.std(ddof=1) / np.sqrt(sample.size))


def conditionals(words, phi, prior, n, seed=0):
    out = np.empty((n, len(words)))
    foldin.left_to_right(
        np.random.default_rng(seed), document(words).words, np.ascontiguousarray(phi.T), prior, out
    )
    return np.exp(out)


@pytest.mark.parametrize("words", [[0], [0, 2], [0, 2, 1, 2], [2, 2, 0, 0, 1]])
def test_left_to_right_is_unbiased(words):
    truth = enumerate_topics(words, PHI, PRIOR)[1].sum()
    products = conditionals(words, PHI, PRIOR, 40_000).prod(axis=1)
    if len(words) == 1:
        np.testing.assert_allclose(products, truth)  # nothing to its left: no Monte Carlo error
    else:
        assert abs(z_score(products, truth)) < Z


def test_the_check_of_left_to_right_rejects_wrong_estimates():
    words = [0, 0, 2, 2, 2]
    truth = enumerate_topics(words, PHI, PRIOR)[1].sum()
    right = conditionals(words, PHI, PRIOR, 40_000)
    assert abs(z_score(right.prod(axis=1), truth)) < Z
    # A prior that is 20 per cent too large.
    assert abs(z_score(conditionals(words, PHI, 1.2 * PRIOR, 40_000).prod(axis=1), truth)) > Z
    # The product over tokens of the means over particles, in batches large enough for their own noise to
    # vanish: the particles to the left of a token carry weights, which this leaves out.
    product_of_means = right.reshape(100, 400, -1).mean(axis=1).prod(axis=1)
    assert abs(z_score(product_of_means, truth)) > Z


@pytest.mark.compiled
def test_left_to_right_is_unbiased_where_some_tokens_alone_are_redrawn():
    words = np.random.default_rng(2).choice(3, size=foldin.MOST_REDRAWN + 30, p=[0.3, 0.3, 0.4])
    # The integral over the proportion of the first topic, exact: the integrand is a polynomial.
    at, weights = roots_jacobi(words.size, PRIOR[1] - 1, PRIOR[0] - 1)
    first = (1 + at[:, None]) / 2
    truth = weights / weights.sum() @ (first * PHI[0, words] + (1 - first) * PHI[1, words]).prod(1)
    products = conditionals(words, PHI, PRIOR, 3000).prod(axis=1)
    assert abs(z_score(products, truth)) < Z
    assert abs(z_score(conditionals(words, PHI, 1.5 * PRIOR, 3000).prod(axis=1), truth)) > Z


@pytest.mark.parametrize("words", [[], [1], [0, 2, 1], [2, 2, 0, 0, 1]])
def test_fold_in_finds_the_posterior_mean_proportions(words):
    counts, joint = enumerate_topics(words, PHI, PRIOR)
    truth = (joint @ counts / joint.sum() + PRIOR) / (len(words) + PRIOR.sum())
    copies = 4_000
    corpus = Corpus(np.tile(np.array(words, np.int32), copies), np.arange(copies + 1) * len(words), n_words=3)
    theta = np.empty((copies, 2))
    args = (corpus.words, corpus.doc_ptr, corpus.group_of_doc, np.ascontiguousarray(PHI.T)[None])
    foldin.fold_in(np.random.default_rng(1), *args, PRIOR[None], 30, 3, theta)
    np.testing.assert_allclose(theta.sum(1), 1.0)
    if not words:
        np.testing.assert_allclose(theta[0], PRIOR / PRIOR.sum())
        return
    assert abs(z_score(theta[:, 0], truth[0])) < Z
    foldin.fold_in(
        np.random.default_rng(1), *args, PRIOR[None, ::-1].copy(), 30, 3, theta
    )  # a mutant is caught
    assert abs(z_score(theta[:, 0], truth[0])) > Z


@pytest.mark.parametrize("fold", ["fold_in", "draw_counts"])
def test_fold_in_does_not_stay_with_the_topic_of_the_first_words(fold):
    """Of a document that has all but surely one topic, which its first words alone would not tell."""
    words, prior, copies = 2 * [0] + 4 * [1] + 8 * [2], np.full(2, 1e-3), 2_000
    counts, joint = enumerate_topics(words, PHI, prior)
    truth = (joint @ counts / joint.sum() + prior) / (len(words) + prior.sum())
    assert truth[0] < 0.01
    word_topics, theta = np.ascontiguousarray(PHI.T), np.empty((copies, 2))
    rng, one, drawn = np.random.default_rng(1), document(words), np.empty((3, 2))
    for copy in range(copies):
        if fold == "fold_in":
            args = (one.words, one.doc_ptr, one.group_of_doc, word_topics[None], prior[None])
            foldin.fold_in(rng, *args, 5, 3, theta[copy : copy + 1])
        else:
            foldin.draw_counts(rng, one.words, word_topics, prior, prior, 5, drawn)
            theta[copy] = (drawn.mean(axis=0) + prior) / (len(words) + prior.sum())
    # the first two words alone say 0.98; that there are but 20 particles may take some documents there
    assert theta[:, 0].mean() == pytest.approx(truth[0], abs=0.05)


@pytest.mark.compiled
def test_compiled_and_plain_python_draw_the_same():
    corpus = Corpus(np.array([0, 2, 1, 2], np.int32), np.array([0, 3, 3, 4]), n_words=3)
    args = (
        corpus.words,
        corpus.doc_ptr,
        corpus.group_of_doc,
        np.ascontiguousarray(PHI.T)[None],
        PRIOR[None],
        2,
        3,
    )
    theta, plain = np.empty((3, 2)), np.empty((3, 2))
    foldin.fold_in(np.random.default_rng(3), *args, theta)
    foldin.fold_in.py_func(np.random.default_rng(3), *args, plain)
    np.testing.assert_array_equal(theta, plain)


def test_halves_are_disjoint_and_complete():
    rng = np.random.default_rng(0)
    lengths = np.array([0, 1, 2, 7, 30])
    corpus = Corpus(rng.integers(0, 9, lengths.sum()), np.concatenate([[0], np.cumsum(lengths)]), n_words=9)
    observed, scored = scores.split_documents(corpus, seed=4)
    np.testing.assert_array_equal(observed.doc_lengths, lengths // 2)
    np.testing.assert_array_equal(observed.counts() + scored.counts(), corpus.counts())
    again, _ = scores.split_documents(corpus, seed=4)
    np.testing.assert_array_equal(observed.words, again.words)
    other, _ = scores.split_documents(corpus, seed=5)
    assert not np.array_equal(observed.words, other.words)


@pytest.mark.parametrize("seed", range(5))
def test_halves_keep_all_that_is_known_of_their_documents(full_corpus, differences, seed):
    corpus = full_corpus(seed)
    rng = np.random.default_rng(seed)
    words = rng.permutation(corpus.n_tokens)  # so that each tells which token it is
    told_apart = replace(corpus, words=words, vocabulary=None, n_words=max(1, words.size), associations=None)
    halves = scores.split_documents(told_apart, seed)
    for half in halves:
        tokens = np.isin(words, half.words)
        assert not differences(half, told_apart.keep(tokens))
        assert {*differences(half, told_apart)} <= {"words", "doc_ptr", "segment_ptr"}
    assert sorted(np.concatenate([half.words for half in halves])) == [*range(words.size)]


def test_one_topic_scores_as_the_unigram_model():
    train, test = document([0, 0, 0, 1]), Corpus(np.array([0, 1, 1, 2, 2]), np.array([0, 2, 2, 5]), n_words=3)
    topics = scores.unigram(train)
    np.testing.assert_allclose(topics.words, [[4 / 7, 2 / 7, 1 / 7]])
    p = topics.words[0]
    whole = scores.left_to_right([topics], test, particles=1)
    np.testing.assert_allclose(whole.log_probability, [np.log(p[0] * p[1]), 0.0, np.log(p[1] * p[2] ** 2)])
    assert whole.perplexity == pytest.approx(np.exp(-whole.log_probability.sum() / 5))
    half = scores.document_completion([topics], test, seed=3)
    _, scored = scores.split_documents(test, seed=3)
    assert half.log_probability.sum() == pytest.approx(np.log(p[scored.words]).sum())
    assert half.n_scored.tolist() == [1, 0, 2]


def test_probabilities_are_averaged_over_draws_before_the_logarithm():
    draws = [FrozenTopics(np.array([[p, 1 - p]]), np.ones((1, 1))) for p in (0.8, 0.2)]
    test = Corpus(np.array([0]), np.array([0, 1]), n_words=2)
    for method in (scores.left_to_right, scores.document_completion):
        score = method(draws, test)
        assert score.n_draws == 2
        assert score.perplexity == pytest.approx(2.0)


def test_document_completion_agrees_with_enumeration():
    """Predictive probabilities of the scored half, by enumerating the topics of the observed half."""
    rng = np.random.default_rng(7)
    test = Corpus(rng.integers(0, 3, 60), np.arange(0, 61, 6), n_words=3)
    observed, scored = scores.split_documents(test, seed=0)
    prior = np.array([1.5, 1.0])  # mixes well: theta's Monte Carlo error is about 0.002
    score = scores.document_completion(
        [FrozenTopics(PHI, prior[None])], test, seed=0, burn_in=20, sweeps=20_000
    )
    for d in range(test.n_documents):
        own, others = (c.words[c.doc_ptr[d] : c.doc_ptr[d + 1]] for c in (observed, scored))
        counts, joint = enumerate_topics(own, PHI, prior)
        theta = (joint @ counts / joint.sum() + prior) / (own.size + prior.sum())
        assert score.log_probability[d] == pytest.approx(np.log(theta @ PHI[:, others]).sum(), abs=0.02)


def test_each_document_is_read_under_the_prior_of_its_group():
    test = Corpus(np.array([0, 0]), np.array([0, 1, 2]), n_words=2, group=np.array([0, 1]))
    topics = FrozenTopics(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    for method in (scores.left_to_right, scores.document_completion):
        np.testing.assert_allclose(np.exp(method([topics], test).log_probability), [0.9, 0.2])


@pytest.mark.parametrize("score", [scores.left_to_right, scores.document_completion])
def test_groups_may_have_their_own_topics(score):
    """Each document is scored by the topics of its group, as if there were no other."""
    own, prior = np.stack([PHI, PHI[:, ::-1] ** 2]), np.stack([PRIOR, 2.0 * PRIOR])
    own /= own.sum(axis=2, keepdims=True)
    test = Corpus([0, 2, 1, 1, 2, 2, 0], [0, 3, 7], n_words=3, group=[1, 0])
    found = score([FrozenTopics(own, prior)], test).log_probability
    for g in range(2):
        alone = score([FrozenTopics(own[g], prior[[g]])], test).log_probability
        assert np.array_equal(alone == found, test.group == g)
    with pytest.raises(ValueError, match="topics: expected those of 1 groups, found shape"):
        score([FrozenTopics(own, PRIOR[None])], test)


@pytest.mark.parametrize("method", [scores.left_to_right, scores.document_completion, empirical_likelihood])
def test_a_group_without_topics_is_not_scored(method):
    topics = FrozenTopics(PHI, np.array([[0.3, 0.2], [0.0, 0.0]]))
    names = ["north", "south"]
    test = Corpus([0, 1, 2, 2], [0, 2, 4], n_words=3, group=[0, 1], group_names=names)
    with pytest.raises(ValueError, match=r"^prior of group south: expected a topic with a positive weight"):
        method([topics], test)
    only_north = Corpus([0, 1, 2, 2], [0, 2, 4], n_words=3, group=[0, 0], group_names=names)
    assert np.isfinite(method([topics], only_north).log_probability).all()
    with pytest.raises(ValueError, match=r"^prior: expected a topic"):
        method([FrozenTopics(PHI, np.zeros((1, 2)))], document([1]))


def test_the_standard_error_is_that_of_resampled_documents():
    rng = np.random.default_rng(5)
    n = rng.integers(1, 20, 400)
    log_p = -n * rng.normal(6.0, 1.0, 400)
    score = scores.HeldOut.of_documents("", log_p, n, 1)
    boot = [
        scores.HeldOut.of_documents("", log_p[i], n[i], 1).perplexity
        for i in rng.integers(0, 400, (500, 400))
    ]
    assert score.standard_error == pytest.approx(np.std(boot), rel=0.15)


@pytest.mark.parametrize("n_documents", [2, 3, 6])
def test_it_is_not_too_small_for_few_documents(n_documents):
    rng = np.random.default_rng(6)
    log_p = rng.normal(-1.5, 0.3, (4000, n_documents))
    found = [scores.HeldOut.of_documents("", x, np.ones(n_documents, int), 1) for x in log_p]
    square = np.mean([score.standard_error**2 for score in found])
    assert np.sqrt(square) == pytest.approx(np.std([score.perplexity for score in found]), rel=0.05)


def test_what_cannot_be_scored_is_refused():
    topics = FrozenTopics(PHI, PRIOR[None])
    with pytest.raises(ValueError, match="at least one token"):
        scores.left_to_right([topics], document([]))
    with pytest.raises(ValueError, match="at least one posterior draw"):
        scores.left_to_right([], document([1]))
    with pytest.raises(ValueError, match="expected the 3 words"):
        scores.document_completion([topics], document([1], n_words=4))
    with pytest.raises(ValueError, match="expected the 2 groups of the fit, found none"):
        scores.document_completion([FrozenTopics(PHI, np.stack([PRIOR, PRIOR]))], document([1]))
    with pytest.raises(ValueError, match="positive word probabilities"):
        scores.left_to_right([FrozenTopics(np.array([[1.0, 0.0, 0.0]]), np.ones((1, 1)))], document([1]))
    with pytest.raises(ValueError, match="at least 1 particle"):
        scores.left_to_right([topics], document([1]), particles=0)
    with pytest.raises(ValueError, match="sweeps >= 1"):
        scores.document_completion([topics], document([1]), sweeps=0)
