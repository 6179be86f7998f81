"""A cost that is not built in is checked before it is minimized."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import casadi
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from refusals import refused

import musclesolve as ms
from musclesolve import Problem, Status, solve
from musclesolve.sharing import expression_cost
from musclesolve.sharing.certificate import within_domain
from musclesolve.sharing.cost import ActivationPower, ForceSquared
from musclesolve.sharing.cost.cost_check import check_cost, check_solution

BOTH = pytest.mark.parametrize("solver", ["batch", "slsqp"])


@dataclass(frozen=True)
class Power(ms.Cost):
    """offset + factor sum_i a_i^p, and whatever a test spoils."""

    exponent: float = 2.0
    factor: float = 1.0
    offset: float = 0.0
    name: ClassVar[str] = "power"

    def term_value(self, problem, activation):
        return self.offset + self.factor * (activation**self.exponent).sum(axis=1)

    def term_gradient(self, problem, activation):
        return self.factor * self.exponent * activation ** (self.exponent - 1)

    def term_hessian_diagonal(self, problem, activation):
        p = self.exponent
        with np.errstate(divide="ignore"):
            return self.factor * p * (p - 1) * activation ** (p - 2)

    def term_parameters(self, problem):
        return ()

    def term_expression(self, casadi, activation, parameters):
        return self.offset + self.factor * casadi.sum1(activation**self.exponent)


class OneForAll(Power):
    def term_value(self, problem, activation):
        return np.square(activation).sum()


class FlatGradient(Power):
    def term_gradient(self, problem, activation):
        return 2 * activation.sum(axis=1)


class FlatCurvature(Power):
    def term_hessian_diagonal(self, problem, activation):
        return 2.0


class OtherGradient(Power):
    def term_gradient(self, problem, activation):
        return 4 * activation**3


class OneWrongMuscle(Power):
    def term_gradient(self, problem, activation):
        slope = super().term_gradient(problem, activation).copy()
        slope[:, 7] *= 0.995
        return slope


class NoValue(Power):
    def term_value(self, problem, activation):
        return np.full(len(activation), np.nan)


class NoSlope(Power):
    def term_gradient(self, problem, activation):
        return np.full_like(activation, np.nan)


class Concave(Power):
    def __init__(self):
        super().__init__(2.0, -1.0)


class OneSlope(Power):
    term_hessian_diagonal = ms.Cost.term_hessian_diagonal

    def term_gradient(self, problem, activation):
        return super().term_gradient(problem, activation).sum(axis=1)


class OneCurvature(Power):
    needs = frozenset({"coupled"})

    def term_hessian(self, problem, activation):
        return self.term_hessian_diagonal(problem, activation)


class ListedSlopes(OneSlope):
    def term_gradient(self, problem, activation):
        return (2 * activation).tolist()


@BOTH
@pytest.mark.parametrize(
    ("kind", "part"),
    [
        (OneSlope, "term_gradient has the shape"),
        (ListedSlopes, "term_gradient returns an object of type list"),
        (OneCurvature, "term_hessian has the shape"),
        (OneForAll, "value"),
        (FlatGradient, "gradient"),
        (FlatCurvature, "hessian_diagonal"),
        (OtherGradient, "gradient is"),
        (OneWrongMuscle, "muscle_7"),
        (NoValue, "term_value is nan"),
        (NoSlope, "term_gradient is nan"),
        (Concave, "not convex"),
    ],
)
def test_a_cost_that_contradicts_itself_is_refused(make_leg, solver, kind, part):
    problem = make_leg(3)
    for cost in (kind(), 2 * kind() + ForceSquared()):
        with refused("bad_cost", "the cost power", part):
            solve(problem, cost, solver)
    with refused("bad_cost", part):
        solve(problem.frames(np.array([1])), kind(), solver)


@settings(max_examples=50)
@given(
    exponent=st.sampled_from([1.0, 1.01, 1.5, 2.0, 3.0, 10.0, 40.0]),
    factor=st.floats(-12, 12).map(lambda x: 10**x),
    offset=st.sampled_from([0.0, 1.0, -1e3, 1e9]),
    width=st.floats(-9, 1).map(lambda x: 10**x),
    frames=st.integers(1, 5),
)
@example(exponent=40.0, factor=1.0, offset=0.0, width=1e-08, frames=1)
@example(exponent=40.0, factor=1e-07, offset=0.0, width=1e-07, frames=1)
def test_a_right_gradient_is_never_refused(exponent, factor, offset, width, frames):
    random = np.random.default_rng(frames)
    upper = random.uniform(0, width, (frames, 6))
    upper[:, 0] = 0.0
    arms, capacity = random.uniform(-0.05, 0.05, (frames, 2, 6)), np.ones((frames, 6))
    problem = Problem(arms, np.zeros((frames, 2)), capacity, np.ones(6), upper=upper)
    check_cost(problem, Power(exponent, factor, offset))


@pytest.mark.parametrize("name", list(ms.costs()))
def test_the_built_in_costs_would_pass(make_leg, name):
    cost = type("Copy", (ms.costs()[name].kind,), {"__module__": "elsewhere"})()
    assert not cost.built_in
    check_cost(within_domain(make_leg(6), cost), cost)


def test_an_infinite_derivative_at_a_bound_is_allowed(make_leg):
    """The curvature of a^1.5 is infinite at rest."""
    problem = make_leg(4)
    mine, known = solve(problem, Power(1.5)), solve(problem, ActivationPower(1.5))
    assert (mine.status == Status.SOLVED).all()
    np.testing.assert_allclose(mine.activation, known.activation, atol=1e-8)


def test_an_error_inside_a_class_names_the_frames_that_it_is_called_with(make_leg):
    problem = make_leg(30)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, problem.lower.shape)

    class Weighted(Power):
        def term_value(self, problem, activation):
            return (weight * activation**2).sum(axis=1)

    class ByFrame(Power):
        def term_value(self, problem, activation):
            return (weight[problem.frame_number] * activation**2).sum(axis=1)

        def term_gradient(self, problem, activation):
            return 2.0 * weight[problem.frame_number] * activation

        def term_hessian_diagonal(self, problem, activation):
            return 2.0 * weight[problem.frame_number]

    with pytest.raises(ValueError, match="broadcast") as raised:
        solve(problem, Weighted())
    assert "problem.frame_number" in raised.value.__notes__[0]
    assert solve(problem, ByFrame()).solved.all()


def test_invalid_frames_are_not_checked(make_leg):
    problem = make_leg(4)
    moment, capacity = problem.moment.copy(), problem.force_capacity.copy()
    moment[0], capacity[3] = np.nan, np.nan
    answer = solve(replace(problem, moment=moment, force_capacity=capacity), Power())
    assert answer.status.tolist() == [Status.INVALID_INPUT, 0, 0, Status.INVALID_INPUT]
    nothing = solve(replace(problem, moment=np.full_like(moment, np.nan)), Power())
    assert (nothing.status == Status.INVALID_INPUT).all()


@pytest.mark.parametrize("solver", ["ipopt", "slsqp"])
@pytest.mark.parametrize(
    "hollow",
    [lambda a, f, d: casadi.sum1(casadi.sin(3 * a) ** 2), lambda a, f, d: casadi.sumsqr(a) - 4 * a[0] * a[1]],
)
def test_no_solver_takes_a_cost_wrongly_declared_convex(solver, hollow):
    problem = Problem([[0.05, 0.03, -0.04]], [30.0], [1000.0, 2000, 1500], [1000.0, 2000, 1500])
    cost = expression_cost("hollow", hollow, convex=True)
    for declared in (cost, 2 * cost + ActivationPower(3.0) * 1e-3):
        with refused("bad_cost", "hollow"):
            solve(problem, declared, solver)
    honest = expression_cost("hollow", hollow)
    assert solve(problem, honest, solver).cost_name == "hollow"


def test_non_convexity_only_at_the_solution_is_noticed():
    """A narrow ridge where the moment is met, which the points between the bounds do not meet."""
    problem = Problem([[0.05, 0.05]], [40.0], [1000.0, 1000.0], [1000.0, 1000.0])

    def ridged(a, force, data):
        return casadi.sumsqr(a) + 1e-6 * casadi.exp(-(((a[0] + a[1] - 0.8) / 1e-4) ** 2))

    cost = expression_cost("ridged", ridged, convex=True)
    check_cost(problem, cost)
    with refused("bad_cost", "ridged"):
        solve(problem, cost, "ipopt")


class StatedConcave(Concave):
    needs = frozenset({"separable", "nonconvex"})


def test_a_stated_concave_cost_is_only_stationary(make_leg):
    solution = solve(make_leg(2), StatedConcave(), "ipopt")
    assert solution.stationary_only
    assert "not known to be convex" in solution.summary()


def test_a_linear_expression_is_a_linear_program(make_leg):
    total = expression_cost("total", lambda a, force, data: casadi.sum1(a))
    found, known = (solve(make_leg(2), cost, "linprog") for cost in (total, ActivationPower(1)))
    assert found.solved.all() and not found.stationary_only
    np.testing.assert_allclose(found.cost, known.cost, rtol=1e-9)


PIECES = {
    "less_with_more": lambda a, f, data: casadi.sum1(casadi.fmin(3 * a, 0.5 + 0.1 * a)),
    "fewer_steps": lambda a, f, data: casadi.sum1(casadi.floor(10 * a)),
    "cheap_above": lambda a, f, data: casadi.sum1(casadi.if_else(a > 0.3, 0.2 * a, 2 * a)),
    "away": lambda a, f, data: -casadi.sum1(casadi.fabs(a - 0.1)),
}
TWINS = Problem([[0.05, 0.05, -0.04]], [20.0], [1000.0, 1000.0, 400.0], [1000.0, 1000.0, 400.0])


@pytest.mark.parametrize("name", PIECES)
def test_pieces_without_second_derivatives_are_neither_linear_nor_convex(name):
    """Elsewhere their second derivatives are zero: of twins a point was certified that costs 1.9 times the least."""
    assert "nonconvex" in expression_cost(name, PIECES[name]).needs
    with refused("bad_cost", "a tangent to it has"):
        solve(TWINS, expression_cost(name, PIECES[name], convex=True), "slsqp")


def test_an_optimum_at_a_corner_names_its_reason_and_the_remedy_helps():
    """|a - 0.2| is least where a muscle rests in the corner; the rounded form of the note is solved by all."""
    corner = expression_cost("corner", lambda a, f, data: casadi.sum1(casadi.fabs(a - 0.2)), convex=True)
    found = solve(TWINS, corner)
    assert not found.solved.any() and "sqrt(x**2 + 1e-4)" in found.summary()
    rounded = expression_cost(
        "rounded", lambda a, f, data: casadi.sum1(casadi.sqrt((a - 0.2) ** 2 + 1e-4)), convex=True
    )
    activations = [solve(TWINS, rounded, solver).activation for solver in ("batch", "ipopt", "slsqp")]
    np.testing.assert_allclose(activations, [activations[0]] * 3, atol=1e-6)
    assert corner.value(TWINS, activations[0][None])[0] == pytest.approx(
        0.06, abs=0.01
    )  # least: a third muscle at 0.2


def test_pieces_of_constants_alone_leave_a_cost_linear():
    linear = expression_cost(
        "weighted", lambda a, f, data: casadi.sum1(casadi.fmax(data.w, 1.0) * a), constants={"w": np.ones(3)}
    )
    found = solve(TWINS, linear)
    assert linear.linear and found.solved.all() and not found.stationary_only and not found.notes


@pytest.mark.parametrize("name", ["soft hinge", "soft maximum"])
def test_rounding_of_a_vanishing_curvature_is_no_sign_of_concavity(name):
    def value(activation, force, data):
        if name == "soft hinge":
            return casadi.sum1(casadi.log1p(casadi.exp(200.0 * (activation - 0.3)))) / 200.0
        return casadi.log(casadi.sum1(casadi.exp(100.0 * activation))) / 100.0

    cost = expression_cost(name, value, convex=True)
    many = TWINS.frames(np.zeros(400, int))
    check_solution(many, cost, np.random.default_rng(0).uniform(0.0, 1.0, (400, 3)))
    concave = expression_cost(name, lambda *parts: -value(*parts), convex=True)
    with pytest.raises(ms.InputError, match="second derivative"):
        check_solution(TWINS, concave, np.array([[0.3, 0.31, 0.32]]))


@dataclass(frozen=True)
class Coupled(ms.Cost):
    """A cost of a class in which muscles couple; derivatives by CasADi, and whatever a test spoils."""

    kind: str = "soft maximum"
    steepness: float = 50.0
    factor: float = 1.0
    spoiled: bool = False
    name: ClassVar[str] = "coupled"
    needs = frozenset({"coupled"})

    def _parts(self, activation):
        a = casadi.SX.sym("a", activation.shape[1])
        hessian, slope = casadi.hessian(value := self.term_expression(casadi, a, ()), a)
        function = casadi.Function("parts", [a], [value, slope, hessian])
        value, slope, hessian = zip(*(function(row) for row in activation), strict=True)
        return np.ravel(value), np.array(slope)[:, :, 0], np.array([np.array(each) for each in hessian])

    def term_value(self, problem, activation):
        return self._parts(activation)[0]

    def term_gradient(self, problem, activation):
        return self._parts(activation)[1]

    def term_hessian(self, problem, activation):
        hessian = self._parts(activation)[2]
        return np.abs(hessian) * np.eye(hessian.shape[1]) if self.spoiled else hessian

    def term_hessian_diagonal(self, problem, activation):
        return np.einsum("tii->ti", self.term_hessian(problem, activation))

    def term_parameters(self, problem):
        return ()

    def term_expression(self, casadi, a, parameters):
        k = self.steepness
        if self.kind == "soft maximum":
            return self.factor * casadi.log(casadi.sum1(casadi.exp(k * a))) / k
        return self.factor * (casadi.sumsqr(a) - k * a[0] * a[1])


class Uncoupled(Coupled):
    needs = frozenset({"separable"})
    term_hessian = ms.Cost.term_hessian

    def term_hessian_diagonal(self, problem, activation):
        return np.full_like(activation, 2.0)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("factor", [1e-9, 1.0, 1e9])
def test_a_coupled_class_that_is_convex_is_never_refused(factor):
    """The curvatures of a soft maximum cancel: what remains of them is rounding of either sign."""
    points = np.random.default_rng(0).uniform(0.0, 1.0, (60, 3))
    for steepness in (1.0, 20.0, 200.0):
        cost = Coupled(steepness=steepness, factor=factor)
        check_cost(TWINS, cost)
        check_solution(TWINS.frames(np.zeros(60, int)), cost, points)
    found = solve(TWINS, Coupled(steepness=10.0, factor=factor), "ipopt")
    assert found.solved.all() and not found.stationary_only


@pytest.mark.parametrize(
    ("cost", "part"),
    [
        (Coupled("product", 3.0), "not convex"),
        (Coupled("product", 3.0, spoiled=True), "second derivative by muscle_0 and muscle_1 is 0"),
        (Coupled("product", 1.0, spoiled=True), "differences of term_gradient give -1"),
        (Uncoupled("product", 1.0), "second derivative by muscle_0 and muscle_1"),
        (Coupled(factor=-1.0), "not convex"),
    ],
)
def test_a_coupled_class_with_a_wrong_hessian_or_a_saddle_is_refused(cost, part):
    with refused("bad_cost", "the cost coupled", part):
        solve(TWINS, cost, "slsqp")


class Capped(Power):
    """min(3 a, 0.5 + 0.1 a) for each muscle: no second derivative shows that it is not convex."""

    def term_value(self, problem, activation):
        return np.minimum(3 * activation, 0.5 + 0.1 * activation).sum(axis=1)

    def term_gradient(self, problem, activation):
        return np.where(3 * activation < 0.5 + 0.1 * activation, 3.0, 0.1)

    def term_hessian_diagonal(self, problem, activation):
        return np.zeros_like(activation)


def test_tangents_show_the_pieces_of_a_class():
    with refused("bad_cost", "the cost power", "a tangent to it has"):
        solve(TWINS, Capped(), "slsqp")


def test_tangents_at_solutions_show_a_dip_between_the_points():
    """A dip of convex pieces: its rim alone bends downward, and only solutions inside it have such tangents."""
    dip = expression_cost(
        "dip",
        lambda a, f, d: casadi.sumsqr(a) - 0.4 * casadi.sum1(casadi.fmax(0, 1 - ((a - 0.287) / 3e-3) ** 2)),
        convex=True,
    )
    moment = np.linspace(5.0, 75.0, 40)[:, None]
    problem = Problem(np.full((40, 1, 2), 0.04), moment, np.full((40, 2), 1000.0), np.full(2, 1000.0))
    check_cost(problem, dip)  # no point and no line touches the dip
    with refused("bad_cost", "dip", "a tangent to it has"):
        solve(problem, dip)


def cap(most, sign=1.0):
    """A cost that is convex up to a sum of sign times the activations of `most`, and bends down beyond."""

    def formula(activation, force, data):
        beyond = casadi.fmax(0.0, sign * casadi.sum1(activation) - most)
        return casadi.sumsqr(activation) - 30.0 * beyond**3

    return expression_cost("cap", formula, convex=True)


@pytest.mark.parametrize("frames", [1, 100])
def test_a_cost_that_bends_down_between_a_solution_and_the_bounds_is_refused(frames):
    """One muscle at its bound does not show it, all muscles together do."""
    moment = np.linspace(10.0, 20.0, frames)[:, None]
    problem = Problem(np.full((frames, 1, 3), 0.05), moment, np.full((frames, 3), 400.0), np.full(3, 400.0))
    solution = solve(problem, cap(5.0))
    assert solution.solved.all()
    last = frames - 1
    with refused(
        "bad_cost", "cap", "line from the solution of frame", "upper bounds", "slope falls from", "% of"
    ):
        check_solution(problem, cap(2.5), solution.activation)
    with refused("bad_cost", "to its lower bounds"):
        check_solution(problem, cap(-0.5, -1.0), np.full((frames, 3), 0.9))
    numbered = problem.frames(np.array([last]))
    with refused("bad_cost", f"of frame {last} to its upper"):
        check_solution(numbered, cap(2.5), solution.activation[[last]])
