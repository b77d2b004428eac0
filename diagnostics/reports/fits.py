"""A report of fits as one HTML file, to be read without network, on a phone as on a desk."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import xarray as xr
from markupsafe import Markup

from ...zoo.contract import Model
from ...zoo.corpus import Corpus
from ...zoo.files import replace_on_success
from ...zoo.inference.backends import BACKENDS
from ...zoo.inference.results import corpus_of, latents_of, model_of
from ...zoo.wording import counted
from ..coherence import npmi
from ..compare import ESS_LIMIT, RHAT_LIMIT, SEVERITY, Comparison, Row, compare, elements
from ..differences import aligned_topics
from ..heldout import HeldOut
from ..topics import match_topics, representatives, topics
from ..topics.summaries import rank_words
from .plots import colour, convergence_plots, equation, history_plot

TEMPLATES = Path(__file__).parent / "templates"
_MOST_PLOTTED, _MOST_TOPICS, _TOP_WORDS, _DOCUMENTS = 8, 40, 10, 3
_HISTORIES = ("n_topics", "log_joint")


def write_report(
    path: str | Path,
    trees: Mapping[str, xr.DataTree],
    comparison: Comparison | None = None,
    heldout: Mapping[str, HeldOut] | None = None,
    browser: str = "",
) -> None:
    """Write what was found, what was run, and whether it agrees.

    The file is whole or absent, loads nothing from elsewhere and runs no script; all text that comes from
    the corpus is escaped.

    Parameters
    ----------
    path : path
        The HTML file; replaced where it exists.
    trees : mapping of str to DataTree
        One or more fits of one model to one corpus, by label, as for `compare`.
    comparison : Comparison, optional
        Of these fits; made here where it is not given.
    heldout : mapping of str to HeldOut, optional
        Scores of held-out documents, by label.
    browser : str
        Where the topic browser of the first fit is, as seen from the page; nothing links to it unless given.

    Raises
    ------
    ValueError
        If the fits cannot be compared, or `path` is not the name of a page.
    """
    check_page(path)
    comparison = comparison or compare(trees)
    label, first = next(iter(trees.items()))
    model, corpus = model_of(first), corpus_of(first)
    write_page(
        path,
        "report.html",
        card=model.card,
        equations=[(e.where, equation(e.latex), e.meaning) for e in model.card.equations],
        comparison=comparison,
        limits={"rhat": RHAT_LIMIT, "ess": ESS_LIMIT},
        corpus=corpus,
        digest=first.attrs["corpus_sha256"],
        settings=model.settings(),
        fits=[_fit(label, tree, i) for i, (label, tree) in enumerate(trees.items())],
        rows=[_table_row(row, comparison) for row in _by_severity(comparison)],
        histories=[(label, _histories(tree)) for label, tree in trees.items() if _has_warm_up(tree)],
        browser=browser,
        plots=[(row, convergence_plots(draws)) for row, draws in _plotted(comparison, trees)],
        topics=_topics(label, first),
        aligned=_aligned(label, first, model, corpus),
        heldout=heldout or {},
        version=first.attrs["bnpzoo_version"],
    )


def check_page(path: str | Path) -> None:
    """Raise ValueError unless `path` is the name of an HTML file."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{path}: expected a name that ends in .html, which is what reports are")


def write_page(path: str | Path, template: str, **values: Any) -> None:
    """Write an HTML file from a template, whole or not at all; see `rendered`."""
    with replace_on_success(path) as temporary:
        temporary.write_text(rendered(template, **values), encoding="utf-8")


def rendered(template: str, **values: Any) -> str:
    """Fill a template in; all text in `values` is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["counted"] = counted
    return environment.get_template(template).render(values)


def _by_severity(comparison: Comparison) -> list[Row]:
    return sorted(comparison.rows, key=lambda row: SEVERITY.index(row.verdict))


def _fit(label: str, tree: xr.DataTree, index: int) -> dict[str, Any]:
    stats, attrs = tree["sample_stats"].dataset, tree.attrs
    return {
        "label": label,
        "colour": colour(index),
        "backend": attrs["backend"],
        "version": attrs["backend_version"],
        "detail": f"truncated at {attrs['truncation']} topics"
        if attrs["truncation"] != ""
        else attrs["variant"],
        "chains": tree["posterior"].sizes["chain"],
        "draws": tree["posterior"].sizes["draw"],
        "tune": f"{attrs['tune']:,}" if _has_warm_up(tree) else "–",
        "thin": attrs["thin"],
        "seed": attrs["seed"],
        "seconds": float(stats["seconds"].sum()),
        "diverging": int(stats["diverging"].sum()) if "diverging" in stats else None,
        "interrupted": bool(attrs["interrupted"]),
    }


def _has_warm_up(tree: xr.DataTree) -> bool:
    """Whether draws come from chains on their way; those of an approximation are independent."""
    backend = BACKENDS.get(tree.attrs["backend"])
    return backend is None or not backend.is_approximate


def _table_row(row: Row, comparison: Comparison) -> dict[str, Any]:
    edge = 1.5 * comparison.threshold
    return {
        "quantity": row.quantity,
        "verdict": row.verdict,
        "means": [_with_error(row.mean[label], row.mcse[label]) for label in comparison.labels],
        "bars": [
            {
                "pair": f"{b} − {a}: {_number(d, '+.2f')} MCSE",
                "position": max(-1.0, min(1.0, d / edge)) if not math.isnan(d) else 0.0,
                "beyond": abs(d) > comparison.threshold,
            }
            for (a, b), d in row.difference.items()
        ],
        "largest": _number(row.largest_difference, ".1f"),
        "rhat": _number(row.rhat, ".3f"),
        "ess": [_number(row.ess[label], ",.0f") for label in comparison.labels],
        "ess_per_second": [_number(row.ess_per_second[label], ",.3g") for label in comparison.labels],
    }


def _number(value: float, spec: str) -> str:
    if math.isnan(value):
        return "–"
    text = format(value, spec) if math.isfinite(value) else ("∞" if value > 0 else "-∞")
    return text.replace("-", "−")


def _with_error(mean: float, mcse: float) -> tuple[str, str]:
    """Mean and MCSE, both to the second significant digit of the latter."""
    if not (math.isfinite(mean) and math.isfinite(mcse) and mcse > 0.0):
        return _number(mean, ".6g"), ""
    decimals = max(0, min(8, 1 - math.floor(math.log10(mcse))))
    return _number(mean, f",.{decimals}f"), _number(mcse, f".{decimals}f")


def _plotted(
    comparison: Comparison, trees: Mapping[str, xr.DataTree]
) -> Iterator[tuple[Row, list[np.ndarray]]]:
    """Draws of the quantities that have one element, and of the one that differs most."""
    moving = [
        row
        for row in comparison.rows
        if row.verdict != "constant" and np.isfinite([*row.mean.values()]).all()
    ]
    single = [row for row in moving if not row.quantity.endswith("]")][: _MOST_PLOTTED - 1]
    worst = sorted(moving, key=lambda row: -row.largest_difference)[:1]
    draws = {label: dict(elements(tree)) for label, tree in trees.items()}
    for row in single + [row for row in worst if row not in single]:
        yield row, [draws[label][row.quantity] for label in comparison.labels]


def _histories(tree: xr.DataTree) -> dict[str, Markup]:
    """Draw the number of topics and the log joint of all chains from their start, as far as it is known."""
    tune, thin, n_draws = (int(tree.attrs["tune"]), int(tree.attrs["thin"]), tree["posterior"].sizes["draw"])
    posterior, sweeps = tree["posterior"].dataset, tune + thin * (np.arange(n_draws) + 1)
    before = tree["warmup_posterior"].dataset if "warmup_posterior" in tree.children else None
    out = {}
    for name in _HISTORIES:
        values = posterior[name].values
        if before is not None and name in before:
            values = np.concatenate([before[name].values, values], axis=1)
        at = sweeps if values.shape[1] == n_draws else np.append(before["sweep"].values, sweeps)  # type: ignore[index]
        if np.isfinite(values).all():
            out[name] = history_plot(list(values), at, tune)
    return out


def _topics(label: str, tree: xr.DataTree) -> dict[str, Any] | None:
    """Largest topics of a fit over its chains and kept draws, if it has kept any."""
    if not next(latents_of(tree), None):
        return None
    matched = match_topics(tree)
    top = rank_words(matched, _TOP_WORDS)
    coherent = npmi(top, matched.corpus) if top.shape[1] > 1 else np.full(len(top), np.nan)
    about = representatives(matched, _DOCUMENTS).groupby("topic")["document"].agg(list)
    return {
        "label": label,
        "n_draws": len(matched.labels),
        "n_omitted": max(0, matched.n_topics - _MOST_TOPICS),
        "described": [
            {
                "number": k,
                "share": row["share"],
                "interval": (row["share_low"], row["share_high"]),
                "words": matched.corpus.vocabulary[top[k]].tolist(),
                "n_documents": round(row["documents"]),
                "documents": [str(d) for d in about[k]],
                "stability": row["stability"],
                "npmi": _number(float(coherent[k]), ".2f"),
            }
            for k, row in topics(matched).iloc[:_MOST_TOPICS].iterrows()
        ],
    }


def _aligned(label: str, tree: xr.DataTree, model: Model, corpus: Corpus) -> dict[str, Any] | None:
    """Largest topics side by side in all groups, where a model has versions of them and draws are kept."""
    if not (model.has_versions and corpus.n_groups > 1 and next(latents_of(tree), None)):
        return None
    found = aligned_topics(tree, _TOP_WORDS)
    shown = found[:_MOST_TOPICS]
    return {
        "label": label,
        "topics": shown,
        "largest": max(version.share for topic in shown for version in topic.versions),
        "n_omitted": len(found) - len(shown),
    }
