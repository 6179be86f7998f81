"""The statistics of the samples as one labelled Dataset."""

from __future__ import annotations

from collections import Counter

import numpy as np
import xarray as xr

from musclesolve.propagation.quantities import DIMS, separated
from musclesolve.propagation.replay import Replay, leg_dofs
from musclesolve.propagation.sources import sources
from musclesolve.propagation.streaming import QUANTILES, Statistics

Array = np.ndarray

UNITS = {
    "muscle_force": ("N", "tendon force, active and passive"),
    "activation": ("1", "muscle activation"),
    "contact_force": ("N", "magnitude of the joint reaction, muscle forces included"),
    "joint_moment": ("N m", "internal joint moment: what the far segment receives from the near one"),
    "joint_angle": ("rad", "joint angle, positive in the named direction"),
    "muscle_force_peak": ("N", "largest tendon force over the frames with a valid nominal solution"),
    "contact_force_peak": ("N", "largest contact force over the frames with a valid nominal solution"),
}
"""Quantity -> unit and what it is."""

OF_RESULT = ("status", "steady", "foot_in_place", "balanced", "ground_reaction_force")
"""What is taken over from the nominal result: which frames are good, and when the feet are on the ground."""


def assemble(
    result: xr.Dataset,
    replay: Replay,
    statistics: Statistics,
    reserve: Array,
    seed: int,
    reasons: list[str],
) -> xr.Dataset:
    """Label what the samples gave.

    Args:
        result: of the road without errors.
        replay: what was sampled.
        statistics: of the quantities.
        reserve: (T, legs) number of samples that needed a reserve.
        seed: of the random numbers.
        reasons: why samples failed.
    """
    kept = result[list(OF_RESULT)]
    dofs = leg_dofs(replay.options)
    coords = {"dof": dofs, "quantile": list(QUANTILES), "source": list(replay.parameters.sd)}
    coords |= {name: result.coords[name] for name in ("muscle", "group", "short_name", "joint")}
    found = kept.assign_coords(coords)
    sizes = {str(name): size for name, size in found.sizes.items()}
    parts = {
        "": statistics.nominal,
        "_mean": statistics.mean,
        "_sd": statistics.sd,
        "_quantile": statistics.quantiles(),
    }
    for suffix, values in parts.items():
        for name, array in separated(values, sizes).items():
            dims = ("quantile", *DIMS[name]) if suffix == "_quantile" else DIMS[name]
            found[name + suffix] = (dims, array, _attributes(name, suffix))
    valid = _valid(separated(statistics.count, sizes)["muscle_force"], len(replay.options.sides))
    found["valid_samples"] = (("time", "side"), valid, _said("1", "samples with a solution of the frame"))
    share = np.divide(reserve, valid, out=np.full(reserve.shape, np.nan), where=valid > 0)
    found["reserve_share"] = (
        ("time", "side"),
        share,
        _said("1", "share of the valid samples that needed a reserve"),
    )
    found["standard_deviation"] = (
        ("source",),
        np.array(list(replay.parameters.sd.values())),
        _said("1 or m", "standard deviation of each source: relative, or a length as source_unit says"),
    )
    found = found.assign_coords(source_unit=("source", [each.unit for each in sources().values()]))
    found.attrs = result.attrs | {
        "samples": statistics.samples,
        "quantile_samples": statistics.kept,
        "seed": seed,
        "failed_samples": len(reasons),
        "failures": _counted(reasons),
    }
    return found


def _valid(count: Array, legs: int) -> Array:
    """(T, legs) from counts of all muscles (T, n): those of one leg are solved together."""
    return count.reshape(len(count), legs, -1).min(axis=2)


def _attributes(name: str, suffix: str) -> dict[str, str]:
    unit, meaning = UNITS[name]
    what = {
        "": "without errors",
        "_mean": "mean of the samples",
        "_sd": "standard deviation of the samples",
        "_quantile": "quantiles of the samples",
    }
    return _said(unit, f"{meaning}; {what[suffix]}")


def _said(unit: str, meaning: str) -> dict[str, str]:
    return {"units": unit, "long_name": meaning}


def _counted(reasons: list[str]) -> list[str]:
    """Each reason once, with the number of samples."""
    return [f"{number} x {reason}" for reason, number in Counter(reasons).most_common()]
