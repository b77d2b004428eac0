"""``bnpzoo evaluate``: held-out scores and coherence of a fit."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import err, print_json, print_table
from .inputs import SPLIT, is_held_out, known_part, read_new_documents
from .options import (
    CorpusFile,
    Coverage,
    FitFile,
    Groups,
    Json,
    NewDelimiter,
    NewEncoding,
    NewTextColumn,
    Seed,
)

if TYPE_CHECKING:
    from ..diagnostics.heldout import HeldOut
    from ..diagnostics.heldout.stacking import StackedChains


class Unit(StrEnum):
    """Choices of ``--unit``."""

    DOCUMENT = "document"
    SENTENCE = "sentence"


def evaluate(
    fit: FitFile,
    corpus_file: CorpusFile,
    groups: Groups = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="COVARIATE",
            help=f"Score only the documents where this covariate is 1. Default: {SPLIT} where there is one.",
            show_default=False,
        ),
    ] = None,
    coverage: Coverage = 0.5,
    chains: Annotated[
        bool,
        typer.Option(
            "--chains",
            help="Also score each chain by itself, and weigh them by stacking: for those that disagree.",
        ),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Leave out left to right, which takes the longest.",
        ),
    ] = False,
    top: Annotated[int, typer.Option(min=2, help="Words of a topic that coherence looks at.")] = 10,
    unit: Annotated[
        Unit, typer.Option(help="What words must share to be coherent, in both corpora.")
    ] = Unit.DOCUMENT,
    seed: Seed = 0,
    text_column: NewTextColumn = None,
    encoding: NewEncoding = None,
    delimiter: NewDelimiter = None,
    as_json: Json = False,
) -> None:
    """Score documents that a fit has not seen, and the coherence of its topics in them.

    Document completion predicts half of each document from its other half; left to right and empirical
    likelihood estimate the probability of whole documents, the latter also where a document has some topics
    only, but without labels. Words that the fit has not seen are left out, and counted. Perplexity: lower is
    better; coherence: higher is better, and nan for a topic of fewer words than it looks at.
    """
    import numpy as np

    from ..diagnostics.coherence import npmi, umass
    from ..diagnostics.heldout.stacking import stack_chains
    from ..diagnostics.heldout.usual import all_scores
    from ..diagnostics.topics import topics_of
    from ..zoo.inference import corpus_of, load

    tree = load(fit)
    training = corpus_of(tree)
    whole = read_new_documents(
        tree, corpus_file, groups, text_column=text_column, encoding=encoding, delimiter=delimiter
    )
    whole = whole.take(is_held_out(whole, split)).with_groups_of(training)
    test, known = known_part(whole, training, corpus_file, coverage)
    with err.status("scoring documents"):
        scores = all_scores(tree, test, seed=seed, with_left_to_right=not quick)
        stacked = stack_chains(tree, test, seed=seed) if chains else None
    found = topics_of(tree, top)
    top_words = np.array([topic.word_ids for topic in found])
    has_all = np.array([len(topic.words) == topic.word_ids.size for topic in found])
    coherence = {name: np.full(len(found), np.nan) for name in ("UMass", "NPMI")}
    if training.n_words > 1:
        coherence["UMass"][has_all] = umass(top_words, training, unit=str(unit))[has_all]
        coherence["NPMI"][has_all] = npmi(top_words, test, unit=str(unit))[has_all]
    if as_json:
        share = test.n_tokens / max(whole.n_tokens, 1)
        words = {"known": test.n_tokens, "tokens": whole.n_tokens, "share": share}
        print_json(
            {
                "coverage": words,
                "held_out": [record(score) for score in scores],
                "chains": _chains(stacked),
                "coherence": coherence,
            }
        )
        return
    print_table(
        f"Held-out documents: {known}",
        ["method", "perplexity", "standard error", "tokens scored", "draws averaged"],
        [list(record(score).values()) for score in scores],
    )
    if stacked is not None:
        print_table(
            f"Chains by {stacked.mixture.method}, with the weights that predict these documents best "
            "together (stacking; the last row is a little too good)",
            ["chain", "weight", "perplexity", "standard error"],
            [[f"{c['chain']}", c["weight"], c["perplexity"], c["standard_error"]] for c in _chains(stacked)],
        )
    print_table(
        f"Coherence of topics, top {top} words (UMass in {unit}s of the training corpus, NPMI of this)",
        ["UMass", "NPMI", "tokens", "words"],
        [
            (*values, topic.n_tokens, " ".join(topic.words))
            for *values, topic in zip(*coherence.values(), found, strict=True)
        ],
    )


def _chains(stacked: "StackedChains | None") -> list[dict[str, Any]]:
    """Weight and score of each chain, and of all together."""
    if stacked is None:
        return []
    rows = [
        {"chain": c, "weight": float(weight)} | record(score)
        for c, (weight, score) in enumerate(zip(stacked.weights, stacked.chains, strict=True))
    ]
    return [*rows, {"chain": "together", "weight": 1.0} | record(stacked.mixture)]


def record(score: "HeldOut") -> dict[str, Any]:
    """Held-out score as plain numbers."""
    return {
        "method": score.method,
        "perplexity": score.perplexity,
        "standard_error": score.standard_error,
        "tokens": int(score.n_scored.sum()),
        "draws": score.n_draws,
    }
