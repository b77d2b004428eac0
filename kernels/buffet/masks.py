"""Masks of topics in tasks without tokens, and topics without tokens at all (ghosts)."""

import math

from ..toolbox.jit import kernel
from ..toolbox.random import categorical, log_beta_variate, log_gamma_variate
from .state import (
    draw_shape,
    free_slot,
    has_slots,
    is_on,
    log_h,
    mass_without,
    random_order,
    set_off,
    set_on,
    tilt,
)

GHOST_MOVES = 4
"""Births and deaths a sweep."""

STEEP = 8.0
"""Slope of a stick's log density at epsilon, times epsilon, from which the tangent there is the envelope.

Other proposals are rejected ever more often then, and practically always in hundreds of tasks.
"""


@kernel
def log_mask_odds(lengths, c, rest, rate, shape, weight):
    """Log odds, over the prior's, that an empty topic is on in task `c`.

    With a weight from Gamma(shape, 1 + rate), and `rest` the mass of the other topics. Where h is
    ``exp(-rate S)`` they are ``-shape log(1 + rate)``.
    """
    change = log_h(lengths, c, rest + weight) - log_h(lengths, c, rest)
    return rate * weight + change - shape * math.log1p(rate)


@kernel
def update_mask(rng, state, c, k, log_odds):
    """Draw the mask and weight of empty topic `k` in task `c`, given the prior log odds of the mask.

    The weight is compared at its value if the topic is on, at a fresh one if it is off.
    """
    masks, lengths = state.masks, state.lengths
    rest = mass_without(masks, c, k, state.topics.n_topics[0])
    rate = tilt(lengths, c, rest)
    was_on = is_on(masks, c, k)
    log_weight = masks.log_weight[c, k]
    if not was_on:
        log_weight = log_gamma_variate(rng, masks.shape[k]) - math.log1p(rate)
    log_odds += log_mask_odds(lengths, c, rest, rate, masks.shape[k], math.exp(log_weight))
    is_now_on = rng.random() * (1.0 + math.exp(min(-log_odds, 700.0))) < 1.0
    if was_on and not is_now_on:
        set_off(masks, c, k)
    elif is_now_on and not was_on:
        set_on(masks, c, k, log_weight)


@kernel
def update_masks(rng, state):
    """Draw the mask of each topic in each task without tokens in it, if another task has it, sticks out."""
    masks = state.masks
    # The order must not depend on the state: "topics in use first" is not invariant.
    order = random_order(rng, state.topics.n_topics[0])
    for c in range(masks.weight.shape[0]):
        for k in order:
            others = masks.n_on[k] - (1 if is_on(masks, c, k) else 0)
            if masks.count[c, k] == 0 and others > 0:
                update_mask(rng, state, c, k, state.prior.log_join[others])


@kernel
def draw_ghost(rng, state):
    """Make a topic as it is a priori, given that some task has it on; return its slot."""
    prior, masks = state.prior, state.masks
    n_tasks = prior.first_rows.size
    first = categorical(rng, prior.first_rows, n_tasks)
    j = first + 1.0
    stick = 1.0 - (1.0 - rng.random() * j * prior.first_rows[first]) ** (1.0 / j)
    k = free_slot(state)
    masks.shape[k] = draw_shape(rng, prior)
    for c in range(first, n_tasks):
        if c == first or rng.random() < stick:
            set_on(masks, c, k, log_gamma_variate(rng, masks.shape[k]))
    return k


@kernel
def turn_off_everywhere(masks, k):
    """Give the slot of topic `k`, which has no tokens, back."""
    for c in range(masks.weight.shape[0]):
        if is_on(masks, c, k):
            set_off(masks, c, k)


@kernel
def log_ghost_ratio(state, k):
    """Log of ``prod_c h(S_c) / h(S_c - phi_ck)`` over the tasks that have topic `k`."""
    masks, out = state.masks, 0.0
    for c in range(masks.weight.shape[0]):
        if is_on(masks, c, k):
            rest = mass_without(masks, c, k, state.topics.n_topics[0])
            out += log_h(state.lengths, c, rest + masks.weight[c, k]) - log_h(state.lengths, c, rest)
    return out


@kernel
def is_ghost(state, k):
    """Whether topic `k` is on somewhere and has no tokens."""
    return state.masks.n_on[k] > 0 and state.topics.total[k] == 0


@kernel
def birth_and_death(rng, state):
    """Add or remove a ghost (Geyer and Moller 1994). There must be room for one."""
    n_topics = state.topics.n_topics[0]
    n_ghosts = 0
    for k in range(n_topics):
        if is_ghost(state, k):
            n_ghosts += 1
    log_expected = math.log(state.prior.alpha[0] * state.prior.first_rows.sum())
    if rng.random() < 0.5:
        k = draw_ghost(rng, state)
        log_accept = log_expected - math.log(n_ghosts + 1.0) + log_ghost_ratio(state, k)
        if log_accept < -rng.standard_exponential():
            turn_off_everywhere(state.masks, k)
        return
    if n_ghosts == 0:
        return
    chosen = int(rng.random() * n_ghosts)
    for k in range(n_topics):
        if is_ghost(state, k):
            if chosen == 0:
                log_accept = math.log(float(n_ghosts)) - log_expected - log_ghost_ratio(state, k)
                if log_accept >= -rng.standard_exponential():
                    turn_off_everywhere(state.masks, k)
                return
            chosen -= 1


@kernel
def draw_stick(rng, n_on, n_tasks, epsilon):
    """Draw the stick of a topic that `n_on` tasks have on: Beta(s, C - s + 1) cut off at epsilon."""
    n_off = n_tasks - n_on
    slope = 0.0  # of the log density, at epsilon
    if epsilon < 1.0:
        slope = (n_on - 1.0) / epsilon - n_off / (1.0 - epsilon)
    if slope * epsilon > STEEP:
        return draw_steep_stick(rng, n_on, n_off, epsilon, slope)
    while True:
        # Two rejection samplers in turn: one is good for small epsilon, the other for large.
        stick = epsilon * math.exp(-rng.standard_exponential() / n_on)
        if rng.random() < (1.0 - stick) ** n_off:
            return stick
        stick = math.exp(log_beta_variate(rng, n_on, n_off + 1.0)[0])
        if stick < epsilon:
            return stick


@kernel
def draw_steep_stick(rng, n_on, n_off, epsilon, slope):
    """See `draw_stick`; the log density is concave, so that its tangent at epsilon is above it."""
    while True:
        below = rng.standard_exponential() / slope
        if below < epsilon:
            log_accept = (n_on - 1.0) * math.log1p(-below / epsilon) + slope * below
            log_accept += n_off * math.log1p(below / (1.0 - epsilon))
            if log_accept > -rng.standard_exponential():
                return epsilon - below


@kernel
def draw_sticks(rng, state):
    """Draw the stick of every represented topic given its masks."""
    masks = state.masks
    for k in range(state.topics.n_topics[0]):
        n_on, n_tasks = float(masks.n_on[k]), float(masks.weight.shape[0])
        masks.stick[k] = draw_stick(rng, n_on, n_tasks, state.prior.epsilon) if n_on > 0.0 else 0.0


@kernel
def forget_empty(state):
    """Turn off every topic in every task without tokens in it: ghosts and all."""
    masks = state.masks
    for k in range(state.topics.n_topics[0]):
        for c in range(masks.weight.shape[0]):
            if is_on(masks, c, k) and masks.count[c, k] == 0:
                set_off(masks, c, k)


@kernel
def recover_empty(rng, state):
    """Draw, given sticks, the masks and weights that `forget_empty` forgot; the topics are all in use."""
    masks = state.masks
    for k in range(state.topics.n_topics[0]):
        if masks.n_on[k] > 0:
            for c in range(masks.weight.shape[0]):
                if masks.count[c, k] == 0:
                    log_scale = math.log1p(state.lengths.rate[c])
                    on = masks.stick[k] * math.exp(-masks.shape[k] * log_scale)
                    if rng.random() * (1.0 - masks.stick[k] + on) < on:
                        set_on(masks, c, k, log_gamma_variate(rng, masks.shape[k]) - log_scale)


@kernel
def recover_ghosts(rng, state):
    """Draw all ghosts at once, where h is an exponential, by thinning. False for want of room."""
    progress = state.scratch.progress
    if progress[2] < 0:
        progress[2] = rng.poisson(state.prior.alpha[0] * state.prior.first_rows.sum())
    if not has_slots(state, progress[2]):
        return False
    for _ in range(progress[2]):
        k = draw_ghost(rng, state)
        if log_ghost_ratio(state, k) < -rng.standard_exponential():
            turn_off_everywhere(state.masks, k)
    progress[2] = -1
    return True


@kernel
def slice_sticks(rng, state):
    """Represent the topics above a random height that no task has on. False for want of room.

    Sticks are of the buffet, pi = rho / epsilon. The height is uniform below the lowest stick that is in use;
    those that are off in all tasks are a Poisson process of intensity alpha / pi (1 - epsilon pi)^C, thinned
    from alpha / pi (Teh, Gorur and Ghahramani 2007, semi-ordered slice sampler).
    """
    prior, masks, scratch = state.prior, state.masks, state.scratch
    n_tasks = masks.weight.shape[0]
    progress = scratch.progress
    if progress[2] < 0:
        lowest = lowest_stick(state, -1)
        scratch.level[0] = lowest * (1.0 - rng.random())
        progress[2] = rng.poisson(-prior.alpha[0] * math.log(scratch.level[0]))
    if not has_slots(state, progress[2]):
        return False
    for _ in range(progress[2]):
        stick = prior.epsilon * scratch.level[0] ** rng.random()
        if rng.random() < (1.0 - stick) ** n_tasks:
            k = state.topics.n_topics[0]
            state.topics.n_topics[0] += 1
            masks.stick[k] = stick
            masks.shape[k] = draw_shape(rng, prior)
    progress[2] = -1
    return True


@kernel
def lowest_stick(state, but):
    """Lowest stick, of the buffet, of a topic that some task has on, topic `but` aside; at most 1."""
    lowest = 1.0
    for k in range(state.topics.n_topics[0]):
        if k != but and state.masks.n_on[k] > 0:
            lowest = min(lowest, state.masks.stick[k] / state.prior.epsilon)
    return lowest


@kernel
def update_masks_given_sticks(rng, state):
    """Draw the mask of every represented topic in every task without tokens in it, given sticks and height.

    The height is uniform below the lowest stick that is on, so that turning a stick on or off for the
    first or last time changes its density.
    """
    masks = state.masks
    order = random_order(rng, state.topics.n_topics[0])
    for k in order:
        others_lowest = lowest_stick(state, k)
        own_lowest = min(others_lowest, masks.stick[k] / state.prior.epsilon)
        for c in range(masks.weight.shape[0]):
            if masks.count[c, k] == 0:
                others = masks.n_on[k] - (1 if is_on(masks, c, k) else 0)
                log_odds = math.log(masks.stick[k]) - math.log1p(-masks.stick[k])
                if others == 0:
                    log_odds += math.log(others_lowest) - math.log(own_lowest)
                update_mask(rng, state, c, k, log_odds)
