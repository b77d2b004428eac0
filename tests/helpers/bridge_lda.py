"""Document sides of the families `lda`, `hdp` and `pitman_yor`, for bridges."""

import numpy as np
from bridge_toolbox import CORPUS, TRUNCATION, Documents, Shares, own_density, root_of_sticks

SHAPE = CORPUS.n_documents, TRUNCATION


def lda(model, values, sites):
    """One alpha, or one a topic."""
    alpha = values["alpha"]
    theta = Shares.of(values, "theta", np.broadcast_to(alpha, SHAPE))
    return Documents(theta, {"alpha": alpha[0] if alpha.size == 1 else alpha})


def an_alpha_a_group(model, values, sites):
    alpha = values["alpha"][CORPUS.group_of_doc, None]
    return Documents(Shares.of(values, "theta", np.broadcast_to(alpha, SHAPE)), {})


def hdp(model, values, sites):
    root = root_of_sticks(values)
    theta = Shares.of(values, "theta", np.broadcast_to(values["alpha"] * root, SHAPE))
    return Documents(theta, {"root": np.append(root, 0.0)}, own_density(values, sites, "sticks"))


def mt_hdp(model, values, sites):
    root = root_of_sticks(values)
    tasks = Shares.of(values, "tasks", values["alpha0"] * root)
    share = np.exp(tasks.log_share)
    theta = Shares.of(values, "theta", (values["alpha"][:, None] * share)[CORPUS.group_of_doc])
    latents = {
        "root": np.append(root, 0.0),
        "tasks": np.column_stack([share, np.zeros(CORPUS.n_groups)]),
    }
    return Documents(theta, latents, own_density(values, sites, "sticks") + tasks.log_density)
