"""Simulation-based calibration.

The rank of a true value among draws from its posterior is uniform, on average over the model's own joint
law (Talts et al. 2018), for every test quantity, those that depend on the data included (Modrák et al. 2023).
With the posterior given observed data in place of the prior, it holds near these data (Säilynoja et al.
2025).

References
----------
.. [1] S. Talts, M. Betancourt, D. Simpson, A. Vehtari, A. Gelman (2018). Validating Bayesian inference
       algorithms with simulation-based calibration. arXiv:1804.06788.
.. [2] M. Modrák et al. (2023). Simulation-based calibration checking for Bayesian computation: the choice of
       test quantities shapes sensitivity. Bayesian Analysis.
.. [3] T. Säilynoja, M. Schmitt, P. Bürkner, A. Vehtari (2025). Posterior SBC: simulation-based calibration
       checking conditional on data. arXiv:2502.03279.
"""

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from arviz_stats.base.array import array_stats

from .sbc_runner import (
    Joint,
    Plan,
    PosteriorJoint,
    PriorJoint,
    check_that_it_travels,
    effective_sizes,
    identity_of,
    run_blocks,
)
from .subject import Bench, Subject, check_counts, name_of, reports_broken
from .verdict import FALSE_ALARM_RATE, Verdict, judge, table_of

PILOT_LENGTH = 400
"""Transitions of a pilot."""

LEAST_ESS_PER_DRAW = 0.5
"""Draws that depend on each other more than that lie on one side of the truth too often, and calibrated ranks
are not uniform. Of right autoregressions, 100 replications of 15 draws, one in twelve was rejected at 0.4,
and none in twelve at 0.5; the least of the zoo's samplers is 0.76."""

LEAST_TO_TELL = 10
"""Draws of a chain without which ArviZ's estimate of their effective number says nothing, and replications
without which the mean of such estimates does not."""

WARMUP_THINS = 20
"""Warm-up in units of `thin`, which is itself two autocorrelation times."""


def least_replications(draws: int, false_alarm_rate: float) -> int:
    """Fewest replications with which the worst sampler is rejected, by one quantity.

    All its ranks are the lowest, and the largest of n numbers is below 1 / (L + 1), with L draws, with a
    p-value of 2 / (L + 1)^n. In ArviZ's combination over all n it counts for a share 1 / n.
    """
    return next(n for n in count(1) if 2 * n * (draws + 1.0) ** -n <= false_alarm_rate)


@reports_broken("sbc")
def sbc(
    subject: Subject,
    *,
    replications: int = 500,
    draws: int = 63,
    thin: int | None = None,
    observed: Any = None,
    false_alarm_rate: float = FALSE_ALARM_RATE,
    seed: int = 0,
    n_jobs: int = 1,
    backend: str | None = None,
    store: Path | str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Rank true values among posterior draws, in many replications.

    A sampler that mixes too slowly for `thin`, so that less than half of its draws are effective, cannot be
    judged: it is ``broken``. Of fewer than ten draws, or ten replications, this cannot be told.

    Parameters
    ----------
    subject : Subject
    replications : int
        At least 4 of 63 draws, 23 of a single one: with fewer even the worst sampler would pass.
    draws : int
        Posterior draws a replication.
    thin : int, optional
        Transitions from draw to draw; the default is taken from pilot chains, so that draws are nearly
        independent: two autocorrelation times of the slowest quantity.
    observed : data, optional
        Then posterior SBC given these data; needs a subject with ``extend``.
    false_alarm_rate : float
        Over all quantities together.
    seed : int
        The result depends on it alone, not on `n_jobs`, `backend` or interruptions.
    n_jobs, backend : int, str
        For joblib; a Dask or Ray back end that is registered there can be named.
    store : Path or str, optional
        Folder for the blocks of finished replications; a run that finds it takes up where it was left.
    progress : (done, total) -> None, optional
        Called with the replications that are done.

    Returns
    -------
    Verdict
        ``table`` holds p-values of ArviZ's uniformity test (its size was measured at up to 1.3 times the
        nominal one, with 100 and 500 replications) and the mean effective sample size a draw. Group
        ``prior_sbc`` (or ``posterior_sbc``) holds the normalised ranks, as ``arviz_plots.plot_ecdf_pit``
        reads them.

    Raises
    ------
    ValueError
        An argument is out of its range, other processes cannot be given the subject, or `store` holds another
        run: with other arguments, other quantities, other data, or a subject that differs in the files of its
        classes, in what they import, in its attributes or, where it has no file, in what its functions name.
    MemoryError
        A process was ended from outside, as an operating system does that runs out of memory.
    """
    check_counts(draws=(draws, 1), thin=(1 if thin is None else thin, 1))
    check_counts(replications=(replications, least_replications(draws, false_alarm_rate)))
    check_that_it_travels(subject, n_jobs, backend)
    store = None if store is None else Path(store)
    identity = {} if store is None else identity_of(subject, observed)
    rng = np.random.default_rng([seed, replications])
    bench = Bench(subject)
    bench.check_that_it_moves(np.random.default_rng(seed))
    chosen = thin or _thin_of_pilots(bench, np.random.default_rng(seed))
    plan = Plan(replications, draws, WARMUP_THINS * chosen, chosen, seed)
    joint: Joint = PriorJoint() if observed is None else _given(observed, bench, plan, rng)
    if store is not None:
        again = identity_of(subject, observed)  # what has changed meanwhile, as a cache does, tells nothing
        identity = {name: told for name, told in identity.items() if again.get(name) == told}
    ranks, sizes = run_blocks(bench, joint, plan, store, identity, n_jobs, backend, progress)
    p_values = np.atleast_1d(np.asarray(array_stats.uniformity_test(ranks.T)[0], float))
    group = "prior_sbc" if observed is None else "posterior_sbc"
    measured = np.isfinite(sizes)
    ess_per_draw = np.sum(sizes, axis=0, where=measured) / np.maximum(measured.sum(0), 1) / draws
    verdict = judge(
        group.replace("prior_sbc", "sbc"),
        name_of(subject),
        table_of(bench.names, p_value=p_values, ess_per_draw=ess_per_draw),
        false_alarm_rate,
        {"replications": replications, "draws": draws, "warmup": plan.warmup, "thin": chosen, "seed": seed},
        {group: _dataset(ranks, bench)},
    )
    return _unless_too_slow(verdict, measured.sum(0), piloted=thin is None)


def _unless_too_slow(verdict: Verdict, measured: np.ndarray, piloted: bool) -> Verdict:
    """`verdict`, or that the draws of a quantity depend on each other too much for one.

    Parameters
    ----------
    verdict : Verdict
    measured : int (Q,)
        Replications of which the effective sample size is known.
    piloted : bool
        Whether `thin` is from pilots.
    """
    ess, figures = verdict.table["ess_per_draw"].values, verdict.figures
    can_tell = (measured >= LEAST_TO_TELL) & (figures["draws"] >= LEAST_TO_TELL)
    slowest = int(np.argmin(np.where(can_tell, ess, np.inf)))
    if verdict.status == "broken" or not can_tell[slowest] or ess[slowest] >= LEAST_ESS_PER_DRAW:
        return verdict
    advice = f"a pilot of {PILOT_LENGTH} transitions: give thin, more" if piloted else "this thin: give more"
    message = (
        f"the sampler mixes too slowly for {advice} than {figures['thin']}; effective draws a draw of "
        f"{str(verdict.table['quantity'].values[slowest])!r}: expected {LEAST_ESS_PER_DRAW} or more, "
        f"found {ess[slowest]:.2g}."
    )
    return replace(verdict, status="broken", message=message)


def _given(observed: Any, bench: Bench, plan: Plan, rng: np.random.Generator) -> PosteriorJoint:
    """Posterior draws given `observed`, by the sampler under test, as the prior of the replications."""
    chain = bench.transitions(rng, bench.start(rng, observed), observed)
    kept = islice(chain, plan.warmup, plan.warmup + plan.replications * plan.thin, plan.thin)
    joint = PosteriorJoint(observed, [deepcopy(moved) for moved in kept])  # a subject may move in place
    bench.shapes = {}  # quantities of old and new data together may have other shapes
    bench.measure(*joint.draw(bench, rng, 0))
    return joint


def _thin_of_pilots(
    bench: Bench, rng: np.random.Generator, pilots: int = 8, length: int = PILOT_LENGTH
) -> int:
    """Two autocorrelation times of the slowest quantity, on average over data sets."""
    times = []
    for _ in range(pilots):
        latents, data = bench.draw_joint(rng)
        chain = islice(bench.transitions(rng, latents, data), length)
        path = np.array([bench.measure(moved, data) for moved in chain])
        sizes = effective_sizes(path)
        times.append(np.where(np.isfinite(sizes), length / sizes, 1.0))
    return max(1, math.ceil(2.0 * np.mean(times, axis=0).max()))


def _dataset(ranks: np.ndarray, bench: Bench) -> xr.Dataset:
    """Normalised ranks by quantity, with dimensions (chain, draw) and those of the quantity."""
    coords: dict[str, Any] = {"chain": [0], "draw": np.arange(len(ranks))}
    variables, start = {}, 0
    for name, shape in bench.shapes.items():
        size = math.prod(shape)
        dims = ("chain", "draw", *(f"{name}_dim_{axis}" for axis in range(len(shape))))
        variables[name] = (dims, ranks[None, :, start : start + size].reshape(1, len(ranks), *shape))
        coords |= {dim: np.arange(n) for dim, n in zip(dims[2:], shape, strict=True)}
        start += size
    return xr.Dataset(variables, coords)
