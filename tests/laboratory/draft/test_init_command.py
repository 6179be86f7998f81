"""musclesolve init: what it writes and prints, and what it refuses."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import typed
from drafted_folders import OWN, recordings, renamed, stated_subject
from refusals import refused
from treadmill import on_a_treadmill, on_split_belts
from trial_copy import TrialCopy

from musclesolve.laboratory import read_markers
from musclesolve.laboratory.draft.draft_folder import draft_folder
from musclesolve.laboratory.draft.subject_size import GivenSubject
from musclesolve.tables import write_trc


def call(*arguments: object) -> tuple[int, str]:
    done = typed("init", *arguments)
    return done.exit_code, done.output


def test_it_writes_what_it_recognized_and_names_the_next_command(tmp_path: Path) -> None:
    code, said = call(recordings(tmp_path, marker_set="helen_hayes"))
    assert code == 0, said
    assert f"musclesolve check {tmp_path / 'trial.toml'}" in said
    assert all(word in said for word in ("walk.trc", "static.trc", "forces.mot", "helen_hayes", "stature"))
    assert {path.name for path in tmp_path.iterdir()} == {
        "walk.trc",
        "static.trc",
        "forces.mot",
        "trial.toml",
        ".musclesolve",
    }
    schema = (tmp_path / "trial.toml").read_text(encoding="utf-8").splitlines()[0].removeprefix("#:schema ")
    assert "stature_m" in (tmp_path / schema).read_text(encoding="utf-8")


@pytest.mark.parametrize(("slower", "speeds"), [(None, r"1\.2\d"), ("l", r"1\.2\d and 0\.7\d")])
def test_it_says_the_speed_of_the_belts(tmp_path: Path, slower, speeds: str) -> None:
    """The reference stride walks at 1.26 m/s."""
    recordings(tmp_path / "ground", own=True, strides=3)
    copy = TrialCopy(tmp_path / "ground" / OWN)
    if slower is None:
        on_a_treadmill(copy)
    else:
        on_split_belts(copy, slower, 0.6)
    copy.write(tmp_path / "belt").unlink()
    assert re.search(rf"on a treadmill at {speeds} m/s", call(tmp_path / "belt")[1])


def test_the_next_command_can_be_copied_into_a_shell(tmp_path: Path) -> None:
    folder = recordings(tmp_path / "Übung mit Läufer 3")
    code, said = call(folder)
    assert code == 0 and f"musclesolve check '{folder / 'trial.toml'}'" in said


def test_forces_that_no_motion_uses_are_named(tmp_path: Path) -> None:
    recordings(tmp_path)
    (tmp_path / "jump_grf.mot").write_bytes((tmp_path / "forces.mot").read_bytes())
    (tmp_path / "forces.mot").rename(tmp_path / "walk_grf.mot")
    code, said = call(tmp_path)
    assert code == 0 and "jump_grf.mot" in said.partition("left out")[2]
    assert "walk_grf.mot" not in said.partition("left out")[2].partition("next")[0]


@pytest.mark.parametrize(
    ("option", "value", "remedy"),
    [
        ("--stature-m", 183, "183 looks like centimeters: write 1.83"),
        ("--stature-m", 1830, "1830 looks like millimeters: write 1.83"),
        ("--mass-kg", 850, "850 looks like newtons: write 86.67"),
        ("--mass-kg", 72500, "72500 looks like grams: write 72.5"),
        ("--mass-kg", 1, "check the value and its unit"),
    ],
)
def test_a_size_in_another_unit_is_recognized(option: str, value: float, remedy: str, tmp_path: Path) -> None:
    code, said = call(recordings(tmp_path), option, value)
    assert code == 2 and remedy in " ".join(said.replace("│", " ").split())


def test_a_trial_file_that_is_there_is_not_replaced_unless_asked(tmp_path: Path) -> None:
    path = recordings(tmp_path) / "trial.toml"
    path.write_text("mine")
    code, said = call(tmp_path)
    assert code == 2 and "trial.toml" in said and "--force" in said
    assert path.read_text() == "mine"
    assert call(tmp_path, "--force")[0] == 0
    assert path.read_text() != "mine"


def test_the_draft_may_stand_elsewhere_and_names_its_files_from_there(tmp_path: Path) -> None:
    folder, target = recordings(tmp_path / "data"), tmp_path / "trials" / "s01.toml"
    assert call(folder, "-o", target)[0] == 0
    named = tomllib.loads(target.read_text(encoding="utf-8"))["files"]
    assert all((target.parent / name).samefile(folder / Path(name).name) for name in named.values())


def test_with_the_subject_stated_nothing_is_left_open(tmp_path: Path) -> None:
    subject = stated_subject()
    stated = {"--mass-kg": subject.mass_kg, "--stature-m": subject.stature_m, "--sex": subject.sex}
    code, said = call(recordings(tmp_path), *(part for pair in stated.items() for part in pair))
    assert code == 0 and "TODO" not in said
    assert not [
        line for line in (tmp_path / "trial.toml").read_text().splitlines() if line.startswith("# TODO")
    ]


@pytest.mark.parametrize("kind", ["empty", "pictures", "standing", "damaged", "none", "file", "hidden"])
def test_a_folder_without_a_motion_is_refused_and_stays_as_it_is(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    if kind != "none":
        folder.mkdir()
    if kind == "pictures":
        (folder / "a.jpg").write_bytes(b"\xff\xd8")
    if kind in ("standing", "damaged"):
        recordings(folder)
        (folder / "walk.trc").unlink()
    if kind == "damaged":
        (folder / "static.trc").write_text("PathFileType 4")
    if kind == "hidden":
        (folder / ".walk.trc").write_text("")
    if kind == "file":
        folder = folder / "walk.trc"
        folder.write_text("")
    before = sorted(tmp_path.rglob("*"))
    with refused("missing_file", str(folder)):
        draft_folder(folder)
    assert sorted(tmp_path.rglob("*")) == before


def test_damaged_files_are_named_and_the_others_used(tmp_path: Path) -> None:
    recordings(tmp_path)
    (tmp_path / "walk_2.trc").write_text((tmp_path / "walk.trc").read_text()[:3000])
    (tmp_path / "noise.c3d").write_bytes(os.urandom(600))
    (tmp_path / "loads.xml").write_text("<a><b")
    (tmp_path / "half.csv").write_text("time,A_x,A_y,A_z\n0,1,2,3\n")
    draft = draft_folder(tmp_path)
    assert [trial.path.name for trial in draft.trials] == ["trial.toml"]
    assert {text.partition(",")[0].partition(":")[0] for text in draft.unread} == {
        "walk_2.trc", "noise.c3d", "loads.xml", "half.csv"
    }  # fmt: skip


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    folder, wall = recordings(tmp_path / "data"), tmp_path / "wall"
    wall.write_text("a file")
    code, said = call(folder, "-o", wall / "trial.toml")
    assert code == 2 and "Traceback" not in said
    assert wall.read_text() == "a file"


def test_names_with_any_signs_are_written_so_that_they_are_read_again(tmp_path: Path) -> None:
    folder = recordings(tmp_path / 'a "b" \\ é #')
    odd = {"asis_r": 'r "asis', "heel_l": "l\\heel", "wrist_r": "R é wrist", "toe_r": "r#toe"}
    renamed(folder, lambda name: odd.get(name, name))
    text = draft_folder(folder, None, GivenSubject(name='Ann\t"\x7f')).trials[0].text
    content = tomllib.loads(text)
    assert content["mapping"]["asis_r"] == odd["asis_r"] and content["mapping"]["toe_r"] == odd["toe_r"]
    assert content["subject"]["name"] == 'Ann\t"\x7f'.strip()


def test_two_subjects_in_one_file_are_pointed_out(tmp_path: Path) -> None:
    folder = recordings(tmp_path, marker_set="plug_in_gait")
    for file in ("walk.trc", "static.trc"):
        markers = read_markers(folder / file)
        names = tuple(f"{person}:{name}" for person in ("Ann", "Bob") for name in markers.names)
        position = np.concatenate([markers.position, markers.position + 1.0], axis=1)
        write_trc(folder / file, replace(markers, names=names, position=position))
    draft = draft_folder(folder)
    assert tomllib.loads(draft.trials[0].text)["markers"] == {"set": "plug_in_gait", "person": "Ann"}
    assert any("Bob" in todo for todo in draft.trials[0].todos)
