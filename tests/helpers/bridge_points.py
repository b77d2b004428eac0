"""Where bridges are compared with references: points of their continuous parameters, drawn with one seed."""

from functools import cache

import jax
import numpy as np
from bnpzoo.zoo.models import get
from bridge_toolbox import TRUNCATION, corpus_of
from numpyro import handlers
from numpyro.infer import init_to_uniform
from numpyro.infer.util import log_density
from spelled_out import FORMS

POINTS = 3


@cache
def visited(name):
    """Return a model, and points of its reference: values of the sample sites, density, and all sites."""
    model, rng, found = make(name), np.random.default_rng(11), []
    program = model.reference.numpyro(corpus_of(model), TRUNCATION)
    with jax.enable_x64(True):
        for _ in range(POINTS):
            values = point(model, program, rng)
            density, sites = log_density(program, (), {}, values)
            sites = {key: site | {"value": np.asarray(site["value"])} for key, site in sites.items()}
            found.append((values, float(density), sites))
    return model, found


def make(name):
    """Model before the ladder, every hyperparameter under a prior of its own."""
    model_id, options = FORMS[name]
    model = get(model_id, **options).set_to("prior")
    return model.replaced(**{key: value for key, value in options.items() if key != "topics"})


def point(model, program, rng):
    """Values of all sample sites."""
    priors, out, shapes = model.hyperparameters(), {}, shapes_of(program)
    is_deep = not shapes.keys().isdisjoint({"popularity_x", "rates_x"})
    scale = 0.02 if is_deep else 1.0  # or layers upon layers of tiny shapes leave no word
    for name, shape in shapes.items():
        if name in priors:
            out[name] = np.asarray(priors[name].draw(rng, shape or None))
        elif name == "shape":
            out[name] = rng.gamma(2.0, 0.7, shape)
        elif name == "log_sticks":
            out[name] = -rng.exponential(1.0, shape)
        elif name == "cut":
            out[name] = rng.uniform(size=shape)
        elif name.endswith("_x"):
            out[name] = rng.exponential(scale, shape)
        else:
            out[name] = rng.normal(size=shape)
    return out


def shapes_of(program):
    """Shapes of the sample sites of a NumPyro program."""
    sites = {}

    def collect():
        seeded = handlers.seed(program, jax.random.key(0))
        sites.update(handlers.trace(handlers.substitute(seeded, substitute_fn=init_to_uniform)).get_trace())

    jax.eval_shape(collect)
    return {
        name: site["value"].shape
        for name, site in sites.items()
        if site["type"] == "sample" and not site["is_observed"]
    }
