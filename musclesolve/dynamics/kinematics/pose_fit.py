"""Kinematic consistency: the pose nearest to the measured points and directions that satisfies every constraint.

Minimize 1/2 sum_n w_n |q_n - target_n|^2 subject to the constraints Phi(q) = 0; q_n are points and unit vectors of the
bodies. Angles that no target shows stay at rest by a weak term, `Rest`. The steps go along the allowed directions D
(the null space of Phi_q), after which the pose is rebuilt from the joint coordinates, so that the constraints hold to
round-off at every iterate. All frames advance together. The step ds solves

    (D^T W D - g S) ds = D^T p,   p = w (target - q),   S_ij = sum_n p_n . d2q_n/ds_i ds_j

with g = 0 the step of Gauss-Newton, which converges from afar, with g = 1 the step of Newton, which converges
quadratically although markers and model disagree.

D is never formed. A speed with the axis a and the pivot o moves a point r by a x r + c, c = o x a, and a vector v by
a x v, if it is distal to the joint. So

    gradient_j = sum_n D_nj . p_n            = a_j . sum r x p + c_j . sum p
    H_ij       = sum_n w_n D_ni . D_nj       = a_i . (a tr C - C a + h x c)_j + c_i . (a x h + m c)_j
    S_ij       = sum_n p_n . d2q_n/ds_i ds_j = a_i . sum D_nj x p_n = a_i . (P a - a tr P + c x f)_j

with C = sum w r r^T and P = sum r p^T over points and vectors, h = sum w r, m = sum w and f = sum p over points. All
sums are over the targets that j moves; i is j itself or a joint before it (other pairs give zero). This is the
composite rigid body method (Featherstone 2008, 6.2) with targets for masses. For two rotations that are before each
other, as at the base or a spherical joint, S is shared evenly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, contiguous, slices
from musclesolve._util.checks import check_array, check_integer, check_number, check_type
from musclesolve._util.splines import spline_through
from musclesolve.dynamics.kernel.arrays import MovingTree, PoseWork, TargetArrays
from musclesolve.dynamics.kinematics.measured_targets import (
    Bent,
    Hinge,
    Targets,
    shown_rotation,
    stiffness,
    straight_hinges,
    with_measured,
)
from musclesolve.dynamics.kinematics.motion_derivatives import continuous_branch
from musclesolve.dynamics.model.joint_tree import Tree
from musclesolve.dynamics.model.model import Model, check_model
from musclesolve.dynamics.rotations import (
    angle_between,
    best_rotation,
    from_cardan,
    nearest_rotation,
    to_cardan,
)
from musclesolve.errors import MuscleSolveError, PoseError, input_error

_BLOCK = 500  # Frames that are fitted, or whose hinges are measured, together
_KEY_FRAMES = 10  # Interval of the frames that are fitted from the standing pose

_PASSES = 6  # Largest number of fits with rotations at straight hinges from the whole motion
FEW_UNFITTED = 0.05
"""Largest share of frames without a fitting pose, which are interpolated. With more of them, markers are mapped to the
wrong landmarks or exchanged.
"""

_SUSPECT = 0.5
"""Angle [rad] between the interpolated and the measured base above which both are compared."""


class Rest(NamedTuple):
    """Angles (T, K) [rad] toward which undetermined joint angles are drawn, and weights (T, K) [m2]."""

    angles: Array
    weights: Array

    def frames(self, keep: slice | Indices | Mask) -> Rest:
        """The rest arrays of some frames: a slice, a mask (T,) or indices."""
        return Rest(*(array[keep] for array in self))


@dataclass(frozen=True)
class Fit:
    """The consistent motion: joint and base coordinates (T, K+6), and the quality of the fit.

    placed: makes the poses q (T, N, 3), which take more memory than all other arrays of a fit.
    residual (T, n) [m]: how far each of the measured points (n) was moved. rest: the angles toward which undetermined
    joint angles were drawn. locked: degrees of freedom that no target determines, held at zero. borrowed: degrees of
    freedom that `drive_pose` could not measure and took from the nearest pose. unfitted (u,): frames without a fitting
    pose; their poses are interpolated.
    """

    coordinates: Array
    placed: Callable[[], Array]
    residual: Array
    points: tuple[str, ...]
    rest: Rest
    locked: tuple[str, ...]
    borrowed: tuple[str, ...] = ()
    unfitted: tuple[int, ...] = ()

    @cached_property
    def q(self) -> Array:
        """Poses (T, N, 3)."""
        return self.placed()


def fit_pose(
    model: Model,
    targets: Targets,
    time: Array | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 60,
    start: Array | Fit | None = None,
    rest: Rest | None = None,
) -> Fit:
    """Nearest consistent pose of every frame.

    Where a straight hinge does not show the rotation of the body before it, the whole motion does (`straight_hinges`).
    Every tenth frame is fitted from the standing pose, the others from splines through these frames. A good start saves
    most of this work; a start that does not lead to a solution is ignored.

    Args:
        targets: measured points and directions.
        time: (T,) [s], for the names of frames in messages and the speeds of joints; without it frames are named by
            number and assumed to be `USUAL_STEP` apart.
        tolerance: largest change of an angle [rad] or position [m] in the last step.
        max_iterations: largest number of steps.
        start: (T, K+6) coordinates near the solution, on which it does not depend; or the fit of nearly the same
            targets and model, with the `rest` and the locked degrees of freedom that belong to it.
        rest: angles toward which undetermined joint angles are drawn, such as `Fit.rest`; found from the motion unless
            given.

    Raises:
        InputError: no point of the base body was measured; a start of another shape.
        MuscleSolveError: more than a few frames (`FEW_UNFITTED`) do not converge; with these frames and the target that
            is farthest off. A few are `Fit.unfitted`.

    Examples:
        >>> model = ms.dynamics.human_model()
        >>> points = {name: model.standing[None, model.slot(name)] for name in ("hip_r", "hip_l", "knee_r", "ankle_r")}
        >>> directions = {"pelvis_forward": np.array([[1.0, 0.0, 0.0]])}
        >>> targets = ms.dynamics.Targets.build(model, points, directions)
        >>> bool(ms.dynamics.fit_pose(model, targets).residual.max() < 1e-6)
        True
    """
    near = start if isinstance(start, Fit) else None
    frames = len(check_type(targets, Targets, "targets", "targets, from Targets.build").values)
    time = None if time is None else check_array(time, "time", (frames,), real=True)
    check_number(tolerance, "tolerance", "a positive number, such as 1e-8", above=0.0)
    check_integer(max_iterations, "max_iterations", 1)
    rest = rest if near is None else near.rest
    check_type(rest, Rest | None, "rest", "angles and weights, as Fit.rest")  # type: ignore[arg-type]
    problem = NearestPose.from_targets(
        check_model(model), targets, time, rest, None if near is None else near.locked
    )

    def settled(pose: Pose, share: float = 0.0, carried: bool = False) -> Fit:
        """The fit from near poses; a share of the frames may have none. carried: see `NearestPose.converged`."""
        nearest = problem
        fitted = np.ones(frames, bool)
        # The part of a rotation that points show depends on the pose: repeat from the new pose.
        for _ in range(_PASSES):
            before = nearest.rest
            if rest is None:
                nearest, pose = problem.with_hinges(pose, time)
            pose, fitted = nearest.converged(pose, tolerance, max_iterations, carried)
            if (~fitted).sum() > share * frames:
                raise nearest.failure(pose, fitted)
            pose = _across(pose, fitted)
            changed = np.abs(before.angles - nearest.rest.angles)
            if changed.max(where=nearest.rest.weights > 0.0, initial=0.0) < tolerance:
                break
        return replace(fit_of(nearest, pose), unfitted=tuple(np.flatnonzero(~fitted).tolist()))

    if start is not None:
        known, dofs = start if near is None else near.coordinates, model.topology.dof_names
        known = check_array(known, "the start", (frames, len(problem.free)), dofs)
        try:
            fit = settled(Pose.from_coordinates(known), carried=near is not None)
        except MuscleSolveError:
            pass
        else:
            if near is not None or not _turned_over(fit, model, targets):
                return fit

    measured = _measured_base(model, targets)
    chosen = np.unique(np.append(np.arange(0, frames, _KEY_FRAMES), frames - 1))
    keys = problem.frames(chosen)
    few = measured.frames(chosen)
    for drawn in (False, True):
        if drawn:
            keys, few = keys.with_hinges(few, None if time is None else time[chosen])
        few, fitted = keys.converged(few, 1e-3, max_iterations)
        if not fitted.any():
            raise keys.failure(few, fitted)
        few = _across(few, fitted)
    for k in range(1, len(chosen)):
        if np.abs(few.angles[k] - few.angles[k - 1]).max() > _JUMP:  # an arm bent backward
            frame = slice(k, k + 1)
            before = few.frames(frame)._replace(angles=few.angles[k - 1 : k])
            again, better = keys.frames(frame).converged(before, 1e-3, max_iterations)
            few.put(frame, again if better.all() else before)
    spread = few._replace(angles=continuous_branch(model, few.angles)).spread(frames, chosen)
    # A subject who turns around between two of these frames is not where a curve through them leads.
    suspect = np.flatnonzero(angle_between(spread.rotation, measured.rotation) > _SUSPECT)
    if suspect.size:
        some, between = problem.frames(suspect), spread.frames(suspect)
        as_measured = measured._replace(angles=spread.angles).frames(suspect)
        nearer = some.misfit(as_measured) < some.misfit(between)
        spread.put(suspect, between.where(nearer, as_measured))
    return settled(spread, FEW_UNFITTED)


def _turned_over(fit: Fit, model: Model, targets: Targets) -> bool:
    """Whether the base or a direction points away from where it was measured.

    The misfit is stationary there too, but not least: a start that is 180 degrees off ends there.
    """
    directions = targets.slots >= model.topology.point_count
    along = fit.q[:, targets.slots[directions]] * targets.values[:, directions]
    base = from_cardan(*fit.coordinates[:, -3:].T)
    turned = angle_between(base, _measured_base(model, targets).rotation) > 0.5 * np.pi
    return bool(turned.any() or (along.sum(axis=2) < 0.0).any())


def _across(pose: Pose, fitted: Mask) -> Pose:
    """Poses with frames outside the mask `fitted` (T,) interpolated from the others; beyond the ends they stay."""
    if fitted.all():
        return pose
    places = np.flatnonzero(fitted)
    between = pose.frames(places).spread(int(places[-1] - places[0]) + 1, places - places[0])
    at = np.clip(np.arange(len(fitted)), places[0], places[-1]) - places[0]
    return pose.where(~fitted, between.frames(at))


def fit_of(nearest: NearestPose, pose: Pose, borrowed: Sequence[int] = ()) -> Fit:
    """Poses (T) as the fit to the targets; `borrowed`: numbers of the joints with borrowed angles."""
    model, targets = nearest.model, nearest.targets
    before = pose.angles
    pose = pose._replace(angles=continuous_branch(model, before))
    is_point = targets.slots < model.topology.point_count
    slots, measured = targets.slots[is_point], targets.values[:, is_point]
    residual = [
        np.linalg.norm(pose.frames(some).placed(model)[0][:, slots] - measured[some], axis=2)
        for some in slices(len(measured), _BLOCK)
    ]
    return Fit(
        coordinates=np.column_stack([pose.angles, pose.position, *to_cardan(pose.rotation)]),
        placed=partial(_placed, pose, model),
        residual=np.concatenate(residual),
        points=tuple(model.topology.coordinate_names[slot] for slot in targets.slots[is_point]),
        rest=nearest.rest._replace(angles=nearest.rest.angles + pose.angles - before),
        locked=tuple(model.topology.dof_names[k] for k in np.flatnonzero(~nearest.free)),
        borrowed=tuple(model.topology.dof_names[k] for k in borrowed),
    )


def _placed(pose: Pose, model: Model) -> Array:
    """Natural coordinates (T, N, 3) of poses."""
    return pose.placed(model)[0]


def generic_directions(model: Model, targets: Targets) -> Array:
    """Allowed directions D (n, 3, K+6) of the targets in a general pose."""
    tree = model.tree
    generic = Pose(np.full((1, tree.joint_count), 0.3), np.zeros((1, 3)), np.eye(3)[None])
    q, _ = generic.placed(model)
    return tree.allowed(q, np.zeros((1, 3)), targets.slots)[0]


def _measured_base(model: Model, targets: Targets) -> Pose:
    """Base body placed on its own measured points and directions; joints at zero."""
    of_base = np.isin(targets.slots, np.flatnonzero(model.tree.owner == model.tree.root))
    slots, values = targets.slots[of_base], targets.values[:, of_base]
    point = slots < model.topology.point_count
    if not point.any():
        base = model.topology.bodies[model.tree.root]
        raise input_error(
            "conflict",
            problem=f"no point of the base body {base.name!r} was measured",
            expected=f"some of {', '.join(map(str, base.points))} among the targets",
        )
    middle = values[:, point].mean(axis=1)
    standing = model.standing[slots].copy()
    standing[point] -= standing[point].mean(axis=0)
    measured = np.where(point[:, None], values - middle[:, None], values)
    rotation = best_rotation(standing, measured)
    position = middle - rotation @ model.standing[slots[point]].mean(axis=0)
    return Pose(np.zeros((len(position), model.tree.joint_count)), position, rotation)


_JUMP = 2.0  # A change of an angle between key frames that no movement makes [rad]
_WORST = 3  # Number of the worst points that the error of an unfitted frame names


class Pose(NamedTuple):
    """Joint angles (T, K), position (T, 3) and rotation (T, 3, 3) of the base."""

    angles: Array
    position: Array
    rotation: Array

    @classmethod
    def from_coordinates(cls, coordinates: Array) -> Pose:
        """Poses from joint and base coordinates (T, K+6) [rad, m]."""
        base = coordinates[:, -6:]
        return cls(coordinates[:, :-6], base[:, :3], from_cardan(*base[:, 3:].T))

    def placed(self, model: Model) -> tuple[Array, Array]:
        """Natural coordinates (T, N, 3) and rotations of the bodies from standing (T, B, 3, 3)."""
        from musclesolve.dynamics.kernel.entry import PLACE_TREE

        tree, frames = model.tree, len(self.angles)
        q = np.empty((frames, len(model.standing), 3))
        rotation = np.empty((frames, len(model.topology.bodies), 3, 3))
        pose, work = tuple(map(contiguous, self)), MovingTree.allocate(len(tree.distal_frames))
        PLACE_TREE.load()(tree.compiled, pose, tree.point_count, q, rotation, work)
        return q, rotation

    def q(self, tree: Tree, moving: Mask | None = None) -> Array:
        """Natural coordinates (T, N, 3); moving (K,) as in `Tree.pose`."""
        return tree.pose(*self, moving)

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
        """Interpolate from some frames (k,), the first and the last among them, to all frames, by cubic splines."""
        if len(keys) == frames:
            return self
        every = np.arange(frames)
        angles, position, rotation = (spline_through(keys, array)(every) for array in self)
        return Pose(angles, position, nearest_rotation(rotation))


@dataclass(frozen=True)
class NearestPose:
    """The problem of the nearest pose in some frames: free (K+6,), the degrees of freedom that move; rest, angles
    toward which undetermined angles are drawn; names (T,) of the frames.
    """

    model: Model
    targets: Targets
    free: Mask
    rest: Rest
    names: Array | Indices

    @classmethod
    def from_targets(
        cls,
        model: Model,
        targets: Targets,
        time: Array | None = None,
        rest: Rest | None = None,
        locked: Sequence[str] | None = None,
    ) -> NearestPose:
        """The problem of all frames, at times (T,) [s].

        Degrees of freedom that move no target in a general pose stay locked at zero. Angles are drawn toward zero by
        the weights of the model, except where the driven direction is measured. locked, rest: instead of these.
        """
        if locked is None:
            free = np.abs(generic_directions(model, targets)).max(axis=(0, 1)) > 1e-6
        else:
            free = ~np.isin(model.topology.dof_names, locked)
        frames, joints = len(targets.values), model.tree.joint_count
        if rest is None:
            rest = Rest(np.zeros((frames, joints)), np.zeros((frames, joints)))
            for k, dof in enumerate(model.topology.dofs):
                measured = (
                    dof.follower[0] is None and model.topology.slots_of(dof.follower)[1] in targets.slots
                )
                rest.weights[:, k] = 0.0 if measured else dof.rest**2
        return cls(model, targets, free, rest, np.arange(frames) if time is None else time)

    @cached_property
    def hinges(self) -> list[Hinge]:
        """The hinges that, while straight, do not show the rotation of the body before them."""
        return straight_hinges(self.model, self.free, np.any(self.rest.weights > 0.0, axis=0))

    def with_hinges(self, pose: Pose, time: Array | None = None) -> tuple[NearestPose, Pose]:
        """The problem with rotations at straight hinges drawn toward their course over the whole motion, and a start.

        pose: (T), near the solution; time: (T,) [s], as in `fit_pose`.
        """
        if not self.hinges:
            return self, pose
        before = continuous_branch(self.model, pose.angles)
        after, angles, weights = (array.copy() for array in (before, *self.rest))
        parts = [self._bent(pose.frames(some), before[some], some) for some in slices(len(before), _BLOCK)]
        for hinge, *of_hinge in zip(self.hinges, *parts, strict=True):
            bent = Bent(*map(np.concatenate, zip(*of_hinge, strict=True)))
            stiff = stiffness(time, len(before), hinge.rest)
            rotation = shown_rotation(stiff, bent.beside, hinge.reach, hinge.rest)
            angles[:, hinge.rotation] = after[:, hinge.rotation] = rotation
            neighbors = np.append(stiff, 0.0) + np.append(0.0, stiff)
            weights[:, hinge.rotation] = bent.hidden * np.maximum(neighbors, hinge.rest**2)
            after[:, hinge.bend] = np.arctan2((bent.beside * np.exp(-1j * rotation)).real, bent.along)
            if hinge.twist is not None:
                # Bodies beyond the hinge do not move when it is turned over.
                over = np.cos(rotation - before[:, hinge.rotation]) < 0.0
                after[:, hinge.twist] += np.where(over, np.pi, 0.0)
        return self._with(rest=Rest(angles, weights)), pose._replace(angles=after)

    def _bent(self, pose: Pose, angles: Array, frames: slice) -> list[Bent]:
        """The bend that measured points show at each hinge in some frames, with joint angles (F, K) of the poses."""
        q = pose.q(self.model.tree)
        measured = with_measured(self.model, self.targets.frames(frames), q)
        axes = self.model.tree.axes(q)
        return [Bent.from_pose(hinge, angles, measured, axes) for hinge in self.hinges]

    def going_on(self, pose: Pose, step: float) -> NearestPose:
        """The problem of frames with rotations at straight hinges drawn toward a pose that was `step` [s] before."""
        if not self.hinges:
            return self
        (q, _), (angles, weights) = pose.placed(self.model), map(np.copy, self.rest)
        measured, axes = with_measured(self.model, self.targets, q), self.model.tree.axes(q)
        for hinge in self.hinges:
            bent = Bent.from_pose(hinge, pose.angles, measured, axes)
            angles[:, hinge.rotation] = pose.angles[:, hinge.rotation]
            weights[:, hinge.rotation] = bent.hidden * stiffness(np.array([0.0, step]), 2, hinge.rest)
        return self._with(rest=Rest(angles, weights))

    def _with(self, **changed: Any) -> NearestPose:
        other = replace(self, **changed)
        # these depend neither on positions nor on rest angles
        vars(other).update(compiled=self.compiled, hinges=self.hinges)
        return other

    def frames(self, keep: slice | Indices | Mask) -> NearestPose:
        """The problem of some frames: a slice, a mask (T,) or indices."""
        targets, rest = self.targets.frames(keep), self.rest.frames(keep)
        return replace(self, targets=targets, rest=rest, names=self.names[keep])

    def at(self, values: Array) -> NearestPose:
        """The problem of other frames of the same points and directions, with values (T, n, 3)."""
        targets = Targets(self.targets.slots, values, self.targets.weights)
        rest = self.rest.frames(np.zeros(len(values), np.intp))
        return self._with(targets=targets, rest=rest, names=np.arange(len(values)))

    def misfit(self, pose: Pose) -> Array:
        """The sum of weighted squares of each frame (T,) [m2]."""
        # Degrees of freedom that move no target keep their standing values.
        tree, slots = self.model.tree, self.targets.slots
        q = pose.q(tree, np.asarray(tree.distal_slots[slots].any(axis=0)))
        off = (self.targets.values - q[:, slots]) ** 2
        rest = self.rest.weights * (pose.angles - self.rest.angles) ** 2
        return np.einsum("tnx,n->t", off, self.targets.weights) + rest.sum(axis=1)

    @cached_property
    def compiled(self) -> tuple[TargetArrays, PoseWork]:
        """The targets for compiled code, without their values, and work arrays."""
        tree, slots = self.model.tree, contiguous(self.targets.slots, np.intp)
        # The base first: no speed is then before another that moves it (`factorize`).
        chosen = np.roll(np.arange(len(self.free)), 6)
        chosen = contiguous(chosen[self.free[chosen]], np.intp)
        targets = TargetArrays(slots, slots < tree.point_count, contiguous(self.targets.weights), chosen)
        sizes = len(tree.distal_frames), tree.joint_count, len(slots), len(chosen)
        return targets, PoseWork.allocate(*sizes)

    def converge(self, pose: Pose, tolerance: float, max_iterations: int) -> Pose:
        """The poses of `converged`, all of them converged.

        Raises:
            PoseError: a frame that does not converge.
        """
        after, converged = self.converged(pose, tolerance, max_iterations)
        if not converged.all():
            raise self.failure(after, converged)
        return after

    def converged(
        self, pose: Pose, tolerance: float, max_iterations: int, carried: bool = False
    ) -> tuple[Pose, Mask]:
        """Poses after steps until no frame moves by more than `tolerance` [rad or m], and which frames converged (T,).

        Gauss-Newton far from the optimum, Newton near it; steps are damped where the fit gets worse. carried: each
        frame starts as far from its pose as the frames before it were moved from theirs.
        """
        from musclesolve.dynamics.kernel.entry import NEAREST

        tree = self.model.tree
        targets, work = self.compiled

        def near(values: Array, angles: Array, weights: Array, *pose: Array) -> tuple[Array, ...]:
            # Relative to the start of each frame: hundreds of meters from the origin of a laboratory the round-off of
            # positions would exceed the progress of the last steps.
            begin = Pose(contiguous(pose[0]), np.zeros_like(pose[1]), contiguous(pose[2]))
            values = values - np.where(targets.point[:, None], pose[1][:, None], 0.0)
            after, largest = Pose(*map(np.array, begin)), np.empty(len(values))
            NEAREST.load()(
                *(tree.compiled, targets, contiguous(values), (contiguous(angles), contiguous(weights))),
                *(tuple(begin if carried else begin.frames(slice(0))), tuple(after)),
                *(np.array([tolerance, max_iterations, np.inf]), work, largest),
            )
            return after.angles, after.position + pose[1], after.rotation, largest

        start = self.targets.values, *self.rest, *pose
        # frames that do not start from each other need no work arrays together
        frames = len(self.targets.values)
        windows = [slice(None)] if carried else slices(frames, _BLOCK)
        parts = [near(*(array[some] for array in start)) for some in windows]
        *after, largest = map(np.concatenate, zip(*parts, strict=True))
        return Pose(*after), np.asarray(largest < tolerance)

    def failure(self, after: Pose, fitted: Mask) -> PoseError:
        """The error for frames that did not converge: the first of them, and its points with the largest residuals."""
        q, slots = after.q(self.model.tree), self.targets.slots
        names, frame = self.model.topology.coordinate_names, int(np.argmin(fitted))
        off = np.linalg.norm(q[frame, slots] - self.targets.values[frame], axis=1)
        off *= np.sqrt(self.targets.weights)
        worst = tuple((names[slots[k]], float(off[k])) for k in np.argsort(-off)[:_WORST])
        failed = self.names[~fitted].tolist()
        listed = ", ".join(f"{at:.3f} s" if isinstance(at, float) else f"frame {at}" for at in failed[:3])
        more = f" and {len(failed) - 3} more frames" if len(failed) > 3 else ""
        return PoseError(
            f"no pose of the body fits the markers at {listed}{more}; there the point farthest from where it was "
            f"measured is {worst[0][0]}, by {1000.0 * worst[0][1]:.0f} mm. Markers that are swapped or mapped to the "
            "wrong landmark are the usual reason.",
            tuple(failed),
            worst,
        )
