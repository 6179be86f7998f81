"""JSON of plain values, arrays and paths, with null for numbers that are not finite; the document of an error."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DIGITS = 15
"""Digits of numbers: 0.1 + 0.2 is printed as 0.3; the sixteenth digit is the error of the arithmetic."""


def json_text(content: Mapping[str, Any]) -> str:
    """The document, in ASCII."""
    return json.dumps(plain(content), indent=2, allow_nan=False)


def plain(value: Any) -> Any:
    """A value that JSON can hold: numbers, lists, dicts with texts as keys; None for a number that is not finite."""
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return str(value) if isinstance(value, str) else value  # a member of an enumeration is its text
    return value.as_posix() if isinstance(value, Path) else str(value)


KEYS = ("code", "file", "place", "problem", "expected", "remedy")


def error_document(error: BaseException, message: str, exit_code: int) -> dict[str, Any]:
    """Code, file, place, problem, expected and remedy of an error; a missing part is None.

    Args:
        error: the error.
        message: what is printed for a person: the problem, where the error has no such part of its own.
        exit_code: of the command.
    """
    parts = dict.fromkeys(KEYS) | {"code": _code(error), "problem": getattr(error, "problem", message)}
    for name in ("expected", "remedy"):
        parts[name] = getattr(error, name, None)
    parts["file"] = getattr(error, "file", None) or getattr(error, "filename", None)
    line = getattr(error, "line", None)  # of a muscle set
    places = (getattr(error, "where", None), f"line {line}" if line else None, getattr(error, "field", None))
    parts["place"] = ", ".join(str(place) for place in places if place) or None
    return {"error": parts, "exit_code": exit_code}


def _code(error: BaseException) -> str:
    """The code of an error of the input; for other errors a name of their kind."""
    own = getattr(error, "code", None)
    if isinstance(own, str):
        return own
    kinds = {KeyboardInterrupt: "interrupted", MemoryError: "out_of_memory", OSError: "system"}
    return next((name for kind, name in kinds.items() if isinstance(error, kind)), "pose")
