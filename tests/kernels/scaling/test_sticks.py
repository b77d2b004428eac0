"""Topics that sticks are broken for: their scales."""

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.ladder import DESIGN
from bnpzoo.diagnostics.laboratory.mutants.registry import mutant_by_id
from bnpzoo.diagnostics.laboratory.patched import PLAIN_PYTHON, load_room
from bnpzoo.kernels.scaling import sticks
from bnpzoo.zoo.models import get


@pytest.mark.parametrize("model_id", ["hdsp", "whdsp"])
@pytest.mark.parametrize("mutant", ["", "scaling-new-scales-of-one"])
def test_a_new_topic_has_the_scales_that_its_log_scales_say(model_id, mutant):
    """The product over labels, each to the power of its value; those of all rows, one of which has none."""
    changes = [mutant_by_id(mutant).change] if mutant else []
    room, model = load_room(*changes, PLAIN_PYTHON), get(model_id).set_to("prior")
    latents, corpus = model.simulate(DESIGN, np.random.default_rng(0))
    documents = model.kernels_in(room)["auxiliary"].load(latents, corpus, model).documents
    rows, _ = model.rows_at(latents, corpus)
    documents.next_law_parameters[:] = 1.5, 0.5
    for seed in range(20):
        log_scale, scale = np.empty(documents.log_scale.shape[0]), np.empty(documents.scale.shape[0])
        room(sticks).draw_scale(np.random.default_rng(seed), documents, log_scale, scale)
        assert np.allclose(scale, np.exp(rows @ log_scale)) == (not mutant)
