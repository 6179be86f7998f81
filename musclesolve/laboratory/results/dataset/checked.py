"""Check of results: a dataset that cannot be averaged and drawn is refused with its missing parts."""

from collections.abc import Collection
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Mask, slices
from musclesolve._util.messages import count_of
from musclesolve._util.sides import SIDE_NAMES
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, in_set

DIMENSIONS = {
    "side": ("side",),
    **dict.fromkeys(("time", "balanced"), ("time",)),
    **dict.fromkeys(("muscle", "group"), ("muscle",)),
    **{
        name: QUANTITIES[name].dims
        for name in ("status", "valid", "steady", "foot_in_place", *in_set("finite"))
    },
    **dict.fromkeys(("stride_side", "stride_start"), ("stride",)),
}
"""Dimensions that these variables have in every result."""
ALWAYS = ("time", "muscle", "side", "status", "valid")
MODEL = "model_file"
"""Attribute of results on an OpenSim model, which have no ground reactions."""
POSITIVE = ("subject_mass_kg", "strength")
"""Attributes that are positive numbers; a strength may be the name of a rule."""
STRIKES = tuple(f"heel_strike_times_{side}" for side in SIDE_NAMES)


def as_dataset(result: object) -> xr.Dataset:
    """Return the dataset itself; refuse a path, an array or another object."""
    if not isinstance(result, xr.Dataset):
        shown = str(result) if isinstance(result, Path) else result
        raise input_error(
            "bad_type",
            problem=f"{shown!r} ({type(result).__name__}) is not a result of musclesolve",
            expected="what ms.run or ms.read_result returns",
            remedy="read the file first: ms.read_result(path)",
        )
    return result


def checked_result(result: object, needed: Collection[str] = (), least: int = 2) -> xr.Dataset:
    """Return a result; refuse an object that is no result, and a result of fewer than `least` frames.

    `needed` names variables that the result must have besides status and coordinates.
    """
    result = as_dataset(result)

    # names and dimensions
    names = {*ALWAYS, *needed}
    if MODEL not in result.attrs and not all(name in result.attrs for name in STRIKES):
        names.add("ground_reaction_force")  # the strikes are then the beginnings of stance
    if "stride" in result.dims:
        names |= {"stride_side", "stride_start"}
    _check_layout(result, names, least)

    # status, attributes
    flags = _checked_flags(result)
    if result["valid"].dtype != bool:
        raise _refused(result, "valid", "these are no truth values")
    solved = [code for code, name in flags.items() if name.lower() in frames.VALID]
    unlike = result["valid"] != result["status"].isin(solved)
    if unlike.any():
        raise _refused(result, "valid", f"it contradicts the status in {int(unlike.sum())} frames")
    _check_attributes(result)
    _check_numbers(result)
    return result


def check_run(result: xr.Dataset) -> None:
    """Refuse a result of a single run that lacks a part, or a number in a frame with a valid solution.

    Other datasets, of averages, comparisons, uncertainties and questions, are not checked.
    """
    if "status" not in result or not {"muscle", "side"} <= set(result.dims) or other_kind(result):
        return
    if not result.attrs:
        raise _refused(result, "its attributes are missing: nothing says how it was made")
    _check_layout(result, {*ALWAYS} if of_data_set(result) else {*ALWAYS, "muscle_force"}, least=1)
    _check_attributes(result)
    _check_numbers(result)


def _check_attributes(result: xr.Dataset) -> None:
    """Refuse attributes of another kind, as in a damaged file: times, positive numbers, names of joints."""
    for name in STRIKES:
        times = np.atleast_1d(result.attrs.get(name, []))
        if not _increasing(times):
            raise _refused(result, name, f"these are no increasing times: {str(times.tolist())[:80]}")
    for name in POSITIVE:
        value = np.asarray(result.attrs.get(name, 1.0))
        if name == "strength" and isinstance(result.attrs.get(name), str):
            continue
        if value.size != 1 or not np.issubdtype(value.dtype, np.number) or not 0.0 < value.item() < np.inf:
            raise _refused(result, name, f"{value.tolist()!r} is no positive number")
    unknown = set() if "dof" not in result.coords else {*map(str, _shared(result))} - {*result["dof"].values}
    if unknown:
        raise _refused(result, "shared_dofs", f"it has no moment about {', '.join(sorted(unknown))!r}")


def _shared(result: xr.Dataset) -> AnyArray:
    """The names of the degrees of freedom whose moments the muscles produce, as far as the result states them."""
    return np.atleast_1d(result.attrs.get("shared_dofs", []))


def _check_layout(result: xr.Dataset, names: set[str], least: int) -> None:
    """Refuse a result without these variables or with other dimensions, with too few frames or times that run back."""
    names |= {str(dim) for name in names & set(result.variables) for dim in result[name].dims} - {"stride"}
    if missing := sorted(names - set(result.variables)):
        check_parts(result, missing)
    for name, dims in DIMENSIONS.items():
        if name in result.variables and set(result[name].dims) != set(dims):
            over, right = (", ".join(map(str, some)) for some in (result[name].dims, sorted(dims)))
            raise _refused(result, name, f"it is over ({over}), not over ({right})")
    if empty := sorted(str(dim) for dim in names & set(result.dims) - {"time"} if result.sizes[dim] == 0):
        raise _refused(result, f"there is nothing in {', '.join(map(str, empty))}")
    _check_sides(result)
    time = result["time"].values
    if time.size < least:
        few = f"it has {count_of(time.size, 'frame')}, too few for curves"
        source = result.encoding.get("source")
        expected = f"{count_of(least, 'frame')} or more"
        raise file_error("bad_result", (source, "time"), few, expected, "analyze a longer time range")
    if not _increasing(time):
        raise _refused(result, "time", "the times of its frames do not increase")


def _check_numbers(result: xr.Dataset) -> None:
    """Refuse a result without a finite number in a frame with a valid solution."""
    time = result["time"].values
    valid = np.all([frames.valid(result, side) for side in frames.sides(result)], axis=0)
    # forces on the ground do not enter the moments of other limbs
    of_legs = frames.limb_name(result) == "leg"
    for name in in_set("finite"):
        if name in result and (of_legs or name != "ground_reaction_force"):
            known = result[name]
            if _shared(result).size and "dof" in known.dims:
                # of other joints, as of a leg without plates, moments may be unknown
                known = known.sel(dof=_shared(result))
            values = known.transpose("time", ...).values
            if not np.issubdtype(values.dtype, np.floating):
                raise _refused(result, name, "these are no numbers")
            lost = valid & ~np.isfinite(values.reshape(values.shape[0], -1)).all(axis=1)
            if lost.any():
                first = f"first at {time[lost][0]:.3f} s"
                raise _refused(
                    result, name, f"no number in {lost.sum()} frames with a valid solution, {first}"
                )


BLOCK = 500
"""Number of frames whose moments are checked together."""
BALANCE = 1e-3
"""Share within which forces and moments of a result belong together, far above single precision."""
PRODUCED = ("activation", "force_capacity", "passive_force", "moment_arm", "joint_moment", "reserve_moment")


def check_moments(result: xr.Dataset) -> None:
    """Refuse a result whose numbers contradict each other in frames with a valid solution.

    A tendon force is F = a F_c + F_p (activation, capacity, passive force), and the moments about the shared degrees of
    freedom are sum_m r_m F_m + reserve, and moments of actuators where there are any. A result that lacks one of them
    is not checked.
    """
    if not {"muscle_force", *PRODUCED, *ALWAYS} <= set(result.variables) or not _shared(result).size:
        return
    if set(result["muscle_force"].dims) != {"time", "muscle"}:
        return  # of several costs
    beside = "actuator_moment" in result
    numbers = result[["muscle_force", *PRODUCED, *["actuator_moment"] * beside, "valid"]]
    valid: Mask = np.asarray(result["valid"].transpose("time", "side").values.all(axis=1))
    wrong = np.zeros((2, len(valid)), bool)
    for block in slices(len(valid), BLOCK):
        some = numbers.isel(time=block)
        force = some["muscle_force"].transpose("time", "muscle").values
        activation, capacity, passive = (
            some[name].transpose("time", "muscle").values for name in PRODUCED[:3]
        )
        shared = some.sel(dof=_shared(result))
        arm, moment, reserve = (shared[name].transpose("time", "dof", ...).values for name in PRODUCED[3:])
        made = np.einsum("tdm,tm->td", arm, force) + np.nan_to_num(reserve)
        if beside:
            made += np.nan_to_num(shared["actuator_moment"].transpose("time", "dof").values)
        whole = np.einsum("tdm,tm->td", np.abs(arm), np.abs(force))
        for contradicts, off, most in (
            (wrong[0], activation * capacity + passive - force, np.abs(force)),
            (wrong[1], made - moment, whole),
        ):
            contradicts[block] = valid[block] & (np.abs(off) > BALANCE * (1.0 + most)).any(axis=1)
    for contradicts, what in (
        (wrong[0], "activation times capacity are not the muscle forces"),
        (wrong[1], "the muscle forces do not produce the joint moments"),
    ):
        if contradicts.any():
            first = result["time"].values[contradicts][0]
            contradiction = (
                f"in {contradicts.sum()} of {valid.sum()} valid frames, from {first:g} s on, {what}"
            )
            raise _refused(result, contradiction)


def check_status(result: xr.Dataset) -> None:
    """Refuse a dataset with muscles of a leg that has no status, or whose status has no names."""
    _check_sides(result)
    _checked_flags(result)


def of_data_set(result: xr.Dataset) -> bool:
    """Whether a result is a trial of a data set, which has the variables of `--keep` alone (`kept_of`)."""
    return "signs" in result.attrs


def check_parts(result: xr.Dataset, missing: Collection[str]) -> None:
    """Refuse the dataset of another command, and one that lacks parts: no result, or not kept in a data set."""
    kind, names = other_kind(result), ", ".join(missing)
    if not kind and not missing:
        return
    if not kind and not of_data_set(result):
        raise _refused(result, f"this is not a result of musclesolve: it has no {names}")
    raise file_error(
        "bad_result",
        result.encoding.get("source"),
        f"this is {kind}" if kind else f"this trial of a data set has no {names}",
        "result.nc of `musclesolve run` or `share`",
        "name a result.nc that one of these commands wrote; a study keeps one for each trial in trials/NAME"
        if kind
        else "compute the trial by that command, or the data set with more words after --keep",
    )


def other_kind(result: object) -> str | None:
    """The kind of a dataset that is no result of a single run, in words; None where nothing shows a kind."""
    if "quantile_samples" in getattr(result, "attrs", {}):
        return "uncertainty.nc, the spread of a result"
    others = {
        "cost": "a comparison of costs",
        "percent": "a file of gait cycles, or of their averages",
        "scenario": "scenarios of a trial",
    }
    return next((text for dim, text in others.items() if dim in getattr(result, "dims", ())), None)


def _refused(result: xr.Dataset, *place_and_problem: str) -> InputError:
    *place, problem = place_and_problem
    return file_error(
        "bad_result",
        (result.encoding.get("source"), next(iter(place), None)),
        problem,
        "a result as `musclesolve run` or `share` wrote it",
        "name the result.nc of that command, or run it again",
    )


def _increasing(times: AnyArray) -> bool:
    """Return whether the times are finite numbers in increasing order."""
    return not times.size or bool(
        np.issubdtype(times.dtype, np.number) and np.isfinite(times).all() and (np.diff(times) > 0.0).all()
    )


def _check_sides(result: xr.Dataset) -> None:
    sides = frames.sides(result)
    if not sides:
        raise _refused(result, "muscle", "none of these muscles is of the right or the left leg")
    if lost := set(sides) - set(map(str, result["side"].values)):
        raise _refused(result, "side", f"the leg {', '.join(sorted(lost))} has muscles but no status")


def _checked_flags(result: xr.Dataset) -> dict[int, str]:
    """Name of each code of the status."""
    codes = np.atleast_1d(result["status"].attrs.get("flag_values", []))
    names = str(result["status"].attrs.get("flag_meanings", "")).split()
    if not codes.size or codes.size != len(names):
        held = f"flag_values holds {codes.size} values, flag_meanings {len(names)} names"
        raise _refused(result, "status", held)
    status = result["status"].values
    unknown = np.unique(status[~np.isin(status, codes)])
    if unknown.size:
        raise _refused(result, "status", f"the status {unknown[0]} has no meaning among its flags")
    return dict(zip(codes.tolist(), names, strict=True))
