"""The sweep of Poisson models in parts: bits on any number of threads, and lists of words."""

from itertools import pairwise

import numpy as np
import pytest
from bnpzoo import Corpus
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.kernels.belief_network import parts as belief_parts
from bnpzoo.kernels.poisson import parallel
from bnpzoo.kernels.toolbox import parts
from bnpzoo.kernels.toolbox.dirichlet import dirichlet_topics
from bnpzoo.kernels.toolbox.sides import check_side, tokens_of
from bnpzoo.zoo.models import get
from chains import end_of
from samplers import of_sampler

NETWORK = {"topics": "belief-network", "width": 3}
MODELS = {
    "pfa": ("pfa", {}),
    "bgg": ("bgg", {}),
    "metalda": ("metalda", {"labels": "group"}),
    "gbn": ("gbn", {}),
    "gbn of three layers": ("gbn", {"n_layers": 3}),
    "pfa under one layer": ("pfa", {**NETWORK, "layers": 1}),
    "pfa under three": ("pfa", {**NETWORK, "layers": 3}),
    "bgg under two": ("bgg", {**NETWORK, "layers": 2}),
    "metalda under two": ("metalda", {**NETWORK, "layers": 2}),
    "gbn under two": ("gbn", {**NETWORK, "layers": 2}),
}
EVERY_RUN = ("pfa", "gbn", "pfa under three")


def model_and_corpus(name, n_documents):
    model_id, options = MODELS[name]
    rng = np.random.default_rng(0)
    words, group = rng.integers(50, size=9 * n_documents), rng.integers(3, size=n_documents)
    doc_ptr = np.arange(0, words.size + 1, 9)
    covariates = {"group": group}
    corpus = Corpus(
        words, doc_ptr, n_words=50, covariates=covariates, covariate_names={"group": ["a", "b", "c"]}
    )
    return get(model_id, n_topics=5, **options), corpus


@pytest.mark.parametrize("name", [of_sampler(name in EVERY_RUN, name) for name in MODELS])
@pytest.mark.slow
def test_threads_do_not_change_a_bit(monkeypatch, name):
    monkeypatch.setattr(parts, "TOKENS_OF_PART", 100)
    model, corpus = model_and_corpus(name, 100)
    kernel, ends = model.kernel("parallel"), []
    for n_threads in (1, 2, 3, 4):
        monkeypatch.setenv("BNPZOO_THREADS", str(n_threads))
        ends.append(end_of(model, corpus, kernel, 3))
    for end in ends[1:]:
        for latent, value in ends[0].items():
            np.testing.assert_array_equal(end[latent], value, err_msg=latent)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "name", [name if name in EVERY_RUN else pytest.param(name, marks=pytest.mark.heavy) for name in MODELS]
)
def test_compiled_parts_draw_what_plain_ones_draw(name):
    model, corpus = model_and_corpus(name, 30)
    rooms = load_room(), load_room(PLAIN_PYTHON)
    compiled, plain = (end_of(model, corpus, model.kernels_in(room)["parallel"], 3) for room in rooms)
    for latent, value in compiled.items():
        np.testing.assert_allclose(plain[latent], value, rtol=1e-9, err_msg=latent)


@pytest.mark.parametrize("n_parts", [1, 2, 5, 40])
def test_lists_of_words_are_those_of_the_tokens(n_parts):
    rng = np.random.default_rng(2)
    words, topic = rng.integers(30, size=400), rng.integers(6, size=400)
    words[words == 7] = 8  # a word that nobody uses
    tokens = tokens_of(words, np.arange(0, 401, 10), np.zeros(40), topic)
    topics = dirichlet_topics(tokens, 30, 6, 6, 0.5)
    tokens.topic[:] = rng.integers(6, size=400)
    parallel.gather_topics(tokens, topics)
    bounds = np.linspace(0, 30, n_parts + 1).astype(int)
    for first, end in pairwise(bounds):
        parallel.list_words(topics, first, end)
    check_side(topics, tokens, 6)


@pytest.mark.parametrize("changes", [(), (PLAIN_PYTHON,)])
def test_belief_networks_move_in_parts(changes):
    room = load_room(*changes)
    model, corpus = model_and_corpus("pfa under three", 3)
    kernel = model.kernels_in(room)["parallel"]
    state = kernel.load(model.initial_latents(corpus, np.random.default_rng(0)), corpus, model)
    move = room(parts).move_topics_in_parts.dispatch(type(state.topics))
    assert move is room(belief_parts).move_layers_in_parts
