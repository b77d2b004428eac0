"""Chains start where they are told: with few topics, with many, or where an earlier fit ended."""

from dataclasses import replace

import numpy as np
import pytest
from bnpzoo import Corpus, get, sample
from bnpzoo.zoo.contract import Model
from bnpzoo.zoo.corpus.associations import Associations
from bnpzoo.zoo.inference import CheckpointError, corpus_of, latents_of, load, save
from bnpzoo.zoo.inference.starts import MOST_TOPICS, n_topics_of_fit, names_of, starting_points
from bnpzoo.zoo.models import combinations
from samplers import AS_PLAIN_PYTHON

N_WORDS, LENGTHS = 6, [5, 0, 7, 6, 4]
MATRICES = [np.eye(N_WORDS), 0.5 * np.eye(N_WORDS) + 0.5 * np.roll(np.eye(N_WORDS), 1, axis=0)]
CORPUS = Corpus(
    np.random.default_rng(0).integers(N_WORDS, size=sum(LENGTHS)),
    np.concatenate([[0], np.cumsum(LENGTHS)]),
    n_words=N_WORDS,
    group=[0, 0, 1, 1, 0],
    associations=Associations.of(MATRICES),
    segment_ptr=[0, 2, 5, 9, 12, 15, 18, 20, 22],
)
RUN = {"chains": 2, "tune": 3, "draws": 4, "seed": 2, "keep": 2}


OF_GROUPS = ("group_lda", "labeled_lda", "partially_labeled_lda", "dp_mrm")
"""Models in which no two groups share all of their topics."""


def latents_at(start, model, corpus=CORPUS, chain=0):
    (point,) = starting_points(start, model, corpus)
    return point.latents(np.random.default_rng(1), chain)


@pytest.mark.parametrize("start", ["one", "documents", "random:3"])
@pytest.mark.parametrize("which", combinations(), ids=lambda which: "-".join(filter(None, which)))
def test_every_model_can_start_at_given_topics(which, start):
    model = get(which[0], topics=which[1] or None)
    latents = latents_at(start, model)
    for kernel in model.kernels.values():
        if kernel.requires:
            continue
        state = kernel.load(latents, CORPUS, model)
        kernel.check(state)
        back = kernel.snapshot(state)
        assert np.array_equal(back["z"], latents["z"])
        assert model.log_joint(back, CORPUS) == pytest.approx(model.log_joint(latents, CORPUS))
    n_topics = np.unique(latents["z"]).size
    if start == "one":
        assert n_topics == (2 if which[0] in OF_GROUPS else 1)
    if start == "documents" and which[0] != "labeled_lda":  # which has one topic for all of a group
        same_document = np.equal.outer(CORPUS.doc_of, CORPUS.doc_of)
        assert np.array_equal(np.equal.outer(latents["z"], latents["z"]), same_document)


@pytest.mark.parametrize("which", ["lda", "hdp", "gbn", "pfa"])
def test_no_token_is_seated_before_the_first_sweep(which):
    latents = get(which).initial_latents(CORPUS, np.random.default_rng(0))
    assert np.array_equal(latents["z"], np.full(CORPUS.n_tokens, -1))


def test_sticks_start_at_the_numbers_of_documents_and_of_tasks_that_have_a_topic():
    corpus = Corpus([0, 1, 2, 0, 1, 2, 0], [0, 3, 5, 7], n_words=3, group=[0, 1, 0])
    labels, rng = np.array([4, 4, 9, 4, 9, 9, 9]), np.random.default_rng(0)
    found = get("hdp", gamma=2.0).start_at(labels, corpus, rng)
    np.testing.assert_allclose(found["root"], np.array([2, 3, 2]) / 7)
    found = get("mt_hdp", gamma=2.0, alpha0=1.5).start_at(labels, corpus, rng)
    np.testing.assert_allclose(found["root"], np.array([2, 2, 2]) / 6)
    np.testing.assert_allclose(
        found["tasks"], [[1.5 / 4.5, 2.5 / 4.5, 0.5 / 4.5], [1.5 / 3.5, 1.5 / 3.5, 0.5 / 3.5]]
    )


def test_many_documents_share_topics():
    n = 2 * MOST_TOPICS + 10
    corpus = Corpus(np.zeros(n, int), np.arange(n + 1))
    assert np.unique(latents_at("documents", get("hdp"), corpus)["z"]).size == MOST_TOPICS


def test_chains_start_in_turn_with_few_topics_and_with_many():
    model = get("hdp")
    tree = sample(model, CORPUS, chains=3, tune=1, draws=2, seed=2)
    assert tree.attrs["start"] == "seated,documents"
    apart = [
        sample(model, CORPUS, chains=3, tune=1, draws=2, seed=2, start=s)
        for s in tree.attrs["start"].split(",")
    ]
    for chain, of in ((0, 0), (1, 1), (2, 0)):
        ours, theirs = (fit["posterior"]["log_joint"].values[chain] for fit in (tree, apart[of]))
        assert np.array_equal(ours, theirs)
    assert get("lda").default_starts == ("seated",)


def test_a_fit_goes_on_where_it_ended(tmp_path):
    model = get("mt_hdp", topics="pitman-yor")
    fit = sample(model, CORPUS, **RUN)
    save(fit, tmp_path / "fit.nc")
    last = {chain: latents for chain, _, latents in latents_of(fit)}
    for start in (fit, tmp_path / "fit.nc", str(tmp_path / "fit.nc")):
        for chain in range(2):
            found = latents_at(start, model, chain=chain)
            for name, value in last[chain].items():
                np.testing.assert_array_equal(found[name], value, err_msg=name)
    again = latents_at(fit, model, chain=2)  # there are two chains: the draw before the last
    assert not np.array_equal(again["z"], last[0]["z"])
    fixed = latents_at(fit, get("mt_hdp", topics="pitman-yor", eta=0.3))
    assert fixed["eta"] == 0.3
    tree = sample(model, CORPUS, **RUN, start=fit)
    assert tree.attrs["start"].startswith("fit ")


@pytest.mark.parametrize(
    "which",
    ["hdp", "sparse_transfer", *(pytest.param(name, marks=AS_PLAIN_PYTHON) for name in ("tpyp", "focused"))],
)
def test_a_corpus_that_has_grown(which):
    model = get(which)
    grown = Corpus(
        np.concatenate([[7], CORPUS.words[:3], CORPUS.words[12:], CORPUS.words[:12]]),
        [0, 4, 10, 14, 19, 19, 26],
        n_words=8,
        group=[0, 1, 0, 0, 0, 1],
        associations=Associations.of([np.eye(8)] * 2),
    )
    fit = sample(model, CORPUS, **RUN)
    latents = latents_at(fit, model, grown)
    model.kernel().check(model.kernel().load(latents, grown, model))
    old = next(latents for _, draw, latents in latents_of(fit) if draw == 1)
    before = np.concatenate([old["z"][12:], old["z"][:12]])
    assert np.array_equal(np.equal.outer(latents["z"][4:], latents["z"][4:]), np.equal.outer(before, before))
    for i in range(1, 4):
        word = grown.words == grown.words[i]
        word[:4] = False
        assert latents["z"][i] in latents["z"][word]
    for name in model.sampled():
        if np.shape(old[name]) == ():
            assert latents[name] == old[name]


@pytest.mark.parametrize("corpus", [CORPUS, CORPUS.take([4, 2, 1, 0])], ids=["same", "other"])
def test_lda_starts_at_the_topics_of_an_hdp(corpus):
    fit = sample(get("hdp"), CORPUS, **RUN)
    last = next(latents["z"] for chain, draw, latents in latents_of(fit) if (chain, draw) == (0, 1))
    n_topics = n_topics_of_fit(fit)
    model = get("lda", n_topics=np.unique(last).size)
    latents = latents_at(fit, model, corpus)
    model.kernel().check(model.kernel().load(latents, corpus, model))
    found = [np.unique(latents["z"]).size for _, _, latents in latents_of(fit)]
    assert min(found) <= n_topics <= max(found)
    if corpus is CORPUS:
        assert np.array_equal(np.equal.outer(latents["z"], latents["z"]), np.equal.outer(last, last))
        sizes = np.bincount(latents["z"])
        assert np.all(np.diff(sizes) <= 0)
    assert n_topics_of_fit(sample(get("lda", n_topics=3), CORPUS, **RUN)) == 3
    assert n_topics_of_fit(sample(get("pfa"), CORPUS, **RUN)) > 0


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ("two", "start: expected seated, one, documents, random:K or the file of a fit, found 'two'"),
        ("", "start: expected seated"),
        ("seated,", "start: expected seated"),
        ([], "start: expected .* found nothing"),
        ("random:0", "random:K: expected a number of topics from 1 to 22, found 'random:0'"),
        ("random:99", "from 1 to 22"),
        ("random:x", "from 1 to 22"),
        ("none.nc", "none.nc: there is no such file"),
    ],
)
def test_starts_that_are_none(start, message):
    with pytest.raises(ValueError, match=message):
        sample(get("hdp"), CORPUS, start=start)


def test_fits_that_are_of_no_use():
    fit = sample(get("hdp"), CORPUS, **(RUN | {"keep": 0}))
    with pytest.raises(ValueError, match=r"expected a fit that holds latents, found none \(keep=0\)"):
        sample(get("hdp"), CORPUS, start=fit)
    with pytest.raises(ValueError, match="expected a fit with topics pitman-yor, found dirichlet"):
        sample(get("hdp", topics="pitman-yor"), CORPUS, start=fit)
    fit = sample(get("hdp"), CORPUS, **RUN)
    other = replace(CORPUS, words=np.roll(CORPUS.words, 3), associations=None)
    with pytest.raises(ValueError, match="expected a fit of this corpus, or of some of its documents"):
        sample(get("hdp"), other, start=fit)


@pytest.mark.parametrize("which", ["mt_hdp", "group_lda"])
def test_a_group_without_documents_is_another_corpus(which, tmp_path):
    two = replace(CORPUS, group_names=["a", "b"], associations=None)
    more = replace(two, group_names=["a", "b", "c"])
    assert more.digest() == two.digest()
    fit = sample(get(which), two, **RUN)
    save(sample(get(which), more, **RUN, start=fit), tmp_path / "fit.nc")
    assert corpus_of(load(tmp_path / "fit.nc")).n_groups == 3


def test_the_name_of_a_fit_may_have_a_comma(tmp_path):
    save(sample(get("hdp"), CORPUS, **RUN), tmp_path / "one, 2.nc")
    assert names_of(str(tmp_path / "one, 2.nc")) == [str(tmp_path / "one, 2.nc")]
    assert names_of("one, fit.nc,random:2") == ["one", "fit.nc", "random:2"]
    latents_at(str(tmp_path / "one, 2.nc"), get("hdp"))


def test_a_model_whose_chains_start_only_one_way():
    class Plain(type(get("hdp"))):
        start_at = Model.start_at

    with pytest.raises(ValueError, match="hdp: its chains start with tokens seated one after the other"):
        sample(Plain(), CORPUS, start="one")


def test_a_run_is_of_one_start(tmp_path):
    sample(get("hdp"), CORPUS, **RUN, checkpoint=tmp_path, start="one")
    with pytest.raises(CheckpointError, match="was made with start"):
        sample(get("hdp"), CORPUS, **RUN, checkpoint=tmp_path, resume=True)
    sample(get("hdp"), CORPUS, **RUN, checkpoint=tmp_path, start="one", resume=True)


@pytest.mark.parametrize("change", ["another latent", "an earlier draw", "another corpus"])
def test_warm_starts_with_the_same_topics_are_told_apart(change):
    model = get("lda", n_topics=2)
    fit = sample(model, CORPUS, **RUN)
    other = fit.copy(deep=True)
    if change == "another latent":
        other["latents"]["alpha"].values[:] = 50.0
    elif change == "an earlier draw":  # which a third chain starts at
        other["latents"]["z"].values[0, 0] = 1 - other["latents"]["z"].values[0, 0]
    else:
        other["observed_data"]["words"].values[:2] = CORPUS.words[1::-1]
        other.attrs["corpus_sha256"] = corpus_of(other).digest()
    names = [starting_points(one, model, CORPUS)[0].name for one in (fit, fit.copy(deep=True), other)]
    assert names[0] == names[1] != names[2]
