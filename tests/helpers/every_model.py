"""All models of the registry, for tests of what each must satisfy: how they are made, and their samplers."""

import numpy as np
import pytest
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus.associations import Associations
from bnpzoo.zoo.models import combinations, get
from samplers import is_of_a_family, of_sampler


def associations(n_words):
    """Words that may become any other, in two groups; for the models that need them."""
    rng = np.random.default_rng(n_words)
    return Associations.of(rng.dirichlet(np.ones(n_words), (2, n_words)).transpose(0, 2, 1))


DESIGN = Design(
    np.array([6, 0, 9, 4, 7]),
    6,
    group=np.array([0, 1, 1, 0, 1]),
    associations=associations(6),
    segment_ptr=np.array([0, 2, 6, 9, 11, 15, 19, 21, 22, 26]),
)

EDGES = {"hpyp": {"b": -0.2}, "pyp": {"a": 0.0}}
"""Values in place of those of the settings, at which a hyperparameter is what it seldom is."""

OPTIONS = {
    f"{model_id} with {topics} topics" if topics else model_id: (model_id, {"topics": topics or None})
    for model_id, topics in combinations()
} | {
    "lda with an alpha a topic": ("lda", {"symmetric": False}),
    "lda with belief-network topics of one layer": ("lda", {"topics": "belief-network", "layers": 1}),
    "lda with belief-network topics of two layers": ("lda", {"topics": "belief-network", "layers": 2}),
    "hdsp of three topics": ("hdsp", {"n_topics": 3}),
    "whdsp of three topics": ("whdsp", {"n_topics": 3}),
    "pfa of three topics": ("pfa", {"n_topics": 3}),
    "gbn of three layers": ("gbn", {"n_layers": 3}),
    "was without a number of topics": ("was", {"n_topics": 0}),
    "sbp without a number of topics": ("sbp", {"n_topics": 0}),
    "tjb_hdp without a number of topics": ("tjb_hdp", {"n_topics": 0}),
}
"""All combinations of documents and topics, and a form that a setting makes: names of what `make` makes."""


def make(name, **arguments):
    """Model by its name among OPTIONS."""
    model_id, options = OPTIONS[name]
    return get(model_id, **options, **arguments)


every_model = pytest.mark.parametrize("which", OPTIONS)


def sampler(name, variant):
    """Parameters of a test on one sampler."""
    model_id, options = OPTIONS[name]
    by_default = options.keys() <= {"topics"}
    return of_sampler(
        by_default and is_of_a_family(model_id, options.get("topics") or "", variant), name, variant
    )


every_variant = pytest.mark.parametrize(
    ("which", "variant"), [sampler(name, variant) for name in OPTIONS for variant in make(name).kernels]
)

every_models_variant = pytest.mark.parametrize(
    ("which", "variant"),
    [
        sampler(name, variant)
        if i == 0 and (model_id in ("lda", "hdp") or not options.get("topics"))
        else pytest.param(name, variant, marks=pytest.mark.heavy)
        for name, (model_id, options) in OPTIONS.items()
        for i, variant in enumerate(make(name).kernels)
    ],
)
"""Of each model, and of each kind of topics with two of them, the first in every run."""

every_exact_variant = pytest.mark.parametrize(
    ("which", "variant"),
    [
        pytest.param(
            name, v, marks=pytest.mark.compiled if is_of_a_family(name, variant=v) else pytest.mark.heavy
        )
        for name in OPTIONS
        for v, kernel in make(name).kernels.items()
        if kernel.exact
    ],
)
"""One of each family in every run; `bnpzoo validate` puts all of them before this rung, too."""

every_side_of_documents = pytest.mark.parametrize(
    "which",
    [
        pytest.param(name, marks=[pytest.mark.heavy] * (not is_of_a_family(name)))
        for name, (_, options) in OPTIONS.items()
        if not options.get("topics")
    ],
)


def fixed(name, variant=None):
    """Model with all hyperparameters fixed."""
    return make(name).set_to("fixed").replaced(**EDGES.get(name, {}), **required(name, variant))


def without_responses(model):
    """Model whose data beside the words are fixed by the design."""
    return model.replaced(response="none") if "response" in model.spelled() else model


def required(name, variant):
    """Arguments without which a model does not have this variant."""
    return make(name).kernels[variant].requires if variant else {}


def simulated(name, seed=0, variant=None, **hyper):
    model = make(name, **hyper, **required(name, variant))
    return model, model.simulate(DESIGN, np.random.default_rng(seed))
