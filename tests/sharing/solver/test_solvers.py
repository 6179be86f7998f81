"""Every registered solver on the same problems: same optimum, same certificate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from packages import need_solver
from refusals import refused
from sharing_cases import RESTING, SMOOTH, equipped

from musclesolve import Cost, Problem, Status, costs, solve, solvers
from musclesolve.errors import InputError
from musclesolve.sharing import Ipopt, solving
from musclesolve.sharing.cost import ActivationPower, MusclePower
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver import solver_registry as registry
from musclesolve.sharing.solver.batch import Batch


def test_frames_do_not_depend_on_their_neighbors(make_leg):
    problem = make_leg(40, seed=7)
    whole, blocks = solve(problem, "stress_cubed"), solve(problem, "stress_cubed", Batch(block=7))
    np.testing.assert_allclose(whole.activation, blocks.activation, atol=1e-12)
    one = Problem(
        problem.moment_arm[11], problem.moment[11], problem.force_capacity[11], problem.max_isometric_force
    )
    single = solve(one, "stress_cubed")
    assert (
        single.activation.shape == (43,)
        and single.multiplier.shape == (7,)
        and single.status == Status.SOLVED
    )
    np.testing.assert_allclose(single.activation, whole.activation[11], atol=1e-12)


def test_a_cost_that_the_usual_solver_does_not_take_has_another_unless_one_is_named(make_leg):
    problem = make_leg(2, seed=7)
    assert solve(problem, "min_max").solver == "linprog" and solve(problem).solver == "batch"
    with refused("unfit_solver", "batch", "linprog"):
        solve(problem, "min_max", "batch")


def test_a_refusal_names_the_cost_with_its_options_and_installed_solvers_only(make_leg, monkeypatch):
    absent = replace(registry.REGISTRY["ipopt"], packages=("no_such_package_at_all",))
    monkeypatch.setitem(registry.REGISTRY, "ipopt", absent)
    with pytest.raises(InputError) as refusal:
        solve(make_leg(2, seed=7), "activation_power(exponent=3)", "linprog")
    text = str(refusal.value)
    assert "activation_power(exponent=3)" in text and "p = 2" not in text
    assert "batch" in text and "ipopt" not in text.replace(",", " ").split()


@pytest.mark.in_part(3)
@pytest.mark.parametrize(
    ("solver", "cost"), [("batch", "own"), ("linprog", "min_max"), ("slsqp", "stress_cubed")]
)
def test_memory_of_a_solve_is_that_of_a_block_of_frames(make_leg, monkeypatch, solver, cost):
    """A cost and a solver of one's own never see more frames than a block has, whose solutions are the same."""
    seen = []

    class Own(Cost):
        name = "own"

        def term_value(self, problem, activation):
            return (activation**2).sum(axis=1)

        def term_gradient(self, problem, activation):
            seen.append(problem.n_frames)
            return 2.0 * activation

        def term_hessian_diagonal(self, problem, activation):
            return np.full_like(activation, 2.0)

        term_parameters = term_expression = None  # for solvers that take CasADi

    problem = make_leg(12, seed=3)
    problem = replace(problem, moment=np.where(np.arange(12)[:, None] == 4, 1e4, problem.moment))
    chosen = Own() if cost == "own" else cost
    whole = solve(problem, chosen, solver)
    seen.clear()
    monkeypatch.setattr(solving, "BLOCK", 5)
    monkeypatch.setattr(solving, "check_cost", lambda *_: None)  # it looks at as many points in every problem
    blocks = solve(problem, chosen, solver)
    assert whole.status[4] == Status.INFEASIBLE and whole.solved.sum() == 11
    assert max(seen, default=0) <= 5 and bool(seen) == (cost == "own")
    np.testing.assert_array_equal(blocks.status, whole.status)
    np.testing.assert_allclose(blocks.activation, whole.activation, atol=1e-8)
    if whole.level_multiplier is not None:
        np.testing.assert_array_equal(blocks.level_multiplier, whole.level_multiplier)


def test_a_warm_start_does_not_change_the_solution(make_leg):
    problem = make_leg(5, seed=8)
    cold = solve(problem, solver="ipopt")
    warm = solve(problem, solver="ipopt", warm_start=cold)
    np.testing.assert_allclose(warm.activation, cold.activation, atol=1e-5)
    with refused("bad_shape", "warm_start"):
        solve(problem, warm_start=np.zeros(5))


@pytest.mark.parametrize("solver", [Batch(max_iterations=2), Ipopt(max_iterations=2)], ids=["batch", "ipopt"])
def test_too_few_iterations_are_reported(make_leg, solver):
    answer = solve(make_leg(4), solver=solver)
    assert (answer.status == Status.MAX_ITERATIONS).all()
    assert np.isnan(answer.activation).all() and (answer.gap > 1e-9).all()


@pytest.mark.parametrize(
    "cost",
    [
        "activation_power(exponent=50)",
        "soft_saturation(exponent=50)",
        "soft_saturation(exponent=40) + activation_power(exponent=20)",
    ],
)
def test_high_powers_are_solved(make_leg, cost):
    """Newton's method alone leaves up to 85 % of these frames; an infeasible frame keeps its proof."""
    problem = make_leg(40)
    problem = replace(problem, moment=np.vstack([problem.moment[:-1], 20.0 * problem.moment[-1:]]))
    answer = solve(problem, cost)
    assert answer.solved[:-1].mean() > 0.9 and answer.status[-1] == Status.INFEASIBLE
    assert solve(replace(problem, reserve_weight=1e-4), cost).solved[:-1].mean() > 0.7


@pytest.mark.parametrize(("load", "exponent"), [(1e-3, 15.0), (1e-3, 20.0), (1e-4, 50.0)])
def test_high_powers_share_small_loads(load, exponent):
    """A frame with all moments a thousandth has a thousandth of the activations, and a certificate."""
    random = np.random.default_rng(2)
    arm, strength = random.normal(0.0, 0.04, (20, 4, 16)), random.uniform(200.0, 4000.0, 16)
    moment = ((arm * strength) @ random.random((20, 16, 1)) ** 3)[:, :, 0]
    problem = Problem(arm, load * moment, strength, strength)
    answer = solve(problem, f"activation_power(exponent={exponent})")
    assert answer.solved.all()
    largest = solve(Problem(arm, moment, strength, strength), "min_max").activation.max(axis=1)
    bound = 16.0 ** (
        1.0 / exponent
    )  # the largest of 16 activations exceeds the least possible one by no more
    assert (answer.activation.max(axis=1) <= load * largest * bound * (1.0 + 1e-6)).all()


def test_muscles_that_can_do_nothing_rest(make_leg):
    """Zero capacity in some frames, no moment arm at all in others, a trace of capacity in the last."""
    full = make_leg(6, seed=9)
    capacity, arm = full.force_capacity.copy(), full.moment_arm.copy()
    capacity[:3, 4], arm[3:5, :, 4], capacity[5, 4] = 0.0, 0.0, 1e-30
    problem = replace(full, moment_arm=arm, moment=0.5 * full.moment, force_capacity=capacity)
    for cost in RESTING:
        for solver in ("batch", "ipopt"):
            answer = solve(problem, cost, solver)
            assert (answer.status == Status.SOLVED).all(), (cost, solver, answer.summary())
            assert (answer.activation[:5, 4] == 0).all()
            assert (answer.force[:, 4] < 1e-20).all()


def test_unknown_and_not_installed_are_two_errors(make_leg, monkeypatch):
    problem = make_leg(1)
    with refused("unknown_name", "'iopt'", "'ipopt'"):
        solve(problem, solver="iopt")
    with refused("bad_type", "3"):
        solve(problem, solver=3)
    record = solvers()["ipopt"]
    assert record.installed and record.warm_start and not record.batched
    absent = registry.SolverRecord(**(vars(record) | {"packages": ("no_such_package",)}))
    monkeypatch.setitem(registry.REGISTRY, "ipopt", absent)
    assert not solvers()["ipopt"].installed
    with refused("missing_package", "no_such_package", "casadi"):
        solve(problem, solver="ipopt")


def test_options_are_checked(make_leg):
    with refused("unknown_name", "on_infeasible", "ignore"):
        solve(make_leg(1), on_infeasible="ignore")
    with refused("bad_type", "dict"):
        solve({})
    for wrong in ({"tolerance": -1.0}, {"max_iterations": 0}, {"block": 0}, {"threads": 0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Batch(**wrong)


def test_ipopt_is_silent(make_leg, capfd):
    solve(make_leg(2), solver="ipopt")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("cost", SMOOTH)
@pytest.mark.parametrize(("dofs", "muscles"), [(3, 8), (7, 12), (7, 43)])
def test_capacities_may_differ_by_orders_of_magnitude(cost, dofs, muscles):
    """Muscles far from their optimal length are almost powerless; every frame has to be solved all the same."""
    random = np.random.default_rng(4)
    arms = random.uniform(-0.06, 0.06, (500, dofs, muscles)) * (random.random((500, dofs, muscles)) < 0.5)
    strongest = random.uniform(100.0, 2500.0, muscles)
    capacity = strongest * random.uniform(0.0, 1.0, (500, muscles)) ** 3
    activation = random.uniform(0.0, 0.9, (500, muscles)) ** 2
    moment = np.einsum("tmn,tn->tm", arms * capacity[:, None], activation)
    answer = solve(equipped(Problem(arms, moment, capacity, strongest)), cost)
    assert (answer.status == Status.SOLVED).all(), answer.summary()
    assert (answer.gap <= 1e-9).all() and answer.iterations.max() < 100


@pytest.mark.parametrize("cost", SMOOTH)
def test_the_stiffer_the_reserves_the_nearer_to_none(make_leg, cost):
    hard = make_leg(100, seed=12)
    exact, largest = solve(hard, cost), np.inf
    unit = np.abs(exact.multiplier).max()
    for stiffness in (1e-2, 1.0, 1e2, 1e5, 1e8):
        answer = solve(replace(hard, reserve_weight=stiffness * unit), cost)
        assert answer.solved.all() and answer.iterations.max() < 100
        assert np.abs(answer.reserve).max() < min(largest, 1.01 / stiffness)
        largest = np.abs(answer.reserve).max()
    assert (answer.status == Status.SOLVED).all()
    np.testing.assert_allclose(answer.activation, exact.activation, atol=1e-4)


def able(cost):
    """The solvers that can take a smooth cost."""
    return [name for name, record in solvers().items() if record.fits(costs()[cost]())]


@pytest.mark.parametrize("solver", able("stress_cubed"))
def test_nothing_left_to_decide(solver):
    """All muscles fixed by their bounds, where they meet the moment and where they do not."""
    need_solver(solver)
    problem = Problem(
        [[0.05, 0.03]], [[40.0], [50.0]], [1000.0, 2000.0], [1000.0, 2000.0], [0.32, 0.4], [0.32, 0.4]
    )
    answer = solve(problem, "stress_cubed", solver)
    assert answer.status.tolist() == [Status.SOLVED, Status.INFEASIBLE]
    np.testing.assert_array_equal(answer.activation[0], [0.32, 0.4])
    powerless = solve(
        replace(problem, force_capacity=[0.0, 0.0], moment=[[0.0], [1.0]], lower=0.0), solver=solver
    )
    assert powerless.status.tolist() == [Status.SOLVED, Status.INFEASIBLE]


@pytest.mark.parametrize("solver", able("stress_cubed"))
@pytest.mark.parametrize(("dofs", "muscles", "held"), [(2, 1, 0), (5, 3, 0), (4, 6, 4), (3, 3, 1), (6, 4, 2)])
def test_more_moments_than_muscles(solver, dofs, muscles, held, capfd):
    """Moments that the free muscles can only meet in one way, then moments that they cannot meet."""
    need_solver(solver)
    random = np.random.default_rng(dofs)
    arm, strongest = random.uniform(-0.06, 0.06, (dofs, muscles)), np.full(muscles, 1000.0)
    activation = random.uniform(0.1, 0.8, muscles)
    moment = arm @ (strongest * activation) + np.array([[0.0], [5.0]]) * random.uniform(-1.0, 1.0, dofs)
    fixed = np.arange(muscles) < held
    problem = Problem(
        arm, moment, strongest, strongest, np.where(fixed, activation, 0.0), np.where(fixed, activation, 1.0)
    )
    answer = solve(problem, "stress_cubed", solver)
    assert answer.status.tolist() == [Status.SOLVED, Status.INFEASIBLE]
    np.testing.assert_allclose(answer.activation[0], activation, atol=1e-6)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("solver", able("stress_cubed"))
def test_only_reserves_are_left_to_decide(solver):
    need_solver(solver)
    problem = Problem([[0.05], [0.0]], [45.0, 3.0], [1000.0], [1000.0], [0.8], [0.8], [1.0, 1e3])
    answer = solve(problem, "stress_cubed", solver)
    assert answer.status == Status.SOLVED_WITH_RESERVE
    np.testing.assert_allclose(answer.reserve, [5.0, 3.0], atol=1e-6)


@pytest.mark.parametrize("solver", able("emg_tracking"))
def test_muscles_without_moment_arms_follow_the_cost(solver):
    """No row is left: the measured activation of the first muscle, the least activation of the other."""
    need_solver(solver)
    problem = Problem([[0.0, 0.0]], [0.0], [1000.0] * 2, [1000.0] * 2, emg=[0.4, np.nan])
    answer = solve(problem, "emg_tracking", solver)
    assert answer.status == Status.SOLVED
    np.testing.assert_allclose(answer.activation, [0.4, 0.0], atol=1e-6)


class Wrapped:
    """A solver from outside, with an attribute that means something else to it."""

    name, fallback = "wrapped", None

    def solve(self, problem, cost, warm_start=None):
        return Batch().solve(problem, cost, warm_start)


class Certifying(Wrapped):
    """One that leaves all frames to its fallback."""

    fallback = Batch()

    def solve_certified(self, problem, cost, allow_reserve):
        return None

    def solve(self, problem, cost, warm_start=None):
        raise AssertionError("the fallback solves what is not certified")


@pytest.mark.parametrize("solver", [Wrapped(), Certifying()])
def test_only_a_solver_that_certifies_has_a_fallback(make_leg, solver):
    problem = make_leg(3, seed=2)
    np.testing.assert_allclose(solve(problem, solver=solver).activation, solve(problem).activation, atol=1e-6)


def test_a_cost_that_is_no_name_is_refused_with_both_ways_to_give_one():
    with pytest.raises(InputError) as raised:
        find_cost(3)
    assert raised.value.code == "unknown_name" and raised.value.expected.endswith("or a Cost object")


@pytest.mark.parametrize("exponent", [5.0, 8.0, 12.0, 20.0])
@pytest.mark.parametrize("cost", [ActivationPower, MusclePower])
def test_high_powers_take_few_steps(make_leg, cost, exponent):
    """Newton's method on a power p from far goes 1 / (p - 1) of the way; growing exponents do not."""
    answer = solve(equipped(make_leg(40)), cost(exponent))
    assert answer.solved.all() and (answer.gap <= 1e-9).all()
    assert answer.iterations.mean() < 30 and answer.iterations.max() < 100


@pytest.mark.parametrize("exponent", [6.0, 20.0])
def test_high_powers_of_a_single_moment_share_by_its_root(exponent):
    """p a_i^(p-1) = lambda r_i F_i, so that a_i / a_j = (r_i F_i / r_j F_j)^(1 / (p - 1)), however weak a muscle is."""
    arm, capacity = np.array([0.05, 0.04, 0.03, 0.02]), np.array([3000.0, 400.0, 40.0, 10.0])
    answer = solve(Problem(arm[None], [60.0], capacity, capacity), ActivationPower(exponent))
    size = (arm * capacity) ** (1.0 / (exponent - 1.0))
    np.testing.assert_allclose(answer.activation, 60.0 * size / (arm * capacity @ size), rtol=1e-3)
