"""From any recording that can be read to files that OpenSim reads: markers to TRC, forces to MOT or STO."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.message_text import as_text
from musclesolve._util.names import unknown_name
from musclesolve.recording.c3d.c3d_file import is_c3d, read_c3d
from musclesolve.recording.c3d.force_platforms import read_plates
from musclesolve.recording.data import Table
from musclesolve.recording.file_axes import AXES, global_from_laboratory
from musclesolve.recording.formats import read_forces_table, read_markers
from musclesolve.recording.markers.marker_names import without_person
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.mot_file import write_mot
from musclesolve.recording.text.text_file import check_place
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
    """Write the markers or forces of a recording in other files; all is read before anything is written.

    The suffix of each target says what is written. The name of the subject before the markers, "Ann:LASI", is left out
    where there is one subject only.

    With `forward`, the axis of the source in the walking direction, markers and plates are rotated into the axes of
    OpenSim (x forward, y up, z right), otherwise they stay in the axes of the source. `up` is its upward axis, +z when
    None; without `forward` it is used only for the ground under the plates of a C3D file, on which their center of
    pressure lies. `units` is the unit of length of the markers. Returns notes on what was assumed.
    """
    if source.suffix.casefold() == ".nc":
        problem, expected = "this is a result, no recording", "a recording, such as TRC, C3D, CSV, MOT or STO"
        remedy = f"musclesolve export {source} --format sto (or mot, csv, mat, parquet)"
        raise error_at(source, None, problem, expected, remedy, code="conflict")
    for number, target in enumerate(targets):
        check_place(target, "markers (.trc) or forces (.mot, .sto)", *MARKERS, *FORCES)
        if _same_file(target, source):
            problem = "this is the recording that is to be read: it would be lost"
            remedy = f"-o {target.with_stem(target.stem + '_converted').name}"
            raise error_at(target, None, problem, "another file to write", remedy, code="conflict")
        if any(_same_file(target, other) for other in targets[:number]):
            problem, remedy = "this file is to be written twice", "leave out one -o, or give it another name"
            raise error_at(target, None, problem, "every file once", remedy, code="conflict")
    for option, axis in (("--forward", forward), ("--up", up)):
        if axis is not None and axis not in AXES:
            raise unknown_name(axis, "axis", AXES, where=option)
    # In the axes of the source unless turned forward: back to where it came from, over any frame whose z is up.
    upward = up or "+z"
    across = forward or next(axis for axis in AXES if axis[1] != upward[1])
    to_global = global_from_laboratory(across, upward)
    to_target = to_global.T if forward is None else _OPENSIM_FROM_GLOBAL
    plates = is_c3d(source) and any(target.suffix.casefold() in FORCES for target in targets)
    if up is not None and forward is None and not plates:
        # Only plates need the ground.
        expected = "both axes, the walking direction and up, or neither"
        remedy = "add --forward with the axis of the walking direction, or leave out --up"
        raise error_at(source, None, "--up alone rotates nothing", expected, remedy, code="missing_argument")
    if units not in METRES:
        problem = f"the unit of length is {as_text(units)}"
        raise error_at(
            None, "--units", problem, ", ".join(METRES), "--units mm, or leave it out", code="unknown_unit"
        )
    writers: list[Callable[[], None]] = []
    notes: list[str] = []
    for target in targets:
        if target.suffix.casefold() in MARKERS:
            markers = without_person(read_markers(source))
            notes += markers.sentences
            writers.append(partial(write_trc, target, markers.rotated(to_target @ to_global), units=units))
        else:
            table, own_notes = _forces(source, forward, to_global, to_target)
            notes += own_notes
            writers.append(partial(write_mot, target, table))
    for write in writers:
        write()
    return list(dict.fromkeys(notes))


def _same_file(one: Path, other: Path) -> bool:
    """Whether two paths are one file, by whatever links."""
    try:
        return one.samefile(other)
    except OSError:  # one of them does not exist, or is no file: reading or writing reports it
        return os.path.realpath(one) == os.path.realpath(other)


def _forces(source: Path, forward: str | None, to_global: Array, to_target: Array) -> tuple[Table, list[str]]:
    """Return the forces of a recording as named columns, and notes on what was assumed."""
    if is_c3d(source):
        recordings, notes = read_plates(read_c3d(source), to_global)
        if not recordings:
            problem, remedy = (
                "the file has no force plates",
                "convert its markers alone: -o with a name in .trc",
            )
            raise error_at(source, None, problem, "ground reaction forces", remedy, code="bad_plate")
        columns = {
            name.format(recording.plate.number): values @ to_target.T
            for recording in recordings
            for name, values in (
                ("ground_force_{}_v", recording.force),
                ("ground_force_{}_p", recording.point),
                ("ground_torque_{}_", recording.moment),
            )
        }
        names = tuple(name + axis for name in columns for axis in "xyz")
        values = np.concatenate(list(columns.values()), axis=1)
        table = Table(recordings[0].time, names, values, False, source)
    elif forward is not None:
        problem = "columns of forces are not rotated: the file does not say which three of them are a vector"
        expected = "a C3D file, whose plates are, or forces in the axes they are to be in"
        raise error_at(source, None, problem, expected, "leave out --forward", code="conflict")
    else:
        table = read_forces_table(source)
        notes = table.sentences
    if missing := int(np.isnan(table.values).sum()):
        notes.append(
            f"{missing} numbers are missing and written as nan: the TimeSeriesTable of OpenSim reads them, its "
            "Storage ends before the first of them."
        )
    return table, notes
