"""Content on all files of a report: the trials side by side, averages over gait cycles, the files themselves."""

import platform
from collections.abc import Sequence

import numpy as np
import xarray as xr

from musclesolve._util.sides import LEG_JOINTS, SIDE_NAMES, joint_kind
from musclesolve.report.content.pieces import DAMAGE, DASH, PageTable, cell, digest, from_rich
from musclesolve.report.inputs import KIND_NAMES, Inputs
from musclesolve.report.sections import Headline
from musclesolve.results.dataset.result_quantities import listed, number, text
from musclesolve.results.facts import Facts
from musclesolve.results.tables.comparison_tables import remarks, table
from musclesolve.version import __version__


def overview(inputs: Inputs, headlines: Sequence[Headline], titles: Sequence[str]) -> PageTable | None:
    """A row for each trial; None of a single one."""
    if len(inputs.trials) < 2:
        return None
    rows = []
    for trial, top, title in zip(inputs.trials, headlines, titles, strict=True):
        try:
            numbers = _numbers(trial.facts)
        except DAMAGE:
            numbers = [DASH] * (3 + len(LEG_JOINTS))
        rows.append(
            (title, text(trial.base, "subject"), f"{top.judgement.mark} {top.judgement.label}", *numbers)
        )
    joints = [f"{joint} peak [BW]" for joint in LEG_JOINTS]
    columns = ("trial", "subject", "verdict", "valid leg-frames", "speed [m/s]", *joints, "EMG, median r")
    return PageTable("The trials side by side; contact forces of the right / left leg", columns, rows)


def _numbers(facts: Facts) -> list[str]:
    """Valid leg-frames, speed, contact forces and agreement with EMG of a trial."""
    speeds = facts.result["walking_speed"].values if "walking_speed" in facts.result else np.empty(0)
    speed = cell(float(np.nanmean(speeds)), 2) if np.isfinite(speeds).any() else DASH
    peaks = [
        " / ".join(
            cell(peak.body_weights, 2) for peak in facts.contact_peaks if joint_kind(peak.stem) == joint
        )
        or DASH
        for joint in LEG_JOINTS
    ]
    both = facts.median_and_mean_correlation
    emg = DASH if both is None else cell(both[0], 2)
    return [f"{facts.counts.valid} of {facts.counts.analyzed}", speed, *peaks, emg]


def subjects(inputs: Inputs) -> list[str]:
    """The subjects of the files, each once; equal names and masses, or no stated mass, mean the same subject."""
    known: dict[tuple[str, float | None], str] = {}
    for source in inputs.sources:
        name, mass = text(source.data, "subject"), number(source.data, "subject_mass_kg")
        known.setdefault((name, None if mass is None else round(mass, 3)), name or "a subject without name")
    weighed = {name for name, mass in known if mass is not None}
    known = {key: name for key, name in known.items() if key[1] is not None or key[0] not in weighed}
    names = list(known.values())
    if len(set(names)) == len(names):
        return names
    return [f"{name} ({mass:g} kg)" if mass else name for (_, mass), name in known.items()]


def average(data: xr.Dataset) -> dict[str, object]:
    """Numbers of the strides, and notes on cycles left out."""
    return {
        "tables": [from_rich(table(data))],
        "remarks": [" ".join(remark.split()) for remark in remarks(data)],
        "cycles": listed(data, "cycles"),
        "legs": ", ".join(
            f"{int(data['cycles'].sel(side=side))} of the {SIDE_NAMES.get(str(side), side)} leg"
            for side in data["side"].values
        ),
    }


def files_of_report(inputs: Inputs) -> PageTable:
    """The files from which the page was made."""
    rows = [
        (
            source.path.name,
            KIND_NAMES[source.kind],
            text(source.data, "musclesolve_version", DASH),
            digest(source.digest),
        )
        for source in inputs.sources
    ]
    return PageTable("Files of this report", ("file", "what", "made by version", "SHA-256"), rows)


def versions() -> list[tuple[str, str]]:
    """Return the versions of the software that made the page."""
    return [("musclesolve", __version__), ("Python", platform.python_version()), ("NumPy", np.__version__)]
