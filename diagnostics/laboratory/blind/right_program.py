"""What trials say of the program before any change: that it passes them, and what they cost."""

import math
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from .running import STOPPED, Runner
from .shelf import Shelf
from .targets import Target
from .trial import BROKEN, IMPORTED, NO_TESTS, PASSED, REJECTED, Trial

DEAREST, LONGEST = 240.0, 900.0
"""Files of tests, and rungs, that take more seconds of one core with the right program are left out."""


class RejectedError(ValueError):
    """A verdict on the right program is not that it passed."""


class RightProgram:
    """Puts the right program before trials, before each once, whoever asks and however many do at a time.

    Tests that it fails are left out, as they mind whether kernels are compiled. So are trials that take too
    long, or that cannot run.

    Parameters
    ----------
    target : Target
    shelf : Shelf
    runner : Runner
    tell : (name) -> None
        Called with the name of a trial before it goes through it.

    Attributes
    ----------
    left_out : set of str
        Names of the trials that took too long, or cannot run, so far.
    costs : dict of str to float
        Seconds of one core that trials took so far, by name; of those that were stopped, until then.
    """

    def __init__(self, target: Target, shelf: Shelf, runner: Runner, tell: Callable[[str], None]):
        self._target, self._shelf, self._runner, self._tell = target, shelf, runner, tell
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._found: dict[str, Trial | None] = {}
        self.left_out: set[str] = set()
        self.costs: dict[str, float] = {}

    def has_tried(self, trial: Trial) -> bool:
        """Whether `costed` knows of a trial without going through it."""
        return trial.key in self._found or self._shelf.find(_named(trial)) is not None

    def costed(self, trial: Trial) -> Trial | None:
        """Return a trial with what it costs, and without the tests that are left out; None if all of it is.

        Raises
        ------
        RejectedError
            A verdict on the right program is not that it passed.
        ValueError
            The right program does not run.
        """
        with self._locks[trial.key]:
            if trial.key not in self._found:
                found = self._tried(trial)
                if found is not None and math.isinf(found.seconds):
                    self.left_out.add(trial.name)
                    found = None
                self._found[trial.key] = found
            return self._found[trial.key]

    def _tried(self, trial: Trial) -> Trial | None:
        """Return the same, with an infinite cost where it takes too long or cannot run."""
        key = _named(trial)
        known = self._shelf.find(key)
        if known is None:
            self._tell(trial.name)
            limit = DEAREST if trial.is_pytest else LONGEST
            whole = replace(trial, arguments=tuple(word for word in trial.arguments if word != "-x"))
            known = self._runner.run(self._target, whole, None, limit)
        code, said, seconds = known
        self.costs[trial.name] = round(seconds, 1)
        failing = failed_tests(said)
        if code not in (PASSED, STOPPED) and not trial.is_pytest:
            error = RejectedError if code in (REJECTED, BROKEN) else ValueError
            why = "".join(said[-1:])
            raise error(f"{self._target.name}: the right program does not pass {trial.name}: {why}")
        if code in (PASSED, STOPPED, NO_TESTS) or failing:  # not a failed start, which can be mended
            self._shelf.put(key, known)
        if code == NO_TESTS:
            return None
        if code != PASSED and not failing:
            return replace(trial, seconds=math.inf)
        deselected = tuple(word for test in failing for word in ("--deselect", test))
        imported = "".join(line for line in said if line.startswith(IMPORTED))
        return replace(
            trial,
            seconds=seconds,
            arguments=trial.arguments + deselected,
            tests=trial.tests + imported,
        )


def _named(trial: Trial) -> str:
    return f"right {trial.key}"


def failed_tests(said: Sequence[str]) -> list[str]:
    """Names of the tests that pytest says have failed; there may be spaces in them."""
    return [name for line in said for name in re.findall(r"^FAILED (.+?)(?: - |$)", line)]
