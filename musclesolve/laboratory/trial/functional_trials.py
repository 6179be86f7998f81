"""Functional trials: recordings of a joint that moves, from which its center, or its axis and center, are found.

A hip moves in all directions, a knee or an ankle bends and straightens. Each joint needs a file for each side, which
may be the same one, and the markers of the two bodies of the joint.
"""

from collections.abc import Mapping

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import file_error
from musclesolve.laboratory.files.formats import read_markers
from musclesolve.laboratory.markers.landmarks import FUNCTIONAL, HINGES, back_landmarks
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, FunctionalTrials, HingeMovement, Side
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.laboratory.trial.marker_mapping import MarkerMapping
from musclesolve.laboratory.trial.recording_checks import check_sampling
from musclesolve.tables.document import Document
from musclesolve.tables.number_rows import check_used
from musclesolve.tables.sampled import Markers

# joint -> the bodies above and below, the movement of its trial, and the alternative method.
BODIES = {"hip": ("pelvis", "thigh"), "knee": ("thigh", "shank"), "ankle": ("shank", "foot")}
MOVEMENT_WORDS = {
    "hip": "moves in all directions",
    "knee": "bends and straightens",
    "ankle": "bends and straightens",
}
OTHERWISE = {
    "hip": "choose a regression",
    "knee": "map knee_lateral and knee_medial",
    "ankle": "map ankle_lateral and ankle_medial",
}
FOOT = ("heel", "toe", "metatarsal_5")
# A marker is on a segment between these shares of the height of the anterior spine over the heel, standing, on a
# thigh and a shank, and no farther from the line between them than the last share of its length.
HEIGHTS, BESIDE = {"thigh": (0.5, 0.9), "shank": (0.06, 0.47)}, 0.3
# Variation of the distance of two markers of a segment by skin motion [m]; a hand beside it moves more.
RIGID = 0.015


def file_key(joint: str, side: Side) -> str:
    """Return the key in [files] of the functional trial of a joint."""
    return f"functional_{side}" if joint == "hip" else f"functional_{joint}_{side}"


def read_functional(
    document: Document, settings: RecordedSettings, rotation: Array, marker_mapping: MarkerMapping
) -> FunctionalTrials:
    """Return the recordings of functional joints, in the global frame; empty without functional joints."""
    hips: dict[Side, Markers] = {}
    hinges: dict[str, HingeMovement] = {}
    # Ankles before knees: a knee without a marker lies on the line from hip to ankle.
    for joint in ("hip", *reversed(HINGES)):
        named = {side: settings.files[file_key(joint, side)] for side in SIDES}
        if settings.joint_centers[joint] != FUNCTIONAL:
            for side in [side for side in SIDES if named[side] is not None]:
                key = file_key(joint, side)
                raise document.fault(
                    "conflict",
                    ("files", key),
                    f"a functional trial is named, but the {joint} centers are found otherwise",
                    f'{joint} = "functional" in [joint_centers]',
                    f'write {joint} = "functional", or remove the functional trials',
                )
            continue
        for side, name in named.items():
            key = file_key(joint, side)
            if name is None:
                moving = f"{SIDE_NAMES[side]} {joint}"
                raise document.fault(
                    "missing_key",
                    ("joint_centers", joint),
                    f'the {joint} centers are to be "functional", but no trial moves the {moving}',
                    f"{key} in [files]: a trial in which that {joint} {MOVEMENT_WORDS[joint]}",
                    f"add {key} (one file may serve both sides), or {OTHERWISE[joint]}",
                )
            center = f"{joint}_center_{side}"
            if center in marker_mapping.mapping:
                raise document.fault(
                    "conflict",
                    ("mapping", center),
                    f'{center} is mapped, but the {joint} centers are to be "functional"',
                    f"one way to find the {joint} centers",
                    f"remove {center}, or the line {joint} = in [joint_centers]",
                )
        if marker_mapping.static is None:
            both = "pelvis and thighs" if joint == "hip" else " and ".join(BODIES[joint])
            raise document.fault(
                "missing_key",
                ("joint_centers", joint),
                f"functional {joint} centers need a standing trial",
                f"static in [files]: the shape of {both} is measured there",
                f"name the standing trial, or {OTHERWISE[joint]}",
            )
        for side, name in named.items():
            key = file_key(joint, side)
            path = document.input_file("files", key, name)
            recording = marker_mapping.names.checked(document, read_markers(path)).rotated(rotation)
            check_sampling(recording.time, path)
            bodies = {
                body: _body_markers(document, marker_mapping, recording, body, side) for body in BODIES[joint]
            }
            _check_seen(document, recording, key, bodies, side)
            above, below = BODIES[joint]
            if joint == "hip":
                hips[side] = recording
            else:
                hinges[f"{joint}_{side}"] = HingeMovement(
                    joint, side, recording, f"{above}_{side}", bodies[below]
                )
    return FunctionalTrials(hips, hinges)


def _mapped(marker_mapping: MarkerMapping, *names: str) -> tuple[str, ...]:
    """Return the markers of some landmarks, without repetition."""
    mapping = marker_mapping.mapping
    return tuple(dict.fromkeys(marker for name in names for marker in mapping.get(name, ())))


def _body_markers(
    document: Document, marker_mapping: MarkerMapping, recording: Markers, body: str, side: Side
) -> tuple[str, ...]:
    """Return the markers that show a body of one leg in a functional trial: its cluster, or its landmarks."""
    if body == "pelvis":
        if "pelvis" in marker_mapping.clusters:
            return marker_mapping.clusters["pelvis"]
        return _mapped(marker_mapping, "asis_r", "asis_l", *back_landmarks(marker_mapping.mapping))
    name = f"{body}_{side}"
    if name in marker_mapping.clusters:
        return marker_mapping.clusters[name]
    expected = f"{name}: three or more markers of that {body}, away from one line"
    if body == "foot":
        shown = list(_mapped(marker_mapping, *(f"{part}_{side}" for part in FOOT)))
        if len(shown) > 2:
            return tuple(shown)
        expected += f"; or metatarsal_5_{side} beside heel and toe in [mapping]"
    else:
        shown = _candidates(marker_mapping, recording, body, side)
    problem = f"no cluster shows how the {SIDE_NAMES[side]} {body} moves"
    listed, else_one = ", ".join(f'"{marker}"' for marker in shown), ""
    if len(shown) < 3:
        lateral = {"thigh": "knee", "shank": "ankle"}.get(body)
        listed = '"...", "...", "..."'
        else_one = f"; the lateral {lateral} marker may be one of them" if lateral else ""
    raise document.fault(
        "missing_marker", "clusters", problem, expected, f"add to [clusters]: {name} = [{listed}]{else_one}"
    )


def _check_seen(
    document: Document, recording: Markers, key: str, bodies: Mapping[str, tuple[str, ...]], side: Side
) -> None:
    """Refuse a functional trial that lacks a marker of the two bodies, or never sees it."""
    named = [body if body == "pelvis" else f"{SIDE_NAMES[side]} {body}" for body in bodies]
    expected = f"every marker of the {' and of the '.join(named)}"
    words = {"after": f" in {recording.path}", "code": "missing_marker", "expected": expected}
    for marker in dict.fromkeys(marker for markers in reversed([*bodies.values()]) for marker in markers):
        document.check_known([marker], "there is no marker", recording.names, "files", key, **words)
        check_used([marker], "marker", recording.repeated, recording.path)
        if not _is_seen(recording, marker):
            raise file_error(
                "missing_samples",
                recording.path,
                f"the marker '{marker}' is never seen",
                expected,
                "label it in the capture software",
            )


def _candidates(marker_mapping: MarkerMapping, recording: Markers, body: str, side: Side) -> list[str]:
    """Return the markers along a thigh or shank of the standing subject with constant distances.

    From the markers along it, the one whose distance to another varies most is removed repeatedly.
    """
    static, mapping = marker_mapping.static, marker_mapping.mapping
    lines: dict[Side, list[Array]] = {}  # heel and anterior spine (3,) of the standing subject
    for of_side in SIDES:
        ends = [mapping.get(f"{end}_{of_side}", {}) for end in ("heel", "asis")]
        if static is not None and all(
            weights and all(name in static and _is_seen(static, name) for name in weights) for weights in ends
        ):
            lines[of_side] = [np.nanmedian(static.weighted(weights), axis=0) for weights in ends]
    if static is None or len(lines) < 2:
        return []
    line, other, (low, high) = lines[side], lines["l" if side == "r" else "r"], HEIGHTS[body]
    # The lateral marker of the joint below moves with a segment.
    landmark = {"thigh": f"knee_lateral_{side}", "shank": f"ankle_lateral_{side}"}[body]
    elsewhere = {marker for name, weights in mapping.items() if name != landmark for marker in weights}
    shown = list(mapping.get(landmark, ()))
    for name in static.names:
        if name in marker_mapping.walk and name not in elsewhere and name not in shown:
            place = np.nanmedian(static[name], axis=0) if _is_seen(static, name) else np.full(3, np.nan)
            (share, away), (_, far) = place_along(place, *line), place_along(place, *other)
            if low <= share <= high and away < min(BESIDE, far):
                shown.append(name)
    shown = [
        name for name in static.names if name in shown and name in recording and _is_seen(recording, name)
    ]
    place = np.stack([recording[name] for name in shown], axis=1) if shown else np.zeros((1, 0, 3))
    apart = np.linalg.norm(place[:, :, None] - place[:, None], axis=3)
    seen = np.isfinite(apart).all(axis=(1, 2))
    varies = apart[seen].std(axis=0) if seen.any() else np.full(apart.shape[1:], np.inf)
    chosen = list(range(len(shown)))
    while len(chosen) > 1 and varies[np.ix_(chosen, chosen)].max() >= RIGID:
        chosen.remove(max(chosen, key=lambda k: float(np.median(varies[k, chosen]))))
    return [shown[k] for k in chosen]


def _is_seen(markers: Markers, name: str) -> bool:
    return bool(np.isfinite(markers[name]).all(axis=1).any())


def place_along(point: Array, start: Array, end: Array) -> tuple[float, float]:
    """Return the position of a point along a line, and its distance from the line, as shares of the line's length."""
    line = end - start
    length = float(np.linalg.norm(line))
    share = float((point - start) @ line) / length**2
    return share, float(np.linalg.norm(point - start - share * line)) / length
