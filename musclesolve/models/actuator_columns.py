"""Ideal actuators of a body as columns of its force-sharing problem, beside the muscles.

An actuator with the control u in [u_min, u_max] and the optimal force F exerts u F, as in OpenSim's static
optimization: a moment, a force, or the tension of a path. Its row of moment arms is the generalized force of u F = 1.
Activations of a problem are not negative, so that an actuator has two columns, one for each sense:

    u = a_+ - a_-,    max(u_min, 0) <= a_+ <= max(u_max, 0),    max(-u_max, 0) <= a_- <= max(-u_min, 0) .

A sense that the bounds exclude has no column. Costs take it as a muscle of the strength F [N m, N]. A control without
a bound, the default of OpenSim, ends at AMPLE times what the moment of the frame and all muscles at full activation,
against the actuator, would demand of it: costs that grow with activation stay below.

With the moments of the actuators taken out, the muscles have a problem of their own, whose optimum the shared optimum
contains: a sum over muscles and actuators is least where each part of it is least for the moments that it bears.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import ARRAY_AXES
from musclesolve.sharing.solution import Solution

AMPLE = 10.0
"""Bound of a control that has none, as a multiple of the largest that muscles and the moment can demand."""


class Sense(NamedTuple):
    """One sense of an actuator: its number, + or -, and the bounds of its activation."""

    actuator: int
    sign: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class ActuatorColumns:
    """Actuators (K) along T frames, which act on m degrees of freedom.

    names: of the actuators; units: of their forces, "N m" or "N"; row (T, m, K): generalized force for a unit of each
    force; strength (K,): optimal forces; controls (K, 2): bounds of the controls.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    row: Array
    strength: Array
    controls: Array

    @property
    def acts(self) -> Mask:
        """Mask (m, K) of the degrees of freedom on which each actuator acts in some frame."""
        return np.asarray(np.abs(self.row).max(axis=0, initial=0.0) > 0.0)

    @cached_property
    def senses(self) -> tuple[Sense, ...]:
        """The columns: each sense that the bounds allow."""
        columns = []
        for number, bounds in enumerate(self.controls):
            for sign in (1.0, -1.0):
                lower, upper = sorted(max(sign * float(bound), 0.0) for bound in bounds)
                if upper > 0.0:
                    columns.append(Sense(number, sign, lower, upper))
        return tuple(columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns: NAME+ and NAME-."""
        return tuple(f"{self.names[one.actuator]}{'+' if one.sign > 0.0 else '-'}" for one in self.senses)

    def frames(self, which: slice | Indices) -> ActuatorColumns:
        """The actuators in some frames."""
        return replace(self, row=self.row[which])

    def part(self, dofs: Indices, which: Indices) -> ActuatorColumns | None:
        """Some of the actuators on some degrees of freedom, by number; None without any."""
        if not len(which):
            return None
        return ActuatorColumns(
            tuple(self.names[k] for k in which),
            tuple(self.units[k] for k in which),
            self.row[:, dofs][:, :, which],
            self.strength[which],
            self.controls[which],
        )

    def arms(self, rows: slice | Indices) -> Array:
        """Rows of the columns (T, m, K') on some degrees of freedom: moment arms of the problem."""
        signs = np.array([one.sign for one in self.senses])
        return self.row[:, rows][:, :, [one.actuator for one in self.senses]] * signs

    def joined(self, arrays: Mapping[str, Any], least: float, rows: slice | Indices) -> dict[str, Any]:
        """Arrays of a problem of n muscles with the columns of the actuators added, and bounds of all columns.

        least: the lower bound of muscles. rows: degrees of freedom of the problem. Arrays that are None stay None.
        """
        frames, count, number = len(self.row), len(self.senses), [one.actuator for one in self.senses]
        muscles = arrays["force_capacity"].shape[1]
        strength = self.strength[number]
        reactions = arrays.get("reaction_matrix")
        added: dict[str, Any] = {
            "moment_arm": self.arms(rows),
            "force_capacity": np.tile(strength, (frames, 1)),
            "fiber_force_capacity": np.tile(strength, (frames, 1)),
            "fiber_length": np.ones((frames, count)),
            "fiber_velocity": np.zeros((frames, count)),
            "passive_force": np.zeros((frames, count)),
            "emg": np.full((frames, count), np.nan),
            "max_isometric_force": strength,
            "optimal_fiber_length": np.ones(count),
            "reaction_matrix": None if reactions is None else np.zeros((*reactions.shape[:2], count)),
        }
        joined = {
            name: np.concatenate([values, added[name]], axis=-1)
            if values is not None and name in added
            else values
            for name, values in arrays.items()
        }
        most = arrays.get("upper")
        upper = np.ones((frames, muscles)) if most is None else np.broadcast_to(most, (frames, muscles))
        lower, bounds = (
            np.tile([getattr(one, bound) for one in self.senses], (frames, 1)) for bound in ("lower", "upper")
        )
        if (free := np.isinf(bounds)).any():
            bounds[free] = np.maximum(self._demand(arrays, rows)[:, number], lower + 1.0)[free]
        joined["lower"] = np.concatenate([np.full((frames, muscles), least), lower], axis=1)
        joined["upper"] = np.concatenate([upper, bounds], axis=1)
        return joined

    def _demand(self, arrays: Mapping[str, Any], rows: slice | Indices) -> Array:
        """Bounds (T, K) of controls that have none, each by the degree of freedom on which its actuator acts most."""
        row = np.abs(self.row[:, rows])
        all_muscles = (np.abs(arrays["moment_arm"]) * arrays["force_capacity"][:, None, :]).sum(axis=2)
        load = np.nan_to_num(np.abs(arrays["moment"])) + all_muscles
        main = row.argmax(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            demand = np.take_along_axis(load, main, axis=1) / (row.max(axis=1) * self.strength)
        return AMPLE * np.nan_to_num(demand, posinf=0.0)

    def split(self, solution: Solution) -> tuple[Solution, Array]:
        """The part of a solution that is of the muscles, and the forces (T, K) of the actuators.

        Multipliers, certificate and cost are of muscles and actuators together.
        """
        muscles = solution.force.shape[1] - len(self.senses)
        force = np.zeros((len(solution.force), len(self.names)))
        for column, one in enumerate(self.senses):
            force[:, one.actuator] += one.sign * solution.force[:, muscles + column]
        names = None if solution.muscle is None else solution.muscle[:muscles]
        some = {name: getattr(solution, name)[:, :muscles] for name in ("activation", "force")}
        return replace(solution, **some, muscle=names), force

    def without(self, problem: Problem, force: Array, rows: slice | Indices) -> Problem:
        """The problem of the muscles alone, less the moments of the forces (T, K) of the actuators."""
        muscles = problem.n_muscles - len(self.senses)
        some: dict[str, Any] = {
            name: array[..., :muscles]
            for name, axes in ARRAY_AXES.items()
            if axes[-1] == "n" and (array := getattr(problem, name)) is not None
        }
        some["moment"] = problem.moment - np.nan_to_num(self.moment(force)[:, rows])
        names = None if problem.muscle is None else problem.muscle[:muscles]
        return replace(problem, muscle=names, **some).with_arrays(
            largest_arm=problem.largest_arm[:, :muscles]
        )

    def moment(self, force: Array) -> Array:
        """Moments (T, m) of the forces (T, K) of the actuators."""
        return np.einsum("tmk,tk->tm", self.row, force)
