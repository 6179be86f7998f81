"""Static optimization as one symbolic program: from pose, rates and joint moments to activations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve.constants import USUAL_COST
from musclesolve.errors import InputError
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_parameters import arrays_of, flat, parameter_symbols, shapes_of
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.symbolic.muscle_chain import MuscleChain


@dataclass(frozen=True, eq=False)
class SharingProgram:
    """Minimize f(x, p) subject to g(x, p) = 0 and 0 <= x <= 1, in symbols of CasADi.

    x (n,): activations; g (m,): muscle moments minus joint moments [N m]; p: pose q (m,), rates qd (m,), joint moments
    (m,) [N m], and the numbers of the cost. `nlp` is what `casadi.nlpsol` takes.
    """

    chain: MuscleChain
    cost: Cost
    x: Any
    f: Any
    g: Any
    p: Any

    @property
    def nlp(self) -> dict[str, Any]:
        """The program for `casadi.nlpsol`: x, f, g, p."""
        return {"x": self.x, "f": self.f, "g": self.g, "p": self.p}

    def problem(self, q: ArrayLike, qd: ArrayLike, moment: ArrayLike) -> Problem:
        """The problem of one pose for `ms.solve`; q, qd, moment (m,) [rad, rad/s, N m]."""
        chain, parameters = self.chain, self.chain.muscle_parameters
        fiber_length, fiber_velocity, cosine = map(_row, chain.fiber(q, qd))
        capacity, passive = _row(chain.capacity(q, qd)), _row(chain.passive(q, qd))
        arm = np.array(chain.moment_arm(q))
        return Problem(
            moment_arm=arm[None],
            moment=(np.asarray(moment, dtype=float) - arm @ passive[0])[None],
            force_capacity=capacity,
            max_isometric_force=parameters.max_isometric_force,
            muscle=chain.muscles,
            dof=chain.dofs,
            fiber_velocity=fiber_velocity,
            fiber_length=fiber_length,
            fiber_force_capacity=np.divide(capacity, cosine, out=np.zeros_like(cosine), where=cosine > 0.0),
            joint_angle=_row(q),
            joint_rate=_row(qd),
            optimal_fiber_length=parameters.optimal_fiber_length,
            joints_crossed=parameters.joints_crossed,
            passive_force=passive,
        )

    def parameters(self, q: ArrayLike, qd: ArrayLike, moment: ArrayLike) -> Array:
        """The numbers p of a pose; arguments as for `problem`."""
        numbers = self.cost.parameters(self.problem(q, qd, moment))
        return np.concatenate([*map(np.ravel, (q, qd, moment)), flat(numbers, 1)[0]])


def _row(value: Any) -> Array:
    return np.array(value).reshape(1, -1)


def sharing_program(chain: MuscleChain, cost: Cost | str = USUAL_COST) -> SharingProgram:
    """The static optimization of the muscles of a chain with rigid tendons, out of the pose.

        minimize f(a)  subject to  r(q) (a capacity(q, qd) + passive(q, qd)) = M,  0 <= a <= 1.

    Coefficients of the cost that depend on the pose are among the parameters p (`SharingProgram.parameters`).

    Args:
        chain: from `muscle_chain`, with rigid tendons and without factors.
        cost: a cost, or its name.

    Raises:
        InputError: an unknown cost; a chain with elastic tendons or factors.

    Examples:
        >>> chain = ms.symbolic.muscle_chain(muscles="silva_2003", side="r")
        >>> program = ms.symbolic.sharing_program(chain, "stress_cubed")
        >>> program.x.shape, program.g.shape
        ((43, 1), (7, 1))
    """
    cost = find_cost(cost)
    if chain.capacity is None or chain.factors:
        raise InputError(
            "the program needs rigid tendons and no factors",
            code="conflict",
            where="chain",
            expected="the chain of muscle_chain(..., tendon='rigid', factors=())",
            remedy="write the program with chain.moment",
        )
    dofs, count = len(chain.dofs), len(chain.muscles)
    q, qd, moment = (ca.MX.sym(name, dofs) for name in ("q", "qd", "moment"))
    a, none = ca.MX.sym("a", count), np.zeros(dofs)
    like = SharingProgram(chain, cost, a, None, None, None).problem(none, none, none)
    numbers = parameter_symbols(ca.MX.sym, shapes_of(cost.parameters(like)))
    return SharingProgram(
        chain=chain,
        cost=cost,
        x=a,
        f=cost.expression(ca, a, numbers),
        g=chain.moment(q, qd, a) - moment,
        p=ca.vertcat(q, qd, moment, *map(ca.vec, arrays_of(numbers))),
    )
