"""Frames of a program, out of reach or not, alone or joined; several starts; and why a solver did not solve a frame."""

import casadi
import numpy as np
import pytest
from refusals import refused

import musclesolve as ms
from musclesolve.sharing import Unknown, expression_constraint, expression_cost, motion_cost, program

FAR = 2  # the frame out of reach
HOLLOW = expression_cost("hollow", lambda a, f, d: casadi.sum1(casadi.sqrt(a + 1e-3)))
SMOOTH = motion_cost("smooth", lambda a, f, d: 0.1 * casadi.sumsqr(a[:, 1:] - a[:, :-1]), convex=True)


def knee(*moments: float) -> ms.Problem:
    """Three muscles about a knee; they reach some 90 N m."""
    arm = np.random.default_rng(0).uniform(0.02, 0.06, (len(moments), 1, 3))
    force = [1000.0, 400.0, 600.0]
    return ms.Problem(arm, np.array(moments)[:, None], force, force, dof=["knee"])


FIVE = knee(20.0, 21.0, 400.0, 23.0, 24.0)
SOLVERS = ("ipopt", "sqpmethod", "fatrop", ms.sharing.Ipopt())


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("on_infeasible", ["report", "reserve"])
def test_a_frame_out_of_reach_leaves_the_others_solved(solver, on_infeasible):
    found = program(FIVE, "stress_cubed").solve(solver, on_infeasible=on_infeasible)
    reference = ms.solve(FIVE, "stress_cubed", on_infeasible=on_infeasible)
    np.testing.assert_array_equal(found.status, reference.status)
    np.testing.assert_allclose(found.activation, reference.activation, atol=1e-6)
    np.testing.assert_allclose(found.reserve, reference.reserve, atol=1e-5)
    assert np.isfinite(found.infeasibility_proof[FAR]).all()
    assert np.isfinite(found.reserve_weight[FAR]).all() == (on_infeasible == "reserve")
    assert np.isinf(np.delete(found.reserve_weight, FAR, axis=0)).all()


def test_the_frame_that_leaves_joined_frames_without_a_solution_is_named():
    lacks = float(ms.diagnose(FIVE).shortage[0, 0])
    found = program(FIVE, "stress_cubed", motion_costs=SMOOTH).solve()
    assert not found.solved.any() and found.status[FAR] == ms.Status.INFEASIBLE
    for part in (f"frame {FAR} lacks {lacks:.1f} N m", "knee", "joins the frames", "on_infeasible='reserve'"):
        assert part in found.summary()
    apart = program(FIVE, "stress_cubed").solve()
    assert f"frame {FAR} lacks" in apart.summary() and "joins" not in apart.summary()


def test_joined_frames_are_solved_with_the_reserve_of_the_frame_that_needs_it():
    found = program(FIVE, "stress_cubed", motion_costs=SMOOTH).solve(on_infeasible="reserve")
    lacks = ms.diagnose(FIVE).shortage[0, 0]
    assert found.solved.all() and (found.status == ms.Status.SOLVED_WITH_RESERVE).tolist() == [0, 0, 1, 0, 0]
    np.testing.assert_allclose(found.reserve[:, 0], np.where(np.arange(5) == FAR, lacks, 0.0), atol=1e-4)


def test_frames_that_reserves_do_not_help_keep_their_proof():
    """Constraints contradict each other whatever the moments are; in another frame they contradict the moment."""
    at_least = expression_constraint("at least", lambda a, f, d: a[0], lower=[0.5, 0.9, 0.1])
    at_most = expression_constraint("at most", lambda a, f, d: a[0], upper=[0.2, 1.0, 0.2])
    made = program(knee(20.0, 5.0, 20.0), "stress_cubed", [at_least, at_most])
    found, helped = made.solve(), made.solve(on_infeasible="reserve")
    assert found.status.tolist() == [ms.Status.INFEASIBLE, ms.Status.INFEASIBLE, ms.Status.SOLVED]
    assert helped.status.tolist() == [ms.Status.INFEASIBLE, ms.Status.SOLVED_WITH_RESERVE, ms.Status.SOLVED]
    np.testing.assert_array_equal(helped.constraint_multiplier[0], found.constraint_multiplier[0])


def test_what_is_no_way_to_treat_infeasible_frames_is_refused():
    with refused("unknown_name", "hope"):
        program(FIVE).solve(on_infeasible="hope")
    with refused("wrong_type", "Ipopt"):
        program(FIVE).solve(ms.sharing.Cyipopt)


def test_starts_keep_the_best_of_every_frame():
    """A hollow cost has an optimum for each muscle that works alone: no single start is best in every frame."""
    problem = knee(*np.linspace(10.0, 40.0, 8))
    made = program(problem, HOLLOW)
    awry = np.random.default_rng(4).random((8, 3))
    found = made.solve(ms.sharing.Ipopt(tolerance=1e-12), start=awry, starts=5, seed=3)
    assert found.solved.all() and found.stationary_only
    assert found.total_cost < min(found.start_costs) - 1e-3
    assert found.optima.shape == (8,) and found.optima.max() > 1
    several = found.optima > 1
    assert (found.optima_apart[several] > 100.0).all() and not found.optima_apart[~several].any()
    note = next(note for note in found.notes if "5 starts" in note)
    assert f"{found.optima.max()} optima" in note and f"{found.optima_apart.max():.3g} N" in note
    joined = program(problem, "stress_cubed", motion_costs=SMOOTH).solve(starts=3)
    assert (joined.optima == 1).all() and "3 starts the motion ended at one optimum" in joined.summary()
    alone = program(problem.frames(slice(0, 1)), HOLLOW).solve(starts=5, seed=3)
    assert alone.solved.all() and alone.optima.sum() >= 1


def test_starts_and_reserves_together():
    found = program(FIVE, HOLLOW).solve(starts=3, on_infeasible="reserve")
    assert found.solved.all() and np.isfinite(found.start_costs).all() and found.reserve[FAR, 0] > 300.0


def test_a_callback_ends_a_frame_of_a_program():
    begun = []

    def stop(iteration, objective):
        begun.extend([iteration] if iteration == 0 else [])
        return iteration >= 1

    for terms, count in (((), 3), (SMOOTH, 1)):
        begun.clear()
        made = program(knee(20.0, 21.0, 22.0), "stress_cubed", motion_costs=terms)
        found = made.solve(ms.sharing.Ipopt(callback=stop), on_infeasible="reserve")
        assert len(begun) == count and (found.status == ms.Status.MAX_ITERATIONS).all()
    with pytest.raises(ZeroDivisionError):
        made.solve(ms.sharing.Ipopt(callback=lambda iteration, objective: 1 / 0))


def reason(found: ms.Solution) -> str:
    """The notes on what the solver reports."""
    assert not found.solved.any() and np.isin(found.status, (3, 5)).all()
    return "\n".join(note for note in found.notes if note.startswith("The solver"))


def of_unknown(expression):
    return motion_cost("u", expression, unknowns={"u": Unknown((1, 1))})


def test_why_a_solver_failed_is_a_note():
    two = knee(20.0, 21.0)
    falling = program(two, motion_costs=of_unknown(lambda a, f, d: -casadi.sumsqr(d.u - a[0, 0]))).solve()
    assert "Diverging_Iterates" in reason(falling) and "frames 0, 1" in reason(falling)
    assert any("unknown u grew" in note and "bounds" in note for note in falling.notes)
    straight = program(two, motion_costs=of_unknown(lambda a, f, d: d.u[0])).solve()
    assert any("unknown u grew to -" in note for note in straight.notes)
    steep = program(two, motion_costs=of_unknown(lambda a, f, d: casadi.sqrt(d.u[0]))).solve()
    assert "Invalid_Number_Detected" in reason(steep) and "not a finite number" in reason(steep)
    hollow = expression_constraint("hollow", lambda a, f, d: casadi.sumsqr(a), lower=3.5)
    failed = ms.sharing.solve_constrained(two, "force_squared", hollow)
    assert "Infeasible_Problem_Detected" in reason(failed) and "no proof" in reason(failed)
