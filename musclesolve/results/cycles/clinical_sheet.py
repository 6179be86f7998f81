"""The curves of the clinical sheet: angles of pelvis, hip, knee, ankle and foot in three planes, moments and powers."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import LEG_JOINTS
from musclesolve.results.cycles.gait_cycles import of_leg
from musclesolve.results.dataset.leg_kinetics import joint_dofs, joint_power
from musclesolve.results.dataset.result_quantities import listed, number, without_turns

Curve = tuple[str, str]
"""A quantity and a name, such as ("joint_angle", "hip_flexion"); the keys of norms, too."""
OWN_NAME = ("foot_progression_angle", "knee_adduction_moment")
"""Quantities with a single curve for each leg."""


@dataclass(frozen=True)
class SheetPanel:
    """A panel of the sheet; clinical_sheet.toml describes the fields."""

    quantity: str
    name: str
    title: str
    least: float
    score: bool = False

    @property
    def curve(self) -> Curve:
        """The curve that it shows."""
        return self.quantity, self.name

    @property
    def unit(self) -> str:
        """Unit of its vertical axis."""
        return str(_sheet()["units"][self.quantity])


@cache
def _sheet() -> dict:  # type: ignore[type-arg]
    return bundled_toml(__package__, "clinical_sheet.toml")


@cache
def panels() -> list[list[SheetPanel]]:
    """The panels of the sheet, by row and plane."""
    return [[SheetPanel(**panel) for panel in row["panels"]] for row in _sheet()["row"]]


def in_models() -> dict[str, str]:
    """Coordinate of OpenSim's models of the leg -> degree of freedom of the sheet and of the norms."""
    return dict(_sheet()["in_models"])


def leg_curves(result: xr.Dataset, side: str) -> dict[Curve, Array]:
    """The curves of the sheet that a result has of a leg, each (T,), in deg, N m/kg and W/kg.

    Pelvis and foot are seen from the leg, in its walking direction. A coordinate of a model that is positive in
    extension changes its sign. Without a body mass there are no moments and powers.
    """
    seen = {"heading", "pelvis_angle", "joint_angle", "joint_moment", *OWN_NAME} & set(result.variables)
    own, mass, found = of_leg(result[[*seen]], side, without_side=True), number(result, "subject_mass_kg"), {}
    names, flipped = in_models(), listed(result, "extension_positive")
    per_mass = 1.0 / mass if mass else np.nan
    if "heading" in result and "pelvis_angle" in own:
        for name, angle in zip(own["pelvis_rotation"].values, own["pelvis_angle"].values.T, strict=True):
            found["pelvis_angle", str(name)] = np.degrees(angle)
    for label in map(str, own["dof"].values) if "dof" in own.dims else ():
        sign = -1.0 if f"{label}_{side}" in flipped else 1.0
        if "joint_angle" in own:
            angle = without_turns(np.degrees(own["joint_angle"].sel(dof=label).values))
            found["joint_angle", names.get(label, label)] = sign * angle
        if "joint_moment" in own:
            moment = sign * per_mass * own["joint_moment"].sel(dof=label).values
            found["joint_moment", names.get(label, label)] = moment
    for name, scale in zip(OWN_NAME, (np.degrees(1.0), per_mass), strict=True):
        if name in own:
            found[name, name] = scale * own[name].values
    for joint in LEG_JOINTS if "joint_power" in result else ():
        if joint_dofs(result, joint, side):
            found["joint_power", joint] = per_mass * joint_power(result, joint, side)
    return {key: np.asarray(curve) for key, curve in found.items() if np.isfinite(curve).any()}
