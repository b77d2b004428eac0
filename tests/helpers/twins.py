"""The two programs of a reference, in NumPyro and in Stan, at the same points."""

import hashlib
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import bnpzoo
import jax
import numpy as np
from bnpzoo.diagnostics.laboratory.closure import closure, digest
from bnpzoo.diagnostics.laboratory.ladder import NOT_FOLLOWED, stan_tokens
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus.associations import Associations
from bnpzoo.zoo.families.buffet import reference
from bnpzoo.zoo.families.buffet.lengths import LENGTHS
from bnpzoo.zoo.inference import stan
from bnpzoo.zoo.inference.stan_engines import PyStan
from bnpzoo.zoo.toolbox.stan_data import stan_priors
from numpyro import handlers
from numpyro.infer import init_to_uniform
from numpyro.infer.util import constrain_fn, potential_energy

EVALUATE = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("stan_services", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
job = json.load(open(sys.argv[2]))
found = [
    {
        "log_density": [module.log_prob(data, point, True) for point in points],
        "gradient": [module.log_prob_grad(data, point, True) for point in points],
        "names": module.constrained_param_names(data),
        "values": [module.write_array(data, point, True, True) for point in points],
    }
    for data, points in job
]
json.dump(found, open(sys.argv[3], "w"))
"""

CORPORA = [
    Design(np.array([3, 0, 1, 2, 4, 2]), 5, np.array([2, 0, 1, 0, 2, 0])).corpus(
        np.array([0, 3, 3, 1, 4, 0, 0, 2, 2, 0, 1, 3])
    ),
    Design(np.array([1, 6, 0, 2, 1]), 4, np.array([1, 0, 1, 1, 0])).corpus(
        np.array([2, 0, 0, 0, 1, 3, 0, 3, 2, 1])
    ),
]
"""Documents, words, groups and topics differ in number; groups are not contiguous."""

TRUNCATIONS = 4, 3


def make(name):
    """Model and topics by name."""
    model_id, _, form = name.partition("/")
    if form == "asymmetric":
        return bnpzoo.get(model_id, symmetric=False)
    if form == "forward":
        return bnpzoo.get(model_id, forward=True)
    if form == "limited":
        return bnpzoo.get(model_id, n_topics=3)
    if form == "deep":
        return bnpzoo.get(model_id, n_layers=3)
    topics, _, layers = form.partition(":")
    return bnpzoo.get(model_id, topics=topics or None, **({"layers": int(layers)} if layers else {}))


def text_of(model):
    return stan.program_text(model.reference.stan_program, model.reference.stan_includes)


WHERE_FIXED = {"hpyp": {"b": -0.2}, "pfa": {"length_shape": 0.4}, "gbn": {"length_shape": 0.4}}
"""Values, by model, that the settings `fixed` do not have: with them each branch of a density is met."""


def model_of(name, purpose):
    """Model with a value or a prior of its own for each hyperparameter, so that no two can be swapped."""
    model = make(name).set_to(purpose)
    if purpose == "fixed":
        return model.replaced(**WHERE_FIXED.get(name.partition("/")[0], {}))
    priors = model.hyperparameters().items()
    return model.replaced(
        **{key: type(prior)(1.5 + 0.1 * i, 2.0 - 0.1 * i) for i, (key, prior) in enumerate(priors)}
    )


def partly_sampled(name):
    """Models with some hyperparameters sampled, others fixed; any two of them differ in some model."""
    sampled, fixed = (model_of(name, purpose) for purpose in ("prior", "fixed"))
    values = list(fixed.hyperparameters().items())
    for bit in range((len(values) - 1).bit_length()):
        yield sampled.replaced(**{key: value for i, (key, value) in enumerate(values) if i >> bit & 1})


def references_of(model, corpus, truncation):
    """NumPyro programs of a model and the data of the same Stan programs, one pair for each of its forms."""
    if model.card.id != "sparse_transfer":
        return [(model.reference.numpyro(corpus, truncation), model.reference.stan_data(corpus, truncation))]
    out = []
    for lengths, weak_limit in (*((form, False) for form in LENGTHS), ("task", True)):
        made = model.replaced(lengths=lengths)
        own = {key: value for key, value in made.spelled().items() if key != "topics"}
        program = reference.sparse_transfer(corpus, truncation, **own, weak_limit=weak_limit)
        data = reference.sparse_transfer_data(
            corpus, truncation, made.epsilon, made.a1, made.a2, lengths, weak_limit
        )
        out.append((program, data | stan_priors(made)))
    return out


def blocks_of(model):
    """Blocks of parameters in the order in which the Stan program declares them."""
    declared = re.search(r"^parameters \{\n(.*?)^\}", text_of(model), re.MULTILINE | re.DOTALL)[1]
    names = re.findall(r"(\w+);", re.sub(r"//.*", "", declared))
    return [name.removesuffix("_random") for name in names]


def points_of(program, blocks, n_points):
    """Unconstrained points, by block."""
    rng = np.random.default_rng(3)
    shapes = {}

    def collect():
        seeded = handlers.seed(program, jax.random.key(0))
        trace = handlers.trace(handlers.substitute(seeded, substitute_fn=init_to_uniform)).get_trace()
        for site in blocks:
            if site in trace and trace[site]["type"] == "sample":
                shapes[site] = trace[site]["value"].shape

    jax.eval_shape(collect)
    # Far out as well, where the shapes of the second and third level fall towards the floor.
    points = [
        {site: scale * rng.normal(size=shape) for site, shape in shapes.items()}
        for scale in np.geomspace(0.2, 3.0, n_points)
    ]
    if "weight_log_h" in shapes:
        # Weights of e^-724, which JAX rounds to zero and Stan does not: no mask is empty for that.
        x = np.log(724.0) + np.broadcast_to(points[1]["shape"], shapes["weight_x"])
        points.append(points[1] | {"weight_log_h": np.zeros(shapes["weight_log_h"]), "weight_x": x})
    return points


def flat(values, order):
    """Values of blocks laid end to end in that order; each with its points first."""
    return np.concatenate([np.reshape(values[site], (len(values[site]), -1)) for site in order], 1)


def laid_out(points):
    """Points as rows of numbers."""
    return flat({site: np.stack([point[site] for point in points]) for site in points[0]}, points[0])


def jsonable(data):
    return {key: np.asarray(value).tolist() for key, value in data.items()}


class Evaluated(NamedTuple):
    """A program at unconstrained points.

    Attributes
    ----------
    log_density : float (P,)
    gradient : float (P, n)
    quantities : mapping of str to float (P, …)
        All that is saved of a draw; empty where the engine does not tell.
    """

    log_density: np.ndarray
    gradient: np.ndarray
    quantities: Mapping[str, np.ndarray]


def by_numpyro(program, points):
    def at(point):
        value, slope = jax.value_and_grad(lambda x: -potential_energy(program, (), {}, x))(point)
        return value, slope, constrain_fn(program, (), {}, point, return_deterministic=True)

    value, slope, saved = jax.jit(jax.vmap(at))({k: np.stack([p[k] for p in points]) for k in points[0]})
    return Evaluated(
        np.asarray(value), flat(slope, points[0]), {key: np.asarray(x) for key, x in saved.items()}
    )


def by_stan(engine, program, jobs, folder):
    """Evaluate a program on each set of data, at points of its own."""
    jobs = [(jsonable(data), laid_out(points).tolist()) for data, points in jobs]
    compiled = engine.compile(program)
    if isinstance(engine, PyStan):
        (folder / "job.json").write_text(json.dumps(jobs))
        script = [sys.executable, "-c", EVALUATE, compiled, folder / "job.json", folder / "out.json"]
        subprocess.run(script, check=True, capture_output=True)
        return [
            Evaluated(
                np.array(x["log_density"]),
                np.array(x["gradient"]),
                by_name(x["names"], np.array(x["values"])),
            )
            for x in json.loads((folder / "out.json").read_text())
        ]

    def at(given, point):
        (folder / "data.json").write_text(json.dumps(given))
        (folder / "point.json").write_text(json.dumps({"params_r": point}))
        files = ["data", f"file={folder}/data.json", "output", f"file={folder}/out.csv", "sig_figs=18"]
        method = ["method=log_prob", f"unconstrained_params={folder}/point.json"]
        subprocess.run([compiled, *files, *method], check=True, capture_output=True)
        lines = [line for line in (folder / "out.csv").read_text().splitlines() if line[:1] not in ("#", "")]
        return [float(x) for x in lines[1].split(",")]

    rows = [np.array([at(data, point) for point in points]) for data, points in jobs]
    return [Evaluated(row[:, 0], row[:, 1:], {}) for row in rows]


def by_name(names, values):
    """Arrays of what Stan names ``theta.2.1``, in any order, its points first."""
    places = defaultdict(list)
    for column, name in enumerate(names):
        stem, *index = name.split(".")
        places[stem].append((column, tuple(int(i) - 1 for i in index)))
    out = {}
    for stem, entries in places.items():
        shape = tuple(np.max([index for _, index in entries], axis=0) + 1) if entries[0][1] else ()
        out[stem] = np.zeros((len(values), *shape))
        for column, index in entries:
            out[stem][(slice(None), *index)] = values[:, column]
    return out


def differences(theirs, ours):
    """Largest differences, of numbers relative to one plus their size; for the page of evidence."""

    def largest(pairs):
        return max(
            (float(np.max(np.abs(x - y) / (1.0 + np.abs(y)))) for x, y in pairs if y.size), default=0.0
        )

    pairs = [*zip(theirs, ours, strict=True)]
    return {
        "density": largest((np.diff(x.log_density), np.diff(y.log_density)) for x, y in pairs),
        "gradient": largest((x.gradient, y.gradient) for x, y in pairs),
        "saved": largest(
            (x.quantities[key], np.reshape(y.quantities[key], x.quantities[key].shape))
            for x, y in pairs
            for key in x.quantities.keys() & y.quantities.keys()
        ),
    }


def fingerprint_of(engine, models):
    """Hash of what figures of models depend on: both programs, the values of the models, and this file."""
    model = models[0]
    definitions = closure((*map(type, model.parts()), type(model).reference.fget), without=NOT_FOLLOWED)
    here = Path(__file__).read_text(encoding="utf-8")
    told = [digest(definitions), stan_tokens(model.reference), engine.name, repr(models), here]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]


def evaluated(engine, models, which, n_points, folder):
    """All forms of models of one Stan program, on one corpus, by Stan and by NumPyro."""
    corpus = replace(CORPORA[which], associations=associations_of(CORPORA[which]))
    jobs, ours = [], []
    with jax.enable_x64(True):
        for model in models:
            programs, data = zip(*references_of(model, corpus, TRUNCATIONS[which]), strict=True)
            points = points_of(programs[0], blocks_of(model), n_points)
            jobs += [(given, points) for given in data]
            ours += [by_numpyro(program, points) for program in programs]
    return by_stan(engine, text_of(models[0]), jobs, folder), ours


def assert_twins(engine, theirs, ours, parameters):
    """Whether densities differ by a constant, gradients and what is saved of `parameters` not at all."""
    changes = np.array([np.diff(x.log_density) for x in ours])
    assert np.unique(changes, axis=0).shape == changes.shape  # no form stands in for another
    for one, other in zip(theirs, ours, strict=True):
        assert np.isfinite(other.log_density).all()
        np.testing.assert_allclose(
            np.diff(one.log_density), np.diff(other.log_density), rtol=1e-10, atol=1e-8
        )
        np.testing.assert_allclose(one.gradient, other.gradient, rtol=1e-8, atol=1e-8)
        for key in one.quantities.keys() & {*parameters}:
            expected = np.reshape(other.quantities[key], one.quantities[key].shape)
            np.testing.assert_allclose(one.quantities[key], expected, rtol=1e-8, atol=1e-300, err_msg=key)
    if isinstance(engine, PyStan):
        assert all(one.quantities.keys() >= {*parameters} for one in theirs)


def associations_of(corpus):
    """Words that may become two others in each group, as likely as no other word."""
    n = corpus.n_words
    shifts = [np.diag(np.linspace(0.3, 0.7 + 0.1 * g, n)) for g in range(corpus.n_groups)]
    return Associations.of(
        [stays + np.roll(np.eye(n) - stays, g + 1, axis=0) for g, stays in enumerate(shifts)]
    )
