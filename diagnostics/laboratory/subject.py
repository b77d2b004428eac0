"""The subject of a test: anything that can draw from its prior, make data, and move given data."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from functools import wraps
from itertools import islice
from numbers import Real
from typing import Any, Concatenate, Protocol

import numpy as np

from ...zoo.arguments import whole_number
from ...zoo.contract import Design, Kernel, Latents, Model, Probes
from ...zoo.corpus import Corpus
from .verdict import FALSE_ALARM_RATE, Verdict

SIGNIFICANT_DIGITS = 10
"""Test quantities are rounded to these, or the order of summation would break ties that the model makes."""


class Subject(Protocol):
    """What the laboratory needs to know of a sampler and its model; latents and data may be of any type.

    A subject may also have a ``name``; ``transitions(rng, latents, data)``, an endless iterator over the
    latents of one chain on one data set, where that is cheaper than calling ``transition`` again and again;
    ``start(rng, data)``, latents from which a chain on `data` can start, where draws from the prior cannot;
    and ``extend(rng, latents, data)``, which posterior SBC needs: it draws new data, with latents of their
    own, given the latents of the old data, and returns latents and data of old and new together.
    A sampler that cannot be put at given latents says so by ``starts_by_itself = True``; then only rungs that
    throw the beginning of a chain away, `agrees_with_oracle` and `sbc`, can judge it.

    What these functions return is measured at once, but for data, which a chain is given until it ends: so
    latents may be moved in place, and data that were returned should not be changed later.
    """

    def draw_latents(self, rng: np.random.Generator) -> Any:
        """Draw latent variables from the prior."""
        ...

    def draw_data(self, rng: np.random.Generator, latents: Any) -> Any:
        """Draw data given the latent variables."""
        ...

    def transition(self, rng: np.random.Generator, latents: Any, data: Any) -> Any:
        """Latents after one step of the sampler, which should leave p(latents | data) invariant."""
        ...

    def quantities(self, latents: Any, data: Any) -> Mapping[str, Any]:
        """Test quantities by name: finite scalars or vectors, of the same shape at every call."""
        ...


class ModelSubject:
    """A model of the zoo and one of its kernels as a `Subject`.

    Parameters
    ----------
    model : Model
    design : Design
        Of the data that are simulated.
    variant : str, optional
        Of the kernel.
    probes : Probes, optional
        Where the test quantities look; the default depends on the design alone.
    """

    def __init__(
        self, model: Model, design: Design, variant: str | None = None, probes: Probes | None = None
    ):
        self.model = model
        self.design = design
        self.variant = variant
        self.model.kernel(variant)  # raises now, and not in the middle of a test, if there is none
        n_tokens = int(np.sum(design.doc_lengths))
        self.probes = probes or Probes.of(design.corpus(np.zeros(n_tokens, np.int32)))
        self.name = model.card.id if variant is None else f"{model.card.id}/{variant}"

    @property
    def kernel(self) -> Kernel:
        """The kernel; looked up anew in every process, as compiled functions do not survive a journey."""
        return self.model.kernel(self.variant)

    def draw_latents(self, rng: np.random.Generator) -> Latents:
        """Draw latent variables from the prior."""
        return self.model.simulate(self.design, rng).latents

    def draw_data(self, rng: np.random.Generator, latents: Latents) -> Corpus:
        """Draw a corpus given the latent variables."""
        return self.model.resample_data(latents, self.design, rng)

    def start(self, rng: np.random.Generator, data: Corpus) -> Latents:
        """Latents from which a chain on `data` starts."""
        return self.model.initial_latents(data, rng)

    def transitions(self, rng: np.random.Generator, latents: Latents, data: Corpus) -> Iterator[Latents]:
        """Latents after each further sweep."""
        kernel = self.kernel
        state = kernel.load(latents, data, self.model)
        while True:
            state = kernel.step(rng, state)
            yield kernel.snapshot(state)

    def transition(self, rng: np.random.Generator, latents: Latents, data: Corpus) -> Latents:
        """Latents after one sweep."""
        return next(self.transitions(rng, latents, data))

    def quantities(self, latents: Latents, data: Corpus) -> Mapping[str, np.ndarray]:
        """Test quantities of the model."""
        return self.model.quantities(latents, data, self.probes)


class BrokenSubject(Exception):
    """A subject cannot be judged. The message is one line that says why."""


@contextmanager
def blaming(function: str) -> Iterator[None]:
    """Turn what a function of the subject raises into a `BrokenSubject` that names the function."""
    try:
        yield
    except BrokenSubject:
        raise
    except Exception as error:
        told = filter(None, [type(error).__name__, str(error).partition("\n")[0]])
        raise BrokenSubject(f"{function} raised {': '.join(told)}") from error


def name_of(subject: Any) -> str:
    """Name under which `subject` is reported."""
    return getattr(subject, "name", type(subject).__name__)


def check_counts(**arguments: tuple[Any, int]) -> None:
    """Check arguments of a rung that are counts, each given with the least that it may be.

    Raises
    ------
    ValueError
        One is no whole number, or too small.
    """
    for name, (value, least) in arguments.items():
        whole_number(name, value, least)


def _check_rate(rate: Any) -> None:
    if not isinstance(rate, Real) or not 0 < float(rate) < 1:
        raise ValueError(f"false_alarm_rate: expected a number above 0 and below 1, found {rate}")


class Bench:
    """Asks a subject and checks its answers; what is wrong with them becomes a `BrokenSubject`.

    Attributes
    ----------
    shapes : dict of str to tuple
        Shape of each test quantity, as it was first seen.
    """

    def __init__(self, subject: Subject):
        self.subject = subject
        self.shapes: dict[str, tuple[int, ...]] = {}

    @property
    def names(self) -> list[str]:
        """Names of the scalar quantities; entries of vectors are numbered, as in ``same_topic[3]``."""
        return [
            name if shape == () else f"{name}[{','.join(map(str, index))}]"
            for name, shape in self.shapes.items()
            for index in np.ndindex(shape)
        ]

    def draw_joint(self, rng: np.random.Generator) -> tuple[Any, Any]:
        """Latents from the prior and data given them."""
        with blaming("draw_latents"):
            latents = _expected(self.subject.draw_latents(rng), "draw_latents")
        return latents, self.draw_data(rng, latents)

    def draw_data(self, rng: np.random.Generator, latents: Any) -> Any:
        """Draw data given latents."""
        with blaming("draw_data"):
            return self.subject.draw_data(rng, latents)

    def start(self, rng: np.random.Generator, data: Any) -> Any:
        """Latents from which a chain on `data` starts: the subject's own, or a draw from the prior."""
        start = getattr(self.subject, "start", None)
        if start is None:
            return self.draw_joint(rng)[0]
        with blaming("start"):
            return _expected(start(rng, data), "start")

    def copy_of(self, data: Any) -> Any:
        """Copy data of which a chain is run after others have been drawn, maybe into the same array."""
        with blaming("a copy of the data"):
            return deepcopy(data)

    def extend(self, rng: np.random.Generator, latents: Any, data: Any) -> tuple[Any, Any]:
        """Old and new data together, and their latents."""
        extend = getattr(self.subject, "extend", None)
        if extend is None:
            raise BrokenSubject("posterior SBC needs a subject with extend(rng, latents, data)")
        with blaming("extend"):
            return extend(rng, latents, data)

    def transitions(self, rng: np.random.Generator, latents: Any, data: Any) -> Iterator[Any]:
        """Latents after each further transition given `data`."""
        with blaming("transition"):
            chain = getattr(self.subject, "transitions", None)
            if chain is not None:
                yield from _until_closed(chain(rng, latents, data))
            while chain is None:
                latents = _expected(self.subject.transition(rng, latents, data), "transition")
                yield latents

    def after(self, n: int, rng: np.random.Generator, latents: Any, data: Any) -> Any:
        """Latents after `n` transitions from given latents."""
        if getattr(self.subject, "starts_by_itself", False):
            raise BrokenSubject("the sampler starts by itself, and cannot be put at given latents")
        return next(islice(self.transitions(rng, latents, data), n - 1, None))

    def measure(self, latents: Any, data: Any) -> np.ndarray:
        """Test quantities in one flat array, in the order of `shapes`, rounded to ten significant digits."""
        with blaming("quantities"):
            told = self.subject.quantities(latents, data)
            if not hasattr(told, "items"):
                found = "None" if told is None else type(told).__name__
                raise BrokenSubject(f"quantities: expected a mapping of names to numbers, found {found}")
            values = {name: _real(name, np.asarray(value)) for name, value in told.items()}
        shapes = {name: value.shape for name, value in values.items()}
        if not self.shapes:
            _check_names(shapes)
            self.shapes = shapes
        if not values:
            raise BrokenSubject("quantities returned nothing")
        if shapes != self.shapes:
            changed = next(n for n in {**shapes, **self.shapes} if shapes.get(n) != self.shapes.get(n))
            raise BrokenSubject(
                f"quantity {changed!r} changed shape: expected {self.shapes.get(changed)}, "
                f"found {shapes.get(changed)}"
            )
        flat = np.concatenate([values[name].ravel() for name in self.shapes])
        if not np.isfinite(flat).all():
            bad = int(np.argmin(np.isfinite(flat)))
            raise BrokenSubject(f"quantity {self.names[bad]!r}: expected a finite number, found {flat[bad]}")
        return _rounded(flat)

    def check_that_it_moves(self, rng: np.random.Generator, data_sets: int = 10, steps: int = 10) -> None:
        """Raise `BrokenSubject` unless some transition changes some quantity.

        A sampler that stays where it is leaves every distribution invariant, so no test of invariance
        would notice.
        """
        for _ in range(data_sets):
            latents, data = self.draw_joint(rng)
            before = self.measure(latents, data)
            for moved in islice(self.transitions(rng, latents, data), steps):
                if np.any(self.measure(moved, data) != before):
                    return
        raise BrokenSubject(
            f"the sampler never moved: no quantity changed in {steps} transitions "
            f"on each of {data_sets} data sets"
        )


def _expected(latents: Any, function: str) -> Any:
    """`latents`, unless a function has returned none; a user's may work in place, and forget to."""
    if latents is None:
        raise BrokenSubject(f"{function} returned None, where latents were expected")
    return latents


def _real(name: Any, value: np.ndarray) -> np.ndarray:
    """`value` as floats; a cast would drop imaginary parts without a word."""
    if np.iscomplexobj(value):
        raise BrokenSubject(f"quantity {name!r}: expected real numbers, found complex ones")
    return value.astype(float, copy=False)


def _check_names(shapes: Mapping[Any, tuple[int, ...]]) -> None:
    """Check that the quantities can be variables of one dataset, as `sbc` keeps their ranks."""
    for name in shapes:
        if not isinstance(name, str):
            raise BrokenSubject(f"quantity {name!r}: expected a name that is a string")
        if not name:
            raise BrokenSubject("quantity '': expected a name, found an empty one")
        if "/" in name:
            raise BrokenSubject(
                f"quantity {name!r}: expected a name without '/', which parts groups in files"
            )
    axes = {f"{name}_dim_{axis}" for name, shape in shapes.items() for axis in range(len(shape))}
    taken = [name for name in shapes if name in axes or name in ("chain", "draw")]
    if taken:
        raise BrokenSubject(f"quantity {taken[0]!r}: expected another name, as an axis of the ranks has this")


def _until_closed(chain: Iterator[Any]) -> Iterator[Any]:
    for latents in chain:
        yield _expected(latents, "transitions")
    raise BrokenSubject("transitions ended, where an endless iterator was expected")


def _rounded(values: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        magnitude = np.floor(np.log10(np.abs(values)))
    scale = 10.0 ** np.clip(SIGNIFICANT_DIGITS - 1 - np.nan_to_num(magnitude, neginf=0.0), -300, 300)
    return np.where(values == 0, 0.0, np.round(values * scale) / scale)


def reports_broken[S: Subject, **P](
    rung: str,
) -> Callable[[Callable[Concatenate[S, P], Verdict]], Callable[Concatenate[S, P], Verdict]]:
    """Turn a `BrokenSubject` that leaves the decorated rung into a verdict."""

    def decorate(
        test: Callable[Concatenate[S, P], Verdict],
    ) -> Callable[Concatenate[S, P], Verdict]:
        @wraps(test)
        def run(subject: S, *args: P.args, **kwargs: P.kwargs) -> Verdict:
            if isinstance(subject, type):
                raise ValueError(f"expected a subject, found its class {subject.__name__}")
            _check_rate(kwargs.get("false_alarm_rate", FALSE_ALARM_RATE))
            check_counts(seed=(kwargs.get("seed", 0), 0))
            try:
                return test(subject, *args, **kwargs)
            except BrokenSubject as error:
                rate = float(kwargs.get("false_alarm_rate", FALSE_ALARM_RATE))  # type: ignore[arg-type]
                return Verdict(rung, name_of(subject), "broken", f"{error}.", rate)

        return run

    return decorate
