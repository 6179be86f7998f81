"""What a folder holds, file by file: markers, plates, EMG, files of OpenSim; what cannot be read is noted."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from musclesolve.drafting.column_triples import PlateNames, plates_of
from musclesolve.drafting.emg_channels import EmgFile, emg_channels
from musclesolve.drafting.opensim_files import LoadsFile, ScaleSetup, read_opensim
from musclesolve.errors import InputError
from musclesolve.recording.c3d.c3d_file import C3D, read_c3d
from musclesolve.recording.data import Markers, Table
from musclesolve.recording.formats import MARKERS, read_markers
from musclesolve.recording.text.csv_file import read_csv_columns, read_csv_forces, read_csv_markers
from musclesolve.recording.text.mot_file import read_mot
from musclesolve.recording.text.text_file import read_lines


@dataclass(frozen=True)
class MarkerFile:
    """A recording of markers; `file` is the C3D file it is in, `plates` how many force plates that has."""

    path: Path
    markers: Markers
    file: C3D | None = None
    plates: int = 0


@dataclass(frozen=True)
class PlateFile:
    """A C3D file with force plates, and how many."""

    path: Path
    plates: int


@dataclass(frozen=True)
class ForceFile:
    """A text file with the columns of force plates."""

    path: Path
    table: Table
    plates: tuple[PlateNames, ...]


@dataclass
class FolderContents:
    """What was found in a folder, and a sentence on every file that is no part of a trial."""

    folder: Path
    markers: list[MarkerFile] = field(default_factory=list)
    forces: list[ForceFile] = field(default_factory=list)
    plates: list[PlateFile] = field(default_factory=list)  # of files that hold no markers
    emg: list[EmgFile] = field(default_factory=list)
    loads: list[LoadsFile] = field(default_factory=list)
    setups: list[ScaleSetup] = field(default_factory=list)
    models: list[Path] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def folder_contents(folder: Path) -> FolderContents:
    """Look at every file of a folder, not at its subfolders.

    Raises:
        InputError: there is no such folder, or it cannot be read.
    """
    expected, remedy = "a folder with the recordings of one subject", "name that folder"
    try:
        if not folder.is_dir():
            problem = "this is a file, not a folder" if folder.exists() else "there is no such folder"
            remedy = f"name the folder it is in: {folder.parent}" if folder.exists() else remedy
            raise InputError(problem, code="missing_file", file=folder, expected=expected, remedy=remedy)
        files = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != ".")
    except (OSError, ValueError) as reason:
        problem = f"the folder cannot be read ({getattr(reason, 'strerror', None) or reason})"
        raise InputError(
            problem, code="unreadable_file", file=folder, expected=expected, remedy=remedy
        ) from reason
    # The files that a camera file names are no recordings of their own.
    cameras: set[str] = set()
    parts: set[str] = set()
    for path in files:
        if path.suffix.casefold() == ".toml":
            try:
                settings = tomllib.loads("\n".join(read_lines(path)))
            except (InputError, ValueError, RecursionError):
                continue
            if "camera" in settings:
                cameras.add(path.name)
            entries = settings.get("camera")
            tables = [settings.get("recording"), *(entries if isinstance(entries, list) else ())]
            named = (table.values() for table in tables if entries and isinstance(table, dict))
            parts |= {Path(text).name for texts in named for text in texts if isinstance(text, str)}
    contents = FolderContents(folder)
    for path in files:
        if path.name in parts:
            continue
        try:
            if path.suffix.casefold() == ".toml" and path.name not in cameras:
                contents.others.append(f"{path.name} (settings, no recording)")
            else:
                _sort_in(path, contents)
        except InputError as error:
            place = f", {error.where}" if error.where else ""
            remedy = f" ({error.remedy})" if error.remedy else ""
            contents.unread.append(f"{path.name}{place}: {error.problem}{remedy}")
    return contents


def _sort_in(path: Path, contents: FolderContents) -> None:
    """Put one file where it belongs."""
    suffix = path.suffix.casefold()
    if suffix == ".c3d":
        file = read_c3d(path)
        plates = file.description.count("FORCE_PLATFORM:USED") or 0
        if file.labels:
            contents.markers.append(MarkerFile(path, file.markers(), file, plates))
        elif plates:
            contents.plates.append(PlateFile(path, plates))
        if file.layout.channels:
            numbers = file.description.numbers("FORCE_PLATFORM:CHANNEL").ravel()
            of_plates = {int(number) - 1 for number in numbers if number > 0}
            labels = enumerate(file.description.texts("ANALOG:LABELS")[: file.layout.channels])
            channels = emg_channels([label for k, label in labels if label and k not in of_plates])
            if channels.muscles or channels.unknown:
                contents.emg.append(EmgFile(path, file.channels(), channels))
    elif suffix == ".csv":
        _csv(path, contents)
    elif suffix in MARKERS:
        contents.markers.append(MarkerFile(path, read_markers(path)))
    elif suffix in (".mot", ".sto"):
        _columns(path, read_mot(path), contents)
    elif suffix == ".xml":
        stated = read_opensim(path)
        if isinstance(stated, LoadsFile):
            contents.loads.append(stated)
        elif isinstance(stated, ScaleSetup):
            contents.setups.append(stated)
        else:
            contents.others.append(f"{path.name} ({stated}, not used)")
    elif suffix == ".osim":
        contents.models.append(path)
    else:
        contents.others.append(path.name)


def _csv(path: Path, contents: FolderContents) -> None:
    """Markers, if every column is a coordinate in a stated unit; else forces or EMG, if the columns are named so."""
    try:
        contents.markers.append(MarkerFile(path, read_csv_markers(path)))
        return
    except InputError as error:
        refused = error
    try:
        columns = read_csv_columns(path)
    except InputError:
        raise refused from None
    if plates_of(columns):
        _columns(path, read_csv_forces(path), contents)
    elif (channels := emg_channels(columns.names)).muscles or channels.unknown:
        _columns(path, columns, contents)
    else:
        raise refused


def _columns(path: Path, table: Table, contents: FolderContents) -> None:
    """Put a table of columns where it belongs, by their names."""
    channels = emg_channels(table.names)
    if channels.computed:
        contents.others.append(f"{path.name} (computed by a model)")
    elif plates := plates_of(table):
        contents.forces.append(ForceFile(path, table, tuple(plates)))
    elif channels.muscles or channels.unknown:
        contents.emg.append(EmgFile(path, table, channels))
    else:
        contents.others.append(f"{path.name} (neither forces of plates nor EMG)")
