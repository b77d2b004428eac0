"""Topic sides: how a model is told which to hold, and how a fit's attributes bring it back."""

import json
import subprocess

import bnpzoo
import numpy as np
import pytest
import xarray as xr
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.families.topic_sides import TOPIC_SIDES
from bnpzoo.zoo.families.topics import TopicSide
from bnpzoo.zoo.inference.results import describe, model_of
from bnpzoo.zoo.inference.stan import program_text
from bnpzoo.zoo.models import MODELS, combinations, get
from bnpzoo.zoo.priors import Beta, Gamma

DESIGN = Design(np.array([4, 0, 5]), 3, group=np.array([0, 1, 1]))


def test_a_side_is_told_by_name_by_its_arguments_or_as_it_is():
    side = bnpzoo.PitmanYor(eta=0.5, b=2.0, a=0.3)
    model = get("hdp", topics=side, gamma=1.5)
    assert get("hdp", topics="pitman-yor", eta=0.5, b=2.0, a=0.3, gamma=1.5) == model
    assert get("hdp", topics=bnpzoo.PitmanYor(b=2.0, a=0.3), eta=0.5, gamma=1.5) == model
    assert get("hdp", eta=0.5) == get("hdp", topics=bnpzoo.Dirichlet(eta=0.5))


@pytest.mark.parametrize(("model_id", "topics"), combinations())
def test_attributes_of_a_fit_bring_the_model_back(model_id, topics):
    model = get(model_id, topics=topics or None)
    tree = xr.DataTree()
    tree.attrs = {"model": model_id, "hyperparameters": json.dumps(describe(model))}
    assert model_of(tree) == model


def test_attributes_bring_every_argument_of_a_side_back():
    side = bnpzoo.PitmanYor(Gamma(1.0, 2.0), b=0.5, a=Beta(2.0, 1.5), base="own", transformed=True)
    model = get("lda", topics=side, n_topics=3, symmetric=False)
    tree = xr.DataTree()
    tree.attrs = {"model": "lda", "hyperparameters": json.dumps(describe(model))}
    assert model_of(tree) == model
    assert model.sampled() == ("alpha", "eta", "a")


@pytest.mark.parametrize(
    ("model_id", "arguments", "message"),
    [
        (
            "hdp",
            {"topics": "zipf"},
            "hdp: topics: there are dirichlet, pitman-yor, belief-network, found 'zipf'",
        ),
        ("hdp", {"topics": 3}, "hdp: topics: expected topics such as .*, found 3"),
        ("hdp", {"topics": "pitman-yor", "a": 1.0}, r"hdp: a: expected a number in \[0, 1\)"),
        ("hdp", {"topics": "pitman-yor", "base": "x"}, "hdp: base: expected one of shared, own, found 'x'"),
        ("hdp", {"a": 0.5}, "hdp: no argument 'a'; there are gamma, alpha, eta"),
        ("lda", {"symmetric": 1}, "lda: symmetric: expected True or False, found 1"),
        ("focused", {"topics": "pitman-yor"}, "focused: topics: its token steps move masks with the words"),
        ("sparse_transfer", {"topics": bnpzoo.PitmanYor()}, "sparse_transfer: topics: its token steps move"),
        ("group_lda", {"topics": "pitman-yor"}, "group_lda: topics: .* that is the model pyp"),
        ("cclda", {"topics": "pitman-yor"}, "cclda: topics: it has topics of its own kind"),
        ("hpyp", {"topics": bnpzoo.PitmanYor(base="own")}, "hpyp: topics: it has Pitman-Yor topics with one"),
        ("tpyp", {"transformed": False}, "tpyp: topics: it has Pitman-Yor topics with one base"),
    ],
)
def test_what_does_not_go_together_is_told_in_a_line(model_id, arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        get(model_id, **arguments)
    assert "\n" not in str(caught.value)


def test_transformed_topics_need_associations():
    with pytest.raises(ValueError, match="expected a corpus with associations, found none"):
        get("hdp", topics="pitman-yor", transformed=True).simulate(DESIGN, np.random.default_rng(0))


@pytest.mark.parametrize("model_id", ["lda", "hdp", "mt_hdp"])
def test_new_documents_are_predicted_by_the_topics_of_their_group(model_id):
    model, rng = get(model_id, topics="pitman-yor").set_to("fixed"), np.random.default_rng(0)
    latents, corpus = model.simulate(DESIGN, rng)
    frozen = model.frozen_topics(latents, corpus)
    frozen.check(corpus)
    assert frozen.words.shape == (2, frozen.prior.shape[1], 3)
    np.testing.assert_allclose(frozen.words.sum(axis=2), 1.0)
    other = corpus.with_groups(1 - corpus.group_of_doc, corpus.group_names)
    ours, theirs = (
        frozen.log_completion(of, of, np.random.default_rng(1), burn_in=1, sweeps=2) for of in (corpus, other)
    )
    assert not np.allclose(ours, theirs)


@pytest.mark.parametrize("topics", ["dirichlet", "pitman-yor", "belief-network"])
def test_who_has_all_topics_does_not_ask_for_words_of_others(monkeypatch, topics):
    model = get("lda", topics=topics).set_to("fixed")
    latents, corpus = model.simulate(DESIGN, np.random.default_rng(0))
    monkeypatch.delattr(TopicSide, "new_word_probabilities")
    monkeypatch.delattr(type(model.topics), "new_word_probabilities", raising=False)
    assert np.all(np.isfinite(model.quantities(latents, corpus)["predictive"]))
    assert model.frozen_topics(latents, corpus).words.shape[-2] == model.n_topics


@pytest.mark.parametrize("model_id", ["hdp", "mt_hdp"])
def test_concentrations_come_and_go_with_topics(model_id):
    model = get(model_id, topics="pitman-yor", b=Gamma(2.0, 2.0))
    rng = np.random.default_rng(1)
    latents, corpus = model.simulate(DESIGN, rng)
    assert latents["b"].size == np.unique(latents["z"]).size
    assert model.initial_latents(corpus, rng)["b"].size == 0
    quantities = model.quantities(latents, corpus)
    assert quantities["mean_log_b"] == pytest.approx(np.mean(np.log(latents["b"])))
    assert "b" not in quantities


def test_topics_of_one_group_are_the_same_whatever_groups_documents_look_at():
    """With one group, `lda` and `hpyp` are one model."""
    lda = get("lda", topics="pitman-yor", n_topics=2).set_to("fixed").replaced(n_topics=2)
    hpyp = get("hpyp").set_to("fixed")
    latents, corpus = lda.simulate(Design(np.array([4, 5]), 3), np.random.default_rng(0))
    of_hpyp = latents | {"alpha": latents["alpha"][None]}
    assert lda.log_joint(latents, corpus) == hpyp.log_joint(of_hpyp, corpus)


def test_equal_alphas_are_a_symmetric_alpha():
    one, each = (get("lda", symmetric=of).set_to("fixed") for of in (True, False))
    latents, corpus = one.simulate(DESIGN, np.random.default_rng(0))
    all_alphas = latents | {"alpha": np.full(one.n_topics, latents["alpha"])}
    assert each.log_joint(all_alphas, corpus) == pytest.approx(one.log_joint(latents, corpus), rel=1e-14)
    assert each.dimensions["alpha"] == ("topic",)


@pytest.mark.parametrize("side", TOPIC_SIDES.values(), ids=lambda side: side.name)
def test_every_stan_program_finds_its_topic_side(side):
    programs = {cls().stan_program for cls in MODELS.values() if hasattr(cls, "topic_sides")} - {
        "",
        "group_lda",
        "author_topic",
        "slda",
        "dp_mrm",  # these of Dirichlet topics alone
        "bgg",  # of these or a belief network
    }
    assert programs == {
        "lda", "hdp", "mt_hdp", "lda_of_groups", "hdsp", "labeled_lda", "dmr", "pfa", "metalda", "gbn",
    }  # fmt: skip
    for program in programs:
        text = program_text(program, (side.stan_folder, "scales/normal"))  # of hdsp.stan a law of scales
        assert "#include" not in text
        assert all(f"{name}_is_random" in text for name in side.hyperparameters())


def test_stanc_finds_it_by_hand(tmp_path):
    httpstan = pytest.importorskip("httpstan")
    from importlib.resources import files

    stan, compiler = files("bnpzoo") / "stan", files(httpstan) / "stanc"
    folders = f"--include-paths={stan},{stan / 'topics' / 'pitman_yor'}"
    command = [str(compiler), folders, str(stan / "hdp.stan"), f"--o={tmp_path / 'hdp.hpp'}"]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "hdp.hpp").stat().st_size > 0
