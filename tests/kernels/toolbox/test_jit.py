"""How kernels are compiled."""

import ctypes
import os
import signal
import subprocess
import sys
from types import FrameType

import numpy as np
import pytest
from bnpzoo.kernels.toolbox.compilers import WholeCompiler
from bnpzoo.kernels.toolbox.jit import kernel
from numba import float64, njit


@kernel
def doubled(x):
    return 2.0 * x


@kernel
def quadrupled(x):
    return doubled(doubled(x))


@kernel
def checked(x):
    if x < 0.0:
        raise ValueError("expected no negative number, found", x)
    return x


@pytest.mark.compiled
def test_a_part_has_no_machine_code_of_its_own():
    part = doubled.get_overload.__self__
    part.compile((float64,))
    (compiled,) = part.overloads.values()
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0
    assert quadrupled(1.5) == 6.0


@pytest.mark.compiled
def test_errors_of_parts_come_with_their_values():
    root = njit(lambda x: np.sqrt(checked(x)), pipeline_class=WholeCompiler)  # a kernel, but for the cache
    assert root(4.0) == 2.0
    with pytest.raises(ValueError, match="found") as raised:
        root(-4.0)
    assert raised.value.args[-1] == -4.0


@pytest.mark.compiled
def test_what_a_kernel_calls_has_no_way_in_from_python_until_python_calls_it():
    assert quadrupled(1.5) == 6.0
    assert doubled.signatures == []
    assert doubled(1.5) == 3.0
    assert len(doubled.signatures) == 1


def drawn(rng):
    return rng.random(), rng.integers(0, 10), rng.standard_gamma(0.3)


def files_run(call):
    """Files of the Python code that a call runs."""
    found = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.compiled
@pytest.mark.parametrize(
    "kind", [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]
)
def test_generators_that_a_kernel_takes_apart_itself_draw_as_those_that_numba_does(kind):
    ours, numbas = njit(drawn, pipeline_class=WholeCompiler), njit(drawn)
    rng, other = np.random.Generator(kind(1)), np.random.Generator(kind(1))
    assert [ours(rng) for _ in range(50)] == [numbas(other) for _ in range(50)]
    assert rng.random() == other.random()
    assert sys.getrefcount(rng) == sys.getrefcount(other)
    assert sys.getrefcount(rng.bit_generator) == sys.getrefcount(other.bit_generator)
    assert sys.getrefcount(rng.bit_generator.capsule) == sys.getrefcount(other.bit_generator.capsule)
    assert ctypes.__file__ in files_run(lambda: numbas(rng))  # so it is noticed
    assert ctypes.__file__ not in files_run(lambda: ours(rng))


class Interrupted(Exception):
    pass


@pytest.mark.compiled
def test_a_process_survives_to_be_interrupted_while_it_calls_kernels():
    """With numba's own way to take generators apart it dies of one of the first signals."""
    rng, function, interrupts = np.random.default_rng(0), njit(drawn, pipeline_class=WholeCompiler), 0
    function(rng)

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        while interrupts < 1000:
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-4)
                while True:
                    function(rng)
            except Interrupted:
                interrupts += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_numba_can_be_told_to_compile_nothing():
    program = "from bnpzoo.kernels.toolbox.random import crt; assert type(crt).__name__ == 'function'"
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
