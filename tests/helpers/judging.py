"""Verdicts on cases of the ladder: from the books where that is enough."""

from bnpzoo.diagnostics.laboratory import ladder


def judge(case, stored, store=None):
    """Return a current verdict among those that are stored, by case; else climb, with files in `store`."""
    record = stored.get(case)
    return record if record is not None and record.is_current else ladder.climb(case, store)
