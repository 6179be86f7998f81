"""Generalized forces of inverse dynamics by coordinate, at the times of the coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from musclesolve._util.arrays import Array, Mask, at_times
from musclesolve._util.checks import check_real_array
from musclesolve.errors import InputError
from musclesolve.opensim.inverse.external_load import ExternalLoad
from musclesolve.pipeline.opensim.coordinate_motion import Source, as_table
from musclesolve.recording.data import Table

SUFFIXES = ("_moment", "_force")
_SLACK = 1e-6
"""Times that differ by less are the same [s]."""


@dataclass(frozen=True, eq=False)
class CoordinateMoments:
    """moment (T, m) [N m; N for a translation] of coordinates at the times (T,); `known`: where they are given.

    loads: the external loads that they were computed from; None where a file or the caller gives moments.
    """

    moment: Array
    known: Mask
    file: Path | None
    notes: tuple[str, ...] = ()
    loads: tuple[ExternalLoad, ...] | None = None


def coordinate_moments(source: Source, names: Sequence[str], time: Array) -> CoordinateMoments:
    """Generalized forces of coordinates at some times, linearly interpolated between their own.

    Args:
        source: columns NAME_moment or NAME_force over time, also NAME where it is no file, whose columns NAME are
            coordinates; arrays by name without "time" are those at `time`.
        names: m coordinates.
        time: (T,) [s].

    Raises:
        InputError: a column is missing, or none of the times is covered.
    """
    if isinstance(source, Mapping) and "time" not in source and not hasattr(source, "data_vars"):
        given = {"time": time, **{str(key): column for key, column in source.items()}}
        table = as_table(_of_frames(given, len(time)), "moments")
    else:
        table = as_table(source, "moments")
    file = table.path if table.path.name else None
    columns = [_column(table, name, file) for name in names]
    known = (time >= table.time[0] - _SLACK) & (time <= table.time[-1] + _SLACK)
    if not known.any():
        raise InputError(
            f"the moments are from {table.time[0]:g} to {table.time[-1]:g} s, the coordinates from {time[0]:g} to "
            f"{time[-1]:g} s",
            code="no_overlap",
            file=file,
            expected="moments of the same trial",
            remedy="give inverse dynamics of these coordinates",
        )
    moment = at_times(table.time, table.values[:, columns], time)
    return CoordinateMoments(moment, known, file, tuple(table.sentences))


def _of_frames(given: Mapping[str, Array], frames: int) -> Mapping[str, Array]:
    expected = f"{frames} numbers, one for each time of the coordinates"
    return {
        name: check_real_array(column, name, expected, where="moments", shapes=((frames,),))
        for name, column in given.items()
    }


def _column(table: Table, name: str, file: Path | None) -> int:
    for suffix in SUFFIXES if file else (*SUFFIXES, ""):
        if f"{name}{suffix}" in table.names:
            return table.names.index(f"{name}{suffix}")
    found = ", ".join(table.names[:12]) + (" ..." if len(table.names) > 12 else "")
    raise InputError(
        f"there is no moment of the coordinate {name}",
        code="missing_column",
        file=file,
        expected=f"a column {name}_moment, or {name}_force for a translation; there are {found}",
        remedy="give the file of inverse dynamics of this model, or choose the coordinates to be shared",
    )
