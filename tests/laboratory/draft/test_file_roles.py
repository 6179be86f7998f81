"""Roles of files: standing trials, motions, forces and EMG of each, one recording in two formats."""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drafted_folders import as_c3d, drafted, recordings, renamed, standing_forces, table
from refusals import refused

from musclesolve import read_trial
from musclesolve.laboratory import read_markers
from musclesolve.laboratory.draft.column_names import plates_of
from musclesolve.laboratory.draft.draft_folder import draft_folder, write_drafts
from musclesolve.laboratory.draft.folder_contents import (
    bent_joints,
    file_roles,
    folder_contents,
    kinship,
    says_functional,
    says_maximum,
    says_static,
)
from musclesolve.tables import Table, read_mot, write_mot, write_trc


def test_every_motion_has_a_trial_file_with_its_own_forces_and_the_shared_standing_trial(
    tmp_path: Path,
) -> None:
    recordings(tmp_path)
    for number in (1, 2):
        shutil.copy(tmp_path / "walk.trc", tmp_path / f"gait0{number}.trc")
        shutil.copy(tmp_path / "forces.mot", tmp_path / f"gait_{number}_grf.mot")
    for name in ("walk.trc", "forces.mot"):
        (tmp_path / name).unlink()
    draft = draft_folder(tmp_path)
    assert [trial.path.name for trial in draft.trials] == ["trial_gait01.toml", "trial_gait02.toml"]
    for trial, forces in zip(draft.trials, ("gait_1_grf.mot", "gait_2_grf.mot"), strict=True):
        files = next(each for each in trial.tables if each.name == "files")
        assert {line.key: line.value for line in files.lines} == {
            "markers": trial.path.name.removeprefix("trial_").replace(".toml", ".trc"),
            "static": "static.trc",
            "forces": forces,
        }
    assert all(path.is_file() for path in write_drafts(draft))


def names_of(folder: Path) -> list[object]:
    """The name of the subject in each draft of a folder."""
    tables = [draft.tables[0] for draft in draft_folder(folder).trials]
    return [next(line.value for line in table.lines if line.key == "name") for table in tables]


@pytest.mark.parametrize("persons", [("anna", "ben"), ("S01", "S02"), ("anna_x", "anna_y")])
def test_two_subjects_in_one_folder_have_two_names(tmp_path: Path, persons: tuple[str, str]) -> None:
    for seed, person in enumerate(persons):
        recordings(tmp_path / "files", noise_mm=0.1, seed=seed)
        for path in (tmp_path / "files").iterdir():
            path.rename(tmp_path / f"{person}_{path.name}")
    assert names_of(tmp_path) == list(persons)


@pytest.mark.parametrize("names", [("slow_walk", "fast_walk"), ("run_walk", "jog_walk")])
def test_motions_of_one_subject_have_the_name_of_the_folder(tmp_path: Path, names: tuple[str, str]) -> None:
    recordings(tmp_path)
    for name in names:
        (tmp_path / f"{name}.trc").write_bytes((tmp_path / "walk.trc").read_bytes() + b"\n" * len(name))
        shutil.copy(tmp_path / "static.trc", tmp_path / f"{name.partition('_')[0]}_static.trc")
    (tmp_path / "walk.trc").unlink()
    assert names_of(tmp_path) == [tmp_path.name] * 2


def test_one_subject_has_the_name_of_the_folder_whatever_begins_its_files(tmp_path: Path) -> None:
    recordings(tmp_path / "files")
    for path in (tmp_path / "files").iterdir():
        path.rename(tmp_path / f"anna_{path.name}")
    assert names_of(tmp_path) == [tmp_path.name]


def test_axes_that_no_marker_shows_are_asked_by_file(tmp_path: Path) -> None:
    recordings(tmp_path)
    renamed(tmp_path, lambda name: f"Q{sum(name.encode())}")
    todos = [todo for todo in draft_folder(tmp_path).trials[0].todos if "axis" in todo]
    assert todos and all("walk.trc" in todo and "musclesolve desk" in todo for todo in todos)


def test_of_two_standing_trials_one_is_taken_and_the_other_named(tmp_path: Path) -> None:
    recordings(tmp_path)
    shutil.copy(tmp_path / "static.trc", tmp_path / "static_2.trc")
    draft = draft_folder(tmp_path)
    assert table(draft, "files")["static"] == "static.trc"
    assert any("static_2.trc" in todo for todo in draft.trials[0].todos)


def test_a_standing_trial_with_other_markers_is_of_another_subject(tmp_path: Path) -> None:
    recordings(tmp_path)
    static = read_markers(tmp_path / "static.trc")
    others = tuple(f"Q{number}" for number in range(len(static.names)))
    write_trc(tmp_path / "static.trc", replace(static, names=others))
    assert "static" not in table(draft_folder(tmp_path), "files")


@pytest.mark.parametrize("people", [("S01",), ("P01", "P02")])
def test_people_in_one_folder_keep_their_own_files(people: tuple[str, ...], tmp_path: Path) -> None:
    """Names that begin with the subject: standing trial and forces are those of the same person."""
    recordings(tmp_path)
    for name in ("walk.trc", "static.trc", "forces.mot"):
        for person in people:
            shutil.copy(tmp_path / name, tmp_path / f"{person}_{name}")
        (tmp_path / name).unlink()
    draft = draft_folder(tmp_path)
    for person, trial in zip(people, draft.trials, strict=True):
        files = next(each for each in trial.tables if each.name == "files")
        stated = {line.key: line.value for line in files.lines}
        assert stated == {
            "markers": f"{person}_walk.trc",
            "static": f"{person}_static.trc",
            "forces": f"{person}_forces.mot",
        }
        assert not any("stands" in todo for todo in trial.todos)


def test_a_folder_without_a_readable_export_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "MarkerData").mkdir()
    (tmp_path / "tracks.emt").write_text("BTS ASCII format", "utf-8")
    with refused("missing_file", "tracks.emt", "C3D", "MarkerData"):
        draft_folder(tmp_path)


def test_a_recording_without_any_place_is_no_subject_who_stands(tmp_path: Path) -> None:
    recordings(tmp_path)
    for name in ("static.trc", "walk.trc"):
        markers = read_markers(tmp_path / name)
        write_trc(tmp_path / name, replace(markers, position=np.full_like(markers.position, np.nan)))
    with refused("missing_file", "no marker has a place in any frame"):
        draft_folder(tmp_path)


def test_a_standing_trial_is_known_by_its_stillness_whatever_its_name(tmp_path: Path) -> None:
    recordings(tmp_path)
    (tmp_path / "static.trc").rename(tmp_path / "trial007.trc")
    (tmp_path / "walk.trc").rename(tmp_path / "trial008.trc")
    files = table(draft_folder(tmp_path), "files")
    assert (files["markers"], files["static"]) == ("trial008.trc", "trial007.trc")


def test_a_recording_in_two_formats_is_one_motion_with_the_plates_of_the_c3d(tmp_path: Path) -> None:
    folder = recordings(tmp_path / "text", marker_set="plug_in_gait")
    both = as_c3d(folder, tmp_path / "both")
    for path in folder.iterdir():
        shutil.copy(path, both)
    draft = draft_folder(both)
    assert table(draft, "files") == {"markers": "walk.c3d", "static": "static.c3d"}
    assert len(draft.left_out) == 3 and "forces.mot" in draft.left_out[2]


def test_forces_of_the_standing_trial_are_no_forces_of_the_motion_and_weigh_the_subject(
    tmp_path: Path,
) -> None:
    recordings(tmp_path)
    standing_forces(tmp_path / "static_grf.mot", 700.0)
    draft = draft_folder(tmp_path)
    assert table(draft, "files")["forces"] == "forces.mot"
    assert table(draft, "subject")["mass_kg"] == pytest.approx(700.0 / 9.80665, rel=0.03)
    assert "static_grf.mot" in str(draft.trials[0].todos)


def test_a_subject_with_one_foot_on_the_plate_is_not_weighed_by_it(tmp_path: Path) -> None:
    recordings(tmp_path)
    standing_forces(tmp_path / "static_grf.mot", 400.0)
    assert table(draft_folder(tmp_path), "subject")["mass_kg"] == pytest.approx(70.25, rel=0.02)


def test_a_part_of_a_motion_is_left_out(tmp_path: Path) -> None:
    recordings(tmp_path)
    walk = read_markers(tmp_path / "walk.trc")
    few = slice(0, 100, 20)
    write_trc(
        tmp_path / "cut.trc", type(walk)(walk.time[few] / 20.0, walk.names, walk.position[few], walk.path)
    )
    draft = draft_folder(tmp_path)
    assert len(draft.trials) == 1
    assert any("cut.trc" in text for text in draft.left_out)


def test_results_of_models_are_no_recordings(tmp_path: Path) -> None:
    recordings(tmp_path)
    forces = read_mot(tmp_path / "forces.mot")
    names = (*(f"muscle{k}_{side}" for k in range(40) for side in "rl"), "soleus_r", "FX", "FY", "FZ")
    values = np.zeros((forces.time.size, len(names)))
    write_mot(tmp_path / "walk_activation.sto", Table(forces.time, names, values, False, tmp_path))
    contents = folder_contents(tmp_path)
    assert [file.path.name for file in contents.forces] == ["forces.mot"]
    assert not contents.emg


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("walk", "walk_grf", 3), ("walk01", "Walk 1 forces", 3), ("walk", "walk_fast", 2), ("run_2", "walk_2", 1),
        ("forces", "walk", 0), ("walk1", "walk2", 1),
    ],
)  # fmt: skip
def test_names_of_one_trial(one: str, other: str, expected: int) -> None:
    assert kinship(one, other) == kinship(other, one) == expected


def test_words_in_names_of_files() -> None:
    assert all(map(says_static, ("static", "Standing_01", "S01_cal", "T-pose", "stat01")))
    assert not any(map(says_static, ("walk", "stairs", "calf_raise", "refugee")))
    assert says_functional("hip_func_r") and says_functional("StarArc1") and not says_functional("walk1")
    assert bent_joints("knee_flexion_r") == ("knee",) and bent_joints("Ankle ROM") == ("ankle",)
    assert bent_joints("bending") == bent_joints("SARA_1") == ("knee", "ankle")
    assert not bent_joints("walk_knee_brace") and not bent_joints("hip_func_r")
    assert says_maximum("MVC_soleus") and not says_maximum("maxine_walk1")


def as_csv(folder: Path, markers_unit: str) -> None:
    """Markers and forces of a folder as CSV files."""
    for name in ("walk", "static"):
        markers = read_markers(folder / f"{name}.trc")
        heads = [f"{marker}_{axis}{markers_unit}" for marker in markers.names for axis in "xyz"]
        rows = np.column_stack([markers.time, 1000.0 * markers.position.reshape(markers.time.size, -1)])
        np.savetxt(folder / f"{name}.csv", rows, "%.5f", ",", header=",".join(["time", *heads]), comments="")
        (folder / f"{name}.trc").unlink()
    forces = read_mot(folder / "forces.mot")
    rows = np.column_stack([forces.time, forces.values])
    np.savetxt(
        folder / "walk_forces.csv", rows, "%.6g", ",", header=",".join(["time", *forces.names]), comments=""
    )
    (folder / "forces.mot").unlink()


def test_csv_files_are_markers_or_forces_by_their_columns(tmp_path: Path) -> None:
    as_csv(recordings(tmp_path), " [mm]")
    draft = draft_folder(tmp_path)
    assert table(draft, "files") == {
        "markers": "walk.csv",
        "static": "static.csv",
        "forces": "walk_forces.csv",
    }
    assert [table(draft, "force", k)["side"] for k in range(2)] == ["r", "l"]


def test_csv_files_may_leave_out_the_unit_of_length(tmp_path: Path) -> None:
    as_csv(recordings(tmp_path), "")
    files = table(draft_folder(tmp_path), "files")
    assert files == {"markers": "walk.csv", "static": "static.csv", "forces": "walk_forces.csv"}


def test_plates_of_a_c3d_file_without_markers_serve_markers_of_another_file(tmp_path: Path) -> None:
    folder = recordings(tmp_path, marker_set="plug_in_gait")
    as_c3d(folder, tmp_path / "c3d", only_plates)
    (folder / "c3d" / "walk.c3d").rename(folder / "walk.c3d")
    (folder / "forces.mot").unlink()
    draft = draft_folder(folder)
    assert table(draft, "files") == {"markers": "walk.trc", "static": "static.trc", "forces": "walk.c3d"}
    assert {plate.side for plate in read_trial(drafted(folder)).forces} == {"r", "l"}


def only_plates(file) -> None:
    """Take the names of the markers away: points without a label are no markers."""
    labels = file["parameters"]["POINT"]["LABELS"]
    labels["value"] = [f"*{k}" for k in range(len(labels["value"]))]


def test_roles_do_not_depend_on_the_unit_in_a_header(tmp_path: Path) -> None:
    recordings(tmp_path)
    for name in ("walk.trc", "static.trc"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("\tmm\t", "\tm\t"), encoding="utf-8")
    files = table(draft_folder(tmp_path), "files")
    assert (files["markers"], files["static"]) == ("walk.trc", "static.trc")


def test_a_model_in_the_folder_is_offered_as_muscle_set(tmp_path: Path) -> None:
    recordings(tmp_path)
    (tmp_path / "S01.osim").write_text("<OpenSimDocument/>")
    text = draft_folder(tmp_path).trials[0].text
    assert '# The muscles of S01.osim may serve instead: database = "S01.osim".' in text
    assert table(draft_folder(tmp_path), "muscles") == {"database": "gait2392_hip"}


@pytest.mark.parametrize("name", ["FunctionalWalk", "knee_flexion_walk", "rom_02"])
def test_a_walk_is_a_motion_whatever_its_name(tmp_path: Path, name: str) -> None:
    recordings(tmp_path)
    (tmp_path / "walk.trc").rename(tmp_path / f"{name}.trc")
    assert table(draft_folder(tmp_path), "files")["markers"] == f"{name}.trc"


def test_a_foot_that_stays_shows_a_functional_trial(tmp_path: Path) -> None:
    """A subject who stands on one foot and circles the other one."""
    recordings(tmp_path)
    static = read_markers(tmp_path / "static.trc")
    angle = np.linspace(0.0, 12.0, 400)
    position = np.repeat(np.nanmean(static.position, axis=0)[None], 400, axis=0)
    right = [k for k, name in enumerate(static.names) if name.endswith("_r")]
    sweep = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    position[:, right] += 0.4 * sweep[:, None] * (1.0 - position[:, right, 2:] / position[..., 2].max())
    write_trc(tmp_path / "functional_r.trc", type(static)(angle / 4.0, static.names, position, static.path))
    roles = file_roles(folder_contents(tmp_path))
    assert [file.path.name for file in roles.functional] == ["functional_r.trc"]
    assert [files.motion.path.name for files in roles.motions] == ["walk.trc"]


def test_a_standing_trial_in_another_folder_is_found(tmp_path: Path) -> None:
    walk, standing = tmp_path / "S07" / "Gait", tmp_path / "S07" / "Static 1"
    recordings(walk)
    standing.mkdir()
    (walk / "static.trc").rename(standing / "s07.trc")
    for place in (walk, walk.parent, tmp_path):
        (trial,) = draft_folder(place).trials
        files = tomllib.loads(trial.text)["files"]
        found = {(trial.path.parent / name).resolve() for name in files.values()}
        assert found == {walk / "walk.trc", walk / "forces.mot", standing / "s07.trc"}


def test_a_folder_of_folders_leads_to_a_study(tmp_path: Path) -> None:
    for name in ("day 1", "day 2", ".hidden"):
        (tmp_path / name).mkdir()
    with refused("missing_file", "but folders: day 1, day 2", "init --study"):
        draft_folder(tmp_path)


def test_one_trial_file_among_folders_does_not_stand_for_the_others(tmp_path: Path) -> None:
    for day in ("day 1", "day 2"):
        recordings(tmp_path / day)
    write_drafts(draft_folder(tmp_path / "day 1"))
    with refused("missing_file", "but folders: day 1, day 2", "init --study"):
        draft_folder(tmp_path)
    write_drafts(draft_folder(tmp_path / "day 2"))
    with refused("occupied_folder", "already: day 1/trial.toml, day 2/trial.toml"):
        draft_folder(tmp_path)


def test_a_plate_with_a_repeated_column_is_not_passed_over(tmp_path: Path) -> None:
    recordings(tmp_path)
    text = (tmp_path / "forces.mot").read_text()
    (tmp_path / "forces.mot").write_text(text.replace("right_force_y", "right_force_x"))
    unread = folder_contents(tmp_path).unread
    assert any("'right_force_x' occurs twice" in each for each in unread)


def test_columns_of_forces_that_belong_to_no_plate_are_named(tmp_path: Path) -> None:
    recordings(tmp_path)
    text = (tmp_path / "forces.mot").read_text()
    (tmp_path / "forces.mot").write_text(text.replace("left_force_", "left_blob_"))
    left_out = draft_folder(tmp_path).left_out
    said = [text for text in left_out if text.startswith("forces.mot: columns that are no")]
    assert len(said) == 1 and "left_blob_x" in said[0]


def test_letters_of_plates_are_no_points() -> None:
    stems = ("Force A ", "COP A ", "Force B ", "COP B ", "FP_3_F", "FP_3_A")
    names = tuple(stem + axis for stem in stems for axis in "xyz")
    plates = plates_of(Table(np.arange(3.0), names, np.zeros((3, len(names))), None, None))
    assert [plate.columns["force"][0] for plate in plates] == ["Force A x", "Force B x", "FP_3_Fx"]
    assert [plate.columns["point"][0] for plate in plates] == ["COP A x", "COP B x", "FP_3_Ax"]


def test_many_missing_landmarks_are_one_decision(tmp_path: Path) -> None:
    recordings(tmp_path)
    for name in ("walk.trc", "static.trc"):
        markers = read_markers(tmp_path / name)
        upper = [k for k, label in enumerate(markers.names) if "asis" in label or "shoulder" in label]
        kept = tuple(markers.names[k] for k in upper)
        write_trc(tmp_path / name, replace(markers, names=kept, position=markers.position[:, upper]))
    (told,) = [todo for todo in draft_folder(tmp_path).trials[0].todos if "enter the marker" in todo]
    assert "knee_lateral" in told and "heel" in told


def test_motions_cut_from_one_recording_share_its_forces(tmp_path: Path) -> None:
    recordings(tmp_path)
    walk = read_markers(tmp_path / "walk.trc")
    (tmp_path / "walk.trc").unlink()
    (tmp_path / "forces.mot").rename(tmp_path / "walk_grf.mot")
    half = walk.time.size // 2
    for part, rows in (("a", slice(half)), ("b", slice(half, None))):
        path = tmp_path / f"walk_{part}.trc"
        write_trc(path, replace(walk, time=walk.time[rows], position=walk.position[rows]))
    draft = draft_folder(tmp_path)
    assert len(draft.trials) == 2 and all('forces = "walk_grf.mot"' in trial.text for trial in draft.trials)
