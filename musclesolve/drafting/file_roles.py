"""Which recording is the standing trial, which are motions, and which forces and EMG belong to each motion.

By what the files hold, and by what their names say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from musclesolve.drafting.emg_channels import EmgFile
from musclesolve.drafting.folder_contents import FolderContents, ForceFile, MarkerFile, PlateFile
from musclesolve.drafting.opensim_files import LoadsFile
from musclesolve.recording.data import SIDE_NAMES, SIDES
from musclesolve.recording.markers.mapping_tables import HINGES

STILL, STILL_BY_NAME = 0.05, 0.2
"""A subject who stands moves the middle one of the markers by less than this share of the height of all markers, and
by less than the second where the name of the file says that the subject stands. In no unit: headers may be wrong."""
SHORTEST = 10
"""A motion has at least so many frames."""
TableFile = TypeVar("TableFile", ForceFile, EmgFile)
_STATIC = re.compile(
    r"static|stand|statisch|neutral|t-?_?pose|n-?_?pose|(?:^|[^a-z])(?:cal|calib\w*|stat|ref)(?:[^a-z]|$)"
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


def travel(file: MarkerFile) -> float:
    """How far the middle one of all markers moves, over the extent of the body; 0 where there are none."""
    position = file.markers.position
    with np.errstate(invalid="ignore"):
        seen = np.isfinite(position).all(axis=2).sum(axis=0) > 1
        if not seen.any():
            return 0.0
        low, middle, high = np.nanquantile(position[:, seen], [0.05, 0.5, 0.95], axis=0)
    extent = float(np.linalg.norm(np.ptp(middle, axis=0)))
    return float(np.median(np.linalg.norm(high - low, axis=1))) / max(extent, 1e-9)


def file_roles(contents: FolderContents) -> FileRoles:
    """Decide which file is what."""
    files, left_out = _once(contents.markers)
    moves = {file.path: travel(file) for file in files}
    # Some who stand raise the arms, or come and go.
    standing = [
        file for file in files if moves[file.path] < (STILL_BY_NAME if says_static(file.path.stem) else STILL)
    ]
    functional = [file for file in files if file not in standing and says_functional(file.path.stem)]
    motions = [file for file in files if file not in standing and file not in functional]
    if not motions:  # an exercise of the knee, which is what was to be analysed
        motions = [file for file in functional if bent_joints(file.path.stem)]
        functional = [file for file in functional if file not in motions]
    for short in [file for file in motions if file.markers.time.size < SHORTEST]:
        motions.remove(short)
        left_out.append(f"{short.path.name} has {short.markers.time.size} frames, too few for a motion")
    # Of several standing trials the one that says so, with most markers.
    named = sorted(
        [file for file in standing if says_static(file.path.stem)] or standing,
        key=lambda file: (-len(file.markers.names), moves[file.path], file.path.name),
    )
    static, unclear = next(iter(named), None), ""
    if static is not None and len(named) > 1:
        others = ", ".join(file.path.name for file in named[1:])
        more = len(static.markers.names) > len(named[1].markers.names)
        unclear = (
            f"the subject also stands in {others}; {static.path.name} has "
            f"{'most markers' if more else 'the least motion'}: name the one of this recording"
        )
    left_out += [f"{file.path.name}: another standing trial" for file in standing if file is not static]
    trials = [_with_tables(contents, motion, static, motions) for motion in motions]
    used = [file for trial in trials for file in (trial.forces, trial.static_forces)]
    said = " ".join(text for trial in trials for text in trial.unclear.values())
    left_out += [
        f"{file.path.name}: forces that were not taken for those of a motion here"
        for file in contents.forces
        if file not in used and file.path.name not in said
    ]
    if unclear:
        trials = [replace(trial, unclear={"static": unclear, **trial.unclear}) for trial in trials]
    return FileRoles(tuple(trials), static, tuple(functional), tuple(left_out))


def _once(files: Sequence[MarkerFile]) -> tuple[list[MarkerFile], list[str]]:
    """The recordings without those that hold the frames of another one of the same name: plates are worth most."""
    kept: dict[str, list[MarkerFile]] = {}
    left_out = []
    for file in sorted(files, key=lambda file: (file.plates == 0, file.path.name)):
        namesakes, frames = kept.setdefault(file.path.stem.casefold(), []), file.markers.time.size
        same = next((other for other in namesakes if abs(frames - other.markers.time.size) <= 1), None)
        if same is None:
            namesakes.append(file)
        else:
            left_out.append(f"{file.path.name} holds the same recording as {same.path.name}")
    return sorted(
        (file for alike in kept.values() for file in alike), key=lambda file: file.path.name
    ), left_out


def _with_tables(
    contents: FolderContents, motion: MarkerFile, static: MarkerFile | None, motions: list[MarkerFile]
) -> MotionFiles:
    """What was recorded together with a motion."""
    unclear: dict[str, str] = {}
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
    rivals = [file for file in (*motions, static) if file is not None and file is not motion]
    kin = []
    for file in files:
        near = kinship(file.path.stem, motion.path.stem)
        best = max((kinship(file.path.stem, rival.path.stem) for rival in rivals), default=0)
        if near > best or (near == best < 2 and (len(motions) == 1 or _lasts_as_long(file, motion))):
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


def _lasts_as_long(file: ForceFile | EmgFile, motion: MarkerFile) -> bool:
    """Whether two recordings cover the same time, to a tenth of a second or a twentieth of it."""
    one, other = file.table.time, motion.markers.time
    near = max(0.1, 0.05 * float(other[-1] - other[0]))
    return abs(float(one[0] - other[0])) < near and abs(float(one[-1] - other[-1])) < near


def says_static(stem: str) -> bool:
    """Whether a name says that the subject stands."""
    return _STATIC.search(stem.casefold()) is not None


def says_functional(stem: str) -> bool:
    """Whether a name says that a hip moves in all directions, or that a knee or an ankle bends."""
    return _FUNCTIONAL.search(stem.casefold()) is not None or bool(bent_joints(stem))


def bent_joints(stem: str) -> tuple[str, ...]:
    """Which of knee and ankle bend, by a name: "knee_flexion_r", "ankle_rom", "bending" for both."""
    folded = stem.casefold()
    named = tuple(joint for joint in HINGES if joint in folded)
    if named:
        return named if _BENDING.search(folded) else ()
    return HINGES if _BOTH_BEND.search(folded) else ()


def says_maximum(stem: str) -> bool:
    """Whether a name says that muscles contract as strongly as they can."""
    return _MAXIMUM.search(stem.casefold()) is not None


def kinship(one: str, other: str) -> int:
    """How clearly two names belong to one trial: 3 the same, 2 one begins with the other, 1 words in common, 0 none."""
    first, second = _words(one), _words(other)
    if first == second and first:
        return 3
    shorter, longer = sorted((first, second), key=len)
    if shorter and longer[: len(shorter)] == shorter:
        return 2
    return int(bool(set(first) & set(second)))


def _words(stem: str) -> list[str]:
    words = re.findall(r"[a-z]+|\d+", stem.casefold())
    return [str(int(word)) if word.isdigit() else word for word in words if word not in _IDLE]
