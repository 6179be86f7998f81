"""Texts of a trial that only a fuzzer writes, and one that a person does: a pelvis with one PSIS."""

from __future__ import annotations

import pytest
from command_line import typed
from many_trials import write_stride

import muscle_db
from musclesolve import read_trial
from musclesolve.errors import InputError
from musclesolve.studies.many_trials.run_many import find_trials

DEEP = "[" * 3000 + "]" * 3000
TEXTS = {"digits": "a = " + "9" * 5000, "depth": f"a = {DEEP}", "tables": f"a = {'{a=' * 3000}1{'}' * 3000}"}


@pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
def test_numbers_and_nesting_without_end_are_refused_with_the_line(tmp_path, text):
    trial = write_stride(tmp_path, "trial", "[files]", f"{text}\n[files]")
    line = trial.read_text(encoding="utf-8").split("\n").index(text) + 1
    with pytest.raises(InputError, match=f"line {line}"):
        read_trial(trial)
    assert find_trials([tmp_path]) == [trial.resolve()]
    done = typed("check", trial)
    assert done.exit_code == 2 and isinstance(done.exception, SystemExit), done.exception
    with pytest.raises(muscle_db.MuscleDatabaseError, match="not valid TOML"):
        muscle_db.load(trial)


@pytest.mark.parametrize("lost", ["psis_r", "psis_l"])
def test_a_pelvis_with_one_psis_is_placed_by_the_hips(tmp_path, lost):
    trial = write_stride(tmp_path)
    lines = trial.read_text(encoding="utf-8").split("\n")
    trial.write_text("\n".join(line for line in lines if not line.startswith(lost)), encoding="utf-8")
    done = typed("run", trial, "-o", tmp_path / "out", "--no-figures", "--side", "r")
    assert done.exit_code == 0, done.exception
    done = typed("check", trial)
    assert done.exit_code in (0, 2) and isinstance(done.exception, SystemExit | None), done.exception
