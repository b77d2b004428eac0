"""Options that several commands share, and how their text becomes corpora, models and fits."""

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import err, say

if TYPE_CHECKING:  # heavy to import: `bnpzoo --help` must not wait for them
    from xarray import DataTree

    from ..zoo.contract import Model
    from ..zoo.corpus import Corpus
    from ..zoo.corpus.texts import Dropped
    from ..zoo.formats import TextOptions

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
Sentences = Annotated[
    str,
    _of_text(
        "Keep sentences: a line each; those that the library sentencex finds in a LANGUAGE, such as `en`; "
        "or the statements of Python programs, in a folder of .py files. Lists in JSON lines always are.",
        "none|lines|statements|LANGUAGE",
    ),
]

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
        if name in arguments:
            raise ValueError(f"--set {setting}: {name} is set twice")
        try:
            arguments[name] = value if name in choices else _value(value)
        except ValueError as error:
            raise ValueError(f"--set {setting}: {error}") from None
    return arguments


TRUTH = {"true": True, "yes": True, "false": False, "no": False}
"""Words for truth values."""


def _value(text: str) -> Any:
    from ..zoo.priors import PRIORS

    if text.lower() in TRUTH:
        return TRUTH[text.lower()]
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


def make_model(
    name: str, settings: Sequence[str] = (), topics: str | None = None, seeds: Path | None = None
) -> "Model":
    """Model `name` as set on the command line."""
    from ..zoo import models

    topics, settings = with_layers(topics, settings)
    if seeds is None:
        return models.get(name, topics=topics, **_arguments(name, settings, topics))
    if topics not in (None, "seeded"):
        raise ValueError(f"--seeds: expected topics of the kind seeded, found --topics {topics}")
    arguments = _arguments(name, settings, "seeded")
    return models.get(name, topics="seeded", **arguments, seeds=read_seeds(seeds))


def with_layers(topics: str | None, settings: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return topics and settings, where ``NAME:LAYERS`` is short for NAME and the setting of layers."""
    name, colon, layers = (topics or "").partition(":")
    return (name, [f"layers={layers}", *settings]) if colon else (topics, list(settings))


def read_seeds(path: Path) -> list[list[str]]:
    """Words of each topic: a topic a line, words between blanks or commas."""
    from ..zoo.formats.plain import located, read_text

    with located(path):
        return [line.replace(",", " ").split() for line in read_text(path).rstrip().splitlines()]


def with_n_topics_of(start: str | None, name: str, settings: list[str]) -> list[str]:
    """Return settings, and the number of topics of the fit that chains start from where none is set."""
    from ..zoo import models
    from ..zoo.inference.fits import SUFFIXES, load
    from ..zoo.inference.starts import n_topics_of_fit

    fits = [text.strip() for text in (start or "").split(",") if Path(text.strip()).suffix in SUFFIXES]
    is_set = any(setting.partition("=")[0].strip() == "n_topics" for setting in settings)
    if not fits or is_set or "n_topics" not in models.get(name).arguments():
        return settings
    return [*settings, f"n_topics={n_topics_of_fit(load(fits[0]))}"]


def options_of(name: str, settings: Sequence[str], topics: str | None) -> str:
    """Return settings as the laboratory takes them: all but hyperparameters, which tests choose themselves.

    Raises
    ------
    ValueError
        Names the setting that is a hyperparameter.
    """
    topics, settings = with_layers(topics, settings)
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


def text_options(
    *,
    stop_words: str,
    min_df: str,
    max_df: str,
    max_features: int | None,
    token_pattern: str | None,
    text_column: str,
    encoding: str,
    delimiter: str | None,
    sentences: str,
) -> "TextOptions":
    """Options of text as set on the command line."""
    from ..zoo.formats import TextOptions
    from ..zoo.formats.plain import located, read_text

    words: str | tuple[str, ...] | None = None if stop_words == "none" else stop_words
    if stop_words not in ("none", "english"):
        if not Path(stop_words).exists():
            raise ValueError(f"--stop-words {stop_words}: expected english, none or a file, found none there")
        with located(Path(stop_words)):
            words = tuple(read_text(Path(stop_words)).split())
    pattern = {} if token_pattern is None else {"token_pattern": token_pattern}
    return TextOptions(
        stop_words=words,
        min_df=_number_of_documents("--min-df", min_df),
        max_df=_number_of_documents("--max-df", max_df),
        max_features=max_features,
        column=text_column,
        encoding=encoding,
        delimiter=delimiter,
        sentences=sentences,
        **pattern,
    )


def _number_of_documents(option: str, text: str) -> int | float:
    """Read a whole number, or a share."""
    try:
        value = int(text) if text.isdigit() else float(text)
    except ValueError:
        value = -1.0
    if value < 0 or (isinstance(value, float) and not value <= 1.0):
        raise ValueError(
            f"{option}: expected a number of documents, or a share from 0.0 to 1.0, found {text!r}"
        )
    return value


def read_corpus(path: Path, groups: str | None = None, options: "TextOptions | None" = None) -> "Corpus":
    """Corpus in the file or folder `path`; says what was dropped where it is text and there are `options`.

    Parameters
    ----------
    path : Path
    groups : str, optional
        The covariate that tells groups.
    options : TextOptions, optional
        All words are kept unless they are given.
    """
    from ..zoo.corpus.texts import dropped
    from ..zoo.formats import as_path, is_text, read_corpus, read_texts
    from ..zoo.formats.plain import located

    if options is None or not as_path(path).exists() or not is_text(path):
        _check_no_options(path, options)
        corpus = read_corpus(path)
    else:
        with located(path):
            texts, fields = read_texts(path, options=options)
            corpus = _from_texts(texts, options, fields)
        _say_dropped(path, dropped(texts, options.vectorizer(), corpus.vocabulary))
        if corpus.segment_ptr is not None:
            say(f"{path}: {corpus.n_segments:,} sentences", console=err)
    return corpus if groups is None else corpus.grouped(groups)


NO_WORD_LEFT = ("max_df corresponds to < documents", "no terms remain", "empty vocabulary")
"""What scikit-learn says where limits leave no word."""


def _from_texts(texts: "Sequence[str]", options: "TextOptions", fields: "Mapping[str, Any]") -> "Corpus":
    """Make a corpus, or say why no word is left, in terms of the options."""
    from ..zoo.corpus import Corpus, CorpusError

    if not len(texts):
        raise CorpusError("expected at least one document, found none")
    try:
        return Corpus.from_texts(texts, options.vectorizer(), **fields)
    except CorpusError as error:
        if not any(words in str(error) for words in NO_WORD_LEFT):
            raise
        raise CorpusError(
            f"expected words that --min-df {options.min_df} and --max-df {options.max_df} leave of "
            f"{len(texts):,} documents, besides stop words (--stop-words); found none"
        ) from None


def to_arrays(path: Path, folder: Path, options: "TextOptions") -> "Corpus":
    """Convert the corpus in `path` to a folder of arrays, and say what was dropped; return it from there."""
    from ..zoo.formats import as_path, convert_corpus, is_text, read_corpus

    if as_path(path).exists() and not is_text(path):
        _check_no_options(path, options)
    missing = convert_corpus(path, folder, options=options)
    if missing is not None:
        _say_dropped(path, missing)
    corpus = read_corpus(folder)
    if corpus.segment_ptr is not None and missing is not None:
        say(f"{path}: {corpus.n_segments:,} sentences", console=err)
    return corpus


def _check_no_options(path: Path, options: "TextOptions | None") -> None:
    from ..zoo.formats import TextOptions

    if options not in (None, TextOptions()) and path.exists():
        raise ValueError(f"{path}: holds counts; --min-df and the like are for text")


def _say_dropped(path: Path, missing: "Dropped") -> None:
    say(f"{path}: {missing} (--stop-words, --min-df, --max-df, --max-features)", console=err)


def read_new_documents(tree: "DataTree", path: Path, groups: str | None = None) -> "Corpus":
    """Corpus of documents that a fit has not seen, with all their words; text is split as the fit's was."""
    from ..zoo.formats import TextOptions, is_text, read_corpus

    if "text_options" in tree.attrs and path.exists() and is_text(path):
        try:
            stored = json.loads(tree.attrs["text_options"])
            stop_words = stored.pop("stop_words")
            words = tuple(stop_words) if isinstance(stop_words, list) else stop_words
            options = TextOptions(stop_words=words, **stored).of_new_documents()
        except (ValueError, TypeError, LookupError, AttributeError):
            raise ValueError(
                "attribute text_options: expected how text was read, found something else"
            ) from None
        corpus = read_corpus(path, options=options)
    else:
        corpus = read_corpus(path)
    corpus = corpus if groups is None else corpus.grouped(groups)
    return corpus


def known_part(new: "Corpus", training: "Corpus", path: Path, coverage: float) -> "tuple[Corpus, str]":
    """Part of new documents that a fit knows, and how much that is, in words.

    Raises
    ------
    ValueError
        It is a smaller share of the tokens than `coverage`.
    """
    known = new.in_terms_of(training.vocabulary).with_groups_of(training)
    share = known.n_tokens / max(new.n_tokens, 1)
    said = f"the fit knows {known.n_tokens:,} of {new.n_tokens:,} tokens ({share:.1%})"
    if not share >= coverage:
        raise ValueError(f"{path}: {said}; expected {coverage:.0%}, or --coverage with less")
    return known, said


def read_fits(paths: Sequence[Path]) -> "dict[str, DataTree]":
    """Fits in the files `paths`, by their names: without folder and suffix where that tells them apart."""
    from ..zoo.inference import load

    names = [path.stem for path in paths]
    if len(set(names)) < len(names):
        names = [f"{path} #{i}" if path in paths[:i] else str(path) for i, path in enumerate(paths)]
    return {name: load(path) for name, path in zip(names, paths, strict=True)}
