"""Malformed input of every kind: it is taken, or refused in one line; it never breaks anything.

One file a kind of input: ``test_corpora.py``, ``test_fits.py``, ``test_options.py``; ``test_checkpoints.py``
disturbs chains. The tests run in two profiles: ``short``, a few examples that are always the same; and
``long``, many with a seed, by ``make fuzz SEED=7 MINUTES=60``.
"""

import faulthandler
from datetime import timedelta

import numpy as np
import pytest
from bnpzoo.cli.app import app
from bnpzoo.zoo import models
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.formats import write_corpus
from bnpzoo.zoo.inference import sample
from hypothesis import HealthCheck, settings
from typer.testing import CliRunner

SLOWEST = 10.0
"""Seconds that an example may take in the long profile."""

HANGS = 120.0
"""Seconds after which the process is ended, with a traceback."""

_COMMON = {"database": None, "suppress_health_check": list(HealthCheck), "print_blob": True}
settings.register_profile("short", max_examples=15, derandomize=True, deadline=None, **_COMMON)
settings.register_profile("long", max_examples=400, deadline=timedelta(seconds=SLOWEST), **_COMMON)


def pytest_configure(config):
    """Take the profile ``short`` unless another is asked for."""
    if config.getoption("--hypothesis-profile", default=None) is None:
        settings.load_profile("short")


@pytest.fixture(autouse=True)
def nothing_hangs():
    faulthandler.dump_traceback_later(HANGS * (1 if settings().max_examples < 100 else 20), exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session")
def corpus():
    """Grouped, with covariates and a part held out, and words that are not harmless."""
    design = Design(
        np.full(12, 10),
        8,
        np.arange(12) % 2,
        covariates={"is_test": np.arange(12) >= 8, "age": np.arange(12.0)},
    )
    return models.get("lda", n_topics=2).simulate(design, np.random.default_rng(0)).corpus


@pytest.fixture(scope="session")
def corpus_file(corpus, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "corpus.npz"
    write_corpus(corpus, path)
    return path


class _Fits(dict):
    """Fits that are told in one word: Hypothesis warns of a long one, and hides with that what has failed."""

    def __repr__(self):
        return "fits"


@pytest.fixture(scope="session")
def fits(corpus):
    """Two short runs of each of some models, by name."""
    training, _ = corpus.split()
    return _Fits(
        {
            name: [
                sample(models.get(name), training, chains=2, tune=2, draws=8, seed=seed) for seed in (1, 2)
            ]
            for name in ("lda", "hdp", "hpyp")
        }
    )


@pytest.fixture(scope="session")
def run():
    """Run ``bnpzoo`` with these arguments; return its exit code, and fail unless it ends as a command may."""

    def run(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code in (0, 1, 2, 3)
        if result.exit_code == 2:
            errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
            assert len(errors) == 1 or "Usage:" in result.stderr, result.stderr
        return result.exit_code

    return run
