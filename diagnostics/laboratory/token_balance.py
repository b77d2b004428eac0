"""Detailed balance of one token's step, for kernels that do not draw a token from its conditional.

A step that takes a token out in a random way, and puts it back accordingly, has no conditional to compare
with the joint density. But it is reversible: ``pi(s) K(s, s') = pi(s') K(s', s)`` for the posterior pi and
all states s and s'. Both probabilities are read off from the kernel.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...zoo.contract import Design, Kernel, Latents, Model, Simulation
from ...zoo.corpus import Corpus
from .joint import Conditional
from .subject import BrokenSubject
from .token_law import RAREST, Ended, Move, judged, outcomes
from .verdict import Verdict

NEVER = 2**63 - 1


class Watched(np.ndarray):
    """Words of tokens that tell at which token a kernel looks."""

    on_look: Callable[[int], None] = staticmethod(lambda token: None)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, int | np.integer):
            self.on_look(int(key))
        return super().__getitem__(key)


def step_law(
    kernel: Kernel, model: Model, latents: Latents, corpus: Corpus, token: int, seed: int = 0
) -> Move:
    """Law of the step of a token, after those before it have moved at random.

    Parameters
    ----------
    kernel : Kernel
        In plain Python; looks up the word of a token when it comes to it, and comes to one after the other.
        The step may draw any number of uniform variates.
    model, latents, corpus
        Where the sweep starts.
    token : int
        Not the last one, after which the kernel goes on to other variables.
    seed : int
        Of the moves of the tokens before.
    """

    def run(generator: Any, until: int) -> Latents:
        def on_look(at: int) -> None:
            if at >= until:
                raise Ended
            if at == token:  # from here on variates are followed
                generator.first = min(generator.first, generator.drawn)

        state = kernel.load(latents, corpus, model)
        words = np.asarray(state.tokens.words).view(Watched)
        words.on_look = on_look
        try:
            kernel.step(generator, state._replace(tokens=state.tokens._replace(words=words)))
        except Ended:
            return kernel.snapshot(state)
        raise BrokenSubject("the sweep ended where it was expected to come to another token")

    (before, _), *_ = outcomes(lambda generator: run(generator, token), seed, NEVER, 0)
    found: dict[bytes, tuple[Latents, float]] = {}
    for after, probability in outcomes(lambda generator: run(generator, token + 1), seed, NEVER, NEVER):
        key = state_key(after)
        found[key] = (after, probability + found.get(key, (after, 0.0))[1])
    after, probabilities = zip(*found.values(), strict=True)
    return Move(before, list(after), np.array(probabilities))


def state_key(latents: Latents) -> bytes:
    """Discrete latents as a key; kernels write the same state in the same way."""
    return b"".join(latents[name].tobytes() for name in sorted(latents) if latents[name].dtype.kind != "f")


def continuous_key(latents: Latents) -> bytes:
    """Continuous latents as a key."""
    return b"".join(latents[name].tobytes() for name in sorted(latents) if latents[name].dtype.kind == "f")


def with_token_first(at: Simulation, model: Model, token: int) -> Simulation:
    """Order documents, and tokens of the first of them, such that `token` comes first of all."""
    latents, corpus = at
    d = int(corpus.doc_of[token])
    documents = np.concatenate([[d], np.delete(np.arange(corpus.n_documents), d)])
    first_come = np.argsort(corpus.doc_of != d, kind="stable")
    order = np.concatenate([[token], first_come[first_come != token]])
    of_tokens = ["z", *(name for name, axes in model.dimensions.items() if axes == ("token",))]
    of_documents = {
        name: np.take(latents[name], documents, axes.index("document"))
        for name, axes in model.dimensions.items()
        if "document" in axes and name in latents
    }
    return Simulation(
        latents | {name: latents[name][order] for name in of_tokens} | of_documents,
        replace(corpus.take(documents), words=corpus.words[order]),
    )


def probability_back(kernel: Kernel, model: Model, start: Simulation, end: Latents, token: int) -> float:
    """Probability that a token's step from `start` leads to the latents `end`."""
    latents, corpus = with_token_first(start, model, token)
    wanted, _ = with_token_first(Simulation(end, start.corpus), model, token)
    key = state_key(kernel.snapshot(kernel.load(wanted, corpus, model)))
    move = step_law(kernel, model, latents, corpus, 0)
    return sum(
        probability
        for after, probability in zip(move.after, move.probability, strict=True)
        if state_key(after) == key
    )


def log_density(model: Model, at: Simulation) -> float:
    """Log density of a state as kernels know it, which may stand for several values of the latents."""
    return model.log_joint(*at) + model.log_multiplicity(*at)


def balances(
    kernel: Kernel, model: Model, design: Design, states: int, seed: int = 0
) -> Iterator[Conditional]:
    """Follow steps of tokens, from random states drawn from the model, to one of their ends and back.

    A `Conditional` has both states as candidates; by detailed balance ``K(s', s)`` and ``K(s, s')`` are as
    their densities. Steps that are rarer than `RAREST`, or should be on the way back, are passed over,
    and so are those that change a continuous variable, as opening a topic breaks sticks: they have densities.
    """
    rng = np.random.default_rng(seed)
    while states > 0:
        latents, corpus = model.simulate(design, rng)
        token = int(rng.integers(corpus.n_tokens - 1))
        move = step_law(kernel, model, latents, corpus, token, int(rng.integers(2**31)))
        chosen = int(rng.integers(len(move.after)))
        before, after = Simulation(move.before, corpus), Simulation(move.after[chosen], corpus)
        if continuous_key(before.latents) != continuous_key(after.latents):
            continue
        there = move.probability[chosen]
        back = there * np.exp(log_density(model, before) - log_density(model, after))
        if state_key(before.latents) == state_key(after.latents) or min(there, back) < RAREST:
            continue
        states -= 1
        found = probability_back(kernel, model, after, before.latents, token)
        with np.errstate(divide="ignore"):
            yield Conditional(f"state {states}, token {token}", [before, after], np.log([found, there]))


def balance(
    name: str, kernel: Kernel, model: Model, design: Design, states: int = 200, seed: int = 0
) -> Verdict:
    """Test of detailed balance of the token step of a kernel in plain Python.

    Parameters
    ----------
    name : str
        For the verdict.
    kernel, model
    design : Design
        Of the states, which are drawn from the model.
    states : int
    seed : int
    """
    steps = balances(kernel, model, design, states, seed)
    return judged(name, lambda at: log_density(model, at), steps)
