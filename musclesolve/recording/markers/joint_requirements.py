"""Requirements of the joint centers: each way to find one needs its own landmarks and dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from musclesolve.errors import InputError
from musclesolve.recording.data import SIDE_NAMES, SIDES
from musclesolve.recording.markers.landmark_names import shows_spines
from musclesolve.recording.trial.schema import Document

Weights = Mapping[str, float]

WANDS = {"knee": "thigh_wand", "ankle": "shank_wand"}
"""The landmark on the side of the segment above each joint, which shows the rotation of the segment."""


def needs_chord(mapping: Mapping[str, Weights], joint: str, side: str) -> bool:
    """Return whether only the chord function gives a knee or ankle center."""
    return not any(f"{joint}_{way}_{side}" in mapping for way in ("medial", "center"))


def follows_segment(mapping: Mapping[str, Weights], landmark: str) -> bool:
    """Return whether a landmark is a medial one that the marker on the side of its segment leads into the motion."""
    joint, end, side = landmark[:-2].partition("_")[0], landmark[:-2].partition("_")[2], landmark[-1]
    return end == "medial" and joint in WANDS and f"{WANDS[joint]}_{side}" in mapping


def joint_errors(
    document: Document, mapping: Mapping[str, Weights], subject: Mapping[str, Any], static: bool
) -> list[InputError]:
    """Return what keeps a mapping from showing the pelvis or a joint, one error for each thing that is to be added.

    Required landmarks or their substitutes are there; `subject` is the table [subject], `static` whether there is a
    standing trial.
    """
    errors = _pelvis_errors(document, mapping)
    without_static: list[InputError] = []
    for joint, ends in (("knee", "epicondyles"), ("ankle", "malleoli")):
        sides = [side for side in SIDES if needs_chord(mapping, joint, side)]
        if not sides:
            continue
        reason = f"nothing but the lateral marker shows the {SIDE_NAMES[sides[0]]} {joint}"
        medial = f"{joint}_medial_{sides[0]} in [mapping]"
        if subject[f"{joint}_width_m"] is None:
            expected = f"{joint}_width_m, the distance between the {ends}, or {medial}"
            remedy = f"measure it and add {joint}_width_m = ... to [subject]"
            errors.append(document.error(reason, "subject", None, 0, expected, remedy, code="missing_key"))
        if not static:
            expected, remedy = f"a standing trial, or {medial}", 'add static = "..." to [files]'
            without_static.append(
                document.error(reason, "files", None, 0, expected, remedy, code="missing_key")
            )
    return errors + without_static[:1]


def _pelvis_errors(document: Document, mapping: Mapping[str, Weights]) -> list[InputError]:
    if shows_spines(mapping):
        return []
    pairs = [[f"{name}_{side}" for side in SIDES] for name in ("hip_center", "shoulder", "shoulder_center")]
    hips, *shoulders = (all(name in mapping for name in pair) for pair in pairs)
    if hips and (any(shoulders) or "neck_base" in mapping):
        return []
    spines, others = "asis_r, asis_l and psis_r, psis_l or sacrum", "both shoulders or neck_base"
    problem, expected = "the pelvis is not shown", f"{spines}; or both hip_center and {others}"
    remedy = "map the markers of the pelvis"
    return [document.error(problem, "mapping", None, 0, expected, remedy, code="missing_marker")]
