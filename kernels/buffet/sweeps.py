"""Samplers of the sparse transfer topic model: exact and truncation-free, by three routes.

``mask_sweep``      masks and weights are represented, sticks integrated out; any length model
``collapsed_sweep`` tokens move with all empty masks and ghosts integrated out; h must be an exponential
``slice_sweep``     sticks are drawn, those above a random height represented; any length model

They share moves: all of them what comes after tokens and masks (weights, shapes, blocks, alpha, eta); the
first and the third how a token moves among topics that are on and how a mask is drawn given its odds; the
last two how sticks are drawn. A sweep returns False if it stopped for want of room; called
again with more, it goes on where it stopped.
"""

from ..toolbox.jit import kernel
from .masks import (
    GHOST_MOVES,
    birth_and_death,
    draw_sticks,
    forget_empty,
    recover_empty,
    recover_ghosts,
    slice_sticks,
    update_masks,
    update_masks_given_sticks,
)
from .state import has_slots
from .tokens import pass_with_masks, pass_without_empty, weigh_closed
from .weights import move_masks_and_topics

START, TOKENS, MASKS, REST = range(4)


@kernel
def room_for_moves(state):
    """Whether the moves after the tokens have room for all topics that they may make."""
    return has_slots(state, GHOST_MOVES + state.masks.weight.shape[0] + 1)


@kernel
def begin_again(progress):
    """Set the marks for the next sweep."""
    progress[0] = START
    progress[1] = 0


@kernel
def mask_sweep(rng, state):
    """One sweep with masks represented and sticks integrated out. Mutates `state`."""
    progress = state.scratch.progress
    if progress[0] == START:
        if not pass_with_masks(rng, state, True):
            return False
        progress[0] = REST
    if not room_for_moves(state):
        return False
    update_masks(rng, state)
    for _ in range(GHOST_MOVES):
        birth_and_death(rng, state)
    move_masks_and_topics(rng, state)
    begin_again(progress)
    return True


@kernel
def collapsed_sweep(rng, state):
    """One sweep whose tokens move with all empty masks integrated out. Mutates `state`."""
    progress = state.scratch.progress
    if progress[0] == START:
        draw_sticks(rng, state)
        forget_empty(state)
        for k in range(state.topics.n_topics[0]):
            weigh_closed(state, k)
        progress[0] = TOKENS
    if progress[0] == TOKENS:
        if not pass_without_empty(rng, state):
            return False
        recover_empty(rng, state)
        progress[0] = MASKS
    if progress[0] == MASKS:
        if not recover_ghosts(rng, state):
            return False
        progress[0] = REST
    if not room_for_moves(state):
        return False
    move_masks_and_topics(rng, state)
    begin_again(progress)
    return True


@kernel
def slice_sweep(rng, state):
    """One sweep with sticks above a random height represented. Mutates `state`."""
    progress = state.scratch.progress
    if progress[0] == START:
        draw_sticks(rng, state)
        progress[0] = MASKS
    if progress[0] == MASKS:
        if not slice_sticks(rng, state):
            return False
        update_masks_given_sticks(rng, state)
        progress[0] = TOKENS
    if progress[0] == TOKENS:
        if not pass_with_masks(rng, state, False):
            return False
        progress[0] = REST
    if not room_for_moves(state):
        return False
    move_masks_and_topics(rng, state)
    begin_again(progress)
    return True
