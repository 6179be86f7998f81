"""`check FOLDER`: every trial file of a folder in one table, with the exit code of the worst."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager

from command_line import typed
from many_trials import write_stride

from musclesolve.cli.commands import recording_commands


def test_a_folder_without_trial_files_leads_to_init(tmp_path):
    done = typed("check", str(tmp_path), "--json")
    error = json.loads(done.stdout)["error"]
    assert done.exit_code == 2 and error["code"] == "missing_file"
    assert f"musclesolve init {tmp_path}" in error["remedy"]


def test_every_trial_file_has_a_row_and_the_worst_decides(tmp_path):
    stride = write_stride(tmp_path)
    done = typed("check", str(tmp_path), "--json")
    found = json.loads(done.stdout)
    assert done.exit_code == 0 and found["ok"] and found["folder"] == str(tmp_path)
    assert list(found["trials"]) == [stride.name]
    shutil.copy(stride, tmp_path / "bad.toml")
    text = (tmp_path / "bad.toml").read_text(encoding="utf-8")
    (tmp_path / "bad.toml").write_text(text.replace("[files]", "[files]\nnothing = 1", 1), encoding="utf-8")
    done = typed("check", str(tmp_path))
    assert done.exit_code == 2
    assert "bad.toml" in done.stdout and stride.name in done.stdout
    assert "1 of 2 trials has an error: mend it" in " ".join(done.stdout.split())


def test_the_table_is_drawn_when_the_progress_bar_is_gone(tmp_path, monkeypatch):
    drawn = []

    @contextmanager
    def bar():
        drawn.append("bar")
        yield lambda *_: None
        drawn.append("no bar")

    monkeypatch.setattr(recording_commands, "progress", bar)
    monkeypatch.setattr(recording_commands, "print_plain", drawn.append)
    stride = write_stride(tmp_path)
    for place, sentences in ((stride, 2), (tmp_path, 1)):
        assert typed("check", str(place)).exit_code == 0
        assert drawn[:2] == ["bar", "no bar"] and len(drawn) == 2 + sentences
        drawn.clear()


def test_the_verdict_and_its_reason_stand_before_the_findings(tmp_path):
    stride = write_stride(tmp_path)
    text = stride.read_text(encoding="utf-8")
    stride.write_text(text.replace("mass_kg =", "mass_kg = 130 #", 1), encoding="utf-8")
    said = " ".join(typed("check", str(stride)).stdout.split())
    assert said.startswith("Not usable. Do not use the muscle forces: ")
    assert said.count("Do not use the muscle forces") == 1 and "how to fix it" in said


def test_a_folder_with_a_study_alone_is_the_study(tmp_path):
    for subject in ("P1", "P2"):
        (tmp_path / subject).mkdir()
        write_stride(tmp_path / subject)
    assert typed("init", "--study", str(tmp_path)).exit_code == 0
    found = json.loads(typed("check", str(tmp_path), "--json").stdout)
    assert found["ok"] and len(found["trials"]) == 2
