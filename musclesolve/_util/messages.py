"""Messages: values and counts as text, errors for unknown names, the order of names with numbers, progress."""

import re
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import accumulate
from typing import Any, Self, TypeVar
from unicodedata import normalize

from muscle_db.similar_names import suggestion
from musclesolve.errors import InputError, input_error

Value = TypeVar("Value")

_MOST_VALUES = 6
_MOST_CHARACTERS = 160
"""Largest number of characters of any other value."""


def few(names: Iterable[object], most: int = 3) -> str:
    """Names between commas: "a, b, c ... (80 in all)"."""
    texts = [str(name) for name in names]
    return ", ".join(texts[:most]) + (f" ... ({len(texts)} in all)" if len(texts) > most else "")


def enumerated(parts: Sequence[str], word: str = "and") -> str:
    """Parts of a sentence: "one", "one and two", "one, two and three"."""
    return f" {word} ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def often(count: int) -> str:
    """A number of times in words: "once", "twice", "3 times"."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def count_of(count: int, noun: str) -> str:
    """A number of things: "1 cycle", "3 cycles"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def capitalized(text: str) -> str:
    """A text as the beginning of a sentence: "left foot" is "Left foot"; names such as "walk.trc" stay as they are."""
    is_name = any(letter in ".,:;_/0123456789" for letter in text.partition(" ")[0][:-1])
    return text if is_name else text[:1].upper() + text[1:]


def as_text(value: object) -> str:
    """A value as Python writes it, in one line; of an array or another sequence the first values and their number."""
    np = sys.modules.get("numpy")  # an array is of a numpy that was imported; a message alone needs none
    try:
        if np is not None and isinstance(value, np.ndarray) and value.size > _MOST_VALUES:
            first = ", ".join(map(repr, value.ravel()[:_MOST_VALUES].tolist()))
            return f"[{_cut(first)}, ...] (shape {value.shape})"
        if isinstance(value, list | tuple) and len(value) > _MOST_VALUES:
            return f"[{_cut(', '.join(map(as_text, value[:_MOST_VALUES])))}, ...] ({len(value)} values)"
        return _cut(repr(value.item() if np is not None and isinstance(value, np.generic) else value))
    except Exception as fault:  # any error of a user's object
        return f"an object of {_cut(type(value).__name__)} ({type(fault).__name__})"


def with_sizes(record: Any) -> str:
    """The `__repr__` of a record of arrays, in one line: shapes of arrays, lengths of tuples and dicts, names, what is
    short; nothing of what is empty.
    """
    parts = []
    for name in (field.name for field in fields(record) if field.repr):
        value = getattr(record, name)
        if isinstance(value, tuple | Mapping | str) and not value:
            continue
        if (size := getattr(value, "shape", None)) is not None:
            parts.append(f"{name} {size}")
        elif isinstance(value, tuple | Mapping):
            parts.append(f"{name} ({len(value)})")
        elif isinstance(value, str | float | int):
            parts.append(f"{name}={value!r}")
        elif isinstance(called := getattr(value, "name", None), str):
            parts.append(f"{name} {called!r}")
    return f"<{type(record).__name__}: {', '.join(parts)}>"


def _cut(text: str) -> str:
    if "\n" in text:
        text = " ".join(text.split())
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 3]}..."


REMARK = "remark"


class WarningNote(str):
    """A note on a reason why a result is less certain; code and remedy of its finding, "" for the usual remedy."""

    code: str
    remedy: str

    def __new__(cls, text: str, code: str = REMARK, remedy: str = "") -> Self:
        """Make the note of a sentence."""
        note = super().__new__(cls, text)
        note.code, note.remedy = code, remedy
        return note


NO_WARNING = WarningNote("")
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
    """Return a name in small letters of any script, without signs and accents."""
    return re.sub(r"[\W_]", "", normalize("NFKD", name.casefold()))


def shortened(names: Sequence[str], most: int = 3, between: str = ", ") -> str:
    """Names between commas, the last ones only counted: "a, b, c and 2 more", or "a; b; c; and 2 more"."""
    rest, last = len(names) - most, " " if between == ", " else between
    return between.join(names[:most]) + (f"{last}and {rest} more" if rest > 0 else "")


def alike(said: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Group names and their sentences, name -> sentence: the sentences of a group differ in their numbers alone."""
    like: dict[str, dict[str, str]] = {}
    for name, sentence in said:
        like.setdefault(re.sub(r"[0-9]+(?:[.][0-9]+)?", "#", sentence), {})[name] = sentence
    return list(like.values())


def check_keywords(
    keywords: Iterable[str], known: Collection[str], function: str, others: str | None = None
) -> None:
    """Refuse keywords that a function of many options does not have, as Python does for plain arguments.

    Raises:
        TypeError: with the name of the function, and the nearest keyword or the known ones and the way to `others`.
    """
    for name in keywords:
        if name not in known:
            meant = suggestion(name, known) or "; ".join(filter(None, [f"known: {', '.join(known)}", others]))
            raise TypeError(f"{function} got an unexpected keyword argument {name!r}; {meant}")


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
    listed = listed_beside(meant, known) or "none"
    search = "; a part of a name shows names that contain it" if listed.endswith(" names)") else ""
    return input_error(
        "unknown_name",
        file=None if file is None else str(file),
        where=where,
        remedy=meant or f"use one of these names{search}",
        what=what,
        name=as_text(name),
        within=within,
        listed=listed,
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
    for name in names if isinstance(names, Iterable) else [names]:
        if not isinstance(name, Hashable) or name not in known:
            raise unknown_name(name, what, known, within, file, where)


class NameTuple(tuple[str, ...]):
    """Names in order; the position of an unknown name is an InputError that suggests the nearest one."""

    def index(self, name: Any, *span: Any) -> int:
        """Return the position of a name."""
        check_known([name], "name", self, " among these")
        return super().index(name, *span)


class Named(dict[str, Value]):
    """Things of one kind by name; an unknown name is an InputError that suggests the nearest one."""

    def __init__(self, named: Mapping[str, Value], what: str, within: str = "") -> None:
        """Collect named things; the message of an error: there is no `what` of this name `within` something."""
        super().__init__(named)
        self.what, self.within = what, within

    def __missing__(self, name: str) -> Value:
        raise unknown_name(name, self.what, self, self.within)


class Names(Named[int]):
    """Positions by name."""

    def __init__(self, names: Iterable[str], what: str, whose: str, first: Mapping[str, int] | None = None):
        """Number the names after the names of `first`; the message of an error: there is no `what` in `whose` model."""
        super().__init__(first or {}, what, f" in {whose!r}")
        for name in names:
            self[name] = len(self)


def inert(cell: Any) -> Any:
    """A cell that a spreadsheet does not take for a formula: such a text, which is no number, after an apostrophe."""
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")) or cell == "-":
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


Progress = Callable[[str, float], None]
"""Called with the name of each stage and the share of the work that is done."""


def no_progress(stage: str, fraction: float) -> None:
    """Report nothing."""
