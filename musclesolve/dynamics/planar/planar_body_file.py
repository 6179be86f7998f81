"""Planar bodies from data files: geometry in the file, masses of a subject by de Leva (1996)."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.model.data_files import locate, read_table, read_text
from musclesolve.dynamics.model.human_model import check_size
from musclesolve.dynamics.planar.planar_tree import PlanarTree
from musclesolve.errors import InputError

MODELS = ("seven_segment", "nine_segment", "two_leg")
"""The bundled bodies."""


def planar_body(
    name: str | Path = "nine_segment", mass: float = 73.0, stature: float = 1.741, sex: str = "male"
) -> PlanarTree:
    """A planar body, bundled or from a file (path), of a subject of this mass [kg], stature [m] and sex.

    Lengths of the file scale with stature, masses with body mass; centers of mass and radii of gyration (transverse)
    are those of the anthropometric table, a segment of several parts being composed by the parallel-axis theorem.

    Raises:
        InputError: a mass, stature or sex that cannot be, or a file that does not describe a body.
    """
    mass, stature = check_size(mass, stature)
    check_choice(sex, "sex", ("female", "male"))
    if Path(name).suffix != ".toml" and str(name) not in MODELS:
        raise unknown_name(str(name), "planar body", MODELS)
    path = locate(name, "musclesolve.dynamics.planar", "models")
    raw = tomllib.loads(read_text(path, "planar body"))
    try:
        scale = stature / raw["stature"]
        segments = raw["segment"]
        names = tuple(segment["name"] for segment in segments)
        rows = read_table("anthropometry", "de_leva_1996.toml")[sex]["segment"]
        composed = [_compose(segment["part"], scale, mass, rows) for segment in segments]
        parent = [-1 if segment["parent"] == "" else names.index(segment["parent"]) for segment in segments]
        mount = scale * np.array([segment["joint"] for segment in segments], dtype=float)
        rest = np.radians([float(segment["rest_deg"]) for segment in segments])
    except (KeyError, TypeError, ValueError) as fault:
        raise InputError(f"not a planar body: {fault!r}", code="bad_model", file=path) from fault
    return PlanarTree(
        names=names,
        parent=np.array(parent),
        mount=mount,
        center=np.array([center for _, center, _ in composed]),
        mass=np.array([m for m, _, _ in composed]),
        inertia=np.array([i for _, _, i in composed]),
        rest=rest,
        stature=stature,
    )


def _compose(parts: list[dict], scale: float, mass: float, rows: dict) -> tuple[float, Array, float]:
    """Mass, center (2,) and moment of inertia about it of the parts of one segment (parallel-axis theorem)."""
    masses, centers, inertias = [], [], []
    for part in parts:
        row = rows[part["source"]]
        start, end = (scale * np.array(part[key], dtype=float) for key in ("start", "end"))
        part_mass = mass * row["mass_fraction"] * part["share"]
        gyration = part.get("gyration_fraction", row["gyration_fraction"][1])
        masses.append(part_mass)
        centers.append(start + part.get("com_fraction", row["com_fraction"]) * (end - start))
        inertias.append(part_mass * gyration**2 * float(np.sum((end - start) ** 2)))
    total = float(sum(masses))
    center = np.average(centers, axis=0, weights=masses)
    spread = np.sum((np.array(centers) - center) ** 2, axis=1)
    return total, center, float(np.sum(inertias) + np.dot(masses, spread))
