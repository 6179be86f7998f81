"""Names that stand twice in a file: which of the columns is meant is unknown, so the name has no numbers.

A recording is not refused for a repeated name that nothing uses; a use of it is refused by ``repeated_name``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.recording.place_errors import error_at

_MOST_NAMED = 5


def distinct_names(
    columns: Iterable[tuple[int, str]], where: str = ""
) -> tuple[dict[str, int], dict[str, str]]:
    """Return the first column of every name, and where the names stand that do so more than once.

    columns: numbers, from zero, and names. where: what the numbers of a file, from one, follow: "line 9, columns".
    """
    places: dict[str, list[int]] = {}
    for column, name in columns:
        places.setdefault(name, []).append(column)
    repeated = {name: numbered(where, columns) for name, columns in places.items() if len(columns) > 1}
    return {name: columns[0] for name, columns in places.items()}, repeated


def numbered(where: str, columns: Sequence[int]) -> str:
    """Return the place of columns, counted from zero, as a file numbers them: "line 9, columns 3 and 7"."""
    *numbers, last = [str(column + 1) for column in columns]
    return f"{where} {', '.join(numbers)} and {last}"


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
    for name in distinct_names(enumerate(names))[1]:
        raise repeated_name(kind, name, line, path)


def check_used(names: Iterable[str], kind: str, repeated: Mapping[str, str], path: Path) -> None:
    """Refuse the use of names that stand twice in a file."""
    for name in names:
        if name in repeated:
            raise repeated_name(kind, name, repeated[name], path)
