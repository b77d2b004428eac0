import itertools
from dataclasses import replace

import numpy as np
import pytest
from bnpzoo.diagnostics.heldout.empirical_likelihood import empirical_likelihood
from bnpzoo.zoo.contract import FrozenTopics
from bnpzoo.zoo.corpus import Corpus
from scipy.special import gammaln, logsumexp

Z = 4.9  # each z-test compares one mean with an exact number: false alarm 1e-6

PHI = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [1 / 3, 1 / 3, 1 / 3]])
PRIOR = np.array([0.3, 0.2, 0.9])
ON = np.array([0.5, 0.8, 0.3])


def exact(words, prior, phi=PHI):
    """Probability of a document, by enumerating the topics of its tokens; topics of prior 0 are off."""
    total = 0.0
    for z in itertools.product(np.flatnonzero(prior), repeat=len(words)):
        counts = np.bincount(z, minlength=prior.size)[prior > 0]
        a = prior[prior > 0]
        p = gammaln(a.sum()) - gammaln(a.sum() + len(words)) + np.sum(gammaln(a + counts) - gammaln(a))
        total += np.exp(p) * np.prod(phi[list(z), words])
    return total


def exact_with_masks(words, prior=PRIOR, on=ON):
    """The same where topics may be off, given the length: by enumerating which are on."""
    joint = length = 0.0
    for mask in itertools.product([False, True], repeat=prior.size):
        mass = prior[list(mask)].sum()
        if mass > 0:
            p = np.prod(np.where(mask, on, 1 - on))
            p *= np.exp(gammaln(mass + len(words)) - gammaln(mass) - mass * np.log(2))
            length += p
            joint += p * exact(words, prior * mask)
    return joint / length


def document(words):
    return Corpus(np.array(words), [0, len(words)], n_words=3)


def estimates(words, frozen, samples, seeds=400):
    return np.array(
        [
            np.exp(
                empirical_likelihood([frozen], document(words), seed=s, samples=samples).log_probability[0]
            )
            for s in range(seeds)
        ]
    )


def z_score(sample, truth):
    return (sample.mean() - truth) / (sample.std(ddof=1) / np.sqrt(sample.size))


@pytest.mark.parametrize("words", [[0], [0, 2, 1, 2], [2, 2, 0, 0, 1]])
def test_unbiased(words):
    found = estimates(words, FrozenTopics(PHI, PRIOR[None]), 20)
    assert abs(z_score(found, exact(np.array(words), PRIOR))) < Z


@pytest.mark.parametrize("words", [[0], [0, 2, 1, 2], [2, 2, 0, 0, 1]])
def test_topics_that_may_be_off(words):
    # a ratio of means: its bias, of order 1 / samples, is far below the error of 40 seeds
    found = estimates(words, FrozenTopics(PHI, PRIOR[None], ON[None]), 5000, 40)
    assert abs(z_score(found, exact_with_masks(np.array(words)))) < Z


@pytest.mark.slow
def test_the_checks_reject_wrong_estimates():
    words = np.array([0, 0, 2, 2, 2])
    truth = exact(words, PRIOR)
    assert abs(z_score(estimates(words, FrozenTopics(PHI, 1.5 * PRIOR[None]), 200), truth)) > Z
    # the geometric mean over samples
    right = FrozenTopics(PHI, PRIOR[None])
    logs = np.log(estimates(words, right, 1, 4000)).reshape(400, 10).mean(axis=1)
    assert abs(z_score(np.exp(logs), truth)) > Z
    # the topics that are on without regard to the length
    alone = [mask for mask in itertools.product([0, 1], repeat=3) if any(mask)]
    p = np.array([np.prod(np.where(mask, ON, 1 - ON)) for mask in alone])
    blind = sum(w * exact(words, PRIOR * mask) for w, mask in zip(p / p.sum(), alone, strict=True))
    found = estimates(words, FrozenTopics(PHI, PRIOR[None], ON[None]), 5000, 40)
    assert abs(z_score(found, blind)) > Z


def test_draws_are_averaged_before_the_logarithm():
    test = document([0, 2, 2])
    frozen = [FrozenTopics(PHI, PRIOR[None]), FrozenTopics(PHI[[1, 0, 2]], PRIOR[None])]
    both = empirical_likelihood(frozen, test, seed=3, samples=50)
    assert both.n_draws == 2
    assert both.method == "empirical likelihood"
    # the second draw has a generator of its own: [seed, 1]
    one = empirical_likelihood(frozen[:1], test, seed=3, samples=50).log_probability
    rest = empirical_likelihood([frozen[0], frozen[0]], test, seed=3, samples=50).log_probability
    assert one != pytest.approx(rest)
    large = empirical_likelihood(frozen, test, seed=3, samples=200_000).log_probability[0]
    swapped = PRIOR[[1, 0, 2]]
    truth = np.log([exact(test.words, PRIOR), exact(test.words, swapped)])
    assert large == pytest.approx(logsumexp(truth) - np.log(2), abs=0.02)


def test_draws_count_equally_whatever_they_say_of_the_length():
    words, mass = [0, 2, 2, 0], np.array([0.05, 8.0])
    frozen = [FrozenTopics(PHI, m * PRIOR[None], ON[None]) for m in mass]
    each = [empirical_likelihood([f], document(words), seed=2, samples=20_000) for f in frozen]
    both = empirical_likelihood(frozen, document(words), seed=2, samples=20_000).log_probability[0]
    expected = np.log(np.mean([np.exp(e.log_probability[0]) for e in each]))
    assert both == pytest.approx(expected, abs=0.05)
    exactly = [exact_with_masks(np.array(words), m * PRIOR) for m in mass]
    assert both == pytest.approx(np.log(np.mean(exactly)), abs=0.05)


def test_groups_have_priors_of_their_own():
    prior = np.array([[50.0, 0.0, 0.0], [0.0, 50.0, 0.0]])
    test = Corpus([0, 0], [0, 1, 1, 2], n_words=3, group=[0, 0, 1])
    found = empirical_likelihood([FrozenTopics(PHI, prior)], test, samples=3)
    assert np.exp(found.log_probability) == pytest.approx([0.7, 1.0, 0.1])
    assert found.n_scored.tolist() == [1, 0, 1]


def test_tiny_priors_do_not_underflow():
    found = empirical_likelihood([FrozenTopics(PHI, np.full((1, 3), 1e-300))], document([0]), samples=5)
    assert np.isfinite(found.log_probability[0])


def test_bad_input_is_named():
    frozen = FrozenTopics(PHI, PRIOR[None])
    with pytest.raises(ValueError, match="at least 1 sample"):
        empirical_likelihood([frozen], document([0]), samples=0)
    with pytest.raises(ValueError, match="at least one posterior draw"):
        empirical_likelihood([], document([0]))
    with pytest.raises(ValueError, match="at least one token"):
        empirical_likelihood([frozen], document([]))
    with pytest.raises(ValueError, match="expected some to be on"):
        empirical_likelihood([replace(frozen, inclusion=np.zeros((1, 3)))], document([0]))
