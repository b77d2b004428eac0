"""Pitman-Yor topics: a topic in each group, around a base.

    phi0_bk ~ Dirichlet(eta),   phi_gk ~ PYP(a, b_k, P_g phi0_bk),   b = base of group g

The tokens of topic k in group g are the customers of a restaurant. A table serves one word; the customer who
heads it draws its dish, a word v of the base, which becomes word w of the group with probability p_wv. Topics
and bases are integrated out. Of all tokens of a word in a restaurant any are as likely to be the heads, in
any order (Chen, Du and Buntine 2011), so that the density depends on counts alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import Any, ClassVar, Literal, get_args, override

import numpy as np
from scipy.special import gammaln

from ....kernels.pitman_yor import counts, explicit, sweeps, topics
from ....kernels.toolbox.sides import State, Tokens
from ....kernels.toolbox.stirling import MOST_IN_DOUBLE
from ...contract import Design, Gamma, Hyperparameter, Latents, Quantities, Room
from ...corpus import Corpus, CorpusError
from ...corpus.associations import Associations
from ...memory import require_memory
from ...priors import LARGEST, Beta, Range
from ...settings import setting
from ...toolbox.draws import draw_dirichlet
from ...toolbox.laws import log_sequences, topic_word_counts
from ..topics import Sampler, TopicSide, dense, sparse
from . import reference
from .marginal import Cell, log_sum_over_tables
from .restaurants import Cells, draw_sizes, log_rising, seat

DISCOUNT = Range(lambda a: 0 <= a < 1, "a number in [0, 1)", Beta)

type Base = Literal["shared", "own"]


@dataclass(frozen=True)
class PitmanYor(TopicSide):
    """Topics that are Pitman-Yor processes: power laws, and a version of each topic in each group.

    Latents: ``association`` (N,), the dish (a word of the base) of the table that a token heads, -1
    if it heads none; ``eta``, ``b`` (K,), ``a``.

    Parameters
    ----------
    eta : float or Gamma
        Dirichlet parameter of a base's word distributions, a word. Called γ by Chen et al.
    b : float or Gamma
        Concentration of a topic: how close its versions are to their base; each topic has its own, all under
        this prior. A fixed one may be negative, above minus `a`.
    a : float or Beta
        Discount, in [0, 1): how heavy the tails of the topics are.
    base : {"shared", "own"}
        One base for all groups, or a base of each group's own: then topics of two groups with the same number
        have nothing in common but `b`.
    transformed : bool
        Whether the words of a base become others in a group, as the corpus' associations say.
    """

    name: ClassVar[str] = "pitman-yor"
    about: ClassVar[str] = "Pitman-Yor processes, a version in each group around a base; power laws"
    parameters: ClassVar[tuple[str, ...]] = reference.PARAMETERS
    stan_folder: ClassVar[str] = "topics/pitman_yor"

    eta: Hyperparameter = setting(Gamma(1.0, 10.0), fixed=0.5, prior=Gamma(2.0, 3.0), benchmark=0.01)
    b: Hyperparameter = setting(Gamma(1.0, 0.001), fixed=1.3, prior=Gamma(4.0, 4.0), benchmark=10.0)
    a: Hyperparameter = setting(0.7, range=DISCOUNT, fixed=0.6, prior=Beta(2.0, 3.0), benchmark=0.7)
    base: Base = "shared"
    transformed: bool = False

    def __post_init__(self):
        super().__post_init__()
        for name, known in (("base", get_args(Base.__value__)), ("transformed", (False, True))):
            if getattr(self, name) not in known:
                choices = ", ".join(map(str, known))
                raise ValueError(
                    f"{self.label}: {name}: expected one of {choices}, found {getattr(self, name)!r}"
                )

    @override
    def range_of(self, name: str) -> Range:
        """See `HasSettings.range_of`; b may be negative where a is fixed, above -a."""
        if name == "b" and isinstance(self.a, Real):
            least = -self.a
            return Range(lambda b: least < b <= LARGEST, f"a number above {least:g}", Gamma)
        return super().range_of(name)

    @property
    @override
    def dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"association": ("token",), "b": ("topic",)}

    @property
    @override
    def has_versions(self) -> bool:
        return self.base == "shared"

    @override
    def sizes(self, n_topics: int) -> Mapping[str, int]:
        return {"b": n_topics}

    def associations_of(self, data: Corpus | Design) -> Associations:
        """P of each group; without `transformed`, tables send for the word that they serve."""
        if not self.transformed:
            return _identity(data.n_groups, data.n_words)
        if data.associations is None:
            raise CorpusError(
                "transformed topics: expected a corpus with associations, found none; "
                "topics that are not transformed need none"
            )
        return data.associations

    def base_of_group(self, n_groups: int) -> np.ndarray:
        """Return the base that each group has its topics from, int (G,)."""
        return np.arange(n_groups) if self.base == "own" else np.zeros(n_groups, np.int64)

    @override
    def unseated(self, corpus: Corpus) -> Latents:
        return {"association": np.full(corpus.n_tokens, -1)}

    @override
    def started(self, z: np.ndarray, n_topics: int, corpus: Corpus) -> Latents:
        """See `TopicSide.started`: one table for each word of a topic in a group."""
        cells = _restaurants(z, n_topics, Design.of(corpus)) * corpus.n_words + corpus.words
        heads = np.unique(cells, return_index=True)[1]
        association = np.full(z.size, -1)
        if not self.transformed:
            association[heads] = corpus.words[heads]
            return {"association": association}
        group, associations = _token_groups(corpus)[heads], self.associations_of(corpus)
        for g in np.unique(group):
            own = heads[group == g]
            association[own] = np.ravel(associations.matrix(g)[corpus.words[own]].argmax(axis=1))
        return {"association": association}

    @override
    def draw_words(
        self, latents: Latents, n_topics: int, design: Design, rng: np.random.Generator
    ) -> tuple[np.ndarray, Latents]:
        """See `TopicSide.draw_words`: tokens sit down one by one, and then the tables send for words."""
        z, b, a = latents["z"], latents["b"], float(latents["a"])
        base, associations = self.base_of_group(design.n_groups), self.associations_of(design)
        shape = (int(base.max()) + 1, n_topics)
        shapes = np.full(design.n_words, float(latents["eta"]))
        require_memory(
            24 * int(np.prod(shape)) * design.n_words, f"{shape} topics of {design.n_words:,} words"
        )
        phi0 = np.reshape([draw_dirichlet(shapes, rng) for _ in range(np.prod(shape))], (*shape, -1))
        words, association = np.zeros(z.size, np.int32), np.full(z.size, -1)
        restaurant = _restaurants(z, n_topics, design)
        for r in np.unique(restaurant):
            g, k = divmod(r, n_topics)
            customers = rng.permutation(np.flatnonzero(restaurant == r))
            table = seat(customers.size, float(b[k]), a, rng)
            dishes = rng.choice(design.n_words, size=table.max() + 1, p=phi0[base[g], k])
            served = associations.draw(g, dishes, rng)
            words[customers] = served[table]
            for w in np.unique(served):
                heads = customers[words[customers] == w][: np.count_nonzero(served == w)]
                association[heads] = dishes[served == w]
        return words, {"association": association}

    @override
    def redraw_words(
        self, latents: Latents, n_topics: int, design: Design, rng: np.random.Generator
    ) -> np.ndarray:
        """See `TopicSide.redraw_words`; which tokens head tables, and their dishes, stays, too.

        This needs latents whose heads are any tokens of their words, as those of a draw are.

        The words of the heads are independent. Given heads alone, the sizes of their tables are those of any
        partition of M customers among T tables, and the other customers are spread over them at random: the
        sum of ``prod_w S^m_t / C(m, t)`` over the words of the M - T others is ``S^M_T / C(M, T)``.
        """
        z, association = latents["z"], latents["association"]
        associations, restaurant = self.associations_of(design), _restaurants(z, n_topics, design)
        words = np.zeros(z.size, np.int32)
        for r in np.unique(restaurant):
            customers = rng.permutation(np.flatnonzero(restaurant == r))
            is_head = association[customers] >= 0
            heads, others = customers[is_head], customers[~is_head]
            words[heads] = associations.draw(r // n_topics, association[heads], rng)
            sizes = draw_sizes(customers.size, heads.size, float(latents["a"]), rng)
            words[others] = np.repeat(words[heads], sizes - 1)
        return words

    @override
    def log_likelihood(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of words and associations given topics: eq. (6) for one of the choices of heads."""
        z, association = latents["z"], latents["association"]
        a, b = float(latents["a"]), latents["b"]
        restaurant = _restaurants(z, b.size, corpus)
        cells = Cells.of(restaurant, corpus.words, association >= 0, corpus.n_words)
        if np.any(cells.tables == 0):
            return -np.inf
        totals = np.column_stack(cells.totals(corpus.n_groups * b.size))
        concentrations = np.tile(b, corpus.n_groups)
        seated = sum(log_rising(x, a, m, t) for x, (m, t) in zip(concentrations, totals, strict=True))
        return seated + cells.log_seatings(a) + self._log_dishes(latents, corpus)

    @override
    def log_multiplicity(self, latents: Latents, corpus: Corpus) -> float:
        """See `Model.log_multiplicity`: of the tokens of a cell any t may head its tables, in any order."""
        z, association = latents["z"], latents["association"]
        heads = association >= 0
        restaurant = _restaurants(z, latents["b"].size, corpus)
        cells = Cells.of(restaurant, corpus.words, heads, corpus.n_words)
        cell_of = (restaurant * corpus.n_words + corpus.words)[heads]
        _, dishes = np.unique(np.column_stack([cell_of, association[heads]]), axis=0, return_counts=True)
        m, t = cells.customers, cells.tables
        return float(np.sum(gammaln(m + 1) - gammaln(m - t + 1)) - np.sum(gammaln(dishes + 1)))

    def _log_dishes(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of the dishes of the tables, and of the words that they became."""
        heads = latents["association"] >= 0
        v, w, g = latents["association"][heads], corpus.words[heads], _token_groups(corpus)[heads]
        probability = np.ones(v.size)
        for i in np.unique(g):
            probability[g == i] = self.associations_of(corpus).matrix(i)[w[g == i], v[g == i]]
        if np.any(probability == 0.0):
            return -np.inf
        base_topic = self.base_of_group(corpus.n_groups)[g] * latents["b"].size + latents["z"][heads]
        shapes = np.full(corpus.n_words, float(latents["eta"]))
        return float(np.sum(np.log(probability))) + log_sequences(base_topic, v, shapes)

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `TopicSide.log_marginal`; all tables of each topic and base are summed out."""
        n_topics = hyper["b"].size
        restaurant = _restaurants(z, n_topics, corpus)
        cells = Cells.of(restaurant, corpus.words, np.zeros(z.size, bool), corpus.n_words)
        base, associations = self.base_of_group(corpus.n_groups), self.associations_of(corpus)
        matrices = [associations.matrix(g).toarray() for g in range(corpus.n_groups)]
        of_topic: dict[tuple[int, int], list[Cell]] = {}
        for r, w, m in zip(cells.restaurant, cells.word, cells.customers, strict=True):
            g, k = divmod(int(r), n_topics)
            of_topic.setdefault((base[g], k), []).append(Cell(g, matrices[g][w], int(m)))
        eta, a = float(hyper["eta"]), float(hyper["a"])
        return sum(
            (log_sum_over_tables(own, eta, hyper["b"][k], a) for (_, k), own in of_topic.items()), start=0.0
        )

    @override
    def word_probabilities(
        self, latents: Latents, corpus: Corpus, n_topics: int, words: np.ndarray
    ) -> np.ndarray:
        """See `TopicSide.word_probabilities`; ``E[phi_gkw]`` given all tables."""
        z, association, a = latents["z"], latents["association"], float(latents["a"])
        b, heads, group = latents["b"][:, None], association >= 0, _token_groups(corpus)
        out = np.empty((corpus.n_groups, n_topics, len(words)))
        for g in range(corpus.n_groups):
            mine = group == g
            m = topic_word_counts(z[mine], corpus.words[mine], n_topics, words)
            t = topic_word_counts(z[mine & heads], corpus.words[mine & heads], n_topics, words)
            customers, tables = (np.bincount(z[x], minlength=n_topics)[:, None] for x in (mine, mine & heads))
            h = self.base_probabilities(latents, corpus, g, words)
            with np.errstate(divide="ignore", invalid="ignore"):
                seen = (m - a * t + (b + a * tables) * h) / (b + customers)
            out[g] = np.where(customers > 0, seen, h)
        return out

    def base_probabilities(
        self, latents: Latents, corpus: Corpus, group: int, words: np.ndarray
    ) -> np.ndarray:
        """``E[(P phi0)_kw]`` of some words in a group given all tables, float (K, W)."""
        z, association, eta = latents["z"], latents["association"], float(latents["eta"])
        base, n_topics = self.base_of_group(corpus.n_groups), latents["b"].size
        mine = (association >= 0) & (base[_token_groups(corpus)] == base[group])
        rows = self.associations_of(corpus).matrix(group)[words]
        sources = np.unique(rows.indices)
        q = topic_word_counts(z[mine], association[mine], n_topics, sources)
        total = np.bincount(z[mine], minlength=n_topics)[:, None]
        return (rows[:, sources] @ ((eta + q) / (corpus.n_words * eta + total)).T).T

    @override
    def new_word_probabilities(self, latents: Latents, corpus: Corpus, words: np.ndarray) -> np.ndarray:
        """See `TopicSide.new_word_probabilities`; what a word of a uniform base becomes."""
        associations = self.associations_of(corpus)
        rows = [associations.matrix(g)[words].sum(axis=1) for g in range(corpus.n_groups)]
        return np.array([np.ravel(row) for row in rows]) / corpus.n_words

    @override
    def quantities(self, latents: Latents) -> Quantities:
        """``n_tables`` in all restaurants."""
        return {"n_tables": np.asarray(float(np.count_nonzero(latents["association"] >= 0)))}

    @override
    def block(self, corpus: Corpus, n_topics: int) -> Callable[[], tuple[Any, np.ndarray]]:
        base = self.base_of_group(corpus.n_groups)
        associations = self.associations_of(corpus)
        return reference.block(corpus, associations, base, n_topics, self.eta, self.b, self.a)

    @override
    def stan_data(self, corpus: Corpus) -> dict[str, Any]:
        base = self.base_of_group(corpus.n_groups)
        return reference.stan_data(corpus, self.associations_of(corpus), base, self.a)

    @override
    def word_weights(self, draw: Mapping[str, np.ndarray], corpus: Corpus) -> np.ndarray:
        return draw["phi"][_token_groups(corpus), :, corpus.words]

    @override
    def latents_at(
        self,
        draw: Mapping[str, np.ndarray],
        labels: np.ndarray,
        topics: np.ndarray,
        corpus: Corpus,
        rng: np.random.Generator,
    ) -> Latents:
        base = self.base_of_group(corpus.n_groups)
        heads = reference.draw_heads(draw, labels, corpus, self.associations_of(corpus), base, rng)
        return {"association": heads} | super().latents_at(draw, labels, topics, corpus, rng)

    @property
    @override
    def samplers(self) -> Mapping[str, Sampler]:
        schemes = {
            "forced": "table indicators; a word's only table keeps its head",
            "lock": "table indicators; the head of a word's only table stays",
            "minus-one": "table indicators of all tokens of a word but one",
            "tables": "table counts, drawn apart from the tokens",
            "seating": "Chinese restaurants, who sits where summed out",
        }
        given_bases = (
            "table indicators; tokens given explicit bases; a token costs as much as there are topics"
        )
        every_topic = "table indicators as in forced; a token costs as much as there are topics"
        exchange = "table indicators as in forced; topics exchange their numbers within a group"
        return {
            "exchange": Sampler(exchange, _exchange, "forced", "augmented", opens_topics=False),
            **{
                name: Sampler(about, sparse, scheme=name, token_step="reversible")
                for name, about in schemes.items()
            },
            "dense": Sampler(every_topic, dense, "forced", "reversible"),
            "explicit": Sampler(given_bases, _explicit, "forced", "augmented", opens_topics=False),
        }

    @override
    def memory_of_chain(self, corpus: Corpus, n_topics: int, variant: str | None = None) -> dict[str, int]:
        """See `TopicSide.memory_of_chain`; ratios are as many as the commonest word has tokens, squared."""
        cells = _token_groups(corpus) * corpus.n_words + corpus.words
        commonest = int(np.unique(cells, return_counts=True)[1].max(initial=0))
        ratio = 8 if commonest <= MOST_IN_DOUBLE else 4
        n_bases = int(self.base_of_group(corpus.n_groups).max()) + 1
        needs = {
            "the table of Stirling ratios": ratio * (commonest * (commonest - 1) // 2),
            "words of groups": 12 * corpus.n_groups * corpus.n_words,
        }
        if variant in ("tables", "explicit"):
            needs["words of bases"] = 8 * n_bases * corpus.n_words * n_topics
        return needs

    @override
    def load(
        self,
        room: Room,
        tokens: Tokens,
        latents: Latents,
        corpus: Corpus,
        capacity: int,
        n_topics: int,
        scheme: str,
    ) -> Any:
        if np.any(latents["z"] >= 0) and np.isneginf(self.log_likelihood(latents, corpus)):
            raise ValueError(
                "association: expected a token that heads a table for each word of a topic in a group, and "
                "for each of those a word that may become it; found other latents"
            )
        associations = self.associations_of(corpus)
        matrices = {name: getattr(associations, name) for name in ("row_ptr", "column", "weight")}
        return room(topics).pitman_yor_topics(
            tokens,
            corpus.group_of_doc,
            corpus.n_words,
            n_topics,
            capacity,
            latents,
            self.prior_arrays(),
            self.base_of_group(corpus.n_groups),
            **(matrices if self.transformed else {}),
            scheme=scheme,
            new_b=self.b if isinstance(self.b, float) else None,
        )

    @override
    def snapshot(self, room: Room, state: State) -> Latents:
        return room(counts).snapshot(state.tokens, state.topics)


def _exchange(room: Room) -> Callable[..., bool]:
    return room(sweeps).sweep


def _explicit(room: Room) -> Callable[..., bool]:
    return room(explicit).explicit_sweep


def _token_groups(data: Corpus | Design) -> np.ndarray:
    """Group of each token, int64 (N,); all are in one where there are none."""
    group = np.zeros(len(data.doc_lengths), np.int64) if data.group is None else data.group
    return np.repeat(group, data.doc_lengths).astype(np.int64)


def _restaurants(z: np.ndarray, n_topics: int, data: Corpus | Design) -> np.ndarray:
    """Restaurant of each token, ``group * n_topics + topic``."""
    return _token_groups(data) * n_topics + z


@cache
def _identity(n_groups: int, n_words: int) -> Associations:
    return Associations.identity(n_groups, n_words)
