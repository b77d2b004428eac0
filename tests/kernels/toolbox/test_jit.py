"""How kernels are compiled."""

import os
import subprocess
import sys

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


def test_numba_can_be_told_to_compile_nothing():
    program = "from bnpzoo.kernels.toolbox.random import crt; assert type(crt).__name__ == 'function'"
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
