"""Replications of simulation-based calibration: in blocks, in parallel, and kept on disk as they come."""

import ast
import hashlib
import inspect
import os
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, fields, is_dataclass
from dis import get_instructions
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from types import CellType, CodeType, ModuleType
from typing import Any, Protocol

import numpy as np
from arviz_stats.base.array import array_stats
from joblib import delayed
from joblib.externals.loky.backend.reduction import dumps
from joblib.parallel import get_active_backend

from ...zoo.files import claim
from ..engine import unordered
from .own_files import is_own
from .subject import Bench, Subject, name_of

BLOCK = 20
"""Replications that are stored together."""


class Joint(Protocol):
    """Where the true latents of a replication and its data come from."""

    def draw(self, bench: Bench, rng: np.random.Generator, index: int) -> tuple[Any, Any]:
        """Latents and data of replication `index`."""
        ...

    def start(self, bench: Bench, rng: np.random.Generator, index: int, data: Any) -> Any:
        """Latents from which the chain of replication `index` starts, independent of the true ones."""
        ...


class PriorJoint:
    """The model's own joint law."""

    def draw(self, bench: Bench, rng: np.random.Generator, index: int) -> tuple[Any, Any]:
        """Latents from the prior, and data."""
        return bench.draw_joint(rng)

    def start(self, bench: Bench, rng: np.random.Generator, index: int, data: Any) -> Any:
        """Where the subject starts, or another draw from the prior."""
        return bench.start(rng, data)


class PosteriorJoint:
    """The joint law given observed data: old and new data together, and their latents.

    Parameters
    ----------
    observed : data
    posterior : list of latents
        Draws given `observed`, one a replication. Each is the start of another, too; so a subject, which may
        move them in place, gets copies.
    """

    def __init__(self, observed: Any, posterior: list[Any]):
        self.observed = observed
        self.posterior = posterior

    def draw(self, bench: Bench, rng: np.random.Generator, index: int) -> tuple[Any, Any]:
        """One draw of the posterior, extended by new data."""
        return bench.extend(rng, deepcopy(self.posterior[index]), self.observed)

    def start(self, bench: Bench, rng: np.random.Generator, index: int, data: Any) -> Any:
        """Latents from a draw far away in the chain; its new data are thrown away."""
        far = (index + len(self.posterior) // 2) % len(self.posterior)
        return bench.extend(rng, deepcopy(self.posterior[far]), self.observed)[0]


@dataclass(frozen=True)
class Plan:
    """What determines the result of a run, besides the subject.

    Attributes
    ----------
    replications : int
    draws : int
        Posterior draws a replication, with which the true value is ranked.
    warmup, thin : int
        Transitions before the first draw, and from draw to draw.
    seed : int
    """

    replications: int
    draws: int
    warmup: int
    thin: int
    seed: int

    def blocks(self) -> Iterator[range]:
        """Replications of each block."""
        for start in range(0, self.replications, BLOCK):
            yield range(start, min(start + BLOCK, self.replications))


def normalised_ranks(truth: np.ndarray, draws: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ranks of `truth` among `draws` as numbers in [0, 1].

    Ties are broken at random, and the rank r of L draws becomes (r + U) / (L + 1) with U uniform: then the
    numbers are exactly uniform if truth and draws are exchangeable, whatever L and however many ties
    (Modrák et al. 2023, Section 2).

    Parameters
    ----------
    truth : float (Q,)
    draws : float (L, Q)
    rng : Generator
    """
    less = np.sum(draws < truth, axis=0)
    equal = np.sum(draws == truth, axis=0)
    return (less + rng.integers(0, equal + 1) + rng.random(truth.size)) / (draws.shape[0] + 1)


def replicate(bench: Bench, joint: Joint, plan: Plan, index: int) -> tuple[np.ndarray, np.ndarray]:
    """Normalised ranks and effective sample sizes of one replication, each float (Q,)."""
    rng = np.random.default_rng([plan.seed, index])
    latents, data = joint.draw(bench, rng, index)
    truth, data = bench.measure(latents, data), bench.copy_of(data)
    chain = bench.transitions(rng, joint.start(bench, rng, index, data), data)
    last = plan.warmup + plan.draws * plan.thin
    kept = islice(chain, plan.warmup + plan.thin - 1, last, plan.thin)
    draws = np.array([bench.measure(latents, data) for latents in kept])
    return normalised_ranks(truth, draws, rng), effective_sizes(draws)


def effective_sizes(draws: np.ndarray) -> np.ndarray:
    """Effective sample size of each quantity in one chain, NaN where it is constant.

    Parameters
    ----------
    draws : float (L, Q)

    Returns
    -------
    float (Q,)
    """
    sizes = np.full(draws.shape[1], np.nan)
    moving = np.ptp(draws, axis=0) > 0
    if moving.any() and draws.shape[0] >= 4:
        sizes[moving] = array_stats.ess(draws.T[moving][:, None, :], method="mean")
    return sizes


def identity_of(subject: Subject, observed: Any) -> dict[str, str]:
    """Say what a run is of, as far as all processes would say the same: digests by name.

    Of the subject these are its name, the files of its classes with those that they import, and each of its
    attributes, of functions with their files. Where there is no file, as in a notebook, it is functions with
    all that they name. Files of the package are left out: a store may outlive a comment there, and
    `Case.fingerprint` minds the rest. So are installed packages.
    """
    classes = [c for c in type(subject).__mro__ if not _is_elsewhere(c.__module__)]
    own = [c.__module__ for c in classes]
    files = [_file(c) for c in classes] + [text for name, text in _texts(own) if name not in own]
    attributes = {f"subject.{name}": _digest(value) for name, value in _state(subject).items()}
    return {
        "subject": name_of(subject),
        "files": _digest(files),
        "observed": _digest(observed),
        **attributes,
    }


def _digest(value: Any) -> str:
    try:
        told = repr(_told(value, {}))
    except Exception:  # the value's own functions fail, or it is too deep
        told = type(value).__qualname__
    return hashlib.sha256(told.encode()).hexdigest()


def _is_elsewhere(module: str) -> bool:
    """Whether a module is of this package or built in."""
    return module.partition(".")[0] in (__name__.partition(".")[0], "builtins")


def _texts(modules: list[str]) -> list[tuple[str, str]]:
    """Names and texts of somebody's own modules, of those that they import, and those import, and so on."""
    texts: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        file = getattr(sys.modules.get(name), "__file__", None)
        if name in texts or _is_elsewhere(name) or file is None or not is_own(Path(file)):
            continue
        try:
            texts[name] = Path(file).read_text(encoding="utf-8")
            waiting += _imports_of(name, ast.parse(texts[name]))
        except (OSError, ValueError, SyntaxError):  # compiled, or no longer what was imported
            continue
    return sorted(texts.items())


def _imports_of(name: str, module: ast.Module) -> Iterator[str]:
    """Names that a module imports: modules, and what may be one."""
    package = getattr(sys.modules[name], "__package__", None) or ""
    for node in ast.walk(module):
        match node:
            case ast.Import(names=aliases):
                yield from (alias.name for alias in aliases)
            case ast.ImportFrom(module=base, names=aliases, level=level):
                above = package.split(".")[: package.count(".") + 2 - level] if level else []
                base = ".".join([*above, *filter(None, [base])])
                yield from (base, *(f"{base}.{alias.name}" for alias in aliases))


def _file(of_class: type) -> str:
    """Text of the file of a class, or of its functions where there is none, as in a notebook."""
    try:
        return Path(inspect.getfile(of_class)).read_text(encoding="utf-8")
    except (TypeError, OSError, ValueError):
        return repr(_told(_routines(of_class), {}))


def _routines(of_class: type) -> list[Any]:
    return [value for value in vars(of_class).values() if inspect.isroutine(value)]


def _source(function: Any) -> str:
    try:
        return inspect.getsource(getattr(function, "__code__", function))
    except (TypeError, OSError):  # typed at a prompt, or not of Python
        code = getattr(function, "__code__", None)
        return repr(_told(code, {})) if code else getattr(function, "__qualname__", "")


def _parts(function: Any) -> list[Any]:
    """Return what a function depends on beside its source.

    That is what it wraps, its object, defaults and closure, and the file of its module or, where there is
    none, what the function names there.
    """
    names = ("py_func", "__wrapped__", "__self__", "__defaults__", "__kwdefaults__")
    cells = getattr(function, "__closure__", None) or ()
    filled = [cell.cell_contents for cell in cells if cell != CellType()]  # which is an empty one
    outside = _texts([function.__module__]) if getattr(function, "__module__", None) else []
    return [*(getattr(function, name, None) for name in names), *filled, *(outside or _named(function))]


def _named(function: Any) -> list[Any]:
    """Functions, classes and values of its module that a function without a file names, in a fixed order."""
    code, values = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    if code is None or not _is_typed(function):
        return []
    steps = [step for part in _codes(code) for step in get_instructions(part)]
    names = sorted({step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")})
    found = [values[name] for name in names if name in values and not isinstance(values[name], ModuleType)]
    return [_routines(value) if isinstance(value, type) and _is_typed(value) else value for value in found]


def _is_typed(thing: Any) -> bool:
    """Whether a function or class is of a module without a file, as what is typed at a prompt."""
    module = getattr(thing, "__module__", None) or ""
    return not _is_elsewhere(module) and getattr(sys.modules.get(module), "__file__", None) is None


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Code of a function, and of those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _state(thing: Any) -> dict[str, Any]:
    """Attributes of an object, without what it has computed from them."""
    if is_dataclass(thing):
        return {field.name: getattr(thing, field.name) for field in fields(thing)}
    members = [member for c in type(thing).__mro__ for member in vars(c).items()]
    computed = {name for name, member in members if isinstance(member, cached_property)}
    return {name: value for name, value in getattr(thing, "__dict__", {}).items() if name not in computed}


def _told(value: Any, before: dict[int, Any]) -> Any:
    """`value` as nested tuples of text and numbers; what is beyond telling, or told `before`, by its type.

    A pickle would not do: it differs from process to process with the order of sets, and cannot have lambdas.
    """
    kind = type(value).__qualname__
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | Path):
        return kind, repr(value)
    if id(value) in before or isinstance(value, ModuleType | type):
        return kind, getattr(value, "__name__", "")
    before[id(value)] = value  # kept alive, or another object might get its id
    if isinstance(value, Mapping):
        return kind, sorted(((_told(k, before), _told(v, before)) for k, v in value.items()), key=repr)
    if isinstance(value, set | frozenset):
        return kind, sorted((_told(part, before) for part in value), key=repr)
    if isinstance(value, list | tuple):
        return kind, [_told(part, before) for part in value]
    if isinstance(value, partial):
        return kind, [_told(part, before) for part in (value.func, value.args, value.keywords)]
    if inspect.isroutine(value) or hasattr(value, "py_func") or hasattr(value, "__wrapped__"):
        return kind, _source(value), [_told(part, before) for part in _parts(value)]
    if isinstance(value, CodeType):
        return kind, value.co_code.hex(), value.co_names, _told(value.co_consts, before)
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        if array.dtype.hasobject:
            return kind, array.shape, _told(array.tolist(), before)
        return kind, array.dtype.str, array.shape, hashlib.sha256(array.tobytes()).hexdigest()
    return kind, _told(_state(value), before)


def check_that_it_travels(subject: Subject, n_jobs: int, backend: str | None) -> None:
    """Raise ValueError for a subject that other processes are to be given, and cannot."""
    active, _ = get_active_backend()
    shares_memory = backend == "threading" or (
        backend is None and getattr(active, "supports_sharedmem", False)
    )
    if n_jobs == 1 or shares_memory:
        return
    try:
        dumps(subject)
    except Exception as error:
        first_line = str(error).partition("\n")[0]
        raise ValueError(
            f"n_jobs: expected a subject that can be pickled for other processes, found {name_of(subject)}: "
            f"{first_line or type(error).__name__}"
        ) from error


def run_blocks(
    bench: Bench,
    joint: Joint,
    plan: Plan,
    store: Path | None,
    identity: Mapping[str, Any],
    n_jobs: int,
    backend: str | None,
    progress: Callable[[int, int], None] | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Ranks and effective sizes of all replications, each float (replication, Q).

    Blocks that `store` holds are read, the others run and stored. A replication depends on the seed and its
    own number alone, so the result does not depend on who computes it, or when. `identity`, and the shapes
    of the quantities that `bench` has measured, say with `plan` whose blocks they are.

    Raises
    ------
    ValueError
        `store` holds another run.
    """
    blocks = list(plan.blocks())
    if store is not None:
        claim(store, {**identity, "quantities": list(bench.shapes.items()), **asdict(plan)})
    done = {i: found for i, block in enumerate(blocks) if (found := _read(store, i, len(block))) is not None}
    finished = sum(len(blocks[i]) for i in done)
    if progress is not None:
        progress(finished, plan.replications)
    tasks = (
        delayed(_run_block)(bench, joint, plan, i, block, store)
        for i, block in enumerate(blocks)
        if i not in done
    )
    for i, result in unordered(tasks, n_jobs, backend=backend):
        done[i] = result
        finished += len(blocks[i])
        if progress is not None:
            progress(finished, plan.replications)
    ranks, sizes = zip(*(done[i] for i in range(len(blocks))), strict=True)
    return np.concatenate(ranks), np.concatenate(sizes)


def _run_block(
    bench: Bench, joint: Joint, plan: Plan, number: int, block: range, store: Path | None
) -> tuple[int, tuple[np.ndarray, np.ndarray]]:
    ranks, sizes = map(np.array, zip(*(replicate(bench, joint, plan, i) for i in block), strict=True))
    if store is not None:
        _write(_block_path(store, number), {"ranks": ranks, "ess": sizes})
    return number, (ranks, sizes)


def _block_path(store: Path, number: int) -> Path:
    return store / f"block-{number:05d}.npz"


def _write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write beside, then rename: a block is there in full or not at all."""
    beside = path.with_suffix(".part")
    with open(beside, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    os.replace(beside, path)


def _read(store: Path | None, number: int, replications: int) -> tuple[np.ndarray, np.ndarray] | None:
    if store is None or not _block_path(store, number).exists():
        return None
    try:
        with np.load(_block_path(store, number), allow_pickle=False) as arrays:
            ranks, sizes = arrays["ranks"], arrays["ess"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return (ranks, sizes) if ranks.shape[0] == replications else None
