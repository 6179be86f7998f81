"""Axis of the files that points up, and axis along which the subject walks: from the markers, else from the forces.

The foot of each plate of a text file follows from external loads, contacts, or the names of its columns.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.sides import SIDES
from musclesolve.constants import LOADED_FROM_N
from musclesolve.laboratory.checks.observed_body import square_to
from musclesolve.laboratory.checks.recording.units import LARGEST_MOMENT, LOADED, unit_of_points
from musclesolve.laboratory.draft.choose_mapping import MarkerChoice
from musclesolve.laboratory.draft.column_names import PlateNames, common_beginning
from musclesolve.laboratory.draft.draft_text import DraftTable, Line
from musclesolve.laboratory.draft.folder_contents import ForceFile, LoadsFile, columns_of
from musclesolve.laboratory.files.c3d.force_platforms import PlateRecording
from musclesolve.laboratory.markers.landmarks import Weights, back_landmarks
from musclesolve.laboratory.recording.axes import axis_vector
from musclesolve.laboratory.recording.data import SIDE_NAMES, Side, pulls_down
from musclesolve.laboratory.recording.trial_settings import AUTO, FILE_AXES, METERS
from musclesolve.laboratory.trial.plates.foot_contacts import (
    NOWHERE,
    Feet,
    FootTrack,
    contacts,
    feet_of,
    to_center_of_pressure,
)
from musclesolve.laboratory.trial.plates.foot_forces import ROLES
from musclesolve.models.opensim.external_loads import side_in
from musclesolve.models.opensim.model import GROUND
from musclesolve.tables.sampled import ZERO, Markers, Table

ALONG = 0.8
"""Least cosine between a direction and the axis along which it lies."""
_RAIL = 0.4
"""Height above both feet [m], in the middle of the samples, from which a force acts on a rail or a hand: a foot that
swings over a stair stays lower."""
TRAVEL = 0.4
"""Displacement of the pelvis that shows the walking direction [m]; below it the facing direction counts."""
_HIGH = ("asis", "psis", "hip_center", "knee_lateral", "knee_center")
_LOW = ("heel", "toe", "metatarsal_5", "ankle_lateral", "ankle_center")
LandmarkWeights = Mapping[str, Weights]


@dataclass(frozen=True)
class LaboratoryAxes:
    """The axes by name, None where they are not known, with what shows them, what is left to decide, and the lines of
    a standing trial in other axes.
    """

    forward: str | None
    up: str | None
    forward_from: str = ""
    up_from: str = ""
    todo: str = ""
    standing: tuple[Line, ...] = ()
    file: str = ""  # with the motion

    @property
    def complete(self) -> bool:
        """Whether both axes are known, forward and up."""
        return self.forward is not None and self.up is not None

    @property
    def table(self) -> DraftTable:
        """The table of the trial file."""
        lines = []
        for key, value, source, usual, what in (
            ("forward", self.forward, self.forward_from, "+x", "along which the subject walks or faces"),
            ("up", self.up, self.up_from, "+z", "that points up"),
        ):
            if value is not None:
                lines.append(Line(key, value, source))
            else:
                todo = (
                    f"enter the axis of {self.file} {what}, such as +x, -y or +z: no marker of a known name shows it. "
                    "musclesolve desk shows the markers and the axes of the file in space"
                )
                lines.append(Line(key, usual, "", todo, open=True))
        return DraftTable("laboratory", (*lines, *self.standing), todo=self.todo)


def laboratory_axes(
    choice: MarkerChoice, forces: tuple[Table, tuple[PlateNames, ...]] | None
) -> LaboratoryAxes:
    """The axes that a recording shows."""
    high, low = [*both(*_HIGH), "sacrum"], both(*_LOW)
    standing = None if choice.static is None else mean_between(choice.static, choice.resolved, low, high)
    walking = mean_between(choice.walk, choice.resolved, low, high)
    direction, source = walking, "from the feet to the pelvis in the motion"
    if direction is None and standing is not None:
        direction, source = standing, "from the feet to the pelvis in the standing trial"
    shown = direction is not None
    if not shown:
        direction, source = _push(forces), "the ground pushes this way"
    up = None if direction is None else nearest_axis(direction)
    # Without markers that show up, forces downward are forces on the plates, or their axis points down.
    if up is None or direction is None or (not shown and up[0] == "-"):
        return LaboratoryAxes(None, None, file=choice.walk.path.name)
    todo = ""
    # Forces against up are those on the plates, which are turned.
    if (push := _push(forces)) is not None and (nearest_axis(push) or up)[1] != up[1]:
        todo = (
            f"the forces point along {nearest_axis(push)}, but {up} is up in the markers: export the forces in the "
            "axes of the markers, as the force on the foot"
        )
    forward, forward_from = _forward(choice, axis_vector(up))
    # A standing trial whose file has another axis up than the motion: no other rotation matters.
    lines: tuple[Line, ...] = ()
    static_up = None if standing is None else nearest_axis(standing)
    if choice.static is not None and static_up is not None and static_up != up:
        faced = facing(choice.static, choice, axis_vector(static_up))
        sideways = [axis for axis in FILE_AXES if axis[1] != static_up[1]]
        ahead = max(sideways, key=lambda axis: 0.0 if faced is None else float(axis_vector(axis) @ faced))
        name = choice.static.path.name
        lines = (
            Line("static_forward", ahead, f"{name}: the way the subject faces"),
            Line("static_up", static_up, f"{name} has other axes: from the feet to the pelvis"),
        )
    return LaboratoryAxes(forward, up, forward_from, source, todo, lines, choice.walk.path.name)


def nearest_axis(direction: Array) -> str | None:
    """The name of the axis that a direction (3,) is along; None where it is oblique."""
    size = float(np.linalg.norm(direction))
    name = max(FILE_AXES, key=lambda axis: float(axis_vector(axis) @ direction))
    return name if size > 0.0 and axis_vector(name) @ direction > ALONG * size else None


def _push(forces: tuple[Table, tuple[PlateNames, ...]] | None) -> Array | None:
    """The sum (3,) of all forces [N]; None without any."""
    if forces is None:
        return None
    table, plates = forces
    columns = [plate.columns["force"] for plate in plates]
    total = np.array([sum(float(np.nansum(table[names[k]])) for names in columns) for k in range(3)])
    return total if total.any() else None


def _forward(choice: MarkerChoice, up: Array) -> tuple[str | None, str]:
    """The axis nearest to the way the subject goes, or faces, and which of both."""
    pelvis = middle_path(choice.walk, choice.resolved, [*both("asis", "psis", "hip_center"), "sacrum"])
    points = seen(pelvis)
    way, source = points[-1] - points[0] if len(points) > 1 else None, "the way the pelvis goes"
    faced = facing(choice.walk, choice, up)
    if way is None or np.linalg.norm(square_to(up, way)) < TRAVEL:
        way, source = faced, "the way the subject faces: the pelvis stays in its place"
    elif faced is not None and square_to(up, way) @ faced < 0.0:
        way, source = faced, "the way the subject faces, who walks backward"
    if way is None:
        return None, ""
    flat = square_to(up, way)
    sideways = [axis for axis in FILE_AXES if abs(axis_vector(axis) @ up) < 0.5]
    name = max(sideways, key=lambda axis: float(axis_vector(axis) @ flat))
    cosine = float(axis_vector(name) @ flat) / max(float(np.linalg.norm(flat)), 1e-12)
    oblique = (
        f", {np.degrees(np.arccos(min(cosine, 1.0))):.0f} degrees off this axis" if cosine < 0.95 else ""
    )
    return name, source + oblique


def facing(markers: Markers, choice: MarkerChoice, up: Array) -> Array | None:
    """The mean horizontal vector (3,) from back to front of the subject."""
    ahead = mean_between(markers, choice.resolved, back_landmarks(choice.resolved), both("asis"))
    if ahead is None:
        left = mean_between(markers, choice.resolved, ["hip_center_r"], ["hip_center_l"])
        ahead = None if left is None else np.cross(left, up)
    if ahead is None:
        ahead = mean_between(markers, choice.resolved, both("heel"), both("toe"))
    return None if ahead is None else square_to(up, ahead)


def path_of(markers: Markers, mapping: LandmarkWeights, landmark: str) -> Array | None:
    """The path (T, 3) of a landmark [m], NaN in gaps; None where the recording does not show it."""
    weights = mapping.get(landmark)
    if not weights or not all(name in markers for name in weights):
        return None
    return markers.weighted(weights)


def middle_path(markers: Markers, mapping: LandmarkWeights, names: Iterable[str]) -> Array | None:
    """The path (T, 3) midway between the paths of some landmarks that a recording shows; None where it shows none.

    A landmark that is seen in less than half of the frames of another one is left out: the path would have its gaps.
    """
    paths = [path for name in names if (path := path_of(markers, mapping, name)) is not None]
    counts = [int(np.isfinite(path).all(axis=1).sum()) for path in paths]
    often = [path for path, count in zip(paths, counts, strict=True) if 2 * count >= max(counts)]
    return np.mean(often, axis=0) if often else None


def seen(path: Array | None) -> Array:
    """The points (k, 3) of a path in which it is seen."""
    return np.zeros((0, 3)) if path is None else path[np.isfinite(path).all(axis=1)]


def mean_between(
    markers: Markers, mapping: LandmarkWeights, start: Iterable[str], end: Iterable[str]
) -> Array | None:
    """The mean vector (3,) from some landmarks to others, None where they are never seen together."""
    first, last = (middle_path(markers, mapping, names) for names in (start, end))
    if first is None or last is None or not (points := seen(last - first)).size:
        return None
    return np.asarray(points.mean(axis=0))


def both(*landmarks: str) -> list[str]:
    """Landmarks of the right and the left side."""
    return [f"{name}_{side}" for name in landmarks for side in SIDES]


@dataclass(frozen=True)
class PlateFoot:
    """A plate, its foot (None: not clear; `AUTO`: both in turn) and its source, or what is left to decide."""

    plate: PlateNames
    side: Side | Literal["auto"] | None
    source: str = ""
    todo: str = ""
    idle: bool = False
    units: tuple[Line, ...] = ()
    why: str = ""  # the foot is not clear

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
        return DraftTable("force", (*lines, *self.units), todo=todo, listed=True, open=lacks)


def stated_feet(file: ForceFile, loads: LoadsFile) -> list[PlateFoot]:
    """The plates and feet of an ExternalLoads file."""
    feet = []
    for load in loads.loads:
        columns, name, todo = columns_of(load, file.table), loads.path.name, ""
        side = side_in(load.body)
        if "force" not in columns:
            listed = ", ".join(load.identifiers.values())
            todo = f"{name} names columns that {file.table.path.name} does not have: {listed}"
        elif set(load.frames) != {GROUND}:
            todo = f"{name} has this force in the axes of a body: export it again"
        elif side is None:
            todo = f"enter the foot, r or l: {name} lets it act on {load.body}"
        plate, source = PlateNames((load.body,), columns), f"{name}: acts on {load.body}"
        feet.append(PlateFoot(plate, side, source, todo, idle="force" not in columns))
    return feet


def found_feet(file: ForceFile, choice: MarkerChoice, rotation: Array | None) -> list[PlateFoot]:
    """The foot of every plate by its contacts, where the axes are known and the feet are seen; else by its names."""
    feet: Feet = {}
    if rotation is not None:
        feet = feet_of(choice.walk.rotated(rotation), choice.resolved)
        if not all(np.isfinite(foot.middle).all(axis=1).any() for foot in feet.values()):
            feet = {}  # heel and toe of one of them are never seen together
    plates = [_foot_found(file, plate, choice, feet, rotation) for plate in file.plates]
    if any(
        "point" in one.columns and "point" not in by.plate.columns
        for one, by in zip(file.plates, plates, strict=True)
    ):
        without = [
            plate if set(plate.columns.get("point", ())) != {ZERO} else _without_point(plate)
            for plate in file.plates
        ]
        plates = [_foot_found(file, plate, choice, feet, rotation) for plate in without]
    if plates and all(plate.idle for plate in plates):
        # Forces in other axes, or on the plate instead of the foot: only the names remain.
        return [_by_name(plate.plate, "no contact of a foot with a plate was found") for plate in plates]
    if any(plate.side is not None for plate in plates):
        # a contact whose foot is not clear costs itself
        plates = [_by_contacts(plate) for plate in plates]
    return plates


def _by_contacts(plate: PlateFoot) -> PlateFoot:
    """A plate whose foot no contact shows is divided by the contacts, which leaves them out."""
    if plate.side is not None or plate.idle or "point" not in plate.plate.columns:
        return plate
    return replace(plate, side=AUTO, source=f"left out while its foot is not clear: {plate.why}", todo="")


def _foot_found(
    file: ForceFile, plate: PlateNames, choice: MarkerChoice, feet: Feet, rotation: Array | None
) -> PlateFoot:
    named, table = plate.side, file.table
    if rotation is None or not feet or "point" not in plate.columns:
        return _by_name(plate, "neither heel and toe nor the ankles are known")
    force, point, moment = (
        np.nan_to_num(np.stack([table[name] for name in plate.columns[role]], axis=1)) @ rotation.T
        if role in plate.columns
        else np.zeros((table.time.size, 3))
        for role in ROLES
    )
    vertical = np.abs(force[:, 2])
    loaded = vertical > max(LOADED_FROM_N, LOADED * vertical.max(initial=0.0))
    spread, _, factor = unit_of_points(table.time, point[:, :2], loaded, feet.values())
    height = point[loaded, 2] * (factor or 1.0)
    above = height - np.max([_heights(foot, table.time[loaded]) for foot in feet.values()], axis=0)
    if loaded.any() and np.median(above) > _RAIL:
        return PlateFoot(plate, None, "its force acts above the feet, as on a rail", idle=True)
    if loaded.any() and not np.ptp(point[loaded], axis=0).any() and not moment[loaded].any():
        at = ", ".join(f"{table[name][0]:g}" for name in plate.columns["point"])
        todo = (
            f"export the center of pressure of this plate again, or its moments: under load its point of force rests "
            f"at {at} and its moments are zero, so nothing shows where the force acts"
        )
        return PlateFoot(plate, named, "" if named is None else "by the names of its columns", todo)
    units: tuple[Line, ...] = ()
    if factor is not None:
        point *= factor
        (unit,) = (name for name, length in METERS.items() if length == factor)
        units = (Line("point_unit", unit, f"the points of force move by {spread:.3g} under one foot"),)
        most = np.quantile(np.abs(moment[loaded]), 0.9) if loaded.any() else 0.0
        if most > LARGEST_MOMENT:
            moment *= factor
            units += (Line("moment_unit", f"N {unit}", f"the moment about the point reaches {most:.3g}"),)
    if pulls_down(force[:, 2]):
        force, moment = -force, -moment
    point, moment = to_center_of_pressure(force, point, moment)
    recording = PlateRecording(NOWHERE, table.time, force, point, moment, table.path)
    steps = [step for step in contacts(recording, choice.walk, feet, LOADED_FROM_N) if step.significant]
    if not steps:
        return PlateFoot(plate, named, "nobody steps on it", idle=True)
    sides = {step.side for step in steps if step.side is not None}
    if not sides and set(plate.columns["point"]) == {ZERO}:
        # the moments are about another point than the origin
        plate = _without_point(plate)
    if len(sides) == 1:
        (side,) = sides
        spans = ", ".join(f"{step.start:.2f} to {step.end:.2f} s" for step in steps if step.side == side)
        todo = ""
        if named is not None and named != side:
            todo = (
                f"check the foot: it is nearest to the {SIDE_NAMES[side]} one; its columns name the "
                f"{SIDE_NAMES[named]} foot"
            )
        return PlateFoot(plate, side, f"by its contacts, {spans}", todo, units=units)
    if len(sides) == 2:
        return PlateFoot(plate, AUTO, "both feet step on it: divided by the contacts", units=units)
    return replace(_by_name(plate, steps[0].reason), units=units)


def _without_point(plate: PlateNames) -> PlateNames:
    return replace(plate, columns={role: names for role, names in plate.columns.items() if role != "point"})


def _heights(foot: FootTrack, time: Array) -> Array:
    """The height (S,) of the middle of a foot at times (S,) [s]."""
    seen = np.isfinite(foot.middle).all(axis=1)
    return np.interp(time, foot.time[seen], foot.middle[seen, 2])


def _by_name(plate: PlateNames, why: str) -> PlateFoot:
    """The foot that the names of the columns state, where nothing else shows it."""
    if plate.side is not None:
        return PlateFoot(plate, plate.side, "by the names of its columns")
    return PlateFoot(plate, None, "", f"enter the foot on this plate, r or l: {why}", why=why)
