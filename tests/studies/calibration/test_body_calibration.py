"""Planted errors of body, clock and plates are found within their intervals; applying the file does what it says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import typed
from refusals import refused
from thorough import some

import musclesolve as ms
from musclesolve.files import Trial
from musclesolve.laboratory.forces import mechanics
from musclesolve.laboratory.recording.data import SegmentValues
from musclesolve.laboratory.recording.trial_document import trial_kind
from musclesolve.studies import synthetic_recording
from musclesolve.studies.calibration.body_calibration import BodyCalibration, _check_loaded, segment_masses
from musclesolve.studies.calibration.body_residual import trial_pieces
from musclesolve.tables.document import Document

SHIFT, LATE, HEAVIER = np.array([0.005, -0.002, 0.0]), 0.008, 3.0
"""Planted: shift of the right plate [m], clock of the plates [s], mass of the trunk [kg]."""


def recorded(folder: Path, seed: int = 0, **options) -> Trial:
    chosen = {"noise_mm": 3.0, "noise": "skin", "force_noise_n": 2.0, "seed": seed, **options}
    return ms.read_trial(synthetic_recording(folder, truth=False, **chosen))


def planted(trial: Trial) -> Trial:
    """The trial with a trunk stated too light, a clock that is early and a plate that lies elsewhere."""
    masses = segment_masses(mechanics(trial))
    masses["upper_torso"] -= HEAVIER
    segments = {name: SegmentValues(mass=mass) for name, mass in masses.items()}
    subject = replace(trial.subject, mass=sum(masses.values()), segments=segments)
    forces = [replace(plate, time=plate.time - LATE) for plate in trial.forces]
    forces[0] = replace(forces[0], point=forces[0].point - SHIFT)
    return replace(trial, subject=subject, forces=tuple(forces))


def truth_of(trial: Trial) -> dict[str, float]:
    trunk = dict(trial.subject.segments)["upper_torso"].mass
    return {
        "mass of the trunk": float(np.log1p(HEAVIER / trunk)),
        "clock of the plates": 1e3 * LATE,
        "center of pressure of plate right_force_, x": 1e3 * SHIFT[0],
        "center of pressure of plate right_force_, y": 1e3 * SHIFT[1],
    }


def off(body: BodyCalibration, truth: dict[str, float]) -> dict[str, float]:
    """Errors of parameters in their standard deviations; those that are not named in the truth are 0 there."""
    return {
        one.name: ((np.log(one.value) if one.unit == "factor" else one.value) - truth.get(one.name, 0.0))
        / one.sd
        for one in body.parameters
    }


@pytest.mark.thorough
def test_planted_errors_lie_within_their_intervals(tmp_path):
    trial = planted(recorded(tmp_path))
    body = ms.studies.calibrate_body(trial)
    found = {one.name: one for one in body.parameters}
    errors = off(body, truth_of(trial))
    assert all(abs(errors[name]) < 1.96 for name in truth_of(trial)), errors
    assert abs(body.mass - (trial.subject.mass + HEAVIER)) < 1.96 * body.mass_sd + 0.002 * body.mass
    clock = found["clock of the plates"]
    assert clock.determined and clock.sd < 0.3 * clock.prior_sd
    outcome = body.trials[0]
    assert outcome.after.force < outcome.before.force
    assert outcome.after.moment < outcome.before.moment


@pytest.mark.thorough
def test_intervals_cover_the_truth(tmp_path):
    errors = []
    for seed in some(range(40), 20):
        trial = planted(recorded(tmp_path / str(seed), seed))
        errors += list(off(ms.studies.calibrate_body(trial), truth_of(trial)).values())
    assert np.mean(np.abs(errors) < 1.96) > 0.9
    assert np.sqrt(np.mean(np.square(errors))) < 1.3


def test_a_trial_file_that_uses_the_body_has_the_residual_that_was_promised(tmp_path):
    path = recorded(tmp_path, forward="-x", up="+y").path
    trial = ms.read_trial(path)
    late = replace(
        trial, forces=tuple(replace(p, time=p.time - LATE, point=p.point - SHIFT) for p in trial.forces)
    )
    body = ms.studies.calibrate_body(late)
    promised, keys = body.trials[0].after, body.trials[0].plates
    assert body.save(tmp_path / "body.toml") == tmp_path / "body.toml"
    text = path.read_text(encoding="utf-8").replace("[laboratory]", 'body = "body.toml"\n\n[laboratory]', 1)
    shifts = ", ".join(f"{number} = {shift}" for number, shift in keys["shift_mm"].items())
    # The early clock and the shift were planted in memory: the file's plates are right, and so further off by them.
    lines = f"\n[plates]\noffset_s = {keys['offset_s'] - LATE}\nshift_mm = {{ {shifts} }}\n"
    path.write_text(text + lines, encoding="utf-8")
    used = ms.read_trial(path)
    used = replace(used, forces=tuple(replace(p, point=p.point - SHIFT) for p in used.forces))
    assert used.subject.mass == pytest.approx(body.mass, abs=1e-4)
    assert [note for note in used.notes if "body.toml" in note or "center of pressure" in note.casefold()]
    residual = np.concatenate([one.at((), np.zeros(0))[0] for one in trial_pieces(used, mechanics(used))])
    force, moment = np.split(residual, 2, axis=1)
    assert len(residual) == body.trials[0].frames
    assert np.sqrt((force**2).sum(axis=1).mean()) == pytest.approx(promised.force, rel=1e-4)
    assert np.sqrt((moment**2).sum(axis=1).mean()) == pytest.approx(promised.moment, rel=1e-4)


@pytest.mark.thorough
def test_trials_predict_each_other_and_sessions_have_clocks_of_their_own(tmp_path):
    trials = [recorded(tmp_path / name, seed) for seed, name in enumerate(("monday", "tuesday"))]
    trials[1] = replace(trials[1], forces=tuple(replace(p, time=p.time - LATE) for p in trials[1].forces))
    body = ms.studies.calibrate_body(trials)
    clocks = [one for one in body.parameters if one.quantity == "clock"]
    assert [one.name for one in clocks] == [f"clock of the plates (session {k})" for k in "12"]
    assert abs(clocks[0].value) < 1.96 * clocks[0].sd
    assert abs(clocks[1].value - 1e3 * LATE) < 1.96 * clocks[1].sd
    assert all(one.predicted is not None for one in body.trials)
    assert body.covariance.shape == (len(body.parameters),) * 2


@pytest.mark.thorough
def test_what_is_not_determined_stays_and_is_named(tmp_path):
    body = ms.studies.calibrate_body(recorded(tmp_path))
    hands = next(one for one in body.parameters if one.name == "mass of the hands")
    assert not hands.determined and hands.value == 1.0
    assert body.segment_mass["hand_r"] == pytest.approx(body.parent_mass["hand_r"])
    assert "mass of the hands" in body.remarks[0]
    assert "center of mass of the trunk, up" in body.remarks[0]


def test_gain_and_zero_are_fitted_where_asked_for(tmp_path):
    trial = recorded(tmp_path)
    louder = tuple(replace(plate, force=plate.force * [1.0, 1.0, 0.98]) for plate in trial.forces)
    body = ms.studies.calibrate_body(replace(trial, forces=louder), plate_force=True, mass_sd=0.001)
    gains = [one for one in body.parameters if one.quantity == "gain"]
    assert len(gains) == 2
    assert np.mean([one.value for one in gains]) == pytest.approx(1.0 / 0.98, abs=0.012)
    assert set(body.trials[0].plates) >= {"vertical_gain"}


def test_trials_that_cannot_be_calibrated_are_refused(tmp_path):
    trial = recorded(tmp_path)
    other = replace(trial, document=_elsewhere(trial), subject=replace(trial.subject, stature=1.9))
    with refused("conflict", "stature_m"):
        ms.studies.calibrate_body([trial, other])
    with refused("duplicate_name"):
        ms.studies.calibrate_body([trial, trial])
    with refused("conflict", "[plates]"):
        ms.studies.calibrate_body(replace(trial, plate_corrections=("shifted",)))
    with refused("missing_argument"):
        ms.studies.calibrate_body([])
    with refused("bad_number", "mass_sd"):
        ms.studies.calibrate_body(trial, mass_sd=0.0)
    unloaded = tuple(
        replace(plate, force=0.0 * plate.force, moment=0.0 * plate.moment) for plate in trial.forces
    )
    with refused("bad_forces"):
        ms.studies.calibrate_body(replace(trial, forces=unloaded))
    with refused("bad_forces", "mass_kg", "--mass-sd"):
        ms.studies.calibrate_body(
            replace(trial, subject=replace(trial.subject, mass=0.9 * trial.subject.mass))
        )


@pytest.mark.thorough
def test_flight_alone_and_trials_without_all_contacts(tmp_path):
    trial = recorded(tmp_path / "one")
    piece = trial_pieces(trial, mechanics(trial))[0]
    falling = replace(piece, push=0.0 * piece.push, plates=())
    with refused("bad_forces", "loaded"):
        _check_loaded([trial], [falling])
    other = recorded(tmp_path / "two", seed=1)
    lifted = replace(
        other, forces=tuple(replace(p, force=0.2 * p.force, moment=0.2 * p.moment) for p in other.forces)
    )
    body = ms.studies.calibrate_body([trial, lifted])
    assert body.trials[1].frames == 0 and not body.trials[1].plates
    assert any("Not used" in remark for remark in body.remarks)
    assert "nan" not in body.save(tmp_path / "body.toml").read_text(encoding="utf-8")


def _elsewhere(trial: Trial):

    copy = trial.path.with_name("other.toml")
    copy.write_text(trial.path.read_text(encoding="utf-8"), encoding="utf-8")
    return Document(copy, trial_kind)


def test_the_command_writes_the_file_and_says_how_to_use_it(tmp_path):
    path = recorded(tmp_path / "walk").path
    done = typed("calibrate-body", path, "-o", tmp_path / "out" / "body.toml")
    assert done.exit_code == 0, done.output
    assert '[subject] body = "body.toml"' in done.output and "Residual at the pelvis" in done.output
    assert [file.name for file in (tmp_path / "out").iterdir() if not file.name.startswith(".")] == [
        "body.toml"
    ]
    as_json = ["calibrate-body", str(path), "-o", str(tmp_path / "out" / "body.toml"), "--json"]
    document = json.loads(typed(*as_json).stdout)
    assert document["exit_code"] == 0 and len(document["parameters"]) == len(document["covariance"])


def test_the_command_replaces_no_file_of_something_else(tmp_path):
    path = recorded(tmp_path).path
    text = path.read_text(encoding="utf-8")
    refusal = typed("calibrate-body", path, "-o", path)
    assert refusal.exit_code == 2 and "would be replaced" in " ".join(refusal.output.split())
    assert path.read_text(encoding="utf-8") == text
    assert typed("calibrate-body", path, "-o", tmp_path / "body").exit_code == 2


def test_a_stop_leaves_nothing_behind(tmp_path):
    path, stages = recorded(tmp_path / "walk").path, []

    def stop(stage: str, fraction: float) -> None:
        stages.append(fraction)
        if stage == "fit":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ms.studies.calibrate_body(path, progress=stop).save(tmp_path / "body.toml")
    assert not (tmp_path / "body.toml").exists()
    assert stages == sorted(stages)
