"""The sparse transfer topic model: its exact marginals, and where chains start."""

import itertools

import numpy as np
import pytest
from bnpzoo.diagnostics.laboratory.oracle import Oracle
from bnpzoo.zoo.contract import Design
from bnpzoo.zoo.corpus import Corpus, CorpusError
from bnpzoo.zoo.families.buffet.ibp import draw_masks, first_rows, log_reach
from bnpzoo.zoo.families.buffet.kernels import opening_weights
from bnpzoo.zoo.families.buffet.lengths import LENGTHS, Mixture, Weight, log_lengths
from bnpzoo.zoo.families.buffet.marginal import TopicMarginal, pattern_of
from bnpzoo.zoo.models import get
from bnpzoo.zoo.models.sparse_transfer import SparseTransfer
from bnpzoo.zoo.toolbox.laws import doc_topic_counts, log_sequences
from buffet_micro import HYPER, MICRO
from scipy.special import gammaln, logsumexp, roots_jacobi

# Share of assignments in which the first token shares its topic with each of the others, expected number of
# topics with tokens, log evidence: for two topics with pi_k ~ Beta(alpha / 2, 1), by quadrature over all
# continuous variables; and, last, for an unbounded number of topics.
TWO_TOPICS = {
    "task": ([0.93858, 0.90989, 0.82576, 0.82011, 0.65882, 0.6666, 0.73076], 1.50139088, -6.0406579736),
    "document": ([0.95025, 0.91981, 0.85036, 0.84562, 0.66641, 0.6746, 0.72337], 1.46933960, -11.7055069730),
}
UNBOUNDED_DOCUMENT = [0.87996, 0.80822, 0.62502, 0.62269, 0.29463, 0.30493, 0.37588]
UNBOUNDED_DOCUMENT_TOPICS = [0.15826, 0.43978, 0.31573, 0.07789, 0.00797]


def length_weights(lengths):
    return [Weight.of(MICRO.doc_lengths[MICRO.group == c], lengths) for c in range(2)]


def two_topics(lengths):
    """Log probabilities of all assignments to two topics."""
    x, w = roots_jacobi(20, 0.0, HYPER["alpha"] / 2 - 1.0)
    rho = HYPER["epsilon"] * (x + 1.0) / 2.0
    log_masks = np.log([w / w.sum() @ (rho**s * (1.0 - rho) ** (2 - s)) for s in range(3)])
    marginal = TopicMarginal(length_weights(lengths), HYPER["a1"], HYPER["a2"], log_masks)

    def log_joint(z):
        counts = doc_topic_counts(z, MICRO, 2)
        topics = sum(marginal.log_topic(pattern_of(n, MICRO.group, 2)) for n in counts.T)
        words = log_sequences(z, MICRO.words, np.full(3, HYPER["eta"]))
        return marginal.total(topics) + words

    return Oracle.of(map(np.array, itertools.product(range(2), repeat=8)), log_joint)


@pytest.mark.parametrize("lengths", TWO_TOPICS)
def test_two_topics_agree_with_quadrature(lengths):
    oracle = two_topics(lengths)
    same, n_topics, log_evidence = TWO_TOPICS[lengths]
    assert oracle.same_topic.mean[0, 1:] == pytest.approx(same, abs=6e-6)
    assert oracle.n_topics.mean @ np.arange(9) == pytest.approx(n_topics, abs=1e-8)
    assert oracle.log_evidence.mean == pytest.approx(log_evidence, abs=2e-9)


def test_unbounded_topics_agree_with_known_values():
    oracle = Oracle.of_model(get("sparse_transfer", **HYPER, lengths="document"), MICRO)
    assert oracle.same_topic.mean[0, 1:] == pytest.approx(UNBOUNDED_DOCUMENT, abs=1.1e-5)
    assert oracle.n_topics.mean[1:6] == pytest.approx(UNBOUNDED_DOCUMENT_TOPICS, abs=6e-6)
    assert oracle.n_topics.mean @ np.arange(9) == pytest.approx(2.33864692, abs=1e-8)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("of_task", [[3], [2, 3], [1, 0, 4, 2], [0, 0], []])
def test_weight_of_lengths_is_a_mixture_of_exponentials(lengths, of_task):
    of_task = np.array(of_task, int)
    mass = np.array([0.3, 1.7, 12.0])
    direct = log_lengths(mass, of_task, lengths)
    direct = direct - sum(gammaln(mass + n) - gammaln(mass) for n in of_task)
    weight = Weight.of(of_task, lengths)
    rising = [gammaln(mass + n) - gammaln(mass) for n in weight.offset]
    summed = -weight.rate * mass + sum(c * r for c, r in zip(weight.coefficient, rising, strict=True))
    assert summed == pytest.approx(direct, abs=1e-10)
    mixture = Mixture.of(weight, step=1 / 32)  # at a fixed mass the integrand is steeper than over its law
    terms = mixture.log_weight[:, None] - np.expm1(np.minimum(mixture.log_scale, 700.0))[:, None] * mass
    assert logsumexp(terms, b=mixture.sign[:, None], axis=0) == pytest.approx(direct, abs=1e-9)


@pytest.mark.parametrize("lengths", LENGTHS)
def test_marginal_is_the_mean_over_the_prior(lengths):
    """Total over topics of one-word documents: the probability of their lengths, by simulation."""
    model = SparseTransfer.make(**HYPER, lengths=lengths)
    corpus = Corpus(np.zeros(4, int), [0, 2, 3, 4], n_words=1, group=[0, 0, 1])
    hyper = {"alpha": np.array(HYPER["alpha"]), "eta": np.array(0.3)}
    exact = np.exp(logsumexp([model.log_marginal(z, corpus, hyper) for z in model.assignments(corpus)]))
    n, rng = 200_000, np.random.default_rng(0)
    owner = np.repeat(np.arange(n), rng.poisson(HYPER["alpha"] * first_rows(2, 0.6).sum(), n))
    shape = rng.gamma(2.0, 0.5, owner.size)
    weight = draw_masks(owner.size, 2, 0.6, rng)[0] * rng.gamma(shape[:, None], size=(owner.size, 2))
    mass = np.zeros((n, 2))
    np.add.at(mass, owner, weight)
    draws = np.exp(sum(log_lengths(mass[:, c], np.array([[2, 1], [1]][c]), lengths) for c in range(2)))
    # 4.5 standard errors: a false alarm in 150,000 runs
    assert abs(draws.mean() - exact) < 4.5 * draws.std() / np.sqrt(n)


def test_reach_of_the_buffet():
    for n_rows, epsilon in [(1, 1.0), (4, 1.0), (3, 0.2), (10, 1e-4)]:
        reach = log_reach(n_rows, epsilon)
        rho, w = np.polynomial.legendre.leggauss(40)
        rho, w = epsilon * (rho + 1.0) / 2.0, epsilon * w / 2.0
        s = np.arange(1, n_rows + 1)[:, None]
        assert reach[1:] == pytest.approx(np.log((rho ** (s - 1) * (1.0 - rho) ** (n_rows - s)) @ w))
        ways = np.exp(gammaln(n_rows + 1) - gammaln(s + 1) - gammaln(n_rows - s + 1))[:, 0]
        assert ways @ np.exp(reach[1:]) == pytest.approx(first_rows(n_rows, epsilon).sum())


@pytest.mark.parametrize(("a2", "unit"), [(0.5, 1.0), (0.02, 1.0), (1e6, 1e-4)])
def test_opening_weights_are_those_of_the_marginal(a2, unit):
    """Wherever gamma has its mass."""
    a1, rates = 2.0, unit * np.array([0.7, 1.4, 2.1])
    weights = [Weight(rate, np.zeros(0, int), np.zeros(0, int)) for rate in rates]
    marginal = TopicMarginal.unbounded(weights, a1, a2, 0.6)
    for c, opening in enumerate(opening_weights(rates, a1, a2, 0.6)):
        pattern = tuple((1,) if c == other else () for other in range(3))
        assert np.log(opening) == pytest.approx(float(marginal.log_topic(pattern).item()), abs=1e-10)


@pytest.mark.parametrize(
    ("lengths", "weight"),
    [("task", [[2, 2, 1], [1, 1, 1]]), ("document", [[1, 1, 0.5], [0.5, 0.5, 0.5]])],
)
def test_weights_at_a_start_have_documents_of_the_expected_length(lengths, weight):
    model, rng = get("sparse_transfer", **HYPER, lengths=lengths), np.random.default_rng(0)
    latents = model.start_at(np.array([0, 1, 0, 2, 1, 1, 0, 2]), MICRO, rng)
    np.testing.assert_allclose(np.exp(latents["log_weight"]), weight)
    np.testing.assert_allclose(latents["shape"], np.mean(weight, axis=0))


def test_empty_documents_say_something_where_they_have_lengths():
    z, hyper = np.array([0, 1]), {"alpha": np.array(1.0), "eta": np.array(0.3)}
    with_empty = Corpus([0, 1], [0, 1, 1, 2], n_words=2, group=[0, 0, 1])
    without = with_empty.take([0, 2])
    for lengths, same in (("task", True), ("none", True), ("document", False)):
        model = get("sparse_transfer", lengths=lengths)
        values = [model.log_marginal(z, corpus, hyper) for corpus in (with_empty, without)]
        assert (abs(values[0] - values[1]) < 1e-12) == same


def test_what_is_wrong_is_named():
    for epsilon in (0.0, 1.5, "a"):
        with pytest.raises(
            ValueError, match=r"sparse_transfer: epsilon: expected a number in \(0, 1\], found"
        ):
            get("sparse_transfer", epsilon=epsilon)
    with pytest.raises(
        ValueError, match="sparse_transfer: a2: expected a positive number from 1e-300 to 1e300, found -1"
    ):
        get("sparse_transfer", a2=-1)
    with pytest.raises(ValueError, match="lengths: expected one of task, document, none, found 'page'"):
        get("sparse_transfer", lengths="page")
    model = get("sparse_transfer")
    with pytest.raises(CorpusError, match="sparse_transfer: expected a corpus with groups"):
        model.initial_latents(Corpus([0, 1], [0, 2]), np.random.default_rng(0))
    with pytest.raises(ValueError, match='variant "collapsed": expected lengths="document"'):
        model.kernel("collapsed").load(model.initial_latents(MICRO, np.random.default_rng(0)), MICRO, model)
    far = Design(np.full(40, 500), 10, group=np.arange(40) % 20)
    with pytest.raises(ValueError, match=r"none of .* draws from the prior had documents of the design's"):
        get("sparse_transfer", alpha=0.1, epsilon=0.01).simulate(far, np.random.default_rng(0))
