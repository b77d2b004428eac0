"""``bnpzoo predict``: which label or response new documents have."""

from collections.abc import Sequence
from enum import StrEnum
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import check_csv, err, fail, print_json, print_table, say, write_csv
from .inputs import SPLIT, is_held_out, known_part, read_new_documents
from .options import (
    CorpusFile,
    Coverage,
    Csv,
    FitFile,
    Groups,
    Json,
    NewDelimiter,
    NewEncoding,
    NewTextColumn,
    Seed,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ..diagnostics.heldout.labels import PredictedLabels
    from ..diagnostics.heldout.responses import PredictedNumbers

SHOWN = 10
"""Documents that are printed."""


class LabelPrior(StrEnum):
    """Choices of ``--prior``."""

    UNIFORM = "uniform"
    EMPIRICAL = "empirical"


def predict(
    fit: FitFile,
    corpus_file: CorpusFile,
    label: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="The covariate, or response, that is predicted.", show_default=False
        ),
    ],
    groups: Groups = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="COVARIATE",
            help="Predict only for the documents where this covariate is 1. "
            f"Default: {SPLIT} where there is one.",
            show_default=False,
        ),
    ] = None,
    prior: Annotated[
        LabelPrior,
        typer.Option(help="Before the words are seen: all values alike, or as often as in the fit."),
    ] = LabelPrior.UNIFORM,
    particles: Annotated[int, typer.Option(min=1, help="Behind the probability of each document.")] = 10,
    coverage: Coverage = 0.5,
    csv: Csv = None,
    seed: Seed = 0,
    text_column: NewTextColumn = None,
    encoding: NewEncoding = None,
    delimiter: NewDelimiter = None,
    as_json: Json = False,
) -> None:
    """Predict a label of new documents from their words and other labels, by a fit of a model with labels.

    By Bayes' rule: how probable the words are under each value of the label, averaged over the draws that the
    fit keeps. Documents have the names of their files, or are numbered from 0 through the whole corpus file.
    Where the documents have the label, it is not looked at but to say how often it was hit. Or
    predict a response from the words, by a fit of a model of responses, slda, shdp or medlda; there --prior
    and --particles play no part.
    """
    from ..diagnostics.heldout.labels import NO_VALUE, OTHER_VALUE, predict_labels
    from ..diagnostics.heldout.responses import PredictedNumbers, predict_response
    from ..diagnostics.topics.documents import document_names
    from ..zoo.families.labelled import LabelledModel
    from ..zoo.families.responses.family import RespondingFamily
    from ..zoo.inference import corpus_of, load, model_of
    from ..zoo.models import MODELS

    check_csv(csv)
    tree = load(fit)
    training, model = corpus_of(tree), model_of(tree)
    if not isinstance(model, LabelledModel | RespondingFamily):
        known = [name for name, cls in MODELS.items() if issubclass(cls, LabelledModel | RespondingFamily)]
        fail(f"{fit}: expected a fit of one of {', '.join(known)}, found one of {model.card.id}")
    whole = read_new_documents(
        tree, corpus_file, groups, text_column=text_column, encoding=encoding, delimiter=delimiter
    )
    chosen = is_held_out(whole, split)
    names, whole = document_names(whole)[chosen], whole.take(chosen)
    documents, known = known_part(whole, training, corpus_file, coverage)
    with err.status("predicting") as status:

        def progress(n: int) -> None:
            status.update(f"predicting: {n} draws")

        if isinstance(model, RespondingFamily):
            found = predict_response(tree, documents, label, seed=seed, progress=progress)
        else:
            found = predict_labels(
                tree,
                documents,
                label,
                prior=str(prior),
                particles=particles,
                seed=seed,
                progress=progress,
            )
    if isinstance(found, PredictedNumbers):
        _show_numbers(found, names.tolist(), label, known, csv, as_json)
        return
    rows = _rows(found, names.tolist())
    if csv is not None:
        from pandas import DataFrame

        write_csv(DataFrame(rows), csv)
    n_known, hit = int((found.truth != NO_VALUE).sum()), int(found.hit.sum())
    if as_json:
        print_json(
            {
                "label": label,
                "values": list(found.values),
                "draws": found.n_draws,
                "known": n_known,
                "hit": hit,
                "unknown_to_the_fit": int((found.truth == OTHER_VALUE).sum()),
                "confusion": found.confusion.tolist(),
                "documents": rows,
            }
        )
        return
    print_table(
        f"{label} of new documents: {known}",
        ["document", "predicted", "probability", "known"],
        [(str(row["document"]), row["predicted"], row["probability"], row["known"]) for row in rows[:SHOWN]],
    )
    if len(rows) > SHOWN:
        say(f"… and {len(rows) - SHOWN:,} more documents: --csv FILE has all of them")
    if n_known:
        print_table(
            f"Predicted {label} (columns) of documents whose {label} is known (rows)",
            [label, *found.values],
            [(value, *map(int, row)) for value, row in zip(found.values, found.confusion, strict=True)],
        )
        n_other = int((found.truth == OTHER_VALUE).sum())
        others = f" {n_other:,} have a value that the fit does not know." if n_other else ""
        say(f"{hit:,} of {n_known:,} are predicted as they are ({hit / n_known:.1%}).{others}")


def _rows(found: "PredictedLabels", names: Sequence[Any]) -> list[dict[str, Any]]:
    """Predicted and known value of each document, and the probability of each value."""
    return [
        {
            "document": names[d],
            "predicted": found.values[best],
            "probability": float(found.probability[d, best]),
            "known": _known(found, d),
        }
        | {f"P({value})": float(p) for value, p in zip(found.values, found.probability[d], strict=True)}
        for d, best in enumerate(found.predicted)
    ]


def _known(found: "PredictedLabels", d: int) -> str:
    from ..diagnostics.heldout.labels import OTHER_VALUE

    place = int(found.truth[d])
    return found.values[place] if place >= 0 else "(not in the fit)" if place == OTHER_VALUE else ""


def _show_numbers(
    found: "PredictedNumbers", names: Sequence[Any], label: str, known: str, csv: "Path | None", as_json: bool
) -> None:
    """Show predicted numbers: their means and intervals."""
    rows = [
        {
            "document": names[d],
            "mean": float(found.mean[d]),
            "low": float(found.low[d]),
            "high": float(found.high[d]),
            "known": None if isnan(truth) else float(truth),
        }
        for d, truth in enumerate(found.truth)
    ]
    if csv is not None:
        from pandas import DataFrame

        write_csv(DataFrame(rows), csv)
    n_known = sum(row["known"] is not None for row in rows)
    if as_json:
        scores = {"r_squared": _number(found.r_squared), "covered": _number(found.covered)}
        print_json({"label": label, "draws": found.n_draws, "known": n_known, **scores, "documents": rows})
        return
    print_table(
        f"{label} of new documents: {known}",
        ["document", "mean", "low", "high", "known"],
        [tuple("" if x is None else x for x in row.values()) for row in rows[:SHOWN]],
    )
    if len(rows) > SHOWN:
        say(f"… and {len(rows) - SHOWN:,} more documents: --csv FILE has all of them")
    if n_known:
        share = found.r_squared
        explained = "" if isnan(share) else f"; the means explain {share:.1%} of their variance"
        say(f"{found.covered:.1%} of {n_known:,} known numbers are in their intervals{explained}.")


def _number(value: float) -> float | None:
    """Return a number as JSON has it, which knows no NaN."""
    return None if isnan(value) else value
