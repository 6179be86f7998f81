"""A muscle set on the skeleton of this project with the hip and ankle of an OpenSim model, by plain arrays.

Ball hip, hinge knee about the left axis, the model's ankle: the second route to lengths of a set that was made from
the model. Poses of the frames are (rotation (T, 3, 3), origin (T, 3)), forward, left, up, from the pelvis.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from muscle_db import MuscleDatabase
from muscle_db.model import MovingFrame, PathPoint
from musclesolve.models.opensim.kinematics import body_motion
from musclesolve.models.opensim.model import TO_GLOBAL, OpenSimModel
from musclesolve.muscles.paths.engine import KINDS, PathLayout, solve_paths

Pose = tuple[np.ndarray, np.ndarray]


def natural_spline(knots: tuple[float, ...], values: object, x: np.ndarray) -> np.ndarray:
    """Natural cubic spline, straight beyond the ends."""
    spline = CubicSpline(knots, np.asarray(values), bc_type="natural")
    inside = np.clip(x, knots[0], knots[-1])
    return spline(inside) + (x - inside)[:, None] * spline(inside, 1)


def after(first: Pose, second: Pose) -> Pose:
    """The pose `second`, given in the frame `first`."""
    rotation, origin = first
    return rotation @ second[0], (rotation @ second[1][..., None])[..., 0] + origin


def relative(model: OpenSimModel, values: np.ndarray, zero: np.ndarray, base: str, body: str) -> Pose:
    """Displacement of a body from its neutral pose, seen from that of `base`, about the model's ground origin."""
    found = []
    for name in (base, body):
        b = model.body_number[name]
        here, there = body_motion(model, values), body_motion(model, zero)
        rotation = here.rotation[:, b] @ there.rotation[0, b].T
        shift = here.position[:, b] - rotation @ there.position[0, b]
        found.append((TO_GLOBAL @ rotation @ TO_GLOBAL.T, shift @ TO_GLOBAL.T))
    (base_rotation, base_shift), (rotation, shift) = found
    back = base_rotation.transpose(0, 2, 1)
    return back @ rotation, (back @ (shift - base_shift)[..., None])[..., 0]


def about(displacement: Pose, center: np.ndarray) -> Pose:
    """Pose of a frame with its origin at a center, that was parallel to the ground before the displacement."""
    rotation, shift = displacement
    return rotation, rotation @ center + shift


def frame_poses(
    database: MuscleDatabase,
    model: OpenSimModel,
    values: np.ndarray,
    zero: np.ndarray,
    angle: dict[str, np.ndarray],
) -> dict[str, Pose]:
    """Poses of all frames of a set."""
    reference = database.reference
    pelvis = body_motion(model, zero).position[0, model.body_number["pelvis"]] @ TO_GLOBAL.T
    hip = pelvis + np.array(reference["pelvis"].position)
    knee = hip + np.array(reference["femur"].end_place)
    size = len(values)
    poses = {
        "pelvis": (np.broadcast_to(np.eye(3), (size, 3, 3)), np.broadcast_to(pelvis, (size, 3))),
        "femur": about(relative(model, values, zero, "pelvis", "femur_r"), hip),
    }
    hinge = Rotation.from_rotvec(angle["knee_flexion"][:, None] * [0.0, 1.0, 0.0]).as_matrix()
    poses["tibia"] = after(poses["femur"], (hinge, np.broadcast_to(reference["femur"].end_place, (size, 3))))
    foot = "calcn_r" if "calcn_r" in model.bodies else "talus_r"
    rotation, shift = relative(model, values, zero, "tibia_r", foot)
    ankle = (rotation, rotation @ (knee + np.array(reference["tibia"].end_place)) + shift - knee)
    poses["foot"] = after(poses["tibia"], ankle)
    return with_frames(database, poses, angle)


def with_frames(
    database: MuscleDatabase, bones: dict[str, Pose], angle: dict[str, np.ndarray]
) -> dict[str, Pose]:
    """Poses of the bones, and of the moving frames of a set on them."""
    moving = {
        name: after(bones[frame.body], moving_pose(frame, angle[frame.dof]))
        for name, frame in database.frames.items()
    }
    return bones | moving


def moving_pose(frame: MovingFrame, angle: np.ndarray) -> Pose:
    """Pose of a moving frame in its body."""
    turn = natural_spline(frame.angles, frame.rotations, angle)
    return Rotation.from_rotvec(turn).as_matrix(), natural_spline(frame.angles, frame.translations, angle)


def placed(pose: Pose, point: np.ndarray) -> np.ndarray:
    """A point of a frame (3,) or (T, 3)."""
    return (pose[0] @ np.broadcast_to(point, pose[1].shape)[..., None])[..., 0] + pose[1]


def place_of(point: PathPoint, angle: dict[str, np.ndarray]) -> np.ndarray:
    """Place of a point in its frame."""
    if point.moving is None:
        return np.array(point.position)
    return natural_spline(point.moving.angles, point.moving.positions, angle[point.moving.dof])


def set_layout(database: MuscleDatabase) -> PathLayout:
    """The paths of a set for the engine."""
    names = list(database.wrap_objects)
    objects = list(database.wrap_objects.values())
    owner = np.repeat(np.arange(len(database)), [len(muscle.path) for muscle in database])
    start = np.searchsorted(owner, np.arange(len(database) + 1))
    wraps = [(m, muscle, wrap) for m, muscle in enumerate(database) for wrap in muscle.wraps]
    last = [start[m] + (wrap.last or len(muscle.path)) - 1 for m, muscle, wrap in wraps]
    return PathLayout(
        point_muscle=owner,
        kind=np.array([KINDS.index(each.kind) for each in objects], dtype=np.intp),
        radii=np.array([each.radii for each in objects]).reshape(-1, 3),
        half_length=np.array([0.5 * each.length for each in objects]),
        side_axis=np.array(
            ["xyz".find(each.side[-1]) * (each.side != "all") for each in objects], dtype=np.intp
        ),
        side_sign=np.array([0.0 if each.side == "all" else float(f"{each.side[0]}1") for each in objects]),
        wrap_muscle=np.array([m for m, _, _ in wraps], dtype=np.intp),
        wrap_object=np.array([names.index(wrap.object) for _, _, wrap in wraps], dtype=np.intp),
        wrap_first=np.array([start[m] + (wrap.first or 1) - 1 for m, _, wrap in wraps], dtype=np.intp),
        wrap_last=np.array(last, dtype=np.intp),
    )


def set_lengths(database: MuscleDatabase, poses: dict[str, Pose], angle: dict[str, np.ndarray]) -> np.ndarray:
    """Musculotendon lengths (T, n) [m] of a set for poses of its frames."""
    size = len(poses["pelvis"][1])
    points = [point for muscle in database for point in muscle.path]
    objects = list(database.wrap_objects.values())
    position = np.stack([placed(poses[point.frame], place_of(point, angle)) for point in points], axis=1)
    on = np.ones(position.shape[:2], dtype=bool)
    for p, point in enumerate(points):
        if point.active is not None:
            on[:, p] = [point.active.holds(value) for value in angle[point.active.dof]]
    center = np.zeros((size, len(objects), 3))
    rotation = np.zeros((size, len(objects), 3, 3))
    for o, each in enumerate(objects):
        center[:, o] = placed(poses[each.frame], np.array(each.center))
        rotation[:, o] = poses[each.frame][0] @ np.array(each.axes)
    return solve_paths(set_layout(database), position, on, center, rotation).length
