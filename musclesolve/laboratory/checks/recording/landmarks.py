"""Landmarks: what a draft guessed, and how landmarks of one leg lie to each other on every person (`order.toml`)."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import UP, mean_of_known, unit_or_zero, vector_product
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.laboratory.checks.case import TABLES, Case, recording_check
from musclesolve.laboratory.checks.observed_body import ahead, landmarks
from musclesolve.laboratory.checks.recording.sides import reversed_pairs
from musclesolve.laboratory.recording.data import SIDES, Trial
from musclesolve.laboratory.results.finding import Finding, Where, error_if, finding
from musclesolve.tables.sampled import Markers

CLEARLY, EXCHANGED = 0.005, 0.015
"""Distance on the wrong side from which it counts [m], for markers have a breadth; and the one beyond which two
landmarks are exchanged and not only misplaced, as a share of the stature."""


@recording_check()
def guessed_landmarks(case: Case) -> Iterator[Finding]:
    """Find landmarks of [markers] that a draft guessed by the places of markers, and nobody has confirmed."""
    guessed = [name for name in case.settings.markers.guessed or () if name in case.trial.mapping]
    if guessed:
        values = {"shown": "; ".join(f"{name} by {', '.join(case.trial.mapping[name])}" for name in guessed)}
        yield finding("landmark_guessed", "warning", values, case.key("markers", "guessed"))


def violations(trial: Trial, markers: Markers) -> list[tuple[str, str, str, float]]:
    """Return (one, other, direction, distance [m]) of every rule that a recording breaks on average.

    A marker that a cluster carries has no place of its own: where it lies wrong, its cluster is.
    """
    faced = ahead(trial, markers)
    if faced is None:
        return []
    forward = unit_or_zero(faced * np.array([1.0, 1.0, 0.0]))
    left = vector_product(UP, forward)
    rules, broken = bundled_toml(__package__, "order.toml")["order"], []
    # A reversed pair is on the other leg, and inside is outside where all sides are exchanged: `sides` reports both.
    pairs, whole = reversed_pairs(trial, markers)
    for rule in rules:
        follows = rule["direction"] == "out" if whole else not {rule["one"], rule["other"]}.isdisjoint(pairs)
        if follows:
            continue
        for side, out in zip(SIDES, (-1.0, 1.0), strict=True):
            names = f"{rule['one']}_{side}", f"{rule['other']}_{side}"
            own = all(marker in markers for name in names for marker in trial.mapping.get(name, ()))
            points = landmarks(trial, names, markers) if own else None
            if points is None:
                continue
            axes = {"up": np.broadcast_to(UP, left.shape), "ahead": forward, "out": out * left}
            along = float(mean_of_known(np.sum((points[0] - points[1]) * axes[rule["direction"]], axis=1)))
            if along < -CLEARLY:
                broken.append((*names, rule["direction"], -along))
    return broken


@recording_check("up", "upright")
def landmark_order(case: Case) -> Iterator[Finding]:
    """Find landmarks in an order that no person has, in each recording."""
    trial, reported = case.trial, set[tuple[str, str]]()
    for markers in case.upright.values():
        for one, other, direction, size in violations(trial, markers):
            if (one, other) in reported:
                continue
            reported.add((one, other))
            exchanged = not size <= EXCHANGED * trial.subject.stature
            stated, change = case.settings.mapping, None
            if exchanged and one in stated and other in stated:
                change = {("mapping", one): stated[other], ("mapping", other): stated[one]}
            place = case.key("mapping", one) if one in stated else Where(markers.path)
            where = replace(place, markers=tuple(m for name in (one, other) for m in trial.mapping[name]))
            values = {"one": one, "other": other, "direction": TABLES["directions"][direction], "size": size}
            yield finding("landmark_order", error_if(exchanged), values, where, change=change)
