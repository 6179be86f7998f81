"""Functional trials: recordings of a hip that moves in all directions, from which its center is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.data import SIDE_NAMES, SIDES, Markers, Side
from musclesolve.recording.formats import read_markers
from musclesolve.recording.markers.landmark_names import back_landmarks
from musclesolve.recording.markers.marker_mapping import MarkerMapping
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.schema import Document
from musclesolve.recording.text.repeated_names import check_used
from musclesolve.recording.trial.recording_checks import check_sampling

METHOD = "functional"
# The regression that functional centers are compared with.
COMPARED = "harrington_2007"
_REGRESSION = "name the standing trial, or choose a regression"
# Markers of a thigh lie along the line from the anterior spine to the lateral knee: between these shares of it, and
# no farther from it than this share of its length.
ALONG, BESIDE = (0.2, 1.05), 0.35
# Skin lets the distance of two markers of a thigh vary by about this much [m]; a hand beside it moves more.
RIGID = 0.015


def read_functional(
    document: Document, content: Mapping[str, Any], rotation: Array, marker_mapping: MarkerMapping
) -> dict[Side, Markers]:
    """Return side -> the recording in which that hip moves, in the global frame; empty when none is asked for."""
    named = {side: content["files"][f"functional_{side}"] for side in SIDES}
    if content["joint_centers"]["hip"] != METHOD:
        for side in [side for side in SIDES if named[side] is not None]:
            problem = "a functional trial is named, but the hip centers are found otherwise"
            expected, key = f'hip = "{METHOD}" in [joint_centers]', f"functional_{side}"
            remedy = f'write hip = "{METHOD}", or remove the functional trials'
            raise document.error(problem, "files", key, 0, expected, remedy, code="conflict")
        return {}
    for side, name in named.items():
        if name is None:
            problem = f'the hip centers are to be "{METHOD}", but no trial moves the {SIDE_NAMES[side]} hip'
            expected = f"functional_{side} in [files]: a trial in which that hip moves in all directions"
            remedy = f"add functional_{side} (one file may stand for both sides), or choose a regression"
            raise document.error(problem, "joint_centers", "hip", 0, expected, remedy, code="missing_key")
        if f"hip_center_{side}" in marker_mapping.mapping:
            problem = f'hip_center_{side} is mapped, but the hip centers are to be "{METHOD}"'
            expected, key = "one way to find the hip centers", f"hip_center_{side}"
            remedy = f"remove {key}, or the line hip = in [joint_centers]"
            raise document.error(problem, "mapping", key, 0, expected, remedy, code="conflict")
    if marker_mapping.static is None:
        problem = "functional hip centers need a standing trial"
        expected = "static in [files]: the shape of pelvis and thighs is measured there"
        raise document.error(problem, "joint_centers", "hip", 0, expected, _REGRESSION, code="missing_key")
    recordings: dict[Side, Markers] = {}
    for side, name in named.items():
        key, thigh = f"functional_{side}", f"thigh_{side}"
        path = document.input_file("files", key, name)
        recording = marker_mapping.names.checked(document, read_markers(path)).rotated(rotation)
        check_sampling(recording.time, path)
        if thigh not in marker_mapping.clusters:
            shown = _thigh_candidates(marker_mapping, recording, side)
            problem = f"no cluster shows how the {SIDE_NAMES[side]} thigh moves"
            expected = f"{thigh}: three or more markers of that thigh, away from one line"
            listed, else_one = ", ".join(f'"{name}"' for name in shown), ""
            if len(shown) < 3:
                listed, else_one = '"...", "...", "..."', "; the lateral knee marker may be one of them"
            remedy = f"add to [clusters]: {thigh} = [{listed}]{else_one}"
            raise document.error(problem, "clusters", None, 0, expected, remedy, code="missing_marker")
        expected = f"every marker of the pelvis and of the cluster {thigh}"
        for marker in (*marker_mapping.clusters[thigh], *pelvis_markers(marker_mapping)):
            if marker not in recording:
                problem = f"the marker '{marker}' is not in {recording.path}"
                raise document.unknown(
                    problem, marker, recording.names, "files", key, code="missing_marker", expected=expected
                )
            check_used([marker], "marker", recording.repeated, recording.path)
            if not _is_seen(recording, marker):
                problem, remedy = f"the marker '{marker}' is never seen", "label it in the capture software"
                raise error_at(recording.path, None, problem, expected, remedy, code="missing_samples")
        recordings[side] = recording
    return recordings


def pelvis_markers(marker_mapping: MarkerMapping) -> tuple[str, ...]:
    """Return the markers that show the pelvis: its cluster, or those of its landmarks."""
    if "pelvis" in marker_mapping.clusters:
        return marker_mapping.clusters["pelvis"]
    landmarks = ["asis_r", "asis_l", *back_landmarks(marker_mapping.mapping)]
    return tuple(
        dict.fromkeys(marker for name in landmarks for marker in marker_mapping.mapping.get(name, ()))
    )


def _thigh_candidates(marker_mapping: MarkerMapping, recording: Markers, side: Side) -> list[str]:
    """Return the markers that lie along the thigh of the standing subject and keep their distance from the knee."""
    static, mapping = marker_mapping.static, marker_mapping.mapping
    if static is None:
        return []
    knee = mapping.get(f"knee_lateral_{side}", {})
    lines: dict[Side, list[Array]] = {}  # anterior spine and lateral knee (3,) of the standing subject
    for of_side in SIDES:
        ends = [mapping.get(f"{end}_{of_side}", {}) for end in ("asis", "knee_lateral")]
        if all(
            weights and all(name in static and _is_seen(static, name) for name in weights) for weights in ends
        ):
            lines[of_side] = [np.nanmedian(static.weighted(weights), axis=0) for weights in ends]
    if len(lines) < 2 or not set(knee) <= set(recording.names):
        return []
    line, other = lines[side], lines["l" if side == "r" else "r"]
    elsewhere = {m for name, weights in mapping.items() if "knee" not in name for m in weights}
    shown = []
    for name in static.names:
        everywhere = name in marker_mapping.walk and name in recording and _is_seen(static, name)
        if everywhere and name not in elsewhere and _is_seen(recording, name):
            place = np.nanmedian(static[name], axis=0)
            (share, away), (_, far) = _beside(place, *line), _beside(place, *other)
            apart = np.linalg.norm(recording[name] - recording.weighted(knee), axis=1)
            apart = apart[np.isfinite(apart)]
            firm = apart.size > 0 and apart.std() < RIGID
            if ALONG[0] <= share <= ALONG[1] and away < min(BESIDE, far) and firm:
                shown.append(name)
    return shown


def _is_seen(markers: Markers, name: str) -> bool:
    return bool(np.isfinite(markers[name]).all(axis=1).any())


def _beside(point: Array, start: Array, end: Array) -> tuple[float, float]:
    """Return where a point lies along a line, and how far beside it, as shares of its length."""
    line = end - start
    length = float(np.linalg.norm(line))
    share = float((point - start) @ line) / length**2
    return share, float(np.linalg.norm(point - start - share * line)) / length
