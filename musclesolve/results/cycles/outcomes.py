"""Outcomes of a study: the stated curves and values that are compared, and the defaults.

An outcome is a curve, "joint_moment knee_flexion", or a value of it, "joint_moment knee_flexion max" (of the cycle)
or "joint_moment knee_flexion stance max", or a measure of the cycles, "stride_time" or "margin triceps_surae".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from musclesolve._util.names import suggestion
from musclesolve._util.sides import LEG_JOINTS
from musclesolve.errors import input_error
from musclesolve.results.cycles.gait_cycles import PERCENT, curves_of
from musclesolve.results.dataset.quantities import KINDS, QUANTITIES

PHASES = CYCLE, STANCE = "cycle", "stance"
STRIDE = "value"
MEASURES = tuple(dict.fromkeys(measure for kind in KINDS.values() for measure in kind.measures))
ARM = ("arm", "girdle", "shoulder", "elbow", "wrist", "hand", "pro_sup", "radioulnar", "radius_", "finger")
"""Parts of the names of degrees of freedom and joints of arms and shoulder girdles."""


@dataclass(frozen=True)
class Outcome:
    """An outcome: a curve, or one number for each subject, that is compared."""

    variable: str
    name: str

    def __str__(self) -> str:
        return self.variable if self.name == self.variable else f"{self.variable} {self.name}"


def is_number_of_cycle(name: str) -> bool:
    """Whether a quantity has no percentages: one number of a cycle (stride_time), or of each name (margin)."""
    quantity = QUANTITIES.get(name)
    if quantity is None:
        return False
    of_answer = bool(quantity.answer) and quantity.dims in (("of",), ("side",))
    return of_answer or quantity.dims in ((), ("stride",), ("cycle",))


def value_of(text: str) -> tuple[str, str, str, str] | None:
    """Variable, name, phase and measure of an outcome that is a value; None where it is a curve or cannot be read."""
    words = text.split()
    if words and is_number_of_cycle(words[0]):
        return words[0], " ".join(words[1:]), CYCLE, STRIDE
    if len(words) < 2 or words[-1] not in MEASURES:
        return None
    rest, phase = words[1:-1], CYCLE
    if rest and rest[-1] in PHASES:
        phase = rest.pop()
    return words[0], " ".join(rest) or words[0], phase, words[-1]


def matching(means: xr.Dataset, stated: Sequence[str]) -> list[Outcome]:
    """Find the stated outcomes among the means of subjects; values are variables without percentages."""
    known = {}
    for name, variable in means.data_vars.items():
        if str(name) in stated and PERCENT not in variable.dims:
            known[str(name)] = Outcome(str(name), str(name))
        elif PERCENT in variable.dims:
            known |= {
                str(Outcome(str(name), label)): Outcome(str(name), label) for label, _ in curves_of(variable)
            }
    for text in stated:
        if text not in known:
            raise input_error(
                "unknown_name",
                where="[design] outcomes",
                problem=f"there is no curve or value {text!r}",
                expected="a curve (joint_moment knee_flexion), a value of it (joint_moment "
                "knee_flexion max), a measure of the cycles (stride_time)",
                remedy=suggestion(text, list(known)) or f"such as {next(iter(known), 'none')}",
            )
    return [known[text] for text in stated]


def with_values(
    means: xr.Dataset, stated: Sequence[str], values: pd.DataFrame, legs: Sequence[str] = ()
) -> xr.Dataset:
    """Add the outcomes that are values to the means of subjects, as variables over subject and condition (and leg).

    Args:
        means: as `subject_means` returns them.
        stated: outcomes.
        values: mean of each value over the cycles of a subject in a condition (column ``value``), with ``leg`` where
            legs are separate.
        legs: names of the legs, in order.
    """
    wanted = {text: of for text in stated if (of := value_of(text)) is not None}
    if not wanted or values.empty:
        return means
    over = ["subject", "condition", *["leg"] * bool(legs)]
    order = {
        "subject": [str(name) for name in means["subject"].values],
        "condition": [str(name) for name in means["condition"].values],
        "leg": list(legs),
    }
    found = {}
    for text, (variable, name, phase, measure) in wanted.items():
        own = values[
            (values["variable"] == variable)
            & (values["phase"] == phase)
            & (values["measure"] == measure)
            & values["name"].isin({name, ""} if name == variable else {name})
        ]
        if own.empty:
            continue
        table = own.groupby(over, sort=False)["value"].mean().to_xarray()
        cube = table.reindex({dim: order[dim] for dim in over}).transpose(*over).values
        found[text] = (over, cube, {"units": str(own["unit"].iloc[0])})
    return means.assign(found)


def without_arms_and_empty(
    means: xr.Dataset, variables: Sequence[str]
) -> tuple[dict[str, list[str]], list[str]]:
    """Names of the labels that are compared in each variable, and notes on those that are left out.

    Curves of arms are left out if there are curves of legs; also curves without a value, and curves that are zero
    everywhere: locked coordinates, muscles that are silent in all subjects.
    """
    kept, arms, empty = dict[str, list[str]](), dict[str, None](), dict[str, None]()
    for variable in variables:
        each = means[variable]
        curves = dict(curves_of(each))
        of_legs = any(joint in name for name in curves for joint in LEG_JOINTS)
        for name, curve in curves.items():
            if not np.nan_to_num(curve.values).any():
                empty[f"{variable} {name}" if name != variable else name] = None
            elif of_legs and "muscle" not in each.dims and any(part in name.lower() for part in ARM):
                arms[name] = None
            else:
                kept.setdefault(variable, []).append(name)
    notes = []
    if arms:
        how = "name their curves as outcomes to compare them"
        notes.append(f"arms and shoulder girdles are not compared: {', '.join(arms)}; {how}")
    if empty:
        notes.append(f"curves without values, or zero in everyone, are not compared: {', '.join(empty)}")
    return kept, notes
