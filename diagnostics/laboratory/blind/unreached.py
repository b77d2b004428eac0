"""What never runs for a model, although something in its source could reach it."""

import ast
import inspect
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from ....zoo.contract import Model
from ....zoo.families.topics import TopicSide
from ..definitions import PACKAGE, Name, implemented, name_of

COMPILED = ("kernel", "borrowing_kernel")
"""Decorators of kernels."""


class Implementation(NamedTuple):
    """What a function is that is chosen by type: an implementation, for some classes, of what is declared."""

    declared: str
    classes: frozenset[str]


def is_overridden(name: Name, classes: Sequence[type]) -> bool:
    """Whether a method never runs for objects of some classes, which inherit it and have another instead."""
    owner, _, method = name.name.rpartition(".")
    heirs = [c.__mro__ for c in classes if any(Name.of(base) == (name.module, owner) for base in c.__mro__)]
    return bool(owner and heirs) and not any(_runs(name.module, owner, method, mro) for mro in heirs)


def _runs(module: str, owner: str, method: str, mro: Sequence[type]) -> bool:
    for one in mro:
        if Name.of(one) == (module, owner):
            return True
        if method in vars(one) and f"super().{method}" not in inspect.getsource(one):
            return False
    return False


def is_of_other_parts(name: Name, classes: Sequence[type]) -> bool:
    """Whether a name is of a model, or of a kind of topics, that no object of some classes is."""
    owner = Name(name.module, name.name.partition(".")[0])
    own = {Name.of(base) for cls in classes for base in cls.__mro__ if base is not object}
    return owner in _models_and_topics() and owner not in own


@cache
def _models_and_topics() -> frozenset[Name]:
    waiting: list[type] = [Model, TopicSide]
    found: set[Name] = set()
    while waiting:
        one = waiting.pop()
        found.add(Name.of(one))
        waiting += one.__subclasses__()
    return frozenset(found)


def is_of_other_states(name: Name, classes: Iterable[str]) -> bool:
    """Whether a function is for a class that is in no state, as states have another one instead.

    A kernel that is chosen for it, or the function that makes one.

    Parameters
    ----------
    name : Name
    classes : iterable of str
        Names of the classes in the states of all samplers; see `classes_in`.
    """
    implementations, makers, made = _chosen_by_type()
    own, present = implementations.get(name), set(classes)
    if name in makers:
        chosen_for = (one for one in implementations.values() if makers[name] in one.classes)
        own = next((one._replace(classes=frozenset({makers[name]})) for one in chosen_for), None)
    if own is None or own.classes & (present | made):
        return False
    others = (other for other in implementations.values() if other.declared == own.declared)
    return any(other.classes & present for other in others)


def classes_in(state: Any) -> Iterator[str]:
    """Names of the classes of a NamedTuple and of those in it."""
    if isinstance(state, tuple) and hasattr(state, "_fields"):
        yield type(state).__name__
        for field in state:
            yield from classes_in(field)


@cache
def _chosen_by_type() -> tuple[dict[Name, Implementation], dict[Name, str], set[str]]:
    """Kernels that are chosen by type, the class that a function returns, and names of what kernels call."""
    implementations: dict[Name, Implementation] = {}
    makers: dict[Name, str] = {}
    made: set[str] = set()
    for path in sorted((PACKAGE / "kernels").rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(function, ast.FunctionDef):
                continue
            name = Name(module, name_of(function))
            if any(isinstance(one, ast.Name) and one.id in COMPILED for one in function.decorator_list):
                calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
                made |= {called.id for called in calls if isinstance(called, ast.Name)}
            if isinstance(function.returns, ast.Name):
                makers[name] = function.returns.id
            if chosen := implemented(function):
                classes = frozenset(_last_part(cls) for _, cls in chosen)
                implementations[name] = Implementation(_last_part(chosen[0][0]), classes)
    return implementations, makers, made


def _last_part(name: ast.expr) -> str:
    return ast.unparse(name).rpartition(".")[2]
