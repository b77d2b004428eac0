"""The models, by id."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..contract import Card, Model
from ..families.topics import TopicSide
from ..families.two_sided import TwoSidedModel
from ..wording import not_among

# The registry: a line a model, in the order in which they are listed.
# isort: off
from .lda import Lda as Lda
from .group_lda import GroupLda as GroupLda
from .hdp import Hdp as Hdp
from .mt_hdp import MtHdp as MtHdp
from .hdsp import Hdsp as Hdsp
from .whdsp import Whdsp as Whdsp
from .labeled_lda import LabeledLda as LabeledLda
from .partially_labeled_lda import PartiallyLabeledLda as PartiallyLabeledLda
from .dmr import Dmr as Dmr
from .author_topic import AuthorTopic as AuthorTopic
from .dp_mrm import DpMrm as DpMrm
from .slda import Slda as Slda
from .shdp import Shdp as Shdp
from .medlda import Medlda as Medlda
from .pfa import Pfa as Pfa
from .bgg import Bgg as Bgg
from .metalda import Metalda as Metalda
from .gbn import Gbn as Gbn
from .sparse_transfer import SparseTransfer as SparseTransfer
from .focused import Focused as Focused
from .cclda import Cclda as Cclda
from .tpyp import Tpyp as Tpyp
from .hpyp import Hpyp as Hpyp
from .pyp import Pyp as Pyp
from .was import Was as Was
from .ordered_sbp import OrderedSbp as OrderedSbp
from .sbp import Sbp as Sbp
from .tjb_hdp import TjbHdp as TjbHdp
from .mqr_hdp import MqrHdp as MqrHdp
from .icd import Icd as Icd
# isort: on

MODELS: dict[str, type[Model]] = {
    cls.card.id: cls
    for cls in list(globals().values())
    if isinstance(cls, type) and issubclass(cls, Model) and "card" in vars(cls)
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
        raise ValueError(not_among("model", model_id, MODELS))
    cls = MODELS[model_id]
    if not issubclass(cls, TwoSidedModel):
        if topics is not None:
            raise ValueError(f"{model_id}: topics: it has topics of its own kind, and takes no others")
        _check_names(model_id, arguments, [f.name for f in fields(cls)])
        return cls(**arguments)
    side = cls.make(topics).topics
    of_documents = [f.name for f in fields(cls) if f.name != "topics"]
    _check_names(model_id, arguments, of_documents + [f.name for f in fields(side)])
    return cls.make(topics, **arguments)


def _check_names(model_id: str, arguments: Mapping[str, Any], names: list[str]) -> None:
    for name in arguments:
        if name not in names:
            raise ValueError(f"{model_id}: {not_among('argument', name, names)}")


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
