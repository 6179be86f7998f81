"""The right leg of an OpenSim model with all coordinates zero, in the axes of this project (x forward, y left, z up).

Every body of the leg belongs to one of the frames "pelvis", "femur", "tibia" and "foot", or moves separately with the
knee, as the patella does. A displacement D(theta) = X(theta) X(0)^-1 is the motion of a body relative to the femur from
its neutral pose, when the knee flexes by theta.

On a skeleton with a hinge knee, a gliding knee becomes a fixed center and moving frames: the hinge H(theta) turns the
shank about the left axis through the knee center. The tibia of the model moves by D(theta) relative to the femur.
Muscles from above the knee have their tibial points on a frame that moves on the shank by G = H^-1 D, and muscles from
the femur to the foot have their femoral points on a frame that moves on the thigh by H D^-1 = H G^-1 H^-1. Lengths are
then as in the model.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.names import check_known
from musclesolve._util.splines import spline_through
from musclesolve.errors import file_error
from musclesolve.opensim.kinematics import BodyMotion, body_motion, coordinate_values
from musclesolve.opensim.model import TO_GLOBAL, Joint, OpenSimModel

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

    @cached_property
    def ankle(self) -> Array:
        """Ankle center in the neutral pose."""
        return self.joint_center(self.bodies.talus)

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
