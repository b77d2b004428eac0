"""Whether fits of one posterior agree, quantity by quantity.

The fits may come from different back ends, different kernels, or one reference program at two truncation
levels: all of them are a `DataTree` whose group ``posterior`` holds the same label-invariant test quantities.
"""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import xarray as xr
from scipy.stats import binom, norm

from ..zoo.inference.convergence import ESS_LIMIT, RHAT_LIMIT, ROUNDING, moves
from ..zoo.inference.convergence import ess as ess_of
from ..zoo.inference.convergence import mcse as mcse_of
from ..zoo.inference.convergence import rhat as rhat_of

type Verdict = Literal["agree", "constant", "inconclusive", "disagree"]

SEVERITY: tuple[Verdict, ...] = ("disagree", "inconclusive", "agree", "constant")
"""Verdicts, the worst one first."""

FEW_VISITS = 10
"""Stays away from the most common value: with fewer in a fit, its error is not to be trusted.

Of 1,000 pairs of right fits, each of four chains of 500 draws, of an event of probability 0.02 that keeps its
state for 30 draws in one fit, on average, and for one in the other, 262 were told to disagree; and none is.
With 0.05 and 100 draws it was 373, and is none; with 0.1 and 10 draws it is 7.
"""

NUTS_TROUBLE = ("diverging", "reached_max_treedepth")
"""Sample statistics of the reference back ends, true where something went wrong."""


@dataclass(frozen=True)
class Row:
    """One element of one test quantity.

    Attributes
    ----------
    quantity : str
        Name and coordinates, as in ``same_topic[3]``.
    mean, mcse, ess, ess_per_second : dict of str to float
        By fit. ESS is the bulk effective sample size of all chains of a fit; it is divided by the CPU seconds
        that they took, warm-up included, summed over chains.
    difference : dict of (str, str) to float
        For each pair of fits, the second's mean less the first's in units of
        ``sqrt(mcse_1² + mcse_2²)``; infinite for constants that differ. For a fit that never moves beside one
        that does, the other's standard deviation and effective draws a draw count: what is rare may not have
        come up in it.
    rhat : float
        Rank-normalised split R-hat (Vehtari et al. 2021) over the chains of all fits together; NaN for a
        constant.
    verdict : {"agree", "constant", "inconclusive", "disagree"}
        ``disagree``: some difference exceeds the threshold, or a draw is not finite. ``constant``: all draws
        of all fits are one and the same number, and there are several. ``inconclusive``: the chains mix too
        badly to tell, however large a difference if a fit by itself has R-hat above 1.05 and fewer effective
        draws than 100; or a fit has fewer draws than 100, or has hardly ever left one value, and no
        difference says anything. ``agree``: none of these.
    """

    quantity: str
    mean: dict[str, float]
    mcse: dict[str, float]
    ess: dict[str, float]
    ess_per_second: dict[str, float]
    difference: dict[tuple[str, str], float]
    rhat: float
    verdict: Verdict

    @property
    def largest_difference(self) -> float:
        """Largest absolute difference over pairs of fits; 0 for one fit."""
        return max(map(abs, self.difference.values()), default=0.0)


@dataclass(frozen=True)
class Trouble:
    """Draws of a fit in which NUTS could not do what it should; the fit may be biased, or slow.

    Attributes
    ----------
    diverging : int
        Draws whose trajectory diverged (Betancourt 2017): there are places that the chains cannot get to.
    deepest : int
        Draws whose trajectory was cut off at the largest tree.
    draws : int
        Of all chains.
    """

    diverging: int
    deepest: int
    draws: int

    @classmethod
    def of(cls, tree: xr.DataTree) -> "Trouble":
        """Count the trouble in a fit; a kernel has none."""
        stats = tree["sample_stats"].dataset
        diverging, cut_off = (int(stats[name].sum()) if name in stats else 0 for name in NUTS_TROUBLE)
        return cls(diverging, cut_off, stats["seconds"].size)

    def __bool__(self) -> bool:
        return self.diverging > 0 or self.deepest > 0

    def __str__(self) -> str:
        return (
            f"NUTS diverged in {self.diverging} and reached its largest tree in {self.deepest} "
            f"of {self.draws} draws"
        )


@dataclass(frozen=True)
class Comparison:
    """Fits of one posterior side by side.

    Attributes
    ----------
    labels : tuple of str
        Name of each fit.
    rows : tuple of Row
    threshold : float
        Differences beyond it, in combined MCSE, count as disagreement.
    trouble : dict of str to Trouble
        Of the fits by NUTS that had any.
    approximations : tuple of str
        Fits that are no draws from the posterior, whose chains are starts of variational inference.
    """

    labels: tuple[str, ...]
    rows: tuple[Row, ...]
    threshold: float
    trouble: Mapping[str, Trouble] = field(default_factory=dict)
    approximations: tuple[str, ...] = ()

    def worst(self, n: int) -> list[Row]:
        """Return the rows to look at first: by verdict, then the largest differences, then R-hat."""

        def trouble(row: Row) -> tuple[int, float, float]:
            rhat = 0.0 if np.isnan(row.rhat) else row.rhat
            return SEVERITY.index(row.verdict), -row.largest_difference, -rhat

        return sorted(self.rows, key=trouble)[:n]

    def count(self, verdict: Verdict) -> int:
        """Rows of this verdict."""
        return sum(row.verdict == verdict for row in self.rows)

    @property
    def verdict(self) -> Literal["agree", "inconclusive", "disagree"]:
        """The worst of the rows' verdicts; constants that are equal agree."""
        if self.count("disagree"):
            return "disagree"
        return "inconclusive" if self.count("inconclusive") else "agree"

    @property
    def heading(self) -> str:
        """The verdict in two or three words."""
        several = len(self.labels) > 1
        return {
            "agree": "Agreement" if several else "The chains agree",
            "inconclusive": "Not enough evidence",
            "disagree": "Disagreement" if several else "Broken draws",
        }[self.verdict]

    def under_heading(self) -> str:
        """Return the headline, less the words of the heading where it begins with them."""
        headline = self.headline()
        rest = headline.removeprefix(self.heading).lstrip(": ")
        return headline if rest == headline else f"{rest[0].upper()}{rest[1:]}"

    def headline(self) -> str:
        """Return the outcome in one or two sentences, and one for each fit not to be taken as it is.

        That is one in which NUTS had trouble, or an approximation.
        """
        trouble = (f"In {fit}, {it}." for fit, it in self.trouble.items())
        not_exact = (
            f"{fit} is an approximation: that its starts agree does not make it the posterior, and where "
            "they differ once they have converged no longer run helps."
            for fit in self.approximations
        )
        return " ".join((self._outcome(), *trouble, *not_exact))

    def _outcome(self) -> str:
        fits, n = _enumerated(self.labels), len(self.rows)
        of_fits = f" of {fits}" if len(self.labels) > 1 else ""
        moving = [row for row in self.rows if row.verdict != "constant"]
        if not moving:
            return f"All {n} test quantities{of_fits} are one constant each: nothing moved."
        if self.verdict == "inconclusive":
            if all(np.isnan(row.rhat) for row in moving):
                return (
                    f"Not enough evidence: R-hat{of_fits} takes two chains or more, of at least four draws."
                )
            return (
                f"Not enough evidence: for {self.count('inconclusive')} of {n} test quantities{of_fits} "
                f"the chains mix too badly (R-hat above {RHAT_LIMIT:g}, fewer than {ESS_LIMIT:g} effective "
                "draws, or one value that they have hardly left)."
                f"{'' if self.approximations else ' Draw longer chains.'}"
            )
        telling = [row for row in moving if row.verdict == self.verdict]
        worst = max(telling, key=lambda row: row.largest_difference)
        if self.verdict == "disagree":
            broken = sum(not np.isfinite(list(row.mean.values())).all() for row in moving)
            if broken:
                return f"{broken} of {n} test quantities{of_fits} hold draws that are not finite."
            weak = self.count("inconclusive")
            return (
                f"{fits} disagree on {self.count('disagree')} of {n} test quantities; the largest difference "
                f"is {worst.largest_difference:.1f} MCSE, in {worst.quantity}."
            ) + (
                f" For {weak} {'other' if weak == 1 else 'others'} the chains mix too badly to tell: "
                "draw longer chains."
                if weak
                else ""
            )
        rhat = max(row.rhat for row in moving)
        if len(self.labels) == 1:
            return f"The chains agree on all {n} test quantities: R-hat is at most {rhat:.3f}."
        return (
            f"{fits} agree on all {n} test quantities: the largest difference is "
            f"{worst.largest_difference:.1f} MCSE, where {self.threshold:g} are allowed, and R-hat over all "
            f"chains is at most {rhat:.3f}."
        )

    def records(self) -> list[dict[str, Any]]:
        """Rows as flat dictionaries of strings and numbers, for JSON or ``pandas.DataFrame``.

        What is not finite becomes None, which JSON has a word for.
        """
        return [
            {
                "quantity": row.quantity,
                "verdict": row.verdict,
                "rhat": _finite(row.rhat),
                **{
                    f"{name} [{label}]": _finite(getattr(row, name)[label])
                    for name in ("mean", "mcse", "ess", "ess_per_second")
                    for label in self.labels
                },
                **{f"difference [{b} - {a}]": _finite(d) for (a, b), d in row.difference.items()},
            }
            for row in self.rows
        ]


def compare(
    trees: Mapping[str, xr.DataTree] | Iterable[xr.DataTree] | xr.DataTree, threshold: float = 4.0
) -> Comparison:
    """Compare fits of one model to one corpus, per element of every test quantity.

    Parameters
    ----------
    trees : mapping of str to DataTree, iterable of DataTree, or DataTree
        As `sample` returns them, by label; those without get one (see `labelled`). Numbers of chains and
        draws may differ. With one fit alone its chains are compared with each other, by R-hat.
    threshold : float
        Difference of means, in combined MCSE, beyond which two fits disagree. Four has a false-alarm
        probability of 6e-5 for each normal difference.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        No fit, or fits of different models, hyperparameters, corpora or test quantities; a threshold that is
        not positive.

    Notes
    -----
    R-hat needs chains of one length: longer ones are thinned evenly to that of the shortest.
    """
    if not 0.0 < threshold < np.inf:
        raise ValueError(f"threshold: expected a positive number, found {threshold}")
    if isinstance(trees, xr.DataTree):  # which is a mapping, too
        fits = labelled([trees])
    elif isinstance(trees, Mapping):
        fits = {str(label): tree for label, tree in trees.items()}
    else:
        fits = labelled(trees)
    _check_comparable(fits)
    _check_same_probes(fits)
    draws = {label: dict(elements(tree)) for label, tree in fits.items()}
    first = next(iter(draws.values()))
    for label, own in draws.items():
        odd = sorted(first.keys() ^ own.keys())
        if odd:
            raise ValueError(
                f"{label}: the test quantities differ from the other fits' ({', '.join(odd[:3])})"
            )
    seconds = {label: _seconds(tree) for label, tree in fits.items()}
    rows = (_row(name, {label: draws[label][name] for label in draws}, seconds, threshold) for name in first)
    trouble = {label: found for label, tree in fits.items() if (found := Trouble.of(tree))}
    approximations = tuple(label for label, tree in fits.items() if "bound" in tree["sample_stats"])
    return Comparison(tuple(fits), tuple(rows), threshold, trouble, approximations)


def labelled(trees: Iterable[xr.DataTree]) -> dict[str, xr.DataTree]:
    """Give each fit a short name: back end, truncation or variant, and a number where these are the same."""
    out: dict[str, xr.DataTree] = {}
    for tree in trees:
        attrs = {"backend": "fit", "variant": "", "truncation": ""} | dict(getattr(tree, "attrs", {}))
        detail = f"T={attrs['truncation']}" if attrs["truncation"] != "" else attrs["variant"]
        name = f"{attrs['backend']} ({detail})" if detail else attrs["backend"]
        same = sum(other == name or other.startswith(f"{name} #") for other in out)
        out[f"{name} #{same + 1}" if same else name] = tree
    return out


def elements(tree: xr.DataTree) -> Iterator[tuple[str, np.ndarray]]:
    """All scalar test quantities of a fit.

    Yields
    ------
    name : str
        With coordinates where the quantity has several elements, as in ``same_topic[3]``.
    draws : float (chain, draw)
    """
    for name, variable in tree["posterior"].dataset.data_vars.items():
        dims = [str(d) for d in variable.dims if d not in ("chain", "draw")]
        values = variable.transpose("chain", "draw", *dims)
        labels = [values[d].values.tolist() for d in dims]
        flat = np.asarray(values.values, float).reshape(*values.shape[:2], -1)
        for i, coordinates in enumerate(itertools.product(*labels)):
            yield f"{name}[{', '.join(map(str, coordinates))}]" if dims else str(name), flat[:, :, i]


def _row(name: str, draws: dict[str, np.ndarray], seconds: dict[str, float], threshold: float) -> Row:
    """Compare one scalar quantity, given its draws (chain, draw) by fit."""
    finite = all(np.isfinite(x).all() for x in draws.values())
    constant = finite and not moves(np.concatenate([x.ravel() for x in draws.values()]))
    mean = {label: float(x.mean()) for label, x in draws.items()}
    mcse = {label: _mcse(x) for label, x in draws.items()}
    ess = {label: ess_of(x) for label, x in draws.items()}
    difference = {
        (a, b): 0.0
        if constant
        else _ratio(
            mean[b] - mean[a], float(np.hypot(_error(draws[a], draws[b]), _error(draws[b], draws[a])))
        )
        for a, b in itertools.combinations(draws, 2)
    }
    rhat = np.nan if constant or not finite else rhat_of(draws.values())
    enough = all(x.size >= ESS_LIMIT for x in draws.values())
    slow = [label for label, e in ess.items() if e < ESS_LIMIT]
    # an error that chains tell which have not met is not to be trusted, and no difference in its units either
    met = all(rhat_of([draws[label]]) <= RHAT_LIMIT for label in slow)
    far = [(draws[a], draws[b]) for (a, b), d in difference.items() if abs(d) > threshold]
    tells = any(_tells(a, b, threshold) and _tells(b, a, threshold) for a, b in far)
    verdict: Verdict
    if constant and all(x.shape[1] > 1 for x in draws.values()):
        verdict = "constant"
    elif not finite or (enough and met and tells):
        verdict = "disagree"
    else:
        verdict = "agree" if enough and not slow and not far and rhat <= RHAT_LIMIT else "inconclusive"
    per_second = {label: _ratio(e, seconds[label]) for label, e in ess.items()}
    return Row(name, mean, mcse, ess, per_second, difference, rhat, verdict)


def _tells(x: np.ndarray, other: np.ndarray, threshold: float) -> bool:
    """Whether a difference between `x` and another fit counts, or chains of `x` have hardly left one value.

    Even then it counts if the slowest chains, which leave this value wherever they begin elsewhere, and else
    never, would leave it so seldom with no more than the probability of two normal means so far apart.
    """
    values, counts = np.unique(x, return_counts=True)
    common = values[counts.argmax()]
    elsewhere, of_other = (~np.isclose(y, common, rtol=ROUNDING, atol=0.0) for y in (x, other))
    visits = int(elsewhere[:, 0].sum()) + int(np.sum(elsewhere[:, 1:] & ~elsewhere[:, :-1]))
    if elsewhere.mean() >= 0.5 or visits >= FEW_VISITS:
        return True
    slowest = binom.cdf(elsewhere.any(axis=1).sum(), len(x), of_other.mean())
    return bool(slowest <= 2.0 * norm.sf(threshold))


def _error(x: np.ndarray, other: np.ndarray) -> float:
    """Return the standard error of the mean of `x` beside another fit, which tells it where `x` never moves.

    What is rare may not have come up in `x`: its error is then as if it had the other's standard deviation,
    and as many effective draws a draw.
    """
    if moves(x) or not moves(other):
        return _mcse(x)
    effective = x.size * min(1.0, ess_of(other) / other.size)
    return float(other.std(ddof=1) / np.sqrt(effective))


def _mcse(x: np.ndarray) -> float:
    if not np.isfinite(x).all():
        return np.nan
    return mcse_of(x)


def _ratio(numerator: float, denominator: float) -> float:
    """Quotient, with 0 / 0 = 0: two equal constants do not differ."""
    if denominator > 0:
        return numerator / denominator
    return 0.0 if numerator == 0 else float(np.copysign(np.inf, numerator)) if denominator == 0 else np.nan


def _seconds(tree: xr.DataTree) -> float:
    return float(tree["sample_stats"].dataset["seconds"].sum())


def _check_comparable(trees: Mapping[str, xr.DataTree]) -> None:
    if not trees:
        raise ValueError("compare: expected at least one fit, found none")
    reference, identity = None, None
    for label, tree in trees.items():
        if not isinstance(tree, xr.DataTree):
            raise ValueError(f"{label}: expected a fit made by `sample`, found {type(tree).__name__}")
        if "model" not in tree.attrs or "posterior" not in tree.children:
            raise ValueError(
                f"{label}: expected a fit made by `sample`, found a tree without model or posterior"
            )
        own = {
            "model": tree.attrs["model"],
            "hyperparameters": json.loads(tree.attrs["hyperparameters"]),
            "corpus": tree.attrs["corpus_sha256"][:12],
        }
        if identity is None:
            reference, identity = label, own
        for what, value in own.items():
            if value != identity[what]:
                raise ValueError(
                    f"{label}: its {what} ({value}) differs from that of {reference} ({identity[what]}); "
                    "only fits of one model to one corpus can be compared"
                )


def _check_same_probes(trees: Mapping[str, xr.DataTree]) -> None:
    """Raise ValueError where fits that say where their quantities look do not look at the same places."""
    for name in ("pairs", "cells", "probed_documents"):
        seen = {
            label: tree["constant_data"].dataset[name].values
            for label, tree in trees.items()
            if "constant_data" in tree.children and name in tree["constant_data"].dataset
        }
        for (first, a), (label, b) in itertools.pairwise(seen.items()):
            if not np.array_equal(a, b):
                raise ValueError(
                    f"{label}: its test quantities look at other places of the corpus ({name}) than those of "
                    f"{first}; they were made by different versions of bnpzoo: fit one of them again"
                )


def _enumerated(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
