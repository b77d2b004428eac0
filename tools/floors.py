"""Print the oldest versions of all dependencies that pyproject.toml allows, as pip takes them."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
print(*(dependency.split(",")[0].replace(">=", "==") for dependency in project["dependencies"]))
