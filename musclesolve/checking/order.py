"""Do the landmarks lie to each other as on a person: toes ahead of heels, knees above ankles, medial inside lateral?"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

import numpy as np

from musclesolve.checking.body import landmark
from musclesolve.checking.case import Array, Case
from musclesolve.recording.data import SIDES, Markers, Trial

_WORDS = {"up": "above", "ahead": "ahead of", "out": "on the outside of"}
# So far beyond the wrong side before it counts [m]: markers have a breadth, and feet turn out.
CLEARLY = 0.005


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
    front = [seen.get(f"asis_{side}") for side in SIDES]
    back = [seen["sacrum"]] if "sacrum" in seen else [seen.get(f"psis_{side}") for side in SIDES]
    if any(point is None for point in (*front, *back)):
        return []
    forward = np.mean([p for p in front if p is not None], axis=0) - np.mean(
        [p for p in back if p is not None], axis=0
    )
    forward = forward * [1.0, 1.0, 0.0]
    length = np.linalg.norm(forward, axis=1, keepdims=True)
    forward = forward / np.where(length > 0.0, length, np.nan)
    left = np.cross([0.0, 0.0, 1.0], forward)
    broken = []
    for rule in order():
        for side in SIDES:
            one, other = (seen.get(f"{rule[key]}_{side}") for key in ("one", "other"))
            if one is None or other is None:
                continue
            axis: dict[str, Array] = {
                "up": np.broadcast_to([0.0, 0.0, 1.0], left.shape),
                "ahead": forward,
                "out": left if side == "l" else -left,
            }
            along = np.sum((one - other) * axis[rule["direction"]], axis=1)
            along = along[np.isfinite(along)]
            if along.size and along.mean() < -CLEARLY:
                names = f"{rule['one']}_{side}", f"{rule['other']}_{side}"
                broken.append((*names, rule["direction"], -float(along.mean())))
    return broken


def all_order(case: Case) -> None:
    """Find landmarks in an order that no person has, in the motion and standing."""
    told = set()
    for markers in (case.trial.markers, case.trial.static):
        if markers is None:
            continue
        for one, other, direction, size in violations(case.trial, markers):
            if (one, other) in told:
                continue
            told.add((one, other))
            case.tell(
                "landmark_order",
                "error",
                f"{one} should lie {_WORDS[direction]} {other}, but lies {1000 * size:.0f} mm on the other side on "
                "average",
                f"check which markers are mapped to {one} and {other}, or exchange their labels",
                file=markers.path,
                markers=tuple(m for name in (one, other) for m in case.trial.mapping[name]),
            )
