"""A runner of commands, a corpus on disk, and a fit of it."""

import numpy as np
import pytest
from bnpzoo.cli.app import app
from bnpzoo.zoo import models
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.formats import write_corpus
from bnpzoo.zoo.inference import sample, save
from typer.testing import CliRunner


@pytest.fixture(scope="session")
def run():
    """Run ``bnpzoo`` with these arguments; the result has exit_code, stdout and stderr."""

    def run(*arguments):
        return CliRunner().invoke(app, [str(a) for a in arguments])

    return run


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="session")
def model():
    return models.get("lda", n_topics=2, alpha=0.5, eta=0.5)


@pytest.fixture(scope="session")
def corpus(model):
    design = Design(
        np.full(12, 10), n_words=8, group=np.arange(12) % 2, covariates={"is_test": np.arange(12) >= 8}
    )
    return model.simulate(design, np.random.default_rng(0)).corpus


@pytest.fixture(scope="session")
def corpus_file(folder, corpus):
    path = folder / "corpus.npz"
    write_corpus(corpus, path)
    return path


@pytest.fixture(scope="session")
def fit_file(folder, corpus, model):
    """A fit of the training part, long enough to be judged."""
    return _fit_file(folder / "fit.nc", corpus, model, seed=1)


@pytest.fixture(scope="session")
def other_fit_file(folder, corpus, model):
    """Another run of the same."""
    return _fit_file(folder / "other.nc", corpus, model, seed=2)


def _fit_file(path, corpus, model, seed):
    training, _ = corpus.split("is_test")
    save(sample(model, training, chains=2, tune=50, draws=500, thin=8, seed=seed), path)
    return path
