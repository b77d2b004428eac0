"""Settings: the arguments of a model, or of a side of it, and all that is known of them.

A setting is a field of a frozen dataclass that says its default, its range, and its values before tests and
in benchmarks, so that no table elsewhere names it:

    n_topics: int = option(10, small=2, benchmark=100)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np

from .arguments import whole_number
from .priors import POSITIVE, Beta, Gamma, Hyperparameter, Prior, Range

type Purpose = Literal["fixed", "prior", "reference", "benchmark"]
"""What a value of a setting is for; see `Setting`."""

FIXED: dict[type[Prior], float] = {Gamma: 1.5, Beta: 0.6}
LADDER: dict[type[Prior], Prior] = {Gamma: Gamma(2.0, 2.0), Beta: Beta(2.0, 2.0)}


@dataclass(frozen=True)
class Setting:
    """All that is known of an argument of a model beside its default.

    Attributes
    ----------
    range : Range or None
        Where a hyperparameter lies; None for an argument that is none.
    fixed : value
        Before tests that are exact when all is fixed, such as enumeration.
    prior : value or Prior
        Before the other rungs of the ladder.
    reference : value or Prior
        Before the reference programs; for what decides how many topics there are, a small number, so that few
        sticks are enough.

    Values and priors of a model differ from one another, or a test could not see that two are swapped.

    benchmark : value
        In benchmarks, on a corpus of some ten thousand documents.
    """

    range: Range | None
    fixed: Any
    prior: Any
    reference: Any
    benchmark: Any


def setting(
    default: Hyperparameter,
    *,
    range: Range = POSITIVE,
    fixed: float | None = None,
    prior: Prior | None = None,
    reference: Hyperparameter | None = None,
    benchmark: float | None = None,
) -> Any:
    """Declare a hyperparameter, a field of a `HasSettings` dataclass; see `Setting`.

    Parameters
    ----------
    default : float or Prior
    range : Range
        Also tells the kind of its prior.
    fixed, prior, reference, benchmark
        Usual values for its kind, unless given; before references, the `prior` with both parameters doubled.
    """
    prior = prior or LADDER[range.prior]
    known = Setting(
        range,
        FIXED[range.prior] if fixed is None else fixed,
        prior,
        type(prior)(*(2.0 * parameter for parameter in prior.parameters)) if reference is None else reference,
        FIXED[range.prior] if benchmark is None else benchmark,
    )
    return field(default=default, metadata={"setting": known})


def option(default: Any, *, small: Any = None, benchmark: Any = None) -> Any:
    """Declare an argument that is no hyperparameter, such as a number of topics.

    Parameters
    ----------
    default : value
    small : value
        Before all tests, and, unless there is a `benchmark`, in benchmarks; the default unless given.
    benchmark : value
    """
    small = default if small is None else small
    known = Setting(None, small, small, small, small if benchmark is None else benchmark)
    return field(default=default, metadata={"setting": known})


class HasSettings:
    """Base of frozen dataclasses whose fields are settings: of models, and of sides that a model holds.

    A field that holds a `HasSettings` adds its hyperparameters to those of its owner.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __post_init__(self):
        self.check_texts()
        self.check_hyperparameters()

    @property
    def label(self) -> str:
        """What errors call it."""
        return type(self).__name__

    def parts(self) -> tuple["HasSettings", ...]:
        """Return itself, and what it holds that has settings, from the first field to the last."""
        held = (part for part in self.arguments().values() if isinstance(part, HasSettings))
        return (self, *(inner for part in held for inner in part.parts()))

    def own_settings(self) -> dict[str, Setting]:
        """Return the settings that are fields of its own, by name."""
        return {f.name: f.metadata["setting"] for f in fields(self) if "setting" in f.metadata}

    def arguments(self) -> dict[str, Any]:
        """All that it was made with, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def hyperparameters(self) -> dict[str, Hyperparameter]:
        """All hyperparameters by name, those of its parts among them."""
        return {
            name: getattr(part, name)
            for part in self.parts()
            for name, known in part.own_settings().items()
            if known.range is not None
        }

    def sampled(self) -> tuple[str, ...]:
        """Names of the hyperparameters that are sampled."""
        return tuple(name for name, value in self.hyperparameters().items() if isinstance(value, Prior))

    def prior_arrays(self) -> dict[str, tuple[float, float]]:
        """Parameters of every hyperparameter's prior, (0, 0) where it is fixed: as kernels take them."""
        return {
            name: value.parameters if isinstance(value, Prior) else (0.0, 0.0)
            for name, value in self.hyperparameters().items()
        }

    def range_of(self, name: str) -> Range:
        """Values and kind of prior that a hyperparameter may have."""
        for part in self.parts():
            known = part.own_settings().get(name)
            if known is not None and known.range is not None:
                return known.range if part is self else part.range_of(name)
        raise KeyError(f"{self.label}: no hyperparameter {name!r}")

    def set_to(self, purpose: Purpose) -> Self:
        """Copy of it in which every setting has its value for a purpose."""
        values = {name: getattr(known, purpose) for name, known in self.own_settings().items()}
        held = {
            name: part.set_to(purpose)
            for name, part in self.arguments().items()
            if isinstance(part, HasSettings)
        }
        return replace(self, **values, **held)

    def replaced(self, **values: Any) -> Self:
        """Copy of it with other values of some settings, be they its own or those of its parts."""
        held = {name: part for name, part in self.arguments().items() if isinstance(part, HasSettings)}
        for field_name, part in held.items():
            names = {name for inner in part.parts() for name in inner.own_settings()}
            held[field_name] = part.replaced(**{name: values.pop(name) for name in names & values.keys()})
        return replace(self, **held | values)

    def check_hyperparameters(self) -> None:
        """Raise ValueError unless every hyperparameter of its own is in its range, or has a prior on it."""
        for name, known in self.own_settings().items():
            if known.range is None:
                continue
            allowed = self.range_of(name)
            if not isinstance(getattr(self, name), allowed.prior):
                wanted = f"{allowed.about} or a {allowed.prior.__name__} prior"
                self.check_number(name, allowed.contains, wanted)

    def check_number(
        self, name: str, contains: Callable[[float], bool] = POSITIVE.contains, wanted: str = POSITIVE.about
    ) -> None:
        """Raise ValueError unless field `name` is a number in a range; make it a Python float."""
        value = getattr(self, name)
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
        if not contains(number):
            raise ValueError(f"{self.label}: {name}: expected {wanted}, found {value!r}")
        object.__setattr__(self, name, number)

    def check_whole(self, name: str, least: int, most: float = np.inf, bounds: str = "") -> None:
        """Raise ValueError unless field `name` is a whole number within bounds; make it a Python int.

        See `whole_number`.
        """
        number = whole_number(f"{self.label}: {name}", getattr(self, name), least, most, bounds)
        object.__setattr__(self, name, number)

    def check_texts(self) -> None:
        """Raise ValueError unless every field that is text by default is text."""
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(f.default, str) and not isinstance(value, str):
                wanted = "text (names, with commas between them)"
                raise ValueError(f"{self.label}: {f.name}: expected {wanted}, found {value!r}")

    def check_truth(self, name: str) -> None:
        """Raise ValueError unless field `name` is True or False."""
        value = getattr(self, name)
        if not isinstance(value, bool):
            raise ValueError(f"{self.label}: {name}: expected True or False, found {value!r}")
