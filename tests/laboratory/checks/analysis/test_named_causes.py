"""`run` refuses a recording with the error that `check` reports first; the refusal of an argument stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from trial_copy import TrialCopy

import musclesolve as ms


def other_axis_up(copy: TrialCopy) -> None:
    copy.set_key("laboratory", "up", '"+y"')


def in_another_unit(copy: TrialCopy) -> None:
    copy.put(0.001 * copy.walk.position)


@pytest.mark.parametrize("change", [other_axis_up, in_another_unit])
def test_run_names_the_cause_that_check_names(change: Callable[[TrialCopy], None], tmp_path: Path) -> None:
    copy = TrialCopy()
    change(copy)
    trial = copy.write(tmp_path)
    first = ms.check(trial).findings[0]
    with pytest.raises(ms.InputError) as refused:
        ms.run(trial)
    assert first.severity == "error"
    assert refused.value.problem.startswith(first.what.partition(" (expected")[0])
    assert refused.value.remedy == first.remedy


def test_the_refusal_of_an_argument_stays(tmp_path: Path) -> None:
    copy = TrialCopy()
    copy.set_key("subject", "mass_kg", "140.0")
    trial = copy.write(tmp_path)
    assert "mass" in ms.check(trial).codes
    with pytest.raises(ms.InputError, match="side"):
        ms.run(trial, side="right")
