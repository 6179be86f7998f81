"""Contents of a muscle database: muscles, the points of their paths, differences from the print."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Self

from muscle_db.errors import MuscleDatabaseError, check_kind
from muscle_db.similar_names import suggestion

LEG_DOFS = (
    "hip_flexion",
    "hip_adduction",
    "hip_internal_rotation",
    "knee_flexion",
    "ankle_dorsiflexion",
    "ankle_inversion",
    "ankle_adduction",
)
"""Default degrees of freedom of a set: of a leg."""
SIDES = ("r", "l")
FIBER_LENGTHS = ("operating_range", "standing")
"""Rules that scale optimal fiber and tendon slack lengths to a subject."""
CURVES = ("silva_2003", "thelen_2003", "millard_2013", "millard_2013_rajagopal", "de_groote_2016")
"""Families of Hill curves of musclesolve."""
TENDON_STRAIN = 0.049
"""Default strain of a tendon at one maximum isometric force (Millard et al. 2013)."""
LARGEST_TENDON_STRAIN = 0.5
WORDS = ("short_name", "group", "origin", "insertion", "action")
"""Texts of a muscle that sets can share (`MuscleDatabase.anatomy_of`)."""

Vector = tuple[float, float, float]
WRAP_KINDS = ("cylinder", "sphere", "ellipsoid")
WRAP_SIDES = ("all", "+x", "-x", "+y", "-y", "+z", "-z", "held +x")
WRAP_METHODS = ("hybrid", "midpoint", "axial")


def _reflected(place: Vector) -> Vector:
    x, y, z = place
    return x, -y, z


@dataclass(frozen=True)
class ActiveRange:
    """The range of one joint angle (without side: "knee_flexion") within which a point is on the path.

    lower, upper: smallest and largest angle [rad], included.
    """

    dof: str
    lower: float
    upper: float

    def holds(self, angle: float) -> bool:
        """Return whether the point is on the path at an angle [rad]."""
        return self.lower <= angle <= self.upper

    def __str__(self) -> str:
        return f"{self.dof} {math.degrees(self.lower):g} to {math.degrees(self.upper):g} deg"


@dataclass(frozen=True)
class MovingPosition:
    """A place that depends on a joint angle (without side): positions [m] at increasing angles [rad].

    Between the angles each component is a natural cubic spline; beyond them it continues as a straight line.
    """

    dof: str
    angles: tuple[float, ...]
    positions: tuple[Vector, ...]

    def mirrored(self) -> Self:
        """The moving position of the other side."""
        return replace(self, positions=tuple(_reflected(place) for place in self.positions))


@dataclass(frozen=True)
class MovingFrame:
    """A frame that moves in the frame of a segment with a joint angle, as the patella does on the tibia.

    A point p of it lies at translation + R(rotation) p in the frame `body`; rotation is a rotation vector [rad].
    Components are interpolated as in `MovingPosition`.
    """

    name: str
    body: str
    dof: str
    angles: tuple[float, ...]
    translations: tuple[Vector, ...]
    rotations: tuple[Vector, ...]

    def mirrored(self) -> Self:
        """The moving frame of the other side; a rotation vector is reflected with the opposite sign."""
        reflected = tuple((-x, y, -z) for x, y, z in self.rotations)
        return replace(self, translations=tuple(map(_reflected, self.translations)), rotations=reflected)


@dataclass(frozen=True)
class PathPoint:
    """One point of a muscle's path: position forward, left, up [m] in a frame parallel to the global one in standing.

    frame: of a `Segment` of the set's skeleton, or one of its `MovingFrame`s. active: the range in which the point is
    on the path; None: always. moving: a position that depends on an angle; `position` is then its value at angle zero.
    """

    frame: str
    position: Vector
    active: ActiveRange | None = None
    moving: MovingPosition | None = None

    def mirrored(self) -> Self:
        """Return this path point mirrored to the other side."""
        moving = self.moving and self.moving.mirrored()
        return replace(self, position=_reflected(self.position), moving=moving)

    def __str__(self) -> str:
        place = f"{self.frame} ({', '.join(f'{value:g}' for value in self.position)})"
        return f"{place}, only at {self.active}" if self.active else place


Value = float | str | Vector | tuple[str, ...] | PathPoint | ActiveRange | None


@dataclass(frozen=True)
class Deviation:
    """One value that differs from the print: the field of the muscle, or of its point number `point` (from 1), and why.

    Fields of points are "position", "active", and "point" for a whole point that was added to the path, exchanged, or
    removed at its end; "wraps" of a muscle are names of added wrap objects. printed: None for a range, a point or wraps
    that are not in the print; used: None for a removed point.
    """

    field: str
    printed: Value
    used: Value
    reason: str
    point: int | None = None

    def __str__(self) -> str:
        where = (
            self.field if self.point is None else f"point {self.point} {self.field}".removesuffix(" point")
        )
        absent = "always" if self.field == "active" else "absent"
        printed, used = (absent if value is None else _shown(value) for value in (self.printed, self.used))
        return f"{where}: printed {printed}, used {used}. {self.reason}"


def _shown(value: Value) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(part if isinstance(part, str) else f'{part:g}' for part in value)})"
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class WrapObject:
    """A surface that muscles wrap around; the columns of `axes` are its x, y, z axes in the frame that carries it.

    A cylinder has its axis along z, `radii` (r, r, 0) and `length` [m], a sphere (r, r, r), an ellipsoid three radii
    [m]. side: the half of the surface, along an axis of the object, on which a path may lie; "all": both;
    "held +x": also where its straight line passes on the other half.
    """

    name: str
    kind: str
    frame: str
    center: Vector
    axes: tuple[Vector, Vector, Vector]  # rows of the rotation matrix
    radii: Vector
    length: float = 0.0
    side: str = "all"

    def mirrored(self) -> Self:
        """The object on the other side: M R D with the reflection M, and D along the axis that `side` does not use."""
        flipped = 1 if self.side.endswith("z") else 2
        sign = [1.0, 1.0, 1.0]
        sign[flipped] = -1.0
        rows = [tuple(value * s for value, s in zip(row, sign, strict=True)) for row in self.axes]
        rows[1] = tuple(-value for value in rows[1])
        return replace(self, center=_reflected(self.center), axes=tuple(rows))  # type: ignore[arg-type]


@dataclass(frozen=True)
class PathWrap:
    """A wrap object of a path, between two of its points, counted from 1; None: from the first, to the last.

    method: OpenSim's method for the path over an ellipsoid ("hybrid", "midpoint", "axial"); the path engine takes the
    shortest path around the same side.
    """

    object: str
    first: int | None = None
    last: int | None = None
    method: str = "hybrid"


@dataclass(frozen=True)
class PassiveStrain:
    """Fiber strains l / L0 - 1 at which the passive force begins and at which it equals the maximum isometric force."""

    at_zero_force: float
    at_one_norm_force: float


@dataclass(frozen=True)
class CalibratedPassive:
    """Passive strains with which the passive joint moments agree with measurement, by muscle name.

    found: description of the calibration. A muscle without an entry keeps its strains; no entries at all: the strains
    of the set are calibrated.
    """

    found: str
    strains: Mapping[str, PassiveStrain] = field(default_factory=dict)


@dataclass(frozen=True)
class Muscle:
    """One muscle-tendon unit of the right side, its path from origin to insertion.

    name is lower snake case without side ("gluteus_medius_anterior"), short_name a stable alias ("glut_med1").
    max_isometric_force [N]; pennation_angle at optimal fiber length [rad]; max_shortening_velocity [optimal fiber
    lengths / s]; optimal_fiber_length and tendon_slack_length [m] of the skeleton before scaling
    (`Segment.position_scale`). wraps: in the order of the path. passive: None if not stated.
    tendon_strain: strain of the tendon at one maximum isometric force. origin, insertion, action: a few words.
    """

    name: str
    short_name: str
    group: str
    max_isometric_force: float
    pennation_angle: float
    optimal_fiber_length: float
    tendon_slack_length: float
    max_shortening_velocity: float
    path: tuple[PathPoint, ...]
    wraps: tuple[PathWrap, ...] = ()
    passive: PassiveStrain | None = None
    tendon_strain: float = TENDON_STRAIN
    origin: str = ""
    insertion: str = ""
    action: str = ""
    deviations: tuple[Deviation, ...] = ()

    def mirrored(self) -> Self:
        """The muscle with the path of the other side: eta -> -eta. The name does not change."""
        return replace(self, path=tuple(point.mirrored() for point in self.path))

    def on_side(self, side: str) -> Self:
        """The muscle of one side: names end in `_r` or `_l`, the left path is mirrored.

        Frames and the degrees of freedom of conditional points keep their names without side; they are of the same
        side.

        Raises:
            MuscleDatabaseError: side is not "r" or "l".
        """
        if side not in SIDES:
            raise MuscleDatabaseError(f"there is no side {side!r}", expected='"r" or "l"')
        muscle = self.mirrored() if side == "l" else self
        return replace(muscle, name=f"{self.name}_{side}", short_name=f"{self.short_name}_{side}")

    def printed(self) -> Self:
        """The muscle as printed in its source, without deviations."""
        changes: dict[str, Value] = {}
        path: list[PathPoint | None] = list(self.path)
        for deviation in self.deviations:
            if deviation.point is None:
                changes[deviation.field] = () if deviation.field == "wraps" else deviation.printed
                continue
            k = deviation.point - 1
            if deviation.used is None and deviation.field == "point":
                path.append(deviation.printed)  # type: ignore[arg-type]  # the loader accepts only a missing last one
                continue
            old = path[k]
            if deviation.field == "point":
                path[k] = deviation.printed  # type: ignore[assignment]  # a point or None by the loader's check
            elif old is not None:
                path[k] = replace(old, **{deviation.field: deviation.printed})  # type: ignore[arg-type]
        kept = tuple(point for point in path if point is not None)
        return replace(self, path=kept, deviations=(), **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Segment:
    """A bone of a set's standing skeleton, and the place of its frame on a body model; names are without side.

    name: of the frame in paths; body: of the model that carries it; origin: the joint center at `position` [m] of the
    frame. end: the next joint center, at the distance `length` [m]: the bone scales with the distance of both in the
    subject. end_position [m]: position of the end in the frame; the bone is rotated so that it lies at the joint center
    of the subject; None: straight below. A bone without end scales with stature. width: distance of the right and the
    left origin [m], with which the bone scales sideways; forward: vector of the model in its forward direction.
    position_scale: divisor of lengths and positions to the skeleton of stature, optimal fiber and tendon slack lengths.
    """

    name: str
    body: str
    origin: str
    position: Vector = (0.0, 0.0, 0.0)
    end: str | None = None
    length: float | None = None
    end_position: Vector | None = None
    width: float | None = None
    forward: str | None = None
    position_scale: float = 1.0

    @property
    def end_place(self) -> Vector:
        """Place of the end in the frame [m]."""
        return self.end_position or (0.0, 0.0, -(self.length or 0.0))


def leg_segments(
    thigh_length: float,
    shank_length: float,
    hip_width: float,
    hip_center: Vector,
    position_scale: Mapping[str, float],
    knee_center: Vector | None = None,
    ankle_center: Vector | None = None,
) -> tuple[Segment, ...]:
    """The bones of a leg; origins: midpoint of the front iliac spines, hip center, knee center, ankle center.

    Args:
        thigh_length, shank_length, hip_width: between joint centers [m].
        hip_center: the right hip in the pelvic frame [m].
        position_scale: of each bone.
        knee_center, ankle_center: in the frame of the femur and of the tibia [m]; None: straight below.
    """
    scale = position_scale
    return (
        Segment("pelvis", "pelvis", "hip", hip_center, width=hip_width, position_scale=scale["pelvis"]),
        Segment(
            "femur",
            "thigh",
            "hip",
            end="knee",
            length=thigh_length,
            end_position=knee_center,
            position_scale=scale["femur"],
        ),
        Segment(
            "tibia",
            "shank",
            "knee",
            end="ankle",
            length=shank_length,
            end_position=ankle_center,
            position_scale=scale["tibia"],
        ),
        Segment("foot", "foot", "ankle", forward="shank_forward", position_scale=scale["foot"]),
    )


FRAMES = ("pelvis", "femur", "tibia", "foot")
"""The frames of `leg_segments`."""


@dataclass(frozen=True)
class ReferenceSkeleton:
    """The standing skeleton to which the positions of a database belong, its bones from the trunk outward.

    stature: None if unknown; bones without end then scale with all others together. pelvis_depth: from mid-ASIS to
    mid-PSIS by markers on the skin [m]; None if unknown.
    """

    segments: tuple[Segment, ...]
    stature: float | None = None
    pelvis_depth: float | None = None

    def __getitem__(self, name: str) -> Segment:
        """The bone of this name."""
        for each in self.segments:
            if each.name == name:
                return each
        raise MuscleDatabaseError(
            f'there is no bone "{name}"',
            expected=f"one of {', '.join(self.names)}",
            remedy=suggestion(name, self.names),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the frames of the bones."""
        return tuple(each.name for each in self.segments)


@dataclass(frozen=True)
class MuscleDatabase:
    """The muscles of one source, for the right side, in the order of the file.

    dofs: degrees of freedom that the muscles move, without side, as results have them in order (see `scale_muscles`).
    groups: functional groups, each with a remark (may be empty). deviations: of the table as a whole. frames and
    wrap_objects: moving frames and surfaces by name. curves: the family of Hill curves. fiber_lengths: the rule that
    scales fiber and tendon lengths to a subject, "operating_range" or "standing"; operating_range_of: the set with the
    ranges, None: this set. anatomy_of: the set whose words its file leaves out. license: terms of the source.
    calibrated_passive: None without calibration. coordinates:
    degree of freedom -> the coordinate in the source model of the set, without side, with "-" before it for the
    opposite sign. notes: for users of this set, such as omitted muscles.
    """

    name: str
    source: str
    reference: ReferenceSkeleton
    muscles: tuple[Muscle, ...]
    groups: Mapping[str, str] = field(default_factory=dict)
    deviations: tuple[Deviation, ...] = ()
    frames: Mapping[str, MovingFrame] = field(default_factory=dict)
    wrap_objects: Mapping[str, WrapObject] = field(default_factory=dict)
    curves: str = "silva_2003"
    fiber_lengths: str = "standing"
    operating_range_of: str | None = None
    anatomy_of: str | None = None
    license: str = ""
    calibrated_passive: CalibratedPassive | None = None
    coordinates: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    dofs: tuple[str, ...] = LEG_DOFS

    def __repr__(self) -> str:
        """Return name and size in a line."""
        return (
            f"<MuscleDatabase {self.name!r}: {len(self)} muscles, {len(self.dofs)} degrees of freedom a side>"
        )

    def __getitem__(self, name: str) -> Muscle:
        """The muscle of this name or short name."""
        name = str(name)
        for muscle in self.muscles:
            if name in (muscle.name, muscle.short_name):
                return muscle
        known = [word for muscle in self.muscles for word in (muscle.name, muscle.short_name)]
        raise MuscleDatabaseError(
            f'there is no muscle "{name}" in {self.name}',
            expected="the name or short name of a muscle, without side",
            remedy=suggestion(name, known) or f"`musclesolve list muscles --database {self.name}` lists them",
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.muscles))

    @cached_property
    def sides(self) -> dict[str, tuple[Muscle, ...]]:
        """The muscles of each side, see `Muscle.on_side`."""
        return {side: tuple(muscle.on_side(side) for muscle in self.muscles) for side in SIDES}

    def __contains__(self, name: object) -> bool:
        return any(name in (muscle.name, muscle.short_name) for muscle in self.muscles)

    def __iter__(self) -> Iterator[Muscle]:
        return iter(self.muscles)

    def __len__(self) -> int:
        return len(self.muscles)

    def printed(self) -> Self:
        """Return the muscles with the printed numbers: for inspection only, since they result in wrong forces."""
        return replace(self, muscles=tuple(muscle.printed() for muscle in self.muscles))


def standing_length(
    muscle: Muscle,
    reference: ReferenceSkeleton,
    *,
    frames: Mapping[str, MovingFrame] | None = None,
    unscaled: bool = False,
) -> float:
    """Musculotendon length [m] of a muscle of the right leg with all joint angles zero: sum_k |p_{k+1} - p_k|.

    Args:
        muscle: with a path over its points; wrap objects are ignored.
        reference: the skeleton of its set.
        frames: the moving frames of the set, at rest on their bones in standing. unscaled: use the skeleton of the
            optimal fiber and tendon slack lengths; both scale to a subject by L_MT(subject) / L_MT(unscaled).
    """
    check_kind(muscle, Muscle, "muscle")
    check_kind(reference, ReferenceSkeleton, "reference")
    check_kind({} if frames is None else frames, Mapping, "frames")
    scale = {each.name: each.position_scale if unscaled else 1.0 for each in reference.segments}
    centers: dict[str, Vector] = {}
    origins: dict[str, Vector] = {}
    for each in reference.segments:
        x, y, z = each.position
        base = centers.get(each.origin)
        origins[each.name] = place = (
            (0.0, 0.0, 0.0) if base is None else _placed((-x, -y, -z), base, scale[each.name])
        )
        centers.setdefault(each.origin, _placed(each.position, place, scale[each.name]))
        if each.end is not None:
            centers[each.end] = _placed(each.end_place, place, scale[each.name])
    bone = {name: frame.body for name, frame in (frames or {}).items()}
    points = []
    for point in muscle.path:
        if point.active is None or point.active.holds(0.0):
            frame = bone.get(point.frame, point.frame)
            points.append(_placed(point.position, origins[frame], scale[frame]))
    return sum(math.dist(a, b) for a, b in pairwise(points))


def _placed(place: Vector, origin: Vector, scale: float) -> Vector:
    x, y, z = (base + value / scale for base, value in zip(origin, place, strict=True))
    return x, y, z
