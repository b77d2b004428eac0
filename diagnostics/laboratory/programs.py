"""A NumPyro program of anybody's as a subject: calibration of models that are no topic models."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from inspect import Parameter, signature
from itertools import islice
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpyro import handlers
from numpyro.infer import NUTS
from numpyro.infer.util import log_density

from .subject import BrokenSubject

BLOCK = 50
"""Iterations of NUTS at once."""


class NumpyroProgram:
    """A NumPyro program and NUTS as a `Subject`.

    A chain starts where NUTS starts it, and tunes itself before its first draw. So `agrees_with_oracle` and
    `sbc` can judge it, which throw the beginning of a chain away, and `geweke` and `sequential` cannot.

    Parameters
    ----------
    program : callable
        With a keyword argument for each observed site, that is None by default: then the site is sampled. All
        other sites that are sampled are continuous.
    observed : str, sequence of str, or mapping of str to str
        Name of the observed site, or of all of them; a mapping of the sites to their arguments where these
        have other names, as in ``{"obs": "y"}``.
    arguments : mapping of str to object, optional
        All other arguments of the program, by keyword.
    tune : int
        Iterations of NUTS before the first draw.
    name : str, optional
        Under which it is reported; that of the program unless given.

    Raises
    ------
    ValueError
        The program has no such arguments, or further ones without a value.
    """

    starts_by_itself = True

    def __init__(
        self,
        program: Callable[..., Any],
        observed: str | Sequence[str] | Mapping[str, str],
        arguments: Mapping[str, Any] | None = None,
        tune: int = 200,
        name: str | None = None,
    ):
        self.program = partial(program, **(arguments or {}))  # fixed when the program is compiled
        sites = (observed,) if isinstance(observed, str) else observed
        self.observed = dict(sites) if isinstance(sites, Mapping) else {site: site for site in sites}
        self.tune = tune
        self.name = name or _name_of(program)
        self._check(signature(program).parameters, arguments or {})

    def _check(self, parameters: Mapping[str, Parameter], given: Mapping[str, Any]) -> None:
        """Check that the program can be called with what is given, and with data and without."""
        takes_any = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
        for name in given:
            if name not in parameters and not takes_any:
                raise ValueError(f"{self.name}: has no argument {name!r}, of which arguments tells")
        for site, name in self.observed.items():
            if not takes_any and (name not in parameters or parameters[name].default is not None):
                raise ValueError(
                    f"{self.name}: expected an argument {name!r} that is None by default, for the observed "
                    f"site {site!r}; its arguments are {', '.join(parameters)}"
                )
        for name, parameter in parameters.items():
            is_one = parameter.kind not in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
            if is_one and parameter.default is Parameter.empty and name not in given:
                raise ValueError(f"{self.name}: expected a value of its argument {name!r} among arguments")

    def draw_latents(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Draw what is not observed from the prior."""
        sites = self._sites(rng, {})
        missing = [name for name in self.observed if name not in sites]
        if missing:
            raise ValueError(f"{self.name}: expected a site {missing[0]!r}, which is observed")
        latents = {name: value for name, value in sites.items() if name not in self.observed}
        discrete = [name for name, value in latents.items() if value.dtype.kind != "f"]
        if discrete:
            raise BrokenSubject(
                f"site {discrete[0]!r} of {self.name} is discrete, and NUTS moves only what is continuous: "
                "sum it out, or observe it"
            )
        return latents

    def draw_data(self, rng: np.random.Generator, latents: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Draw the observed sites given all others."""
        sites = self._sites(rng, latents)
        return {name: sites[name] for name in self.observed}

    def transition(self, rng: np.random.Generator, latents: Any, data: Any) -> Any:
        """Refuse: there is no transition from given latents."""
        raise BrokenSubject("NUTS tunes itself, and cannot start from given latents")

    def transitions(
        self, rng: np.random.Generator, latents: Any, data: Mapping[str, Any]
    ) -> Iterator[dict[str, np.ndarray]]:
        """Latents after each iteration of NUTS, once it is tuned; `latents` are not looked at."""
        return islice(self._iterations(_key(rng), data), self.tune, None)

    def _iterations(self, key: jax.Array, data: Mapping[str, Any]) -> Iterator[dict[str, np.ndarray]]:
        """Latents after each iteration of NUTS, those in which it tunes itself included."""
        told = self._as_arguments(data)
        state = self._sampler.init(key, self.tune, None, (), told)
        while True:
            state, found = self._advance(state, told)
            draws = jax.device_get(found)
            for i in range(BLOCK):
                yield {site: values[i] for site, values in draws.items()}

    def quantities(self, latents: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """All latents, and the log density of latents and data."""
        found = {name: np.asarray(latents[name]) for name in sorted(latents)}
        return found | {"log_joint": np.asarray(self._log_joint(dict(latents), self._as_arguments(data)))}

    def _as_arguments(self, data: Mapping[str, Any]) -> dict[str, Any]:
        return {argument: data[site] for site, argument in self.observed.items()}

    def _sites(self, rng: np.random.Generator, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
        program = handlers.seed(handlers.substitute(self.program, data=dict(given)), _key(rng))
        trace = handlers.trace(program).get_trace()
        return {
            name: np.asarray(site["value"])
            for name, site in trace.items()
            if site["type"] == "sample" and not site["is_observed"]
        }

    @cached_property
    def _sampler(self) -> NUTS:
        return NUTS(self.program)

    @cached_property
    def _advance(self) -> Callable[[Any, dict[str, Any]], tuple[Any, dict[str, jax.Array]]]:
        """`BLOCK` iterations from a state on, with their draws; compiled once for all data of one shape."""
        sampler = self._sampler

        def advance(state: Any, data: dict[str, Any]) -> tuple[Any, dict[str, jax.Array]]:
            constrained = sampler.postprocess_fn((), data)

            def iteration(state: Any, _: None) -> tuple[Any, dict[str, jax.Array]]:
                state = sampler.sample(state, (), data)
                sites = constrained(state.z)
                return state, {site: sites[site] for site in state.z}  # without what is computed from them

            return jax.lax.scan(iteration, state, None, length=BLOCK)

        return jax.jit(advance)

    @cached_property
    def _log_joint(self) -> Callable[[dict[str, Any], dict[str, Any]], jax.Array]:
        def log_joint(latents: dict[str, Any], data: dict[str, Any]) -> jax.Array:
            return jnp.asarray(log_density(self.program, (), data, latents)[0])

        return jax.jit(log_joint)


def _name_of(program: Any) -> str:
    while isinstance(program, partial):
        program = program.func
    return getattr(program, "__name__", type(program).__name__)


def _key(rng: np.random.Generator) -> jax.Array:
    return jax.random.key(int(rng.integers(2**31)))
