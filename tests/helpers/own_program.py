"""A program of somebody's own, to be audited."""

OWN = """\
from types import SimpleNamespace


class Halves:
    def half(self, x):
        return x / 2.0

    def unused(self, x):
        return more(x)


def more(x):
    return x + 1


def verdicts(subject):
    is_right = subject.half(8.0) == 4.0
    yield SimpleNamespace(passed=is_right, status="passed" if is_right else "rejected")
"""
