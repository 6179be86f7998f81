"""The balance of tendon and fiber (local_equilibrium.py) as CasADi expressions, written down a second time."""

from __future__ import annotations

from typing import Any

import casadi

from musclesolve.muscles.elastic.elastic_muscles import LEAST_ALONG
from musclesolve.trajectory.collocation.casadi_curves import columns, spline
from musclesolve.trajectory.motion_problem import MotionProblem


def tendon_force(problem: MotionProblem, z: Any) -> Any:
    """f(z) over F0, for z in all the frames of a problem, a column of T n symbols."""
    return spline(problem.muscles.curves.tendon, z, problem.n_frames)


def fiber_forces(problem: MotionProblem, z: Any, rate: Any) -> tuple[Any, Any]:
    """Capacity g(z, y) and passive force p(z) over F0, for z and y = dz/dt [1/s] as columns of T n symbols."""
    rows, muscles = problem.n_frames, problem.muscles
    optimal, stretch = columns(muscles.optimal_fiber_length, rows), columns(muscles.stretch, rows)
    free = columns(problem.musculotendon_length, rows) - columns(muscles.rest, rows) - stretch * z
    along = 0.5 * (free + casadi.sqrt(free**2 + (LEAST_ALONG * optimal) ** 2))
    fiber = casadi.sqrt(along**2 + columns(muscles.thickness, rows) ** 2)
    cosine = along / fiber
    velocity = (columns(problem.musculotendon_velocity, rows) - stretch * rate) * cosine
    fastest = columns(muscles.max_shortening_velocity, rows) * optimal
    by_length = spline(muscles.curves.active, fiber / optimal, rows)
    by_velocity = spline(muscles.curves.velocity, velocity / fastest, rows)
    return by_length * by_velocity * cosine, _passive(problem, fiber / optimal, rows) * cosine


def _passive(problem: MotionProblem, length: Any, rows: int) -> Any:
    """Along the fiber, by l / L0."""
    muscles, element = problem.muscles, problem.muscles.passive
    zero, span = columns(element.at_zero, rows), columns(element.at_one - element.at_zero, rows)
    strength = columns(element.force / muscles.max_isometric_force, rows)
    return strength * spline(muscles.curves.passive, (length - 1.0 - zero) / span, rows)
