"""Deliberately wrong kernels of the topics of groups; see `registry`."""

from ....zoo.models.skeleton import Skeleton
from ..patched import Change, Mutant


def _mutant(name: str, find: str, replace: str, about: str) -> Mutant:
    change = Change("skeleton/sweeps.py", find, replace)
    return Mutant(f"skeleton-{name}", (Skeleton,), change, about)


MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "own-count-kept",
        "    state.in_group[state.group[i], k] += change\n",
        "    state.in_group[state.group[i], k] += max(change, 0)\n",
        "a token is counted into its group and never out",
    ),
    _mutant(
        "stale-total",
        "    state.total[k] += change\n",
        "    if change > 0:\n        state.total[k] += change\n",
        "the total of the topic that a token left is not decremented",
    ),
    _mutant(
        "first-group-for-all",
        "in_group = alpha + state.in_group[g, k]",
        "in_group = alpha + state.in_group[0, k]",
        "every token has the topic proportions of the first group",
    ),
    _mutant(
        "normaliser-of-one-word",
        "(n_words * eta + state.total[k])",
        "(eta + state.total[k])",
        "the normaliser of a topic has eta instead of V eta",
    ),
    _mutant(
        "parameters-swapped",
        "alpha, eta = state.alpha[0], state.eta[0]",
        "eta, alpha = state.alpha[0], state.eta[0]",
        "groups have the Dirichlet parameter of topics, and topics that of groups",
    ),
    _mutant(
        "parts-forgotten",
        "n_tables, customers, float(counts.shape[1])",
        "n_tables, customers, 1.0",
        "parameters are drawn as if their Dirichlets had one outcome",
    ),
    _mutant(
        "counts-for-tables",
        "n_tables += crt(rng, counts[row, outcome], parameter[0])",
        "n_tables += counts[row, outcome]",
        "every token has a table of its own when a parameter is drawn",
    ),
)
