"""Signals that a test sends to its own process."""

import os
import signal
import time

SECONDS = 30.0
"""How long a signal may take to be heard; Python's main thread, which hears them, may be busy."""


def send_until_heard(number, times=1):
    """Send a signal to this process, from any thread, and wait until the run that holds it has heard."""
    stop = signal.getsignal(number)
    for _ in range(times):
        os.kill(os.getpid(), number)
    until = time.monotonic() + SECONDS
    while not stop.asked:
        assert time.monotonic() < until, f"signal {number} was not heard in {SECONDS:g} s"
        time.sleep(0.001)
