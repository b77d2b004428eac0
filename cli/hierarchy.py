"""``bnpzoo hierarchy``: the layers of topics of a fit, and links between them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import err, print_json, print_table, say
from .options import FitFile, Json

if TYPE_CHECKING:
    from ..diagnostics.topics import Link

_CHILDREN = 6


def hierarchy(
    fit: FitFile,
    n_words: Annotated[int, typer.Option("--words", min=1, help="Words of each topic.")] = 10,
    n_topics: Annotated[int, typer.Option("--topics", min=1, help="Topics of a layer, largest first.")] = 10,
    least: Annotated[float, typer.Option(min=0.0, max=1.0, help="Least share of a link.")] = 0.1,
    chain: Annotated[
        int, typer.Option(min=0, help="Which chain; topics of different chains do not match up.")
    ] = 0,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a page here (.html) on which topics and links can be explored.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the layers of topics of a belief network, at the last kept draw of a chain.

    For fits with `--topics belief-network`, of two layers or more: how many topics each layer needs, what
    they are about, and which topics below come from them.
    """
    from ..diagnostics.reports.fits import check_page
    from ..diagnostics.reports.hierarchy import spread_of, write_hierarchy
    from ..diagnostics.topics.hierarchy import hierarchy_of
    from ..zoo.inference import load

    if page is not None:
        check_page(page)
    tree = load(fit)
    found = hierarchy_of(tree, n_words, chain, least)
    if page is not None:
        write_hierarchy(page, tree, n_words=n_words, chain=chain)
        say(f"Wrote {page}", console=err)
    if as_json:
        print_json(
            {
                "layers": [[topic._asdict() for topic in layer] for layer in found.layers],
                "links": [[link._asdict() for link in own] for own in found.links],
            }
        )
        return
    for t in range(len(found.layers) - 1, 0, -1):
        spread, names = spread_of(tree, t - 1), [" ".join(topic.words[:3]) for topic in found.layers[t - 1]]
        rows = [
            (f"{topic.share:.1%}", " ".join(topic.words), _children(found.links[t - 1], k, names))
            for k, topic in enumerate(found.layers[t][:n_topics])
        ]
        print_table(
            f"Layer {t + 1}: effective topics {spread['upper_topics']}, layer_mass {spread['layer_mass']}",
            ["tokens", "words", f"topics of layer {t} that come from it"],
            rows,
        )


def _children(links: "tuple[Link, ...]", upper: int, names: list[str]) -> str:
    """Topics that come from one above, those with the strongest links, and how much of each."""
    own = [f"{names[link.lower]} {link.share:.0%}" for link in links if link.upper == upper]
    more = f"; {len(own) - _CHILDREN} more" if len(own) > _CHILDREN else ""
    return "; ".join(own[:_CHILDREN]) + more
