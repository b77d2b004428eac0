"""What a verdict depends on: no more and no less."""

import ast
import importlib.resources
import re
import shutil
import sys
from dataclasses import replace
from inspect import CO_NEWLOCALS
from pathlib import Path
from types import SimpleNamespace

import pytest
from bnpzoo.diagnostics.laboratory import closure, definitions
from bnpzoo.diagnostics.laboratory.definitions import Module, Name
from bnpzoo.diagnostics.laboratory.ladder import BUDGETS, Case, climb, rungs_of
from bnpzoo.diagnostics.laboratory.mutants.registry import mutants_of
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON
from bnpzoo.zoo.models import combinations, get
from twins import fingerprint_of, model_of

ROOT = Path(closure.__file__).parents[2]
ALL = [Case(model, "", "joint", "full", topics=topics) for model, topics in combinations()]


def cases():
    """Every rung of every model, by name of model and rung."""
    return {
        (case.name_of_model, rung): replace(case, rung=rung)
        for case in ALL
        for rung in rungs_of(case.model_as_told())
    }


def test_all_that_kernels_do_by_themselves_is_to_find_a_place_for_what_is_compiled():
    """No verdict depends on it, so nothing else may come to stand there."""
    module = definitions.module_named("kernels")
    nodes = [node for effect in module.effects for node in module.definitions[effect].nodes]
    assert [ast.unparse(node) for node in nodes] == ["find_place()"]


@pytest.fixture(scope="module")
def fingerprints():
    return {key: case.fingerprint for key, case in cases().items()}


@pytest.fixture
def change(tmp_path, monkeypatch):
    """Replace texts in files, in a copy of the package."""
    package = tmp_path / "bnpzoo"
    for room in ("kernels", "zoo", "diagnostics", "stan"):
        shutil.copytree(ROOT / room, package / room, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "_version.py", package)
    monkeypatch.setattr(definitions, "PACKAGE", package)
    monkeypatch.setattr(importlib.resources, "files", lambda name: package)

    def change(*changes):
        for path, find, put in changes:
            file = package / path
            text = file.read_text(encoding="utf-8")
            assert find in text
            file.write_text(text.replace(find, put, 1), encoding="utf-8")
        forget()

    yield change
    monkeypatch.undo()
    forget()


@pytest.fixture
def voided(change, fingerprints):
    """Which verdicts are void after changes."""

    def voided(*changes):
        change(*changes)
        return {key for key, case in cases().items() if case.fingerprint != fingerprints[key]}

    return voided


def forget():
    """Read all sources anew."""
    for cached in (
        definitions.module_named,
        closure._references,
        closure.implementations,
        closure.closure,
        closure.digest_of,
        closure.digest,
    ):
        cached.cache_clear()


def of(models, rung=None):
    """Keys of models, by the beginnings of their names."""
    return {key for key in cases() if key[0].startswith(models) and rung in (None, key[1])}


SAYS_NOTHING = (
    ("zoo/families/hdp/sticks.py", "class GrowingSticks:\n", "class GrowingSticks:\n    # a comment\n\n"),
    ("kernels/toolbox/random.py", '"""Index of one of', '"""The index of one of'),
    ("diagnostics/laboratory/geweke.py", "draws: np.ndarray", "draws: object"),
    ("stan/functions/sticks.stan", "{\n", "{  // a comment\n"),
    ("zoo/models/lda.py", "mixes them in its own proportions", "has its own mixture of them"),
    ("zoo/models/hdp.py", "from dataclasses", "import os\nfrom dataclasses"),
    ("kernels/lda/documents.py", "    prior: np.ndarray\n", "    prior: object\n"),
    ("zoo/formats/uci.py", "1", "2"),
    ("kernels/toolbox/compilers.py", "no_compile = True", "no_compile = False"),
    ("zoo/files.py", "temporary.replace(target)", "temporary.rename(target)"),
    ("zoo/inference/fits.py", '"complevel": 4', '"complevel": 5'),
    ("zoo/memory.py", "if total > free:", "if total >= free:"),
    ("zoo/inference/schedule.py", "if self.keep == 0 or", "if self.keep <= 0 or"),
    ("zoo/inference/backends.py", "if chains == 1 and", "if chains <= 1 and"),
    ("diagnostics/compare.py", "All {n} test quantities", "Each of {n} test quantities"),
)


@pytest.mark.slow
def test_what_says_nothing_voids_nothing(voided):
    assert voided(*SAYS_NOTHING) == set()


@pytest.mark.slow
def test_a_sign_in_the_sticks_voids_the_verdicts_on_models_with_sticks(voided):
    of_sentences = ("was", "ordered_sbp", "sbp", "tjb_hdp", "mqr_hdp", "icd")  # without a number of topics
    users = ("hdp", "mt_hdp", "shdp", "hdsp", "whdsp", "dp_mrm", *of_sentences)
    found = voided(("zoo/families/hdp/sticks.py", "def log_gem(", "def log_gem(extra=-1, *, "))
    assert found <= of(users)
    assert found >= of(users, "oracle") | of(users, "joint")


@pytest.mark.slow
def test_a_sign_in_a_function_of_stan_voids_the_agreement_of_the_references_that_include_it(voided):
    users = {
        key
        for key, case in cases().items()
        if key[1] == "reference"
        and case.model_as_told().require_reference().stan_program in ("hdp", "mt_hdp", "hdsp", "pfa")
    } | of("shdp", "reference")
    assert users
    assert voided(("stan/functions/sticks.stan", "+", "-")) == users


@pytest.mark.slow
def test_a_sign_in_a_rung_voids_the_verdicts_of_that_rung(voided):
    assert voided(("diagnostics/laboratory/geweke.py", "HEAVY_TAIL = 5.0", "HEAVY_TAIL = -5.0")) == of(
        "", "geweke"
    )


@pytest.mark.slow
def test_another_back_end_voids_the_agreement_of_all_references(voided):
    found = voided(("zoo/inference/backends.py", "return BACKENDS[name]", 'return BACKENDS["kernel"]'))
    assert found == of("", "reference")


@pytest.mark.slow
def test_a_sign_in_the_reference_of_a_family_voids_its_agreement(voided):
    found = voided(("zoo/families/hdp/reference.py", "def mt_hdp(", "def mt_hdp(more=1, *, "))
    assert found
    assert found <= of("mt_hdp", "reference")


@pytest.mark.slow
def test_a_sign_in_a_kernel_voids_all_that_runs_it(voided):
    found = voided(("kernels/lda/cclda.py", "gamma1 + n_own", "gamma1 - n_own"))
    assert found == of("cclda")


@pytest.mark.slow
def test_a_sign_in_one_of_two_programs_voids_the_figures_of_these_twins(change):
    engine, names = SimpleNamespace(name="a Stan"), ("lda", "hdp", "mt_hdp", "hdsp", "lda/belief-network:2")

    def fingerprints():
        return {name: fingerprint_of(engine, [model_of(name, "prior")]) for name in names}

    before = fingerprints()
    change(*SAYS_NOTHING, ("kernels/lda/cclda.py", "gamma1 + n_own", "gamma1 - n_own"))
    assert fingerprints() == before
    change(("zoo/families/hdp/reference.py", "def mt_hdp(", "def mt_hdp(more=1, *, "))
    after = fingerprints()
    assert {name for name in names if after[name] != before[name]} == {"mt_hdp"}
    change(("stan/functions/sticks.stan", "+", "-"))
    assert {name for name, new in fingerprints().items() if new != after[name]} == {"hdp", "mt_hdp", "hdsp"}


LABELLED = ("labeled_lda", "partially_labeled_lda")
OF_A_CLASS = {
    "check_side(LabelledDocuments)": ("side.alpha[side.label], 0.0", "side.alpha[side.label], 1.0", LABELLED),
    "check_side(RegressionDocuments)": ("1e-9 * size", "1e-8 * size", "dmr"),
    "_draw_alpha": ("def _draw_alpha(", "def _draw_alpha(more=1, *, ", LABELLED),
    "_draw_regression": ("def _draw_regression(", "def _draw_regression(more=1, *, ", "dmr"),
}
"""Functions in one module that are chosen by one of two classes, a change of each, and who has its class."""


@pytest.mark.parametrize("name", OF_A_CLASS)
@pytest.mark.slow
def test_a_function_that_is_chosen_by_type_voids_the_verdicts_on_models_with_this_type(voided, name):
    find, put, models = OF_A_CLASS[name]
    assert Name("kernels.labels.documents", name) in {known for known, _ in closure.implementations()}
    assert voided(("kernels/labels/documents.py", find, put)) == of(models)


@pytest.mark.slow
def test_implementations_are_found_in_modules_that_nobody_names(voided):
    found = voided(("kernels/belief_network/tokens.py", "def _dense_step(", "def _dense_step(more=1, *, "))
    assert found >= {key for key in of("") if "belief-network" in key[0] and key[1] in ("joint", "oracle")}


@pytest.mark.slow
def test_topics_that_a_model_could_have_had_are_no_part_of_its_verdicts(voided):
    found = voided(("zoo/families/belief_network/network.py", "def links_below(", "def links_below(x=1, *, "))
    under_networks = {key for key in cases() if "belief-network" in key[0]}
    assert found <= under_networks | of(("pfa", "bgg", "metalda", "gbn"))  # whose sweeps ask which topics
    assert found


def test_settings_are_part_of_a_verdict_and_the_mutant_too(monkeypatch):
    case = Case("lda", "sparse", "sbc")
    mutant = mutants_of(get("lda"))[0].id
    others = [replace(case, mutant=mutant), replace(case, seed=1), replace(case, variant="dense")]
    assert len({one.fingerprint for one in (case, *others)}) == 4
    before = case.fingerprint
    monkeypatch.setitem(BUDGETS["ci"], "sbc", BUDGETS["ci"]["sbc"] | {"draws": 16})
    assert case.fingerprint != before


SMALL = {
    "joint": {"states": 3},
    "oracle": {"chains": 2, "draws": 20, "warmup": 5},
    "sequential": {"samples": 5, "transitions": 2},
    "geweke": {"draws": 20, "chains": 3, "transitions": 2},
}


NO_PART = (Path("kernels/toolbox/compilers.py"), Path("kernels/toolbox/cache.py"), Path("zoo/memory.py"))
"""What drives numba; what finds a place for the kernels as they are imported, in the first test of a process;
and what can only refuse to begin; see ``ladder.NOT_FOLLOWED``."""


def name_at(module, line):
    """Name of the function of a module that begins at a line with its first decorator."""
    return next(
        name
        for name, definition in definitions.module_named(module).definitions.items()
        for node in definition.nodes
        if isinstance(node, ast.FunctionDef) and min(d.lineno for d in [*node.decorator_list, node]) == line
    )


@pytest.mark.parametrize(
    ("model", "variant", "topics"),
    [("lda", "sparse", ""), ("hdp", "forced", "pitman-yor"), ("lda", "sparse", "belief-network")],
)
@pytest.mark.parametrize("rung", SMALL)
def test_nothing_runs_that_a_verdict_is_not_said_to_depend_on(monkeypatch, model, variant, topics, rung):
    monkeypatch.setitem(BUDGETS["ci"], rung, SMALL[rung])
    monkeypatch.setattr(Case, "changes", (PLAIN_PYTHON,))
    case = Case(model, variant, rung, topics=topics)
    copies = re.compile(r"bnpzoo_kernels_\w+/(.*)")
    seen = set()

    def look(frame, event, argument):
        if event == "call" and frame.f_code.co_flags & CO_NEWLOCALS:
            seen.add((frame.f_code.co_filename, frame.f_code.co_qualname, frame.f_code.co_firstlineno))

    known = case.definitions
    sys.setprofile(look)
    try:
        climb(case)
    finally:
        sys.setprofile(None)
    ran = set()
    for file, name, line in seen:
        copied = copies.search(file)
        path = Path(f"kernels/{copied[1]}") if copied else Path(file)
        if path.is_relative_to(ROOT):
            path = path.relative_to(ROOT)
        path = path.parent if path.name == "__init__.py" else path
        if path.is_absolute() or path.parts[0] not in ("kernels", "zoo", "diagnostics"):
            continue
        if path in NO_PART:
            continue
        outer = name.partition(".<locals>")[0]
        owner, _, method = outer.rpartition(".")
        module = ".".join(path.with_suffix("").parts)
        if outer == "_":
            outer = name_at(module, line)
        if "<" not in outer:
            ran.add(Name(module, owner if method.startswith("__") else outer))
    assert len(ran) > 30
    assert ran - known == set()


def test_names_are_followed_through_imports_and_members():
    assert definitions.resolved(Name("zoo.corpus", "Corpus")) == Name("zoo.corpus.corpus", "Corpus")
    assert definitions.resolved(Name("kernels.toolbox", "sides")) == Name("kernels.toolbox.sides", "")
    assert definitions.resolved(Name("zoo.corpus", "nothing")) is None
    found = closure.closure((closure.digest,))
    assert Name("diagnostics.laboratory.closure", "IGNORED") in found
    assert Name("diagnostics.laboratory.closure", "closure") not in found


def test_definitions_of_a_module():
    module = Module(
        "a.b",
        "from .c import d as e\nx: int = 1\nif x:\n    x += 1\n"
        "class F:\n    card = 1\n    y: int = 2\n    z = 3\n"
        "    def g(self): pass\n    def __len__(self): ...\n"
        "@e.implement(F)\ndef h(): pass\n"
        "@e.register\ndef _(i: F | e.G, j: int): pass\n"
        "@e.command()\ndef k(): pass\n",
        is_package=False,
    )
    assert module.imported == {"e": Name("a.c", "d")}
    assert set(module.definitions) == {"x", "<0>", "F", "F.z", "F.g", "h", "e(F), e(e.G)", "k"}
    assert module.effects == ["<0>", "k"]
    told = [(name, *map(ast.unparse, needs)) for name, *needs in module.implementations]
    assert told == [("h", "e", "F"), ("e(F), e(e.G)", "e", "F"), ("e(F), e(e.G)", "e", "e.G")]
