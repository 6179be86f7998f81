"""Sides: whether right landmarks are on the right of the body, as a whole and pair by pair.

Who faces f and stands up along u has the left at u x f. All pairs of right and left landmarks point to the left; a pair
that points to the right while the others do not carries each other's label. Where all pairs point to the right, either
the labels of right and left are exchanged, or an axis is reversed: then plates, which are in the room, do not lie under
the feet.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import UP, Array, mean_of_known, unit_or_zero, vector_product
from musclesolve._util.sides import has_side, twin
from musclesolve.laboratory.checks.case import TABLES, Case, Role, exchanged_labels, recording_check
from musclesolve.laboratory.checks.observed_body import ahead, landmarks
from musclesolve.laboratory.recording.data import SIDES, Trial
from musclesolve.laboratory.results.finding import Finding, Severity, Where, finding
from musclesolve.laboratory.trial.plates.foot_contacts import NEAR, heels_and_toes, pressure_beside
from musclesolve.laboratory.trial.recording_checks import OF_ARMS
from musclesolve.tables.sampled import Markers

WHOLE = 0.7
"""Share of reversed pairs from which the sides are exchanged as a whole."""
FEWEST = 4
"""Number of pairs that show what is right and what is left."""


def pairs_to_the_left(trial: Trial, markers: Markers) -> dict[str, float]:
    """Return pair of landmarks -> mean component of the vector from its right to its left one to the left [m].

    Empty where the pelvis does not show where the subject faces, or too few pairs are seen.
    """
    faced = ahead(trial, markers)
    if faced is None:
        return {}
    left = vector_product(UP, unit_or_zero(faced * np.array([1.0, 1.0, 0.0])))
    sides = {
        name: landmarks(trial, [f"{name}_{side}" for side in SIDES], markers) for name in TABLES["pairs"]
    }
    vectors: dict[str, Array] = {name: points[1] - points[0] for name, points in sides.items() if points}
    across = {name: float(mean_of_known(np.sum(v * left, axis=1))) for name, v in vectors.items()}
    known = {name: size for name, size in across.items() if np.isfinite(size)}
    return known if len(known) >= FEWEST else {}


def reversed_pairs(trial: Trial, markers: Markers) -> tuple[list[str], bool]:
    """Return the pairs whose right landmark is on the left, and whether they are so many that all sides are."""
    pairs = pairs_to_the_left(trial, markers)
    wrong = [name for name, size in pairs.items() if size < 0.0]
    return wrong, len(wrong) >= WHOLE * len(pairs) > 0


def whole_files(case: Case) -> list[Role]:
    """Return the files in which most right landmarks are on the left."""
    return [role for role, markers in case.upright.items() if reversed_pairs(case.trial, markers)[1]]


def pressure_under_feet(case: Case) -> bool:
    """Return whether the forces on the plates act under the feet: no axis of the markers alone is reversed."""
    trial, feet = case.trial, heels_and_toes(case.trial)
    if "plates" in case.unknown or len(feet) < len(SIDES):
        return False
    plates = [(plate.time, plate.force, plate.point, plate.side) for plate in trial.forces]
    return bool(plates) and pressure_beside(plates, feet) < NEAR


def exchanged_sides(case: Case, whole: Sequence[Role]) -> dict[Role, dict[str, str]]:
    """Return marker -> marker of the other side in each of some files; empty where a sided marker has no partner."""
    trial = case.trial
    twins = {(min(pair), max(pair)) for pair in partners(trial).items()}
    sided = {m for name, weights in trial.mapping.items() if has_side(name) for m in weights}
    if not sided <= {m for pair in twins for m in pair}:
        return {}
    return {
        role: dict(sorted(pair for pair in twins if {*pair} <= {*getattr(trial, role).names}))
        for role in whole
    }


def labels_exchanged(case: Case) -> dict[Role, dict[str, str]]:
    """Return marker -> marker whose label it carries, by file, where all labels of right and left are exchanged.

    Most pairs of the motion are reversed, and the forces on the plates act under the feet.
    """
    whole = whole_files(case) if not {"up", "upright"} & case.unknown else []
    return exchanged_sides(case, whole) if "markers" in whole and pressure_under_feet(case) else {}


@recording_check("up", "upright")
def sides_exchanged(case: Case) -> Iterator[Finding]:
    """Find recordings in which most right landmarks are on the left."""
    trial, whole = case.trial, whole_files(case)
    if not whole:
        return
    both, markers = len(whole) == len(case.upright), getattr(trial, whole[0])
    wrong, pairs = reversed_pairs(trial, markers)[0], exchanged_sides(case, whole)
    change = exchanged_labels(trial, pairs) if pairs else None
    values = {
        "count": len(wrong),
        "pairs": len(pairs_to_the_left(trial, markers)),
        "names": ", ".join(wrong[:4]),
    }
    values |= {"files": "both files" if both and len(case.upright) > 1 else markers.path.name}
    code = "sides_swapped"
    if change is not None and labels_exchanged(case):
        code = "sides_swapped.labels"
        for number, entry in enumerate(case.settings.force):
            if entry.side in SIDES:
                change[("force", number, "side")] = SIDES[1 - SIDES.index(entry.side)]
    stated = both and "asis_r" in case.settings.mapping
    where = case.key("mapping", "asis_r") if stated else Where(markers.path)
    yield finding(code, "error", values, where, change=change)


@recording_check("up", "upright")
def pairs_exchanged(case: Case) -> Iterator[Finding]:
    """Find single pairs of landmarks that are exchanged in a recording whose other pairs are right."""
    trial, stated = case.trial, case.settings.mapping
    files = case.upright
    found = {role: reversed_pairs(trial, markers) for role, markers in files.items()}
    for name in dict.fromkeys(name for wrong, whole in found.values() if not whole for name in wrong):
        right, left = f"{name}_r", f"{name}_l"
        roles: list[Role] = [role for role, (wrong, whole) in found.items() if name in wrong and not whole]
        markers, (one, other) = files[roles[0]], (list(trial.mapping[side]) for side in (right, left))
        where = Where(markers.path, markers=(*one, *other))
        change: dict[tuple[str | int, ...], Any] | None = None
        if len(roles) == len(files) and right in stated and left in stated:
            where = replace(case.key("mapping", right), markers=where.markers)
            change = {("mapping", right): stated[left], ("mapping", left): stated[right]}
        elif len(one) == len(other) == 1 and {*one, *other} <= {*markers.names}:
            change = exchanged_labels(trial, {role: {one[0]: other[0]} for role in roles})
        severity: Severity = "note" if name in OF_ARMS else "error"  # arms are read the other way round
        yield finding("pair_swapped", severity, {"right": right, "left": left}, where, change=change)


def partners(trial: Trial) -> dict[str, str]:
    """Return marker -> marker of the other side.

    For every pair of landmarks that are single markers, and for other markers of clusters and landmarks whose names
    differ in right and left alone.
    """
    other: dict[str, str] = {}
    for name, weights in trial.mapping.items():
        of_twin = trial.mapping.get(twin(name), {})
        if has_side(name) and len(weights) == len(of_twin) == 1:
            other[next(iter(weights))] = next(iter(of_twin))
    names = {*trial.markers.names, *(trial.static.names if trial.static else ())}
    swap = {"R": "L", "L": "R", "r": "l", "l": "r"}
    for marker in (name for table in (trial.clusters, trial.mapping) for of in table.values() for name in of):
        twins = (marker[:k] + swap[c] + marker[k + 1 :] for k, c in enumerate(marker) if c in swap)
        if (opposite := next((name for name in twins if name in names), None)) is not None:
            other.setdefault(marker, opposite)
    return other
