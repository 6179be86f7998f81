"""Force-sharing problem of one leg, taken from a result for further analysis."""

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.sides import side_of
from musclesolve.errors import input_error
from musclesolve.muscles.hill_model import along_fibers
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.checked import as_dataset
from musclesolve.sharing.problem import Problem

PROBLEM_VARIABLES = (
    *("moment_arm", "joint_moment", "passive_force", "force_capacity"),
    *("max_isometric_force", "fiber_velocity", "optimal_fiber_length", "status", "valid"),
)


def leg_problem(result: xr.Dataset, side: str, reserve_weight: float | None = None) -> Problem:
    """Return the force-sharing problem of one leg: the moments of the contractile elements in every frame.

        b = joint_moment - moment_arm @ passive_force,    on the shared degrees of freedom

    Frames of an invalid motion (status INVALID_MOTION) have no moments (NaN) and are left out by all solvers. The
    problem holds the data of all costs except the joint reactions of `joint_reaction_squared`.

    Args:
        result: of `run`, or read from its file.
        side: "r" or "l"; "other" for muscles of no side.
        reserve_weight: see Problem.

    Raises:
        InputError: the result has no muscles of that side, lacks an axis, or is not the result of a run.

    Examples:
        >>> problem = ms.leg_problem(ms.run(ms.data.reference_stride()), "r")
        >>> problem.n_muscles, len(problem.dof)
        (43, 5)
    """
    result = as_dataset(result)
    if missing := [name for name in PROBLEM_VARIABLES if name not in result.data_vars]:
        raise input_error("results.result_lacks_arrays", missing=missing)
    if lost := [axis for axis in ("time", "dof", "muscle") if axis not in result.dims]:
        raise input_error("results.result_no_axis", lost=lost[0])
    if side not in (sides := frames.sides(result)):
        raise input_error("results.result_no_muscles_side", side=side, sides=sides)
    dofs = [str(dof) for dof in np.atleast_1d(result.attrs["shared_dofs"]) if side_of(str(dof)) == side]
    muscles = [name for name, own in frames.muscle_sides(result).items() if own == side]
    leg = result.sel(dof=dofs, muscle=muscles)
    arm = leg["moment_arm"].values
    needed = leg["joint_moment"].values - np.einsum("tkm,tm->tk", arm, leg["passive_force"].values)
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
    )


def _fiber_force_capacity(leg: xr.Dataset) -> Array | None:
    """Force of the contractile element along the fibers (T, n) [N]; None in results without fiber lengths."""
    if not {"fiber_length", "pennation_angle"} <= set(leg.data_vars):
        return None
    thickness = leg["optimal_fiber_length"].values * np.sin(leg["pennation_angle"].values)
    return along_fibers(leg["force_capacity"].values, leg["fiber_length"].values, thickness)
