"""The second way to joint moments, without a model, finds the truth of a synthetic walk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import musclesolve as ms
from benchmarks.hip_moments import COLUMNS, Choice, Leg, poses
from musclesolve.forces import recording_of

# The hips of the regression lie 15 mm from those of the synthetic subject, and a foot is shorter without its toes.
LIMITS = {"hip_flexion": 0.15, "hip_adduction": 0.06, "knee_flexion": 0.02, "ankle_dorsiflexion": 0.02}


@pytest.mark.parametrize("side", ["r", "l"])
def test_it_finds_the_truth(tmp_path, side) -> None:
    trial = recording_of(ms.synthetic_recording(tmp_path), "this test")
    time = trial.markers.time
    inside = trial.inside(time, *trial.time_range)
    found = Leg(trial, side, Choice(markers_hz=15.0, forces_hz=15.0)).moments
    truth = xr.open_dataset(tmp_path / "truth.nc").joint_moment
    for dof in COLUMNS:
        true = truth.sel(dof=f"{dof}_{side}").values / trial.subject.mass
        assert true.shape == time.shape
        off = (found[dof] - true)[inside]
        assert np.sqrt(np.mean(off**2)) < LIMITS[dof], dof
        assert np.corrcoef(found[dof][inside], true[inside])[0, 1] > 0.95


def test_a_rigid_body_is_followed() -> None:
    rng = np.random.default_rng(0)
    shape, angle = rng.normal(size=(3, 3)), np.linspace(0.0, 1.0, 30)
    turn = np.stack(
        [[[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]] for a in angle]
    )
    shift = rng.normal(size=(30, 1, 3))
    rotation, place = poses(np.einsum("tij,nj->tni", turn, shape) + shift)
    fixed = np.einsum("tji,tj->ti", rotation, turn @ np.array([0.1, 0.2, 0.3]) + shift[:, 0] - place)
    np.testing.assert_allclose(fixed, np.repeat(fixed[:1], 30, axis=0), atol=1e-9)


def test_the_choice_matters(tmp_path) -> None:
    """Hips that are moved forward by 10 mm bear the weight with another moment."""
    trial = recording_of(ms.synthetic_recording(tmp_path, truth=False), "this test")
    base = Choice()
    moved = Leg(trial, "r", replace(base, moved=(0.01, 0.0))).moments["hip_flexion"]
    change = moved - Leg(trial, "r", base).moments["hip_flexion"]
    assert 0.08 < np.abs(change).max() < 0.16
