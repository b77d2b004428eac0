"""Golden data: what every sampler draws and what every reference program computes, as they are today.

    python tests/golden/make.py [MODEL ...] [--parts draws numpyro stan]

writes ``tests/golden/PART/MODEL.npz``, for all parts and all models of the registry unless told otherwise;
``test_golden.py`` computes the same again and compares. A refactoring leaves these files alone. Only a
deliberate change of a sampler or of a program may renew them, and the message of its commit says why.

``draws``: every variant of every model, `SWEEPS` sweeps from unseated tokens with a reload half-way, with
hyperparameters fixed and with hyperparameters sampled. Kept are a checksum of all latents and the log joint
after each sweep, and the last latents. ``numpyro``, ``stan``: log densities and their gradients at `POINTS`
points in unconstrained space. All input is made here, so that it depends on no generator, default or prior of
the package. Bits of draws also hang on the C library's logarithms and on numba and NumPy: ``made_with`` says
which they were.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np

HERE = Path(__file__).parent
SWEEPS, POINTS, TRUNCATION, SEED = 24, 3, 3, 20130417
HOW_TO = "python tests/golden/make.py"

type Arrays = dict[str, np.ndarray]


class Setting(NamedTuple):
    """A model, and one with all hyperparameters fixed that says where its chain starts."""

    name: str
    model: Any
    start: Any


# How the package is called: the only lines to follow a change of its names.

from bnpzoo.zoo.corpus import Corpus  # noqa: E402
from bnpzoo.zoo.corpus.associations import Associations  # noqa: E402
from bnpzoo.zoo.inference.stan import find_stan, program_text  # noqa: E402
from bnpzoo.zoo.models import MODELS, get  # noqa: E402
from bnpzoo.zoo.priors import Beta, Gamma  # noqa: E402

SAMPLED = {Gamma: Gamma(2.0, 1.0), Beta: Beta(2.0, 2.0)}
"""Prior of every hyperparameter that is sampled, by the kind that it may have."""

START = {Gamma: 40.0, Beta: 0.5}
"""Where the sampled ones start: so high that the first sweep needs more room for topics than there is."""

CHOICES: dict[str, tuple[Any, ...]] = {
    "n_topics": (5,), "epsilon": (0.6,), "a1": (2.0,), "a2": (0.8,), "lengths": ("task", "document", "none"),
    "window": (4,), "order": ("round_robin", "reading"), "most_tables": (0,), "most_dishes": (0,),
    "n_dishes": (4,), "layers": (1, 2, 3), "width": (4,),
}  # fmt: skip
"""Values of other arguments of the models; those that are not here stay as they are by default."""

CHOICES_OF: dict[str, dict[str, tuple[Any, ...]]] = {
    "hdsp": {"n_topics": (0, 5), "missing": ("", "c")},
    "whdsp": {"n_topics": (0, 5), "labels": ("group, group:number",), "missing": ("", "c")},
    "labeled_lda": {"common": (2,)}, "partially_labeled_lda": {"topics_per_label": (3,), "common": (2,)},
    "dmr": {"labels": ("group, group:number",)}, "slda": {"response": ("group, group:number",)},
    "medlda": {"response": ("group, group:number",)}, "shdp": {"response": ("group, group:number",)},
    "pfa": {"n_topics": (0, 5)}, "gbn": {"n_layers": (2, 3)},
    "was.unbounded": {"n_topics": (0,)}, "sbp.unbounded": {"n_topics": (0,)},
    "tjb_hdp.unbounded": {"n_topics": (0,)},
}  # fmt: skip
"""Of a model, in place of those for all."""


GOLDEN: dict[str, tuple[str, dict[str, Any]]] = {model_id: (model_id, {}) for model_id in MODELS} | {
    "lda.belief-network": ("lda", {"topics": "belief-network"}),
    "hdp.belief-network": ("hdp", {"topics": "belief-network"}),
    "was.unbounded": ("was", {"n_topics": 0}),
    "sbp.unbounded": ("sbp", {"n_topics": 0}),
    "tjb_hdp.unbounded": ("tjb_hdp", {"n_topics": 0}),
}
"""Models, and forms that no model has by default: a name for each, the model, and its arguments."""


def maker(name: str) -> Any:
    """How one of them is made."""
    model_id, arguments = GOLDEN[name]
    return partial(get, model_id, **arguments)


def fixed_values(model: Any) -> dict[str, float]:
    """Of every hyperparameter, a value of its own."""
    kinds = {name: model.range_of(name).prior for name in sorted(model.hyperparameters())}
    return {name: 0.6 if kind is Beta else 1.2 / (1 + i) for i, (name, kind) in enumerate(kinds.items())}


def settings(model_id: str, required: Mapping[str, Any] | None = None) -> Iterator[Setting]:
    """Every way in which a model is set, hyperparameters fixed and sampled; with what a variant requires."""
    make = maker(model_id)
    default, spelled = make(), make().spelled()
    hyper = default.hyperparameters()
    own = CHOICES | CHOICES_OF.get(model_id, {})
    choices = {name: (value,) for name, value in spelled.items()} | own
    choices |= {name: (value,) for name, value in (required or {}).items()}
    others = [name for name in spelled if name not in hyper]
    for values in product(*(choices[name] for name in others)):
        chosen = dict(zip(others, values, strict=True))
        told = [f" {name}={value}" for name, value in chosen.items() if len(own.get(name, ())) > 1]
        fixed = make(**fixed_values(default), **chosen)
        yield Setting("".join(["fixed", *told]), fixed, fixed)
        kinds = {name: default.range_of(name).prior for name in hyper}
        sampled = make(**{name: SAMPLED[kind] for name, kind in kinds.items()}, **chosen)
        start = make(**{name: START[kind] for name, kind in kinds.items()}, **chosen)
        yield Setting("".join(["sampled", *told]), sampled, start)


def reference_settings(model_id: str) -> list[Setting]:
    """Those with sampled hyperparameters, where a density depends on all that it can."""
    made = (setting for setting in settings(model_id) if setting.name.startswith("sampled"))
    return [setting for setting in made if setting.model.reference is not None]


def draws(model_id: str, variant: str, kind: str = "") -> Arrays:
    """Run one variant of a model in all settings, or in those whose names start with ``kind``."""
    kernel, corpus, out = maker(model_id)().kernels[variant], irregular_corpus(), {}
    for setting in settings(model_id, kernel.requires):
        if not setting.name.startswith(kind):
            continue
        model, rng = setting.model, np.random.default_rng(SEED)
        latents = setting.start.initial_latents(corpus, np.random.default_rng(SEED))
        checksum, log_joint = np.zeros(SWEEPS, np.uint32), np.zeros(SWEEPS)
        for i in range(SWEEPS):
            if i % (SWEEPS // 2) == 0:
                state = kernel.load(latents, corpus, model)
            state = kernel.step(rng, state)
            kernel.check(state)
            latents = kernel.snapshot(state)
            checksum[i], log_joint[i] = checksum_of(latents), model.log_joint(latents, corpus)
        found = {name: smallest(x) for name, x in latents.items()}
        found |= {"checksum": checksum, "log_joint": log_joint}
        out |= {f"{variant}/{setting.name}/{name}": x for name, x in found.items()}
    return out


def numpyro(model_id: str) -> Arrays:
    """Log densities and gradients of a model's NumPyro program."""
    import jax
    from numpyro.infer.util import potential_energy

    def log_density(program: Any, point: Arrays) -> Any:
        return -potential_energy(program, (), {}, point)

    corpus, out = micro_corpus(), {}
    with jax.enable_x64(True):
        for setting in reference_settings(model_id):
            program = setting.model.reference.numpyro(corpus, TRUNCATION)
            at = jax.jit(jax.value_and_grad(partial(log_density, program)))
            found = [at(point) for point in points(unconstrained_shapes(program))]
            out[f"{setting.name}/log_density"] = np.array([value for value, _ in found], float)
            out[f"{setting.name}/gradient"] = np.array([flat(gradient) for _, gradient in found])
    return out


def unconstrained_shapes(program: Any) -> dict[str, tuple[int, ...]]:
    """Shapes of a NumPyro program's latent sites in unconstrained space, by name."""
    import jax
    from numpyro import handlers
    from numpyro.distributions import biject_to
    from numpyro.infer import init_to_uniform

    sites = {}

    def collect() -> None:  # traced without being run, which saves the compiling of samplers
        started = handlers.substitute(
            handlers.seed(program, jax.random.key(0)), substitute_fn=init_to_uniform
        )
        sites.update(handlers.trace(started).get_trace())

    jax.eval_shape(collect)
    return {
        name: biject_to(site["fn"].support).inverse_shape(np.shape(site["value"]))
        for name, site in sorted(sites.items())
        if site["type"] == "sample" and not site["is_observed"]
    }


def stan(model_id: str) -> Arrays:
    """Log densities and gradients of a model's Stan program, from PyStan in a process of its own.

    The points are not those of NumPyro: of that program only the number of parameters is used, so that the
    order of them, which `tests/zoo/test_stan.py` sees to, plays no part.
    """
    import jax

    corpus, jobs, program = micro_corpus(), {}, ""
    for setting in reference_settings(model_id):
        with jax.enable_x64(True):
            shapes = unconstrained_shapes(setting.model.reference.numpyro(corpus, TRUNCATION))
        data = setting.model.reference.stan_data(corpus, TRUNCATION)
        jobs[setting.name] = {
            "data": {name: np.asarray(value).tolist() for name, value in data.items()},
            "points": [flat(point).tolist() for point in points(shapes)],
        }
        program = program_text(setting.model.reference.stan_program, setting.model.reference.stan_includes)
    found = run_pystan(program, jobs)
    return {f"{setting}/{name}": np.array(x) for setting, of in found.items() for name, x in of.items()}


def has_pystan() -> bool:
    """Whether Stan programs can be evaluated."""
    try:
        return find_stan().name == "pystan"
    except RuntimeError:
        return False


def parts(model_id: str) -> dict[str, Any]:
    """How each part of a model's golden data is computed."""
    model = maker(model_id)()
    of_samplers = {
        "draws": lambda: {k: v for name in model.kernels for k, v in draws(model_id, name).items()}
    }
    of_programs = {"numpyro": lambda: numpyro(model_id), "stan": lambda: stan(model_id)}
    return of_samplers | (of_programs if model.reference is not None else {})


# What the package is given.


def irregular_corpus() -> Corpus:
    """Documents of no, one and many tokens, three groups and one more without documents, associations."""
    rng, n_words = np.random.default_rng(SEED), 40
    lengths = [25, 0, 1, 30, 240, 2, 18, 1, 0, 33, 60, 5, 21, 0]
    group = [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 1]
    frequency = 1.0 / np.arange(1, n_words + 1)
    words = [rng.choice(n_words, n, p=rng.dirichlet(4.0 * frequency)) for n in lengths]
    return Corpus(
        np.concatenate(words),
        np.concatenate([[0], np.cumsum(lengths)]),
        n_words=n_words,
        group=group,
        group_names=["a", "b", "c", "without documents"],
        associations=associations(rng, 4, n_words),
    )


def micro_corpus() -> Corpus:
    """Small enough for the references to be cheap."""
    words, lengths, n_words = [0, 0, 1, 2, 3, 3, 3, 3, 4, 1, 0, 2, 4, 4], [3, 0, 1, 6, 4], 5
    return Corpus(
        np.array(words),
        np.concatenate([[0], np.cumsum(lengths)]),
        n_words=n_words,
        group=[0, 1, 1, 0, 2],
        associations=associations(np.random.default_rng(SEED), 3, n_words),
    )


def associations(rng: np.random.Generator, n_groups: int, n_words: int) -> Associations:
    """Words that stay or become one of a few others; none has an empty row."""
    matrices = rng.random((n_groups, n_words, n_words)) * (rng.random((n_groups, n_words, n_words)) < 0.1)
    matrices += np.eye(n_words)
    return Associations.of(list(matrices / matrices.sum(axis=1, keepdims=True)))


def points(shapes: Mapping[str, tuple[int, ...]]) -> list[Arrays]:
    """Points near the origin and far from it, by site."""
    rng = np.random.default_rng(SEED)
    return [
        {name: scale * rng.normal(size=shape) for name, shape in shapes.items()}
        for scale in np.geomspace(0.3, 3.0, POINTS)
    ]


# How it is stored.


def flat(blocks: Mapping[str, Any]) -> np.ndarray:
    """All blocks laid end to end, in the order of their names."""
    return np.concatenate([np.ravel(blocks[name]) for name in sorted(blocks)])


def smallest(values: np.ndarray) -> np.ndarray:
    """Integers as narrow as they fit; other arrays as they are."""
    values = np.asarray(values)
    if values.dtype.kind != "i":
        return values
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    return values.astype(np.result_type(np.min_scalar_type(low), np.min_scalar_type(high)))


def checksum_of(latents: Mapping[str, np.ndarray]) -> int:
    """CRC-32 of the bytes of all latents, integers as int64."""
    crc = 0
    for name, values in sorted(latents.items()):
        kind = "<i8" if np.asarray(values).dtype.kind in "iub" else "<f8"
        crc = zlib.crc32(name.encode() + np.asarray(values, kind).tobytes(), crc)
    return crc


PYSTAN = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("stan_services", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
found = {}
for setting, job in json.load(open(sys.argv[2])).items():
    found[setting] = {
        "log_density": [module.log_prob(job["data"], point, True) for point in job["points"]],
        "gradient": [list(module.log_prob_grad(job["data"], point, True)) for point in job["points"]],
    }
json.dump(found, open(sys.argv[3], "w"))
"""


def run_pystan(program: str, jobs: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Evaluate log densities in a process of their own: PyStan is not safe beside JAX's threads."""
    compiled = find_stan().compile(program)
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder, "jobs.json"), Path(folder, "found.json")
        given.write_text(json.dumps(jobs))
        command = [sys.executable, "-P", "-c", PYSTAN, compiled, given, result]
        subprocess.run(command, check=True, capture_output=True, text=True)
        return json.loads(result.read_text())


def path_of(part: str, model_id: str) -> Path:
    """Where golden data are stored."""
    return HERE / part / f"{model_id}.npz"


def read(part: str, model_id: str) -> Arrays:
    """Stored golden data."""
    with np.load(path_of(part, model_id), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def write(part: str, model_id: str, arrays: Arrays) -> None:
    """Store golden data, in full or not at all."""
    path = path_of(part, model_id)
    path.parent.mkdir(exist_ok=True)
    beside = path.with_suffix(f".{os.getpid()}")
    with beside.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, made_with=np.array(made_with()), **arrays)
    beside.replace(path)


def made_with() -> str:
    """What the bits of draws hang on beside the package."""
    libc = "-".join(platform.libc_ver())
    return f"numpy {np.__version__}, numba {numba.__version__}, {platform.machine()}, {libc}"


def main() -> None:
    """Compute and store what the command line asks for."""
    parser = argparse.ArgumentParser(description="Make golden data; see the head of this file.")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="all of the registry by default")
    parser.add_argument("--parts", nargs="+", choices=("draws", "numpyro", "stan"), help="all by default")
    chosen = parser.parse_args()
    for model_id in chosen.models or GOLDEN:
        if model_id not in GOLDEN:
            parser.error(f"no model {model_id!r}; there are {', '.join(GOLDEN)}")
    wanted = chosen.parts or ["draws", "numpyro", "stan"]
    if "stan" in wanted and not has_pystan():
        parser.error("part stan needs PyStan and a C++ compiler, found none; choose other --parts")
    for model_id in chosen.models or GOLDEN:
        for part in wanted:
            write(part, model_id, parts(model_id)[part]())
            print(path_of(part, model_id).relative_to(HERE))


if __name__ == "__main__":
    main()
