"""The muscles of the right leg of an OpenSim model as a muscle set of this project.

`NeutralLeg` is the leg with all coordinates zero, in the axes of this project (x forward, y left, z up). Every body of
the leg belongs to one of the frames "pelvis", "femur", "tibia" and "foot", or moves separately with the knee, as the
patella does. A displacement D(theta) = X(theta) X(0)^-1 is the motion of a body relative to the femur from its neutral
pose, when the knee flexes by theta.

On a skeleton with a hinge knee, a gliding knee becomes a fixed center and moving frames: the hinge H(theta) turns the
shank about the left axis through the knee center. The tibia of the model moves by D(theta) relative to the femur.
Muscles from above the knee have their tibial points on a frame that moves on the shank by G = H^-1 D, and muscles from
the femur to the foot have their femoral points on a frame that moves on the thigh by H D^-1 = H G^-1 H^-1. Lengths are
then as in the model.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, partial

import numpy as np

from muscle_db import load
from muscle_db.model import (
    LEG_DOFS,
    WRAP_KINDS,
    ActiveRange,
    Deviation,
    MovingFrame,
    MovingPosition,
    Muscle,
    MuscleDatabase,
    PassiveStrain,
    PathPoint,
    PathWrap,
    ReferenceSkeleton,
    Vector,
    WrapObject,
    leg_segments,
)
from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import check_known
from musclesolve._util.splines import spline_through
from musclesolve.errors import file_error
from musclesolve.models.opensim.geometry import tendon_shifts
from musclesolve.models.opensim.kinematics import BodyMotion, body_motion, coordinate_values
from musclesolve.models.opensim.model import TO_GLOBAL, Joint, OpenSimModel, OpenSimMuscle, OpenSimPoint, Wrap
from musclesolve.models.opensim.read_muscles import passive_strains

ANATOMICAL = {
    "hip_flexion": (0.0, -1.0, 0.0),
    "hip_adduction": (1.0, 0.0, 0.0),
    "hip_internal_rotation": (0.0, 0.0, 1.0),
    "knee_flexion": (0.0, 1.0, 0.0),
    "ankle_dorsiflexion": (0.0, -1.0, 0.0),
    "ankle_inversion": (1.0, 0.0, 0.0),
    "ankle_adduction": (0.0, 0.0, 1.0),
}
"""Axes of rotation of the distal segment of the right leg, forward, left, up, for each degree of freedom.

Inversion raises the inner edge of the foot, adduction turns the toes inward.
"""


_ALONG = 0.7
"""Least cosine between the axis of a coordinate and an anatomical one."""


@dataclass(frozen=True)
class LegBodies:
    """Names of the bodies of the right leg in a model; bodies attached beyond `talus` belong to the foot."""

    pelvis: str = "pelvis"
    femur: str = "femur_r"
    tibia: str = "tibia_r"
    talus: str = "talus_r"


@dataclass(frozen=True, eq=False)
class NeutralLeg:
    """The leg of a model, with the names of its bodies."""

    model: OpenSimModel
    bodies: LegBodies = LegBodies()

    def __post_init__(self) -> None:
        check_known(vars(self.bodies).values(), "body", sorted(self.model.reachable), file=self.model.file)

    @cached_property
    def frame_of_body(self) -> dict[str, str]:
        """Frame of each body of the leg: pelvis, femur, tibia, foot, or the body's name if it moves with the knee."""
        named = dict(zip(vars(self.bodies).values(), ("pelvis", "femur", "tibia", "foot"), strict=True))
        frames = dict(named)
        for joint in self.model.joints:
            body, parent = joint.outboard.body, frames.get(joint.inboard.body)
            if body not in named and parent in ("femur", "tibia", "foot"):
                frames[body] = "foot" if parent == "foot" else body.removesuffix("_r")
        return frames

    def joint(self, body: str) -> Joint:
        """The joint that connects a body to the ground side."""
        return next(joint for joint in self.model.joints if joint.outboard.body == body)

    def _values(self, coordinates: dict[str, Array]) -> Array:
        """Values (T, K) [rad or m] of all coordinates: some as stated (T,), the others zero."""
        zero = {name: np.zeros(1) for name in self.model.coordinates}
        return coordinate_values(self.model, {**zero, **coordinates})

    @cached_property
    def _neutral(self) -> BodyMotion:
        return body_motion(self.model, self._values({}), tuple(self.model.coordinates))

    def neutral_place(self, body: str, point: Array) -> Array:
        """Points (..., 3) of a body in the neutral pose, forward, left, up in the ground."""
        b = self.model.body_number[body]
        return (point @ self._neutral.rotation[0, b].T + self._neutral.position[0, b]) @ TO_GLOBAL.T

    def neutral_rotation(self, body: str) -> Array:
        """Orientation (3, 3) of a body in the neutral pose, in forward, left, up of the ground."""
        return TO_GLOBAL @ self._neutral.rotation[0, self.model.body_number[body]]

    def joint_center(self, body: str) -> Array:
        """Return the position of a body's inner joint in the neutral pose: the origin of the frame on the body."""
        return self.neutral_place(body, self.joint(body).outboard.position)

    @cached_property
    def hip(self) -> Array:
        """Hip center in the neutral pose."""
        return self.joint_center(self.bodies.femur)

    def degree_of_freedom(self, coordinate: str) -> tuple[str, float]:
        """The degree of freedom of a coordinate, and its sign: +1 if both increase together, else -1."""
        if coordinate in self.degrees_of_freedom:
            return self.degrees_of_freedom[coordinate]
        raise file_error(
            "unsupported",
            self.model.file,
            f"coordinate '{coordinate}' is not a rotation of hip, knee or ankle about an anatomical axis",
            "points that depend on hip, knee or ankle flexion, hip adduction or hip rotation",
            "leave out the muscles whose points depend on it",
        )

    @cached_property
    def degrees_of_freedom(self) -> dict[str, tuple[str, float]]:
        """Degree of freedom and sign +1 or -1 for each coordinate that corresponds to one."""
        named = {}
        for body, prefix in (("femur", "hip"), ("tibia", "knee"), ("talus", "ankle")):
            number = self.model.body_number[getattr(self.bodies, body)]
            for name in self.joint(getattr(self.bodies, body)).coordinates:
                spin = TO_GLOBAL @ self._neutral.twist[0, self.model.coordinate_number[name], number, :3]
                along = {
                    dof: float(spin @ axis) for dof, axis in ANATOMICAL.items() if dof.startswith(prefix)
                }
                best = max(along, key=lambda dof: abs(along[dof]))
                if abs(along[best]) > _ALONG:
                    named[name] = best, float(np.sign(along[best]))
        return named

    def values_at(self, dof: str, angles: Array) -> Array:
        """Values (T, K) of all coordinates with one degree of freedom at angles (T,) [rad], the others zero."""
        name, sense = next(
            (name, sense)
            for name, (name_of_dof, sense) in self.degrees_of_freedom.items()
            if name_of_dof == dof
        )
        return self._values({name: sense * angles})

    def displacement(self, body: str, flexion: Array) -> tuple[Array, Array]:
        """D(theta) of a body relative to the femur for knee flexion (T,) [rad]: rotation (T, 3, 3), shift (T, 3) [m].

        A point at x in the neutral pose moves to rotation x + shift, relative to the femur.
        """
        if all(dof != "knee_flexion" for dof, _ in self.degrees_of_freedom.values()):
            raise file_error(
                "unsupported",
                self.model.file,
                "the knee has no coordinate of flexion",
                "a joint between femur and tibia with a flexion angle",
                "name the bodies of the leg",
            )
        motion = body_motion(self.model, self.values_at("knee_flexion", flexion))
        b = self.model.body_number[body]
        start = self._neutral
        rotation = motion.rotation[:, b] @ start.rotation[0, b].T
        shift = motion.position[:, b] - rotation @ start.position[0, b]
        return TO_GLOBAL @ rotation @ TO_GLOBAL.T, shift @ TO_GLOBAL.T


CENTER_RANGE = np.deg2rad(np.arange(0.0, 100.1, 2.5))
"""Flexion over which the knee center is chosen [rad]."""
SAMPLED_DEG = (-20.0, 150.0)
STEP_DEG = 5.0
TOLERANCE = 2e-6
"""Largest distance of the spline from the model [m]."""
_LEVER = 0.1
"""Distance at which an error of rotation counts [m]."""
_ROUNDS = 4


@dataclass(frozen=True, eq=False)
class GlidingKnee:
    """The knee of a leg about a fixed center."""

    leg: NeutralLeg

    @cached_property
    def center(self) -> Array:
        """The knee center in the neutral pose (3,).

        In the sagittal plane it is the point c that the tibia moves least, with the least sum |D(theta) c - c|^2 over 0
        to 100 deg; laterally it is at the origin of the knee joint in the model.
        """
        rotation, shift = self.leg.displacement(self.leg.bodies.tibia, CENTER_RANGE)
        lateral = self.leg.joint_center(self.leg.bodies.tibia)[1]
        plane = np.ix_(range(len(rotation)), [0, 2], [0, 2])
        matrix = rotation[plane] - np.eye(2)
        right = -(shift + rotation[:, :, 1] * lateral)[:, [0, 2]]
        forward, up = np.linalg.lstsq(matrix.reshape(-1, 2), right.reshape(-1), rcond=None)[0]
        return np.array([forward, lateral, up])

    def gliding(self, body: str, flexion: Array) -> tuple[Array, Array]:
        """G = H^-1 D of a body in the frame of the shank, from the knee center: (T, 3, 3), (T, 3) [m]."""
        from scipy.spatial.transform import Rotation

        rotation, shift = self.leg.displacement(body, flexion)
        back = Rotation.from_rotvec(-flexion[:, None] * [0.0, 1.0, 0.0]).as_matrix()
        along = rotation @ self.center + shift - self.center
        return back @ rotation, (back @ along[:, :, None])[:, :, 0]

    def femoral(self, flexion: Array) -> tuple[Array, Array]:
        """H G^-1 H^-1 in the frame of the thigh, from the hip center."""
        from scipy.spatial.transform import Rotation

        rotation, shift = self.gliding(self.leg.bodies.tibia, flexion)
        hinge = Rotation.from_rotvec(flexion[:, None] * [0.0, 1.0, 0.0]).as_matrix()
        inverse = rotation.transpose(0, 2, 1)
        rotated = hinge @ inverse @ hinge.transpose(0, 2, 1)
        moved = -(hinge @ inverse @ shift[:, :, None])[:, :, 0]
        knee = self.center - self.leg.hip
        return rotated, moved + knee - rotated @ knee

    @cached_property
    def is_hinge(self) -> bool:
        """Whether the knee of the model is a hinge."""
        rotation, shift = self.gliding(self.leg.bodies.tibia, CENTER_RANGE)
        return bool(np.abs(rotation - np.eye(3)).max() < 1e-6 and np.abs(shift).max() < 1e-6)


Motion = Callable[[Array], tuple[Array, Array]]
"""Rotation (T, 3, 3) and shift (T, 3) [m] of a frame at angles (T,) [rad]."""
Sampled = Callable[[Array], Array]
"""Components (T, c) [m] as a function of an angle (T,) [rad]."""


def sample(function: Sampled, decimals: int = 6) -> tuple[Array, Array]:
    """Angles (k,) [deg] and rounded values (k, c) whose natural cubic spline follows a function within `TOLERANCE`.

    The angles are 5 degrees apart, and closer where necessary.
    """
    degrees = np.arange(SAMPLED_DEG[0], SAMPLED_DEG[1] + 0.5 * STEP_DEG, STEP_DEG)
    for _ in range(_ROUNDS):
        middle = 0.5 * (degrees[1:] + degrees[:-1])
        values = np.round(function(np.deg2rad(degrees)), decimals)
        spline = spline_through(degrees, values, natural=True)
        error = np.abs(spline(middle) - function(np.deg2rad(middle))).max(axis=1)
        if (error <= TOLERANCE).all():
            break
        degrees = np.sort(np.concatenate([degrees, middle[error > TOLERANCE]]))
    return degrees, np.round(function(np.deg2rad(degrees)), decimals)


def sample_motion(motion: Motion) -> tuple[Array, Array, Array]:
    """Angles (k,) [deg], translations (k, 3) [m] and rotation vectors (k, 3) [deg] of a moving frame, rounded."""
    from scipy.spatial.transform import Rotation

    def components(angle: Array) -> Array:
        rotation, shift = motion(angle)
        return np.concatenate([shift, _LEVER * Rotation.from_matrix(rotation).as_rotvec()], axis=1)

    degrees, values = sample(components, decimals=7)
    turn: Array = np.round(values[:, 3:] / np.deg2rad(_LEVER), 5)
    return degrees, values[:, :3], turn


DIGITS = 6
"""Decimals of written positions [m]."""
_END = math.radians(0.5)
_BEYOND_DEG = (-90.0, 180.0)
_SHORTEST_FIBER_KEY = "ActiveForceLengthCurve.min_norm_active_fiber_length"
NO_PASSIVE_FORCE = 1.8, 1.9
"""Passive strains of a muscle whose fibers have no passive force in the model (`ignore_passive_fiber_force`): it would
begin at 2.8 optimal lengths, which no fiber reaches."""
_STRAIN = "passive_fiber_strain_at_one_norm_force"
"""A curve parameter of the muscles of De Groote et al. (2016) only."""
_ZERO_STRAIN = "FiberForceLengthCurve.strain_at_zero_force"
"""A curve parameter of the muscles of Millard et al. (2013) only."""
_MILLARD = {0.4441: "millard_2013", 0.25: "millard_2013_rajagopal"}
"""Variants of the curves of Millard et al. (2013) by the shortest active fiber length."""


@dataclass(frozen=True)
class SetDescription:
    """Description of a muscle set that a model file does not state; stature, pelvis_depth [m] None: not known."""

    name: str
    source: str
    stature: float | None
    license: str = ""
    bodies: LegBodies = field(default_factory=LegBodies)
    pelvis_depth: float | None = None


def muscle_set(model: OpenSimModel, about: SetDescription) -> MuscleDatabase:
    """The muscles of the right leg, from pelvis, thigh or shank to thigh, shank or foot, in the order of the model.

    Frames are parallel to the ground in the neutral pose (all coordinates zero); talus, calcaneus and toes are one
    foot; a gliding knee is converted to frames that move with knee flexion (`GlidingKnee`). Tendon slack lengths fit
    the lengths of the paths where OpenSim reports other lengths (`tendon_shifts`).

    Raises:
        InputError: there is no such leg, or a muscle needs something that is not supported.
    """
    return _Writer(model, about).database()


def leg_muscles(leg: NeutralLeg) -> list[OpenSimMuscle]:
    """Muscles with the whole path on the leg, and a part of it beyond the pelvis."""
    frames = {
        name: {leg.frame_of_body.get(body) for body in leg.model.bodies_of(muscle)}
        for name, muscle in leg.model.muscles.items()
    }
    on_leg = [name for name, used in frames.items() if used and None not in used and used != {"pelvis"}]
    return [leg.model.muscles[name] for name in on_leg]


class _Writer:
    """One conversion: collects the frames and wrap objects that its muscles use."""

    def __init__(self, model: OpenSimModel, about: SetDescription) -> None:
        self.model, self.about = model, about
        self.leg = NeutralLeg(model, about.bodies)
        self.knee = GlidingKnee(self.leg)
        self.frames: dict[str, MovingFrame] = {}
        self.wraps: dict[str, WrapObject] = {}
        # in the neutral pose; moving frames are given about the knee center, on the shank
        pelvis = self.leg.neutral_place(about.bodies.pelvis, np.zeros(3))
        self.origin = {
            "pelvis": pelvis,
            "femur": self.leg.hip,
            "tibia": self.knee.center,
            "foot": self.leg.joint_center(about.bodies.talus),
        }

    def database(self) -> MuscleDatabase:
        of_leg = leg_muscles(self.leg)
        if not of_leg:
            raise file_error(
                "bad_muscle_set",
                self.model.file,
                "the model has no muscle of the right leg",
                f"muscles between {', '.join(map(str, self.leg.frame_of_body))}",
                "name the bodies of the leg, or another model",
            )
        names = [muscle.name for muscle in of_leg]
        chosen, shifts = self.model.chosen(names), tendon_shifts(self.model, names)
        muscles = tuple(self._muscle(muscle, shift) for muscle, shift in zip(chosen, shifts, strict=True))
        used = {point.frame for muscle in muscles for point in muscle.path}
        used |= {wrap.frame for wrap in self.wraps.values()}
        families = [_family(muscle) for muscle in of_leg]
        pelvis, hip, knee, ankle = (self.origin[frame] for frame in ("pelvis", "femur", "tibia", "foot"))
        named = {dof: (name, sense) for name, (dof, sense) in self.leg.degrees_of_freedom.items()}
        return MuscleDatabase(
            name=self.about.name,
            source=self.about.source,
            reference=ReferenceSkeleton(
                leg_segments(
                    thigh_length=round(float(np.linalg.norm(knee - hip)), DIGITS),
                    shank_length=round(float(np.linalg.norm(ankle - knee)), DIGITS),
                    hip_width=round(2.0 * abs(float((hip - pelvis)[1])), DIGITS),
                    hip_center=_vector(hip - pelvis),
                    position_scale=dict.fromkeys(self.origin, 1.0),
                    knee_center=_vector(knee - hip),
                    ankle_center=_vector(ankle - knee),
                ),
                stature=self.about.stature,
                pelvis_depth=self.about.pelvis_depth,
            ),
            muscles=muscles,
            groups={group: "" for group in dict.fromkeys(muscle.group for muscle in muscles)},
            frames={name: frame for name, frame in self.frames.items() if name in used},
            wrap_objects=self.wraps,
            curves=max(families, key=families.count),
            fiber_lengths="operating_range",
            anatomy_of=WORDS_OF,
            license=self.about.license,
            # not of ankle inversion and adduction: the axes of models within the foot are oblique
            coordinates={
                dof: ("-" if named[dof][1] < 0.0 else "") + named[dof][0].removesuffix("_r")
                for dof in LEG_DOFS
                if dof in named and dof not in ("ankle_inversion", "ankle_adduction")
            },
        )

    def _muscle(self, muscle: OpenSimMuscle, shift: float) -> Muscle:
        carrier = self._carriers(muscle)
        name, group, texts = long_name(muscle.name)
        slack = printed = _digits(muscle.tendon_slack_length, DIGITS)
        deviations: tuple[Deviation, ...] = ()
        if shift:
            slack = _digits(printed + shift, DIGITS)
            reason = (
                f"OpenSim 4 reports a length that is {1e3 * shift:.1f} mm less than the path, all coordinates "
                "zero: it adds straight parts between the tangent points of the first round of its iteration over "
                "several wrap objects to arcs of the last one. Here the length follows the path, and the tendon is "
                "longer by the difference, so that fibers there are as long as in OpenSim: a difference of "
                f"{shift / muscle.optimal_fiber_length:.2f} optimal lengths."
            )
            deviations = (Deviation("tendon_slack_length", printed, slack, reason),)
        zero, one = passive_strains(muscle)
        if _ZERO_STRAIN in muscle.curve:
            zero, one = _digits(zero, 4), _digits(one, 4)
        if not muscle.passive:
            zero, one = NO_PASSIVE_FORCE
        return Muscle(
            name=name,
            short_name=_plain(muscle.name),
            group=group,
            max_isometric_force=_digits(muscle.max_isometric_force, 3),
            pennation_angle=math.radians(_digits(math.degrees(muscle.pennation_angle), 4)),
            optimal_fiber_length=_digits(muscle.optimal_fiber_length, DIGITS),
            tendon_slack_length=slack,
            max_shortening_velocity=muscle.max_contraction_velocity,
            path=tuple(self._point(point, carrier) for point in muscle.points),
            wraps=tuple(
                self._wrap(wrap, carrier) for wrap in muscle.wraps if self.model.surfaces[wrap.surface].active
            ),
            passive=PassiveStrain(zero, one),
            tendon_strain=_digits(muscle.tendon_strain, DIGITS),
            origin=texts.get("origin", ""),
            insertion=texts.get("insertion", ""),
            action=texts.get("action", ""),
            deviations=deviations,
        )

    def _carriers(self, muscle: OpenSimMuscle) -> dict[str, str]:
        """Frame of the set for each frame of the leg, for this muscle; adds the moving frames to the set."""
        used = {self.leg.frame_of_body[body] for body in self.model.bodies_of(muscle)}
        carrier = {frame: frame for frame in ("pelvis", "femur", "tibia", "foot")}
        above, below = used & {"pelvis", "femur"}, used - {"pelvis", "femur"}
        for body, frame in self.leg.frame_of_body.items():
            if frame not in carrier:
                carrier[frame] = frame
                if frame in used:
                    self._add_frame(frame, "tibia", partial(self.knee.gliding, body))
        if above and below and not self.knee.is_hinge:
            if "foot" in below:
                carrier["femur"] = "femur_gliding"
                self._add_frame("femur_gliding", "femur", self.knee.femoral)
            else:
                carrier["tibia"] = "tibia_gliding"
                motion = partial(self.knee.gliding, self.about.bodies.tibia)
                self._add_frame("tibia_gliding", "tibia", motion)
        return carrier

    def _add_frame(self, name: str, body: str, motion: Motion) -> None:
        if name in self.frames:
            return
        degrees, shift, turn = sample_motion(motion)
        self.frames[name] = MovingFrame(
            name=name,
            body=body,
            dof="knee_flexion",
            angles=tuple(map(math.radians, degrees.tolist())),
            translations=tuple(_vector(row, 7) for row in shift),
            rotations=tuple((math.radians(x), math.radians(y), math.radians(z)) for x, y, z in turn.tolist()),
        )

    def _place(self, body: str, points: Array) -> Array:
        """Points (..., 3) of a body in the frame of the set that is parallel to the ground in the neutral pose."""
        frame = self.leg.frame_of_body[body]
        return self.leg.neutral_place(body, points) - self.origin[frame if frame in self.origin else "tibia"]

    def _point(self, point: OpenSimPoint, carrier: dict[str, str]) -> PathPoint:
        frame = carrier[self.leg.frame_of_body[point.frame.body]]
        if point.moving is not None:
            return self._moving_point(point, frame)
        assert point.location is not None
        place = self._place(point.frame.body, point.frame.place(point.location))
        return PathPoint(frame, _vector(place), self._active(point))

    def _active(self, point: OpenSimPoint) -> ActiveRange | None:
        """The range of a point with this project's degree of freedom; an end at the limit of the coordinate is open."""
        if point.condition is None:
            return None
        name, *ends = point.condition
        dof, sense = self.leg.degree_of_freedom(name)
        limits = self.model.coordinates[name]
        lower, upper = sorted(sense * end for end in ends)
        lowest, highest = sorted((sense * limits.lower, sense * limits.upper))
        degrees = [round(math.degrees(lower), 3), round(math.degrees(upper), 3)]
        if abs(lower - lowest) < _END:
            degrees[0] = min(degrees[0], _BEYOND_DEG[0])
        if abs(upper - highest) < _END:
            degrees[1] = max(degrees[1], _BEYOND_DEG[1])
        return ActiveRange(dof, *map(math.radians, degrees))

    def _moving_point(self, point: OpenSimPoint, frame: str) -> PathPoint:
        """A moving point; if its frame moves with the same angle, both motions are combined on the bone."""
        assert point.moving is not None
        dofs = {self.leg.degree_of_freedom(name)[0] for name in point.moving.coordinates}
        moved = self.frames.get(frame)
        if len(dofs) != 1 or (moved and {moved.dof} != dofs):
            raise file_error(
                "unsupported",
                self.model.file,
                f"point {point.name} moves with several angles",
                "a point that moves with one angle",
                "leave out its muscle",
            )
        (dof,) = dofs

        def place(angle: Array) -> Array:
            assert point.moving is not None
            values, number = self.leg.values_at(dof, angle), self.model.coordinate_number
            components = [
                function.value(values[:, [number[name]]])
                for function, name in zip(point.moving.functions, point.moving.coordinates, strict=True)
            ]
            positions = self._place(point.frame.body, point.frame.place(np.stack(components, axis=1)))
            if moved is None:
                return positions
            body = self.about.bodies.tibia
            rotation, shift = (
                self.knee.femoral(angle) if moved.body == "femur" else self.knee.gliding(body, angle)
            )
            return (rotation @ positions[:, :, None])[:, :, 0] + shift

        degrees, places = sample(place, DIGITS)
        angles = tuple(map(math.radians, degrees.tolist()))
        moving = MovingPosition(dof, angles, tuple(_vector(vector) for vector in places))
        standing = moving.positions[angles.index(0.0)]
        return PathPoint(moved.body if moved else frame, standing, self._active(point), moving)

    def _wrap(self, wrap: Wrap, carrier: dict[str, str]) -> PathWrap:
        surface = self.model.surfaces[wrap.surface]
        if surface.kind not in WRAP_KINDS:
            raise file_error(
                "unsupported",
                self.model.file,
                f"the wrap object {surface.name} is a {surface.kind}",
                f"{', '.join(WRAP_KINDS)}: wrap objects of a muscle set",
                "leave out its muscles",
            )
        body = surface.frame.body
        frame = carrier[self.leg.frame_of_body[body]]
        name = _plain(wrap.surface)
        if name in self.wraps and self.wraps[name].frame != frame:
            name = f"{name}_on_{frame}"
        axes = self.leg.neutral_rotation(body) @ surface.frame.rotation
        center = self._place(body, surface.frame.position)
        self.wraps[name] = WrapObject(
            name=name,
            kind=surface.kind,
            frame=frame,
            center=_vector(center),
            axes=(_vector(axes[0], 9), _vector(axes[1], 9), _vector(axes[2], 9)),
            radii=_vector(surface.radii),
            length=_digits(surface.length, DIGITS),
            side=surface.side,
        )
        return PathWrap(name, wrap.first, wrap.last, wrap.method)


def _family(muscle: OpenSimMuscle) -> str:
    """The family of curves nearest to the curves of a muscle; De Groote et al. (2016) with Thelen's passive curve."""
    if muscle.kind == "Thelen2003Muscle" or _STRAIN in muscle.curve:
        return "de_groote_2016"
    shortest = muscle.curve.get(_SHORTEST_FIBER_KEY, next(iter(_MILLARD)))
    return _MILLARD[min(_MILLARD, key=lambda length: abs(length - shortest))]


WORDS_OF = "silva_2003"
"""The set that has words for muscles of legs."""


@cache
def long_name(model_name: str) -> tuple[str, str, dict[str, str]]:
    """Long name, group and texts of a muscle from silva_2003; for an unknown muscle its name in the model."""
    table = bundled_toml("musclesolve.models.opensim", "leg_names.toml")
    short = _plain(model_name)
    name = next((long for long, short_names in table["names"].items() if short in short_names), short)
    like = load(WORDS_OF)
    texts = table["texts"].get(name, {})
    if name in like:
        same = like[name]
        texts = {"origin": same.origin, "insertion": same.insertion, "action": same.action}
    group = table["groups"].get(name) or (like[name].group if name in like else "other")
    return name, group, texts


def _plain(name: str) -> str:
    """A name of the model in lower snake case, without side."""
    letters = "".join(c if c.isalnum() else "_" for c in name.lower().removesuffix("_r"))
    return "_".join(part for part in letters.split("_") if part)


def _digits(value: float, decimals: int) -> float:
    return round(float(value), decimals) + 0.0


def _vector(values: Array, decimals: int = DIGITS) -> Vector:
    """A vector (3,) as three rounded numbers."""
    x, y, z = (_digits(value, decimals) for value in values)
    return x, y, z
