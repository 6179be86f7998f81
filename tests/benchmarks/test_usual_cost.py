"""The evidence for the default cost: correlations of drawn strides, phases of gait, and a cost that it tries."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.usual_cost import (
    PHASES,
    Channels,
    difference,
    phases,
    summaries,
)
from musclesolve.files import Event


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
