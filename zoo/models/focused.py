"""The focused topic model: the IBP compound Dirichlet process (Williamson, Wang, Heller and Blei 2010)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, override

import numpy as np
from numpy.polynomial import polynomial
from scipy.special import gammaln

from ...kernels.buffet import focused as sweeps
from ...kernels.buffet.focused import FocusedState
from ...kernels.toolbox import sides
from ..contract import (
    Card,
    Design,
    Equation,
    FrozenTopics,
    Gamma,
    Hyperparameter,
    Kernel,
    Latents,
    Probes,
    Quantities,
    Reference,
    Room,
    Simulation,
    WordCounts,
)
from ..corpus import Corpus
from ..families.buffet import reference
from ..families.buffet.generator import (
    Draws,
    draw_given_lengths,
    draw_topics,
    expected_topics,
    total_by_owner,
)
from ..families.buffet.lengths import LOG2, draw_lengths
from ..families.topics import Dirichlet, TopicSide, dirichlet_counts
from ..families.two_sided import TwoSidedModel
from ..predictive import Proportions
from ..settings import setting
from ..toolbox.draws import draw_dirichlet, draw_hyperparameter
from ..toolbox.enumeration import restricted_growth_strings
from ..toolbox.laws import by_first_appearance, doc_topic_counts
from ..toolbox.proportions import DirichletProportions
from ..toolbox.stan_data import stan_priors


@dataclass(frozen=True)
class Focused(TwoSidedModel):
    """As many topics as the corpus needs; which documents have a topic says nothing of how much of it.

    Each topic has an inclusion, the share of the documents that it is on in, and a strength, which gives it
    tokens where it is on.

    Latents: ``z`` (N,), ``strength`` (K,), ``inclusion`` (K,), ``alpha``, ``gamma``, ``eta``. Where topics
    are on, and all that concerns topics without tokens, is integrated out.

    The lengths of the documents are data: they are negative binomial. A generator that keeps to a design's
    lengths therefore has to reject: it suits small designs and hyperparameters that make them likely.
    `simulate_lengths` draws the lengths as well, without rejection.

    Parameters
    ----------
    alpha : float or Gamma
        Mass of the Indian buffet process: the expected number of topics that are on in a document.
    gamma : float or Gamma
        Shape of the strengths.
    topics : Dirichlet
        With the Dirichlet parameter ``eta`` of a topic's word distribution, a word.
    """

    card: ClassVar[Card] = Card(
        id="focused",
        title="Focused topic model",
        summary="As many topics as the corpus needs; a topic may be rare among documents and strong in them.",
        citation=(
            "S. Williamson, C. Wang, K. A. Heller and D. M. Blei. The IBP compound Dirichlet process and its "
            "application to focused topic modeling. International Conference on Machine Learning, "
            "pages 1151-1158, 2010."
        ),
        source="Williamson, Wang, Heller & Blei (2010)",
        bibtex_key="williamson2010ibp",
        equations=(
            Equation(
                "generative process",
                r"b_{dk} \sim \mathrm{Bernoulli}(\pi_k),\quad \pi \sim \mathrm{IBP}(\alpha)",
                "whether a topic is on in a document",
            ),
            Equation("generative process", r"\phi_k \sim \mathrm{Gamma}(\gamma, 1)", "strength of a topic"),
            Equation(
                "generative process",
                r"\theta_d \sim \mathrm{Dir}(b_d \circ \phi),\quad n_d \sim \mathrm{NB}(b_d^\top \phi, 1/2)",
                "topic proportions and length of a document; so n_dk ~ NB(b_dk phi_k, 1/2), independently",
            ),
            Equation("generative process", r"\beta_k \sim \mathrm{Dir}_V(\eta)", "words of a topic"),
        ),
        errata=(
            "The source draws the topic of a token from an expectation that it expands to first order about "
            "the means of the other variables. The expectation has a closed form. Variant `taylor` shows "
            "what the expansion changes; it carries over the recipe of Faisal, Gillberg, Leen and Peltonen "
            "(Transfer learning using a nonparametric sparse topic model, Appendix A).",
            "In the expansion the first token of a topic in a document has weight pi phi. The exact weight "
            "is phi pi 2^-phi / (1 - pi + pi 2^-phi): the document shows that the topic is off or silent.",
            "In the expansion a new topic has weight alpha gamma. The exact weight also says that no other "
            "document has a token of it: alpha / M sum_{j=1}^M gamma (1 + j log 2)^(-gamma - 1).",
            "The conditional of gamma depends on the topics without tokens; they are integrated out.",
        ),
        tags=("nonparametric", "single corpus", "document lengths are data"),
    )
    topic_sides: ClassVar[Mapping[str, TopicSide]] = {"dirichlet": Dirichlet()}
    why_only: ClassVar[str] = (
        "its token steps move masks with the words of Dirichlet topics integrated out; no others"
    )

    alpha: Hyperparameter = setting(Gamma(5.0, 1.0), fixed=1.5, reference=0.3, benchmark=5.0)
    gamma: Hyperparameter = setting(Gamma(5.0, 10.0), fixed=1.2, prior=Gamma(3.0, 2.0), benchmark=0.5)
    topics: TopicSide = Dirichlet()

    @property
    @override
    def document_dimensions(self) -> Mapping[str, tuple[str, ...]]:
        return {"strength": ("stick",), "inclusion": ("stick",)}

    @override
    def most_topics(self, design: Design) -> int:
        """See `TwoSidedModel.most_topics`: as many as there are tokens."""
        return int(np.sum(design.doc_lengths))

    @override
    def n_topics_of(self, latents: Latents) -> int:
        return latents["strength"].size

    def document_prior(self, latents: Latents, corpus: Corpus) -> np.ndarray:
        """Weight of each topic for one more token, without the tokens themselves, float (D, K + 1).

        The strength where the document has the topic; else, and for topics without any token, the weight of
        a first token.
        """
        strength, inclusion = latents["strength"], latents["inclusion"]
        on = inclusion * np.exp2(-strength)
        counts = doc_topic_counts(latents["z"], corpus, strength.size)
        weights = np.where(counts > 0, strength, strength * on / (1.0 - inclusion + on))
        new = _mass_of_new(float(latents["alpha"]), float(latents["gamma"]), corpus.n_documents)
        return np.hstack([weights, np.full((corpus.n_documents, 1), new)])

    def prior_rows(self, prior: np.ndarray, corpus: Corpus) -> np.ndarray:
        """Every document has a row of its own."""
        return np.arange(corpus.n_documents)

    def log_assignments(self, latents: Latents, corpus: Corpus) -> float:
        """Log probability of ``z``, of the lengths and of no other topic having a token, given the topics."""
        strength, inclusion = latents["strength"], latents["inclusion"]
        counts = doc_topic_counts(latents["z"], corpus, strength.size)
        present = np.log(inclusion) + gammaln(strength + counts) - gammaln(strength) - strength * LOG2
        absent = np.log1p(inclusion * np.expm1(-strength * LOG2))
        nothing_else = -float(latents["alpha"]) * _expected_topics(
            float(latents["gamma"]), corpus.n_documents
        )
        return float(np.sum(np.where(counts > 0, present, absent))) + nothing_else + _log_of_lengths(corpus)

    def log_sticks(self, latents: Latents) -> float:
        """Log density of the strengths and inclusions, as of an unordered set of topics."""
        strength, inclusion, gamma = latents["strength"], latents["inclusion"], float(latents["gamma"])
        intensity = np.log(float(latents["alpha"])) - np.log(inclusion)
        return float(np.sum(intensity + (gamma - 1.0) * np.log(strength) - strength - gammaln(gamma)))

    @override
    def simulate(self, design: Design, rng: np.random.Generator) -> Simulation:
        """See `Model.simulate`; alpha and gamma are rejected with the rest: lengths say something of them.

        Raises
        ------
        ValueError
            The hyperparameters make the design's lengths too unlikely.
        """
        latents = self._draw(design, self.hyperparameters(), rng)
        latents["eta"] = self.draw_hyperparameters(design, rng)["eta"]
        return Simulation(latents, self.resample_data(latents, design, rng))

    @override
    def simulate_lengths(self, design: Design, rng: np.random.Generator) -> Simulation:
        n = np.size(design.doc_lengths)
        draws = _draw_prior(1, self.hyperparameters(), n, rng)
        design = design.with_lengths(draw_lengths(draws.mass[0], np.arange(n), "document", rng))
        latents = _seat_tokens(draws.one(0), design.doc_lengths, rng)
        latents["eta"] = self.draw_hyperparameters(design, rng)["eta"]
        return Simulation(latents, self.resample_data(latents, design, rng))

    def draw_topics(
        self, design: Design, hyper: Mapping[str, np.ndarray], rng: np.random.Generator
    ) -> Latents:
        """Draw strengths, inclusions and the topics of the tokens."""
        latents = self._draw(design, {name: float(value) for name, value in hyper.items()}, rng)
        return {name: latents[name] for name in ("z", "strength", "inclusion")}

    def _draw(self, design: Design, hyper: Mapping[str, Hyperparameter], rng: np.random.Generator) -> Latents:
        lengths = np.asarray(design.doc_lengths)
        draw = draw_given_lengths(
            lambda n: _draw_prior(n, hyper, lengths.size, rng),
            lengths[:, None],  # a document is a task of its own
            "document",
            expected_topics(hyper["alpha"], lengths.size, 1.0),
            rng,
            self.card.id,
        )
        return _seat_tokens(draw, lengths, rng)

    @override
    def documents_started(
        self, labels: np.ndarray, hyper: Mapping[str, np.ndarray], corpus: Corpus
    ) -> Latents:
        """See `CollapsedTopicModel.documents_started`; strengths at which lengths are as expected."""
        z, used = by_first_appearance(labels)
        having = np.bincount(np.unique(corpus.doc_of * used.size + z) % used.size)
        return {
            "z": z,
            "strength": np.bincount(z) / having,
            "inclusion": having / (corpus.n_documents + 1.0),
        }

    @override
    def unseated(self, corpus: Corpus) -> Latents:
        return super().unseated(corpus) | dict.fromkeys(("strength", "inclusion"), np.zeros(0))

    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """Log probability of topics, lengths and words; see `Model.log_marginal`.

        Notes
        -----
        A topic that s of M documents have contributes
        ``alpha E[prod_d (phi)_{n_d} 2^(-s phi) int pi^(s-1) (1 - pi + pi 2^-phi)^(M-s) dpi]``. The power is a
        binomial sum over the other documents where the topic is on, the product a polynomial in phi, and
        ``E[phi^m 2^(-j phi)] = Γ(gamma + m) / Γ(gamma) (1 + j log 2)^(-gamma - m)``.
        """
        alpha, gamma = float(hyper["alpha"]), float(hyper["gamma"])
        counts = doc_topic_counts(z, corpus, int(z.max(initial=-1)) + 1)
        out = _log_of_lengths(corpus) - alpha * _expected_topics(gamma, corpus.n_documents)
        for column in counts.T:
            roots = np.concatenate([-np.arange(n) for n in column])
            coefficient = polynomial.polyfromroots(roots)
            m = np.flatnonzero(coefficient)
            having = np.count_nonzero(column)
            on = np.arange(having, column.size + 1)
            log_beta = (
                gammaln(column.size - having + 1)
                - gammaln(on - having + 1)
                + gammaln(on)
                - gammaln(column.size + 1)
            )
            log_moment = gammaln(gamma + m) - gammaln(gamma) + np.log(coefficient[m])
            terms = log_beta[:, None] + log_moment - (gamma + m) * np.log1p(on * LOG2)[:, None]
            out += np.log(alpha) + float(np.logaddexp.reduce(terms, axis=None))
        return out + self.log_words(z, corpus, hyper)

    @override
    def quantities(
        self,
        latents: Latents,
        corpus: Corpus,
        probes: Probes | None = None,
        counts: WordCounts | None = None,
    ) -> Quantities:
        """See `CollapsedTopicModel.quantities`; besides, means over topics of strength and inclusion."""
        used = latents["strength"].size > 0
        return super().quantities(latents, corpus, probes, counts) | {
            f"mean_{name}": np.asarray(latents[name].mean() if used else 0.0)
            for name in ("strength", "inclusion")
        }

    def assignments(self, corpus: Corpus) -> Iterator[np.ndarray]:
        """All partitions of the tokens."""
        return restricted_growth_strings(corpus.n_tokens)

    @override
    def frozen_topics(self, latents: Latents, corpus: Corpus) -> FrozenTopics:
        """See `Model.frozen_topics`; each topic is on in a new document with its own probability.

        The topics without tokens are one that is always on, of their expected strength.
        """
        eta = float(latents["eta"])
        z, n_topics = latents["z"], latents["strength"].size
        counts = np.zeros((n_topics + 1, corpus.n_words))
        np.add.at(counts, (z, corpus.words), 1)
        concentration = counts.sum(axis=1) + corpus.n_words * eta
        words = (counts + eta) / concentration[:, None]
        # One more document, which has no token yet: no factor 2^-phi, hence j from 0 to M.
        alpha, gamma = float(latents["alpha"]), float(latents["gamma"])
        j = np.arange(corpus.n_documents + 1)
        rest = alpha * gamma * np.mean((1.0 + j * LOG2) ** (-gamma - 1.0))
        return FrozenTopics(
            words,
            np.append(latents["strength"], rest)[None],
            np.append(latents["inclusion"], 1.0)[None],
            concentration,
        )

    @override
    def own_proportions(self, latents: Latents, corpus: Corpus) -> Proportions:
        """See `Model.own_proportions`; of a topic without a token it is not known whether it is on."""
        new = _mass_of_new(float(latents["alpha"]), float(latents["gamma"]), corpus.n_documents)
        strength, inclusion = np.append(latents["strength"], new), np.append(latents["inclusion"], 1.0)
        rows = np.zeros(corpus.n_documents, np.int32)
        return DirichletProportions(latents["z"], corpus, strength[None], rows, inclusion[None])

    @override
    def kernels_in(self, room: Room) -> dict[str, Kernel]:
        focused, own_sides = room(sweeps), room(sides)

        def load(latents: Latents, corpus: Corpus, model: Focused) -> FocusedState:
            one_prior = np.zeros(corpus.n_documents, np.int64)
            tokens = own_sides.tokens_of(corpus.words, corpus.doc_ptr, one_prior, latents["z"])
            return focused.make_state(tokens, corpus.n_words, latents, model.prior_arrays())

        def make(sweep: Callable[..., bool], exact: bool, about: str) -> Kernel:
            step = Kernel.step_of(sweep, focused.with_room)
            return Kernel(
                load, step, _snapshot, focused.check, sweep, exact, about, with_room=focused.with_room,
                counts=dirichlet_counts,
            )  # fmt: skip

        return {
            "exact": make(
                focused.exact_sweep, True, "collapsed Gibbs; a token costs as much as there are topics"
            ),
            "taylor": make(focused.taylor_sweep, False, "tokens drawn from an expectation that is expanded"),
        }

    @property
    @override
    def reference(self) -> Reference:
        return Reference(
            parameters=reference.FOCUSED_PARAMETERS,
            numpyro=self._numpyro,
            stan_program="focused",
            stan_data=self._stan_data,
            latents=reference.focused_latents,
            largest_truncation=reference.MOST_TOPICS,
        )

    def _numpyro(self, corpus: Corpus, truncation: int) -> Callable[[], None]:
        return reference.focused(corpus, truncation, **self.hyperparameters())

    def _stan_data(self, corpus: Corpus, truncation: int) -> dict[str, Any]:
        return reference.focused_data(corpus, truncation) | stan_priors(self)


def _log_of_lengths(corpus: Corpus) -> float:
    """``log prod_d 2^-n_d / n_d!``: what is left of the negative binomials, and of the order of tokens."""
    return float(-corpus.n_tokens * LOG2 - np.sum(gammaln(corpus.doc_lengths + 1.0)))


def _mass_of_new(alpha: float, gamma: float, n_documents: int) -> float:
    """Weight of all topics without a token for one more token in one of the documents."""
    j = np.arange(1, n_documents + 1)
    return float(alpha * gamma * np.mean((1.0 + j * LOG2) ** (-gamma - 1.0)))


def _expected_topics(gamma: float, n_documents: int) -> float:
    """``int dpi / pi E[1 - (1 - pi + pi 2^-phi)^M]``: topics that have a token, for alpha = 1."""
    j = np.arange(1, n_documents + 1)
    return float(np.sum(-np.expm1(-gamma * np.log1p(j * LOG2)) / j))


def _draw_prior(
    n: int, hyper: Mapping[str, Hyperparameter], n_documents: int, rng: np.random.Generator
) -> Draws:
    """Draw `n` alphas and gammas, and topics that are on in some document."""
    alpha, gamma = (draw_hyperparameter(hyper[name], n, rng) for name in ("alpha", "gamma"))
    owner, is_on, inclusion = draw_topics(alpha, n_documents, 1.0, rng)
    strength = np.maximum(rng.gamma(gamma[owner]), np.finfo(float).tiny)
    return Draws(
        {"alpha": alpha, "gamma": gamma},
        owner,
        {"is_on": is_on, "strength": strength, "inclusion": inclusion},
        total_by_owner(strength[:, None] * is_on, owner, n),
    )


def _seat_tokens(draw: Latents, lengths: np.ndarray, rng: np.random.Generator) -> Latents:
    """Draw each document's topic proportions and its tokens' topics; topics without tokens are dropped."""
    labels = [np.zeros(0, np.int64)]
    for is_on, length in zip(draw["is_on"].T, lengths, strict=True):
        if length > 0:
            on = np.flatnonzero(is_on)
            labels.append(rng.choice(on, length, p=draw_dirichlet(draw["strength"][on], rng)))
    z, used = by_first_appearance(np.concatenate(labels))
    return (
        {"z": z}
        | {name: draw[name][used] for name in ("strength", "inclusion")}
        | {name: draw[name] for name in ("alpha", "gamma")}
    )


def _snapshot(state: FocusedState) -> Latents:
    k = int(state.topics.n_topics[0])
    return {
        "z": state.tokens.topic.astype(np.int64),
        "strength": state.documents.strength[:k].copy(),
        "inclusion": state.documents.inclusion[:k].copy(),
        "alpha": np.array(state.documents.alpha[0]),
        "gamma": np.array(state.documents.gamma[0]),
        "eta": np.array(state.topics.eta[0]),
    }
