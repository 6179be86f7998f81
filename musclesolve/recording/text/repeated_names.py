"""Names that stand twice in a file: which of the columns is meant is unknown, so the name has no numbers.

A recording is not refused for a repeated name that nothing uses; a use of it is refused by ``repeated_name``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.recording.place_errors import error_at

_MOST_NAMED = 5


def distinct_names(names: Sequence[str], where: str) -> tuple[dict[str, int], dict[str, str]]:
    """Return every name and its first place, and every name that stands more than once with `where` it stands."""
    places: dict[str, int] = {}
    repeated: dict[str, str] = {}
    for place, name in enumerate(names):
        if places.setdefault(name, place) != place:
            repeated[name] = where
    return places, {name: where for name in places if name in repeated}


def blanked(values: Array, names: Sequence[str], repeated: Mapping[str, str]) -> None:
    """Put NaN into the columns (T, n, ...) of the names that stand twice, in place."""
    values[:, [k for k, name in enumerate(names) if name in repeated]] = np.nan


def repeated_notes(kind: str, repeated: Mapping[str, str], path: Path) -> tuple[str, ...]:
    """Return a note on names that stand twice, none where none does."""
    if not repeated:
        return ()
    named = ", ".join(f"'{name}'" for name in list(repeated)[:_MOST_NAMED])
    more = f" and {len(repeated) - _MOST_NAMED} more" if len(repeated) > _MOST_NAMED else ""
    return (
        f"In {path.name} a {kind} stands twice: {named}{more}. Nothing may use it, and its columns are left out.",
    )


def repeated_name(kind: str, name: str, where: object, path: Path) -> InputError:
    """Return the refusal of a name that is used and stands twice."""
    problem, expected = f"the {kind} '{name}' stands twice", f"every {kind} that is used once"
    return error_at(path, where, problem, expected, "rename or remove one of them", code="duplicate_name")


def check_unique(names: Sequence[str], kind: str, path: Path, line: int) -> None:
    """Refuse a name that stands twice among the names of markers or columns."""
    for name in distinct_names(names, "")[1]:
        raise repeated_name(kind, name, line, path)
