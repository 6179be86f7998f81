"""Averages of the results of several trials over the cycles of their movement, by leg."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import xarray as xr

from musclesolve.errors import file_error, input_error
from musclesolve.recording.data import SIDES, Side
from musclesolve.results.cycles.cycle_averages import (
    average_cycles,
    check_alike,
    common,
    differences,
    persons,
)
from musclesolve.results.cycles.gait_cycles import cycles
from musclesolve.results.cycles.normalization import chosen_units, normalized
from musclesolve.results.dataset.checked import checked_result
from musclesolve.results.dataset.frame_validity import sides, with_word_coordinates, with_word_variables
from musclesolve.results.files.result_netcdf import read_result

FIGURE_VARIABLES = ("activation", "muscle_force", "joint_angle", "joint_moment", "group")
"""Variables in the figures of an average."""


def average_results(
    paths: Sequence[str | Path], *, partial: bool = False, units: Mapping[str, str] | None = None
) -> xr.Dataset:
    """Average the cycles of results stored in files.

    Args:
        paths: one or more ``result.nc``.
        partial: also include cycles of which the frames cover less than 95 %.
        units: kind -> unit, as `normalized` takes them. Unless given, the results of one person stay in the units they
            have, results of several persons are averaged in units that these share: N m/kg, body weights, % of maximum
            isometric force.

    Returns:
        The output of ``average_cycles`` for each leg, over the dimension side, names without side. A leg without any
        complete cycle is left out.
    """
    seen: dict[str, Path] = {}
    for path in map(Path, paths):
        if os.path.realpath(path) in seen:
            raise file_error(
                "duplicate_name",
                path,
                "this result is named twice",
                "every result once: a cycle that counts twice makes the spread too small",
                "leave one of them out",
            )
        seen[os.path.realpath(path)] = path
    of_legs: dict[Side, list[xr.Dataset]] = {side: [] for side in SIDES}
    for path in seen.values():
        result = checked_result(read_result(path), FIGURE_VARIABLES)
        for side in SIDES:
            if side in sides(result):
                of_legs[side].append(cycles(result, side, partial=partial, without_side=True))
    if units or len(persons([each for leg in of_legs.values() for each in leg if each.sizes["cycle"]])) > 1:
        of_legs = {side: [normalized(each, units) for each in leg] for side, leg in of_legs.items()}
    every = [each for leg in of_legs.values() for each in leg]
    used = [each for each in every if each.sizes["cycle"]]
    if not used:
        return average_cycles(every)  # raises the error with the reason
    check_alike(used)
    legs = {
        side: with_word_coordinates(average_cycles(of))
        for side, of in of_legs.items()
        if any(leg.sizes["cycle"] for leg in of)
    }
    together = xr.concat(
        list(legs.values()), xr.Variable("side", list(legs)), combine_attrs="override", join="outer"
    )
    together = with_word_variables(together)
    # attributes common to both legs, and the sentences on each leg
    attributes, subjects = common(used), persons(used)
    attributes.pop("side", None)
    if len(subjects) > 1:
        attributes["subject"] = "several persons"
    for key in ("cycles", "invalid", "reserves"):
        attributes[key] = [sentence for leg in legs.values() for sentence in leg.attrs[key]]
    attributes["left_out"] = [sentence for each in every for sentence in each.attrs["left_out"]]
    together.attrs = {}
    return together.assign_attrs(attributes | {"unlike": differences(used), "persons": subjects})


def stated_units(texts: Sequence[str]) -> dict[str, str] | None:
    """Units by kind from texts such as "moment=N m/kg"; None without texts."""
    units = {}
    for text in texts:
        kind, equals, unit = (part.strip() for part in text.partition("="))
        if not equals:
            raise input_error(
                "bad_usage",
                where="--unit",
                problem=f"the unit {text!r} names no kind of quantity",
                expected="KIND=UNIT",
                remedy="--unit moment='N m/kg'",
            )
        units[kind] = unit
    chosen_units(units)
    return units or None
