"""A comparison of costs, and an average over gait cycles."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from musclesolve.cli.documents.run_document import leg_document, name
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.kinetics.contact_peaks import contact_peaks
from musclesolve.results.tables.average_table import MEASURES
from musclesolve.results.tables.comparison_tables import OF_PAIR, co_contraction_means, peaks


def comparison_document(comparison: xr.Dataset) -> dict[str, Any]:
    """Each cost by itself, and against the first one each function group and muscle."""
    names = [str(cost) for cost in comparison["cost"].values]
    return {
        "version": comparison.attrs.get("musclesolve_version"),
        "trial": comparison.attrs.get("trial_file"),
        "costs": {cost: _of_cost(comparison.sel(cost=cost)) for cost in names},
        "against": names[0],
        "function_groups": _agreement(comparison, "function_group"),
        "muscles": _agreement(comparison, "muscle"),
    }


def _of_cost(one: xr.Dataset) -> dict[str, Any]:
    """How the frames ended under one cost, and what stands in its line of the tables."""
    joints = dict.fromkeys(str(joint)[:-2] for joint in one["joint"].values)
    emg = one["emg_correlation"].values if "emg_correlation" in one and one.sizes.get("channel") else None
    channels = [] if emg is None else one["channel"].values.tolist()
    return {
        "legs": {name(side): leg_document(one, side) for side in frames.sides(one)},
        "contact_force_peaks_body_weights": {
            joint: {name(side): peak for side, peak in contact_peaks(one, joint).items()} for joint in joints
        },
        "mean_co_contraction": co_contraction_means(one),
        "emg_correlation": None if emg is None else dict(zip(channels, emg.tolist(), strict=True)),
    }


def _agreement(comparison: xr.Dataset, dim: str) -> dict[str, Any]:
    """For each group or muscle and each cost its peak force and how it agrees with the first cost."""
    prefix = "" if dim == "muscle" else "group_"
    first, peak = str(comparison["cost"].values[0]), peaks(comparison, dim).transpose(dim, "cost").values
    pairs = [
        comparison[prefix + measure].sel(other=first).transpose(dim, "cost").values
        for measure in OF_PAIR.values()
    ]
    keys = ("peak_n", "rms_difference_n", "correlation", "peak_ratio")
    rows = np.stack([peak, *pairs], axis=-1)
    costs = [str(cost) for cost in comparison["cost"].values]
    return {
        str(entry): {
            cost: dict(zip(keys, numbers, strict=True)) for cost, numbers in zip(costs, row, strict=True)
        }
        for entry, row in zip(comparison[dim].values, rows, strict=True)
    }


def average_document(average: xr.Dataset) -> dict[str, Any]:
    """Measures of the strides of each leg, and what is left out."""
    legs = {}
    for side in map(str, average["side"].values):
        leg = average.sel(side=side)
        measures = {key: [_number(leg, key), _number(leg, f"{key}_std")] for key, _ in MEASURES.values()}
        legs[name(side)] = {"cycles": int(leg["cycles"])} | {
            key: {"mean": mean, "standard_deviation": spread} for key, (mean, spread) in measures.items()
        }
    given = average.attrs
    return {"legs": legs} | {
        key: list(given[key]) for key in ("left_out", "invalid", "unlike", "persons", "reserves")
    }


def _number(leg: xr.Dataset, key: str) -> float | None:
    return float(leg[key]) if key in leg else None
