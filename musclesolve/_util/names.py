"""Errors for unknown names, with the most similar known names; the order of names with numbers."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import accumulate
from typing import Any, TypeVar

from musclesolve._util.message_text import as_text
from musclesolve.errors import InputError, input_error

Value = TypeVar("Value")

_LISTED = 12
"""Largest number of names in a message with a suggestion."""

_LONGEST = 600
"""Most characters of the names in a message without a suggestion."""


NaturalPlace = list[tuple[int, float, str]]


def natural_place(name: str) -> NaturalPlace:
    """Return the place of a name in an order in which numbers count by their size: walk_2 before walk_10."""
    parts = re.split(r"(\d+(?:\.\d+)?)", name.casefold())
    return [(1, float(part), "") if k % 2 else (0, 0.0, part) for k, part in enumerate(parts)]


def folded(name: str) -> str:
    """Return a name in small letters, without signs."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def shortened(names: Sequence[str], most: int = 3, between: str = ", ") -> str:
    """Names between commas, the last ones only counted: "a, b, c and 2 more"."""
    rest = len(names) - most
    return between.join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def alike(said: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Group names and their sentences, name -> sentence: the sentences of a group differ in their numbers alone."""
    found: dict[str, dict[str, str]] = {}
    for name, sentence in said:
        found.setdefault(re.sub(r"[0-9]+(?:[.][0-9]+)?", "#", sentence), {})[name] = sentence
    return list(found.values())


def similar(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """Return up to `count` known names of similar spelling, ignoring case, or that contain this one."""
    name, by_folded = str(name), {other.casefold(): other for other in known}
    near = get_close_matches(name.casefold(), by_folded, n=count, cutoff=0.5)
    if not near and len(name) > 2:
        near = [folded for folded in by_folded if name.casefold() in folded][:count]
    return [by_folded[folded] for folded in near]


def suggestion(name: str, known: Iterable[str]) -> str | None:
    """Return a remedy with the known names most similar to `name`, or None."""
    near = similar(name, known)
    return "did you mean " + " or ".join(f"'{other}'" for other in near) + "?" if near else None


def listed_beside(meant: str | None, known: Sequence[str]) -> str:
    """Known names between commas, fewer of them beside a suggestion; the last ones only counted."""
    most = (
        _LISTED
        if meant and len(known) > _LISTED + 1
        else sum(length <= _LONGEST for length in accumulate(len(name) + 2 for name in known))
    )
    return ", ".join(known[:most]) + (f" ... ({len(known)} names)" if len(known) > most else "")


def unknown_name(
    name: str,
    what: str,
    known: Iterable[str],
    within: str = "",
    file: object = None,
    where: str | None = None,
) -> InputError:
    """The error "there is no {what} {name}{within}", with the most similar names; within: " in 'model.toml'"."""
    known = list(known)
    meant = suggestion(name, known)
    return input_error(
        "unknown_name",
        file=None if file is None else str(file),
        where=where,
        remedy=meant or "use one of these names",
        what=what,
        name=as_text(name),
        within=within,
        listed=listed_beside(meant, known) or "none",
    )


def check_known(
    names: Iterable[str],
    what: str,
    known: Collection[str],
    within: str = "",
    file: object = None,
    where: str | None = None,
) -> None:
    """Refuse the first of some names that is not among the known ones: `unknown_name`."""
    for name in names:
        if name not in known:
            raise unknown_name(name, what, known, within, file, where)


class NameTuple(tuple[str, ...]):
    """Names in order; the position of an unknown name is an InputError that suggests the nearest one."""

    def index(self, name: Any, *span: Any) -> int:
        """Return the position of a name."""
        check_known([name], "name", self, " among these")
        return super().index(name, *span)


class Named(dict[str, Value]):
    """Things of one kind by name; an unknown name is an InputError that suggests the nearest one."""

    def __init__(self, named: Mapping[str, Value], what: str) -> None:
        """Collect named things; the message of an error: there is no `what` of this name."""
        super().__init__(named)
        self.what = what

    def __missing__(self, name: str) -> Value:
        raise unknown_name(name, self.what, self)


class Names(dict[str, int]):
    """Positions by name; an unknown name is an InputError that suggests the nearest one."""

    def __init__(self, names: Iterable[str], what: str, whose: str, first: Mapping[str, int] | None = None):
        """Number the names after the names of `first`; the message of an error: there is no `what` in `whose` model."""
        super().__init__(first or {})
        self.what, self.whose = what, whose
        for name in names:
            self[name] = len(self)

    def __missing__(self, name: str) -> int:
        """Raise InputError for a name that is not known."""
        raise unknown_name(name, self.what, self, f" in {self.whose!r}")


def inert(cell: Any) -> Any:
    """A cell that a spreadsheet does not take for a formula: such a text, which is no number, after an apostrophe."""
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")) or cell == "-":
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell
