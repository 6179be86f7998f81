"""Force sharing for the muscles of a biorbd model (.bioMod): arms, forces and inverse dynamics of biorbd.

The force of a muscle grows linearly with its activation, so that its capacity is F(1) - F(0) and its passive force
F(0), at the length and velocity of the pose. No external forces act: the model hangs, or moves freely.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_increasing
from musclesolve.errors import input_error, not_installed
from musclesolve.mujoco import check_limits, problem_of_arms, turn_or
from musclesolve.sharing.problem import Problem


@dataclass(frozen=True, eq=False)
class BiorbdModel:
    """A biorbd model whose muscles share moments; model: the biorbd.Model."""

    model: Any

    @classmethod
    def read(cls, path: str | Path) -> BiorbdModel:
        """The model of a file (.bioMod).

        Raises:
            InputError: the file cannot be read by biorbd, or has no muscles; biorbd is not installed.
        """
        try:
            import biorbd
        except ImportError as fault:
            raise not_installed("a biorbd model needs", "biorbd", "biorbd") from fault
        try:
            model = biorbd.Model(str(path))
        except (RuntimeError, ValueError) as fault:
            raise input_error(
                "unreadable_file",
                file=Path(path),
                problem=f"biorbd cannot read the model: {' '.join(str(fault).split())[:300]}",
                expected="a model of biorbd (.bioMod)",
                remedy="load it with biorbd, which says the same",
            ) from fault
        if not model.nbMuscles():
            raise input_error(
                "bad_model",
                file=Path(path),
                problem="the model has no muscles",
                expected="muscles, which share the moments",
                remedy="give a model with muscles",
            )
        return cls(model)

    @property
    def positions(self) -> tuple[str, ...]:
        """Names of the nq coordinates of a pose."""
        return self.coordinates

    @property
    def limits(self) -> Array:
        """Least and greatest coordinates (nq, 2) of a pose: a turn of an angle, and its range; others are free."""
        ranges = [each for segment in self.model.segments() for each in segment.QRanges()]
        return np.array(
            [
                turn_or((each.min(), each.max())) if "_Rot" in name else (-np.inf, np.inf)
                for name, each in zip(self.positions, ranges, strict=True)
            ]
        )

    @property
    def muscles(self) -> tuple[str, ...]:
        """Names of the n muscles."""
        return tuple(name.to_string() for name in self.model.muscleNames())

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the nq coordinates."""
        return tuple(name.to_string() for name in self.model.nameDof())

    def problem(
        self,
        time: Array,
        q: Array,
        *,
        least_activation: float = 0.0,
        reserve_weight: float | None = None,
    ) -> Problem:
        """Make the force-sharing problem of a motion without external forces.

        Args:
            time: (T,) [s].
            q: (T, nq) coordinates [rad, m]; rates are differences, so that a measured motion must be smooth.
            least_activation: lower bound of the activations.
            reserve_weight: see `Problem`.

        Raises:
            InputError: an array has another shape, numbers are not finite, or an angle is beyond a turn and its range.
        """
        model, time = self.model, check_increasing(time, where="time")
        q = check_array(q, "q", (len(time), model.nbQ()))
        check_limits(q, self.positions, self.limits)
        rate = np.gradient(q, time, axis=0)
        of_frames = zip(q, rate, np.gradient(rate, time, axis=0), strict=True)
        muscles = [model.muscle(k) for k in range(model.nbMuscles())]
        rows: list[tuple[Array, ...]] = []
        for pose, speed, change in of_frames:
            tau = model.InverseDynamics(pose, speed, change).to_array()
            model.updateMuscles(pose, speed, True)
            arm = -model.musclesLengthJacobian().to_array().T
            length = np.array([muscle.length(model, pose, False) for muscle in muscles])
            rows.append((tau, arm, self._force(pose, speed, 1.0), self._force(pose, speed, 0.0), length))
        tau, arm, most, passive, length = map(np.array, zip(*rows, strict=True))
        parameters = [muscle.characteristics() for muscle in muscles]
        return problem_of_arms(
            *(time, arm, tau, most - passive, passive),
            self.coordinates,
            least_activation,
            reserve_weight,
            max_isometric_force=np.array([each.forceIsoMax() for each in parameters]),
            muscle=self.muscles,
            fiber_length=length,
            optimal_fiber_length=np.array([each.optimalLength() for each in parameters]),
        )

    def _force(self, pose: Array, speed: Array, activation: float) -> Array:
        """Forces (n,) of all muscles at one activation [N]."""
        states = self.model.stateSet()
        for state in states:
            state.setActivation(activation)
        return np.array(self.model.muscleForces(states, pose, speed).to_array())
