"""Objects of other packages and of users at the doors of force sharing."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

import musclesolve as ms

ELBOW = ms.Problem([[0.05, 0.03, -0.04]], np.linspace(0.0, 30.0, 40)[:, None], [800.0] * 3, [800.0] * 3)


class Effort(ms.Cost):
    """sum_i a_i^2, with an expression that may be another one."""

    name = "effort"

    def term_value(self, problem, activation):
        return (activation**2).sum(axis=1)

    def term_gradient(self, problem, activation):
        return 2 * activation

    def term_hessian_diagonal(self, problem, activation):
        return np.full_like(activation, 2.0)

    def term_parameters(self, problem):
        return ()

    def term_expression(self, casadi, activation, parameters):
        return casadi.sumsqr(activation)


class Namesake(Effort):
    name = "stress_cubed"


class Misstated(Effort):
    name = "misstated"

    def term_expression(self, casadi, activation, parameters):
        return casadi.sum1(activation)


def test_a_class_may_not_have_the_name_of_a_cost_of_the_library():
    """Results could not tell the two apart, alone and in a sum."""
    for cost in (Namesake(), 2.0 * Namesake() + Effort()):
        with refused("duplicate_name"):
            ms.solve(ELBOW, cost)


def test_a_program_refuses_an_expression_that_is_not_the_value():
    """As Ipopt refuses it; before, the program ended in frames that fail the certificate."""
    assert ms.sharing.program(ELBOW.frames(slice(0, 2)), Effort()).solve().solved.all()
    with refused("bad_cost", "term_expression"):
        ms.sharing.program(ELBOW.frames(slice(0, 2)), Misstated())


def test_a_tensor_that_requires_a_gradient_is_refused_in_its_own_words():
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("Use tensor.detach().numpy() instead.")

    with refused("not_numbers", "detach"):
        ms.Problem(Tensor(), [1.0], [1.0], [1.0])


@pytest.mark.parametrize("answer", [None, np.zeros((40, 3))], ids=["nothing", "an array"])
def test_a_solver_that_returns_no_attempt_is_named(answer):
    class Mine:
        name = "mine"

        def solve(self, problem, cost, warm_start=None):
            return answer

    with refused("bad_type", "mine"):
        ms.solve(ELBOW, "force_squared", Mine())


def test_no_frames_are_no_fault():
    none = replace(
        ELBOW.frames(slice(0, 0)),
        fiber_velocity=np.zeros((0, 3)),
        reaction_matrix=np.zeros((0, 2, 3)),
        reaction_offset=np.zeros((0, 2)),
    )
    assert ms.trajectory.solve_rate_limited(none, [], "stress_cubed").solution.activation.shape == (0, 3)
    assert ms.sharing.strength_margin(none, [none.muscle[0]]).strength.shape == (0,)


def test_what_is_no_cost_is_refused_with_the_step_that_lacks():
    """The record of a cost is called, a class makes an object, a cost over frames goes into a program."""
    over_frames = ms.sharing.motion_cost("smooth", lambda activation, force, data: activation[0, 0])
    for wrong, remedy in (
        (ms.costs()["stress_cubed"], 'ms.costs()["stress_cubed"]()'),
        (Effort, "Effort()"),
        (over_frames, "ms.sharing.program(problem, cost, motion_costs=[...])"),
    ):
        with refused("unknown_name", remedy):
            ms.solve(ELBOW, wrong)
    assert ms.solve(ELBOW, ms.costs()["stress_cubed"]()).solved.all()
