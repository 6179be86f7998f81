"""The subject of the reference stride: model, feet, timing, and where the markers are."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.rotations import from_cardan
from musclesolve.recording.data import Subject

SETTINGS = Path(__file__).with_name("stride_subject.toml")


@dataclass(frozen=True)
class StrideSubject:
    """Model and settings of the subject."""

    model: Model  # the standing model, feet turned out
    settings: dict[str, Any]  # the tables of stride_subject.toml

    @classmethod
    def load(cls) -> StrideSubject:
        """Build the subject of stride_subject.toml."""
        settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
        subject = settings["subject"]
        offsets = foot_offsets(settings["foot"])
        return cls(human_model(subject["mass_kg"], subject["stature_m"], subject["sex"], offsets), settings)

    @cached_property
    def subject(self) -> Subject:
        """Name, mass, stature and sex."""
        entry = self.settings["subject"]
        return Subject(entry["name"], entry["mass_kg"], entry["stature_m"], entry["sex"])

    @cached_property
    def weight(self) -> float:
        """Body weight [N]."""
        return self.subject.mass * -float(self.model.gravity[2])

    @property
    def period(self) -> float:
        """Time of a stride [s]."""
        timing = self.settings["timing"]
        return float(timing["frames"] / timing["marker_rate_hz"])

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

    @cached_property
    def markers(self) -> tuple[tuple[str, ...], Array, tuple[str, ...]]:
        """Names of the markers, their standing positions (n, 3) from the middle of the hips [m], and their bodies."""
        places = [*self._sided(), *self._middle()]
        names, positions, bodies = zip(*places, strict=True)
        return names, np.array(positions), bodies

    def _sided(self) -> list[tuple[str, Array, str]]:
        places = []
        for name, place in self.settings["marker"].items():
            for side, mirror in (("r", 1.0), ("l", -1.0)):
                body = place["body"] if place["body"] == "pelvis" else f"{place['body']}_{side}"
                at = self._point(place["from"], f"_{side}")
                places.append((f"{name}_{side}", at + np.array(place["offset"]) * [1.0, mirror, 1.0], body))
        return places

    def _middle(self) -> list[tuple[str, Array, str]]:
        return [
            (name, self._point(place["from"], "") + np.array(place["offset"]), place["body"])
            for name, place in self.settings["middle_marker"].items()
        ]

    def _point(self, name: str, suffix: str) -> Array:
        return np.zeros(3) if name == "mid_hip" else self.model.standing[self.slot(name + suffix)]


def foot_offsets(foot: dict[str, Any]) -> dict[str, Array]:
    """Standing offsets of heel, toe and ankle axes for feet that stand toe-out."""
    offsets = {}
    for side, sign in (("r", -1.0), ("l", 1.0)):
        rotation = from_cardan(*np.array([[0.0], [0.0], [sign * np.deg2rad(foot["toe_out_deg"])]]))[0]
        offsets[f"heel_{side}"] = rotation @ np.array(foot["heel"])
        offsets[f"toe_{side}"] = rotation @ np.array(foot["ball"])
        offsets[f"ankle_axis_{side}"] = rotation[:, 1]
        offsets[f"shank_forward_{side}"] = rotation[:, 0]
    return offsets


def carried(person: StrideSubject, coordinates: Array, places: Array, bodies: tuple[str, ...]) -> Array:
    """Points (T, n, 3) [m] that move rigidly with bodies, n by name, in joint and base coordinates (T, 44).

    places: standing positions (n, 3) of the points from the middle of the hips [m].
    """
    tree = person.model.tree
    joints = tree.joint_count
    rotation = from_cardan(*coordinates[:, joints + 3 :].T)
    rotations, shifts = tree.frames(coordinates[:, :joints], coordinates[:, joints : joints + 3], rotation)
    index = [person.model.body(body) for body in bodies]
    return np.asarray(np.einsum("tnxy,ny->tnx", rotations[:, index], places) + shifts[:, index])
