"""The samplers of the sparse transfer topic model, by variant."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....kernels.buffet import published, setup, sweeps
from ....kernels.buffet.state import SparseTransferState
from ....kernels.toolbox import sides
from ...contract import Design, Kernel, Latents, Room
from ...corpus import Corpus
from ..topics import dirichlet_counts
from .ibp import first_rows, log_reach


def opening_weights(rates: Sequence[float], a1: float, a2: float, epsilon: float) -> np.ndarray:
    """Weight, over alpha, of a topic whose only token is in task c, all else integrated out; float (C,).

    With q = (1 + r)^-gamma for a task of rate r, the mean over gamma of
    ``gamma q_c / (1 + r_c) int_0^epsilon prod_(c' != c) (1 - rho + rho q_c') d rho``, by quadrature: the
    product is a polynomial in rho, and smooth in gamma.

    Parameters
    ----------
    rates : sequence of float (C,)
        Of the exponentials that weigh the tasks' masses.
    """
    log_scale = np.log1p(rates)
    x, w = np.polynomial.legendre.leggauss(len(log_scale) // 2 + 1)
    rho, rho_weight = epsilon * (x + 1.0) / 2.0, epsilon * w / 2.0
    out = np.empty(len(log_scale))
    for c, scale in enumerate(log_scale):
        # gamma (1 + r_c)^-gamma times the prior is a gamma density of shape a1 + 1, up to a constant
        rate = 1.0 / a2 + scale
        gamma, gamma_weight = _gamma_nodes(a1 + 1.0, rate)
        passed_over = np.exp(-np.multiply.outer(gamma, np.delete(log_scale, c)))
        others = np.prod(1.0 - rho[:, None, None] * (1.0 - passed_over), axis=2)
        constant = a1 * a2 * (a2 * rate) ** (-a1 - 1.0) * np.exp(-scale)
        out[c] = constant * rho_weight @ others @ gamma_weight
    return out


def _gamma_nodes(shape: float, rate: float, step: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of means over Gamma(shape, rate): trapezoidal rule in the logarithm."""
    x = np.arange(-60.0 / shape, 6.0, step) + np.log(shape)
    weight = np.exp(shape * (x - np.log(shape)) - np.exp(x) + shape)
    return np.exp(x) / rate, weight / weight.sum()


def sparse_transfer_kernels(room: Room) -> dict[str, Kernel]:
    """Make the samplers; see `Model.kernels_in`."""
    own_setup, own_sweeps, own_published = room(setup), room(sweeps), room(published)
    own_sides = room(sides)

    def load(latents: Latents, corpus: Corpus, model: Any) -> SparseTransferState:
        weights = model.length_weights(Design.of(corpus))
        n_tasks = corpus.n_groups
        reach = log_reach(n_tasks, model.epsilon)
        priors = model.prior_arrays()
        rates = [weight.rate for weight in weights]
        tokens = own_sides.tokens_of(corpus.words, corpus.doc_ptr, model.tasks(corpus.group), latents["z"])
        return own_setup.make_state(
            tokens,
            corpus.n_words,
            latents,
            priors["eta"],
            weights,
            {
                "alpha": np.array([float(latents["alpha"])]),
                "alpha_prior": np.array(priors["alpha"]),
                "epsilon": float(model.epsilon),
                "a1": float(model.a1),
                "a2": float(model.a2),
                "log_reach": reach,
                "log_join": np.concatenate([[0.0], np.diff(reach[1:])]),
                "first_rows": first_rows(n_tasks, model.epsilon),
            },
            opening_weights(rates, model.a1, model.a2, model.epsilon),
        )

    def load_exponential(latents: Latents, corpus: Corpus, model: Any) -> SparseTransferState:
        if any(weight.offset.size for weight in model.length_weights(Design.of(corpus))):
            raise ValueError(
                'sparse_transfer: variant "collapsed": expected lengths="document", or tasks of one document '
                f'with lengths="task"; found lengths={model.lengths!r}'
            )
        return load(latents, corpus, model)

    def make(sweep: Callable[..., bool], about: str, **fields: Any) -> Kernel:
        kernel = Kernel(
            load,
            Kernel.step_of(sweep, own_setup.with_room),
            _snapshot,
            own_setup.check,
            sweep,
            about=about,
            token_step="augmented",
            with_room=own_setup.with_room,
            counts=dirichlet_counts,
        )
        return replace(kernel, **fields)

    return {
        "masks": make(
            own_sweeps.mask_sweep, "masks and ghosts represented, sticks integrated out; any lengths"
        ),
        "collapsed": make(
            own_sweeps.collapsed_sweep,
            "tokens move with all empty masks and ghosts integrated out; for lengths of documents",
            load=load_exponential,
            requires={"lengths": "document"},
        ),
        "slice": make(own_sweeps.slice_sweep, "sticks above a random height represented; any lengths"),
        "published": make(
            own_published.published_sweep, "Algorithm 1 of the paper, for comparison", exact=False
        ),
    }


def _snapshot(state: SparseTransferState) -> Latents:
    k = int(state.topics.n_topics[0])
    return {
        "z": state.tokens.topic.astype(np.int64),
        "log_weight": state.masks.log_weight[:, :k].copy(),
        "shape": state.masks.shape[:k].copy(),
        "alpha": np.array(state.prior.alpha[0]),
        "eta": np.array(state.topics.eta[0]),
    }
