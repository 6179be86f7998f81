"""The Hill model of muscles as expressions: rigid tendons, and elastic tendons in equilibrium.

Arguments are columns (n, 1) of expressions. The formulas and their sources are stated in muscles/hill_model.py,
muscles/curves and muscles/elastic/elastic_muscles.py.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.casadi_module import casadi as ca
from musclesolve.errors import InputError
from musclesolve.muscles.curves.curve_family import (
    GAUSSIANS,
    Arithmetic,
    CurveFamily,
    DeGroote2016,
    Silva2003,
    Thelen2003,
)
from musclesolve.muscles.curves.millard_2013 import Millard2013
from musclesolve.muscles.elastic.elastic_muscles import (
    LEAST_ACTIVATION,
    LEAST_ALONG,
    ElasticMuscles,
    LengtheningCurves,
)
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.symbolic.path_length import ABOVE_ZERO, hermite, in_order, sampled, tabulated

Curve = Callable[..., Any]


class Curves(NamedTuple):
    """Active force by l / L0, factor by v / v_max, and passive force by l / L0 and the strains at zero and one."""

    active: Curve
    velocity: Curve
    passive: Curve


def _clip(x: Any, low: Any, high: Any) -> Any:
    return ca.fmin(ca.fmax(x, low), high)


CASADI = Arithmetic(lambda x: x, ca.exp, ca.expm1, ca.atan, ca.asinh, ca.if_else, _clip)
"""The functions of closed forms for expressions."""


def curves(family: CurveFamily) -> Curves:
    """The curves of a bundled family, with any parameters.

    Raises:
        InputError: a family of another package.
    """
    match family:
        case Silva2003() | Thelen2003() | DeGroote2016():
            active = _gaussians(family) if isinstance(family, DeGroote2016) else _expression(family.active)
            return Curves(active, _expression(family.velocity), _expression(family.passive))
        case Millard2013():
            passive = lambda x, zero, one: _millard_passive(x, zero, one, family)  # noqa: E731
            return Curves(tabulated(family._active), tabulated(family._velocity), passive)
    raise InputError(
        f"the curves {family.name!r} have no expression",
        code="unknown_name",
        expected="a bundled family of Hill curves",
        remedy="choose one by curves=",
    )


def _expression(curve: Callable[..., Any]) -> Curve:
    return partial(curve, m=CASADI)


def _gaussians(family: DeGroote2016) -> Curve:
    def active(x: Any) -> Any:
        scaled, total = 1.0 + (x - 1.0) / family.active_width, 0.0
        for height, center, width, growth in GAUSSIANS:
            total += height * ca.exp(-0.5 * ((scaled - center) / (width + growth * scaled)) ** 2)
        return total

    return active


_NODES = 8193
"""Samples of a passive curve of Millard et al.: the spline differs from the corner by less than 1e-11."""


def _millard_passive(x: Any, zero: Array, one: Array, family: Millard2013) -> Any:
    """The passive curve through samples from its onset to one norm force, for each pair of strains."""
    pairs, which = np.unique(np.stack([zero, one], axis=1), axis=0, return_inverse=True)
    parts = []
    for number, (low, high) in enumerate(pairs):
        lengths = np.linspace(1.0 + low, 1.0 + high, _NODES)
        height, slope = family._passive(lengths, low, high)
        members = np.flatnonzero(which == number).tolist()
        parts.append((members, hermite(lengths[0], lengths[-1], height, slope)(x[members])))
    return in_order(parts)


def rigid_fiber(
    values: Mapping[str, Any], parameters: MuscleParameters, length: Any, velocity: Any
) -> dict[str, Any]:
    """Fibers (n, 1) behind rigid tendons: length [m], velocity [m/s], cosine of the pennation angle (`fiber_state`).

    values: of the parameters, times their factors.
    """
    along = ca.fmax(length - values["tendon_slack_length"], 0.0)
    thickness = values["optimal_fiber_length"] * np.sin(parameters.pennation_angle)
    fiber = ca.sqrt(ca.fmax(along**2 + thickness**2, ABOVE_ZERO))
    return {"length": fiber, "velocity": velocity * along / fiber, "cosine": along / fiber}


def rigid_forces(
    values: Mapping[str, Any], parameters: MuscleParameters, fiber: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Force capacity and passive force at the tendon [N] (`capacity_and_passive`)."""
    optimal = values["optimal_fiber_length"]
    x, v = fiber["length"] / optimal, fiber["velocity"] / (values["max_shortening_velocity"] * optimal)
    element, active, stretched = parameters.passive, list[Any](), list[Any]()
    for family, numbers in parameters.families:
        members, of_family = numbers.tolist(), curves(family)
        active.append((members, of_family.active(x[members]) * of_family.velocity(v[members])))
        strains = element.at_zero[members], element.at_one[members]
        stretched.append((members, of_family.passive(x[members], *strains)))
    capacity = values["max_isometric_force"] * fiber["cosine"] * in_order(active)
    return capacity, element.force * fiber["cosine"] * in_order(stretched)


BALANCED = (
    "max_isometric_force",
    "optimal_fiber_length",
    "tendon_slack_length",
    "max_shortening_velocity",
    "tendon_strain",
)
"""The parameters in the columns of the equilibrium, which can have factors."""

_BISECTIONS, _NEWTON_STEPS = 50, 3


def equilibrium_function(parameters: MuscleParameters, damping: float) -> Any:
    """Tendon force over F0 and fiber length [m] of muscles whose tendons stretch, at rest of the tendon.

    A function of L_MT (n,) [m], its rate (n,) [m/s], activation (n,), and the parameters `BALANCED` (n, 5).
    The coordinate z of the tendon solves f_T(z) = fiber force. Bisection finds z without
    derivatives; Newton steps z - g / g_z then give z the derivatives of the implicit function: two steps give the
    first and the second derivative, whatever the first guess.
    """
    muscles, count = ElasticMuscles.from_parameters(parameters), len(parameters.names)
    names = "L", "V", "a"
    length, velocity, activation = (ca.MX.sym(name, count) for name in names)
    numbers, z = ca.MX.sym("parameters", count, len(BALANCED)), ca.MX.sym("z", count)
    inputs: list[Any] = [length, velocity, activation, numbers]
    norm_force, optimal, slack_length, fastest, strain = ca.horzsplit(numbers)
    rest = slack_length * (1.0 + muscles.strain_at_start)
    stretch = slack_length * (strain - muscles.strain_at_start) * muscles.elastic.astype(float)

    # tendon force and fiber force along the tendon over F0 at z, and fiber length [m]
    free, width = length - rest - stretch * z, LEAST_ALONG * optimal
    root = ca.sqrt(free**2 + width**2)
    along = ca.if_else(free > 0.0, 0.5 * (free + root), 0.5 * width**2 / (root - ca.fmin(free, 0.0)))
    fiber = ca.sqrt(along**2 + (optimal * np.sin(parameters.pennation_angle)) ** 2)
    cosine, stretched, element = along / fiber, fiber / optimal - 1.0, parameters.passive
    v = velocity * cosine / (fastest * optimal)
    lengthening = LengtheningCurves.from_force_velocity(muscles.curves.velocity)
    beyond = ca.fmin(v + 1.0, 0.0) * lengthening.outer[0] + ca.fmax(v - 1.0, 0.0) * lengthening.outer[1]
    factor = sampled(lengthening.curve)(_clip(v, -1.0, 1.0)) + beyond
    active = activation if damping > 0.0 else ca.fmax(activation, LEAST_ACTIVATION)
    active = active * sampled(muscles.curves.active)(1.0 + stretched) * factor + damping * v
    share = (stretched - element.at_zero) / (element.at_one - element.at_zero)
    held = element.force / norm_force * sampled(muscles.curves.passive)(share)
    # the start of the curve has no force; below it the tendon is slack
    elastic = ca.DM(muscles.elastic.astype(float))
    bears = ca.logic_or(z > muscles.start, ca.logic_not(elastic))
    tendon, fiber_force = ca.if_else(bears, sampled(muscles.curves.tendon)(z), 0.0), (active + held) * cosine
    step = ca.Function("balance", [z, *inputs], [tendon - fiber_force, fiber_force, tendon, fiber])
    residual = ca.Function("residual", [z, *inputs], [tendon - fiber_force])
    slope = ca.Function("slope", [z, *inputs], [ca.jtimes(tendon - fiber_force, z, ca.MX.ones(count))])

    low = ca.MX(muscles.start)
    room = (length - rest) / ca.if_else(stretch > 0.0, stretch, 1.0)
    high = most = ca.fmax(ca.if_else(stretch > 0.0, room, 0.0), low) + 0.5
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        above = residual(middle, *inputs) > 0.0
        low, high = ca.if_else(above, low, middle), ca.if_else(above, middle, high)
    options: dict[str, Any] = {"is_diff_out": [False], "never_inline": True}
    guess = ca.Function("guess", inputs, [0.5 * (low + high)], options)

    at = guess(*inputs)
    # without equilibrium the bisection ends at the slack tendon, which has no force, or where no fiber is left
    slack = at < muscles.start + 1e-12
    for _ in range(_NEWTON_STEPS):
        at = ca.if_else(slack, muscles.start, ca.fmin(at - residual(at, *inputs) / slope(at, *inputs), most))
    rigid = step(ca.MX.zeros(count), *inputs)[1]
    at = ca.if_else(elastic, at, rigid)
    _, _, force, fiber = step(at, *inputs)
    force = ca.if_else(ca.logic_and(slack, elastic), 0.0, force)
    return ca.Function(
        "equilibrium", inputs, [force, fiber, at], [*names, "parameters"], ["force", "fiber", "z"]
    )
