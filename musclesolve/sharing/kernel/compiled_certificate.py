"""The certificate of one frame, compiled, from the problem's own arrays and the solver's result alone.

sharing/certificate.py is the definition, for any cost and any solver. This copy exists because recomputing the
certificate in numpy would take longer than solving; tests/sharing/kernel/test_kernel.py holds the two together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from musclesolve._util.compiled_code import compiled
from musclesolve.sharing.kernel.compiled_terms import slopes_of
from musclesolve.sharing.kernel.constants import (
    BESIDE_ROWS,
    LEAST_REACH,
    LEAST_SIZE,
    ROUNDING,
    UNCERTAIN,
    UNCERTAIN_WITH_RESERVES,
)
from musclesolve.sharing.kernel.linear_algebra import largest_of

from musclesolve.sharing.kernel.workspace_layout import (  # isort: skip
    ALL_LOWER, ALL_PULL, ALL_UPPER, HALF, INSIDE, LANES, MARGINAL, PULL_ERROR, THETA,
)  # fmt: skip


@compiled
def residual_of(
    data: Any, t: int, reserved: bool, weight: Any, activation: Any, reserve: Any, multiplier: Any, w: Any
) -> float:
    """The largest miss of stationarity, moments and reserves; infinite where one is not finite.

    The weight (m,) of reserves counts if `reserved`; ALL_LOWER and ALL_UPPER of w are given. Activation is (n,),
    reserve and multiplier are (m,).
    """
    missed = _moments_missed(data, t, reserved, weight, activation, reserve, multiplier, w)
    _marginal_costs(data, t, activation, w)
    uncertain = UNCERTAIN_WITH_RESERVES if reserved else UNCERTAIN
    return max(missed, _stationarity(activation, uncertain, w))


@compiled
def _moments_missed(
    data: Any, t: int, reserved: bool, weight: Any, activation: Any, reserve: Any, multiplier: Any, w: Any
) -> float:
    """The second and third line; leaves p in ALL_PULL and the sums that e is a share of in PULL_ERROR."""
    arm, capacity, moment = data.moment_arm[t], data.force_capacity[t], data.moment[t]
    dofs, muscles = arm.shape
    worst, total = 0.0, 0.0
    for i in range(muscles):
        w[ALL_PULL + i], w[PULL_ERROR + i] = 0.0, 0.0
    for r in range(dofs):
        produced = 0.0
        for i in range(muscles):
            entry = arm[r, i] * capacity[i]
            produced += entry * activation[i]
            w[ALL_PULL + i] += multiplier[r] * entry
            w[PULL_ERROR + i] += abs(multiplier[r] * entry)
        scale = max(1.0, abs(moment[r]))
        asked = multiplier[r] / weight[r] if reserved else 0.0
        miss = abs(produced + reserve[r] - moment[r]) / scale
        apart = abs(reserve[r] - asked) / scale
        total += miss + apart
        worst = max(worst, max(miss, apart))
    return worst if total < np.inf else np.inf


@compiled
def _marginal_costs(data: Any, t: int, activation: Any, w: Any) -> None:
    """MARGINAL: g at the activations within their bounds; THETA: theta. Soft rows count in both."""
    muscles, reach = activation.size, LEAST_REACH
    for i in range(muscles):
        w[INSIDE + i] = activation[i]
        if w[INSIDE + i] < w[ALL_LOWER + i]:
            w[INSIDE + i] = w[ALL_LOWER + i]
        if w[INSIDE + i] > w[ALL_UPPER + i]:
            w[INSIDE + i] = w[ALL_UPPER + i]
        reach = max(reach, w[INSIDE + i] - w[ALL_LOWER + i])
    for i in range(muscles):
        w[HALF + i] = w[ALL_LOWER + i] + 0.5 * min(w[ALL_UPPER + i] - w[ALL_LOWER + i], reach)
    _slopes(data, t, HALF, THETA, muscles, w)
    _slopes(data, t, ALL_LOWER, MARGINAL, muscles, w)
    for i in range(muscles):
        w[THETA + i] = abs(w[THETA + i] - w[MARGINAL + i])
        w[HALF + i] -= w[ALL_LOWER + i]
    _slopes(data, t, INSIDE, MARGINAL, muscles, w)
    for k in range(data.soft_target.shape[1]):
        row, stiffness = data.soft_matrix[t, k], data.soft_weight[t, k]
        there = 0.0
        for i in range(muscles):
            there += row[i] * w[INSIDE + i]
        short = stiffness * (data.soft_target[t, k] - there)
        for i in range(muscles):
            w[MARGINAL + i] -= short * row[i]
            w[THETA + i] += BESIDE_ROWS * stiffness * row[i] * row[i] * w[HALF + i]


@compiled
def _stationarity(activation: Any, uncertain: float, w: Any) -> float:
    """The first line, for g in MARGINAL, theta in THETA, p in ALL_PULL and the sums of e in PULL_ERROR."""
    muscles, total, hidden = activation.size, 0.0, 0
    padded = (muscles + LANES - 1) // LANES * LANES
    for i in range(muscles):
        own, slope = w[THETA + i], abs(w[MARGINAL + i])
        own = own if own < np.inf else 0.0
        w[THETA + i] = max(own, slope) if slope < np.inf else own
        w[HALF + i] = w[THETA + i]
    least = LEAST_SIZE * largest_of(w, HALF, muscles, padded, 0.0)
    for i in range(muscles):
        size = max(max(w[THETA + i], least), abs(w[ALL_PULL + i]))
        w[THETA + i] = size
        hidden += not ROUNDING * w[PULL_ERROR + i] <= uncertain * size
        excess = w[MARGINAL + i] - w[ALL_PULL + i]
        w[HALF + i] = _miss(activation[i], excess, size, w[ALL_LOWER + i], w[ALL_UPPER + i])
        total += w[HALF + i]
    worst = largest_of(w, HALF, muscles, padded, 0.0)
    if hidden > 0:
        for i in range(muscles):
            size, error = w[THETA + i], ROUNDING * w[PULL_ERROR + i]
            if not error <= uncertain * size:
                for end in (-error, error):
                    excess = w[MARGINAL + i] - w[ALL_PULL + i] + end
                    miss = _miss(activation[i], excess, size, w[ALL_LOWER + i], w[ALL_UPPER + i])
                    total += miss
                    worst = max(worst, miss)
    return worst if total < np.inf else np.inf


@compiled
def _miss(activation: float, excess: float, size: float, low: float, high: float) -> float:
    """|a - clip(a - (g - p) / S)| of a muscle; an infinite slope g is a full miss, NaN stays NaN."""
    step = excess / size if excess != 0.0 else 0.0
    step = 1.0 if step > 1.0 else step
    step = -1.0 if step < -1.0 else step
    moved = activation - step
    moved = low if moved < low else moved
    moved = high if moved > high else moved
    return abs(activation - moved)


@compiled
def _slopes(data: Any, t: int, at: int, out: int, n: int, w: Any) -> None:
    slopes_of(data.terms, t, w[at : at + n], w[out : out + n])


@compiled
def farkas_ratio_of_direction(data: Any, t: int, direction: Any, w: Any) -> float:
    """infeasibility.farkas_ratio of frame t for a direction (m,)."""
    arm, capacity, moment = data.moment_arm[t], data.force_capacity[t], data.moment[t]
    dofs, muscles = arm.shape
    asked, size, reach = 0.0, 0.0, 0.0
    for r in range(dofs):
        asked += direction[r] * moment[r]
        size += abs(direction[r]) * max(1.0, abs(moment[r]))
    for i in range(muscles):
        pull = 0.0
        for r in range(dofs):
            pull += direction[r] * (arm[r, i] * capacity[i])
        reach += max(w[ALL_LOWER + i] * pull, w[ALL_UPPER + i] * pull)
    margin = (asked - reach) / size
    return margin if abs(margin) < np.inf else -np.inf
