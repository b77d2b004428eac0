"""A sampler of somebody's own, to be audited."""

import pytest
from bnpzoo.diagnostics.laboratory.blind.targets import OwnSampler
from own_program import OWN


@pytest.fixture
def own(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN)
    return OwnSampler(f"{file}:Halves")
