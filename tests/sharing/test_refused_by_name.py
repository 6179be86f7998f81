"""Costs, solvers and arrays that cannot be right are refused by the name of what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import casadi
import numpy as np
import pytest
from refusals import refused

import musclesolve as ms

ARRAYS: dict[str, Any] = {
    "moment_arm": np.tile([[0.05, 0.03, -0.04]], (4, 1, 1)),
    "moment": np.array([[2.0], [10.0], [20.0], [150.0]]),
    "force_capacity": [1000.0, 500.0, 600.0],
    "max_isometric_force": [1000.0, 500.0, 600.0],
}
PROBLEM = ms.Problem(**ARRAYS)


@dataclass(frozen=True)
class Squares(ms.Cost):
    name = "squares"

    def term_value(self, problem, activation):
        return (activation**2).sum(axis=1)

    def term_gradient(self, problem, activation):
        return 2.0 * activation

    def term_hessian_diagonal(self, problem, activation):
        return np.full_like(activation, 2.0)

    def term_parameters(self, problem):
        return ()

    def term_expression(self, casadi, activation, parameters):
        return casadi.sumsqr(activation)


def changed(**methods: Any) -> ms.Cost:
    return type("Changed", (Squares,), methods)()


def test_squares_are_a_cost():
    for solver in ("batch", "ipopt"):
        assert ms.solve(PROBLEM, Squares(), solver).solved.tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        (lambda: ms.solve(PROBLEM, solver=ms.sharing.Ipopt), "bad_type", ("Ipopt is a class", "Ipopt()")),
        (lambda: ms.solve(PROBLEM, changed(needs="separable")), "bad_cost", ("needs", "Changed", "a set")),
        (lambda: ms.solve(PROBLEM, changed(name=None)), "bad_cost", ("name", "Changed", "a text")),
        (lambda: ms.solve(PROBLEM, solver=object), "bad_type", ("is no solver",)),
        (lambda: ms.solve(PROBLEM, Squares), "unknown_name", ("Squares is a class", "Squares()")),
        (lambda: ms.solve("stress_cubed", PROBLEM), "bad_type", ("type str", "a Problem")),
        (lambda: ms.solve(PROBLEM, "stress_cubed - force_squared"), "bad_cost", ("2 * NAME + NAME",)),
        (lambda: PROBLEM.frames(1), "bad_shape", ("which has the shape ()", "problem.frames([3])")),
        (
            lambda: ms.solve(PROBLEM, changed(term_value=lambda s, p, a: (a**2).sum(axis=1).tolist())),
            "bad_cost",
            ("term_value returns an object of type list", "an array (4,)"),
        ),
        (
            lambda: ms.solve(PROBLEM, "knee_sparing_activation(exponent=300, scale=1.0, knee='dof')"),
            "bad_cost",
            ("muscle_0", "a lower exponent"),
        ),
        (
            lambda: ms.sharing.certify(PROBLEM, "stress_cubed", np.zeros((2, 2)), 0, 0),
            "bad_shape",
            ("(2, 2)", "(4, 3)"),
        ),
        (lambda: ms.solve(PROBLEM, "activation_power(exponent=1e5)"), "bad_number", ("300", "min_max")),
        (lambda: Squares() + "stress_cubed", "bad_type", ("squares", 'costs()["stress_cubed"]()')),
        (lambda: "stress_cubed" + Squares(), "bad_type", ("squares", 'costs()["stress_cubed"]()')),
        (lambda: PROBLEM.muscle.index("muscle_7"), "unknown_name", ("muscle_7", "muscle_1")),
        (
            lambda: ms.solve(PROBLEM, changed(fitted=lambda s, p: None)),
            "bad_cost",
            ("Changed", "return self"),
        ),
        (lambda: ms.solve(PROBLEM, 2 * changed(fitted=lambda s, p: 1)), "bad_cost", ("Changed", "int")),
        (
            lambda: ms.sharing.solution_derivatives(PROBLEM, ms.solve(PROBLEM), "stress_cubed"),
            "bad_type",
            ("the second argument is a Solution", "the cost second"),
        ),
        (
            lambda: ms.sharing.check_reserves(PROBLEM, ms.solve(PROBLEM)).sentence("nix"),
            "unknown_name",
            ("dof is 'nix'", "'dof_0'"),
        ),
        (lambda: PROBLEM.frames([1000]), "bad_range", ("index 1000", "size 4")),
        (lambda: PROBLEM.frames(np.ones(7, bool)), "bad_range", ("boolean index", "is 4")),
        (lambda: ms.sharing.Ipopt(tolerance="x"), "bad_number", ("tolerance", "'x'", "a positive number")),
        (lambda: ms.sharing.Ipopt(max_iterations=1.5), "bad_number", ("max_iterations is 1.5",)),
        (
            lambda: ms.solve(PROBLEM, changed(term_hessian_diagonal=lambda s, p, a: 7.0 + 0.0 * a)),
            "bad_cost",
            ("second derivative by", "is 7 at", "give 2"),
        ),
        (
            lambda: ms.solve(PROBLEM, changed(term_expression=lambda s, c, a, p: c.sum1(a**4)), "ipopt"),
            "bad_cost",
            ("term_expression is", "term_value"),
        ),
        (
            lambda: ms.solve(PROBLEM, changed(term_expression=lambda s, c, a, p: a**2), "ipopt"),
            "bad_cost",
            ("term_expression has the shape (3, 1)", "sum over the muscles"),
        ),
        (
            lambda: ms.solve(PROBLEM, changed(term_expression=lambda s, c, a, p: None), "ipopt"),
            "bad_cost",
            ("term_expression gives no expression",),
        ),
        (
            lambda: ms.sharing.expression_cost("stress_cubed", lambda a, f, d: casadi.sumsqr(a)),
            "duplicate_name",
            ("stress_cubed", "another name"),
        ),
        (lambda: ms.Problem(**ARRAYS, lower=np.nan), "bad_number", ("lower is nan",)),
        (
            lambda: ms.Problem(**ARRAYS | {"moment_arm": ARRAYS["moment_arm"][:, 0]}),
            "bad_shape",
            ("moment_arm (4, 3) is read as 4 degrees of freedom",),
        ),
        (
            lambda: ms.diagnose(PROBLEM).sentence(0, time=[0.0, 1.0]),
            "bad_shape",
            ("time has the shape (2,)",),
        ),
    ],
)
def test_what_is_wrong_is_named(call: Callable[[], Any], code: str, words: tuple[str, ...]) -> None:
    with refused(code, *words):
        call()


@pytest.mark.parametrize("exponent", [3.0, 60.0])
def test_right_derivatives_are_not_refused(exponent):
    powers = changed(
        term_value=lambda s, p, a: (a**exponent).sum(axis=1),
        term_gradient=lambda s, p, a: exponent * a ** (exponent - 1.0),
        term_hessian_diagonal=lambda s, p, a: exponent * (exponent - 1.0) * a ** (exponent - 2.0),
    )
    assert ms.solve(PROBLEM, powers).status[0] == ms.Status.SOLVED


def test_a_slope_may_have_a_kink_at_the_solution():
    kinked = changed(
        term_value=lambda s, p, a: (a**2 + np.maximum(a - 0.5, 0.0) ** 2).sum(axis=1),
        term_gradient=lambda s, p, a: 2.0 * a + 2.0 * np.maximum(a - 0.5, 0.0),
        term_hessian_diagonal=lambda s, p, a: 2.0 + 2.0 * (a > 0.5),
    )
    twins = ms.Problem([[0.05, 0.05]], [50.0], [1000.0, 1000.0], [1000.0, 1000.0])
    assert ms.solve(twins, kinked).activation == pytest.approx(0.5)


def test_a_constraint_may_have_the_name_of_a_cost():
    held = ms.sharing.expression_constraint("min_max", lambda a, f, d: a[0], upper=0.2)
    assert held.name == "min_max"


def test_bounds_may_lack_a_number_in_single_frames():
    lower = np.zeros((4, 3))
    lower[1] = np.nan
    assert ms.solve(replace(PROBLEM, lower=lower)).status[1] == ms.Status.INVALID_INPUT


def test_records_of_arrays_have_a_short_text():
    records = (
        ms.diagnose(PROBLEM),
        ms.sharing.force_range(PROBLEM),
        ms.sharing.program(PROBLEM, "activation_power"),
        ms.sharing.pareto_front(PROBLEM, ["stress_cubed", "force_squared"]),
        ms.sharing.strength_margin(PROBLEM, [PROBLEM.muscle[0]]),
    )
    for record in records:
        assert repr(record).startswith(f"<{type(record).__name__}: ")
        assert len(repr(record)) < 400 and "\n" not in repr(record)


def test_a_contradiction_names_the_constraints():
    above = ms.sharing.expression_constraint("above", lambda a, f, d: a[0], lower=2.0)
    words = ms.sharing.solve_constrained(PROBLEM, "activation_power", [above]).summary()
    assert "produce these moments and meet the constraints" in words
    assert "above" in words


def test_costs_may_be_added_by_sum():
    parts = [ms.costs()[name]() for name in ("stress_cubed", "activation_power")]
    assert sum(parts).label == (parts[0] + parts[1]).label
