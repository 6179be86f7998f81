"""Is the standing trial of this subject, with the same markers in the same places?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from musclesolve.checking.case import Case
from musclesolve.checking.finding import Finding, Where, finding
from musclesolve.checking.markers.marker_distances import bodies, distances, middle
from musclesolve.checking.observed_body import landmark
from musclesolve.checking.repair import change_markers
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.errors import InputError
from musclesolve.recording.data import SIDES, Markers, Trial
from musclesolve.recording.gaps.rigid_registration import register

# Only distances this long show a size [m]; from which difference of sizes on it is reported, and is an error;
# how many must agree on it.
LONG, SIZE, FAR_SIZE, FEWEST = 0.08, 0.03, 0.06, 6
# A marker off its standing place by so much sits elsewhere [m]; skin moves it by half of that; so many others show it.
MOVED, FEWEST_LEFT = 0.03, 3
# Right and left knee, and right and left ankle, are of the same width to this [m]: epicondyles and malleoli lie under
# the skin, so that their markers can hardly sit farther out or in.
WIDER = 0.014


@asked_at(Stage.STANDING_PLACES)
def moved_markers(case: Case) -> Iterator[Finding]:
    """Find markers that sit elsewhere on their segment than in the standing trial."""
    static = case.trial.static
    if static is None:
        return
    reported = {m for f in case.findings for m in f.where.markers}
    for markers, standing in bodies(case.trial).values():
        names = [name for name in markers if name in static] if standing else []
        # Without one of them the others must still show the segment.
        while len(names) > FEWEST_LEFT:
            fits = {name: _fit(case.trial, static, name, [n for n in names if n != name]) for name in names}
            # The one without which the others keep their shape best.
            worst = min(fits, key=lambda name: fits[name][1])
            off = fits[worst][0]
            if off < MOVED:
                break
            if worst not in reported:
                where = Where(static.path, markers=(worst,))
                values = {"name": worst, "size": off, "limit": MOVED}
                yield finding("marker_moved", "warning", values, where)
                reported.add(worst)
            names.remove(worst)


def _fit(trial: Trial, static: Markers, name: str, others: list[str]) -> tuple[float, float]:
    """Return how far a marker is from its standing place among others, and how far these are from theirs [m].

    Medians over the motion; where it cannot be measured, the marker is in its place and the others are not.
    """
    still = np.stack([middle(static[other]) for other in (*others, name)])
    moving = np.stack([trial.markers[other] for other in (*others, name)], axis=1)
    seen = np.isfinite(moving).all(axis=(1, 2))
    if seen.sum() < FEWEST or not np.isfinite(still).all():
        return 0.0, np.inf
    try:
        poses = register(still[:-1], moving[seen, :-1])
    except InputError:
        # Markers on a line show no segment.
        return 0.0, np.inf
    off = np.linalg.norm(poses.point(still[-1]) - moving[seen, -1], axis=1)
    return float(np.median(off)), float(np.median(poses.residual))


@asked_at(Stage.STANDING_PLACES)
def joint_widths(case: Case) -> Iterator[Finding]:
    """Find knees and ankles of which one is wider between its lateral and medial marker than the other."""
    static = case.trial.static
    if static is None or case.found("pair_swapped", "labels_exchanged", "landmark_order", "marker_moved"):
        return
    for joint in ("knee", "ankle"):
        names = {side: [f"{joint}_{way}_{side}" for way in ("lateral", "medial")] for side in SIDES}
        seen = {side: [landmark(case.trial, name, static) for name in names[side]] for side in SIDES}
        points = {side: [p for p in pair if p is not None] for side, pair in seen.items()}
        if any(len(pair) < 2 for pair in points.values()):
            continue
        right, left = (
            float(middle(np.linalg.norm(points[side][0] - points[side][1], axis=-1)[:, None])[0])
            for side in SIDES
        )
        if abs(right - left) > WIDER:
            mapping = case.trial.mapping
            markers = tuple(m for side in SIDES for name in names[side] for m in mapping[name])
            values = {"joint": joint, "right": right, "left": left, "limit": WIDER}
            yield finding("joint_width", "warning", values, Where(static.path, markers=markers))


@asked_at(Stage.SIZE_WHEN_STANDING)
def size_when_standing(case: Case) -> Iterator[Finding]:
    """Find a standing trial in which all segments are longer, or all shorter, than in the motion."""
    pairs, static = distances(case.trial), case.trial.static
    if pairs is None or static is None:
        return
    long = (pairs.usual > LONG) & (pairs.standing > LONG)
    ratio = pairs.standing[long] / pairs.usual[long]
    if ratio.size < FEWEST:
        return
    size = float(np.median(ratio))
    # A marker or two that moved do not make another subject: most distances must agree on the ratio.
    agreeing = np.mean((ratio - 1.0) * np.sign(size - 1.0) > 0.5 * abs(size - 1.0))
    if abs(size - 1.0) < SIZE or agreeing < 0.8:
        return
    values = {
        "difference": abs(size - 1.0),
        "longer": "longer" if size > 1 else "shorter",
        "count": ratio.size,
    }
    repair = change_markers("static", lambda markers: replace(markers, position=markers.position / size))
    yield finding(
        "static_of_another",
        "error" if abs(size - 1.0) > FAR_SIZE else "warning",
        values,
        Where(static.path),
        repair,
    )
