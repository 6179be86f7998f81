"""Generalized forces of inverse dynamics by coordinate, at the times of the coordinates.

What a file does not hold is not made up: holes beyond a fifth of the period of the cut-off of the coordinates stay
empty, and the frames in them are not measured (`musclesolve._util.time_holes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array, Mask, within
from musclesolve._util.checks import check_real_array
from musclesolve._util.message_text import few
from musclesolve._util.time_holes import USUAL_HZ, HoleLimits, hole_note
from musclesolve.errors import InputError
from musclesolve.opensim.external_loads import ExternalLoad
from musclesolve.pipeline.opensim.coordinate_motion import Source, as_table
from musclesolve.recording.data import Table
from musclesolve.recording.text.repeated_names import check_used

SUFFIXES = ("_moment", "_force")


@dataclass(frozen=True, eq=False)
class CoordinateMoments:
    """moment (T, m) [N m; N for a translation] of coordinates at the times (T,), NaN in holes too long to be filled.

    known: the frames from the first to the last time that they are given for.
    loads: the external loads that they were computed from; None where a file or the caller gives moments.
    """

    moment: Array
    known: Mask
    file: Path | None
    notes: tuple[str, ...] = ()
    loads: tuple[ExternalLoad, ...] | None = None


def coordinate_moments(
    source: Source,
    names: Sequence[str],
    time: Array,
    optional: Sequence[str] = (),
    cutoff_hz: float | None = None,
) -> CoordinateMoments:
    """Generalized forces of coordinates at some times, linearly interpolated between their own.

    Args:
        source: columns NAME_moment or NAME_force over time, also NAME where it is no file, whose columns NAME are
            coordinates; arrays by name without "time" are those at `time`.
        names: coordinates.
        time: (T,) [s].
        optional: further coordinates, after the others in the result; zero where there is no column.
        cutoff_hz: of the filter of the coordinates, which says how long a hole may be; None: the usual one.

    Raises:
        InputError: a column is missing or stands twice, or none of the times is covered.
    """
    table = _table(source, time)
    file = table.path if table.path.name else None
    missing = [name for name in optional if not _columns(table, name, file)]
    columns = [_column(table, name, file) for name in (*names, *optional) if name not in missing]
    known = within(time, table.time[0], table.time[-1])
    if not known.any():
        raise InputError(
            f"the moments are from {table.time[0]:g} to {table.time[-1]:g} s, the coordinates from {time[0]:g} to "
            f"{time[-1]:g} s",
            code="no_overlap",
            file=file,
            expected="moments of the same trial",
            remedy="give inverse dynamics of these coordinates",
        )
    moment = np.zeros((len(time), len(names) + len(optional)))
    present = [name not in missing for name in (*names, *optional)]
    moment[:, present], hole_notes = _filled(table, columns, time, cutoff_hz)
    notes = [*table.sentences, *hole_notes]
    if missing:
        notes.append(
            f"There is no moment of {', '.join(missing)}, which other coordinates drive: taken as zero, which is right "
            "where the file has it in the moments of these."
        )
    return CoordinateMoments(moment, known, file, tuple(notes))


def _filled(
    table: Table, columns: Sequence[int], time: Array, cutoff_hz: float | None
) -> tuple[Array, list[str]]:
    """Columns (T, k) at other times, NaN in long holes; a sentence on every set of columns with the same of these."""
    limits = HoleLimits.of(table.time, cutoff_hz or USUAL_HZ)
    filled = np.stack([limits.filled(table.time, table.values[:, k], time) for k in columns], axis=1)
    by_holes: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for k in columns:
        seen = ~np.isnan(table.values[:, k])
        seen[[0, -1]] = True  # so that rows without a number at the ends are a hole too
        if holes := tuple(limits.long_holes(table.time[seen])):
            by_holes.setdefault(holes, []).append(table.names[k])
    file = table.path.name or "The table of moments"
    notes = [hole_note(f"{file} lacks {few(names)}", holes, limits) for holes, names in by_holes.items()]
    return filled, notes


def _table(source: Source, time: Array) -> Table:
    """Columns over their own time; those of arrays without one are at the given times (T,)."""
    if not isinstance(source, Mapping) or "time" in source or hasattr(source, "data_vars"):
        return as_table(source, "moments")
    expected = f"{len(time)} numbers, one for each time of the coordinates"
    columns = {
        str(name): check_real_array(column, str(name), expected, where="moments", shapes=((len(time),),))
        for name, column in source.items()
    }
    return as_table({"time": time, **columns}, "moments")


def _columns(table: Table, name: str, file: Path | None) -> list[int]:
    """Columns of the moment of a coordinate."""
    named = [f"{name}{suffix}" for suffix in (SUFFIXES if file else (*SUFFIXES, ""))]
    return [table.names.index(each) for each in named if each in table.names]


def _column(table: Table, name: str, file: Path | None) -> int:
    for column in _columns(table, name, file):
        check_used([table.names[column]], "column", table.repeated, table.path)
        return column
    raise InputError(
        f"there is no moment of the coordinate {name}",
        code="missing_column",
        file=file,
        expected=f"a column {name}_moment, or {name}_force for a translation; there are {few(table.names, 12)}",
        remedy="give the file of inverse dynamics of this model, or choose the coordinates to be shared",
    )
