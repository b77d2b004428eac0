"""How kernels are compiled: one decorator, one cache directory, one way to choose code by type."""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.extending import overload

from .compilers import PartCompiler, WholeCompiler


def _source_hash() -> str:
    """Hash every source file of this room.

    numba notices a change in the file of a cached function, but not in the files of the functions it
    calls; a cache keyed by all of them can never serve a stale sweep.
    """
    digest = hashlib.sha256()
    room = Path(__file__).parents[1]
    for source in sorted(room.rglob("*.py")):
        digest.update(source.relative_to(room).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    chosen = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    return Path(chosen or Path.home() / ".cache") / "bnpzoo" / "kernels"


CACHE_DIRECTORY = _cache_root() / _source_hash()


@contextlib.contextmanager
def _our_cache() -> Iterator[None]:
    before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = str(CACHE_DIRECTORY)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before  # type: ignore[attr-defined]


COMMON = {"nogil": True, "error_model": "numpy"}
"""Options of all compiled code."""

INSIDE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": PartCompiler}
"""Options of code that other kernels call: with no way in from Python, half as much to compile."""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` with numba: cached on disk, without the GIL, division as in C.

    Parameters
    ----------
    function
        A function of arrays, scalars, NamedTuples of arrays and an explicit ``Generator``.

    Returns
    -------
    numba dispatcher
        Its ``py_func`` is the function itself, which draws the same numbers from the same generator.
    """
    return _compiled(function)


BORROWING = {"_nrt": False, "forceinline": True}


def borrowing_kernel(function: Callable[..., Any]) -> Any:
    """As `kernel`, for a part of a sweep that makes no arrays and only borrows those that it is given.

    Numba then counts no references to them, and puts the function's code where it is called: small functions
    that take NamedTuples apart cost nothing, where they could make a sweep seven times as slow. A function
    that makes an array does not compile.
    """
    return _compiled(function, **BORROWING)


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    with _our_cache():
        whole = numba.njit(cache=True, pipeline_class=WholeCompiler, **COMMON, **options)(function)
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        part = numba.njit(**COMMON, **INSIDE, **options)(function)
        # What numba asks a kernel for where another kernel calls it, in types and in code.
        whole.get_call_template = part.get_call_template
        whole.get_overload = part.get_overload
    return whole


def chosen_by_type(
    argument: int, borrows: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a function that is implemented once for each NamedTuple class of one argument.

    Compiled code picks the implementation when it is compiled, so that the choice costs nothing when it
    runs; plain Python picks it at the call. Implementations are added with ``@declared.implement(cls)``.

    Parameters
    ----------
    argument
        Position of the argument whose class decides.
    borrows
        Whether implementations are compiled as a `borrowing_kernel` is.
    """
    options = COMMON | INSIDE | (BORROWING if borrows else {})

    def declare(stub: Callable[..., Any]) -> Callable[..., Any]:
        implementations: dict[type, Callable[..., Any]] = {}

        def dispatch(*args: Any) -> Any:
            return implementations[type(args[argument])](*args)

        def resolve(*types: Any) -> Callable[..., Any] | None:
            return implementations.get(getattr(types[argument], "instance_class", None))  # type: ignore[arg-type]

        def implement(cls: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
            def register(function: Callable[..., Any]) -> Callable[..., Any]:
                implementations[cls] = function
                return function

            return register

        dispatch.__name__ = stub.__name__
        dispatch.__doc__ = stub.__doc__
        dispatch.__module__ = stub.__module__
        overload(dispatch, strict=False, jit_options=options)(resolve)  # type: ignore[arg-type]
        dispatch.implement = implement  # type: ignore[attr-defined]
        return dispatch

    return declare
