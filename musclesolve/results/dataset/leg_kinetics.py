"""Kinetics of a leg from a result: power of a joint, support moment of a leg, force of a muscle group."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import LEG_JOINTS
from musclesolve.results.dataset import frame_validity as frames


def joint_dofs(result: xr.Dataset, joint: str, side: str, *, sagittal: bool = False) -> list[str]:
    """The degrees of freedom of hip, knee or ankle that a result has, or flexion alone."""
    table = bundled_toml(__package__, "joint_dofs.toml")[joint]
    stems = [*table["sagittal"], *([] if sagittal else table["others"])]
    known = set(map(str, result["dof"].values))
    return [name for name in (f"{stem}_{side}" for stem in stems) if name in known]


def joint_power(result: xr.Dataset, joint: str, side: str, *, sagittal: bool = False) -> Array:
    """Power of all rotations of a joint, or of flexion and extension alone, (T,) [W]."""
    dofs = joint_dofs(result, joint, side, sagittal=sagittal)
    return np.asarray(result["joint_power"].sel(dof=dofs).sum("dof", skipna=False).values)


def powered_joints(result: xr.Dataset) -> list[str]:
    """The joints among hip, knee and ankle that have a degree of freedom in the result, on any side."""
    sides = [str(side) for side in result["side"].values]
    return [joint for joint in LEG_JOINTS if any(joint_dofs(result, joint, side) for side in sides)]


def support_moment(result: xr.Dataset, side: str) -> Array | None:
    """Sum of the moments that extend a leg: hip extension, knee extension, plantarflexion, (T,) [N m].

    Winter (1980), J Biomech 13:923-927. None where a joint is missing or the sense of its angle is not known.
    """
    table = bundled_toml(__package__, "joint_dofs.toml")
    total = np.zeros(result.sizes["time"])
    for joint in LEG_JOINTS:
        dofs = joint_dofs(result, joint, side, sagittal=True)
        sign = table[joint]["sagittal"][dofs[0].removesuffix(f"_{side}")] if dofs else 0
        if not sign:
            return None
        total += sign * np.asarray(result["joint_moment"].sel(dof=dofs[0]).values)
    return total


@dataclass(frozen=True)
class GroupForce:
    """Sum of the forces of the muscles of a group on one side over time, (T,) [N], and of their capacities [N]."""

    force: Array
    capacity: float  # sum of the maximum isometric forces

    @property
    def share(self) -> Array:
        """Force over capacity, (T,)."""
        return self.force / self.capacity


def group_muscles(result: xr.Dataset, group: str, side: str) -> list[str]:
    """The muscles of a group of the muscle set (`group` of its muscles) on one side."""
    pairs = zip(result["muscle"].values, result["group"].values, strict=True)
    sides = frames.muscle_sides(result)
    return [str(name) for name, of in pairs if str(of) == group and sides[str(name)] == side]


def group_force(result: xr.Dataset, group: str, side: str) -> GroupForce | None:
    """The force of a group; None where a side has none of its muscles."""
    own = group_muscles(result, group, side)
    if not own:
        return None
    columns = np.isin(result["muscle"].values, own)
    force = result["muscle_force"].transpose("time", "muscle").values[:, columns].sum(axis=1)
    return GroupForce(force, float(np.nansum(result["max_isometric_force"].values[columns])))
