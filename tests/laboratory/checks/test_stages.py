"""Checks only detect, and their order does not matter."""

from __future__ import annotations

from pathlib import Path

import pytest

import musclesolve
from musclesolve.laboratory.checks.case import Check, Stage, examine, load, replace_fields
from musclesolve.laboratory.checks.check import all_checks
from musclesolve.laboratory.results.finding import Finding

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"


def test_every_fault_is_looked_for_at_some_stage() -> None:
    assert {check.stage for check in all_checks()} == set(Stage)
    assert len({(check.detect.__name__, check.stage) for check in all_checks()}) == len(all_checks())


def test_a_repair_is_seen_by_later_stages_alone() -> None:
    """A check of the same stage, whichever comes first, sees the recording as it was."""
    case, _ = load(STRIDE)
    assert case is not None
    seen: dict[str, float] = {}

    def looker(name: str) -> Check:
        def look(case: object) -> list[Finding]:
            seen[name] = case.trial.time_range[0]  # type: ignore[attr-defined]
            return []

        look.__name__ = name
        return Check(look, Stage.SLIPS if name == "later" else Stage.UNITS)

    def shift(case: object) -> list[Finding]:
        later = case.trial.time_range[0] + 0.1, case.trial.time_range[1]  # type: ignore[attr-defined]
        return [Finding("gap", "note", "moved", "", repair=replace_fields(time_range=later))]

    examine(case, [looker("a"), looker("z"), looker("later"), Check(shift, Stage.UNITS)], {})
    assert seen["a"] == seen["z"] == case.trial.time_range[0]
    assert seen["later"] == pytest.approx(seen["a"] + 0.1)
