"""Micro corpora of Pitman-Yor topics: their density, all of their states, and exact laws of moves."""

import itertools
import math
from collections import Counter
from importlib import import_module

import numpy as np
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.diagnostics.laboratory.token_law import outcomes
from scipy.special import gammaln, logsumexp

PARTS = (
    "lda.documents",
    "pitman_yor.counts",
    "pitman_yor.exchange",
    "pitman_yor.explicit",
    "pitman_yor.state",
    "pitman_yor.tables",
    "pitman_yor.topics",
    "toolbox.sides",
    "toolbox.sweeps",
    "toolbox.token_pass",
)


class Plain:
    """Modules of the kernels in plain Python, perhaps with changes in their source."""

    def __init__(self, *changes):
        room = load_room(PLAIN_PYTHON, *changes)
        for part in PARTS:
            setattr(self, part.rpartition(".")[2], room(import_module(f"bnpzoo.kernels.{part}")))


PLAIN = Plain()
FIXED = dict.fromkeys(("alpha", "b", "a", "eta"), (0.0, 0.0))
P_GENERAL = (
    np.array([[0.7, 0.2, 0.0], [0.3, 0.5, 0.4], [0.0, 0.3, 0.6]]),
    np.array([[0.5, 0.0, 0.1], [0.5, 0.6, 0.0], [0.0, 0.4, 0.9]]),
)
P_SAME = (np.eye(3), np.eye(3))


def rows_of(matrices):
    """Arrays of P, as kernels take them."""
    stacked = np.concatenate(matrices)
    row, column = np.nonzero(stacked)
    row_ptr = np.concatenate([[0], np.cumsum(np.count_nonzero(stacked, axis=1))])
    return {"row_ptr": row_ptr, "column": column, "weight": stacked[row, column]}


class Micro:
    """A micro corpus of three words in two groups, with hyperparameters, and its density.

    Attributes
    ----------
    matrices : float (G, V, V)
        P.
    arrays : dict
        P for the kernels; none where they know it to be the identity.
    """

    def __init__(
        self,
        words,
        doc_ptr,
        group,
        same_word=True,
        a=0.7,
        b=(1.5, 1.5),
        alpha=(0.5, 0.5),
        eta=0.4,
        bases=(0, 0),
    ):
        self.words, self.doc_ptr, self.group = map(np.array, (words, doc_ptr, group))
        self.group_of = np.repeat(self.group, np.diff(doc_ptr))
        self.a, self.b, self.alpha, self.eta, self.bases = a, np.array(b), np.array(alpha), eta, bases
        self.matrices = P_SAME if same_word else P_GENERAL
        self.arrays = {} if same_word else rows_of(P_GENERAL)
        self.unseated = np.full(self.words.size, -1)

    def load(self, tools, z, association, scheme="forced"):
        n_topics = self.b.size
        latents = {"association": association, "b": self.b, "a": self.a, "eta": self.eta}
        tokens = tools.sides.tokens_of(self.words, self.doc_ptr, self.group, z)
        topics = tools.topics.pitman_yor_topics(
            tokens, self.group, 3, n_topics, n_topics, latents, FIXED, np.array(self.bases),
            **self.arrays, scheme=scheme,
        )  # fmt: skip
        documents = tools.documents.finite_documents(np.ones((2, n_topics)), self.alpha)
        return tools.sweeps.make_state(tokens, documents, topics)

    def frozen(self, state, tools=PLAIN):
        """Snapshot, made one of `all_states`: dishes of tables in order, at the first tokens."""
        found = tools.counts.snapshot(state.tokens, state.topics)
        return self.first_heads(state.tokens.topic.astype(np.int64), found["association"])

    def first_heads(self, z, association):
        """Bytes of a state whose heads are the first tokens of their topics and cells."""
        cells = self.words, self.group_of, z
        last = np.where(association < 0, association.max() + 1, association)
        first = np.empty_like(association)
        first[np.lexsort(cells)] = association[np.lexsort((last, *cells))]
        return z.tobytes() + first.tobytes()

    def log_density(self, z, association):
        """Of topics and of how many tables of each cell have each dish: eq. (6) with its errata."""
        a, b, eta, n_topics = self.a, self.b, self.eta, self.b.size
        heads = association >= 0
        out = self.log_density_of_topics(z)
        for base, k in itertools.product(set(self.bases), range(n_topics)):
            served = association[heads & (z == k) & (np.array(self.bases)[self.group_of] == base)]
            q = np.bincount(served, minlength=3)
            out += math.lgamma(3 * eta) - math.lgamma(3 * eta + q.sum())
            out += np.sum(gammaln(eta + q) - gammaln(eta))
        for g, k in itertools.product(range(2), range(n_topics)):
            mine = (self.group_of == g) & (z == k)
            out += sum(math.log(b[k] + n * a) for n in range(1, np.sum(mine & heads)))
            out -= sum(math.log(b[k] + n) for n in range(1, np.sum(mine)))
            for w in set(self.words[mine]):
                m, t = np.sum(mine & (self.words == w)), np.sum(mine & heads & (self.words == w))
                q = np.bincount(association[mine & heads & (self.words == w)], minlength=3)
                if t == 0 or np.any(q[self.matrices[g][w] == 0.0]):
                    return -math.inf
                on = q > 0
                out += math.log(stirling(m, t, a)) + math.lgamma(t + 1.0)
                out += np.sum(q[on] * np.log(self.matrices[g][w][on]) - gammaln(q[on] + 1.0))
        return out

    def log_density_of_topics(self, z):
        """Of Dirichlet-multinomial documents."""
        out, n_topics = 0.0, self.b.size
        for d, g in enumerate(self.group):
            n = np.bincount(z[self.doc_ptr[d] : self.doc_ptr[d + 1]], minlength=n_topics)
            alpha = self.alpha[g]
            out += math.lgamma(n_topics * alpha) - math.lgamma(n_topics * alpha + n.sum())
            out += np.sum(gammaln(alpha + n) - gammaln(alpha))
        return out

    def random_state(self, rng):
        """A state of positive density."""
        z = rng.integers(self.b.size, size=self.words.size)
        association = self.unseated.copy()
        for i, w in enumerate(self.words):
            before = (z[:i] == z[i]) & (self.words[:i] == w) & (self.group_of[:i] == self.group_of[i])
            if not before.any() or rng.random() < 0.4:
                association[i] = rng.choice(np.flatnonzero(self.matrices[self.group_of[i]][w]))
        return z, association

    def all_states(self):
        """Every state; of the tokens of a topic and cell the first ones head its tables."""
        for z in itertools.product(range(self.b.size), repeat=self.words.size):
            cells = {}
            for i, cell in enumerate(zip(self.group_of, z, self.words, strict=True)):
                cells.setdefault(cell, []).append(i)
            choices = []
            for (g, _, w), tokens in cells.items():
                sources = np.flatnonzero(self.matrices[g][w])
                choices.append(
                    [
                        (tokens, served)
                        for t in range(1, len(tokens) + 1)
                        for served in itertools.combinations_with_replacement(sources, t)
                    ]
                )
            for chosen in itertools.product(*choices):
                association = self.unseated.copy()
                for tokens, served in chosen:
                    association[tokens[: len(served)]] = served
                yield np.array(z), association


PHI0 = np.array([[0.2, 0.6], [0.5, 0.1], [0.3, 0.3], [0.7, 0.4], [0.1, 0.4], [0.2, 0.2]])
"""Words ``base * V + v`` of bases that are known, by topic."""


class MicroGivenBases(Micro):
    """The same given phi0: how many tables there are matters, but not their dishes."""

    def load(self, tools, z, is_head, scheme="forced"):
        association = np.where(is_head >= 0, [row.argmax() for row in self.rows()], -1)
        return super().load(tools, z, association, scheme)

    def rows(self):
        return np.array(self.matrices)[self.group_of, self.words]

    def frozen(self, state, tools=PLAIN):
        """Topics, and 0 for as many first tokens as there are tables, else -1."""
        restaurants, is_head = state.topics.restaurants, self.unseated.copy()
        z = state.tokens.topic.astype(np.int64)
        for cell, k in {*zip(self.group_of * 3 + self.words, z, strict=True)}:
            place = tools.state.find_entry(restaurants, cell, k)
            mine = np.flatnonzero((self.group_of * 3 + self.words == cell) & (z == k))
            is_head[mine[: restaurants.listed_tables[place]]] = 0
        return z.tobytes() + is_head.tobytes()

    def log_density(self, z, is_head):
        out, a, b = self.log_density_of_topics(z), self.a, self.b
        heads = is_head >= 0
        for g, k in itertools.product(range(2), range(b.size)):
            mine = (self.group_of == g) & (z == k)
            out += sum(math.log(b[k] + n * a) for n in range(1, np.sum(mine & heads)))
            out -= sum(math.log(b[k] + n) for n in range(1, np.sum(mine)))
            for w in set(self.words[mine]):
                m, t = (np.sum(mine & (self.words == w) & x) for x in (True, heads))
                if t == 0:
                    return -math.inf
                first = 3 * self.bases[g]
                out += math.log(stirling(m, t, a)) + t * math.log(
                    self.matrices[g][w] @ PHI0[first : first + 3, k]
                )
        return out


def stirling(n, t, a):
    """S^n_t by its recursion."""
    if n == 0 or t == 0 or t > n:
        return float(n == t == 0)
    return stirling(n - 1, t - 1, a) + (n - 1 - t * a) * stirling(n - 1, t, a)


DOCS = {"words": [0, 0, 0, 1, 0, 0, 0, 2], "doc_ptr": [0, 2, 4, 6, 8], "group": [0, 0, 1, 1]}
MICROS = {
    "same_word": {},
    "associations": {"same_word": False},
    "own_bases": {"same_word": False, "bases": (0, 1), "alpha": (0.2, 1.3)},
    "dirichlet_process": {"a": 0.0, "b": (0.3, 2.0)},
    "negative_b": {"a": 0.97, "b": (-0.9, 0.0)},
}


def thawed(key):
    return np.split(np.frombuffer(key, np.int64), 2)


def law(micro, key, move, at, scheme, tools=PLAIN):
    """Exact law of where a move leads from a state."""

    def run(rng):
        state = micro.load(tools, *thawed(key), scheme=scheme)
        move(tools, state, at, rng)
        return micro.frozen(state, tools)

    out = Counter()
    for after, probability in outcomes(run, most=99):
        out[after] += probability
    return out


def residual(micro, starts, move, at, scheme="forced", tools=PLAIN):
    """Largest change that a move makes to the posterior of the states that it reaches from `starts`."""
    rows, waiting = {}, list(starts)
    while waiting:
        key = waiting.pop()
        if key not in rows:
            rows[key] = law(micro, key, move, at, scheme, tools)
            waiting.extend(rows[key])
    log_density = np.array([micro.log_density(*thawed(key)) for key in rows])
    before = dict(zip(rows, np.exp(log_density - logsumexp(log_density)), strict=True))
    after = Counter()
    for key, row in rows.items():
        for to, probability in row.items():
            after[to] += before[key] * probability
    assert len(rows) > 1
    return max(abs(after[key] - before[key]) for key in rows)


def start_of(micro, seed):
    return micro.first_heads(*micro.random_state(np.random.default_rng(seed)))
