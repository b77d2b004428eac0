"""The labels of topics whose numbers are by size, not by label."""

from dataclasses import replace

import numpy as np
from bnpzoo import Corpus, get
from bnpzoo.diagnostics.topics import match_topics, topics
from bnpzoo.diagnostics.topics.own_labels import COMMON, own_labels
from bnpzoo.zoo.contract import Probes
from bnpzoo.zoo.inference.chain import Record
from bnpzoo.zoo.inference.results import assemble

CORPUS = Corpus(
    [0, 1, 0, 1, 2, 3, 2, 3, 2],
    [0, 2, 4, 9],
    [*"abcd"],
    covariates={"section": np.array([0, 0, 1])},
    covariate_names={"section": ["arts", "sport"]},
)


def fit_of(model_id, z, corpus=CORPUS, **options):
    """Fit whose kept draws are given, ``z`` (draws, N), in one chain."""
    model, probes = get(model_id, alpha=0.5, eta=0.1, **options), Probes.of(corpus)
    alpha = np.full(model.n_alphas(corpus), 0.5)
    latents = [{"z": np.array(own), "alpha": alpha, "eta": np.array(0.1)} for own in z]
    quantities = [model.quantities(own, corpus, probes) for own in latents]
    record = Record(quantities, [0.0] * len(z), list(enumerate(latents)))
    return assemble(model, corpus, probes, [record], {}, {"backend": "kernel", "variant": "sparse"})


def test_a_topic_has_the_label_that_it_is_of():
    table = topics(fit_of("labeled_lda", [[0] * 4 + [1] * 5] * 2))
    assert table["label"].tolist() == ["section: sport", "section: arts"]
    assert table["tokens"].tolist() == [5.0, 4.0]


def test_labels_of_several_topics_and_topics_of_all_documents():
    z = [0, 1, 0, 1, 3, 4, 4, 4, 3]  # two a label, so that 4 is of all documents
    options = {"topics_per_label": 2, "common": 1}
    found = own_labels(match_topics(fit_of("partially_labeled_lda", [z, z], **options)))
    assert found[:4] == [COMMON, "section: arts", "section: arts", "section: sport"]


def test_a_topic_is_matched_with_those_of_its_label():
    """Though another label, which the same documents have, holds the same tokens in another draw."""
    corpus = replace(
        CORPUS,
        covariates=dict(CORPUS.covariates) | {"page": np.array([0, 0, 1])},
        covariate_names=dict(CORPUS.covariate_names) | {"page": ["left", "right"]},
    )
    matched = match_topics(fit_of("labeled_lda", [[0] * 4 + [1] * 5, [2] * 4 + [3] * 5], corpus))
    assert sorted(own_labels(matched)) == ["page: left", "page: right", "section: arts", "section: sport"]
    assert np.array_equal(*matched.labels)


def test_other_topics_are_of_no_label():
    model, probes = get("lda", n_topics=2, alpha=0.5, eta=0.1), Probes.of(CORPUS)
    latents = {"z": np.array([0] * 4 + [1] * 5), "alpha": np.array(0.5), "eta": np.array(0.1)}
    record = Record([model.quantities(latents, CORPUS, probes)], [0.0], [(0, latents)])
    tree = assemble(model, CORPUS, probes, [record], {}, {"backend": "kernel", "variant": "sparse"})
    assert own_labels(match_topics(tree)) is None
    assert "label" not in topics(tree)
