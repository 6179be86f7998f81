"""Effects of errors on the joint moments of the recorded walk, in the sizes that the thesis prints (5.5)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import musclesolve as ms
from musclesolve.dynamics import (
    Sensitivity,
    Targets,
    Wrench,
    differentiate,
    fit_pose,
    human_model,
    projected_moments,
    segment_motion,
)
from musclesolve.dynamics.inverse.explicit_moment import neglected_share
from musclesolve.laboratory.forces import anatomy, ground_reactions
from musclesolve.laboratory.motion.signals.filter_choice import filter_choice

LEG = ("hip", "knee", "ankle")


@pytest.fixture(scope="module")
def walk(recorded_walk: Path, tmp_path_factory):
    """Model, motion, segments and ground reactions of the recording, and what was measured."""
    text = (Path(__file__).with_name("rajagopal_walk.toml")).read_text(encoding="utf-8")
    file = tmp_path_factory.mktemp("trial") / "trial.toml"
    file.write_text(text.replace("../../../shared/data/rajagopal_walk", recorded_walk.as_posix()))
    trial = ms.read_trial(file)
    measured, person = anatomy(trial, 0.1), trial.subject
    model = human_model(person.mass, person.stature, person.sex, measured.offsets, person.shoe_mass)
    targets = Targets.build(model, measured.points, measured.directions)
    fit = fit_pose(model, targets)
    inside = (measured.time > 0.445) & (measured.time < 1.805)
    motion = differentiate(model, measured.time, fit.coordinates).frames(inside)
    ground = {
        reaction.side: reaction
        for reaction in ground_reactions(
            trial.forces, motion.time, filter_choice(trial, trial.settings.filter)
        )
    }
    wrenches = [Wrench(f"foot_{side}", each.force, each.moment) for side, each in ground.items()]
    return (
        model,
        motion,
        segment_motion(model, motion),
        ground,
        wrenches,
        (measured.time, targets, fit, inside),
    )


def test_a_millimeter_of_the_center_of_pressure(walk):
    """Along x it changes sagittal moments by 0.5 to 0.8 N m in stance, the thesis says: the vertical force times 1 mm.

    Its person weighs 70.25 kg; forces, and so these changes, go with weight.
    """
    model, motion, _, ground, wrenches, _ = walk
    force = ground["r"].force[:, 2]
    stance = force > 0.7 * model.mass.total * 9.80665
    found = Sensitivity.by_point(model, motion, wrenches[0])
    for dof in ("ankle_dorsiflexion_r", "knee_flexion_r", "hip_flexion_r"):
        change = 1e-3 * np.abs(found.of(dof, "foot_r x")[stance])
        for_70_kg = change * 70.25 / model.mass.total
        assert 0.48 < for_70_kg.min() and for_70_kg.max() < 0.82, dof
        np.testing.assert_allclose(change, 1e-3 * force[stance], rtol=0.1)


def test_it_is_what_the_moments_do_when_the_plate_is_shifted(walk):
    model, motion, _, _, wrenches, _ = walk
    shift = np.array([1e-3, 0.0, 0.0])
    moved = [Wrench("foot_r", wrenches[0].force, wrenches[0].moment + np.cross(shift, wrenches[0].force))]
    change = projected_moments(model, motion, moved + wrenches[1:]) - projected_moments(
        model, motion, wrenches
    )
    exact = 1e-3 * Sensitivity.by_point(model, motion, wrenches[0]).values[:, :, 0]
    np.testing.assert_allclose(change, exact, atol=1e-9)


def test_heavier_head_or_hands_change_no_leg_moment_at_all(walk):
    model, motion, segments, *_ = walk
    found = Sensitivity.by_mass(model, motion, segments)
    for source in ("head", "hand_r", "hand_l"):
        for dof in found.dofs:
            if dof.startswith(LEG):
                assert not found.of(dof, source).any()
    arm = np.abs(found.of("elbow_flexion_r", "hand_r")).max()
    neck = np.abs(found.of("neck_flexion", "head")).max()
    assert 0.5 < arm < 10.0 and 0.1 < neck < 10.0


def test_a_newton_of_ground_force(walk):
    """Up to a meter of arm between ground and hip: the thesis prints at most 0.8 N m/N."""
    model, motion, _, ground, _, _ = walk
    found = Sensitivity.by_force(model, motion, "foot_r", ground["r"].center_of_pressure).largest()
    dofs = model.topology.dof_names
    legs = [k for k, dof in enumerate(dofs) if dof.startswith(LEG) and dof.endswith("_r")]
    assert 0.5 < found[legs].max() < 1.2


def test_measured_points_act_in_their_chain(walk):
    model, _, _, _, wrenches, (time, targets, _, inside) = walk
    found = Sensitivity.by_landmark(model, time, targets, wrenches, ["knee_r", "wrist_l"], inside)
    largest = {
        (dof, s): v
        for dof, row in zip(found.dofs, found.largest(), strict=True)
        for s, v in zip(found.sources, row, strict=True)
    }
    assert largest["knee_flexion_r", "knee_r x"] > 10.0 * largest["knee_flexion_l", "knee_r x"]
    assert largest["elbow_flexion_l", "wrist_l z"] > 10.0 * largest["hip_flexion_l", "wrist_l z"]


def test_what_quasi_statics_neglects(walk):
    """Little at the ankle; much at the hip, whose moment swings the leg; less while the foot is on the ground."""
    model, motion, segments, ground, wrenches, _ = walk
    whole = neglected_share(model, motion, segments, wrenches)
    stance = ground["r"].force[:, 2] > 0.7 * model.mass.total * 9.80665
    loaded = motion.frames(stance)
    forces = [Wrench(each.body, each.force[stance], each.moment[stance]) for each in wrenches]
    standing = neglected_share(model, loaded, segment_motion(model, loaded), forces)
    assert whole["ankle_dorsiflexion_r"] < 0.05 < 0.3 < whole["hip_flexion_r"]
    for joint, most in (("ankle_dorsiflexion_r", 0.01), ("knee_flexion_r", 0.15), ("hip_flexion_r", 0.6)):
        assert standing[joint] < min(most, 0.8 * whole[joint])


def test_a_measured_knee_against_central_differences(walk):
    model, _, _, _, wrenches, (time, targets, _, inside) = walk
    place = list(targets.slots).index(model.slot("knee_r"))
    rest = fit_pose(model, targets, time).rest

    def fitted(shift):
        values = targets.values.copy()
        values[:, place, 0] += shift
        moved = replace(targets, values=values)
        return fit_pose(model, moved, tolerance=1e-12, max_iterations=200, rest=rest)

    def moments(shift):
        motion = differentiate(model, time, fitted(shift).coordinates).frames(inside)
        return projected_moments(model, motion, wrenches)

    step = 5e-4
    near, far = (moments(k * step) - moments(-k * step) for k in (1, 2))
    found = Sensitivity.by_landmark(model, time, targets, wrenches, ["knee_r"], inside)
    exact = found.values[:, :, 0]
    assert np.abs(exact - (8.0 * near - far) / (12.0 * step)).max() < 1e-6 * np.abs(exact).max()
