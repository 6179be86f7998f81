"""How well model, motion and forces fit: measured points, residual at the pelvis, reserves."""

from __future__ import annotations

import xarray as xr

from musclesolve.report.content.pieces import Absent, Number, sentence
from musclesolve.report.inputs import TrialFiles
from musclesolve.results.dataset.attributes import listed, number
from musclesolve.results.dataset.filter_variables import filter_line
from musclesolve.results.dataset.result_quantities import body_weight, residual_size
from musclesolve.results.tables.run_summary import consistency_sentences


def residual_peak(result: xr.Dataset) -> tuple[float, float] | None:
    """Greatest residual force [% of body weight] and moment [N m] at the pelvis; None where none is known."""
    if "pelvis_residual" not in result or not number(result, "subject_mass_kg"):
        return None
    size = residual_size(result)
    return None if size is None else (size.peak_percent, size.peak_moment)


def root_residual_percent(result: xr.Dataset) -> float | None:
    """Greatest residual force at the root of an OpenSim model [% of body weight]; None where none is known."""
    force = number(result, "root_residual_n")
    if not force or not number(result, "subject_mass_kg"):
        return None
    return 100.0 * force / body_weight(result)


def fit(trial: TrialFiles) -> dict[str, object]:
    """Sentences on the filter, the consistent motion and the residual at the pelvis; notes of the analysis."""
    result, found = trial.base, []
    if filtered := filter_line(result):
        found.append(f"Filter: {filtered}.")
    if "consistency_shift" in result:
        found += [f"Motion: {line}." for line in consistency_sentences(result)]
    if (peak := residual_peak(result)) is not None:
        found.append(
            sentence(
                "Residual at the pelvis, which would have to act from outside: peak {} % of body weight and {} N m.",
                Number("residual_force_percent", peak[0], 1),
                Number("residual_moment", peak[1], 1),
            )
        )
    notes = listed(result, "notes")
    if not found and not notes and "reserve_moment" not in result:
        raise Absent("This file holds no residuals.")
    return {"sentences": found, "notes": notes}
