"""What notices a mutant that passes the rungs of a model: those of another model, or a test of its own."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

TESTS = Path(__file__).with_name("noticed.toml")
"""Tests of mutants that the rungs of no model notice, by their ids."""


@cache
def noticing_tests() -> Mapping[str, str]:
    """Return the test of each mutant that has one of its own because no rung notices it."""
    return tomllib.loads(TESTS.read_text(encoding="utf-8"))


def noticed_by(mutant: str, matrix: Sequence[Mapping[str, Any]]) -> str:
    """Say in Markdown what notices a mutant: models on whose rungs it is killed, or a test; or return "".

    Parameters
    ----------
    mutant : str
    matrix : sequence of mapping
        As `kill_matrix` returns it, of all models.
    """
    models = [row["model"] for row in matrix if row["mutant"] == mutant and row["killed"]]
    if models:
        return f"rungs of {', '.join(models)}"
    test = noticing_tests().get(mutant)
    return f"`{test}`" if test else ""
