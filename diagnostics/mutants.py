"""Deliberately wrong kernels: a rung of the ladder that none of them can fail is no evidence.

A mutant is a small change in the source of the kernels, of the sort that a programmer makes. It is applied
to a copy of the whole room, so that a mutated sampler differs from the right one in nothing else.
"""

import importlib.util
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from .. import kernels
from ..kernels.jit import CACHE_DIRECTORY
from ..zoo.contract import Kernel
from ..zoo.models import MODELS


@dataclass(frozen=True)
class Mutant:
    """A change in one file of the kernels.

    Attributes
    ----------
    id : str
    models : tuple of str
        Models whose sampler it makes wrong.
    file : str
        Of the room ``kernels``.
    find, replace : str
        `find` occurs exactly once in the file.
    about : str
        What is wrong.
    """

    id: str
    models: tuple[str, ...]
    file: str
    find: str
    replace: str
    about: str

    def kernels(self, model_id: str) -> dict[str, Kernel]:
        """Return the mutated samplers of a model, by variant."""
        return MODELS[model_id].kernels_of(self.toolbox())

    def toolbox(self) -> ModuleType:
        """Import the copy of the kernels with this change in it, and make it first if need be."""
        name = f"bnpzoo_mutant_{self.id.replace('-', '_')}"
        if name in sys.modules:
            return sys.modules[name]
        folder = self._write(CACHE_DIRECTORY / "mutants" / name)
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    def _write(self, folder: Path) -> Path:
        # A stable place, so that numba finds what it compiled before; the cache of a copy is keyed by its
        # own source, as that of the original is.
        source = Path(kernels.__file__).parent
        shutil.copytree(source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        path = folder / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.find) != 1:
            found = text.count(self.find)
            raise ValueError(f"mutant {self.id}: expected its text once in {self.file}, found {found}")
        path.write_text(text.replace(self.find, self.replace), encoding="utf-8")
        return folder


ALL = ("lda", "hdp", "mt_hdp")
STICKS = ("hdp", "mt_hdp")

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "own-count-kept", ALL, "token_pass.py",
        "(prior[old] + (doc_count[old] - 1)) / (total[old] - 1 + smoothing)",
        "(prior[old] + doc_count[old]) / (total[old] - 1 + smoothing)",
        "the token's own count is not taken out of its document",
    ),
    Mutant(
        "normaliser-dropped", ALL, "token_pass.py",
        "coefficient[new] = (prior[new] + doc_count[new]) / (total[new] + smoothing)",
        "coefficient[new] = (prior[new] + doc_count[new]) / (total[new] + eta)",
        "the topic's normaliser has eta instead of V eta after a move",
    ),
    Mutant(
        "stale-mass", ALL, "token_pass.py",
        "mass = mass_without + (coefficient[new] - kept)",
        "mass = mass_without",
        "the mass of the smooth part is not updated for the topic that a token moved to",
    ),
    Mutant(
        "stale-total", ALL, "token_pass.py",
        "                total[old] -= 1\n                doc_count[old] -= 1",
        "                doc_count[old] -= 1",
        "the total of the topic that a token left is not decremented",
    ),
    Mutant(
        "tables-off-by-one", ALL, "random.py",
        "if rng.random() * (r + j) < r:",
        "if rng.random() * (r + j + 1) < r:",
        "table counts are drawn with r / (r + j) for the j-th customer instead of r / (r + j - 1)",
    ),
    Mutant(
        "jacobian-forgotten", ALL, "smoothing.py",
        "out = target.prior[0] * x - target.prior[1] * eta",
        "out = (target.prior[0] - 1.0) * x - target.prior[1] * eta",
        "the slice move on log eta lacks the Jacobian of the logarithm",
    ),
    Mutant(
        "gamma-function-missing", ALL, "smoothing.py",
        "out += math.lgamma(mass) - math.lgamma(mass + n)",
        "out -= math.lgamma(mass + n)",
        "the density of eta lacks one Gamma(V eta) a topic",
    ),
    Mutant(
        "rate-without-parts", ("lda",), "random.py",
        "rate -= parts * log_beta_variate",
        "rate -= log_beta_variate",
        "the rate of alpha lacks the factor K",
    ),
    Mutant(
        "whole-rest-for-new", STICKS, "hdp.py",
        "documents.rest[g] = documents.alpha[g] * shapes[n_topics]",
        "documents.rest[g] = documents.alpha[g]",
        "a new topic is weighted by the whole concentration, not by the part that the topics in use leave",
    ),
    Mutant(
        "gamma-ignored", STICKS, "hdp.py",
        "    shapes[n_topics] = documents.gamma[0]\n    dirichlet(rng, shapes, n_topics + 1, shapes)",
        "    shapes[n_topics] = 1.0\n    dirichlet(rng, shapes, n_topics + 1, shapes)",
        "the root is drawn as if gamma were 1",
    ),
    Mutant(
        "alpha-after-sticks", STICKS, "hdp.py",
        """        update_alpha(rng, state.tokens, state.documents, tables, state.alpha_prior)
    update_sticks(rng, state, tables)""",
        """        update_sticks(rng, state, tables)
        update_alpha(rng, state.tokens, state.documents, tables, state.alpha_prior)""",
        "alpha is drawn after the prior of the documents, which keeps the old one",
    ),
    Mutant(
        "share-from-gamma", STICKS, "hdp.py",
        "log_beta_variate(rng, 1.0, documents.gamma[0])",
        "log_beta_variate(rng, documents.gamma[0], 1.0)",
        "the stick of a new topic is Beta(gamma, 1), not Beta(1, gamma)",
    ),
    Mutant(
        "task-tables-forgotten", ("mt_hdp",), "hdp.py",
        "shapes[:n_topics] = tables[g] + documents.alpha0[0] * documents.root[:n_topics]",
        "shapes[:n_topics] = tables[g] + documents.root[:n_topics]",
        "the sticks of a task are drawn with concentration 1 instead of alpha0",
    ),
)  # fmt: skip


def mutants_of(model_id: str) -> Iterator[Mutant]:
    """Mutants that make the sampler of `model_id` wrong."""
    return (mutant for mutant in MUTANTS if model_id in mutant.models)
