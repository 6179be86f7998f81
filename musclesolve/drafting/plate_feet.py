"""Which foot each plate of a text file measures: by external loads, by the contacts, or by the names of its columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.drafting.choose_mapping import MarkerChoice
from musclesolve.drafting.column_triples import ROLES, PlateNames, common_beginning
from musclesolve.drafting.draft_text import DraftTable, Line
from musclesolve.drafting.folder_contents import ForceFile
from musclesolve.drafting.opensim_files import LoadsFile, columns_of
from musclesolve.recording.c3d.force_platforms import Plate, PlateRecording
from musclesolve.recording.data import SIDE_NAMES, Side
from musclesolve.recording.plates.plate_assignment import Feet, contacts, feet_of

UNLOADED_N = 20.0
# Columns state no corners; these lie where no foot is.
_NOWHERE = Plate(
    1, 2, np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]]) + 1e6, np.zeros(3), np.eye(6)
)


@dataclass(frozen=True)
class PlateFoot:
    """A plate, its foot (None: not clear), and where that comes from; or what is left to decide."""

    plate: PlateNames
    side: Side | None
    source: str = ""
    todo: str = ""
    idle: bool = False

    @property
    def table(self) -> DraftTable:
        """The table [[force]] of the trial file."""
        lacks = "point" not in self.plate.columns
        todo = self.todo
        if lacks:
            todo = (
                f"the plate {self.plate.label} has no columns for the point of force: export the center of pressure "
                "with it, in m"
            )
        lines = [Line("side", self.side or "r", self.source, open=self.side is None)]
        for role in ROLES:
            names = self.plate.columns.get(role)
            if names is not None:
                lines.append(Line(role, common_beginning(names) or list(names)))
        return DraftTable("force", tuple(lines), todo=todo, listed=True, open=lacks)


def stated_feet(file: ForceFile, loads: LoadsFile) -> list[PlateFoot]:
    """The plates and feet of an ExternalLoads file."""
    feet = []
    for load in loads.loads:
        columns, name, todo = columns_of(load, file.table), loads.path.name, ""
        if "force" not in columns:
            listed = ", ".join(load.identifiers.values())
            todo = f"{name} names columns that {file.table.path.name} does not have: {listed}"
        elif not load.in_ground:
            todo = f"{name} has this force in the axes of a body: export it again"
        elif load.side is None:
            todo = f"enter the foot, r or l: {name} lets it act on {load.body}"
        plate, source = PlateNames((load.body,), columns), f"{name}: acts on {load.body}"
        feet.append(PlateFoot(plate, load.side, source, todo, idle="force" not in columns))
    return feet


def found_feet(file: ForceFile, choice: MarkerChoice, rotation: Array | None) -> list[PlateFoot]:
    """The foot of every plate by its contacts, where the axes are known and the feet are seen; else by its names."""
    feet: Feet = {}
    if rotation is not None:
        feet = feet_of(choice.walk.rotated(rotation), choice.resolved)
        if not all(np.isfinite(foot.middle).all(axis=1).any() for foot in feet.values()):
            feet = {}  # heel and toe of one of them are never seen together
    plates = [_foot_found(file, plate, choice, feet, rotation) for plate in file.plates]
    if plates and all(plate.idle for plate in plates):
        # Forces in other axes, or those on the plate: only the names are left.
        return [_by_name(plate.plate, "no contact of a foot with a plate was found") for plate in plates]
    return plates


def _foot_found(
    file: ForceFile, plate: PlateNames, choice: MarkerChoice, feet: Feet, rotation: Array | None
) -> PlateFoot:
    named, table = plate.side, file.table
    if rotation is None or not feet or "point" not in plate.columns:
        return _by_name(plate, "neither heel and toe nor the ankles are known")
    force, point = (
        np.nan_to_num(np.stack([table[name] for name in plate.columns[role]], axis=1)) @ rotation.T
        for role in ("force", "point")
    )
    recording = PlateRecording(_NOWHERE, table.time, force, point, np.zeros_like(force), table.path)
    steps = [step for step in contacts(recording, choice.walk, feet, UNLOADED_N) if step.significant]
    if not steps:
        return PlateFoot(plate, named, "nobody steps on it", idle=True)
    sides = {step.side for step in steps if step.side is not None}
    if len(sides) == 1:
        (side,) = sides
        spans = ", ".join(f"{step.start:.2f} to {step.end:.2f} s" for step in steps if step.side == side)
        todo = ""
        if named is not None and named != side:
            todo = (
                f"check the foot: it is nearest to the {SIDE_NAMES[side]} one; its columns name the "
                f"{SIDE_NAMES[named]} foot"
            )
        return PlateFoot(plate, side, f"by its contacts, {spans}", todo)
    if len(sides) == 2:
        todo = (
            "both feet step on this plate, and columns cannot be divided: name the C3D file of the recording under "
            "forces, or export one plate for each foot"
        )
        return PlateFoot(plate, named, "" if named is None else "by the names of its columns", todo)
    return _by_name(plate, steps[0].reason)


def _by_name(plate: PlateNames, why: str) -> PlateFoot:
    """The foot that the names of the columns state, where nothing else shows it."""
    if plate.side is not None:
        return PlateFoot(plate, plate.side, "by the names of its columns")
    return PlateFoot(plate, None, "", f"enter the foot on this plate, r or l: {why}")
