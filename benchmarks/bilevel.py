"""A motion optimized over a force-sharing inner problem (the bilevel approach that Silva 2003, 7.2, hopes for).

    python -m benchmarks.bilevel

A leg of two segments swings from one pose to another in 0.5 s, at rest at both ends. The outer unknowns c shape hip and
knee angle, the inner problem shares the moments M(c) of every frame among six muscles:

    minimize over c   E(c) = sum_t f(a_t) dt  with knee flexion >= 5 degrees,
    where             a_t = argmin { f(a) : A a = M_t(c), a >= 0 }

The gradient of the inner least cost is its multiplier lambda (`Solution.multiplier`, d cost / d moment), so that by the
envelope theorem dE/dc = sum_t lambda_t . dM_t/dc dt, exact without a derivative of the activations (which
`ms.sharing.solution_derivatives` has). A test checks it by differences; the optimum is found by a second route too, as
one problem of all activations and c together, by Ipopt.

The angles are q(t) = (1 - s) q0 + s q1 + b(t) c with minimum jerk s(t) and four shapes that vanish with their first two
derivatives at both ends; moments belong to a double pendulum (thigh, and shank with foot, of 70 kg: de Leva's shares
in round numbers). There is no ground, moment arms are constant, and capacities are maximum isometric forces: the
example is of the method, not of a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize

import musclesolve as ms
from benchmarks.arguments import command_line
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY

COST = "activation_power"
DURATION, FRAMES, TERMS = 0.5, 41, 4
MASS, LENGTH, CENTER, INERTIA = (9.9, 3.9), (0.42, 0.43), (0.18, 0.24), (0.15, 0.09)
"""Thigh, and shank with foot: mass [kg], length [m], center of mass from the proximal joint [m], inertia [kg m2]."""
BEGIN, END = np.radians([-15.0, 50.0]), np.radians([28.0, 8.0])
"""Hip flexion and knee flexion at toe-off and before heel strike [rad]."""
STRAIGHT = np.radians(5.0)
"""The least knee flexion of the motion [rad]: the outer problem has a constraint of its own, too."""
FREE = 20.0
"""Upper bound of activations: moments of every motion that is tried are within reach. The optimum has them below 1."""
MUSCLES = {
    "iliopsoas": (0.035, 0.0, 1900.0),
    "gluteus maximus": (-0.055, 0.0, 1500.0),
    "rectus femoris": (0.035, -0.045, 1000.0),
    "hamstrings": (-0.055, 0.03, 2500.0),
    "vasti": (0.0, -0.045, 4500.0),
    "biceps femoris short head": (0.0, 0.03, 600.0),
}
"""Arms about hip flexion and knee flexion [m], maximum isometric force [N]."""


def dynamics() -> Any:
    """Moments (2,) [N m] about hip and knee flexion from (q, qd, qdd), as a CasADi function: Lagrange's equations."""
    import casadi

    q, qd, qdd = (casadi.SX.sym(name, 2) for name in ("q", "qd", "qdd"))
    angle = casadi.vertcat(q[0], q[0] - q[1])  # of thigh and shank from the vertical, forward positive
    rate = casadi.jacobian(angle, q) @ qd
    knee = LENGTH[0] * casadi.vertcat(casadi.sin(angle[0]), -casadi.cos(angle[0]))
    kinetic, potential = 0.0, 0.0
    for k in range(2):
        place = (knee if k else 0.0) + CENTER[k] * casadi.vertcat(casadi.sin(angle[k]), -casadi.cos(angle[k]))
        speed = casadi.jacobian(place, q) @ qd
        kinetic += 0.5 * MASS[k] * casadi.dot(speed, speed) + 0.5 * INERTIA[k] * rate[k] ** 2
        potential += MASS[k] * STANDARD_GRAVITY * place[1]
    momentum = casadi.gradient(kinetic, qd)
    moment = (
        casadi.jacobian(momentum, qd) @ qdd
        + casadi.jacobian(momentum, q) @ qd
        - casadi.gradient(kinetic - potential, q)
    )
    return casadi.Function("moment", [q, qd, qdd], [moment])


@dataclass(frozen=True)
class Swing:
    """The outer problem: angles, moments and effort of coefficients c (2 TERMS,), the first half of the hip [rad]."""

    @cached_property
    def time(self) -> Array:
        """(T,) [s]."""
        return np.linspace(0.0, DURATION, FRAMES)

    @cached_property
    def basis(self) -> tuple[Array, Array, Array]:
        """Minimum jerk s and the shapes, with first and second derivatives: (T, 1 + TERMS) each."""
        x = np.polynomial.Polynomial([0.0, 1.0 / DURATION])
        jerk = 10.0 * x**3 - 15.0 * x**4 + 6.0 * x**5
        ends = 64.0 * (x * (1.0 - x)) ** 3  # zero with two derivatives at both ends
        shapes = [jerk, *(ends * (2.0 * x - 1.0) ** k for k in range(TERMS))]
        return tuple(
            np.stack([each.deriv(n)(self.time) if n else each(self.time) for each in shapes], 1)
            for n in range(3)
        )  # type: ignore[return-value]

    def angles(self, c: Array) -> tuple[Array, Array, Array]:
        """Angles (T, 2) [rad] with both derivatives."""
        weights = np.vstack([END - BEGIN, c.reshape(2, TERMS).T])
        q, qd, qdd = (shape @ weights for shape in self.basis)
        return BEGIN + q, qd, qdd

    @cached_property
    def symbols(self) -> tuple[Any, Any]:
        """Moments of all frames and their Jacobian by c, as CasADi functions of c."""
        import casadi

        of, c = dynamics(), casadi.SX.sym("c", 2 * TERMS)
        weights = casadi.vertcat(casadi.DM(END - BEGIN).T, casadi.reshape(c, TERMS, 2))
        q, qd, qdd = (casadi.DM(shape) @ weights for shape in self.basis)
        rows = [of(casadi.DM(BEGIN) + q[t, :].T, qd[t, :].T, qdd[t, :].T) for t in range(FRAMES)]
        moments = casadi.vertcat(*rows)
        return casadi.Function("M", [c], [moments]), casadi.Function("dM", [c], [casadi.jacobian(moments, c)])

    def problem(self, c: Array) -> ms.Problem:
        """The inner problem of all frames."""
        arm, force = (
            np.array([row[:2] for row in MUSCLES.values()]).T,
            np.array([row[2] for row in MUSCLES.values()]),
        )
        moments = np.asarray(self.symbols[0](c)).reshape(FRAMES, 2)
        capacity = np.tile(force, (FRAMES, 1))
        return ms.Problem(
            arm,
            moments,
            capacity,
            force,
            upper=FREE,
            muscle=tuple(MUSCLES),
            dof=("hip_flexion", "knee_flexion"),
        )

    def solution(self, c: Array) -> ms.Solution:
        """The inner optimum."""
        return ms.solve(self.problem(c), COST)

    def effort(self, c: Array) -> tuple[float, Array]:
        """E [s] and dE/dc (2 TERMS,), by the multipliers of the inner problem."""
        found, step = self.solution(c), DURATION / (FRAMES - 1)
        jacobian = np.asarray(self.symbols[1](c)).reshape(FRAMES, 2, -1)
        return step * float(found.cost.sum()), step * np.einsum("tm,tmc->c", found.multiplier, jacobian)

    @cached_property
    def knee(self) -> tuple[Array, Array]:
        """Knee flexion (T,) [rad] of the minimum-jerk motion, and its derivative (T, 2 TERMS) by c."""
        shapes = self.basis[0][:, 1:]
        return self.angles(np.zeros(2 * TERMS))[0][:, 1], np.hstack([np.zeros_like(shapes), shapes])


def optimum(swing: Swing) -> Array:
    """The outer optimum, by SLSQP with the gradient of the multipliers and knee flexion >= `STRAIGHT`."""
    plain, slope = swing.knee
    bent = {"type": "ineq", "fun": lambda c: plain + slope @ c - STRAIGHT, "jac": lambda c: slope}
    found = minimize(
        lambda c: tuple(1e3 * each for each in swing.effort(c)),
        np.zeros(2 * TERMS),
        jac=True,
        method="SLSQP",
        constraints=[bent],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return np.asarray(found.x)


def at_once(swing: Swing) -> tuple[float, Array]:
    """The second route: least effort and c with the activations of all frames and c unknown together, by Ipopt."""
    import casadi

    c, a = casadi.SX.sym("c", 2 * TERMS), casadi.SX.sym("a", len(MUSCLES), FRAMES)
    arms = np.array([[arm * row[2] for arm in row[:2]] for row in MUSCLES.values()]).T
    moments = casadi.reshape(swing.symbols[0](c), 2, FRAMES)
    step, (plain, slope) = DURATION / (FRAMES - 1), swing.knee
    program = {
        "x": casadi.vertcat(c, casadi.vec(a)),
        "f": step * casadi.sum1(casadi.sum2(a**2)),
        "g": casadi.vertcat(
            casadi.vec(casadi.DM(arms) @ a - moments), casadi.DM(slope) @ c + plain - STRAIGHT
        ),
    }
    options = {"ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-12}, "print_time": False}
    free, count = np.full(2 * TERMS, np.inf), a.numel()
    found = casadi.nlpsol("swing", "ipopt", program, options)(
        x0=np.concatenate([np.zeros(2 * TERMS), np.full(count, 0.1)]),
        lbx=np.concatenate([-free, np.zeros(count)]), ubx=np.concatenate([free, np.full(count, FREE)]),
        lbg=0.0, ubg=np.concatenate([np.zeros(2 * FRAMES), np.full(FRAMES, np.inf)]),
    )  # fmt: skip
    return float(found["f"]), np.asarray(found["x"]).ravel()[: 2 * TERMS]


def main() -> None:
    """Print effort, and the second route beside it."""
    swing = Swing()
    plain, best = np.zeros(2 * TERMS), optimum(swing)
    before, after = swing.effort(plain)[0], swing.effort(best)[0]
    least, other = at_once(swing)
    apart = max(
        np.abs(one - two).max() for one, two in zip(swing.angles(best), swing.angles(other), strict=True)
    )
    console.print(
        f"Effort of the minimum-jerk motion {before:.5f} s, of the optimum {after:.5f} s "
        f"({100 * (after / before - 1):.0f} %). All unknowns at once: {least:.5f} s, "
        f"{abs(least / after - 1):.0e} of it apart; angles and derivatives {apart:.0e} apart."
    )


if __name__ == "__main__":
    command_line(__doc__).parse_args()
    main()
