"""What every model of the registry must satisfy, from its contract alone."""

from dataclasses import replace

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.zoo.contract import Design, Gamma, Probes
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.inference import as_fit, latents_of
from bnpzoo.zoo.models import MODELS, get, list_models
from every_model import (
    DESIGN,
    OPTIONS,
    associations,
    every_exact_variant,
    every_model,
    every_side_of_documents,
    fixed,
    make,
    simulated,
    without_responses,
)
from samplers import HEAVY_COMPILED, as_plain_python
from scipy.stats import chisquare

FALSE_ALARM_RATE = 1e-5

MICRO = Corpus(
    [0, 0, 1, 2, 1],
    [0, 3, 5],
    n_words=3,
    group=[0, 1],
    associations=associations(3),
    segment_ptr=[0, 2, 3, 4, 5],
)

NOT_EXACT = {
    "dmr": {"optimised"},
    "pfa": {"mallet"},
    "gbn": {"pruned"},
    "sparse_transfer": {"published"},
    "focused": {"taylor"},
    "was": {"past_only", "as_if_last"},
}

LENGTHS_ARE_DATA = {
    "sparse_transfer", "focused", "icd", "pfa", "pfa with pitman-yor topics",
    "pfa with belief-network topics", "pfa of three topics", "bgg", "bgg with belief-network topics",
}  # fmt: skip

RESPONSES_ARE_DATA = {
    "slda", "slda with pitman-yor topics", "medlda", "medlda with pitman-yor topics", "shdp",
}  # fmt: skip

LARGEST = {"dish": 0, "table": 0, "local": 1, "own": 1, "association": 1, "author": 1}
"""Of a token, in documents of one token whose groups, and words, are two."""

SLOWLY_SUMMED = "whdsp", "metalda with pitman-yor topics", "metalda with belief-network topics"
"""Models whose marginal takes seconds, beside `hdsp` and `metalda`, which have the same integrals."""


@every_model
def test_card_names_the_model(which):
    card = make(which).card
    assert card.id == OPTIONS[which][0]
    assert card in list_models()
    assert card.equations
    assert card.citation


@pytest.mark.parametrize("model_id", MODELS)
def test_samplers_that_are_not_exact_say_so(model_id):
    found = {name for name, kernel in get(model_id).kernels.items() if not kernel.exact}
    assert found == NOT_EXACT.get(model_id, set())


@every_model
def test_settings_tell_hyperparameters_apart(which):
    model = make(which)
    for purpose in ("fixed", "benchmark"):
        assert model.set_to(purpose).sampled() == ()
    for purpose in ("fixed", "prior", "reference"):
        values = list(model.set_to(purpose).hyperparameters().values())
        assert len({*values}) == len(values)  # or no test could see that two are swapped
    assert set(model.set_to("prior").sampled()) == {*model.hyperparameters()}


@every_model
def test_generator_keeps_the_design(which):
    _, (latents, corpus) = simulated(which)
    assert np.array_equal(corpus.doc_lengths, DESIGN.doc_lengths)
    assert corpus.n_words == DESIGN.n_words
    assert latents["z"].shape == (corpus.n_tokens,)


@every_model
def test_draws_from_elsewhere_are_a_fit(which):
    model, (latents, corpus) = simulated(which)
    (_, _, kept), *_ = latents_of(as_fit(model, corpus, [[latents, latents]]))
    assert kept.keys() == latents.keys()
    for name, values in latents.items():
        np.testing.assert_array_equal(kept[name], values)


@every_model
def test_log_joint_and_quantities_are_finite(which):
    for seed in range(5):
        model = fixed(which)
        latents, corpus = model.simulate(DESIGN, np.random.default_rng(seed))
        assert np.isfinite(model.log_joint(latents, corpus))
        for name, value in model.quantities(latents, corpus).items():
            assert np.all(np.isfinite(value)), name


@every_model
def test_whole_numbers_are_in_their_range(which):
    lengths = np.array([1, 0] + 18 * [1])
    design = Design(
        lengths,
        2,
        group=np.arange(20) % 2,
        associations=associations(2),
        segment_ptr=np.arange(lengths.sum() + 1),
    )
    model = fixed(which)
    latents, corpus = model.simulate(design, np.random.default_rng(0))
    for name, value in latents.items():
        if value.dtype.kind == "i" and name != "z":
            least, most = model.range_of_tokens(name, corpus)
            assert most == (model.n_dishes - 1 if which.startswith("sbp") else LARGEST[name])
            assert least <= value.min() <= value.max() <= most


@every_model
def test_data_have_all_that_their_design_fixes(which, differences):
    design = replace(
        DESIGN,
        vocabulary=np.array([*"uvwxyz"]),
        group_names=np.array(["north", "south"]),
        segment_ptr=np.array([0, 2, 6, 15, 18, 19, 26]),
        covariates={"label": np.arange(5)},
        covariate_names={"label": np.array([*"abcde"])},
        in_order=True,
    )
    model, rng = without_responses(make(which)), np.random.default_rng(0)
    latents, corpus = model.simulate(design, rng)
    for data in (corpus, model.resample_data(latents, Design.of(corpus), rng)):
        assert not differences(data, design.corpus(data.words))


@pytest.mark.parametrize(
    "which",
    [pytest.param(name, marks=HEAVY_COMPILED * (name in SLOWLY_SUMMED)) for name in OPTIONS],
)
@pytest.mark.slow
def test_marginal_sums_to_one_over_words_and_topics(which):
    model = fixed(which)
    hyper = model.draw_hyperparameters(Design.of(MICRO), np.random.default_rng(0))

    def total(n_words):
        design = replace(Design.of(MICRO), doc_lengths=np.array([2, 1]), n_words=n_words, vocabulary=None)
        design = replace(design, associations=associations(n_words), segment_ptr=np.array([0, 1, 2, 3]))
        out = 0.0
        for word in np.ndindex((n_words,) * 3):
            corpus = design.corpus(np.array(word))
            out += sum(np.exp(model.log_marginal(z, corpus, hyper)) for z in model.assignments(corpus))
        return out

    # where lengths or responses are data, what is left is their probability
    expected = total(1) if which in LENGTHS_ARE_DATA | RESPONSES_ARE_DATA else 1.0
    assert total(2) == pytest.approx(expected, abs=1e-12)


@every_side_of_documents
@pytest.mark.slow
def test_generator_agrees_with_the_marginal(which):
    """Frequencies of simulated topics against their exact probabilities, at the stated false-alarm rate.

    Topics are drawn before words, so that it does not matter which kind of topics writes these.
    """
    model = without_responses(fixed(which))
    design = replace(Design.of(MICRO), n_words=1, vocabulary=None, associations=associations(1))
    corpus = design.corpus(np.zeros(5, int))
    rng = np.random.default_rng(0)
    hyper = model.draw_hyperparameters(design, rng)
    exact = {tuple(z): np.exp(model.log_marginal(z, corpus, hyper)) for z in model.assignments(corpus)}
    n = 20_000
    observed = dict.fromkeys(exact, 0)
    for _ in range(n):
        observed[tuple(model.draw_topics(design, hyper, rng)["z"])] += 1
    expected = np.array(list(exact.values()))
    expected *= n / expected.sum()
    rare = expected < 5
    counts = np.array(list(observed.values()))
    pool = [np.append(x[~rare], x[rare].sum()) for x in (counts, expected)]
    keep = pool[1] > 0
    result = chisquare(pool[0][keep], pool[1][keep] * pool[0].sum() / pool[1][keep].sum())
    assert result.pvalue > FALSE_ALARM_RATE


@every_exact_variant
@pytest.mark.slow
def test_kernel_agrees_with_the_oracle(which, variant):
    model = fixed(which)
    subject = ModelSubject(model, Design.of(MICRO), variant)
    verdict = agrees_with_oracle(
        subject, Oracle.of_model(model, MICRO), MICRO, draws=5_000, false_alarm_rate=FALSE_ALARM_RATE
    )
    assert verdict.passed, verdict


@as_plain_python
@every_model
def test_samplers_hold_where_hyperparameters_come_down_to_nothing(which):
    model, rng = make(which).set_to("prior"), np.random.default_rng(1)
    sampled = {name: model.hyperparameters()[name] for name in model.sampled()}
    vague = {name: Gamma(0.001, 0.001) for name, prior in sampled.items() if isinstance(prior, Gamma)}
    model = model.replaced(**vague)
    kernel = model.kernel()
    state = kernel.load(model.initial_latents(MICRO, rng), MICRO, model)
    for _ in range(30):
        state = kernel.step(rng, state)
        kernel.check(state)
    latents = kernel.snapshot(state)
    assert all(np.all(latents[name] > 0.0) for name in vague)
    assert np.isfinite(model.log_joint(latents, MICRO))


@as_plain_python
@pytest.mark.parametrize("topics", ["dirichlet", "pitman-yor", "belief-network"])
def test_a_fixed_number_of_topics_stays_where_all_weights_underflow(topics):
    words = Corpus(range(4), range(5), n_words=4)
    model, rng = get("lda", topics=topics, n_topics=2, alpha=1e-300, eta=1e-300), np.random.default_rng(0)
    kernel = model.kernel("dense")
    state = kernel.load(model.initial_latents(words, rng), words, model)
    for _ in range(20):
        state = kernel.step(rng, state)
        kernel.check(state)
    assert set(kernel.snapshot(state)["z"]) <= {0, 1}


@every_model
def test_bad_hyperparameters_are_named(which):
    name = next(iter(make(which).hyperparameters()))
    with pytest.raises(
        ValueError,
        match=f"{name}: expected a positive number from 1e-300 to 1e300 or a Gamma prior, found -1",
    ):
        make(which, **{name: -1})
    with pytest.raises(ValueError, match=f"{OPTIONS[which][0]}: .*nonsense"):
        make(which, nonsense=1)
    with pytest.raises(ValueError, match=f"no variant 'quick'; there are {', '.join(make(which).kernels)}"):
        make(which).kernel("quick")
    with pytest.raises(ValueError, match="Gamma: expected positive shape and rate"):
        Gamma(0.0, 1.0)


@every_model
def test_numbers_of_numpy_are_numbers_and_truth_values_are_none(which):
    model = make(which)
    numbers = [name for name, value in model.spelled().items() if isinstance(value, float)]
    for name in {*numbers, *model.hyperparameters()}:
        value = make(which, **{name: np.float32(0.5)}).spelled()[name]
        assert type(value) is float
        assert value == 0.5
        for wrong in (True, float("nan"), np.inf, "x"):
            with pytest.raises(ValueError, match=f"{OPTIONS[which][0]}: {name}: expected .* found {wrong!r}"):
                make(which, **{name: wrong})


def test_unknown_model_is_named():
    there = f"there are {', '.join(MODELS)}"
    with pytest.raises(ValueError, match=rf"no model 'lsa' \(did you mean 'lda'\?\); {there}"):
        get("lsa")


def test_tasks_are_needed():
    with pytest.raises(CorpusError, match="mt_hdp: expected a corpus with groups"):
        get("mt_hdp").reference.numpyro(Corpus([0, 1], [0, 2]), 4)


@as_plain_python
@pytest.mark.filterwarnings("ignore:overflow encountered")  # logarithms of shares below the least number
def test_a_task_without_documents_is_a_draw_from_its_prior():
    model = get("mt_hdp")
    corpus = Corpus([0, 1, 1], [0, 2, 3], group=[0, 2], group_names=["a", "b", "c"])
    rng = np.random.default_rng(0)
    kernel = model.kernel()
    state = kernel.load(model.initial_latents(corpus, rng), corpus, model)
    draws = []
    for _ in range(4000):
        state = kernel.step(rng, state)
        draws.append(kernel.snapshot(state)["alpha"][1])
    # Gamma(1, 1), whose draws are independent here: the mean has a standard error of 0.016
    assert abs(np.mean(draws) - 1.0) < 4.5 / np.sqrt(len(draws))


def test_probes_are_pairs_of_every_kind_and_the_same_each_time():
    rng = np.random.default_rng(5)
    corpus = Corpus(rng.integers(50, size=400), np.arange(0, 401, 10))
    for x, y in zip(Probes.of(corpus), Probes.of(corpus), strict=True):
        assert np.array_equal(x, y)
    pairs = Probes.of(corpus).pairs
    assert len({*map(tuple, pairs.tolist())}) == 8
    assert np.all(pairs[:, 0] < pairs[:, 1])
    same_document, same_word = (np.diff(of[pairs]).ravel() == 0 for of in (corpus.doc_of, corpus.words))
    assert np.count_nonzero(same_document) >= 3
    assert np.count_nonzero(same_word & ~same_document) >= 3


@pytest.mark.parametrize("n", [0, 1, 2, 5, 30])
def test_probes_of_a_corpus_without_pairs_of_a_kind(n):
    alone = Corpus(np.arange(n), np.arange(n + 1), n_words=30)  # documents of one token, words of one token
    assert len(Probes.of(alone).pairs) == min(8, n * (n - 1) // 2)


def test_empty_documents_carry_no_information():
    model = get("hdp")
    latents, corpus = model.simulate(Design(np.array([0, 3]), 3), np.random.default_rng(0))
    without = corpus.take(np.array([1]))
    assert model.log_joint(latents, corpus) == pytest.approx(model.log_joint(latents, without))


@pytest.mark.parametrize("which", ["lda", "hdp"])
def test_models_of_one_corpus_ignore_its_groups(which):
    model, (latents, grouped) = simulated(which, 2)
    plain = Corpus(grouped.words, grouped.doc_ptr, n_words=grouped.n_words)
    assert model.log_joint(latents, grouped) == model.log_joint(latents, plain)
    for name, value in model.quantities(latents, grouped).items():
        np.testing.assert_array_equal(value, model.quantities(latents, plain)[name], err_msg=name)
