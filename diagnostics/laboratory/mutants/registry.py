"""Deliberately wrong kernels: a rung of the ladder that none of them can fail is no evidence.

A mutant is a small change in the source of the kernels, of the sort that a programmer makes. Those of a
family are the tuple ``MUTANTS`` of its file in this folder.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from ....zoo.contract import Model
from ....zoo.families.hdp.family import HdpFamily
from ....zoo.families.responses.family import RespondingFamily
from ....zoo.families.topics import Dirichlet
from ....zoo.models.group_lda import GroupLda
from ....zoo.models.lda import Lda
from ..patched import Change, Mutant

DOCUMENTS = (Lda, GroupLda, HdpFamily)
TOPICS = (Dirichlet,)
OLD = "coefficient[old] = (prior[old] + (doc_count[old] - 1)) / (total[old] - 1 + smoothing)"
LEAVE = """\
            scratch.is_doc_topic[k] = False
            mass = weigh_topic(tokens, documents, topics, scratch, d, k, mass)
"""

SHARED: tuple[Mutant, ...] = (
    Mutant(
        "own-count-kept", TOPICS,
        Change("toolbox/dirichlet.py", OLD, OLD.replace("(doc_count[old] - 1)", "doc_count[old]")),
        "a token's own count is not taken out of its document",
        "sparse",
    ),
    Mutant(
        "own-total-kept", TOPICS,
        Change("toolbox/dirichlet.py", OLD, OLD.replace("total[old] - 1", "total[old]")),
        "a token's own count is not taken out of the total of its topic",
        "sparse",
    ),
    Mutant(
        "normaliser-dropped", TOPICS,
        Change(
            "toolbox/dirichlet.py",
            "coefficient[new] = (prior[new] + doc_count[new]) / (total[new] + smoothing)",
            "coefficient[new] = (prior[new] + doc_count[new]) / (total[new] + eta)",
        ),
        "the normaliser of the topic that a token moved to has eta instead of V eta",
        "sparse",
    ),
    Mutant(
        "stale-mass", TOPICS,
        Change(
            "toolbox/dirichlet.py",
            "mass = settled(mass_without + (coefficient[new] - kept),",
            "mass = settled(mass_without,",
        ),
        "the mass is not updated for the topic that a token moved to",
        "sparse",
    ),
    Mutant(
        "stale-total", TOPICS,
        Change(
            "toolbox/dirichlet.py",
            "        total[old] -= 1\n        doc_count[old] -= 1",
            "        doc_count[old] -= 1",
        ),
        "the total of the topic that a token left is not decremented",
        "sparse",
    ),
    Mutant(
        "stale-coefficient", DOCUMENTS,
        Change("toolbox/token_pass.py", LEAVE, LEAVE.partition("\n")[0] + "\n"),
        "the coefficients of a document's topics keep its counts when it is left",
        spares=(RespondingFamily,),
    ),
    Mutant(
        "document-count-kept", TOPICS,
        Change(
            "toolbox/dirichlet.py",
            "        doc_count[old] -= 1\n    for k in range(n_topics):",
            "    for k in range(n_topics):",
        ),
        "the dense step does not take a token out of the counts of its document",
        "dense",
    ),
    Mutant(
        "tables-off-by-one", DOCUMENTS,
        Change("toolbox/random.py", "if rng.random() * (r + j) < r:", "if rng.random() * (r + j + 1) < r:"),
        "tables are opened with r / (r + j) by the j-th customer instead of r / (r + j - 1)",
    ),
    Mutant(
        "companion-forgotten", DOCUMENTS,
        Change(
            "toolbox/random.py",
            "log_beta_variate(rng, parts * current, float(n))",
            "log_beta_variate(rng, parts * current + 1.0, float(n))",
        ),
        "concentrations: Beta(c + 1, n) without the binary variable that goes with it",
    ),
    Mutant(
        "jacobian-forgotten", TOPICS,
        Change(
            "toolbox/smoothing.py",
            "out = target.prior[0] * x - target.prior[1] * eta",
            "out = (target.prior[0] - 1.0) * x - target.prior[1] * eta",
        ),
        "the slice move on log eta lacks the Jacobian of the logarithm",
        "sparse",
    ),
    Mutant(
        "gamma-function-missing", TOPICS,
        Change(
            "toolbox/smoothing.py",
            "out += math.lgamma(mass) - math.lgamma(mass + n)",
            "out -= math.lgamma(mass + n)",
        ),
        "the density of eta lacks one Gamma(V eta) a topic",
        "sparse",
    ),
    Mutant(
        "parts-forgotten", (Lda, GroupLda),
        Change("toolbox/random.py", "rate -= parts * log_beta_variate", "rate -= log_beta_variate"),
        "the rate of alpha lacks the factor K",
    ),
)  # fmt: skip
"""Of what several families share."""


def _of_families() -> Iterator[Mutant]:
    """``MUTANTS`` of every other file of this folder, by name of file."""
    for found in iter_modules([str(Path(__file__).parent)]):
        if found.name != "registry":
            yield from import_module(f".{found.name}", __package__).MUTANTS


MUTANTS: tuple[Mutant, ...] = (*SHARED, *_of_families())


def mutant_by_id(mutant_id: str) -> Mutant:
    """Find a mutant; ValueError if there is none of that name."""
    for mutant in MUTANTS:
        if mutant.id == mutant_id:
            return mutant
    raise ValueError(f"no mutant {mutant_id!r}; there are {', '.join(mutant.id for mutant in MUTANTS)}")


def mutants_of(model: Model) -> list[Mutant]:
    """Mutants that make a sampler of `model` wrong: of its own, of its family and of what it holds."""
    parts, spelled = model.parts(), model.spelled()
    return [
        mutant
        for mutant in MUTANTS
        if any(isinstance(part, mutant.concerns) and not isinstance(part, mutant.spares) for part in parts)
        and (not mutant.variant or mutant.variant in model.kernels)
        and all(spelled[name] == value for name, value in mutant.requires.items())
    ]
