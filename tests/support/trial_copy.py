"""A copy of a trial in memory, in the axes of its files, that a test changes, writes and examines."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from examined import examined

from musclesolve._util.arrays import Array
from musclesolve.constants import TRIAL_FILE
from musclesolve.data import reference_stride
from musclesolve.errors import file_error
from musclesolve.laboratory.files.formats import read_channels
from musclesolve.laboratory.recording.axes import global_from_laboratory
from musclesolve.laboratory.recording.data import Side
from musclesolve.laboratory.recording.trial_document import trial_kind
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.laboratory.results.judgement import Report
from musclesolve.laboratory.trial.marker_mapping import read_marker_mapping
from musclesolve.laboratory.trial.plates.foot_forces import columns_of
from musclesolve.tables.document import Document, validated
from musclesolve.tables.opensim_text import read_mot, read_trc, write_mot, write_trc
from musclesolve.tables.sampled import Markers, Table

WALK, STATIC, FORCES, EMG, TRIAL = "walk.trc", "static.trc", "forces.mot", "emg.sto", TRIAL_FILE


@dataclass
class Copy:
    """The files of a trial, free to be changed before they are written."""

    lines: list[str]  # of the trial file
    settings: RecordedSettings  # of the trial file, as it was read
    walk: Markers  # the motion, in the axes of its file [m]
    static: Markers | None  # the standing trial, or None
    forces: Table  # the table of the plates
    mapping: Mapping[str, Mapping[str, float]]  # landmark -> marker -> weight
    emg: Table | None = None  # the signals of EMG, None where the trial file names no file of them
    # changes to the text of written files: (name of the file, text -> text)
    afterward: list[tuple[str, Callable[[str], str]]] = field(default_factory=list)

    @property
    def rotation(self) -> Array:
        """Rotation (3, 3) from the axes of the files to the global frame."""
        laboratory = self.settings.laboratory
        return global_from_laboratory(laboratory.forward, laboratory.up)

    def in_file(self, vector: tuple[float, float, float]) -> Array:
        """Return a vector (3,) of the global frame in the axes of the files."""
        return np.asarray(np.asarray(vector) @ self.rotation)

    def marker(self, landmark: str) -> str:
        """Return the marker that shows a landmark; the first where there are several."""
        shown = [marker for marker in self.mapping.get(landmark, ()) if marker in self.walk]
        if not shown:
            raise file_error(
                "missing_marker",
                self.walk.path,
                f"no marker of the motion shows '{landmark}'",
                "a trial with a marker on it",
                "name another landmark",
            )
        return shown[0]

    @property
    def span(self) -> tuple[float, float]:
        """First and last time to analyze [s]."""
        stated, time = self.settings.time, self.walk.time
        start, end = stated.start_s, stated.end_s
        return float(time[0] if start is None else start), float(time[-1] if end is None else end)

    def frame(self, share: float) -> int:
        """Return the frame at a share of the time range."""
        start, end = self.span
        return int(np.searchsorted(self.walk.time, start + share * (end - start)))

    def move(self, marker: str, frames: slice, change: Array | float, *, static: bool = False) -> None:
        """Add something to a marker in some frames; NaN removes the marker there."""
        markers = self.static if static else self.walk
        if markers is not None:
            position = markers.position.copy()
            position[frames, markers.names.index(marker)] += change
            self.put(position, static=static)

    def put(self, position: Array, *, static: bool = False) -> None:
        """Replace all positions of the motion or the standing trial."""
        if static and self.static is not None:
            self.static = replace(self.static, position=position)
        elif not static:
            self.walk = replace(self.walk, position=position)

    def exchange(self, one: str, other: str, frames: slice = slice(None)) -> None:
        """Exchange two markers of the motion in some frames."""
        pair, position = [self.walk.names.index(name) for name in (one, other)], self.walk.position.copy()
        position[frames, pair] = position[frames, pair[::-1]]
        self.put(position)

    def plates(self, side: Side | None = None) -> list[int]:
        """Return which [[force]] tables there are, of one side or all."""
        return [k for k, entry in enumerate(self.settings.force) if side in (None, entry.side)]

    def columns(self, plate: int, role: str) -> list[int]:
        """Return the columns of force, point or moment of a plate; none where the trial file names none."""
        names = columns_of(self.settings.force[plate], self.forces.names).get(role, ())
        return [self.forces.names.index(name) for name in names]

    def plate(self, plate: int, role: str) -> Array:
        """Return force, point or moment of a plate (S, 3) in the global frame."""
        return self.forces.values[:, self.columns(plate, role)] @ self.rotation.T

    def set_plate(self, plate: int, role: str, vectors: Array) -> None:
        """Replace force, point or moment of a plate (S, 3), given in the global frame."""
        values = self.forces.values.copy()
        values[:, self.columns(plate, role)] = vectors @ self.rotation
        self.forces = replace(self.forces, values=values)

    def change_plates(
        self, roles: Sequence[str], change: Callable[[Array], Array], side: Side | None = None
    ) -> None:
        """Change vectors (S, 3) of the plates of a side, or of all, in the global frame."""
        for plate in self.plates(side):
            for role in roles:
                if self.columns(plate, role):
                    self.set_plate(plate, role, change(self.plate(plate, role)))

    def set_key(self, table: str, key: str, value: str) -> None:
        """Write a key of the trial file."""
        header = next((k for k, line in enumerate(self.lines) if re.match(rf"\s*\[{table}\]", line)), None)
        if header is None:
            self.lines += [f"[{table}]", f"{key} = {value}"]
            return
        for k in range(header + 1, len(self.lines)):
            if self.lines[k].lstrip().startswith("["):
                break
            if re.match(rf"\s*{re.escape(key)}\s*=", self.lines[k]):
                self.lines[k] = f"{key} = {value}"
                return
        self.lines.insert(header + 1, f"{key} = {value}")


def open_copy(trial_path: Path) -> Copy:
    """Read a trial for copying."""
    document = Document(trial_path, trial_kind)
    settings = validated(document, RecordedSettings)
    files, emg = settings.files, settings.emg.file
    walk = read_trc(document.input_file("files", "markers", files["markers"]))
    static = None
    if files["static"] is not None:
        static = read_trc(document.input_file("files", "static", files["static"]))
    copy = Copy(
        lines=list(document.lines),
        settings=settings,
        walk=walk,
        static=static,
        forces=read_mot(document.input_file("files", "forces", files["forces"])),
        mapping=read_marker_mapping(document, settings, walk, static).mapping,
        emg=None if emg is None else read_channels(document.input_file("emg", "file", emg)),
    )
    database = settings.muscles.database
    if database.endswith(".toml"):
        copy.set_key("muscles", "database", f'"{(trial_path.parent / database).resolve().as_posix()}"')
    if (fascicles := settings.fascicle.file) is not None:
        copy.set_key(
            "fascicle", "file", f'"{document.input_file("fascicle", "file", fascicles).resolve().as_posix()}"'
        )
    copy.set_key("files", "markers", f'"{WALK}"')
    copy.set_key("files", "forces", f'"{FORCES}"')
    if static is not None:
        copy.set_key("files", "static", f'"{STATIC}"')
    if copy.emg is not None:
        copy.set_key("emg", "file", f'"{EMG}"')
    return copy


def write_copy(copy: Copy, folder: Path) -> Path:
    """Write all files into a folder; return the trial file."""
    folder.mkdir(parents=True, exist_ok=True)
    write_trc(folder / WALK, copy.walk)
    if copy.static is not None:
        write_trc(folder / STATIC, copy.static)
    write_mot(folder / FORCES, copy.forces)
    if copy.emg is not None:
        write_mot(folder / EMG, copy.emg)
    path = folder / TRIAL
    path.write_text("\n".join(copy.lines) + "\n", encoding="utf-8")
    for name, change in copy.afterward:
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(change(text), encoding="utf-8")
    return path


class TrialCopy(Copy):
    """The files of a trial in memory, free to be changed; without a path, of the bundled stride."""

    def __init__(self, trial: Path | None = None) -> None:
        super().__init__(**vars(open_copy(reference_stride() if trial is None else trial)))

    def write(self, folder: Path) -> Path:
        """Write all files into a folder; return the trial file."""
        return write_copy(self, folder)

    def examined(self, folder: Path) -> Report:
        """Write all files into a folder; return what is found in the recording, as `examined` finds it."""
        return examined(self.write(folder))
