"""The subject: what files state, what plates and markers show, and lines that are left open."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drafted_folders import as_c3d, drafted, recordings, renamed, standing_forces, stated_subject, table
from refusals import refused

from musclesolve import check, read_trial
from musclesolve.laboratory import read_markers
from musclesolve.laboratory.draft.draft_folder import draft_folder
from musclesolve.laboratory.draft.subject_size import GivenSubject, carried_all_the_time
from musclesolve.tables import write_trc

SETUP = """<?xml version="1.0"?>
<OpenSimDocument Version="40000"><ScaleTool name="S07"><mass>71.5</mass><height>1720</height>
<GenericModelMaker><model_file>generic.osim</model_file></GenericModelMaker>
<ModelScaler><marker_file>static.trc</marker_file></ModelScaler></ScaleTool></OpenSimDocument>
"""


def test_the_mass_is_measured_by_newtons_law_where_nothing_states_it(tmp_path: Path) -> None:
    subject = table(draft_folder(recordings(tmp_path)), "subject")
    assert subject["mass_kg"] == pytest.approx(stated_subject().mass_kg, rel=0.01)
    assert "stature_m" not in subject and "sex" not in subject


def test_what_is_left_open_is_named_by_check(tmp_path: Path) -> None:
    report = check(drafted(recordings(tmp_path), name="S01"))
    assert not report.ok
    missing = [finding for finding in report.findings if finding.code == "trial_file"]
    assert all(any(key in finding.what for finding in missing) for key in ("stature_m", "sex"))
    assert len(missing) == 2


def test_open_lines_are_right_when_their_sign_is_taken_away(tmp_path: Path) -> None:
    path = drafted(recordings(tmp_path, marker_set="gait2392"), name="S01")
    text = path.read_text(encoding="utf-8").replace("# stature_m = ", "stature_m = ")
    assert "\n# sex =\n" in text
    path.write_text(text.replace("# sex =", 'sex = "female"'), encoding="utf-8")
    subject = tomllib.loads(path.read_text(encoding="utf-8"))["subject"]
    assert subject["stature_m"] == pytest.approx(stated_subject().stature_m, abs=0.1)
    assert check(path).ok


def test_the_head_of_the_report_is_drafted_open_and_read_when_filled_in(tmp_path: Path) -> None:
    path = drafted(recordings(tmp_path, marker_set="gait2392"), name="S01", stature_m=1.7, sex="female")
    text, filled = path.read_text(encoding="utf-8"), {"age_years": 31, "recorded_as": "barefoot"}
    assert not {*filled, "recorded_on"} & set(tomllib.loads(text)["subject"])
    for key, value in {**filled, "recorded_on": "2026-05-04"}.items():
        assert f"\n# {key} = " in text
        text = re.sub(
            f"# {key} =( +#)", lambda rest, key=key, value=value: f"{key} = {value!r}{rest[1]}", text
        )
    path.write_text(text, encoding="utf-8")
    subject = read_trial(path).subject
    assert (subject.age, subject.date, subject.condition) == (31.0, "2026-05-04", "barefoot")


def test_a_scale_setup_states_name_mass_and_stature(tmp_path: Path) -> None:
    recordings(tmp_path)
    (tmp_path / "scale.xml").write_text(SETUP)
    assert table(draft_folder(tmp_path), "subject") == {"name": "S07", "mass_kg": 71.5, "stature_m": 1.72}


def test_a_stated_mass_that_the_plates_contradict_is_pointed_out(tmp_path: Path) -> None:
    recordings(tmp_path)
    (tmp_path / "scale.xml").write_text(SETUP.replace("71.5", "91.5"))
    draft = draft_folder(tmp_path)
    assert table(draft, "subject")["mass_kg"] == 91.5
    assert any("91.5" in todo or "check the mass" in todo for todo in draft.trials[0].todos)


def test_a_generic_setup_states_nothing(tmp_path: Path) -> None:
    recordings(tmp_path)
    (tmp_path / "scale.xml").write_text(SETUP.replace("71.5", "-1").replace("1720", "-1"))
    subject = table(draft_folder(tmp_path), "subject")
    assert subject["mass_kg"] == pytest.approx(70.25, rel=0.01) and "stature_m" not in subject


def shortened(folder: Path, end_s: float) -> None:
    """Cut a motion short of a stride, after which only Newton's law shows the mass."""
    walk = read_markers(folder / "walk.trc")
    kept = walk.time < end_s
    write_trc(
        folder / "walk.trc", replace(walk, time=walk.time[kept], position=walk.position[kept]), decimals=6
    )


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("newtons", "written"), [(None, True), (600.0, False), (700.0, True)])
def test_what_the_plates_carry_is_the_mass_unless_they_carry_another_one_standing(
    newtons: float | None, written: bool, tmp_path: Path
) -> None:
    shortened(recordings(tmp_path), 1.0)
    if newtons is not None:
        standing_forces(tmp_path / "static_grf.mot", newtons)
    draft = draft_folder(tmp_path)
    (asked,) = (todo for todo in draft.trials[0].todos if "body mass" in todo)
    assert "Newton's second law in the motion 70." in asked
    assert asked.startswith("confirm" if written else "enter")
    assert newtons is None or f"{newtons / 9.80665:.1f} kg" in asked
    if written:
        assert table(draft, "subject")["mass_kg"] == pytest.approx(stated_subject().mass_kg, rel=0.01)
        assert re.search(r"# 70\.\d \+- (0\.[89]|1\.\d), what the plates carry", draft.trials[0].text)
        assert table(draft, "subject")["mass_from"] == "plates"
    else:
        assert not {"mass_kg", "mass_from"} & table(draft, "subject").keys()
        assert "\n# mass_kg =\n" in draft.trials[0].text


def test_a_mass_that_nothing_shows_is_left_open_without_a_number_and_refused(tmp_path: Path) -> None:
    (recordings(tmp_path) / "forces.mot").unlink()
    path = drafted(tmp_path, name="S01")
    assert "\n# mass_kg =\n" in path.read_text(encoding="utf-8")
    missing = [each for each in check(path).findings if each.code == "trial_file"]
    assert sum("mass_kg" in each.what for each in missing) == 1


@pytest.mark.parametrize("deep", ["", "MarkerData", "MarkerData/PostAugmentation"])
def test_the_metadata_of_a_session_state_its_subject(deep: str, tmp_path: Path) -> None:
    metadata = "subjectID: runner 7\nmass_kg: 68.5\nheight_m: 1.65\ngender_mf: f\n"
    (tmp_path / "sessionMetadata.yaml").write_text(metadata, encoding="utf-8")
    recordings(tmp_path / deep)
    stated = {"name": "runner 7", "mass_kg": 68.5, "stature_m": 1.65, "sex": "female"}
    for folder in {tmp_path, tmp_path / deep}:
        drawn = draft_folder(folder)
        assert table(drawn, "subject") == stated and "sessionMetadata.yaml; " in drawn.trials[0].text


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("sessionMetadata.yaml", "mass_kg: heavy\nheight_m: 1.7\n", "mass_kg heavy"),
        ("sessionMetadata.yaml", "mass_kg: 70\nheight_m: 183\n", "height_m 183"),
        ("sessionMetadata.yaml", "gender_mf: x\n", "gender_mf x"),
        ("sessionMetadata.yaml", "mass_kg: [1\n  : {\n", "mass_kg [1"),
        ("sessionMetadata.yaml", "", "empty"),
        ("sessionMetadata.yaml", "date: today\n", "neither mass"),
        ("_subject.json", '{"massKg": 70', "cannot be read"),
    ],
)
def test_what_a_file_on_the_subject_states_in_vain_is_said(
    name: str, content: str, said: str, tmp_path: Path
) -> None:
    folder = recordings(tmp_path / "S01")
    (folder / name).write_text(content, encoding="utf-8")
    draft = draft_folder(folder)
    assert any(said in text and name in text for text in draft.unread)
    asked = " ".join(draft.trials[0].todos)
    assert (f"{name} states {said}" in asked) == (
        said.partition(" ")[0] in ("mass_kg", "height_m", "gender_mf")
    )


def test_widths_that_no_medial_marker_shows_are_asked_for_and_may_stay_open(tmp_path: Path) -> None:
    folder = recordings(tmp_path / "text", marker_set="plug_in_gait")
    renamed(folder, lambda name: None if name[1:] in ("KNM", "ANM") else name)
    own = as_c3d(folder, tmp_path / "c3d")
    (own / "static.c3d").unlink()
    draft = draft_folder(own, None, stated_subject())
    for key in ("epicondyles", "malleoli"):
        assert sum(key in todo and "if you can" in todo for todo in draft.trials[0].todos) == 1
    assert len(draft.trials[0].todos) == 2
    assert check(drafted(own)).ok


def processed(file) -> None:
    numbers = {"Bodymass": 68.0, "Height": 1650.0, "RKneeWidth": 104.0, "LKneeWidth": 106.0}
    for name, value in numbers.items():
        file.add_parameter("PROCESSING", name, [value])
    file.add_parameter("SUBJECTS", "NAMES", ["Ann"])


def test_parameters_of_c3d_files_and_the_widths_that_no_medial_marker_shows(tmp_path: Path) -> None:
    folder = recordings(tmp_path / "text", marker_set="plug_in_gait")
    renamed(folder, lambda name: None if name[1:] in ("KNM", "ANM") else f"Ann:{name}")
    draft = draft_folder(as_c3d(folder, tmp_path / "c3d", processed))
    assert table(draft, "subject") == {
        "name": "Ann",
        "mass_kg": 68.0,
        "stature_m": 1.65,
        "knee_width_m": 0.105,
    }
    assert any("malleoli" in todo for todo in draft.trials[0].todos)


@pytest.mark.parametrize(
    ("key", "value"), [("mass_kg", 9999.0), ("mass_kg", float("nan")), ("stature_m", 0.0), ("sex", "Male")]
)
def test_what_is_stated_wrongly_is_refused_by_its_option(key: str, value: object, tmp_path: Path) -> None:
    with refused("bad_value", f"--{key.replace('_', '-')}"):
        draft_folder(recordings(tmp_path), None, GivenSubject(**{key: value}))


@pytest.mark.thorough
def test_without_a_standing_trial_the_draft_says_so_and_runs(tmp_path: Path) -> None:
    (recordings(tmp_path) / "static.trc").unlink()
    draft = draft_folder(tmp_path, None, stated_subject())
    assert draft.trials[0].todos == () and "No standing trial" in draft.trials[0].text
    assert check(drafted(tmp_path)).ok


def test_plates_that_carry_the_whole_body_all_the_time_weigh_it_without_any_marker() -> None:
    """As belts do: the mean over whole steps is the weight, wherever the recording begins and ends."""
    time = np.arange(0.13, 7.9, 0.001)
    weight = 65.0 * 9.80665 * (1.0 + 0.4 * np.sin(2.0 * np.pi * 1.8 * time))
    noise = np.random.default_rng(2).normal(size=(time.size, 3))
    force = np.stack([30.0 * np.sin(time), 0.0 * time, -weight], axis=1) + 5.0 * noise
    (mass,) = carried_all_the_time(force, 1000.0, "walk.c3d")
    assert mass.number == pytest.approx(65.0, rel=0.003) and mass.uncertain < 1.5
    stepped_off = np.where((time > 4.0)[:, None] & (time < 4.5)[:, None], 0.0, force)
    assert not list(carried_all_the_time(stepped_off, 1000.0, "walk.c3d"))
    assert not list(carried_all_the_time(force[:2000], 1000.0, "walk.c3d"))
    assert not list(carried_all_the_time(np.zeros((0, 3)), 1.0, ""))


def squatting(folder: Path) -> None:
    """The subject of a motion squats: everything above the knees is 0.35 m lower and behind the ankles."""
    walk = read_markers(folder / "walk.trc")
    high = np.nanmedian(walk.position[:, :, 2], axis=0) > 0.7
    position = walk.position + high[:, None] * np.array([-0.25, 0.0, -0.35])
    write_trc(folder / "walk.trc", replace(walk, position=position), decimals=6)


def test_a_subject_who_squats_or_sits_shows_no_stature(tmp_path: Path) -> None:
    suggested = []
    for name in ("standing", "squatting"):
        recordings(tmp_path / name, marker_set="gait2392")
        if name == "squatting":
            squatting(tmp_path / name)
        (trial,) = draft_folder(tmp_path / name).trials
        (line,) = [x for t in trial.tables if t.name == "subject" for x in t.lines if x.key == "stature_m"]
        suggested.append(line.value)
    assert suggested[1] == pytest.approx(suggested[0], abs=0.03)
