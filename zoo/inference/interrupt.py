"""Ctrl-C and SIGTERM as a wish to stop, which is granted where nothing is lost by it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end a process unless it says otherwise, and would leave those that it has started behind."""


class Stop:
    """Whether the user wants a run to stop; the handler of `SIGNALS` while they are held.

    Attributes
    ----------
    asked : bool
    """

    def __init__(self) -> None:
        self.asked = False
        self._raises = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take note of a signal."""
        first = not self.asked
        self.asked = True
        if first and self._raises:
            raise KeyboardInterrupt

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Let the first signal raise KeyboardInterrupt in the block, for code that waits for others."""
        if self.asked:
            raise KeyboardInterrupt
        self._raises = True
        try:
            yield
        finally:
            self._raises = False


@contextmanager
def held_signals() -> Iterator[Stop]:
    """Hold Ctrl-C and SIGTERM while the block runs: they only set what it yields, however often they come.

    Blocks within such a block share what it yields. Signals that are ignored stay ignored. Outside of the
    main thread, where Python delivers no signals, nothing is held.
    """
    before = {number: signal.getsignal(number) for number in SIGNALS}
    outer = next((handler for handler in before.values() if isinstance(handler, Stop)), None)
    if outer is not None or threading.current_thread() is not threading.main_thread():
        yield outer or Stop()
        return
    stop = Stop()
    held = {n: handler for n, handler in before.items() if handler not in (signal.SIG_IGN, None)}
    for number in held:
        signal.signal(number, stop)
    try:
        yield stop
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)


@contextmanager
def interrupted_by_any() -> Iterator[None]:
    """Let signals that would end the process at once end the block as Ctrl-C does.

    Where something else happens upon them they are left as they are, and so they are outside of the main
    thread, where Python delivers none.
    """
    is_main = threading.current_thread() is threading.main_thread()
    taken = [number for number in ENDING if is_main and signal.getsignal(number) is signal.SIG_DFL]

    def interrupt(number: int, frame: FrameType | None) -> None:
        for one in taken:  # a second one, as `timeout` sends, would cut the end short
            signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in taken:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def stopped(checkpoint: str | Path | None, has_draws: bool) -> KeyboardInterrupt:
    """Make the error of a run that was stopped and returns no draws; it says what is left."""
    when = "before the last draw" if has_draws else "before the first draw"
    return KeyboardInterrupt(f"stopped {when}{how_on(checkpoint) or '; nothing was kept'}")


def how_on(checkpoint: str | Path | None) -> str:
    """Where chains can go on from, if anywhere, as the end of a line."""
    return "" if checkpoint is None else f"; the chains can be resumed from {checkpoint}"
