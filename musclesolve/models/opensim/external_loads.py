"""External loads on the bodies of a model: from an ExternalLoads file of OpenSim, or from a file of ground reactions.

A file of ground reactions is recognized by usual column names. The foot on a force plate is found contact by contact:
the foot under the force; a side in the column names is a hint.

A contact is a stretch in which the plate is loaded. If one foot is under its force throughout, the contact belongs to
this foot. A contact that feet share in turn, as on a treadmill with one belt, is divided at the times at which only one
of them stands: the lower point of a standing foot is near its lowest height and does not move relative to another
standing foot. No plate separates the forces of two feet that stand on it at once.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from pathlib import Path
from typing import Protocol, Self

import numpy as np

from musclesolve._util.arrays import Array, Mask, at_times, long_enough, true_runs, vector_product
from musclesolve._util.checks import check_choice
from musclesolve._util.messages import WarningNote, check_known, few
from musclesolve._util.sides import SIDES, Side
from musclesolve._util.splines import HoleLimits
from musclesolve.constants import LOADED_FROM_N
from musclesolve.errors import InputError, file_error
from musclesolve.models.opensim.kinematics import BodyMotion
from musclesolve.models.opensim.model import GROUND, OpenSimModel
from musclesolve.models.opensim.xml_tree import Element, last_part, read_xml
from musclesolve.models.settings import ModelPlateSettings
from musclesolve.tables.number_rows import check_used
from musclesolve.tables.opensim_text import read_mot
from musclesolve.tables.sampled import Table
from musclesolve.tables.settings import settings_of

SIGNED_AXES = [
    np.array(signs)[:, None] * np.eye(3)[list(order)]
    for order in permutations(range(3))
    for signs in product((1.0, -1.0), repeat=3)
]
"""All 48 signed permutations of three axes, the identity first."""
POINT_UNITS = {"meters": 1.0, "millimeters": 0.001, "centimeters": 0.01, "kilometers": 1000.0}
"""Units of points in files, in meters; meters first."""
_CLEAR = 0.9
"""Share of the force of a contact that must be nearer to one foot than to the other."""
_SOLE = 0.08
"""Largest distance of the center of pressure from the line of heel and toes of a foot that carries the force alone
[m]: a sole is 0.1 m wide; a force on two feet acts between them.
"""
_LOW, _TOGETHER = 0.05, 1.0
"""Limits of a standing foot: height above its lowest place [m], speed relative to the other standing foot [m/s]; a
swinging foot is twice as fast.
"""


@dataclass(frozen=True, eq=False)
class Sole:
    """Heel and toes of a foot, (T, 3) each [m], at times (T,) [s]."""

    time: Array
    heel: Array
    toes: Array

    def distance(self, point: Array, time: Array) -> Array:
        """Return the distance of points (S, 3) at times (S,) from the line between heel and toes (S,) [m]."""
        heel = at_times(self.time, self.heel, time)
        along, beyond = at_times(self.time, self.toes, time) - heel, point - heel
        share = np.vecdot(beyond, along) / np.maximum(np.vecdot(along, along), 1e-12)
        return np.asarray(np.linalg.norm(beyond - np.clip(share, 0.0, 1.0)[:, None] * along, axis=1))

    def level(self, up: Array) -> "Sole":
        """The sole seen from above, without height."""
        return Sole(self.time, _level(self.heel, up), _level(self.toes, up))

    def lower_point(self, up: Array) -> tuple[Array, Array]:
        """Height (T,) [m] of the lower one of heel and toes above its lowest place, and its velocity (T, 3) [m/s]."""
        points = np.stack([self.heel, self.toes])
        heights = points @ up
        heights = heights - heights.min(axis=1, keepdims=True)
        lower = (heights.argmin(axis=0), np.arange(len(self.time)))
        velocity = np.gradient(points, self.time, axis=1) if len(self.time) > 1 else np.zeros_like(points)
        return heights[lower], velocity[lower]


@dataclass(frozen=True, eq=False)
class PlateFeet:
    """Feet that carry the load of a plate at each of its S samples.

    under: foot -> samples (S,) whose force acts on it, with noise between its contacts; shared, far: samples (S,) of
    contacts in which both feet stand on the plate, and of contacts far from the feet; loaded: samples (S,) of
    contacts in the times of the motion; away: distance (S,) of the center of pressure from the nearest foot, seen from
    above [m].
    """

    under: Mapping[Side, Mask]
    shared: Mask
    far: Mask
    loaded: Mask
    away: Array

    @property
    def unknown(self) -> Mask:
        """Samples (S,) whose force cannot be assigned."""
        return self.shared | self.far


def feet_on_plate(
    time: Array,
    force: Array,
    point: Array,
    soles: Mapping[Side, Sole],
    up: Array,
    threshold: float,
    named: Side | None = None,
) -> PlateFeet:
    """Assign the load of a plate to the feet, contact by contact.

    Args:
        time: (S,) of the load [s].
        force, point: (S, 3) [N], [m], in the frame of the soles.
        soles: of one or both feet, at the same times (T,).
        up: (3,) unit vector.
        threshold: force above which the plate is loaded [N].
        named: the foot in the name of the plate, for contacts that do not show their foot.
    """
    size, sides = np.linalg.norm(force, axis=1), tuple(soles)
    frames = soles[sides[0]].time
    in_motion = (time >= frames[0]) & (time <= frames[-1])
    nearest = np.stack([soles[side].distance(point, time) for side in sides]).argmin(axis=0)
    above = np.stack([soles[side].level(up).distance(_level(point, up), time) for side in sides])
    both = _both_stand(soles, up)[np.searchsorted(0.5 * (frames[1:] + frames[:-1]), time)]
    foot = np.full(len(time), -1)
    shared, far, loaded = (np.zeros(len(time), dtype=bool) for _ in range(3))
    for first, stop in _contacts(time, size > threshold):
        contact = in_motion & (np.arange(len(time)) >= first) & (np.arange(len(time)) < stop)
        if not contact.any():
            continue
        light = bool(size[contact].max() < LIGHT or time[stop - 1] - time[first] < BRIEF)
        loaded |= contact & (not light)
        of_feet = [size[contact & (nearest == k)].sum() for k in range(len(sides))]
        share = np.array(of_feet) / size[contact].sum()
        away, main = np.median(above[:, contact], axis=1), int(share.argmax())
        between = _between_feet(away) and both[contact].mean() > 0.5
        if away.min() > FARTHEST_PRESSURE:
            far |= contact & (not light)
        elif light or (share[main] >= _CLEAR and not between):
            foot[contact] = main
        elif named in sides and away[sides.index(named)] <= FARTHEST_PRESSURE:
            foot[contact] = sides.index(named)
        else:  # feet in turn: one stands under the force, the other does not stand
            alone = contact & ~both & ~_between_feet(above)
            alone = long_enough(alone, 1 + int(BRIEF / np.diff(time).mean()))
            lost = alone & (above.min(axis=0) > FARTHEST_PRESSURE)
            foot[alone & ~lost] = nearest[alone & ~lost]
            shared |= contact & ~alone
            far |= lost & (size > LIGHT)
    # the other samples are noise of the unloaded plate and belong to the nearest contact
    if (assigned := np.flatnonzero((foot >= 0) | shared | far)).size:
        closest = assigned[np.searchsorted(0.5 * (assigned[1:] + assigned[:-1]), np.arange(len(time)))]
        foot = np.where(shared | far, -1, foot[closest])
    under = {side: np.asarray(foot == k) for k, side in enumerate(sides)}
    return PlateFeet(under, shared, far, loaded, above.min(axis=0))


def _level(point: Array, up: Array) -> Array:
    """Points (..., 3) seen from above, without height."""
    return point - (point @ up)[..., None] * up


def _between_feet(away: Array) -> Mask:
    """Mask of forces that act between the feet, by their distances (feet, ...) from them."""
    return np.asarray((away.min(axis=0) > np.maximum(_SOLE, 0.5 * away.max(axis=0))) & (len(away) > 1))


def _both_stand(soles: Mapping[Side, Sole], up: Array) -> Mask:
    """Mask (T,) of frames in which both feet stand, on one floor or belt."""
    lower = [sole.lower_point(up) for sole in soles.values()]
    low = np.all([height < _LOW for height, _ in lower], axis=0)
    if len(lower) == 1:
        return np.zeros_like(low)
    return np.asarray(low & (np.linalg.norm(_level(lower[0][1] - lower[1][1], up), axis=1) < _TOGETHER))


def _contacts(time: Array, loaded: Mask) -> list[tuple[int, int]]:
    """First sample and one past the last of each contact; a foot does not leave and return within a moment."""
    joined: list[tuple[int, int]] = []
    for first, stop in true_runs(loaded):
        if joined and time[first] - time[joined[-1][1] - 1] <= BRIEF:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((first, stop))
    return joined


def stretches(time: Array, mask: Mask) -> str:
    """First and last time of each run of a mask (T,), in words."""
    runs = [f"{time[first]:.3f} to {time[stop - 1]:.3f} s" for first, stop in true_runs(mask)]
    return few(runs, 4)


_BEYOND = 1e-6
"""Largest time of a motion beyond the times of a load [s]: rounding of the files."""


@dataclass(frozen=True, eq=False)
class ExternalLoad:
    """Force [N], its point [m] and a free moment [N m] on a body, (S, 3) each at times (S,) [s].

    force_frame: body whose axes force and moment refer to; point_frame: body whose frame the point refers to; notes: on
    the file; predicted: from the motion, not measured.
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
    predicted: bool = False

    def with_holes(self, limits: HoleLimits) -> Self:
        """The load with NaN in gaps that are too long to be filled, from the sample before to the one after."""
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


class NamedBodies(Protocol):
    """The name of a model, and the number of each of its bodies, the ground among them."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def body_number(self) -> Mapping[str, int]: ...  # noqa: D102


def load_wrench(model: NamedBodies, loads: Sequence[ExternalLoad], time: Array, pose: BodyMotion) -> Array:
    """Moment about the origin of the ground and force of all loads, on every body: (T, B, 6).

    Force and moment about the origin of the frame are interpolated, not the point: when a foot strikes or leaves the
    ground they vary smoothly, and the point does not.
    """
    total, number = np.zeros((*pose.position.shape[:2], 6)), model.body_number
    for load in loads:
        named = (load.body, load.force_frame, load.point_frame)
        check_known(named, "body", number, f" in {model.name!r}", load.file, load.name)
        if time[0] < load.time[0] - _BEYOND or time[-1] > load.time[-1] + _BEYOND:
            raise file_error(
                "no_overlap",
                load.file,
                f"{load.name} is known from {load.time[0]:g} to {load.time[-1]:g} s, the "
                f"motion lasts from {time[0]:g} to {time[-1]:g} s",
                "loads at all times of the motion",
                "choose a time range that both cover",
            )
        axes, at = number[load.force_frame], number[load.point_frame]
        force, free = (_turned(pose, axes, load, time, values) for values in (load.force, load.moment))
        if axes == at:
            lever = _turned(pose, at, load, time, vector_product(load.point, load.force))
        else:
            lever = vector_product(_turned(pose, at, load, time, load.point), force)
        moment = free + lever + vector_product(pose.position[:, at], force)
        total[:, number[load.body]] += np.concatenate([moment, force], axis=1)
    return total


def load_in_ground(
    model: OpenSimModel, load: ExternalLoad, time: Array, pose: BodyMotion
) -> tuple[Array, Array]:
    """Force [N] and its point [m] of a load in the axes of the ground, (T, 3) each, interpolated linearly."""
    axes, at = (model.body_number[body] for body in (load.force_frame, load.point_frame))
    point = _turned(pose, at, load, time, load.point) + pose.position[:, at]
    return _turned(pose, axes, load, time, load.force), point


def load_force(model: OpenSimModel, loads: Sequence[ExternalLoad], time: Array, pose: BodyMotion) -> Array:
    """Force (T, 3) [N] of all loads together in the axes of the ground, interpolated linearly."""
    number = model.body_number
    parts = [_turned(pose, number[load.force_frame], load, time, load.force) for load in loads]
    return np.sum(parts, axis=0) if parts else np.zeros((len(time), 3))


def _turned(pose: BodyMotion, frame: int, load: ExternalLoad, time: Array, vector: Array) -> Array:
    """A vector (S, 3) of a load at times (T,), from the axes of a body into the axes of the ground, (T, 3)."""
    vectors = at_times(load.time, vector, time)
    if frame == 0:  # the ground
        return vectors
    return np.asarray((pose.rotation[:, frame] @ vectors[..., None])[..., 0])


def read_external_loads(
    path: str | Path,
    model: OpenSimModel,
    time: Array | None = None,
    pose: BodyMotion | None = None,
    feet: str = "stated",
) -> list[ExternalLoad]:
    """Loads on the bodies of a model.

    A file with the suffix .xml is an ExternalLoads file, with its <datafile> in the same folder. Any other file is a
    MOT or STO file of ground reactions: columns such as ground_force_vx, ground_force_px and ground_torque_x, with a
    number or a side in their common part (1_ground_force_vx, ground_force_r_vx). A plate acts, contact by contact, on
    the foot under its force; the side in the column name decides for a contact that does not show its foot, and
    without a pose. A plate on which both feet stand in turn results in a load for each foot,
    zero while the other foot is on it, and NaN while both are.

    Args:
        path: the file.
        model: with the bodies on which the loads act. time: (T,) [s] of the pose. pose: of all bodies, to find the
            feet; needed if columns name no side.
        feet: of an ExternalLoads file: "stated" for the bodies in the file, "nearest" for feet by their contacts.

    Raises:
        InputError: a part is missing, or parts contradict each other; with its place.
    """
    check_choice(feet, "feet", FEET.choices)
    file = Path(path)
    if file.suffix.lower() == ".xml":
        stated = described_loads(file)
        if feet == "stated" or time is None or pose is None:
            return stated
        on_foot = set().union(*(bodies_of_foot(model, side) for side in SIDES))
        return [
            part
            for load in stated
            for part in (
                _on_feet(model, load, None, time, pose)
                if load.body in on_foot and (load.force_frame, load.point_frame) == (GROUND, GROUND)
                else [load]
            )
        ]
    table = read_mot(file)
    plates = [
        _load(table, stem, "", force, point, moment) for stem, force, point, moment in list(_plates(table))
    ]
    try:
        return [part for plate in plates for part in _plate_loads(model, plate, time, pose)]
    except InputError as error:
        if error.remedy != _UNCLEAR[1] or time is None or pose is None or not model.roots:
            raise
        remedy = _remedy_of_motion(model, plates, time, pose) or error.remedy
        raise file_error(error.code, file, error.problem, error.expected or "", remedy) from None


_ROLES = {"force": "force", "point": "point", "torque": "moment"}


@dataclass(frozen=True, eq=False)
class StatedLoad:
    """A force that an ExternalLoads file applies to a body.

    identifiers: role -> beginning of its columns; frames: bodies whose axes the force and the point refer to.
    """

    element: Element
    body: str
    identifiers: Mapping[str, str]
    frames: tuple[str, str]


def stated_loads(holder: Element) -> Iterator[StatedLoad]:
    """Yield the forces of an <ExternalLoads> that are applied."""
    for element in holder.listed("objects"):
        switch, disabled = element.filled("appliesForce"), element.filled("isDisabled")
        applies = switch.flag() if switch else not (disabled and disabled.flag())
        if element.tag != "ExternalForce" or not applies:
            continue
        named = {role: element.text_of(f"{kind}_identifier") for kind, role in _ROLES.items()}
        axes, origin = (
            last_part(element.text_of(f"{kind}_expressed_in_body")) or GROUND for kind in ("force", "point")
        )
        identifiers = {role: stem for role, stem in named.items() if stem}
        yield StatedLoad(element, last_part(element.text_of("applied_to_body")), identifiers, (axes, origin))


def described_loads(path: Path) -> list[ExternalLoad]:
    """The forces of an ExternalLoads file, with the columns of its data file in the same folder."""
    root = read_xml(path, "external loads of OpenSim (.xml)")
    holder = root if root.tag == "ExternalLoads" else root.find("ExternalLoads")
    if holder is None:
        root.fail(
            "bad_format", "there is no <ExternalLoads>", "external loads of OpenSim", "name another file"
        )
    name = holder.require("datafile")
    text = name.text.strip().replace("\\", "/")
    if not text:
        name.fail("bad_format", "no data file is named", "a MOT or STO file", "write its name here")
    file = name.file.parent / text
    if not file.is_file():
        name.fail(
            "missing_file",
            f"there is no file {file}",
            "the file of the ground reactions, relative to the folder of this file",
            "correct the name, or copy the file there",
        )
    for element in holder.listed("objects"):
        if element.tag != "ExternalForce":
            element.fail(
                "unsupported",
                f"a load of the kind {element.tag}",
                "<ExternalForce>",
                "open the file in OpenSim and save it again",
            )
    table, loads = read_mot(file), []
    for load in stated_loads(holder):
        force, point, moment = (_columns(load, kind, table) for kind in _ROLES)
        if not force and not moment:
            load.element.fail(
                "missing_key",
                "neither force nor torque is named",
                "<force_identifier> or <torque_identifier>",
                "name the columns of the data file",
            )
        body = load.element.require("applied_to_body").text.strip()
        # without a point the force acts at the origin of the body
        frames = (load.frames[0], load.body) if force and not point else load.frames
        loads.append(_load(table, load.element.name or body, load.body, force, point, moment, frames))
    return loads


def _columns(load: StatedLoad, kind: str, table: Table) -> tuple[str, ...]:
    """The three columns that begin with an identifier of a load; empty without an identifier."""
    stem = load.identifiers.get(_ROLES[kind])
    if stem is None:
        return ()
    columns = identified_columns(table, stem)
    if len(columns) != 3:
        load.element.fail(
            "missing_column",
            f"{kind}_identifier '{stem}' fits {len(columns)} columns of {table.path.name}",
            "three columns that begin like this, for x, y and z",
            "correct the identifier, or the names in the data file",
        )
    return columns


def _load(
    table: Table,
    name: str,
    body: str,
    force: tuple[str, ...],
    point: tuple[str, ...],
    moment: tuple[str, ...],
    frames: tuple[str, str] = (GROUND, GROUND),
) -> ExternalLoad:
    vectors = []
    for names in (force, point, moment):
        check_used(names, "column", table.repeated, table.path)
        columns = [table[name] for name in names] or [np.zeros(len(table.time))] * 3
        vectors.append(np.stack(columns, axis=1))
    loaded = np.abs(vectors[0]).any(axis=1)
    vectors[1][~loaded] = 0.0  # the point of no force is arbitrary, and may be missing
    for names, vector in zip((force, point, moment), vectors, strict=True):
        bad = np.argwhere(~np.isfinite(vector))
        if bad.size:
            row, column = bad[0]
            of_line = f"line {table.lines[row]}, column '{names[column]}'" if table.lines.size else ""
            raise file_error(
                "missing_samples",
                (table.path, of_line or names[column]),
                f"a number is missing at {table.time[row]:g} s",
                "a number in every row, except the point of a force that is zero",
                "fill the gap in the software that exported the file",
            )
    forces, points, moments = vectors
    notes = tuple(table.sentences)
    return ExternalLoad(
        name, body, table.time, forces, points, moments, *frames, file=table.path, notes=notes
    )


_FIRST = re.compile(r"(?P<stem>.*)vx$")
_AXES = "xyz"


def _plates(table: Table) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]]:
    """Each plate of a file: STEM, columns STEMvx, -y, -z of its force, STEMpx, ... of its point, of its free moment.

    The columns of the free moment may be absent.
    """
    stems = [match["stem"] for name in table.names if (match := _FIRST.match(name)) is not None]
    if not stems:
        raise file_error(
            "missing_column",
            table.path,
            f"no column of a force among {', '.join(map(str, table.names[:8]))}",
            "names such as ground_force_vx, ground_force_px and ground_torque_x",
            "rename the columns, or describe them in an ExternalLoads file (.xml)",
        )
    for stem in stems:
        force, point = (tuple(f"{stem}{kind}{axis}" for axis in _AXES) for kind in "vp")
        for name in (*force, *point):
            if name not in table.names:
                raise file_error(
                    "missing_column",
                    table.path,
                    f"there is no column {name}",
                    f"force and point beside {force[0]}",
                    "export all components of force and point",
                )
        torque = re.sub("force", "torque", stem, flags=re.IGNORECASE)
        stems_of_moment = [torque] * (torque != stem) + [f"{stem}m", f"{stem}t"]
        moments = (tuple(f"{moment_stem}{axis}" for axis in _AXES) for moment_stem in stems_of_moment)
        yield stem, force, point, next((m for m in moments if set(m) <= set(table.names)), ())


def identified_columns(table: Table, stem: str) -> tuple[str, ...]:
    """The columns for an identifier of an ExternalForce: the columns of x, y and z, else all that begin with it."""
    exact = tuple(f"{stem}{axis}" for axis in _AXES)
    return exact if set(exact) <= set(table.names) else tuple(n for n in table.names if n.startswith(stem))


_FEET = ("calcn", "calcaneus", "foot", "hindfoot", "talus", "ankle")
"""Beginnings of names of feet, in order of preference."""
_SIDE = re.compile(r"(?:^|[^a-z])(r|l|right|left)(?:[^a-z]|$)", re.IGNORECASE)
_FARTHEST_M = 0.4
"""Largest distance [m] of a center of pressure from the origin of its foot."""
LABORATORY_M = 50.0
"""Distance [m] from the origin of a laboratory beyond which nobody walks."""
_ASTRAY = 0.5
"""Difference [m] between the ways of body and pressure that no steps explain: sound walks have up to 0.26."""
_STEEPEST = 0.5
"""Least cosine between the mean ground reaction and up."""
_SOLE_M = 0.18
"""Distance [m] from the origin of a foot without toes to the joint of its toes, along its x axis."""
FEET = settings_of(ModelPlateSettings)["feet"]
"""Sources of the feet of an ExternalLoads file."""


def _plate_loads(
    model: OpenSimModel, load: ExternalLoad, time: Array | None, pose: BodyMotion | None
) -> list[ExternalLoad]:
    """The loads of a plate on the bodies that stand on it; empty for a plate without load."""
    side = side_in(load.name)
    if time is not None and pose is not None:
        return _on_feet(model, load, side, time, pose)
    if side is not None and (foot := foot_of_side(model, side)):
        return [replace(load, body=foot)]
    feet = " and ".join(feet_of(model).values())
    raise _no_foot(load, f"its name has no side, and the feet of the model are {feet or 'unknown'}")


_UNCLEAR = (
    "unassigned_plate",
    "correct columns, sides, signs, units, times or order of rows of coordinates and loads; or name bodies in an .xml",
)
"""Code and remedy of a plate that belongs to no foot for an unknown cause."""


def _no_foot(load: ExternalLoad, why: str, cause: tuple[str, str] | None = None) -> InputError:
    (code, remedy), problem = cause or _UNCLEAR, f"force plate {load.name} belongs to no foot: {why}"
    expected = (
        "one foot on each plate, forces in N that carry it and points in m, in the axes of the model (y up)"
    )
    return file_error(code, load.file, problem, expected, remedy)


def axes_in_words(axes: Array) -> str:
    """Describe a signed permutation as "x = +z, y = +x, z = +y": right axes in terms of the axes of the file."""
    rows = zip("xyz", axes, np.abs(axes).argmax(axis=1), strict=True)
    return ", ".join(f"{name} = {'+' if row[k] > 0 else '-'}{'xyz'[k]}" for name, row, k in rows)


def _cause_of_distance(load: ExternalLoad, soles: Mapping[Side, Sole], far: Mask) -> tuple[str, str] | None:
    """The code and remedy of a load whose far samples (S,) lie under a foot in another unit or in other axes."""
    time, tried = load.time[far], []
    for (unit, factor), (k, axes) in product(POINT_UNITS.items(), enumerate(SIGNED_AXES)):
        point = factor * load.point[far] @ axes.T
        away = np.min([sole.distance(point, time) for sole in soles.values()], axis=0)
        tried.append((float(np.median(away)), unit, k))
    least, unit, k = min(tried)
    there = f"they lie {least:.2f} m from the line of heel and toes as {unit} with {axes_in_words(SIGNED_AXES[k])}"
    remedy = f"export its points in meters in the axes of the model: {there}"
    return ("bad_axes" if k else "bad_units", remedy) if least < _SOLE else None


def _remedy_of_motion(
    model: OpenSimModel, plates: Sequence[ExternalLoad], time: Array, pose: BodyMotion
) -> str:
    """The remedy where the root goes elsewhere than the pressure of all plates; "" where both go alike."""
    weight = np.array([np.linalg.norm(plate.force, axis=1) for plate in plates])
    when, root = plates[0].time, model.roots[0].outboard.body
    on = (weight.sum(axis=0) > LOADED_FROM_N) & (when >= time[0]) & (when <= time[-1])
    if (part := int(on.sum()) // 4) == 0:
        return ""
    points = np.array([plate.point for plate in plates])
    pressure = np.einsum("kt,kti->ti", weight, points)[on] / weight.sum(axis=0)[on, None]
    paths = at_times(time, pose.position[:, model.body_number[root]], when[on]), pressure
    ways = [_level(path[-part:].mean(axis=0) - path[:part].mean(axis=0), model.up) for path in paths]
    gone, due = ("{:.1f} {:.1f} {:.1f} m".format(*way.round(1) + 0.0) for way in ways)
    said = f"correct the coordinates of {root}, their columns or the order of the rows, or give the loads of this "
    said += f"motion: from the first to the last quarter of the time {root} goes {gone} (x y z), the pressure {due}"
    return said if np.linalg.norm(ways[0] - ways[1]) > _ASTRAY else ""


EXCHANGED = "exchange the columns of the feet if they are; if the legs of the coordinates are, exchange these"


def _on_feet(
    model: OpenSimModel, load: ExternalLoad, named: Side | None, time: Array, pose: BodyMotion
) -> list[ExternalLoad]:
    """The load of a plate on each foot that stands on it, by its contacts; see `feet_on_plate`."""
    feet = feet_of(model)
    if not feet:
        raise _no_foot(load, "the feet of the model are unknown")
    soles = {side: _sole(model, side, foot, time, pose) for side, foot in feet.items()}
    on = feet_on_plate(load.time, load.force, load.point, soles, model.up, LOADED_FROM_N, named)
    if not on.loaded.any():
        return []
    if 2 * on.far.sum() > on.loaded.sum():
        away = {
            foot: load.point[on.far]
            - at_times(time, pose.position[:, model.body_number[foot]], load.time[on.far])
            for foot in feet.values()
        }
        distances = ", ".join(
            f"{np.median(np.linalg.norm(path, axis=1)):.2g} m from {foot}" for foot, path in away.items()
        )
        heels = np.concatenate([sole.heel for sole in soles.values()])
        at, feet_at = (
            float(np.median(np.linalg.norm(place, axis=1))) for place in (load.point[on.far], heels)
        )
        distances += f" ({at:.2g} m from the origin of the laboratory, the feet {feet_at:.2g} m)"
        cause = _cause_of_distance(load, soles, on.far)
        if at < LABORATORY_M < feet_at:
            cause = "bad_units", "divide the translations of the coordinates by 1000 if they are in mm"
        raise _no_foot(load, f"its center of pressure is {distances}", cause)
    carried = {side: under for side, under in on.under.items() if (under & on.loaded).any()}
    if not carried:
        raise _no_foot(load, f"both feet stand on it from {stretches(load.time, on.shared)}")
    notes = list(load.notes)
    for reason, mask in (("both feet stand on it", on.shared), ("it acts beside both feet", on.far)):
        if mask.any():
            notes.append(
                f"The load {load.name} is not measured on either foot where {reason}: {stretches(load.time, mask)}."
            )
    if named in feet and (others := [feet[side] for side in carried if side != named]):
        beside = on.loaded & ~on.under[named] & ~on.unknown
        text = (
            f"The columns {load.name} name {feet[named]}, but their force acts under {' and '.join(others)} "
        )
        text += f"({stretches(load.time, beside)}), which it is assigned to."
        mostly = 2 * beside.sum() > on.loaded.sum()
        notes.append(WarningNote(text, "load_names", EXCHANGED) if mostly else text)
    whole = len(carried) == 1 and not on.unknown.any()
    loads = []
    for side in feet if on.unknown.any() else carried:
        part = replace(load, body=feet[side], notes=tuple(notes))
        if not whole:
            values = (load.force, load.point, load.moment)
            parts = [np.where(on.under[side][:, None], vector, 0.0) for vector in values]
            for vector in parts:
                vector[on.unknown] = np.nan
            part = replace(part, force=parts[0], point=parts[1], moment=parts[2])
        if fault := foot_load_fault(model, part, time, pose):
            raise _no_foot(load, f"{fault}")
        loads.append(part)
    return loads


def contact_fault(model: OpenSimModel, load: ExternalLoad, time: Array, pose: BodyMotion) -> str:
    """Return the reason why the contacts of a load show other feet than its stated body; "" without contradiction.

    A load that is far from both feet, or that two feet share, does not contradict.
    """
    if (load.force_frame, load.point_frame) != (GROUND, GROUND):
        return ""
    try:
        under = [part.body for part in _on_feet(model, load, None, time, pose)]
    except InputError:
        return ""
    on_foot = {side: bodies_of_foot(model, side) for side in SIDES}
    stated = {side for side, bodies in on_foot.items() if load.body in bodies}
    shown = {side for side, bodies in on_foot.items() if bodies & set(under)}
    if not shown or shown <= stated or len(shown) > 1:
        return ""
    return f"the load {load.name} is stated for {load.body}, and acts under {' and '.join(under)}"


def _sole(model: OpenSimModel, side: str, foot: str, time: Array, pose: BodyMotion) -> Sole:
    """Heel and toes of a foot: the origins of the foot and of its toes."""
    number, toes = model.body_number[foot], toes_of_side(model, side)
    heel = pose.position[:, number]
    if toes:
        return Sole(time, heel, pose.position[:, model.body_number[toes]])
    return Sole(time, heel, heel + _SOLE_M * pose.rotation[:, number, :, 0])


def side_in(name: str) -> Side | None:
    """The side in the name of a load or body, as a word: r, l, right or left; None without one."""
    match = _SIDE.search(name)
    return None if match is None else "r" if match[1][0].lower() == "r" else "l"


def foot_of_side(model: OpenSimModel, side: str) -> str:
    """The foot of a side; "" without a foot of a usual name."""
    return foot_among(model.bodies, side)


def foot_among(bodies: Iterable[str], side: str) -> str:
    """The foot of a side among names of bodies; "" without a foot of a usual name."""
    names = list(bodies)
    for start in _FEET:
        for body in names:
            name = body.lower()
            if name.startswith(start) and re.search(rf"(_|^){side}(_|$)", name.removeprefix(start)):
                return body
    return ""


def bodies_of_foot(model: OpenSimModel, side: str) -> set[str]:
    """The bodies of a foot, by their usual names; empty without any."""
    of_side = [body for body in model.bodies if re.search(rf"(_|^){side}(_|$)", body.lower())]
    named = [body for body in of_side if body.lower().startswith(_FEET)]
    return {body for body in (*named, foot_of_side(model, side), toes_of_side(model, side)) if body}


def is_whole_person(bodies: Iterable[str]) -> bool:
    """Return whether bodies have a foot of each side: their mass is the mass of a person, else of a part of one."""
    names = list(bodies)
    return all(foot_among(names, side) for side in SIDES)


def feet_of(model: OpenSimModel) -> dict[Side, str]:
    """The feet of usual names, by side."""
    return {side: foot for side in SIDES if (foot := foot_of_side(model, side))}


def toes_of_side(model: OpenSimModel, side: str) -> str:
    """The toes of a side; "" without toes of the usual name."""
    return next((body for body in model.bodies if re.fullmatch(f"toes?_{side}", body.lower())), "")


def foot_load_fault(model: OpenSimModel, load: ExternalLoad, time: Array, pose: BodyMotion) -> str:
    """The fault of a load that no foot can cause, by the mean direction of its force or a distant point; else ""."""
    feet = feet_of(model).values()
    if load.body not in feet or (load.force_frame, load.point_frame) != (GROUND, GROUND):
        return ""
    force, point = (at_times(load.time, values, time) for values in (load.force, load.point))
    loaded = np.linalg.norm(force, axis=1) > LOADED_FROM_N
    if not loaded.any():
        return ""
    mean = force[loaded].mean(axis=0)
    if mean @ model.up < _STEEPEST * np.linalg.norm(mean):
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


# Least duration [s] and force [N] of a contact; less is noise or a passing touch. Shorter breaks are ignored.
BRIEF, LIGHT = 0.05, 50.0


# The center of pressure of a foot is never farther from the line of its heel and toe [m].
FARTHEST_PRESSURE = 0.25
