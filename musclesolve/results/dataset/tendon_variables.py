"""Fibers and elastic tendons as variables and attributes of a result; nothing of them where tendons are rigid."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array
from musclesolve.pipeline.body import Analysis
from musclesolve.results.dataset.attributes import text

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


def tendon_variables(analysis: Analysis) -> dict[str, Variable]:
    """Variables of all muscles, and the largest defect of the muscles of each side; none where tendons are rigid."""
    states = [part.tendons for part in analysis.parts if part.tendons is not None]
    if not states:
        return {}
    variables: dict[str, Variable] = {
        name: (("time", "muscle"), analysis.over_muscles([getattr(state, name) for state in states]))
        for name in OF_MUSCLES
    }
    defect = np.abs(analysis.over_muscles([state.defect for state in states]))
    sides = np.array(analysis.muscle_sides)
    largest = [_largest(defect[:, sides == side]) for side in analysis.sides]
    return variables | {BALANCE_ERROR: (("time", "side"), np.stack(largest, axis=1))}


def _largest(size: Array) -> Array:
    """Largest of each frame (T,); NaN where there is none."""
    largest = np.where(np.isnan(size), -np.inf, size).max(axis=1, initial=-np.inf)
    return np.where(np.isfinite(largest), largest, np.nan)


def iterations(analysis: Analysis) -> dict[str, object]:
    """The attribute that says how many iterations the motions of each side took at most: "r 31"."""
    counts = []
    for side in analysis.sides:
        solutions = [part.solution for part in analysis.of_side(side) if part.tendons is not None]
        if solutions:
            counts.append(f"{side} {max(int(np.max(each.iterations, initial=0)) for each in solutions)}")
    return {"motion_iterations": counts} if counts else {}
