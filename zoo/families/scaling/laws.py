"""Laws of the log scales of topics under labels."""

from abc import ABC, abstractmethod
from dataclasses import astuple, dataclass
from typing import Any, ClassVar, override

import numpy as np
from scipy.special import gammaln

from ....kernels.scaling.state import LOG_INVERSE_GAMMA, NORMAL
from ...priors import LEAST, Gamma, Range


def range_of_scales(least: float, most: float) -> Range:
    """Range of a parameter of a law, from which scales are hardly ever beyond where samplers cut them off."""
    return Range(lambda value: least <= value <= most, f"a number from {least:g} to {most:g}", Gamma)


class ScaleLaw(ABC):
    """Law of a log scale, the same for all topics and labels; a dataclass of its parameters.

    Attributes
    ----------
    kind : int
        What the kernels call it.
    names : tuple of str
        Of its parameters, as hyperparameters of a model.
    stan_folder : str
        Where its part of the Stan program is.
    """

    kind: ClassVar[int]
    names: ClassVar[tuple[str, ...]]
    stan_folder: ClassVar[str]

    @property
    def parameters(self) -> tuple[float, ...]:
        """Its parameters."""
        return astuple(self)  # type: ignore[call-overload]

    @abstractmethod
    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
        """Draw log scales."""

    @abstractmethod
    def log_density(self, log_scale: np.ndarray) -> float:
        """Log density, summed."""

    @abstractmethod
    def slopes(self, log_scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First derivative of the log density at each log scale, and minus the second."""

    @abstractmethod
    def block(self, shape: tuple[int, ...]) -> Any:
        """Log scales of the NumPyro program, in which the parameters may be traced; site ``scale_x``."""


@dataclass(frozen=True)
class LogInverseGamma(ScaleLaw):
    """Law of log w, where w is inverse gamma: 1 / w has this shape, and `rate` for its rate."""

    shape: float
    rate: float

    kind: ClassVar[int] = LOG_INVERSE_GAMMA
    names: ClassVar[tuple[str, ...]] = ("w_shape", "w_rate")
    stan_folder: ClassVar[str] = "scales/log_inverse_gamma"

    @override
    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
        return np.log(self.rate) - np.log(np.maximum(rng.gamma(self.shape, size=size), LEAST))

    @override
    def log_density(self, log_scale: np.ndarray) -> float:
        constant = self.shape * np.log(self.rate) - gammaln(self.shape)
        return float(np.sum(constant - self.shape * log_scale - self.rate * np.exp(-log_scale)))

    @override
    def slopes(self, log_scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        curvature = self.rate * np.exp(-log_scale)
        return curvature - self.shape, curvature

    @override
    def block(self, shape: tuple[int, ...]) -> Any:
        import jax.numpy as jnp
        import numpyro

        from ...toolbox import blocks

        law = blocks.LogGamma(jnp.full(shape, self.shape)).to_event()
        return jnp.log(self.rate) - jnp.asarray(numpyro.sample("scale_x", law))


@dataclass(frozen=True)
class Normal(ScaleLaw):
    """Normal law around zero."""

    variance: float

    kind: ClassVar[int] = NORMAL
    names: ClassVar[tuple[str, ...]] = ("w_variance",)
    stan_folder: ClassVar[str] = "scales/normal"

    @override
    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
        return np.sqrt(self.variance) * rng.normal(size=size)

    @override
    def log_density(self, log_scale: np.ndarray) -> float:
        squares = -0.5 * log_scale**2 / self.variance
        return float(np.sum(squares - 0.5 * np.log(2.0 * np.pi * self.variance)))

    @override
    def slopes(self, log_scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return -log_scale / self.variance, np.full(log_scale.shape, 1.0 / self.variance)

    @override
    def block(self, shape: tuple[int, ...]) -> Any:
        import jax.numpy as jnp
        import numpyro
        import numpyro.distributions as dist

        law = dist.Normal().expand(shape).to_event()
        return jnp.sqrt(self.variance) * jnp.asarray(numpyro.sample("scale_x", law))
