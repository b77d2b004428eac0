"""A sampler of the zoo before a rung of the ladder: on which data, with which settings."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...zoo.contract import Design, Kernel, Model, Reference
from ...zoo.corpus.associations import Associations
from ...zoo.inference.stan import program_text
from ...zoo.models import get
from .closure import closure, digest
from .definitions import Name
from .geweke import geweke
from .movement import check_movement, one_at_a_time
from .mutants.registry import mutant_by_id
from .oracle import Oracle, agrees_with_oracle
from .patched import PLAIN_PYTHON, Change, load_room, sources_with
from .reference import agrees_with_references
from .sbc import sbc
from .sequential import sequential
from .subject import ModelSubject, reports_broken
from .token_balance import balance
from .token_law import joint
from .verdict import FALSE_ALARM_RATE, Verdict

RUNGS = ("joint", "sequential", "oracle", "geweke", "sbc", "reference")
"""From cheap to dear."""

RUNG_TITLES = {
    "joint": "Conditionals against ratios of the joint density",
    "sequential": "Sequential two-sample test",
    "oracle": "Long chains against an enumerated posterior",
    "geweke": "Geweke's joint distribution test",
    "sbc": "Simulation-based calibration",
    "reference": "Kernel, NumPyro and Stan on one corpus",
}

type Progress = Callable[[int, int], None]

BUDGETS: dict[str, dict[str, dict[str, Any]]] = {
    "ci": {
        "joint": {"states": 200},
        "sequential": {"samples": 500, "transitions": 5},
        "oracle": {"chains": 4, "draws": 8000},
        "geweke": {"draws": 1000, "chains": 40, "transitions": 50},
        "sbc": {"replications": 100, "draws": 15},
    },
    "full": {
        "joint": {"states": 1000},
        "sequential": {"samples": 2000, "transitions": 10, "samples_alone": 1000},
        "oracle": {"chains": 4, "draws": 25_000},
        "geweke": {"draws": 5000, "chains": 100, "transitions": 150},
        "sbc": {"replications": 500, "draws": 63},
        "reference": {"draws": 1500},
    },
    "long": {"reference": {"draws": 12_000}},
}
"""Settings of each rung: seconds for ``ci``, minutes for its SBC; minutes, up to an hour, for ``full``, the
first with references; ``long`` is for references on which NUTS mixes slowly, or takes long to adapt."""


def neighbours(n_words: int, n_groups: int) -> Associations:
    """Words that stay what they are in the first group, and may become the g-th after them in group g."""
    stays = np.diag(np.linspace(0.4, 0.8, n_words))
    become = [np.roll(np.eye(n_words) - stays, g, axis=0) + stays for g in range(1, n_groups)]
    return Associations.of([np.eye(n_words), *become])


LENGTHS, GROUPS = [4, 1, 0, 3, 2, 6, 2], [0, 2, 1, 0, 0, 1, 2]

DESIGN = Design(np.array(LENGTHS), n_words=5, group=np.array(GROUPS), associations=neighbours(5, 3))
"""Small enough to be fast, and without symmetry: documents, words, groups and, before tests, topics differ in
number; groups are not contiguous, but two documents of one come in a row; a document is empty, and one has a
single token."""

LONG = Design(
    np.array([*LENGTHS, 120]), n_words=5, group=np.array([*GROUPS, 2]), associations=neighbours(5, 3)
)
"""With a document of so many tokens that tables are drawn in another way; for compiled sweeps."""

MICRO = Design(
    np.array([4, 1, 0, 2]), n_words=3, group=np.array([0, 1, 1, 0]), associations=neighbours(3, 2)
).corpus(np.array([0, 2, 0, 0, 1, 2, 0]))
"""Small enough for the oracle to enumerate: with 877 partitions, and tables of up to four tokens."""


REFERENCE_DESIGNS = {
    False: Design(
        np.array([7, 9, 6, 8, 5, 7]),
        n_words=5,
        group=np.array([0, 1, 0, 2, 2, 1]),
        associations=neighbours(5, 3),
    ),
    True: Design(np.array([8, 6, 5, 9]), n_words=6, group=np.array([0, 1, 1, 0])),
}
"""Small enough for NUTS to mix; the smaller (True) where the reference enumerates sets of topics."""

REFERENCE_TRUNCATIONS = {False: (6, 10), True: (4, 5)}
"""Sticks of the references, two levels; close ones (True) where the cost doubles with each.

In a buffet of mass a, d documents have on average d (a / (a + 1))^(k + 1) (a + 1) topics beyond the k largest
sticks: 0.0034 for 4 documents, a = 0.3 and k = 4.
"""


CHOSEN = (
    Name("diagnostics.laboratory.ladder", "BUDGETS"),
    Name("diagnostics.laboratory.ladder", "JUDGES"),
    Name("diagnostics.laboratory.mutants.registry", "MUTANTS"),
    Name("zoo.families.topic_sides", "TOPIC_SIDES"),
    Name("zoo.models", "MODELS"),
)
"""Tables from which a case chooses: what it chose counts, and not what it might have chosen."""

COMPILERS = (
    Name("kernels.toolbox.compilers", "PartCompiler"),
    Name("kernels.toolbox.compilers", "WholeCompiler"),
    Name("kernels", "<0>"),  # the statement that finds a place for what is compiled
)
"""How numba is driven, which no verdict depends on, as on numba itself: golden draws, to the last bit, do."""

FILES = (
    Name("zoo.files", "replace_on_success"),
    Name("zoo.inference.fits", "load"),
    Name("zoo.inference.fits", "save"),
)
"""How draws are kept in files: read is what was written, or nothing, which is for their own tests to show."""

REFUSALS = (
    Name("zoo.inference.backends", "_check_arguments"),
    Name("zoo.inference.needs", "check_memory"),
    Name("zoo.memory", "require_memory"),
)
"""What can only refuse to begin; a run that has a verdict was not refused."""

BESIDE = (
    Name("diagnostics.compare", "Comparison._outcome"),
    Name("zoo.inference.schedule", "Schedule.keeps"),
    Name("zoo.inference.starts", "_warm"),
)
"""How an outcome is worded; which draws are kept whole, and how chains start from them: no rung has them."""

NOT_FOLLOWED = (*CHOSEN, *COMPILERS, *FILES, *REFUSALS, *BESIDE)
"""What a verdict names, and does not depend on."""


@dataclass(frozen=True)
class Case:
    """A sampler before a rung.

    Attributes
    ----------
    model, variant, rung, budget : str
    seed : int
    mutant : str
        Id of a mutant; empty for the right sampler.
    topics : str
        Name of the topic side that the model holds; its default unless given.
    options : str
        Other arguments of the model, as JSON.
    """

    model: str
    variant: str
    rung: str
    budget: str = "ci"
    seed: int = 0
    mutant: str = ""
    topics: str = ""
    options: str = ""

    @property
    def name_of_model(self) -> str:
        """The model with its topics and options."""
        options = ", ".join(f"{name}={value}" for name, value in self.told_options().items())
        return (
            self.model + (f" × {self.topics}" if self.topics else "") + (f" ({options})" if options else "")
        )

    @property
    def subject(self) -> str:
        """What is judged."""
        return f"{self.name_of_model}/{self.variant}" + (f" with {self.mutant}" if self.mutant else "")

    @property
    def stem(self) -> str:
        """Name of its files."""
        options = "-".join(f"{name}-{value}" for name, value in self.told_options().items())
        parts = (self.model, self.topics, options, self.variant, self.mutant, self.rung, self.budget)
        return ".".join(part for part in parts if part)

    def told_options(self) -> dict[str, Any]:
        """Return `options` by name."""
        return json.loads(self.options or "{}")

    def model_as_told(self) -> Model:
        """Make the model with its topics and options, and all else as it is by default."""
        return get(self.model, topics=self.topics or None, **self.told_options())

    @property
    def settings(self) -> dict[str, Any]:
        """Of the rung."""
        return BUDGETS[self.budget][self.rung]

    @property
    def changes(self) -> tuple[Change, ...]:
        """What is changed in the kernels.

        Mutants stay plain Python, which makes the same draws, where compiling them would take longer.
        """
        is_short = self.budget == "ci" and self.rung != "sbc"
        plain = (PLAIN_PYTHON,) if self.rung == "joint" or (self.mutant and is_short) else ()
        return (*((mutant_by_id(self.mutant).change,) if self.mutant else ()), *plain)

    @property
    def kernel(self) -> Kernel:
        """The sampler."""
        return _kernels(self.make_model(), self.changes)[self.variant]

    def make_model(self) -> Model:
        """Make the model, small, its hyperparameters sampled unless the oracle is to be exact."""
        model = self.model_as_told()
        if self.rung == "reference":
            return model.set_to("reference")
        purpose = "fixed" if (self.rung, self.budget) == ("oracle", "ci") else "prior"
        return model.set_to(purpose).replaced(**model.kernel(self.variant).requires)

    @property
    def definitions(self) -> frozenset[Name]:
        """What of the package has a part in the result; settings and mutants count by their values."""
        parts = (type(part) for part in self.model_as_told().parts())
        return closure((climb, JUDGES[self.rung], Case, *parts), without=NOT_FOLLOWED)

    @property
    def fingerprint(self) -> str:
        """Hash of all that the result depends on: definitions, the Stan program, settings and changes.

        Raises
        ------
        ValueError
            A change does not apply to the kernels.
        """
        parts = [digest(self.definitions), repr((self, self.settings, self.changes))]
        sources_with(*self.changes)
        if self.rung == "reference":
            parts.append(stan_tokens(self.model_as_told().require_reference()))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@cache
def _kernels(model: Model, changes: tuple[Change, ...]) -> dict[str, Kernel]:
    return model.kernels_in(load_room(*changes))


def stan_tokens(reference: Reference) -> str:
    """Stan program of a reference with its includes; comments and white space are left out."""
    program = program_text(reference.stan_program, reference.stan_includes)
    code = re.sub(r"//[^\n]*|/\*.*?\*/", " ", program, flags=re.DOTALL)
    return " ".join(re.findall(r"\w+|\S", code))


class CaseSubject(ModelSubject):
    """The sampler of a case as a `Subject`; of `model` where given, which has other hyperparameters fixed."""

    def __init__(self, case: Case, design: Design = DESIGN, model: Model | None = None):
        super().__init__(model or case.make_model(), design, case.variant)
        self.case = case
        self.name = case.subject

    @property
    def kernel(self) -> Kernel:
        """The kernel of the case."""
        return _kernels(self.model, self.case.changes)[self.case.variant]


def rungs_of(model: Model) -> list[str]:
    """Rungs that a model can climb, from cheap to dear: there may be no reference."""
    return [rung for rung in RUNGS if rung != "reference" or model.reference is not None]


def _joint(case: Case, store: Path | None, progress: Progress | None) -> Verdict:
    judge = balance if case.kernel.token_step == "reversible" else joint
    return judge(case.subject, case.kernel, case.make_model(), DESIGN, seed=case.seed, **case.settings)


def _oracle(case: Case, store: Path | None, progress: Progress | None) -> Verdict:
    subject = CaseSubject(case, Design.of(MICRO))
    oracle = Oracle.of_model(subject.model, MICRO)
    return agrees_with_oracle(subject, oracle, MICRO, seed=case.seed, progress=progress, **case.settings)


def _sequential(case: Case, store: Path | None, progress: Progress | None) -> Verdict:
    return one_by_one(CaseSubject(case), seed=case.seed, progress=progress, **case.settings)


@reports_broken("sequential")
def one_by_one(
    subject: CaseSubject,
    *,
    seed: int,
    samples_alone: int = 0,
    false_alarm_rate: float = FALSE_ALARM_RATE,
    **settings: Any,
) -> Verdict:
    """Sequential test, once it is seen that all moves that should: each hyperparameter alone as well.

    Parameters
    ----------
    subject : CaseSubject
    seed : int
    samples_alone : int
        Draws of the first round of tests in which one hyperparameter is sampled and the others are fixed;
        none of these at 0.
    false_alarm_rate : float
        Over all tests together.
    **settings
        Of `sequential`.
    """
    alone = [CaseSubject(subject.case, model=model) for _, model in one_at_a_time(subject.model)]
    rng = np.random.default_rng(seed)
    for form in (subject, *alone):
        check_movement(form, rng)
    tests = [(subject, settings)]
    if samples_alone:
        tests += [(form, settings | {"samples": samples_alone}) for form in alone]
    rate = false_alarm_rate / len(tests)
    verdicts = []
    for form, chosen in tests:
        verdicts.append(sequential(form, seed=seed, false_alarm_rate=rate, **chosen))
        if not verdicts[-1].passed:
            (name, *others) = form.model.sampled()
            message = verdicts[-1].message if others else f"{name} alone sampled: {verdicts[-1].message}"
            return replace(verdicts[-1], message=message, false_alarm_rate=false_alarm_rate)
    return replace(verdicts[0], false_alarm_rate=false_alarm_rate)


def _geweke(case: Case, store: Path | None, progress: Progress | None) -> Verdict:
    return geweke(CaseSubject(case), seed=case.seed, progress=progress, **case.settings)


def _sbc(case: Case, store: Path | None, progress: Progress | None) -> Verdict:
    lengths_are_data = type(case.make_model()).simulate_lengths is not Model.simulate_lengths
    subject = CaseSubject(case, DESIGN if lengths_are_data else LONG)
    return sbc(subject, store=store, seed=case.seed, progress=progress, **case.settings)


def _reference(case: Case, store: Path | None, progress: Progress | None) -> Verdict:
    model = case.make_model()
    enumerates = model.require_reference().largest_truncation is not None
    design = REFERENCE_DESIGNS[enumerates]
    corpus = model.simulate(design, np.random.default_rng(case.seed)).corpus
    return agrees_with_references(
        case.subject,
        model,
        corpus,
        case.variant,
        truncations=REFERENCE_TRUNCATIONS[enumerates],
        seed=case.seed,
        store=store,
        progress=progress,
        **case.settings,
    )


JUDGES: dict[str, Callable[[Case, Path | None, Progress | None], Verdict]] = {
    "joint": _joint,
    "oracle": _oracle,
    "sequential": _sequential,
    "geweke": _geweke,
    "sbc": _sbc,
    "reference": _reference,
}


def climb(case: Case, store: Path | None = None, progress: Progress | None = None) -> Verdict:
    """Judge a sampler on one rung.

    Parameters
    ----------
    case : Case
    store : Path, optional
        Folder for what the rung may take up after an interruption.
    progress : (done, total) -> None, optional
    """
    if case.rung not in JUDGES:
        raise ValueError(f"no rung {case.rung!r}; there are {', '.join(JUDGES)}")
    return JUDGES[case.rung](case, store, progress)
