"""The skeleton of a model works: it is copied into a copy of the package, named, registered and validated.

Nothing is touched but the files that are its own and one line of the registry.
"""

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("cli", "diagnostics", "estimators", "kernels", "stan", "zoo")
REST = ("__init__.py", "_version.py", "py.typed", "VERSION", "pyproject.toml", "setup.py", "README.md")
MODEL = "topics_of_years"

FIT = """
import json, sys
import numpy as np
import bnpzoo
from bnpzoo.zoo.contract import Design

name, *backends = sys.argv[1:]
model = bnpzoo.get(name, n_topics=2)
design = Design(np.full(6, 5), n_words=6, group=np.arange(6) % 2)
corpus = model.simulate(design, np.random.default_rng(0)).corpus
found = {"listed": [card.id for card in bnpzoo.list_models()]}
for backend in backends:
    fit = bnpzoo.sample(model, corpus, backend, chains=2, tune=10, draws=10)
    found[backend] = [fit.attrs["backend"], fit["posterior"]["alpha"].shape]
"""

CLIMB = """
from bnpzoo.diagnostics.laboratory.ladder import BUDGETS, Case, climb

BUDGETS["ci"] |= {
    "joint": {"states": 50},
    "oracle": {"chains": 4, "draws": 2000},
    "sequential": {"samples": 200, "transitions": 5},
}
for rung in ("joint", "oracle", "sequential"):
    found[rung] = climb(Case(name, "dense", rung)).status
wrong = Case(name, "dense", "joint", mutant=f"{name}-normaliser-of-one-word")
found["mutant"] = climb(wrong).status
"""

SAY = "print(json.dumps(found))"

tool = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "new_model.py")))


class House:
    """A copy of the package with a model made from the skeleton in it."""

    def __init__(self, folder):
        self.folder, self.package = folder, folder / "bnpzoo"
        without_caches = shutil.ignore_patterns("__pycache__")
        for name in (*ROOMS, "tests", "tools", "docs", "examples"):
            shutil.copytree(ROOT / name, self.package / name, ignore=without_caches)
        for name in REST:
            shutil.copy(ROOT / name, self.package / name)
        before = self.files()
        self.own = tool.start(MODEL, self.package)
        assert self.files() - before == set(self.own)
        registry = self.package / "zoo" / "models" / "__init__.py"
        last = "# isort: on\n"
        assert registry.read_text("utf-8").count(last) == 1
        registry.write_text(registry.read_text("utf-8").replace(last, f"{tool.registry_line(MODEL)}\n{last}"))

    def files(self):
        return {path for path in self.package.rglob("*") if path.is_file()}

    def run(self, *command, where=None):
        """Output of a command of Python, with this package in the place of the installed one."""
        result = subprocess.run(
            [sys.executable, *map(str, command)],
            cwd=where or self.folder,
            env=os.environ | {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def tests(self, *arguments):
        """Run tests of the copy."""
        options = ("-p", "no:cacheprovider", "-q", "-x")
        return self.run("-m", "pytest", *options, *arguments, where=self.package)


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    return House(tmp_path_factory.mktemp("house"))


@pytest.fixture(scope="module")
def found(house):
    """What a process finds that lists the model, fits it and climbs with it."""
    return json.loads(house.run("-c", FIT + CLIMB + SAY, MODEL, "kernel", "numpyro"))


def test_it_is_no_model_of_the_zoo():
    with pytest.raises(ModuleNotFoundError):
        __import__("bnpzoo.zoo.models.skeleton")


def test_names_are_filled_in(house):
    assert tool.class_name(MODEL) == "TopicsOfYears"
    for path in house.own:
        assert "skeleton" not in path.read_text("utf-8").lower()


@pytest.mark.slow
def test_it_is_listed(found):
    assert found["listed"][-1] == MODEL


@pytest.mark.parametrize("backend", ["kernel", "numpyro"])
def test_it_is_fitted(found, backend):
    assert found[backend] == [backend, [2, 10]]


@pytest.mark.stan
@pytest.mark.heavy
def test_it_is_fitted_by_stan(house):
    assert json.loads(house.run("-c", FIT + SAY, MODEL, "stan"))["stan"] == ["stan", [2, 10]]


@pytest.mark.parametrize("rung", ["joint", "oracle", "sequential"])
def test_it_climbs(found, rung):
    """A false alarm has probability 1e-5 on each of the last two rungs, were the seed not fixed."""
    assert found[rung] == "passed"


def test_a_mutant_dies(found):
    assert found["mutant"] == "rejected"


@pytest.mark.slow
def test_rooms_and_packages_have_a_place_for_it(house):
    house.tests("tests/test_rooms.py", "tests/test_packaging.py", "-k", "rooms or import or packaged")


@pytest.mark.heavy
def test_what_every_model_must_satisfy(house):
    """Lists of models are written anew, from the registry."""
    house.run("tools/write_tables.py", where=house.package)
    house.tests(f"tests/models/test_{MODEL}.py")
    of_every_model = "tests/models/test_models.py", "tests/models/test_chains.py"
    house.tests(*of_every_model, "tests/diagnostics/laboratory/test_mutants.py", "-k", MODEL, "-m", "")
    house.tests("tests/zoo/test_stan.py", "-k", MODEL, "-m", "not stan")
    house.tests("tests/test_tables.py")


@pytest.mark.heavy
@pytest.mark.stan
def test_its_references_agree(house):
    house.tests("tests/zoo/test_stan.py", "-k", MODEL, "-m", "stan")
    house.tests(f"tests/models/test_{MODEL}.py", "-m", "heavy")


@pytest.mark.parametrize("name", ["Topics", "a-b", "1a", "a__b", ""])
def test_names_that_are_none(name, tmp_path):
    with pytest.raises(ValueError, match="name: expected words in lower case"):
        tool.start(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path):
    kept = tmp_path / "stan" / "a.stan"
    kept.parent.mkdir()
    kept.write_text("// kept")
    with pytest.raises(FileExistsError, match=r"a\.stan: expected no such file"):
        tool.start("a", tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [kept]
