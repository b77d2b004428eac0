"""Configuration of the documentation."""

from importlib import metadata

project = "bnpzoo"
author = "The bnpzoo developers"
project_copyright = author
release = metadata.version("bnpzoo")

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build", "jupyter_execute"]
html_theme = "furo"
html_title = f"bnpzoo {release}"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"  # a cached result would hide what a change of the package broke
nb_execution_raise_on_error = True
nb_execution_timeout = 300

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings give types with their shapes
autosummary_generate = False
numpydoc_show_class_members = False
suppress_warnings = ["ref.citation"]  # a list of references may hold one that the text does not point to
