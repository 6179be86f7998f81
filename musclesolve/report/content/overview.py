"""Several trials side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from musclesolve.report.content.emg import correlations
from musclesolve.report.content.headline import Headline, counts
from musclesolve.report.content.pieces import DASH, Table, cell
from musclesolve.report.damage import DAMAGE
from musclesolve.report.inputs import Inputs
from musclesolve.results.cycles.gait_cycles import METHODS
from musclesolve.results.dataset.attributes import listed, number, text
from musclesolve.results.dataset.frame_validity import split_side
from musclesolve.results.dataset.kinetics.contact_peaks import peaks_of_joints
from musclesolve.results.dataset.result_quantities import LEG_JOINTS


def overview(inputs: Inputs, headlines: Sequence[Headline], titles: Sequence[str]) -> Table | None:
    """A row for each trial; None of a single one."""
    if len(inputs.trials) < 2:
        return None
    rows = []
    for trial, top, title in zip(inputs.trials, headlines, titles, strict=True):
        try:
            found = _found(trial.base)
        except DAMAGE:
            found = [DASH] * (3 + len(LEG_JOINTS))
        rows.append((title, text(trial.base, "subject"), f"{top.mark} {top.label}", *found))
    joints = [f"{joint} peak [BW]" for joint in LEG_JOINTS]
    columns = ("trial", "subject", "verdict", "valid leg-frames", "speed [m/s]", *joints, "EMG, median r")
    return Table("The trials side by side; contact forces of the right / left leg", columns, rows)


def _found(result: xr.Dataset) -> list[str]:
    """Valid leg-frames, speed, contact forces and agreement with EMG of a trial."""
    found, r = counts(result), list(correlations(result).values())
    emg = cell(float(np.median(r)), 2) if r else DASH
    return [f"{found['valid']} of {found['analysed']}", _speed(result), *_contact(result), emg]


def _contact(result: xr.Dataset) -> list[str]:
    peaks = peaks_of_joints(result)
    own = {joint: [p.body_weights for p in peaks if split_side(p.joint)[0] == joint] for joint in LEG_JOINTS}
    return [" / ".join(cell(value, 2) for value in values) or DASH for values in own.values()]


def _speed(result: xr.Dataset) -> str:
    if "walking_speed" not in result or not np.isfinite(result["walking_speed"].values).any():
        return DASH
    return cell(float(np.nanmean(result["walking_speed"].values)), 2)


def subjects(inputs: Inputs) -> list[str]:
    """The subjects of the files, each once; those of one name and mass are one."""
    found: dict[tuple[str, float | None], str] = {}
    for source in inputs.sources:
        name, mass = text(source.data, "subject"), number(source.data, "subject_mass_kg")
        found.setdefault((name, None if mass is None else round(mass, 3)), name or "a subject without name")
    names = list(found.values())
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({mass:g} kg)" if mass else name for (_, mass), name in found.items()]


def differences(inputs: Inputs) -> list[str]:
    """A sentence for every choice of method that is not the same for all trials."""
    sentences = []
    for key in METHODS:
        values = dict.fromkeys(", ".join(listed(trial.base, key)) or "not stated" for trial in inputs.trials)
        if len(values) > 1:
            sentences.append(f"{key.replace('_', ' ')}: {' or '.join(values)}")
    return sentences
