"""Targets of the stride: published angles, ground reaction and moments, and the path of the force."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator
from series import HERE, Plan

from musclesolve.constants import STANDARD_GRAVITY

Array = np.ndarray
Curve = Callable[[Array], Array]

TRANSLATIONS = ("pelvis_tx", "pelvis_ty", "pelvis_tz")

ANGLES, WINTER, UPPER_BODY = "schwartz_2008.csv", "winter_1991.csv", "upper_body.csv"

FEWEST_SPREAD = 0.05
"""Least standard deviation of a joint moment [N m/kg]: in swing the table's is that of rounding."""

WITHIN = 2.0
"""Standard deviations from the mean that a joint moment may lie away."""

MISPRINTS = {("ankle_dorsiflexion_moment", 94.0)}


def read_columns(table: str) -> dict[str, Array]:
    """Columns of a CSV file of this folder, comments left out."""
    lines = (HERE / table).read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def curve(table: str, name: str, periodic: bool = True) -> Curve:
    """A column over the phase.

    A mean curve does not quite close: what it lacks is taken out linearly, unless it is to be left as it is (not
    periodic): a moment at heel strike is far from closed.
    """
    columns = read_columns(table)
    used = np.array([(name, percent) not in MISPRINTS for percent in columns["percent"]])
    phase, values = columns["percent"][used] / 100.0, columns[name][used]
    if not periodic:
        open_curve = CubicSpline(phase, values)
        return lambda at: open_curve(np.mod(at, 1.0))
    if phase[-1] < 1.0:
        phase, values = np.append(phase, 1.0), np.append(values, values[0])
    values = values - (values[-1] - values[0]) * phase
    values[-1] = values[0]
    closed: Curve = CubicSpline(phase, values, bc_type="periodic")
    return closed


def normative() -> dict[str, Curve]:
    """Angles over the phase by the name of their column [deg]."""
    return {
        name: curve(table, name)
        for table in (ANGLES, UPPER_BODY)
        for name in read_columns(table)
        if name.endswith("_deg")
    }


def spreads() -> dict[str, Curve]:
    """Standard deviations of the angles over the phase, where they are published [deg]."""
    names = [name for name in read_columns(ANGLES) if name.endswith("_deg_sd")]
    return {name.removesuffix("_sd"): curve(ANGLES, name) for name in names}


def aimed_angles(
    name: str, entry: dict[str, Any], curves: dict[str, Curve], phase: Array, tilt: float
) -> Array:
    """The curve (T,) that a series follows, in its own unit: [rad], or [m] for translations.

    The tables give trunk and pelvis relative to the ground, right side up and forward positive, hips from the plane
    of the pelvic spines; the model's trunk moves on the pelvis, and its angles are zero in standing.
    """
    if "follows" not in entry:
        constant = float(entry.get("value", 0.0))
        return np.full(phase.size, constant if name in TRANSLATIONS else np.deg2rad(constant))
    value = curves[entry["follows"]](phase)
    if name in ("hip_flexion", "pelvis_tilt"):
        value = value - tilt
    elif name == "pelvis_list":
        value = -value
    elif name == "trunk_flexion":
        value = value - (curves["pelvis_tilt_deg"](phase) - tilt)
    elif name == "trunk_bending_right":
        value = curves["pelvis_list_deg"](phase) - value
    elif name == "trunk_turn":
        value = value - curves["pelvis_rotation_deg"](phase)
    return np.deg2rad(value)


@dataclass(frozen=True)
class Ground:
    """Aims for the right foot: force (T, 3) [body weights], and how far ahead of the ball it acts (T,) [m]."""

    force: Array
    ahead: Array


def aimed_ground(plan: Plan, phase: Array) -> Ground:
    """Winter's ground reaction, zero while the foot is off the ground; the lateral force is an own choice."""
    stance, path = plan.person.toe_off, plan.aims["ground"]
    wrapped = np.mod(phase, 1.0)
    down = wrapped < stance
    within = np.minimum(wrapped, stance)
    forward, up = (
        curve(WINTER, name, periodic=False)(within) / STANDARD_GRAVITY
        for name in ("force_forward", "force_up")
    )
    left = PchipInterpolator(path["left_phase"], path["left"])(within)
    force = np.where(down[:, None], np.stack([forward, left, up], axis=1), 0.0)
    return Ground(force, PchipInterpolator(path["phase"], path["ahead_of_ball"])(within))


@dataclass(frozen=True)
class Band:
    """Mean and standard deviation of a joint moment over the phase [N m/kg]."""

    mean: Curve
    deviation: Curve

    def limits(self, phase: Array) -> tuple[Array, Array]:
        """Lowest and highest moment at phases (T,)."""
        mean, reach = self.mean(phase), WITHIN * self.deviation(phase)
        return mean - reach, mean + reach


def bands() -> dict[str, Band]:
    """Return by degree of freedom Winter's means where he has them, with the standard deviations of Schwartz et al."""
    winter = read_columns(WINTER)
    found = {}
    for dof in ("hip_flexion", "hip_adduction", "knee_flexion", "ankle_dorsiflexion"):
        name = f"{dof}_moment"
        table = WINTER if name in winter else ANGLES
        found[dof] = Band(curve(table, name, periodic=False), _floored(f"{name}_sd"))
    return found


def _floored(name: str) -> Curve:
    deviation = curve(ANGLES, name, periodic=False)
    return lambda phase: np.maximum(deviation(phase), FEWEST_SPREAD)
