"""Finding databases and muscles, and the two sides of the body."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from refusals import refused

import muscle_db
from muscle_db import MuscleDatabaseError

DATABASE = muscle_db.load("silva_2003")


def test_by_name_and_by_short_name() -> None:
    assert DATABASE["gluteus_medius_anterior"] is DATABASE["glut_med1"]
    assert "soleus" in DATABASE and "glut_med1" in DATABASE and "soleus_r" not in DATABASE
    assert [muscle.name for muscle in DATABASE] == [muscle.name for muscle in DATABASE.muscles]


def test_unknown_muscle_names_the_nearest() -> None:
    with refused("bad_muscle_set", "soleuss", error=MuscleDatabaseError):
        DATABASE["soleuss"]


@pytest.mark.parametrize("name", ["silva_2004", "nowhere/mine.toml", Path("nowhere.toml"), "x" * 5000, "\0"])
def test_unknown_database(name: str | Path) -> None:
    with pytest.raises(MuscleDatabaseError):
        muscle_db.load(name)


def test_unknown_database_names_what_there_is_and_where_it_looked() -> None:
    with pytest.raises(MuscleDatabaseError) as caught:
        muscle_db.load("silva_2004.toml")
    assert f"no file {Path('silva_2004.toml').absolute()}" in str(caught.value)
    with pytest.raises(MuscleDatabaseError) as caught:
        muscle_db.load("silva_2004")
    message = str(caught.value)
    assert "no file" not in message  # a name alone is none of a file
    assert "silva_2003, silva_2003_wrapped, or the path of a TOML file" in message
    assert "did you mean 'silva_2003'?" in message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"name = 1\n\x89PNG\0", ": this is a binary file"),
        (b'name = "a"\nsource = "M\xfcller"', ", line 2: a character is not in UTF-8"),
        ('name = "a"'.encode("utf-16"), ", line 1: a character is not in UTF-8"),
    ],
)
def test_a_file_that_is_not_text_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "muscles.toml"
    path.write_bytes(content)
    with pytest.raises(MuscleDatabaseError) as caught:
        muscle_db.load(path)
    assert str(caught.value).startswith(f"{path}{says}")
    assert "codec" not in str(caught.value)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with refused("bad_muscle_set", error=MuscleDatabaseError):
        muscle_db.load(tmp_path)


def test_mirroring_turns_left_into_right_and_back() -> None:
    for muscle in DATABASE:
        left = muscle.mirrored()
        assert left.mirrored() == muscle
        for here, there in zip(muscle.path, left.path, strict=True):
            (x, y, z), active = here.position, here.active
            assert (there.frame, there.position, there.active) == (here.frame, (x, -y, z), active)


def test_sides() -> None:
    right, left = DATABASE["glut_med1"].on_side("r"), DATABASE["glut_med1"].on_side("l")
    assert (right.name, right.short_name) == ("gluteus_medius_anterior_r", "glut_med1_r")
    assert (left.name, left.short_name) == ("gluteus_medius_anterior_l", "glut_med1_l")
    assert right.path == DATABASE["glut_med1"].path
    assert left.path == DATABASE["glut_med1"].mirrored().path
    assert left.path[1].position[1] > 0 > right.path[1].position[1]  # lateral is left on the left leg


def test_wrong_side() -> None:
    with refused("bad_muscle_set", "left", "r", error=MuscleDatabaseError):
        DATABASE["soleus"].on_side("left")


def test_importable_on_its_own() -> None:
    code = "import sys, muscle_db; muscle_db.load(); print(*(each in sys.modules for each in ('musclesolve', 'numpy')))"
    folder = Path(muscle_db.__file__).parent.parent
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["False", "False"]
