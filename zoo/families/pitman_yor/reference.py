"""References of the models with Pitman-Yor topics: the NumPyro program, and the data of the Stan program.

No sticks are cut off: see `numpyro_pitman_yor.TiltedStable`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...contract import Hyperparameter, Latents
from ...corpus import Corpus, CorpusError
from ...corpus.associations import Associations
from ...toolbox.draws import draw_categorical
from ...toolbox.enumeration import log_stirling
from ...toolbox.stan_data import stan_counts

PARAMETERS = ("theta", "phi0", "phi", "phi_log_total", "alpha", "gamma", "b", "a")
"""What `latents_of` needs of a draw; both programs use these names."""


def pitman_yor(
    corpus: Corpus,
    associations: Associations,
    base_of_group: np.ndarray,
    n_topics: int,
    alpha: Hyperparameter,
    gamma: Hyperparameter,
    b: Hyperparameter,
    a: Hyperparameter,
) -> Callable[[], None]:
    """Topics of groups that are Pitman-Yor processes around a base, the topics of the tokens summed out.

    Parameters
    ----------
    corpus : Corpus
        With G groups.
    associations : Associations
        How words of a base become words of each group.
    base_of_group : int (G,)
        The base that each group has its topics from, in ``0..B - 1``.
    n_topics : int
    alpha, gamma, b, a : float, Gamma or Beta

    Returns
    -------
    callable
        NumPyro program with sites ``theta`` (D, K), ``phi0`` (B, K, V), ``phi`` (G, K, V), ``phi_log_total``
        (G, K), ``alpha`` (G,), ``gamma``, ``b`` (K,) and ``a``.

    Raises
    ------
    ValueError
        The discount `a` is fixed at zero: there are no stable variables then.
    CorpusError
        A group has a word that no word of its base becomes.
    """
    _check(corpus, associations, a)
    counts, group = corpus.counts(), corpus.group_of_doc
    matrices = [associations.matrix(g).toarray() for g in range(corpus.n_groups)]
    n_bases = int(np.max(base_of_group)) + 1

    def program() -> None:
        from ...toolbox import blocks
        from . import blocks as topics

        log_gamma = blocks.log_hyperparameter("gamma", gamma)
        log_alpha = blocks.log_hyperparameter("alpha", alpha, corpus.n_groups)
        concentration = blocks.hyperparameter("b", b, n_topics)
        discount = blocks.hyperparameter("a", a)
        log_theta = blocks.log_dirichlet("theta", log_alpha[group, None], (len(group), n_topics))
        log_phi0 = blocks.log_dirichlet("phi0", log_gamma, (n_bases, n_topics, corpus.n_words))
        log_base = topics.log_base(log_phi0[base_of_group], matrices)
        log_phi = topics.pitman_yor("phi", discount, concentration, log_base)
        blocks.see_words(counts, log_theta, log_phi, group)

    return program


def stan_data(
    corpus: Corpus,
    associations: Associations,
    base_of_group: np.ndarray,
    n_topics: int,
    a: Hyperparameter,
) -> dict[str, Any]:
    """Return the data of ``stan/tpyp.stan`` but those of the hyperparameters; see `pitman_yor`."""
    _check(corpus, associations, a)
    return stan_counts(corpus) | {
        "K": n_topics,
        "G": corpus.n_groups,
        "group": corpus.group_of_doc + 1,
        "B": int(np.max(base_of_group)) + 1,
        "base": base_of_group + 1,
        "n_associations": associations.column.size,
        "row_ptr": associations.row_ptr + 1,
        "column": associations.column + 1,
        "weight": associations.weight,
    }


def latents_of(
    draw: Mapping[str, np.ndarray],
    corpus: Corpus,
    associations: Associations,
    base_of_group: np.ndarray,
    rng: np.random.Generator,
) -> Latents:
    r"""Draw topics of tokens, and which of them head tables, given a draw of either program.

    Given the topics, phi_g = S / T is integrated out again. With u ~ Gamma(b + M) / T, M customers of the
    restaurant, the tables t of the dishes w are independent, of probabilities in proportion to
    :math:`(a H_w u^a)^t S^m_t`: those are the terms of

    .. math:: E[S_w^m e^{-u S_w}] = e^{-H_w u^a} \sum_t (a H_w)^t u^{t a - m} S^m_t,

    :math:`S^m_t` being the generalised Stirling numbers. Each table sends for a word of the base.
    """
    group = corpus.group_of_doc[corpus.doc_of]
    z = draw_categorical(draw["theta"][corpus.doc_of] * draw["phi"][group, :, corpus.words], rng)
    a, b = float(draw["a"]), draw["b"]
    association = np.full(z.size, -1)
    for g, k in np.unique(np.column_stack([group, z]), axis=0):
        rows, topic = associations.matrix(g), draw["phi0"][base_of_group[g], k]
        customers = np.flatnonzero((group == g) & (z == k))
        log_u = np.log(rng.gamma(b[k] + customers.size)) - draw["phi_log_total"][g, k]
        for w in np.unique(corpus.words[customers]):
            of_word = rng.permutation(customers[corpus.words[customers] == w])
            sent = _draw_sent(of_word.size, rows[[w]].toarray()[0] * topic, np.log(a) + a * log_u, a, rng)
            association[of_word[: sent.size]] = sent
    return {"z": z, "association": association} | {
        name: np.asarray(draw[name]) for name in ("alpha", "gamma", "b", "a")
    }


def _draw_sent(
    n: int, sources: np.ndarray, log_mass: float, a: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw the words that the tables of `n` customers sent for, int (t,), from weights `sources` (V,)."""
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
