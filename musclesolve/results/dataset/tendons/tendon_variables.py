"""Fibers and elastic tendons as variables and attributes of a result; nothing of them where tendons are rigid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array
from musclesolve.pipeline.tendon_states import TendonStates
from musclesolve.results.dataset.attributes import text
from musclesolve.sharing.solution import Solution

ELASTIC = "elastic"
OF_MUSCLES = ("tendon_length", "tendon_strain", "tendon_energy", "fiber_power")
"""Over time and muscle, in results with elastic tendons alone."""
OF_STATE = ("fiber_length", "fiber_velocity", "force_capacity", "passive_force")
"""What belongs to the solution where tendons are elastic, and not to the motion."""
BALANCE_ERROR = "tendon_balance_error"
OF_SOLUTION = (
    *OF_STATE,
    *("least_normalized_fiber_length", "greatest_normalized_fiber_length"),
    *OF_MUSCLES,
    BALANCE_ERROR,
)
"""What depends on the cost where tendons are elastic, beside what always does."""

Variable = tuple[tuple[str, ...], AnyArray]


def is_elastic(result: xr.Dataset) -> bool:
    """Whether the tendons of a result are elastic; those of earlier versions were rigid."""
    return text(result, "tendon", "rigid") == ELASTIC


def tendon_variables(by_side: Mapping[str, TendonStates | None]) -> dict[str, Variable]:
    """Variables of the muscles of each side, one side after the other; none where tendons are rigid."""
    states = [each for each in by_side.values() if each is not None]
    if not states:
        return {}
    found: dict[str, Variable] = {
        name: (("time", "muscle"), np.concatenate([getattr(each, name) for each in states], axis=1))
        for name in OF_MUSCLES
    }
    return found | balance_error([each.defect for each in states])


def balance_error(defects: Sequence[Array]) -> dict[str, Variable]:
    """The largest defect (T, n) of the muscles of each side, (T, side)."""
    largest = [_largest(np.abs(each)) for each in defects]
    return {BALANCE_ERROR: (("time", "side"), np.stack(largest, axis=1))}


def _largest(size: Array) -> Array:
    """Of each frame; NaN where there is none."""
    found = np.where(np.isnan(size), -np.inf, size).max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(found), found, np.nan)


def iterations(by_side: Mapping[str, Solution]) -> dict[str, object]:
    """The attribute that says how many iterations the motions of each side took at most: "r 31"."""
    counts = [f"{side} {int(np.max(each.iterations, initial=0))}" for side, each in by_side.items()]
    return {"motion_iterations": counts} if counts else {}
