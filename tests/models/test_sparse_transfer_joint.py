"""Conditionals of the sparse transfer samplers against ratios of the joint, and mutants that must fail."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.joint import Conditional, joint_ratio_test
from bnpzoo.diagnostics.laboratory.ladder import Case, rungs_of
from bnpzoo.diagnostics.laboratory.mutants.registry import mutants_of
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.kernels.buffet import masks, state, tokens, weights
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.families.buffet.ibp import log_reach
from bnpzoo.zoo.families.buffet.lengths import LENGTHS
from bnpzoo.zoo.models import get
from scipy.stats import gamma, kstest

DESIGN = Design(np.array([3, 4, 0, 5, 2]), 3, group=np.array([0, 0, 1, 1, 2]))
WEIGHT, SHAPE = 0.7, 1.3
"""Values at which what a move draws afresh is compared."""


def log_gamma(x, shape, rate=1.0):
    return float(gamma.logpdf(x, shape, scale=1.0 / rate))


class Desk:
    """A sampler, in plain Python, at a random state."""

    def __init__(self, room, lengths, seed):
        self.rng = np.random.default_rng(seed)
        self.model = get("sparse_transfer", epsilon=0.6, a2=1.0, lengths=lengths)
        self.latents, self.corpus = self.model.simulate(DESIGN, self.rng)
        kernel = self.model.kernels_in(room)["masks"]
        self.state = kernel.load(self.latents, self.corpus, self.model)
        self.parts = {
            "state": room(state), "tokens": room(tokens), "masks": room(masks), "weights": room(weights),
        }  # fmt: skip
        self.n_topics = self.latents["shape"].size
        self.parts["tokens"].look_at_topics(self.state.topics, self.state.scratch.unseen)

    def at(self, z=None, log_weight=None, shape=None):
        """Latents with some of them replaced, without topics that no task has."""
        z = self.latents["z"] if z is None else z
        log_weight = self.latents["log_weight"] if log_weight is None else log_weight
        shape = self.latents["shape"] if shape is None else shape
        kept = np.flatnonzero((log_weight > -np.inf).any(axis=0))
        rank = np.full(shape.size, -1)
        rank[kept] = np.arange(kept.size)
        return self.latents | {"z": rank[z], "log_weight": log_weight[:, kept], "shape": shape[kept]}

    def changed(self, name, index, value):
        values = self.latents[name].copy()
        values[index] = value
        return values

    def with_new_column(self, log_weight):
        """Weights and shapes with one more topic, off everywhere."""
        column = np.full((len(log_weight), 1), -np.inf)
        return np.hstack([log_weight, column]), np.append(self.latents["shape"], SHAPE)

    def token(self):
        """Take a random token out of the state; returns it, its document and task, word and topic."""
        i = int(self.rng.integers(self.corpus.n_tokens))
        d = int(self.corpus.doc_of[i])
        tokens = self.parts["tokens"]
        tokens.count_document(self.state, d, 1)
        c = int(self.corpus.group[d])
        scratch, count = self.state.scratch, self.state.masks.count
        counts = (self.state.tokens, self.state.topics, scratch.unseen, count, scratch.doc_count, c, i)
        old = tokens.take_out(*counts)
        return i, c, int(self.corpus.words[i]), int(old)


def token_given_masks(desk):
    i, c, w, _ = desk.token()
    state = desk.state
    unseen, doc_count, scores = state.scratch.unseen, state.scratch.doc_count, state.scratch.scores
    weight = state.masks.weight
    desk.parts["tokens"].given_masks(desk.rng, state.topics, unseen, weight, doc_count, scores, c, w)
    topics = range(desk.n_topics)
    with np.errstate(divide="ignore"):
        weights = np.log(desk.state.scratch.scores[: desk.n_topics])
    yield Conditional("token given masks", [desk.at(z=desk.changed("z", i, k)) for k in topics], weights)


def token_with_mask(desk):
    i, c, w, old = desk.token()
    state, states = desk.state, desk.parts["state"]
    log_weight = desk.latents["log_weight"].copy()
    if state.masks.count[c, old] == 0:
        log_weight[c, old] = -np.inf
        states.set_off(state.masks, c, old)
    desk.parts["tokens"].look_at_task(state, c)
    desk.parts["tokens"].weigh_all(state.topics, state.masks, state.scratch, state.prior.alpha[0], c, w)
    mass, rate = state.scratch.mass[c], state.scratch.rate[c]
    scores, n_topics = state.scratch.scores, desk.n_topics
    log_weight, shape = desk.with_new_column(log_weight)
    candidates, weights = [], []
    for k in range(n_topics + 1):
        if scores[k] == 0.0:
            continue
        moved = log_weight.copy()
        claim = np.log(scores[k])
        if log_weight[c, k] > -np.inf:
            claim += states.log_h(state.lengths, c, mass)
        else:
            moved[c, k] = np.log(WEIGHT)
            claim += log_gamma(WEIGHT, shape[k] + 1.0, 1.0 + rate) + rate * WEIGHT
            claim += states.log_h(state.lengths, c, mass + WEIGHT)
        if k == n_topics:
            claim += log_gamma(SHAPE, desk.model.a1 + 1.0, 1.0 / desk.model.a2 + np.log1p(rate))
        candidates.append(desk.at(desk.changed("z", i, k), moved, shape))
        weights.append(claim)
    yield Conditional("token with mask", candidates, np.array(weights))


def masks_of_empty_topics(desk):
    state, states = desk.state, desk.parts["state"]
    for c, k in zip(*np.nonzero(state.masks.count[:, : desk.n_topics] == 0), strict=True):
        others = int(state.masks.n_on[k]) - int(states.is_on(state.masks, c, k))
        if others > 0:
            rest = states.mass_without(state.masks, c, k, desk.n_topics)
            rate = states.tilt(state.lengths, c, rest)
            shape = desk.latents["shape"][k]
            odds = desk.parts["masks"].log_mask_odds(state.lengths, c, rest, rate, shape, WEIGHT)
            odds += state.prior.log_join[others] + log_gamma(WEIGHT, shape, 1.0 + rate)
            candidates = [
                desk.at(log_weight=desk.changed("log_weight", (c, k), x)) for x in (-np.inf, np.log(WEIGHT))
            ]
            yield Conditional(f"mask of {k} in {c}", candidates, np.array([0.0, odds]))


def slices(desk, monkeypatch):
    weights = desk.parts["weights"]
    targets = []
    monkeypatch.setattr(weights, "slice_sample", lambda rng, target, x, width: targets.append(target) or x)
    weights.update_weights(desk.rng, desk.state)
    weights.update_shapes(desk.rng, desk.state)
    on = [(c, k) for c, k in np.ndindex(desk.latents["log_weight"].shape) if desk.state.masks.weight[c, k]]
    grid = np.array([-1.5, 0.0, 0.8])
    for (c, k), target in zip(on, targets, strict=False):
        claims = [weights._log_density_of_weight(target, x) - x for x in grid]
        candidates = [desk.at(log_weight=desk.changed("log_weight", (c, k), x)) for x in grid]
        yield Conditional(f"weight of {k} in {c}", candidates, np.array(claims))
    for k, target in enumerate(targets[len(on) :]):
        claims = [weights._log_density_of_shape(target, x) - x for x in grid]
        candidates = [desk.at(shape=desk.changed("shape", k, np.exp(x))) for x in grid]
        yield Conditional(f"shape of {k}", candidates, np.array(claims))


def blocks(desk):
    state, weights, states = desk.state, desk.parts["weights"], desk.parts["state"]
    on = np.argwhere(desk.latents["log_weight"] > -np.inf)
    c, old = on[desk.rng.integers(len(on))]
    x, size = desk.latents["log_weight"][c, old], int(state.masks.count[c, old])
    words = weights.lift_block(state, c, old)
    state.masks.count[c, old] = 0
    states.set_off(state.masks, c, old)
    weights.weigh_destinations(state, c, words, float(size), x, SHAPE)
    log_weight, shape = desk.with_new_column(desk.changed("log_weight", (c, old), -np.inf))
    in_block = (desk.corpus.group[desk.corpus.doc_of] == c) & (desk.latents["z"] == old)
    candidates, claims = [], []
    for k in range(desk.n_topics + 1):
        score = state.scratch.scores[k]
        if score > -np.inf:
            moved = log_weight.copy()
            moved[c, k] = x
            candidates.append(desk.at(np.where(in_block, k, desk.latents["z"]), moved, shape))
            prior = log_gamma(SHAPE, desk.model.a1, 1.0 / desk.model.a2) if k == desk.n_topics else 0.0
            claims.append(score + prior)
    yield Conditional("block", candidates, np.array(claims))


def ghosts(desk):
    masks, state, model = desk.parts["masks"], desk.state, desk.model
    k = masks.draw_ghost(desk.rng, state)
    assert k == desk.n_topics
    column = state.masks.log_weight[:, k]
    shape = float(state.masks.shape[k])
    on = column[column > -np.inf]
    claim = masks.log_ghost_ratio(state, k) + np.log(float(desk.latents["alpha"]))
    claim += log_reach(len(column), model.epsilon)[on.size] + log_gamma(shape, model.a1, 1.0 / model.a2)
    claim += sum(log_gamma(np.exp(x), shape) for x in on)
    log_weight = np.column_stack([desk.latents["log_weight"], column])
    candidates = [desk.at(), desk.at(log_weight=log_weight, shape=np.append(desk.latents["shape"], shape))]
    yield Conditional("ghost", candidates, np.array([0.0, claim]))


def judge(room, monkeypatch, lengths):
    """Verdicts on all conditionals at some random states, each with a corpus of its own."""
    verdicts = []
    for seed in range(6):
        for move in (token_given_masks, token_with_mask, masks_of_empty_topics, blocks, ghosts, slices):
            desk = Desk(room, lengths, seed)
            found = move(desk, monkeypatch) if move is slices else move(desk)
            for one in found:
                log_joint = lambda latents, desk=desk: desk.model.log_joint(latents, desk.corpus)  # noqa: E731
                verdicts.append(joint_ratio_test(f"{one.name}, state {seed}", log_joint, [one]))
    return verdicts


@pytest.mark.parametrize("lengths", LENGTHS)
def test_conditionals_are_ratios_of_the_joint(lengths, monkeypatch):
    verdicts = judge(load_room(PLAIN_PYTHON), monkeypatch, lengths)
    assert len(verdicts) > 60
    assert [v for v in verdicts if not v.passed] == []


def p_value_of_fresh_weights(room):
    """Whether weights and shapes that come with a token have their law, by Kolmogorov and Smirnov.

    From each of some states an unseated token is drawn again and again. With lengths of documents, h is an
    exponential, and a topic that the token turns on has a weight from Gamma(shape + 1, 1 + rate); a new one
    has a shape from Gamma(a1 + 1, 1 / a2 + log(1 + rate)).
    """
    uniform = []
    for seed in range(6):
        desk = Desk(room, "document", seed)
        state, tokens = desk.state, desk.parts["tokens"]
        rate = state.lengths.rate[0]
        for _ in range(500):
            k = tokens.with_mask(desk.rng, state, 0, 0, -1)
            if state.masks.count[0, k] == 0:
                shape, weight = state.masks.shape[k], state.masks.weight[0, k]
                uniform.append(gamma.cdf(weight, shape + 1.0, scale=1.0 / (1.0 + rate)))
                if k == desk.n_topics:
                    scale = 1.0 / (1.0 / desk.model.a2 + np.log1p(rate))
                    uniform.append(gamma.cdf(shape, desk.model.a1 + 1.0, scale=scale))
                desk.parts["state"].set_off(state.masks, 0, k)
                state.topics.n_topics[0] = desk.n_topics
    assert len(uniform) > 500
    return kstest(uniform, "uniform").pvalue


def test_a_token_pulls_the_weight_that_it_brings():
    change = next(
        m.change for m in mutants_of(get("sparse_transfer")) if m.id == "transfer-token-does-not-pull"
    )
    assert p_value_of_fresh_weights(load_room(PLAIN_PYTHON)) > 1e-5
    assert p_value_of_fresh_weights(load_room(change, PLAIN_PYTHON)) < 1e-5


MUTANTS = mutants_of(get("sparse_transfer"))
SEEN_IN_RATIOS = (
    "new-topic-for-anyone",
    "lengths-ignored-by-masks",
    "lengths-as-one-document",
    "shape-normaliser-off-by-one",
    "weights-without-lengths",
    "block-without-weight",
)


@pytest.mark.parametrize("mutant", [f"transfer-{name}" for name in SEEN_IN_RATIOS])
def test_wrong_conditionals_are_seen(mutant, monkeypatch):
    (found,) = (m for m in MUTANTS if m.id == mutant)
    verdicts = judge(load_room(found.change, PLAIN_PYTHON), monkeypatch, "task")
    assert any(v.status == "rejected" for v in verdicts)


SEEN_OTHERWISE = (
    "births-without-prior-mass",
    "represented-topics-first",
    "collapsed-closed-too-likely",
    "token-does-not-pull",
)
"""What passes the ladder at the budget of continuous integration: tests of their own reject these."""


@pytest.mark.heavy
@pytest.mark.parametrize(
    "mutant",
    [m for m in MUTANTS if m.id.removeprefix("transfer-") not in SEEN_IN_RATIOS + SEEN_OTHERWISE],
    ids=lambda m: m.id,
)
def test_other_mutants_are_killed(judged, mutant):
    """Each by some rung of the ladder, at the budget of continuous integration."""
    for rung in rungs_of(get("sparse_transfer")):
        verdict = judged(Case("sparse_transfer", mutant.variant, rung, mutant=mutant.id))
        if verdict.status != "passed":
            return
    pytest.fail(f"{mutant.id} passed everything")
