"""The consistent motion of measured points: positions by one of two methods or as measured, derivatives by two methods.

`fit_pose` (the module of that name) finds the nearest pose. `drive_pose` measures the joint angles body by body, then
drives the model by them (Silva 2003, 5.3.1). Every body is placed by its own measured points and directions,
independent of its neighbors; the distances between bodies differ from frame to frame. The angle between a body and the
one before it is the rotation about the axes of the joints between them that brings the body's points and directions
nearest to the measured ones. Links keep the lengths of the model, the base lies on its own points, and the pose follows
along the tree: the solution to which Newton-Raphson on the driven constraints (5.7) converges. Errors that the joints
cannot follow are not distributed among the points, as in `fit_pose`, but carried outward: they add up along a chain,
and ends (hands, feet, head) are moved most.

`drive_plan` determines the order of the bodies, from the base outward. Each body is fitted twice: the
joints between it and a body that is placed already, with the whole tree free to shift; then its own place, with all
joints held. Every solve starts from the pose of an earlier one.

`measured_pose` does not fit the pose to the model (the "non-consistent" data of Silva 2003): q has points and axes as
measured, so that distances change from frame to frame and Phi(q) = 0 is violated. Vectors that were not measured, and
points without a marker, come from the nearest pose.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, unit
from musclesolve._util.checks import check_increasing
from musclesolve._util.messages import check_known
from musclesolve._util.splines import spline_through
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_with, splined_motion
from musclesolve.dynamics.kinematics.pose_fit import (
    Fit,
    NearestPose,
    Pose,
    Rest,
    fit_of,
    fit_pose,
    generic_directions,
)
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import lines_of
from musclesolve.errors import input_error


def drive_pose(
    model: Model,
    targets: Targets,
    time: Array | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 60,
    start: Array | Fit | None = None,
    rest: Rest | None = None,
) -> Fit:
    """Pose of every frame with base and joint angles as measured, body by body (Silva 2003, 5.3).

    An angle that no single body's measured points determine has the value of the nearest pose; `borrowed` names it.

    Args:
        model, targets, time, tolerance, max_iterations, start, rest: as in `fit_pose`.

    Returns:
        The fitted poses.

    Raises:
        InputError, MuscleSolveError: as in `fit_pose`.
    """
    nearest = NearestPose.from_targets(model, targets, time)
    near = fit_pose(model, targets, time, tolerance, max_iterations, start, rest)
    nearest = replace(nearest, rest=near.rest)
    plan = drive_plan(nearest)
    poses = plan.poses(nearest, Pose.from_coordinates(near.coordinates), tolerance, max_iterations)
    angles = poses[0].angles.copy()
    for joint, solve in plan.pose_of.items():
        angles[:, joint] = poses[solve].angles[:, joint]
    borrowed = set(np.flatnonzero(nearest.free[: model.tree.joint_count]).tolist()) - set(plan.pose_of)
    return fit_of(nearest, poses[OF_BASE]._replace(angles=angles), sorted(borrowed))


def consistent_motion(
    model: Model,
    targets: Targets,
    time: Array,
    method: str = "nearest",
    derivatives: str = "constraints",
    start: Array | Fit | None = None,
    rest: Rest | None = None,
) -> tuple[Fit, Motion]:
    """Positions that satisfy every constraint, and their velocities and accelerations (Silva 2003, 5.3).

    Args:
        targets: measured points and directions.
        time: (T,) [s].
        method: "nearest" (`fit_pose`), "joint_angles" (`drive_pose`), or "none": positions that need not satisfy the
            constraints (`measured_pose`).
        derivatives: "constraints" (`splined_motion`) or "splines" (`differentiate_points`), the only ones of "none".
        start: coordinates (T, K+6) near the solution, or the fit of nearly the same targets, as in `fit_pose`.
        rest: as in `fit_pose`.

    Returns:
        The fitted poses, and the motion with q, qd and qdd (T, N, 3) [m, m/s, m/s2].

    Raises:
        InputError: an unknown method; derivatives by constraints that the positions do not satisfy; fewer than six
            frames; no point of the base was measured.
        MuscleSolveError: frames that do not converge.

    Examples:
        >>> stride, time = ms.studies.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> q = stride.motion(time).q
        >>> names = stride.model.topology.coordinate_names[: stride.model.topology.point_count]
        >>> points = {name: q[:, k] for k, name in enumerate(names)}
        >>> targets = ms.dynamics.Targets.build(stride.model, points, {})
        >>> fit, motion = ms.dynamics.consistent_motion(stride.model, targets, time)
        >>> bool(fit.residual.max() < 1e-3)
        True
    """
    check_known([method], "way to consistency", POSITIONS)
    check_known([derivatives], "way to consistency", DERIVATIVES)
    if method == UNCHANGED and derivatives != "splines":
        raise input_error(
            "conflict",
            problem=f'derivatives = "{derivatives}" with method = "none"',
            expected="splines: positions that violate the constraints have no rates that satisfy them",
            remedy='choose derivatives = "splines", or leave it out',
        )
    fit = POSITIONS[method](model, targets, time, start=start, rest=rest)
    motion = DERIVATIVES[derivatives](model, time, fit)
    return replace(fit, placed=partial(getattr, motion, "q")), motion


def differentiate_points(model: Model, time: Array, coordinates: Array, q: Array) -> Motion:
    """Velocities and accelerations of every point and vector of q (T, N, 3) by quintic splines (Silva 2003, 5.3.2).

    Phi_q qd = 0 and Phi_q qdd = gamma hold up to the error of the splines, see `Constraints.rate_violation`. qd and qdd
    enter the equations of motion unchanged; the joint speeds are the nearest ones (least squares).
    """
    time = check_increasing(time, 6)
    spline = spline_through(time, q, 5)
    return motion_with(model, time, coordinates, q, spline(time, 1), spline(time, 2))


UNCHANGED = "none"
"""Name of the method that leaves positions as measured."""


def measured_pose(
    model: Model,
    targets: Targets,
    time: Array | None = None,
    start: Array | Fit | None = None,
    rest: Rest | None = None,
) -> Fit:
    """Pose with every point and axis as measured; joint coordinates are taken from the nearest pose.

    No point is moved, so the residual is zero; `model.constraints.violation(fit.q)` is the error of the constraints.
    Arguments and exceptions are as for `fit_pose`.
    """
    nearest = fit_pose(model, targets, time, start=start, rest=rest)
    q = nearest.q.copy()
    q[:, targets.slots] = targets.values
    return replace(nearest, placed=partial(np.asarray, q), residual=np.zeros_like(nearest.residual))


OF_BASE = 1
"""Number of the pose of a `DrivePlan` that has the place of the base."""

_SEEN = 1e-6
"""A rotation counts as not seen if it moves points by less than this share of the largest movement by a rotation."""


@dataclass(frozen=True)
class Solve:
    """A fit to the targets at `places` over the speeds that are `free`, from the pose numbered `after`.

    line: from- and to-slot of the only line of a placed body that these targets show; None where they show the whole
    orientation, and for a fit of joints. The body is not rotated about that line.
    """

    after: int
    free: Mask
    places: Indices
    line: tuple[int, int] | None = None


@dataclass(frozen=True)
class DrivePlan:
    """All solves in order; their poses are numbered from 1, pose 0 is the start.

    pose_of: joint -> number of the pose that has its angle.
    """

    solves: tuple[Solve, ...]
    pose_of: dict[int, int]

    def poses(self, nearest: NearestPose, start: Pose, tolerance: float, limit: int) -> list[Pose]:
        """The start, then the pose from each solve.

        The whole tree moves with the fitted body; only the targets of this body count.
        """
        poses = [start]
        for solve in self.solves:
            local = replace(nearest, targets=nearest.targets.among(solve.places), free=solve.free)
            before = poses[solve.after]
            after = local.converge(before, tolerance, limit)
            poses.append(
                after if solve.line is None else _without_twist(nearest.model, solve.line, before, after)
            )
        return poses


def _without_twist(model: Model, line: tuple[int, int], before: Pose, after: Pose) -> Pose:
    """The pose after a fit, rotated about a line of a body so that the line has moved there by the shortest rotation.

    No target shows the rotation about the line, so it would depend on the steps of the fit.
    """

    def half_turn(axis: Array) -> Array:
        return np.asarray(2.0 * axis[:, :, None] * axis[:, None] - np.eye(3))

    q_before, q_after = before.q(model.tree), after.q(model.tree)
    a, b = (unit(lines_of(q, np.array([line]))[:, 0]) for q in (q_before, q_after))
    rotation = half_turn(unit(a + b)) @ half_turn(a) @ before.rotation
    old, new = q_before[:, line[1]], q_after[:, line[1]]
    carried = rotation @ np.swapaxes(before.rotation, 1, 2) @ (old - before.position)[..., None]
    return after._replace(position=new - carried[..., 0], rotation=rotation)


def drive_plan(nearest: NearestPose) -> DrivePlan:
    """The solves that determine the joints of a model from its targets, from the base outward."""
    model, tree, targets = nearest.model, nearest.model.tree, nearest.targets
    on_joints, points = tree.distal_frames.astype(bool), model.topology.point_count
    moved = generic_directions(model, targets)
    slots = [[model.topology.slot[name] for name in body.members] for body in model.topology.bodies]
    places = [np.flatnonzero(np.isin(targets.slots, members)) for members in slots]
    outwards = np.argsort(on_joints[: len(places)].sum(axis=1), kind="stable").tolist()
    base = list(range(tree.joint_count, tree.joint_count + 6))
    solves: list[Solve] = []
    pose_of: dict[int, int] = {}
    lying: dict[int, int] = {}  # frames whose orientation is known, with the number of the pose that has it

    def add(body: int, after: int, speeds: list[int], line: tuple[int, int] | None) -> int:
        free = np.zeros_like(nearest.free)
        free[speeds] = nearest.free[speeds]
        solves.append(Solve(after, free, places[body], line))
        return len(solves)

    def line_of(body: int) -> tuple[int, int] | None:
        """The ends of the line on which all measured points of a body lie; None if its targets show more."""
        slots = targets.slots[places[body]]
        slots = slots[slots < points]
        if len(slots) < 2:
            return None
        away = np.linalg.norm(model.standing[slots] - model.standing[slots[0]], axis=1)
        return int(slots[0]), int(slots[np.argmax(away)])

    _, whole = _determined(moved[places[tree.root]], np.array([], int))
    lying[tree.root] = add(tree.root, 0, base, None if whole else line_of(tree.root))
    grown = True
    while grown:
        grown = False
        for body in outwards:
            if body in lying or not places[body].size:
                continue
            chain = [f for f in range(len(on_joints)) if not (on_joints[f] & ~on_joints[body]).any()]
            before = max((f for f in chain if f in lying), key=lambda f: int(on_joints[f].sum()))
            pending = np.flatnonzero(on_joints[body] & ~on_joints[before] & nearest.free[: tree.joint_count])
            shows, whole = _determined(moved[places[body]], pending)
            if not (shows or whole):
                continue
            pose = lying[before]
            if shows:
                pose = add(body, pose, [*pending.tolist(), *base[:3]], None)
                pose_of |= dict.fromkeys(pending.tolist(), pose)
                between = [f for f in chain if f != body and (on_joints[f] & ~on_joints[before]).any()]
                lying |= dict.fromkeys(between, pose)
            lying[body] = add(body, pose, base, None if whole else line_of(body))
            grown = True
    return DrivePlan(tuple(solves), pose_of)


def _determined(moved: Array, pending: Indices) -> tuple[bool, bool]:
    """Whether points, moved (n, 3, K+6) per unit speed, determine all pending joints, and the body's orientation."""
    flat = moved.reshape(-1, moved.shape[2])
    shift, rotation = flat[:, -6:-3], flat[:, -3:]

    def rank(columns: Array) -> int:
        # Motion that a shift of the body also produces does not count.
        both = np.hstack([columns, shift])
        return int(
            np.linalg.matrix_rank(both, _SEEN * np.abs(both).max()) - np.linalg.matrix_rank(shift, _SEEN)
        )

    return bool(pending.size) and rank(flat[:, pending]) == pending.size, rank(rotation) == 3


METHODS: dict[str, Callable[..., Fit]] = {"nearest": fit_pose, "joint_angles": drive_pose}
"""Methods to find positions that satisfy every constraint."""

POSITIONS = METHODS | {UNCHANGED: measured_pose}

DERIVATIVES: dict[str, Callable[[Model, Array, Fit], Motion]] = {
    "constraints": lambda model, time, fit: splined_motion(model, time, fit.coordinates),
    "splines": lambda model, time, fit: differentiate_points(model, time, fit.coordinates, fit.q),
}
