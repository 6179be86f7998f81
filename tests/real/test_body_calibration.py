"""Body and plates of recorded walks: what the trials say together is borne out by the trial that is left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused

import musclesolve as ms
from musclesolve.files import Trial


def knee_walks(folder: Path, into: Path, mass_kg: float) -> list[Path]:
    paths = []
    for name in ("walk_ss1.toml", "walk_ss9.toml"):
        text = (folder / name).read_text(encoding="utf-8").replace("mass_kg = 75.0", f"mass_kg = {mass_kg}")
        for file in ("PS_", "Static_"):
            text = text.replace(f'"{file}', f'"{folder.as_posix()}/{file}')
        paths.append(into / name)
        paths[-1].write_text(text, encoding="utf-8")
    return paths


@pytest.mark.thorough
def test_plates_that_carry_another_mass_are_refused(instrumented_knee, tmp_path):
    with refused("bad_forces", "[subject] mass_kg", "the plates carry 82.") as raised:
        ms.studies.calibrate_body(knee_walks(instrumented_knee, tmp_path, 75.0))
    assert "line" in str(raised.value)


@pytest.mark.thorough
def test_two_walks_predict_each_other(instrumented_knee, tmp_path):
    body = ms.studies.calibrate_body(knee_walks(instrumented_knee, tmp_path, 83.0))
    assert body.mass == pytest.approx(83.0, abs=0.6)
    for one in body.trials:
        assert one.after.force < 0.8 * one.before.force
        assert one.predicted.force < 0.85 * one.before.force
        assert one.predicted.moment < 0.9 * one.before.moment


def test_a_walk_that_agrees_is_left_nearly_as_it_is(recorded_walk_trial: Trial):
    body = ms.studies.calibrate_body(recorded_walk_trial)
    assert body.mass == pytest.approx(85.07, abs=1.0)
    clock = next(one for one in body.parameters if one.quantity == "clock")
    assert abs(clock.value) < 1.96 * clock.sd
    assert max(body.trials[0].moment_change.values()) < 5.0
    assert body.trials[0].after.moment < body.trials[0].before.moment


def test_a_model_is_refused(tmp_path):
    (tmp_path / "model.toml").write_text(
        '[files]\nmodel = "m.osim"\ncoordinates = "ik.mot"\nmoments = "id.sto"\n', encoding="utf-8"
    )
    for name in ("m.osim", "ik.mot", "id.sto"):
        (tmp_path / name).write_text("", encoding="utf-8")
    with refused("unsupported", "OpenSim"):
        ms.studies.calibrate_body(tmp_path / "model.toml")
