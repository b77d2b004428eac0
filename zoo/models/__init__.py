"""The models, by id."""

from typing import Any

from ..contract import Card, Model
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
