"""How settings on the command line become numbers, priors and models."""

import json
import math
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # heavy to import: `bnpzoo --help` must not wait for them
    from ..zoo.contract import Model

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
    if "seeds" in arguments:
        raise ValueError("--set seeds: expected no such setting, as --seeds says them")
    return models.get(name, topics="seeded", **arguments, seeds=read_seeds(seeds))


def with_layers(topics: str | None, settings: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return topics and settings, where ``NAME:LAYERS`` is short for NAME and the setting of layers."""
    name, colon, layers = (topics or "").partition(":")
    return (name, [f"layers={layers}", *settings]) if colon else (topics, list(settings))


def read_seeds(path: Path) -> list[list[str]]:
    """Words of each topic: a topic a line, words between blanks or commas."""
    from ..zoo.corpus.texts import composed
    from ..zoo.formats.plain import located, read_text

    with located(path):
        return [line.replace(",", " ").split() for line in composed(read_text(path)).rstrip().splitlines()]


def with_n_topics_of(start: str | None, name: str, settings: list[str]) -> list[str]:
    """Return settings, and the number of topics of the fit that chains start from where none is set.

    A model without a limit keeps none, unless the fit is of the same model and had one.
    """
    from ..zoo import models
    from ..zoo.inference.fits import load
    from ..zoo.inference.results import model_of
    from ..zoo.inference.starts import n_topics_of_fit

    fits = fits_to_start_from(start)
    is_set = any(setting.partition("=")[0].strip() == "n_topics" for setting in settings)
    default = models.get(name).arguments().get("n_topics")
    if not fits or is_set or default is None:
        return settings
    fit = load(fits[0])
    if default == 0:
        n_topics = model_of(fit).arguments()["n_topics"] if fit.attrs["model"] == name else 0
    else:
        n_topics = n_topics_of_fit(fit)
    return [*settings, f"n_topics={n_topics}"]


def fits_to_start_from(start: str | None) -> list[str]:
    """Files of fits among what `--start` names."""
    from ..zoo.inference.fits import SUFFIXES
    from ..zoo.inference.starts import names_of

    return [name for name in names_of(start or "") if Path(name).suffix in SUFFIXES]


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
    from ..zoo.wording import not_among

    spelled = models.get(name, topics=topics).spelled()
    spelled.pop("topics", None)
    words = [key for key, value in spelled.items() if isinstance(value, str)]
    arguments = parse_settings(settings, [*words, "topics"])
    for key in ("topics", "model_id"):  # which `models.get` takes for something else
        if key in arguments:
            raise ValueError(f"{name}: {not_among('argument', key, spelled)}")
    return arguments
