"""Movements in exact balance: what is said of them is true, and the moments are the true ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import musclesolve as ms
from benchmarks.balanced_movement import Movement
from benchmarks.sound_movements import chair, jump, recording, squat, step, tried
from musclesolve.laboratory.checks.case import load
from musclesolve.laboratory.checks.forces.newtons_law import carried_mass, law
from musclesolve.laboratory.draft.draft_folder import draft_folder
from musclesolve.laboratory.draft.subject_size import GivenSubject
from musclesolve.studies.synthetic.reference_stride import pressure
from musclesolve.studies.synthetic.trial_copy import open_copy, write_copy


@pytest.mark.parametrize("posture", [squat, chair, jump, lambda: step(0.18, 0.3)])
def test_movements_are_in_balance(posture) -> None:  # type: ignore[no-untyped-def]
    """No residual is left, the feet rest where they are, and every center of pressure lies under its support."""
    movement = Movement(posture())
    time = np.linspace(0.0, movement.posture.duration, 201)
    assert np.abs(movement.moments(time)[:, movement.base :]).max() < 1e-6
    wrenches = movement.wrenches(time)
    force = np.sum([wrench.force for wrench in wrenches], axis=0)
    moment = np.sum([wrench.moment for wrench in wrenches], axis=0)
    assert np.abs(movement.beside(time, force, moment)).max() < 2e-3


@pytest.mark.parametrize("name", ["standing", "squat", "stair", "backward"])
def test_nothing_untrue_is_said(name: str, tmp_path: Path) -> None:
    outcome = tried(name, tmp_path)
    assert not outcome.untrue
    assert outcome.error < 3.0 and outcome.frames > 400


def test_a_seat_is_named_as_missing_force(tmp_path: Path) -> None:
    """The plates lack what the seat carries: mass and residual are judged by the other frames, where both are right."""
    path = recording(Movement(chair()), tmp_path)
    report = ms.check(path)
    codes = {each.code: each for each in report.all_findings}
    assert "mass" not in codes and report.judgement and "residual" not in report.judgement.because
    ((first, last),) = codes["carried_beside"].where.times
    assert first < 0.2 and 0.9 < last < 1.3
    case, _ = load(path)
    assert case is not None and (required := law(case)) is not None
    assert carried_mass(case, required)[0] == pytest.approx(case.trial.subject.mass, rel=0.04)


def test_a_wrong_mass_is_no_seat(tmp_path: Path) -> None:
    path = recording(Movement(squat()), tmp_path)
    path.write_text(path.read_text("utf-8").replace("mass_kg = 70.25", "mass_kg = 95.0"), "utf-8")
    codes = {each.code for each in ms.check(path).all_findings}
    assert "mass" in codes and "carried_beside" not in codes


def test_a_foot_whose_force_another_plate_has_is_found(tmp_path: Path) -> None:
    """From 2.3 s on the right plate shows the force of both feet: the left foot does not only touch the ground."""
    copy = open_copy(recording(Movement(step(0.0, 0.22)), tmp_path / "sound"))
    of_plates = copy.forces.values.reshape(len(copy.forces.time), -1, 3, 3)
    late, (right, left) = copy.forces.time > 2.3, (of_plates[:, k] for k in (1, 3))
    force = right[:, 0] + left[:, 0]
    of_each = [np.cross(plate[:, 1], plate[:, 0]) + plate[:, 2] for plate in (right, left)]
    moment = of_each[0] + of_each[1]
    right[late] = np.stack([force, *pressure(force, moment, 10.0)], axis=1)[late]
    left[late] = 0.0
    copy.forces = replace(copy.forces, lines=copy.forces.lines[:0])
    report = ms.check(write_copy(copy, tmp_path / "faulty"))
    (found,) = (each for each in report.all_findings if each.code == "contact_without_force")
    assert found.where.plate == "left" and found.where.times[-1][0] < 2.6


def test_a_jump_is_no_run(tmp_path: Path) -> None:
    path = recording(Movement(jump()), tmp_path)
    path.unlink()
    draft = draft_folder(tmp_path, subject=GivenSubject(stature_m=1.7, sex="male"))
    ((_, motion),) = (each for each in draft.trials[0].recognized if each[0] == "motion")
    assert "jumping: both feet together" in motion
