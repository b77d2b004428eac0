"""A page for every model of the registry, made from its card when the documentation is built."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bnpzoo.diagnostics.laboratory.archive import Books, strongest
from bnpzoo.diagnostics.laboratory.ladder import RUNGS
from bnpzoo.zoo.contract import Model, Prior
from bnpzoo.zoo.families.two_sided import TwoSidedModel
from bnpzoo.zoo.models import MODELS, get
from made_pages import write_where_new
from plates import plate_diagram
from sphinx.application import Sphinx

FOLDER = "gallery"

INDEX = """\
# Gallery of models

Every model has a page made from its card: what it says of the data, as equations and as a plate diagram, its
settings and samplers, where this package departs from the printed source, and what speaks for its samplers.

::::{grid} 1 2 2 2
:gutter: 3
"""

EXAMPLE = """\
```sh
bnpzoo fit {0} corpus.npz --out fit.nc
bnpzoo browse fit.nc --out topics.html
```

```python
import bnpzoo

corpus = bnpzoo.read_corpus("corpus.npz")
fit = bnpzoo.sample(bnpzoo.get("{0}"), corpus, seed=1)
```
"""


def index_page() -> Iterator[str]:
    """One card a model."""
    yield INDEX
    for model_id, cls in MODELS.items():
        yield f":::{{grid-item-card}} {cls.card.title}\n:link: {model_id}\n:link-type: doc\n"
        yield f"`{model_id}` · {cls.card.source}\n\n{cls.card.summary}\n:::\n"
    yield "::::\n\n```{toctree}\n:hidden:\n"
    yield from MODELS
    yield "```"


def model_page(model: Model) -> Iterator[str]:
    """Everything that the card and the registry know of a model."""
    card = model.card
    yield f"# {card.title}\n\n{card.summary}\n\n*{card.source}* · {', '.join(card.tags)}\n"
    yield f"```{{raw}} html\n{plate_diagram(card.id)}\n```\n"
    yield "## What it says\n"
    for equation in card.equations:
        yield f"{equation.meaning[:1].upper()}{equation.meaning[1:]} ({equation.where}):\n"
        yield f"$$\n{equation.latex}\n$$\n"
    yield "## Settings\n"
    yield from _table(
        ["name", "default", ""],
        [
            (f"`{name}`", f"`{value}`", "sampled under this prior" if isinstance(value, Prior) else "")
            for name, value in model.spelled().items()
        ],
    )
    yield "A number fixes a hyperparameter, a prior lets it be sampled.\n"
    if isinstance(model, TwoSidedModel):
        sides = ", ".join(f"`{name}`" for name in model.topic_sides)
        yield f"Topics: {sides}; see [](../models/combinations.md).\n"
    yield "## Example\n"
    yield EXAMPLE.format(card.id)
    yield "## Samplers\n"
    yield from _table(
        ["variant", "exact", "what it is"],
        [(f"`{name}`", "yes" if k.exact else "no", k.about) for name, k in model.kernels.items()],
    )
    references = "a NumPyro and a Stan program" if model.reference is not None else "none"
    yield f"Reference programs for general samplers: {references}.\n"
    yield "## Evidence\n"
    yield "Rungs of the ladder that today's samplers have passed (✓), failed (✗) or not been put before (·). "
    yield "All figures are on [the page of evidence](../evidence.md).\n"
    yield from _table(["variant", *RUNGS], _marks(model))
    if card.errata:
        yield "## Where it departs from the printed source\n"
        yield from (f"- {erratum}" for erratum in card.errata)
        yield ""
    yield f"## Reference\n\n{card.citation} (`{card.bibtex_key}`)"


def _marks(model: Model) -> Iterator[list[str]]:
    """One row a sampler: its verdicts in the package's books that are of today's code."""
    found = strongest(Books().records(model.card.id))
    for variant in model.kernels:
        own = [found.get((model.card.id, variant, rung)) for rung in RUNGS]
        marks = ["·" if record is None else "✓" if record.status == "passed" else "✗" for record in own]
        yield [f"`{variant}`", *marks]


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    columns = list(columns)
    yield f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
    yield from (f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)
    yield ""


def write_gallery(app: Sphinx, _: Any) -> None:
    """Write the pages where they are not yet, or are others."""
    folder = Path(app.confdir) / FOLDER
    pages = {"index": index_page()} | {model_id: model_page(get(model_id)) for model_id in MODELS}
    for name, lines in pages.items():
        write_where_new(folder / f"{name}.md", "\n".join(lines) + "\n")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the gallery before Sphinx looks for pages."""
    app.connect("config-inited", write_gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
