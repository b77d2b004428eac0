"""Geweke's joint distribution test.

Two simulators of one joint law of latents and data: independent draws (marginal-conditional), and a chain
that renews latents by the sampler and data by the model in turn (successive-conditional). Every moment must
agree, or the sampler, the generator or both are wrong (Geweke 2004).

The chain is run many times over, each time from a fresh draw of the joint, at which a right sampler is
stationary at once. So each chain is one batch of a batch-means variance, and the batches are independent
whatever the autocorrelation.

References
----------
.. [1] J. Geweke (2004). Getting it right: joint distribution tests of posterior simulators. JASA 99(467).
.. [2] P. Samuelson (1968). How deviant can you be? JASA 63(324).
"""

from collections.abc import Callable
from itertools import count

import numpy as np
import xarray as xr
from arviz_stats.base.array import array_stats
from scipy.stats import binom, t, ttest_ind_from_stats

from .subject import Bench, Subject, check_counts, name_of, reports_broken
from .verdict import FALSE_ALARM_RATE, Verdict, judge, table_of

HEAVY_TAIL = 5.0
"""A positive quantity whose 99 % point is this many times its median is compared on the log scale.

Means of 40 slow chains are skewed where the quantity is, and Student's law then rejects too often: at 20, 3.7
in a thousand of 3,288 p-values of 55 right samplers were below 0.001, and one sampler was rejected; at 5, of
the same draws, 1.2 in a thousand and none. It was chosen on these draws, among 20, 8, 5, 3 and 1. The sampler
passes at 20, too, with another seed and 120 chains: the smallest of 58 p-values is 0.09.
"""

FEW = 20
"""Chains, or independent draws, that ever leave a value: with fewer, their variance is not to be trusted.

Of 10,000 right samplers that have one of two states, with probability 0.02 and for 30 steps on average, 379
were rejected at 1e-5 by 50 chains of 100 steps; with this limit none is. Over probabilities of 0.002 to 0.5,
times of 1 to 100 steps, and 40 chains of 50 steps as well, it was 517 at most, and is 6.
"""

CLIPPED = 0.001
"""Quantities are clipped to the range of the independent draws without this share at either end."""


class Scale:
    """Fixed transformation of a quantity, so that its moments exist and have short-tailed estimates.

    Any function of latents and data is a valid test quantity, so neither the logarithm nor the clipping
    makes a right sampler fail; an error that shows only beyond the clipped range goes unnoticed.

    Parameters
    ----------
    draws : float (n,)
        Independent draws, from which the transformation is chosen.
    """

    def __init__(self, draws: np.ndarray):
        self.is_log = bool(draws.min() > 0 and np.quantile(draws, 0.99) > HEAVY_TAIL * np.median(draws))
        self.smallest = float(draws.min())
        x = self._logged(draws)
        low, high = np.quantile(x, [CLIPPED, 1 - CLIPPED])
        self.range = (low, high) if low < high else (-np.inf, np.inf)
        x = np.clip(x, *self.range)
        self.centre, self.width = float(x.mean()), float(x.std()) or 1.0

    def _logged(self, draws: np.ndarray) -> np.ndarray:
        return np.log(np.maximum(draws, self.smallest)) if self.is_log else draws

    def __call__(self, draws: np.ndarray) -> np.ndarray:
        """Transform draws, to about mean 0 and variance 1."""
        return (np.clip(self._logged(draws), *self.range) - self.centre) / self.width


def welch(independent: np.ndarray, chains: np.ndarray) -> tuple[float, float]:
    """Z-score and two-sided p-value of equal means, with one batch a chain.

    Parameters
    ----------
    independent : float (n,)
    chains : float (chain, draw)
        Chains that are independent of each other and stationary.

    Returns
    -------
    z, p_value : float
        Welch's statistic and its p-value under Student's law. Where few chains ever leave the value that is
        the most common among independent draws, that is no smaller than the probability that so few begin
        elsewhere: slow chains may not have come to what is rare, or too few of them to tell the variance. The
        same holds of independent draws beside the chains' most common value.
    """
    batches = chains.mean(1)
    # From the moments: `ttest_ind` itself warns of samples without variance, such as a constant quantity's.
    moments = [(x.mean(), x.std(ddof=1), x.size) for x in (batches, independent)]
    if moments[0][1] == moments[1][1] == 0.0:
        difference = float(moments[0][0] - moments[1][0])
        return (0.0, 1.0) if difference == 0.0 else (np.sign(difference) * np.inf, 0.0)
    found = ttest_ind_from_stats(*moments[0], *moments[1], equal_var=False)
    least = max(_chance_of_few(chains, independent), _chance_of_few(independent[:, None], chains))
    return float(found.statistic), max(float(found.pvalue), least)


def _chance_of_few(chains: np.ndarray, others: np.ndarray) -> float:
    """Probability that no more chains leave the others' most common value than do; 0 where enough do.

    If a chain leaves it wherever it begins elsewhere, and else never: that is the slowest one.
    """
    values, counts = np.unique(others, return_counts=True)
    common = counts.argmax()
    elsewhere = 1.0 - (counts[common] + 1.0) / (others.size + 1.0)
    is_elsewhere = chains != values[common]
    leaving = int(is_elsewhere.any(axis=1).sum())
    if leaving >= min(FEW, len(chains)) or is_elsewhere.mean() >= elsewhere:
        return 0.0
    return float(binom.cdf(leaving, len(chains), elsewhere))


def least_draws(false_alarm_rate: float) -> int:
    """Fewest independent draws with which the worst sampler can be rejected, by one quantity.

    All its chains stay where the range of the n draws ends: at most sqrt(n - 1) standard deviations, and
    n - 1 standard errors, from their mean (Samuelson 1968). There are n - 1 degrees of freedom then, and two
    moments.
    """
    return next(n for n in count(2) if 4.0 * t.sf(n - 1, n - 1) <= false_alarm_rate)


@reports_broken("geweke")
def geweke(
    subject: Subject,
    *,
    draws: int = 2000,
    chains: int = 50,
    transitions: int = 100,
    false_alarm_rate: float = FALSE_ALARM_RATE,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Compare first and second moments of all test quantities under the two simulators.

    Quantities are measured before the data are renewed: there a wrong transition shows undiluted.

    Parameters
    ----------
    subject : Subject
    draws : int
        Independent draws of the joint law, at least 11: with fewer even the worst sampler would pass.
    chains, transitions : int
        Successive-conditional chains and their length.
    false_alarm_rate : float
        Over all moments together; it holds as far as means of chains follow Student's law.
    seed : int
    progress : (done, total) -> None, optional
        Called with the chains that are done.

    Returns
    -------
    Verdict
        ``table`` holds for each moment z-score, p-value, effective sample size of the chains, and
        whether the quantity was log-transformed; group ``pp`` the points of PP plots, ``draws`` all draws.
    """
    least = least_draws(false_alarm_rate)
    check_counts(draws=(draws, least), chains=(chains, 2), transitions=(transitions, 1))
    rng = np.random.default_rng(seed)
    bench = Bench(subject)
    bench.check_that_it_moves(rng)
    independent = np.array([bench.measure(*bench.draw_joint(rng)) for _ in range(draws)]).T
    paths = []
    for done in range(chains):
        paths.append(_successive(bench, transitions, rng))
        if progress is not None:
            progress(done + 1, chains)
    successive = np.moveaxis(np.array(paths), 2, 0)
    names, rows = [], []
    for name, one, other in zip(bench.names, independent, successive, strict=True):
        scale = Scale(one)
        x, y = scale(one), scale(other)
        label = f"log {name}" if scale.is_log else name
        for moment in (1, 2):
            names.append(f"{label}, moment {moment}")
            z, p_value = welch(x**moment, y**moment)
            rows.append((z, p_value, _ess(y**moment), scale.is_log))
    z, p_values, ess, is_log = map(np.array, zip(*rows, strict=True))
    return judge(
        "geweke",
        name_of(subject),
        table_of(names, p_value=p_values, z=z, ess=ess, is_log=is_log),
        false_alarm_rate,
        {"draws": draws, "chains": chains, "transitions": transitions, "clipped": CLIPPED, "seed": seed},
        {
            "pp": _pp_points(bench.names, independent, successive),
            "draws": xr.Dataset(
                {
                    "independent": (("quantity", "draw"), independent),
                    "successive": (("quantity", "chain", "transition"), successive),
                },
                {"quantity": bench.names},
            ),
        },
    )


def _successive(bench: Bench, transitions: int, rng: np.random.Generator) -> np.ndarray:
    latents, data = bench.draw_joint(rng)
    path = []
    for _ in range(transitions):
        latents = bench.after(1, rng, latents, data)
        path.append(bench.measure(latents, data))
        data = bench.draw_data(rng, latents)
    return np.array(path)


def _ess(chains: np.ndarray) -> float:
    return (
        float(chains.size) if np.ptp(chains) == 0 else float(array_stats.ess(chains, method="mean"))  # type: ignore[arg-type]
    )


def _pp_points(
    names: list[str], independent: np.ndarray, successive: np.ndarray, points: int = 99
) -> xr.Dataset:
    """Distribution functions of both simulators at quantiles of the two samples together."""
    curves = np.empty((2, len(names), points))
    for i, (x, y) in enumerate(
        zip(np.sort(independent), np.sort(successive.reshape(len(names), -1)), strict=True)
    ):
        levels = np.arange(1, points + 1) / (points + 1)
        at = np.sort(np.concatenate([np.quantile(x, levels[::2]), np.quantile(y, levels[1::2])]))
        curves[0, i] = np.searchsorted(x, at, side="right") / x.size
        curves[1, i] = np.searchsorted(y, at, side="right") / y.size
    dims = ("quantity", "point")
    return xr.Dataset(
        {"independent": (dims, curves[0]), "successive": (dims, curves[1])}, {"quantity": names}
    )
