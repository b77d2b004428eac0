"""The sampler of the tutorial "Test your own sampler", and what the laboratory says of it."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from bnpzoo.diagnostics.laboratory.joint import Conditional, joint_ratio_test
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.verdict import Verdict
from scipy.special import betaln, expit


class Coins:
    people, tosses = 6, 4

    def __init__(self, forgetful=False):
        self.forgetful = forgetful
        self.name = "forgetful coins" if forgetful else "coins"

    def draw_latents(self, rng):
        return rng.binomial(1, rng.beta(1, 1), self.people)

    def draw_data(self, rng, z):
        return rng.binomial(self.tosses, rng.beta(1, 1, 2)[z])

    def log_weights(self, z, i, y):
        """Weights of z[i] = 0 and z[i] = 1 given all the others."""
        others = np.arange(self.people) != i
        weights = []
        for coin in (0, 1):
            users = others & (z == coin)
            heads, tails = 1 + y[users].sum(), 1 + (self.tosses - y[users]).sum()
            predictive = betaln(heads + y[i], tails + self.tosses - y[i]) - betaln(heads, tails)
            popularity = 0 if self.forgetful else np.log(1 + users.sum())
            weights.append(popularity + predictive)
        return np.array(weights)

    def transition(self, rng, z, y):
        z = z.copy()
        for i in range(self.people):
            w = self.log_weights(z, i, y)
            z[i] = rng.random() < expit(w[1] - w[0])
        return z

    def log_joint(self, z, y):
        """Log probability of z and y, up to a constant."""
        total = betaln(1 + z.sum(), 1 + (1 - z).sum())
        for coin in (0, 1):
            mine = y[z == coin]
            total += betaln(1 + mine.sum(), 1 + (self.tosses - mine).sum())
        return total

    def quantities(self, z, y):
        return {"log_joint": self.log_joint(z, y), "same_coin": z[0] == z[1], "second_coin": z.sum()}


def conditionals(subject: Coins, z: np.ndarray, y: np.ndarray) -> Iterator[Conditional]:
    for i in range(subject.people):
        candidates = [np.where(np.arange(subject.people) == i, value, z) for value in (0, 1)]
        yield Conditional(f"z[{i}]", candidates, subject.log_weights(z, i, y))


def verdicts(subject: Coins) -> Iterator[Verdict]:
    """Judge the sampler, from cheap to costly."""
    y = np.array([0, 1, 0, 4, 3, 2])
    for z in (np.array([0, 0, 1, 1, 0, 1]), np.zeros(6, int)):
        yield joint_ratio_test("coins", lambda z: subject.log_joint(z, y), conditionals(subject, z, y))
    oracle = Oracle.of(map(np.array, product((0, 1), repeat=6)), lambda z: subject.log_joint(z, y))
    yield agrees_with_oracle(subject, oracle, y, labels=lambda z: z, chains=2, draws=500, warmup=20)
