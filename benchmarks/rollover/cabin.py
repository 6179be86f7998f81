"""Occupants of the truck: how they sit, what they can hit, and their belts (Silva 2003, 4.3 and 4.4.1).

One seat and one belt are printed, the driver's. What is chosen beside them stands in `cabin.toml`, with why.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.chapter_4 import FLOOR, TWO_SKINS
from benchmarks.printed_inertia import printed_human
from benchmarks.sled import seated
from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.dynamics import (
    HertzContact,
    Model,
    RigidSeat,
    Surface,
    body_laws,
    body_surfaces,
    forward_human_model,
    three_point_belt,
)
from musclesolve.dynamics.contact.belt import Strap
from musclesolve.dynamics.contact.contact_pairs import ContactLaw

DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FRONT = ("driver", "passenger")
SLIP = 0.2
"""Slip speed of all friction with bodies [m/s], which slide with several m/s; a quarter of it costs twice the steps."""
BETWEEN = HertzContact(TWO_SKINS, friction=0.5, slip_speed=SLIP)
"""Between two bodies: two skins one behind the other."""
MEETING = (
    "head",
    "upper_torso",
    "shoulder_r",
    "shoulder_l",
    "upper_arm_r",
    "upper_arm_l",
    "thigh_r",
    "thigh_l",
)
"""Surfaces with which two occupants of the front can meet."""
ON_GROUND = 0.6
"""Friction of bodies on the ground."""
ORDER = 8.0
"""Of the ellipsoids that stand for boxes."""

Laws = dict[tuple[str, str], ContactLaw]


@dataclass(frozen=True)
class Occupant:
    """A person in the frame of the chassis: positions q (N, 3), surfaces of his own, and what they are paired with."""

    name: str
    model: Model
    q: Array
    skins: list[Surface]
    around: list[Surface]
    laws: Laws
    straps: list[Strap]


def tall_man() -> Model:
    """The 95th percentile man: lengths with the stature, the printed masses with the mass of the body."""
    return forward_human_model(printed_human(DATA["tall"]["mass"], DATA["tall"]["stature"]))


def occupant(name: str, model: Model) -> Occupant:
    """Driver and passenger, who wear belts, or the occupant of the rear, who does not."""
    row, right = DATA["seat"][name], DATA["seat"][name]["attachment"][1] < 0.0
    printed = RigidSeat.printed()
    cushion = replace(printed.cushion, slip_speed=SLIP)
    seat = replace(printed, attachment=tuple(row["attachment"]), cushion=cushion)
    skins = body_surfaces(model, name)
    around = seat.surfaces("truck", "chassis")
    laws: Laws = dict(seat.pairs(skins, "truck"))
    straps: list[Strap] = []
    if name in FRONT:
        turn = np.array([1.0, -1.0 if right else 1.0, 1.0])
        anchors = {
            what: turn * np.array(at)
            for what, at in bundled_toml("musclesolve.dynamics.model", "definitions", "seat.toml")[
                "anchors"
            ].items()
        }
        belt = three_point_belt(model, name, "truck", "chassis", anchors=anchors)
        straps = [replace(strap, name=f"{name} {strap.name}") for strap in belt]
    else:
        around = [bounded(surface, row) for surface in around]
    around = [replace(surface, name=surface.name.replace("truck", name)) for surface in around]
    laws = {(first.replace("truck", name), second): law for (first, second), law in laws.items()}

    struck = [skin for skin in skins if skin.name.removeprefix(f"{name} ") in DATA["law"]["parts"]]
    hard = body_laws(struck, friction=DATA["law"]["friction"], slip_speed=SLIP)
    for surface in panels(name):
        around.append(replace(surface, name=f"{name} {surface.name}"))
        laws |= around[-1].pairs_with(struck, hard)
    laws |= FLOOR.pairs_with(skins, body_laws(skins, friction=ON_GROUND, slip_speed=SLIP))
    return Occupant(name, model, seated(model, seat, DATA["pose"][name]), skins, around, laws, straps)


def hard_headed(rider: Occupant, harder: float) -> Occupant:
    """Return the occupant whose head meets panels and ground so many times stiffer."""
    laws: Laws = {
        pair: replace(law, stiffness=harder * law.stiffness)
        if isinstance(law, HertzContact) and pair[1] == f"{rider.name} head"
        else law
        for pair, law in rider.laws.items()
    }
    return replace(rider, laws=laws)


def bounded(surface: Surface, row: dict) -> Surface:
    """A plane of the seat as a box that ends, for who may leave it; the floor belongs to the tub."""
    normal, deep = surface.axes[:, 2], 0.05
    half = {"pan": row["pan_depth"], "back": row["back_height"]}.get(surface.name.split("_")[-1], 1.4)
    along = np.cross([0.0, 1.0, 0.0], normal) * (1.0 if normal[2] > 0.5 else -1.0)
    axes = np.column_stack([along, np.cross(normal, along), normal])
    size = np.array([0.5 * half, row["half_width"], deep])
    middle = surface.center + 0.5 * half * along - deep * normal
    return Surface.ellipsoid(surface.name, middle, size, axes, ORDER, "chassis", "truck")


def panels(name: str) -> list[Surface]:
    """Return the panels that an occupant can hit: side, roof and dashboard in front, the tub behind."""

    def wall(which: str) -> Surface:
        return Surface.plane(
            which, DATA["panel"][which]["point"], DATA["panel"][which]["normal"], "chassis", "truck"
        )

    def box(which: str) -> Surface:
        row = DATA["box"][which]
        return Surface.ellipsoid(
            which, row["center"], row["half"], order=ORDER, body="chassis", model="truck"
        )

    if name == "rear":
        return [box(which) for which in ("left_side", "right_side", "rear_floor")]
    side = "right" if DATA["seat"][name]["attachment"][1] < 0.0 else "left"
    return [
        wall(side),
        wall("roof"),
        Surface.cylinder("dashboard", **DATA["roll"]["dashboard"], body="chassis", model="truck"),
    ]


def between(first: Occupant, second: Occupant) -> Laws:
    """Pairs of two occupants."""
    return {
        (f"{first.name} {one}", f"{second.name} {two}"): BETWEEN for one, two in product(MEETING, MEETING)
    }
