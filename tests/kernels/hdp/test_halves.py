"""Splits and merges of topics token by token: one ratio there and back, that of the joint."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.mutants.registry import MUTANTS
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, Change, load_room
from bnpzoo.diagnostics.laboratory.token_law import outcomes
from bnpzoo.kernels.hdp import customers, halves
from bnpzoo.kernels.toolbox import sweeps
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.models import get
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import beta

ALL_UNIFORMS = 1000
SHORT = Change("hdp/halves.py", "SCANS = 64", "SCANS = 2")
CHANGE = {m.id.removeprefix("halves-"): m.change for m in MUTANTS if m.id.startswith("halves-")}
CHANGE |= {  # the laboratory's topics are so small that launches forget where they began, and none waits
    "launch-remembers": Change(
        "hdp/halves.py",
        "halves.side[j] = 0 if rng.random() < 0.5 else 1",
        "halves.side[j] = 0 if tokens.topic[i] == tokens.topic[a] else 1",
    ),
    "size-of-one": Change("hdp/customers.py", "size += topics.total[other]", "size += 0"),
}
CORPUS = Design(np.array([5, 4, 1, 3]), n_words=4, group=np.array([1, 0, 1, 0])).corpus(
    np.array([0, 0, 1, 2, 3, 2, 1, 2, 0, 3, 0, 2, 3])
)
MERGED = np.array([0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1])
ANCHORS = 1, 3


def merged(model):
    """Latents in which one topic has most tokens."""
    latents = model.simulate(Design.of(CORPUS), np.random.default_rng(2)).latents
    latents |= {"z": MERGED, "root": np.array([0.5, 0.2, 0.3])}
    if "tasks" in latents:
        latents["tasks"] = np.array([[0.4, 0.3, 0.3], [0.6, 0.15, 0.25]])
    return latents


class Proposed:
    """A split or merge, its log A, and the state with what the kernel keeps of it."""

    def __init__(self, model, latents, seed, *changes):
        room = load_room(SHORT, *changes, PLAIN_PYTHON)
        self.kernel, self.halves = model.kernels_in(room)["whole-tables"], room(halves)
        self.check = room(sweeps).check
        self.state = self.kernel.load(latents, CORPUS, model)
        tokens, documents, topics, _ = self.state
        self.memory = self.halves.empty_halves(tokens, documents, topics)
        self.n = self.halves.gather(self.memory, *tokens.topic[list(ANCHORS)])
        rng = np.random.default_rng(seed)
        self.log_a = self.halves.log_acceptance(rng, tokens, documents, topics, self.memory, self.n, *ANCHORS)
        assert not self.memory.count.any()

    def split(self):
        """Latents after the split that was drawn."""
        tokens, documents, topics, _ = self.state
        topics.n_topics[0] += 1
        self.halves.take_halves(tokens, documents, topics, self.memory, self.n, 0, 2)
        self.check(self.state)
        return self.kernel.snapshot(self.state)


@pytest.mark.parametrize("model_id", ["hdp", "mt_hdp"])
@pytest.mark.parametrize("seed", range(4))
def test_a_merge_weighs_what_the_split_that_it_undoes_does(model_id, seed):
    model = get(model_id).set_to("fixed")
    there = Proposed(model, merged(model), seed)
    after = there.split()
    assert {after["z"][i] for i in ANCHORS} == {0, 2}
    assert_allclose(Proposed(model, after, seed).log_a, there.log_a, rtol=1e-10)


def test_a_launch_that_remembers_does_not():
    model, wrong = get("hdp").set_to("fixed"), CHANGE["launch-remembers"]
    there = Proposed(model, merged(model), 3, wrong)
    assert abs(Proposed(model, there.split(), 3, wrong).log_a - there.log_a) > 1e-2


def log_ratio(model, before, after):
    """Log (1): of the joint, with the density of the shares rather than of the sticks."""
    out = model.log_joint(after, CORPUS) - model.log_joint(before, CORPUS) + np.log(before["root"][0])
    if "tasks" in before:
        out += np.log(before["tasks"][:, 0]).sum()
    return out


def log_shares(model, proposed, after):
    """Log density of the shares as they were drawn, given tables, and the dishes of the root."""
    m, t = proposed.memory.tables[:, -1], proposed.memory.tables[:, :-1]
    root = after["root"][[0, 2]]
    v = root / root.sum()
    out = beta.logpdf(v[0], *m)
    if "tasks" in after:
        task = after["tasks"][:, [0, 2]]
        a = float(after["alpha0"]) * root[:, None] + t
        out += beta.logpdf(task[:, 0] / task.sum(axis=1), *a).sum()
    return out


def log_sides(proposed, actual):
    """Log probability of the sides that were drawn, read off the last scan of the same launch."""
    tokens, *_, topics, _ = proposed.state
    memory, n, eta = proposed.memory, proposed.n, topics.eta[0]
    sides = proposed.launched

    def run(rng):
        memory.side[:n] = sides
        memory.count[:] = 0
        memory.total[:] = 0
        for j in range(n):
            proposed.halves.count_member(tokens, memory, j, sides[j], 1)
        log_q = proposed.halves.scan(rng, tokens, memory, eta, n, *ANCHORS, -1)
        return tuple(memory.side[:n]), log_q

    law = {}
    for (came, log_q), probability in outcomes(run, most=ALL_UNIFORMS):
        assert_allclose(np.log(probability), log_q, rtol=1e-9)
        law[came] = law.get(came, 0.0) + probability
    assert_allclose(sum(law.values()), 1.0, rtol=1e-12)
    return np.log(law[actual])


def log_excess(model_id, seed, *changes):
    """Log A of a split, less what it should be."""
    model = get(model_id).set_to("fixed")
    remember = Change(
        "hdp/halves.py",
        "    log_a = share_sticks(rng, documents, halves, splits)\n",
        "    global LAUNCHED\n    LAUNCHED = halves.side[:n].copy()\n"
        "    log_a = share_sticks(rng, documents, halves, splits)\n",
    )
    before = merged(model)
    proposed = Proposed(model, before, seed, remember, *changes)
    proposed.launched = proposed.halves.LAUNCHED
    came = tuple(proposed.memory.side[: proposed.n])
    log_q = log_sides(proposed, came)
    proposed.memory.side[: proposed.n] = came
    after = proposed.split()
    return proposed.log_a - (log_ratio(model, before, after) - log_q - log_shares(model, proposed, after))


@pytest.mark.parametrize("model_id", ["hdp", "mt_hdp"])
def test_a_split_weighs_the_joint_over_its_own_probability(model_id):
    assert abs(log_excess(model_id, 5)) < 1e-9


@pytest.mark.parametrize(
    ("model_id", "mutant"),
    [
        ("hdp", "gamma-forgotten"),
        ("hdp", "jacobian-forgotten"),
        ("mt_hdp", "task-prior-forgotten"),
        ("hdp", "half-as-both"),
    ],
)
def test_wrong_splits_do_not(model_id, mutant):
    assert abs(log_excess(model_id, 5, CHANGE[mutant])) > 1e-2


def waits(*changes):
    """How probable a proposal is for two topics of 60 and 40 tokens, and for both in one."""
    room = load_room(*changes, PLAIN_PYTHON)(customers)

    class Topics:
        total = np.array([60, 40, 100])

    return [
        sum(p for ahead, p in outcomes(lambda rng, at=at: room.goes_ahead(rng, Topics, *at, 32)) if ahead)
        for at in ((0, 1), (2, 2))
    ]


def test_large_topics_wait_as_long_on_the_way_back():
    assert_allclose(waits(), 32 / 100)
    assert np.ptp(waits(CHANGE["size-of-one"])) > 0.1


def test_members_come_in_the_order_of_the_corpus():
    model = get("hdp").set_to("fixed")
    proposed = Proposed(model, merged(model), 0)
    memory = proposed.memory
    assert_array_equal(memory.member[: proposed.n], np.flatnonzero(MERGED == 0))
    assert proposed.halves.gather(memory, 1, 0) == CORPUS.n_tokens
    assert_array_equal(memory.member, np.arange(CORPUS.n_tokens))
