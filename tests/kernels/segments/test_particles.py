"""Particle Gibbs over whole documents: another exact sampler of the weight-agnostic process.

A document's dishes and topics are drawn anew by conditional sequential Monte Carlo (Andrieu, Doucet and
Holenstein 2010): one particle follows the document as it is. Topics are drawn given all of them. Nothing is
shared with the token step of the kernel but the seats that a token finds, given those before it.
"""

import numpy as np
import pytest
from bnpzoo.kernels.segments import particles as smc

WORDS, SENTENCE = np.array([0, 1, 0, 0, 1, 2, 0]), np.array([0, 1, 2, 0, 1, 2, 0])
"""In the order in which tokens take their seats: sentences of 3, 2 and 2, in turn."""

LAW, ETA, N_TOPICS = smc.Sticks(1.0, 1.0, 0.7, np.full(2, 0.3), 0), 0.2, 2
EXACT = {"dishes": 2.73618308, "same dish": 0.44116112, "same topic": 0.40467460}
"""By enumeration of all 112,256 states, of a program that shares nothing with this package."""


def particle_gibbs(rng, steps, n_particles=6, law=LAW):
    """Dishes, and dish and topic of the first two tokens compared, after each step, float (steps, 3)."""
    n, start = WORDS.size, np.array([0, 3, 5])[SENTENCE]
    dish, topic, out = np.zeros(n, int), np.zeros(n, int), np.zeros((steps, 3))
    weights = np.zeros(n + N_TOPICS + 1)
    for step in range(steps):
        counts = np.full((N_TOPICS, 3), ETA)
        np.add.at(counts, (topic, WORDS), 1.0)
        phi = np.array([rng.dirichlet(row) for row in counts]).T.copy()
        now, spare = (smc.fresh_particles(n_particles, n, 3, N_TOPICS, 0) for _ in range(2))
        path = np.zeros((n_particles, n, 2), int)
        for i in range(n):
            log_weight = np.zeros(n_particles)
            for p in range(n_particles):
                smc.copy_particle(now, p, spare, p)
                args = (p, SENTENCE[i], start[i])
                log_weight[p] = np.log(smc.seat_next(rng, now, *args, phi[WORDS[i]], law, weights))
                path[p, i] = moved_to(spare, now, p)
            follow(rng, law, now, spare, (dish[i], topic[i]), (SENTENCE[i], start[i]))
            path[0, i] = dish[i], topic[i]
            share = np.exp(log_weight - log_weight.max())
            ancestors = rng.choice(n_particles, n_particles, p=share / share.sum())
            chosen = ancestors[-1]  # of the last token: which particle the document becomes
            ancestors[0] = 0
            if i < n - 1:
                for p, ancestor in enumerate(ancestors):
                    smc.copy_particle(now, ancestor, spare, p)
                now, spare, path = spare, now, path[ancestors]
        dish, topic = path[chosen].T
        out[step] = dish.max() + 1, dish[0] == dish[1], topic[0] == topic[1]
    return out


def moved_to(before, after, p):
    """Dish and topic of the token that particle `p` got."""
    dish, topic = np.nonzero(after.in_dish[p] - before.in_dish[p] * (before.dish_size[p] > 0)[:, None])
    return dish[0], topic[0]


def follow(rng, law, now, before, had, where):
    """Let particle 0 have the dish and the topic that the document has."""
    dish, topic = had
    smc.copy_particle(before, 0, now, 0)
    now.in_dish[0, dish, topic] += 1
    now.dish_size[0, dish] += 1
    now.n_dishes[0] = max(now.n_dishes[0], dish + 1)
    smc.take_seat(law, rng, now, 0, *where, dish)


def largest_z(draws):
    """Largest difference from the exact means, in standard errors by means of 40 batches."""
    batches = draws.reshape(40, -1, 3).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(40)
    return np.abs((draws.mean(axis=0) - [*EXACT.values()]) / error).max()


@pytest.mark.slow
def test_particle_gibbs_agrees_with_enumeration():
    """Six standard errors of 40 batches, three numbers: a false alarm in 600,000, by Student's t."""
    assert largest_z(particle_gibbs(np.random.default_rng(0), 4000)) < 6.0


@pytest.mark.slow
def test_particles_of_another_law_do_not():
    """A new dish has the weight of one on offer, 1, instead of zeta."""
    forgotten = LAW._replace(zeta=1.0)
    assert largest_z(particle_gibbs(np.random.default_rng(0), 4000, law=forgotten)) > 6.0
