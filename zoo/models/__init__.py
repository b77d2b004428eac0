"""The models, by id."""

from typing import Any

from ..contract import Card, Model

# The registry: a line a model, in the order in which they are listed.
# isort: off
from .lda import Lda as Lda
from .group_lda import GroupLda as GroupLda
from .hdp import Hdp as Hdp
from .mt_hdp import MtHdp as MtHdp
from .sparse_transfer import SparseTransfer as SparseTransfer
from .focused import Focused as Focused
from .cclda import Cclda as Cclda
from .tpyp import Tpyp as Tpyp
from .hpyp import Hpyp as Hpyp
from .pyp import Pyp as Pyp
# isort: on

MODELS: dict[str, type[Model]] = {
    cls.card.id: cls
    for cls in list(globals().values())
    if isinstance(cls, type) and issubclass(cls, Model) and "card" in vars(cls)
}


def get(model_id: str, **hyperparameters: Any) -> Model:
    """Make a model.

    Parameters
    ----------
    model_id : str
        One of `list_models`.
    **hyperparameters
        As the model's class takes them.

    Raises
    ------
    ValueError
        If there is no such model or hyperparameter.
    """
    if model_id not in MODELS:
        raise ValueError(f"no model {model_id!r}; there are {', '.join(MODELS)}")
    try:
        return MODELS[model_id](**hyperparameters)
    except TypeError as error:
        raise ValueError(f"{model_id}: {str(error).partition('()')[2].strip() or error}") from None


def list_models() -> list[Card]:
    """Cards of all models."""
    return [cls.card for cls in MODELS.values()]
