"""Costs over frames that the structured method takes: the optimum of Ipopt, certified, and what is left to Ipopt."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import musclesolve as ms
from musclesolve.sharing import Unknown, expression_constraint, expression_cost, motion_cost, program
from musclesolve.sharing.solver.linked_frames import MuscleChains


def changes(a, f, d):
    """Squared changes of activations."""
    return 2.0 * casadi.sumsqr(a[:, 1:] - a[:, :-1])


def rates_of_force(a, f, d):
    """Squared rates of forces, and squares of a frame alone."""
    return 1e-9 * casadi.sumsqr((f[:, 1:] - f[:, :-1]) / casadi.repmat(d.dt, f.shape[0], 1)) + casadi.sumsqr(
        a
    )


def some_muscles(a, f, d):
    """Changes of three muscles, and the distance from a target."""
    return 5.0 * casadi.sumsqr(a[:3, 1:] - a[:3, :-1]) + casadi.sumsqr(a - 0.2)


TERMS = {"changes": (changes, ()), "rates": (rates_of_force, ("dt",)), "some": (some_muscles, ())}


def term(name):
    function, uses = TERMS[name]
    return motion_cost(name, function, uses=uses, convex=True)


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize(
    ("cost", "reserve"),
    [
        ("activation_power", None),
        ("soft_saturation", 1e-2),
        ("joint_reaction_squared", None),
        ("stress_cubed", None),
    ],
)
def test_the_structured_method_has_the_optimum_of_ipopt(make_leg, name, cost, reserve):
    problem = make_leg(8).with_arrays(time=np.cumsum([0.01, 0.01, 0.02, 0.01, 0.015, 0.01, 0.01, 0.02]))
    if reserve is not None:
        problem = problem.with_arrays(reserve_weight=np.full((8, 7), reserve))
    made = program(problem, cost, motion_costs=term(name))
    answer, reference = made.solve(), made.solve("ipopt")
    assert answer.solver == "structured" and answer.solved.all() and (answer.gap <= 1e-9).all()
    assert not answer.stationary_only
    np.testing.assert_array_equal(answer.status, reference.status)
    assert answer.total_cost == pytest.approx(reference.total_cost, rel=1e-8)
    np.testing.assert_allclose(
        answer.activation, reference.activation, atol=1e-4 if cost == "stress_cubed" else 1e-6
    )
    np.testing.assert_allclose(answer.reserve, reference.reserve, atol=1e-4)
    np.testing.assert_allclose(answer.multiplier, reference.multiplier, rtol=1e-3, atol=1e-6)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), frames=st.integers(1, 7), heavy=st.floats(-4.0, 4.0))
def test_no_other_motion_costs_less(seed, frames, heavy):
    """Random chains beside cubes: along random changes that leave the moments alone, the cost does not fall."""
    random, muscles = np.random.default_rng(seed), 5
    arm = random.uniform(-0.05, 0.05, (frames, 2, muscles))
    moment = np.einsum("tmn,tn->tm", arm, 800.0 * random.uniform(0.0, 0.6, (frames, muscles)))
    problem = ms.Problem(arm, moment, np.full((frames, muscles), 800.0), np.full(muscles, 800.0))
    weight = 10.0**heavy * random.uniform(0.0, 1.0, (muscles, max(frames - 1, 0)))
    linked = motion_cost(
        "linked",
        lambda a, f, d: casadi.sum2(casadi.sum1(casadi.DM(weight) * (a[:, 1:] - 0.7 * a[:, :-1]) ** 2)),
        convex=True,
    )
    made = program(problem, "activation_power", motion_costs=linked)
    answer = made.solve()
    assert answer.solver == "structured" and answer.solved.all()

    def total(a):
        steps = a[1:] - 0.7 * a[:-1]
        return (a**2).sum() + (weight.T * steps**2).sum()

    for _ in range(20):
        other = answer.activation.copy()
        for t in range(frames):
            free = np.linalg.svd(problem.moment_matrix[t])[2][2:]
            other[t] += random.normal(size=len(free)) @ free * 10.0 ** random.uniform(-6, -1)
        inside = (other >= 0.0).all(axis=1) & (other <= 1.0).all(axis=1)
        other[~inside] = answer.activation[~inside]
        assert total(other) >= total(answer.activation) * (1.0 - 1e-9)


def test_chains_are_recognized_with_their_numbers():
    random, frames, muscles = np.random.default_rng(3), 6, 4
    known = MuscleChains(*(random.normal(size=(count, muscles)) for count in (frames, frames - 1, frames)))
    found = MuscleChains.recognized(known.slope, frames, muscles)
    assert found is not None
    for one, other in zip(found, known, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    assert not found.convex
    for further in (lambda a: 1e-3 * a**2, lambda a: 1e-3 * a[::-1], lambda a: 1e-3 * a.sum(axis=1)[:, None]):
        assert MuscleChains.recognized(lambda a, f=further: known.slope(a) + f(a), frames, muscles) is None


OTHERS = {
    "second differences": motion_cost(
        "bends", lambda a, f, d: casadi.sumsqr(a[:, 2:] - 2 * a[:, 1:-1] + a[:, :-2]), convex=True
    ),
    "a sum of muscles": motion_cost(
        "sum", lambda a, f, d: casadi.sumsqr(casadi.sum1(a[:, 1:] - a[:, :-1])), convex=True
    ),
    "powers": motion_cost("powers", lambda a, f, d: casadi.sumsqr((a[:, 1:] - a[:, :-1]) ** 2), convex=True),
    "not declared convex": motion_cost("plain", changes),
    "an unknown": motion_cost(
        "level",
        lambda a, f, d: casadi.sumsqr(a - casadi.repmat(d.u, 1, 4)),
        unknowns={"u": Unknown((43, 1))},
        convex=True,
    ),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_costs_over_frames_go_to_ipopt(make_leg, kind):
    made = program(make_leg(4), "activation_power", motion_costs=OTHERS[kind])
    answer = made.solve()
    assert made.chains is None and answer.solver == "ipopt" and answer.solved.all()


def test_constraints_and_costs_that_join_muscles_go_to_ipopt(make_leg):
    problem = make_leg(3)
    held = expression_constraint("held", lambda a, f, d: a[0], upper=0.9)
    pairs = expression_cost(
        "pairs", lambda a, f, d: casadi.sumsqr(a) + casadi.sumsqr(a[1:] + a[:-1]), convex=True
    )
    for made in (
        program(problem, "activation_power", held, term("changes")),
        program(problem, pairs, motion_costs=term("changes")),
    ):
        assert made.chains is None and made.solve().solver == "ipopt"


def test_a_motion_with_a_frame_out_of_reach_is_infeasible_and_reserves_help(make_leg):
    problem = make_leg(5)
    problem = problem.with_arrays(moment=problem.moment * [[1.0], [1.0], [50.0], [1.0], [1.0]])
    made = program(problem, "activation_power", motion_costs=term("changes"))
    answer = made.solve()
    assert not answer.solved.any() and answer.status[2] == ms.Status.INFEASIBLE
    assert any("frame 2 lacks" in note for note in answer.notes)
    helped, reference = made.solve(on_infeasible="reserve"), made.solve("ipopt", on_infeasible="reserve")
    assert helped.solver == "structured" and helped.solved.all() and reference.solved.all()
    assert helped.status[2] == ms.Status.SOLVED_WITH_RESERVE
    np.testing.assert_allclose(helped.activation, reference.activation, atol=1e-5)
    np.testing.assert_allclose(helped.reserve, reference.reserve, rtol=1e-4, atol=1e-4)


def test_muscles_with_a_far_upper_bound_and_muscles_that_are_fixed(make_leg):
    problem = make_leg(6)
    lower, upper = problem.lower.copy(), np.full_like(problem.upper, 3.0)
    lower[:, 3] = upper[:, 3] = 0.15
    problem = problem.with_arrays(lower=lower, upper=upper)
    made = program(problem, "activation_power", motion_costs=term("changes"))
    answer, reference = made.solve(), made.solve("ipopt")
    assert answer.solver == "structured" and answer.solved.all() and (answer.activation[:, 3] == 0.15).all()
    np.testing.assert_allclose(answer.activation, reference.activation, atol=1e-6)
