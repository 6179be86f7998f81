"""Families of costs that differ in a few parameters, among which `fit_cost` looks for the one that agrees with EMG."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import input_error
from musclesolve.sharing.arguments import check_smooth_cost, members
from musclesolve.sharing.cost.cost_base import Cost, WeightedSum
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve

USUAL_RANGES: dict[str, tuple[float, float]] = {
    "exponent": (1.15, 8.0),
    "strength": (-3.0, 3.0),
    "joints": (-3.0, 6.0),
    "relative": (-3.0, 6.0),
}
"""Ranges of the parameters of `general_power`: weights of muscles over some three orders of magnitude."""
LARGEST_RATIO = 6.0
"""Decimal logarithm of the largest ratio of two weights of a mixture: the smaller one has no effect beyond."""
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
        options: list[str] = [option.name for option in fields(cost)] if is_dataclass(cost) else []
        for name, ends in ranges.items():
            if name not in options or not isinstance(getattr(cost, name), int | float):
                raise input_error(
                    "unknown_name",
                    where="fit_cost(free=...)",
                    problem=f"{cost.name} has no numeric option {name!r}",
                    expected=f"one of {', '.join(option for option in options if option != 'weights')}",
                )
            if len(members(ends)) != 2 or not ends[0] < ends[1]:
                raise input_error(
                    "bad_value",
                    where="fit_cost(free=...)",
                    problem=f"the range of {name} is {ends!r:.60}",
                    expected="two numbers, the smaller one first",
                )
        low, high = np.array([[float(end) for end in ends] for ends in ranges.values()]).T
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
    family: Any, free: Mapping[str, tuple[float, float]] | None, problems: Sequence[Problem]
) -> CostFamily:
    """The family of costs that the arguments of `fit_cost` describe."""
    if isinstance(family, CostFamily):
        return family
    if isinstance(family, str | Cost):
        cost = find_cost(family)
        for problem in problems:
            check_smooth_cost(cost, problem, "fitted", "fit_cost(family=...)", convex=True)
        if free is None:
            ranges = USUAL_RANGES if cost.name == "general_power" else {"exponent": USUAL_RANGES["exponent"]}
        else:
            ranges = dict(free)
        if not ranges:
            raise input_error(
                "missing_argument",
                where="fit_cost(free=...)",
                problem="no option is free",
                expected='one or more with their ranges, {"exponent": (1.15, 8)}',
            )
        return CostFamily.of_options(cost, ranges)
    costs = [find_cost(cost) for cost in members(family)]
    if len(costs) < 2 or free is not None:
        raise input_error(
            "conflict" if free is not None else "missing_argument",
            where="fit_cost(family=...)",
            problem="free options of several costs" if free is not None else "fewer than two costs to mix",
            expected="one cost with free options, or two costs or more, whose weights are fitted",
        )
    squares = np.zeros(len(costs))
    for problem in problems:
        for cost in costs:
            check_smooth_cost(cost, problem, "mixed", "fit_cost(family=...)", convex=True)
        solution = solve(problem, "activation_power")
        activation = np.atleast_2d(solution.activation)[solution.solved]
        part = problem.frames(np.atleast_1d(solution.solved))
        squares += [float(np.square(cost.gradient(part, activation)).sum()) for cost in costs]
    for cost, square in zip(costs, squares, strict=True):
        if not 0.0 < square < np.inf:
            raise input_error(
                "bad_cost",
                where="fit_cost(family=...)",
                problem=f"the cost {cost.label} has no slope anywhere in these frames",
                expected="costs that depend on the activations",
                remedy="leave it out",
            )
    return CostFamily.of_mixture(costs, np.sqrt(squares))
