"""Kinematic consistency: the pose nearest to the measured points and directions that satisfies every constraint.

Minimise 1/2 sum_n w_n |q_n - target_n|^2 subject to Phi(q) = 0, by Gauss-Newton steps along the allowed
directions D (the null space of Phi_q): (D^T W D) ds = D^T W (target - q), after which the pose is rebuilt from the
joint coordinates, so that the constraints hold to round-off at every iterate. All frames advance together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve.dynamics.model import Model
from musclesolve.dynamics.rotation_vector import from_vector
from musclesolve.dynamics.rotations import best_rotation, to_cardan
from musclesolve.dynamics.tree import Tree
from musclesolve.errors import MuscleSolveError

Array = np.ndarray

DIRECTION_ARM = 0.1
"""A direction weighs as much as a point seen on an arm of this length [m]."""

_LARGEST_TURN = 0.5
"""Largest change of an angle in one step [rad]; keeps the first steps from a standing start on track."""

_KEY_FRAMES = 10
"""Every so many frames one is found from the standing pose."""


@dataclass(frozen=True)
class Targets:
    """What was measured: slots (n,), positions or unit directions (T, n, 3), weights (n,)."""

    slots: Array
    values: Array
    weights: Array

    @classmethod
    def build(cls, model: Model, points: dict[str, Array], directions: dict[str, Array]) -> Targets:
        """Targets from named points [m] and unit directions, each (T, 3), by the model's names."""
        named = list(points.items()) + list(directions.items())
        slots = np.array([model.slot(name) for name, _ in named])
        values = np.stack([np.asarray(value, float) for _, value in named], axis=1)
        weights = np.where(slots < model.topology.point_count, 1.0, DIRECTION_ARM**2)
        return cls(slots, values, weights)

    def frames(self, keep: slice) -> Targets:
        """The same at some frames."""
        return Targets(self.slots, self.values[keep], self.weights)


@dataclass(frozen=True)
class Fit:
    """The consistent motion: joint and base coordinates (T, K+6), poses q (T, N, 3), what the fit moved.

    locked: degrees of freedom that no target informs, held at zero. residual (T, n) [m] at the measured points.
    """

    coordinates: Array
    q: Array
    residual: Array
    locked: tuple[str, ...]


def fit_pose(model: Model, targets: Targets, tolerance: float = 1e-8, max_iterations: int = 60) -> Fit:
    """Nearest consistent pose of every frame.

    Every tenth frame is found from the standing pose, the others from their neighbours among those.

    Args:
        model: the person.
        targets: measured points and directions.
        tolerance: largest change of an angle [rad] or position [m] in the last step.
        max_iterations: give up after so many steps.

    Raises:
        MuscleSolveError: frames that do not converge; says which and how far the worst is.
    """
    free = informed_dofs(model, targets)
    keys = targets.frames(slice(None, None, _KEY_FRAMES))
    few = _converge(model, keys, _start(model, keys), free, _KEY_FRAMES, 1e-3, max_iterations)
    start = few.spread(len(targets.values), _KEY_FRAMES)
    pose = _converge(model, targets, start, free, 1, tolerance, max_iterations)
    base = np.column_stack([pose.position, *to_cardan(pose.rotation)])
    q = model.tree.pose(pose.angles, pose.position, pose.rotation)
    seen = targets.slots < model.topology.point_count
    residual = np.linalg.norm((q[:, targets.slots] - targets.values)[:, seen], axis=2)
    names = model.topology.dof_names
    locked = tuple(names[k] for k in np.flatnonzero(~free))
    return Fit(np.column_stack([model.tree.unwrapped(pose.angles), base]), q, residual, locked)


@dataclass(frozen=True)
class _Pose:
    """Joint angles (T, K), position (T, 3) and rotation (T, 3, 3) of the base."""

    angles: Array
    position: Array
    rotation: Array

    def moved(self, tree: Tree, step: Array) -> _Pose:
        """After a step in the speeds (T, K+6)."""
        joints = self.angles.shape[1]
        turn = from_vector(step[:, joints + 3 :])
        return _Pose(
            tree.moved(self.angles, step[:, :joints]),
            self.position + step[:, joints : joints + 3],
            turn @ self.rotation,
        )

    def spread(self, frames: int, every: int) -> _Pose:
        """From every so-manieth frame to all: angles and position between neighbours, rotation of the nearest."""
        at = np.arange(frames) / every
        low = np.minimum(at.astype(int), len(self.angles) - 1)
        high, part = np.minimum(low + 1, len(self.angles) - 1), (at - low)[:, None]
        nearest = np.where(part[:, 0] < 0.5, low, high)
        return _Pose(
            (1.0 - part) * self.angles[low] + part * self.angles[high],
            (1.0 - part) * self.position[low] + part * self.position[high],
            self.rotation[nearest],
        )


def _converge(
    model: Model,
    targets: Targets,
    pose: _Pose,
    free: Array,
    every: int,
    tolerance: float,
    max_iterations: int,
) -> _Pose:
    """Gauss-Newton steps until no frame moves any more."""
    largest = np.full(len(targets.values), np.inf)
    for _ in range(max_iterations):
        q = model.tree.pose(pose.angles, pose.position, pose.rotation)
        step = _step(model, targets, q, pose.position, free)
        pose = pose.moved(model.tree, step)
        largest = np.abs(step).max(axis=1)
        if (largest < tolerance).all():
            return pose
    worst = int(np.argmax(largest))
    raise MuscleSolveError(
        f"no consistent pose was found for {int((largest >= tolerance).sum())} of {len(largest)} frames; the worst is "
        f"frame {every * worst}, still moving by {largest[worst]:.2g} rad after {max_iterations} steps. "
        "Markers that are swapped or mislabelled in that frame are the usual reason."
    )


def informed_dofs(model: Model, targets: Targets) -> Array:
    """(K+6,) which degrees of freedom move any target in a general pose; the others stay locked at zero."""
    tree = model.tree
    generic = np.full((1, tree.joint_count), 0.3)
    q = tree.pose(generic, np.zeros((1, 3)), np.eye(3)[None])
    moved = np.abs(tree.allowed(q, np.zeros((1, 3)))[0, targets.slots]).max(axis=(0, 1))
    return moved > 1e-6


def _start(model: Model, targets: Targets) -> _Pose:
    """Base body placed on its own measured points and directions; joints at zero."""
    own = np.isin(targets.slots, np.flatnonzero(model.tree.owner == model.tree.root))
    slots, values = targets.slots[own], targets.values[:, own]
    point = slots < model.topology.point_count
    middle = values[:, point].mean(axis=1)
    standing = model.standing[slots].copy()
    standing[point] -= standing[point].mean(axis=0)
    measured = np.where(point[:, None], values - middle[:, None], values)
    rotation = best_rotation(standing, measured)
    position = middle - rotation @ model.standing[slots[point]].mean(axis=0)
    return _Pose(np.zeros((len(position), model.tree.joint_count)), position, rotation)


def _step(model: Model, targets: Targets, q: Array, origin: Array, free: Array) -> Array:
    """One Gauss-Newton step in the speeds, (T, K+6), zero where locked."""
    directions = model.tree.allowed(q, origin, targets.slots)[..., free]
    frames, count = directions.shape[0], int(free.sum())
    jacobian = (directions * np.sqrt(targets.weights)[:, None, None]).reshape(frames, -1, count)
    misfit = (targets.values - q[:, targets.slots]) * np.sqrt(targets.weights)[:, None]
    normal = np.swapaxes(jacobian, 1, 2) @ jacobian
    # A straight elbow leaves the turn of the upper arm undetermined: a little damping keeps it where it is.
    normal += 1e-7 * np.eye(count)
    gradient = np.einsum("tik,ti->tk", jacobian, misfit.reshape(frames, -1))
    step = np.zeros((frames, len(free)))
    step[:, free] = np.linalg.solve(normal, gradient[..., None])[..., 0]
    turns = np.abs(step[:, : model.tree.joint_count]).max(axis=1, initial=0.0)
    return step * np.minimum(1.0, _LARGEST_TURN / np.maximum(turns, 1e-12))[:, None]
