"""Options and arguments that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

CORPUS_HELP = (
    "A corpus: a folder of .txt files, CSV or JSON lines with a column `text`, .npz, .arrays, UCI or LDA-C."
)

CorpusFile = Annotated[Path, typer.Argument(metavar="CORPUS", help=CORPUS_HELP, show_default=False)]
ModelName = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model's name; `bnpzoo list` shows them.", show_default=False)
]
FitFile = Annotated[
    Path, typer.Argument(metavar="FIT", help="A fit written by `bnpzoo fit --out`.", show_default=False)
]
FitFiles = Annotated[
    list[Path],
    typer.Argument(metavar="FIT...", help="Fits written by `bnpzoo fit --out`.", show_default=False),
]
Settings = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A hyperparameter: a number fixes it (alpha=0.1), a prior lets it be sampled "
        "(gamma=Gamma(1,1), shape and rate; a=Beta(1,1) for one below 1). Or a word where the model has a "
        "choice (lengths=document). `bnpzoo show MODEL` lists names and defaults. Repeat for more.",
        show_default=False,
    ),
]
Topics = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The kind of topics, such as pitman-yor, or belief-network:3 for one of three layers; "
        "`bnpzoo show MODEL` lists those that a model takes.",
        show_default=False,
    ),
]
Seeds = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Words of topics that are known beforehand, a topic a line; an empty line is a topic without. "
        "Topics are then of the kind seeded; --set seed_tokens=50 says how much a word counts.",
        show_default=False,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        metavar="COVARIATE",
        help="Documents with the same value of this covariate are a group; the corpus' own if left out.",
        show_default=False,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0, max=2**63 - 1, help="Seed of all random numbers; the same seed gives the same result."
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        metavar="START",
        help="Where chains start: seated (tokens take topics one by one), one (topic), documents (a topic "
        "each), random:K, or a fit (.nc, .zarr) of this corpus or of one that has grown, by this model or, "
        "for its topics alone, by another: lda from an hdp. Several, with commas, are taken in turn. "
        "Default: seated,documents where the number of topics is free.",
        show_default=False,
    ),
]
Grow = Annotated[
    int | None,
    typer.Option(
        "--grow",
        metavar="PARTS",
        help="Burn in on one in PARTS of the documents first, such as 16, then on twice as many, and so on: "
        "perhaps a better start where documents are long. As much work as --tune sweeps; --within begins "
        "after it.",
        show_default=False,
    ),
]
Cool = Annotated[
    int | None,
    typer.Option(
        "--cool",
        min=1,
        metavar="SWEEPS",
        help="Burn in with eta held at 0.2 first, or at 16 times the model's own if that is fixed and more, "
        "then at two thirds of that, and so on, for SWEEPS each, such as 25: perhaps chains agree sooner "
        "where the number of topics is free. bnpzoo fit counts --tune and --within from its end.",
        show_default=False,
    ),
]
Until = Annotated[
    float | None,
    typer.Option(
        metavar="RHAT",
        help="Go on until R-hat of all global quantities is at most this, such as 1.05, and their effective "
        "sample sizes at least 100; --tune and --draws are then the least.",
        show_default=False,
    ),
]
Within = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Stop after this time, such as 90s, 10m or 2h, whether chains have met or not.",
        show_default=False,
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Run on a cluster of Dask: tcp://HOST:PORT of its scheduler, or the file that it has "
        "written, or local:N for N processes on this machine. Results stay the same.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script instead of tables.")]

Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Print all test quantities, not the worst alone."),
]
Csv = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the whole table here.", show_default=False)
]
Coverage = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Least share of the tokens whose words the fit must know.")
]


def _of_text(help: str, metavar: str | None = None, least: int | None = None) -> Any:
    """Option of commands that read text."""
    return typer.Option(help=help, metavar=metavar, min=least, rich_help_panel="Text")


StopWords = Annotated[
    str, _of_text("Words that are dropped: `english`, `none`, or a file of your own.", "english|none|FILE")
]
MinDf = Annotated[
    str, _of_text("Drop words in fewer documents: a number, or a share such as 0.01.", "NUMBER|SHARE")
]
MaxDf = Annotated[
    str, _of_text("Drop words in more documents: a number, or a share such as 0.5.", "NUMBER|SHARE")
]
MaxFeatures = Annotated[int | None, _of_text("Keep only so many words, the most frequent ones.", least=1)]
TokenPattern = Annotated[
    str | None,
    _of_text("Regular expression of a token; unless given, two characters or more, a letter among them."),
]
TextColumn = Annotated[str, _of_text("Column of CSV, or key of JSON lines, that holds the text.")]
Encoding = Annotated[str, _of_text("Of the characters, as Python calls it.")]
Delimiter = Annotated[
    str | None, _of_text("Of the columns of CSV: a comma, or a tab for .tsv, unless given.", "CHARACTER")
]
NewTextColumn = Annotated[
    str | None,
    _of_text(
        "Column of CSV, or key of JSON lines, that holds the text. Unless given, that of the fit's texts."
    ),
]
NewEncoding = Annotated[
    str | None, _of_text("Of the characters, as Python calls it. Unless given, that of the fit's texts.")
]
NewDelimiter = Annotated[
    str | None, _of_text("Of the columns of CSV. Unless given, that of the fit's texts.", "CHARACTER")
]
Sentences = Annotated[
    str,
    _of_text(
        "Keep sentences: a line each; those that the library sentencex finds in a LANGUAGE, such as `en`; "
        "or the statements of Python programs, in a folder of .py files. Lists in JSON lines always are.",
        "none|lines|statements|LANGUAGE",
    ),
]
