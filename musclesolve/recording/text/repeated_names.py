"""Names that stand twice in a file: which of the columns is meant nobody knows, so the name has no numbers.

A name that nothing uses is no reason to refuse a recording; whoever uses it is refused by ``repeated_name``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError

_MOST_NAMED = 5


def first_places(names: Sequence[str]) -> dict[str, int]:
    """Return every name and the place where it stands first."""
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        places.setdefault(name, place)
    return places


def repeated_names(names: Sequence[str], where: Callable[[list[int]], str]) -> dict[str, str]:
    """Return every name that stands more than once, and where it stands.

    Args:
        names: as they stand in the file.
        where: says it of a list of places, from 0.
    """
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    return {name: where(found) for name, found in places.items() if len(found) > 1}


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


def repeated_name(kind: str, name: str, where: str, path: Path) -> InputError:
    """Return the refusal of a name that is used and stands twice."""
    return InputError(
        f"the {kind} '{name}' stands twice",
        file=path,
        where=where,
        expected=f"every {kind} that is used once",
        remedy="rename or remove one of them in the software that exported the file, or do not use it",
    )
