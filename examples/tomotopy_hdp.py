"""Do LDA and HDP of tomotopy sample their posteriors? An answer on micro corpora, where all is exact.

First the verdict of the laboratory on LDA. Then for the HDP and each corpus: the exact posterior of the
number of topics, what long chains of tomotopy show, and the exact stationary law of a franchise sampler that
differs from the right one in the three ways that ``docs/tomotopy.md`` describes. Takes about half a minute;
needs the extra ``peers``.
"""

import argparse
import importlib.util
from collections import Counter, defaultdict
from functools import cache
from itertools import count, islice, permutations

import bnpzoo
import numpy as np
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.toolbox.laws import by_first_appearance

LDA = bnpzoo.get("lda", n_topics=2, alpha=0.7, eta=0.4)
MODEL = bnpzoo.get("hdp", gamma=1.0, alpha=1.0, eta=0.5)
CORPORA = {
    "two tokens of one word": bnpzoo.Corpus([0, 0], [0, 2]),
    "five tokens of one word": bnpzoo.Corpus([0] * 5, [0, 5]),
    "0 0 1 1": bnpzoo.Corpus([0, 0, 1, 1], [0, 4]),
    "0 1 | 0 1": bnpzoo.Corpus([0, 1, 0, 1], [0, 2, 4]),
}
DIFFERENCES = ("new table", "words apart", "slots")

type State = tuple[tuple[int, ...], tuple[int, ...]]
"""Table of each token within its document, and its topic; topics are numbered by first appearance."""
type Law = dict[State, float]


class Franchise:
    """Chinese restaurant franchise (Teh et al. 2006, Section 5.1): tokens choose tables, and these topics.

    Parameters
    ----------
    corpus : Corpus
    model : Hdp
    differences : some of "new table", "words apart" and "slots"
        With none of them it is exact; see ``docs/tomotopy.md``.
    """

    def __init__(self, corpus, model, differences=()):
        self.words, self.doc = corpus.words.tolist(), corpus.doc_of.tolist()
        self.n_words, self.n_documents = corpus.n_words, corpus.n_documents
        self.alpha, self.gamma = model.alpha, model.gamma
        self.eta = model.hyperparameters()["eta"]
        self.differences = differences
        self.move_token, self.move_table = cache(self.move_token), cache(self.move_table)

    def likelihood(self, k, tokens, topics, apart=False):
        """Probability of the words of `tokens` under topic k, which the other tokens made what it is."""
        there = [j for j, topic in enumerate(topics) if topic == k and j not in tokens]
        out = 1.0
        for i in tokens:
            same = sum(self.words[j] == self.words[i] for j in there)
            out *= (same + self.eta) / (len(there) + self.n_words * self.eta)
            if not apart:
                there.append(i)
        return out

    def topic_weights(self, tokens, state: State, apart=False) -> dict[int, float]:
        """Weights of the topics for a table of `tokens`; all other tables make the m_k."""
        tables, topics = state
        served = {(self.doc[j], tables[j]): k for j, k in enumerate(topics) if j not in tokens}
        m = {max(topics) + 1: self.gamma} | Counter(served.values())
        own = topics[tokens[0]]
        return {k: m[k] * self.likelihood(k, tokens, topics, apart and k != own) for k in m}

    def move_token(self, state: State, i: int) -> list[tuple[State, float]]:
        """States after token i has chosen a table anew, and their probabilities."""
        tables, topics = state
        others = [j for j in range(len(tables)) if j != i]
        weights = self.topic_weights([i], state)
        mixture = 1.0 / self.n_words if "new table" in self.differences else sum(weights.values())
        n_tables = len({(self.doc[j], tables[j]) for j in others})
        new_table = self.alpha * mixture / (self.gamma + n_tables)
        size = Counter((tables[j], topics[j]) for j in others if self.doc[j] == self.doc[i])
        options = {(t, k): n * self.likelihood(k, [i], topics) for (t, k), n in size.items()}
        free = next(t for t in count() if t not in {table for table, _ in size})
        options |= {(free, k): new_table * w / sum(weights.values()) for k, w in weights.items()}
        return _normalised({self.put(state, [i], t, k): w for (t, k), w in options.items()})

    def move_table(self, state: State, d: int, n: int) -> list[tuple[State, float]]:
        """States after table number n of document d has chosen a topic anew, and their probabilities."""
        in_use = sorted({table for i, table in enumerate(state[0]) if self.doc[i] == d})
        if n >= len(in_use):
            return [(state, 1.0)]
        table = n if "slots" in self.differences else in_use[n]
        tokens = [i for i, t in enumerate(state[0]) if t == table and self.doc[i] == d]
        if not tokens:
            return [(state, 1.0)]
        weights = self.topic_weights(tokens, state, "words apart" in self.differences)
        return _normalised({self.put(state, tokens, table, k): w for k, w in weights.items()})

    def put(self, state: State, tokens: list[int], table: int, topic: int) -> State:
        """State with `tokens` at this table and topic; tables are renumbered unless they have slots."""
        tables, topics = np.array(state)
        tables[tokens], topics[tokens] = table, topic
        if "slots" not in self.differences:
            tables = by_first_appearance(tables + tables.size * np.array(self.doc))[0]
        return tuple(tables.tolist()), tuple(by_first_appearance(topics)[0].tolist())

    def sweep(self, law: Law, order: tuple[int, ...]) -> Law:
        """Law after all documents have been visited in this order."""
        for d in order:
            tokens = [i for i, document in enumerate(self.doc) if document == d]
            for i in tokens:
                law = _after(law, lambda state, i=i: self.move_token(state, i))
            for n in range(len(tokens)):
                law = _after(law, lambda state, d=d, n=n: self.move_table(state, d, n))
        return law

    def stationary(self, assignments: np.ndarray, tolerance: float = 1e-7) -> np.ndarray:
        """Stationary probability of each assignment; the order of the documents is shuffled each sweep."""
        orders = list(permutations(range(self.n_documents)))
        law, change = {((0,) * len(self.doc), (0,) * len(self.doc)): 1.0}, 1.0
        while change > tolerance:
            swept = defaultdict(float)
            for order in orders:
                for state, p in self.sweep(law, order).items():
                    swept[state] += p / len(orders)
            change = sum(abs(swept[state] - law.get(state, 0.0)) for state in swept)
            law = swept
        by_topics = Counter()
        for (_, topics), p in law.items():
            by_topics[topics] += p
        return np.array([by_topics[tuple(z)] for z in assignments.tolist()])


def _normalised(weights: dict[State, float]) -> list[tuple[State, float]]:
    total = sum(weights.values())
    return [(state, weight / total) for state, weight in weights.items()]


def _after(law: Law, move) -> Law:
    out = defaultdict(float)
    for state, p in law.items():
        for moved, q in move(state):
            out[moved] += p * q
    return out


def observe(corpus, oracle: Oracle, chains: int, draws: int) -> np.ndarray:
    """Share of each assignment in each of several chains of tomotopy, float (chain, A)."""
    from bnpzoo.diagnostics.laboratory.peers import Tomotopy

    index = {tuple(z): a for a, z in enumerate(oracle.assignments.tolist())}
    shares = np.zeros((chains, len(index)))
    for chain, share in enumerate(shares):
        subject = Tomotopy(MODEL, Design.of(corpus), initial_topics=1 + chain)
        rng = np.random.default_rng(chain)
        for latents in islice(subject.transitions(rng, {}, corpus), 200, 200 + draws):
            share[index[tuple(latents["z"].tolist())]] += 1.0 / draws
    return shares


def distance(p: np.ndarray, q: np.ndarray) -> float:
    """Total variation."""
    return 0.5 * float(np.abs(p - q).sum())


def judge_lda(corpus, chains: int, draws: int) -> None:
    """Print the verdict on LDA for one corpus."""
    from bnpzoo.diagnostics.laboratory.peers import Tomotopy

    subject, oracle = Tomotopy(LDA, Design.of(corpus)), Oracle.of_model(LDA, corpus)
    print(agrees_with_oracle(subject, oracle, corpus, chains=chains, draws=draws))


def report(name: str, corpus, chains: int, draws: int) -> None:
    """Print exact, predicted and observed probabilities for one corpus."""
    oracle = Oracle.of_model(MODEL, corpus)
    exact = oracle.probabilities.mean
    # The law of the slots is large, and to a corpus of one word they make no difference in four digits.
    differences = DIFFERENCES if corpus.n_words > 1 else DIFFERENCES[:1]
    predicted = Franchise(corpus, MODEL, differences).stationary(oracle.assignments)
    shares = observe(corpus, oracle, chains, draws)
    n_topics = np.array([z.max() + 1 for z in oracle.assignments])
    print(f"\n{name}\n{'topics':>8} {'exact':>8} {'tomotopy':>8} {'s.e.':>8} {'predicted':>10}")
    for t in range(1, corpus.n_tokens + 1):
        share = shares[:, n_topics == t].sum(1)
        error = share.std(ddof=1) / np.sqrt(chains)
        print(
            f"{t:8d} {exact[n_topics == t].sum():8.4f} {share.mean():8.4f} {error:8.4f}"
            f" {predicted[n_topics == t].sum():10.4f}"
        )
    alone = {
        difference: distance(exact, Franchise(corpus, MODEL, (difference,)).stationary(oracle.assignments))
        for difference in differences
    }
    print(f"total variation from the exact posterior: tomotopy {distance(exact, shares.mean(0)):.3f},")
    print(f"  predicted {distance(exact, predicted):.3f};", end=" ")
    print(", ".join(f"'{difference}' alone {d:.3f}" for difference, d in alone.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chains", type=int, default=8)
    parser.add_argument("--draws", type=int, default=20_000, help="iterations a chain")
    options = parser.parse_args()
    if importlib.util.find_spec("tomotopy") is None:
        print("tomotopy is not installed: pip install 'bnpzoo[peers]'. Nothing compared.")
        return
    import tomotopy

    print(
        f"tomotopy {tomotopy.__version__}\n\nLDA: K = {LDA.n_topics}, alpha {LDA.alpha}, eta {LDA.topics.eta}"
    )
    for name, corpus in CORPORA.items():
        print(name, end=": ")
        judge_lda(corpus, options.chains, max(100, options.draws // 4))
    print(f"\nHDP: alpha {MODEL.alpha}, gamma {MODEL.gamma}, eta {MODEL.topics.eta}")
    for name, corpus in CORPORA.items():
        report(name, corpus, options.chains, options.draws)


if __name__ == "__main__":
    main()
