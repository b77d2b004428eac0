"""The references of models of responses: topics are summed out, and drawn, as by brute force."""

from itertools import product
from math import comb

import jax
import numpy as np
import pytest
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.families.responses import reference
from bnpzoo.zoo.models import get
from numpyro import handlers
from scipy.special import logsumexp
from scipy.stats import chisquare

FALSE_ALARM_RATE = 1e-5

CORPUS = Corpus(
    [0, 1, 1, 0, 1, 2, 2],
    [0, 3, 5, 5, 7],
    n_words=3,
    covariates={
        "rating": np.array(["1.5", "", "2.0", "0.3"]),
        "kind": np.array(["b", "", "a", "c"]),
        "good": np.array(["yes", "no", "", "no"]),
    },
)
RESPONSES = "rating:number, kind, good"


@pytest.fixture(scope="module", params=["slda", "medlda"])
def traced(request):
    """A model, sites of its program at a draw from the prior, and log weights of all topics given these."""
    model = get(request.param, n_topics=2, response=RESPONSES)
    with jax.enable_x64(True):
        program = handlers.seed(model.reference.numpyro(CORPUS, 0), jax.random.key(1))
        sites = handlers.trace(program).get_trace()
    draw = {name: np.asarray(site["value"], float) for name, site in sites.items() if "value" in site}
    topics = np.array(list(product(range(2), repeat=CORPUS.n_tokens)))
    log_p = np.array(
        [
            model.log_responses(draw | {"z": z}, CORPUS)
            + np.log(draw["theta"][CORPUS.doc_of, z]).sum()
            + np.log(draw["phi"][z, CORPUS.words]).sum()
            for z in topics
        ]
    )
    return model, sites, draw, topics, log_p


@pytest.mark.slow
def test_topics_are_summed_out(traced):
    _, sites, _, _, log_p = traced
    found = sum(float(site["fn"].log_factor) for name, site in sites.items() if name.startswith("document_"))
    assert found == pytest.approx(logsumexp(log_p), rel=1e-10)


@pytest.mark.slow
def test_topics_are_drawn_given_words_and_responses(traced):
    model, _, draw, topics, log_p = traced
    rng, n = np.random.default_rng(0), 4000
    drawn = [model.reference.latents(draw, CORPUS, rng) for _ in range(n)]
    index = {tuple(z): i for i, z in enumerate(topics)}
    observed = np.bincount([index[tuple(latents["z"])] for latents in drawn], minlength=len(topics))
    expected = n * np.exp(log_p - logsumexp(log_p))
    rare = expected < 5.0
    observed, expected = (np.append(x[~rare], x[rare].sum()) for x in (observed, expected))
    keep = expected > 0.0
    result = chisquare(observed[keep], expected[keep] * observed[keep].sum() / expected[keep].sum())
    assert result.pvalue > FALSE_ALARM_RATE
    assert np.isfinite(model.log_joint(drawn[0], CORPUS))


def test_counts_are_all_ways_and_know_those_of_one_token_less():
    counts = reference.counts_of(4, 3)
    assert [len(of) for of in counts.of] == [comb(n + 2, 2) for n in range(5)]
    for n in range(1, 5):
        for own, before in zip(counts.of[n], counts.before[n], strict=True):
            for k, place in enumerate(before):
                if own[k] == 0:
                    assert place == len(counts.of[n - 1])
                else:
                    np.testing.assert_array_equal(counts.of[n - 1][place], own - np.eye(3, dtype=int)[k])


def test_documents_that_are_too_long_are_one_line():
    long = Corpus(np.arange(30), [0, 30], covariates={"rating": np.array([0.5])})
    message = "slda: references count the tokens of a document by topic in all ways; expected at most 100,000"
    with pytest.raises(CorpusError, match=message):
        get("slda").reference.stan_data(long, 0)


def test_other_topics_have_no_reference():
    assert get("slda", topics="pitman-yor").reference is None
