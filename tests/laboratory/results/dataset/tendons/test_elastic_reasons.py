"""Sentences on reserves with elastic tendons name joint, newton meters, time and the limits that muscles are at."""

from __future__ import annotations

import re

import numpy as np
from elastic_stride import elastic_result, weak_result

from musclesolve import Problem, Solution, Status
from musclesolve.laboratory.results.dataset.muscle_labels import elastic_reasons
from musclesolve.laboratory.results.dataset.result_quantities import listed

TIME = np.arange(6) * 0.01


def solved(activation: np.ndarray, reserve: np.ndarray) -> tuple[Problem, Solution]:
    """A flexor and an extensor of 100 N at 0.1 m; the multiplier has the sign of the reserve."""
    frames = len(TIME)
    arm = np.broadcast_to([[0.1, -0.1]], (frames, 1, 2))
    moment = 10.0 * (activation[:, :1] - activation[:, 1:]) + reserve
    problem = Problem(
        arm,
        moment,
        np.full((frames, 2), 100.0),
        np.full(2, 100.0),
        muscle=("flexor_r", "extensor_r"),
        dof=("knee_r",),
    )
    status = np.where(reserve[:, 0] != 0.0, Status.SOLVED_WITH_RESERVE, Status.SOLVED).astype(np.int8)
    nothing = np.zeros(frames)
    return problem, Solution(
        *(activation, 100.0 * activation, reserve, 50.0 * reserve, status, *[nothing] * 4),
        *(np.ones(frames, dtype=np.int64), np.full((frames, 1), np.nan), np.full((frames, 1), 50.0)),
        solver="structured",
        cost_name="force_squared",
    )


def sentences(activation: list[list[float]], reserve: list[float]) -> list[str]:
    problem, solution = solved(np.array(activation), np.array(reserve)[:, None])
    names = {"knee_r": ("flexion", "extension")}
    return elastic_reasons(problem, solution, problem.moment, TIME, names)


def test_a_muscle_that_is_fully_active_is_at_its_limit():
    full = [[1.0, 0.0]] * 6
    first, verdict = sentences(full, [0.0, 0.0, 2.0, 0.5, 0.0, 0.0])
    assert first == "knee_r lacks 2.0 N m of flexion at 0.020 s; flexor_r is at its limit"
    assert verdict.startswith("the reserve of knee_r reaches 17 %")


def test_a_muscle_that_rises_as_fast_as_it_can_is_named():
    e = np.exp(-1.0)  # 10 ms with a time constant of 10 ms
    rising = [[0.0, 0.0], [0.0, 0.0], [1.0 - e, 0.0], [0.8, 0.0], [0.8, 0.0], [0.8, 0.0]]
    first, _ = sentences(rising, [0.0, 0.0, 3.0, 0.0, 0.0, 0.0])
    assert (
        first
        == "knee_r lacks 3.0 N m of flexion at 0.020 s; flexor_r cannot be activated faster or relaxed sooner"
    )


def test_an_antagonist_that_falls_as_fast_as_it_can_is_named():
    e = np.exp(-0.25)  # 10 ms with a time constant of 40 ms
    falling = [[0.5, 0.9], [0.5, 0.9], [0.5, 0.9 * e], [0.5, 0.6], [0.5, 0.6], [0.5, 0.6]]
    first, _ = sentences(falling, [0.0, 0.0, 3.0, 0.0, 0.0, 0.0])
    assert (
        first
        == "knee_r lacks 3.0 N m of flexion at 0.020 s; extensor_r cannot be relaxed faster or activated sooner"
    )


def test_frames_without_reserve_need_no_reason():
    assert sentences([[0.5, 0.0]] * 6, [0.0] * 6) == []
    assert listed(elastic_result(), "reasons_r") == []


def test_the_reasons_of_a_trial_name_what_its_result_has():
    data = weak_result()
    advice, first, *_ = listed(data, "reasons_r")
    assert "musclesolve check" in advice
    found = re.match(r"ankle_dorsiflexion_r lacks ([0-9.]+) N m of plantarflexion at ([0-9.]+) s; ", first)
    assert found and "soleus_r" in first
    reserve = data["reserve_moment"].sel(dof="ankle_dorsiflexion_r")
    frame = int(np.abs(reserve.values).argmax())
    assert float(found[1]) == round(abs(float(reserve[frame])), 1)
    assert float(found[2]) == round(float(data["time"][frame]), 3)
