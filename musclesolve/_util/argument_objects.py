"""Arguments that are objects of the package: another type is refused by the name of the argument.

Functions for arrays check these by `check_array`; a number or a text in the place of a model would otherwise fail
somewhere inside, without the name of the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, wraps
from inspect import signature
from itertools import chain
from types import NoneType, UnionType
from typing import Any, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from musclesolve.errors import input_error

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")
_LISTS = (list, Sequence, Iterable, Collection)


class Rule(NamedTuple):
    """The type of an argument: an object of one of some classes, or a list or dict of such objects."""

    classes: tuple[type, ...]
    holder: type | None = None  # Iterable or Mapping
    optional: bool = False

    @property
    def expected(self) -> str:
        """The rule in words."""
        names = " or ".join(each.__name__ for each in self.classes)
        if self.holder is None:
            return f"an object of the class {names}{', or None' if self.optional else ''}"
        return f"a {'dict' if self.holder is Mapping else 'list'} of objects of the class {names}"

    def wrong(self, given: object) -> _Other | None:
        """Return what is of another type: the argument, or the first such object in it; None without one."""
        if self.optional and given is None:
            return None
        if self.holder is None:
            return None if isinstance(given, self.classes) else _Other(given)
        if not isinstance(given, self.holder) or isinstance(given, str | bytes):
            return _Other(given)
        inside = given.values() if isinstance(given, Mapping) else given
        inside = inside if isinstance(inside, Collection) else ()
        return next((_Other(each) for each in inside if not isinstance(each, self.classes)), None)


class _Other(NamedTuple):
    given: object


def objects_checked(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """Refuse arguments of other types where the annotation names classes of this package, before the function runs.

    Generators are not read ahead: only objects in lists, dicts and other collections are looked at.
    """
    names = tuple(signature(function).parameters)

    @wraps(function)
    def checked(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        rules = rules_of(function)
        for name, given in chain(zip(names, args, strict=False), kwargs.items()):
            if name in rules and (other := rules[name].wrong(given)) is not None:
                kind = type(other.given).__name__
                raise input_error("wrong_type", where=name, expected=rules[name].expected, given=kind)
        return function(*args, **kwargs)

    return checked


@cache
def rules_of(function: Callable[..., Any]) -> dict[str, Rule]:
    """Return the rule of every argument whose annotation names only classes of this package, in lists or alone."""
    hints = get_type_hints(function)
    rules = {name: _rule(hint) for name, hint in hints.items() if name != "return"}
    return {name: rule for name, rule in rules.items() if rule is not None}


def _rule(hint: Any) -> Rule | None:
    holder = get_origin(hint)
    if holder in _LISTS or holder in (dict, Mapping):
        classes, optional = _classes(get_args(hint)[-1])
        kind: type = Mapping if holder in (dict, Mapping) else Iterable
        return Rule(classes, kind) if classes and not optional else None
    classes, optional = _classes(hint)
    return Rule(classes, None, optional) if classes else None


def _classes(hint: Any) -> tuple[tuple[type, ...], bool]:
    """Return the classes of a hint, and whether it may be None; no class where others than ours are among them."""
    members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    classes = tuple(each for each in members if each is not NoneType)
    ours = all(isinstance(each, type) and _checkable(each) for each in classes)
    return classes if ours else (), NoneType in members


def _checkable(kind: type) -> bool:
    """Whether isinstance works with a class of this package; of a protocol only if it is made for it."""
    protocol = getattr(kind, "_is_protocol", False) and not getattr(kind, "_is_runtime_protocol", False)
    return kind.__module__.startswith("musclesolve.") and not protocol
