"""How kernels are compiled."""

import os
import subprocess
import sys

import pytest
from bnpzoo.kernels.toolbox.jit import kernel


@kernel
def doubled(x):
    return 2.0 * x


@kernel
def quadrupled(x):
    return doubled(doubled(x))


@pytest.mark.compiled
def test_what_a_kernel_calls_has_no_way_in_from_python_until_python_calls_it():
    assert quadrupled(1.5) == 6.0
    assert doubled.signatures == []
    assert doubled(1.5) == 3.0
    assert len(doubled.signatures) == 1


def test_numba_can_be_told_to_compile_nothing():
    program = "from bnpzoo.kernels.toolbox.random import crt; assert type(crt).__name__ == 'function'"
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
