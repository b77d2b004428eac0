"""What of all models is tested in every run, and what only in `make validate`.

Compiling a sampler takes ten seconds and a Stan program forty, where running them takes one: every run
compiles some of each. CONTRIBUTING.md says how tests are marked.
"""

import numba
import pytest
from bnpzoo.zoo.models import get

IS_PLAIN = bool(numba.config.DISABLE_JIT)
"""Whether kernels are plain Python."""

HEAVY_COMPILED = [pytest.mark.heavy] * (not IS_PLAIN)
"""Marks of tests that `make test` leaves out, and `make validate` runs compiled."""

AS_PLAIN_PYTHON = [pytest.mark.sampler, *HEAVY_COMPILED]
"""Marks of tests that `make plain` runs as plain Python, and `make validate` compiled as well."""

OF_FAMILIES = (
    "lda", "hdp", "hdsp", "labeled_lda", "slda", "gbn", "sparse_transfer", "hpyp", "was",
    "lda/belief-network",
)  # fmt: skip
"""One model a family; with the kind of its topics where that is the family."""

COMPILED_PROGRAMS = "lda", "hdp"
"""Models whose Stan programs every run compiles; the others it translates to C++."""


def of_sampler(stands_for_a_family, *values):
    """Parameters of a test on one sampler: compiled in every run where it stands for a family.

    `make plain` runs the others as plain Python, where a few sweeps take no longer, and `make validate` all
    of them compiled.
    """
    return pytest.param(*values, marks=pytest.mark.compiled if stands_for_a_family else AS_PLAIN_PYTHON)


def as_plain_python(test):
    """Mark a test with `AS_PLAIN_PYTHON`."""
    for mark in AS_PLAIN_PYTHON:
        test = mark(test)
    return test


def is_of_a_family(model_id, topics="", variant=None):
    """Whether what this test compiles stands for a family: of samplers, in the first variant."""
    name = f"{model_id}/{topics}".rstrip("/")
    return name in OF_FAMILIES and variant in (None, _first_variant(model_id, topics))


def on_rung(rung, *values):
    """Parameters of a test on a rung of the ladder: heavy, but for the first.

    The others draw chains for five to twenty seconds; `bnpzoo validate` puts the same samplers and mutants
    before them. That they notice is tested in every run with those of `lda`, `hdp`, `mt_hdp` and `was`.
    """
    return pytest.param(*(values or (rung,)), marks=[pytest.mark.heavy] * (rung != "joint"))


def rung_that_sees(mutant):
    """Return a rung that sees a mutant of samplers with responses.

    The first judges the moves of tokens alone. How a topic is opened shows in long chains, as its effects are
    drawn anew at once.
    """
    files = {
        "responses/sweeps.py": "joint",
        "responses/documents.py": "joint",
        "responses/sticks.py": "oracle",
    }
    return files.get(mutant.change.file, "sequential")


def _first_variant(model_id, topics):
    return next(iter(get(model_id, topics=topics or None).kernels))
