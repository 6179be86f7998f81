"""Kinematic consistency: the pose nearest to the measured points and directions that satisfies every constraint.

Minimise 1/2 sum_n w_n |q_n - target_n|^2 subject to Phi(q) = 0, by Gauss-Newton steps along the allowed
directions D (the null space of Phi_q): (D^T W D) ds = D^T W (target - q), after which the pose is rebuilt from the
joint coordinates, so that the constraints hold to round-off at every iterate. All frames advance together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from musclesolve.dynamics.branches import one_branch
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

_BLOCK = 500
"""Frames fitted at once: many enough for speed, few enough for memory."""

_NEAR = 0.1
"""Frames whose last step was shorter than this [rad, m] are near the optimum."""

_LEAP = 2.0
"""A change of an angle between key frames that no movement makes [rad]."""

_DAMPING = 1e-9
"""Keeps a step finite in a direction that the targets do not see at the moment [m2]; it does not move the optimum."""

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


def fit_pose(
    model: Model,
    targets: Targets,
    time: Array | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 60,
) -> Fit:
    """Nearest consistent pose of every frame.

    Every tenth frame is found from the standing pose, the others from their neighbours among those.

    Args:
        model: the person.
        targets: measured points and directions.
        time: (T,) [s], to name frames by; their numbers are named without it.
        tolerance: largest change of an angle [rad] or position [m] in the last step.
        max_iterations: give up after so many steps.

    Raises:
        MuscleSolveError: frames that do not converge; says which, and which target is farthest off.
    """
    frames = len(targets.values)
    names = np.arange(frames) if time is None else time
    free, rest = informed_dofs(model, targets), resting(model, targets)
    every = _Solver(model, targets, free, rest, names)
    keys = every.frames(slice(None, None, _KEY_FRAMES))
    few = keys.without_leaps(keys.converge(_start(model, keys.targets), 1e-3, max_iterations), max_iterations)
    few = replace(few, angles=one_branch(model, few.angles))
    start = few.spread(frames, _KEY_FRAMES)
    blocks = [slice(first, first + _BLOCK) for first in range(0, frames, _BLOCK)]
    pose = _Pose.joined(
        [every.frames(b).converge(start.frames(b), tolerance, max_iterations) for b in blocks]
    )
    base = np.column_stack([pose.position, *to_cardan(pose.rotation)])
    angles = one_branch(model, pose.angles)
    q = model.tree.pose(angles, pose.position, pose.rotation)
    seen = targets.slots < model.topology.point_count
    residual = np.linalg.norm((q[:, targets.slots] - targets.values)[:, seen], axis=2)
    dofs = model.topology.dof_names
    locked = tuple(dofs[k] for k in np.flatnonzero(~free))
    return Fit(np.column_stack([angles, base]), q, residual, locked)


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

    def where(self, chosen: Array, other: _Pose) -> _Pose:
        """Another pose in the chosen frames (T,), this one in the rest."""
        return _Pose(
            np.where(chosen[:, None], other.angles, self.angles),
            np.where(chosen[:, None], other.position, self.position),
            np.where(chosen[:, None, None], other.rotation, self.rotation),
        )

    def frames(self, keep: slice) -> _Pose:
        """The same at some frames."""
        return _Pose(self.angles[keep], self.position[keep], self.rotation[keep])

    @classmethod
    def joined(cls, parts: list[_Pose]) -> _Pose:
        """Stretches of frames, one after the other."""
        return cls(
            np.concatenate([part.angles for part in parts]),
            np.concatenate([part.position for part in parts]),
            np.concatenate([part.rotation for part in parts]),
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


@dataclass(frozen=True)
class _Solver:
    """Gauss-Newton on some frames: free degrees of freedom, weights that draw angles to zero, names of the frames."""

    model: Model
    targets: Targets
    free: Array
    rest: Array
    names: Array

    def frames(self, keep: slice) -> _Solver:
        """The same at some frames."""
        return replace(self, targets=self.targets.frames(keep), names=self.names[keep])

    def without_leaps(self, pose: _Pose, max_iterations: int) -> _Pose:
        """Frames whose angles leap from those before are found again from there: an arm bent the wrong way, say."""
        angles, position, rotation = pose.angles.copy(), pose.position.copy(), pose.rotation.copy()
        for frame in range(1, len(angles)):
            if np.abs(angles[frame] - angles[frame - 1]).max() > _LEAP:
                before = _Pose(
                    angles[frame - 1 : frame], position[frame : frame + 1], rotation[frame : frame + 1]
                )
                again = self.frames(slice(frame, frame + 1)).converge(before, 1e-3, max_iterations)
                angles[frame], position[frame], rotation[frame] = (
                    again.angles[0],
                    again.position[0],
                    again.rotation[0],
                )
        return _Pose(angles, position, rotation)

    def converge(self, pose: _Pose, tolerance: float, max_iterations: int) -> _Pose:
        """Steps until no frame moves any more: Gauss-Newton from afar, Newton when near, damped where it gets worse."""
        damping, largest = np.full(len(self.names), _DAMPING), np.full(len(self.names), np.inf)
        q, misfit = self._misfit(pose)
        for _ in range(max_iterations):
            step = self._step(q, pose, damping, largest < _NEAR)
            tried = pose.moved(self.model.tree, step)
            q_tried, misfit_tried = self._misfit(tried)
            # Near the optimum the misfit no longer falls: what is left is round-off.
            better = misfit_tried <= misfit * (1.0 + 1e-9) + 1e-18
            pose, q = pose.where(better, tried), np.where(better[:, None, None], q_tried, q)
            misfit = np.where(better, misfit_tried, misfit)
            damping = np.clip(np.where(better, 0.1 * damping, 100.0 * damping), _DAMPING, 1.0)
            largest = np.where(better, np.abs(step).max(axis=1), np.inf)
            if (largest < tolerance).all():
                return pose
        raise MuscleSolveError(self._complaint(q, largest, tolerance))

    def _misfit(self, pose: _Pose) -> tuple[Array, Array]:
        """Natural coordinates, and the sum of weighted squares of each frame (T,) [m2]."""
        q = self.model.tree.pose(pose.angles, pose.position, pose.rotation)
        off = (self.targets.values - q[:, self.targets.slots]) ** 2
        rest = pose.angles**2 @ self.rest[: pose.angles.shape[1]]
        return q, np.einsum("tnx,n->t", off, self.targets.weights) + rest

    def _step(self, q: Array, pose: _Pose, damping: Array, near: Array) -> Array:
        """One step in the speeds, (T, K+6), zero where locked; with the full curvature in frames that are near (T,)."""
        targets, count, joints = self.targets, int(self.free.sum()), pose.angles.shape[1]
        directions = self.model.tree.allowed(q, pose.position, targets.slots)[..., self.free]
        frames = directions.shape[0]
        pull = (targets.values - q[:, targets.slots]) * targets.weights[:, None]
        jacobian = (directions * np.sqrt(targets.weights)[:, None, None]).reshape(frames, -1, count)
        hessian = np.swapaxes(jacobian, 1, 2) @ jacobian
        hessian -= near[:, None, None] * curvature(self.model.tree, q, directions, pull, self.free)
        hessian += np.diag(self.rest[self.free]) + damping[:, None, None] * np.eye(count)
        gradient = np.einsum("tnxk,tnx->tk", directions, pull, optimize=True)
        drawn = self.free[:joints]
        gradient[:, : drawn.sum()] -= self.rest[:joints][drawn] * pose.angles[:, drawn]
        step = np.zeros((frames, len(self.free)))
        step[:, self.free] = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        turns = np.abs(step[:, :joints]).max(axis=1, initial=0.0)
        return step * np.minimum(1.0, _LARGEST_TURN / np.maximum(turns, 1e-12))[:, None]

    def _complaint(self, q: Array, largest: Array, tolerance: float) -> str:
        worst = int(np.argmax(largest))
        off = np.linalg.norm(q[worst, self.targets.slots] - self.targets.values[worst], axis=1)
        off *= np.sqrt(self.targets.weights)
        culprit = self.model.topology.coordinate_names[self.targets.slots[int(np.argmax(off))]]
        failed = self.names[largest >= tolerance]
        return (
            f"no pose of the body fits the markers at {_listed(failed)}; there the point farthest from where it "
            f"was measured is {culprit}, by {1000.0 * off.max():.0f} mm. Markers that are swapped or mapped to the "
            "wrong landmark are the usual reason."
        )


def _listed(names: Array) -> str:
    shown = ", ".join(
        f"{name:.3f} s" if isinstance(name, float) else f"frame {name}" for name in names[:3].tolist()
    )
    return shown + (f" and {len(names) - 3} more frames" if len(names) > 3 else "")


def informed_dofs(model: Model, targets: Targets) -> Array:
    """(K+6,) which degrees of freedom move any target in a general pose; the others stay locked at zero."""
    tree = model.tree
    generic = np.full((1, tree.joint_count), 0.3)
    q = tree.pose(generic, np.zeros((1, 3)), np.eye(3)[None])
    moved = np.abs(tree.allowed(q, np.zeros((1, 3)))[0, targets.slots]).max(axis=(0, 1))
    return moved > 1e-6


def curvature(tree: Tree, q: Array, directions: Array, pull: Array, free: Array) -> Array:
    """Sum of w (target - q) . d2q / ds_i ds_j, (T, F, F), over the free speeds: what Gauss-Newton leaves out.

    Turning about axis a_i before joint j turns what j moves: d2q = a_i x D_j, and
    p . (a_i x D_j) = a_i . (D_j x p); two turns of the base, or of a spherical joint, share the difference.
    """
    frames = len(q)
    axes = np.concatenate(
        [tree.axes(q), np.zeros((frames, 3, 3)), np.broadcast_to(np.eye(3), (frames, 3, 3))], axis=1
    )
    dx, dy, dz = (directions[:, :, x] for x in range(3))
    px, py, pz = (pull[:, None, :, x] for x in range(3))
    twist = np.concatenate([pz @ dy - py @ dz, px @ dz - pz @ dx, py @ dx - px @ dy], axis=1)
    turned = axes[:, free] @ twist
    before = tree.before[np.ix_(free, free)]
    both = before + before.T
    return (before * turned + np.swapaxes(before * turned, 1, 2)) / np.maximum(both, 1.0)


def resting(model: Model, targets: Targets) -> Array:
    """(K+6,) weights that draw angles to zero: the model's, but none where the driven direction is measured."""
    weights = np.zeros(len(model.topology.dof_names))
    for k, dof in enumerate(model.topology.dofs):
        measured = dof.follower[0] is None and model.topology.slots_of(dof.follower)[1] in targets.slots
        weights[k] = 0.0 if measured else dof.rest**2
    return weights


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
