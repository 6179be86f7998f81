"""The cut-off of a model's coordinates where the body is in flight."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded_data import recorded

import musclesolve as ms
from musclesolve.laboratory.results.finding import stored_findings


@pytest.fixture(scope="module")
def service() -> Path:
    return recorded("addbiomechanics/opencap_subject")


def cutoff_findings(service: Path, trial: str, **options: float) -> list[str]:
    result = ms.share_model(
        service / "Models" / "final.osim",
        service / "IK" / f"{trial}_ik.mot",
        loads=service / "ID" / f"{trial}_grf.mot",
        side="r",
        **options,
    )
    found = [each for each in stored_findings(result.attrs["findings"]) if each.code == "cutoff"]
    return [f"{each.what} {each.remedy} {each.where}" for each in found]


@pytest.mark.thorough
def test_a_jump_is_not_filtered_as_a_walk_and_the_remedy_works(service: Path) -> None:
    (said,) = cutoff_findings(service, "DJ1")
    assert "6 Hz" in said and "--cutoff-hz 15" in said and "2 flights" in said
    assert cutoff_findings(service, "DJ1", cutoff_hz=15.0) == []


def test_a_walk_has_no_flight(service: Path) -> None:
    assert cutoff_findings(service, "walking2") == []


@pytest.mark.parametrize(("cutoff", "effect"), [(40.0, "leaves noise"), (2.0, "takes away part")])
def test_a_cut_off_that_suits_no_walk_is_named(service: Path, cutoff: float, effect: str) -> None:
    (said,) = cutoff_findings(service, "walking2", cutoff_hz=cutoff)
    assert effect in said and "3 to 16 Hz" in said
