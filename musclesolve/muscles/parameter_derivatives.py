"""Exact derivatives of capacity and passive force (hill_model.py) by the parameters of the muscle.

With x = L_MT - L_T, h = L0 sin a0 and l = sqrt(x^2 + h^2), cos = x / l and sin = h / l,

    dl = cos dx + sin dh,   dcos = sin (sin dx - cos dh) / l,   dv = dV_MT cos + V_MT dcos
    d(F f cos) = dF f cos + F df cos + F f dcos

where F f is F0 f_l(l / L0) f_v(v / (v_max L0)) of the contractile element, or F_p f_p(l / L0) of the passive one, whose
F_p does not change with the strength. Lengths and strength are of the subject, after `scale_muscles`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve.muscles.muscle_state import MuscleState


@dataclass(frozen=True, eq=False)
class MuscleChange:
    """Change of muscles (n) over T frames along some direction of their parameters, each (..., T, n).

    fiber_length [m], fiber_velocity [m/s], force_capacity, fiber_force_capacity and passive_force [N].
    """

    fiber_length: Array
    fiber_velocity: Array
    force_capacity: Array
    fiber_force_capacity: Array
    passive_force: Array


def muscle_change(
    state: MuscleState,
    *,
    max_isometric_force: ArrayLike = 0.0,
    optimal_fiber_length: ArrayLike = 0.0,
    tendon_slack_length: ArrayLike = 0.0,
    pennation_angle: ArrayLike = 0.0,
    musculotendon_length: ArrayLike = 0.0,
    musculotendon_velocity: ArrayLike = 0.0,
) -> MuscleChange:
    """The derivative of a muscle state along changes of parameters of the muscles, broadcast to (..., T, n) each
    [N, m, rad, m/s].

    `optimal_fiber_length=parameters.optimal_fiber_length` is the derivative by the logarithm; the maximum shortening
    velocity stays the same in optimal fiber lengths per second. Where the tendon is slack, the derivatives of the
    forces are zero; at the kinks of the curves one of the two slopes is used.
    """
    muscles, length = state.parameters, state.fiber_length
    optimal, longer = muscles.optimal_fiber_length, np.asarray(optimal_fiber_length, dtype=float)
    taut, size = ~state.slack, np.where(length > 0.0, length, 1.0)
    cosine = np.where(taut, state.musculotendon_length - muscles.tendon_slack_length, 0.0) / size
    sine = optimal * np.sin(muscles.pennation_angle) / size

    along = (np.asarray(musculotendon_length) - np.asarray(tendon_slack_length)) * taut
    across = longer * np.sin(muscles.pennation_angle)
    across = across + optimal * np.cos(muscles.pennation_angle) * np.asarray(pennation_angle)
    fiber = cosine * along + sine * across
    rotated = sine * (sine * along - cosine * across) / size * taut
    rate = np.asarray(musculotendon_velocity) * cosine + state.musculotendon_velocity * rotated

    # forces over F0, and their changes with fiber length, velocity and L0
    fastest = muscles.max_shortening_velocity * optimal
    normal, speed = length / optimal, state.fiber_velocity / fastest
    normal_change = (fiber - normal * longer) / optimal
    speed_change = rate / fastest - speed * longer / optimal
    active, active_slope, by_velocity, velocity_slope, passive, passive_slope = np.empty((6, *normal.shape))
    for curves, members in muscles.families:
        at, v, strains = (
            normal[:, members],
            speed[:, members],
            [part[members] for part in muscles.passive[1:]],
        )
        active[:, members], active_slope[:, members] = curves.active(at), curves.active_slope(at)
        by_velocity[:, members], velocity_slope[:, members] = curves.velocity(v), curves.velocity_slope(v)
        passive[:, members] = curves.passive(at, *strains)
        passive_slope[:, members] = curves.passive_slope(at, *strains)
    active_change = active_slope * by_velocity * normal_change + active * velocity_slope * speed_change
    active, passive_change = active * by_velocity, passive_slope * normal_change

    # d(F f cos) of both elements
    strength, element = muscles.max_isometric_force, muscles.passive.force
    along_fibers = np.asarray(max_isometric_force) * active + strength * active_change
    capacity = along_fibers * cosine + strength * active * rotated
    resisting = element * (passive_change * cosine + passive * rotated)
    fiber, rate = np.broadcast_arrays(fiber, rate)
    return MuscleChange(fiber, rate, capacity, along_fibers * taut, resisting)
