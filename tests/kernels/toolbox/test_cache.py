"""Where compiled kernels go if they cannot be kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    from bnpzoo.kernels.toolbox import jit
print(jit.CACHE_DIRECTORY)
print(*[one.message for one in said])
print(jit.kernel(lambda x: 2 * x)(4), jit.CACHE_DIRECTORY.is_dir())
"""


@pytest.fixture
def told(tmp_path):
    """What a process says whose kernels are to be kept in a place: where they are, warnings, a result."""

    def of(place):
        program = tmp_path / "program.py"
        program.write_text(PROGRAM)
        ended = subprocess.run(
            [sys.executable, program],
            env=os.environ | {"NUMBA_CACHE_DIR": str(place)},
            capture_output=True,
            text=True,
            check=True,
        )
        return ended.stdout.splitlines()

    return of


@pytest.mark.compiled
def test_kernels_are_kept_where_the_user_says(told, tmp_path):
    where, warned, result = told(tmp_path)
    assert Path(where).is_relative_to(tmp_path)
    assert warned == ""
    assert result == "8 True"


@pytest.mark.compiled
def test_kernels_are_compiled_where_they_cannot_be_kept(told, tmp_path):
    (tmp_path / "file").touch()
    where, warned, result = told(tmp_path / "file")
    assert not Path(where).is_relative_to(tmp_path)
    assert warned.startswith(f"{tmp_path / 'file'}/bnpzoo/kernels: cannot be written, so every start ")
    assert result == "8 True"
    assert not Path(where).exists(), "it goes when the process ends"
