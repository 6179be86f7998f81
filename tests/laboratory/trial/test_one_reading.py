"""One reading of a trial: what keeps it from being read strictly is what the collected faults begin with."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.errors import InputError
from musclesolve.laboratory.bodies.run_options import read_in_time_range
from musclesolve.laboratory.checks.case import load
from musclesolve.laboratory.files.formats import Faults
from musclesolve.laboratory.trial.trial_file import ModelTrial, TrialReader
from musclesolve.tables import document as schema
from musclesolve.tables import read_mot, read_trc
from musclesolve.tables.text_file import read_settings

FAULTS = {
    "subject": ("mass_kg = 70.25", "mass_kg = 70250"),
    "axes": ('up = "+z"', 'up = "-x"'),
    "motion": ('"walk.trc"', '"nowhere.trc"'),
    "standing": ('"static.trc"', '"nowhere.trc"'),
    "marker": ('asis_r = "asis_r"', 'asis_r = "nowhere"'),
    "weights": ('asis_r = "asis_r"', "asis_r = { weights = { asis_r = 0.3 } }"),
    "time": ("end_s = 1.38333333", "end_s = 9.0"),
    "filter": ("cutoff_hz = 15", 'cutoff_hz = "cross_validation"'),
    "segment": ("[laboratory]", "[subject.segments.wing]\nmass_kg = 2.0\n\n[laboratory]"),
    "plate": ("[filter]", "[plates]\nvertical_gain = { 7 = 1.1 }\n\n[filter]"),
    "events": ("[filter]", "[events]\nheel_strike_r = [99.0]\n\n[filter]"),
}


def changed(folder: Path, old: str = "", new: str = "") -> Path:
    for file in reference_stride().parent.iterdir():
        shutil.copy(file, folder)
    path = folder / "trial.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize("name", FAULTS)
def test_the_first_fault_is_raised_or_collected(tmp_path, name):
    path = changed(tmp_path, *FAULTS[name])
    with pytest.raises(InputError) as refused:
        read_trial(path)
    case, findings = load(path)
    assert findings[0].what.startswith(refused.value.problem)
    assert (case is None) == (name == "motion")


def test_a_sound_trial_is_read_alike(tmp_path):
    path = changed(tmp_path)
    strict, (case, findings) = read_trial(path), load(path)
    assert case is not None and not findings
    np.testing.assert_array_equal(case.trial.markers.position, strict.markers.position)
    assert case.trial.mapping == strict.mapping and case.trial.files == strict.files


def test_faults_of_several_stages_are_collected_together(tmp_path):
    path = changed(tmp_path, *FAULTS["marker"])
    for old, new in (FAULTS["time"], FAULTS["filter"]):
        path.write_text(path.read_text().replace(old, new))
    assert {finding.code for finding in load(path)[1]} == {"mapping", "time_range", "trial_file"}


def test_what_stands_in_for_a_part_at_fault():
    def fails() -> int:
        raise InputError("it is wrong", code="bad_value")

    with pytest.raises(InputError):
        Faults().attempt("mapping", 0, fails)
    faults = Faults(collects=True)
    assert faults.attempt("mapping", 7, fails) == 7
    assert [(stage, str(error)) for stage, error in faults.found] == [("mapping", "it is wrong")]


@pytest.mark.parametrize(("file", "reader"), [("walk.trc", read_trc), ("forces.mot", read_mot)])
def test_a_repeated_row_is_left_out(tmp_path, file, reader):
    path = changed(tmp_path).with_name(file)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:60], lines[59], *lines[60:]]))
    repaired = Faults().rows(path, reader)
    assert [
        note
        for note in repaired.notes
        if "repeats rows of the same time, which are left out: line 61" in note
    ]
    whole = reader(reference_stride().with_name(file))
    np.testing.assert_array_equal(repaired.time, whole.time)


@pytest.mark.parametrize("order", [slice(None, None, -1), [*range(30), 31, 30, *range(32, 102)]])
def test_rows_out_of_order_are_examined_in_the_order_of_their_times(tmp_path, order):
    path = changed(tmp_path).with_name("walk.trc")
    whole, lines = read_trc(path), path.read_text().splitlines(keepends=True)
    rows = np.array(lines[-whole.time.size :])
    path.write_text("".join([*lines[: -whole.time.size], *rows[order]]))
    faults = Faults(collects=True)
    repaired = faults.rows(path, read_trc)
    assert [name for name, _ in faults.found] == ["repeated_times"]
    np.testing.assert_array_equal(repaired.time, whole.time)
    np.testing.assert_array_equal(repaired.position, whole.position)


@pytest.mark.parametrize("of_model", [False, True])
def test_the_text_of_a_trial_file_is_read_once(tmp_path, monkeypatch, of_model):
    path, read = changed(tmp_path), list[Path]()
    if of_model:
        (tmp_path / "any.osim").touch()
        path.write_text('[files]\nmodel = "any.osim"\ncoordinates = "walk.trc"\nmoments = "walk.trc"\n')
    monkeypatch.setattr(
        schema, "read_settings", lambda file, kind: read.append(file) or read_settings(file, kind)
    )
    assert isinstance(read_trial(path), ModelTrial) == of_model
    assert read == [path]


def test_a_trial_in_another_time_range_is_read_once(monkeypatch, tmp_path):
    path, readings, read = changed(tmp_path), [], TrialReader.trial
    monkeypatch.setattr(TrialReader, "trial", lambda self: readings.append(1) or read(self))
    trial, others = read_in_time_range(path, {"start_s": 0.5, "end_s": None, "cutoff_hz": 8.0})
    assert trial.time_range[0] == 0.5 and others == {"end_s": None, "cutoff_hz": 8.0}
    assert len(readings) == 1 and not trial.as_read
