"""What the stride is meant to look like: normative angles, ground reaction, path of the force, moments."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator
from series import HERE, Plan

Array = np.ndarray

TRANSLATIONS = ("pelvis_tx", "pelvis_ty", "pelvis_tz")


def read_table(name: str) -> list[dict[str, str]]:
    """Rows of a CSV file of this folder, comments left out."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def normative() -> dict[str, CubicSpline]:
    """Normative angles over the phase by column of normative.csv [deg]."""
    return periodic_curves("normative.csv")


def periodic_curves(table: str) -> dict[str, CubicSpline]:
    """Periodic curves over the phase, one for each column beside `percent`."""
    rows = read_table(table)
    rows.append(rows[0] | {"percent": "100"})
    phase = np.array([float(row["percent"]) for row in rows]) / 100.0
    return {
        name: CubicSpline(phase, [float(row[name]) for row in rows], bc_type="periodic")
        for name in rows[0]
        if name != "percent"
    }


def aimed_angles(
    name: str, entry: dict[str, Any], curves: dict[str, CubicSpline], phase: Array, tilt: float
) -> Array:
    """The curve (T,) that a series follows, in its own unit: [rad], or [m] for translations.

    normative.csv gives trunk and pelvis relative to the ground, right side up and forward positive, hips from the plane
    of the pelvic spines; the model's trunk moves on the pelvis, and its angles are zero in standing.
    """
    if "follows" not in entry:
        constant = float(entry.get("value", 0.0))
        return np.full(phase.size, constant if name in TRANSLATIONS else np.deg2rad(constant))
    curve = curves[entry["follows"]](phase)
    if name in ("hip_flexion", "pelvis_tilt"):
        curve = curve - tilt
    elif name == "pelvis_list":
        curve = -curve
    elif name == "trunk_flexion":
        curve = curve - (curves["pelvis_tilt_deg"](phase) - tilt)
    elif name == "trunk_bending_right":
        curve = curves["pelvis_list_deg"](phase) - curve
    elif name == "trunk_turn":
        curve = curve - curves["pelvis_rotation_deg"](phase)
    return np.deg2rad(curve)


@dataclass(frozen=True)
class Ground:
    """Aims for the right foot: force (T, 3) [body weights], and how far ahead of the ball it acts (T,) [m]."""

    force: Array
    ahead: Array


def aimed_ground(plan: Plan, phase: Array) -> Ground:
    """Ground reaction through the key values of kinetics.csv, zero while the foot is off the ground."""
    rows, stance = read_table("kinetics.csv"), plan.person.toe_off
    wrapped = np.mod(phase, 1.0)
    components = []
    for axis in ("forward", "left", "vertical"):
        keys = [row for row in rows if row["quantity"] == f"ground_reaction_{axis}"]
        at = np.array([0.0, *(float(row["percent"]) / 100.0 for row in keys), stance])
        curve = PchipInterpolator(at, [0.0, *(float(row["value"]) for row in keys), 0.0])
        components.append(np.where(wrapped < stance, curve(np.minimum(wrapped, stance)), 0.0))
    path = plan.aims["ground"]
    ahead = PchipInterpolator(path["phase"], path["ahead_of_ball"])(np.minimum(wrapped, stance))
    return Ground(np.stack(components, axis=1), ahead)


@dataclass(frozen=True)
class Band:
    """A plausible range of a joint moment at one phase [N m/kg]."""

    quantity: str
    feature: str
    phase: float
    value: float
    low: float
    high: float


def bands() -> list[Band]:
    """The rows of kinetics.csv."""
    return [
        Band(
            r["quantity"],
            r["feature"],
            float(r["percent"]) / 100,
            *(float(r[k]) for k in ("value", "low", "high")),
        )
        for r in read_table("kinetics.csv")
    ]
