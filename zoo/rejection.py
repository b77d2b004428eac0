"""Rejection sampling in growing batches, for generators that have to keep to a design."""

from collections.abc import Callable

import numpy as np

MOST_ATTEMPTS = 2_000_000
LARGEST_BATCH = 8192


def first_accepted[T](
    propose: Callable[[int], tuple[T, np.ndarray]], rng: np.random.Generator, wanted: str
) -> tuple[T, int]:
    """Draw proposals until one is accepted.

    Parameters
    ----------
    propose : (n) -> batch, float (n,)
        Draws `n` proposals and gives the log probability, up to rounding at most 0, of accepting each.
    rng : numpy.random.Generator
    wanted : str
        For the message: what was hard to come by.

    Returns
    -------
    batch, int
        The batch and the index of the accepted proposal in it.

    Raises
    ------
    ValueError
        Nothing was accepted in `MOST_ATTEMPTS` proposals.
    """
    attempts, n = 0, 64
    while attempts < MOST_ATTEMPTS:
        batch, log_probability = propose(n)
        accepted = np.flatnonzero(-rng.standard_exponential(n) < log_probability)
        if accepted.size:
            return batch, int(accepted[0])
        attempts += n
        n = min(2 * n, LARGEST_BATCH)
    raise ValueError(f"none of {attempts:,} draws from the prior had {wanted}")
