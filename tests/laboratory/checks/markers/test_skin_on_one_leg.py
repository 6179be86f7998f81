"""Skin that moves everywhere, and farther on one leg, is no marker that moves alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examined import loaded

from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.checks.markers.body_distances import LEG, markers_of
from musclesolve.laboratory.checks.markers.trajectories import _swinging
from musclesolve.studies.synthetic.recording_options import skin


@pytest.fixture(scope="module")
def stride() -> Trial:
    case = loaded(Path(reference_stride()))
    return case.trial


def found(trial: Trial, added: np.ndarray) -> list[str]:
    markers = replace(trial.markers, position=trial.markers.position + added)
    return [m for each in _swinging(replace(trial, markers=markers), []) for m in each.where.markers]


@pytest.mark.parametrize("size", [0.004, 0.010])
@pytest.mark.parametrize("right", [1.0, 2.0])
def test_moving_skin_is_no_moving_marker(stride: Trial, size: float, right: float) -> None:
    markers = stride.markers
    farther = markers_of(stride, *(f"{each}_r" for each in LEG))
    factor = np.array([right if name in farther else 1.0 for name in markers.names])[:, None]
    accused = 0
    for seed in range(6):
        phase = (markers.time - markers.time[0]) / np.ptp(markers.time)
        waves = skin(np.random.default_rng(seed), markers.position.shape, phase)
        accused += bool(found(stride, size * factor * waves))
    assert accused <= 1


@pytest.mark.parametrize("name", ["knee_lateral_r", "heel_l", "metatarsal_5_r"])
def test_a_marker_that_moves_alone_is_found(stride: Trial, name: str) -> None:
    markers = stride.markers
    added = np.zeros_like(markers.position)
    wave = np.sin(2.0 * np.pi * (markers.time - markers.time[0]) / np.ptp(markers.time))
    added[:, markers.names.index(name), 0] = 0.025 * wave
    assert name in found(stride, added)
