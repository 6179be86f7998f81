"""The nearest pose, step by step: all frames advance together along the allowed directions.

Minimise 1/2 sum_n w_n |q_n - target_n|^2 over the joint coordinates. The step ds solves
(D^T W D - curvature) ds = D^T W (target - q), as `normal_equations` forms it; without the curvature it is that of
Gauss-Newton, which finds its way from afar, with it that of Newton, which converges quadratically although markers and
model disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.normal_equations import normal_equations
from musclesolve.dynamics.model.joint_tree import Tree
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import from_vector, nearest_rotation
from musclesolve.errors import PoseError

_LARGEST_ROTATION = 0.5
"""Largest change of an angle in one step [rad]; keeps the first steps from a standing start on track."""

_NEAR = 0.1  # Frames whose last step was shorter than this [rad, m] are near the optimum
_JUMP = 2.0  # A change of an angle between key frames that no movement makes [rad]
_WORST = 3  # So many of the points that fit worst are named where no pose is found

_DAMPING = 1e-9
"""Keeps a step finite in a direction that the targets do not see at the moment [m2]; it does not move the optimum."""


@dataclass(frozen=True)
class Pose:
    """Joint angles (T, K), position (T, 3) and rotation (T, 3, 3) of the base."""

    angles: Array
    position: Array
    rotation: Array

    def moved(self, tree: Tree, step: Array) -> Pose:
        """After a step in the speeds (T, K+6)."""
        joints = self.angles.shape[1]
        rotation = from_vector(step[:, joints + 3 :])
        return Pose(
            tree.moved(self.angles, step[:, :joints]),
            self.position + step[:, joints : joints + 3],
            rotation @ self.rotation,
        )

    def where(self, chosen: Mask, other: Pose) -> Pose:
        """Another pose in the chosen frames (T,), this one in the rest."""
        pairs = zip(self._arrays(), other._arrays(), strict=True)
        return Pose(*(np.where(chosen[(..., *[None] * (a.ndim - 1))], b, a) for a, b in pairs))

    def frames(self, keep: slice | Indices | Mask) -> Pose:
        """The same at some frames."""
        return Pose(*(array[keep] for array in self._arrays()))

    def put(self, places: Indices | slice, other: Pose) -> None:
        """Write the frames of another pose into some frames of this one."""
        for own, new in zip(self._arrays(), other._arrays(), strict=True):
            own[places] = new

    def copy(self) -> Pose:
        """With arrays of its own."""
        return Pose(*(array.copy() for array in self._arrays()))

    def _arrays(self) -> tuple[Array, Array, Array]:
        return self.angles, self.position, self.rotation

    @classmethod
    def joined(cls, parts: list[Pose]) -> Pose:
        """Stretches of frames, one after the other."""
        return cls(*(np.concatenate(part) for part in zip(*(p._arrays() for p in parts), strict=True)))

    def spread(self, frames: int, keys: Array) -> Pose:
        """From some frames (k,), the first and the last among them, to all between, by cubic splines."""
        from scipy.interpolate import make_interp_spline

        if len(keys) == frames:
            return self
        at, degree = np.arange(frames), min(3, len(keys) - 1)
        angles, position, rotation = (make_interp_spline(keys, a, k=degree)(at) for a in self._arrays())
        return Pose(angles, position, nearest_rotation(rotation))


@dataclass(frozen=True)
class NearestPose:
    """Gauss-Newton on some frames: free degrees of freedom, weights that draw angles to zero, names of the frames."""

    model: Model
    targets: Targets
    free: Mask
    rest: Array
    names: Array | Indices

    def frames(self, keep: slice | Indices | Mask) -> NearestPose:
        """The same at some frames."""
        return replace(self, targets=self.targets.frames(keep), names=self.names[keep])

    def without_jumps(self, pose: Pose, max_iterations: int) -> Pose:
        """Frames whose angles jump from those before are found again from there: an arm bent the wrong way."""
        found = pose.copy()
        for frame in range(1, len(found.angles)):
            if np.abs(found.angles[frame] - found.angles[frame - 1]).max() > _JUMP:
                here = slice(frame, frame + 1)
                before = replace(found.frames(here), angles=found.angles[frame - 1 : frame])
                found.put(here, self.frames(here).converge(before, 1e-3, max_iterations))
        return found

    def converge(self, pose: Pose, tolerance: float, max_iterations: int) -> Pose:
        """Steps until no frame moves by more than `tolerance` [rad or m]: Gauss-Newton from afar, Newton when near.

        Steps are damped where the fit gets worse.
        """
        # From where each frame starts: hundreds of metres into a laboratory the round-off of places would hide what
        # the last steps gain.
        start = pose.position
        pose = replace(pose, position=np.zeros_like(start))
        some = self._seen_from(start)
        found, going = pose.copy(), np.arange(len(self.names))
        damping, largest = np.full(len(going), _DAMPING), np.full(len(going), np.inf)
        # What moves no target is left as it is in standing.
        ancestors = self.model.tree.ancestor_joints(self.targets.slots)
        q, misfit = some._misfit(pose, ancestors)
        for _ in range(max_iterations):
            newton = largest < _NEAR
            step = some._step(q, pose, damping, newton)
            tried = pose.moved(self.model.tree, step)
            q_tried, misfit_tried = some._misfit(tried, ancestors)
            # Near the optimum the misfit no longer falls: what is left is round-off.
            better = misfit_tried <= misfit * (1.0 + 1e-9) + 1e-18
            pose, q = pose.where(better, tried), np.where(better[:, None, None], q_tried, q)
            misfit = np.where(better, misfit_tried, misfit)
            damping = np.clip(np.where(better, 0.1 * damping, 100.0 * damping), _DAMPING, 1.0)
            largest = np.where(better, np.abs(step).max(axis=1), np.inf)
            # A short step of Gauss-Newton, which converges but linearly, does not show that the solution is as near.
            if (done := newton & (largest < tolerance)).any():
                found.put(going[done], pose.frames(done))
                if done.all():
                    return replace(found, position=found.position + start)
                left = ~done
                some, going, pose, q = some.frames(left), going[left], pose.frames(left), q[left]
                misfit, damping, largest = misfit[left], damping[left], largest[left]
        raise some._failure(q, largest, tolerance)

    def nearer(self, one: Pose, other: Pose) -> Pose:
        """Of two poses, in each frame the one that fits better."""
        ancestors = self.model.tree.ancestor_joints(self.targets.slots)
        misfits = [self._misfit(pose, ancestors)[1] for pose in (one, other)]
        return one.where(misfits[1] < misfits[0], other)

    def _seen_from(self, origin: Array) -> NearestPose:
        """The same with points as seen from (T, 3) [m]; directions are what they are."""
        point = self.targets.slots < self.model.topology.point_count
        values = self.targets.values - point[:, None] * origin[:, None]
        return replace(self, targets=replace(self.targets, values=values))

    def _misfit(self, pose: Pose, ancestors: Mask) -> tuple[Array, Array]:
        """Natural coordinates, and the sum of weighted squares of each frame (T,) [m2]."""
        q = self.model.tree.pose(pose.angles, pose.position, pose.rotation, ancestors)
        off = (self.targets.values - q[:, self.targets.slots]) ** 2
        rest = pose.angles**2 @ self.rest[: pose.angles.shape[1]]
        return q, np.einsum("tnx,n->t", off, self.targets.weights) + rest

    def _step(self, q: Array, pose: Pose, damping: Array, near: Mask) -> Array:
        """One step in the speeds, (T, K+6), zero where locked; with the full curvature in frames that are near (T,)."""
        targets, count, joints = self.targets, int(self.free.sum()), pose.angles.shape[1]
        pull = (targets.values - q[:, targets.slots]) * targets.weights[:, None]
        hessian, gradient = normal_equations(
            self.model.tree, q, pose.position, targets.slots, targets.weights, pull, self.free, near
        )
        diagonal = np.arange(count)
        hessian[:, diagonal, diagonal] += self.rest[self.free] + damping[:, None]
        drawn = self.free[:joints]
        gradient[:, : drawn.sum()] -= self.rest[:joints][drawn] * pose.angles[:, drawn]
        step = np.zeros((len(q), len(self.free)))
        step[:, self.free] = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        largest = np.abs(step[:, :joints]).max(axis=1, initial=0.0)
        return step * np.minimum(1.0, _LARGEST_ROTATION / np.maximum(largest, 1e-12))[:, None]

    def _failure(self, q: Array, largest: Array, tolerance: float) -> PoseError:
        failed = self.names[largest >= tolerance]
        worst = self._farthest(q, int(np.argmax(largest)))
        (culprit, distance), *_ = worst
        return PoseError(
            f"no pose of the body fits the markers at {_listed(failed)}; there the point farthest from where it "
            f"was measured is {culprit}, by {1000.0 * distance:.0f} mm. Markers that are swapped or mapped to the "
            "wrong landmark are the usual reason.",
            tuple(failed.tolist()),
            worst,
        )

    def _farthest(self, q: Array, frame: int) -> tuple[tuple[str, float], ...]:
        """The targets farthest from a pose in one frame, as (name, distance [m]) by their weight."""
        off = np.linalg.norm(q[frame, self.targets.slots] - self.targets.values[frame], axis=1)
        off *= np.sqrt(self.targets.weights)
        names = self.model.topology.coordinate_names
        order = np.argsort(-off)[:_WORST]
        return tuple((names[self.targets.slots[k]], float(off[k])) for k in order)


def _listed(names: Array | Indices) -> str:
    shown = ", ".join(
        f"{name:.3f} s" if isinstance(name, float) else f"frame {name}" for name in names[:3].tolist()
    )
    return shown + (f" and {len(names) - 3} more frames" if len(names) > 3 else "")
