"""`run` refuses a recording with the error that `check` reports first; the refusal of an argument stays."""

from __future__ import annotations

from pathlib import Path

import pytest

import musclesolve as ms
from musclesolve.studies.synthetic import plant


@pytest.mark.parametrize("fault", ["plates_swapped", "sides_swapped", "up_axis_wrong"])
def test_run_names_the_cause_that_check_names(fault: str, tmp_path: Path) -> None:
    trial = plant(fault, ms.data.reference_stride(), tmp_path)
    first = ms.check(trial).findings[0]
    with pytest.raises(ms.InputError) as refused:
        ms.run(trial)
    assert first.severity == "error"
    assert refused.value.problem.startswith(first.what.partition(" (expected")[0])
    assert refused.value.remedy == first.remedy


def test_the_refusal_of_an_argument_stays(tmp_path: Path) -> None:
    trial = plant("plates_swapped", ms.data.reference_stride(), tmp_path)
    with pytest.raises(ms.InputError, match="side"):
        ms.run(trial, side="right")
