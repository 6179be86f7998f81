"""Joint contact forces: peaks of each leg, beside what others report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.report.content.pieces import DASH, Absent, Table, cell, plain
from musclesolve.report.inputs import TrialFiles
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.kinetics.contact_peaks import peaks_of_joints


def others() -> dict[str, Any]:
    """What others report, by joint without side."""
    return bundled_toml("musclesolve.report", "texts", "contact_forces.toml")


def of_others(joint: str) -> Mapping[str, Any]:
    """What others report of a joint without side; that of an OpenSim model may have a longer name, walker_knee."""
    known = others()
    return known.get(joint) or known.get(joint.rpartition("_")[2], {})


def contact(trial: TrialFiles) -> dict[str, object]:
    """A row for each joint and leg."""
    result = trial.base
    if not {"joint_reaction", "contact_force"} & set(map(str, result.data_vars)):
        raise Absent("This file holds no joint contact forces.")
    peaks = peaks_of_joints(result)
    if not peaks:
        raise Absent("No frame has a valid solution, so no contact force is known.")
    rows = []
    order = list(dict.fromkeys(frames.split_side(peak.joint)[0] for peak in peaks))
    for peak in sorted(peaks, key=lambda each: order.index(frames.split_side(each.joint)[0])):
        stem, side = frames.split_side(peak.joint)
        values = (cell(peak.body_weights, 2), cell(peak.newton, 0), cell(peak.time, 2))
        rows.append(
            (plain(stem), frames.SIDE_NAMES.get(side, DASH), *values, of_others(stem).get("words", DASH))
        )
    columns = (
        "joint",
        "leg",
        "peak [body weights]",
        "peak [N]",
        "at [s]",
        "measured in implants [body weights]",
    )
    sources = [key for each in others().values() for key in each["sources"]]
    return {"tables": [Table("Peak contact forces", columns, rows)], "sources": sources}
