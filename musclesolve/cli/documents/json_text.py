"""JSON of plain values, arrays and paths; what is not finite is null."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def json_text(content: Mapping[str, Any]) -> str:
    """The document, in ASCII."""
    return json.dumps(plain(content), indent=2, allow_nan=False)


def plain(value: Any) -> Any:
    """What JSON can hold: numbers of Python, lists, dicts with texts as keys; None for what is not finite."""
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return str(value) if isinstance(value, str) else value  # a member of an enumeration is its text
    return value.as_posix() if isinstance(value, Path) else str(value)
