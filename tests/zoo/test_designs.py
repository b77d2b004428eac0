import numpy as np
import pytest
from bnpzoo.zoo.designs import DOMAINS, TransferContinuum, sparse_topics


def continuum(seed=0, **sizes):
    return TransferContinuum(**sizes).draw(np.random.default_rng(seed))


def test_left_end_is_the_papers():
    left = TransferContinuum().left
    assert left.shape == (10, 10)
    assert left[0].tolist() == [300.0] + [0.0] * 9
    for c in range(1, 10):
        assert np.flatnonzero(left[c]).tolist() == [0, c]
        assert left[c, [0, c]].tolist() == [150.0, 150.0]


def test_tasks_beyond_the_topics_go_through_them_again():
    left = TransferContinuum(n_tasks=30).left
    assert np.flatnonzero(left[10]).tolist() == [0, 1]
    assert np.flatnonzero(left[29]).tolist() == [0, 2]
    assert np.allclose(left.sum(axis=1), 300.0)


def test_right_end_has_three_topics_a_task_at_random():
    right = np.array([TransferContinuum().draw_right(np.random.default_rng(s)) for s in range(500)])
    assert np.allclose(np.sort(right, axis=-1)[..., -3:], 100.0)
    assert np.all((right > 0).sum(axis=-1) == 3)
    # 100 means of 500 indicators of probability 0.3, within 5 standard errors: false alarm 6e-5
    assert np.all(np.abs((right > 0).mean(axis=0) - 0.3) < 5 * np.sqrt(0.21 / 500))


@pytest.mark.parametrize("mixing", DOMAINS)
def test_domains_mix_the_ends(mixing):
    replicate = continuum()
    problem = replicate.at(mixing, np.random.default_rng(1))
    assert np.allclose(problem.pseudocounts, (1 - mixing) * replicate.left + mixing * replicate.right)
    assert np.allclose(problem.pseudocounts.sum(axis=1), 300.0)
    # topics are used only where they have pseudocounts
    theta, group = problem.train.latents["theta"], problem.train.corpus.group
    assert np.all((theta > 0) <= (problem.pseudocounts[group] > 0))


def test_sizes_are_the_papers():
    train, test = continuum().at(0.25, np.random.default_rng(0))[2:]
    assert train.corpus.n_tokens == 768
    assert np.bincount(train.corpus.group).tolist() == [24] + [8] * 9
    assert np.all(train.corpus.doc_lengths == 8)
    assert test.corpus.n_documents == 100
    assert np.all(test.corpus.group == 0)
    assert test.corpus.n_groups == train.corpus.n_groups == 10
    assert np.array_equal(test.corpus.vocabulary, train.corpus.vocabulary)


def test_tokens_follow_their_topics():
    problem = continuum().at(0.5, np.random.default_rng(0))
    z, corpus = problem.train.latents["z"], problem.train.corpus
    assert np.all(problem.topics[z, corpus.words] > 0)
    assert np.all(problem.train.latents["theta"][corpus.doc_of, z] > 0)


def test_proportions_have_the_mean_that_the_pseudocounts_say():
    sizes = TransferContinuum(n_tasks=2, documents_of_interest=20_000, other_documents=0, total=3.0)
    problem = sizes.draw(np.random.default_rng(0)).at(0.5, np.random.default_rng(1))
    mean = problem.pseudocounts[0] / 3.0
    error = np.sqrt(mean * (1 - mean) / 4.0 / 20_000)
    theta = problem.train.latents["theta"]
    assert np.all(np.abs(theta.mean(axis=0) - mean) <= 5 * error)  # 10 tests: false alarm 6e-6
    used = np.bincount(problem.train.latents["z"], minlength=10) / problem.train.corpus.n_tokens
    # the eight tokens of a document share its theta: variance is at most that of 20,000 tokens
    assert np.all(np.abs(used - mean) <= 5 * np.sqrt(mean * (1 - mean) / 20_000))


def test_ends_are_shared_by_all_domains_and_seeds_repeat():
    a, b = continuum(3), continuum(3)
    assert np.array_equal(a.right, b.right)
    assert np.array_equal(a.topics, b.topics)
    words = [c.at(0.1, np.random.default_rng(0)).train.corpus.words for c in (a, b)]
    assert np.array_equal(*words)
    assert not np.array_equal(a.topics, continuum(4).topics)
    kept = TransferContinuum().draw(np.random.default_rng(4), topics=a.topics)
    assert np.array_equal(kept.topics, a.topics)


def test_topics_are_sparse():
    topics = sparse_topics(500, 150, 1.0, 9.0, 1.0, np.random.default_rng(0))
    assert np.allclose(topics.sum(axis=1), 1.0)
    share = (topics > 0).mean(axis=1)
    assert share.min() >= 1 / 150
    # Beta(1, 9), seldom empty: mean 0.1, standard deviation 0.09; within 5 standard errors and the bias
    # of leaving out empty topics, of probability below 0.06
    assert abs(share.mean() - 0.1) < 5 * 0.1 / np.sqrt(500) + 0.01


def test_empty_topics_are_drawn_again():
    topics = sparse_topics(200, 3, 0.1, 3.0, 0.01, np.random.default_rng(0))
    assert np.allclose(topics.sum(axis=1), 1.0)


def test_tasks_may_have_no_documents():
    problem = continuum(other_documents=0, test_documents=0).at(1.0, np.random.default_rng(0))
    assert np.bincount(problem.train.corpus.group, minlength=10).tolist() == [24] + [0] * 9
    assert problem.test.corpus.n_tokens == 0


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n_tasks": 0}, "n_tasks: expected at least 1, found 0"),
        ({"n_random": 11}, "n_random: expected at most the 10 topics there are, found 11"),
        ({"total": 0.0}, "total: expected a positive number, found 0.0"),
        ({"doc_length": -1}, "doc_length: expected at least 0, found -1"),
    ],
)
def test_bad_sizes_are_named(sizes, message):
    with pytest.raises(ValueError, match=message):
        TransferContinuum(**sizes)


def test_mixing_is_a_share():
    with pytest.raises(ValueError, match=r"mixing: expected a number from 0 to 1, found 1\.5"):
        continuum().at(1.5, np.random.default_rng(0))
