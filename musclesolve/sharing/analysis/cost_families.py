"""Families of costs that differ in a few parameters, among which `fit_cost` looks for the one that agrees with EMG."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve._util.messages import as_text
from musclesolve.errors import InputError, input_error
from musclesolve.sharing.arguments import check_smooth_cost, members
from musclesolve.sharing.cost.cost_base import Cost, WeightedSum
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution

USUAL_RANGES: dict[str, tuple[float, float]] = {
    "exponent": (1.15, 8.0),
    "strength": (-3.0, 3.0),
    "joints": (-3.0, 6.0),
    "relative": (-3.0, 6.0),
}
"""Ranges of the parameters of `general_power`: weights of muscles over some three orders of magnitude."""
LARGEST_RATIO = 6.0
"""Decimal logarithm of the largest ratio of two weights of a mixture: the smaller one has no effect beyond."""
NARROWEST = 1e-6
"""Least width of a range, over its upper end."""
STARTS = ((3.0, 3.0), (5.0, 0.0))
"""Further starts of (exponent, relative) of `general_power`, where both are free; out of range they are moved."""


@dataclass(frozen=True, eq=False)
class CostFamily:
    """Costs that differ in K parameters, each in a range.

    Attributes:
        name: of the family.
        parameters: K names.
        start, low, high: (K,) where the search begins, and the ends of the ranges.
        make: parameters (K,) -> cost.
    """

    name: str
    parameters: tuple[str, ...]
    start: Array
    low: Array
    high: Array
    make: Callable[[Array], Cost]

    @classmethod
    def of_options(cls, cost: Cost, ranges: Mapping[str, tuple[float, float]]) -> "CostFamily":
        """The costs that differ from one cost in some of its numeric options, which begin at their present values."""
        named: list[str] = [option.name for option in fields(cost)] if is_dataclass(cost) else []
        numeric = [name for name in named if type(getattr(cost, name)) in (int, float)]
        where, limits = "fit_cost(free=...)", []
        for name, ends in ranges.items():
            if name not in numeric:
                raise input_error(
                    "unknown_name",
                    where=where,
                    problem=f"{cost.name} has no numeric option {name!r}",
                    expected=f"one of {', '.join(numeric)}" if numeric else "a cost with numeric options",
                    remedy="name the options with their ranges, free={...}"
                    if numeric
                    else "take another cost",
                )
            pair = members(ends) if isinstance(ends, tuple | list) else []
            expected = "two numbers, the smaller one first"
            limits.append(
                [check_number(end, f"an end of the range of {name}", expected, where=where) for end in pair]
            )
            if len(pair) != 2 or not limits[-1][1] - limits[-1][0] > NARROWEST * max(1.0, abs(limits[-1][1])):
                fault = f"the range of {name} is {as_text(ends)}"
                raise input_error("bad_value", where=where, problem=fault, expected=expected)
            for end in limits[-1]:
                try:
                    replace(cost, **{name: end})  # type: ignore[type-var]
                except InputError as error:
                    fault = f"the range of {name} ends at {end:g}: {error.problem}"
                    raise input_error(
                        "bad_value", where=where, problem=fault, expected=error.expected
                    ) from error
        low, high = np.array(limits).T
        inside = low + 0.02 * (high - low), high - 0.02 * (high - low)
        start = np.clip([float(getattr(cost, name)) for name in ranges], *inside)

        def make(theta: Array) -> Cost:
            return replace(cost, **dict(zip(ranges, map(float, theta), strict=True)))  # type: ignore[type-var]

        return cls(cost.name, tuple(ranges), start, low, high, make)

    @classmethod
    def of_mixture(cls, costs: Sequence[Cost], unit: Array) -> "CostFamily":
        """The sums of J costs with weights; unit: (J,) sizes of their slopes, by which weights are compared.

        The J - 1 parameters are decimal logarithms of the weight of a cost over the weight of the first one, both times
        the sizes of their slopes.
        """
        count = len(costs) - 1

        def make(theta: Array) -> Cost:
            weight = np.power(10.0, np.append(0.0, theta)) / unit
            return WeightedSum(tuple(zip(map(float, weight), costs, strict=True)))

        names = tuple(f"log10 weight of {cost.label}" for cost in costs[1:])
        ends = np.full(count, LARGEST_RATIO)
        return cls(" + ".join(cost.label for cost in costs), names, np.zeros(count), -ends, ends, make)


def starts_of(family: CostFamily) -> list[Array]:
    """The starts of the search: the start of the family, and other places of its main parameters."""
    starts = [family.start]
    width = family.high - family.low
    inner = family.low + 0.02 * width, family.high - 0.02 * width
    if family.name == "general_power":
        for exponent, relative in STARTS:
            theta = family.start.copy()
            for name, value in (("exponent", exponent), ("relative", relative)):
                if name in family.parameters:
                    theta[family.parameters.index(name)] = value
            starts.append(np.clip(theta, *inner))
    elif len(family.parameters) == 1:
        starts += [family.low + share * width for share in (0.2, 0.8)]
    return starts


def family_of(
    family: Any, free: Any, problems: Sequence[Problem], solutions: Sequence[Solution]
) -> CostFamily:
    """The family of costs that the arguments of `fit_cost` describe.

    solutions: of the problems, at which the slopes of costs are compared.
    """
    if isinstance(family, CostFamily):
        return family
    where, listed = "fit_cost(family=...)", [family] if isinstance(family, str | Cost) else members(family)
    costs = [find_cost(cost) for cost in listed]
    # a weight may be of a muscle that another problem has
    of_kinds = zip(*(problem.names for problem in problems), strict=True)
    names = [list(chain.from_iterable(of_problems)) for of_problems in of_kinds]
    for cost in costs:
        cost.check_names(*names)
        for problem in problems:
            check_smooth_cost(cost, problem, "fitted", where, convex=True)
    if len(costs) == 1:
        (cost,) = costs
        if free is None:
            free = USUAL_RANGES if cost.name == "general_power" else {"exponent": USUAL_RANGES["exponent"]}
            named: list[str] = [option.name for option in fields(cost)] if is_dataclass(cost) else []
            if not set(free) & set(named):
                raise input_error(
                    "unknown_name",
                    where=where,
                    problem=f"{cost.name} has no exponent, which is fitted unless other options are named",
                    expected="general_power, activation_power or another cost with an exponent; or two costs, whose "
                    "weights are fitted",
                    remedy="name a second cost; in Python also its options with ranges, free={...}",
                )
        if not isinstance(free, Mapping) or not free:
            raise input_error(
                "missing_argument",
                where="fit_cost(free=...)",
                problem=f"the free options are {as_text(free)}",
                expected='options with their ranges, {"exponent": (1.15, 8)}',
            )
        return CostFamily.of_options(cost, free)
    expected = "one cost with free options, or two costs or more, whose weights are fitted"
    if not costs:
        raise input_error("missing_argument", where=where, problem="there is no cost", expected=expected)
    if free is not None:
        fault = "free options of several costs"
        raise input_error("conflict", where=where, problem=fault, expected=expected)
    if len({cost.label for cost in costs}) < len(costs):
        fault = "a cost stands twice, and no data tell the two weights apart"
        raise input_error("duplicate_name", where=where, problem=fault, expected=expected)
    squares = np.zeros(len(costs))
    for problem, solution in zip(problems, solutions, strict=True):
        which = np.atleast_1d(solution.solved)
        if which.any():
            activation, part = np.atleast_2d(solution.activation)[which], problem.frames(which)
            squares += [float(np.square(cost.gradient(part, activation)).sum()) for cost in costs]
    for cost, square in zip(costs, squares, strict=True):
        if not 0.0 < square < np.inf:
            raise input_error(
                "bad_cost",
                where=where,
                problem=f"the cost {cost.label} has no slope anywhere in these frames",
                expected="costs that depend on the activations",
                remedy="leave it out",
            )
    return CostFamily.of_mixture(costs, np.sqrt(squares))
