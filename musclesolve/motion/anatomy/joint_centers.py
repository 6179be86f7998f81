"""Joint centers from landmarks: hips by regression, knees and ankles midway, shoulders below the acromion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.names import unknown_name
from musclesolve.errors import InputError
from musclesolve.recording.data import Side

# Distance from the acromion to the shoulder center over that to the elbow (de Leva 1996, J Biomech 29:1223-30).
SHOULDER_SHARE = 0.104


def hip_regressions() -> dict[str, dict[str, Any]]:
    """Return the regressions of ``hip_centers.toml`` by name."""
    return bundled_toml(__package__, "hip_centers.toml")


def hip_needs(regression: str) -> set[str]:
    """Return the lengths a regression asks for, among "width", "depth" and "leg"."""
    known = hip_regressions()
    if regression not in known:
        raise unknown_name(regression, "hip regression", known)
    return {name for axis in ("forward", "out", "up") for name in known[regression][axis]} - {"constant"}


def hip_center(regression: str, lengths: Mapping[str, float], side: Side) -> Array:
    """Place a hip center in the pelvis.

    The lengths are "width", "depth" and "leg" [m], as far as the regression needs them.

    Returns:
        (3,) position in the pelvic frame [m]: origin midway between the ASIS, x forward in the plane of ASIS and
        mid-PSIS, y left, z up.
    """
    if missing := hip_needs(regression) - set(lengths):
        problem = f"the regression '{regression}' needs the length '{sorted(missing)[0]}'"
        expected = "leg_length_m in [subject], or a standing trial to measure it on"
        remedy = "add one of them, or choose harrington_2007, which needs none"
        raise InputError(
            problem, where="[joint_centers] hip", code="missing_argument", expected=expected, remedy=remedy
        )
    forward, out, up = (
        _evaluate(hip_regressions()[regression][axis], lengths) for axis in ("forward", "out", "up")
    )
    return np.array([forward, -out if side == "r" else out, up])


def _evaluate(terms: Mapping[str, float], lengths: Mapping[str, float]) -> float:
    return sum(value if name == "constant" else value * lengths[name] for name, value in terms.items())


def between(one: Array, other: Array) -> Array:
    """Return the midpoint (..., 3), such as the knee center between lateral and medial epicondyle."""
    return 0.5 * (one + other)


def joint_center(points: Mapping[str, Array], joint: str, side: Side) -> Array:
    """Return the center (..., 3) of a knee or ankle: measured otherwise, or midway between lateral and medial."""
    measured = points.get(f"{joint}_center_{side}")
    if measured is not None:
        return measured
    return between(points[f"{joint}_lateral_{side}"], points[f"{joint}_medial_{side}"])


def shoulder_center(acromion: Array, elbow: Array) -> Array:
    """Return the shoulder center (..., 3): the acromion moved 10.4 % of the way to the elbow (de Leva 1996)."""
    return acromion + SHOULDER_SHARE * (elbow - acromion)
