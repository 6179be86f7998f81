"""Costs written by users: as CasADi expressions and as classes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import casadi
import numpy as np
import pytest
from packages import need_solver
from refusals import refused

import musclesolve as ms
from musclesolve import Problem, Status, solve
from musclesolve.sharing import expression_cost
from musclesolve.sharing.cost import ActivationPower, ForceSquared, StressCubed
from musclesolve.sharing.cost.cost_registry import find_cost


def stress(activation, force, data):
    return casadi.sum1((31.39 * force / data.max_isometric_force) ** 3)


def neighbors(activation, force, data):
    return casadi.sumsqr(activation) + casadi.sumsqr(activation[1:] - activation[:-1])


STRESS = expression_cost("stress", stress, uses=("max_isometric_force",), convex=True)
NEIGHBORS = expression_cost("neighbors", neighbors, convex=True)


def test_written_out_again_a_known_cost_is_itself(make_leg):
    problem = make_leg(8)
    activation = np.random.default_rng(1).random(problem.force_capacity.shape)
    known = StressCubed()
    for method in ("value", "gradient", "hessian_diagonal", "hessian"):
        np.testing.assert_allclose(
            getattr(STRESS, method)(problem, activation),
            getattr(known, method)(problem, activation),
            rtol=1e-10,
        )
    for solver in ("batch", "ipopt"):
        mine, theirs = solve(problem, STRESS, solver), solve(problem, known, solver)
        np.testing.assert_allclose(mine.activation, theirs.activation, atol=1e-9)
        assert (mine.status == Status.SOLVED).all() and mine.cost_name == "stress"


def test_the_needs_of_an_expression_follow_from_its_hessian():
    assert STRESS.needs == {"separable"}
    assert NEIGHBORS.needs == {"coupled"}
    assert expression_cost("x", lambda a, f, d: casadi.sumsqr(a)).needs == {"separable", "nonconvex"}
    picked = expression_cost("x", lambda a, f, d: a[40] ** 2 + a[3] ** 2, convex=True)
    assert picked.needs == {"separable"}
    assert (STRESS + 2 * NEIGHBORS).needs == {"separable", "coupled"}


def test_a_coupled_cost_is_solved_and_certified(make_leg):
    problem = make_leg(4)
    answer = solve(problem, NEIGHBORS, "ipopt")
    assert (answer.status == Status.SOLVED).all()
    mine = solve(problem, NEIGHBORS)
    assert mine.solver == "batch" and (mine.status == Status.SOLVED).all()
    np.testing.assert_allclose(mine.activation, answer.activation, atol=1e-6)
    plain = solve(problem, "activation_power")
    assert (NEIGHBORS.value(problem, plain.activation) > answer.cost).all()
    curvature = NEIGHBORS.hessian(problem, answer.activation)
    assert curvature[0, 0, 1] == -2.0 and curvature[0, 0, 0] == 4.0 and curvature[0, 1, 1] == 6.0


def test_the_derivatives_of_a_coupled_cost(make_leg):
    problem = make_leg(3)
    random = np.random.default_rng(2)
    activation, along = random.random((2, *problem.force_capacity.shape))
    up, down = activation + 1e-5 * along, activation - 1e-5 * along
    for cost in (NEIGHBORS, 2 * NEIGHBORS + ForceSquared() * 1e-6):
        slope = (cost.value(problem, up) - cost.value(problem, down)) / 2e-5
        np.testing.assert_allclose((cost.gradient(problem, activation) * along).sum(axis=1), slope, rtol=1e-7)
        bent = (cost.gradient(problem, up) - cost.gradient(problem, down)) / 2e-5
        np.testing.assert_allclose(
            np.einsum("tij,tj->ti", cost.hessian(problem, activation), along), bent, rtol=1e-6, atol=1e-6
        )


def test_constants_and_fields_reach_the_expression(make_leg):
    problem = make_leg(3)
    weight = np.arange(1.0, 44.0)
    cost = expression_cost(
        "weighted",
        lambda a, f, data: data.all * casadi.dot(data.each, a**2 * data.fiber_velocity**2),
        uses=("fiber_velocity",),
        constants={"each": weight, "all": 2.0},
        convex=True,
    )
    activation = np.random.default_rng(3).random(problem.force_capacity.shape)
    expected = 2 * (weight * activation**2 * problem.fiber_velocity**2).sum(axis=1)
    np.testing.assert_allclose(cost.value(problem, activation), expected)
    with refused("missing_argument", "weighted", "fiber_velocity"):
        solve(Problem([[0.05, 0.04]], [1.0], [100.0] * 2, [100.0] * 2), cost)
    with refused("bad_shape", "weighted", "43"):
        cost.parameters(make_leg(1, muscles=12))


def test_functions_of_numpy_are_what_they_are_without_a_warning():
    problem = Problem([[0.05, 0.04]], [1.0], [100.0] * 2, [100.0] * 2)
    cost = expression_cost(
        "squares", lambda a, f, d: np.sum(a**2), convex=True
    )  # a warning would be an error
    assert cost.value(problem, np.array([[0.1, 0.2]]))[0] == pytest.approx(0.05)
    assert solve(problem, cost).activation == pytest.approx(solve(problem, "activation_power").activation)
    with pytest.warns(UserWarning, match="own"):
        expression_cost("loud", lambda a, f, d: warnings.warn("own", stacklevel=1) or casadi.sumsqr(a))


def test_a_function_is_no_cost_before_it_is_made_one():
    with refused("unknown_name", "ms.sharing.expression_cost"):
        solve(Problem([[0.05]], [1.0], [100.0], [100.0]), lambda a: a)


@pytest.mark.parametrize(
    ("expression", "given", "code", "part"),
    [
        (lambda a, f, d: a, {}, "bad_shape", "bad"),
        (lambda a, f, d: casadi.sumsqr(a[9999]), {}, "bad_cost", "bad"),
        (lambda a, f, d: casadi.SX.sym("x") * a[0], {}, "bad_cost", "bad"),
        (lambda a, f, d: np.nan_to_num, {}, "bad_cost", "bad"),
        (lambda a, f, d: d.nothing, {"constants": {"w": 1.0}}, "bad_cost", "'nothing': it has w"),
        (stress, {}, "bad_cost", "data has no 'max_isometric_force': add it to `uses`"),
        (lambda a, f, d, e: a[0], {}, "bad_cost", "bad"),
        (stress, {"convex": "yes"}, "bad_type", "'yes'"),
        (stress, {"uses": ("strength",)}, "unknown_name", "'strength'"),
        (stress, {"constants": {"w": [np.nan]}}, "not_finite", "'w'"),
        (stress, {"constants": {"w": "many"}}, "not_numbers", "'w'"),
        (stress, {"uses": ("emg", "emg")}, "duplicate_name", "bad"),
    ],
)
def test_a_faulty_expression_is_refused_at_once(expression, given, code, part):
    with refused(code, part):
        expression_cost("bad", expression, **given)


@pytest.mark.parametrize("name", [None, 3, " "])
def test_an_expression_has_a_name(name):
    with refused("bad_type"):
        expression_cost(name, stress)


def test_a_declaration_of_convexity_is_checked(make_leg):
    hollow = expression_cost("hollow", lambda a, f, d: casadi.sum1(a - a**2), convex=True)
    with refused("bad_cost", "hollow"):
        solve(make_leg(2), hollow)


def test_where_nothing_costs_anything_every_feasible_activation_is_optimal(make_leg):
    """Without any marginal cost the only multiplier of a moment that fits is zero, exactly."""
    problem = make_leg(6)
    flat = expression_cost("flat", lambda a, f, d: 1 + 0 * casadi.sum1(a), convex=True)
    hinge = expression_cost("hinge", lambda a, f, d: casadi.sumsqr(casadi.fmax(a - 0.9, 0)), convex=True)
    for cost, least in ((flat, 1.0), (hinge, 0.0)):
        answer = solve(problem, cost)
        assert (answer.status == Status.SOLVED).all() and (answer.cost == least).all()
        assert (answer.multiplier == 0).all() and (answer.gap <= 1e-9).all()
        hard = replace(problem, moment=10 * problem.moment)
        assert (solve(hard, cost).status == Status.INFEASIBLE).all()


def test_measured_activations_with_gaps_are_refused(make_leg):
    leg = make_leg(12)
    cost = expression_cost("emg", lambda a, f, d: casadi.sumsqr(a - d.emg), uses=("emg",), convex=True)
    emg = np.full_like(leg.force_capacity, 0.3)
    emg[-1, 1] = np.nan
    with refused("not_finite", f"{leg.muscle[1]} in frame {leg.n_frames - 1}", "frame_constants={"):
        solve(replace(leg, emg=emg), cost)
    gaps = {"emg": np.nan_to_num(emg), "measured": np.isfinite(emg)}  # the remedy
    filled = expression_cost(
        "emg", lambda a, f, d: casadi.sum1((a - d.emg) ** 2 * d.measured + 0.1 * a**2), frame_constants=gaps
    )
    assert solve(leg, filled).solved.all()
    with refused(
        "not_finite", "the constant 'emg' of emg", f"in frame {leg.n_frames - 1} at [1]", "isfinite"
    ):
        expression_cost("emg", lambda a, f, d: casadi.sumsqr(a - d.emg), frame_constants={"emg": emg})
    with refused("not_finite", "emg"):
        solve(make_leg(2), cost)


def test_a_motion_cost_may_leave_out_what_was_not_measured(make_leg):
    leg = make_leg(3)
    emg = np.full_like(leg.force_capacity, 0.3)
    emg[1, 2] = np.nan
    leg, measured = replace(leg, emg=emg), np.isfinite(emg)

    def program(expression, uses=(), **constants):
        return ms.sharing.program(
            leg,
            "force_squared",
            motion_costs=[ms.sharing.motion_cost("near", expression, uses=uses, constants=constants)],
        )

    with refused("not_finite", f"{leg.muscle[2]} in frame 1", "constants={"):
        program(lambda a, f, d: casadi.sumsqr(a - d.emg), ("emg",))
    costs = (
        program(lambda a, f, d: casadi.sumsqr(a[0, :] - d.emg[0, :]), ("emg",)),
        program(
            lambda a, f, d: casadi.sumsqr((a - d.emg) * d.measured)[0],
            emg=np.nan_to_num(emg).T,
            measured=measured.T,
        ),
    )
    for each in costs:
        assert each.solve().solved.all()


def test_public_names():
    assert ms.sharing.expression_cost is expression_cost and issubclass(StressCubed, ms.Cost)


@dataclass(frozen=True)
class Load(ms.Cost):
    """sum_i w (F_i / F0_i)^4, as a user would write it."""

    weight: float = 2.0
    name: ClassVar[str] = "load"

    def _full(self, problem):
        return problem.force_capacity / problem.max_isometric_force

    def term_value(self, problem, activation):
        return self.weight * ((self._full(problem) * activation) ** 4).sum(axis=1)

    def term_gradient(self, problem, activation):
        return 4 * self.weight * self._full(problem) ** 4 * activation**3

    def term_hessian_diagonal(self, problem, activation):
        return 12 * self.weight * self._full(problem) ** 4 * activation**2

    def term_parameters(self, problem):
        return (self._full(problem),)

    def term_expression(self, casadi, activation, parameters):
        return self.weight * casadi.sum1((parameters[0] * activation) ** 4)


def test_a_small_class_is_a_cost(make_leg):
    problem = make_leg(5)
    written = expression_cost(
        "load", lambda a, f, d: casadi.sum1((f / d.max_isometric_force) ** 4), uses=("max_isometric_force",)
    )
    for cost in (Load(), Load(3.0) + ForceSquared()):
        batch, ipopt = solve(problem, cost), solve(problem, cost, "ipopt")
        np.testing.assert_allclose(batch.activation, ipopt.activation, atol=1e-6)
    assert find_cost(Load()).label == "load" and Load(3.0).label == "load(weight=3.0)"
    np.testing.assert_allclose(
        solve(problem, written, "ipopt").activation, solve(problem, Load()).activation, atol=1e-6
    )


def test_slices_that_need_so_many_muscles_are_taken_and_known_to_couple():
    """With twelve muscles the second half is empty, and the product is linear; with another number halves differ."""
    arm = np.random.default_rng(0).uniform(-0.05, 0.05, (2, 24))
    problem = Problem(arm, arm @ np.full(24, 300.0), np.full(24, 1000.0), np.full(24, 1000.0))
    product = expression_cost(
        "product", lambda a, f, data: 0.1 * casadi.sum1(a) + casadi.sum1(a[:12]) * casadi.sum1(a[12:])
    )
    for solver, lacking in (("batch", "not known to be convex"), ("linprog", "not linear")):
        with refused("unfit_solver", lacking):
            solve(problem, product, solver)
    assert solve(problem, product, "ipopt").stationary_only
    halves = expression_cost(
        "halves", lambda a, f, data: casadi.sumsqr(a) + 10.0 * casadi.sumsqr(a[:12] - a[12:]), convex=True
    )
    found = solve(problem, halves, "ipopt")
    assert found.solved and not found.stationary_only
    with refused("bad_cost", "cannot be evaluated for the 2 muscles"):
        solve(Problem(arm[:, :2], [0.0, 0.0], [1e3, 1e3], [1e3, 1e3]), halves, "ipopt")


def test_a_cost_fitted_to_a_problem_stays_so_beside_another_one():
    """Its class is that of its own problem, whichever problem another thread solves with the same cost."""

    def bends_from_the_fifth(activation, force, data):
        return casadi.sum1(activation) - 0.2 * casadi.sumsqr(activation[4:])

    cost = expression_cost("bends", bends_from_the_fifth)
    few, many = (Problem([[0.04] * n], [20.0], [800.0] * n, [800.0] * n) for n in (3, 9))
    fitted = [cost.fitted(problem) for problem in (few, many)]
    assert [part.needs for part in fitted] == [{"separable"}, {"separable", "nonconvex"}]
    assert fitted[0].linear and not fitted[1].linear and fitted[0] == fitted[1] == cost
    assert [solve(problem, cost, "ipopt").stationary_only for problem in (many, few)] == [True, False]


@pytest.mark.parametrize("solver", ["slsqp", "cyipopt"])
def test_a_soft_maximum_whose_slopes_are_alike_between_the_bounds(solver):
    """At equal activations every slope is 1 / n, at rest as halfway: their change is no scale of the cost."""
    need_solver(solver)
    rng = np.random.default_rng(3)
    arm, strength = rng.normal(0.0, 0.05, (2, 20)), rng.uniform(300.0, 1500.0, 20)
    problem = Problem(arm, (arm * strength) @ rng.uniform(0.0, 0.5, 20), strength, strength)
    soft = expression_cost(
        "soft", lambda a, f, d: casadi.log(casadi.sum1(casadi.exp(20.0 * a))) / 20.0, convex=True
    )
    found = solve(problem, soft, solver)
    assert found.status == Status.SOLVED and not found.stationary_only
    np.testing.assert_allclose(found.activation, solve(problem, soft, "ipopt").activation, atol=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("expression", "noted"),
    [
        (lambda a, f, d: casadi.sum1(a**1000), True),
        (lambda a, f, d: casadi.sum1(f**90), True),
        (lambda a, f, d: casadi.sum1(a**300), False),
        (lambda a, f, d: casadi.sum1(f**3), False),
        (lambda a, f, d: -casadi.sum1(casadi.log(1.0 - a)), False),
        (lambda a, f, d: casadi.sum1(casadi.fmax(a - 0.3, 0.0) ** 2), False),
    ],
)
def test_powers_beyond_the_numbers_of_the_computer_are_noted(expression, noted):
    problem = Problem([[0.05, 0.03]], [20.0], [1000.0, 800.0], [1000.0, 800.0], upper=0.98)
    found = solve(problem, expression_cost("own", expression, convex=True))
    assert any("orders of magnitude" in note for note in found.notes) == noted


@pytest.mark.parametrize(
    ("expression", "noted"), [(lambda a, f, d: 3, 1), (lambda a, f, d: casadi.sum1(a), 0)]
)
def test_a_cost_without_activations_is_noted(expression, noted):
    problem = Problem([[0.05, 0.03]], [20.0], [1000.0, 800.0], [1000.0, 800.0])
    found = solve(problem, expression_cost("own", expression, convex=True))
    assert sum("does not depend on the activations" in note for note in found.notes) == noted


def test_rounding_at_rest_is_no_sign_of_concavity():
    """exp(a) - 1 - a is 1e-16 at rest, where it should be zero: round-off alone decides it."""
    moment, strength = 10.0 ** np.arange(-18.0, -6.0)[:, None], [1000.0, 800.0, 900.0]
    arm = np.broadcast_to([[0.05, 0.03, -0.04]], (len(moment), 1, 3))
    rises = expression_cost("rises", lambda a, f, d: casadi.sum1(casadi.exp(3 * a) - 1 - 3 * a), convex=True)
    solved = solve(Problem(arm, moment, strength, strength), rises).solved
    assert (solved | (moment[:, 0] < 1e-9)).all(), moment[~solved]


def test_a_function_may_leave_out_the_arguments_that_it_does_not_need(make_leg):
    short = {
        "activation": lambda activation: casadi.sumsqr(activation),
        "force": lambda activation, force, *, scale=1.0: casadi.sumsqr(scale * activation) + 0.0 * force[0],
    }
    problem = make_leg(4)
    expected = solve(problem, ActivationPower(2)).activation
    for name, function in short.items():
        answer = solve(problem, expression_cost(name, function, convex=True))
        np.testing.assert_allclose(answer.activation, expected, atol=1e-6)


def test_a_cost_for_each_muscle_is_no_number_and_the_error_says_so():
    with refused("bad_shape", "(n, 1)", "sum1"):
        expression_cost("each", lambda activation: activation**2)
    with refused("bad_cost", "casadi.sum1(x) for x.sum()"):
        expression_cost("method", lambda activation: (activation**2).sum())


@dataclass(frozen=True)
class Cubes(ms.Cost):
    """sum_i a_i^3 by value and slope alone."""

    name = "cubes"

    def term_value(self, problem, activation):
        return (activation**3).sum(axis=1)

    def term_gradient(self, problem, activation):
        return 3.0 * activation**2


@pytest.mark.parametrize("solver", ["batch", "slsqp"])
def test_a_class_needs_no_more_than_value_and_slope(make_leg, solver):
    problem = make_leg(6)
    answer = solve(problem, Cubes(), solver)
    assert answer.solved.all()
    np.testing.assert_allclose(answer.activation, solve(problem, ActivationPower(3)).activation, atol=1e-5)
    with refused("bad_cost", "term_expression", "slsqp"):
        solve(problem, Cubes(), "ipopt")


@pytest.mark.parametrize("fault", [lambda a: 1 / 0, "a**2"])
def test_the_remedy_of_an_expression_is_to_correct_it(fault):
    """Vectors per muscle as constants are one remedy, which helps no division by zero."""
    with refused("bad_cost", "cannot be evaluated", "correct it"):
        _ = expression_cost("mine", fault).separable


def test_an_expression_that_returns_nothing_is_refused():
    with refused("bad_cost", "it returns nothing", "return"):
        expression_cost("mine", lambda a: None)


def every_operation(activation, force, data):
    x, y = activation[0::2], activation[1::2]
    smooth = (
        casadi.exp(x) + casadi.log(1 + y) + casadi.sqrt(x) + casadi.sin(x) * casadi.cos(y) + casadi.tanh(-x)
    )
    smooth += (
        casadi.log1p(y) + casadi.expm1(x) + (0.1 + x) ** y + x**2.5 + 2 * y - x / (1 + y) + 1 / (0.2 + x)
    )
    pieces = casadi.fabs(x - y) + casadi.if_else(x < y, x, y**2) + (x <= 0.5) + (x == y) + (x != 0.25)
    pieces += casadi.logic_not(casadi.logic_and(x > 0.3, casadi.logic_or(y > 0.3, x > 0.6)))
    return casadi.sum1(data.w * smooth) + casadi.sum1(pieces)


@pytest.mark.parametrize("further", [lambda x: 0.0, casadi.atan])  # all compiled; one operation that is not
def test_many_frames_have_the_numbers_of_single_ones(make_leg, further):
    problem = make_leg(150)
    activation = np.random.default_rng(2).random(problem.force_capacity.shape)
    activation[3, 1] = activation[3, 0]
    half = (problem.n_muscles + 1) // 2
    problem = (
        problem.with_arrays(
            **{
                name: getattr(problem, name)[..., : 2 * half - 2]
                for name in ("moment_arm", "force_capacity", "lower", "upper")
            }
        )
        if problem.n_muscles % 2
        else problem
    )
    activation = activation[:, : problem.n_muscles]
    cost = expression_cost(
        "every",
        lambda a, force, data: every_operation(a, force, data) + further(a[0] * force[1]),
        frame_constants={"w": np.random.default_rng(3).random((150, problem.n_muscles // 2))},
    ).fitted(problem)
    for method in ("value", "gradient", "hessian_diagonal", "hessian"):
        many = getattr(cost, method)(problem, activation)
        for t in (0, 3, 31, 32, 149):
            single = getattr(cost, method)(problem.frames([t]), activation[t : t + 1])
            np.testing.assert_allclose(many[t], single[0], rtol=1e-14, atol=1e-14)
