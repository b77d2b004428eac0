"""Models whose laws tests write out by hand, in all their forms."""

from bnpzoo.zoo.models import combinations, get

MODELS = (
    "lda", "group_lda", "cclda", "hdp", "mt_hdp", "sparse_transfer", "focused", "pyp", "hpyp", "tpyp",
    "labeled_lda", "partially_labeled_lda", "dmr", "author_topic", "metalda", "pfa", "gbn", "dp_mrm", "hdsp",
    "whdsp", "slda", "bgg", "medlda", "shdp",
)  # fmt: skip
"""A new model joins when its quantities (`quantities.py`) and reference (`bridges.py`) are written out."""

FORMS = {
    f"{model_id} with {topics} topics" if topics else model_id: (model_id, {"topics": topics or None})
    for model_id, topics in combinations()
    if model_id in MODELS
} | {
    "lda with an alpha a topic": ("lda", {"symmetric": False}),
    "sparse_transfer, lengths of documents": ("sparse_transfer", {"lengths": "document"}),
    "sparse_transfer, lengths of nothing": ("sparse_transfer", {"lengths": "none"}),
    "author_topic, sets of authors": ("author_topic", {"labels": "tag"}),
    "metalda, sets of labels": ("metalda", {"labels": "tag"}),
    "pfa with a fixed number of topics": ("pfa", {"n_topics": 2}),
    "gbn of three layers, lengths are data": ("gbn", {"n_layers": 3, "length_shape": 0.9}),
    "dp_mrm, sets of labels": ("dp_mrm", {"labels": "tag"}),
    "hdsp, sets of labels": ("hdsp", {"labels": "tag"}),
    "hdsp with a fixed number of topics": ("hdsp", {"n_topics": 2}),
}
"""Model and options by name."""

WITH_REFERENCE = [
    name for name, (model_id, options) in FORMS.items() if get(model_id, **options).reference is not None
]
"""Names of the forms that have one."""
