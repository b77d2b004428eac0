"""Where NUTS starts in NumPyro; other tests show that the program in Stan has the same density."""

import bnpzoo
import jax
import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import REFERENCE_DESIGNS
from bnpzoo.zoo.inference.nuts import INIT_RADIUS
from numpyro.infer import init_to_uniform
from numpyro.infer.util import initialize_model


def of_order_one():
    return bnpzoo.get("lda", topics="belief-network", n_topics=3).set_to("reference")


def as_users_have_it():
    """Of the popularities most are tiny."""
    return bnpzoo.get("lda", topics=bnpzoo.BeliefNetwork(), n_topics=3)


@pytest.mark.parametrize("make", [of_order_one, as_users_have_it])
def test_chains_start_where_topics_have_links(make):
    """From weights of exp(-e^20) the energy is so large that a chain does not come back."""
    design = REFERENCE_DESIGNS[False]
    corpus = design.corpus(np.arange(42) % design.n_words)
    model = make()
    with jax.enable_x64(True):
        program = model.reference.numpyro(corpus, 0)
        for seed in range(3):
            start = initialize_model(
                jax.random.key(seed), program, init_strategy=init_to_uniform(radius=INIT_RADIUS)
            )
            assert np.min(start.postprocess_fn(start.param_info.z)["log_links"]) > -5.0
            assert start.param_info.potential_energy < 1e6
