"""The law of a discrete draw, read off from the kernel that makes it, without Monte Carlo error.

A kernel's plain Python is run with a generator whose uniform variates are numbers that note, at every
comparison, in which interval around them it would have come out the same. So one run shows one outcome and
its exact probability, and as many runs as there are outcomes show the law.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax

from ...zoo.contract import Design, Kernel, Latents, Model, Simulation
from ...zoo.corpus import Corpus
from .joint import Conditional, joint_ratio_test
from .subject import BrokenSubject
from .verdict import Verdict

RAREST = 1e-6
"""Probabilities are known to about 1e-16, so that a rarer outcome's logarithm would not be known well."""


class Interval:
    """Where a uniform variate at `value` can move without another outcome of any comparison so far."""

    def __init__(self, value: float):
        self.value, self.low, self.high = value, 0.0, 1.0


class Affine:
    """``slope · u + offset`` of a uniform variate u; can be scaled, shifted, compared, rounded down.

    Whatever else a kernel does with it is a TypeError: then its law is not a matter of intervals.
    """

    __array_ufunc__ = None  # NumPy's numbers leave mixed expressions to this class

    def __init__(self, u: Interval, slope: float = 1.0, offset: float = 0.0):
        self.u, self.slope, self.offset = u, slope, offset

    def __add__(self, other: float) -> "Affine":
        return Affine(self.u, self.slope, self.offset + float(other))

    def __sub__(self, other: float) -> "Affine":
        return self + -other

    def __mul__(self, other: float) -> "Affine":
        return Affine(self.u, self.slope * float(other), self.offset * float(other))

    def __truediv__(self, other: float) -> "Affine":
        return Affine(self.u, self.slope / float(other), self.offset / float(other))

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other: float) -> bool:
        # slope > 0: everything that kernels compare grows with u
        u, bound = self.u, (float(other) - self.offset) / self.slope
        if u.value < bound:
            u.high = min(u.high, bound)
            return True
        u.low = max(u.low, bound)
        return False

    def __ge__(self, other: float) -> bool:
        return not self < other

    def __int__(self) -> int:
        whole = 0
        while not self < whole + 1:
            whole += 1
        return whole

    __le__, __gt__ = __lt__, __ge__  # they differ on a set of measure zero


class Scripted:
    """Generator whose uniform variates from number `first` on are followed; all else is drawn from `rng`.

    Attributes
    ----------
    followed : list of Interval
    """

    def __init__(self, script: list[float], rng: np.random.Generator, first: int, most: int):
        self.script, self.rng, self.first, self.most = script, rng, first, most
        self.drawn = 0
        self.followed: list[Interval] = []

    def random(self) -> Any:
        """Next uniform variate; raises `Ended` once `most` have been followed."""
        self.drawn += 1
        if self.drawn <= self.first:
            return self.rng.random()
        n = len(self.followed)
        if n == self.most:
            raise Ended
        self.followed.append(Interval(self.script[n] if n < len(self.script) else 0.0))
        return Affine(self.followed[-1])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rng, name)


class Ended(Exception):
    """A kernel asked for more than the variates that are followed."""


def outcomes(
    run: Callable[[Any], Any], seed: int = 0, first: int = 0, most: int = 1
) -> Iterator[tuple[Any, float]]:
    """All outcomes of a random function, with their exact probabilities.

    Parameters
    ----------
    run : (generator) -> outcome
        Called once an interval of the variates; an outcome may come up several times.
    seed : int
        Of all draws but those that are followed.
    first, most : int
        How many uniform variates are drawn before those that are followed, and how many are followed.

    Yields
    ------
    outcome, float
    """
    script: list[float] = []
    while True:
        generator = Scripted(script, np.random.default_rng(seed), first, most)
        outcome = run(generator)
        intervals = generator.followed
        yield outcome, float(np.prod([i.high - i.low for i in intervals]))
        while intervals and intervals[-1].high >= 1.0:
            intervals.pop()
        if not intervals:
            return
        script = [i.value for i in intervals[:-1]] + [intervals[-1].high]


class Move(NamedTuple):
    """What a kernel may do with one token.

    Attributes
    ----------
    before : Latents
        When the kernel comes to the token.
    after : list of Latents
        One for each topic that it may draw, and whatever else changes with it.
    probability : float (outcomes,)
    """

    before: Latents
    after: list[Latents]
    probability: np.ndarray


def token_law(
    kernel: Kernel, model: Model, latents: Latents, corpus: Corpus, token: int, seed: int = 0
) -> Move:
    """Law with which `kernel` draws the topic of a token, after those before it have moved at random.

    Parameters
    ----------
    kernel : Kernel
        In plain Python; draws tokens in the order of the corpus, each by one uniform variate.
    model, latents, corpus
        Where the sweep starts.
    token : int
        Not the last one, after which the kernel goes on to other variables before it draws again.
    seed : int
        Of the moves of the tokens before.
    """

    def run(generator: Any) -> Latents:
        state = kernel.load(latents, corpus, model)
        try:
            kernel.step(generator, state)
        except Ended:
            return kernel.snapshot(state)
        raise BrokenSubject("the sweep ended where it was expected to draw another token")

    (before, _), *_ = outcomes(run, seed, token, 0)
    found: dict[tuple[int, bytes], tuple[Latents, float]] = {}
    for after, probability in outcomes(run, seed, token):
        others = b"".join(value.tobytes() for name, value in after.items() if name != "z")
        outcome = (int(after["z"][token]), others)
        found[outcome] = (after, probability + found.get(outcome, (after, 0.0))[1])
    after, probabilities = zip(*found.values(), strict=True)
    return Move(before, list(after), np.array(probabilities))


def sweep_matrix(
    kernel: Kernel, model: Model, latents: Latents, corpus: Corpus, assignments: np.ndarray
) -> np.ndarray:
    """Exact transition matrix of a whole sweep, for a model whose only latents that move are topics.

    Parameters
    ----------
    kernel : Kernel
        In plain Python.
    model : Model
        All hyperparameters fixed.
    latents, corpus
        ``latents["z"]`` is replaced.
    assignments : int (A, N)
        All values of ``z``.

    Returns
    -------
    float (A, A)
        Rows are where the sweep starts.
    """
    index = {tuple(z): a for a, z in enumerate(assignments)}
    matrix = np.zeros((len(index), len(index)))

    def run(generator: Any, z: np.ndarray) -> int:
        state = kernel.step(generator, kernel.load(latents | {"z": z}, corpus, model))
        return index[tuple(kernel.snapshot(state)["z"])]

    for z, row in zip(assignments, matrix, strict=True):
        for a, probability in outcomes(lambda generator, z=z: run(generator, z), most=corpus.n_tokens):
            row[a] += probability
    return matrix


def conditional(move: Move, corpus: Corpus, token: int, name: str) -> Conditional:
    """Law of a token's topic among those in use, for `joint_ratio_test`; candidates are `Simulation`.

    An outcome that changes a continuous variable, as opening a topic breaks sticks, has a density of its own
    and is left out: the others are compared given that it does not come up. Other discrete variables of the
    token may change with its topic.
    """
    discrete = [key for key, value in move.before.items() if value.dtype.kind != "f"]
    candidates: dict[tuple[bytes, ...], tuple[Latents, float]] = {}
    for after, probability in zip(move.after, move.probability, strict=True):
        if all(np.array_equal(move.before[key], after[key]) for key in move.before.keys() - discrete):
            candidates[_key(after, discrete)] = after, probability
    found = [move.before["z"], *(after["z"] for after, _ in candidates.values())]
    for topic in range(int(np.max(found)) + 1):
        z = move.before["z"].copy()
        z[token] = topic
        never = move.before | {"z": z}
        candidates.setdefault(_key(never, discrete), (never, 0.0))
    latents, probabilities = zip(*candidates.values(), strict=True)
    with np.errstate(divide="ignore"):
        return Conditional(name, [Simulation(at, corpus) for at in latents], np.log(probabilities))


def _key(latents: Latents, names: Sequence[str]) -> tuple[bytes, ...]:
    return tuple(latents[name].tobytes() for name in names)


def conditionals(
    kernel: Kernel, model: Model, design: Design, states: int, seed: int = 0
) -> Iterator[Conditional]:
    """Conditionals of tokens at random states, each drawn from the model, each token among all but the last.

    States where some outcome is rarer than `RAREST`, and yet possible, are passed over.
    """
    rng = np.random.default_rng(seed)
    while states > 0:
        latents, corpus = model.simulate(design, rng)
        token = int(rng.integers(corpus.n_tokens - 1))
        move = token_law(kernel, model, latents, corpus, token, int(rng.integers(2**31)))
        found = conditional(move, corpus, token, f"state {states}, token {token}")
        if np.all(np.isneginf(found.log_weights)):
            continue  # whatever the token does, more than its topic changes
        implied = log_softmax([model.log_joint(*at) for at in found.candidates])
        if implied[implied > -np.inf].min() > np.log(RAREST):
            states -= 1
            yield found


def joint(
    name: str, kernel: Kernel, model: Model, design: Design, states: int = 200, seed: int = 0
) -> Verdict:
    """Joint-ratio test of the token step of a kernel in plain Python.

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
    laws = conditionals(kernel, model, design, states, seed)
    return judged(name, lambda at: model.log_joint(*at), laws)


def judged(name: str, log_density: Callable[[Any], float], laws: Iterable[Conditional]) -> Verdict:
    """Verdict on laws that are read off as this asks for them."""
    try:
        found = list(laws)
    except Exception as error:
        message = f"The law of a token cannot be read off: {type(error).__name__}: {error}."
        return Verdict("joint", name, "broken", message, 0.0)
    return joint_ratio_test(name, log_density, found)
