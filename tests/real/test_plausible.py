"""Recognition of recordings, and the findings about them, on real data."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded_data import recorded
from said import plausible

import musclesolve as ms
from musclesolve.laboratory import Trial
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.plausibility import AT_EDGE, plausibility


@pytest.fixture(scope="module")
def service() -> Path:
    return recorded("addbiomechanics/opencap_subject")


def test_the_recorded_walk(default_walk_trial: Trial) -> None:
    """Its plates carry the mass that was weighed; a hip beyond its range by its own uncertainty is at the edge."""
    facts = Facts(ms.run(default_walk_trial))
    judged = plausibility(facts)
    assert judged.movement.name == "walking" and judged.movement.speed == pytest.approx(1.24, abs=0.01)
    assert facts.mass_carried == pytest.approx(85.07, rel=0.01)
    passed = {
        (each.criterion, each.side): each.passed for each in judged.comparisons if each.criterion != "contact"
    }
    assert passed["mass", ""] and passed["residual", ""] and passed["emg", ""]
    above = {peak.side for peak in facts.contact_peaks if peak.stem == "hip" and peak.body_weights > 4.805}
    assert {each.side for each in judged.at_edge if each.criterion == "contact"} == above
    assert any(each.criterion == "residual" for each in judged.at_edge) and not judged.failed
    assert judged.verdict == AT_EDGE


@pytest.mark.parametrize("walk", ["ss1", "ss9"])
def test_the_walks_with_an_instrumented_knee(instrumented_knee: Path, walk: str) -> None:
    """Their plates carry 83 kg, as is known of these recordings, and the body has 75."""
    result = ms.run(instrumented_knee / f"walk_{walk}.toml")
    assert result["plausible"].attrs["movement"] == "walking"
    assert Facts(result).mass_carried == pytest.approx(83.5, abs=0.5)
    assert "the ground bears 83." in result["plausible"].attrs["reason"]


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("trial", "movement"), [("walking2", "walking"), ("walking3", "walking"), ("DJ1", "jump")]
)
def test_movements_of_an_opensim_model(service: Path, trial: str, movement: str) -> None:
    result = ms.share_model(
        service / "Models" / "final.osim",
        service / "IK" / f"{trial}_ik.mot",
        loads=service / "ID" / f"{trial}_grf.mot",
    )
    assert result["plausible"].attrs["movement"] == movement
    stated = {"side": "r", "movement": "other"}
    one = ms.share_model(
        service / "Models" / "final.osim",
        service / "IK" / f"{trial}_ik.mot",
        loads=service / "ID" / f"{trial}_grf.mot",
        **stated,
    )
    assert one["plausible"].attrs["movement"] == "other"
    assert "no contact forces were measured in another movement" in plausible(one).why_not_known
