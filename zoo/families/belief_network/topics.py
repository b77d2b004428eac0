"""Topics that are the first layer of a Dirichlet belief network: each around a mixture of topics above.

    phi_j ~ Dirichlet(psi_j),   psi_j = sum_k beta_kj phi_k,   k over the topics of the layer above

Topics of the first layer are integrated out; those above, and the links beta, are latents. With one layer the
topics are symmetric Dirichlet ones.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, override

import numpy as np
from scipy.special import gammaln

from ....kernels.belief_network import topics
from ....kernels.toolbox.sides import State, Tokens
from ...contract import Design, Gamma, Hyperparameter, Latents, Quantities, Room, WordCounts
from ...corpus import Corpus
from ...memory import require_memory
from ...settings import Setting, option, setting
from ...toolbox.draws import draw_dirichlet
from ...toolbox.laws import log_sequences, topic_word_counts
from ..topics import Sampler, TopicSide, dense, dirichlet_counts, sparse
from . import marginal, network, reference

MOST_LAYERS = 10
"""More are taken for a mistake: the second layer above the first already has little to say."""

MOST_TOPICS = 2**16
"""Of a layer; more are taken for a mistake."""

START_POPULARITY, START_LINK = 0.1, 0.5
"""Where chains start, as those of the authors' program do: of the usual prior of `layer_mass` three draws out
of five are below 1e-20."""


@dataclass(frozen=True)
class BeliefNetwork(TopicSide):
    """Topics around mixtures of more general topics, and these around mixtures of still more general ones.

    Latents, with T layers of which the first has K topics and the others W: ``eta``; with T > 1
    ``layer_mass``, ``layer_rate`` and ``link_rate``, (T - 1,) each, ``log_popularity`` (T - 1, W),
    ``log_links`` (W, K), ``log_upper_topics`` (T - 1, W, V); with T > 2 ``log_upper_links`` (T - 2, W, W).

    Parameters
    ----------
    eta : float or Gamma
        Dirichlet parameter of the topics of the last layer, a word.
    layer_mass : float or Gamma
        Sum of the expected popularity of a layer's topics, of each layer above the first: small where few of
        them are needed. Called γ0 by Zhao et al.
    layer_rate : float or Gamma
        Rate of the popularity of a layer's topics. Called c0.
    link_rate : float or Gamma
        Rate of the weights of the links to a layer. Called c.
    layers : int
        T, 1 or more.
    width : int
        W.

    References
    ----------
    .. [1] H. Zhao, L. Du, W. Buntine, M. Zhou (2018). Dirichlet belief networks for topic structure learning.
       Advances in Neural Information Processing Systems 31.
    """

    name: ClassVar[str] = "belief-network"
    about: ClassVar[str] = (
        "Dirichlet belief network: topics around mixtures of more general topics, in layers"
    )
    stan_folder: ClassVar[str] = "topics/belief_network"

    # Before tests there is much mass, and rates are almost known: of what few tokens say little, errors show.
    # Before references all shapes are of order one, or else NUTS diverges.
    eta: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=0.5, prior=Gamma(2.0, 3.0), reference=Gamma(16.0, 8.0), benchmark=0.05
    )
    layer_mass: Hyperparameter = setting(
        Gamma(0.01, 0.01), fixed=2.5, prior=Gamma(2.0, 0.1), reference=Gamma(27.0, 3.0), benchmark=2.0
    )
    layer_rate: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=1.2, prior=Gamma(10.0, 7.0), reference=Gamma(16.0, 16.0), benchmark=1.0
    )
    link_rate: Hyperparameter = setting(
        Gamma(1.0, 1.0), fixed=0.9, prior=Gamma(8.0, 5.0), reference=Gamma(18.0, 16.0), benchmark=0.1
    )
    layers: int = 3
    width: int = option(100, small=3)

    def __post_init__(self):
        self.check_whole("layers", 1, MOST_LAYERS)
        self.check_whole("width", 1, MOST_TOPICS)
        super().__post_init__()
        if self.layers == 1:  # what it has no use for is checked, too
            checked = replace(self, layers=2)
            for name in ("layer_mass", "layer_rate", "link_rate"):
                object.__setattr__(self, name, getattr(checked, name))

    @override
    def own_settings(self) -> dict[str, Setting]:
        """See `HasSettings.own_settings`; of a single layer those of the layers above say nothing."""
        found = super().own_settings()
        return found if self.layers > 1 else {"eta": found["eta"]}

    @property
    @override
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        return reference.parameters(self.layers)

    @property
    @override
    def dimensions(self) -> Mapping[str, tuple[str, ...]]:
        of_layers = (
            "layer_mass",
            "layer_rate",
            "link_rate",
            "upper_topics",
            "popularity_density",
            "link_density",
            "upper_focus",
        )
        return dict.fromkeys(of_layers, ("layer",)) | {
            "upper_fit": ("layer_between",),
            "log_popularity": ("layer", "upper_topic"),
            "log_links": ("upper_topic", "represented"),
            "log_upper_topics": ("layer", "upper_topic", "word_of_topic"),
            "log_upper_links": ("layer_between", "upper_topic", "linked_topic"),
        }

    @override
    def sizes(self, n_topics: int) -> Mapping[str, int]:
        """See `TopicSide.sizes`; none are vectors over topics, three are over layers."""
        if n_topics == 0 or self.layers == 1:
            return {}
        return dict.fromkeys(("layer_mass", "layer_rate", "link_rate"), self.layers - 1)

    @override
    def selected(self, hyper: Mapping[str, np.ndarray], topics: np.ndarray | slice) -> Latents:
        """See `TopicSide.selected`; links are of topics, too."""
        return {name: x[:, topics] if name == "log_links" else x for name, x in hyper.items()}

    @override
    def unseated(self, corpus: Corpus) -> Latents:
        """See `TopicSide.unseated`; kernels link topics that have no links yet."""
        return self._started(0, corpus)

    @override
    def started(self, z: np.ndarray, n_topics: int, corpus: Corpus) -> Latents:
        return self._started(n_topics, corpus)

    def _started(self, n_topics: int, corpus: Corpus) -> Latents:
        n, width = self.layers - 1, self.width
        if n == 0:
            return {}
        self._require_memory(n_topics, corpus.n_words)
        start = {
            "log_popularity": np.full((n, width), np.log(START_POPULARITY)),
            "log_links": np.full((width, n_topics), np.log(START_LINK)),
            "log_upper_topics": np.full((n, width, corpus.n_words), -np.log(corpus.n_words)),
        }
        if n > 1:
            start["log_upper_links"] = np.full((n - 1, width, width), np.log(START_LINK))
        return start

    def _require_memory(self, n_topics: int, n_words: int) -> None:
        n_topics += (self.layers - 1) * self.width
        require_memory(24 * n_topics * n_words, f"{n_topics:,} topics of {n_words:,} words")

    @override
    def draw_words(
        self, latents: Latents, n_topics: int, design: Design, rng: np.random.Generator
    ) -> tuple[np.ndarray, Latents]:
        """See `TopicSide.draw_words`; layers are drawn from the top down, and then the words."""
        self._require_memory(n_topics, design.n_words)
        above = network.draw(latents, self.layers, self.width, n_topics, design.n_words, rng)
        return self.redraw_words(latents | above, n_topics, design, rng), above

    @override
    def redraw_words(
        self, latents: Latents, n_topics: int, design: Design, rng: np.random.Generator
    ) -> np.ndarray:
        z, words = latents["z"], np.zeros(latents["z"].size, np.int32)
        topics = draw_dirichlet(self.psi(latents, n_topics, design.n_words), rng)
        for k in np.unique(z):
            words[z == k] = rng.choice(design.n_words, np.count_nonzero(z == k), p=topics[k])
        return words

    def psi(
        self, latents: Mapping[str, np.ndarray], n_topics: int, n_words: int, words: np.ndarray | None = None
    ) -> np.ndarray:
        """Dirichlet parameters of the topics of the first layer, of all words or some, float (K, W)."""
        if self.layers == 1:
            return np.full((n_topics, n_words if words is None else len(words)), float(latents["eta"]))
        log_topics = latents["log_upper_topics"][0]
        return network.shapes(log_topics if words is None else log_topics[:, words], latents["log_links"])

    def psi_total(self, latents: Mapping[str, np.ndarray], n_topics: int, n_words: int) -> np.ndarray:
        """Sum of `psi` over all words, float (K,)."""
        if self.layers == 1:
            return np.full(n_topics, n_words * float(latents["eta"]))
        return network.linear(latents["log_links"]).sum(axis=0)

    @override
    def log_likelihood(self, latents: Latents, corpus: Corpus) -> float:
        """``sum_k log [Γ(A_k) / Γ(A_k + n_k) · prod_w Γ(psi_kw + n_kw) / Γ(psi_kw)]``, A_k the sum of psi_k.

        And the log density of all layers above. For the measure of that density see `network.log_density`.
        """
        z, n_words = latents["z"], corpus.n_words
        if self.layers == 1:
            return log_sequences(z, corpus.words, np.full(n_words, float(latents["eta"])))
        n_topics = latents["log_links"].shape[1]
        if np.any(np.isneginf(latents["log_links"][:, z])):
            return -np.inf  # a token's topic has no links
        cells, counts = np.unique(z.astype(np.int64) * n_words + corpus.words, return_counts=True)
        known, place = np.unique(cells % n_words, return_inverse=True)
        shape = self.psi(latents, n_topics, n_words, known)[cells // n_words, place]
        total, lengths = self.psi_total(latents, n_topics, n_words), np.bincount(z, minlength=n_topics)
        filled = lengths > 0
        words = np.sum(gammaln(total[filled]) - gammaln((total + lengths)[filled]))
        words += np.sum(gammaln(shape + counts) - gammaln(shape))
        return float(words) + network.log_density(latents)

    @override
    def log_marginal(self, z: np.ndarray, corpus: Corpus, hyper: Mapping[str, np.ndarray]) -> float:
        """See `TopicSide.log_marginal`; the layers above are integrated over numerically, see `marginal`."""
        if self.layers == 1:
            return self.log_likelihood({"z": z, **hyper}, corpus)
        return marginal.log_words(z, corpus.words, corpus.n_words, self.width, hyper)

    @override
    def word_probabilities(
        self, latents: Latents, corpus: Corpus, n_topics: int, words: np.ndarray
    ) -> np.ndarray:
        counted = topic_word_counts(latents["z"], corpus.words, n_topics, words)
        total = self.word_concentration(latents, corpus, n_topics)[:n_topics, None]
        return ((counted + self.psi(latents, n_topics, corpus.n_words, words)) / total)[None]

    @override
    def word_concentration(self, latents: Latents, corpus: Corpus, n_topics: int) -> np.ndarray:
        """See `TopicSide.word_concentration`; NaN where words of a topic not in use are not Dirichlet."""
        sizes = np.bincount(latents["z"], minlength=n_topics)
        unseen = corpus.n_words * float(latents["eta"]) if self.layers == 1 else np.nan
        return np.append(sizes + self.psi_total(latents, n_topics, corpus.n_words), unseen)

    @override
    def new_word_probabilities(self, latents: Latents, corpus: Corpus, words: np.ndarray) -> np.ndarray:
        """See `TopicSide.new_word_probabilities`; of the layers above, at this draw."""
        return network.first_words(latents, corpus.n_words)[None, words]

    @property
    @override
    def counts(self) -> Callable[[State], WordCounts]:
        return dirichlet_counts

    @override
    def quantities(self, latents: Latents) -> Quantities:
        """Return what layers above the first are like, whatever the order of their topics.

        Returns
        -------
        dict
            Of each layer above the first ``upper_topics``, the effective number of its topics that tokens
            come from, the exponential of their entropy; ``popularity_density`` and ``link_density``, the log
            densities of popularity and of links, a topic and a link, which tell whether mass and rates go
            with them; ``upper_focus``, the mean of ``sum_w phi_w ** 2``; and of each but the last
            ``upper_fit``, the mean of ``sum_w phi_w psi_w`` over the sum of psi.
        """
        if self.layers == 1:
            return {}
        log_topics, n_topics = latents["log_upper_topics"], latents["log_links"].shape[1]
        shares = network.token_shares(latents, np.bincount(latents["z"], minlength=n_topics))
        densities = [network.log_densities(latents, t) for t in range(self.layers - 1)]
        logs = np.log(np.where(shares > 0.0, shares, 1.0))
        found: Quantities = {
            "upper_topics": np.exp(-np.sum(shares * logs, axis=1)),
            "popularity_density": np.array([np.mean(of_popularity) for of_popularity, _ in densities]),
            "link_density": np.array([np.sum(x) / max(x.size, 1) for _, x in densities]),
            "upper_focus": np.exp(2.0 * log_topics).sum(axis=2).mean(axis=1),
        }
        if self.layers > 2:
            fits = []
            for t in range(self.layers - 2):
                shape = network.shapes(log_topics[t + 1], network.links_below(latents, t + 1))
                fits.append(np.mean(np.sum(np.exp(log_topics[t]) * shape, axis=1) / shape.sum(axis=1)))
            found["upper_fit"] = np.array(fits)
        return found

    @override
    def block(self, corpus: Corpus, n_topics: int) -> Callable[[], tuple[Any, np.ndarray]]:
        return reference.block(corpus, n_topics, self.layers, self.width, self.hyperparameters())

    @override
    def stan_data(self, corpus: Corpus) -> dict[str, Any]:
        return reference.stan_data(self.layers, self.width)

    @override
    def word_weights(self, draw: Mapping[str, np.ndarray], corpus: Corpus) -> np.ndarray:
        return draw["phi"].T[corpus.words]

    @override
    def latents_at(
        self,
        draw: Mapping[str, np.ndarray],
        labels: np.ndarray,
        topics: np.ndarray,
        corpus: Corpus,
        rng: np.random.Generator,
    ) -> Latents:
        kept = {name: np.asarray(draw[name]) for name in self.parameters if name != "phi"}
        return self.selected(kept, topics)

    @property
    @override
    def samplers(self) -> Mapping[str, Sampler]:
        return {
            "sparse": Sampler("counts are visited where they are, and psi of the word", sparse),
            "dense": Sampler("all topics are weighed one by one", dense),
        }

    @override
    def memory_of_chain(self, corpus: Corpus, n_topics: int, variant: str | None = None) -> dict[str, int]:
        n, words = self.layers - 1, corpus.n_words
        return {
            "words of topics": 16 * words * n_topics,
            "layers above": 32 * n * words * self.width + 16 * self.width * (n_topics + n * self.width),
        }

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
        n, above = self.layers - 1, dict(latents)
        if n > 0:
            new = n_topics - above["log_links"].shape[1]
            above["log_links"] = np.pad(
                above["log_links"], ((0, 0), (0, new)), constant_values=np.log(START_LINK)
            )
        priors = {
            name: (0.0, 0.0) for name in ("layer_mass", "layer_rate", "link_rate")
        } | self.prior_arrays()
        return room(topics).belief_topics(tokens, corpus.n_words, n_topics, capacity, above, priors)

    @override
    def snapshot(self, room: Room, state: State) -> Latents:
        return room(topics).snapshot(state.topics)
