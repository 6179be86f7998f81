"""Do the landmarks lie to each other as on a body: toes ahead of heels, knees above ankles, medial inside lateral?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.checking.case.case import Case
from musclesolve.checking.case.observed_body import ahead, landmark
from musclesolve.checking.finding import Finding, Where, finding
from musclesolve.checking.repair import ROLES, Repair, Role, exchange_labels, exchange_landmarks
from musclesolve.checking.stages import Stage, asked_at
from musclesolve.recording.data import SIDES, Markers, Side, Trial

_WORDS = {
    "up": "above",
    "ahead": "ahead of",
    "out": "on the outside of",
    "out_of_foot": "on the outer side of the line from heel to",
}
# So far beyond the wrong side before it counts [m]: markers have a breadth. Nearer than the second share of the stature
# markers may sit beside their places; farther away they are those of each other.
CLEARLY, EXCHANGED = 0.005, 0.015
MOST = 8


def order() -> list[dict[str, str]]:
    """Return the rules: one, other, direction."""
    rules: list[dict[str, str]] = bundled_toml(__package__, "order.toml")["order"]
    return rules


def violations(trial: Trial, markers: Markers) -> list[tuple[str, str, str, float]]:
    """Return (one, other, direction, distance [m]) of every rule that a recording breaks on average."""
    points = {name: landmark(trial, name, markers) for name in trial.mapping}
    seen = {name: point for name, point in points.items() if point is not None}
    faced = ahead(trial, markers)
    if faced is None:
        return []
    forward = faced * np.array([1.0, 1.0, 0.0])
    length = np.linalg.norm(forward, axis=1, keepdims=True)
    forward = forward / np.where(length > 0.0, length, np.nan)
    left = np.cross([0.0, 0.0, 1.0], forward)
    broken = []
    for rule in order():
        for side in SIDES:
            one, other = (seen.get(f"{rule[key]}_{side}") for key in ("one", "other"))
            if one is None or other is None:
                continue
            out = 1.0 if side == "l" else -1.0
            axis: dict[str, Array] = {
                "up": np.broadcast_to([0.0, 0.0, 1.0], left.shape),
                "ahead": forward,
                "out": out * left,
                "out_of_foot": out * _left_of_foot(seen, side, left),
            }
            along = np.sum((one - other) * axis[rule["direction"]], axis=1)
            along = along[np.isfinite(along)]
            if along.size and along.mean() < -CLEARLY:
                names = f"{rule['one']}_{side}", f"{rule['other']}_{side}"
                broken.append((*names, rule["direction"], -float(along.mean())))
    return broken


def _left_of_foot(seen: dict[str, Array], side: Side, left: Array) -> Array:
    """Return the horizontal unit vector (T, 3) to the left of the line from heel to toe; that of the pelvis without."""
    heel, toe = seen.get(f"heel_{side}"), seen.get(f"toe_{side}")
    if heel is None or toe is None:
        return left
    own = np.cross([0.0, 0.0, 1.0], toe - heel)
    length = np.linalg.norm(own, axis=1, keepdims=True)
    return np.asarray(own / np.where(length > 0.0, length, np.nan))


@asked_at(Stage.LANDMARK_ORDER)
def landmark_order(case: Case) -> Iterator[Finding]:
    """Find landmarks in an order that no subject has.

    What else is out of order may follow from two that are clearly exchanged: repaired before more is reported.
    """
    reported: set[str] = set()
    for _ in range(MOST):
        repaired = False
        for found in _out_of_order(case):
            if found.what in reported:
                continue
            reported.add(found.what)
            yield found
            if found.severity == "error":
                case, repaired = case.repaired(found), True
                break
        if not repaired:
            return


def _out_of_order(case: Case) -> Iterator[Finding]:
    """Report all rules that a recording breaks."""
    trial = case.trial
    broken: dict[tuple[str, str], dict[Role, tuple[str, float]]] = {}
    for role in ROLES:
        markers: Markers | None = getattr(trial, role)
        for one, other, direction, size in violations(trial, markers) if markers else []:
            broken.setdefault((one, other), {})[role] = direction, size
    for (one, other), found in broken.items():
        role, (direction, size) = next(iter(found.items()))
        in_all = len(found) > 1 or trial.static is None
        exchange = not size <= EXCHANGED * trial.subject.stature
        markers_of = tuple(m for name in (one, other) for m in trial.mapping[name])
        values = {
            "one": one,
            "other": other,
            "direction": _WORDS[direction],
            "size": size,
            "recordings": ", in the motion and standing" if len(found) > 1 else "",
            "remedy": f"check which markers are mapped to {one} and {other}"
            if in_all
            else f"check the labels of {one} and {other} in this file; the other recording has them right",
        }
        where = Where(getattr(trial, role).path, markers=markers_of)
        repair = _exchange(trial, (one, other), role, in_all) if exchange else None
        yield finding("landmark_order", "error" if exchange else "warning", values, where, repair)


def _exchange(trial: Trial, names: tuple[str, str], role: Role, in_all: bool) -> Repair | None:
    """Exchange two landmarks: in the mapping where every recording is out of order, else in the one that is."""
    if in_all:
        return exchange_landmarks(*names)
    own = [list(trial.mapping[name]) for name in names]
    if all(len(markers) == 1 and markers[0] in getattr(trial, role) for markers in own):
        return exchange_labels(own[0][0], own[1][0], role=role)
    return None
