"""Do the landmarks lie to each other as on a person: toes ahead of heels, knees above ankles, medial inside lateral?"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.checking.case.case import Case
from musclesolve.checking.case.observed_body import ahead, landmark
from musclesolve.checking.markers.left_right_labels import exchanged
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


@cache
def order() -> list[dict[str, str]]:
    """Return the rules: one, other, direction."""
    text = resources.files(__package__).joinpath("order.toml").read_text(encoding="utf-8")
    rules: list[dict[str, str]] = tomllib.loads(text)["order"]
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
    unit: Array = own / np.where(length > 0.0, length, np.nan)
    return unit


def all_order(case: Case) -> None:
    """Find landmarks in an order that no person has; those that are clearly exchanged are, for what follows."""
    for _ in range(MOST):
        found = {
            role: {(one, other): (way, size) for one, other, way, size in violations(case.trial, markers)}
            for role in ("markers", "static")
            if (markers := getattr(case.trial, role)) is not None
        }
        pairs = list(dict.fromkeys(pair for broken in found.values() for pair in broken))
        told = {finding.what for finding in case.findings}
        for one, other in pairs:
            roles = [role for role, broken in found.items() if (one, other) in broken]
            direction, size = found[roles[0]][one, other]
            what = (
                f"{one} should lie {_WORDS[direction]} {other}, but lies {1000 * size:.0f} mm on the other side on "
                f"average" + (", in the motion and standing" if len(roles) > 1 else "")
            )
            if what in told:
                continue
            exchange = not size <= EXCHANGED * case.trial.subject.stature
            case.tell(
                "landmark_order",
                "error" if exchange else "warning",
                what,
                f"check which markers are mapped to {one} and {other}"
                if len(roles) > 1 or case.trial.static is None
                else f"check the labels of {one} and {other} in this file; the other recording has them right",
                file=getattr(case.trial, roles[0]).path,
                markers=tuple(m for name in (one, other) for m in case.trial.mapping[name]),
            )
            if exchange:
                _exchange(case, one, other, roles)
                # What else is out of order may follow from this.
                break
        else:
            return


def _exchange(case: Case, one: str, other: str, roles: list[str]) -> None:
    """Exchange two landmarks: in the mapping where every recording is out of order, else in the one that is."""
    mapping = dict(case.trial.mapping)
    if len(roles) > 1 or case.trial.static is None:
        mapping[one], mapping[other] = mapping[other], mapping[one]
        case.mend(mapping=mapping)
        return
    markers = getattr(case.trial, roles[0])
    names = [list(mapping[name]) for name in (one, other)]
    if all(len(own) == 1 and own[0] in markers for own in names):
        case.mend(**{roles[0]: exchanged(markers, names[0][0], names[1][0])})
