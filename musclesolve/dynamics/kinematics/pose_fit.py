"""Kinematic consistency: the pose nearest to the measured points and directions that satisfies every constraint.

Minimise 1/2 sum_n w_n |q_n - target_n|^2 subject to Phi(q) = 0. The steps go along the allowed directions D (the null
space of Phi_q), after which the pose is rebuilt from the joint coordinates, so that the constraints hold to round-off
at every iterate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_array
from musclesolve.dynamics.kinematics.joint_coordinates import continuous_branch
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.pose_iteration import NearestPose, Pose
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import angle_between, best_rotation, from_cardan, to_cardan
from musclesolve.dynamics.vectors import blocks
from musclesolve.errors import InputError, MuscleSolveError

_KEY_FRAMES = 10  # Every so many frames one is found from the standing pose

_SUSPECT = 0.5
"""Angle between the base as found from neighbors and as its own points show it that is looked into [rad]."""


@dataclass(frozen=True)
class Fit:
    """The consistent motion: joint and base coordinates (T, K+6), poses q (T, N, 3), what the fit moved.

    residual (T, n) [m]: how far each of the measured points (n) was moved. locked: degrees of freedom that no target
    informs, held at zero. borrowed: those that `drive_pose` could not measure and has from the nearest pose.
    """

    coordinates: Array
    q: Array
    residual: Array
    points: tuple[str, ...]
    locked: tuple[str, ...]
    borrowed: tuple[str, ...] = ()


def fit_pose(
    model: Model,
    targets: Targets,
    time: Array | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 60,
    start: Array | None = None,
) -> Fit:
    """Nearest consistent pose of every frame.

    Every tenth frame is found from the standing pose, the others from splines through those. A good start spares most
    of that; one that does not lead to a solution is ignored.

    Args:
        model: the model.
        targets: measured points and directions.
        time: (T,) [s], to name frames by; their numbers are named without it.
        tolerance: largest change of an angle [rad] or position [m] in the last step.
        max_iterations: largest number of steps.
        start: (T, K+6) coordinates near the solution, on which it does not depend.

    Raises:
        InputError: no point of the base body was measured; a start of another shape.
        MuscleSolveError: frames that do not converge; says which, and which target is farthest off.
    """
    frames = len(targets.values)
    names = np.arange(frames) if time is None else time
    free, rest = observable_dofs(model, targets), rest_weights(model, targets)
    every = NearestPose(model, targets, free, rest, names)
    pose = None if start is None else _from_guess(every, start, tolerance, max_iterations)
    if pose is None:
        pose = _in_blocks(every, _searched(every, max_iterations), tolerance, max_iterations)
    return fit_of(model, targets, pose, locked=np.flatnonzero(~free))


def _searched(every: NearestPose, max_iterations: int) -> Pose:
    """A pose of all frames near the solution, found from the standing pose."""
    model, frames = every.model, len(every.names)
    chosen = np.unique(np.append(np.arange(0, frames, _KEY_FRAMES), frames - 1))
    measured, keys = _start(model, every.targets), every.frames(chosen)
    few = keys.without_jumps(keys.converge(measured.frames(chosen), 1e-3, max_iterations), max_iterations)
    spread = replace(few, angles=continuous_branch(model, few.angles)).spread(frames, chosen)
    # A subject who turns around between two of these frames is not where a curve through them leads.
    suspect = np.flatnonzero(angle_between(spread.rotation, measured.rotation) > _SUSPECT)
    if suspect.size:
        base = replace(measured, angles=spread.angles).frames(suspect)
        spread.put(suspect, every.frames(suspect).nearer(spread.frames(suspect), base))
    return spread


def _from_guess(every: NearestPose, start: Array, tolerance: float, max_iterations: int) -> Pose | None:
    """The solution from coordinates near it; None if they are not near enough."""
    names = every.model.topology.dof_names
    start = check_array(start, "the start", (len(every.names), len(names)), names)
    joints = every.model.tree.joint_count
    pose = Pose(start[:, :joints], start[:, joints : joints + 3], from_cardan(*start[:, joints + 3 :].T))
    try:
        found = _in_blocks(every, pose, tolerance, max_iterations)
    except MuscleSolveError:
        return None
    return None if _overturned(every, found) else found


def _overturned(every: NearestPose, pose: Pose) -> bool:
    """Whether the base or a direction points away from where it was measured.

    There the misfit is stationary too, but not least: a start that is 180 degrees off ends there.
    """
    model, targets = every.model, every.targets
    base = angle_between(pose.rotation, _start(model, targets).rotation)
    directions = targets.slots >= model.topology.point_count
    q = model.tree.pose(pose.angles, pose.position, pose.rotation)[:, targets.slots[directions]]
    along = (q * targets.values[:, directions]).sum(axis=2)
    return bool((base > 0.5 * np.pi).any() or (along < 0.0).any())


def _in_blocks(every: NearestPose, start: Pose, tolerance: float, max_iterations: int) -> Pose:
    parts = [
        every.frames(block).converge(start.frames(block), tolerance, max_iterations)
        for block in blocks(len(every.names))
    ]
    return Pose.joined(parts)


def fit_of(model: Model, targets: Targets, pose: Pose, locked: Indices, borrowed: Sequence[int] = ()) -> Fit:
    """A pose (T) as the solution for what was measured; `locked` and `borrowed` by their places among the dofs."""
    base = np.column_stack([pose.position, *to_cardan(pose.rotation)])
    angles = continuous_branch(model, pose.angles)
    q = model.tree.pose(angles, pose.position, pose.rotation)
    seen = targets.slots < model.topology.point_count
    return Fit(
        coordinates=np.column_stack([angles, base]),
        q=q,
        residual=np.linalg.norm((q[:, targets.slots] - targets.values)[:, seen], axis=2),
        points=tuple(model.topology.coordinate_names[slot] for slot in targets.slots[seen]),
        locked=tuple(model.topology.dof_names[k] for k in locked),
        borrowed=tuple(model.topology.dof_names[k] for k in borrowed),
    )


def observable_dofs(model: Model, targets: Targets) -> Mask:
    """(K+6,) which degrees of freedom move any target in a general pose; the others stay locked at zero."""
    return np.abs(generic_directions(model, targets)).max(axis=(0, 1)) > 1e-6


def generic_directions(model: Model, targets: Targets) -> Array:
    """D (n, 3, K+6) of the targets in a pose that is special for none of them."""
    tree = model.tree
    generic = np.full((1, tree.joint_count), 0.3)
    q = tree.pose(generic, np.zeros((1, 3)), np.eye(3)[None])
    return tree.allowed(q, np.zeros((1, 3)), targets.slots)[0]


def rest_weights(model: Model, targets: Targets) -> Array:
    """(K+6,) weights that draw angles to zero: the model's, but none where the driven direction is measured."""
    weights = np.zeros(len(model.topology.dof_names))
    for k, dof in enumerate(model.topology.dofs):
        measured = dof.follower[0] is None and model.topology.slots_of(dof.follower)[1] in targets.slots
        weights[k] = 0.0 if measured else dof.rest**2
    return weights


def _start(model: Model, targets: Targets) -> Pose:
    """Base body placed on its own measured points and directions; joints at zero."""
    own = np.isin(targets.slots, np.flatnonzero(model.tree.owner == model.tree.root))
    slots, values = targets.slots[own], targets.values[:, own]
    point = slots < model.topology.point_count
    if not point.any():
        base = model.topology.bodies[model.tree.root]
        raise InputError(
            f"no point of the base body {base.name!r} was measured",
            code="conflict",
            expected=f"some of {', '.join(base.points)} among the targets",
        )
    middle = values[:, point].mean(axis=1)
    standing = model.standing[slots].copy()
    standing[point] -= standing[point].mean(axis=0)
    measured = np.where(point[:, None], values - middle[:, None], values)
    rotation = best_rotation(standing, measured)
    position = middle - rotation @ model.standing[slots[point]].mean(axis=0)
    return Pose(np.zeros((len(position), model.tree.joint_count)), position, rotation)
