"""The models, by id."""

from typing import Any

from ..contract import Card, Model
from ..families.topics import TopicSide
from ..families.two_sided import TwoSidedModel
from .cclda import Cclda
from .focused import Focused
from .group_lda import GroupLda
from .hdp import Hdp
from .hpyp import Hpyp
from .lda import Lda
from .mt_hdp import MtHdp
from .pyp import Pyp
from .sparse_transfer import SparseTransfer
from .tpyp import Tpyp

MODELS: dict[str, type[Model]] = {
    cls.card.id: cls for cls in (Lda, GroupLda, Hdp, MtHdp, SparseTransfer, Focused, Cclda, Tpyp, Hpyp, Pyp)
}


def get(model_id: str, *, topics: TopicSide | str | None = None, **arguments: Any) -> Model:
    """Make a model.

    Parameters
    ----------
    model_id : str
        One of `list_models`.
    topics : TopicSide or str, optional
        How the words of topics come about: such as ``PitmanYor(a=0.5)``, or the name of a topic side.
    **arguments
        Hyperparameters and other arguments, as the model's class and its topic side take them.

    Raises
    ------
    ValueError
        If there is no such model or argument, or it does not take such topics.
    """
    if model_id not in MODELS:
        raise ValueError(f"no model {model_id!r}; there are {', '.join(MODELS)}")
    cls = MODELS[model_id]
    try:
        if issubclass(cls, TwoSidedModel):
            return cls.make(topics, **arguments)
        if topics is not None:
            raise ValueError(f"{model_id}: topics: it has topics of its own kind, and takes no others")
        return cls(**arguments)
    except TypeError as error:
        raise ValueError(f"{model_id}: {str(error).partition('()')[2].strip() or error}") from None


def combinations() -> list[tuple[str, str]]:
    """All models with each of the topic sides that they take, by name; "" for what they hold by default."""
    return [
        (model_id, name)
        for model_id, cls in MODELS.items()
        for name in ("", *(list(cls.topic_sides)[1:] if issubclass(cls, TwoSidedModel) else ()))
    ]


def list_models() -> list[Card]:
    """Cards of all models."""
    return [cls.card for cls in MODELS.values()]
