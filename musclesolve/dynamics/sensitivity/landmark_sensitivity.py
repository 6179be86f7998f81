"""How joint moments respond to errors of measured points, through fit, splines and inverse dynamics, exactly.

How the consistent pose responds is in `pose_response`. The splines are linear in the coordinates, so the derivatives
of the solution are splines of the solution. What is left, from coordinates, rates and second derivatives to moments, is
a function of one frame, and a complex step through the same code differentiates it to round-off.

The lengths and masses of the subject are held: an error of a measured point moves the pose, not the subject.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.kinematics.consistent_motion import consistent_motion
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.kinematics.pose_fit import Fit
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.sensitivity.moment_sensitivity import Sensitivity
from musclesolve.dynamics.sensitivity.pose_response import coordinate_response
from musclesolve.errors import InputError

_STEP = 1e-30  # Imaginary step; nothing is subtracted, so it may be as small as numbers get
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
    """By the coordinates of measured points, each off by the same in all frames [per m] (Silva 2003, 5.5.3, 5.5.6).

    names: measured points (or directions, then per unit), all points unless given. keep: the frames wanted, at which
    the external forces are given; the others only support the splines. method: how the fit was found, "nearest" or
    "joint_angles" (`consistent_motion`).

    Raises:
        InputError: a name that was not measured; an unknown method; a fit that is not the one of the method.
    """
    _check_consistent(model, fit)
    chosen = _chosen(model, targets, names)
    responses = coordinate_response(model, targets, fit, chosen, method)
    known = model.topology.coordinate_names
    sources, columns = [], []
    for column, place in enumerate(chosen):
        for axis in range(3):
            along = responses[..., column, axis]
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
    keep: slice | Indices | Mask = slice(None),
) -> Array:
    """Derivative of all moments (T, K+6) when the coordinates (T, K+6) move along a direction (T, K+6)."""
    from scipy.interpolate import make_interp_spline

    state = []
    for values in (coordinates, along):
        spline = make_interp_spline(time, values, k=5)
        state.append([values[keep], spline(time, 1)[keep], spline(time, 2)[keep]])
    moved = [value + 1j * _STEP * change for value, change in zip(*state, strict=True)]
    return np.asarray(projected_moments(model, motion_from(model, time[keep], *moved), wrenches).imag / _STEP)


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
    """The difference quotient (5.15) for an error `by` [m] of one measured point, coordinate by coordinate [per m].

    It differs from `landmark_sensitivity` by what is not linear in so large an error: the source takes 1 cm and 1 dm
    (1 mm at the knee). Other arguments and exceptions are those of `landmark_sensitivity`.
    """
    place = _chosen(model, targets, [name])[0]

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


def _check_consistent(model: Model, fit: Fit) -> None:
    """Refuse poses that are no optimum of the fit: the derivative of an optimum says nothing of them."""
    off = np.abs(model.constraints.violation(fit.q)).max(initial=0.0)
    if off > _INCONSISTENT:
        raise InputError(
            f"the fit violates the constraints of the model by {off:.2g}",
            code="conflict",
            expected="a pose of fit_pose or drive_pose, which satisfies them",
            remedy="take the fit of one of these",
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
