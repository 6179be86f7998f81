"""Contents of a folder, file by file: markers, plates, EMG, files of OpenSim; unreadable files are noted.

Contents and names of the files determine the standing trial, the motions, and the forces and EMG of each motion.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.messages import few
from musclesolve.errors import InputError
from musclesolve.laboratory.draft.column_names import EmgFile, PlateNames, emg_channels, plates_of, ranges
from musclesolve.laboratory.draft.study_trials import searching, without_copies
from musclesolve.laboratory.files.c3d.c3d_file import C3D, read_c3d
from musclesolve.laboratory.files.formats import MARKERS, read_markers
from musclesolve.laboratory.files.service_folders import SUBJECT_FILES, StatedSubject, stated_subject
from musclesolve.laboratory.files.text.csv_file import (
    has_rows,
    is_export,
    read_csv_columns,
    read_csv_forces,
    read_csv_markers,
)
from musclesolve.laboratory.files.text.qualisys_tsv import plate_files
from musclesolve.laboratory.markers.landmarks import HINGES
from musclesolve.laboratory.markers.marker_names import by_person, split_label
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES
from musclesolve.laboratory.trial.recording_checks import is_plane
from musclesolve.models.opensim.external_loads import StatedLoad, identified_columns, stated_loads
from musclesolve.models.opensim.xml_tree import Element, read_xml
from musclesolve.tables.cells import are_coordinates
from musclesolve.tables.number_rows import by_place, number_in
from musclesolve.tables.opensim_text import read_mot
from musclesolve.tables.sampled import Markers, Table
from musclesolve.tables.text_file import PACKED, STORAGE, TABLES, suffix_of, toml_content

_OF_PROGRAMS = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "a workbook: save each sheet of numbers as CSV"),
    **dict.fromkeys((".x1d", ".x2d"), "raw data of Vicon: export the trial as C3D"),
    **dict.fromkeys(
        (".anc", ".anb"), "analog channels of Cortex: export the plates as .forces, or all as C3D"
    ),
    ".mat": "data of MATLAB: write them as TRC, MOT or CSV",
    ".tdf": "a recording of BTS: export it as C3D or EMT",
    **dict.fromkeys(
        (".mvn", ".mvnx"), "a motion of inertial sensors of Xsens, without markers: nothing to measure it by"
    ),
    ".mdf": "a recording of Codamotion: export it as C3D",
    ".qtm": "a recording of Qualisys: export it as C3D or TSV",
    ".tak": "a take of Motive: export it as C3D or CSV",
    ".cap": "a recording of Cortex: export it as C3D, or as TRC and .forces",
    ".cmz": "a workspace of Visual3D: export its trials as C3D",
}
"""Suffix -> what a file is that is not read, and what its program can write instead."""


@dataclass(frozen=True)
class LoadsFile:
    """An ExternalLoads file: its data file by name, and its forces."""

    path: Path
    data_file: str
    loads: tuple[StatedLoad, ...]


def columns_of(load: StatedLoad, table: Table) -> dict[str, tuple[str, str, str]]:
    """The columns that a load names, by role; without those that the table does not have."""
    columns = {}
    for role, stem in load.identifiers.items():
        names = identified_columns(table, stem)
        if len(names) == 3:
            columns[role] = (names[0], names[1], names[2])
    return columns


def _number(element: Element, tag: str) -> float | None:
    """A positive number; -1 and 0 mean unknown."""
    value = number_in(element.text_of(tag))
    return value if 0.0 < value < 1e4 else None


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
    """Files in a folder, and a sentence on every file that is no part of a trial."""

    folder: Path
    markers: list[MarkerFile] = field(default_factory=list)
    forces: list[ForceFile] = field(default_factory=list)
    plates: list[PlateFile] = field(default_factory=list)  # of files that hold no markers
    emg: list[EmgFile] = field(default_factory=list)
    loads: list[LoadsFile] = field(default_factory=list)
    subjects: list[StatedSubject] = field(default_factory=list)
    models: list[Path] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # copies of files, and columns

    @property
    def every_unread(self) -> tuple[str, ...]:
        """The sentences on files that cannot be read, and on facts of the subject that cannot be taken."""
        return (*self.unread, *(fault for stated in self.subjects for fault in stated.faults.values()))

    def name_of(self, path: Path) -> str:
        """Name of a file in messages, with its folders below this one: files of subjects may have equal names."""
        return path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else path.name


def folder_contents(folder: Path, chosen: Sequence[Path] | None = None) -> FolderContents:
    """Read every file of a folder, without subfolders; or only chosen files in any folder."""
    files = list(chosen or ())
    with searching(folder, "a folder with the recordings of one subject"):
        if chosen is None:
            files = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] != ".")
    # The files that a camera file names are no recordings of their own.
    cameras: set[str] = set()
    parts: set[str] = set()
    for path in files:
        if path.suffix.casefold() == ".toml":
            settings = toml_content(path)
            if "camera" in settings:
                cameras.add(path.name)
            entries = settings.get("camera")
            tables = [settings.get("recording"), *(entries if isinstance(entries, list) else ())]
            named = (table.values() for table in tables if entries and isinstance(table, dict))
            parts |= {Path(text).name for texts in named for text in texts if isinstance(text, str)}
    contents = FolderContents(folder)
    files = [path for path in files if path.name not in parts]
    if chosen is None:
        files, contents.left_out = without_copies(files, folder)
    for path in files:
        try:
            if path.suffix.casefold() == ".toml" and path.name not in cameras:
                contents.others.append(f"{path.name} (settings, no recording)")
            else:
                _sort_in(path, contents)
        except InputError as error:
            place = f", {error.where}" if error.where else ""
            remedy = f" ({error.remedy})" if error.remedy else ""
            contents.unread.append(f"{contents.name_of(path)}{place}: {error.problem}{remedy}")
    for file in [file for file in contents.markers if not np.isfinite(file.markers.position).any()]:
        contents.markers.remove(file)
        contents.unread.append(
            f"{contents.name_of(file.path)}: no marker has a place in any frame (label the markers in the capture "
            "software, and export the recording again)"
        )
    return contents


def _sort_in(path: Path, contents: FolderContents) -> None:
    """Put one file where it belongs."""
    suffix = suffix_of(path)
    if suffix == ".c3d" and path.suffix.casefold() != PACKED:
        file = read_c3d(path)
        plates = file.description.count("FORCE_PLATFORM:USED") or 0
        if file.shows_body or not (plates or file.channel_names):  # the reader says what a file lacks
            contents.markers.append(MarkerFile(path, by_person(file.markers()), file, plates))
        elif plates:
            contents.plates.append(PlateFile(path, plates))
        if file.layout.channels:
            numbers = file.description.numbers("FORCE_PLATFORM:CHANNEL").ravel()
            of_plates = {int(number) - 1 for number in numbers if number > 0}
            names = [name for k, name in file.channel_names.items() if k not in of_plates]
            channels = emg_channels(names, recorded=True)
            if not plates and (loose := plates_of(file.channels())):
                contents.unread.append(
                    f"{path.name}: it has channels of plates, {few(loose[0].columns['force'])}, and no group "
                    "FORCE_PLATFORM, which says where the plates stand (define the plates in the capture software, "
                    "then export the recording again)"
                )
            elif channels.muscles or channels.unknown:
                contents.emg.append(EmgFile(path, file.channels(), channels))
            elif names:
                contents.others.append(
                    f"{path.name} (channels whose names mean no muscle: {', '.join(ranges(names))})"
                )
    elif suffix in TABLES:
        _table(path, contents)
    elif suffix in MARKERS:
        contents.markers.append(MarkerFile(path, read_markers(path)))
    elif suffix in STORAGE:
        _columns(path, read_mot(path), contents)
    elif suffix == ".xml":
        _opensim(path, contents)
    elif suffix == ".osim":
        contents.models.append(path)
    elif path.name in SUBJECT_FILES:
        contents.subjects.append(stated_subject(path))
    else:
        said = _OF_PROGRAMS.get(path.suffix.casefold())
        contents.others.append(f"{path.name} ({said})" if said else path.name)


def _opensim(path: Path, contents: FolderContents) -> None:
    """External loads, or what a setup of the scale tool states of the subject; no other XML file is used."""
    root = read_xml(path, "an ExternalLoads or scale setup file of OpenSim (.xml)")
    for element in root.descendants():
        if element.tag == "ExternalLoads":
            data_file = element.text_of("datafile").replace("\\", "/").rpartition("/")[2]
            contents.loads.append(LoadsFile(path, data_file, tuple(stated_loads(element))))
            return
        if element.tag == "ScaleTool":
            mass, height = _number(element, "mass"), _number(element, "height")
            # In millimeters, unless the number is at most three.
            stature = None if height is None else round(height * (0.001 if height > 3.0 else 1.0), 6)
            facts = {"name": element.name, "mass_kg": mass, "stature_m": stature}
            contents.subjects.append(StatedSubject(path, facts))
            return
    contents.others.append(f"{path.name} ({root.children[0].tag if root.children else root.tag}, not used)")


def _table(path: Path, contents: FolderContents) -> None:
    """Markers, if every column is a coordinate in a stated unit; forces or EMG, if the columns are named so.

    Exports of programs may have all of them in one file. Any other text, without a table, is no recording.
    """
    try:
        export = is_export(path)
    except InputError:
        if suffix_of(path) == ".csv":
            raise
        contents.others.append(path.name)
        return
    if export and plate_files(path)[0] != path:
        return  # a plate that is read with the first one
    refused: InputError | None = None
    try:
        contents.markers.append(MarkerFile(path, by_person(read_csv_markers(path))))
        if not export:
            return
    except InputError as error:
        refused = error
    try:
        columns = read_csv_columns(path)
    except InputError as error:
        if refused is not None and not export and suffix_of(path) != ".csv" and not has_rows(path):
            contents.others.append(path.name)
            return
        if refused is not None:
            raise (refused if export else error) from None
        return
    if plates_of(columns):
        columns = read_csv_forces(path)
    before = len(contents.others)
    role = _columns(path, columns, contents)
    if refused is not None and not (role or export or columns.repeated) and are_coordinates(columns.names):
        del contents.others[before:]
        raise refused


def _columns(path: Path, table: Table, contents: FolderContents) -> bool:
    """Put a table of columns where it belongs, by their names; return whether it has forces or EMG."""
    plates = plates_of(table)
    of_plates = {name for plate in plates for names in plate.columns.values() for name in names}
    if twice := [name for name, at in table.repeated.items() if by_place(name, at)[0] not in of_plates]:
        like_it = f", nor are {few(twice[1:])}" if twice[1:] else ""
        said = f"the column '{twice[0]}' occurs twice, and is not used{like_it} (rename it)"
        contents.unread.append(f"{contents.name_of(path)}, {table.repeated[twice[0]]}: {said}")
    others = [name for name in table.names if name not in of_plates]
    channels = emg_channels(others)
    if channels.computed:
        contents.others.append(f"{path.name} (computed by a model)")
        return False
    if plates:
        contents.forces.append(ForceFile(path, table, tuple(plates)))
        unused = [name for name in others if name not in table.repeated]
        if unused and not channels.muscles:
            said = "that are no force, point or moment of a plate by their names"
            contents.left_out.append(f"{contents.name_of(path)}: columns {said}: {few(unused)}")
    if channels.muscles or (channels.unknown and not plates):
        contents.emg.append(EmgFile(path, table, channels))
    elif not plates:
        if not table.repeated and all(file.path != path for file in contents.markers):
            moments = sum(name.endswith("_moment") for name in table.names) > 1
            neither = f"neither forces of plates nor EMG; its columns are {few(table.names)}"
            said = "joint moments, computed with a model" if moments else neither
            contents.others.append(f"{path.name} ({said})")
        return False
    return True


STILL, STILL_BY_NAME = 0.05, 0.2
"""A subject who stands moves the middle one of the markers by less than this share of the height of all markers, and
by less than the second where the name of the file says that the subject stands. In no unit: headers may be wrong."""
FEWEST_MOTION_FRAMES = 10
"""Least number of frames of a motion."""
TableFile = TypeVar("TableFile", ForceFile, EmgFile)
_STATIC = re.compile(
    r"static|stand|statisch|neutral|t-?_?pose|n-?_?pose|(?:^|[^a-z])(?:cal|calib\w*|stat|ref)(?:[^a-z]|$)"
)
_STATIC_FOLDER = re.compile(
    r"(?:static|stand|standing|statisch|neutral|t_?pose|n_?pose|cal|calib|calibration|reference)(?:_?trials?)?_?\d*"
)
_FUNCTIONAL = re.compile(
    r"func|star_?arc|circl|score(?:[^a-z]|$)|hjc|hip_?(?:rom|joint|cent)|(?:^|[^a-z])(?:rom|star)(?:[^a-z]|$)"
)
_BENDING = re.compile(
    r"func|flex|bend|axis|sara|dors|plantar|(?:^|[^a-z])(?:rom|cal|calib\w*|move\w*)(?:[^a-z]|$)"
)
_BOTH_BEND = re.compile(r"(?:^|[^a-z])(?:bend|bending|sara)(?:[^a-z]|$)")
_MAXIMUM = re.compile(r"mvc|mvic|maxim|(?:^|[^a-z])max(?:[^a-z]|$)")
_IDLE = {
    "grf", "grfs", "force", "forces", "emg", "markers", "marker", "trc", "mot", "sto", "kinetics", "analog", "loads",
    "external", "ground", "reaction", "reactions", "raw", "filtered", "data", "exp", "trajectories", "plates",
    "ik", "id", "kinematics",
}  # fmt: skip


@dataclass(frozen=True)
class MotionFiles:
    """One motion: its markers, the standing trial, and what was recorded with it; sentences on what was not clear."""

    motion: MarkerFile
    static: MarkerFile | None
    forces: ForceFile | None = None
    plates: PlateFile | None = None  # the C3D file whose plates are used
    loads: LoadsFile | None = None
    emg: EmgFile | None = None
    static_forces: ForceFile | None = None
    unclear: dict[str, str] = field(default_factory=dict)  # role -> what is left to decide
    person: str = ""  # by the names of the files


@dataclass(frozen=True)
class FileRoles:
    """All motions of a folder, and sentences on the recordings that are neither motion nor standing trial."""

    motions: tuple[MotionFiles, ...]
    static: MarkerFile | None
    functional: tuple[MarkerFile, ...]
    left_out: tuple[str, ...]

    @property
    def bending(self) -> dict[str, MarkerFile]:
        """Joint with side, such as "knee_r" -> the first recording that by its name bends it."""
        shown: dict[str, MarkerFile] = {}
        for file in self.functional:
            words = set(_words(file.path.stem))
            sides = [side for side in SIDES if words & {side, SIDE_NAMES[side]}] or SIDES
            for joint in bent_joints(file.path.stem):
                for side in sides:
                    shown.setdefault(f"{joint}_{side}", file)
        return shown


def _places(file: MarkerFile) -> tuple[Array, Array] | None:
    """Return ranges (n, 3) and middles (n, 3) of the places [m] of the markers that are seen; None without any."""
    position = file.markers.position
    with np.errstate(invalid="ignore"):
        seen = np.isfinite(position).all(axis=2).sum(axis=0) > 1
        if not seen.any():
            return None
        low, middle, high = np.nanquantile(position[:, seen], [0.05, 0.5, 0.95], axis=0)
    return high - low, middle


def travel(file: MarkerFile, share: float = 0.5) -> float:
    """Return how far this share of the markers move at most, over the extent of the body; 0 without markers."""
    if (places := _places(file)) is None:
        return 0.0
    extent = float(np.linalg.norm(np.ptp(places[1], axis=0)))
    return float(np.quantile(np.linalg.norm(places[0], axis=1), share)) / max(extent, 1e-9)


GOES = 0.5
"""Least horizontal way of a body that leaves its place, as a share of the height of all markers."""
MOST_GHOSTS = 0.2
"""Share of the markers that may stay where they are."""


def leaves_place(file: MarkerFile) -> bool:
    """Return whether the whole body goes from one place to another, as no one does whose joints are moved to be found.

    The longest axis of the body is upright.
    """
    if (places := _places(file)) is None:
        return False
    ranges, middle = places
    upright = int(np.argmax(np.ptp(middle, axis=0)))
    way = np.linalg.norm(np.delete(ranges, upright, axis=1), axis=1)
    return bool(np.quantile(way, MOST_GHOSTS) > GOES * np.ptp(middle[:, upright]))


def is_functional(file: MarkerFile) -> bool:
    """Return whether joints are moved to be found: the name says so, and the subject stays in one place."""
    return says_functional(file.path.stem) and not leaves_place(file)


LARGEST_BODY = 4.0
"""Extent of the markers on a subject that is never reached [m]."""


def too_large(markers: Markers) -> str:
    """The fault of markers in another unit than their file states, "" where they may be on a subject."""
    position = markers.position[np.isfinite(markers.position).all(axis=2).sum(axis=1) > 0]
    if not len(position):
        return ""
    low, high = np.nanmin(position, axis=1), np.nanmax(position, axis=1)
    extent = float(np.median(np.linalg.norm(high - low, axis=1)))
    if extent <= LARGEST_BODY:
        return ""
    what = "another unit than the file states"
    if is_plane(markers):
        what = "pixels of one camera"
    elif 0.5 < 0.001 * extent < 2.6:
        what = "millimeters"
    return f"the body would be {extent:.0f} m large in the stated unit: the markers are in {what}"


def file_roles(contents: FolderContents) -> FileRoles:
    """Determine the roles of the files."""
    files, left_out = _once(contents)
    left_out[:0] = contents.left_out
    # One leg alone moves where a joint is moved to be found.
    moves = {file.path: travel(file, 0.9 if says_functional(file.path.stem) else 0.5) for file in files}
    # Some who stand raise the arms, or come and go.
    standing = [file for file in files if is_standing(file, moves[file.path])]
    functional = [file for file in files if file not in standing and is_functional(file)]
    motions = [file for file in files if file not in standing and file not in functional]
    if not motions:  # an exercise, which is what was to be analyzed
        motions = [file for file in functional if bent_joints(file.path.stem)] or functional
        functional = [file for file in functional if file not in motions]
    for short in [file for file in motions if file.markers.time.size < FEWEST_MOTION_FRAMES]:
        motions.remove(short)
        left_out.append(
            f"{contents.name_of(short.path)} has {short.markers.time.size} frames, too few for a motion"
        )
    # Of several standing trials the one that says so, with most markers.
    named = sorted(
        [file for file in standing if stands_by_name(file.path)] or standing,
        key=lambda file: (-len(file.markers.names), moves[file.path], file.path.name),
    )
    static = next(iter(named), None)
    stands = {motion.path: _standing_of(contents, motion, named) for motion in motions}
    used_static = [static, *(file for file, _ in stands.values())]
    left_out += [
        f"{contents.name_of(x.path)}: another standing trial" for x in standing if x not in used_static
    ]
    trials = [_with_tables(contents, motion, *stands[motion.path], motions) for motion in motions]
    used = [file for trial in trials for file in (trial.forces, trial.static_forces)]
    said = " ".join(text for trial in trials for text in trial.unclear.values())
    left_out += [
        f"{contents.name_of(file.path)}: forces that belong to no motion here"
        for file in contents.forces
        if file not in used and file.path.name not in said
    ]
    return FileRoles(tuple(trials), static, tuple(functional), tuple(left_out))


def _standing_of(
    contents: FolderContents, motion: MarkerFile, named: Sequence[MarkerFile]
) -> tuple[MarkerFile | None, str]:
    """The standing trial with most markers of a motion, by its name or the first; and what is left to decide."""
    labels = [{split_label(name)[1] for name in file.markers.names} for file in (motion, *named)]
    shared = [2 * len(labels[0] & of) >= min(len(labels[0]), len(of)) for of in labels[1:]]
    named = [file for file, is_alike in zip(named, shared, strict=True) if is_alike]
    alike = [_alike_at_first(file.path.stem, motion.path.stem) for file in named]
    nearest = [file for file, words in zip(named, alike, strict=True) if words == max(alike)]
    if len(nearest) < 2:
        return next(iter(nearest), None), ""
    static, others = nearest[0], ", ".join(contents.name_of(file.path) for file in nearest[1:])
    most = len(static.markers.names) > len(nearest[1].markers.names)
    return static, (
        f"the subject also stands in {others}; {contents.name_of(static.path)} has "
        f"{'most markers' if most else 'the least motion'}: name the one of this recording"
    )


def _once(contents: FolderContents) -> tuple[list[MarkerFile], list[str]]:
    """The recordings without those that hold the frames of another one of the same name: plates are worth most."""
    kept: dict[str, list[MarkerFile]] = {}
    left_out = []
    for file in sorted(contents.markers, key=lambda file: (file.plates == 0, file.path.name)):
        namesakes, frames = kept.setdefault(file.path.stem.casefold(), []), file.markers.time.size
        same = next((other for other in namesakes if abs(frames - other.markers.time.size) <= 1), None)
        if same is None:
            namesakes.append(file)
        else:
            left_out.append(
                f"{contents.name_of(file.path)} holds the same recording as {contents.name_of(same.path)}"
            )
    return sorted((one for alike in kept.values() for one in alike), key=lambda one: one.path.name), left_out


def _with_tables(
    contents: FolderContents,
    motion: MarkerFile,
    static: MarkerFile | None,
    of_static: str,
    motions: list[MarkerFile],
) -> MotionFiles:
    """Return the files that were recorded together with a motion."""
    unclear = {"static": of_static} if of_static else {}
    forces = loads = None
    plates = PlateFile(motion.path, motion.plates) if motion.plates else None
    if plates is None:
        stem = motion.path.stem
        stated = [
            file
            for file in contents.loads
            if len(motions) == 1
            or max(kinship(name, stem) for name in (file.data_file.rpartition(".")[0], file.path.stem)) > 1
        ]
        loads = max(stated, key=lambda file: kinship(file.path.stem, stem), default=None)
        data = None if loads is None else loads.data_file.casefold()
        forces = next((file for file in contents.forces if file.path.name.casefold() == data), None)
        loads = loads if forces is not None else None
        forces = forces or _belonging(contents.forces, motion, static, motions, unclear, "forces")
    if forces is None and plates is None:
        named = [file for file in contents.plates if kinship(file.path.stem, motion.path.stem) > 1]
        plates = next(iter(named or (contents.plates if len(motions) == 1 else [])), None)
    signals = [file for file in contents.emg if not says_maximum(file.path.stem)]
    inside = next((file for file in signals if file.path == motion.path), None)
    apart = [file for file in signals if file.path.suffix.casefold() != ".c3d"]
    emg = inside or _belonging(apart, motion, static, motions, unclear, "emg")
    standing = None
    if static is not None:
        others = [file for file in contents.forces if file is not forces]
        standing = next((file for file in others if kinship(file.path.stem, static.path.stem) > 1), None)
    return MotionFiles(motion, static, forces, plates, loads, emg, standing, unclear)


def _belonging(
    files: Sequence[TableFile],
    motion: MarkerFile,
    static: MarkerFile | None,
    motions: list[MarkerFile],
    unclear: dict[str, str],
    role: str,
) -> TableFile | None:
    """The file of a kind that belongs to a motion: by its name, else by how long it is; None where none does."""
    kin = []
    for file in files:
        near = kinship(file.path.stem, motion.path.stem)
        rivals = [other for other in (*motions, static) if other is not motion]
        if static and near == kinship(file.path.stem, static.path.stem) and not _lasts_as_long(file, static):
            rivals.remove(static)  # named alike, and no recording of the subject who stands
        best = max((kinship(file.path.stem, rival.path.stem) for rival in rivals if rival), default=0)
        alone = near == best < 2 and (len(motions) == 1 or _lasts_as_long(file, motion))
        if near > best or alone or (near == best and _is_part(motion, file, motions)):
            kin.append((near, file))
    if not kin:
        return None
    nearest = [file for near, file in kin if near == max(near for near, _ in kin)]
    if len(nearest) > 1:
        nearest = [file for file in nearest if _lasts_as_long(file, motion)] or nearest
    if len(nearest) > 1:
        names = " or ".join(file.path.name for file in nearest)
        unclear[role] = f"{names} may belong to {motion.path.name}: name the one that was recorded with it"
    return nearest[0]


def _is_part(motion: MarkerFile, file: ForceFile | EmgFile, motions: Sequence[MarkerFile]) -> bool:
    """Whether a motion is one of several, one after the other, that a recording covers: a trial cut into pieces."""
    (first, last), (start, end) = motion.markers.time[[0, -1]], file.table.time[[0, -1]]
    others = [other.markers.time[[0, -1]] for other in motions if other is not motion]
    apart = all(begin > last or stop < first for begin, stop in others)
    return bool(others and apart and start < first + 0.1 and last - 0.1 < end)


def _lasts_as_long(file: ForceFile | EmgFile, motion: MarkerFile) -> bool:
    """Whether two recordings cover the same time, to a tenth of a second or a twentieth of it."""
    one, other = file.table.time, motion.markers.time
    near = max(0.1, 0.05 * float(other[-1] - other[0]))
    return abs(float(one[0] - other[0])) < near and abs(float(one[-1] - other[-1])) < near


def says_static(stem: str) -> bool:
    """Return whether a name says that the subject stands."""
    return _STATIC.search(stem.casefold()) is not None


def is_static_folder(name: str) -> bool:
    """Return whether the name of a folder says that the subject stands, and nothing else."""
    return _STATIC_FOLDER.fullmatch(re.sub(r"[\s-]+", "_", name.casefold())) is not None


def stands_by_name(path: Path) -> bool:
    """Return whether the name of a file says that the subject stands, or the name of its folder says nothing else."""
    return says_static(path.stem) or is_static_folder(path.parent.name)


def is_standing(file: MarkerFile, moves: float | None = None) -> bool:
    """Return whether a recording shows a subject who stands, by how far the markers move: see `travel`."""
    moves = travel(file) if moves is None else moves
    return moves < (STILL_BY_NAME if stands_by_name(file.path) else STILL)


def says_functional(stem: str) -> bool:
    """Return whether a name says that a hip moves in all directions, or that a knee or an ankle bends."""
    return _FUNCTIONAL.search(stem.casefold()) is not None or bool(bent_joints(stem))


def bent_joints(stem: str) -> tuple[str, ...]:
    """Return the joints, knee or ankle, that bend by a name: "knee_flexion_r", "ankle_rom", "bending" for both."""
    folded = stem.casefold()
    named = tuple(joint for joint in HINGES if joint in folded)
    if named:
        return named if _BENDING.search(folded) else ()
    return HINGES if _BOTH_BEND.search(folded) else ()


def says_maximum(stem: str) -> bool:
    """Return whether a name says that muscles contract as strongly as they can."""
    return _MAXIMUM.search(stem.casefold()) is not None


def kinship(one: str, other: str) -> int:
    """How far two names are of one trial: 3 equal, 2 one begins with the other, 1 words in common, 0 none."""
    first, second = _words(one), _words(other)
    if first == second and first:
        return 3
    shorter, longer = sorted((first, second), key=len)
    if shorter and longer[: len(shorter)] == shorter:
        return 2
    return int(bool(set(first) & set(second)))


def _alike_at_first(one: str, other: str) -> int:
    """Number of equal words with which two names begin."""
    pairs = zip(_words(one), _words(other), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _words(stem: str) -> list[str]:
    words = re.findall(r"[a-z]+|\d+", stem.casefold())
    return [str(int(word)) if word.isdigit() else word for word in words if word not in _IDLE]
