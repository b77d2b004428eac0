"""What commands say, on standard error, of a model and a corpus before they sample."""

from typing import TYPE_CHECKING

from .console import err, say

if TYPE_CHECKING:
    from ..zoo.contract import Model
    from ..zoo.corpus import Corpus


def announce(model: "Model", corpus: "Corpus") -> None:
    """Say what is about to be sampled, how the model is set, and which labels and responses it sees."""
    sizes = f"{corpus.n_documents:,} documents, {corpus.n_tokens:,} tokens, {corpus.n_words:,} words"
    say(f"{model.card.title}: {sizes}", "bold", err)
    say_settings(model)
    _say_labels(model, corpus)
    _say_responses(model, corpus)
    _say_if_words_repeat(corpus)


def say_settings(model: "Model") -> None:
    """Say how a model is set; what is left to the corpus is not set."""
    for name, how in model.settings().items():
        if how:
            say(f"  {name}: {how}", console=err)


def _say_if_words_repeat(corpus: "Corpus") -> None:
    """Say that a word stands in the vocabulary twice: new documents cannot tell one from the other."""
    repeated = corpus.n_words - len(corpus.number_of_word)
    if repeated:
        refused = "transform, evaluate and predict will refuse this fit"
        say(f"Entries of the vocabulary that repeat a word: {repeated:,}; {refused}.", "yellow", err)


def _say_labels(model: "Model", corpus: "Corpus") -> None:
    """Say which labels a model sees that was told of none, and which texts could be labels as well."""
    import numpy as np

    from ..zoo.families.labelled import LabelledModel

    if not isinstance(model, LabelledModel) or model.labels:
        return
    seen = list(dict.fromkeys(column.covariate for column in model.columns(corpus)))
    texts = [
        name
        for name, values in corpus.covariates.items()
        if isinstance(values, np.ndarray) and values.dtype.kind == "U"
    ]
    how = f"; --set labels={','.join(seen + texts)} takes what is text" if texts else ""
    if seen:
        say(f"  labels: {', '.join(seen)}{how}", console=err)
    else:
        say(f"No label was found, so that all documents are alike to the model{how}.", "yellow", err)


def _say_responses(model: "Model", corpus: "Corpus") -> None:
    """Say which responses are numbers and which categories: of whole numbers, only the user knows."""
    from ..zoo.families.responses.family import RespondingFamily

    if not isinstance(model, RespondingFamily):
        return
    for response in model.responses(corpus):
        if response.is_number:
            say(f"  {response.name}: a number", console=err)
            continue
        say(f"  {response.name}: {len(response.values)} categories", console=err)
        is_open = response.name in corpus.covariates and response.name not in corpus.covariate_names
        if is_open and all(_is_whole(value) for value in response.values):
            how = f"--set response={response.name}:number takes them as numbers"
            say(f"{response.name}: whole numbers are taken for categories; {how}.", "yellow", err)


def _is_whole(text: str) -> bool:
    try:
        return float(text).is_integer()
    except ValueError:
        return False


def say_of_idle_threads(model: "Model", variant: str | None, threads: int | None) -> None:
    """Say that `--threads` has no effect, unless the chosen kernel is one that has parts in threads."""
    if threads is None or threads == 1 or variant == "parallel":
        return
    which = "only --variant parallel" if "parallel" in model.kernels else f"no sampler of {model.label}"
    say(f"--threads has no effect: {which} has threads within a sweep.", "yellow", err)


def say_what_is_known(fits: list[str], corpus: "Corpus") -> None:
    """Say how much of a corpus that has grown the fits know that chains start from."""
    from ..zoo.inference import load
    from ..zoo.inference.starts import n_tokens_known

    for path in fits:
        known = n_tokens_known(load(path), corpus)
        if known < corpus.n_tokens:
            told = f"{known:,} of {corpus.n_tokens:,} tokens are in documents that it knows by their words"
            say(f"--start {path}: {told}; the others begin with topics of their words", console=err)
