"""The motion as one sparse nonlinear programme with its numbers scaled to order one.

Unknowns x: the states z (S, n), their rates h y (S, n) with the mean time h between frames, the activations a (S, n),
and where there are reserves these, over the largest lever of their row (M, m). Constraints g, in this order:

    moments    (sum_i r F + s - M) / largest lever = 0         (M, m)
    balance    f(z) - a g(z, y) - p(z) = 0                     (S, n)
    rates      B_z z + B_y y = 0                               (L, n)
    limits     a+ - e_d a >= 0,  e_a a - a+ >= -(1 - e_a)      between neighboring points, twice (S - 1, n)

The objective is the cost over the steepest slope of a muscle at a typical load.

A tendon force is never negative where a >= 0 and the balance holds. So the lower bound of z follows from the other
constraints and would only make gradients of active constraints dependent; it is moved away by MARGIN, except where the
tendon curve is flat at its start and the bound is what determines z.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi
import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory.activation_limits import ActivationLimits
from musclesolve.trajectory.collocation.casadi_cost import cost_integral, cost_size
from musclesolve.trajectory.collocation.casadi_equilibrium import fiber_forces, tendon_force
from musclesolve.trajectory.collocation.motion_between_frames import motion_at
from musclesolve.trajectory.collocation.transcription import Transcription
from musclesolve.trajectory.motion import coordinate_bounds
from musclesolve.trajectory.motion_cost import MotionCost
from musclesolve.trajectory.motion_problem import MotionProblem

MARGIN = 0.02
FLAT = 1e-2
"""Below this slope at its start a tendon curve does not hold z by itself."""


@dataclass(frozen=True, eq=False)
class Programme:
    """The programme of a motion.

    problem, cost: at the points of the transcription; held: the problem at the times of its moments; step: mean time
    between frames [s]; size: cost per unit of the objective; row (M, m): largest levers [N m].
    """

    transcription: Transcription
    problem: MotionProblem
    cost: MotionCost
    held: MotionProblem
    step: float
    size: float
    row: Array

    @classmethod
    def of(cls, problem: MotionProblem, cost: MotionCost, transcription: Transcription) -> Programme:
        """Of a motion by a transcription of its frames."""
        fine = motion_at(problem, transcription.time)
        at_points = cost if fine is problem else MotionCost.of(fine, cost.cost)
        same = np.array_equal(transcription.time, transcription.moment_time)
        held = fine if same else motion_at(problem, transcription.moment_time)
        row = np.abs(held.lever).max(axis=2)
        step = float(np.diff(problem.time).mean())
        largest = np.where(row > 0.0, row, 1.0)
        return cls(transcription, fine, at_points, held, step, cost_size(at_points), largest)

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of the blocks of x: states, rates, activations, reserves."""
        points = self.problem.musculotendon_length.shape
        return points, points, points, (0, 1) if self.problem.reserve_weight is None else self.row.shape

    @property
    def row_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of the blocks of g: moments, balance, rates, limits; without time constants there are no limits."""
        points, muscles = self.problem.musculotendon_length.shape
        limits = (0, 1) if self.problem.limits is None else (2, points - 1, muscles)
        return self.row.shape, (points, muscles), (self.transcription.by_rate.shape[0], muscles), limits

    @cached_property
    def bounds(self) -> dict[str, Array]:
        """lbx, ubx, lbg, ubg as Ipopt takes them."""
        low, high = coordinate_bounds(self.problem, self.cost)
        low = np.where(self._flat, low, low - MARGIN)
        rates, reserves = np.full(self.shapes[1], np.inf), np.full(self.shapes[3], np.inf)
        limits = self.row_shapes[3]
        least = np.zeros(limits)
        if self.problem.limits is not None:
            least[1] = self._limits.e_a - 1.0
        equations = np.zeros(sum(int(np.prod(shape)) for shape in self.row_shapes[:3]))
        return {
            "lbx": joined(low, -rates, self.problem.lower, -reserves),
            "ubx": joined(high, rates, self.problem.upper, reserves),
            "lbg": joined(equations, least),
            "ubg": joined(equations, np.full(limits, np.inf)),
        }

    @cached_property
    def functions(self) -> dict[str, Any]:
        """x, f, g: symbols, objective and constraints as expressions."""
        blocks = [
            casadi.MX.sym(name, int(np.prod(shape))) for name, shape in zip("zyas", self.shapes, strict=True)
        ]
        z, y, a, s = blocks
        tendon = tendon_force(self.problem, z)
        capacity, passive = fiber_forces(self.problem, z, y / self.step)
        active = tendon - passive
        objective = cost_integral(self.cost, self.transcription.weight, active, a) / self.size
        if self.problem.reserve_weight is not None:
            objective = objective + 0.5 * casadi.dot(casadi.DM(self._reserve_weight.ravel()), s**2)
        rows = [self._moments(z, s), active - a * capacity, self._rates(z, y), *self._of_limits(a)]
        return {"x": casadi.vertcat(*blocks), "f": objective, "g": casadi.vertcat(*rows)}

    def unknowns(self, x: Array) -> list[Array]:
        """States, rates [1/s], activations and reserves [N m] of x."""
        z, y, a, s = split(x, self.shapes)
        reserve = s * self.row if s.size else np.zeros(self.row.shape)
        return [z, y / self.step, a, reserve]

    def start(self, z: Array, rate: Array, activation: Array) -> Array:
        """The x of states, rates [1/s] and activations (S, n), without reserves."""
        return joined(z, rate * self.step, activation, np.zeros(self.shapes[3]))

    @property
    def _flat(self) -> Array:
        muscles = self.problem.muscles
        return np.asarray(muscles.curves.tendon(muscles.start).slope < FLAT)

    @property
    def _limits(self) -> ActivationLimits:
        return ActivationLimits.of(self.problem.limits, self.problem.time)

    @property
    def _reserve_weight(self) -> Array:
        """Of the scaled reserves in the objective: their compliances."""
        share = float(np.diff(self.held.time).mean()) / self.step
        return np.asarray(share / self.held.compliance * np.square(self.row) / self.size)

    def _moments(self, z: Any, reserve: Any) -> Any:
        from scipy import sparse

        muscles = len(self.held.muscles.names)
        lever = self.held.lever / self.row[:, :, None]
        matrix = casadi_matrix(sparse.block_diag(list(lever)))
        produced = matrix @ tendon_force(self.held, each_muscle(self.transcription.at_moments, muscles) @ z)
        needed = casadi.DM((self.held.moment / self.row).ravel())
        return produced - needed if self.problem.reserve_weight is None else produced + reserve - needed

    def _rates(self, z: Any, y: Any) -> Any:
        muscles = self.problem.musculotendon_length.shape[1]
        of_state, of_rate = self.transcription.by_state, self.transcription.by_rate / self.step
        return each_muscle(of_state, muscles) @ z + each_muscle(of_rate, muscles) @ y

    def _of_limits(self, a: Any) -> list[Any]:
        from scipy import sparse

        if self.problem.limits is None:
            return []
        count, muscles = self.problem.musculotendon_length.shape
        one = np.ones(count - 1)
        falls, rises = (-self._limits.e_d[:, 0], one), (self._limits.e_a[:, 0], -one)
        matrices = [sparse.diags(parts, [0, 1], shape=(count - 1, count)) for parts in (falls, rises)]
        return [each_muscle(matrix, muscles) @ a for matrix in matrices]


def joined(*parts: Array) -> Array:
    """All numbers of some arrays, one after the other."""
    return np.concatenate([np.asarray(part, dtype=float).ravel() for part in parts])


def split(values: Array, shapes: tuple[tuple[int, ...], ...]) -> list[Array]:
    """The blocks that `joined` put together."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def each_muscle(matrix: Any, muscles: int) -> Any:
    """A sparse matrix over times for columns of times and muscles."""
    from scipy import sparse

    return casadi_matrix(sparse.kron(matrix, sparse.identity(muscles)))


def casadi_matrix(matrix: Any) -> Any:
    """A sparse matrix of scipy as one of CasADi."""
    columns_first = matrix.tocsc()
    columns_first.sum_duplicates()
    ends, rows = columns_first.indptr.tolist(), columns_first.indices.tolist()
    height, width = columns_first.shape
    pattern = casadi.Sparsity(height, width, ends, rows)
    return casadi.DM(pattern, columns_first.data)
