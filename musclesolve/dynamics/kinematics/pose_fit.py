"""Kinematic consistency: the pose nearest to the measured points and directions that satisfies every constraint.

Minimise 1/2 sum_n w_n |q_n - target_n|^2 subject to Phi(q) = 0. The steps go along the allowed directions D (the null
space of Phi_q), after which the pose is rebuilt from the joint coordinates, so that the constraints hold to round-off
at every iterate. All frames advance together. The step ds solves

    (D^T W D - near S) ds = D^T p,   p = w (target - q),   S_ij = sum_n p_n . d2q_n/ds_i ds_j

without the curvature S that of Gauss-Newton, which finds its way from afar, with it that of Newton, which converges
quadratically although markers and model disagree.

D is never formed. A speed with the axis a and the pivot o moves a point r by a x r + c, c = o x a, and a vector v by
a x v, if it is distal to the joint. So

    gradient_j = sum_n D_nj . p_n            = a_j . sum r x p + c_j . sum p
    H_ij       = sum_n w_n D_ni . D_nj       = a_i . (a tr C - C a + h x c)_j + c_i . (a x h + m c)_j
    S_ij       = sum_n p_n . d2q_n/ds_i ds_j = a_i . sum D_nj x p_n = a_i . (P a - a tr P + c x f)_j

with C = sum w r r^T and P = sum r p^T over points and vectors, h = sum w r, m = sum w and f = sum p over points, all of
them over what j moves, i being j itself or a joint before it (what neither moves gives nothing). This is the composite
rigid body method (Featherstone 2008, 6.2) with targets for masses. Of two rotations that are before each other, those
of the base or of a spherical joint, S is shared evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_array
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import continuous_branch
from musclesolve.dynamics.model.joint_tree import Tree
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import (
    angle_between,
    best_rotation,
    from_cardan,
    from_vector,
    nearest_rotation,
    to_cardan,
)
from musclesolve.dynamics.vectors import blocks, components, cross
from musclesolve.errors import InputError, MuscleSolveError, PoseError

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
    frames, tree, every = len(targets.values), model.tree, NearestPose.of(model, targets, time)
    measured = _measured_base(model, targets)
    if start is not None:
        start = check_array(start, "the start", (frames, len(every.free)), model.topology.dof_names)
        try:
            pose = every.converge(Pose.of(start), tolerance, max_iterations)
        except MuscleSolveError:
            pass
        else:
            # Where the base or a direction points away from where it was measured, the misfit is stationary too, but
            # not least: a start that is 180 degrees off ends there.
            directions = targets.slots >= model.topology.point_count
            along = pose.q(tree)[:, targets.slots[directions]] * targets.values[:, directions]
            turned = angle_between(pose.rotation, measured.rotation) > 0.5 * np.pi
            if not turned.any() and not (along.sum(axis=2) < 0.0).any():
                return fit_of(every, pose)

    chosen = np.unique(np.append(np.arange(0, frames, _KEY_FRAMES), frames - 1))
    keys = every.frames(chosen)
    few = keys.converge(measured.frames(chosen), 1e-3, max_iterations)
    for k in range(1, len(chosen)):
        if np.abs(few.angles[k] - few.angles[k - 1]).max() > _JUMP:  # an arm bent the wrong way
            here = slice(k, k + 1)
            before = few.frames(here)._replace(angles=few.angles[k - 1 : k])
            few.put(here, keys.frames(here).converge(before, 1e-3, max_iterations))
    spread = few._replace(angles=continuous_branch(model, few.angles)).spread(frames, chosen)
    # A subject who turns around between two of these frames is not where a curve through them leads.
    suspect = np.flatnonzero(angle_between(spread.rotation, measured.rotation) > _SUSPECT)
    if suspect.size:
        some, between = every.frames(suspect), spread.frames(suspect)
        as_measured = measured._replace(angles=spread.angles).frames(suspect)
        nearer = some.misfit(as_measured)[1] < some.misfit(between)[1]
        spread.put(suspect, between.where(nearer, as_measured))
    return fit_of(every, every.converge(spread, tolerance, max_iterations))


def fit_of(nearest: NearestPose, pose: Pose, borrowed: Sequence[int] = ()) -> Fit:
    """A pose (T) as the solution for what was measured; `borrowed` by their places among the joints."""
    model, targets = nearest.model, nearest.targets
    pose = pose._replace(angles=continuous_branch(model, pose.angles))
    q = pose.q(model.tree)
    seen = targets.slots < model.topology.point_count
    return Fit(
        coordinates=np.column_stack([pose.angles, pose.position, *to_cardan(pose.rotation)]),
        q=q,
        residual=np.linalg.norm((q[:, targets.slots] - targets.values)[:, seen], axis=2),
        points=tuple(model.topology.coordinate_names[slot] for slot in targets.slots[seen]),
        locked=tuple(model.topology.dof_names[k] for k in np.flatnonzero(~nearest.free)),
        borrowed=tuple(model.topology.dof_names[k] for k in borrowed),
    )


def generic_directions(model: Model, targets: Targets) -> Array:
    """Allowed directions D (n, 3, K+6) of the targets in a pose that is special for none of them."""
    tree = model.tree
    generic = np.full((1, tree.joint_count), 0.3)
    q = tree.pose(generic, np.zeros((1, 3)), np.eye(3)[None])
    return tree.allowed(q, np.zeros((1, 3)), targets.slots)[0]


def _measured_base(model: Model, targets: Targets) -> Pose:
    """Base body placed on its own measured points and directions; joints at zero."""
    of_base = np.isin(targets.slots, np.flatnonzero(model.tree.owner == model.tree.root))
    slots, values = targets.slots[of_base], targets.values[:, of_base]
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


_LARGEST_ROTATION = 0.5
"""Largest change of an angle in one step [rad]; keeps the first steps from a standing start on track."""

_NEAR = 0.1  # Frames whose last step was shorter than this [rad, m] are near the optimum
_JUMP = 2.0  # A change of an angle between key frames that no movement makes [rad]
_WORST = 3  # So many of the points that fit worst are named where no pose is found

_DAMPING = 1e-9
"""Keeps a step finite in a direction that the targets do not see at the moment [m2]; it does not move the optimum."""


class Pose(NamedTuple):
    """Joint angles (T, K), position (T, 3) and rotation (T, 3, 3) of the base."""

    angles: Array
    position: Array
    rotation: Array

    @classmethod
    def of(cls, coordinates: Array) -> Pose:
        """Poses from joint and base coordinates (T, K+6) [rad, m]."""
        base = coordinates[:, -6:]
        return cls(coordinates[:, :-6], base[:, :3], from_cardan(*base[:, 3:].T))

    def q(self, tree: Tree, moving: Mask | None = None) -> Array:
        """Natural coordinates (T, N, 3); moving (K,) as in `Tree.pose`."""
        return tree.pose(*self, moving)

    def moved(self, tree: Tree, step: Array) -> Pose:
        """The pose after a step in the speeds (T, K+6)."""
        joints = self.angles.shape[1]
        return Pose(
            tree.moved(self.angles, step[:, :joints]),
            self.position + step[:, joints : joints + 3],
            from_vector(step[:, joints + 3 :]) @ self.rotation,
        )

    def where(self, chosen: Mask, other: Pose) -> Pose:
        """The other pose in the chosen frames (T,), this one in the rest."""
        pairs = zip(self, other, strict=True)
        return Pose(*(np.where(chosen[(..., *[None] * (a.ndim - 1))], b, a) for a, b in pairs))

    def frames(self, keep: slice | Indices | Mask) -> Pose:
        """The pose at some frames: a slice, a mask (T,) or indices."""
        return Pose(*(array[keep] for array in self))

    def put(self, places: Indices | slice, other: Pose) -> None:
        """Write the frames of another pose into some frames of this one."""
        for old, new in zip(self, other, strict=True):
            old[places] = new

    def spread(self, frames: int, keys: Array) -> Pose:
        """From some frames (k,), the first and the last among them, to all between, by cubic splines."""
        from scipy.interpolate import make_interp_spline

        if len(keys) == frames:
            return self
        at, degree = np.arange(frames), min(3, len(keys) - 1)
        angles, position, rotation = (make_interp_spline(keys, array, k=degree)(at) for array in self)
        return Pose(angles, position, nearest_rotation(rotation))


@dataclass(frozen=True)
class NearestPose:
    """The fit of some frames: free (K+6,), the degrees of freedom that move; rest (K+6,), weights that draw angles to
    zero; names (T,) of the frames.
    """

    model: Model
    targets: Targets
    free: Mask
    rest: Array
    names: Array | Indices

    @classmethod
    def of(cls, model: Model, targets: Targets, time: Array | None = None) -> NearestPose:
        """The fit of all frames, at times (T,) [s].

        Degrees of freedom that move no target in a general pose stay locked at zero. Angles are drawn to zero by the
        weights of the model, but not where the driven direction is measured.
        """
        free = np.abs(generic_directions(model, targets)).max(axis=(0, 1)) > 1e-6
        rest = np.zeros(len(model.topology.dof_names))
        for k, dof in enumerate(model.topology.dofs):
            measured = dof.follower[0] is None and model.topology.slots_of(dof.follower)[1] in targets.slots
            rest[k] = 0.0 if measured else dof.rest**2
        return cls(model, targets, free, rest, np.arange(len(targets.values)) if time is None else time)

    def frames(self, keep: slice | Indices | Mask) -> NearestPose:
        """The fit of some frames: a slice, a mask (T,) or indices."""
        return replace(self, targets=self.targets.frames(keep), names=self.names[keep])

    def misfit(self, pose: Pose) -> tuple[Array, Array]:
        """Natural coordinates, and the sum of weighted squares of each frame (T,) [m2]."""
        # What moves no target is left as it is in standing.
        tree, slots = self.model.tree, self.targets.slots
        q = pose.q(tree, np.asarray(tree.distal_slots[slots].any(axis=0)))
        off = (self.targets.values - q[:, slots]) ** 2
        rest = pose.angles**2 @ self.rest[: pose.angles.shape[1]]
        return q, np.einsum("tnx,n->t", off, self.targets.weights) + rest

    def converge(self, pose: Pose, tolerance: float, max_iterations: int) -> Pose:
        """Steps until no frame moves by more than `tolerance` [rad or m]: Gauss-Newton from afar, Newton when near.

        Steps are damped where the fit gets worse.
        """
        parts = [
            self.frames(block)._converge(pose.frames(block), tolerance, max_iterations)
            for block in blocks(len(self.names))
        ]
        return Pose(*map(np.concatenate, zip(*parts, strict=True)))

    def _converge(self, pose: Pose, tolerance: float, max_iterations: int) -> Pose:
        """The steps of one block of frames."""
        tree, free, rest = self.model.tree, self.free, self.rest
        slots, weights = self.targets.slots, self.targets.weights
        joints, diagonal = tree.joint_count, np.arange(int(free.sum()))
        drawn = free[:joints]
        # From where each frame starts: hundreds of metres into a laboratory the round-off of places would hide what
        # the last steps gain.
        start = pose.position
        pose = pose._replace(position=np.zeros_like(start))
        point = slots < self.model.topology.point_count
        seen = self.targets.values - point[:, None] * start[:, None]
        some = replace(self, targets=replace(self.targets, values=seen))
        solution, going = Pose(*map(np.copy, pose)), np.arange(len(self.names))
        damping, largest = np.full(len(going), _DAMPING), np.full(len(going), np.inf)
        q, misfit = some.misfit(pose)
        for _ in range(max_iterations):
            newton = largest < _NEAR
            pull = (some.targets.values - q[:, slots]) * weights[:, None]
            hessian, gradient = normal_equations(tree, q, pose.position, slots, weights, pull, free, newton)
            hessian[:, diagonal, diagonal] += rest[free] + damping[:, None]
            gradient[:, : drawn.sum()] -= rest[:joints][drawn] * pose.angles[:, drawn]
            step = np.zeros((len(q), len(free)))
            step[:, free] = np.linalg.solve(hessian, gradient[..., None])[..., 0]
            turned = np.abs(step[:, :joints]).max(axis=1, initial=0.0)
            step *= np.minimum(1.0, _LARGEST_ROTATION / np.maximum(turned, 1e-12))[:, None]

            tried = pose.moved(tree, step)
            q_tried, misfit_tried = some.misfit(tried)
            # Near the optimum the misfit no longer falls: what is left is round-off.
            better = misfit_tried <= misfit * (1.0 + 1e-9) + 1e-18
            pose, q = pose.where(better, tried), np.where(better[:, None, None], q_tried, q)
            misfit = np.where(better, misfit_tried, misfit)
            damping = np.clip(np.where(better, 0.1 * damping, 100.0 * damping), _DAMPING, 1.0)
            largest = np.where(better, np.abs(step).max(axis=1), np.inf)
            # A short step of Gauss-Newton, which converges but linearly, does not show that the solution is as near.
            if (done := newton & (largest < tolerance)).any():
                solution.put(going[done], pose.frames(done))
                if done.all():
                    return solution._replace(position=solution.position + start)
                left = ~done
                some, going, pose, q = some.frames(left), going[left], pose.frames(left), q[left]
                misfit, damping, largest = misfit[left], damping[left], largest[left]

        names, frame = self.model.topology.coordinate_names, int(np.argmax(largest))
        off = np.linalg.norm(q[frame, slots] - some.targets.values[frame], axis=1) * np.sqrt(weights)
        worst = tuple((names[slots[k]], float(off[k])) for k in np.argsort(-off)[:_WORST])
        failed = some.names[largest >= tolerance].tolist()
        listed = ", ".join(f"{at:.3f} s" if isinstance(at, float) else f"frame {at}" for at in failed[:3])
        more = f" and {len(failed) - 3} more frames" if len(failed) > 3 else ""
        raise PoseError(
            f"no pose of the body fits the markers at {listed}{more}; there the point farthest from where it was "
            f"measured is {worst[0][0]}, by {1000.0 * worst[0][1]:.0f} mm. Markers that are swapped or mapped to the "
            "wrong landmark are the usual reason.",
            tuple(failed),
            worst,
        )


_SYMMETRIC = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def normal_equations(
    tree: Tree,
    q: Array,
    origin: Array,
    slots: Indices,
    weights: Array,
    pull: Array,
    free: Mask,
    near: Array | Mask,
) -> tuple[Array, Array]:
    """H - near S (T, F, F) and the gradient D^T p (T, F) over the free speeds (K+6,).

    slots (n,) with weights w (n,) and pull p (T, n, 3); origin (T, 3): that of the standing layout [m]; near (T,):
    how much of the curvature S is counted, 0 (Gauss-Newton) to 1 (Newton).
    """
    # Axis a and offset c of the free speeds, c from the origin; those of the base: three translations, then three
    # rotations about its origin.
    joints, frames = tree.joint_count, len(q)
    axis, offset = np.zeros((2, 3, frames, joints + 6))
    axis[:, :, :joints] = components(tree.axes(q))
    offset[:, :, :joints] = cross(components(q[:, tree.pivot] - origin[:, None]), axis[:, :, :joints])
    offset[:, :, joints : joints + 3] = axis[:, :, joints + 3 :] = np.eye(3)[:, None]
    axis, offset = axis[:, :, free], offset[:, :, free]
    point = slots < tree.point_count
    moved = np.column_stack([tree.distal_slots[slots], np.ones((len(slots), 6))])[:, free]
    # Lengths from the base, wherever in the laboratory that is: small numbers, small round-off.
    place = components(q[:, slots] - point[:, None] * origin[:, None])
    pull = components(pull)
    heavy = weights * place
    moments = [heavy[x] * place[y] for x, y in _SYMMETRIC]
    moments += [place[x] * pull[y] for x in range(3) for y in range(3)]
    moments += [*(point * heavy), *(point * pull)]
    sums = np.stack(moments) @ moved
    mass = (point * weights) @ moved
    second, product, first, force = sums[:6], sums[6:15], sums[15:18], sums[18:]
    torque = np.stack([product[5] - product[7], product[6] - product[2], product[1] - product[3]])
    gradient = (axis * torque + offset * force).sum(axis=0)
    cxx, cxy, cxz, cyy, cyz, czz = second
    ax, ay, az = axis
    angular = cross(first, offset)
    angular[0] += (cyy + czz) * ax - cxy * ay - cxz * az
    angular[1] += (cxx + czz) * ay - cxy * ax - cyz * az
    angular[2] += (cxx + cyy) * az - cxz * ax - cyz * ay
    linear = cross(axis, first) + mass * offset
    if near.any():
        # P a - a tr P + c x f of S, zero for the speeds that are no rotations.
        bent = cross(offset, force) - axis * (product[0] + product[4] + product[8])
        for x in range(3):
            bent[x] += product[3 * x] * ax + product[3 * x + 1] * ay + product[3 * x + 2] * az
        angular -= near[:, None] * (np.abs(axis).any(axis=0) * bent)
    rows = np.ascontiguousarray(np.concatenate([axis, offset]).transpose(1, 2, 0))
    columns = np.ascontiguousarray(np.concatenate([angular, linear]).transpose(1, 0, 2))
    share = tree.share[np.ix_(free, free)]
    half = share * (rows @ columns)
    return half + half.transpose(0, 2, 1), gradient
