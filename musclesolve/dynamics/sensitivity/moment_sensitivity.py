"""Derivatives of joint moments by errors of their inputs, exact (Silva 2003, section 5.5).

The moments are tau = D^T (M qdd - g). Masses and ground forces enter linearly, the point of application bilinearly,
so their derivatives are closed forms: the moment of a unit force at a point about a degree of freedom is a column of
D. The thesis uses difference quotients (5.15). Forces on one branch of the body do not change the moments of another
branch: these derivatives are zero.

Measured points pass through fit, splines and inverse dynamics. At the nearest pose D^T W (q - y) + R (c - c0) = 0
with the measured points y and the weights R that draw undetermined angles to c0. R and c0 are constant.
By the implicit function theorem,

    H ds = D^T W dy,   H = D^T W D + R + S,   S_kl = sum_n w_n (q_n - y_n) . dD_nk/ds_l

S, which Gauss-Newton leaves out far from the optimum, belongs to the derivative of the optimum. A model driven by joint
angles (`drive_pose`) is a chain of such fits, each over some speeds f to the targets of one body, while the others o
stay as an earlier fit left them:

    H_ff ds_f = D_f^T W dy - H_fo ds_o

The splines are linear in the coordinates, so the derivatives of the solution are splines of the solution. The last
step, from coordinates, rates and second derivatives to moments, is a function of one frame; a complex step through the
same code differentiates it to round-off. The lengths and masses of the subject are constant: an error of a measured
point changes the pose, not the subject.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_array
from musclesolve._util.names import unknown_name
from musclesolve._util.splines import spline_through
from musclesolve.dynamics.inverse.external_wrenches import Wrench, check_frames
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.inverse.newton_euler import SegmentMotion, angular_momentum_rate
from musclesolve.dynamics.kinematics.consistent_motion import OF_BASE, consistent_motion, drive_plan
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, check_fits, motion_from
from musclesolve.dynamics.kinematics.pose_fit import Fit, NearestPose, Pose, fit_pose, normal_equations
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import cardan_rates, wrapped
from musclesolve.dynamics.vectors import blocks
from musclesolve.errors import input_error


@dataclass(frozen=True)
class Sensitivity:
    """Derivative of every generalized force by every source, values (T, K+6, S).

    kind: the kind of the sources; unit: the unit of one source. Derivatives of joint moments are in N m per unit. The
    last six generalized forces are the force [N] and moment [N m] that the base would need from outside, global axes.
    """

    kind: str
    unit: str
    dofs: tuple[str, ...]
    sources: tuple[str, ...]
    values: Array

    def of(self, dof: str, source: str) -> Array:
        """One derivative over the frames, (T,)."""
        for name, known, what in ((dof, self.dofs, "degree of freedom"), (source, self.sources, "source")):
            if name not in known:
                raise unknown_name(name, what, known)
        return self.values[:, self.dofs.index(dof), self.sources.index(source)]

    def largest(self) -> Array:
        """Largest magnitude over the frames, (K+6, S), without frames that have no value."""
        return np.nan_to_num(np.abs(self.values)).max(axis=0)

    def worst_direction(self) -> Sensitivity:
        """Components x, y, z of each source merged: the response to a unit error in the worst direction."""
        frames, dofs, count = self.values.shape
        merged = np.linalg.norm(self.values.reshape(frames, dofs, count // 3, 3), axis=3)
        names = tuple(name.removesuffix(" x") for name in self.sources[::3])
        return replace(self, sources=names, values=merged)


def mass_sensitivity(
    model: Model, motion: Motion, segments: SegmentMotion, inertia_follows: bool = False
) -> Sensitivity:
    """Derivatives of joint moments by the masses of segments with constant centers of mass (Silva 2003, 5.5).

    d tau_k / d m = sum over the bodies of the segment of share (a_k x (r - o_k)) . (a - g).

    Args:
        model: the model.
        motion: its motion over T frames.
        segments: motion of its bodies, from `segment_motion`.
        inertia_follows: whether the moments of inertia grow with the mass; in the thesis they do not.

    Returns:
        Derivatives (T, K+6, S) [N m per kg] by the mass of each segment.

    Examples:
        >>> stride, time = ms.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> motion = stride.motion(time)
        >>> segments = ms.dynamics.segment_motion(stride.model, motion)
        >>> ms.dynamics.mass_sensitivity(stride.model, motion, segments).unit
        'kg'
    """
    names = model.topology.segments
    totals = {name: 0.0 for name in names}
    for body, mass in zip(model.topology.bodies, model.mass.mass, strict=True):
        totals[body.segment] += float(mass)
    push = segments.center_acceleration - model.gravity
    angular = angular_momentum_rate(model, segments, np.arange(len(model.mass.mass)))
    values = np.zeros((len(motion.q), len(model.topology.dof_names), len(names)))
    for index, body in enumerate(model.topology.bodies):
        total = totals[body.segment]
        share = model.mass.mass[index] / total if total > 0.0 else body.share
        if share == 0.0:
            continue
        spin, reach = body_directions(model, motion, index, segments.center[:, index])
        response = share * np.einsum("tkx,tx->tk", reach, push[:, index])
        if inertia_follows and total > 0.0:
            response += np.einsum("tkx,tx->tk", spin, angular[:, index]) / total
        values[:, :, names.index(body.segment)] += response
    return Sensitivity("segment mass", "kg", model.topology.dof_names, names, values)


def force_sensitivity(model: Model, motion: Motion, body: str, point: Array) -> Sensitivity:
    """Derivatives of joint moments by a force on a body at a constant point (Silva 2003, 5.5).

    d tau_k / d F = -(a_k x (p - o_k)).

    Args:
        model: the model.
        motion: its motion over T frames.
        body: name of the body.
        point: (T, 3) [m] point of application; NaN gives NaN.

    Returns:
        Derivatives (T, K+6, 3) [N m per N] by x, y and z of the force.

    Examples:
        >>> stride, time = ms.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> point = stride.ground(time)["r"].point
        >>> ms.dynamics.force_sensitivity(stride.model, stride.motion(time), "foot_r", point).values.shape
        (11, 44, 3)
    """
    point = check_array(point, "the point of application", (len(motion.q), 3), finite=False)
    _, reach = body_directions(model, motion, model.body(body), point)
    return Sensitivity("force", "N", model.topology.dof_names, _components(f"{body} force"), -reach)


def application_sensitivity(model: Model, motion: Motion, wrench: Wrench) -> Sensitivity:
    """Derivatives of joint moments by the point at which a force acts, such as a center of pressure (Silva 2003, 5.5).

    d tau_k / d p = a_k x F, for the joints between the body and the base; the force is constant.

    Args:
        model: the model.
        motion: its motion over T frames.
        wrench: the force (T, 3) [N] on a body.

    Returns:
        Derivatives (T, K+6, 3) [N m per m] by x, y and z of the point.

    Examples:
        >>> stride, time = ms.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> right, left = stride.wrenches(time)
        >>> ms.dynamics.application_sensitivity(stride.model, stride.motion(time), right).sources
        ('foot_r x', 'foot_r y', 'foot_r z')
    """
    check_frames([wrench], len(motion.q))
    spin, _ = body_directions(model, motion, model.body(wrench.body), motion.q[:, 0])
    values = np.cross(spin, wrench.force[:, None])
    return Sensitivity(
        "point of application", "m", model.topology.dof_names, _components(wrench.body), values
    )


def free_moment_sensitivity(model: Model, motion: Motion, body: str) -> Sensitivity:
    """Derivatives by a moment on a body, such as the free moment of a plate [per N m]: -a_k."""
    spin, _ = body_directions(model, motion, model.body(body), motion.q[:, 0])
    return Sensitivity("free moment", "N m", model.topology.dof_names, _components(f"{body} moment"), -spin)


def body_directions(model: Model, motion: Motion, body: int, point: Array) -> tuple[Array, Array]:
    """Angular velocity of a body and velocity of its point (T, 3) [m] per unit speed, (T, K+6, 3) each."""
    check_fits(model, motion)
    one = np.array([body])
    spin, reach = model.tree.body_directions(motion.q, motion.origin, one, point[:, None])
    return spin[:, 0], reach[:, 0]


def _components(name: str) -> tuple[str, ...]:
    return tuple(f"{name} {axis}" for axis in "xyz")


_IMAGINARY_STEP = 1e-30  # Imaginary step; without subtraction, it may be as small as numbers allow
_INCONSISTENT = 1e-6  # Violation of a constraint [m, or a cosine] that no fitted pose has


def landmark_sensitivity(
    model: Model,
    time: Array,
    targets: Targets,
    fit: Fit,
    wrenches: list[Wrench],
    names: list[str] | None = None,
    keep: slice | Indices | Mask = slice(None),
    method: str = "nearest",
) -> Sensitivity:
    """Derivatives of joint moments by an error of a measured point that is equal in all frames (Silva 2003, 5.5.3,
    5.5.6).

    Args:
        model: the model.
        time: (T,) [s], as many frames as targets and fit have.
        targets: measured points and directions.
        fit: of the targets.
        wrenches: external forces on its bodies in the frames of `keep`.
        names: measured points, or directions, whose derivatives are per unit; all points unless given.
        keep: the frames of the result; the others only support the splines.
        method: of the fit, "nearest" or "joint_angles" (`consistent_motion`).

    Returns:
        Derivatives (T, K+6, 3 n) [N m per m] by x, y and z of each point.

    Raises:
        InputError: a name that was not measured; an unknown method; a fit that is not the result of the method.

    Examples:
        >>> stride, time = ms.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> model, q = stride.model, stride.motion(time).q
        >>> names = model.topology.coordinate_names[: model.topology.point_count]
        >>> targets = ms.dynamics.Targets.build(model, {name: q[:, k] for k, name in enumerate(names)}, {})
        >>> fit = ms.dynamics.fit_pose(model, targets, time)
        >>> forces = stride.wrenches(time)
        >>> ms.dynamics.landmark_sensitivity(model, time, targets, fit, forces, ["knee_r"]).values.shape
        (11, 44, 3)
    """
    off = np.abs(model.constraints.violation(fit.q)).max(initial=0.0)
    if off > _INCONSISTENT:  # not an optimum of the fit: the derivative of an optimum does not apply
        raise input_error(
            "conflict",
            problem=f"the fit violates the constraints of the model by {off:.2g}",
            expected="a pose of fit_pose or drive_pose, which satisfies them",
            remedy="take the fit of one of these",
        )
    coordinate_names = model.topology.coordinate_names
    if names is None:
        points = targets.slots < model.topology.point_count
        names = [coordinate_names[slot] for slot in targets.slots[points]]
    places = [_place(model, targets, name) for name in names]

    def splined(coordinates: Array) -> list[Array]:
        spline = spline_through(time, coordinates, 5)
        return [coordinates[keep], spline(time, 1)[keep], spline(time, 2)[keep]]

    responses = coordinate_response(model, targets, fit, places, method)
    still, values = splined(fit.coordinates), []
    for k in range(len(places)):
        for axis in range(3):
            moving = zip(still, splined(responses[..., k, axis]), strict=True)
            moved = motion_from(
                model, time[keep], *(value + 1j * _IMAGINARY_STEP * change for value, change in moving)
            )
            values.append(projected_moments(model, moved, wrenches).imag / _IMAGINARY_STEP)
    sources = tuple(f"{name} {axis}" for name in names for axis in "xyz")
    return Sensitivity("measured point", "m", model.topology.dof_names, sources, np.stack(values, axis=2))


def _place(model: Model, targets: Targets, name: str) -> int:
    """Place of a measured point or direction among the targets."""
    measured = [model.topology.coordinate_names[slot] for slot in targets.slots]
    if name not in measured:
        raise unknown_name(name, "measured point or direction", measured)
    return measured.index(name)


def landmark_difference(
    model: Model,
    time: Array,
    targets: Targets,
    wrenches: list[Wrench],
    name: str,
    by: float,
    method: str = "nearest",
    keep: slice | Indices | Mask = slice(None),
) -> Sensitivity:
    """Difference quotient of joint moments for an error of one measured point (Silva 2003, 5.15).

    The quotient differs from `landmark_sensitivity` by the nonlinear effect of so large an error: the source takes 1 cm
    and 1 dm (1 mm at the knee).

    Args:
        model, time, targets, wrenches, method, keep: as in `landmark_sensitivity`.
        name: of the measured point.
        by: error of each coordinate [m].

    Returns:
        Quotients (T, K+6, 3) [N m per m] by x, y and z of the point.

    Raises:
        InputError: as in `landmark_sensitivity`.

    Examples:
        >>> stride, time = ms.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> model, q = stride.model, stride.motion(time).q
        >>> names = model.topology.coordinate_names[: model.topology.point_count]
        >>> targets = ms.dynamics.Targets.build(model, {name: q[:, k] for k, name in enumerate(names)}, {})
        >>> quotient = ms.dynamics.landmark_difference(model, time, targets, stride.wrenches(time), "knee_r", 0.001)
        >>> quotient.sources
        ('knee_r x', 'knee_r y', 'knee_r z')
    """
    place = _place(model, targets, name)

    def moments(shift: Array, start: Array | None) -> tuple[Array, Array]:
        values = targets.values.copy()
        values[:, place] += shift
        moved = replace(targets, values=values)
        fit, motion = consistent_motion(model, moved, time, method, start=start)
        return projected_moments(model, motion.frames(keep), wrenches), fit.coordinates

    plain, start = moments(np.zeros(3), None)
    values = np.stack([(moments(by * axis, start)[0] - plain) / by for axis in np.eye(3)], axis=2)
    sources = tuple(f"{name} {axis}" for axis in "xyz")
    return Sensitivity("measured point", "m", model.topology.dof_names, sources, values)


_BLIND = 1e-11  # A motion that no target sees, by this share of the one seen best, is left where it is
_OFF = 1e-4
"""Largest distance [rad, m] of a fit from the pose of its method; beyond it the method is refused."""

_TOLERANCE, _MAX_ITERATIONS = 1e-8, 60  # As in drive_pose


def coordinate_response(
    model: Model, targets: Targets, fit: Fit, places: list[int] | None = None, method: str = "nearest"
) -> Array:
    """Derivative (T, K+6, n, 3) of the consistent coordinates by the targets of the same frame.

    places: numbers of the targets, all unless given. method: the method of the fit, as in `consistent_motion`.
    """
    if method not in RESPONSES:
        raise unknown_name(method, "way to consistency that can be differentiated", RESPONSES)
    places = list(range(len(targets.slots))) if places is None else places
    joints, parts = model.tree.joint_count, []
    for block in blocks(len(fit.q)):
        coordinates = fit.coordinates[block]
        nearest = replace(NearestPose.from_targets(model, targets.frames(block)), rest=fit.rest.frames(block))
        speeds, off = RESPONSES[method](nearest, coordinates, places)
        if not off < _OFF:  # from another method: the derivative would belong to another pose
            raise input_error(
                "conflict",
                problem=f'the fit is {off:.2g} rad or m away from the fit of method = "{method}"',
                expected="the fit of the same targets by the same method",
                remedy="name the method that the fit was found by",
            )
        # From speeds to coordinates: rotation vectors and Cardan angles undone.
        changes, angles, base = speeds.copy(), coordinates[:, :joints], coordinates[:, joints + 3 :]
        if len(model.tree.spherical):
            still = np.zeros_like(angles)
            for source in range(speeds.shape[2]):
                changes[:, :joints, source] = model.tree.rates(angles, speeds[:, :joints, source], still)[0]
        unit = np.broadcast_to(np.eye(3)[:, None], (3, *base.shape))
        spin = np.stack([cardan_rates(base, rates, np.zeros_like(base))[0] for rates in unit], axis=2)
        changes[:, joints + 3 :] = np.linalg.solve(spin, speeds[:, joints + 3 :])
        parts.append(changes)
    return np.concatenate(parts).reshape(len(fit.q), -1, len(places), 3)


def _nearest_response(nearest: NearestPose, coordinates: Array, places: list[int]) -> tuple[Array, float]:
    """Derivative of the speeds (T, K+6, 3 n) of the nearest pose, and the distance of `coordinates` from it."""
    free, all_targets = nearest.free, np.arange(len(nearest.targets.slots))
    hessian, gradient, pulls = _equations(nearest, Pose.from_coordinates(coordinates), all_targets, places)
    inverse = np.linalg.pinv(hessian[:, free][:, :, free], rcond=_BLIND, hermitian=True)
    speeds = np.zeros_like(pulls)
    speeds[:, free] = inverse @ pulls[:, free]
    return speeds, float(np.abs(inverse @ gradient[:, free, None]).max(initial=0.0))


def _driven_response(nearest: NearestPose, coordinates: Array, places: list[int]) -> tuple[Array, float]:
    """Derivative of the speeds (T, K+6, 3 n) of the driven pose, and its distance from `coordinates` (T, K+6)."""
    model, targets, joints = nearest.model, nearest.targets, nearest.model.tree.joint_count
    start = coordinates, nearest.rest
    near = fit_pose(model, targets, None, _TOLERANCE, _MAX_ITERATIONS, *start).coordinates
    plan = drive_plan(nearest)
    poses = plan.poses(nearest, Pose.from_coordinates(near), _TOLERANCE, _MAX_ITERATIONS)
    first, off_nearest = _nearest_response(nearest, near, places)
    responses = [first]
    for solve, pose in zip(plan.solves, poses[1:], strict=True):
        before = responses[solve.after]
        hessian, _, pulls = _equations(nearest, pose, solve.places, places)
        rows = hessian[:, solve.free]
        pulls = pulls[:, solve.free] - rows[:, :, ~solve.free] @ before[:, ~solve.free]
        after = before.copy()
        after[:, solve.free] = np.linalg.pinv(rows[:, :, solve.free], rcond=_BLIND, hermitian=True) @ pulls
        if solve.line is not None:
            after = _without_twist(model, solve.line, (poses[solve.after], before), (pose, after))
        responses.append(after)
    speeds, angles = responses[0].copy(), poses[0].angles.copy()
    for joint, number in plan.shown.items():
        speeds[:, joint] = responses[number][:, joint]
        angles[:, joint] = poses[number].angles[:, joint]
    speeds[:, joints:] = responses[OF_BASE][:, joints:]
    apart = np.abs(wrapped(angles - coordinates[:, :joints])).max(initial=0.0)
    return speeds, float(np.maximum(off_nearest, apart))


def _without_twist(
    model: Model, line: tuple[int, int], start: tuple[Pose, Array], end: tuple[Pose, Array]
) -> Array:
    """The response after a fit, with the rotation about a line by the shortest rotation from a to b.

    b . omega_b = a . omega_a + (b x a) . (da + db) / (1 + a . b), of poses with their responses (T, K+6, s).
    """
    tree, joints = model.tree, model.tree.joint_count
    units, rates, place = [], [], np.zeros(0)
    for pose, speeds in (start, end):
        q = pose.q(tree)
        away = q[:, line[1]] - q[:, line[0]]
        length = np.linalg.norm(away, axis=1)[:, None]
        near, far = np.moveaxis(tree.allowed(q, pose.position, np.array(line)), 1, 0)
        units.append(away / length)
        rates.append((far - near) @ speeds / length[:, None])
        place = pose.position - q[:, line[1]]
    (a, b), speeds = units, end[1].copy()
    shortest = (
        np.einsum("tx,txs->ts", np.cross(b, a), rates[0] + rates[1]) / (1.0 + (a * b).sum(axis=1))[:, None]
    )
    wanted = np.einsum("tx,txs->ts", a, start[1][:, joints + 3 :]) + shortest
    lacking = (wanted - np.einsum("tx,txs->ts", b, speeds[:, joints + 3 :]))[:, None]
    speeds[:, joints + 3 :] += b[..., None] * lacking
    speeds[:, joints : joints + 3] += np.cross(b, place)[..., None] * lacking
    return speeds


RESPONSES: dict[str, Callable[[NearestPose, Array, list[int]], tuple[Array, float]]] = {
    "nearest": _nearest_response,
    "joint_angles": _driven_response,
}


def _equations(
    nearest: NearestPose, pose: Pose, seen: Indices, places: list[int]
) -> tuple[Array, Array, Array]:
    """H (T, K+6, K+6) over all speeds, the gradient (T, K+6), and D^T W by the targets `places` (T, K+6, 3 n) of a fit.

    seen: numbers of the targets in this fit; the others have no effect.
    """
    tree, some, rest = nearest.model.tree, nearest.targets.among(seen), nearest.rest
    count = tree.joint_count + 6
    q = pose.q(tree)
    pull = (some.values - q[:, some.slots]) * some.weights[:, None]
    every, near = np.ones(count, bool), np.ones(len(q))
    hessian, gradient = normal_equations(tree, q, pose.position, some.slots, some.weights, pull, every, near)
    joints = np.arange(tree.joint_count)
    hessian[:, joints, joints] += rest.weights
    gradient[:, joints] -= rest.weights * (pose.angles - rest.angles)
    directions = tree.allowed(q, pose.position, some.slots) * some.weights[:, None, None]
    pulls = np.zeros((len(q), count, len(places), 3))
    number = {int(place): k for k, place in enumerate(seen)}
    for column, place in enumerate(places):
        if place in number:
            pulls[:, :, column] = directions[:, number[place]].transpose(0, 2, 1)
    return hessian, gradient, pulls.reshape(len(q), count, -1)
