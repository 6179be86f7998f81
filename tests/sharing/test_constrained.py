"""Constraints of one's own: closed forms, bounds by a second route, multipliers as derivatives, both Ipopts."""

from __future__ import annotations

import doctest
import inspect

import casadi
import numpy as np
import pytest
from packages import need_solver
from refusals import refused

import musclesolve as ms
from musclesolve.sharing import Ipopt, certify, expression_constraint, solve_constrained
from musclesolve.sharing.constrained import Constraints

SOLVERS = ["ipopt", "cyipopt"]
ARM = ms.Problem([[0.05, 0.05]], [30.0], [1000.0] * 2, [1000.0] * 2)


LINEAR = ["batch", "slsqp", *SOLVERS]


def first_at_most(bound):
    return expression_constraint("first", lambda a, f, data: a[0], upper=bound)


@pytest.mark.parametrize("solver", LINEAR)
def test_two_equal_muscles_of_which_one_may_do_little(solver):
    """F1 + F2 = 600 N with F1 <= 200 N: d(F1^2 + F2^2)/du at F1 = 1000 u is 2000 (F1 - F2)."""
    need_solver(solver)
    found = solve_constrained(ARM, "force_squared", [first_at_most(0.2)], solver)
    assert found.status == ms.Status.SOLVED and found.gap <= 1e-9
    np.testing.assert_allclose(found.activation, [0.2, 0.4], atol=1e-8)
    np.testing.assert_allclose(found.constraint_multiplier, [2000.0 * (200.0 - 400.0)], rtol=1e-6)
    assert found.constraint == ("first",) and found.constraint_value == pytest.approx([0.2])


def test_without_constraints_it_is_the_optimum_of_solve(make_leg):
    leg = make_leg(4)
    for cost in ("stress_cubed", "soft_saturation"):
        found, best = solve_constrained(leg, cost), ms.solve(leg, cost)
        np.testing.assert_array_equal(found.status, best.status)
        np.testing.assert_allclose(found.activation, best.activation, atol=1e-6)
        np.testing.assert_allclose(found.cost, best.cost, rtol=1e-9)


@pytest.mark.parametrize("solver", ["batch", *SOLVERS])
def test_a_bound_as_a_constraint_is_the_bound(make_leg, solver):
    """The most active muscle held by `upper`, or by a constraint: the same activations, multipliers and cost."""
    need_solver(solver)
    leg = make_leg(3)
    free = ms.solve(leg, "stress_cubed")
    muscle = int(free.activation.max(axis=0).argmax())
    most = 0.8 * free.activation[:, muscle]
    upper = np.array(leg.upper)
    upper[:, muscle] = most
    by_bound = ms.solve(leg.with_arrays(upper=upper), "stress_cubed")
    held = expression_constraint("held", lambda a, f, data: a[muscle], upper=most)
    found = solve_constrained(leg, "stress_cubed", [held], solver)
    assert found.solved.all() and (found.gap <= 1e-9).all()
    np.testing.assert_allclose(found.activation, by_bound.activation, atol=1e-6)
    np.testing.assert_allclose(found.multiplier, by_bound.multiplier, rtol=1e-4)
    assert (found.constraint_multiplier < 0.0).all() and (found.cost > free.cost).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_multiplier_is_the_derivative_of_the_least_cost(make_leg, solver):
    """Test a constraint that is not linear, with constants and a field of the problem."""
    need_solver(solver)
    leg = make_leg(2)
    free = ms.solve(leg, "force_squared")
    share = np.sum((free.force / leg.max_isometric_force) ** 2, axis=1)

    def ratio(bound):
        def load(activation, force, data):
            return data.half * 2.0 * casadi.sum1((force / data.max_isometric_force) ** 2)

        return expression_constraint(
            "load", load, upper=bound, uses=("max_isometric_force",), constants={"half": 0.5}
        )

    low, at, high = (
        solve_constrained(leg, "force_squared", [ratio(factor * share)], solver)
        for factor in (0.899, 0.9, 0.901)
    )
    assert at.solved.all() and (at.gap <= 1e-9).all()
    slope = (high.cost - low.cost) / (0.002 * share)
    np.testing.assert_allclose(at.constraint_multiplier[:, 0], slope, rtol=1e-3)


def test_an_idle_constraint_changes_nothing_and_reserves_stay(make_leg):
    leg = make_leg(2).with_arrays(reserve_weight=np.full((2, make_leg(2).n_dof), 1e3))
    idle = expression_constraint("idle", lambda a, f, data: casadi.sum1(a), upper=1e3)
    found, best = solve_constrained(leg, "stress_cubed", [idle]), ms.solve(leg, "stress_cubed")
    np.testing.assert_allclose(found.activation, best.activation, atol=1e-6)
    np.testing.assert_allclose(found.reserve, best.reserve, atol=1e-9)
    assert np.abs(found.constraint_multiplier).max() < 1e-6


def test_the_certificate_sees_a_broken_constraint_and_a_wrong_multiplier():

    cost, none, upper = ms.costs()["force_squared"](), np.zeros((1, 1)), np.array([[0.2]])
    frames = Constraints(ARM, cost, (first_at_most(0.2),), np.full((1, 1), -np.inf), upper)
    pull = np.array([[2.0 * 400.0 / 0.05]])
    best = np.array([[0.2, 0.4]])
    assert frames.certificate(best, none, pull, np.array([[-4e5]])).gap[0] < 1e-12
    assert frames.certificate(best, none, pull, np.array([[0.0]])).gap[0] > 1e-2
    assert frames.certificate(best, none, pull, np.array([[4e5]])).gap[0] > 1e-2
    balanced = np.array([[0.3, 0.3]])
    assert certify(ARM, cost, balanced, none, np.array([[2.0 * 300.0 / 0.05]])).gap[0] < 1e-12
    broken = frames.certificate(balanced, none, np.array([[2.0 * 300.0 / 0.05]]), none)
    assert (
        broken.gap[0] < 1e-12 and broken.moment_error[0] == pytest.approx(0.1 / 0.3) and not broken.holds[0]
    )


@pytest.mark.parametrize("expression", [lambda a, f, data: a[1], lambda a, f, data: a[0] + a[1]])
def test_a_strong_muscle_hides_no_wrong_multiplier_of_weak_ones(expression):
    """Two equal weak muscles share equally unless an idle constraint pushes one, beside marginal costs 1e8 as large."""

    capacity, cost = np.array([1e5, 10.0, 10.0]), ms.costs()["force_squared"]()
    arms = ms.Problem([[0.05, 0, 0], [0, 0.05, 0.05]], [2500.0, 0.5], capacity, capacity)
    frames = Constraints.of(arms, cost, (expression_constraint("idle", expression, upper=1.9),))
    for second, push, holds in ((0.5, 0.0, True), (0.2, -120.0, False)):
        a = np.array([[0.5, second, 1.0 - second]])
        slope = cost.gradient(arms, a)[0]
        pull = (slope[0] - push * frames.jacobian(a)[0, 0, 0]) / 5000.0, slope[2] / 0.5
        found = frames.certificate(a, np.zeros((1, 2)), np.array([pull]), np.array([[push]]))
        assert found.holds[0] == holds


def test_what_cannot_be_has_no_solution():
    hollow = expression_constraint("hollow", lambda a, f, data: casadi.sumsqr(a), lower=3.0)
    failed = solve_constrained(ARM, "force_squared", [hollow])
    assert failed.status == ms.Status.SOLVER_FAILED and failed.stationary_only
    words = failed.summary().splitlines()[-1]
    assert words.startswith(
        "Where the solver ended in frame 0, dof_0 lacks 70.0 N m of negative moment and hollow is"
    )
    assert words.endswith("is 1 beyond its bound; that no activations do better is not proved.")
    beyond = ms.Problem([[0.05, 0.05]], [300.0], [1000.0] * 2, [1000.0] * 2)
    found = solve_constrained(beyond, "force_squared", [first_at_most(0.2)])
    assert found.status == ms.Status.INFEASIBLE and np.isfinite(found.infeasibility_proof).all()
    assert np.isnan(found.activation).all() and np.isnan(found.constraint_value).all()
    short = solve_constrained(ARM, "force_squared", [first_at_most(0.2)], Ipopt(max_iterations=1))
    assert short.status == ms.Status.MAX_ITERATIONS


def test_a_contradiction_of_linear_constraints_is_proved():
    """Farkas by hand: 50 a_1 + 50 a_2 = 30 with a_1, a_2 <= 0.1, and a_1 <= 0.1 beside a_1 >= 0.2."""
    both = [first_at_most(0.1), expression_constraint("second", lambda a, f, data: a[1] + 0.5, upper=0.6)]
    found = solve_constrained(
        ARM, "force_squared", [*both, expression_constraint("free", lambda a, f, d: a[0], 0.0)]
    )
    assert found.status == ms.Status.INFEASIBLE and np.isnan(found.activation).all()
    first, second, free = found.constraint_multiplier / found.infeasibility_proof[0]
    np.testing.assert_allclose([first, second, free], [-50.0, -50.0, 0.0], atol=1e-9)
    lines = found.summary().splitlines()
    assert lines[-2].endswith("contradict moments, limits of activations or each other: first, second")
    assert lines[-1] == "at least 20 N m are missing at dof_0 in frame 0"  # 30 N m less 50 (0.1 + 0.1)
    np.testing.assert_allclose(found.missing_moment, 20.0)

    soft = ms.Problem([[0.05, 0.05]], [30.0], [1000.0] * 2, [1000.0] * 2, reserve_weight=1.0)
    assert solve_constrained(soft, "force_squared", both).status == ms.Status.SOLVED_WITH_RESERVE
    apart = [first_at_most(0.1), expression_constraint("least", lambda a, f, data: a[0], lower=0.2)]
    found = solve_constrained(soft, "force_squared", apart)
    assert found.status == ms.Status.INFEASIBLE and (found.infeasibility_proof == 0.0).all()
    assert np.isinf(found.missing_moment) and "missing" not in found.summary()
    assert found.constraint_multiplier[0] == pytest.approx(-found.constraint_multiplier[1])
    data = found.to_dataset(soft)
    assert data["constraint_multiplier"].sel(constraint="least").item() > 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_contradiction_of_a_curved_constraint_is_proved(sign):
    """a_1^2 + a_2^2 <= 0.1 allows 100 sqrt(0.05) N m at most; the constraint may be turned upside down."""
    bound = {"upper": 0.1} if sign > 0.0 else {"lower": -0.1}
    disc = expression_constraint("disc", lambda a, f, data: sign * casadi.sumsqr(a), **bound)
    moment = np.array([[20.0], [23.0], [30.0], [120.0]])
    arm = ms.Problem([[0.05, 0.05]], moment, [1000.0] * 2, [1000.0] * 2, dof=["elbow"])
    found = solve_constrained(arm, "force_squared", disc)
    proved = ms.Status.INFEASIBLE
    np.testing.assert_array_equal(found.status, [ms.Status.SOLVED, proved, proved, proved])
    lacks = moment[1:3, 0] - 100.0 * np.sqrt(0.05)
    assert (found.missing_moment[1:3] > 0.7 * lacks).all() and (found.missing_moment[1:3] <= lacks).all()
    assert (sign * found.constraint_multiplier[1:3, 0] / found.infeasibility_proof[1:3, 0] < 0.0).all()
    assert "contradict" in found.summary() and "N m are missing at elbow in frame 2" in found.summary()
    assert not found.stationary_only
    program = ms.sharing.program(arm.frames([2]), "force_squared", disc)
    assert program.solve().status == proved and not program.stationary_only


def test_no_tangent_of_a_curved_constraint_proves_what_is_possible():
    """Convex, concave and indefinite squares around activations that are possible; the solver is ended early."""
    rng = np.random.default_rng(5)
    for kind in range(3):
        for most in (2, 6, 300):
            root, center = rng.normal(size=(4, 4)), rng.uniform(size=4)
            form = root + root.T if kind == 2 else (-1.0) ** kind * root @ root.T
            arm, inside = rng.normal(0.0, 0.04, (2, 4)), rng.beta(0.6, 1.0, (6, 4))
            value = np.einsum("ti,ij,tj->t", inside - center, form, inside - center)
            squares = expression_constraint(
                "squares",
                lambda a, f, data, form=form, center=center: casadi.bilin(
                    casadi.DM(form), a - center, a - center
                ),
                lower=value - (1e-3 if kind else np.inf),
                upper=value + (1e-3 if kind != 1 else np.inf),
            )
            possible = ms.Problem(arm, 1000.0 * inside @ arm.T, [1000.0] * 4, [1000.0] * 4)
            found = solve_constrained(possible, "activation_power", squares, Ipopt(max_iterations=most))
            assert not (found.status == ms.Status.INFEASIBLE).any()
            assert found.stationary_only == (kind == 2)


def test_a_function_of_casadi_is_an_expression():
    a, force = casadi.SX.sym("a", 2), casadi.MX.sym("force", 2)
    squares = casadi.Function("squares", [a], [casadi.sumsqr(a)])
    held = expression_constraint("held", squares, upper=0.2)
    assert solve_constrained(ARM, "force_squared", held).activation == pytest.approx([0.3, 0.3], abs=1e-6)
    activation = casadi.MX.sym("activation", 2)
    of_both = casadi.Function("of_both", [activation, force], [casadi.sumsqr(force) + 1e6 * activation[0]])
    found = ms.solve(ARM, ms.sharing.expression_cost("of_both", of_both, convex=True), "ipopt")
    assert found.force == pytest.approx([50.0, 550.0], abs=1e-3)  # 2 F_1 + 1000 = 2 F_2
    third = casadi.Function("third", [casadi.SX.sym("b", 3)], [1.0])
    with refused("bad_cost", "third", "an expression of 2 muscles"):
        ms.solve(ARM, ms.sharing.expression_cost("third", third))


def test_no_moment_is_missing_where_a_constraint_contradicts_the_limits_of_activation():
    """a_1 >= 1.5 where a_1 <= 1: whatever the moments are."""
    beyond = expression_constraint("beyond", lambda a, f, data: a[0], lower=1.5)
    found = solve_constrained(ARM, "force_squared", beyond)
    assert found.status == ms.Status.INFEASIBLE and (found.infeasibility_proof == 0.0).all()
    assert np.isinf(found.missing_moment) and found.summary().endswith("each other: beyond")


def test_a_contradiction_is_proved_where_other_forces_of_the_muscles_are_stated():
    held = [expression_constraint("first", lambda a, force, data: a[0], upper=0.2)]
    forces = {"fiber_force_capacity": [1100.0], "passive_force": [10.0]}
    pennate = ms.Problem([[0.05]], [30.0], [1000.0], [1000.0], **forces)
    assert solve_constrained(pennate, "stress_cubed", held).status == ms.Status.INFEASIBLE


def test_what_is_no_constraint_is_refused():
    with refused("missing_argument", "c"):
        expression_constraint("c", lambda a, f, data: a[0])
    with refused("bad_value", "c"):
        expression_constraint("c", lambda a, f, data: a[0], lower=1.0, upper=0.0)
    with refused("bad_value", "c"):
        expression_constraint("c", lambda a, f, data: a[0], lower=[0.0, 0.0], upper=[1.0, 1.0, 1.0])
    for bounds in ({"lower": np.inf}, {"upper": -np.inf}, {"lower": [0.0, np.inf]}):
        with refused("bad_value", "c"):
            expression_constraint("c", lambda a, f, data: a[0], **bounds)
    with refused("bad_shape", "c", "a constraint for each number"):
        expression_constraint("c", lambda a, f, data: a, upper=0.0)
    curved = expression_constraint("curved", lambda a, f, data: a[0] ** 3 + a[1] ** 3, upper=0.3)
    with refused("unfit_solver", "batch", "curved"):
        solve_constrained(ARM, "force_squared", [first_at_most(0.2), curved], "batch")
    soft = ms.Problem([[0.05, 0.05]], [30.0], [1000.0] * 2, [1000.0] * 2, reserve_weight=1.0)
    with refused("unfit_solver", "slsqp", "reserves"):
        solve_constrained(soft, "force_squared", [first_at_most(0.2)], "slsqp")
    with refused("duplicate_name", "first"):
        solve_constrained(ARM, "force_squared", [first_at_most(0.2)] * 2)
    with refused("bad_shape", "first"):
        solve_constrained(ARM, "force_squared", [first_at_most([0.2, 0.3])])
    with refused("bad_cost", "min_max"):
        solve_constrained(ARM, "min_max", [first_at_most(0.2)])
    eighth = expression_constraint("eighth", lambda a, f, data: a[7], upper=0.2)
    with refused("bad_cost", "eighth"):
        solve_constrained(ARM, "force_squared", [eighth])
    with refused("bad_cost", "eighth"):
        ms.solve(ARM, ms.sharing.expression_cost("eighth", lambda a, f, data: a[7] ** 2), "ipopt")
    for other in (None, [None], eighth.body, [eighth.body], "first"):
        with refused("bad_type", "constraints"):
            solve_constrained(ARM, "force_squared", other)


def test_a_constraint_without_a_value_is_named():
    hollow = expression_constraint("hollow", lambda a, force, data: casadi.log(a[0] - 2.0), upper=1.0)
    with refused("bad_cost", "the constraint hollow", "frame 0"):
        solve_constrained(ARM, "force_squared", [hollow])


def test_a_constraint_that_is_not_linear_leaves_a_stationary_point():
    problem = ms.Problem([[0.05, 0.05]], [20.0], [1000.0, 1000.0], [1000.0, 1000.0])
    away = expression_constraint("away", lambda a, force, data: casadi.sumsqr(a - 0.2), lower=0.01)
    held = expression_constraint("held", lambda a, force, data: a[0], upper=0.3)
    assert solve_constrained(problem, "activation_power", [away]).stationary_only
    assert not solve_constrained(problem, "activation_power", [held]).stationary_only


def test_a_single_constraint_needs_no_list():
    found = solve_constrained(ARM, "force_squared", first_at_most(0.2))
    assert found.constraint == ("first",) and found.activation[0] == pytest.approx(0.2)


@pytest.mark.parametrize("function", [expression_constraint, solve_constrained])
def test_the_example_prints_what_it_shows(function):
    test = doctest.DocTestParser().get_doctest(
        inspect.getdoc(function), {"ms": ms}, function.__name__, None, None
    )
    said = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert test.examples and not said, "".join(said)


def test_a_constraint_in_steps_is_not_linear():
    """Its slope is zero in the middle, where it lacks 2: this proved, falsely, that no activation meets it."""
    steps = expression_constraint("steps", lambda a, f, data: casadi.floor(10 * a[0]), lower=7.0)
    assert not steps.linear
    found = solve_constrained(ARM, "force_squared", [steps])
    assert found.stationary_only and found.status != ms.Status.INFEASIBLE


@pytest.mark.parametrize("weight", [None, 1e3])
@pytest.mark.parametrize("cost", ["stress_cubed", "joint_reaction_squared", "activation_power(exponent=1)"])
def test_the_kernel_and_ipopt_have_one_optimum(make_leg, cost, weight):
    """Bounds of one side, of both sides, out of reach and an equation, each of which may contradict the moments."""
    leg = make_leg(12)
    if weight is not None:
        leg = leg.with_arrays(
            reserve_weight=np.full_like(leg.moment, weight * (1e4 if "s" in cost[:1] else 1))
        )
    free = ms.solve(make_leg(12), "stress_cubed").activation
    drawn = np.random.default_rng(5).normal(size=(4, leg.n_muscles))
    at = free @ drawn.T
    bounds = [(-np.inf, at[:, 0] - 0.05), (at[:, 1] - 0.1, at[:, 1] + 0.1), (-1e9, 1e9), (at[:, 3], at[:, 3])]
    held = [
        expression_constraint(
            f"row {k}",
            lambda a, f, data, k=k: casadi.dot(drawn[k], a) - 0.1,
            *(np.array(b) - 0.1 for b in ends),
        )
        for k, ends in enumerate(bounds)
    ]
    fast, slow = (solve_constrained(leg, cost, held, solver) for solver in (None, "ipopt"))
    assert fast.solver == "batch" and fast.solved.any()
    np.testing.assert_array_equal(fast.status, slow.status)
    both = fast.solved
    np.testing.assert_allclose(fast.cost[both], slow.cost[both], rtol=1e-6, atol=1e-9)
    scale = np.abs(slow.constraint_multiplier[both]).max()
    np.testing.assert_allclose(
        fast.constraint_multiplier[both], slow.constraint_multiplier[both], atol=1e-5 * scale
    )


def test_a_class_without_an_expression_takes_linear_constraints():
    class Squares(ms.Cost):
        name = "squares"

        def term_value(self, problem, activation):
            return (activation**2).sum(axis=1)

        def term_gradient(self, problem, activation):
            return 2.0 * activation

    class Coupled(Squares):
        needs = frozenset({"coupled"})

        def term_hessian(self, problem, activation):
            return np.broadcast_to(2.0 * np.eye(2), (len(activation), 2, 2))

    for cost in (Squares(), Coupled()):
        found = solve_constrained(ARM, cost, first_at_most(0.2))
        assert found.solved and found.activation == pytest.approx([0.2, 0.4], abs=1e-7)
        curved = expression_constraint("curved", lambda a, f, data: casadi.sumsqr(a), upper=0.3)
        installed = [name for name in SOLVERS if ms.solvers()[name].installed]
        for solver, constraint in [(name, curved) for name in installed] + [("ipopt", first_at_most(0.2))]:
            with refused("bad_cost", "squares", "term_expression"):
                solve_constrained(ARM, cost, constraint, solver)
