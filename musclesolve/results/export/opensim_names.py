"""Names, signs and axes of an OpenSim model for the labels of a result."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from muscle_db import MuscleDatabase, load
from muscle_db.model import Vector
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.names import unknown_name
from musclesolve._util.sides import SIDES
from musclesolve.errors import input_error
from musclesolve.results.dataset.checked import MODEL
from musclesolve.results.dataset.result_quantities import choice_name

OWN, NEWEST = "own", "rajagopal"
NAMES = (OWN, "gait2392", NEWEST)
"""Namings that can be requested; NEWEST is used where a muscle set belongs to no model."""


@dataclass(frozen=True)
class Naming:
    """Names of columns.

    coordinates: degree of freedom without side -> coordinate without side, and the sign of its values; muscles, joints:
    name -> name; opensim: axes x forward, y up, z right instead of x forward, y left, z up. hip_center: the right hip
    in the pelvis of the model [m], forward, left, up. Other labels keep their names and signs.
    """

    label: str
    opensim: bool = False
    coordinates: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    muscles: Mapping[str, str] = field(default_factory=dict)
    joints: Mapping[str, str] = field(default_factory=dict)
    hip_center: Vector = (0.0, 0.0, 0.0)

    def coordinate(self, dof: str) -> tuple[str, float]:
        """Name and sign of a degree of freedom with side: knee_flexion_r -> knee_angle_r, -1."""
        plain, _, side = dof.rpartition("_")
        if plain not in self.coordinates:
            return dof, 1.0
        name, sign = self.coordinates[plain]
        return f"{name}_{side}", sign

    @property
    def sentence(self) -> str:
        """A sentence on the names, signs and axes of the written file."""
        if not self.opensim:
            return self.label
        flipped = [
            f"{name} opposite to {dof}" for dof, (name, sign) in self.coordinates.items() if sign < 0.0
        ]
        return "; ".join([f"names, signs and axes of {self.label} (y up, z right)", *flipped])


def find_naming(result: xr.Dataset, names: str | None, opensim: bool) -> Naming:
    """The requested naming; None: the naming of the model of the muscle set in files for OpenSim, else the own one.

    A result of `share` keeps the names and signs of its model.
    """
    if names is not None and names not in NAMES:
        raise unknown_name(names, "naming", NAMES, where="--names")
    database = result.attrs.get("muscle_database")
    if database is None or MODEL in result.attrs:
        model = choice_name(result, MODEL)
        if names not in (None, OWN):
            raise input_error(
                "conflict",
                where="--names",
                problem=f"the result has the names and signs of {model or 'an unknown model'} already",
                expected="a result of `musclesolve run`",
                remedy="leave out --names",
            )
        return Naming(f"names and signs of {model}" if model else "names and signs as in the result")
    if names == OWN or (names is None and not opensim):
        return Naming("names, signs and axes of musclesolve")
    sets = bundled_toml(__package__, "opensim_names.toml")["sets"]
    if names is not None:
        return _of_set(result, names, load(sets[names][0]))
    for model, known in sets.items():
        if database in known:
            return _of_set(result, model, load(known[0]))
    given = np.atleast_1d(result.attrs.get("muscle_coordinates", []))
    if given.size:
        pairs = dict(str(each).split(" ", 1) for each in given)
        return _naming(choice_name(result, "muscle_database"), pairs, _short_names(result))
    return _of_set(result, NEWEST, load(sets[NEWEST][0]))


def _of_set(result: xr.Dataset, model: str, database: MuscleDatabase) -> Naming:
    muscles = _short_names(result)
    spelling = bundled_toml(__package__, "opensim_names.toml")["spelling"]
    for name in muscles:
        plain, _, side = name.rpartition("_")
        if plain in database:
            short = database[plain].short_name
            muscles[name] = f"{spelling.get(short, short)}_{side}"
    return _naming(model, database.coordinates, muscles, database.reference["pelvis"].position)


def _naming(
    model: str, coordinates: Mapping[str, str], muscles: Mapping[str, str], hip_center: Vector | None = None
) -> Naming:
    data = bundled_toml(__package__, "opensim_names.toml")
    own = {
        dof: (name.removeprefix("-"), -1.0 if name.startswith("-") else 1.0)
        for dof, name in coordinates.items()
    }
    texts = data["joints"].get(model, data["joints"][NEWEST])
    joints = {f"{joint}_{side}": text.format(side=side) for joint, text in texts.items() for side in SIDES}
    hip_center = hip_center or load(data["sets"][NEWEST][0]).reference["pelvis"].position
    return Naming(model, True, own, muscles, joints, hip_center)


def _short_names(result: xr.Dataset) -> dict[str, str]:
    """Short name of every muscle."""
    if "short_name" not in result.variables:
        return {}
    names, shorts = (map(str, result[name].values) for name in ("muscle", "short_name"))
    return dict(zip(names, shorts, strict=True))
