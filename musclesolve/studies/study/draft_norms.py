"""A norm of a laboratory from the healthy subjects of a study."""

from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, mean_of_known, sd_of_known
from musclesolve._util.sides import LEG_JOINTS, joint_kind
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import file_error
from musclesolve.laboratory.results.cycles import gait_scores
from musclesolve.laboratory.results.cycles.gait_cycles import curves_of
from musclesolve.laboratory.results.dataset.result_quantities import listed
from musclesolve.laboratory.results.files.atomic_writing import write_files
from musclesolve.laboratory.results.tables.lines import csv_text
from musclesolve.studies.study.means import subject_means
from musclesolve.studies.study.study_data import open_study

FEWEST = 2
"""Least number of subjects of a norm."""
FACTORS = {("BW", "N/kg"): STANDARD_GRAVITY, ("rad", "deg"): float(np.degrees(1.0))}
"""Unit of a study and of a norm -> factor."""


def draft_norms(
    study: str | Path, output: str | Path, group: str | None = None, condition: str | None = None
) -> tuple[Path, gait_scores.Norm]:
    """Write a norm file from the subjects of a study.

    Curves and measures are means over the subjects, of the mean of all cycles of each subject, both legs together; the
    standard deviation is that between subjects. Angles are zero in standing. A quantity in a unit that no norm has is
    left out, and `left_out` of the norm names it: muscle forces in per cent of each person's strength.

    Args:
        study: folder of the results of `musclesolve study`, or study.nc in it.
        output: the file (.csv).
        group: of the subjects; the first one unless given.
        condition: of the trials; the first one unless given.

    Returns:
        The file, and the norm.

    Raises:
        InputError: no study, no such group or condition, or fewer than two subjects.
    """
    with open_study(study) as cycles:
        names = [name for name in (*gait_scores.UNITS, *gait_scores.VALUE_UNITS) if name in cycles.data_vars]
        means = subject_means(
            cycles,
            variables=names,
            groups=None if group is None else [group],
            conditions=None if condition is None else [condition],
        ).load()
    first = np.asarray(means["group"].values == means["group"].values[0])
    means = means.isel(subject=np.flatnonzero(first)).isel(condition=0)
    means = means.isel(subject=np.flatnonzero(means["cycles"].values > 0))
    count = means.sizes["subject"]
    if count < FEWEST:
        raise file_error(
            "not_comparable",
            Path(study),
            f"the norm would have {count} subject",
            f"{FEWEST} subjects or more, with cycles of this condition",
            "choose the group of the healthy subjects with --group",
        )
    percent = np.linspace(0.0, 100.0, gait_scores.POINTS)
    subject_curves: dict[gait_scores.Curve, Array] = {}
    left_out: dict[str, str] = {}
    for name in filter(gait_scores.UNITS.__contains__, names):
        unit, wanted = str(means[name].attrs.get("units", "")), gait_scores.UNITS[name]
        factor = 1.0 if unit == wanted else FACTORS.get((unit, wanted))
        if factor is None:
            left_out[name] = unit
        else:
            subject_curves |= _curves(means, name, percent, factor)
    curves = {
        key: gait_scores.NormCurve(mean_of_known(x), sd_of_known(x)) for key, x in subject_curves.items()
    }
    values = {}
    for name in names:
        if name in gait_scores.VALUE_UNITS and np.isfinite(means[name].values).sum() >= FEWEST:
            numbers = np.asarray(means[name].values, dtype=float)
            values[name] = float(mean_of_known(numbers)), float(sd_of_known(numbers))
    name, source, speeds = Path(output).name, f"{count} subjects", (0.0, np.inf)
    norm = gait_scores.Norm(name, source, "", speeds, percent, curves, values=values, left_out=left_out)
    if set(needed := gait_scores.score_variables()) <= set(curves):
        persons = ({key: subject_curves[key][k] for key in needed} for k in range(count))
        scores = [
            gait_scores.profile_score(gait_scores.variable_scores(curve, norm).values()) for curve in persons
        ]
        logs = np.log(scores)
        values[gait_scores.LOG_SCORE] = float(logs.mean()), float(logs.std(ddof=1))
    target = Path(output)
    (written,) = write_files(
        target.parent, {target.name: csv_text(gait_scores.table_of(norm, count)).encode()}
    )
    return written, norm


def _curves(means: xr.Dataset, name: str, percent: Array, factor: float) -> dict[gait_scores.Curve, Array]:
    """The curves (S, P) of a quantity of every subject, at some percentages, in the sense of a norm, times a factor."""
    places = np.asarray(means["percent"].values, dtype=float)
    flipped = listed(means, "extension_positive") if name in ("joint_angle", "joint_moment") else ()
    curves: dict[gait_scores.Curve, Array] = {}
    for label, variable in curves_of(means[name]):
        values = factor * variable.transpose("subject", "percent").values.astype(float)
        curve = np.stack([np.interp(percent, places, row) for row in values])
        if np.isfinite(curve).any():
            curves[name, gait_scores.in_models().get(label, label)] = -curve if label in flipped else curve
    if name != "joint_power":
        return curves
    joints = {
        joint: [of_joint for (_, label), of_joint in curves.items() if joint_kind(label) == joint]
        for joint in LEG_JOINTS
    }
    return {(name, joint): np.sum(of_joint, axis=0) for joint, of_joint in joints.items() if of_joint}
