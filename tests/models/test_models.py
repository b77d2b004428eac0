"""What every model of the registry must satisfy, from its contract alone."""

from dataclasses import replace

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.oracle import Oracle, agrees_with_oracle
from bnpzoo.diagnostics.laboratory.subject import ModelSubject
from bnpzoo.zoo.contract import Design, Gamma, Probes
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.corpus.associations import Associations
from bnpzoo.zoo.inference import chain, corpus_of, latents_of, load, model_of, sample, save
from bnpzoo.zoo.models import MODELS, combinations, get, list_models
from samplers import HEAVY_COMPILED, IS_PLAIN, as_plain_python, is_of_a_family, of_sampler
from scipy.stats import chisquare

FALSE_ALARM_RATE = 1e-5


def associations(n_words):
    """Words that may become any other, in two groups; for the models that need them."""
    rng = np.random.default_rng(n_words)
    return Associations.of(rng.dirichlet(np.ones(n_words), (2, n_words)).transpose(0, 2, 1))


DESIGN = Design(
    np.array([6, 0, 9, 4, 7]),
    6,
    group=np.array([0, 1, 1, 0, 1]),
    associations=associations(6),
    segment_ptr=np.array([0, 2, 6, 9, 11, 15, 19, 21, 22, 26]),
)
MICRO = Corpus(
    [0, 0, 1, 2, 1],
    [0, 3, 5],
    n_words=3,
    group=[0, 1],
    associations=associations(3),
    segment_ptr=[0, 2, 3, 4, 5],
)
EDGES = {"hpyp": {"b": -0.2}, "pyp": {"a": 0.0}}
"""Values in place of those of the settings, at which a hyperparameter is what it seldom is."""

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

SLOWLY_SUMMED = "whdsp", "metalda with pitman-yor topics", "metalda with belief-network topics"
"""Models whose marginal takes seconds, beside `hdsp` and `metalda`, which have the same integrals."""

OPTIONS = {
    f"{model_id} with {topics} topics" if topics else model_id: (model_id, {"topics": topics or None})
    for model_id, topics in combinations()
} | {
    "lda with an alpha a topic": ("lda", {"symmetric": False}),
    "lda with belief-network topics of one layer": ("lda", {"topics": "belief-network", "layers": 1}),
    "lda with belief-network topics of two layers": ("lda", {"topics": "belief-network", "layers": 2}),
    "hdsp of three topics": ("hdsp", {"n_topics": 3}),
    "whdsp of three topics": ("whdsp", {"n_topics": 3}),
    "pfa of three topics": ("pfa", {"n_topics": 3}),
    "gbn of three layers": ("gbn", {"n_layers": 3}),
    "was without a number of topics": ("was", {"n_topics": 0}),
    "sbp without a number of topics": ("sbp", {"n_topics": 0}),
    "tjb_hdp without a number of topics": ("tjb_hdp", {"n_topics": 0}),
}
"""All combinations of documents and topics, and a form that a setting makes: names of what `make` makes."""


def make(name, **arguments):
    """Model by its name among OPTIONS."""
    model_id, options = OPTIONS[name]
    return get(model_id, **options, **arguments)


every_model = pytest.mark.parametrize("which", OPTIONS)


def sampler(name, variant):
    """Parameters of a test on one sampler."""
    model_id, options = OPTIONS[name]
    by_default = options.keys() <= {"topics"}
    return of_sampler(
        by_default and is_of_a_family(model_id, options.get("topics") or "", variant), name, variant
    )


every_variant = pytest.mark.parametrize(
    ("which", "variant"), [sampler(name, variant) for name in OPTIONS for variant in make(name).kernels]
)
every_models_variant = pytest.mark.parametrize(
    ("which", "variant"),
    [
        sampler(name, variant)
        if i == 0 and (model_id in ("lda", "hdp") or not options.get("topics"))
        else pytest.param(name, variant, marks=pytest.mark.heavy)
        for name, (model_id, options) in OPTIONS.items()
        for i, variant in enumerate(make(name).kernels)
    ],
)
"""Of each model, and of each kind of topics with two of them, the first in every run."""

every_exact_variant = pytest.mark.parametrize(
    ("which", "variant"),
    [
        pytest.param(
            name, v, marks=pytest.mark.compiled if is_of_a_family(name, variant=v) else pytest.mark.heavy
        )
        for name in OPTIONS
        for v, kernel in make(name).kernels.items()
        if kernel.exact
    ],
)
"""One of each family in every run; `bnpzoo validate` puts all of them before this rung, too."""

every_side_of_documents = pytest.mark.parametrize(
    "which",
    [
        pytest.param(name, marks=[pytest.mark.heavy] * (not is_of_a_family(name)))
        for name, (_, options) in OPTIONS.items()
        if not options.get("topics")
    ],
)


def fixed(name, variant=None):
    """Model with all hyperparameters fixed."""
    return make(name).set_to("fixed").replaced(**EDGES.get(name, {}), **required(name, variant))


def without_responses(model):
    """Model whose data beside the words are fixed by the design."""
    return model.replaced(response="none") if "response" in model.spelled() else model


def required(name, variant):
    """Arguments without which a model does not have this variant."""
    return make(name).kernels[variant].requires if variant else {}


def simulated(name, seed=0, variant=None, **hyper):
    model = make(name, **hyper, **required(name, variant))
    return model, model.simulate(DESIGN, np.random.default_rng(seed))


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
def test_log_joint_and_quantities_are_finite(which):
    for seed in range(5):
        model = fixed(which)
        latents, corpus = model.simulate(DESIGN, np.random.default_rng(seed))
        assert np.isfinite(model.log_joint(latents, corpus))
        for name, value in model.quantities(latents, corpus).items():
            assert np.all(np.isfinite(value)), name


@every_variant
def test_state_is_loaded_swept_and_read_back(which, variant):
    model, (latents, corpus) = simulated(which, 3, variant)
    kernel = model.kernel(variant)
    state = kernel.load(latents, corpus, model)
    back = kernel.snapshot(state)
    assert back.keys() == latents.keys()
    assert model.log_joint(back, corpus) == pytest.approx(model.log_joint(latents, corpus))
    if model.log_multiplicity(latents, corpus) > 0:  # the kernel has written the same state in its own way
        latents, back = back, kernel.snapshot(kernel.load(back, corpus, model))
    for name, value in latents.items():
        np.testing.assert_allclose(back[name], value, rtol=1e-12, err_msg=name)
    rng = np.random.default_rng(0)
    for _ in range(10 if IS_PLAIN else 50):
        state = kernel.step(rng, state)
        kernel.check(state)
    assert np.isfinite(model.log_likelihood(kernel.snapshot(state), corpus))


@every_variant
def test_snapshot_is_a_copy(which, variant):
    model, (latents, corpus) = simulated(which, 3, variant)
    kernel = model.kernel(variant)
    state = kernel.load(latents, corpus, model)
    before = kernel.snapshot(state)
    kept = {name: value.copy() for name, value in before.items()}
    kernel.step(np.random.default_rng(0), state)
    for name, value in kept.items():
        assert np.array_equal(before[name], value), name


@every_variant
def test_fixed_hyperparameters_stay(which, variant):
    model = fixed(which, variant)
    latents, corpus = model.simulate(DESIGN, np.random.default_rng(1))
    assert model.sampled() == ()
    kernel = model.kernel(variant)
    state = kernel.load(latents, corpus, model)
    rng = np.random.default_rng(0)
    for _ in range(20):
        state = kernel.step(rng, state)
    after = kernel.snapshot(state)
    for name in model.hyperparameters():  # one a topic has other shapes with other numbers of topics
        assert np.array_equal(np.unique(after[name]), np.unique(latents[name])), name


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
def test_kernel_agrees_with_the_oracle(which, variant):
    model = fixed(which)
    subject = ModelSubject(model, Design.of(MICRO), variant)
    verdict = agrees_with_oracle(
        subject, Oracle.of_model(model, MICRO), MICRO, draws=5_000, false_alarm_rate=FALSE_ALARM_RATE
    )
    assert verdict.passed, verdict


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
    with pytest.raises(ValueError, match=f"no model 'lsa'; there are {', '.join(MODELS)}"):
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


@every_variant
def test_quantities_are_the_same_from_the_counts_of_the_kernel(which, variant):
    model, (latents, corpus) = simulated(which, 3, variant)
    kernel, rng = model.kernel(variant), np.random.default_rng(0)
    state = kernel.load(latents, corpus, model)
    for _ in range(3):
        state = kernel.step(rng, state)
    latents = kernel.snapshot(state)
    counted = model.quantities(latents, corpus, counts=kernel.counted(state))
    for name, value in model.quantities(latents, corpus).items():
        np.testing.assert_array_equal(counted[name], value, err_msg=name)
    slowly = model.log_likelihood(latents, corpus)
    assert counted["log_likelihood"] == pytest.approx(slowly, rel=1e-12)


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


@every_models_variant
def test_draws_are_saved_and_read_back(which, variant, tmp_path):
    model, (_, corpus) = simulated(which, 3, variant)
    tree = sample(model, corpus, variant=variant, chains=2, tune=3, draws=5, keep=5)
    save(tree, tmp_path / "draws.nc")
    again = load(tmp_path / "draws.nc")
    assert model_of(again) == model
    for c, j, latents in latents_of(again):
        quantities = model.quantities(latents, corpus_of(again), Probes.of(corpus))
        assert set(again["posterior"]) == {name for name, value in quantities.items() if np.size(value)}
        for name in again["posterior"]:
            value, stored = quantities[name], again["posterior"][name].values[c, j]
            np.testing.assert_allclose(value, stored, rtol=1e-9, atol=1e-9, err_msg=name)


class Killed(Exception):
    """Stands for the end of the process: what is not on disk is lost."""


@every_models_variant
def test_a_killed_run_resumes_to_the_same_bits(which, variant, tmp_path, monkeypatch):
    monkeypatch.setattr(chain, "CHECKPOINT_SECONDS", 0.0)
    model, (_, corpus) = simulated(which, 3, variant)
    run = {"variant": variant, "chains": 2, "tune": 7, "draws": 6, "thin": 2, "keep": 3, "seed": 4}

    def kill(number, done, total, note=""):
        if number == 1 and done == 12:
            raise Killed

    with pytest.raises(Killed):
        sample(model, corpus, **run, progress=kill, checkpoint=tmp_path, workers=1)
    resumed = sample(model, corpus, **run, checkpoint=tmp_path, resume=True)
    whole = sample(model, corpus, **run)
    for group in ("posterior", "latents"):
        assert set(whole[group].data_vars) == set(resumed[group].data_vars)
        for name, values in whole[group].data_vars.items():
            np.testing.assert_array_equal(values.values, resumed[group][name].values, err_msg=str(name))


@every_variant
def test_sweeps_leave_alone_what_is_fixed(which, variant):
    model, (latents, corpus) = simulated(which, 3, variant)
    kernel = model.kernel(variant)
    state = kernel.load(latents, corpus, model)

    def fixed(state):
        out = {name: getattr(state, name) for name in getattr(state, "FIXED", ())}
        parts = {name: getattr(state, name) for name in state._fields if name not in out}
        return out | {name: fixed(part) for name, part in parts.items() if hasattr(part, "_fields")}

    before = repr(fixed(state))
    rng = np.random.default_rng(0)
    for _ in range(20):
        state = kernel.step(rng, state)
    assert repr(fixed(state)) == before
