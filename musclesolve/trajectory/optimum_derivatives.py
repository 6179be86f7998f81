"""Change of the optimum of a motion with the parameters of its muscles.

The optimum x = (z, a, lambda, mu) satisfies the conditions of a stationary point G(x, p) = 0: the slopes of the
Lagrangian of certificate.py, and the misses of moments and balance, are zero. As long as the same bounds and limits are
active, its derivative by a parameter p follows from the implicit function theorem (Fiacco 1983),

    G_x dx = -G_p,

and G_x is the matrix of Newton's method at the optimum (`BandedInteriorPoint`), factored once for all parameters:
bounds and limits enter by the ratios k / x of their multipliers and distances, large for active ones, zero for the
others. At the optimum the chains are not changed. Every parameter belongs to one muscle, so that G_p at fixed x has
separate columns for muscles: the difference of two evaluations, in which the parameters of all muscles differ at once.
"""

from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
from musclesolve.muscles.muscle_parameters import QUANTITIES, MuscleParameters
from musclesolve.trajectory.banded_interior_point import Linearized, MotionInteriorPoint
from musclesolve.trajectory.certificate import MotionAttempt
from musclesolve.trajectory.motion_problem import Equilibrium, MotionCost, MotionProblem

DIFFERENCE_STEP = 1e-4
"""Half the difference of the logarithm of a parameter in difference quotients; its square is the relative error."""
LARGEST_RATIO = 1e8
"""Largest multiplier of a bound over the scale of the cost: larger ones only lose digits."""


@dataclass(frozen=True, eq=False)
class OptimumChange:
    """Change of the optimum along K directions: activation and fiber_length [m] (K, T, n), reserve [N m] (K, T, m)."""

    activation: Array
    fiber_length: Array
    reserve: Array


class OptimumDerivatives:
    """The derivatives at the optimum of a motion, by the logarithms of the four `QUANTITIES` of its muscles.

    Args:
        problem: the motion; with a reserve weight if muscles may be too weak. cost: the minimized cost. attempt: an
            optimum, from `BandedInteriorPoint`.

    Attributes:
        known: whether the conditions determine a derivative.
        state: tendon and fiber at the optimum.
    """

    def __init__(self, problem: MotionProblem, cost: MotionCost, attempt: MotionAttempt) -> None:
        self.problem, self.attempt = problem, attempt
        method = MotionInteriorPoint(problem, cost)
        self.unit, basis = method.unit, problem.basis
        optimum = method.near(attempt, inside=0.0, ratio=LARGEST_RATIO)
        self.rate = basis.rates(optimum.c)
        self.state: Equilibrium = problem.state(attempt.coordinate, self.rate)
        with np.errstate(all="ignore"):
            self.linear: Linearized | None = method.linearize(optimum, convex=False)
        self.known = self.linear is not None
        self._by_muscle = [self._differences(cost, name) for name in QUANTITIES] if self.known else []

    def along(self, directions: Array) -> OptimumChange:
        """The derivative along directions (K, 4, n) of the logarithms of `QUANTITIES`; NaN where it is not known."""
        count, shape = len(directions), self.attempt.activation.shape
        change = OptimumChange(
            np.full((count, *shape), np.nan),
            np.full((count, *shape), np.nan),
            np.full((count, *self.problem.moment.shape), np.nan),
        )
        if self.linear is None:
            return change
        pull = self.problem.lever * self.state.tendon.value[:, None, :]
        for number, direction in enumerate(directions):
            missing, of_z, of_y, of_a, longer = (
                sum(by * way for by, way in zip(terms, direction, strict=True))
                for terms in zip(*self._by_muscle, strict=True)
            )
            # of all parameters, moments at fixed z depend on strength alone
            short = -np.einsum("tkn,n->tk", pull, direction[QUANTITIES.index("max_isometric_force")])
            moved = self.linear.response(missing, of_z, of_y, of_a, short)
            change.activation[number] = moved.a
            change.fiber_length[number] = longer + self.state.fiber_length_z * moved.z
            change.reserve[number] = self.problem.compliance * self.unit * moved.multiplier
        return change

    def _differences(self, cost: MotionCost, name: str) -> tuple[Array, Array, Array, Array, Array]:
        """Derivatives at fixed x of imbalance, slopes by z, y and a, and fiber length by the logarithm, (T, n) each."""
        ends = []
        for step in (-DIFFERENCE_STEP, DIFFERENCE_STEP):
            problem = with_parameters(
                self.problem, self.problem.muscles.parameters.scaled(name, np.exp(step))
            )
            ends.append(self._terms(problem, MotionCost.from_cost(problem, cost.cost)))
        return tuple((high - low) / (2.0 * DIFFERENCE_STEP) for low, high in zip(*ends, strict=True))  # type: ignore[return-value]

    def _terms(self, problem: MotionProblem, cost: MotionCost) -> tuple[Array, ...]:
        z = self.attempt.coordinate
        a = self.attempt.activation
        mu = self.attempt.balance_multiplier / self.unit
        state = problem.state(z, self.rate)
        load = cost.load(state)
        by_force, _, by_activation, _ = cost.slopes(load.value, a)
        weight = problem.weight[:, None] / self.unit
        pull = np.einsum("tkn,tk->tn", problem.lever, self.attempt.multiplier / self.unit)
        of_z = weight * by_force * load.slope - pull * state.tendon.slope
        of_z = of_z - mu * (state.active.slope - a * state.capacity.z)
        of_a = weight * by_activation + mu * state.capacity.value
        return state.imbalance(a), of_z, mu * a * state.capacity.y, of_a, state.fiber_length


def with_parameters(problem: MotionProblem, parameters: MuscleParameters) -> MotionProblem:
    """The motion with other parameters of the same muscles and the same curves."""
    muscles = problem.muscles
    strain = np.where(muscles.elastic, parameters.tendon_strain - muscles.strain_at_start, 0.0)
    changed: ElasticMuscles = replace(muscles, parameters=parameters, strain_by_coordinate=strain)
    return replace(problem, muscles=changed)
