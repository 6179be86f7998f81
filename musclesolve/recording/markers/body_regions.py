"""Markers that the legs need, and those that show only trunk, arms and head."""

from __future__ import annotations

from dataclasses import replace

from musclesolve.recording.data import SIDES, Trial
from musclesolve.recording.markers.landmark_names import shows_spines

ARMS_AND_HEAD = frozenset(
    {
        f"{part}_{side}"
        for part in ("elbow_lateral", "elbow_medial", "wrist", "hand_radial", "hand_ulnar")
        for side in SIDES
    }
    | {"head_base", "head_low", "head_top"}
)
TRUNK = frozenset(
    {f"{part}_{side}" for part in ("shoulder", "shoulder_center") for side in SIDES} | {"neck_base"}
)


def bounding_markers(trial: Trial) -> tuple[str, ...]:
    """Return the needed markers of legs and pelvis: without them no frame can be analysed."""
    # Without the spines of the pelvis the top of the trunk shows how it tilts.
    above = ARMS_AND_HEAD | TRUNK if shows_spines(trial.mapping) else ARMS_AND_HEAD
    below = {name: weights for name, weights in trial.mapping.items() if name not in above}
    return replace(trial, mapping=below).used_markers


def upper_markers(trial: Trial) -> tuple[str, ...]:
    """Return the needed markers that show only trunk, arms or head: these are completed where they are lost."""
    bounding = set(bounding_markers(trial))
    return tuple(name for name in trial.used_markers if name not in bounding)
