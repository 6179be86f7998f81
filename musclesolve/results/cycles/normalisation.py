"""Curves of cycles in units that persons of different size share: by body mass, stature, weight or muscle strength.

Moments over mass alone leave what taller persons have by longer levers; over mass and stature less of it is left (Hof
1996, Gait Posture 4:222-223; Moisio et al. 2003, J Biomech 36:599-603). Which variable is of which kind, and which
units a kind may have, is in ``quantities.toml``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import xarray as xr

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.message_text import as_text
from musclesolve._util.names import suggestion
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import InputError
from musclesolve.results.cycles.gait_cycles import STRENGTH
from musclesolve.results.dataset.result_quantities import number, trial_name

SHARED_UNITS = {"moment": "N m/kg", "force": "BW", "muscle_force": "%", "power": "W/kg", "energy": "J/kg"}
"""Units of a study unless it says otherwise."""
OF_SUBJECT = {"mass": "subject_mass_kg", "weight": "subject_mass_kg", "stature": "subject_stature_m"}
"""Attribute that a quantity is divided by."""


def quantity_kinds() -> dict[str, dict[str, Any]]:
    """Kind -> its variables, base unit, units and measures, as ``quantities.toml`` has them."""
    return bundled_toml(__package__, "quantities.toml")


def chosen_units(units: Mapping[str, str] | None = None) -> dict[str, str]:
    """The unit of every kind: those of a study, and what is asked for instead.

    Raises:
        InputError: an unknown kind, or a unit that a kind cannot have.
    """
    kinds = quantity_kinds()
    chosen = {kind: SHARED_UNITS.get(kind, rules["base"]) for kind, rules in kinds.items()}
    for kind, unit in (units or {}).items():
        known = list(kinds[kind]["units"]) if kind in kinds else list(kinds)
        if kind not in kinds or unit not in known:
            what = (
                f"the unit {as_text(unit)} of {kind}"
                if kind in kinds
                else f"the kind of quantity {as_text(kind)}"
            )
            raise InputError(
                f"{what} does not exist",
                code="unknown_name",
                where="units",
                expected=f"one of {', '.join(known)}",
                remedy=suggestion(str(unit if kind in kinds else kind), known) or f"use {known[0]}",
            )
        chosen[kind] = unit
    return chosen


def normalised(cycles: xr.Dataset, units: Mapping[str, str] | None = None) -> xr.Dataset:
    """Cycles of one person in units that persons share.

    Args:
        cycles: what ``cycles`` or ``gait_cycles`` returned; its attributes subject_mass_kg [kg] and, for N m/(kg m),
            subject_stature_m [m] are those of the person.
        units: kind -> unit: moment "N m/kg", "N m/(kg m)" or "N m"; force (of contact and ground) "BW", "N/kg" or "N";
            muscle_force "%" (of the maximum isometric force), "BW", "N/kg" or "N"; power "W/kg" or "W"; energy "J/kg"
            or "J"; angle "rad" or "deg"; activation "1" or "%". Kinds that are not named: N m/kg, BW, %, W/kg, J/kg,
            rad, 1.

    Returns:
        The same with each quantity divided by body mass m, m times stature, body weight m g (g = 9.80665 m/s2) or
        the strength of the muscle; attrs["units"] of each variable is its unit, attrs["units"] of the Dataset lists
        "moment: N m/kg" and so on. A variable that has its unit already stays.

    Raises:
        InputError: an unknown kind or unit; mass, stature or strength is not known; a variable has another unit than
            a result.
    """
    chosen, kinds = chosen_units(units), quantity_kinds()
    changed = {}
    for kind, rules in kinds.items():
        unit = chosen[kind]
        rule = rules["units"][unit]
        for name in rules["variables"]:
            if name not in cycles.data_vars:
                continue
            variable = cycles.variables[name]
            stated = str(variable.attrs.get("units", rules["base"]))
            if stated == unit:
                continue
            if stated != rules["base"]:
                raise InputError(
                    f"{name} is in {stated} already",
                    code="not_comparable",
                    file=cycles.encoding.get("source"),
                    expected=f"cycles in the units of a result: {name} in {rules['base']}",
                    remedy="normalise the cycles once: normalised(cycles(result, side), units)",
                )
            factor: Any = rule.get("factor", 1.0)
            for size in rule.get("by", ()):
                factor = factor / _divisor(cycles, size, kind, unit)
            attrs = variable.attrs | {"units": unit}
            if "about" in rule and "long_name" in attrs:
                attrs["long_name"] = f"{attrs['long_name']}, {rule['about']}"
            changed[name] = xr.Variable(
                variable.dims, (variable * factor).transpose(*variable.dims).data, attrs
            )
    return cycles.assign(changed).assign_attrs(units=[f"{kind}: {unit}" for kind, unit in chosen.items()])


def _divisor(cycles: xr.Dataset, size: str, kind: str, unit: str) -> float | xr.Variable:
    """What a quantity is divided by, of the subject or of each muscle."""
    if size == "strength":
        if STRENGTH not in cycles.coords:
            raise InputError(
                "the maximum isometric force of the muscles is not in these cycles",
                code="missing_key",
                file=cycles.encoding.get("source"),
                expected=f"{STRENGTH} over cycle and muscle, as cycles(result, side) has it",
                remedy='cut the cycles again with this version, or ask for muscle_force = "N"',
            )
        strength = cycles.variables[STRENGTH]
        return strength.where(strength > 0.0)
    value = number(cycles, OF_SUBJECT[size])
    if value is None or not value > 0.0:
        what, key = ("stature", "stature_m") if size == "stature" else ("mass", "mass_kg")
        base = quantity_kinds()[kind]["base"]
        other = "N m/kg" if size == "stature" else base
        raise InputError(
            f"the {what} of the subject of {trial_name(cycles) or 'these cycles'} is not known, which {unit} needs",
            code="missing_key",
            file=cycles.encoding.get("source"),
            expected=f"the attribute {OF_SUBJECT[size]}, which models do not have"
            if size == "stature"
            else f"the attribute {OF_SUBJECT[size]}",
            remedy=f"give {key} of the subject (in a study: [subjects]; in Python: "
            f'cycles.attrs["{OF_SUBJECT[size]}"] = ...), or ask for {kind} = "{other}"',
        )
    return value * STANDARD_GRAVITY if size == "weight" else value
