"""How joint moments respond to errors of measured points, through fit, splines and inverse dynamics, exactly.

The consistent pose is where D^T W (q - y) + R c = 0, y what was measured and R the weights that draw undetermined
angles to zero. Differentiated as it stands (implicit function theorem):

    H ds = D^T W dy,   H = D^T W D + R + S,   S_kl = sum_n w_n (q_n - y_n) . dD_nk/ds_l

S, which Gauss-Newton leaves out far from the optimum, belongs to the derivative of the optimum. The splines are
linear in the coordinates, so the derivatives of the solution are splines of the solution. What is left, from
coordinates, rates and second derivatives to moments, is a function of one frame, and a complex step through the same
code differentiates it to round-off.

The lengths and masses of the subject are held: an error of a measured point moves the pose, not the subject.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.kinematics.normal_equations import normal_equations
from musclesolve.dynamics.kinematics.pose_fit import Fit, rest_weights
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import cardan_rates
from musclesolve.dynamics.sensitivity.moment_sensitivity import Sensitivity
from musclesolve.errors import InputError

_STEP = 1e-30  # Imaginary step; nothing is subtracted, so it may be as small as numbers get
_INCONSISTENT = 1e-6  # Violation of a constraint [m, or a cosine] that no fitted pose has
_BLIND = 1e-11  # A motion that no target sees, by this share of the one seen best, is left where it is


def landmark_sensitivity(
    model: Model,
    time: Array,
    targets: Targets,
    fit: Fit,
    wrenches: list[Wrench],
    names: list[str] | None = None,
    keep: slice | Array = slice(None),
) -> Sensitivity:
    """By the coordinates of measured points, each off by the same in all frames [per m] (Silva 2003, 5.5.3, 5.5.6).

    names: measured points (or directions, then per unit), all points unless given. keep: the frames wanted, at which
    the external forces are given; the others only support the splines.

    Raises:
        InputError: a name that was not measured; a fit that is not the nearest pose (`fit_pose`).
    """
    _check_nearest(model, fit)
    slots = _chosen(model, targets, names)
    responses = coordinate_response(model, targets, fit)
    known = model.topology.coordinate_names
    sources, columns = [], []
    for place in slots:
        for axis in range(3):
            along = responses[..., place, axis]
            columns.append(moment_response(model, time, fit.coordinates, along, wrenches, keep))
            sources.append(f"{known[targets.slots[place]]} {'xyz'[axis]}")
    values = np.stack(columns, axis=2)
    return Sensitivity("measured point", "m", model.topology.dof_names, tuple(sources), values)


def moment_response(
    model: Model,
    time: Array,
    coordinates: Array,
    along: Array,
    wrenches: list[Wrench],
    keep: slice | Array = slice(None),
) -> Array:
    """Derivative of all moments (T, K+6) when the coordinates (T, K+6) move along a direction (T, K+6)."""
    from scipy.interpolate import make_interp_spline

    state = []
    for values in (coordinates, along):
        spline = make_interp_spline(time, values, k=5)
        state.append([values[keep], spline(time, 1)[keep], spline(time, 2)[keep]])
    moved = [value + 1j * _STEP * change for value, change in zip(*state, strict=True)]
    return np.asarray(projected_moments(model, motion_from(model, time[keep], *moved), wrenches).imag / _STEP)


def coordinate_response(model: Model, targets: Targets, fit: Fit) -> Array:
    """Derivative of the consistent coordinates by everything measured in the same frame, (T, K+6, n, 3)."""
    tree, joints = model.tree, model.tree.joint_count
    free = np.array([name not in fit.locked for name in model.topology.dof_names])
    angles, origin = fit.coordinates[:, :joints], fit.coordinates[:, joints : joints + 3]
    directions = tree.allowed(fit.q, origin, targets.slots)[..., free]
    weighted = directions * targets.weights[:, None, None]
    pull = (targets.values - fit.q[:, targets.slots]) * targets.weights[:, None]
    whole = np.ones(len(fit.q))
    hessian, _ = normal_equations(tree, fit.q, origin, targets.slots, targets.weights, pull, free, whole)
    hessian += np.diag(rest_weights(model, targets)[free])
    frames, count = len(fit.q), 3 * len(targets.slots)
    speeds = np.zeros((frames, len(free), count))
    pulls = np.moveaxis(weighted, 3, 1).reshape(frames, -1, count)
    speeds[:, free] = np.linalg.pinv(hessian, rcond=_BLIND, hermitian=True) @ pulls
    return _coordinates_from(model, fit.coordinates, angles, speeds).reshape(frames, len(free), -1, 3)


def _coordinates_from(model: Model, coordinates: Array, angles: Array, speeds: Array) -> Array:
    """Changes of the coordinates (T, K+6, s) from those of the speeds: rotation vectors and Cardan angles undone."""
    joints, changes = model.tree.joint_count, speeds.copy()
    if len(model.tree.spherical):
        still = np.zeros_like(angles)
        for source in range(speeds.shape[2]):
            changes[:, :joints, source] = model.tree.rates(angles, speeds[:, :joints, source], still)[0]
    base = coordinates[:, joints + 3 :]
    unit = np.broadcast_to(np.eye(3)[:, None], (3, *base.shape))
    spin = np.stack([cardan_rates(base, rates, np.zeros_like(base))[0] for rates in unit], axis=2)
    changes[:, joints + 3 :] = np.linalg.solve(spin, speeds[:, joints + 3 :])
    return changes


def _check_nearest(model: Model, fit: Fit) -> None:
    """Refuse poses that are no optimum of the fit: the derivative of an optimum says nothing of them."""
    off = np.abs(model.constraints.violation(fit.q)).max(initial=0.0)
    if off > _INCONSISTENT:
        raise InputError(
            f"the fit violates the constraints of the model by {off:.2g}",
            code="conflict",
            expected="the nearest pose, which satisfies them",
            remedy="take the fit of fit_pose",
        )


def _chosen(model: Model, targets: Targets, names: list[str] | None) -> list[int]:
    """Places among the targets."""
    measured = {model.topology.coordinate_names[slot]: place for place, slot in enumerate(targets.slots)}
    if names is None:
        return [place for place, slot in enumerate(targets.slots) if slot < model.topology.point_count]
    for name in names:
        if name not in measured:
            raise unknown_name(name, "measured point or direction", measured)
    return [measured[name] for name in names]
