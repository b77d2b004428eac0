"""Forms of the models that a full round judges: what a setting makes another model, or gives other code."""

from typing import NamedTuple

from ...zoo.models import combinations


class Form(NamedTuple):
    """A model, kind of topics (the model's own if empty), and options, as JSON."""

    model: str
    topics: str = ""
    options: str = ""


WITHOUT_BOUND = '{"n_topics": 0}'
THREE_TOPICS = '{"n_topics": 3}'
MISSING = '{"missing": "group 1"}'

FORMS = (
    Form("lda", options='{"symmetric": false}'),
    Form("lda", "belief-network", '{"layers": 1}'),
    Form("hdsp", options=THREE_TOPICS),
    Form("whdsp", options=THREE_TOPICS),
    Form("hdsp", options=MISSING),
    Form("whdsp", options=MISSING),
    Form("pfa", options=THREE_TOPICS),
    Form("gbn", options='{"n_layers": 3}'),
    Form("sparse_transfer", options='{"lengths": "document"}'),
    Form("sparse_transfer", options='{"lengths": "none"}'),
    Form("was", options='{"forward": true}'),
    *(Form(m, options=WITHOUT_BOUND) for m in ("was", "ordered_sbp", "sbp", "tjb_hdp", "mqr_hdp", "icd")),
)
"""Forms with laws, branches or mutants that the defaults lack."""


def forms() -> list[Form]:
    """Return all models with each kind of topics that they may have, and then `FORMS`."""
    return [*(Form(model, topics) for model, topics in combinations()), *FORMS]
