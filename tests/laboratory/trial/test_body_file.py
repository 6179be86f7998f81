"""[subject] body and [plates]: what they change is what they say, of this subject and its plates alone."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from musclesolve import read_trial
from musclesolve.laboratory.recording.trial_settings import SEGMENTS
from musclesolve.studies import synthetic_recording


@pytest.fixture
def trial_path(tmp_path):
    return synthetic_recording(tmp_path, truth=False, forward="-x", up="+y")


def body_text(trial, **changed) -> str:
    subject = trial.subject
    stated = {"mass_kg": subject.mass, "stature_m": subject.stature, "sex": subject.sex} | changed
    lines = ["[subject]", *(f'{k} = "{v}"' if k == "sex" else f"{k} = {v}" for k, v in stated.items())]
    lines += ["shoe_mass_kg = 0.0", "", "[mass_kg]", *(f"{name} = 5.0" for name in SEGMENTS)]
    return "\n".join([*lines, "", "[center_shift_mm]", "upper_torso = [10.0, 0.0, -4.0]", ""])


def write(path, *, body: str | None = None, plates: str = "") -> None:
    text = path.read_text(encoding="utf-8")
    if body is not None:
        (path.parent / "body.toml").write_text(body, encoding="utf-8")
        text = text.replace("[laboratory]", 'body = "body.toml"\n\n[laboratory]', 1)
    path.write_text(text + (f"\n[plates]\n{plates}\n" if plates else ""), encoding="utf-8")


def test_the_body_replaces_the_mass_and_says_so(trial_path):
    plain = read_trial(trial_path)
    write(trial_path, body=body_text(plain))
    used = read_trial(trial_path)
    assert used.subject.mass == pytest.approx(5.0 * len(SEGMENTS))
    assert used.subject.body.center_shift == {"upper_torso": pytest.approx((0.01, 0.0, -0.004))}
    assert used.files["body"].name == "body.toml"
    assert any("75.00 kg" in note and "+10 mm forward" in note for note in used.notes)


def test_plates_are_moved_in_the_axes_of_the_files(trial_path):
    plain = read_trial(trial_path)
    write(
        trial_path,
        plates="offset_s = 0.008\nshift_mm = { 1 = [4.0, 0.0, -2.0] }\nvertical_gain = { 2 = 1.02 }",
    )
    used = read_trial(trial_path)
    # Forward is -x of the files and up is y: left is z.
    moved = used.forces[0].point - plain.forces[0].point
    assert moved == pytest.approx(np.broadcast_to([-0.004, -0.002, 0.0], moved.shape), abs=1e-9)
    assert used.forces[0].time - plain.forces[0].time == pytest.approx(
        np.full(plain.forces[0].time.size, 0.008)
    )
    assert used.forces[1].force[:, 2] == pytest.approx(1.02 * plain.forces[1].force[:, 2])
    assert used.forces[1].force[:, :2] == pytest.approx(plain.forces[1].force[:, :2])
    assert len(used.plate_corrections) == 3
    assert "4.5 mm" in used.plate_corrections[1]
    assert set(used.plate_corrections) <= set(used.notes)


def test_without_corrections_nothing_changes_and_nothing_is_said(trial_path):
    plain = read_trial(trial_path)
    assert plain.plate_corrections == () and plain.subject.body is None and "body" not in plain.files


@pytest.mark.parametrize(
    ("changed", "key"),
    [({"mass_kg": 60.0}, "mass_kg"), ({"stature_m": 1.6}, "stature_m"), ({"sex": "female"}, "sex")],
)
def test_the_body_of_another_subject_is_refused(trial_path, changed, key):
    write(trial_path, body=body_text(read_trial(trial_path), **changed))
    with refused("conflict", "[subject] body", key):
        read_trial(trial_path)


def test_faults_of_the_files_are_named(trial_path):
    plain, text = read_trial(trial_path), trial_path.read_text(encoding="utf-8")
    write(trial_path, body=body_text(plain).replace("head = 5.0\n", ""))
    with refused("missing_key", "body.toml", "head"):
        read_trial(trial_path)
    write(trial_path, body=body_text(plain).replace("[10.0,", "[1000.0,"))
    trial_path.write_text(
        text.replace("[laboratory]", 'body = "body.toml"\n\n[laboratory]', 1), encoding="utf-8"
    )
    with refused("bad_value", "body.toml", "upper_torso"):
        read_trial(trial_path)
    trial_path.write_text(
        text.replace("[laboratory]", 'body = "none.toml"\n\n[laboratory]', 1), encoding="utf-8"
    )
    with refused("missing_file", "none.toml"):
        read_trial(trial_path)
    for plates, code in (
        ("shift_mm = { 3 = [1.0, 0.0, 0.0] }", "unknown_name"),
        ("shift_mm = { 1 = [1.0, 0.0] }", "bad_value"),
        ("shift_mm = { 1 = [400.0, 0.0, 0.0] }", "bad_value"),
        ("offset_s = 5.0", "bad_value"),
        ("vertical_gain = { 1 = 3.0 }", "bad_value"),
    ):
        trial_path.write_text(text + f"\n[plates]\n{plates}\n", encoding="utf-8")
        with refused(code, "[plates]"):
            read_trial(trial_path)
