"""The result of one trial, of `run`, `demo` and `share`."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from musclesolve.cli.documents.uncertainty_document import uncertainty_document
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.attributes import listed
from musclesolve.results.dataset.kinetics.contact_peaks import contact_peaks
from musclesolve.results.dataset.result_quantities import (
    largest_kkt_residual,
    moved_points,
    residual_size,
)
from musclesolve.results.dataset.tendons.tendon_variables import is_elastic
from musclesolve.results.tables.leg_outcome import LegOutcome
from musclesolve.results.tables.tendon_lines import achilles, balance_error, largest_strain

SUBJECT = {"name": "subject", "mass_kg": "subject_mass_kg", "stature_m": "subject_stature_m"}
CHOICES = {
    "cost": "cost",
    "solver": "solver",
    "muscle_set": "muscle_database",
    "passive": "passive",
    "strength": "strength",
    "tendon": "tendon",
    "cutoff_hz": "cutoff_hz",
    "hip_method": "hip_method",
    "consistency_method": "consistency_method",
}
STRIDE = {
    "start_s": "stride_start",
    "end_s": "stride_end",
    "cadence_steps_per_minute": "cadence",
    "stance_percent": "stance_percent",
    "double_support_percent": "double_support_percent",
    "length_m": "stride_length",
    "speed_m_s": "walking_speed",
}
"""Keys of a document and the attributes or variables that they stand for."""


def run_document(result: xr.Dataset, uncertainty: xr.Dataset | None = None) -> dict[str, Any]:
    """What the summary says, as numbers; a key whose quantity the result does not have is None."""
    given = result.attrs
    time = result["time"].values
    return {
        "version": given.get("musclesolve_version"),
        "trial": given.get("trial_file") or given.get("model_file"),
        "subject": {key: given.get(name) for key, name in SUBJECT.items()},
        "choices": {key: given.get(name) for key, name in CHOICES.items()},
        "frames": {"count": time.size, "start_s": time[0], "end_s": time[-1]},
        "legs": {name(side): leg_document(result, side) for side in frames.sides(result)},
        "largest_kkt_residual": largest_kkt_residual(result),
        "tendons": _tendons(result),
        "fiber_lengths": _fiber_lengths(result),
        "contact_force_peaks_body_weights": _contact_peaks(result),
        "consistency": _consistency(result),
        "pelvis_residual": _residual(result),
        "emg": _emg(result),
        "strides": [_stride(result.isel(stride=k)) for k in range(result.sizes.get("stride", 0))],
        "notes": listed(result, "notes"),
        "completed": listed(result, "completed"),
        "uncertainty": None if uncertainty is None else uncertainty_document(uncertainty),
    }


def name(side: str) -> str:
    """A side in words: right, left or other."""
    return frames.SIDE_NAMES.get(side, side)


def leg_document(result: xr.Dataset, side: str) -> dict[str, Any]:
    """How the frames of a leg ended."""
    found = LegOutcome.of(result, side)
    most = found.largest_reserve
    return {
        "solved": found.solved,
        "with_reserve": found.with_reserve,
        "not_analysed": found.not_analysed,
        "without_valid_solution": found.without_solution,
        "largest_reserve": None
        if most is None
        else {"moment_nm": most.moment, "dof": most.dof, "time_s": most.time},
        "failures": [
            {"reason": reason, "frames": count, "stretches_s": stretches}
            for reason, (count, stretches) in found.failures.items()
        ],
        "reasons": listed(result, f"reasons_{side}"),
    }


def _tendons(result: xr.Dataset) -> dict[str, Any] | None:
    """How elastic tendons were solved, and their largest strains; None where they are rigid."""
    if not is_elastic(result):
        return None
    steps = dict(each.split(" ") for each in listed(result, "motion_iterations"))
    strains = {"achilles": largest_strain(result, achilles(result)), "all": largest_strain(result)}
    return {
        "iterations": {name(side): int(count) for side, count in steps.items()},
        "balance_error": balance_error(result),
        "largest_strain": {
            key: None if each is None else {"strain": each.strain, "muscle": each.muscle, "time_s": each.time}
            for key, each in strains.items()
        },
    }


def _fiber_lengths(result: xr.Dataset) -> dict[str, Any] | None:
    """The shortest and the longest fiber, in optimal fiber lengths."""
    if "least_normalized_fiber_length" not in result:
        return None
    least, greatest = (result[f"{end}_normalized_fiber_length"] for end in ("least", "greatest"))
    if not np.isfinite(least.values).any():
        return None
    ends = {
        "shortest": least.sel(muscle=least.idxmin("muscle").item()),
        "longest": greatest.sel(muscle=greatest.idxmax("muscle").item()),
    }
    return {
        key: {"muscle": str(end["muscle"].values), "normalized_length": float(end)}
        for key, end in ends.items()
    }


def _contact_peaks(result: xr.Dataset) -> dict[str, Any] | None:
    if "joint_reaction" not in result:
        return None
    joints = dict.fromkeys(frames.split_side(str(joint))[0] for joint in result["joint"].values)
    return {
        joint: {name(side): peak for side, peak in contact_peaks(result, joint).items()} for joint in joints
    }


def _consistency(result: xr.Dataset) -> dict[str, Any] | None:
    if "consistency_shift" not in result:
        return None
    names, rms, worst = moved_points(result)
    points = dict(zip(names, rms, strict=True))
    return {
        "rms_m": float(np.sqrt(np.mean(rms**2))),
        "worst_m": float(worst.max()),
        "rms_of_points_m": points,
    }


def _residual(result: xr.Dataset) -> dict[str, Any] | None:
    if "pelvis_residual" not in result:
        return None
    if (size := residual_size(result)) is None:
        return None
    return {
        "peak_force_percent_body_weight": size.peak_percent,
        "rms_force_percent_body_weight": size.rms_percent,
        "peak_moment_nm": size.peak_moment,
        "rms_moment_nm": size.rms_moment,
    }


def _emg(result: xr.Dataset) -> dict[str, Any] | None:
    if "emg_correlation" not in result or not result.sizes["channel"]:
        return None
    columns = (result[each].values for each in ("channel", "emg_correlation", "emg_delay"))
    channels = {
        str(channel): {"correlation": float(r), "delay_s": float(delay)}
        for channel, r, delay in zip(*columns, strict=True)
    }
    known = [each["correlation"] for each in channels.values() if np.isfinite(each["correlation"])]
    median, mean = (float(of(known)) if known else None for of in (np.median, np.mean))
    return {"median_correlation": median, "mean_correlation": mean, "channels": channels}


def _stride(stride: xr.Dataset) -> dict[str, Any]:
    numbers = {key: float(stride[variable]) for key, variable in STRIDE.items()}
    return {"leg": name(str(stride["stride_side"].values)), **numbers}
