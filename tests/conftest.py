"""A CmdStan that compiles in no time."""

import shutil
import sys
from pathlib import Path

import pytest


@pytest.fixture
def fake_cmdstan(tmp_path, monkeypatch):
    """Folder of the CmdStan that is found; the cache of programs is empty. See ``zoo/fake_cmdstan``."""
    pytest.importorskip("cmdstanpy")
    if shutil.which("make") is None:
        pytest.skip("needs make")
    folder = tmp_path / "cmdstan-9.9.9"  # not its version
    shutil.copytree(Path(__file__).parent / "zoo" / "fake_cmdstan", folder)
    monkeypatch.setenv("CMDSTAN", str(folder))
    monkeypatch.setenv("PYTHON", sys.executable)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder
