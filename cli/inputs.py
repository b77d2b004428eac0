"""Options that several commands share, and how their text becomes corpora, models and fits."""

import json
import math
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:  # heavy to import: `bnpzoo --help` must not wait for them
    from xarray import DataTree

    from ..zoo.contract import Model
    from ..zoo.corpus import Corpus

CORPUS_HELP = (
    "A corpus: .npz, UCI bag-of-words, LDA-C, a CSV with a column `text`, or a folder of .txt files."
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
        help="The kind of topics, such as pitman-yor; `bnpzoo show MODEL` lists those that a model takes.",
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
        "each), random:K, or a fit (.nc) of this corpus or of one that has grown. Several, with commas, are "
        "taken in turn. Default: seated,documents where the number of topics is free.",
        show_default=False,
    ),
]
Until = Annotated[
    float | None,
    typer.Option(
        metavar="RHAT",
        help="Go on until R-hat of all global quantities is at most this, such as 1.05; --tune and --draws "
        "are then the least.",
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
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a script instead of tables.")]

_SETTING = re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<value>.+?)\s*")
_PRIOR = re.compile(r"(?P<name>Gamma|Beta)\((?P<first>[^,()]+),(?P<second>[^,()]+)\)", re.IGNORECASE)


def seconds_of(time: str | None) -> float | None:
    """Seconds of a time such as ``90s``, ``10m`` or ``2h``.

    Raises
    ------
    ValueError
        It cannot be read.
    """
    if time is None:
        return None
    number, unit = time[:-1], {"s": 1.0, "m": 60.0, "h": 3600.0}.get(time[-1:])
    try:
        seconds = float(number) * (unit or math.nan)
    except ValueError:
        seconds = math.nan
    if not 0.0 < seconds < math.inf:
        raise ValueError(f"--within {time}: expected a time such as 90s, 10m or 2h")
    return seconds


def parse_settings(settings: Sequence[str], choices: Collection[str] = ()) -> dict[str, Any]:
    """Arguments of a model by name, from texts such as ``alpha=0.1`` and ``gamma=Gamma(1, 1)``.

    Parameters
    ----------
    settings : sequence of str
    choices : collection of str
        Names of arguments that are words, such as ``lengths=document``.

    Raises
    ------
    ValueError
        Names the setting that cannot be read.
    """
    arguments: dict[str, Any] = {}
    for setting in settings:
        match = _SETTING.fullmatch(setting)
        if match is None:
            raise ValueError(f"--set {setting}: expected NAME=VALUE, such as alpha=0.1")
        name, value = match["name"], match["value"]
        try:
            arguments[name] = value if name in choices else _value(value)
        except ValueError as error:
            raise ValueError(f"--set {setting}: {error}") from None
    return arguments


def _value(text: str) -> Any:
    from ..zoo.priors import PRIORS

    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    prior = _PRIOR.fullmatch(text)
    if prior is not None:
        return PRIORS[prior["name"].capitalize()](_number(prior["first"]), _number(prior["second"]))
    return _number(text)


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"expected a number or Gamma(shape, rate), found {text.strip()!r}") from None


def make_model(name: str, settings: Sequence[str] = (), topics: str | None = None) -> "Model":
    """Model `name` as set on the command line."""
    from ..zoo import models

    return models.get(name, topics=topics, **_arguments(name, settings, topics))


def options_of(name: str, settings: Sequence[str], topics: str | None) -> str:
    """Return settings as the laboratory takes them: all but hyperparameters, which tests choose themselves.

    Raises
    ------
    ValueError
        Names the setting that is a hyperparameter.
    """
    arguments = _arguments(name, settings, topics)
    for key in make_model(name, settings, topics).hyperparameters().keys() & arguments.keys():
        raise ValueError(f"--set {key}: tests choose values of hyperparameters themselves")
    return json.dumps(arguments) if arguments else ""


def _arguments(name: str, settings: Sequence[str], topics: str | None) -> dict[str, Any]:
    from ..zoo import models

    spelled = models.get(name, topics=topics).spelled()
    return parse_settings(
        settings, [key for key, value in spelled.items() if isinstance(value, str) and key != "topics"]
    )


def read_corpus(path: Path, groups: str | None = None) -> "Corpus":
    """Corpus in the file or folder `path`; `groups` names the covariate that tells groups."""
    from ..zoo.formats import read_corpus

    corpus = read_corpus(path)
    return corpus if groups is None else corpus.grouped(groups)


def is_text(path: Path) -> bool:
    """Whether a corpus is text, whose vocabulary is what its reader found in it."""
    return path.is_dir() or path.name.lower().removesuffix(".gz").endswith(".csv")


def read_fits(paths: Sequence[Path]) -> "dict[str, DataTree]":
    """Fits in the files `paths`, by a short label."""
    from ..diagnostics.compare import labelled
    from ..zoo.inference import load

    return labelled(load(path) for path in paths)
