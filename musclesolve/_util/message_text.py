"""Texts of values and names for messages: the first few of many, and their number."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

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
    """The `__repr__` of a record of arrays, in one line: shapes of arrays, lengths of tuples, what is short."""
    parts = []
    for name in (field.name for field in fields(record) if field.repr):
        value = getattr(record, name)
        if (size := getattr(value, "shape", None)) is not None:
            parts.append(f"{name} {size}")
        elif isinstance(value, tuple):
            parts.append(f"{name} ({len(value)})")
        elif isinstance(value, str | float | int):
            parts.append(f"{name}={value!r}")
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

    def __new__(cls, text: str, code: str = REMARK, remedy: str = "") -> WarningNote:
        """Make the note of a sentence."""
        note = super().__new__(cls, text)
        note.code, note.remedy = code, remedy
        return note
