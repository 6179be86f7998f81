"""Skeleton and muscles of an OpenSim model, in OpenSim's own axes (x forward, y up, z right)."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from muscle_db.model import TENDON_STRAIN
from musclesolve._util.arrays import Array
from musclesolve._util.messages import Names, with_sizes
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import InputError, file_error
from musclesolve.models.opensim.functions import Function

GROUND = "ground"
TO_GLOBAL = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Vectors in OpenSim's axes (x forward, y up, z right) -> forward, left, up."""
_TENDON_STRAINS = (
    "FmaxTendonStrain",
    "TendonForceLengthCurve.strain_at_one_norm_force",
    "tendon_strain_at_one_norm_force",
)
"""The parameter of Thelen (2003), Millard et al. (2013) and De Groote et al. (2016)."""


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame fixed to a body: its point x is at rotation x + position [m] in the body."""

    body: str
    rotation: Array
    position: Array

    def place(self, point: Array) -> Array:
        """Points (..., 3) of the frame in the frame of the body."""
        return point @ self.rotation.T + self.position


@dataclass(frozen=True, eq=False)
class BodyMass:
    """Mass [kg], mass center (3,) [m] in the body, inertia (3, 3) [kg m2] about it in the axes of the body."""

    mass: float
    center: Array
    inertia: Array


@dataclass(frozen=True, eq=False)
class Coordinate:
    """A generalized coordinate [rad or m]; a locked one stays at its default unless a value is given.

    rotational: an angle, which files may state in degrees; other coordinates are lengths, or parameters of a coupled
    motion. An angle is the rotation, or its negative, about an axis of a joint, and no translation.
    """

    name: str
    default: float
    lower: float
    upper: float
    locked: bool
    rotational: bool = True
    clamped: bool = False  # whether its range also limits its motion in OpenSim's inverse kinematics


@dataclass(frozen=True, eq=False)
class TransformAxis:
    """A rotation [rad] about, or a translation [m] along, an axis by a function of coordinates."""

    axis: Array
    function: Function
    coordinates: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Joint:
    """The motion of a child frame in a parent frame.

    rotations: about body-fixed axes, one after the other (R = R_1 R_2 R_3); translations: along axes of the parent
    frame, of the origin of the child frame. All kinds of joints are converted to this form.
    is_reversed: the child, not the parent, is nearer to the ground.
    """

    name: str
    kind: str
    parent: Frame
    child: Frame
    rotations: tuple[TransformAxis, ...]
    translations: tuple[TransformAxis, ...]
    coordinates: tuple[str, ...]
    is_reversed: bool = False

    @property
    def inboard(self) -> Frame:
        """The frame of the joint on the body that is nearer to the ground."""
        return self.child if self.is_reversed else self.parent

    @property
    def outboard(self) -> Frame:
        """The frame of the joint on its outer body."""
        return self.parent if self.is_reversed else self.child

    @property
    def speeds_are_angular(self) -> bool:
        """Whether OpenSim's generalized forces belong to components of the angular velocity, not to rates of angles."""
        return self.kind in ("BallJoint", "FreeJoint", "EllipsoidJoint", "ScapulothoracicJoint")

    @cached_property
    def moved_by(self) -> frozenset[str]:
        """The coordinates on which the motion of the joint depends."""
        return frozenset(name for axis in (*self.rotations, *self.translations) for name in axis.coordinates)


@dataclass(frozen=True, eq=False)
class Coupler:
    """A coordinate that is a function of others, stated or by constraints that close a loop of bodies."""

    dependent: str
    independent: tuple[str, ...]
    function: Function
    closes_loop: bool = False


@dataclass(frozen=True, eq=False)
class Link:
    """A constraint between two frames: their origins coincide, or have a distance [m]; welded, their axes coincide."""

    name: str
    frames: tuple[Frame, Frame]
    is_weld: bool = False
    distance: float | None = None


PRESCRIBED = "a coordinate prescribed over time"
"""Kind of the constraint of a coordinate that follows a function of time."""


@dataclass(frozen=True, eq=False)
class OtherConstraint:
    """An enforced constraint that is not supported.

    driven: coordinates whose motion the constraint determines; involved: these and the coordinates that determine it.
    """

    name: str
    kind: str
    driven: frozenset[str]
    involved: frozenset[str]


@dataclass(frozen=True, eq=False)
class MovingLocation:
    """Three components of a place, each a function of a coordinate."""

    coordinates: tuple[str, str, str]
    functions: tuple[Function, Function, Function]


@dataclass(frozen=True, eq=False)
class OpenSimPoint:
    """A point of a path: a place in a frame of a body, on the path while the coordinate is in the range [rad].

    location (3,) [m]; None for a moving point.
    """

    name: str
    frame: Frame
    location: Array | None
    moving: MovingLocation | None = None
    condition: tuple[str, float, float] | None = None


@dataclass(frozen=True, eq=False)
class WrapSurface:
    """A wrap object: its frame on a body, radii (3,) [m] (of a torus: tube, ring, 0) and length [m].

    side: "all", "+x", "-x", ... of its axes.
    """

    name: str
    kind: str
    frame: Frame
    radii: Array
    length: float
    side: str
    active: bool


@dataclass(frozen=True, eq=False)
class AttachedMesh:
    """A geometry file drawn in a frame of a body, with its vertices multiplied by scale (3,)."""

    file: str
    frame: Frame
    scale: Array


@dataclass(frozen=True, eq=False)
class Wrap:
    """A wrap object of a path between two of its points, counted from 1; None: from the first, to the last."""

    surface: str
    first: int | None
    last: int | None
    method: str


@dataclass(frozen=True, eq=False)
class OpenSimPath:
    """A line over points and wrap objects; is_geodesic: OpenSim's path over them is the shortest one, too."""

    name: str
    points: tuple[OpenSimPoint, ...]
    wraps: tuple[Wrap, ...]
    is_geodesic: bool = field(default=False, kw_only=True)


Law = Callable[[Array], Array]
"""Force (T,) [N m or N] at a coordinate or length and its rate (T, 2), or (T, 6) at a deflection (T, 12)."""


@dataclass(frozen=True, eq=False)
class Device:
    """A force that follows from coordinates and rates: on a coordinate, along a path as tension, or between two frames.

    The deflection of two frames has three body-fixed angles and the place of the second frame in the first; the force
    belongs to their rates.
    """

    name: str
    kind: str
    law: Law
    coordinate: str = ""
    path: OpenSimPath | None = None
    frames: tuple[Frame, Frame] | None = None


@dataclass(frozen=True, eq=False)
class Actuator:
    """An actuator: its class and coordinate, "" between bodies; optimal force [N m, N] and bounds of its control.

    bodies, axis (3,): of a TorqueActuator on the first body, reversed on the second; axis in the ground, or in the
    first body if not is_global, None if the file has none. enabled: whether it applies a force in the model. path: of a
    PathActuator.
    """

    kind: str
    coordinate: str
    optimal_force: float
    controls: tuple[float, float]
    bodies: tuple[str, str] = ("", "")
    axis: Array | None = None
    is_global: bool = True
    enabled: bool = True
    path: OpenSimPath | None = None


@dataclass(frozen=True, eq=False)
class PathFunction:
    """A length of a path as a function of coordinates [m]."""

    coordinates: tuple[str, ...]
    function: Function


@dataclass(frozen=True, eq=False)
class OpenSimMuscle(OpenSimPath):
    """A muscle: force [N], lengths [m], pennation [rad], velocity [optimal fiber lengths / s] and its path.

    curve: parameters of its curves, "FmaxMuscleStrain" or "FiberForceLengthCurve.strain_at_zero_force".
    enabled: whether it applies a force in the model. controls: the bounds of its activation in OpenSim's static
    optimization. by_function: its length in place of the one of its points, which then only draw it and apply its
    force; without points its line of action is unknown. time_constants: of activation and deactivation [s], None for a
    kind without activation dynamics; smoothness: b of De Groote et al. (2016). passive: whether fibers have passive
    forces (not with `ignore_passive_fiber_force`).
    """

    kind: str
    max_isometric_force: float
    optimal_fiber_length: float
    tendon_slack_length: float
    pennation_angle: float
    max_contraction_velocity: float
    curve: Mapping[str, float] = field(default_factory=dict)
    enabled: bool = True
    controls: tuple[float, float] = (0.0, 1.0)
    by_function: PathFunction | None = None
    time_constants: tuple[float, float] | None = None
    smoothness: float | None = None
    passive: bool = True

    @property
    def tendon_strain(self) -> float:
        """Strain of the tendon at one maximum isometric force."""
        return next((self.curve[name] for name in _TENDON_STRAINS if name in self.curve), TENDON_STRAIN)


@dataclass(frozen=True, eq=False)
class OpenSimModel:
    """Bodies (ground first), joints from the ground outward, coordinates, muscles and wrap objects by name.

    masses: of bodies with stated masses; mass_faults: body -> why its mass properties cannot be used. gravity (3,)
    [m/s2]. couplers: in an order in which each depends on earlier ones only. unsupported: parts of the file that the
    reader does not support, "joint shoulder_r" -> "ScapulothoracicJoint"; they and other constraints are errors only if
    needed. notes: on unusual content and its meaning here. meshes: geometry of the bodies. devices: springs, bushings
    and ligaments. pathless: muscles whose path is of an unsupported kind, until a function is given for it. actuators:
    ideal and others, by name.
    """

    name: str
    file: Path
    bodies: tuple[str, ...]
    joints: tuple[Joint, ...]
    coordinates: Mapping[str, Coordinate]
    couplers: tuple[Coupler, ...]
    muscles: Mapping[str, OpenSimMuscle]
    surfaces: Mapping[str, WrapSurface]
    unsupported: Mapping[str, str]
    masses: Mapping[str, BodyMass] = field(default_factory=dict)
    mass_faults: Mapping[str, str] = field(default_factory=dict)
    other_constraints: tuple[OtherConstraint, ...] = ()
    notes: tuple[str, ...] = ()
    gravity: Array = field(default_factory=lambda: np.array([0.0, -STANDARD_GRAVITY, 0.0]))
    credits: str = ""
    publications: str = ""
    meshes: tuple[AttachedMesh, ...] = ()
    devices: tuple[Device, ...] = ()
    pathless: Mapping[str, OpenSimMuscle] = field(default_factory=dict)
    actuators: Mapping[str, Actuator] = field(default_factory=dict)

    __repr__ = with_sizes

    @property
    def mass(self) -> float:
        """Mass of all bodies [kg]."""
        return float(sum(body.mass for body in self.masses.values()))

    @cached_property
    def roots(self) -> tuple[Joint, ...]:
        """The joints of bodies with the ground."""
        return tuple(joint for joint in self.joints if joint.inboard.body == GROUND)

    @cached_property
    def weight(self) -> float:
        """Weight of all bodies [N]."""
        return self.mass * float(np.linalg.norm(self.gravity))

    @property
    def up(self) -> Array:
        """Unit vector against gravity (3,); zeros without gravity."""
        return -self.gravity / max(float(np.linalg.norm(self.gravity)), 1e-9)

    @cached_property
    def body_number(self) -> Names:
        """Position of each body in `bodies`."""
        return Names(self.bodies, "body", self.name)

    @cached_property
    def coordinate_number(self) -> Names:
        """Position of each coordinate in `coordinates`."""
        return Names(self.coordinates, "coordinate", self.name)

    @cached_property
    def reachable(self) -> frozenset[str]:
        """Bodies connected to the ground by supported joints."""
        return frozenset({GROUND, *(joint.outboard.body for joint in self.joints)})

    @cached_property
    def in_loops(self) -> frozenset[str]:
        """Coordinates of loops of bodies, whose constraints bear unknown forces."""
        loops = [coupler for coupler in self.couplers if coupler.closes_loop]
        return frozenset(name for loop in loops for name in (loop.dependent, *loop.independent))

    @cached_property
    def turning(self) -> frozenset[str]:
        """Coordinates by which a joint rotates."""
        axes = [axis for joint in self.joints for axis in joint.rotations]
        return frozenset(name for axis in axes for name in axis.coordinates)

    def coordinates_between(self, bodies: Iterable[str]) -> frozenset[str]:
        """Coordinates of the joints between some bodies, which move one of them relative to another."""
        joint_of = {joint.outboard.body: joint for joint in self.joints}
        chains = []
        for body in bodies:
            chain = set()
            while body in joint_of:
                chain.add(body)
                body = joint_of[body].inboard.body
            chains.append(frozenset(chain))
        across = frozenset().union(*chains) - frozenset(chains[0]).intersection(*chains)
        return frozenset().union(*(joint_of[body].moved_by for body in across))

    def independent(self, names: Iterable[str]) -> frozenset[str]:
        """Independent coordinates of some coordinates: themselves, or the coordinates that drive them by couplers."""
        driving = set(names)
        for coupler in reversed(self.couplers):
            if coupler.dependent in driving:
                driving = (driving - {coupler.dependent}) | set(coupler.independent)
        return frozenset(driving)

    @cached_property
    def crossing(self) -> Mapping[str, frozenset[str]]:
        """The independent coordinates that the length of each muscle depends on, locked ones included."""
        return {name: self.independent(self.crossed(muscle)) for name, muscle in self.muscles.items()}

    def bodies_of(self, muscle: OpenSimPath) -> frozenset[str]:
        """Bodies of the points and wrap objects of a path."""
        used = [self.surfaces[wrap.surface].frame for wrap in muscle.wraps if wrap.surface in self.surfaces]
        return frozenset(frame.body for frame in [*used, *(point.frame for point in muscle.points)])

    def crossed(self, muscle: OpenSimPath) -> frozenset[str]:
        """Coordinates between the bodies of a path, and coordinates of its moving and conditional points."""
        if isinstance(muscle, OpenSimMuscle) and muscle.by_function is not None:
            return frozenset(muscle.by_function.coordinates)
        moving = {name for point in muscle.points if point.moving for name in point.moving.coordinates}
        conditions = {point.condition[0] for point in muscle.points if point.condition}
        return self.coordinates_between(self.bodies_of(muscle)) | moving | conditions

    def chosen(self, names: Iterable[str] | None = None) -> list[OpenSimMuscle]:
        """Muscles by name, or all enabled muscles; refuses muscles with unsupported parts.

        Raises:
            InputError: a name is unknown, or something that a muscle needs is not supported.
        """
        numbers = Names(self.muscles, "muscle", self.name)
        if names is None:
            self.require_paths()
            names = [name for name, muscle in self.muscles.items() if muscle.enabled]
        picked = []
        for name in map(str, names):
            if name in self.pathless:
                raise self._lacking(name, [f"path of {name}"])
            muscle, lacking = self._with_lacks[numbers[name]]
            if lacking:
                raise self._lacking(muscle.name, lacking)
            picked.append(muscle)
        return picked

    @cached_property
    def _with_lacks(self) -> list[tuple[OpenSimMuscle, list[str]]]:
        """The muscles, each with what it needs and is not supported."""
        return [(muscle, self.lacks(muscle)) for muscle in self.muscles.values()]

    def lacks(self, path: OpenSimPath) -> list[str]:
        """Names of parts that a path needs and that are not supported."""
        surfaces = (wrap.surface for wrap in path.wraps)
        lacking = [f"wrap object {surface}" for surface in surfaces if surface not in self.surfaces]
        lacking += [f"path of {path.name}"] * (f"path of {path.name}" in self.unsupported)
        lacking += [f"body {body}" for body in sorted(self.bodies_of(path) - self.reachable)]
        crossed = self.crossed(path)
        driving = (constraint for constraint in self.other_constraints if constraint.driven & crossed)
        return [*lacking, *(f"constraint {driver.name}" for driver in driving)]

    def require_paths(self, without: Collection[str] = ()) -> None:
        """Check that every other muscle of the file has a path of points.

        Raises:
            InputError: a muscle has a path of another kind.
        """
        for name in (name for name in self.pathless if name not in without):
            raise self._lacking(name, [f"path of {name}"])

    def _lacking(self, muscle: str, lacking: list[str]) -> InputError:
        kinds = ", ".join(f"{name} ({self.unsupported.get(name, 'not in the file')})" for name in lacking)
        return file_error(
            "unsupported",
            self.file,
            f"muscle {muscle} needs {kinds}",
            "joints, constraints, points and wrap objects of the kinds that are supported",
            f"leave this muscle out (--without-muscle {muscle}), or replace these elements in OpenSim"
            + " (or give its length as a function of coordinates, fitted there: --paths FILE)"
            * (muscle in self.pathless),
        )


def rotation_xyz(angles: Array) -> Array:
    """Rotation R = R_x R_y R_z (3, 3) of body-fixed angles [rad]."""
    cx, cy, cz = np.cos(angles)
    sx, sy, sz = np.sin(angles)
    return np.array(
        [
            [cy * cz, -cy * sz, sy],
            [cx * sz + sx * sy * cz, cx * cz - sx * sy * sz, -sx * cy],
            [sx * sz - cx * sy * cz, sx * cz + cx * sy * sz, cx * cy],
        ]
    )
