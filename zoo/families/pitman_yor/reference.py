"""References of Pitman-Yor topics: their part of NumPyro programs, and the data of that of Stan programs.

No sticks are cut off: see `blocks.TiltedStable`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...contract import Hyperparameter
from ...corpus import Corpus, CorpusError
from ...corpus.associations import Associations
from ...toolbox.draws import draw_categorical
from ...toolbox.enumeration import log_stirling

PARAMETERS = ("phi0", "phi", "phi_log_total", "eta", "b", "a")
"""What `draw_heads` needs of a draw, and the hyperparameters; both programs use these names."""


def block(
    corpus: Corpus,
    associations: Associations,
    base_of_group: np.ndarray,
    n_topics: int,
    eta: Hyperparameter,
    b: Hyperparameter,
    a: Hyperparameter,
) -> Callable[[], tuple[Any, np.ndarray]]:
    """Topics of groups that are Pitman-Yor processes around a base; see `TopicSide.block`.

    Parameters
    ----------
    corpus : Corpus
        With G groups.
    associations : Associations
        How words of a base become words of each group.
    base_of_group : int (G,)
        The base that each group has its topics from, in ``0..B - 1``.
    n_topics : int
    eta, b, a : float, Gamma or Beta

    Returns
    -------
    callable
        Part of a NumPyro program with sites ``phi0`` (B, K, V), ``phi`` (G, K, V), ``phi_log_total`` (G, K),
        ``eta``, ``b`` (K,) and ``a``.

    Raises
    ------
    ValueError
        The discount `a` is fixed at zero: there are no stable variables then.
    CorpusError
        A group has a word that no word of its base becomes.
    """
    _check(corpus, associations, a)
    group = corpus.group_of_doc
    matrices = [associations.matrix(g).toarray() for g in range(corpus.n_groups)]
    n_bases = int(np.max(base_of_group)) + 1

    def program() -> tuple[Any, np.ndarray]:
        from ...toolbox import blocks
        from . import blocks as topics

        log_eta = blocks.log_hyperparameter("eta", eta)
        concentration = blocks.hyperparameter("b", b, n_topics)
        discount = blocks.hyperparameter("a", a)
        log_phi0 = blocks.log_dirichlet("phi0", log_eta, (n_bases, n_topics, corpus.n_words))
        log_base = topics.log_base(log_phi0[base_of_group], matrices)
        return topics.pitman_yor("phi", discount, concentration, log_base), group

    return program


def stan_data(
    corpus: Corpus, associations: Associations, base_of_group: np.ndarray, a: Hyperparameter
) -> dict[str, Any]:
    """Return what ``stan/topics/pitman_yor`` asks for but hyperparameters; see `block`."""
    _check(corpus, associations, a)
    return {
        "G": corpus.n_groups,
        "group": corpus.group_of_doc + 1,
        "B": int(np.max(base_of_group)) + 1,
        "base": base_of_group + 1,
        "n_associations": associations.column.size,
        "row_ptr": associations.row_ptr + 1,
        "column": associations.column + 1,
        "weight": associations.weight,
    }


def draw_heads(
    draw: Mapping[str, np.ndarray],
    z: np.ndarray,
    corpus: Corpus,
    associations: Associations,
    base_of_group: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    r"""Draw which tokens head tables, and what they send for, given a draw of either program; int (N,).

    Given the topics `z` of tokens, phi_g = S / T is integrated out again. With u ~ Gamma(b + M) / T, M
    customers of the restaurant, the tables t of the dishes w are independent, of probabilities in proportion
    to :math:`(a H_w u^a)^t S^m_t`: those are the terms of

    .. math:: E[S_w^m e^{-u S_w}] = e^{-H_w u^a} \sum_t (a H_w)^t u^{t a - m} S^m_t,

    :math:`S^m_t` being the generalised Stirling numbers. Each table has a word of the base for its dish.
    """
    group = corpus.group_of_doc[corpus.doc_of]
    a, b = float(draw["a"]), draw["b"]
    association = np.full(z.size, -1)
    for g, k in np.unique(np.column_stack([group, z]), axis=0):
        rows, topic = associations.matrix(g), draw["phi0"][base_of_group[g], k]
        customers = np.flatnonzero((group == g) & (z == k))
        log_u = np.log(rng.gamma(b[k] + customers.size)) - draw["phi_log_total"][g, k]
        for w in np.unique(corpus.words[customers]):
            of_word = rng.permutation(customers[corpus.words[customers] == w])
            dishes = _draw_dishes(of_word.size, rows[[w]].toarray()[0] * topic, np.log(a) + a * log_u, a, rng)
            association[of_word[: dishes.size]] = dishes
    return association


def _draw_dishes(
    n: int, sources: np.ndarray, log_mass: float, a: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw the dishes of the tables of `n` customers, int (t,), from weights `sources` (V,)."""
    log_p = np.arange(1, n + 1) * (log_mass + np.log(sources.sum())) + log_stirling(n, a)[n, 1:]
    n_tables = 1 + draw_categorical(np.exp(log_p - log_p.max())[None], rng)[0]
    return draw_categorical(np.tile(sources, (n_tables, 1)), rng)


def _check(corpus: Corpus, associations: Associations, a: Hyperparameter) -> None:
    if a == 0:
        raise ValueError(
            "a: the references have stable variables of index a; expected a discount above 0, found 0"
        )
    rows = corpus.group_of_doc[corpus.doc_of] * corpus.n_words + corpus.words
    missing = np.flatnonzero(np.diff(associations.row_ptr)[rows] == 0)
    if missing.size:
        g, w = divmod(int(rows[missing[0]]), corpus.n_words)
        raise CorpusError(f"group {g} has word {w}, which no word becomes by its associations")
