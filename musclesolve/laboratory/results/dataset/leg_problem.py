"""Force-sharing problem of one leg, taken from a result for further analysis."""

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.messages import check_known
from musclesolve._util.sides import side_of
from musclesolve.errors import InputError, input_error
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.checked import as_dataset
from musclesolve.muscles.hill_model import along_fibers
from musclesolve.sharing.problem import Problem

PROBLEM_VARIABLES = (
    *("moment_arm", "joint_moment", "passive_force", "force_capacity"),
    *("max_isometric_force", "fiber_velocity", "optimal_fiber_length", "status", "valid"),
)


def leg_problem(
    result: xr.Dataset,
    side: str,
    reserve_weight: float | None = None,
    trial: AnyTrial | str | Path | None = None,
) -> Problem:
    """Return the force-sharing problem of one leg: the moments of the contractile elements in every frame.

        b = joint_moment - moment_arm @ passive_force - actuator_moment,    on the shared degrees of freedom

    Frames of an invalid motion (status INVALID_MOTION) have no moments (NaN) and are left out by all solvers. The
    problem holds the data of all costs. A result does not keep the joint reactions of `joint_reaction_squared` and the
    rates of joint angles: they are computed again from the trial.

    Args:
        result: of `run`, or read from its file.
        side: "r" or "l"; "other" for muscles of no side.
        reserve_weight: see Problem.
        trial: the trial of the result, or the path of its file; None: a problem without joint reactions and rates.

    Raises:
        InputError: the result has no muscles of that side, lacks an axis, or is not the result of a run; the trial has
            other times, muscles or moment arms, or no ground reactions.

    Examples:
        >>> problem = ms.leg_problem(ms.run(ms.data.reference_stride()), "r")
        >>> problem.n_muscles, len(problem.dof)
        (43, 5)
    """
    result = as_dataset(result)
    if missing := [name for name in (*PROBLEM_VARIABLES, "side") if name not in result.variables]:
        raise input_error(
            "bad_result",
            problem=f"the result has no {', '.join(map(str, missing))}",
            expected="a result of musclesolve.run, or result.nc",
        )
    if lost := [axis for axis in ("time", "dof", "muscle") if axis not in result.dims]:
        raise input_error(
            "bad_result",
            problem=f"the result has no axis {lost[0]!r}",
            expected="the axes time, dof and muscle",
            remedy=f"choose a part of it with a list, such as result.isel({lost[0]}=[0])",
        )
    check_known([side], "side", frames.sides(result), " with muscles in this result")
    dofs = [str(dof) for dof in np.atleast_1d(result.attrs["shared_dofs"]) if side_of(str(dof)) == side]
    muscles = [name for name, of in frames.muscle_sides(result).items() if of == side]
    leg = result.sel(dof=dofs, muscle=muscles)
    arm = leg["moment_arm"].values
    needed = leg["joint_moment"].values - np.einsum("tkm,tm->tk", arm, leg["passive_force"].values)
    if "actuator_moment" in leg:
        needed = needed - leg["actuator_moment"].values
    usable = frames.credible(result, side)
    return Problem(
        moment_arm=arm,
        moment=np.where(usable[:, None], needed, np.nan),
        force_capacity=leg["force_capacity"].values,
        fiber_force_capacity=_fiber_force_capacity(leg),
        max_isometric_force=leg["max_isometric_force"].values,
        lower=np.array(float(result.attrs.get("least_activation", 0.0))),
        reserve_weight=None if reserve_weight is None else np.array(reserve_weight),
        muscle=tuple(muscles),
        dof=tuple(dofs),
        fiber_velocity=leg["fiber_velocity"].values,
        optimal_fiber_length=leg["optimal_fiber_length"].values,
        joints_crossed=leg["joints_crossed"].values if "joints_crossed" in leg else None,
        passive_force=leg["passive_force"].values,
        emg=leg["measured_activation"].values if "measured_activation" in leg else None,
        fiber_length=leg["fiber_length"].values if "fiber_length" in leg else None,
        joint_angle=leg["joint_angle"].values if "joint_angle" in leg else None,
        time=leg["time"].values,
        **{} if trial is None else _again(leg, trial, side, tuple(muscles), tuple(dofs)),
    )


def _again(
    leg: xr.Dataset, trial: AnyTrial | str | Path, side: str, muscles: tuple[str, ...], dofs: tuple[str, ...]
) -> dict[str, Any]:
    """Joint reactions and rates of the shared degrees of freedom of a leg, from the trial of a result."""
    body = prepare(trial)
    same = [part for part in body.parts if part.state.parameters.names == muscles and part.shared == dofs]
    if len(same) != 1 or not np.array_equal(body.time, leg["time"].values):
        raise _other_trial(f"it has no part with the muscles, degrees of freedom and times of side {side!r}")
    (part,) = same
    if not np.allclose(
        part.state.moment_arm[:, part.rows], leg["moment_arm"].values, rtol=0.0, atol=_SAME_ARM
    ):
        raise _other_trial("its moment arms differ")
    if part.loads is None:
        raise _other_trial("no ground reactions are known")
    return {
        "reaction_matrix": part.loads.matrix,
        "reaction_offset": part.loads.offset(leg["passive_force"].values),
        "reaction": part.loads.components,
        "joint_rate": None if part.rate is None else part.rate[:, part.rows],
    }


_SAME_ARM = 1e-6
"""Difference of moment arms that round-off explains [m]."""


def _other_trial(fault: str) -> InputError:
    return InputError(
        f"no joint reactions of this result follow from the trial: {fault}",
        code="conflict",
        where="trial",
        expected="the trial of the result, unchanged, with ground reactions",
    )


def _fiber_force_capacity(leg: xr.Dataset) -> Array | None:
    """Force of the contractile element along the fibers (T, n) [N]; None in results without fiber lengths."""
    if not {"fiber_length", "pennation_angle"} <= set(leg.data_vars):
        return None
    thickness = leg["optimal_fiber_length"].values * np.sin(leg["pennation_angle"].values)
    return along_fibers(leg["force_capacity"].values, leg["fiber_length"].values, thickness)
