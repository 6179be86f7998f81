"""Elastic tendons on the recorded walk: certified without reserves, as the reference has it, with plausible tendons."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from motion_cases import attempt_cost
from thorough import THOROUGH

from musclesolve import Status
from musclesolve.laboratory.forces import prepare
from musclesolve.models.body_sharing import motion_problem
from musclesolve.muscles import ElasticMuscles
from musclesolve.sharing import RateLimits
from musclesolve.trajectory import MotionProblem, solve_motion
from musclesolve.trajectory.certificate import Certifier
from musclesolve.trajectory.collocation import Collocation
from musclesolve.trajectory.motion_problem import MotionCost

COSTS = ["activation_volume", "activation_power", "stress_cubed"]
ACHILLES = ("soleus", "gastrocnemius")


@pytest.fixture(scope="module")
def ready(default_walk_trial):
    """Both legs with the muscles of a set, before the sharing."""

    @cache
    def of(database: str):
        chosen = {"database": database, "tendon": "elastic"}
        return prepare(default_walk_trial.with_settings(muscles=chosen), side="both")

    return of


def motion(body, leg: int) -> MotionProblem:
    """The usable frames of a leg, which follow each other."""
    part = body.parts[leg]
    use = np.flatnonzero(part.usable)
    assert (np.diff(use) == 1).all() and len(use) > 100
    return motion_problem(
        part, slice(use[0], use[-1] + 1), ElasticMuscles.from_parameters(part.state.parameters)
    )


@pytest.fixture(scope="module")
def right(ready) -> MotionProblem:
    """The right leg with the muscles of 2023."""
    return motion(ready("rajagopal_2023"), 0)


@pytest.fixture(scope="module")
def solved(right):
    """Its solution for a cost."""
    return cache(lambda cost: solve_motion(right, cost))


def check(problem: MotionProblem, found) -> None:
    """Certified by the structured method, without reserves, moments and limits kept."""
    assert (found.status == Status.SOLVED).all(), found.notes
    assert found.solver == "structured" and found.gap.max() <= 1e-7
    produced = np.einsum("tkn,tn->tk", problem.moment_arm, found.force + found.passive_force)
    assert np.abs(produced - problem.moment).max() < 1e-4
    assert RateLimits().excess(found.activation, problem.time).max() < 1e-6
    assert found.activation.min() >= 0.0 and found.activation.max() <= 1.0


def achilles(muscles: ElasticMuscles) -> np.ndarray:
    return np.array([name.startswith(ACHILLES) for name in muscles.names])


@pytest.mark.in_part(2)
@pytest.mark.parametrize("cost", COSTS)
def test_walk_is_solved_without_reserves(right, solved, cost):
    found = solved(cost)
    check(right, found)
    assert np.sqrt(np.mean(found.defect**2)) < 0.05


@pytest.mark.parametrize("cost", COSTS)
def test_achilles_tendon_stretches_by_some_percent(right, solved, cost):
    """Most in push-off; in walking 3 to 6 % were measured, of which the strain at F0 of the set allows the most."""
    found, calf = solved(cost), achilles(right.muscles)
    assert calf.sum() == 3
    peak = found.tendon_strain[:, calf].max(axis=0)
    assert 0.02 < peak.max() < 0.07
    stored = found.tendon_energy[:, calf].sum(axis=1).max()
    assert 5.0 < stored < 60.0


def test_elastic_tendons_matter_most_at_the_ankle(right, solved):
    found = solved("activation_volume")
    rigid = solve_motion(replace(right, muscles=right.muscles.rigid()), "activation_volume")
    apart = np.sqrt(np.square(found.fiber_velocity - rigid.fiber_velocity).mean(axis=0))
    relative = apart / right.muscles.parameters.optimal_fiber_length
    calf = achilles(right.muscles)
    assert relative[calf].mean() > 2.0 * relative[~calf].mean()


@pytest.mark.thorough
def test_reference_agrees_on_the_walk(right):
    """Started at the solution, the reference finds nothing better; of the first third of the walk unless the run is
    thorough.
    """
    part = right if THOROUGH else right.frames(slice(0, len(right.time) // 3))
    found, muscles = solve_motion(part, "stress_cubed"), part.muscles
    z = muscles.curves.tendon.inverse(
        (found.force + found.passive_force) / muscles.parameters.max_isometric_force
    )
    cost = MotionCost.from_cost(part, "stress_cubed")
    attempt = Collocation().solve(part, cost, (z, found.activation))
    assert Certifier(part, cost).certificate(attempt).holds.all()
    assert attempt_cost(part, cost, attempt) == pytest.approx(float(part.weight @ found.cost), rel=1e-6)
    apart = np.abs(attempt.activation - found.activation)
    assert apart[found.activation > 0.05].max() < 1e-4 and apart.max() < 5e-3  # cubes are flat near rest


@pytest.mark.in_part(2)
@pytest.mark.parametrize("leg", [0, 1])
def test_both_legs_are_solved_with_another_set(ready, leg):
    problem = motion(ready("gait2392"), leg)
    check(problem, solve_motion(problem, "activation_volume"))
