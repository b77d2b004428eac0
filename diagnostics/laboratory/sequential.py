"""Sequential two-sample test of a sampler, with a bound on the probability of a false rejection.

Latents that are drawn from the prior, with data drawn given them, follow the joint law; so do the latents
after any number of transitions of a right sampler given these data. The two samples are compared quantity by
quantity, and a comparison that is neither clearly good nor clearly bad is repeated with more draws
(Gandy and Scott 2020, Algorithms 1 and 3).

References
----------
.. [1] A. Gandy, J. Scott (2020). Unit testing for MCMC and other Monte Carlo methods. arXiv:2001.06465.
.. [2] B. Efron (1969). Student's t-test under symmetry conditions. JASA 64(328).
"""

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from scipy.stats import ks_2samp, rankdata

from .subject import Bench, Subject, check_counts, name_of, reports_broken
from .verdict import FALSE_ALARM_RATE, Verdict, table_of

LEAST_SAMPLES = 4
"""No p-value of two samples of n is below 4 / C(2n, n), which is 0.2 for three draws. The first round accepts
what is above 0.146, at the default rate: with fewer draws every sampler would pass."""


class Round(NamedTuple):
    """One round of a sequential test.

    Attributes
    ----------
    samples : int
        Draws in each sample.
    p_value : float
        Valid p-value of the round, over all quantities.
    reject_up_to, accept_above : float
        The round rejects, accepts or, in between, leaves the decision to the next one.
    """

    samples: int
    p_value: float
    reject_up_to: float
    accept_above: float

    @property
    def rejects(self) -> bool:
        """Whether the test ends here with a rejection."""
        return self.p_value <= self.reject_up_to


def sequential_rounds(
    p_value: Callable[[int], float], false_alarm_rate: float, samples: int, rounds: int = 7, growth: int = 4
) -> Iterator[Round]:
    """Run rounds of Algorithm 3 of Gandy and Scott (2020) until one decides.

    With alpha the false alarm rate, k rounds, beta_1 = alpha / k, gamma = beta_1^(1/k) and
    beta_(i+1) = beta_i / gamma, round i rejects if p <= beta_i and goes on if p <= gamma + beta_i.
    Let T_i be the probability of a false rejection from round i on. Valid p-values of fresh samples
    reject with probability r <= beta_i and go on with c such that r + c <= gamma + beta_i; since
    T_(i+1) <= 1, T_i = r + c T_(i+1) <= beta_i + gamma T_(i+1). Hence
    T_1 <= sum_i gamma^(i-1) beta_i = k beta_1 = alpha, also for conservative p-values.

    Parameters
    ----------
    p_value : (samples) -> float
        Valid p-value from fresh samples of the given size.
    false_alarm_rate : float
    samples : int
        Size in the first round; `growth` times as many in the later ones.
    rounds : int
    growth : int

    Yields
    ------
    Round
        The last one decides: a rejection if its `rejects` is true.
    """
    reject_up_to = false_alarm_rate / rounds
    gamma = reject_up_to ** (1.0 / rounds)
    for i in range(rounds):
        size = samples if i == 0 else samples * growth
        done = Round(size, p_value(size), reject_up_to, gamma + reject_up_to)
        yield done
        if done.rejects or done.p_value > done.accept_above:
            return
        reject_up_to /= gamma


def sign_flip_p_value(differences: np.ndarray) -> float:
    """Bound on the p-value of a symmetric sum, valid at every sample size and level.

    Under exchange of the members of each pair the signs of the differences are independent coin flips, so
    Hoeffding's inequality gives ``P(|sum d| >= t sqrt(sum d^2)) <= 2 exp(-t^2 / 2)``.

    Parameters
    ----------
    differences : float (n,)
    """
    squares = float(np.sum(differences**2))
    if squares == 0.0:
        return 1.0
    return min(1.0, 2.0 * math.exp(-0.5 * float(np.sum(differences)) ** 2 / squares))


def two_sample_p_value(x: np.ndarray, y: np.ndarray) -> float:
    """P-value of the hypothesis that two independent samples of equal size have one law.

    The smaller, after Bonferroni, of an exact Kolmogorov-Smirnov test, which is conservative under ties, and
    of the sign-flip bound on the differences of pooled ranks, which is not, and notices shifts of discrete
    quantities. Neither relies on a large sample.

    Parameters
    ----------
    x, y : float (n,)
    """
    ranks = rankdata(np.concatenate([x, y]))
    shift = sign_flip_p_value(ranks[: x.size] - ranks[x.size :])
    with warnings.catch_warnings():
        # Where the distance is so small that the exact value, by rounding, is above 1.
        warnings.filterwarnings("ignore", "ks_2samp: Exact calculation unsuccessful", RuntimeWarning)
        distance: Any = ks_2samp(x, y, method="exact")
    return min(1.0, 2.0 * min(shift, float(distance.pvalue)))


@reports_broken("sequential")
def sequential(
    subject: Subject,
    *,
    samples: int = 500,
    transitions: int = 5,
    false_alarm_rate: float = FALSE_ALARM_RATE,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Compare draws from the joint law with such draws after some transitions.

    Parameters
    ----------
    subject : Subject
    samples : int
        Draws in each sample of the first round, at least 4; four times as many in up to six more.
    transitions : int
        Of each draw of the second sample; more of them show smaller errors.
    false_alarm_rate : float
        Bound on the probability that a right sampler is rejected.
    seed : int
    progress : (done, total) -> None, optional
        Called with the draws of the current round.

    Returns
    -------
    Verdict
        ``table`` holds the p-value and the mean of each quantity in both samples of the last round; group
        ``two_sample`` its draws and group ``rounds`` the course of the test.
    """
    check_counts(samples=(samples, LEAST_SAMPLES), transitions=(transitions, 1))
    rng = np.random.default_rng(seed)
    bench = Bench(subject)
    bench.check_that_it_moves(rng)
    prior = moved = p_values = np.zeros(0)

    def p_value(size: int) -> float:
        nonlocal prior, moved, p_values
        pairs = []
        for i in range(size):
            untouched = bench.measure(*bench.draw_joint(rng))
            latents, data = bench.draw_joint(rng)
            pairs.append((untouched, bench.measure(bench.after(transitions, rng, latents, data), data)))
            if progress is not None:
                progress(i + 1, size)
        prior, moved = np.swapaxes(np.array(pairs), 0, 1)
        p_values = np.array([two_sample_p_value(x, y) for x, y in zip(prior.T, moved.T, strict=True)])
        return min(1.0, float(p_values.min()) * p_values.size)

    course = list(sequential_rounds(p_value, false_alarm_rate, samples))
    last = course[-1]
    worst = bench.names[int(p_values.argmin())]
    message = (
        f"Round {len(course)}, with {last.samples} draws: p = {last.p_value:.3g} over {p_values.size} "
        f"quantities, smallest for {worst}; rejects up to {last.reject_up_to:.3g}."
    )
    return Verdict(
        "sequential",
        name_of(subject),
        "rejected" if last.rejects else "passed",
        message,
        false_alarm_rate,
        table_of(bench.names, p_value=p_values, mean_prior=prior.mean(0), mean_moved=moved.mean(0)),
        {"rounds": len(course), "transitions": transitions, "samples": last.samples, "seed": seed},
        {
            "two_sample": xr.Dataset(
                {"prior": (("sample", "quantity"), prior), "moved": (("sample", "quantity"), moved)},
                {"quantity": bench.names},
            ),
            "rounds": xr.Dataset({name: ("round", values) for name, values in _columns(course).items()}),
        },
    )


def _columns(course: list[Round]) -> dict[str, list[float]]:
    return {name: [getattr(one, name) for one in course] for name in Round._fields}
