"""What mutants of a model are put before: rungs, of the model and of its cousins, and tests."""

import ast
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from ....zoo.inference.stan_engines import engines
from ....zoo.models import MODELS, combinations
from ..definitions import PACKAGE, Name
from ..forms import forms
from ..ladder import Case
from ..validate import cases_of
from .changes import Mutation
from .trial import Trial

RUNGS = ("joint", "oracle", "sequential", "geweke")
"""What mutants of a model climb, at budget ``ci``; calibration and references are too dear."""

FIRST = RUNGS[:2]
"""What mutants climb with other models, too, where these share what is changed."""

SHARED = re.compile(r"(kernels|zoo/families)/(?!toolbox/)\w+/")
"""Where a family's files are, which models have in common."""

OUTSIDE = ("tests/golden", "tests/fuzz", "tests/cli", "tests/test_", "tests/models", "tests/diagnostics")
"""Tests that say nothing of the law of a model, or not of this one; golden draws notice any change at all."""

OF_EVERY_MODEL = (
    "tests/models/test_models.py",
    "tests/models/test_chains.py",
    "tests/models/test_quantities.py",
    "tests/zoo/test_starts.py",
)
"""Files whose tests are named after the models that they are about."""

OF_ALL_MODELS = tuple(file for file in OF_EVERY_MODEL if not file.endswith("test_chains.py"))
"""Those of them that can be had for all models at once; chains take too long."""

COMMON = re.compile(r"(zoo/(families|toolbox)|kernels)/")
"""Where what models have in common is."""

STAN = "tests/zoo/test_stan.py"
TWINS = tuple(f"twins and {engine.name}" for engine in engines()[:1])
"""Tests of the Stan programs, most of them heavy, and those of them that a mutant is put before."""

OF_REFERENCES = re.compile("stan|bridge|references")
"""Names of all files with tests of references."""


def rungs_of(cases: Sequence[Case]) -> list[Trial]:
    """Each rung of each variant of a model."""
    return [_rungs(f"{case.rung} ({case.variant})", [case]) for case in cases if case.rung in RUNGS]


def _rungs(name: str, cases: Sequence[Case]) -> Trial:
    told = [json.dumps(asdict(case)) for case in cases]
    return Trial(
        name,
        ("-m", f"{__package__}.trial", *told),
        lambda mutation: any(_is_of(mutation, case) for case in cases),
    )


def cousins_of(own: Case) -> list[Trial]:
    """First rungs of all other forms of models, for changes of what a family shares: a branch may be theirs.

    With topics other than the plain ones: also of those with the same, and of the model itself without them.
    """
    found = []
    for form in forms():
        if form.topics not in {"", own.topics} or form == (own.model, own.topics, own.options):
            continue
        cases = cases_of(form.model, topics=form.topics, options=form.options)
        variants = _to_try(cases, own)
        first = [case for rung in FIRST for case in cases if case.rung == rung and case.variant in variants]
        if first:
            of_cousin = _rungs(f"{' and '.join(FIRST)} of {first[0].name_of_model}", first)
            found.append(replace(of_cousin, sees=_in_a_family(of_cousin.sees), in_reserve=True))
    return found


def _to_try(cases: Sequence[Case], own: Case) -> set[str]:
    """Which samplers of a cousin are tried: the first, and with the same topics those that the model lacks.

    Of the model itself, without its topics, all.
    """
    first, every = {cases[0].variant}, {case.variant for case in cases}
    if cases[0].model == own.model:
        return every
    return first | (every - set(own.model_as_told().kernels)) if cases[0].topics else first


def _in_a_family(sees: Callable[[Mutation], bool]) -> Callable[[Mutation], bool]:
    return lambda mutation: bool(SHARED.match(mutation.file)) and sees(mutation)


def tests_of(own: Case) -> list[Trial]:
    """Return tests of a model and of its references, and what `_names` finds for a change.

    Tests of the model with topics of another kind are in reserve, and those of all models: a branch may be
    theirs alone.
    """
    folder, topics = PACKAGE / "tests", own.topics
    others = [f"not {name}" for name in MODELS if own.model in name and name != own.model]
    sides = [] if topics else [side for model, side in combinations() if model == own.model and side]
    chosen = " and ".join([own.model, *filter(None, [topics]), *others, *(f"not {side}" for side in sides)])
    found = []
    for path in sorted(folder.rglob("test_*.py")):
        file = path.relative_to(PACKAGE).as_posix()
        if path.parent == folder / "models" and _is_about(path) == own.model:
            found.append(_pytest(file, "", _is_python))
        elif file in OF_EVERY_MODEL:
            found.append(_pytest(file, chosen, _is_python))
            for side in sides:
                of_side = _pytest(file, " and ".join([own.model, side, *others]), _is_python)
                found.append(replace(of_side, name=f"{file} with {side} topics", in_reserve=True))
            if file in OF_ALL_MODELS:
                of_all = _pytest(file, "", _is_common, "-m", "not heavy and not compiled")
                found.append(replace(of_all, name=f"{file} of all models", in_reserve=True))
        elif OF_REFERENCES.search(path.name):
            twins = [(f"{chosen} and {one}", "-m", "", "--anew") for one in TWINS]
            for one, *more in twins if file == STAN else [(chosen,)]:
                found.append(_pytest(file, one, _is_of_references, *more))
            found.append(_pytest(file, " and ".join(f"not {name}" for name in MODELS), _names(path)))
        elif not file.startswith(OUTSIDE):
            found.append(_pytest(file, "", _names(path, own.model)))
    return found


def _is_about(test: Path) -> str:
    """Model after which a file of tests is named, as is ``test_lda.py``, and ``test_lda_oracle.py`` too."""
    name = test.stem.removeprefix("test_")
    return max((model for model in MODELS if f"{name}_".startswith(f"{model}_")), key=len, default="")


def _pytest(file: str, chosen: str, sees: Callable[[Mutation], bool], *more: str) -> Trial:
    options = ("-x", "-q", "-p", "no:cacheprovider", "-W", "ignore", "--tb", "no", "-m", "not heavy", *more)
    arguments = ("-m", "pytest", *options, file, *(("-k", chosen) if chosen else ()))
    return Trial(file, arguments, sees, (PACKAGE / file).read_text(encoding="utf-8"))


def _names(test: Path, model_id: str = "") -> Callable[[Mutation], bool]:
    """Whether a test names the module that is changed, of a model also by its id, or is of its folder."""
    text = test.read_text(encoding="utf-8")
    named = _imported(text) | ({f"zoo.models.{model_id}"} if f'"{model_id}"' in text else set())
    folder = test.parent.relative_to(PACKAGE / "tests")
    of_folder = len(folder.parts) > 1  # a family's, or a toolbox; a whole room is too much
    return lambda mutation: _module(mutation) in named or (of_folder and Path(mutation.file).parent == folder)


def _module(mutation: Mutation) -> str:
    return mutation.file.removesuffix(".py").replace("/", ".")


def _imported(text: str) -> set[str]:
    """Modules of the package that a test imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bnpzoo."):
            base = (node.module or "").removeprefix("bnpzoo.")
            found |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return found


def _is_of(mutation: Mutation, case: Case) -> bool:
    owner = mutation.definition.rpartition(".")[0]
    names = {Name(_module(mutation), name) for name in (mutation.definition, owner)}
    return bool(names & case.definitions)


def _is_common(mutation: Mutation) -> bool:
    return bool(COMMON.match(mutation.file))


def _is_python(mutation: Mutation) -> bool:
    return mutation.file.endswith(".py")


def _is_of_references(mutation: Mutation) -> bool:
    return not mutation.file.startswith("kernels/")
