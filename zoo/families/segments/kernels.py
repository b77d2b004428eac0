"""The samplers of models of sentences, by variant."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ....kernels.segments import buffet, franchise, mixture, restaurants, sweeps, truncated, urns, vectors
from ....kernels.segments import state as states
from ....kernels.segments.state import SegmentsState, Tokens
from ....kernels.segments.truncated import TruncatedState
from ....kernels.segments.urns import UrnState
from ...contract import Design, Kernel, Latents, Room
from ...corpus import Corpus
from .sticks import INERT


def was_kernels(room: Room, opens_topics: bool) -> dict[str, Kernel]:
    """Make the samplers of the weight-agnostic process; see `Model.kernels_in`."""
    own = room(sweeps)
    past = "tokens given those before them, as in the paper, for comparison"
    last = "tokens as if each came last, for comparison"
    about = "dish and topic of a token together, dishes of tables"
    hyper = ("a", "b", "zeta", "eta")
    return {
        "blocked": _stick_kernel(room, opens_topics, own.blocked_sweep, hyper, about),
        "past_only": _stick_kernel(room, opens_topics, own.sweep_given_past, hyper, past, exact=False),
        "as_if_last": _stick_kernel(room, opens_topics, own.sweep_as_if_last, hyper, last, exact=False),
    }


def ordered_kernels(room: Room, opens_topics: bool) -> dict[str, Kernel]:
    """Make the sampler of documents of one sentence, whose tables have no other dish to take."""
    about = "dish and topic of a token together"
    return {"blocked": _stick_kernel(room, opens_topics, room(sweeps).token_sweep, ("a", "b", "eta"), about)}


def _stick_kernel(
    room: Room,
    opens_topics: bool,
    sweep: Callable[..., bool],
    hyper: tuple[str, ...],
    about: str,
    exact: bool = True,
) -> Kernel:
    """Make a sampler of tables that are passed stick by stick."""
    own_states, of_vectors = room(states), room(vectors)

    def load(latents: Latents, corpus: Corpus, model: Any) -> SegmentsState:
        tokens = _tokens(own_states, latents, corpus, model)
        priors = dict.fromkeys(INERT, (0.0, 0.0)) | model.prior_arrays()
        at = {name: np.asarray(value) for name, value in INERT.items()} | latents
        return own_states.make_state(tokens, model.n_topics, corpus.n_words, at, priors, **model.limits)

    def snapshot(state: SegmentsState) -> Latents:
        tokens = {
            "z": state.tokens.topic.astype(np.int64),
            "dish": own_states.dishes_by_first_time(state.tokens),
        }
        of_law = {name: np.array(getattr(state.law, name)[0]) for name in hyper}
        return tokens | of_law | of_vectors.values_of(state.law.vectors)

    return _kernel(room, opens_topics, load, snapshot, own_states.check, sweep, about, exact)


def _kernel(
    room: Room,
    opens_topics: bool,
    load: Callable[..., Any],
    snapshot: Callable[[Any], Latents],
    check: Callable[[Any], None],
    sweep: Callable[..., bool],
    about: str,
    exact: bool = True,
) -> Kernel:
    """Make a sampler whose sweep stops where there is no room for another topic."""
    with_room = room(vectors).with_room
    step = Kernel.step_of(sweep, with_room)
    return Kernel(
        load, step, snapshot, check, sweep, exact, about, with_room=with_room if opens_topics else None
    )


def sbp_kernels(room: Room, opens_topics: bool) -> dict[str, Kernel]:
    """Make the sampler of truncated sticks; see `Model.kernels_in`."""
    own_states, own, of_vectors = room(states), room(truncated), room(vectors)

    def load(latents: Latents, corpus: Corpus, model: Any) -> TruncatedState:
        tokens = _tokens(own_states, latents, corpus, model)
        sizes = (model.n_dishes, model.n_topics, corpus.n_words)
        return own.make_state(tokens, sizes, latents, model.prior_arrays())

    def snapshot(state: TruncatedState) -> Latents:
        tokens = {"z": state.tokens.topic.astype(np.int64), "dish": state.tokens.dish.astype(np.int64)}
        of_law = {name: np.array(getattr(state, name)[0]) for name in ("a", "b", "eta")}
        return tokens | of_law | of_vectors.values_of(state.vectors)

    about = "dish and topic of a token together, then neighbouring dishes exchanged"
    return {"blocked": _kernel(room, opens_topics, load, snapshot, own.check, own.sweep, about)}


def tjb_kernels(room: Room, opens_topics: bool) -> dict[str, Kernel]:
    """Make the sampler of franchises; see `Model.kernels_in`."""
    own = room(franchise)
    return _table_kernels(room, opens_topics, own.make_franchise, own.check)


def icd_kernels(room: Room, opens_topics: bool) -> dict[str, Kernel]:
    """Make the sampler of buffets; see `Model.kernels_in`."""
    own = room(buffet)
    return _table_kernels(room, opens_topics, own.make_buffet, own.check)


def _table_kernels(
    room: Room, opens_topics: bool, make_urn: Callable[..., Any], check: Callable[[UrnState], None]
) -> dict[str, Kernel]:
    """Make the sampler of an urn whose seats are tables."""
    tables = room(restaurants)

    def make(tokens: Tokens, latents: Latents, most_dishes: int, hyper: dict[str, np.ndarray]) -> Any:
        return make_urn(tokens, latents["table"], most_dishes, **hyper)

    def marks(state: UrnState) -> Latents:
        return {"table": tables.tables_by_first_token(state.urn, state.tokens)}

    about = "dish, table and topic of a token together, then dishes of tables"
    return {"blocked": _urn_kernel(room, opens_topics, make, marks, check, ("alpha", "gamma"), about)}


def mqr_kernels(room: Room, opens_topics: bool) -> dict[str, Kernel]:
    """Make the sampler of mixtures; see `Model.kernels_in`."""
    own = room(mixture)

    def make(tokens: Tokens, latents: Latents, most_dishes: int, hyper: dict[str, np.ndarray]) -> Any:
        return own.make_mixture(tokens, latents["local"], most_dishes, **hyper)

    def marks(state: UrnState) -> Latents:
        return {"local": state.urn.local.astype(np.int64)}

    about = "dish and topic of a token together, then whether dishes in one sentence are its own"
    return {"blocked": _urn_kernel(room, opens_topics, make, marks, own.check, ("alpha", "epsilon"), about)}


def _urn_kernel(
    room: Room,
    opens_topics: bool,
    make: Callable[..., Any],
    marks: Callable[[UrnState], Latents],
    check: Callable[[UrnState], None],
    hyper: tuple[str, ...],
    about: str,
) -> Kernel:
    """Make the sampler of an urn, which `make` makes, and of which `marks` tells what is kept of seats."""
    own_states, own, of_vectors = room(states), room(urns), room(vectors)

    def load(latents: Latents, corpus: Corpus, model: Any) -> UrnState:
        tokens, priors = _tokens(own_states, latents, corpus, model), model.prior_arrays()
        urn = make(tokens, latents, model.most_dishes, own.hyperparameters(latents, priors, hyper))
        return own.make_state(tokens, (model.n_topics, corpus.n_words), latents, priors, urn)

    def snapshot(state: UrnState) -> Latents:
        tokens = {
            "z": state.tokens.topic.astype(np.int64),
            "dish": own_states.dishes_by_first_time(state.tokens),
        }
        of_urn = {name: np.array(getattr(state.urn, name)[0]) for name in hyper}
        smoothings = {"eta": np.array(state.smoothings.eta[0])} | of_vectors.values_of(
            state.smoothings.vectors
        )
        return tokens | marks(state) | of_urn | smoothings

    return _kernel(room, opens_topics, load, snapshot, check, own.sweep, about)


def _tokens(own_states: Any, latents: Latents, corpus: Corpus, model: Any) -> Tokens:
    seats = model.seats(Design.of(corpus))
    sentence_ptr = np.append(np.flatnonzero(np.diff(seats.sentence, prepend=-1)), corpus.n_tokens)
    return own_states.make_tokens(corpus.words, corpus.doc_ptr, sentence_ptr, seats.time, latents)
