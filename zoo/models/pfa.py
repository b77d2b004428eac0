"""Poisson factor analysis as a gamma-negative binomial process (Zhou and Carin 2015)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, override

import numpy as np
from scipy.special import gammaln

from ...kernels.poisson import documents
from ...kernels.toolbox.sides import ROOM, State
from ..contract import Card, Design, Equation, Gamma, Hyperparameter, Latents, Room
from ..corpus import Corpus
from ..families.belief_network.topics import BeliefNetwork
from ..families.hdp.sticks import GrowingSticks, seat_tokens
from ..families.poisson import marginal, reference
from ..families.poisson.family import OfDocumentProbabilities, draw_log_mass
from ..families.poisson.lengths import highest_log_lengths
from ..families.poisson.samplers import MALLET
from ..families.topics import Dirichlet, Sampler
from ..settings import setting
from ..toolbox.draws import draw_categorical, draw_dirichlet
from ..toolbox.enumeration import restricted_growth_strings
from ..toolbox.laws import by_first_appearance


@dataclass(frozen=True)
class Pfa(OfDocumentProbabilities):
    """Counts of words as sums of Poisson variables, one a topic, whose rates are gamma variables.

    Latents: ``z`` (N,); ``r`` (K + 1,), the last entry being the weight of all topics without tokens, 0 where
    the number of topics is fixed; ``gamma``, ``c``; those of the topics, as ``eta``. The rates of the
    documents and their probabilities p are integrated out.

    Parameters
    ----------
    gamma : float or Gamma
        Mass of the gamma process: how many topics.
    c : float or Gamma
        Its rate: the larger, the fewer topics in a document.
    topics : TopicSide
        `Dirichlet`, `PitmanYor` or `BeliefNetwork`, with hyperparameters of their own.
    length_shape : float
        a, of the probabilities p of the lengths, Beta(a, a); 0 for lengths that are given.
    n_topics : int
        Number of topics, each with a weight of Gamma(gamma / K, c); no limit at 0, except under a belief
        network, where topics have not been made to open: then as many as its layers have, its `width`.
    """

    card: ClassVar[Card] = Card(
        id="pfa",
        title="Poisson factor analysis",
        summary="Counts of words are sums of Poisson variables, one a topic; as many topics as needed.",
        citation=(
            "M. Zhou and L. Carin. Negative binomial process count and mixture modeling. "
            "IEEE Transactions on Pattern Analysis and Machine Intelligence 37(2):307-320, 2015."
        ),
        source="Zhou & Carin (2015)",
        bibtex_key="zhou2015negative",
        equations=(
            Equation(
                "gamma process",
                r"\sum_k r_k \delta_{\phi_k} \sim \mathrm{GaP}(\gamma, c)\quad\text{or}\quad "
                r"r_k \sim \mathrm{Gamma}(\gamma / K, c)",
                "weights of the topics, without a limit to their number or of K topics; c is a rate",
            ),
            Equation(
                "negative binomial process",
                r"\theta_{dk} \sim \mathrm{Gamma}\left(r_k, \frac{1 - p_d}{p_d}\right),\quad "
                r"p_d \sim \mathrm{Beta}(a, a)",
                "rates of the topics in a document; the second parameter is a rate",
            ),
            Equation(
                "Poisson factor analysis",
                r"x_{dv} \sim \mathrm{Poisson}\left(\sum_k \theta_{dk} \phi_{kv}\right),\quad "
                r"\phi_k \sim \mathrm{Dir}_V(\eta)",
                "how often a word occurs in a document",
            ),
            Equation(
                "collapsed",
                r"p(z_i = k) \propto (n_{dk} + r_k)\,\frac{n_{kw} + \eta}{n_k + V\eta}",
                "counts without token i; given its length, a document is Dirichlet of parameters r",
            ),
        ),
        errata=(
            "The Dirichlet belief network paper (Zhao, Du, Buntine and Zhou 2018) prints another model "
            "under this name, in which p belongs to the topic (supplement, Equation 15); its code samples "
            "this one. The printed one is `bgg`.",
            "Lengths are part of the data: a generator whose design fixes them draws the weights given them, "
            "by rejection. At a = 0 they are given and say nothing, and the model is LDA with weights "
            "alpha = r, or `hdp` with alpha of Gamma(gamma, c).",
            "The limit K is a model of its own, and not a truncation to be corrected for: at gamma = 5 and "
            "K = 100 its partitions are far from those of the process.",
            "A chain starts at the prior means of gamma and c: a draw from Gamma(0.01, 0.01) is of no use.",
        ),
        tags=("nonparametric", "single corpus", "counts"),
    )

    document_parameters: ClassVar[tuple[str, ...]] = ("theta", "root", "mass", "gamma", "c")
    stan_program: ClassVar[str] = "pfa"
    not_exact: ClassVar[tuple[str, ...]] = ("mallet",)

    # Before tests, masses above the lengths of documents: there it shows whether weights are exposed to p or
    # to 1 - p, and whether topics without tokens keep theirs.
    gamma: Hyperparameter = setting(
        Gamma(0.01, 0.01), fixed=1.1, prior=Gamma(6.0, 1.0), reference=0.7, benchmark=1.5
    )
    c: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=0.85, prior=Gamma(3.0, 6.0), reference=Gamma(9.0, 7.0), benchmark=0.1
    )
    n_topics: int = 0

    def __post_init__(self):
        self.check_whole("n_topics", 0, bounds="0 for no limit")
        super().__post_init__()

    @property
    def limit(self) -> int:
        """Number of topics; 0 where there is no limit."""
        if isinstance(self.topics, BeliefNetwork):
            return self.n_topics or self.topics.width
        return self.n_topics

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"r": ("stick",)}

    @property
    @override
    def samplers(self) -> Mapping[str, Sampler]:
        """See `TwoSidedModel.samplers`; over Dirichlet topics also what others do with eta."""
        own = {"mallet": MALLET} if isinstance(self.topics, Dirichlet) else {}
        return {**super().samplers, **own}

    @property
    @override
    def opens_topics(self) -> bool:
        return self.limit == 0

    @override
    def most_topics(self, design: Design) -> int:
        return self.limit or int(np.sum(design.doc_lengths))

    @override
    def n_topics_of(self, latents: Latents) -> int:
        return latents["r"].size - 1

    @override
    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        return latents["r"][None]

    @override
    def document_rows(self, corpus: Corpus) -> np.ndarray:
        return np.zeros(corpus.n_documents, np.int32)

    @override
    def draw_weights(
        self, n_documents: int, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """See `PoissonFamily.draw_weights`; the mass alone, its shares being independent of it."""
        return {"mass": np.exp(draw_log_mass(hyper, rng)), "gamma": np.asarray(hyper["gamma"])}

    @override
    def masses(self, weights: Latents, n_documents: int) -> np.ndarray:
        return np.full(n_documents, weights["mass"])

    @override
    def masses_of(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        return np.full(corpus.n_documents, latents["r"].sum())

    @override
    def highest_log_lengths(self, doc_lengths: np.ndarray) -> float:
        return highest_log_lengths(tuple(map(int, doc_lengths)), self.length_shape)

    @override
    def seat(self, weights: Latents, design: Design, rng: np.random.Generator) -> Latents:
        mass, gamma = float(weights["mass"]), float(weights["gamma"])
        lengths = np.asarray(design.doc_lengths)
        if self.limit:
            r = mass * draw_dirichlet(np.full(self.limit, gamma / self.limit), rng)
            theta = draw_dirichlet(np.broadcast_to(r, (lengths.size, r.size)), rng)
            return {"z": draw_categorical(np.repeat(theta, lengths, axis=0), rng), "r": np.append(r, 0.0)}
        sticks, rows = GrowingSticks(rng, gamma, None, 1), np.zeros(lengths.size, np.int64)
        z, used = by_first_appearance(seat_tokens(sticks, np.array([mass]), lengths, rows, rng))
        kept = np.array(sticks.root)[used] if used.size else np.zeros(0)
        return {"z": z, "r": mass * np.append(kept, max(0.0, 1.0 - kept.sum()))}

    @override
    def weights_started(
        self, labels: np.ndarray | None, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        gamma, c = float(hyper["gamma"]), float(hyper["c"])
        prior = np.full(self.limit, gamma / self.limit) if self.limit else np.zeros(0)
        rest = 0.0 if self.limit else gamma / c
        if labels is None:
            return {"r": np.append(prior / c, rest)}
        z, used = by_first_appearance(labels)
        z, n_topics = (z % self.limit, self.limit) if self.limit else (z, used.size)
        tables = np.bincount(np.unique(corpus.doc_of * n_topics + z) % n_topics, minlength=n_topics)
        r = (tables + (prior if self.limit else 0.0)) / (c + corpus.n_documents)
        return {"z": z, "r": np.append(r, rest)}

    @override
    def log_sticks(self, latents: Latents) -> float:
        """Log density of the weights; without a limit, that of the atoms of a gamma process, in any order."""
        r, rest = np.maximum(latents["r"], np.finfo(float).tiny)[:-1], latents["r"][-1]
        gamma, c = float(latents["gamma"]), float(latents["c"])
        if self.limit:
            return _log_gamma_density(r, gamma / self.limit, c)
        atoms = float(np.sum(np.log(gamma) - np.log(r) - c * r))
        return atoms + _log_gamma_density(np.maximum(rest, np.finfo(float).tiny), gamma, c)

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        of_topics = marginal.log_topics(z, corpus, hyper, self.limit, self.length_shape)
        return of_topics + self.log_words(z, corpus, hyper)

    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All partitions of the tokens; where the number of topics is fixed, all topics."""
        if self.opens_topics:
            return restricted_growth_strings(corpus.n_tokens)
        return (np.array(z, np.int64) for z in product(range(self.limit), repeat=corpus.n_tokens))

    @override
    def document_block(self, corpus: Corpus, n_topics: int) -> Callable[[], Any]:
        return reference.documents(
            corpus.doc_lengths,
            n_topics,
            self.gamma,
            self.c,
            self.length_shape,
            is_limited=not self.opens_topics,
        )

    @override
    def document_data(self, corpus: Corpus) -> dict[str, Any]:
        return {"is_limited": int(not self.opens_topics), "length_shape": self.length_shape}

    @override
    def documents_at(
        self, draw: Mapping[str, np.ndarray], labels: np.ndarray, corpus: Corpus
    ) -> tuple[Latents, np.ndarray]:
        """See `TwoSidedModel.documents_at`; without a limit, topics without tokens join the rest."""
        r = draw["mass"] * draw["root"]
        hyper = {name: np.asarray(draw[name]) for name in ("gamma", "c")}
        if self.limit:
            return {"z": labels, "r": np.append(r, 0.0)} | hyper, np.arange(r.size)
        z, used = by_first_appearance(labels)
        return {"z": z, "r": np.append(r[used], np.delete(r, used).sum())} | hyper, used

    @override
    def load_documents(self, room: Room, latents: Latents, corpus: Corpus) -> Any:
        return room(documents).weighed_documents(
            latents, self.prior_arrays(), self.length_shape, self.limit, ROOM
        )

    @override
    def snapshot_documents(self, state: State) -> Latents:
        side, k = state.documents, int(state.topics.n_topics[0])
        return {
            "r": np.append(side.prior[0, :k], side.rest[0]),
            "gamma": np.array(side.gamma[0]),
            "c": np.array(side.c[0]),
        }


def _log_gamma_density(x: np.ndarray, shape: float, rate: float) -> float:
    """Log density of independent gamma variables, summed over `x`."""
    terms = shape * np.log(rate) - gammaln(shape) + (shape - 1.0) * np.log(x) - rate * x
    return float(np.sum(terms))
