"""Fibers over gait on models whose gastrocnemii wrap over two cylinders, beside OpenSim 4.6 in a process of its own."""

from __future__ import annotations

import numpy as np
import pytest
from measured_model import measured_model
from opensim_answers import answers, task
from recorded_data import recorded
from thorough import some

from musclesolve import read_osim
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.models.opensim.geometry import tendon_shifts
from musclesolve.models.opensim.kinematics import coordinate_values
from musclesolve.models.opensim.shared_choice import shared_choice

WALKS = {
    "scaled 2023": (
        "rajagopal_walk/reference/rajagopal_lai_uhlrich_2023_scaled.osim",
        "rajagopal_walk/reference/opensim_ik.mot",
    ),
    "2016": ("opensim_models/rajagopal_2016.osim", "rajagopal_walk/reference/opensim_ik.mot"),
    "instrumented knee": (
        "instrumented_knee/Rajagopal2015-scaled.osim",
        "instrumented_knee/PS_ngait_og_ss1_kinematics.mot",
    ),
    "motion capture service": (
        "addbiomechanics/opencap_subject/Models/final.osim",
        "addbiomechanics/opencap_subject/IK/walking2_ik.mot",
    ),
}
EVERY = 6


def shared(walk: str, tendon: str = "rigid"):
    """The problem along a walk, without moments."""
    file, motion = map(recorded, WALKS[walk])
    model = read_osim(file)
    frames = len(coordinate_motion(model, motion, None).time)
    none = {name: np.zeros(frames) for name in shared_choice(model).dofs}
    return file, measured_model(model, motion, none, cutoff_hz=None, tendon=tendon)


def elastic_lengths(walk: str) -> np.ndarray:
    """Lengths of the paths."""
    return shared(walk, "elastic")[1].whole.state.musculotendon_length


@pytest.mark.in_part(2)
@pytest.mark.parametrize("walk", some(WALKS, 2))
def test_normalized_fiber_lengths_are_those_of_opensim(walk: str) -> None:
    """All muscles agree, with rigid tendons on both sides; the path's own lengths give the gastrocnemii others."""
    file, problem = shared(walk)
    model, names = problem.model, list(problem.whole.state.parameters.names)
    values = coordinate_values(model, problem.motion.by_name(problem.motion.value))[::EVERY]
    theirs = np.array(answers(task("fibers", file, list(model.coordinates), values, muscles=names))[0])
    ours = (problem.whole.state.fiber_length / problem.whole.state.parameters.optimal_fiber_length)[::EVERY]
    assert np.abs(ours - theirs).max() < 0.005
    note = next(note for note in problem.notes if note.startswith("For wrapped paths"))
    assert "gaslat_r (length" in note and "soleus" not in note
    own = problem.whole.state.parameters.fibers(
        elastic_lengths(walk), problem.whole.state.musculotendon_velocity
    ).length[::EVERY]
    assert np.abs(own / problem.whole.state.parameters.optimal_fiber_length - theirs).max() > 0.06


@pytest.mark.in_part(2)
@pytest.mark.parametrize("walk", WALKS)
def test_elastic_tendons_are_longer_by_the_difference_in_the_neutral_pose(walk: str) -> None:
    """And lengths are those of the path, whose rates are the velocities."""
    _, problem = shared(walk, "elastic")
    model, names = problem.model, problem.whole.state.parameters.names
    shift = tendon_shifts(model, names)
    printed = np.array([model.muscles[name].tendon_slack_length for name in names])
    np.testing.assert_allclose(
        problem.whole.state.parameters.tendon_slack_length, printed + shift, atol=1e-15
    )
    moved = {name for name, each in zip(names, shift, strict=True) if each}
    assert moved and moved <= {"gaslat_r", "gaslat_l", "gasmed_r", "gasmed_l"}
    assert (2e-3 < shift[shift != 0]).all() and (shift < 1e-2).all()
    assert any(note.startswith("Tendon slack lengths differ") for note in problem.notes)
    rate = np.gradient(problem.whole.state.musculotendon_length, problem.motion.time, axis=0)
    off = np.abs(rate - problem.whole.state.musculotendon_velocity)[2:-2][:, shift != 0]
    assert np.quantile(off, 0.9) < 0.02
