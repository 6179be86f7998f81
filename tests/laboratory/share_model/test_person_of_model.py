"""One person's muscles on an OpenSim model: the same forces as the model whose file has their numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from measured_model import measured_model
from person_file import person, person_file
from refusals import refused
from small_model import near_optimal_lengths, save_model
from small_model_motion import DOFS, TIME, feasible_moments, save_inputs, small_motion

import musclesolve as ms
from musclesolve.models.opensim.geometry import tendon_shifts
from musclesolve.models.opensim.person_file import person_of_model

FACTORS = [
    ("optimal_fiber_length", ("one_r", "two_r"), 1.1),
    ("max_isometric_force", ("two_r",), 0.7),
    ("tendon_slack_length", ("three_r",), 1.02),
]
TRIAL = """[files]
model = "small.osim"
coordinates = "ik.mot"
moments = "id.sto"
[filter]
cutoff_hz = "none"
[muscles]
database = "person.toml"
[sharing]
dofs = ["hip_a_r", "ankle_a_r"]
reserve_weight = 1.0
"""


def with_numbers(text: str) -> str:
    """The model with the numbers of `FACTORS` in its file."""
    for name, changes in {
        "one_r": {"optimal_fiber_length": 0.65 * 1.1},
        "two_r": {"optimal_fiber_length": 0.4 * 1.1, "max_isometric_force": 900.0 * 0.7},
        "three_r": {"tendon_slack_length": 0.2 * 1.02},
    }.items():
        before, mark, own = text.partition(f'<Thelen2003Muscle name="{name}">')
        for tag, value in changes.items():
            start, found, rest = own.partition(f"<{tag}>")
            inside = start.find("</Thelen2003Muscle>") < 0 and found
            own = f"<{tag}>{value!r}</{tag}>{own if not inside else start + rest.partition(f'</{tag}>')[2]}"
        text = before + mark + own
    return text


def trial_in(folder: Path, text: str = TRIAL) -> Path:
    model = ms.read_osim(save_model(folder, near_optimal_lengths()))
    save_inputs(folder, model)
    person_file(folder, folder / "small.osim", FACTORS)
    path = folder / "trial.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("passive", ["none", "table"])
def test_forces_are_those_of_a_model_with_these_numbers(tmp_path: Path, passive: str) -> None:
    model = ms.read_osim(save_model(tmp_path, near_optimal_lengths()))
    (tmp_path / "other").mkdir()
    changed = ms.read_osim(save_model(tmp_path / "other", with_numbers(near_optimal_lengths())))
    given = {"dofs": DOFS, "passive": passive, "reserve_weight": 1.0}
    inputs = small_motion(model), feasible_moments(model)
    found = ms.share_model(model, *inputs, person=person(model.file, FACTORS), **given)  # type: ignore[arg-type]
    expected = ms.share_model(changed, *inputs, **given)  # type: ignore[arg-type]
    plain = ms.share_model(model, *inputs, **given)  # type: ignore[arg-type]
    for name in ("fiber_length", "force_capacity"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12, atol=1e-9)
        assert np.abs(found[name] - plain[name]).max() > 1e-3
    # the passive element keeps its strength where a factor is on F0; in a model's file both are one number
    strength = xr.where(found["muscle"] == "two_r", 0.7, 1.0)
    np.testing.assert_allclose(found["passive_force"] * strength, expected["passive_force"], atol=1e-9)
    if passive == "none":
        np.testing.assert_allclose(found["muscle_force"], expected["muscle_force"], atol=1e-5)


def test_a_trial_file_names_the_person_and_the_result_says_so(tmp_path: Path) -> None:
    path = trial_in(tmp_path)
    found = ms.run(path)
    model = tmp_path / "small.osim"
    expected = ms.share_model(
        model,
        tmp_path / "ik.mot",
        tmp_path / "id.sto",
        dofs=DOFS,
        reserve_weight=1.0,
        cutoff_hz=None,
        person=tmp_path / "person.toml",
    )
    np.testing.assert_array_equal(found["muscle_force"], expected["muscle_force"])
    for result in (found, expected):
        assert result.attrs["muscle_parameters"] == "calibrated"
        assert result.attrs["muscle_person"] == "person.toml"
        assert any("4 numbers of 3 muscles" in note for note in result.attrs["notes"])
        roles = [line.split()[:2] for line in result.attrs["inputs"]]
        assert ["muscles", "person.toml"] in roles and ["muscle_parent", "small.osim"] in roles
    assert ms.read_trial(path).files["muscle_parent"] == model


def test_elastic_tendons_have_the_factor_on_the_slack_length_that_is_used(model_folder: Path) -> None:
    """Over several wrap objects that is the length for the path, which a calibration with elastic tendons saw."""
    model = ms.read_osim(model_folder / "rajagopal_2016.osim")
    dof, name = "ankle_angle_r", "gasmed_r"
    motion = {"time": TIME, **{each: 0.1 * np.sin(TIME) for each in model.coordinates}}
    made = person(model.file, [("tendon_slack_length", (name,), 1.05)])
    body = measured_model(
        model,
        motion,
        {"time": TIME, dof: np.zeros(len(TIME))},
        dofs=[dof],
        muscles=[name],
        tendon="elastic",
        cutoff_hz=None,
        person=made,
    )
    shift = tendon_shifts(model, [name])
    assert abs(shift[0]) > 1e-3
    due = 1.05 * (model.muscles[name].tendon_slack_length + shift)
    np.testing.assert_allclose(body.whole.state.parameters.tendon_slack_length, due, rtol=1e-15)
    assert any("elastic tendons" in note and "rigid tendons" in note for note in body.notes)


@pytest.mark.thorough
def test_another_model_with_these_muscles_is_said_and_one_without_refused(tmp_path: Path) -> None:
    path = trial_in(tmp_path)
    parent = tmp_path / "parent.osim"
    parent.write_text(near_optimal_lengths().replace("nobody", "somebody"), encoding="utf-8")
    person_file(tmp_path, parent, FACTORS)
    assert any("small.osim is not the model" in note for note in ms.run(path).attrs["notes"])
    assert not any("is not the model" in note for note in ms.run(trial_in(tmp_path)).attrs["notes"])
    parent.write_text(near_optimal_lengths().replace('"three_r"', '"fourth_r"'), encoding="utf-8")
    person_file(tmp_path, parent, [("max_isometric_force", ("fourth_r",), 0.7)])
    with refused("unknown_name", "fourth_r", "small.osim"):
        ms.run(path)


def test_what_is_no_person_of_a_model_is_refused(tmp_path: Path) -> None:
    path = trial_in(tmp_path)
    person_file(tmp_path, "gait2392", [("max_isometric_force", ("soleus_r",), 0.7)])
    with refused("conflict", "person.toml", "gait2392"):
        ms.run(path)
    path.write_text(TRIAL.replace("person.toml", "trial.toml"), encoding="utf-8")
    with refused("bad_format", "trial.toml"):
        ms.run(path)
    path.write_text(TRIAL.replace("person.toml", "nobody.toml"), encoding="utf-8")
    with refused("missing_file", "line 8", "nobody.toml"):
        ms.run(path)
    with refused("bad_type", "person"):
        ms.opensim_problem(tmp_path / "small.osim", tmp_path / "ik.mot", tmp_path / "id.sto", person=3)


def test_names_of_the_set_that_the_model_is_are_names_of_the_model(model_folder: Path) -> None:
    """A calibration with recordings serves trials of the model too."""
    model = ms.read_osim(model_folder / "gait2392.osim")
    of_set = person(model.file, [("max_isometric_force", ("gluteus_medius_anterior_l", "soleus_r"), 0.7)])
    found = person_of_model(of_set, model)
    assert found.muscles == ("glut_med1_l", "soleus_r") and found.warnings == ()
