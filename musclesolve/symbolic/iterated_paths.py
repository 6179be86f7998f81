"""Lengths of paths that the path engine finds by iteration, as CasADi functions.

First derivatives are the moment arms of the engine, exact at its tangent points. Second derivatives are central
differences of these, with about seven correct digits; third derivatives, on which the second ones of moments depend,
are differences of differences, with about five. No C code can be generated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from musclesolve._util.arrays import Array

STEP = {2: 1e-5, 3: 1e-3}
"""Change of a coordinate [rad or m] of the differences for each derivative."""

Evaluated = Callable[[Array], tuple[Array, Array]]
"""Lengths (T, n) [m] and moment arms (T, m, n) in poses (T, m)."""


class IteratedPaths(ca.Callback):  # type: ignore[misc]
    """Lengths (n,) of paths in a pose (m,), or their derivatives of the orders 1 to 3."""

    def __init__(self, evaluate: Evaluated, size: tuple[int, int], order: int = 0) -> None:
        ca.Callback.__init__(self)
        self._evaluate, self._size, self._order = evaluate, size, order
        self._kept: list[Any] = []  # CasADi does not keep Python's objects alive
        self.construct(f"iterated_paths_{order}", {})

    def get_n_in(self) -> int:
        """The pose."""
        return 1

    def get_n_out(self) -> int:
        """The lengths, or one derivative."""
        return 1

    def get_sparsity_in(self, i: int) -> Any:
        """A column (m,)."""
        return ca.Sparsity.dense(self._size[1], 1)

    def get_sparsity_out(self, i: int) -> Any:
        """Lengths (n,), derivatives (n, m), and derivatives of these, column after column, (n m, m)."""
        n, m = self._size
        rows = n * m ** max(self._order - 1, 0)
        return ca.Sparsity.dense(rows, m if self._order else 1)

    def eval(self, arguments: Any) -> list[Any]:
        """Evaluate the engine in one pose, or in the poses of the differences."""
        pose = np.array(arguments[0]).reshape(1, -1)
        if self._order == 0:
            return [ca.DM(self._evaluate(pose)[0][0])]
        slopes = self._slopes(pose, self._order, STEP.get(self._order, 0.0))
        return [ca.DM(slopes.reshape(self._size[1], -1).T)]

    def _slopes(self, poses: Array, order: int, step: float) -> Array:
        """All derivatives (T, n m^order) of an order, the coordinate of the last one first."""
        if order == 1:
            return -self._evaluate(poses)[1].reshape(len(poses), -1)
        steps = step * np.eye(poses.shape[1])
        moved = np.concatenate([poses[:, None] + steps, poses[:, None] - steps]).reshape(-1, poses.shape[1])
        after, before = np.split(self._slopes(moved, order - 1, step), 2)
        return ((after - before) / (2.0 * step)).reshape(len(poses), -1)

    def has_jacobian(self) -> bool:
        """Whether there is another derivative."""
        return self._order < max(STEP)

    def get_jacobian(self, name: str, inputs: Any, outputs: Any, options: Any) -> Any:
        """The derivative, in the form of CasADi: a function of pose and value."""
        derivative = IteratedPaths(self._evaluate, self._size, self._order + 1)
        pose, value = ca.MX.sym("q", self._size[1]), ca.MX.sym("value", ca.Sparsity(*self.size_out(0)))
        function = ca.Function(name, [pose, value], [derivative(pose)], inputs, outputs, options)
        self._kept += [derivative, function]
        return function
