"""From any recording that can be read to files that OpenSim reads: markers to TRC, forces to MOT or STO."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.recording.c3d.c3d_file import read_c3d
from musclesolve.recording.c3d.force_platforms import read_plates
from musclesolve.recording.data import Table
from musclesolve.recording.file_axes import AXES, global_from_laboratory
from musclesolve.recording.formats import is_c3d, read_forces_table, read_markers
from musclesolve.recording.markers.marker_names import without_person
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.mot_file import write_mot
from musclesolve.recording.text.trc_file import write_trc
from musclesolve.recording.units import METRES

MARKERS, FORCES = (".trc",), (".mot", ".sto")

# OpenSim: x forward, y up, z right; the global frame: x forward, y left, z up.
_OPENSIM_FROM_GLOBAL = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def convert(
    source: Path,
    targets: Sequence[Path],
    forward: str | None = None,
    up: str | None = None,
    units: str = "mm",
) -> list[str]:
    """Write the markers or forces of a recording in another format; all is read before anything is written.

    The name of the person before the markers, "Ann:LASI", is left out where there is one person only.

    Args:
        source: a file of any format that can be read.
        targets: the files to write, none of them the source; the suffix of each says what becomes of it.
        forward: axis of the source in the walking direction; when given, markers and plates are turned into the axes
            of OpenSim (x forward, y up, z right), otherwise they stay in the axes of the source.
        up: axis of the source that points up, +z when None; without `forward` it says where the ground under the
            plates of a C3D file is, on which their centre of pressure lies, and serves nothing else.
        units: unit of length of the markers.

    Returns:
        Sentences on what was assumed.

    Raises:
        InputError: a suffix that is not written, a target that is the source or stands there twice, axes that do not
            exist or would turn nothing, or whatever a reader or writer refuses.
    """
    for number, target in enumerate(targets):
        _check_target(target)
        _check_place(target, source, targets[:number])
    to_global, to_target = _rotations(forward, up or "+z")
    if up is not None and forward is None:
        _check_up_serves(source, targets)
    if units not in METRES:
        raise error_at(
            None,
            "--units",
            f"the unit of length is '{units}'",
            ", ".join(METRES),
            "--units mm",
            code="unknown_unit",
        )
    writers: list[Callable[[], None]] = []
    notes: list[str] = []
    for target in targets:
        if target.suffix.casefold() in MARKERS:
            markers = without_person(read_markers(source))
            notes += markers.notes
            writers.append(partial(write_trc, target, markers.rotated(to_target @ to_global), units=units))
            continue
        table, said = _forces(source, forward, to_global, to_target)
        if missing := int(np.isnan(table.values).sum()):
            said.append(
                f"{missing} numbers are missing and written as nan: the TimeSeriesTable of OpenSim reads them, its "
                "Storage ends before the first of them."
            )
        notes += said
        writers.append(partial(write_mot, target, table))
    for write in writers:
        write()
    return list(dict.fromkeys(notes))


def _check_target(target: Path) -> None:
    known = (*MARKERS, *FORCES)
    if target.suffix.casefold() not in known:
        raise error_at(
            target,
            None,
            f"files that end in '{target.suffix}' are not written",
            ".trc for markers, .mot or .sto for forces",
            f"-o {target.stem or 'markers'}.trc",
        )
    if not target.absolute().parent.is_dir():
        raise error_at(
            target.parent,
            None,
            "there is no such folder",
            "a folder",
            "make the folder first",
            code="missing_file",
        )


def _check_place(target: Path, source: Path, others: Sequence[Path]) -> None:
    """Refuse to write over the recording that is read, or over what has just been written."""
    if _same_file(target, source):
        raise error_at(
            target,
            None,
            "this is the recording that is to be read: it would be lost",
            "another file to write",
            f"-o {target.with_stem(target.stem + '_converted').name}",
            code="conflict",
        )
    if any(_same_file(target, other) for other in others):
        raise error_at(
            target,
            None,
            "this file is to be written twice",
            "every file once",
            "leave out one -o",
            code="conflict",
        )


def _same_file(one: Path, other: Path) -> bool:
    """Whether two paths are one file, by whatever links."""
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there, or is no file: whoever reads or writes it says so
        return os.path.realpath(one) == os.path.realpath(other)


def _check_up_serves(source: Path, targets: Sequence[Path]) -> None:
    """Refuse an axis that would turn nothing: only plates ask where the ground is."""
    if is_c3d(source) and any(target.suffix.casefold() in FORCES for target in targets):
        return
    raise error_at(
        source,
        None,
        "--up alone rotates nothing",
        "both --forward and --up, or neither",
        "add --forward",
        code="missing_argument",
    )


def _rotations(forward: str | None, up: str) -> tuple[Array, Array]:
    """Return the rotations from the source to the global frame, and from there to the target."""
    for axis in (up,) if forward is None else (forward, up):
        if axis not in AXES:
            raise InputError(
                f"there is no axis '{axis}'",
                code="unknown_name",
                expected=f"one of {', '.join(AXES)}",
                remedy="--forward +x --up +z",
            )
    if forward is not None:
        return global_from_laboratory(forward, up), _OPENSIM_FROM_GLOBAL
    # Back to where it came from, over any frame whose z is up.
    across = next(axis for axis in AXES if axis[1] != up[1])
    to_global = global_from_laboratory(across, up)
    return to_global, to_global.T


def _forces(source: Path, forward: str | None, to_global: Array, to_target: Array) -> tuple[Table, list[str]]:
    """Return the forces of a recording as named columns, and sentences on what was assumed."""
    if is_c3d(source):
        return _plates(source, to_global, to_target)
    if forward is not None:
        raise error_at(
            source,
            None,
            "columns of forces are not rotated: the file does not say which three of them are a vector",
            "a C3D file, or forces in the axes they are to be in",
            "leave out --forward",
            code="conflict",
        )
    table = read_forces_table(source)
    return table, table.sentences


def _plates(source: Path, to_global: Array, to_target: Array) -> tuple[Table, list[str]]:
    recordings, notes = read_plates(read_c3d(source), to_global)
    if not recordings:
        raise error_at(
            source,
            None,
            "the file has no force plates",
            "ground reaction forces",
            "write a .trc file",
            code="bad_plate",
        )
    names: list[str] = []
    columns: list[Array] = []
    for recording in recordings:
        number = recording.plate.number
        for what, values in (
            (f"ground_force_{number}_v", recording.force),
            (f"ground_force_{number}_p", recording.point),
            (f"ground_torque_{number}_", recording.moment),
        ):
            names += [what + axis for axis in "xyz"]
            columns.append(values @ to_target.T)
    return Table(recordings[0].time, tuple(names), np.concatenate(columns, axis=1), False, source), notes
