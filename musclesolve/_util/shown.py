"""Values and names as messages print them: the first few of many, and how many there are."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

_MOST_VALUES = 6
_LONGEST = 120
"""Most characters of any other value."""


def few(names: Iterable[object], most: int = 3) -> str:
    """Names between commas: "a, b, c ... (80 in all)"."""
    known = [str(name) for name in names]
    return ", ".join(known[:most]) + (f" ... ({len(known)} in all)" if len(known) > most else "")


def shown(value: object) -> str:
    """A value as Python writes it, of an array or another sequence the first few values and their number."""
    try:
        if isinstance(value, np.ndarray) and value.size > _MOST_VALUES:
            first = ", ".join(f"{each!r:.{_LONGEST}}" for each in value.ravel()[:_MOST_VALUES].tolist())
            return f"[{first}, ...] (shape {value.shape})"
        if isinstance(value, list | tuple) and len(value) > _MOST_VALUES:
            return f"[{', '.join(map(shown, value[:_MOST_VALUES]))}, ...] ({len(value)} values)"
        text = repr(value)
    except Exception as fault:  # whatever an object of a user does
        text = f"an object of {type(value).__name__} ({type(fault).__name__})"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
