"""The judgement of a result in Python is that of the commands."""

from __future__ import annotations

import pytest
from recorded_data import recorded
from refusals import refused

import musclesolve as ms

FILES = (
    "rajagopal_walk/reference/rajagopal_lai_uhlrich_2023_scaled.osim",
    "rajagopal_walk/reference/opensim_ik.mot",
    "foreign_recordings/opensim_rra/task_InverseDynamics.sto",
)


def test_moments_of_another_person_are_an_error_of_the_result() -> None:
    result = ms.share_model(*map(recorded, FILES), end_s=0.8)
    judgement = ms.laboratory.judge_result(result)
    assert judgement.verdict == "not_usable" and not judgement.usable
    (error,) = judgement.of("error")
    assert error.code == "moments_differ" and str(error) in str(judgement)
    assert str(judgement).endswith(judgement.sentence) and "Not usable" in judgement.sentence


@pytest.mark.parametrize("odd", [None, "walk/result.nc", 3.0])
def test_what_is_no_result_is_refused(odd: object) -> None:
    with refused("bad_type", "ms.read_result"):
        ms.laboratory.judge_result(odd)  # type: ignore[arg-type]
