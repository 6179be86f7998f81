"""The table [fascicle] of a trial file: what is read, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from examined import examined
from refusals import refused
from synthetic_trial import write_trial
from trial_copy import TrialCopy

from musclesolve import read_trial

TIME = np.arange(0.0, 2.4, 0.02)
LENGTH = 0.05 + 0.01 * np.sin(2.0 * np.pi * TIME)
TABLE = '[fascicle]\nfile = "us.csv"\nunit = "m"\n\n[fascicle.channels]\nGM = "gastrocnemius_medial_r"\n'


def trial_with(folder: Path, length: np.ndarray = LENGTH, text: str = TABLE, start: float = 0.0) -> Path:
    """The synthetic trial with fascicle lengths in the unit of the text; NaN are empty cells."""
    cells = ["" if np.isnan(each) else f"{each:.6f}" for each in length]
    rows = [f"{start + t:.3f},{cell}" for t, cell in zip(TIME, cells, strict=True)]
    (folder / "us.csv").write_text("\n".join(["time,GM", *rows]), encoding="utf-8")
    return write_trial(folder, ("[muscles]\n", f"{text}\n[muscles]\n"))


def read(path: Path):
    fascicles = read_trial(path).fascicles
    assert fascicles is not None
    return fascicles


@pytest.mark.parametrize(("unit", "factor"), [("m", 1.0), ("cm", 100.0), ("mm", 1000.0)])
def test_lengths_are_read_in_their_unit(tmp_path: Path, unit: str, factor: float) -> None:
    text = TABLE.replace('unit = "m"', f'unit = "{unit}"\nerror_mm = 4.5\noffset_s = 0.1')
    path = trial_with(tmp_path, factor * LENGTH, text)
    found = read(path)
    np.testing.assert_allclose(found.length[:, 0], LENGTH, atol=1e-6)
    np.testing.assert_allclose(found.time, TIME + 0.1)
    assert (found.names, found.muscles) == (("GM",), ("gastrocnemius_medial_r",))
    assert found.error == pytest.approx(0.0045)
    assert read_trial(path).files["fascicles"] == tmp_path / "us.csv"


def test_a_trial_without_the_table_has_none(tmp_path: Path) -> None:
    assert read_trial(write_trial(tmp_path)).fascicles is None


def test_gaps_stay_gaps_and_are_noted(tmp_path: Path) -> None:
    path = trial_with(tmp_path, np.where((TIME > 0.5) & (TIME < 0.7), np.nan, LENGTH))
    lost = np.isnan(read(path).length[:, 0])
    assert lost.sum() == 9
    assert any("GM lacks 7.5%" in note and "180 ms" in note for note in read_trial(path).notes)


def test_a_copy_of_a_trial_keeps_them(tmp_path: Path) -> None:
    path = TrialCopy(trial_with(tmp_path)).write(tmp_path / "copy" / "below")
    np.testing.assert_allclose(read(path).length[:, 0], LENGTH, atol=1e-6)


@pytest.mark.parametrize(
    ("old", "new", "code", "parts"),
    [
        ('file = "us.csv"\n', "", "missing_key", ("[fascicle]", "file")),
        ('unit = "m"\n', "", "missing_key", ("[fascicle]", "unit")),
        ('"m"', '"inch"', "bad_value", ("[fascicle] unit", "mm")),
        ("us.csv", "uz.csv", "missing_file", ("uz.csv", "[fascicle] file")),
        ("GM =", "GMM =", "missing_column", ("[fascicle.channels] GMM", "did you mean 'GM'?")),
        ('GM = "', "", "bad_format", ("trial.toml",)),
        ('GM = "gastrocnemius_medial_r"\n', "", "missing_key", ("[fascicle.channels]", "GM =")),
        ('"gastrocnemius_medial_r"', '["a_r", "b_r"]', "bad_value", ("[fascicle]", "of 'GM'")),
        ('unit = "m"', 'unit = "m"\nerror_mm = 0', "bad_value", ("[fascicle] error_mm",)),
        ('unit = "m"', 'unit = "mm"', "bad_units", ("[fascicle] unit", "0.05", 'write unit = "m"')),
        ('unit = "m"', 'unit = "cm"', "bad_units", ("[fascicle] unit", 'write unit = "m"')),
        ('unit = "m"', 'unit = "m"\noffset_s = 30', "no_overlap", ("[fascicle] file", "+30 s", "offset_s")),
    ],
)
def test_what_cannot_be_right_is_refused_with_its_place(
    tmp_path: Path, old: str, new: str, code: str, parts: tuple[str, ...]
) -> None:
    assert old in TABLE
    with refused(code, *parts):
        read_trial(trial_with(tmp_path, text=TABLE.replace(old, new, 1)))


@pytest.mark.parametrize("factor", [100.0, 1000.0])
def test_millimeters_and_centimeters_called_meters(tmp_path: Path, factor: float) -> None:
    fitting = {100.0: '"cm"', 1000.0: '"mm"'}[factor]
    with refused("bad_units", f"{1000.0 * factor * np.median(LENGTH):.4g} mm", fitting):
        read_trial(trial_with(tmp_path, factor * LENGTH))


def test_lengths_of_zero_and_columns_without_numbers(tmp_path: Path) -> None:
    with refused("bad_signal", "[fascicle.channels] GM", "leave cells empty"):
        read_trial(trial_with(tmp_path, np.where(TIME < 0.1, 0.0, LENGTH)))
    with refused("bad_signal", "[fascicle.channels] GM", "no number"):
        read_trial(trial_with(tmp_path, np.full(TIME.size, np.nan)))


def test_times_that_go_back(tmp_path: Path) -> None:
    path = trial_with(tmp_path)
    lines = (tmp_path / "us.csv").read_text(encoding="utf-8").splitlines()
    lines[40], lines[41] = lines[41], lines[40]
    (tmp_path / "us.csv").write_text("\n".join(lines), encoding="utf-8")
    with refused("time_not_increasing", "us.csv", "line 42"):
        read_trial(path)


@pytest.mark.thorough
def test_check_finds_what_a_run_refuses(tmp_path: Path) -> None:
    for length, text, code in (
        (LENGTH, TABLE.replace('unit = "m"', 'unit = "m"\noffset_s = 30'), "fascicle"),
        (LENGTH, TABLE.replace('unit = "m"', 'unit = "mm"'), "fascicle"),
        (0.0 * LENGTH, TABLE, "fascicle"),
    ):
        assert code in [found.code for found in examined(trial_with(tmp_path, length, text)).findings]
    assert "fascicle" not in [found.code for found in examined(trial_with(tmp_path)).findings]


def test_a_column_that_stands_twice_in_the_file(tmp_path: Path) -> None:
    path = trial_with(tmp_path)
    first, *rows = (tmp_path / "us.csv").read_text(encoding="utf-8").splitlines()
    text = "\n".join([f"{first},GM", *(f"{row},0.05" for row in rows)])
    (tmp_path / "us.csv").write_text(text, encoding="utf-8")
    with refused("duplicate_name", "us.csv", "'GM'"):
        read_trial(path)
