"""The checkout installs as `bnpzoo`, whatever Pythons the machine has."""

import ast
import os
import re
import runpy
import subprocess
import sys
import tomllib
from importlib import metadata, resources
from pathlib import Path

import bnpzoo
import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("cli", "diagnostics", "kernels", "stan", "zoo")
PACKAGE_DATA = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]


@pytest.fixture
def packages(monkeypatch):
    """Packages that are found."""
    setuptools = pytest.importorskip("setuptools")
    found = {}
    monkeypatch.setattr(setuptools, "setup", lambda **arguments: found.update(arguments))
    monkeypatch.chdir(ROOT)
    runpy.run_path(str(ROOT / "setup.py"))
    return found["packages"]


def folders_with(pattern):
    return {path.parent for room in ROOMS for path in (ROOT / room).rglob(pattern)}


def dotted(folder):
    return ".".join(("bnpzoo", *folder.relative_to(ROOT).parts))


def test_version_is_that_of_the_file():
    assert metadata.version("bnpzoo") == (ROOT / "VERSION").read_text().strip()


@pytest.mark.parametrize("pattern", ["*.py", "*.stan", "*.html", "*.css", "*.js"])
def test_every_folder_with_files_is_packaged(pattern, packages):
    assert {dotted(folder) for folder in folders_with(pattern)} <= set(packages)
    assert pattern == "*.py" or pattern in PACKAGE_DATA["*"]


def test_nothing_else_is_packaged(packages):
    assert {package.split(".")[1] for package in packages[1:]} == {*ROOMS, "sklearn"}
    assert not any("skeleton" in package or "__pycache__" in package for package in packages)


def test_stan_programs_are_found_and_do_not_shadow_pystan():
    programs = resources.files("bnpzoo") / "stan"
    assert not (programs / "__init__.py").is_file()
    for model in ("lda", "hdp", "mt_hdp"):
        assert (programs / f"{model}.stan").is_file()


def test_type_checkers_are_told_that_there_are_types():
    assert (resources.files("bnpzoo") / "py.typed").is_file()
    assert "py.typed" in PACKAGE_DATA["*"]


def test_the_face_has_what_it_lists():
    for name in bnpzoo.__all__:
        assert getattr(bnpzoo, name) is not None
    assert dir(bnpzoo) == sorted(bnpzoo.__all__)  # what completion shows


def test_type_checkers_see_the_same_face():
    tree = ast.parse((ROOT / "__init__.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    assert {alias.name for node in block.body for alias in node.names} | {"__version__"} == set(
        bnpzoo.__all__
    )


def test_what_is_imported_is_a_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    told = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    declared = {canonical(re.match(r"[\w.-]+", each)[0]) for each in told}
    distributions = metadata.packages_distributions()
    for name in outside_imports():
        assert name not in distributions or {canonical(each) for each in distributions[name]} & declared, name


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def outside_imports():
    """Packages that the code imports, but for Python's own."""
    found = set()
    for room in (*ROOMS, "estimators"):
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    found |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    found.add(node.module)
    return {name.split(".")[0] for name in found} - set(sys.stdlib_module_names)


@pytest.fixture
def machine(tmp_path):
    """A machine with no Python: its PATH, its home, and a function that adds one."""

    def add(path, version=None):
        """A Python that claims `version`, or a shim that does not run."""
        path = tmp_path / path
        path.parent.mkdir(parents=True, exist_ok=True)
        if version is None:
            body = "exit 127"
        else:
            body = (
                f"exec '{sys.executable}' -c \"import sys; sys.version_info = {version}; "
                'sys.executable = \'$0\'; exec(sys.argv[1])" "$2"'
            )
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return str(path)

    def find():
        environment = {"PATH": f"{tmp_path / 'shims'}:{tmp_path / 'bin'}", "HOME": str(tmp_path)}
        script = ["/bin/sh", str(ROOT / "tools" / "find_python.sh")]
        return subprocess.run(script, env=environment, capture_output=True, text=True, timeout=60)

    return add, find


@pytest.mark.skipif(os.name == "nt", reason="the set-up is a POSIX shell script")
class TestFindPython:
    def test_passes_over_a_shim_that_does_not_run(self, machine):
        add, find = machine
        add("shims/python3.12")
        good = add("bin/python3.12", (3, 12, 4))
        assert find().stdout.strip() == good

    def test_prefers_the_newest(self, machine):
        add, find = machine
        add("bin/python3.12", (3, 12, 4))
        newest = add("bin/python3.14", (3, 14, 1))
        assert find().stdout.strip() == newest

    def test_passes_over_an_old_default_and_finds_pyenv(self, machine):
        add, find = machine
        add("bin/python3", (3, 11, 7))
        add(".pyenv/versions/3.13.0/bin/python3", (3, 13, 0))
        good = add(".pyenv/versions/3.12.1/bin/python3", (3, 12, 1))
        assert find().stdout.strip() == good

    def test_finds_nothing_and_says_what_to_install_in_one_line(self, machine):
        _, find = machine
        result = find()
        assert result.returncode == 1
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1
        assert "install uv" in result.stderr


def test_the_version_is_the_same_everywhere():
    version = (ROOT / "VERSION").read_text().strip()
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.heavy
def test_wheel_and_sdist_install(tmp_path):
    """A wheel built from the sdist has all that the checkout has, and runs away from it."""
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path / "dist"), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, timeout=600)
    assert len(list((tmp_path / "dist").glob("*.tar.gz"))) == 1
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    target = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", str(target), str(wheel)]
    subprocess.run(install, check=True, capture_output=True, timeout=600)
    held = {path.relative_to(target / "bnpzoo").as_posix() for path in (target / "bnpzoo").rglob("*.*")}
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.*"):
            if path.suffix != ".pyc":
                assert path.relative_to(ROOT).as_posix() in held
    code = "import bnpzoo, bnpzoo.sklearn as s; print(bnpzoo.__file__, s.Hdp().make_model().card.id)"
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(target)}, cwd=tmp_path, capture_output=True, text=True,
        check=True, timeout=120,
    )  # fmt: skip
    assert str(target) in result.stdout
    assert result.stdout.split()[-1] == "hdp"
