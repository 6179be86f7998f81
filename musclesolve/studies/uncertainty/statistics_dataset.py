"""The statistics of the samples as one labelled Dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray
from musclesolve.studies.uncertainty.error_sources import sources
from musclesolve.studies.uncertainty.replay import Replay, leg_dofs
from musclesolve.studies.uncertainty.samples import DIMS, separated
from musclesolve.studies.uncertainty.streaming_statistics import QUANTILES, Statistics

Variable = tuple[tuple[str, ...], AnyArray, dict[str, str]]

UNITS = {
    "muscle_force": ("N", "tendon force, active and passive"),
    "activation": ("1", "muscle activation"),
    "contact_force": ("N", "magnitude of the joint reaction, muscle forces included"),
    "joint_moment": ("N m", "internal joint moment: on the distal segment from the proximal one"),
    "joint_angle": ("rad", "joint angle, positive in the named direction"),
    "muscle_force_peak": ("N", "largest tendon force over the valid nominal frames of stance"),
    "contact_force_peak": ("N", "largest contact force over the valid nominal frames of stance"),
}
"""Quantity -> unit and what it is."""

MOST_REASONS = 10
"""Reasons of failed samples that are listed; a pose that no model fits is named with its frames, each time others."""

OF_RESULT = ("status", "valid", "ground_reaction_force")
"""What is taken over from the nominal result: which frames are valid, and when the feet are on the ground."""


@dataclass(frozen=True)
class Found:
    """What samples and derivatives gave."""

    statistics: Statistics  # of the quantities
    reserve: AnyArray  # (T, legs) number of samples that needed a reserve
    seed: int  # of the random numbers
    reasons: list[str]  # why samples failed
    # quantity -> (source, T, k) first-order variance; empty without contributions
    variance: Mapping[str, AnyArray]
    why_not: str  # why there are none


def assemble(result: xr.Dataset, replay: Replay, found: Found, unique: AnyArray | None) -> xr.Dataset:
    """Label what samples and derivatives gave; the result is that without errors.

    unique (T, legs) says where the derivatives are the same to both sides; it is None without contributions.
    """
    known = sources()
    coords = {"dof": leg_dofs(replay.options), "quantile": list(QUANTILES), "source": list(known)}
    coords |= {name: result.coords[name] for name in ("muscle", "group", "short_name", "joint")}
    labelled = result[list(OF_RESULT)].assign_coords(coords)
    labelled = labelled.assign_coords(
        source_label=("source", [source.label for source in known.values()]),
        source_unit=("source", [source.unit for source in known.values()]),
    )
    variables = _statistics(found.statistics, labelled) | _counts(found, len(replay.options.sides), labelled)
    variables["standard_deviation"] = (
        ("source",),
        np.array([replay.parameters.sd[name] for name in known]),
        _about("1 or m", "standard deviation of each source: relative, or a length as source_unit says"),
    )
    if unique is not None:
        variables |= _contributions(found.variance, unique)
    labelled = labelled.assign(variables)
    labelled.attrs = result.attrs | {
        "samples": found.statistics.samples,
        "quantile_samples": found.statistics.kept,
        "seed": found.seed,
        "failed_samples": len(found.reasons),
        "failures": [
            f"{number} x {reason}" for reason, number in Counter(found.reasons).most_common(MOST_REASONS)
        ],
        "without_contributions": found.why_not,
    }
    return labelled


def _statistics(statistics: Statistics, labelled: xr.Dataset) -> dict[str, Variable]:
    parts = {
        "": (statistics.nominal, "without errors"),
        "_mean": (statistics.mean, "mean of the samples"),
        "_sd": (statistics.sd, "standard deviation of the samples"),
        "_quantile": (statistics.quantiles(), "quantiles of the samples"),
    }
    variables: dict[str, Variable] = {}
    for suffix, (values, what) in parts.items():
        first = ("quantile",) if suffix == "_quantile" else ()
        for name, array in separated(values, _sizes(labelled)).items():
            unit, meaning = UNITS[name]
            variables[name + suffix] = ((*first, *DIMS[name]), array, _about(unit, f"{meaning}; {what}"))
    return variables


def _counts(found: Found, legs: int, labelled: xr.Dataset) -> dict[str, Variable]:
    count = separated(found.statistics.count, _sizes(labelled))["muscle_force"]
    valid = count.reshape(len(count), legs, -1).min(axis=2)  # the muscles of a leg are solved together
    share = np.divide(found.reserve, valid, out=np.full(valid.shape, np.nan), where=valid > 0)
    over = ("time", "side")
    return {
        "valid_samples": (over, valid, _about("1", "samples with a solution of the frame")),
        "reserve_share": (over, share, _about("1", "share of the valid samples that needed a reserve")),
    }


def _contributions(variance: Mapping[str, AnyArray], unique: AnyArray) -> dict[str, Variable]:
    """First-order standard deviation, and the shares of the sources in the variance; 0 where nothing varies."""
    meaning = "no muscle is about to reach or leave a bound: derivatives are the same to both sides"
    variables: dict[str, Variable] = {"first_order_unique": (("time", "side"), unique, _about("1", meaning))}
    for name, parts in variance.items():
        total = parts.sum(axis=0)
        share = np.divide(parts, total, out=np.where(np.isnan(parts), np.nan, 0.0), where=total > 0.0)
        unit, what = UNITS[name]
        spread = _about(unit, f"{what}; standard deviation to first order")
        shares = _about("1", f"{what}; share of each source in the variance, to first order")
        variables[f"{name}_first_order_sd"] = (DIMS[name], np.sqrt(total), spread)
        variables[f"{name}_contribution"] = (("source", *DIMS[name]), share, shares)
    return variables


def _sizes(labelled: xr.Dataset) -> dict[str, int]:
    return {str(name): size for name, size in labelled.sizes.items()}


def _about(unit: str, meaning: str) -> dict[str, str]:
    return {"units": unit, "long_name": meaning}
