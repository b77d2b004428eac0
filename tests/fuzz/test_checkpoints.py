"""A chain that is stopped, widened, killed and resumed in any order draws what one left alone draws.

A state machine a kernel; damaged checkpoints are in ``zoo/test_checkpoint.py``.
"""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from bnpzoo import get
from bnpzoo.zoo.contract import Design, Probes
from bnpzoo.zoo.corpus.associations import Associations
from bnpzoo.zoo.inference.chain import Chain
from bnpzoo.zoo.inference.interrupt import Stop
from bnpzoo.zoo.inference.schedule import Schedule
from bnpzoo.zoo.inference.starts import starting_points
from bnpzoo.zoo.models import MODELS
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from samplers import is_of_a_family, of_sampler

VARIANTS = [(name, variant) for name, cls in MODELS.items() for variant in cls().kernels]
ASSOCIATIONS = Associations.of(np.random.default_rng(6).dirichlet(np.ones(6), (2, 6)).transpose(0, 2, 1))
SENTENCES = np.array([0, 2, 6, 9, 11, 15, 19, 21, 22, 26])
DESIGN = Design(
    np.array([6, 0, 9, 4, 7]),
    6,
    group=np.array([0, 1, 1, 0, 1]),
    associations=ASSOCIATIONS,
    segment_ptr=SENTENCES,
)
SCHEDULE = Schedule(tune=3, draws=10, thin=2, keep=4)


@cache
def subject(name, variant):
    model = get(name, **MODELS[name]().kernels[variant].requires)
    corpus = model.simulate(DESIGN, np.random.default_rng(3)).corpus
    return model, corpus, model.kernels[variant], Probes.of(corpus)


def fresh(name, variant, checkpoint=None):
    model, corpus, kernel, probes = subject(name, variant)
    rng = np.random.default_rng(7)
    (start,) = starting_points("seated", model, corpus)
    return Chain(0, model, corpus, kernel, probes, SCHEDULE, rng, start, checkpoint, paranoid=True)


def go(chain, n_sweeps):
    """Run `n_sweeps` sweeps, if as many are left."""
    stop, end = Stop(), chain.sweep + n_sweeps

    def report(number, sweep, sweeps, phase):
        stop.asked = sweep >= end

    chain.run(stop, report, SCHEDULE.sweeps)


def picture(chain):
    """All that can be seen of a chain: random numbers, latents, what was recorded, but for seconds."""
    latents = chain.kernel.snapshot(chain.state)
    recorded = chain.record.to_arrays() | {"seconds": np.zeros(len(chain.record.seconds))}
    arrays = {name: np.asarray(value).tolist() for name, value in (latents | recorded).items()}
    return repr((chain.rng.bit_generator.state, arrays))


@cache
def undisturbed(name, variant):
    """Pictures of a chain that nothing happens to, after each sweep."""
    chain, out = fresh(name, variant), {}
    while chain.sweep < SCHEDULE.sweeps:
        go(chain, 1)
        out[chain.sweep] = picture(chain)
    return out


class DisturbedChain(RuleBasedStateMachine):
    """What can happen to a chain."""

    name, variant = VARIANTS[0]

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.file = Path(self.folder.name) / "chain-0.npz"
        self.chain = fresh(self.name, self.variant)

    @rule(n=st.integers(1, 8))
    def sweep(self, n):
        self.chain.checkpoint = None
        go(self.chain, n)

    @rule(n=st.integers(1, 8))
    def sweep_until_interrupted(self, n):
        """An interrupt ends a run after a sweep, and then it is saved."""
        self.chain.checkpoint = self.file
        go(self.chain, n)

    @precondition(lambda self: self.chain.kernel.with_room is not None)
    @rule()
    def grow(self):
        self.chain.state = self.chain.kernel.with_room(self.chain.state)

    @rule()
    def be_killed_and_resume(self):
        self.chain = fresh(self.name, self.variant, self.file)

    @invariant()
    def it_draws_what_it_would_have(self):
        if self.chain.sweep > 0:
            assert picture(self.chain) == undisturbed(self.name, self.variant)[self.chain.sweep]

    def teardown(self):
        self.folder.cleanup()


@pytest.mark.parametrize(
    ("name", "variant"),
    [of_sampler(is_of_a_family(name, variant=variant), name, variant) for name, variant in VARIANTS],
)
def test_disturbed_chains(name, variant):
    machine = type("DisturbedChain", (DisturbedChain,), {"name": name, "variant": variant})
    few = max(3, settings().max_examples // 10)
    run_state_machine_as_test(
        machine, settings=settings(max_examples=few, stateful_step_count=15, deadline=None)
    )
