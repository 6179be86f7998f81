"""What the muscle database holds: muscles, the points of their paths, what differs from the print."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from muscle_db.errors import MuscleDatabaseError, nearest

FRAMES = ("pelvis", "femur", "tibia", "foot")
DEGREES_OF_FREEDOM = (
    "hip_flexion",
    "hip_adduction",
    "hip_internal_rotation",
    "knee_flexion",
    "ankle_dorsiflexion",
    "ankle_inversion",
    "ankle_adduction",
)
SIDES = ("r", "l")

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class ActiveRange:
    """The range of one joint angle (without side: "knee_flexion") within which a point is on the path.

    lower, upper: smallest and largest angle [rad], included.
    """

    dof: str
    lower: float
    upper: float

    def holds(self, angle: float) -> bool:
        """Whether the point is on the path at this angle [rad]."""
        return self.lower <= angle <= self.upper

    def __str__(self) -> str:
        return f"{self.dof} {math.degrees(self.lower):g} to {math.degrees(self.upper):g} deg"


@dataclass(frozen=True)
class PathPoint:
    """One point of a muscle's path: position forward, left, up [m] in a frame parallel to the global one in standing.

    Origins of the frames "pelvis", "femur", "tibia", "foot": midpoint of the front iliac spines, hip center, knee
    center, ankle center. active: the range in which the point is on the path; None: always.
    """

    frame: str
    position: Vector
    active: ActiveRange | None = None

    def mirrored(self) -> PathPoint:
        """The same point of the other leg."""
        x, y, z = self.position
        return replace(self, position=(x, -y, z))

    def __str__(self) -> str:
        place = f"{self.frame} ({', '.join(f'{value:g}' for value in self.position)})"
        return f"{place}, only at {self.active}" if self.active else place


Value = float | str | Vector | PathPoint | ActiveRange | None


@dataclass(frozen=True)
class Deviation:
    """One value that differs from the print: the field of the muscle, or of its point number `point` (from 1), and why.

    Fields of points are "position", "active", and "point" for a whole point that was added to the path.
    printed: None for a range or a point that the print does not have.
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
        printed = absent if self.printed is None else _shown(self.printed)
        return f"{where}: printed {printed}, used {_shown(self.used)}. {self.reason}"


def _shown(value: Value) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(f'{part:g}' for part in value)})"
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Muscle:
    """One muscle-tendon unit of the right leg, its path from origin to insertion.

    name is lower snake case without side ("gluteus_medius_anterior"), short_name a stable alias ("glut_med1").
    max_isometric_force [N]; pennation_angle at optimal fiber length [rad]; max_shortening_velocity [optimal fiber
    lengths / s]; optimal_fiber_length and tendon_slack_length [m] of the skeleton before scaling
    (`ReferenceSkeleton.position_scale`). origin, insertion, action: a few words.
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
    origin: str = ""
    insertion: str = ""
    action: str = ""
    deviations: tuple[Deviation, ...] = ()

    def mirrored(self) -> Muscle:
        """The muscle with the path of the other leg: eta -> -eta. The name stays."""
        return replace(self, path=tuple(point.mirrored() for point in self.path))

    def on_side(self, side: str) -> Muscle:
        """The muscle of one leg: names end in `_r` or `_l`, the left path is mirrored.

        Frames and the degrees of freedom of conditional points stay without side: they are of the same leg.

        Raises:
            MuscleDatabaseError: side is not "r" or "l".
        """
        if side not in SIDES:
            raise MuscleDatabaseError(f"there is no side {side!r}", expected='"r" or "l"')
        muscle = self.mirrored() if side == "l" else self
        return replace(muscle, name=f"{self.name}_{side}", short_name=f"{self.short_name}_{side}")

    def printed(self) -> Muscle:
        """The muscle as its source prints it: every deviation undone."""
        changes: dict[str, Value] = {}
        path: list[PathPoint | None] = list(self.path)
        for deviation in self.deviations:
            if deviation.point is None:
                changes[deviation.field] = deviation.printed
                continue
            k = deviation.point - 1
            old = path[k]
            if deviation.field == "point":
                path[k] = deviation.printed  # type: ignore[assignment]  # a point or None by the loader's check
            elif old is not None:
                path[k] = replace(old, **{deviation.field: deviation.printed})  # type: ignore[arg-type]
        kept = tuple(point for point in path if point is not None)
        return replace(self, path=kept, deviations=(), **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class ReferenceSkeleton:
    """The standing skeleton that the positions of a database are scaled to: lengths between joint centers [m].

    Divided by the `position_scale` of their frame they give the skeleton to which stature, optimal fiber lengths and
    tendon slack lengths belong. hip_center: the right hip in the pelvic frame [m].
    """

    thigh_length: float
    shank_length: float
    hip_width: float
    stature: float
    hip_center: Vector
    position_scale: Mapping[str, float]


@dataclass(frozen=True)
class MuscleDatabase:
    """The muscles of one source, for the right leg, in the order of the file.

    groups: functional groups, each with a remark (may be empty). deviations: of the table as a whole.
    """

    name: str
    source: str
    reference: ReferenceSkeleton
    muscles: tuple[Muscle, ...]
    groups: Mapping[str, str] = field(default_factory=dict)
    deviations: tuple[Deviation, ...] = ()

    def __getitem__(self, name: str) -> Muscle:
        """The muscle of this name or short name."""
        for muscle in self.muscles:
            if name in (muscle.name, muscle.short_name):
                return muscle
        known = [word for muscle in self.muscles for word in (muscle.name, muscle.short_name)]
        raise MuscleDatabaseError(f'there is no muscle "{name}" in {self.name}', remedy=nearest(name, known))

    @cached_property
    def legs(self) -> dict[str, tuple[Muscle, ...]]:
        """The muscles of either leg, see `Muscle.on_side`."""
        return {side: tuple(muscle.on_side(side) for muscle in self.muscles) for side in SIDES}

    def __contains__(self, name: object) -> bool:
        return any(name in (muscle.name, muscle.short_name) for muscle in self.muscles)

    def __iter__(self) -> Iterator[Muscle]:
        return iter(self.muscles)

    def __len__(self) -> int:
        return len(self.muscles)

    def printed(self) -> MuscleDatabase:
        """The same muscles with the numbers as printed: to be looked at, they give wrong forces."""
        return replace(self, muscles=tuple(muscle.printed() for muscle in self.muscles))
