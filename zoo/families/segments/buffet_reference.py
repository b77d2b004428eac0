"""References of a buffet a document: which dishes are on in each sentence enumerated, tokens summed out."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ...contract import Hyperparameter, Latents
from ...corpus import Corpus
from ...toolbox.draws import draw_categorical
from ...toolbox.laws import by_first_appearance
from ..buffet.reference import check_truncation, masked_proportions
from .buffet import draw_tables
from .order import Seating
from .truncated import word_counts
from .urns import documents

PARAMETERS = ("strength", "log_g", "dishes", "phi", "mask", "alpha", "gamma", "kappa", "eta")
"""What `latents_at` needs of a draw; both programs use these names."""


def program(
    corpus: Corpus, seats: Seating, n_dishes: int, n_topics: int, hyper: Mapping[str, Hyperparameter]
) -> Callable[[], None]:
    """NumPyro program with the largest sticks of each document's buffet, `n_dishes` of them.

    Its sites are ``strength`` (D, L), ``log_g`` (S, L), ``dishes`` (D L, K), ``phi`` (K, V), ``mask``
    (S, 2^L), the posterior of the dishes that are on in a sentence, and the hyperparameters.
    """
    check_truncation("icd", n_dishes)
    counts, document = word_counts(corpus, seats)
    n_documents = corpus.n_documents
    first = np.searchsorted(document, np.arange(n_documents + 1))

    def numpyro_program() -> None:
        import jax
        import jax.numpy as jnp
        import numpyro
        from jax.scipy.special import logsumexp

        from ...toolbox import blocks
        from ..buffet import blocks as ibp

        masks = ibp.all_masks(n_dishes)
        log_at = {name: blocks.log_hyperparameter(name, value) for name, value in hyper.items()}
        of_document = ibp.BuffetSticks(jnp.exp(log_at["alpha"]), n_dishes).expand([n_documents]).to_event(1)
        log_sticks: Any = numpyro.sample("log_sticks", of_document)
        log_strength = blocks.log_gamma("strength", log_at["gamma"], (n_documents, n_dishes))
        log_g = blocks.log_gamma("g", log_strength[document], (len(counts), n_dishes))
        log_dishes = blocks.log_dirichlet("dishes", log_at["kappa"], (n_documents * n_dishes, n_topics))
        log_phi = blocks.log_dirichlet("phi", log_at["eta"], (n_topics, corpus.n_words))
        log_words = logsumexp(log_dishes[:, :, None] + log_phi, axis=1)
        log_words = log_words.reshape(n_documents, n_dishes, corpus.n_words)
        numpyro.deterministic("strength", jnp.exp(log_strength))
        numpyro.deterministic("log_g", log_g)
        rows = []
        for d, (start, end) in enumerate(pairwise(first)):
            by_words = ibp.log_words(counts[start:end], log_g[start:end], log_words[d], masks)
            mass = jnp.asarray(masks) @ jnp.exp(log_strength[d])
            log_prior = ibp.log_mask_prior(log_sticks[d], 1.0, masks)
            for s in range(start, end):
                length = counts[s].sum(keepdims=True)
                rows.append(
                    log_prior + ibp.log_lengths(masks, mass, length, "document") + by_words[s - start]
                )
        log_p = jnp.array(rows).reshape(len(counts), len(masks))
        numpyro.deterministic("mask", jax.nn.softmax(log_p, axis=1))
        numpyro.factor("words", jnp.sum(logsumexp(log_p, axis=1)))

    return numpyro_program


def stan_data(corpus: Corpus, seats: Seating, n_dishes: int, n_topics: int) -> dict[str, Any]:
    """Return the data of ``stan/icd.stan`` but those of the hyperparameters; see `program`."""
    check_truncation("icd", n_dishes)
    counts, document = word_counts(corpus, seats)
    sizes = {"D": corpus.n_documents, "S": len(counts), "V": corpus.n_words, "L": n_dishes, "K": n_topics}
    return sizes | {"counts": counts, "document": document + 1}


def latents_at(
    draw: Mapping[str, np.ndarray], corpus: Corpus, seats: Seating, rng: np.random.Generator
) -> Latents:
    """Draw dishes, tables and topics of tokens given the parameters at one draw."""
    strength, phi = draw["strength"], draw["phi"]
    n_dishes, n_topics = strength.shape[1], len(phi)
    dishes = draw["dishes"].reshape(corpus.n_documents, n_dishes, n_topics)
    n_sentences = len(draw["log_g"])
    _, g = masked_proportions(draw["mask"], draw["log_g"], np.arange(n_sentences), rng)
    weights = g[seats.sentence][:, :, None] * dishes[seats.document] * phi.T[corpus.words][:, None]
    both = draw_categorical(weights.reshape(corpus.n_tokens, -1), rng)
    dish, table = both // n_topics, np.zeros(corpus.n_tokens, np.int64)
    for own in documents(seats):
        d = seats.document[own.start]
        for s in np.unique(seats.sentence[own]):
            here = seats.sentence == s
            table[here] = draw_tables(dish[here], strength[d], rng)
        dish[own], _ = by_first_appearance(dish[own])
    hyper = {name: np.asarray(draw[name]) for name in ("alpha", "gamma", "kappa", "eta")}
    return {"z": both % n_topics, "dish": dish, "table": table} | hyper
