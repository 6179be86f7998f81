"""The compiled solver on problems that are nasty in every way a problem can be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from musclesolve import Problem, Status, costs, solve
from musclesolve.sharing import certify
from musclesolve.sharing.certificate import farkas_margin, farkas_ratio, within_domain
from musclesolve.sharing.kernel.constants import UNRESOLVED
from musclesolve.sharing.solver.batch import Batch, Vectorized

# some moments are far beyond the muscles, some muscles have no arm at all
pytestmark = pytest.mark.filterwarnings("ignore:the moment of", "ignore:moment_arm is zero")
KINDS = ("force_squared", "stress_cubed", "normalized_force_squared", "soft_saturation", "activation_power")
THOROUGH = settings(max_examples=80, derandomize=True)


@st.composite
def nasty(draw):
    """Equal, empty, dependent rows and columns, capacities from 1e-9 to 1e9 N, bounds that meet, the edge of reach."""
    dofs, muscles = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arm = random.uniform(-0.08, 0.08, (dofs, muscles)) * (random.random((dofs, muscles)) < 0.7)
    strongest = 10.0 ** random.uniform(*draw(st.sampled_from([(2, 3.5), (-9, 9), (9, 9), (-9, -9)])), muscles)
    capacity = strongest * random.choice([0.0, 0.3, 1.0, 1.4], muscles)
    lower, upper = np.zeros(muscles), np.ones(muscles)
    if draw(st.booleans()):
        arm[:, -1], capacity[-1], strongest[-1] = arm[:, 0], capacity[0], strongest[0]
    if draw(st.booleans()):
        arm[:, muscles // 2] = 0.0
    if draw(st.booleans()):
        arm[-1] = arm[0] * draw(st.sampled_from([0.0, 1.0, -2.0, 1e-9]))
    if draw(st.booleans()):
        lower[0] = upper[0] = draw(st.sampled_from([0.0, 0.2, 0.5]))
    if draw(st.booleans()):
        lower[-1], upper[-1] = 0.1, draw(st.sampled_from([0.1, 0.1 + 1e-13, 0.1 + 1e-9, 0.9]))
    share = draw(st.sampled_from(["inside", "edge", "rest", "beyond"]))
    activation = {
        "inside": lower + (upper - lower) * random.random(muscles),
        "edge": np.where(random.random(muscles) < 0.5, lower, upper),
        "rest": lower,
        "beyond": upper,
    }[share]
    kind = draw(st.sampled_from(KINDS))
    moment = (arm * capacity) @ activation
    moment = 3.0 * moment + 5.0 if share == "beyond" else moment
    return Problem(arm[None], moment[None], capacity[None], strongest, lower=lower, upper=upper), kind


@THOROUGH
@given(nasty())
def test_every_status_is_proved_and_the_numpy_method_agrees(case):
    problem, kind = case
    cost = costs()[kind]()
    answer, slow = solve(problem, cost), solve(problem, cost, Vectorized())
    assert answer.status[0] in (Status.SOLVED, Status.INFEASIBLE) or answer.status[0] == slow.status[0]
    if answer.status[0] == Status.SOLVED:
        given = (answer.activation, answer.reserve, answer.multiplier)
        assert certify(problem, cost, *given).holds[0]
        assert slow.status[0] in (Status.SOLVED, Status.MAX_ITERATIONS, Status.SOLVER_FAILED)
        # a muscle that moves less than the moments may be missed by is not fixed by them
        weakest = np.abs(problem.moment_matrix[0]).max(axis=0)
        missed = max(answer.moment_error[0], slow.moment_error[0]) * max(1.0, np.abs(problem.moment).max())
        told = missed <= 1e-6 * weakest[weakest > 0.0].min(initial=np.inf)
        if slow.status[0] == Status.SOLVED and told:
            size = max(abs(slow.cost[0]), 1e-6 * abs(cost.value(problem, problem.upper)[0]), 1e-30)
            # what the moments that the certificate lets both miss are worth
            allowed = 2e-6 * (np.abs(slow.multiplier) * np.maximum(1.0, np.abs(problem.moment))).sum()
            assert not abs(answer.cost[0] - slow.cost[0]) > 1e-4 * size + allowed
    if answer.status[0] == Status.INFEASIBLE and np.isfinite(answer.infeasibility_proof).all():
        part = within_domain(problem, cost)
        assert farkas_margin(part, answer.infeasibility_proof)[0] > 0.0
        # a certificate lets moments be missed by 1e-6
        assert slow.status[0] != Status.SOLVED or farkas_ratio(part, answer.infeasibility_proof)[0] <= 2e-6


@pytest.mark.thorough
@THOROUGH
@given(nasty(), st.sampled_from([1e-3, 1.0, 1e6]))
def test_with_reserves_every_frame_is_solved(case, weight):
    problem, kind = case
    cost = costs()[kind]()
    reserved = problem.with_arrays(reserve_weight=np.full_like(problem.moment, weight))
    fast, slow = solve(reserved, cost), solve(reserved, cost, Vectorized())
    assert fast.solved[0] or fast.status[0] in (Status.INFEASIBLE, slow.status[0])
    if fast.solved[0] and slow.solved[0]:
        total = [x.cost[0] + 0.5 * weight * (x.reserve[0] ** 2).sum() for x in (fast, slow)]
        size = max(abs(total[1]), 1e-6 * abs(cost.value(problem, problem.upper)[0]), 1e-6 * weight, 1e-30)
        # the slower one ends as soon as 1e-9 of the moments is missing, which stiff reserves then pay for
        assert not total[0] - total[1] > 1e-4 * size


def test_hardly_any_frame_is_unresolved():
    """Solve 400 problems each whose capacities differ by many orders of magnitude."""
    for size, share in ((2.0, 0.0), (4.0, 0.01)):
        random = np.random.default_rng(0)
        arm = random.uniform(-0.08, 0.08, (400, 4, 9)) * (random.random((400, 4, 9)) < 0.7)
        strongest = 10.0 ** random.uniform(-size, size, (400, 9))
        moment = np.einsum("tmn,tn->tm", arm * strongest[:, None], random.random((400, 9)))
        problem = Problem(arm, moment, strongest, np.full(9, 10.0**size))
        for kind in KINDS:
            answer = Batch().solve_certified(problem, costs()[kind](), allow_reserve=False)
            assert answer is not None and (answer.status == UNRESOLVED).mean() <= share, kind
