"""Says which folders are packages: all of those of the rooms, at the same place under ``bnpzoo``.

Everything else is in pyproject.toml, which cannot say this: there, packages are either found or renamed.
"""

from setuptools import find_namespace_packages, setup

ROOMS = ("cli", "diagnostics", "kernels", "stan", "zoo")

found = find_namespace_packages(
    include=[pattern for room in ROOMS for pattern in (room, f"{room}.*")], exclude=["*.__pycache__"]
)
setup(packages=["bnpzoo", *(f"bnpzoo.{name}" for name in sorted(found))])
