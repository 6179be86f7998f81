"""The residual at the pelvis by body and plates: it is that of inverse dynamics, and its slopes are exact."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from musclesolve import read_trial
from musclesolve.laboratory.analysis.mechanics import measured_moments
from musclesolve.laboratory.forces import mechanics
from musclesolve.studies import synthetic_recording
from musclesolve.studies.calibration.body_residual import (
    CENTER,
    CLOCK,
    GAIN,
    GROUPS,
    MASS,
    MOVED,
    SHIFT,
    SHIFT_AXES,
    ZERO,
    BodyParameter,
    TrialResidual,
    trial_pieces,
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A synthetic walk with noise, in laboratory axes of its own, and its mechanics."""
    folder = tmp_path_factory.mktemp("walk")
    trial = read_trial(synthetic_recording(folder, truth=False, noise_mm=2.0, forward="-x", up="+y"))
    return trial, mechanics(trial)


@pytest.fixture(scope="module")
def piece(recorded) -> TrialResidual:
    return trial_pieces(*recorded)[0]


@pytest.fixture(scope="module")
def parameters(piece) -> list[BodyParameter]:
    """Every kind of parameter."""
    session = piece.session
    found = [BodyParameter(MASS, group, "", "", 0.1) for group in GROUPS]
    found += [BodyParameter(CENTER, group, axis, "", 0.02) for group in MOVED for axis in SHIFT_AXES]
    found.append(BodyParameter(CLOCK, "", "", session, 0.01))
    for plate in piece.plate_names:
        found += [BodyParameter(SHIFT, plate, axis, session, 0.003) for axis in piece.horizontal]
        found += [BodyParameter(GAIN, plate, "", session, 0.01), BodyParameter(ZERO, plate, "", session, 5.0)]
    return found


def test_without_corrections_it_is_the_residual_of_inverse_dynamics(recorded, piece, parameters):
    trial, found = recorded
    moments = measured_moments(trial, found.model, found.motion, found.wrenches)
    frames = np.isin(found.motion.time, piece.time)
    expected = moments[frames][:, found.model.tree.joint_count :]
    residual, _ = piece.at(parameters, np.zeros(len(parameters)))
    assert len(piece.time) > 50
    assert residual == pytest.approx(expected, abs=1e-9)


def test_slopes_are_those_of_finite_differences(piece, parameters):
    values = np.random.default_rng(3).normal(size=len(parameters)) * [one.sd for one in parameters]
    _, slope = piece.at(parameters, values)
    for column, one in enumerate(parameters):
        step = np.zeros(len(parameters))
        step[column] = 1e-4 * one.sd
        ahead, behind = (piece.at(parameters, values + sign * step)[0] for sign in (1.0, -1.0))
        difference = (ahead - behind) / (2.0 * step[column])
        assert slope[:, :, column] == pytest.approx(
            difference, abs=1e-5 * (1.0 + np.abs(difference).max())
        ), one


def test_an_error_of_a_center_of_mass_is_one_of_its_columns(piece):
    """Trunk moved by n(t), and so accelerated by n''(t): what the residual changes by, to first order."""
    cutoff, sd = 3.0, 1e-6
    columns = piece.errors_of_motion(cutoff, sd)
    clock = piece.time - piece.time[0]
    count = int(2.0 * cutoff * clock[-1])
    segments = list(dict.fromkeys(piece.segment))
    first = sum(
        6 if one in ("upper_torso", "lower_torso") else 3 for one in segments[: segments.index("upper_torso")]
    )
    wave = np.pi * 2 / clock[-1]  # the second cosine, along the first axis
    moved = sd * np.sqrt(2.0 / count) * np.cos(wave * clock)
    bodies = [b for b, one in enumerate(piece.segment) if one == "upper_torso"]
    arm, push = piece.arm.copy(), piece.push.copy()
    arm[:, bodies, 0] += moved[:, None]
    push[:, bodies, 0] -= wave**2 * moved[:, None]
    nothing = ((), np.zeros(0))
    change = replace(piece, arm=arm, push=push).at(*nothing)[0] - piece.at(*nothing)[0]
    assert columns[:, :, first * count + 1] == pytest.approx(change, abs=1e-4 * np.abs(change).max())


def test_frames_with_other_support_are_left_out(recorded):
    trial, _ = recorded
    half = tuple(replace(plate, force=0.3 * plate.force, moment=0.3 * plate.moment) for plate in trial.forces)
    weak = replace(trial, forces=half)
    assert trial_pieces(weak, mechanics(weak)) == []


def test_a_long_trial_is_divided(recorded):
    trial, found = recorded
    whole = trial_pieces(trial, found)
    assert all(0.3 <= (len(one.time) - 1) / trial.markers.rate <= 2.1 for one in whole)
    assert Path(whole[0].trial.path).name == "trial.toml"
