"""What the models whose topics are Pitman-Yor processes share: a topic in each group, around a base.

    phi0_bk ~ Dirichlet(gamma),   phi_gk ~ PYP(a, b_k, P_g phi0_bk),   b = base of group g

The tokens of topic k in group g are the customers of a restaurant. A table serves one word; the customer who
heads it has sent for a word v of the base, which becomes word w of the group with probability p_wv. Topics
and bases are integrated out. Of all tokens of a word in a restaurant any are as likely to be the heads, in
any order (Chen, Du and Buntine 2011), so that the density depends on counts alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import Any, ClassVar, override

import numpy as np
from scipy.special import gammaln

from ...contract import (
    Design,
    Equation,
    Gamma,
    Hyperparameter,
    Kernel,
    Latents,
    Probes,
    Quantities,
    Reference,
    Room,
    Simulation,
)
from ...corpus import Corpus
from ...corpus.associations import Associations
from ...priors import Beta, Range
from ...settings import option, setting
from ...toolbox.draws import draw_dirichlet
from ...toolbox.laws import log_sequences, topic_word_counts
from ...toolbox.stan_data import stan_priors
from ..lda.family import FiniteFamily
from . import reference
from .kernels import pitman_yor_kernels
from .marginal import Cell, log_sum_over_tables
from .restaurants import Cells, draw_sizes, log_rising, seat

CITATION = (
    "C. Chen, W. Buntine, N. Ding, L. Xie and L. Du. Differential topic models. IEEE Transactions on Pattern "
    "Analysis and Machine Intelligence 37(2):230-242, 2015."
)

DISCOUNT = Range(lambda a: 0 <= a < 1, "a number in [0, 1)", Beta)

DOCUMENTS = (
    Equation("Section 4", r"\mu_{gd} \sim \mathrm{Dir}_K(\alpha_g)", "topic proportions of a document"),
    Equation(
        "Section 4",
        r"z_i \sim \mu_{d(i)},\quad x_i \sim \phi_{g(i), z_i}",
        "topic and word of a token of group g",
    ),
)


@dataclass(frozen=True)
class PitmanYorFamily(FiniteFamily):
    """Base of the models with Pitman-Yor topics; a subclass says what groups share.

    Latents: ``z`` (N,); ``association`` (N,), the word of the base that a token's table sent for if the token
    heads one, else -1; ``alpha`` (G,), ``gamma``, ``b`` (K,), ``a``.
    """

    dimensions: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "association": ("token",), "b": ("topic",), **FiniteFamily.dimensions,
    }  # fmt: skip

    n_topics: int = option(10, small=2, benchmark=100)
    alpha: Hyperparameter = setting(Gamma(1.0, 1.0), fixed=0.7, benchmark=0.1)
    gamma: Hyperparameter = setting(Gamma(1.0, 10.0), fixed=0.5, benchmark=0.01)
    b: Hyperparameter = setting(Gamma(1.0, 0.001), fixed=1.3, benchmark=10.0)
    a: Hyperparameter = setting(0.7, range=DISCOUNT, fixed=0.6, benchmark=0.7)

    def associations_of(self, data: Corpus | Design) -> Associations:
        """P of each group: tables send for the word that they serve."""
        return _identity(data.n_groups, data.n_words)

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        return pitman_yor_kernels(room)

    def transformation(self, corpus: Corpus) -> dict[str, np.ndarray]:
        """Arrays of P for the kernels; none where P = I, which they know how to do without."""
        return {}

    def base_of_group(self, n_groups: int) -> np.ndarray:
        """Return the base that each group has its topics from, int (G,): one for all."""
        return np.zeros(n_groups, np.int64)

    @override
    def range_of(self, name: str) -> Range:
        """See `Model.range_of`; b may be negative where a is fixed, above -a."""
        if name == "b" and isinstance(self.a, Real):
            least = -self.a
            return Range(lambda b: least < b < np.inf, f"a number above {least:g}", Gamma)
        return super().range_of(name)

    def hyperparameter_size(self, name: str, design: Design) -> int | None:
        """One alpha a group, one b a topic."""
        return {"alpha": design.n_groups, "b": self.n_topics}.get(name)

    def groups(self, group: np.ndarray | None, n_documents: int) -> np.ndarray:
        """Group of each document; all are in one where the corpus has none."""
        return np.zeros(n_documents, np.int32) if group is None else group

    def unseated(self, corpus: Corpus) -> Latents:
        """No token has a topic."""
        return super().unseated(corpus) | {"association": np.full(corpus.n_tokens, -1)}

    @override
    def simulate(self, design: Design, rng: np.random.Generator) -> Simulation:
        """See `Model.simulate`: tokens sit down one after the other, and then the tables send for words."""
        hyper = self.draw_hyperparameters(design, rng)
        z = self.draw_topics(design, hyper, rng)["z"]
        words, association = self._draw_tables(z, hyper, design, rng)
        return Simulation({"z": z, "association": association} | hyper, design.corpus(words))

    def _draw_tables(
        self, z: np.ndarray, hyper: Latents, design: Design, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Words and associations of tokens with topics `z`."""
        base, associations = self.base_of_group(design.n_groups), self.associations_of(design)
        shape = (int(base.max()) + 1, self.n_topics)
        shapes = np.full(design.n_words, float(hyper["gamma"]))
        topics = np.reshape([draw_dirichlet(shapes, rng) for _ in range(np.prod(shape))], (*shape, -1))
        words, association = np.zeros(z.size, np.int32), np.full(z.size, -1)
        restaurant = self._restaurants(z, design)
        for r in np.unique(restaurant):
            g, k = divmod(r, self.n_topics)
            customers = rng.permutation(np.flatnonzero(restaurant == r))
            table = seat(customers.size, float(hyper["b"][k]), float(hyper["a"]), rng)
            sent = rng.choice(design.n_words, size=table.max() + 1, p=topics[base[g], k])
            served = associations.draw(g, sent, rng)
            words[customers] = served[table]
            for w in np.unique(served):
                heads = customers[words[customers] == w][: np.count_nonzero(served == w)]
                association[heads] = sent[served == w]
        return words, association

    @override
    def resample_data(self, latents: Latents, design: Design, rng: np.random.Generator) -> Corpus:
        """See `Model.resample_data`; which tokens head tables, and what they sent for, stays, too.

        This needs latents whose heads are any tokens of their words, as those of a draw are.

        The words of the heads are independent. Given heads alone, the sizes of their tables are those of any
        partition of M customers among T tables, and the other customers are spread over them at random: the
        sum of ``prod_w S^m_t / C(m, t)`` over the words of the M - T others is ``S^M_T / C(M, T)``.
        """
        z, association = latents["z"], latents["association"]
        associations, restaurant = self.associations_of(design), self._restaurants(z, design)
        words = np.zeros(z.size, np.int32)
        for r in np.unique(restaurant):
            customers = rng.permutation(np.flatnonzero(restaurant == r))
            is_head = association[customers] >= 0
            heads, others = customers[is_head], customers[~is_head]
            words[heads] = associations.draw(r // self.n_topics, association[heads], rng)
            sizes = draw_sizes(customers.size, heads.size, float(latents["a"]), rng)
            words[others] = np.repeat(words[heads], sizes - 1)
        return design.corpus(words)

    def _token_groups(self, data: Corpus | Design) -> np.ndarray:
        """Group of each token, int64 (N,)."""
        group = self.groups(data.group, len(data.doc_lengths))
        return np.repeat(group, data.doc_lengths).astype(np.int64)

    def _restaurants(self, z: np.ndarray, data: Corpus | Design) -> np.ndarray:
        """Restaurant of each token, ``group * n_topics + topic``."""
        return self._token_groups(data) * self.n_topics + z

    def log_likelihood(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of words and associations given topics: eq. (6) for one of the choices of heads."""
        z, association = latents["z"], latents["association"]
        a, b = float(latents["a"]), latents["b"]
        cells = Cells.of(self._restaurants(z, corpus), corpus.words, association >= 0, corpus.n_words)
        if np.any(cells.tables == 0):
            return -np.inf
        totals = np.column_stack(cells.totals(corpus.n_groups * self.n_topics))
        concentrations = np.tile(b, corpus.n_groups)
        seated = sum(log_rising(x, a, m, t) for x, (m, t) in zip(concentrations, totals, strict=True))
        return seated + cells.log_seatings(a) + self._log_sent(latents, corpus)

    @override
    def log_multiplicity(self, latents: Latents, corpus: Corpus) -> float:
        """See `Model.log_multiplicity`: of the tokens of a cell any t may head its tables, in any order."""
        z, association = latents["z"], latents["association"]
        heads = association >= 0
        restaurant = self._restaurants(z, corpus)
        cells = Cells.of(restaurant, corpus.words, heads, corpus.n_words)
        cell_of = (restaurant * corpus.n_words + corpus.words)[heads]
        _, sent = np.unique(np.column_stack([cell_of, association[heads]]), axis=0, return_counts=True)
        m, t = cells.customers, cells.tables
        return float(np.sum(gammaln(m + 1) - gammaln(m - t + 1)) - np.sum(gammaln(sent + 1)))

    def _log_sent(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of what the tables sent for, and of what that became."""
        heads = latents["association"] >= 0
        v, w, g = latents["association"][heads], corpus.words[heads], self._token_groups(corpus)[heads]
        probability = np.ones(v.size)
        for i in np.unique(g):
            probability[g == i] = self.associations_of(corpus).matrix(i)[w[g == i], v[g == i]]
        if np.any(probability == 0.0):
            return -np.inf
        base_topic = self.base_of_group(corpus.n_groups)[g] * self.n_topics + latents["z"][heads]
        shapes = np.full(corpus.n_words, float(latents["gamma"]))
        return float(np.sum(np.log(probability))) + log_sequences(base_topic, v, shapes)

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `Model.log_marginal`; all tables of each topic and base are summed out."""
        cells = Cells.of(self._restaurants(z, corpus), corpus.words, np.zeros(z.size, bool), corpus.n_words)
        base, associations = self.base_of_group(corpus.n_groups), self.associations_of(corpus)
        matrices = [associations.matrix(g).toarray() for g in range(corpus.n_groups)]
        of_topic: dict[tuple[int, int], list[Cell]] = {}
        for r, w, m in zip(cells.restaurant, cells.word, cells.customers, strict=True):
            g, k = divmod(int(r), self.n_topics)
            of_topic.setdefault((base[g], k), []).append(Cell(g, matrices[g][w], int(m)))
        gamma, a = float(hyper["gamma"]), float(hyper["a"])
        return self.log_assignments({"z": z, **hyper}, corpus) + sum(
            log_sum_over_tables(own, gamma, hyper["b"][k], a) for (_, k), own in of_topic.items()
        )

    @override
    def word_probabilities(self, latents: Latents, corpus: Corpus, words: np.ndarray) -> np.ndarray:
        """See `CollapsedTopicModel.word_probabilities`; ``E[phi_gkw]`` given all tables."""
        z, association, a = latents["z"], latents["association"], float(latents["a"])
        b, heads, group = latents["b"][:, None], association >= 0, self._token_groups(corpus)
        out = np.empty((corpus.n_groups, self.n_topics, len(words)))
        for g in range(corpus.n_groups):
            mine = group == g
            m = topic_word_counts(z[mine], corpus.words[mine], self.n_topics, words)
            t = topic_word_counts(z[mine & heads], corpus.words[mine & heads], self.n_topics, words)
            customers, tables = (
                np.bincount(z[x], minlength=self.n_topics)[:, None] for x in (mine, mine & heads)
            )
            h = self.base_probabilities(latents, corpus, g, words)
            with np.errstate(divide="ignore", invalid="ignore"):
                seen = (m - a * t + (b + a * tables) * h) / (b + customers)
            out[g] = np.where(customers > 0, seen, h)
        return out

    def base_probabilities(
        self, latents: Latents, corpus: Corpus, group: int, words: np.ndarray
    ) -> np.ndarray:
        """``E[(P phi0)_kw]`` of some words in a group given all tables, float (K, W)."""
        z, association, gamma = latents["z"], latents["association"], float(latents["gamma"])
        base = self.base_of_group(corpus.n_groups)
        mine = (association >= 0) & (base[self._token_groups(corpus)] == base[group])
        rows = self.associations_of(corpus).matrix(group)[words]
        sources = np.unique(rows.indices)
        q = topic_word_counts(z[mine], association[mine], self.n_topics, sources)
        total = np.bincount(z[mine], minlength=self.n_topics)[:, None]
        return (rows[:, sources] @ ((gamma + q) / (corpus.n_words * gamma + total)).T).T

    @override
    def quantities(self, latents: Latents, corpus: Corpus, probes: Probes | None = None) -> Quantities:
        """See `CollapsedTopicModel.quantities`; besides, ``n_tables`` in all restaurants."""
        n_tables = np.count_nonzero(latents["association"] >= 0)
        return super().quantities(latents, corpus, probes) | {"n_tables": np.asarray(float(n_tables))}

    @property
    @override
    def reference(self) -> Reference:
        return Reference(
            parameters=reference.PARAMETERS,
            numpyro=self._numpyro,
            stan_program="tpyp",
            stan_data=self._stan_data,
            latents=self._latents_at,
            needs_truncation=False,
        )

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        return reference.pitman_yor(
            corpus,
            self.associations_of(corpus),
            self.base_of_group(corpus.n_groups),
            self.n_topics,
            self.alpha,
            self.gamma,
            self.b,
            self.a,
        )

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        base = self.base_of_group(corpus.n_groups)
        data = reference.stan_data(corpus, self.associations_of(corpus), base, self.n_topics, self.a)
        return data | stan_priors(self)

    def _latents_at(
        self, draw: Mapping[str, np.ndarray], corpus: Corpus, rng: np.random.Generator
    ) -> Latents:
        base = self.base_of_group(corpus.n_groups)
        return reference.latents_of(draw, corpus, self.associations_of(corpus), base, rng)


@cache
def _identity(n_groups: int, n_words: int) -> Associations:
    return Associations.identity(n_groups, n_words)
