"""External loads on the bodies of a model: those of an ExternalLoads file of OpenSim, or of a file of ground reactions.

A file of ground reactions is known by its usual column names; the foot that a force plate measures, where no name says
it, is the one nearest to the center of pressure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.names import unknown_name
from musclesolve._util.time_holes import HoleLimits
from musclesolve.errors import InputError
from musclesolve.opensim.kinematics import BodyMotion
from musclesolve.opensim.model import GROUND, OpenSimModel
from musclesolve.opensim.read_context import last_part
from musclesolve.opensim.xml_tree import Element, read_xml
from musclesolve.recording.data import Table
from musclesolve.recording.text.mot_file import read_mot
from musclesolve.recording.text.repeated_names import check_used

_BEYOND = 1e-6
"""Most that times of a motion may lie beyond those of a load [s]: rounding of the files."""


@dataclass(frozen=True, eq=False)
class ExternalLoad:
    """Force [N], its point [m] and a free moment [N m] on a body, (S, 3) each at times (S,) [s].

    force_frame: body whose axes force and moment are in; point_frame: body that the point is measured in; notes: on
    the file.
    """

    name: str
    body: str
    time: Array
    force: Array
    point: Array
    moment: Array
    force_frame: str = GROUND
    point_frame: str = GROUND
    file: Path | None = None
    notes: tuple[str, ...] = ()

    def with_holes(self, limits: HoleLimits) -> ExternalLoad:
        """The load with NaN in holes that are too long to be filled, from the sample before to the one after."""
        holes = limits.long_holes(self.time)
        if not holes:
            return self
        first, last = np.array(holes).T
        after = np.searchsorted(self.time, last)
        edges = np.stack([first + _BEYOND, 0.5 * (first + last), last - _BEYOND], axis=1).ravel()
        places = np.repeat(after, 3)

        def parted(values: Array) -> Array:
            lost = np.full_like(values[after], np.nan)
            rows = np.stack([values[after - 1], lost, values[after]], axis=1).reshape(-1, 3)
            return np.insert(values, places, rows, axis=0)

        time = np.insert(self.time, places, edges)
        force, point, moment = map(parted, (self.force, self.point, self.moment))
        return replace(self, time=time, force=force, point=point, moment=moment)


def load_wrench(model: OpenSimModel, loads: Sequence[ExternalLoad], time: Array, pose: BodyMotion) -> Array:
    """Moment about the origin of the ground and force of all loads, on every body: (T, B, 6).

    Force and moment about the origin of the frame, not the point, are interpolated: they vary smoothly where a foot
    strikes or leaves the ground, and the point does not.

    Raises:
        InputError: a body is unknown, or a load does not cover the times (T,).
    """
    total = np.zeros((*pose.position.shape[:2], 6))
    number = model.body_number
    for load in loads:
        _check(model, load, time)
        force = _turned(pose, number[load.force_frame], at_times(time, load.time, load.force))
        free = _turned(pose, number[load.force_frame], at_times(time, load.time, load.moment))
        if load.point_frame == load.force_frame:
            about = at_times(time, load.time, np.cross(load.point, load.force))
            lever = _turned(pose, number[load.point_frame], about)
        else:
            arm = _turned(pose, number[load.point_frame], at_times(time, load.time, load.point))
            lever = np.cross(arm, force)
        origin = pose.position[:, number[load.point_frame]]
        moment = free + lever + np.cross(origin, force)
        total[:, number[load.body]] += np.concatenate([moment, force], axis=1)
    return total


def load_in_ground(
    model: OpenSimModel, load: ExternalLoad, time: Array, pose: BodyMotion
) -> tuple[Array, Array]:
    """Force [N] and its point [m] of a load in the axes of the ground, (T, 3) each, interpolated linearly."""
    number = model.body_number
    force = _turned(pose, number[load.force_frame], at_times(time, load.time, load.force))
    point = _turned(pose, number[load.point_frame], at_times(time, load.time, load.point))
    return force, point + pose.position[:, number[load.point_frame]]


def at_times(time: Array, known: Array, values: Array) -> Array:
    """Linear interpolation of values (S, 3) to times (T,)."""
    return np.stack([np.interp(time, known, column) for column in values.T], axis=1)


def _turned(pose: BodyMotion, frame: int, vector: Array) -> Array:
    return np.asarray((pose.rotation[:, frame] @ vector[..., None])[..., 0])


def _check(model: OpenSimModel, load: ExternalLoad, time: Array) -> None:
    for body in (load.body, load.force_frame, load.point_frame):
        if body not in model.body_number:
            raise unknown_name(body, "body", model.bodies, f" in {model.name!r}", load.file, load.name)
    if time[0] < load.time[0] - _BEYOND or time[-1] > load.time[-1] + _BEYOND:
        raise InputError(
            f"{load.name} is known from {load.time[0]:g} to {load.time[-1]:g} s, "
            f"the motion lasts from {time[0]:g} to {time[-1]:g} s",
            code="no_overlap",
            file=load.file,
            expected="loads at all times of the motion",
            remedy="choose a time range that both cover",
        )


_KINDS = ("force", "point", "torque")


def read_external_loads(
    path: str | Path,
    model: OpenSimModel,
    time: Array | None = None,
    pose: BodyMotion | None = None,
    bodies: Mapping[str, str] | None = None,
) -> list[ExternalLoad]:
    """Loads on the bodies of a model.

    A suffix .xml names an ExternalLoads file, whose <datafile> is looked for beside it. Any other file is a MOT or STO
    file of ground reactions: columns such as ground_force_vx, ground_force_px and ground_torque_x, with a number or
    a side in their common part (1_ground_force_vx, ground_force_r_vx). Its plates act on the foot that `bodies`
    names, else of the side in the column name, else on the foot that is nearest to the center of pressure.

    Args:
        path: the file.
        model: whose bodies they act on.
        time: (T,) [s] and
        pose: of all bodies then, to find the feet; needed only where columns name no side.
        bodies: body by common part of the column names ("ground_force_", "1_ground_force_", ...).

    Raises:
        InputError: what is missing or contradicts itself, with its place.
    """
    file = Path(path)
    if file.suffix.lower() == ".xml":
        return _from_xml(read_xml(file, "external loads of OpenSim (.xml)"))
    table, loads = read_mot(file), []
    for plate in plate_columns(table):
        load = _load(table, plate.stem, "", plate.force, plate.point, plate.moment)
        body = foot_of_plate(model, load, bodies or {}, time, pose)
        if body:
            loads.append(replace(load, body=body))
    return loads


def _from_xml(root: Element) -> list[ExternalLoad]:
    holder = root if root.tag == "ExternalLoads" else root.find("ExternalLoads")
    if holder is None:
        root.fail(
            "there is no <ExternalLoads>", expected="external loads of OpenSim", remedy="name another file"
        )
    name = holder.require("datafile")
    table = read_mot(_beside(name))
    return [_external_force(each, table) for each in _objects(holder) if _applies(each)]


def _objects(holder: Element) -> list[Element]:
    objects = holder.find("objects")
    return objects.children if objects is not None else []


def _beside(name: Element) -> Path:
    """The data file, relative to the folder of the XML file."""
    text = name.text.strip().replace("\\", "/")
    if not text:
        name.fail("no data file is named", expected="a MOT or STO file", remedy="write its name here")
    found = name.file.parent / text
    if not found.is_file():
        name.fail(
            f"there is no file {found}",
            expected="the file of the ground reactions, relative to the folder of this file",
            remedy="correct the name, or copy the file there",
            code="missing_file",
        )
    return found


def _applies(element: Element) -> bool:
    if element.tag != "ExternalForce":
        element.fail(
            f"a load of the kind {element.tag}",
            expected="<ExternalForce>",
            remedy="open the file in OpenSim and save it again",
            code="unsupported",
        )
    switch, disabled = element.find("appliesForce"), element.find("isDisabled")
    if switch is not None and switch.words():
        return switch.flag()
    return not (disabled is not None and disabled.words() and disabled.flag())


def _external_force(element: Element, table: Table) -> ExternalLoad:
    force, point, moment = (_columns(element, f"{kind}_identifier", table) for kind in _KINDS)
    if not force and not moment:
        element.fail(
            "neither force nor torque is named",
            expected="<force_identifier> or <torque_identifier>",
            remedy="name the columns of the data file",
            code="missing_key",
        )
    body = element.require("applied_to_body")
    axes, origin = (_body(element, f"{kind}_expressed_in_body") for kind in ("force", "point"))
    if force and not point:  # the force acts at the origin of the body
        origin = last_part(body.text)
    name, on = element.name or body.text.strip(), last_part(body.text)
    return _load(table, name, on, force, point, moment, (axes, origin))


def _body(element: Element, tag: str) -> str:
    found = element.find(tag)
    return last_part(found.text) if found is not None and found.words() else GROUND


def _columns(element: Element, tag: str, table: Table) -> tuple[str, ...]:
    """The three columns that begin with an identifier; none where there is no identifier."""
    holder = element.find(tag)
    stem = holder.text.strip() if holder is not None else ""
    if not stem:
        return ()
    found = identified_columns(table, stem)
    if len(found) != 3:
        element.fail(
            f"{tag} '{stem}' fits {len(found)} columns of {table.path.name}",
            expected="three columns that begin like this, for x, y and z",
            remedy="correct the identifier, or the names in the data file",
            code="missing_column",
        )
    return found


def _load(
    table: Table,
    name: str,
    body: str,
    force: tuple[str, ...],
    point: tuple[str, ...],
    moment: tuple[str, ...],
    frames: tuple[str, str] = (GROUND, GROUND),
) -> ExternalLoad:
    vectors = [_vector(table, names) for names in (force, point, moment)]
    loaded = np.abs(vectors[0]).any(axis=1)
    vectors[1][~loaded] = 0.0  # the point of no force is arbitrary, and may be missing
    for names, vector in zip((force, point, moment), vectors, strict=True):
        bad = np.argwhere(~np.isfinite(vector))
        if bad.size:
            row, column = bad[0]
            place = (
                f"line {table.lines[row]}, column '{names[column]}'" if table.lines.size else names[column]
            )
            raise InputError(
                f"a number is missing at {table.time[row]:g} s",
                code="missing_samples",
                file=table.path,
                where=place,
                expected="a number in every row, except the point of a force that is zero",
                remedy="fill the gap in the software that exported the file",
            )
    forces, points, moments = vectors
    notes = tuple(table.sentences)
    return ExternalLoad(
        name, body, table.time, forces, points, moments, *frames, file=table.path, notes=notes
    )


def _vector(table: Table, names: tuple[str, ...]) -> Array:
    if not names:
        return np.zeros((len(table.time), 3))
    check_used(names, "column", table.repeated, table.path)
    return np.stack([table[name] for name in names], axis=1)


_FIRST = re.compile(r"(?P<stem>.*)vx$")
_MOMENTS = ("{torque}{axis}", "{stem}m{axis}", "{stem}t{axis}")
"""Names of the free moment beside the force {stem}v{axis}; torque: the stem with "torque" for "force"."""
_AXES = "xyz"


@dataclass(frozen=True)
class PlateColumns:
    """Columns of one plate: three of the force, of its point, and of the free moment (or none)."""

    stem: str
    force: tuple[str, ...]
    point: tuple[str, ...]
    moment: tuple[str, ...]


def plate_columns(table: Table) -> list[PlateColumns]:
    """The plates of a file: every STEMvx with STEMvy, STEMvz and STEMpx, STEMpy, STEMpz.

    Raises:
        InputError: there is none, or columns of one are missing.
    """
    plates = [
        _plate(table, match["stem"]) for name in table.names if (match := _FIRST.match(name)) is not None
    ]
    if not plates:
        raise InputError(
            f"no column of a force among {', '.join(table.names[:8])}",
            code="missing_column",
            file=table.path,
            expected="names such as ground_force_vx, ground_force_px and ground_torque_x",
            remedy="rename the columns, or describe them in an ExternalLoads file (.xml)",
        )
    return plates


def identified_columns(table: Table, stem: str) -> tuple[str, ...]:
    """The columns that an identifier of an ExternalForce names: those of x, y and z, else all that begin with it."""
    exact = tuple(f"{stem}{axis}" for axis in _AXES)
    return exact if set(exact) <= set(table.names) else tuple(n for n in table.names if n.startswith(stem))


def _plate(table: Table, stem: str) -> PlateColumns:
    force, point = (tuple(f"{stem}{kind}{axis}" for axis in _AXES) for kind in "vp")
    for name in (*force, *point):
        if name not in table.names:
            raise InputError(
                f"there is no column {name}",
                code="missing_column",
                file=table.path,
                expected=f"force and point beside {force[0]}",
                remedy="export all components of force and point",
            )
    torque = re.sub("force", "torque", stem, flags=re.IGNORECASE)
    named = [
        tuple(form.format(torque=torque, stem=stem, axis=axis) for axis in _AXES)
        for form in _MOMENTS
        if "torque" not in form or torque != stem
    ]
    moment = next((names for names in named if all(name in table.names for name in names)), ())
    return PlateColumns(stem, force, point, moment)


_FEET = ("calcn", "calcaneus", "foot", "hindfoot", "talus", "ankle")
"""Beginnings of names of feet, the one to be used first."""
_SIDE = re.compile(r"(?:^|[^a-z])(r|l|right|left)(?:[^a-z]|$)", re.IGNORECASE)
LOADED_N = 20.0
_FARTHEST_M = 0.4
"""Farthest that a center of pressure may be from the origin of its foot."""
_STEEPEST = 0.5
"""Least cosine between the mean ground reaction and up."""
_MOST = 0.9
"""Share of the loaded time in which the same foot must be the nearest."""


def foot_of_plate(
    model: OpenSimModel,
    load: ExternalLoad,
    bodies: Mapping[str, str],
    time: Array | None,
    pose: BodyMotion | None,
) -> str:
    """Name of the body that a plate acts on; "" for a plate that nobody steps on.

    Raises:
        InputError: no foot is found, it is not clear which, or the plate cannot be under the foot of its side.
    """
    if load.name in bodies:
        if bodies[load.name] not in model.body_number:
            raise unknown_name(bodies[load.name], "body", model.bodies, f" in {model.name!r}")
        return bodies[load.name]
    feet = {side: foot_of_side(model, side) for side in "rl"}
    side = _SIDE.search(load.name)
    if side is not None and feet[side[1][0].lower()]:
        foot = feet[side[1][0].lower()]
        if time is not None and pose is not None:
            if fault := foot_load_fault(model, replace(load, body=foot), time, pose):
                raise _unassigned(load, fault)
        return foot
    known = [foot for foot in feet.values() if foot]
    if time is None or pose is None or not known:
        raise _unassigned(load, f"its name has no side, and the feet of the model are {known or 'unknown'}")
    return _nearest(model, load, known, time, pose)


def foot_of_side(model: OpenSimModel, side: str) -> str:
    """The foot of a side; "" if there is none of a usual name."""
    for start in _FEET:
        for body in model.bodies:
            name = body.lower()
            if name.startswith(start) and re.search(rf"(_|^){side}(_|$)", name.removeprefix(start)):
                return body
    return ""


def foot_load_fault(model: OpenSimModel, load: ExternalLoad, time: Array, pose: BodyMotion) -> str:
    """What no plate can measure under a foot: a mean force that does not carry it, a point far from it; "" if sound."""
    feet = [foot for side in "rl" if (foot := foot_of_side(model, side))]
    if load.body not in feet or (load.force_frame, load.point_frame) != (GROUND, GROUND):
        return ""
    force, point = (at_times(time, load.time, values) for values in (load.force, load.point))
    loaded = np.linalg.norm(force, axis=1) > LOADED_N
    if not loaded.any():
        return ""
    mean = force[loaded].mean(axis=0)
    up = -model.gravity / max(float(np.linalg.norm(model.gravity)), 1e-9)
    if mean @ up < _STEEPEST * np.linalg.norm(mean):
        return f"its mean force is {np.round(mean).tolist()} N, which does not carry {load.body}"
    far = {
        foot: float(
            np.median(np.linalg.norm(pose.position[:, model.body_number[foot]] - point, axis=1)[loaded])
        )
        for foot in feet
    }
    if far[load.body] <= _FARTHEST_M:
        return ""
    return "its center of pressure is " + ", ".join(f"{away:.2g} m from {foot}" for foot, away in far.items())


def _nearest(model: OpenSimModel, load: ExternalLoad, feet: list[str], time: Array, pose: BodyMotion) -> str:
    loaded = np.linalg.norm(at_times(time, load.time, load.force), axis=1) > LOADED_N
    if not loaded.any():
        return ""
    point = at_times(time, load.time, load.point)[loaded]
    place = pose.position[loaded][:, [model.body_number[foot] for foot in feet]]
    distance = np.linalg.norm(place - point[:, None], axis=2)
    nearest = distance.argmin(axis=1)
    count = np.bincount(nearest, minlength=len(feet))
    foot = int(count.argmax())
    if count[foot] < _MOST * len(nearest):
        raise _unassigned(load, f"both feet are near it: {' and '.join(feet)}")
    if (far := float(np.median(distance[:, foot]))) > _FARTHEST_M:
        raise _unassigned(load, f"its center of pressure is {far:.2g} m from {feet[foot]}, the nearest foot")
    return feet[foot]


def _unassigned(load: ExternalLoad, problem: str) -> InputError:
    return InputError(
        f"force plate {load.name} belongs to no foot: {problem}",
        code="unassigned_plate",
        file=load.file,
        expected="one foot on each plate, forces in N that carry it and points in m, in the axes of the model (y up)",
        remedy="correct the columns or their sides, or name the bodies in an ExternalLoads file (.xml)",
    )
