"""Sweeps of the weight-agnostic stick-breaking process: tokens, tables, hyperparameters.

``blocked_sweep`` is exact, and so is ``token_sweep``. ``sweep_given_past`` draws a token given those before
it, as the paper does, and ``sweep_as_if_last`` as if it came last: both leave out what later tokens say of
it, and are not exact. All return False where they stop for want of room for topics; called again, they go on.
"""

from ..toolbox.jit import kernel
from .hyper import update_hyperparameters
from .tables import table_pass
from .tokens import pass_given_past, token_pass


@kernel
def blocked_sweep(rng, state):
    """One sweep: each token's dish and topic, each table's dish, hyperparameters. Mutates `state`."""
    if not token_pass(rng, state, False):
        return False
    table_pass(rng, state, True)
    update_hyperparameters(rng, state)
    return True


@kernel
def token_sweep(rng, state):
    """One sweep of documents of one sentence: as above without moves of tables. Mutates `state`."""
    if not token_pass(rng, state, False):
        return False
    table_pass(rng, state, False)
    update_hyperparameters(rng, state)
    return True


@kernel
def sweep_given_past(rng, state):
    """One sweep given the past alone. Mutates `state`."""
    if not pass_given_past(rng, state):
        return False
    table_pass(rng, state, False)
    update_hyperparameters(rng, state)
    return True


@kernel
def sweep_as_if_last(rng, state):
    """One sweep as if each token came last. Mutates `state`."""
    if not token_pass(rng, state, True):
        return False
    table_pass(rng, state, False)
    update_hyperparameters(rng, state)
    return True
