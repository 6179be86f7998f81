"""Muscles by the words of a question: a muscle, a muscle of both sides, or a function group."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number, check_type
from musclesolve._util.names import check_known, unknown_name
from musclesolve._util.sides import side_of, split_side, with_side
from musclesolve.pipeline.body import SharingGroup


def muscle_groups(result: xr.Dataset) -> dict[str, tuple[str, ...]]:
    """The muscles of each function group of a side, by the name of the group with the side: ankle_dorsiflexors_r."""
    found: dict[str, list[str]] = {}
    for muscle, group in zip(result["muscle"].values, result["group"].values, strict=True):
        found.setdefault(with_side(str(group), side_of(str(muscle))), []).append(str(muscle))
    return {name: tuple(muscles) for name, muscles in found.items()}


def muscles_named(name: str, result: xr.Dataset) -> tuple[str, ...]:
    """The muscles that a name means: soleus_r, soleus (both sides), ankle_dorsiflexors_r, ankle_dorsiflexors."""
    known = names_of_muscles(result)
    check_known([name], "muscle or group of muscles", known)
    return known[name]


def names_of_muscles(result: xr.Dataset) -> dict[str, tuple[str, ...]]:
    """The muscles of every name that `muscles_named` knows."""
    muscles = [str(value) for value in result["muscle"].values]
    single = muscle_groups(result) | {muscle: (muscle,) for muscle in muscles}
    known: dict[str, tuple[str, ...]] = {}
    for each, own in single.items():
        stem, side = split_side(each)
        if side_of(each) == side and stem not in muscles:
            known[stem] = tuple(dict.fromkeys((*known.get(stem, ()), *own)))
    return known | single


def strength_factors(strength: Mapping[str, float], result: xr.Dataset) -> dict[str, float]:
    """Muscle -> factor on its maximum isometric force; of a muscle that is named twice the product.

    Args:
        strength: muscle or group (see `muscles_named`) -> factor from 0 to 10; zero: the muscle is missing.
        result: with the coordinates `muscle` and `group`.
    """
    factors: dict[str, float] = {}
    check_type(strength, Mapping, "strength", "a dict: muscle or group -> factor")  # type: ignore[type-abstract]
    for name, value in strength.items():
        factor = check_factor(name, value)
        for muscle in muscles_named(name, result):
            factors[muscle] = factors.get(muscle, 1.0) * factor
    return factors


Stated = TypeVar("Stated")


def of_sides(stated: Mapping[str, Stated], names: Sequence[str], what: str, more: str) -> dict[str, Stated]:
    """Give each of some names the value that is stated for it; a name without side is of both sides."""
    values: dict[str, Stated] = {}
    for name, value in stated.items():
        meant = [known for known in names if name in (known, split_side(known)[0])]
        if not meant:
            stems = dict.fromkeys(split_side(known)[0] for known in names)
            raise unknown_name(name, what, [*stems, *names], more)
        values |= dict.fromkeys(meant, value)
    return values


def check_factor(name: str, value: object) -> float:
    """The factor from 0 to 10 on the strength of a muscle or group."""
    expected = "a factor from 0 to 10, such as 0.5 for half"
    return check_number(value, f"the strength of {name}", expected, least=0.0, most=10.0, where="strength")


def factors_of(part: SharingGroup, factors: Mapping[str, float]) -> Array:
    """The factors (n,) of the muscles of a part; 1 where none is given."""
    return np.array([factors.get(name, 1.0) for name in part.state.parameters.names])
