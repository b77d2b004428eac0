"""What of the files beside somebody's own sampler a blind audit changes."""

import pytest
from bnpzoo.diagnostics.laboratory.blind.targets import OwnSampler

BESIDE = {
    "adapter.py": """\
import counts as c
from sweeps import Base, sweep as step
from sweeps import log_joint


class Mine(Base):
    def transition(self, rng, latents, data):
        return step(latents) + c.seated(data)

    def quantities(self, latents, data):
        return {"x": log_joint(latents) + c.told(latents)}
""",
    "sweeps.py": """\
from rates import *


class Base:
    def draw_latents(self, rng):
        return rng.random() + 1


def sweep(x):
    return x * rate(x)


def log_joint(x):
    return x - 1


def unused(x):
    return x + 1
""",
    "counts.py": "def seated(x):\n    return x + 2\n\n\ndef told(x):\n    return x + 3\n",
    "rates.py": "def rate(x):\n    return x / 2\n\n\ndef other(x):\n    return x / 3\n",
    "unread.py": "def sweep(x):\n    return x + 4\n",
}


def test_what_a_sampler_imports_from_beside_it_is_changed_too(tmp_path):
    for name, text in BESIDE.items():
        (tmp_path / name).write_text(text)

    def changed():
        sites = OwnSampler(f"{tmp_path / 'adapter.py'}:Mine").sites
        return {(site[0].file, site[0].definition) for site in sites}

    moving = {
        ("adapter.py", "Mine.transition"),
        ("sweeps.py", "Base.draw_latents"),
        ("sweeps.py", "sweep"),
        ("counts.py", "seated"),
        ("rates.py", "rate"),
    }
    assert changed() == moving
    (tmp_path / "adapter.py").write_text(f"from judge import verdicts\n{BESIDE['adapter.py']}")
    measured = {("adapter.py", "Mine.quantities"), ("sweeps.py", "log_joint"), ("counts.py", "told")}
    assert changed() == moving | measured
    (tmp_path / "rates.py").write_text("def rate(x\n")
    with pytest.raises(ValueError, match=r"rates\.py:1: '\(' was never closed"):
        changed()
