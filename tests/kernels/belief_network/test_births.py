"""Topics that open under a belief network: their first words and links against their laws."""

from types import SimpleNamespace

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.mutants.registry import mutant_by_id
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.kernels.belief_network import births, layers, topics
from bnpzoo.kernels.toolbox import sides, token_pass
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.models import get
from scipy import stats

FALSE_ALARM_RATE = 1e-5
GAMMA, LINK_RATE = np.array([0.7, 1.9, 0.2]), 1.7
PHI = np.array([[0.6, 0.1, 0.2], [0.3, 0.1, 0.7], [0.1, 0.8, 0.1]])
"""Of three words under three topics above, which are its columns."""

PLAIN = load_room(PLAIN_PYTHON)


def with_mutant(name):
    """Kernels in plain Python, those of a mutant where it has a name."""
    return load_room(PLAIN_PYTHON, *(mutant_by_id(f"belief-{name}").change for name in [name] if name))


def under(gamma=GAMMA, phi=PHI, room=PLAIN, link_rate=LINK_RATE):
    """Layers with one above the first, and what topics that open below are like."""
    n_words, width = phi.shape
    made = room(topics).layers_of(
        {
            "log_popularity": np.log(gamma)[None],
            "log_links": np.zeros((width, 1)),
            "log_upper_topics": np.log(np.maximum(phi, 1e-300)).T[None],
            "layer_mass": 1.0,
            "layer_rate": 1.0,
            "link_rate": link_rate,
        },
        dict.fromkeys(("layer_mass", "layer_rate", "link_rate"), (0.0, 0.0)),
        n_words,
        1,
    )
    return made, room(topics).births_under(made, n_words, happen=True)


@pytest.mark.parametrize("mutant", ["", "first-words-alike", "first-words-of-any"])
def test_first_words_are_those_of_links_from_their_prior(mutant):
    """Means over draws of links, which know nothing of shares and sums, by the normal law."""
    links = np.random.default_rng(0).gamma(GAMMA, 1 / LINK_RATE, (200_000, 3))
    words = links @ PHI.T / links.sum(axis=1, keepdims=True)
    found = under(room=with_mutant(mutant))[1].first_word
    z = (words.mean(axis=0) - found) / words.std(axis=0) * np.sqrt(len(words))
    assert (np.abs(z).max() < stats.norm.isf(FALSE_ALARM_RATE / 6)) == (not mutant)
    np.testing.assert_allclose(found.sum(), 1.0)


def first_links(word, n, room):
    """Draw links (n, W) of topics that `word` opens."""
    (made, expected), rng = under(room=room), np.random.default_rng(word)
    drawn = np.empty((n, 3))
    for log_links in drawn:
        total = room(births).draw_first_links(rng, made, expected, word, log_links)
        np.testing.assert_allclose(expected.links, np.exp(log_links))
        assert total == pytest.approx(expected.links.sum())
    return np.exp(drawn)


def p_value_of_first_links(word, room=PLAIN):
    """Smallest p-value of the sum, of its dependence on the shares and of each share, times their number."""
    drawn = first_links(word, 4000, room)
    total, weights = drawn.sum(axis=1), GAMMA * PHI[word] / (GAMMA @ PHI[word])

    def share_below(k):  # a mixture, of each topic that the word may come from
        def cdf(x):
            tilted = GAMMA[k] + np.eye(3)[k]
            return sum(
                p * stats.beta.cdf(x, a, GAMMA.sum() + 1.0 - a) for p, a in zip(weights, tilted, strict=True)
            )

        return cdf

    tests = [stats.kstest(total, "gamma", (GAMMA.sum(), 0, 1 / LINK_RATE))]
    tests += [stats.kstest(drawn[:, k] / total, share_below(k)) for k in range(3)]
    tests += [stats.spearmanr(total, drawn[:, k] / total) for k in range(3)]
    return min(test.pvalue for test in tests) * len(tests)


@pytest.mark.parametrize("word", range(3))
def test_first_links_have_their_law(word):
    assert p_value_of_first_links(word) > FALSE_ALARM_RATE / 3


@pytest.mark.parametrize("mutant", ["not-tilted", "tilted", "not-drawn", "without-rate"])
def test_wrong_first_links_do_not(mutant):
    of = "links" if mutant == "not-tilted" else "sum"
    assert p_value_of_first_links(0, with_mutant(f"first-{of}-{mutant}")) < FALSE_ALARM_RATE


@pytest.mark.parametrize("gamma", [[1e-4, 1e-3], [1e-300, 1e-310], [2.0, 1e-9]])
def test_links_that_underflow_are_raised_as_those_of_other_topics(gamma):
    (made, expected), rng = under(np.array(gamma), PHI[:, :2]), np.random.default_rng(0)
    assert np.all(expected.first_word > 0.0)
    for _ in range(200):
        log_links = made.log_links[0]
        total = births.draw_first_links(rng, made, expected, 1, log_links)
        assert np.all(np.isfinite(log_links))
        np.testing.assert_allclose(expected.links, layers.linear(log_links[None])[0])
        assert total > 0.0


def test_a_word_that_no_topic_above_has_may_come_first():
    made, expected = under(np.array([0.5, 0.5]), np.array([[1.0, 1.0], [0.0, 0.0]]))
    assert expected.first_word[1] > 0.0
    births.draw_first_links(np.random.default_rng(0), made, expected, 1, made.log_links[0])
    assert np.all(np.isfinite(made.log_links))


@pytest.fixture(params=[1, 2])
def side(request):
    """Topic side of four topics of `hdp`."""
    model = get("hdp", topics="belief-network", layers=request.param, width=3).set_to("fixed")
    latents, corpus = model.simulate(Design(np.array([9, 8]), 4), np.random.default_rng(3))
    latents = model.start_at(np.arange(17) % 4, corpus, np.random.default_rng(0))
    loaded = model.kernels_in(PLAIN)["dense"].load(latents, corpus, model)
    return SimpleNamespace(topics=loaded.topics, n_topics=4, latents=latents)


def test_more_room_changes_nothing_else(side):
    more, k = PLAIN(sides).with_capacity(side.topics, 200), side.n_topics
    assert more.psi.shape == (4, 200)
    assert len(more.layers.log_links) == more.psi_total.size == more.total.size == 200
    np.testing.assert_array_equal(more.psi[:, :k], side.topics.psi[:, :k])
    assert np.all(np.isneginf(more.layers.log_links[k:]))
    for name, value in PLAIN(topics).snapshot(more).items():
        np.testing.assert_array_equal(value, side.latents[name], err_msg=name)


@pytest.mark.parametrize("mutant", ["", "links-not-renamed"])
def test_topics_keep_their_links_and_psi_under_other_numbers(side, mutant):
    room = with_mutant(mutant)
    if mutant and side.topics.layers.mass.size == 0:
        pytest.skip("with one layer there are no links")
    before = side.topics._replace(psi=side.topics.psi.copy(), psi_total=side.topics.psi_total.copy())
    links = side.topics.layers.log_links.copy()
    new_name = np.full(side.n_topics, -1, np.int32)
    new_name[[1, 3]] = [0, 1]
    links += np.arange(len(links))[:, None]
    side.topics.layers.log_links[:] = links
    of_room = room(topics).BeliefTopics(*side.topics)  # each room chooses by types of its own
    room(sides).rename_topics(of_room, new_name, 2)
    assert side.topics.n_topics[0] == 2
    np.testing.assert_array_equal(side.topics.psi[:, :2], before.psi[:, [1, 3]])
    np.testing.assert_array_equal(side.topics.psi_total[:2], before.psi_total[[1, 3]])
    assert np.array_equal(side.topics.layers.log_links[:2], links[[1, 3]]) == (not mutant)
    assert np.all(np.isneginf(side.topics.layers.log_links[2:]))


def test_a_topic_has_no_links_once_its_last_token_has_left():
    """It then weighs for any word as one that is not represented; its next token brings new links."""
    (made, expected), side = under(), PLAIN(births)
    of_topics = SimpleNamespace(
        births=expected,
        layers=made,
        psi=np.ones((3, 1)),
        psi_total=np.full(1, 3.0),
        total=np.ones(1, np.int64),
    )
    assert side.is_last(of_topics, 0)
    side.forget_links(of_topics, 0)
    assert np.all(np.isneginf(made.log_links[0]))
    np.testing.assert_array_equal(of_topics.psi[:, 0] / of_topics.psi_total[0], expected.first_word)
    side.draw_if_first(np.random.default_rng(0), of_topics, 1, 0)
    assert np.all(np.isfinite(made.log_links))
    np.testing.assert_allclose(of_topics.psi[:, 0], made.topics[0] @ np.exp(made.log_links[0]))
    assert of_topics.psi_total[0] == pytest.approx(np.exp(made.log_links[0]).sum())
    drawn = made.log_links.copy()
    of_topics.total[0] = 2
    assert not side.is_last(of_topics, 0)
    side.draw_if_first(np.random.default_rng(1), of_topics, 1, 0)
    np.testing.assert_array_equal(made.log_links, drawn)


@pytest.mark.parametrize(
    ("variant", "mutant"), [("sparse", ""), ("dense", ""), ("sparse", "links-kept-for-birth")]
)
def test_a_token_alone_in_its_topic_draws_links_anew(variant, mutant):
    """In every pass, whether it stays where it is or opens a topic."""
    model = get("hdp", topics="belief-network", layers=2, width=3).set_to("fixed")
    corpus, room = Design(np.array([1]), 4).corpus(np.array([2])), with_mutant(mutant)
    latents = model.start_at(np.zeros(1, int), corpus, np.random.default_rng(0))
    kernel, n_kept = model.kernels_in(room)[variant], 0
    one_pass = getattr(room(token_pass), f"{variant}_pass")
    for seed in range(30):
        tokens, documents, of_topics, scratch = kernel.load(latents, corpus, model)
        assert one_pass(np.random.default_rng(seed), tokens, documents, of_topics, scratch)
        links = of_topics.layers.log_links[tokens.topic[0]]
        assert np.all(np.isfinite(links))
        n_kept += np.array_equal(links, latents["log_links"][:, 0])
    assert (n_kept > 0) == bool(mutant)
