"""The inertia table of the thesis (Silva 2003, Table 3.8) on a subject, for reproducing its results.

Ten of its bodies cannot exist: one moment of inertia exceeds the sum of the others (correction C2). Inverse
dynamics can use them all the same; a mass matrix made of them is not positive definite.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics import MassProperties, Model, human_model
from musclesolve.dynamics.model.human_model import with_shoes
from musclesolve.dynamics.model.segment_inertia import named_points
from musclesolve.dynamics.model.topology import Topology
from musclesolve.errors import InputError


def printed_table(name: str) -> dict[str, Any]:
    """A table of the thesis as printed: "table_3_2", "table_3_8", or the "places" of its rows in the standing model."""
    path = Path(__file__).with_name("printed_tables") / f"silva_2003_{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def printed_human(
    mass: float, stature: float, sex: str = "male", shoe_mass: float = 0.0, **options: Any
) -> Model:
    """A `human_model` with the masses, centers and inertias of Table 3.8 scaled by (3.1).

    chi_L = L / L_50th, chi_m = m / 81.52 kg, chi_I = chi_m chi_L^2. The printed moments refer to the seated pose; they
    are rotated into the standing one. The scaling holds within one sex only (3.1.3).

    Raises:
        InputError: a sex other than "male".
    """
    if sex != "male":
        raise InputError(
            f"Table 3.8 describes a man, sex is {sex!r}",
            code="conflict",
            expected='"male"',
            remedy='use the table "de_leva_1996"',
        )
    model = human_model(mass, stature, sex, shoe_mass=shoe_mass, **options)
    bare = printed_inertia(model.topology, model.standing, mass - 2.0 * shoe_mass)
    return replace(model, mass=with_shoes(model.topology, bare, shoe_mass))


def printed_inertia(topology: Topology, standing: Array, mass: float) -> MassProperties:
    """Mass properties of the bodies of the inverse human model, which carry the numbers of the table."""
    table = printed_table("table_3_8")
    rows = {row["number"]: row for row in table["body"]}
    chi_m = mass / sum(row["mass"] for row in rows.values())
    where = _places(topology, standing, rows)
    parts = {}
    for place in printed_table("places")["place"]:
        for number in place["bodies"]:
            parts[number] = _part(rows[number], place, where, chi_m)
    chosen = [parts[body.number] for body in topology.bodies]
    masses, centers, inertias = zip(*chosen, strict=True)
    names = tuple(body.name for body in topology.bodies)
    return MassProperties(np.array(masses), np.array(centers), np.array(inertias), True, names)


def _places(topology: Topology, standing: Array, rows: dict[int, dict]) -> dict[str, Array]:
    """Standing positions by name, with the feet of the perpendiculars that Table 3.9 measures from."""
    where = named_points(topology, standing)
    foot, head = rows[1], rows[33]
    for side in "rl":
        heel, toe = where[f"heel_{side}"], where[f"toe_{side}"]
        where[f"sole_{side}"] = heel + foot["com_2"] / foot["length_2"] * (toe - heel)
    low = where["head_low"] - where["head_base"]
    where["head_middle"] = where["head_base"] + 2.0 * head["com_2"] / head["length_2"] * low
    where["head_middle_top"] = where["head_middle"] + where["head_top"] - where["head_low"]
    return where


def _part(row: dict, place: dict, where: dict[str, Array], chi_m: float) -> tuple[float, Array, Array]:
    """Mass, center and inertia in global axes of one row of the table."""
    start, end = (where[name] for name in place["along"])
    line = where[place["axis"][1]] - where[place["axis"][0]]
    length = float(np.linalg.norm(line))
    chi_l = length / row[place["measure"]]
    moments = np.array(row["principal_inertia"])
    if place.get("turned", False):
        moments = moments[::-1]
    axes = _axes(line / length, "xyz".index(place["long"]), "xyz".index(place["across"]))
    inertia = axes @ np.diag(chi_m * chi_l**2 * moments) @ axes.T
    return chi_m * row["mass"], start + row["com"] / row["length"] * (end - start), inertia


def _axes(line: Array, long: int, across: int) -> Array:
    """Orthonormal axes as columns: `line` in column `long`, the global axis `across` made perpendicular to it."""
    square = np.eye(3)[across] - line[across] * line
    square /= np.linalg.norm(square)
    axes = np.empty((3, 3))
    axes[:, long], axes[:, across] = line, square
    axes[:, 3 - long - across] = np.cross(line, square)
    return axes
