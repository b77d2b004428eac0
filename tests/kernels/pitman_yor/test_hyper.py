"""Hyperparameters of Pitman-Yor topics: targets, table sizes, and the discount's law."""

import math
from collections import Counter

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.kernels.pitman_yor import hyper as compiled
from bnpzoo.kernels.pitman_yor import topics as compiled_topics
from bnpzoo.kernels.toolbox import sides as compiled_sides
from bnpzoo.kernels.toolbox import smoothing
from bnpzoo.kernels.toolbox.stirling import stirling_ratios
from scipy import stats

hyper, topics, sides, smoothing = map(
    load_room(PLAIN_PYTHON), (compiled, compiled_topics, compiled_sides, smoothing)
)
FALSE_ALARM_RATE = 1e-5


@pytest.mark.parametrize(
    ("start", "step", "n"), [(1.3, 0.7, 900), (1e-3, 0.0, 200), (80.0, 0.1, 0), (-0.5, 0.6, 9)]
)
def test_sum_of_logarithms(start, step, n):
    direct = math.fsum(math.log(start + j * step) for j in range(1, n + 1))
    assert hyper.log_steps(start, step, n) == pytest.approx(direct, rel=1e-12)


def changes(target, at):
    """Differences of a log density along `at`."""
    return np.diff([hyper.log_density(target, x) for x in at])


@pytest.mark.parametrize("a", [0.0, 0.7])
def test_target_of_the_concentration(a):
    customers, tables = np.array([9, 0, 1, 40]), np.array([4, 0, 1, 11])
    target = hyper.LogConcentration(customers, tables, a, np.array([1.5, 0.2]))
    at = np.log([0.01, 0.7, 3.0, 400.0])

    def direct(b):
        seats = sum(math.log(b + n * a) for t in tables for n in range(1, t))
        seats -= sum(math.log(b + n) for m in customers for n in range(1, m))
        return seats + stats.gamma.logpdf(b, 1.5, scale=5.0) + math.log(b)

    assert changes(target, at) == pytest.approx(np.diff([direct(b) for b in np.exp(at)]), rel=1e-10)


def test_target_of_the_discount():
    tables, b, joined = np.array([[3, 0], [1, 5]]), np.array([0.4, 2.0]), np.array([0, 6, 2, 1])
    target = hyper.LogitDiscount(tables, b, joined, np.array([1.5, 2.5]))
    at = np.array([-3.0, 0.1, 4.0])

    def direct(x):
        a = 1.0 / (1.0 + math.exp(-x))
        out = stats.beta.logpdf(a, 1.5, 2.5) + math.log(a * (1.0 - a))
        out += sum(math.log(b[k] + n * a) for g in (0, 1) for k in (0, 1) for n in range(1, tables[g, k]))
        return out + sum(count * math.log(size - a) for size, count in enumerate(joined) if count)

    assert changes(target, at) == pytest.approx(np.diff([direct(x) for x in at]), rel=1e-10)
    assert hyper.log_density(target, 800.0) == -math.inf
    below = hyper.LogitDiscount(tables, np.array([-0.4, 2.0]), joined, np.array([1.5, 2.5]))
    assert hyper.log_density(below, -1.0) == -math.inf


def small_topics(priors):
    """One topic and two groups: 6 and 5 customers of word 0 at 2 and 3 tables, 2 of word 1 at one."""
    words, group = np.array([0] * 6 + [0] * 5 + [1] * 2), np.arange(2)
    association = np.full(13, -1)
    association[[0, 1, 6, 7, 8, 11]] = words[[0, 1, 6, 7, 8, 11]]
    tokens = sides.tokens_of(words, np.array([0, 6, 13]), group, np.zeros(13))
    latents = {"association": association, "b": [0.8], "a": 0.6, "eta": 0.3}
    priors = dict.fromkeys(("b", "a", "eta"), (0.0, 0.0)) | priors
    return topics.pitman_yor_topics(tokens, group, 2, 1, 1, latents, priors, np.zeros(2))


def test_moves_look_at_the_tables(monkeypatch):
    side = small_topics({"eta": (1.0, 1.0)})
    seen = []

    def note(rng, target, x, width):
        seen.append(target)
        return x

    monkeypatch.setattr(hyper, "slice_sample", note)
    monkeypatch.setattr(smoothing, "slice_sample", note)
    hyper.update_b(None, side.restaurants, 1, 0.6, np.ones(2))
    smoothing.update_smoothing(None, side.restaurants.base, 2)
    np.testing.assert_array_equal(seen[0].customers, [6, 7])
    np.testing.assert_array_equal(seen[0].tables, [2, 4])
    assert seen[0].discount == 0.6
    np.testing.assert_array_equal(seen[1].totals, [6])
    np.testing.assert_array_equal(seen[1].size, [1, 5])  # tables whose dish is word 1, and word 0
    np.testing.assert_array_equal(seen[1].how_often, [1, 1])
    assert seen[1].n_words == 2.0


def sizes_law(m, t, a):
    """Law of the sorted sizes of `m` customers at `t` tables, seat by seat."""
    law = {(1,): 1.0}
    for _ in range(1, m):
        after = Counter()
        for sizes, weight in law.items():
            after[(*sizes, 1)] += weight
            for j, size in enumerate(sizes):
                after[(*sizes[:j], size + 1, *sizes[j + 1 :])] += weight * (size - a)
        law = after
    out = Counter()
    for sizes, weight in law.items():
        if len(sizes) == t:
            out[tuple(sorted(sizes))] += weight
    return {sizes: weight / sum(out.values()) for sizes, weight in out.items()}


def test_table_sizes():
    m, t, a = 7, 3, 0.6
    ratios, rng = stirling_ratios(m, a), np.random.default_rng(2)
    opener, table_of, size = np.zeros(m, bool), np.zeros(m, int), np.zeros(m, int)
    drawn = Counter()
    n_draws = 4000
    for _ in range(n_draws):
        joined = np.zeros(m + 1, int)
        hyper.draw_openers(rng, ratios, a, m, t, opener)
        hyper.join_tables(rng, a, opener, m, table_of, size, joined)
        sizes = tuple(sorted(size[:t]))
        drawn[sizes] += 1
        np.testing.assert_array_equal(joined[1:], [sum(s > j for s in sizes) for j in range(1, m + 1)])
    p_values = []
    for discount in (a, 0.2):
        law = sizes_law(m, t, discount)
        observed = np.array([drawn[sizes] for sizes in law])
        p_values.append(stats.chisquare(observed, n_draws * np.array(list(law.values()))).pvalue)
    right, wrong = p_values
    assert right > FALSE_ALARM_RATE > wrong


def test_law_of_the_discount():
    """Against quadrature over its density with the sizes of tables summed out."""
    prior = (2.0, 1.5)
    side = small_topics({"a": prior})
    rng = np.random.default_rng(4)
    draws = np.empty((50, 60))
    for i in range(draws.size):
        hyper.update_a(rng, side.restaurants, 1, side.scheme, side.a_prior)
        draws.flat[i] = side.scheme.discount[0]
    np.testing.assert_allclose(
        side.scheme.ratios, stirling_ratios(7, draws[-1, -1])[: side.scheme.ratios.size]
    )
    a = (np.arange(2000) + 0.5) / 2000
    rising = [math.prod(0.8 + n * a for n in range(1, t)) for t in (2, 4)]
    density = stats.beta.pdf(a, *prior) * rising[0] * rising[1]
    density *= stirling(6, 2, a) * stirling(5, 3, a) * stirling(2, 1, a)
    exact = np.sum(a * density) / np.sum(density)
    batches = draws.mean(axis=1)
    z = (batches.mean() - exact) / (batches.std(ddof=1) / math.sqrt(50))
    assert abs(z) < stats.t.isf(FALSE_ALARM_RATE / 2, 49)
    assert abs(stats.beta.mean(*prior) - exact) > 10 * batches.std() / math.sqrt(50)


def stirling(n, t, a):
    """S^n_t by its recursion."""
    if t == 0 or t > n:
        return 0.0 * a + (n == t)
    return stirling(n - 1, t - 1, a) + (n - 1 - t * a) * stirling(n - 1, t, a)


def law_of_a_new_concentration(kernel):
    """P-value of the b of a topic that opens, whatever its place held before; its prior is Gamma(2, 3)."""
    rng, b, draws = np.random.default_rng(5), np.array([0.7, 0.2]), []
    for _ in range(2000):
        kernel.open_b(rng, b, 1, np.array([2.0, 3.0]), np.array([np.nan]))
        draws.append(b[1])
    return stats.kstest(draws, stats.gamma(2.0, scale=1.0 / 3.0).cdf).pvalue


def test_a_new_concentration_is_drawn_anew():
    assert law_of_a_new_concentration(hyper) > FALSE_ALARM_RATE
    change = Change("pitman_yor/hyper.py", "= gamma_variate(", "= b[topic] or gamma_variate(")
    assert law_of_a_new_concentration(load_room(PLAIN_PYTHON, change)(compiled)) < FALSE_ALARM_RATE


def test_a_new_concentration_that_is_fixed():
    b = np.array([0.7, 0.2])
    hyper.open_b(np.random.default_rng(0), b, 1, np.zeros(2), np.array([1.3]))
    assert b.tolist() == [0.7, 1.3]


def concentrations_of_renamed_topics(room):
    """Of three topics the second has no token, and the third becomes the second."""
    words = np.array([0, 1, 0, 1])
    of_sides, of_topics = room(compiled_sides), room(compiled_topics)
    tokens = of_sides.tokens_of(words, np.array([0, 4]), np.zeros(1), np.array([0, 0, 2, 2]))
    latents = {"association": words, "b": [0.5, 1.5, 2.5], "a": 0.6, "eta": 0.3}
    priors = {"b": (1.0, 1.0), "a": (0.0, 0.0), "eta": (0.0, 0.0)}
    side = of_topics.pitman_yor_topics(tokens, np.zeros(1), 2, 3, 3, latents, priors, np.zeros(1))
    of_sides.rename_topics(side, np.array([0, -1, 1], np.int32), 2)
    return side.restaurants.b[:2].tolist()


def test_concentrations_follow_their_topics():
    assert concentrations_of_renamed_topics(load_room(PLAIN_PYTHON)) == [0.5, 2.5]
    change = Change("pitman_yor/topics.py", "            restaurants.b[new] = restaurants.b[k]\n", "")
    assert concentrations_of_renamed_topics(load_room(PLAIN_PYTHON, change)) == [0.5, 1.5]
