"""The token passes: exact conditionals, an exact mass, consistent counts, growth, one stream of numbers."""

import numpy as np
import pytest
from bnpzoo.kernels.hdp.documents import StickDocuments, stick_documents
from bnpzoo.kernels.lda.documents import finite_documents
from bnpzoo.kernels.toolbox import dirichlet, token_pass
from bnpzoo.kernels.toolbox.dirichlet import dirichlet_topics
from bnpzoo.kernels.toolbox.sides import check_side, scratch, tokens_of
from bnpzoo.kernels.toolbox.sweeps import make_state, with_room

N_WORDS = 5
ETA = 0.4
N_GRID = 500  # a topic owns at most two intervals of the uniform, so a grid is off by at most 2 / N_GRID
TOLERANCE = 2 / N_GRID + 1e-9

COMPILED = {"dense_pass": token_pass.dense_pass, "sparse_pass": token_pass.sparse_pass}
CASES = {
    "finite": {"n_topics": 4},
    "not_seated_yet": {"n_topics": 4, "unseated": 1.0},
    "partly_seated": {"n_topics": 3, "unseated": 0.4, "rest": 0.7},
    "new_topics": {"n_topics": 3, "rest": 2.0},
    "no_topic_yet": {"n_topics": 0, "unseated": 1.0, "rest": 1.0},
    "groups": {"n_topics": 4, "n_groups": 3, "rest": 0.5},
}


def small_state(
    seed=0, n_topics=4, n_groups=1, rest=0.0, unseated=0.0, lengths=(7, 0, 12, 5, 9), capacity=64
):
    """Arguments of a pass after the generator.

    Words repeat within documents and the prior weights span e^4, so that lists hold counts above one, entries
    come and go, and both parts of the weights matter.
    """
    rng = np.random.default_rng(seed)
    doc_ptr = np.concatenate([[0], np.cumsum(lengths)])
    words = rng.integers(N_WORDS, size=doc_ptr[-1])
    topic = rng.integers(max(n_topics, 1), size=words.size)
    topic[rng.random(words.size) < unseated] = -1
    prior = np.zeros((n_groups, capacity))
    prior[:, :n_topics] = np.exp(rng.uniform(-3, 1, (n_groups, n_topics)))
    tokens = tokens_of(words, doc_ptr, np.sort(rng.integers(n_groups, size=len(lengths))), topic)
    finite = finite_documents(prior > 0, np.ones(n_groups))._replace(prior=prior)
    documents = sticks(prior, rest) if rest > 0.0 else finite
    return tokens, documents, dirichlet_topics(tokens, N_WORDS, n_topics, capacity, ETA), scratch(capacity)


def sticks(prior, rest):
    n_groups, capacity = prior.shape
    return StickDocuments(
        prior=prior,
        rest=np.full(n_groups, rest),
        root=np.full(capacity, 0.1),
        root_rest=np.array([0.3]),
        alpha=np.ones(n_groups),
        alpha0=np.ones(1),
        gamma=np.ones(1),
        n_levels=np.array([3]),
        alpha_prior=np.zeros(2),
        alpha0_prior=np.zeros(2),
        gamma_prior=np.zeros(2),
    )


def conditional(tokens, documents, n_topics, i, own_count=0):
    """Probabilities of the topics of token `i` given all others, recounted; last, that of a new topic."""
    d = np.searchsorted(tokens.doc_ptr, i, side="right") - 1
    g = tokens.group[d]
    weight = np.where(tokens.topic >= 0, 1.0, 0.0)
    weight[i] *= own_count
    in_document = np.zeros(weight.size)
    in_document[tokens.doc_ptr[d] : tokens.doc_ptr[d + 1]] = 1.0

    def count(which):
        return np.bincount(np.maximum(tokens.topic, 0), weight * which, minlength=n_topics)[:n_topics]

    weights = (documents.prior[g, :n_topics] + count(in_document)) * (
        count(tokens.words == tokens.words[i]) + ETA
    )
    weights /= count(1.0) + N_WORDS * ETA
    weights = np.append(weights, documents.rest[g] / N_WORDS)
    return weights / weights.sum()


class Chosen(Exception):
    """Raised when the token of interest has its topic."""


class Script:
    """Generator whose draw for token `i` is `u`. Draws before it are ordinary, the next one ends the pass."""

    def __init__(self, i, u, state):
        self.i, self.u, self.state = i, u, state
        self.ordinary = np.random.default_rng(0)
        self.n_drawn = 0

    def random(self):
        self.n_drawn += 1
        if self.n_drawn <= self.i:
            return self.ordinary.random()
        if self.n_drawn > self.i + 1:
            raise Chosen
        tokens, documents, topics, _ = self.state
        n_topics = int(topics.n_topics[0])
        self.exact = conditional(tokens, documents, n_topics, self.i)
        self.with_own_count = conditional(tokens, documents, n_topics, self.i, own_count=1)
        return self.u


@pytest.fixture
def plain(monkeypatch):
    """Run the passes as plain Python, which takes any object as the generator."""
    for module in (token_pass, dirichlet):
        for name, function in vars(module).copy().items():
            if hasattr(function, "py_func"):
                monkeypatch.setattr(module, name, function.py_func)
    open_topic = dirichlet.open_topic

    def open_before_chosen(rng, documents, topic, group):
        if isinstance(rng, Script) and rng.n_drawn > rng.i:
            rng.state[0].topic[rng.i] = topic
            raise Chosen
        open_topic(getattr(rng, "ordinary", rng), documents, topic, group)

    monkeypatch.setattr(dirichlet, "open_topic", open_before_chosen)


def implied(run, i, case):
    """Probabilities of token i's topics by a grid of uniforms, and the last script of that grid."""
    chosen = np.empty(N_GRID, int)
    for j in range(N_GRID):
        state = small_state(**case)
        script = Script(i, (j + 0.5) / N_GRID, state)
        with pytest.raises(Chosen):
            run(script, *state)
        chosen[j] = state[0].topic[i]
    return np.bincount(chosen, minlength=script.exact.size) / N_GRID, script


@pytest.mark.parametrize("pass_name", COMPILED.keys())
@pytest.mark.parametrize("i", [0, 4, 16])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_conditional_is_exact(plain, pass_name, i, case):
    frequencies, script = implied(getattr(token_pass, pass_name), i, case)
    np.testing.assert_allclose(frequencies, script.exact, atol=TOLERANCE, rtol=0)


def test_conditional_with_own_count_is_noticed(plain):
    frequencies, script = implied(token_pass.sparse_pass, 4, CASES["finite"])
    assert np.abs(frequencies - script.with_own_count).max() > 10 * TOLERANCE


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_mass_equals_recount(case):
    """Over one block, thirty times as long as the pass would let it grow, so that errors add up."""
    tokens, documents, topics, memory = small_state(**case | {"n_groups": 1, "lengths": (9, 0, 4, 50) * 30})
    rng = np.random.default_rng(1)
    mass = token_pass.sparse_block(rng, tokens, documents, topics, memory, 0, tokens.group.size)
    k = int(topics.n_topics[0])
    coefficient = documents.prior[0, :k] / (topics.total[:k] + N_WORDS * ETA)
    np.testing.assert_array_equal(memory.coefficient[:k], coefficient)
    np.testing.assert_allclose(mass, coefficient.sum(), rtol=1e-12)
    assert not memory.doc_count.any()
    assert not memory.is_doc_topic.any()


@pytest.mark.parametrize("run", COMPILED.values(), ids=COMPILED.keys())
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_counts_stay_consistent(run, case):
    for seed in range(10):
        state = small_state(seed=seed, capacity=200, **case)
        rng = np.random.default_rng(seed)
        for _ in range(3):
            assert run(rng, *state)
            check_side(state[2], state[0], int(state[2].n_topics[0]))


def test_a_mass_is_no_rounding_error_where_weights_are_far_apart():
    """With a tiny eta a topic without tokens weighs nearly all, and with its first nearly nothing."""
    for seed in range(40):
        tokens, documents, topics, memory = small_state(seed, 10, unseated=1.0)
        rng = np.random.default_rng(seed)
        documents.prior[:, :10] = 10.0 ** rng.uniform(-280, -90, (1, 10))
        topics.eta[0] = 1e-140
        mass = token_pass.sparse_block(rng, tokens, documents, topics, memory, 0, tokens.group.size)
        check_side(topics, tokens, 10)
        np.testing.assert_allclose(mass, memory.coefficient[:10].sum(), rtol=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("pass_name", COMPILED.keys())
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_plain_python_draws_the_same(request, pass_name, case):
    states = small_state(capacity=200, **case), small_state(capacity=200, **case)
    generators = np.random.default_rng(3), np.random.default_rng(3)
    for fixtures, rng, state in zip(((), ("plain",)), generators, states, strict=True):
        for fixture in fixtures:  # not before the pass is compiled, of which it replaces parts
            request.getfixturevalue(fixture)
        run = getattr(token_pass, pass_name)
        assert run(rng, *state)
        assert run(rng, *state)
    for side in (0, 2):
        for field, ours, theirs in zip(
            states[0][side]._fields, states[0][side], states[1][side], strict=True
        ):
            np.testing.assert_array_equal(ours, theirs, err_msg=field)
    # NumPy's exp, with which plain Python breaks the sticks, is not libm's to the last bit.
    np.testing.assert_allclose(states[0][1].prior, states[1][1].prior, rtol=1e-15)
    assert generators[0].bit_generator.state == generators[1].bit_generator.state


def growing_state(roomy):
    """An HDP with large concentrations, none of its tokens seated; `roomy`: with room for all topics."""
    rng = np.random.default_rng(5)
    doc_ptr = np.arange(0, 601, 20)
    hyper = {"alpha": [20.0], "alpha0": 1.0, "gamma": 50.0}
    priors = dict.fromkeys(hyper, (0.0, 0.0))
    tokens = tokens_of(rng.integers(N_WORDS, size=600), doc_ptr, np.zeros(30), np.full(600, -1))
    documents = stick_documents(np.ones(1), np.ones((1, 1)), hyper, priors, 2)
    topics = dirichlet_topics(tokens, N_WORDS, 0, documents.prior.shape[1], ETA)
    state = make_state(tokens, documents, topics)
    return with_room(with_room(with_room(with_room(state)))) if roomy else state


@pytest.mark.parametrize("run", COMPILED.values(), ids=COMPILED.keys())
def test_growth_does_not_change_the_draws(run):
    def passes(state, n_passes=4):
        rng = np.random.default_rng(6)
        stops = []
        for _ in range(n_passes):
            while not run(rng, state.tokens, state.documents, state.topics, state.scratch):
                stops.append(int(state.scratch.next_document[0]))
                state = with_room(state)
        return state, stops

    grown, stops = passes(growing_state(roomy=False))
    roomy, no_stops = passes(growing_state(roomy=True))
    assert any(d > 0 for d in stops)
    assert not no_stops
    check_side(grown.topics, grown.tokens, int(grown.topics.n_topics[0]))
    k = int(grown.topics.n_topics[0])
    assert k == roomy.topics.n_topics[0] > 64
    np.testing.assert_array_equal(grown.tokens.topic, roomy.tokens.topic)
    np.testing.assert_array_equal(grown.documents.prior[:, :k], roomy.documents.prior[:, :k])
    np.testing.assert_array_equal(grown.documents.rest, roomy.documents.rest)


def test_blocks_are_of_one_group_and_cover_all_documents():
    tokens, _, topics, _ = small_state(n_groups=3, lengths=(3, 0, 8, 2, 2, 0, 9, 1, 4, 0))
    d, most_documents = 0, 0
    while d < tokens.group.size:
        end = token_pass.block_end(tokens, topics, d, 5)
        assert end > d
        assert np.unique(tokens.group[d:end]).size == 1
        assert tokens.doc_ptr[end - 1] - tokens.doc_ptr[d] < 5
        most_documents = max(most_documents, end - d)
        d = end
    assert most_documents > 1
