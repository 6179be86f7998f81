"""A dataset is a result that can be averaged and drawn, or it is refused with what it lacks."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray
from musclesolve._util.sides import SIDE_NAMES
from musclesolve.errors import InputError
from musclesolve.results.dataset import frame_validity as frames

DIMENSIONS = {
    "side": ("side",),
    **dict.fromkeys(("time", "steady", "balanced"), ("time",)),
    **dict.fromkeys(("muscle", "group"), ("muscle",)),
    **dict.fromkeys(("status", "valid", "foot_in_place"), ("time", "side")),
    **dict.fromkeys(("activation", "muscle_force"), ("time", "muscle")),
    **dict.fromkeys(("joint_angle", "joint_moment"), ("time", "dof")),
    "ground_reaction_force": ("time", "side", "axis"),
    **dict.fromkeys(("stride_side", "stride_start"), ("stride",)),
}
"""Over what these extend, in every result."""
ALWAYS = ("time", "muscle", "side", "status", "valid")
NUMBERS = ("activation", "muscle_force", "joint_angle", "joint_moment", "ground_reaction_force")
"""What is a number wherever there is a valid solution."""
MODEL = "model_file"
"""Attribute of results on an OpenSim model, which have no ground reactions."""
POSITIVE = ("subject_mass_kg", "strength")
"""Attributes that are positive numbers; a strength may be the name of a rule."""


def checked_result(result: object, needed: Collection[str] = ()) -> xr.Dataset:
    """Return the result if it is one.

    `needed` names variables that it must have besides status and coordinates.
    """
    if not isinstance(result, xr.Dataset):
        raise InputError(
            f"{str(result)[:80]!r} ({type(result).__name__}) is not a result of musclesolve",
            code="bad_type",
            expected="what ms.run or ms.read_result returns",
            remedy="read the file first: ms.read_result(path)",
        )
    strikes = [f"heel_strike_times_{side}" for side in SIDE_NAMES]

    # names and dimensions
    names = {*ALWAYS, *needed}
    if MODEL not in result.attrs and not all(name in result.attrs for name in strikes):
        names.add("ground_reaction_force")  # the strikes are then the beginnings of stance
    if "stride" in result.dims:
        names |= {"stride_side", "stride_start"}
    names |= {str(dim) for name in names & set(result.variables) for dim in result[name].dims} - {"stride"}
    if missing := sorted(names - set(result.variables)):
        raise _refused(result, f"this is not a result of musclesolve: it has no {', '.join(missing)}")
    for name, dims in DIMENSIONS.items():
        if name in result.variables and set(result[name].dims) != set(dims):
            over = ", ".join(map(str, result[name].dims))
            raise _refused(result, f"it is over ({over}), not over ({', '.join(sorted(dims))})", name)
    if empty := sorted(str(dim) for dim in names & set(result.dims) - {"time"} if result.sizes[dim] == 0):
        raise _refused(result, f"there is nothing in {', '.join(empty)}")
    _check_sides(result)

    # times, status, attributes
    time = result["time"].values
    if time.size < 2:
        raise _refused(result, f"it has {time.size} frame{'s' if time.size != 1 else ''}", "time")
    if not _increasing(time):
        raise _refused(result, "the times of its frames do not increase", "time")
    flags = _checked_flags(result)
    if result["valid"].dtype != bool:
        raise _refused(result, "these are no truth values", "valid")
    solved = [code for code, name in flags.items() if name.lower() in frames.VALID]
    unlike = result["valid"] != result["status"].isin(solved)
    if unlike.any():
        raise _refused(result, f"it contradicts the status in {int(unlike.sum())} frames", "valid")
    for name in strikes:
        times = np.atleast_1d(result.attrs.get(name, []))
        if not _increasing(times):
            raise _refused(result, f"these are no increasing times: {str(times.tolist())[:80]}", name)
    for name in POSITIVE:
        value = np.asarray(result.attrs.get(name, 1.0))
        if name == "strength" and isinstance(result.attrs.get(name), str):
            continue
        if value.size != 1 or not np.issubdtype(value.dtype, np.number) or not 0.0 < value.item() < np.inf:
            raise _refused(result, f"{value.tolist()!r} is no positive number", name)

    # a number wherever there is a valid solution
    valid = np.all([frames.valid(result, side) for side in frames.sides(result)], axis=0)
    for name in NUMBERS:
        if name in result:
            values = result[name].transpose("time", ...).values
            if not np.issubdtype(values.dtype, np.floating):
                raise _refused(result, "these are no numbers", name)
            lost = valid & ~np.isfinite(values.reshape(values.shape[0], -1)).all(axis=1)
            if lost.any():
                problem = (
                    f"no number in {lost.sum()} frames with a valid solution, first at {time[lost][0]:.3f} s"
                )
                raise _refused(result, problem, name)
    return result


def check_status(result: xr.Dataset) -> None:
    """Refuse a dataset with muscles of a leg that has no status, or whose status has no names."""
    _check_sides(result)
    _checked_flags(result)


def other_kind(result: object) -> str | None:
    """What a dataset is instead of the result of a single run, in words; None where nothing shows it."""
    if "quantile_samples" in getattr(result, "attrs", {}):
        return "uncertainty.nc, the spread of a result"
    others = {"cost": "a comparison of costs", "percent": "an average of gait cycles"}
    return next((text for dim, text in others.items() if dim in getattr(result, "dims", ())), None)


def _refused(result: xr.Dataset, problem: str, where: str | None = None) -> InputError:
    return InputError(
        problem,
        file=result.encoding.get("source"),
        where=where,
        code="bad_result",
        expected="a result as `musclesolve run` of this version writes it",
        remedy="read its file with ms.read_result, or compute it again: musclesolve run TRIAL.toml -o FOLDER",
    )


def _increasing(times: AnyArray) -> bool:
    """Whether these are finite numbers, each larger than the one before."""
    return not times.size or bool(
        np.issubdtype(times.dtype, np.number) and np.isfinite(times).all() and (np.diff(times) > 0.0).all()
    )


def _check_sides(result: xr.Dataset) -> None:
    sides = frames.sides(result)
    if not sides:
        raise _refused(result, "none of these muscles is of the right or the left leg", "muscle")
    if lost := set(sides) - set(map(str, result["side"].values)):
        raise _refused(result, f"the leg {', '.join(sorted(lost))} has muscles but no status", "side")


def _checked_flags(result: xr.Dataset) -> dict[int, str]:
    """Name of each code of the status."""
    codes = np.atleast_1d(result["status"].attrs.get("flag_values", []))
    names = str(result["status"].attrs.get("flag_meanings", "")).split()
    if not codes.size or codes.size != len(names):
        problem = f"flag_values holds {codes.size} values, flag_meanings {len(names)} names"
        raise _refused(result, problem, "status")
    status = result["status"].values
    unknown = np.unique(status[~np.isin(status, codes)])
    if unknown.size:
        raise _refused(result, f"the status {unknown[0]} has no meaning among its flags", "status")
    return dict(zip(codes.tolist(), names, strict=True))
