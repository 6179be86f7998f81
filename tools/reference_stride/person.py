"""The person of the reference stride: model, feet, timing, and where the markers are."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve.dynamics import Model, human_model
from musclesolve.dynamics.rotations import from_cardan

Array = np.ndarray
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Person:
    """Model and settings of the person who walks.

    Args:
        model: the standing model, feet turned out.
        settings: the tables of subject.toml.
        weight: body weight [N].
        period: time of a stride [s].
    """

    model: Model
    settings: dict[str, Any]
    weight: float
    period: float

    @property
    def toe_off(self) -> float:
        """Phase at which a foot leaves the ground."""
        return float(self.settings["timing"]["toe_off"])

    @property
    def toe_out(self) -> float:
        """How far the foot on the ground is turned out [rad]."""
        return float(np.deg2rad(self.settings["foot"]["toe_out_deg"]))

    @property
    def sole_length(self) -> float:
        """Distance from heel to ball [m]."""
        foot = self.settings["foot"]
        return float(foot["ball"][0] - foot["heel"][0])

    def slot(self, name: str) -> int:
        """Index of a point among the generalized coordinates."""
        return self.model.slot(name)


def load_person() -> Person:
    """Build the person of subject.toml."""
    settings = tomllib.loads((HERE / "subject.toml").read_text(encoding="utf-8"))
    subject, timing = settings["subject"], settings["timing"]
    model = human_model(
        subject["mass_kg"], subject["stature_m"], subject["sex"], foot_offsets(settings["foot"])
    )
    weight = subject["mass_kg"] * -model.gravity[2]
    return Person(model, settings, weight, timing["frames"] / timing["marker_rate_hz"])


def foot_offsets(foot: dict[str, Any]) -> dict[str, Array]:
    """Standing offsets of heel, toe and ankle axes for feet that stand toe-out."""
    offsets = {}
    for side, sign in (("r", -1.0), ("l", 1.0)):
        turn = from_cardan(*np.array([[0.0], [0.0], [sign * np.deg2rad(foot["toe_out_deg"])]]))[0]
        offsets[f"heel_{side}"] = turn @ np.array(foot["heel"])
        offsets[f"toe_{side}"] = turn @ np.array(foot["ball"])
        offsets[f"ankle_axis_{side}"] = turn[:, 1]
        offsets[f"shank_forward_{side}"] = turn[:, 0]
    return offsets


def marker_places(person: Person) -> tuple[list[str], Array, list[str]]:
    """Names of the markers, their standing positions (n, 3) from the middle of the hips [m], and their bodies."""
    standing, names, places, bodies = person.model.standing, [], [], []

    def add(name: str, at: str, offset: Array, body: str) -> None:
        origin = np.zeros(3) if at == "mid_hip" else standing[person.slot(at)]
        names.append(name)
        places.append(origin + offset)
        bodies.append(body)

    for name, place in person.settings["marker"].items():
        for side, mirror in (("r", 1.0), ("l", -1.0)):
            at = place["from"] if place["from"] == "mid_hip" else f"{place['from']}_{side}"
            body = place["body"] if place["body"] == "pelvis" else f"{place['body']}_{side}"
            add(f"{name}_{side}", at, np.array(place["offset"]) * [1.0, mirror, 1.0], body)
    for name, place in person.settings["middle_marker"].items():
        add(name, place["from"], np.array(place["offset"]), place["body"])
    return names, np.array(places), bodies


def marker_positions(person: Person, coordinates: Array) -> Array:
    """Markers (T, n, 3) [m] carried rigidly by their bodies, for joint and base coordinates (T, 44)."""
    _, places, bodies = marker_places(person)
    tree = person.model.tree
    joints = tree.joint_count
    rotation = from_cardan(*coordinates[:, joints + 3 :].T)
    turns, shifts = tree.frames(coordinates[:, :joints], coordinates[:, joints : joints + 3], rotation)
    index = [person.model.body(body) for body in bodies]
    return np.einsum("tnxy,ny->tnx", turns[:, index], places) + shifts[:, index]
