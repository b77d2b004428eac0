"""Configuration of the documentation."""

import os
import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # has `bnpzoo`
os.environ["PYTHONPATH"] = str(Path(__file__).parent / "tutorials")  # has `coins`; notebooks run elsewhere

project = "bnpzoo"
author = "The bnpzoo developers"
project_copyright = author
release = metadata.version("bnpzoo")

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "command_line",
    "gallery",
    "mathml",
]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "_extensions", "jupyter_execute"]
html_theme = "furo"
html_title = f"bnpzoo {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"  # a cached result would hide what a change of the package broke
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_output_stderr = "remove"  # warnings of libraries name folders
nb_execution_in_temp = True  # tutorials write files

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings give types with their shapes
autosummary_generate = False
numpydoc_show_class_members = False
suppress_warnings = ["ref.citation"]  # a list of references may hold one that the text does not point to
