"""The cost of a motion as a CasADi expression."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.trajectory.motion_cost import MotionCost

TYPICAL = 0.5
"""Activation, and force over F0, at which the size of the slopes of a cost is taken."""


def cost_size(cost: MotionCost) -> float:
    """The steepest slope of any muscle in any frame at a typical load, one where there is none."""
    typical = np.full_like(cost.isometric.force_capacity, TYPICAL)
    by_force, _, by_activation, _ = cost.slopes(typical, typical)
    return float(max(np.abs(by_force).max(), np.abs(by_activation).max())) or 1.0


def cost_integral(cost: MotionCost, weight: Array, force: Any, activation: Any) -> Any:
    """sum_t w_t phi_t of active forces over F0 and activations, columns of T n symbols; weights w (T,).

    Below zero force a cost goes on straight, as MotionCost has it.
    """
    parts = [(factor * _sum_of(single, cost, weight, force)) for factor, single in cost.of_force]
    parts += [(factor * _sum_of(single, cost, weight, activation)) for factor, single in cost.of_activation]
    return sum(parts)


def _sum_of(single: Cost, cost: MotionCost, weight: Array, argument: Any) -> Any:
    frames, muscles = cost.isometric.force_capacity.shape
    numbers = single.parameters(cost.isometric)
    function = _frame_function(single, muscles, numbers.shape[1]).map(frames)
    flat = casadi.DM(numbers.transpose(1, 0, 2).reshape(numbers.shape[1], -1))
    return casadi.mtimes(function(casadi.reshape(argument, muscles, frames), flat), casadi.DM(weight))


def _frame_function(single: Cost, muscles: int, count: int) -> Any:
    """The value of one frame, of the arguments (n) and the parameters (p, n) of a cost."""
    x, at = casadi.SX.sym("x", muscles), casadi.SX.sym("at", muscles)
    numbers = casadi.SX.sym("numbers", count, muscles)
    value = casadi.SX(single.expression(casadi, at, numbers))
    positive = casadi.fmax(x, 0.0)
    value, slope = casadi.substitute([value, casadi.gradient(value, at)], [at], [positive])
    return casadi.Function("cost", [x, numbers], [value + casadi.dot(slope, x - positive)])
