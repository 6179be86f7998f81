"""A refused file names what to do about its own fault, not only that it should be exported again."""

from pathlib import Path

import pytest

from musclesolve import InputError, read_trial
from musclesolve.data import reference_stride
from musclesolve.laboratory import read_forces_table, read_markers
from musclesolve.tables import Markers, write_trc


def _remedy(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_forces_table(path) if path.suffix == ".mot" else read_markers(path)
    assert refused.value.file == path and refused.value.expected
    return refused.value.remedy or ""


@pytest.mark.parametrize(
    ("name", "old", "new", "named"),
    [
        ("walk.trc", "PathFileType", "Markers", "name the TRC file"),
        ("walk.trc", "DataRate\tCam", "Rate\tCam", "export the file again"),
        ("forces.mot", "\ntime\t", "\nclock\t", "name it time"),
        ("forces.mot", "endheader\ntime", "", "name a MOT or STO file"),
    ],
)
def test_damaged_header(tmp_path: Path, name: str, old: str, new: str, named: str) -> None:
    text = (Path(reference_stride()).parent / name).read_text(encoding="utf-8")
    assert old in text
    assert named in _remedy(tmp_path / name, text.replace(old, new, 1))


@pytest.mark.parametrize(("mark", "named"), [(";", "semicolons"), (",", "commas")])
@pytest.mark.parametrize("name", ["walk.trc", "forces.mot"])
def test_columns_between_other_marks_than_tabs(tmp_path: Path, name: str, mark: str, named: str) -> None:
    text = (Path(reference_stride()).parent / name).read_text(encoding="utf-8")
    assert f"then {named} by tabs" in _remedy(tmp_path / name, text.replace("\t", mark))


@pytest.mark.parametrize(
    ("header", "named"),
    [
        ("time,A_x [mm],A_y [mm]", "A_z"),
        ("time,A_x,A_y,A_z", "A_x [mm]"),
        ("time,A_x [ell],A_y [ell],A_z [ell]", "unit"),
        ("A_x [mm],A_y [mm],A_z [mm]", "time"),
    ],
)
def test_header_of_a_table(tmp_path: Path, header: str, named: str) -> None:
    assert named in _remedy(tmp_path / "walk.csv", f"{header}\n0,1,2,3\n0.01,1,2,3\n")


def test_the_folder_in_which_one_stands_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refused:
        read_markers(Path("."))
    assert "none in . ends in" in (refused.value.remedy or "")


def test_name_that_no_file_can_hold(tmp_path: Path) -> None:
    markers = read_markers(Path(reference_stride()).parent / "walk.trc")
    tabbed = Markers(markers.time, ("a\tb", *markers.names[1:]), markers.position, None)
    with pytest.raises(InputError) as refused:
        write_trc(tmp_path / "copy.trc", tabbed)
    assert "rename" in (refused.value.remedy or "")


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ('"walk.trc"', r'"data\walk.trc"', 'markers = "data/walk.trc"'),
        ('"walk.trc"', r'"C:\\Users\walk.trc"', 'markers = "C:/Users/walk.trc"'),
        ('"walk.trc"', r'"new\table.trc"', "write / instead of \\"),  # a tab in TOML
        ('"walk.trc"', r"'data\walk.trc'", "write / instead of \\"),
        ("[mapping]", "[mapping]\nFüße = 1", 'in quotes: "Füße"'),
        ("[mapping]", "[mapping]\nright heel = 1", 'in quotes: "right heel"'),
        ("[mapping]", "[mapping]\nheel == 1", "correct 'heel == 1'"),
        ("[subject]\n", "", "move them below [subject]; where it is missing, write it above them"),
        ("[subject]\n", 'markers = "walk.trc"\n[subject]\n', "move them below [files]"),
        ('sex = "male"\n', "", 'add a line sex = "female", or sex = "male"'),
    ],
)
def test_lines_of_a_trial_file(tmp_path: Path, old: str, new: str, named: str) -> None:
    text = Path(reference_stride()).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "trial.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_trial(tmp_path / "trial.toml")
    assert named in (refused.value.remedy or "")
