"""Draws of one's own sampler as a fit: the right ones agree with a kernel's, and what is no draw is named."""

import numpy as np
import pytest
from bnpzoo import Corpus, Gamma, as_fit, compare, get, load, sample, save
from bnpzoo.zoo.inference import ResultsError, latents_of

CORPUS = Corpus(np.array([0, 0, 1, 2, 2, 1, 0]), np.array([0, 3, 5, 7]), n_words=3)
LDA = get("lda", n_topics=2, alpha=0.7, eta=0.3)
DOCUMENTS = np.repeat(np.arange(3), np.diff(CORPUS.doc_ptr))


def own_chain(seed, draws, forgetful=False):
    """Collapsed Gibbs sampling of `LDA`; a forgetful one does not look at the words."""
    rng = np.random.default_rng(seed)
    z = rng.integers(2, size=CORPUS.n_tokens)
    for _ in range(draws):
        for i in range(z.size):
            others = np.arange(z.size) != i
            of_document, of_word = DOCUMENTS[i] == DOCUMENTS, CORPUS.words[i] == CORPUS.words
            beside, alike, all_words = (
                np.bincount(z[some & others], minlength=2) for some in (of_document, of_word, others)
            )
            weights = beside + 0.7
            if not forgetful:
                weights *= (alike + 0.3) / (all_words + 0.9)
            z[i] = rng.random() < weights[1] / weights.sum()
        yield z.copy()


@pytest.fixture(scope="module")
def kernel():
    return sample(LDA, CORPUS, chains=2, tune=50, draws=1000, seed=1)


@pytest.mark.compiled
@pytest.mark.parametrize(("forgetful", "verdict"), [(False, "agree"), (True, "disagree")])
def test_a_right_sampler_agrees_with_a_kernel_and_a_wrong_one_does_not(kernel, forgetful, verdict):
    chains = [list(own_chain(seed, 1000, forgetful)) for seed in (1, 2)]
    own = as_fit(LDA, CORPUS, chains, name="mine", seconds=2.0)
    assert compare({"kernel": kernel, "own": own}).verdict == verdict


def test_it_is_saved_and_read_as_any_fit(tmp_path):
    chains = [list(own_chain(seed, 30)) for seed in (1, 2)]
    own = as_fit(LDA, CORPUS, [chains[0], chains[1][:25]], name="mine", seconds=2.0)
    save(own, tmp_path / "own.nc")
    found = load(tmp_path / "own.nc")
    assert (found.attrs["backend"], found.attrs["variant"]) == ("own", "mine")
    assert dict(found["posterior"].sizes)["draw"] == 25
    assert float(found["sample_stats"]["seconds"].sum()) == pytest.approx(2.0)
    kept = list(latents_of(found))
    assert len(kept) == 20
    np.testing.assert_array_equal(kept[9][2]["z"], chains[0][24])
    assert found["posterior"]["n_topics"].values[1, 3] == np.unique(chains[1][3]).size


def test_floats_that_are_whole_are_topics_and_hyperparameters_may_be_plain_numbers():
    model = get("lda", n_topics=2, alpha=Gamma(1, 1), eta=0.3)
    own = as_fit(model, CORPUS, [[{"z": np.array([0.0, 1, 0, 1, 0, 1, 1])[::-1], "alpha": 0.5}]])
    assert own["posterior"]["alpha"].item() == 0.5
    assert own["posterior"]["same_topic"].dims == ("chain", "draw", "pair")


RIGHT = np.array([0, 1, 0, 1, 0, 1, 1])


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (RIGHT[:3], r"chain 0, draw 1: z: expected one a token \(7\), found shape \(3,\)"),
        (RIGHT + 1, "chain 0, draw 1: z: expected topics in 0..1, found 2"),
        (RIGHT - 1, "chain 0, draw 1: z: expected values in its range, found others"),
        (RIGHT + 0.5, "chain 0, draw 1: z: expected whole numbers, found others"),
        (RIGHT * np.nan, "chain 0, draw 1: z: expected whole numbers, found others"),
        (RIGHT.astype(str), "chain 0, draw 1: z: expected numbers on 1 axis, found <U21 of shape"),
        ({"topics": RIGHT}, "chain 0, draw 1: expected z, alpha, eta, found alpha, eta, topics"),
        ({"z": RIGHT, "alpha": 0.8}, "chain 0, draw 1: alpha: expected 0.7, at which it is fixed"),
        ({"z": RIGHT, "alpha": [0.7]}, r"alpha: expected numbers on 0 axes, found float64 of shape \(1,\)"),
    ],
)
def test_what_is_no_draw_of_the_model(draw, message):
    with pytest.raises(ResultsError, match=message):
        as_fit(LDA, CORPUS, [[RIGHT, draw]])


@pytest.mark.parametrize("chains", [[], [[RIGHT], []], np.zeros((0, 5, 7))])
def test_no_draws(chains):
    with pytest.raises(ResultsError, match="chains: expected at least one draw of each chain"):
        as_fit(LDA, CORPUS, chains)


def test_chains_may_come_one_after_the_other():
    """As from generators, of which nobody knows the length before."""
    own = as_fit(LDA, CORPUS, ((z for z in (RIGHT, 1 - RIGHT)) for _ in range(3)))
    assert own["posterior"].sizes["chain"] == 3
    assert own["posterior"].sizes["draw"] == 2


def test_what_is_no_model_and_no_chains():
    with pytest.raises(ResultsError, match=r"model: expected one that `bnpzoo.get` makes, found 'lda'"):
        as_fit("lda", CORPUS, [[RIGHT]])
    with pytest.raises(ResultsError, match="chains: expected a sequence of draws for each, found a single"):
        as_fit(LDA, CORPUS, [{"z": RIGHT}])
