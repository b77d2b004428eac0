"""Print the oldest versions of dependencies that pyproject.toml allows; those of extras, too, if named."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = [dependency for extra in sys.argv[1:] for dependency in project["optional-dependencies"][extra]]
print(*(dependency.split(",")[0].replace(">=", "==") for dependency in project["dependencies"] + extras))
