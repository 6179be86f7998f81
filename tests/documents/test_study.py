"""docs/study.md names every key of a study file with its default; its examples run, those of its statistics too."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import tomllib

import matplotlib
import numpy as np
import pytest
from document_pages import DOCS, ROOT, blocks
from synthetic_study import bump, cycles, smooth

import musclesolve as ms
from musclesolve.laboratory.recording.file_settings import (
    DesignSettings,
    SubjectLineSettings,
    TrialLineSettings,
)
from musclesolve.studies.study.study_file import unit_settings
from musclesolve.tables.settings import settings_of

PAGE = DOCS / "study.md"
TEXT = PAGE.read_text(encoding="utf-8")


def rows() -> dict[str, list[str]]:
    """Key -> the other cells of its row, of all tables; several keys may share a row."""
    found = {}
    for row in re.findall(r"^\| (`.*) \|$", TEXT, flags=re.MULTILINE):
        first, *others = (cell.strip() for cell in row.split("|"))
        found |= {key: others for key in re.findall(r"`([\w.]+)`", first)}
    return found


@pytest.mark.parametrize("table", [DesignSettings, unit_settings(), SubjectLineSettings, TrialLineSettings])
def test_every_key_has_a_row_with_its_default_and_choices(table):
    for key, rule in settings_of(table).items():
        cells = " ".join(rows()[key])
        for value in (rule.default, *(rule.choices or ())):
            assert not value or str(value) in cells, (key, value)


def test_the_example_is_a_study_file(tmp_path):
    (example,), (lines,) = blocks(PAGE, "toml"), blocks(PAGE, "csv")
    (tmp_path / tomllib.loads(example)["trials"]).write_text(lines, encoding="utf-8")
    (tmp_path / "study.toml").write_text(example, encoding="utf-8")
    study = ms.studies.read_study(tmp_path / "study.toml")
    assert [trial.name for trial in study.included] == [
        "S01_slow_1",
        "S02_slow_1",
        "S02_fast_1",
        "S02_fast_2",
    ]


def test_from_python(tmp_path, capsys):
    """On a study of one trial."""
    file = ROOT / "examples" / "study" / "make_study.py"
    spec = importlib.util.spec_from_file_location("make_study", file)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    masses = made.write_trials(tmp_path, 1, 1)
    made.write_study(tmp_path, masses)
    lines = (tmp_path / "trials.csv").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if "S01_loaded" not in line]
    (tmp_path / "trials.csv").write_text("\n".join(kept), encoding="utf-8")
    (block,) = (block for block in blocks(PAGE, "python") if "read_study" in block)
    names: dict = {"__name__": "__main__"}
    with contextlib.chdir(tmp_path):
        exec(compile(block.replace("jobs=4", "jobs=1"), PAGE.name, "exec"), names)
        names["cycles"].close()
    assert names["moments"].sizes["cycle"] == 1
    assert capsys.readouterr().out.startswith("computed {} ")


def test_statistics_on_curves(tmp_path, capsys):
    """On angles and moments of which the moments differ between two conditions."""
    matplotlib.use("agg")
    curves = smooth(np.random.default_rng(0), 8, 2, 2)
    curves[:, 1, 0] += 6.0 * bump(50.0)
    moments = cycles(curves, conditions=["slow", "fast"])
    both = moments.assign(joint_angle=moments["joint_moment"].assign_attrs(units="rad"))
    names: dict = {"cycles": both}
    (block,) = (block for block in blocks(PAGE, "python") if "compare_curves" in block)
    with contextlib.chdir(tmp_path):
        exec(compile(block, PAGE.name, "exec"), names)
    assert names["found"].sizes["cluster"] >= 1 and "paired t test" in capsys.readouterr().out
    assert (tmp_path / "comparisons.csv").is_file() and (tmp_path / "joint_angle.pdf").is_file()
