"""``bnpzoo doctor``: what is installed and what works."""

import os
import platform
import sys
from importlib import metadata

from .console import print_json, print_table
from .options import Json

PACKAGES = (
    "bnpzoo", "numpy", "scipy", "numba", "jax", "numpyro", "arviz", "xarray",
    "cmdstanpy", "pystan", "scikit-learn", "zarr", "distributed", "sentencex", "gensim", "tomotopy",
)  # fmt: skip


def doctor(as_json: Json = False) -> None:
    """Say what is installed, whether Stan works, and which devices JAX sees."""
    findings = {
        "Python": f"{platform.python_version()} at {sys.executable}",
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "Stan": _stan(),
        "JAX devices": _jax_devices(),
        "kernel cache": _kernel_cache(),
    }
    versions = {name: _version(name) for name in PACKAGES}
    if as_json:
        print_json(findings | {"packages": versions})
    else:
        print_table("What works", ["", "found"], findings.items())
        print_table(
            "Packages", ["package", "version"], [(name, v or "not installed") for name, v in versions.items()]
        )


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _stan() -> str:
    from ..zoo.inference.stan_engines import StanMissing, find_stan

    try:
        return str(find_stan())
    except StanMissing as missing:
        return str(missing)


def _jax_devices() -> str:
    import jax

    return ", ".join(str(device) for device in jax.devices())


def _kernel_cache() -> str:
    from ..kernels.toolbox.jit import CACHE_DIRECTORY

    nearest = next(folder for folder in (CACHE_DIRECTORY, *CACHE_DIRECTORY.parents) if folder.exists())
    writable = (
        "" if os.access(nearest, os.W_OK) else " (not writable: kernels are compiled anew in every process)"
    )
    return f"{CACHE_DIRECTORY}{writable}"
