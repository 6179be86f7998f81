"""The motion as one sparse nonlinear programme with its numbers scaled to order one.

Unknowns x: the states Z (S, n), their rates over the mean time between frames, h Y (P, n), the activations A (P, n),
and where there are reserves these, over the largest lever of their row (M, m). Constraints g, in this order:

    moments    (sum_i r F + s - M) / largest lever = 0         at points and frames (M, m)
    balance    f(z) - a g(z, y) - p(z) = 0                     at the points (P, n)
    rates      B_z Z + B_y Y = 0                               (L, n)
    limits     a+ - e_d a >= 0,  e_a a - a+ >= -(1 - e_a)      between neighboring points, twice (P - 1, n)

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

from musclesolve._util.arrays import Array, Indices
from musclesolve.trajectory.activation_limits import ActivationLimits
from musclesolve.trajectory.bounds import coordinate_bounds
from musclesolve.trajectory.collocation.casadi_cost import cost_integral, cost_size
from musclesolve.trajectory.collocation.casadi_equilibrium import fiber_forces, tendon_force
from musclesolve.trajectory.collocation.motion_between_frames import motion_at
from musclesolve.trajectory.collocation.transcription import Transcription
from musclesolve.trajectory.motion_cost import MotionCost
from musclesolve.trajectory.motion_problem import MotionProblem

MARGIN = 0.02
FLAT = 1e-2
"""Below this slope at its start a tendon curve does not hold z by itself."""


@dataclass(frozen=True, eq=False)
class Programme:
    """The programme of a motion: problem and cost at the states and at the points, unknowns, objective, constraints.

    step: mean time between frames [s]; size: cost per unit of the objective; row (M, m): largest levers [N m].
    """

    transcription: Transcription
    states: MotionProblem
    points: MotionProblem
    cost_states: MotionCost
    cost: MotionCost
    step: float
    size: float
    row: Array

    @classmethod
    def of(cls, problem: MotionProblem, cost: MotionCost, transcription: Transcription) -> Programme:
        """Of a motion by a transcription of its frames."""
        states = motion_at(problem, transcription.time)
        whole = cost if states is problem else MotionCost.of(states, cost.cost)
        same = len(transcription.point) == states.n_frames
        points = states if same else states.frames(transcription.point)
        row = np.abs(states.lever[transcription.moment]).max(axis=2)
        at_points = whole if same else MotionCost.of(points, cost.cost)
        return cls(
            transcription,
            states,
            points,
            whole,
            at_points,
            step=float(np.diff(problem.time).mean()),
            size=cost_size(at_points),
            row=np.where(row > 0.0, row, 1.0),
        )

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Of the blocks of x: states, rates, activations, reserves."""
        points = self.points.musculotendon_length.shape
        reserves = (0, 1) if self.states.reserve_weight is None else self.row.shape
        return self.states.musculotendon_length.shape, points, points, reserves  # type: ignore[return-value]

    @property
    def row_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of the blocks of g: moments, balance, rates, limits; without time constants there are no limits."""
        points, muscles = self.shapes[1]
        limits = (0, 1) if self.points.limits is None else (2, points - 1, muscles)
        return self.row.shape, (points, muscles), (self.transcription.by_rate.shape[0], muscles), limits

    @cached_property
    def bounds(self) -> dict[str, Array]:
        """lbx, ubx, lbg, ubg as Ipopt takes them."""
        low, high = coordinate_bounds(self.states, self.cost_states)
        low = np.where(self._flat, low, low - MARGIN)
        rates, reserves = np.full(self.shapes[1], np.inf), np.full(self.shapes[3], np.inf)
        limits = self.row_shapes[3]
        least = np.zeros(limits)
        if self.points.limits is not None:
            least[1] = self._limits.e_a - 1.0
        equations = np.zeros(sum(int(np.prod(shape)) for shape in self.row_shapes[:3]))
        return {
            "lbx": joined(low, -rates, self.points.lower, -reserves),
            "ubx": joined(high, rates, self.points.upper, reserves),
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
        tendon = tendon_force(self.states, z)
        of_points = chosen(z, self.transcription.point, self.shapes[0])
        capacity, passive = fiber_forces(self.points, of_points, y / self.step)
        active = chosen(tendon, self.transcription.point, self.shapes[0]) - passive
        objective = cost_integral(self.cost, self.transcription.weight, active, a) / self.size
        if self.states.reserve_weight is not None:
            objective = objective + 0.5 * casadi.dot(casadi.DM(self._reserve_weight.ravel()), s**2)
        rows = [self._moments(tendon, s), active - a * capacity, self._rates(z, y), *self._of_limits(a)]
        return {"x": casadi.vertcat(*blocks), "f": objective, "g": casadi.vertcat(*rows)}

    def unknowns(self, x: Array) -> list[Array]:
        """States, rates [1/s], activations and reserves [N m] of x."""
        z, y, a, s = split(x, self.shapes)
        reserve = s * self.row if s.size else np.zeros(self.row.shape)
        return [z, y / self.step, a, reserve]

    def start(self, z: Array, rate: Array, activation: Array) -> Array:
        """The x of states (S, n), rates (P, n) [1/s] and activations (P, n), without reserves."""
        return joined(z, rate * self.step, activation, np.zeros(self.shapes[3]))

    @property
    def _flat(self) -> Array:
        muscles = self.states.muscles
        return np.asarray(muscles.curves.tendon(muscles.start).slope < FLAT)

    @property
    def _limits(self) -> ActivationLimits:
        return ActivationLimits.of(self.points.limits, self.points.time)

    @property
    def _reserve_weight(self) -> Array:
        """Of the scaled reserves in the objective: the compliances of the motion at the times of the moments."""
        held = self.states.frames(self.transcription.moment)
        share = float(np.diff(held.time).mean()) / self.step
        return np.asarray(share / held.compliance * np.square(self.row) / self.size)

    def _moments(self, tendon: Any, reserve: Any) -> Any:
        from scipy import sparse

        which = self.transcription.moment
        lever = self.states.lever[which] / self.row[:, :, None]
        matrix = casadi_matrix(sparse.block_diag(list(lever)))
        produced = matrix @ chosen(tendon, which, self.shapes[0])
        needed = casadi.DM((self.states.moment[which] / self.row).ravel())
        return produced - needed if self.states.reserve_weight is None else produced + reserve - needed

    def _rates(self, z: Any, y: Any) -> Any:
        muscles = self.shapes[0][1]
        of_state, of_rate = self.transcription.by_state, self.transcription.by_rate / self.step
        return each_muscle(of_state, muscles) @ z + each_muscle(of_rate, muscles) @ y

    def _of_limits(self, a: Any) -> list[Any]:
        from scipy import sparse

        if self.points.limits is None:
            return []
        count, muscles = self.shapes[1]
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


def chosen(column: Any, which: Indices, shape: tuple[int, int]) -> Any:
    """The rows of some times of a column of times and muscles."""
    if len(which) == shape[0]:
        return column
    place = np.asarray(which)[:, None] * shape[1] + np.arange(shape[1])
    return column[place.ravel().tolist()]


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
