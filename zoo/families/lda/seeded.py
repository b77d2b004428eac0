"""Seeded topics: Dirichlet topics of which some words are known beforehand.

    phi_k ~ Dirichlet_V(eta + seed_tokens [w is a seed of k])

so that topics have names from the start: topic k is the one of the k-th seeds.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, override

import numpy as np
from scipy.special import gammaln

from ....kernels.lda import seeded
from ....kernels.toolbox.sides import Tokens
from ...contract import Design, Latents, Room
from ...corpus import Corpus
from ...memory import require_memory
from ...settings import option
from ...toolbox.draws import draw_dirichlet
from ...toolbox.laws import topic_word_counts
from ..topics import Dirichlet, TopicSide

MOST_TOKENS_OF_A_SEED = 1_000_000
"""More are taken for a mistake."""

type Word = str | int


@dataclass(frozen=True)
class Seeded(Dirichlet):
    """Dirichlet topics of which some words are known beforehand; for models with a fixed number of topics.

    Parameters
    ----------
    eta : float or Gamma
        Dirichlet parameter of a topic's word distribution, a word.
    seeds : sequence of sequences of str or int
        Words of the first topic, of the second, and so on, by their text or by their number in the
        vocabulary; topics after these, and those with no words, are as they are under `Dirichlet`.
    seed_tokens : int
        What a seed adds to the parameter of its word: as if it had occurred so often in its topic before the
        corpus.

    References
    ----------
    .. [1] J. Jagarlamudi, H. Daumé III, R. Udupa (2012). Incorporating lexical priors into topic models.
       EACL 2012. There seeds have topics of their own; here they are a prior.
    """

    name: ClassVar[str] = "seeded"
    about: ClassVar[str] = "Dirichlet, with words of some topics known beforehand (--seeds)"
    stan_folder: ClassVar[str] = "topics/seeded"
    moves_whole_tables: ClassVar[bool] = False

    seeds: tuple[tuple[Word, ...], ...] = option((), small=((0, 1), (1,)))
    seed_tokens: int = option(50, small=2)

    @override
    def __post_init__(self):
        super().__post_init__()
        self.check_whole("seed_tokens", 1, MOST_TOKENS_OF_A_SEED)
        object.__setattr__(self, "seeds", tuple(map(self._words_of_a_topic, _listed(self.seeds, self.label))))

    def _words_of_a_topic(self, words: Any) -> tuple[Word, ...]:
        found = _listed(words, self.label)
        for word in found:
            if not isinstance(word, str | Integral):
                raise ValueError(f"{self.label}: seeds: expected words or their numbers, found {word!r}")
        found = [word if isinstance(word, str) else int(word) for word in found]
        if len(set(found)) < len(found):
            raise ValueError(f"{self.label}: seeds: expected different words in a topic, found {words!r}")
        return tuple(found)

    def pairs(self, data: Corpus | Design, n_topics: int) -> np.ndarray:
        """Topic and word of each seed, int (S, 2).

        Raises
        ------
        ValueError
            There are more topics with seeds than topics, or a seed is no word of the corpus.
        """
        if len(self.seeds) > n_topics:
            raise ValueError(f"seeds: expected at most {n_topics} topics, found {len(self.seeds)}")
        number = data.number_of_word if isinstance(data, Corpus) else _numbers(data.vocabulary)
        pairs, unknown = [], []
        for k, words in enumerate(self.seeds):
            for word in words:
                found = number.get(word, -1) if isinstance(word, str) else word
                if 0 <= found < data.n_words:
                    pairs.append((k, found))
                else:
                    unknown.append(f"{word!r} (topic {k})")
        if unknown:
            raise ValueError(f"seeds: words that the corpus does not have: {', '.join(unknown)}")
        unique = np.unique(np.array(pairs, np.int64).reshape(-1, 2), axis=0)
        if len(unique) < len(pairs):
            raise ValueError("seeds: expected different words in a topic, found one as a text and a number")
        return unique

    def seed_counts(self, data: Corpus | Design, n_topics: int, words: np.ndarray) -> np.ndarray:
        """Count what is added to eta for some words, int (K, W)."""
        topic, word = self.pairs(data, n_topics).T
        return self.seed_tokens * topic_word_counts(topic, word, n_topics, words)

    @override
    def redraw_words(
        self, latents: Latents, n_topics: int, design: Design, rng: np.random.Generator
    ) -> np.ndarray:
        require_memory(24 * n_topics * design.n_words, f"{n_topics:,} topics of {design.n_words:,} words")
        shapes = float(latents["eta"]) + self.seed_counts(design, n_topics, np.arange(design.n_words))
        topics, z = draw_dirichlet(shapes, rng), latents["z"]
        words = np.zeros(z.size, np.int32)
        for k in np.unique(z):
            words[z == k] = rng.choice(design.n_words, np.count_nonzero(z == k), p=topics[k])
        return words

    @override
    def log_likelihood(self, latents: Latents, corpus: Corpus) -> float:
        """``sum_k log [Γ(A_k) / Γ(A_k + n_k) · prod_w Γ(a_kw + n_kw) / Γ(a_kw)]``, A_k the sum of a_k."""
        z, eta = latents["z"], float(latents["eta"])
        n_topics = max(int(z.max(initial=-1)) + 1, len(self.seeds))
        cells, counts = np.unique(z.astype(np.int64) * corpus.n_words + corpus.words, return_counts=True)
        topic, word = self.pairs(corpus, n_topics).T
        shape = eta + self.seed_tokens * np.isin(cells, topic * corpus.n_words + word)
        total = corpus.n_words * eta + self.seed_tokens * np.bincount(topic, minlength=n_topics)
        lengths = np.bincount(z, minlength=n_topics)
        return float(
            np.sum(gammaln(total) - gammaln(total + lengths))
            + np.sum(gammaln(shape + counts) - gammaln(shape))
        )

    @override
    def word_concentration(self, latents: Latents, corpus: Corpus, n_topics: int) -> np.ndarray:
        topic = self.pairs(corpus, n_topics)[:, 0]
        of_seeds = self.seed_tokens * np.bincount(topic, minlength=n_topics + 1)
        return super().word_concentration(latents, corpus, n_topics) + of_seeds

    @override
    def word_probabilities(
        self, latents: Latents, corpus: Corpus, n_topics: int, words: np.ndarray
    ) -> np.ndarray:
        counted = topic_word_counts(latents["z"], corpus.words, n_topics, words)
        shapes = float(latents["eta"]) + self.seed_counts(corpus, n_topics, words)
        total = self.word_concentration(latents, corpus, n_topics)[:n_topics, None]
        return ((counted + shapes) / total)[None]

    @property
    @override
    def counts(self) -> None:
        """None: the sampler counts the seeds with the corpus."""
        return None

    measured_words = TopicSide.measured_words  # that of `Dirichlet` knows the counts of the corpus alone

    @override
    def block(self, corpus: Corpus, n_topics: int) -> Callable[[], tuple[Any, np.ndarray]]:
        """See `TopicSide.block`; sites ``phi`` (K, V) and ``eta``."""
        group = np.zeros(corpus.n_documents, np.int64)
        of_seeds = self.seed_counts(corpus, n_topics, np.arange(corpus.n_words))

        def program() -> tuple[Any, np.ndarray]:
            import jax.numpy as jnp

            from ...toolbox import blocks

            log_shape = jnp.log(blocks.hyperparameter("eta", self.eta) + of_seeds)
            return blocks.log_dirichlet("phi", log_shape, of_seeds.shape)[None], group

        return program

    @override
    def stan_data(self, corpus: Corpus) -> dict[str, Any]:
        topic, word = self.pairs(corpus, len(self.seeds)).T
        return {
            "n_seeds": topic.size,
            "seed_topic": topic + 1,
            "seed_word": word + 1,
            "seed_tokens": self.seed_tokens,
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
        return room(seeded).seeded_topics(
            tokens,
            corpus.n_words,
            n_topics,
            capacity,
            self.pairs(corpus, n_topics),
            self.seed_tokens,
            float(latents["eta"]),
            self.prior_arrays()["eta"],
        )


def _numbers(vocabulary: np.ndarray | None) -> dict[str, int]:
    return {} if vocabulary is None else {str(word): i for i, word in enumerate(vocabulary)}


def _listed(value: Any, label: str) -> list[Any]:
    """Return `value` as a list, unless it is a text or no sequence at all."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise ValueError(
            f"{label}: seeds: expected a list of words for each of the first topics, found {value!r}"
        )
    return list(value)
