"""The evidence for the default cost: correlations of drawn strides, phases of gait, exchanges, names of models."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.usual_cost import (
    EXCHANGES,
    PHASES,
    SET_NAMES,
    Channels,
    Exchange,
    difference,
    phases,
    summaries,
)
from musclesolve.files import Event
from musclesolve.sharing.problem import Problem


def test_correlations_of_phases_and_drawn_strides_are_those_of_their_samples() -> None:
    one, other = np.random.default_rng(0).normal(size=(2, 60, 2))
    one[:5] = np.nan
    phase = np.tile(np.repeat([[0], [2]], 15, axis=0), (2, 2))
    stride = np.repeat([[0, 0], [1, 1]], 30, axis=0)
    channels = Channels("a", ("soleus", "soleus"), np.zeros(2), one, other, phase, stride)
    drawn = np.random.default_rng(3).integers(2, size=2)
    for k in range(2):
        inside = (phase[:, k] == 2) & np.isfinite(one[:, k])
        assert channels.correlation(2)[k] == pytest.approx(
            np.corrcoef(one[inside, k], other[inside, k])[0, 1]
        )
        rows = np.concatenate([np.flatnonzero((stride[:, k] == number) & inside) for number in drawn])
        r = channels.correlation(2, np.random.default_rng(3))[k]
        assert r == pytest.approx(np.corrcoef(one[rows, k], other[rows, k])[0, 1])
    assert np.isnan(channels.correlation(1)).all()  # no samples
    constant = Channels("a", ("soleus", "soleus"), np.zeros(2), np.full((60, 2), 0.3), other, phase, stride)
    assert np.isnan(constant.correlation()).all()


def test_phases_lie_between_the_events_of_their_foot() -> None:
    time = np.arange(0.0, 2.0, 0.01)
    strikes = [Event("heel_strike", side, at, "forces") for side, at in (("r", 0.2), ("l", 0.7), ("r", 1.2))]
    phase, stride = phases(
        time, [*strikes, Event("toe_off", "r", 0.8, "forces"), Event("toe_off", "r", 1.8, "forces")], "r"
    )
    at = dict(zip(np.round(time, 2), zip(phase, stride, strict=True), strict=True))
    names = {0.3: "stance", 0.59: "stance", 0.61: "push-off", 0.85: "early swing", 1.1: "late swing"}
    for when, name in names.items():
        assert PHASES[at[when][0]] == name
    assert [at[when][1] for when in (0.1, 0.5, 1.1, 1.3)] == [-1, 0, 0, 1]


def test_a_cost_beside_itself_differs_by_nothing_in_every_draw() -> None:
    random = np.random.default_rng(1)
    envelope = random.normal(size=(60, 2))
    activation = envelope + random.normal(size=(60, 2))
    stride = np.repeat([[0, 0], [1, 1], [2, 2]], 20, axis=0)
    walks = [
        Channels(who, ("soleus", "semimembranosus"), np.array(r), activation, envelope, stride, stride)
        for who, r in (("a", (0.5, 0.6)), ("b", (0.7, 0.8)))
    ]
    better = [Channels(**{**vars(walk), "activation": envelope, "r": np.ones(2)}) for walk in walks]

    def change(one: list[Channels]) -> tuple[np.ndarray, np.ndarray]:
        return difference(one, walks, summaries, 20)

    mean, band = change(walks)
    assert (mean == 0.0).all() and (band == 0.0).all()
    mean, band = change(better)
    assert mean == pytest.approx([0.35, 0.35, 0.3]) and (band > 0.0).all()


def test_an_exchange_changes_one_thing_of_the_named_muscles() -> None:
    ones = np.ones((3, 2))
    problem = Problem(
        moment_arm=np.full((3, 2, 2), 0.04),
        moment=np.zeros((3, 2)),
        force_capacity=1000.0 * ones,
        max_isometric_force=np.full(2, 1000.0),
        fiber_force_capacity=1000.0 * ones,
        lower=0.01 * ones,
        muscle=("rectus_femoris_r", "soleus_r"),
        dof=("hip_flexion_r", "knee_flexion_r"),
    )

    def changed(exchange: Exchange) -> set[str]:
        other = exchange.of(problem)
        names = ("moment_arm", "force_capacity", "fiber_force_capacity", "max_isometric_force", "lower")
        return {name for name in names if not np.array_equal(getattr(other, name), getattr(problem, name))}

    arm = Exchange("", ("rectus",), ("knee", 0.8)).of(problem).moment_arm
    assert arm[0] == pytest.approx(np.array([[0.04, 0.04], [0.032, 0.04]]))
    assert changed(Exchange("nothing")) == set() and changed(Exchange("", dynamics=True)) == set()
    assert changed(Exchange("", ("soleus",), strength=2.0)) == {
        "force_capacity",
        "fiber_force_capacity",
        "max_isometric_force",
    }
    lower = Exchange("", ("soleus",), least=0.1).of(problem).lower
    assert lower[0].tolist() == [0.01, 0.1]
    assert len({exchange.words for exchange in EXCHANGES}) == len(EXCHANGES) == 17


def test_muscles_of_models_have_the_names_of_their_set() -> None:
    assert SET_NAMES["recfem_r"] == "rectus_femoris_r"
    assert SET_NAMES["addmagDist_l".lower()] == "adductor_magnus_distal_l"
