"""Models as estimators in scikit-learn's conventions: ``bnpzoo.sklearn``.

    from bnpzoo.sklearn import Hdp

    topics = make_pipeline(CountVectorizer(stop_words="english"), Hdp(random_state=1))
    proportions = topics.fit_transform(texts)

There is a class for each model of the registry, called as the model's own class: its parameters are the
model's settings and those of sampling. `TopicModel` takes the model by name.
"""

# The folder is called otherwise, and pyproject.toml gives the package its name: a folder called sklearn in
# the root would shadow scikit-learn where Python looks there first.

from functools import cache
from inspect import Parameter, Signature, signature
from typing import Any

from ..zoo.models import MODELS, get
from .base import TopicModel

__all__ = ["TopicModel"]  # and, by __getattr__, a class a model


def __getattr__(name: str) -> Any:
    for model_id, cls in MODELS.items():
        if cls.__name__ == name:
            return _named(model_id)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; there are {', '.join(__dir__())}")


def __dir__() -> list[str]:
    return [*__all__, *(cls.__name__ for cls in MODELS.values())]


@cache
def _named(model_id: str) -> type[TopicModel]:
    """Make the estimator of one model, whose parameters are the settings of the model by name."""
    card = MODELS[model_id].card
    sampling = [p for p in signature(TopicModel).parameters.values() if p.name not in ("model", "settings")]
    settings = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default)
        for name, default in _defaults(model_id).items()
    ]
    own = Signature([*settings, *sampling])

    def __init__(self: TopicModel, **parameters: Any) -> None:
        given = own.bind(**parameters)
        given.apply_defaults()
        for name, value in given.arguments.items():
            setattr(self, name, value)

    def make_model(self: TopicModel) -> Any:
        values = {p.name: getattr(self, p.name) for p in settings}
        return get(model_id, **{name: value for name, value in values.items() if value is not None})

    __init__.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *own.parameters.values()]
    )
    about = (
        f"{card.title} as an estimator of scikit-learn.\n\n{card.summary} Settings of the model, which None "
        f"leaves as they are by default: {', '.join(p.name for p in settings)}; see "
        f"``bnpzoo show {model_id}``. All else is as in `TopicModel`."
    )
    members = {
        "__init__": __init__, "make_model": make_model, "__doc__": about, "__module__": __name__,
    }  # fmt: skip
    return type(MODELS[model_id].__name__, (TopicModel,), members)


def _defaults(model_id: str) -> dict[str, Any]:
    """Return the settings of a model, and of every topic side that it takes; None stands for a prior."""
    sides = getattr(MODELS[model_id], "topic_sides", None) or [None]
    names = dict.fromkeys(name for side in sides for name in get(model_id, topics=side).spelled())
    own = get(model_id).arguments()
    return {name: own[name] if isinstance(own.get(name), int) else None for name in names}
