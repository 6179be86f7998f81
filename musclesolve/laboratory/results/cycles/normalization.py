"""Curves of cycles normalized for persons of different size: by body mass, stature, weight or muscle strength.

Moments over mass alone still depend on stature, because taller persons have longer lever arms; moments over mass and
stature depend on it less (Hof 1996, Gait Posture 4:222-223; Moisio et al. 2003, J Biomech 36:599-603).
``laboratory/results/dataset/quantities.toml`` lists the kind of every variable and the units of every kind.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import xarray as xr

from musclesolve._util.checks import check_type
from musclesolve._util.messages import check_known
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import file_error, input_error
from musclesolve.laboratory.results.cycles.gait_cycles import STRENGTH
from musclesolve.laboratory.results.dataset.quantities import KINDS
from musclesolve.laboratory.results.dataset.result_quantities import number, trial_name
from musclesolve.tables.settings import Setting, Settings, settings_class

OF_SUBJECT = {"mass": "subject_mass_kg", "weight": "subject_mass_kg", "stature": "subject_stature_m"}
"""Attributes by which quantities are divided."""


def unit_settings() -> type[Settings]:
    """Return the settings of the units that quantities may have, by kind of quantity."""
    usual = chosen_units() | {"angle": "deg"}
    units = {
        kind: Setting(
            f"unit of {', '.join(rules.names[:3])}",
            kind="text",
            choices=tuple(rules.units),
            default=usual[kind],
        )
        for kind, rules in KINDS.items()
    }
    return settings_class("UnitSettings", units)


def chosen_units(units: Mapping[str, str] | None = None) -> dict[str, str]:
    """The unit of every kind: the units of a study, replaced by the requested ones."""
    chosen = {name: next(iter(kind.units)) for name, kind in KINDS.items()}
    for kind, unit in check_type(units or {}, Mapping, "units", "a dict: kind -> unit").items():
        check_known([kind], "kind of quantity", KINDS, where="units")
        check_known([unit], f"unit of {kind}", KINDS[kind].units, where="units")
        chosen[kind] = unit
    return chosen


def normalized(cycles: xr.Dataset, units: Mapping[str, str] | None = None) -> xr.Dataset:
    """Normalize cycles of one person to units that can be compared between persons.

    Args:
        cycles: what ``cycles`` returned; its attributes subject_mass_kg [kg] and, for N m/(kg m),
            subject_stature_m [m] describe the person.
        units: kind -> unit: moment "N m/kg", "N m/(kg m)" or "N m"; force (of contact and ground) "BW", "N/kg" or "N";
            muscle_force "%" (of the maximum isometric force), "BW", "N/kg" or "N"; power "W/kg" or "W"; energy "J/kg"
            or "J"; angle "rad" or "deg"; activation "1" or "%". Kinds that are not named: N m/kg, BW, %, W/kg, J/kg,
            rad, 1.

    Returns:
        The cycles with each quantity divided by body mass m, m times stature, body weight m g (g = 9.80665 m/s2) or
        the strength of the muscle; attrs["units"] of each variable is its unit, attrs["units"] of the Dataset lists
        "moment: N m/kg" and so on. A variable that already has its unit is unchanged.

    Raises:
        InputError: an unknown kind or unit; mass, stature or strength is not known; a variable has another unit than
            a result.

    Examples:
        >>> strides = ms.laboratory.normalized(ms.laboratory.cycles(ms.run(ms.data.reference_stride()), "r"))
        >>> strides["joint_moment"].attrs["units"]
        'N m/kg'
    """
    check_cycles(cycles, ())
    chosen = chosen_units(units)
    changed = {}
    for kind, unit in chosen.items():
        base, rule = KINDS[kind].base, KINDS[kind].units[unit]
        for name in KINDS[kind].names:
            if name not in cycles.data_vars:
                continue
            variable = cycles.variables[name]
            stated = str(variable.attrs.get("units", base))
            if stated == unit:
                continue
            if stated != base:
                raise file_error(
                    "not_comparable",
                    cycles.encoding.get("source"),
                    f"{name} is in {stated} already",
                    f"cycles in the units of a result: {name} in {base}",
                    "normalize the cycles once: normalized(cycles(result, side), units)",
                )
            factor: Any = rule.factor
            for size in rule.by:
                factor = factor / _divisor(cycles, size, kind, unit)
            attrs = variable.attrs | {"units": unit}
            if rule.about and "long_name" in attrs:
                attrs["long_name"] = f"{attrs['long_name']}, {rule.about}"
            changed[name] = xr.Variable(
                variable.dims, (variable * factor).transpose(*variable.dims).data, attrs
            )
    return cycles.assign(changed).assign_attrs(units=[f"{kind}: {unit}" for kind, unit in chosen.items()])


def check_cycles(cycles: Any, needed: Iterable[str] = ("cycle",)) -> None:
    """Refuse what is no Dataset of gait cycles, with the dimensions and variables that are needed."""
    if not isinstance(cycles, xr.Dataset) or set(needed) - {*cycles.dims, *cycles.variables}:
        raise input_error(
            "bad_type",
            problem=f"these are no gait cycles: {type(cycles).__name__}",
            expected="what cycles returns, one or a list of them",
            remedy="cut the result into its cycles first: cycles(result, side)",
        )


def _divisor(cycles: xr.Dataset, size: str, kind: str, unit: str) -> float | xr.Variable:
    """Return the divisor of a quantity, of the subject or of each muscle."""
    if size == "strength":
        if STRENGTH not in cycles.coords:
            raise file_error(
                "missing_key",
                cycles.encoding.get("source"),
                "the maximum isometric force of the muscles is not in these cycles",
                "max_isometric_force over cycle and muscle, as cycles(result, side) has it",
                'cut the result into cycles: cycles(result, side); or ask for muscle_force = "N"',
            )
        strength = cycles.variables[STRENGTH]
        return strength.where(strength > 0.0)
    value = number(cycles, OF_SUBJECT[size])
    if value is None or not value > 0.0:
        what, key = ("stature", "stature_m") if size == "stature" else ("mass", "mass_kg")
        other = "N m/kg" if size == "stature" else KINDS[kind].base
        raise file_error(
            "missing_key",
            cycles.encoding.get("source"),
            f"the {what} of the subject of {trial_name(cycles) or 'these cycles'} is not known, which {unit} needs",
            f"the attribute {OF_SUBJECT[size]}, which models do not have"
            if size == "stature"
            else f"the attribute {OF_SUBJECT[size]}",
            f"give {key} of the subject (in a study: its table of trials; in Python: "
            f'cycles.attrs["{OF_SUBJECT[size]}"] = ...), or ask for {kind} = "{other}"',
        )
    return value * STANDARD_GRAVITY if size == "weight" else value
