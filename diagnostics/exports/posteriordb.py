"""A fit as an entry of posteriordb: data, Stan program, reference draws, and what is known of each.

The layout is that of posteriordb 1.0 [1]_. Reference draws are of test quantities, which do not depend on how
topics are numbered: draws of the program's own topics would have as many modes as topics have numberings.
Hyperparameters are parameters of the program; the other quantities are computed from its draws by bnpzoo.

References
----------
.. [1] M. Magnusson, J. Torgander, P.-C. Bürkner, L. Zhang, B. Carpenter, A. Vehtari (2025). posteriordb:
   testing, benchmarking and developing Bayesian inference algorithms. AISTATS.
"""

import json
import re
import zipfile
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from arviz_stats.base.array import array_stats

from ..._version import __version__
from ...zoo.contract import Model
from ...zoo.files import replace_on_success
from ...zoo.inference.convergence import ess, mcse, moves, rhat
from ...zoo.inference.results import corpus_of, model_of
from ...zoo.inference.stan import program_text
from ..compare import elements

N_DRAWS, N_CHAINS, RHAT, LAG_1 = 10_000, 4, 1.01, 0.05
"""What posteriordb asks of reference draws."""

ESS_WITHIN = 0.2
"""It also bounds effective sample sizes; this bound, a share of the number of draws, is ours."""

PACKAGES = ("numba", "numpy", "arviz-stats")

_stats: Any = array_stats  # its annotations are wider than what it returns for one quantity


def write_posteriordb(
    fit: xr.DataTree, folder: Path, name: str, *, truncation: int | None = None, added_by: str = "bnpzoo"
) -> list[str]:
    """Write a fit as an entry of posteriordb.

    Parameters
    ----------
    fit : DataTree
        As `sample` returns it; ten chains of a thousand thinned draws are what the database asks for.
    folder : Path
        Of the database: gets folders ``data``, ``models``, ``posteriors`` and ``reference_posteriors``.
    name : str
        Of the data: letters, digits and ``_``.
    truncation : int, optional
        Topics of the Stan program where their number is not fixed and the fit has no truncation of its own.
    added_by : str

    Returns
    -------
    list of str
        The database's checks that the draws do not pass, by name; empty for reference draws.

    Raises
    ------
    ValueError
        The model has no Stan program, a truncation is missing or contradicts the fit, a draw is not finite,
        the name is none, or other data have it.
    """
    if not re.fullmatch(r"\w+", name, re.ASCII):
        raise ValueError(f"name: expected letters, digits and _, found {name!r}")
    model, corpus = model_of(fit), corpus_of(fit)
    reference = model.require_reference()
    truncation = _truncation(fit, model, truncation)
    draws = dict(elements(fit))
    for quantity, values in draws.items():
        if not np.isfinite(values).all():
            raise ValueError(f"{quantity}: expected finite draws")
    data = reference.stan_data(corpus, truncation)
    title = f"{corpus.n_documents} documents, {corpus.n_tokens} tokens, {corpus.n_words} words"
    model_name, known = _model_name(model), {"added_by": added_by, "added_date": _today()}
    posterior = f"{name}-{model_name}"
    diagnostics = _diagnostics(draws)
    checks = _checks(diagnostics)
    info = {
        "name": posterior,
        "inference": _inference(fit),
        "diagnostics": diagnostics,
        "checks_made": checks,
        "comments": (
            "Test quantities that do not depend on how topics are numbered: hyperparameters are parameters "
            f"of the program, the others are computed from draws by bnpzoo {__version__}."
        ),
        **known,
        "versions": {"bnpzoo": __version__} | {package: version(package) for package in PACKAGES},
    }
    entry = _Entry(Path(folder))
    entry.check_not_other(f"data/data/{name}.json", _plain(data))
    entry.zipped(f"data/data/{name}.json", _plain(data))
    entry.json(
        f"data/info/{name}.info.json",
        {"name": name, "keywords": ["text"], "title": title, "data_file": f"data/data/{name}.json", **known},
    )
    code = f"models/stan/{model_name}.stan"
    entry.text(code, program_text(reference.stan_program, reference.stan_includes))
    entry.json(f"models/info/{model_name}.info.json", _model_info(model, model_name, code) | known)
    entry.json(
        f"posteriors/{posterior}.json",
        {
            "name": posterior,
            "keywords": ["topic model"],
            "model_name": model_name,
            "data_name": name,
            "reference_posterior_name": posterior if all(checks.values()) else None,
            "dimensions": _dimensions(fit),
            **known,
        },
    )
    chains = [{quantity: x[c].tolist() for quantity, x in draws.items()} for c in range(_n_chains(draws))]
    entry.zipped(f"reference_posteriors/draws/draws/{posterior}.json", chains)
    entry.json(f"reference_posteriors/draws/info/{posterior}.info.json", info)
    means = "reference_posteriors/summary_statistics/mean_value"
    entry.json(f"{means}/mean_value/{posterior}.json", _means(draws))
    entry.json(f"{means}/info/{posterior}.info.json", info)
    return [check for check, passed in checks.items() if not passed]


def _truncation(fit: xr.DataTree, model: Model, asked: int | None) -> int:
    """Topics of the Stan program, 0 where the model fixes them."""
    own = int(fit.attrs.get("truncation") or 0)
    if not model.require_reference().needs_truncation:
        if asked:
            raise ValueError(f"truncation: {model.label} has none, as its number of topics is fixed")
        return 0
    if asked and own and asked != own:
        raise ValueError(f"truncation: expected {own}, that of the fit, found {asked}")
    if not (asked or own):
        raise ValueError(f"{model.label}: expected a truncation, the most topics of the Stan program")
    return asked or own


class _Entry:
    """Files of an entry, each of which is there as a whole or not at all."""

    def __init__(self, folder: Path):
        self.folder = folder

    def text(self, path: str, text: str) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with replace_on_success(target) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def check_not_other(self, path: str, value: Any) -> None:
        """Raise ValueError where a zipped file is there already with another value."""
        target = self.folder / f"{path}.zip"
        if target.exists() and _unzipped(target) != value:
            raise ValueError(
                f"{target}: data of another fit have this name; expected another (--name), as the data hold "
                "the model's settings beside the corpus"
            )

    def json(self, path: str, value: Any) -> None:
        self.text(path, json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n")

    def zipped(self, path: str, value: Any) -> None:
        target = self.folder / f"{path}.zip"
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            replace_on_success(target) as temporary,
            zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive,
        ):
            archive.writestr(Path(path).name, json.dumps(value, allow_nan=False))


def _unzipped(path: Path) -> Any:
    """Value in a zipped JSON file; None if it is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.read(archive.namelist()[0]))
    except (zipfile.BadZipFile, IndexError, ValueError):
        return None


def _diagnostics(draws: dict[str, np.ndarray]) -> dict[str, Any]:
    """Of each quantity that moves; a constant has neither R-hat nor effective sample size."""
    moving = {name: x for name, x in draws.items() if moves(x)}
    return {
        "diagnostic_information": {"names": list(moving)},
        "ndraws": int(next(iter(draws.values())).size),
        "nchains": _n_chains(draws),
        "effective_sample_size_bulk": [ess(x) for x in moving.values()],
        "effective_sample_size_tail": [_tail_ess(x) for x in moving.values()],
        "r_hat": [rhat([x]) for x in moving.values()],
        "mean_lag1_ac": [_lag_1(x) for x in moving.values()],
    }


def _tail_ess(x: np.ndarray) -> float:
    return float(_stats.ess(x, method="tail", prob=(0.05, 0.95)))


def _lag_1(x: np.ndarray) -> float:
    """Autocorrelation of subsequent draws, the mean over chains that move; NaN where none does."""
    moving = x[[moves(chain) for chain in x]]
    if not len(moving):
        return float("nan")
    apart = moving - moving.mean(axis=1, keepdims=True)
    return float(np.mean((apart[:, 1:] * apart[:, :-1]).sum(axis=1) / (apart**2).sum(axis=1)))


def _checks(found: dict[str, Any]) -> dict[str, bool]:
    """Check what reference draws must be; what only NUTS has is left out, as a kernel has no trajectories."""
    n = found["ndraws"]
    sizes = np.array(found["effective_sample_size_bulk"] + found["effective_sample_size_tail"])
    return {
        "ndraws_is_gte_10k": n >= N_DRAWS,
        "nchains_is_gte_4": found["nchains"] >= N_CHAINS,
        "ess_within_bounds": bool(np.all(np.abs(sizes / n - 1.0) <= ESS_WITHIN)),
        "r_hat_below_1_01": bool(np.all(np.array(found["r_hat"]) < RHAT)),
        "abs_mean_lag1_ac_below_0_05": bool(np.all(np.abs(found["mean_lag1_ac"]) < LAG_1)),
    }


def _inference(fit: xr.DataTree) -> dict[str, Any]:
    names = ("backend", "variant", "tune", "thin", "seed", "start", "truncation")
    told = {name: _plain(fit.attrs[name]) for name in names if fit.attrs.get(name, "") != ""}
    sizes = {what: int(fit["posterior"].sizes[dim]) for what, dim in (("chains", "chain"), ("draws", "draw"))}
    method = "stan_sampling" if fit.attrs["backend"] == "stan" else f"bnpzoo_{fit.attrs['backend']}"
    return {"method": method, "method_arguments": told | sizes}


def _model_info(model: Model, name: str, code: str) -> dict[str, Any]:
    card = model.card
    return {
        "name": name,
        "title": card.title,
        "description": card.summary,
        "keywords": list(card.tags),
        "references": [card.bibtex_key],
        "prior": {"keywords": []},
        "model_implementations": {"stan": {"model_code": code, "stan_version": ">=2.33.0"}},
        "licence": "BSD3",
    }


def _model_name(model: Model) -> str:
    topics = model.spelled().get("topics", "dirichlet")
    own = type(model)().spelled().get("topics", "dirichlet")
    return (model.card.id if topics == own else f"{model.card.id}_{topics}").replace("-", "_")


def _dimensions(fit: xr.DataTree) -> dict[str, int]:
    found = fit["posterior"].dataset.data_vars.items()
    return {str(name): int(x.size // (x.sizes["chain"] * x.sizes["draw"])) for name, x in found}


def _means(draws: dict[str, np.ndarray]) -> dict[str, Any]:
    return {
        "names": list(draws),
        "mean_value": [float(x.mean()) for x in draws.values()],
        "mcse_mean": [mcse(x) for x in draws.values()],
    }


def _n_chains(draws: dict[str, np.ndarray]) -> int:
    return len(next(iter(draws.values())))


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _plain(value: Any) -> Any:
    """Return arrays, NumPy's numbers and numbers that are not finite as JSON has them."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
