"""Full corpora, what should be the same in two of them, and a CmdStan that compiles in no time."""

import os
import shutil
import signal
import sys
from dataclasses import fields
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import stan_compiler
from bnpzoo import Corpus
from bnpzoo.zoo.corpus.associations import Associations
from scipy import sparse


def pytest_addoption(parser):
    parser.addoption(
        "--anew", action="store_true", help="heavy tests judge again what the books have a current verdict on"
    )


def pytest_configure(config):
    """Let all Stan programs share one header; hear Ctrl-C, which jobs in the background ignore.

    What JAX compiles is kept as well, however small: half of the time of tests of NumPyro programs.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = config.rootpath / ".pytest_cache"
    os.environ.update(stan_compiler.environment(folder / "stan-header"))
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder / "xla"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


@pytest.fixture(scope="session")
def stored_verdicts(request):
    """Read what the books say of each case; nothing, where all is to be judged anew."""
    from bnpzoo.diagnostics.laboratory.archive import Books

    return {} if request.config.getoption("anew") else {record.case: record for record in Books().records()}


@pytest.fixture
def judged(request):
    """Return what judges a case: it climbs, unless a heavy test asks and the books have a current verdict."""
    from judging import judge

    is_heavy = request.node.get_closest_marker("heavy") is not None
    return partial(judge, stored=request.getfixturevalue("stored_verdicts") if is_heavy else {})


@pytest.fixture(scope="session")
def full_corpus():
    """Make a corpus with every optional field, empty documents, unused words, groups and labels."""

    def full_corpus(seed: int, n_documents: int = 8) -> Corpus:
        rng = np.random.default_rng(seed)
        n_words, n = int(rng.integers(1, 12)), n_documents
        lengths = rng.poisson(3, n) * rng.integers(0, 2, n)
        lengths[rng.integers(n)] += 2
        doc_ptr = np.concatenate([[0], np.cumsum(lengths)])
        authors = rng.random((n, 4)) < 0.4
        authors[:, -1] = False
        return Corpus(
            rng.integers(n_words, size=doc_ptr[-1]),
            doc_ptr,
            [f"Wörd {w}\u2028\x85" for w in range(n_words - 1)] + [""],
            group=rng.integers(2, size=n),
            group_names=["x", "ÿ", "without documents"],
            segment_ptr=np.union1d(doc_ptr, rng.integers(doc_ptr[-1] + 1, size=3)),
            covariates={
                "is_test": rng.random(n) < 0.5,
                "rating": rng.normal(size=n).astype(np.float32),
                "label": rng.integers(2, size=n).astype(np.uint8),
                "file": [f"document {d}\u2028" for d in range(n)],
                "east/north": rng.normal(size=(n, 2)),
                "images": rng.integers(9, size=(n, 2, 3)),
                "author": sparse.csr_array(authors),
                "nobody": sparse.csr_array((n, 0)),
            },
            covariate_names={"label": ["no", "yes"], "east/north": ["east", "north"], "author": [*"abcd"]},
            in_order=True,
            associations=Associations.of(rng.random((3, n_words, n_words)), normalise=True),
        )

    return full_corpus


def _differ(a, b) -> bool:
    """Whether two fields of corpora differ; the byte order and the width of text do not count."""
    if isinstance(a, dict):
        return a.keys() != b.keys() or any(_differ(a[name], b[name]) for name in a)
    if isinstance(a, Associations):
        return any(_differ(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    if sparse.issparse(a):
        return a.shape != b.shape or a.dtype != b.dtype or (a != b).nnz > 0
    if isinstance(a, np.ndarray):
        same_kind = a.dtype.kind == b.dtype.kind == "U" or a.dtype.newbyteorder("=") == b.dtype
        return not (same_kind and np.array_equal(a, b))
    return type(a) is not type(b) or a != b


@pytest.fixture(scope="session")
def differences():
    """List the names of the fields in which two corpora differ."""

    def differences(a: Corpus, b: Corpus) -> list[str]:
        return [f.name for f in fields(Corpus) if _differ(getattr(a, f.name), getattr(b, f.name))]

    return differences


@pytest.fixture
def fake_cmdstan(tmp_path, monkeypatch):
    """Folder of the CmdStan that is found; the cache of programs is empty. See ``zoo/fake_cmdstan``."""
    pytest.importorskip("cmdstanpy")
    if shutil.which("make") is None:
        pytest.skip("needs make")
    folder = tmp_path / "cmdstan-9.9.9"  # not its version
    shutil.copytree(Path(__file__).parent / "zoo" / "fake_cmdstan", folder)
    monkeypatch.setenv("CMDSTAN", str(folder))
    monkeypatch.setenv("PYTHON", sys.executable)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder
