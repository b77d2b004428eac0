"""Says which folders are packages: all of those of the rooms, at the same place under ``bnpzoo``.

The folder ``estimators`` is ``bnpzoo.sklearn``: one called sklearn here would shadow scikit-learn.
Everything else is in pyproject.toml, which cannot say this: there, packages are either found or renamed.
"""

from pathlib import Path

from setuptools import setup

ROOMS = ("cli", "diagnostics", "kernels", "stan", "zoo")
HERE = Path(__file__).parent

files = [path for room in ROOMS for path in (HERE / room).rglob("*.*") if path.is_file()]
folders = {path.parent.relative_to(HERE) for path in files}
names = sorted(".".join(folder.parts) for folder in folders if "__pycache__" not in folder.parts)
setup(
    script_name="setup.py",  # which is then not taken for a module of the package
    packages=["bnpzoo", "bnpzoo.sklearn", *(f"bnpzoo.{name}" for name in names)],
)
