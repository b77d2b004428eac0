"""What a sampler moves and what it leaves alone, hyperparameters sampled one at a time among them.

A variable that stays where it is, or moves though it is fixed, leaves many a law invariant, so that tests of
invariance do not see it.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

import numpy as np

from ...zoo.contract import Model
from .subject import Bench, BrokenSubject, ModelSubject


def one_at_a_time(model: Model) -> Iterator[tuple[str, Model]]:
    """Yield each hyperparameter that is sampled, and the model in which the others are fixed."""
    fixed = model.set_to("fixed").hyperparameters()
    for name in model.sampled():
        yield name, model.replaced(**{other: fixed[other] for other in model.sampled() if other != name})


def check_movement(subject: ModelSubject, rng: np.random.Generator, sweeps: int = 20) -> None:
    """Raise `BrokenSubject` unless all continuous latents move but fixed hyperparameters, which stay."""
    model = subject.model
    bench = Bench(subject)
    latents, data = bench.draw_joint(rng)
    moved: dict[str, np.ndarray] = {}
    for after in islice(bench.transitions(rng, latents, data), sweeps):
        for name, value in after.items():
            if value.dtype.kind == "f":
                moved[name] = moved.get(name, False) | _differs(latents, name, value)
    fixed = model.hyperparameters().keys() - set(model.sampled())
    for name, where in moved.items():
        if name in fixed and np.any(where):
            raise BrokenSubject(f"{name} moved though it is fixed{_where(model)}")
        if name not in fixed and not _has_moved(where, is_hyperparameter=name in model.sampled()):
            raise BrokenSubject(f"{name} never moved in {sweeps} transitions{_where(model)}")


def _differs(latents: Mapping[str, np.ndarray], name: str, value: np.ndarray) -> np.ndarray:
    """Return which entries are others; of arrays whose length changes with the topics, whether any is."""
    before = latents[name]
    if before.shape == value.shape:
        return before != value
    return np.array(not np.array_equal(np.unique(before), np.unique(value)))


def _has_moved(where: np.ndarray, is_hyperparameter: bool) -> bool:
    """Return whether all entries of a hyperparameter have moved, or any of another latent."""
    return bool(np.all(where) if is_hyperparameter else np.any(where))


def _where(model: Model) -> str:
    sampled = model.sampled()
    return f", where {sampled[0]} alone is sampled" if len(sampled) == 1 else ""
