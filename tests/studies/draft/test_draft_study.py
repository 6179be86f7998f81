"""musclesolve init FOLDER --study: what it recognizes is a study file that `musclesolve study` reads."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from b3d_files import MODEL, TrialOnDisk, walker, write_b3d
from c3d_files import write_c3d
from command_line import typed
from drafted_folders import recordings
from recorded_data import recorded
from refusals import refused

from musclesolve import read_osim, read_trial
from musclesolve.constants import KEY_POINT_CUTOFF_HZ
from musclesolve.laboratory.draft.draft_folder import draft_folder, write_drafts
from musclesolve.laboratory.draft.study_trials import stated_body, study_trials, without_copies
from musclesolve.laboratory.files.service_folders import NO_FORCES
from musclesolve.studies import read_study
from musclesolve.studies.draft.draft_study import draft_study, write_study
from musclesolve.tables import Table, read_trc, write_mot


def call(*arguments: object) -> tuple[int, str]:
    done = typed("init", *arguments)
    return done.exit_code, done.output


def study_of(folder: Path, output: Path | None = None):
    path, *_ = write_study(draft_study(folder, output), force=True)
    return read_study(path)


def trial_file(path: Path, **subject: object) -> Path:
    """A trial file of a model with loads."""
    path.parent.mkdir(parents=True, exist_ok=True)
    stated = "".join(f"{key} = {value!r}\n" for key, value in subject.items()).replace("'", '"')
    files = '[files]\nmodel = "m.osim"\ncoordinates = "q.mot"\nloads = "f.mot"\n'
    path.write_text(f"{files}[subject]\n{stated}" if stated else files, encoding="utf-8")
    return path


def columns(path: Path, *names: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    time = 0.01 * np.arange(5)
    write_mot(path, Table(time, names, np.zeros((5, len(names))), False, path))


def angles(path: Path) -> None:
    columns(path, "hip_flexion_r", "knee_angle_r", "ankle_angle_r")


def test_trial_files_in_folders(tmp_path: Path) -> None:
    names = ("P01/slow/walk_1", "P01/fast/walk_1", "P02/slow/walk_1", "P02/slow/walk_2")
    for name in names:
        age = 30 if "P01" in name else 55
        trial_file(tmp_path / f"{name}.toml", mass_kg=70.5, sex="female", age_years=age)
    study = study_of(tmp_path)
    assert study.title == tmp_path.name
    assert study.design.conditions == ("fast", "slow")
    assert dict(study.subjects) == {
        "P01": {"mass_kg": 70.5, "sex": "female", "age_years": 30},
        "P02": {"mass_kg": 70.5, "sex": "female", "age_years": 55},
    }
    assert [(each.name, each.subject, each.condition) for each in study.trials] == [
        ("P01_fast_walk_1", "P01", "fast"), ("P01_slow_walk_1", "P01", "slow"),
        ("P02_slow_walk_1", "P02", "slow"), ("P02_slow_walk_2", "P02", "slow"),
    ]  # fmt: skip
    assert study.trials[3].source == {"file": "P02/slow/walk_2.toml"}


def test_trials_of_other_bodies_are_never_of_one_subject(tmp_path: Path) -> None:
    """A data set of three people under one name once became one subject."""
    for number, mass in enumerate((75.0, 65.0, 48.0, 49.0), start=1):
        trial_file(tmp_path / "S1" / f"walk{number}.toml", name="x", mass_kg=mass, stature_m=1.7, sex="male")
    study = study_of(tmp_path)
    names = ["S1_48kg", "S1_48kg", "S1_65kg", "S1_75kg"]
    assert [trial.subject for trial in study.trials] == names
    assert study.subjects["S1_48kg"]["mass_kg"] == 48.5
    assert any(
        "trials called S1 state 3 bodies" in todo for todo in draft_study(tmp_path, tmp_path / "b.toml").todos
    )


def test_folders_of_subjects_are_those_of_one_body_each(tmp_path: Path) -> None:
    for group, subject, mass in (("old", "P1", 75.0), ("old", "P2", 60.0), ("young", "P3", 60.0)):
        trial_file(tmp_path / group / subject / "session2" / "slow" / f"{subject}_01.toml", mass_kg=mass)
        trial_file(tmp_path / group / subject / "session2" / "fast" / f"{subject}_01.toml", mass_kg=mass)
    study = study_of(tmp_path)
    assert {(each.subject, study.of_subject(each.subject, "group"), each.session) for each in study.trials} == {
        ("P1", "old", "session2"), ("P2", "old", "session2"), ("P3", "young", "session2")
    }  # fmt: skip
    assert [each.condition for each in study.trials] == ["fast", "fast", "fast", "slow", "slow", "slow"]


def c3d_tree(root: Path) -> None:
    """SUBJECT/CONDITION/SUBJECT01.c3d of two people whom a program calls alike, with their masses."""
    recordings(root / "made")
    walk = read_trc(root / "made" / "walk.trc")
    for subject, mass in (("AA", 75.0), ("BB", 48.0)):
        for condition in ("slow", "fast"):

            def stated(c3d, mass=mass):
                c3d.add_parameter("SUBJECTS", "NAMES", ["Patient"])
                c3d.add_parameter("PROCESSING", "Bodymass", mass)
                c3d.add_parameter("PROCESSING", "Height", 1700.0)

            place = root / subject / condition
            place.mkdir(parents=True)
            points = 1000.0 * walk.position
            write_c3d(place / f"{subject}01.c3d", walk.rate, list(walk.names), points, change=stated)
    shutil.rmtree(root / "made")


def test_recordings_have_their_trial_files_drafted_with_what_they_state(tmp_path: Path) -> None:
    c3d_tree(tmp_path)
    code, said = call(tmp_path, "--study")
    assert code == 0 and "4 drafted beside their recordings" in said and "sex of AA, BB" in said
    study = read_study(tmp_path / "study.toml")
    assert {(each.subject, each.condition, each.source["file"]) for each in study.trials} == {
        (s, c, f"{s}/{c}/trial.toml") for s in ("AA", "BB") for c in ("slow", "fast")
    }
    assert study.subjects == {
        "AA": {"mass_kg": 75.0, "stature_m": 1.7}, "BB": {"mass_kg": 48.0, "stature_m": 1.7}
    }  # fmt: skip
    assert (tmp_path / "AA" / "slow" / "trial.toml").is_file()


def test_facts_of_a_trial_file_are_of_its_source_and_person_alone(tmp_path: Path) -> None:
    for source, name, mass in (("L1", "p1", 84.7), ("L2", "p3", 98.8)):
        trial_file(tmp_path / source / "S01" / "walk.toml", name=name, mass_kg=mass)
    draft = draft_study(tmp_path, tmp_path / "study.toml", [tmp_path / "L1", tmp_path / "L2"])
    write_study(draft)
    subjects = read_study(draft.path).subjects
    assert {name: each["mass_kg"] for name, each in subjects.items()} == {"p1": 84.7, "p3": 98.8}
    assert not any("differs" in todo for todo in draft.todos)


def test_a_person_without_a_folder_has_the_stated_name(tmp_path: Path) -> None:
    trial_file(tmp_path / "walk.toml", name="s01", mass_kg=84.7)
    trial_file(tmp_path / "run.toml")
    trial_file(tmp_path / "jump.toml", name="s02")
    persons = {trial.name: trial.subject for trial in study_of(tmp_path).trials}
    assert persons == {"s01_walk": "s01", "s02_jump": "s02", "S1_run": "S1"}


def test_a_table_of_subjects_is_of_its_source(tmp_path: Path) -> None:
    for source, mass in (("L1", 84.7), ("L2", 98.8)):
        trial_file(tmp_path / source / "S01" / "walk.toml")
        (tmp_path / source / "people.csv").write_text(f"subject,mass_kg,sex\nS01,{mass},female\n")
    sources = [tmp_path / "L1", tmp_path / "L2"]
    draft = draft_study(tmp_path, tmp_path / "inputs" / "study.toml", sources)
    write_study(draft)
    study = read_study(draft.path)
    assert {name: each["mass_kg"] for name, each in study.subjects.items()} == {
        "L1_S01": 84.7,
        "L2_S01": 98.8,
    }
    assert [trial.name for trial in study.trials] == ["L1_S01_walk", "L2_S01_walk"]
    # the table of what lacks keeps its rows, whatever subjects come later
    table = draft.path.parent / "trials.csv"
    head = "name,subject,mass_kg,stature_m,sex,file"
    assert table.read_text().splitlines() == [
        head,
        "L1_S01_walk,L1_S01,84.7,,female,../L1/S01/walk.toml",
        "L2_S01_walk,L2_S01,98.8,,female,../L2/S01/walk.toml",
    ]
    table.write_text(table.read_text().replace("84.7,,", "84.7,1.7,").replace("98.8,,", "98.8,1.8,"))
    trial_file(tmp_path / "L3" / "S01" / "walk.toml", mass_kg=70.0, sex="male")
    write_study(draft_study(tmp_path, draft.path, [*sources, tmp_path / "L3"]), force=True)
    assert table.read_text().splitlines() == [
        head,
        "L1_S01_walk,L1_S01,84.7,1.7,female,../L1/S01/walk.toml",
        "L2_S01_walk,L2_S01,98.8,1.8,female,../L2/S01/walk.toml",
        "L3_S01_walk,L3_S01,70.0,,male,../L3/S01/walk.toml",
    ]


def test_a_table_names_the_only_folder_of_its_source(tmp_path: Path) -> None:
    for source, folder, mass in (("L1", "anna", 84.7), ("L2", "n1", 98.8)):
        trial_file(tmp_path / source / folder / "walk.toml")
        (tmp_path / source / "people.csv").write_text(f"subject,mass_kg\n{folder},{mass}\n")
    draft = draft_study(tmp_path, tmp_path / "study.toml", [tmp_path / "L1", tmp_path / "L2"])
    write_study(draft)
    assert [each["mass_kg"] for each in read_study(draft.path).subjects.values()] == [84.7, 98.8]


def test_files_hold_before_a_table_of_their_source(tmp_path: Path) -> None:
    trial_file(tmp_path / "L1" / "S01" / "walk.toml", mass_kg=70.0)
    (tmp_path / "L1" / "people.csv").write_text("subject,mass_kg,stature_m\nS01,75,1.8\n")
    draft = draft_study(tmp_path / "L1", tmp_path / "study.toml", [tmp_path / "L1"])
    write_study(draft)
    stated = read_study(draft.path).subjects["S01"]
    assert (stated["mass_kg"], stated["stature_m"]) == (70.0, 1.8)
    assert any("70.0 in its files and 75" in todo for todo in draft.todos)


def test_coordinates_beside_a_model_that_is_cut_off_are_a_trial(tmp_path: Path) -> None:
    """Its names are not known: the trial is refused when it is computed, and not left out without a word."""
    names = ["pelvis_tilt", "hip_flexion_r", "knee_angle_r", "ankle_angle_r"]
    text = "".join(f'<Coordinate name="{name}">' for name in names[:1])
    (tmp_path / "model.osim").write_text(f"<OpenSimDocument>{text}")
    rows = "\n".join("\t".join(["0.0", "1", "1", "1", "1"]) for _ in range(2))
    head = "walk\nversion=1\nnRows=2\nnColumns=5\ninDegrees=yes\nendheader\n"
    (tmp_path / "walk_ik.mot").write_text(head + "\t".join(["time", *names]) + f"\n{rows}\n")
    (trial,) = study_trials(tmp_path).trials
    assert trial.source["coordinates"] == tmp_path / "walk_ik.mot"


def test_folders_of_opensim_models(tmp_path: Path) -> None:
    for subject in ("S01", "S02"):
        home = tmp_path / subject
        (home / "Model").mkdir(parents=True)
        (home / "Model" / "scaled.osim").write_text(MODEL, encoding="utf-8")
        for condition in ("slow", "fast"):
            angles(home / "IK" / f"{condition}_1_ik.mot")
        columns(
            home / "ID" / "slow_1_grf.mot", *(f"ground_force_r_{part}" for part in ("vx", "vy", "vz", "px"))
        )
        if subject == "S01":
            columns(
                home / "ID" / "inverse_dynamics_fast_1.sto", "hip_flexion_r_moment", "knee_angle_r_moment"
            )
    study = study_of(tmp_path)
    trials = {each.name: each for each in study.trials}
    assert trials["S01_slow_1"].source == {
        "model": "S01/Model/scaled.osim", "coordinates": "S01/IK/slow_1_ik.mot", "loads": "S01/ID/slow_1_grf.mot"
    }  # fmt: skip
    assert trials["S01_fast_1"].source["moments"] == "S01/ID/inverse_dynamics_fast_1.sto"
    assert trials["S02_fast_1"].exclude == NO_FORCES and len(study.included) == 3


def test_the_same_name_on_two_days_is_two_trials(tmp_path: Path) -> None:
    (tmp_path / "S1" / "Models").mkdir(parents=True)
    (tmp_path / "S1" / "Models" / "scaled.osim").write_text(MODEL, encoding="utf-8")
    for day in ("day1", "day2"):
        angles(tmp_path / "S1" / day / "IK" / "walk1.mot")
        columns(
            tmp_path / "S1" / day / "InverseDynamics" / "walk1.sto",
            "hip_flexion_r_moment",
            "knee_angle_r_moment",
        )
    angles(tmp_path / "S1" / "walk2" / "ik.mot")
    (tmp_path / "S1" / "walk2" / "loop").symlink_to(tmp_path)
    study = study_of(tmp_path)
    assert [(each.session, each.source.get("moments"), bool(each.exclude)) for each in study.trials] == [
        ("day1", "S1/day1/InverseDynamics/walk1.sto", False), ("day2", "S1/day2/InverseDynamics/walk1.sto", False),
        ("", None, True),
    ]  # fmt: skip


def test_what_may_be_meant_otherwise_is_said(tmp_path: Path) -> None:
    (tmp_path / "S1").mkdir()
    for name in ("a", "b"):
        (tmp_path / "S1" / f"{name}.osim").write_text(MODEL, encoding="utf-8")
    angles(tmp_path / "S1" / "walk_ik.mot")
    angles(tmp_path / "S1" / "walk_kinematics.mot")
    todos = " ".join(draft_study(tmp_path).todos)
    assert "several models: a.osim, b.osim" in todos and "walk_ik.mot, walk_kinematics.mot" in todos
    assert todos.count("are named as one motion: keep one of their trials") == 1  # of both trials


def test_sessions_of_opencap_have_the_subject_of_their_metadata(tmp_path: Path) -> None:
    for number, subject in enumerate(("anna", "bob", "anna")):
        home = tmp_path / f"OpenCapData_0a1b2c3d-0000-4000-8000-00000000000{number}"
        angles(home / "OpenSimData" / "Kinematics" / f"squat{number}.mot")
        (home / "OpenSimData" / "Model").mkdir()
        (home / "OpenSimData" / "Model" / "m_scaled.osim").write_text(MODEL, encoding="utf-8")
        (home / "sessionMetadata.yaml").write_text(f"mass_kg: 60.5\nheight_m: 1.7\nsubjectID: {subject}\n")
    study = study_of(tmp_path)
    assert {name: each["mass_kg"] for name, each in study.subjects.items()} == {"anna": 60.5, "bob": 60.5}
    assert [(each.name, each.exclude, each.source["loads"]) for each in study.trials] == [
        ("anna_squat0", "", "predicted"), ("anna_squat2", "", "predicted"), ("bob_squat1", "", "predicted")
    ]  # fmt: skip


def test_a_session_of_opencap_without_study(tmp_path: Path) -> None:
    angles(tmp_path / "OpenSimData" / "Kinematics" / "walk.mot")
    (tmp_path / "OpenSimData" / "Model").mkdir()
    (tmp_path / "OpenSimData" / "Model" / "m_scaled.osim").write_text(MODEL, encoding="utf-8")
    (tmp_path / "sessionMetadata.yaml").write_text("mass_kg: 60.5\nheight_m: 1.7\ngender_mf: f\n")
    draft = draft_folder(tmp_path)
    write_drafts(draft)
    (tmp_path / "trial.toml").rename(tmp_path / "again.toml")
    trial = read_trial(tmp_path / "again.toml")
    assert trial.model.name == "m_scaled.osim" and trial.settings.files.loads == "predicted"
    assert trial.settings.filter.cutoff_hz == KEY_POINT_CUTOFF_HZ
    stated = " ".join(text for _, text in draft.trials[0].recognized)
    assert "mass_kg 60.5" in stated and "female" in stated
    # the mass of the model is that of the results
    assert any("scale the model" in todo and "60.5 kg" in todo for todo in draft.trials[0].todos)
    assert (tmp_path / ".musclesolve" / "model_trial.schema.json").is_file()


def test_b3d_files(tmp_path: Path) -> None:
    _, only = walker(tmp_path)
    (tmp_path / "walker.osim").unlink()
    still = type(only)(1, only.fields | {5: 0.0 * only.fields[5]})
    passes = (("walk_1", only), ("run_1", only), ("walk_2", still))
    trials = [TrialOnDisk(name, [each], [0] * 80) for name, each in passes]
    for name in ("P1", "P2"):
        write_b3d(tmp_path / f"{name}.b3d", trials, [MODEL], 12, mass=61.0, stature=1.7, sex="male", age=20)
    (tmp_path / "broken.b3d").write_bytes(b"no")
    draft = draft_study(tmp_path)
    assert len(draft.unread) == 1 and draft.unread[0].startswith("broken.b3d")
    study = study_of(tmp_path)
    assert study.subjects["P2"] == {"mass_kg": 61.0, "stature_m": 1.7, "sex": "male", "age_years": 20.0}
    assert [(each.name, each.source["trial"], each.exclude) for each in study.trials[:3]] == [
        ("P1_run_1", "run_1", ""), ("P1_walk_1", "walk_1", ""), ("P1_walk_2", "walk_2", NO_FORCES)
    ]  # fmt: skip


def test_results_and_hidden_folders_are_no_trials(tmp_path: Path) -> None:
    trial_file(tmp_path / "walk1.toml")
    trial_file(tmp_path / "results" / "trials" / "walk1" / "trial.toml")
    (tmp_path / "results" / "trials.csv").write_text("name,status\n")
    trial_file(tmp_path / ".old" / "walk1.toml")
    (tmp_path / "settings.toml").write_text("[plot]\nwidth = 3\n")
    assert [each.source["file"] for each in study_of(tmp_path).trials] == ["walk1.toml"]


def test_files_that_a_trial_file_names_are_not_found_again(tmp_path: Path) -> None:
    (tmp_path / "m.osim").write_text(MODEL, encoding="utf-8")
    angles(tmp_path / "S1" / "q.mot")
    trial_file(tmp_path / "trials" / "S1_walk.toml").write_text(
        '[files]\nmodel = "../m.osim"\ncoordinates = "../S1/q.mot"\nmoments = "../S1/id.sto"\n',
        encoding="utf-8",
    )
    assert [each.source for each in study_of(tmp_path).trials] == [{"file": "trials/S1_walk.toml"}]


def test_an_archive_among_the_folders_is_said(tmp_path: Path) -> None:
    trial_file(tmp_path / "S1" / "walk1.toml")
    (tmp_path / "S2").mkdir()
    (tmp_path / "S2" / "S2.ZIP").write_bytes(b"PK")
    (unread,) = draft_study(tmp_path).unread
    assert unread.startswith("S2/S2.ZIP: unpack")
    (tmp_path / "S3").mkdir()
    (tmp_path / "S3" / "walk2.trc.gz").write_bytes(b"")  # a packed recording is read, or refused, as such
    assert len(draft_study(tmp_path).unread) < 3 and "unpack" not in "".join(draft_study(tmp_path).unread[1:])


def test_archives_alone_are_to_be_unpacked(tmp_path: Path) -> None:
    (tmp_path / "data.zip").write_bytes(b"PK")
    with refused("missing_file", "data.zip", "unpack them"):
        draft_study(tmp_path)


def test_a_model_beside_trial_files_is_that_of_the_motions_below(tmp_path: Path) -> None:
    """`init FOLDER` wrote trial files beside a model: `--study` then missed a model "in its folder or above"."""
    (tmp_path / "m.osim").write_text(MODEL, encoding="utf-8")
    angles(tmp_path / "IK" / "walk_ik.mot")
    trial_file(tmp_path / "walk.toml").write_text(
        '[files]\nmodel = "m.osim"\ncoordinates = "IK/walk_ik.mot"\nmoments = "id.sto"\n', encoding="utf-8"
    )
    draft = draft_study(tmp_path)
    assert draft.unread == () and [each.source for each in study_of(tmp_path).trials] == [
        {"file": "walk.toml"}
    ]


def test_a_table_whose_names_are_not_those_of_the_folders_is_said(tmp_path: Path) -> None:
    trial_file(tmp_path / "S1" / "größer 1.toml")
    (tmp_path / "people.csv").write_text("ID;Mass\nAnna;70,5\n", encoding="utf-8")
    assert [text.partition(":")[0] for text in draft_study(tmp_path).unread] == ["people.csv"]
    (tmp_path / "people.csv").write_text("ID;Mass\nS1 Anna;70,5\n", encoding="utf-8")
    assert not draft_study(tmp_path).unread
    assert [trial.name for trial in study_of(tmp_path).trials] == ["S1_größer_1"]


def test_the_command(tmp_path: Path) -> None:
    for subject in ("S1", "S2"):
        trial_file(tmp_path / "data" / subject / "walk.toml", mass_kg=70.0, stature_m=1.7, sex="male")
    code, said = call(tmp_path / "data", "--study")
    assert code == 0 and "musclesolve study" in said and "S1, S2" in said and "nothing" in said
    code, said = call(tmp_path / "data", "--study")
    assert code == 2 and "--force" in said and "Traceback" not in said
    code, said = call(tmp_path / "data", "--study", "-o", tmp_path / "elsewhere.toml")
    assert code == 0 and read_study(tmp_path / "elsewhere.toml").trials[0].source == {
        "file": "data/S1/walk.toml"
    }
    assert call(tmp_path / "data", "--study", "--mass-kg", 70)[0] == 2
    for place in (tmp_path / "none", tmp_path / "data" / "S1" / "walk.toml"):
        code, said = call(place, "--study")
        assert code == 2 and str(place) in said.replace("\n", "")


@pytest.mark.parametrize("name", ['a "b" \\ é', "S1.", "w..alk", "con"])
def test_names_with_any_signs_are_read_again(name: str, tmp_path: Path) -> None:
    trial_file(tmp_path / f"x{name}" / "walk1.toml")
    trial_file(tmp_path / "S2" / f"{name}fast.toml")
    assert len(study_of(tmp_path).trials) == 2


def test_a_name_that_is_no_text_is_said(tmp_path: Path) -> None:
    trial_file(tmp_path / "S1" / "walk1.toml")
    try:
        trial_file(tmp_path / "S1" / os.fsdecode(b"w\xff.toml"))
    except OSError:
        pytest.skip("names of files are text here")
    draft = draft_study(tmp_path)
    assert len(draft.unread) == 1 and "udcff" in draft.unread[0] and len(study_of(tmp_path).trials) == 1


def test_the_folders_of_a_real_service(addbiomechanics: Path, tmp_path: Path) -> None:
    shutil.copytree(addbiomechanics / "opencap_subject", tmp_path / "one")
    shutil.copy(addbiomechanics / "results.b3d", tmp_path / "two.b3d")
    study = study_of(tmp_path)
    assert [(each.name, each.condition) for each in study.trials] == [
        ("one_DJ1", "DJ"), ("one_walking2", "walking"), ("one_walking3", "walking"),
        ("two_walking1_segment_0", "walking1_segment"), ("two_walking2_segment_0", "walking2_segment"),
    ]  # fmt: skip
    assert study.subjects["two"]["mass_kg"] == 68.0 and len(study.included) == 5
    recordings_of_two = [each.source["trial"] for each in study.trials[3:]]
    assert recordings_of_two == ["walking1_segment_0", "walking2_segment_0"]  # numbered as the recordings are


def test_coordinates_of_another_model_are_not_attached_to_this_one(tmp_path: Path) -> None:
    """The setup of inverse kinematics names the model, which decides beside what lies nearest."""
    (tmp_path / "IK").mkdir()
    (tmp_path / "manual_scaling").mkdir()
    (tmp_path / "scaled.osim").write_text('<Coordinate name="knee_angle_r">', encoding="utf-8")
    setup = (
        "<OpenSimDocument><InverseKinematicsTool><model_file>../{}</model_file>"
        "<output_motion_file>walk.mot</output_motion_file></InverseKinematicsTool></OpenSimDocument>"
    )
    for folder, model in (("IK", "scaled.osim"), ("manual_scaling", "by_hand.osim")):
        columns(tmp_path / folder / "walk.mot", "knee_angle_r")
        columns(tmp_path / folder / "walk_id.sto", "knee_angle_r_moment", "hip_flexion_r_moment")
        (tmp_path / folder / "setup.xml").write_text(setup.format(model), encoding="utf-8")
    found = {trial.levels: trial for trial in study_trials(tmp_path).trials}
    assert found["walk",].exclude == "" and Path(found["walk",].source["model"]).name == "scaled.osim"
    assert "by_hand.osim" in found["manual_scaling", "walk"].exclude
    (tmp_path / "by_hand.osim").write_text('<Coordinate name="knee_angle_r">', encoding="utf-8")
    models = {trial.levels: Path(trial.source["model"]).name for trial in study_trials(tmp_path).trials}
    assert models == {("walk",): "scaled.osim", ("manual_scaling", "walk"): "by_hand.osim"}


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("old", "new", "taken"),
    [
        ("", "", "walk_loads.xml"),
        ("applied_to_body>calcn_l", "applied_to_body>calcn_r", "walk_grf.mot"),
        ("applied_to_body>calcn_l", "applied_to_body>tibia_l", "walk_grf.mot"),
        ("walk_grf.mot", "walk2_grf.mot", "walk_grf.mot"),
    ],
)
def test_forces_as_they_are_stated_unless_the_motion_contradicts(
    tmp_path: Path, old: str, new: str, taken: str
) -> None:
    recording = recorded("instrumented_knee")
    for name, copied in (
        ("Rajagopal2015-scaled.osim", "model.osim"),
        ("PS_ngait_og_ss1_kinematics.mot", "walk_ik.mot"),
        ("PS_ngait_og_ss1_kinetics.mot", "walk_grf.mot"),
    ):
        shutil.copy(recording / name, tmp_path / copied)
    text = (recording / "loads_ss1.xml").read_text().replace("PS_ngait_og_ss1_kinetics.mot", "walk_grf.mot")
    assert old in text
    (tmp_path / "walk_loads.xml").write_text(text.replace(old, new, 1 if old else 0), encoding="utf-8")
    (trial,) = study_trials(tmp_path).trials
    assert Path(trial.source["loads"]).name == taken and bool(trial.notes) == (taken == "walk_grf.mot")


def _a_model_folder(folder: Path, *, coordinates: tuple[str, ...], forces: str, moments: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "m.osim").write_text(MODEL, encoding="utf-8")
    for name in coordinates:
        angles(folder / name)
    columns(folder / forces, *(f"ground_force_{part}" for part in ("vx", "vy", "vz", "px", "py", "pz")))
    columns(folder / moments, "hip_flexion_r_moment", "knee_angle_r_moment")
    return folder


@pytest.mark.parametrize(
    ("coordinates", "forces", "moments"),
    [
        (("task_InverseKinematics.mot", "task_Kinematics_q.sto"), "task_grf.mot", "task_InverseDynamics.sto"),
        (("ik.mot",), "grf.mot", "id.sto"),
        (("subject01_walk1_ik.mot",), "GRF_filtered.mot", "results_InverseDynamics.sto"),
    ],
)
def test_files_of_opensims_tools_belong_together(
    tmp_path: Path, coordinates: tuple[str, ...], forces: str, moments: str
) -> None:
    """The names by which its tools call their output say the kind; forces of another name are of the only motion."""
    folder = _a_model_folder(tmp_path / "S1", coordinates=coordinates, forces=forces, moments=moments)
    trials = study_trials(folder).trials
    assert [Path(trial.source["coordinates"]).name for trial in trials] == list(coordinates)
    assert {Path(trial.source["loads"]).name for trial in trials} == {forces}
    code, said = call(folder)
    assert code == 0 and forces in said and "predicted" not in said


def test_forces_that_may_be_of_several_motions_are_left_to_decide(tmp_path: Path) -> None:
    folder = _a_model_folder(
        tmp_path / "S1", coordinates=("a_ik.mot", "b_ik.mot"), forces="c_grf.mot", moments="c_id.sto"
    )
    assert all(trial.source["loads"] == "predicted" for trial in study_trials(folder).trials)
    code, said = call(folder)
    assert code == 0 and "whose name does not show it: c_grf.mot, c_id.sto" in " ".join(said.split())


def test_loads_of_another_name_are_named_beside_moments(tmp_path: Path) -> None:
    folder = _a_model_folder(
        tmp_path / "S1", coordinates=("walk_ik.mot",), forces="plates_grf.mot", moments="walk_id.sto"
    )
    code, said = call(folder)
    text = " ".join((folder / "trial.toml").read_text(encoding="utf-8").split())
    assert code == 0 and 'moments = "walk_id.sto"' in text, said
    assert 'loads = "plates_grf.mot" beside it adds contact forces' in text


def test_a_model_beside_a_recording_has_its_command(tmp_path: Path) -> None:
    """Markers make a trial file of the recording; the model beside them has a command of its own."""
    folder = recordings(tmp_path / "S1")
    (folder / "m.osim").write_text(MODEL, encoding="utf-8")
    angles(folder / "walk_ik.mot")
    columns(folder / "walk_id.sto", "hip_flexion_r_moment", "knee_angle_r_moment")
    code, said = call(folder)
    words = f"--model {folder}/m.osim --coordinates {folder}/walk_ik.mot --moments {folder}/walk_id.sto"
    assert code == 0 and words in " ".join(said.split())
    assert "neither forces" not in said


def test_a_b3d_file_names_its_road(tmp_path: Path) -> None:
    (tmp_path / "S1").mkdir()
    (tmp_path / "S1" / "S1.b3d").write_bytes(bytes(8))
    code, said = call(tmp_path / "S1")
    assert code and f"musclesolve init --study {tmp_path / 'S1'}" in " ".join(said.split())


def test_a_simulated_motion_is_not_filtered(tmp_path: Path) -> None:
    """RRA writes the last step of its integrator twice; its motion is smooth already."""
    folder = _a_model_folder(
        tmp_path / "S1", coordinates=("walk_Kinematics_q.sto",), forces="walk_grf.mot", moments="walk_id.sto"
    )
    assert "cutoff_hz = 6.0" in draft_folder(folder).trials[0].text
    path = folder / "walk_Kinematics_q.sto"
    text = path.read_text(encoding="utf-8").replace("nRows=5", "nRows=6").rstrip("\n")
    path.write_text(f"{text}\n{text.splitlines()[-1]}\n", encoding="utf-8")
    assert 'cutoff_hz = "none"' in draft_folder(folder).trials[0].text


def test_the_mass_of_a_model_is_not_asked(tmp_path: Path) -> None:
    (tmp_path / "S1").mkdir()
    (tmp_path / "S1" / "m.osim").write_text(MODEL, encoding="utf-8")
    trial_file(tmp_path / "S1" / "walk.toml")
    trial_file(tmp_path / "S2" / "walk.toml")  # names a model that is not there
    draft = draft_study(tmp_path)
    mass = round(read_osim(tmp_path / "S1" / "m.osim").mass, 2)
    assert mass > 0.0 and study_of(tmp_path).subjects["S1"] == {"mass_kg": mass}
    asked = next(todo for todo in draft.todos if "fill in trials.csv" in todo)
    assert "mass_kg of S2" in asked and "mass_kg of S1" not in asked and "sex of S1, S2" in asked


@pytest.mark.parametrize(
    "name",
    [
        "{} - Copy",
        "{} - Copy (2)",
        "{} (1)",
        "Copy of {}",
        "a copy of {}",
        "{}_copy",
        "{} copy 2",
        "{} (copy)",
    ],
)
def test_copies_of_a_file_are_left_out_and_named(name: str, tmp_path: Path) -> None:
    home = recordings(tmp_path / "S1")
    copied = max(home.glob("*.trc"), key=lambda path: path.stat().st_size)
    copy = home / (name.format(copied.stem) + copied.suffix)
    shutil.copy(copied, copy)
    sentence = f"{copy.name} is a copy of {copied.name}, byte by byte"
    alone = draft_folder(home)
    assert sentence in alone.left_out and len(alone.trials) == 1


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("gait01.trc", "gait02.trc"),
        ("static.trc", "static_2.trc"),
        ("S01_walk.c3d", "S02_walk.c3d"),
        ("forces.mot", "walk1_forces.mot"),
        ("walk.trc", "walkcopy.trc"),
        ("gait (1).trc", "gait (2).trc"),
        ("walk.trc", "walk (1).c3d"),
        ("model.osim", "model - Copy.osim"),
    ],
)
def test_equal_files_stay_unless_their_name_says_that_they_are_copies(
    first: str, other: str, tmp_path: Path
) -> None:
    paths = [tmp_path / first, tmp_path / other]
    for path in paths:
        path.write_text("the same\n", encoding="utf-8")
    assert without_copies(paths, tmp_path) == (paths, [])


def test_a_file_stays_that_differs_from_its_original_or_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = recordings(tmp_path)
    shutil.copy(home / "walk.trc", home / "walk (1).trc")
    (home / "walk copy.trc").write_text(
        (home / "walk.trc").read_text(encoding="utf-8")[:-9], encoding="utf-8"
    )
    files = sorted(home.glob("walk*.trc"))
    assert without_copies(files, home)[0] == [path for path in files if path.name != "walk (1).trc"]

    def refuse(*_: object, **__: object) -> bool:
        raise PermissionError

    monkeypatch.setattr("filecmp.cmp", refuse)
    assert without_copies(files, home) == (files, [])


@pytest.mark.parametrize("copy", ["kinetics.mot", "PS_ngait_og_ss1_kinetics (1).mot"])
@pytest.mark.parametrize("stated", ["PS_ngait_og_ss1_kinetics.mot", ""], ids=["original", "copy"])
def test_a_copied_table_of_forces_does_not_contradict_the_loads(
    copy: str, stated: str, instrumented_knee: Path, tmp_path: Path
) -> None:
    data = instrumented_knee
    kinetics, loads = "PS_ngait_og_ss1_kinetics.mot", "loads_ss1.xml"
    for name in ("Rajagopal2015-scaled.osim", "PS_ngait_og_ss1_kinematics.mot", kinetics):
        shutil.copy(data / name, tmp_path)
    shutil.copy(data / kinetics, tmp_path / copy)
    text = (data / loads).read_text(encoding="utf-8")
    assert kinetics in text
    (tmp_path / loads).write_text(text.replace(kinetics, stated or copy), encoding="utf-8")
    draft = draft_folder(tmp_path)
    assert 'loads = "loads_ss1.xml"' in draft.trials[0].text and not draft.trials[0].todos
    named = f"{copy} is a copy of {kinetics}, byte by byte"
    assert draft.left_out == ((named,) if "(1)" in copy else ())


def test_a_model_that_was_scaled_anew_has_its_new_mass(tmp_path: Path) -> None:
    for number in (1, 2):  # a desk drafts again and again
        model = tmp_path / "S1" / "m.osim"
        model.parent.mkdir(exist_ok=True)
        model.write_text(re.sub(r"<mass>([\d.]+)<", rf"<mass>{number}\1<", MODEL), encoding="utf-8")
        trial_file(tmp_path / "S1" / "walk.toml")
        trial_file(tmp_path / "S2" / "walk.toml")
        mass = round(read_osim(model).mass, 2)
        found = {trial.levels[0]: trial for trial in study_trials(tmp_path).trials}
        assert stated_body(found["S1"])["mass_kg"] == mass > 0.0


@pytest.mark.parametrize("name", ["=cmd()", "+S1", "-S1", "@S1"])
def test_a_subject_called_like_a_formula_is_inert_and_read_again(name: str, tmp_path: Path) -> None:
    trial_file(tmp_path / name / "walk.toml")
    trial_file(tmp_path / "other" / "walk.toml")
    draft = draft_study(tmp_path)
    assert f",'{name}," in draft.table[1]
    assert name in read_study(write_study(draft)[0]).subjects


def test_a_fault_of_the_subject_above_the_results_is_said_once(tmp_path: Path) -> None:
    for results in ("first", "second"):
        for name in ("Models/final.osim", "IK/walk_ik.mot"):
            path = tmp_path / "S1" / results / name
            path.parent.mkdir(parents=True)
            path.write_text("", encoding="utf-8")
    (tmp_path / "S1" / "_subject.json").write_text('{"massKg": 9000}', encoding="utf-8")
    (said,) = study_trials(tmp_path).unread
    assert "massKg 9000" in said
