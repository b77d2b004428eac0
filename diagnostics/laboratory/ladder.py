"""A sampler of the zoo before a rung of the ladder: on which data, with which settings."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...zoo.contract import Design, Kernel, Model, Reference
from ...zoo.corpus.associations import Associations
from ...zoo.inference.stan import program_text
from ...zoo.models import get
from .closure import Name, closure, digest
from .geweke import geweke
from .mutants.registry import mutant_by_id
from .oracle import Oracle, agrees_with_oracle
from .patched import PLAIN_PYTHON, Change, load_room, source_hash
from .reference import agrees_with_references
from .sbc import sbc
from .sequential import sequential
from .subject import ModelSubject
from .token_balance import balance
from .token_law import joint
from .verdict import Verdict

RUNGS = ("joint", "oracle", "sequential", "geweke", "sbc", "reference")
"""From cheap to dear."""

RUNG_TITLES = {
    "joint": "Conditionals against ratios of the joint density",
    "oracle": "Long chains against an enumerated posterior",
    "sequential": "Sequential two-sample test",
    "geweke": "Geweke's joint distribution test",
    "sbc": "Simulation-based calibration",
    "reference": "Kernel, NumPyro and Stan on one corpus",
}

type Progress = Callable[[int, int], None]

BUDGETS: dict[str, dict[str, dict[str, Any]]] = {
    "ci": {
        "joint": {"states": 200},
        "oracle": {"chains": 4, "draws": 8000},
        "sequential": {"samples": 500, "transitions": 5},
        "geweke": {"draws": 1000, "chains": 40, "transitions": 50},
        "sbc": {"replications": 100, "draws": 15},
    },
    "full": {
        "joint": {"states": 1000},
        "oracle": {"chains": 4, "draws": 25_000},
        "sequential": {"samples": 2000, "transitions": 10},
        "geweke": {"draws": 5000, "chains": 100, "transitions": 150},
        "sbc": {"replications": 500, "draws": 63},
        "reference": {"draws": 1500},
    },
}
"""Settings of each rung: seconds for ``ci``; minutes for ``full``, which alone has the references."""


def _neighbours(n_words: int) -> Associations:
    """Words that stay what they are in one group, and may become the next in the other."""
    stays = np.linspace(0.4, 0.8, n_words)
    return Associations.of([np.eye(n_words), np.diag(stays) + np.roll(np.diag(1.0 - stays), 1, axis=0)])


DESIGN = Design(np.array([6, 5, 0, 7]), n_words=4, group=np.array([0, 0, 1, 1]), associations=_neighbours(4))
"""Small enough to be fast; has an empty document, two groups, and two documents of one group in a row."""

MICRO = Design(np.array([3, 2]), n_words=2, group=np.array([0, 1]), associations=_neighbours(2)).corpus(
    np.array([0, 1, 0, 1, 1])
)
"""Small enough for the oracle to enumerate."""


REFERENCE_DESIGNS = {
    False: Design(np.full(6, 7), n_words=6, group=np.arange(6) % 2, associations=_neighbours(6)),
    True: Design(np.full(4, 7), n_words=6, group=np.arange(4) % 2),
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
        return closure((climb, JUDGES[self.rung], Case, *parts), without=CHOSEN)

    @property
    def fingerprint(self) -> str:
        """Hash of all that the result depends on: definitions, the Stan program, settings and changes.

        Raises
        ------
        ValueError
            A change does not apply to the kernels.
        """
        parts = [digest(self.definitions), repr((self, self.settings, self.changes))]
        if self.mutant:
            source_hash(*self.changes)
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
    """The sampler of a case as a `Subject`."""

    def __init__(self, case: Case):
        design = Design.of(MICRO) if case.rung == "oracle" else DESIGN
        super().__init__(case.make_model(), design, case.variant)
        self.case = case
        self.name = case.subject

    @property
    def kernel(self) -> Kernel:
        """The kernel of the case."""
        return self.case.kernel


def rungs_of(model: Model) -> list[str]:
    """Rungs that a model can climb, from cheap to dear: there may be no reference."""
    return [rung for rung in RUNGS if rung != "reference" or model.reference is not None]


def _joint(case: Case, store: Path | None, progress: Progress | None) -> Verdict:
    judge = balance if case.kernel.token_step == "reversible" else joint
    return judge(case.subject, case.kernel, case.make_model(), DESIGN, seed=case.seed, **case.settings)


def _oracle(case: Case, store: Path | None, progress: Progress | None) -> Verdict:
    subject = CaseSubject(case)
    oracle = Oracle.of_model(subject.model, MICRO)
    return agrees_with_oracle(subject, oracle, MICRO, seed=case.seed, progress=progress, **case.settings)


def _sequential(case: Case, store: Path | None, progress: Progress | None) -> Verdict:
    return sequential(CaseSubject(case), seed=case.seed, progress=progress, **case.settings)


def _geweke(case: Case, store: Path | None, progress: Progress | None) -> Verdict:
    return geweke(CaseSubject(case), seed=case.seed, progress=progress, **case.settings)


def _sbc(case: Case, store: Path | None, progress: Progress | None) -> Verdict:
    return sbc(CaseSubject(case), store=store, seed=case.seed, progress=progress, **case.settings)


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
        raise ValueError(f"no rung {case.rung!r}; there are {', '.join(RUNGS)}")
    return JUDGES[case.rung](case, store, progress)
