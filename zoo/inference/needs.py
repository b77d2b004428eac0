"""What a fit takes of memory, found before anything is allocated."""

from ..contract import Model
from ..corpus import Corpus
from ..memory import require_memory
from .schedule import Schedule

BYTES_A_TOKEN = 64
"""Words, topics and lists of a kernel, and the latents that are being recorded."""

BYTES_A_DRAW = 1500
"""Test quantities of one draw of one chain."""

ARRAYS_OF_LAW = 4
"""Over documents or words and topics, that variational inference holds at once, at least."""

LEAST = Schedule(tune=0, draws=1, thin=1, keep=0)


def check_memory(
    model: Model,
    corpus: Corpus,
    backend: str,
    variant: str | None,
    truncation: int | None,
    chains: int = 1,
    schedule: Schedule = LEAST,
) -> None:
    """Raise `TooLarge` where a fit does not fit into memory; a lower bound is what is compared.

    Parameters
    ----------
    model, corpus, backend, variant, truncation, chains
        As for `sample`.
    schedule : Schedule
        By default one draw.
    """
    needs = {
        "test quantities": BYTES_A_DRAW * chains * schedule.most_recorded,
        "kept latents": 8 * corpus.n_tokens * chains * schedule.most_kept,
    }
    if backend == "kernel":
        needs["tokens"] = BYTES_A_TOKEN * corpus.n_tokens * chains
        of_chain = model.memory_of_chain(corpus, variant)
        needs |= {name: n_bytes * chains for name, n_bytes in of_chain.items()}
    elif backend == "vi":
        needs["the law that is fitted"] = ARRAYS_OF_LAW * model.memory_of_reference(corpus, truncation or 1)
    else:
        of_draw = model.memory_of_reference(corpus, truncation or 1)
        needs["draws of the program"] = of_draw * chains * schedule.draws * schedule.thin
        needs["counts of words"] = 8 * corpus.n_documents * corpus.n_words
    draws = f"{schedule.draws:,} draw{'s' if schedule.draws > 1 else ''}"
    require_memory(needs, f"{chains:,} chain{'s' if chains > 1 else ''} of {model.card.id}, {draws} each")
