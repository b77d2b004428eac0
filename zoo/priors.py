"""Priors of hyperparameters."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from numbers import Real
from typing import Any, NamedTuple, override

import numpy as np
from scipy.special import gammaln

from ..kernels.toolbox.random import LARGEST as LARGEST
from ..kernels.toolbox.random import LEAST as LEAST
from .wording import shortest

MOST = 1.0 - 2.0**-52
"""Next to 1; draws for small shapes are rounded to it or to `LEAST`: samplers take their log or logit."""


class Prior(ABC):
    """A prior with two positive parameters; makes the hyperparameter that it is given for random."""

    @property
    def parameters(self) -> tuple[float, float]:
        """The two parameters, in the order of the constructor."""
        return astuple(self)  # type: ignore[call-overload]

    @property
    @abstractmethod
    def mean(self) -> float:
        """Mean of the prior."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, size: int | None = None) -> Any:
        """Draw from the prior."""

    @abstractmethod
    def log_density(self, value: Any) -> float:
        """Log density, summed over `value`."""

    @abstractmethod
    def quantile(self, probability: np.ndarray) -> np.ndarray:
        """Values that are not exceeded with the given probabilities."""

    def _check(self, expected: str) -> None:
        """Raise ValueError unless the parameters are positive numbers; make them Python floats."""
        name = type(self).__name__
        for parameter in fields(self):  # type: ignore[arg-type]
            value = getattr(self, parameter.name)
            number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
            if not LEAST <= number <= LARGEST:
                found = ", ".join(map(repr, self.parameters))
                raise ValueError(f"{name}: expected positive {expected} (1e-300 to 1e300), found {found}")
            object.__setattr__(self, parameter.name, number)
        if not LEAST <= self.mean <= LARGEST:
            raise ValueError(f"{name}: expected a mean of 1e-300 to 1e300, found {self.mean:g}")

    def __str__(self):
        return f"{type(self).__name__}({', '.join(map(shortest, self.parameters))})"


@dataclass(frozen=True)
class Gamma(Prior):
    """A Gamma prior, of a positive hyperparameter.

    Parameters
    ----------
    shape, rate : float
        Both positive; the mean is ``shape / rate``.
    """

    shape: float = 1.0
    rate: float = 1.0

    def __post_init__(self):
        self._check("shape and rate")

    @property
    @override
    def mean(self) -> float:
        return self.shape / self.rate

    @override
    def draw(self, rng: np.random.Generator, size: int | None = None) -> Any:
        """See `Prior.draw`; never 0 or infinite."""
        return np.clip(rng.gamma(self.shape, 1.0 / self.rate, size), LEAST, LARGEST)

    @override
    def log_density(self, value: Any) -> float:
        value = np.asarray(value)
        terms = (self.shape - 1.0) * np.log(value) - self.rate * value
        return float(np.sum(terms + self.shape * np.log(self.rate) - gammaln(self.shape)))

    @override
    def quantile(self, probability: np.ndarray) -> np.ndarray:
        from scipy import stats  # takes half a second to import

        return stats.gamma.ppf(probability, self.shape, scale=1.0 / self.rate)


@dataclass(frozen=True)
class Beta(Prior):
    """A Beta prior, of a hyperparameter between 0 and 1.

    Parameters
    ----------
    shape_a, shape_b : float
        Both positive; the mean is ``shape_a / (shape_a + shape_b)``.
    """

    shape_a: float = 1.0
    shape_b: float = 1.0

    def __post_init__(self):
        self._check("shapes")

    @property
    @override
    def mean(self) -> float:
        return self.shape_a / (self.shape_a + self.shape_b)

    @override
    def draw(self, rng: np.random.Generator, size: int | None = None) -> Any:
        """See `Prior.draw`; never 0 or 1."""
        return np.clip(rng.beta(self.shape_a, self.shape_b, size), LEAST, MOST)

    @override
    def log_density(self, value: Any) -> float:
        value, a, b = np.asarray(value), self.shape_a, self.shape_b
        terms = (a - 1.0) * np.log(value) + (b - 1.0) * np.log1p(-value)
        return float(np.sum(terms + gammaln(a + b) - gammaln(a) - gammaln(b)))

    @override
    def quantile(self, probability: np.ndarray) -> np.ndarray:
        from scipy import stats

        return stats.beta.ppf(probability, self.shape_a, self.shape_b)


type Hyperparameter = float | Gamma | Beta
"""A number: fixed at it. A `Gamma`, or for one below 1 a `Beta`: sampled under that prior."""


PRIORS: dict[str, type[Gamma] | type[Beta]] = {cls.__name__: cls for cls in (Gamma, Beta)}


class Range(NamedTuple):
    """Where a hyperparameter lies.

    Attributes
    ----------
    contains : (float) -> bool
    about : str
        Such as "a positive number".
    prior : type
        The kind of prior on it.
    """

    contains: Callable[[float], bool]
    about: str
    prior: type[Prior]


POSITIVE = Range(lambda value: LEAST <= value <= LARGEST, "a positive number from 1e-300 to 1e300", Gamma)
"""Of smaller and larger ones the densities are not finite in double precision."""
