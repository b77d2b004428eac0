"""What a rung of the ladder says about a subject."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import xarray as xr

FALSE_ALARM_RATE = 1e-5
"""Default probability that a rung rejects a right sampler, over all its test quantities together."""


@dataclass(frozen=True)
class Verdict:
    """Result of one rung.

    Attributes
    ----------
    rung : str
    subject : str
        Name of what was judged.
    status : {"passed", "rejected", "broken"}
        ``broken``: the subject could not be judged, for the reason that `message` gives.
    message : str
        One line.
    false_alarm_rate : float
        Probability with which a right sampler is rejected, over all quantities together.
    table : xarray.Dataset
        One entry a quantity (dimension ``quantity``), with at least ``p_value`` where there is a test.
    figures : mapping of str to float
        What else was measured: sample sizes, rounds, seconds.
    groups : mapping of str to xarray.Dataset
        Draws, ranks and curves behind the verdict.
    """

    rung: str
    subject: str
    status: Literal["passed", "rejected", "broken"]
    message: str
    false_alarm_rate: float
    table: xr.Dataset = field(default_factory=xr.Dataset)
    figures: Mapping[str, float] = field(default_factory=dict)
    groups: Mapping[str, xr.Dataset] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether the subject passed."""
        return self.status == "passed"

    def tree(self) -> xr.DataTree:
        """All of it as a DataTree that netCDF and Zarr can hold: group ``table`` and those of `groups`."""
        tree = xr.DataTree.from_dict({"table": self.table, **self.groups})
        tree.attrs = {
            "rung": self.rung,
            "subject": self.subject,
            "status": self.status,
            "message": self.message,
            "false_alarm_rate": self.false_alarm_rate,
            **{f"figure_{name}": float(value) for name, value in self.figures.items()},
        }
        return tree

    def __str__(self):
        return f"{self.rung} · {self.subject}: {self.status}. {self.message}"


def judge(
    rung: str,
    subject: str,
    table: xr.Dataset,
    false_alarm_rate: float,
    figures: Mapping[str, float] | None = None,
    groups: Mapping[str, xr.Dataset] | None = None,
) -> Verdict:
    """Verdict from the p-values of `table`, with Bonferroni's correction over its quantities.

    ``broken`` where one of them is no number, which no level is below, and no level above.
    """
    p_values = np.atleast_1d(table["p_value"].values)
    unknown = ~np.isfinite(p_values)
    if unknown.any():
        first = int(np.argmax(unknown))
        message = (
            f"no p-value of {str(table['quantity'].values[first])!r}: "
            f"expected a finite number, found {p_values[first]}."
        )
        return Verdict(rung, subject, "broken", message, false_alarm_rate, table, figures or {}, groups or {})
    worst = int(np.argmin(p_values))
    adjusted = min(1.0, float(p_values[worst]) * p_values.size)
    rejected = adjusted <= false_alarm_rate
    message = (
        f"Smallest of {p_values.size} p-values: {p_values[worst]:.3g} ({table['quantity'].values[worst]}); "
        f"{adjusted:.3g} after Bonferroni, to reject at {false_alarm_rate:g}."
    )
    status = "rejected" if rejected else "passed"
    return Verdict(rung, subject, status, message, false_alarm_rate, table, figures or {}, groups or {})


def table_of(names: list[str], **columns: np.ndarray) -> xr.Dataset:
    """Dataset with one entry a quantity."""
    return xr.Dataset({name: ("quantity", values) for name, values in columns.items()}, {"quantity": names})
