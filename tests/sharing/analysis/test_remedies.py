"""The causes that a diagnosis names and the remedies that it proposes, verified by other means on random legs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from refusals import refused
from scipy.optimize import linprog

import musclesolve as ms
from musclesolve import Problem, Status, diagnose, solve

MUSCLES, DOFS, FRAMES = 12, 4, 12
Leg = Callable[..., Problem]


def with_passive(base: Problem, net: np.ndarray, passive: np.ndarray) -> Problem:
    """Net moments of which passive forces give their part."""
    moment = net - np.einsum("tkm,tm->tk", base.moment_arm, passive)
    arrays = (base.moment_arm, moment, base.force_capacity, base.max_isometric_force)
    return Problem(*arrays, passive_force=passive)


def weak(make_leg: Leg, seed: int) -> Problem:
    """Moments grow beyond what the muscles have; some passive force here and there."""
    base, random = (
        make_leg(FRAMES, seed=seed, effort=1.0, dofs=DOFS, muscles=MUSCLES),
        np.random.default_rng(seed),
    )
    passive = random.uniform(0.0, 30.0, (FRAMES, MUSCLES)) * (random.random(MUSCLES) < 0.3)
    return with_passive(base, np.linspace(0.2, 3.0, FRAMES)[:, None] * base.moment, passive)


def stretched(make_leg: Leg, seed: int) -> Problem:
    """Moments near rest; three muscles, all with the same sign at one joint, are stretched more and more."""
    base, random = (
        make_leg(FRAMES, seed=seed, effort=0.1, dofs=DOFS, muscles=MUSCLES),
        np.random.default_rng(seed),
    )
    sign = np.sign(base.moment_arm[0, 0])
    group = np.flatnonzero(sign == sign[np.flatnonzero(sign)[0]])[:3]
    passive = np.zeros((FRAMES, MUSCLES))
    passive[:, group] = np.linspace(0.0, 1e4, FRAMES)[:, None] * random.uniform(0.5, 1.5, group.size)
    return with_passive(base, base.moment, passive)


def near_the_edge(make_leg: Leg, seed: int) -> Problem:
    """Moments that the muscles just bear, and passive forces of some newtons that may be too much."""
    base, random = (
        make_leg(FRAMES, seed=seed, effort=1.0, dofs=DOFS, muscles=MUSCLES),
        np.random.default_rng(seed),
    )
    passive = random.uniform(0.0, 60.0, (FRAMES, MUSCLES)) * (random.random(MUSCLES) < 0.5)
    return with_passive(base, 1.4 * base.moment, passive)


def one_sided(make_leg: Leg, seed: int) -> Problem:
    """All muscles rotate the first joint in one direction, and the moment is in the other."""
    base = make_leg(FRAMES, seed=seed, effort=0.3, dofs=DOFS, muscles=MUSCLES)
    arm, net = base.moment_arm.copy(), base.moment.copy()
    arm[:, 0], net[:, 0] = np.abs(arm[:, 0]), np.linspace(-5.0, -60.0, FRAMES)
    return Problem(arm, net, base.force_capacity, base.max_isometric_force)


FAMILIES = {"weak": weak, "stretched": stretched, "near the edge": near_the_edge, "one sided": one_sided}
EVERY = [(name, seed) for name in FAMILIES for seed in range(2)]


@pytest.fixture(scope="module", params=EVERY, ids=lambda each: f"{each[0]} {each[1]}")
def found(request, make_leg):
    name, seed = request.param
    problem = FAMILIES[name](make_leg, seed)
    return name, problem, diagnose(problem)


def reachable(problem: Problem, frame: int, factor: np.ndarray) -> bool:
    """Whether some activations meet the moments with stronger muscles, by the definitions and SciPy alone."""
    matrix = problem.moment_arm[frame] * (factor * problem.force_capacity[frame])
    return linprog(np.zeros(MUSCLES), A_eq=matrix, b_eq=problem.moment[frame], bounds=(0, 1)).status == 0


def test_every_remedy_works_when_it_is_applied(found):
    name, problem, why = found
    assert why.frame.size > 0
    proposed = 0
    for k, t in enumerate(why.frame):
        remedy = why.remedy(k)
        if remedy is None:
            assert not re.search("times .* would suffice", why.sentence(k))
            continue
        proposed += 1
        factor = np.where(remedy.muscles, remedy.factor, 1.0)
        assert remedy.factor > 1.0 and reachable(problem, t, factor)
        assert not reachable(problem, t, np.ones(MUSCLES))
        one = problem.frames(np.array([t]))
        one = replace(
            one,
            force_capacity=one.force_capacity * factor,
            max_isometric_force=one.max_isometric_force * factor,
        )
        assert (solve(one, "stress_cubed").status == Status.SOLVED).all()
        assert remedy.also_of_all == reachable(problem, t, np.full(MUSCLES, remedy.factor))
        if why.passive_cause(k) is not None and why.without_passive(k):
            continue
        reported = float(re.search(r"([\d.]+) times", why.sentence(k)).group(1))
        assert reported == remedy.factor
        if not re.search("of the others as it is", why.sentence(k)):
            assert reachable(problem, t, np.full(MUSCLES, reported))  # what `strength` does
    assert name == "stretched" or (proposed > 0) == (name != "one sided")


def test_none_is_proposed_only_where_none_helps(found):
    """No factor on all muscles, and none on the limited ones unless passive forces are the cause."""
    _, problem, why = found
    for k, t in enumerate(why.frame):
        if why.remedy(k) is None:
            for factor in (1.05, 1.5, 4.0, 100.0):
                assert not reachable(problem, t, np.full(MUSCLES, factor))
                if why.passive_cause(k) is None:
                    assert not reachable(problem, t, np.where(why.limited[k], factor, 1.0))


def test_without_passive_forces_the_muscles_suffice_where_it_is_said(found):
    name, problem, why = found
    said = [k for k in range(why.frame.size) if "without passive forces the muscles" in why.sentence(k)]
    assert bool(said) == (name == "stretched") or name in ("weak", "near the edge")
    for k in said:
        one = problem.frames(why.frame[[k]])
        lifted = one.moment + np.einsum("tmn,tn->tm", one.moment_arm, one.passive_force)
        assert (solve(replace(one, moment=lifted), "stress_cubed").status == Status.SOLVED).all()


def test_passive_forces_are_named_where_smaller_ones_would_help(found):
    name, problem, why = found
    named = [why.passive_cause(k) is not None for k in range(why.frame.size)]
    assert name in ("weak", "near the edge") or set(named) == {name == "stretched"}
    for k in np.flatnonzero(named):
        t, cause = why.frame[k], why.passive_cause(k)
        moments = problem.moment_arm[t] * problem.passive_force[t]
        opposing = moments[cause.dof, cause.muscles]
        assert cause.moment == pytest.approx(opposing.sum())
        assert cause.needed == pytest.approx(problem.moment[t, cause.dof] + moments[cause.dof].sum())
        text = why.sentence(k)
        assert problem.muscle[cause.muscles[0]] in text and f"{abs(cause.moment):.1f} N m of" in text
        less = np.zeros(MUSCLES)
        less[cause.muscles] = problem.passive_force[t, cause.muscles]
        lifted = problem.moment[t] + problem.moment_arm[t] @ less
        assert _shortage(problem, t, lifted) < why.total[k]  # without them less is lacking
    for k in np.flatnonzero(~np.array(named)):
        assert "passive force" not in why.sentence(k)


def _shortage(problem: Problem, frame: int, moment: np.ndarray) -> float:
    unit = np.eye(DOFS)
    rows = np.hstack([problem.moment_matrix[frame], unit, -unit])
    cost = np.concatenate([np.zeros(MUSCLES), np.ones(2 * DOFS)])
    bounds = [(0, 1)] * MUSCLES + [(0, None)] * (2 * DOFS)
    return float(linprog(cost, A_eq=rows, b_eq=moment, bounds=bounds).fun)


def test_reserves_do_not_make_a_remedy():
    strongest = np.array([1000.0])
    problem = Problem(np.array([[0.05]]), np.array([-10.0]), strongest, strongest, reserve_weight=1e-6)
    why = diagnose(problem)
    assert why.remedy(0) is None and "would suffice" not in why.sentence(0).replace(
        "no strength would suffice", ""
    )


def test_a_knee_bent_deeply_is_held_by_passive_quadriceps():
    """Their passive moment exceeds all that the flexors have: the sentence says so, and what would do."""
    angles = {"knee_flexion_r": np.radians([60.0, 120.0]), "hip_flexion_r": np.radians(60.0)}
    dofs = ["hip_flexion_r", "knee_flexion_r", "ankle_dorsiflexion_r"]
    shown = ms.muscle_geometry(angles)
    leg = shown.sel(dof=dofs, muscle=[name for name in shown.muscle.values if str(name).endswith("_r")])
    arm, passive = leg.moment_arm.values, leg.passive_force.values
    needed = np.array([0.0, 1.0, 0.0]) - np.einsum("tkm,tm->tk", arm, passive)
    capacity = leg.force_capacity.values
    names = {"muscle": tuple(leg.muscle.values), "dof": tuple(dofs)}
    problem = Problem(arm, needed, capacity, capacity.max(axis=0) + 1.0, **names, passive_force=passive)
    why = diagnose(problem)
    assert why.frame.tolist() == [1] and why.without_passive(0)
    text = why.sentence(0, directions={"knee_flexion_r": ("flexion", "extension")})
    cause = why.passive_cause(0)
    assert all("vastus" in leg.muscle.values[i] for i in cause.muscles[:3])
    assert f"gives {abs(cause.moment):.1f} N m of extension at knee_flexion_r" in text
    assert "the motion needs 1.0 N m of flexion; without passive forces the muscles would suffice" in text
    assert diagnose(problem, passive_force=passive).sentence(0) == diagnose(problem).sentence(0)


def test_passive_forces_of_a_problem_change_no_solution_and_are_checked(make_leg):
    base = make_leg(5, seed=3, dofs=DOFS, muscles=MUSCLES)
    arrays = (base.moment_arm, base.moment, base.force_capacity, base.max_isometric_force)
    with_them = Problem(*arrays, passive_force=np.full((5, MUSCLES), 20.0))
    np.testing.assert_array_equal(solve(with_them).activation, solve(Problem(*arrays)).activation)
    assert with_them.frames(np.array([1, 3])).passive_force.shape == (2, MUSCLES)
    with refused("bad_number", "passive_force", "-1", "muscle_0"):
        Problem(*arrays, passive_force=np.full((5, MUSCLES), -1.0))
    with refused("bad_shape", "passive_force"):
        Problem(*arrays, passive_force=np.zeros((4, MUSCLES)))
