"""The findings of the checks do not depend on the direction in which the subject walks in the laboratory."""

from __future__ import annotations

from pathlib import Path

import pytest
from examined import examined
from thorough import some

from musclesolve.studies import synthetic_recording
from musclesolve.studies.synthetic import faults, plant

HEADINGS = {"oblique": {"heading_deg": 35.0}, "curve": {"heading_deg": -25.0, "turn_deg": 50.0, "strides": 2}}
FAULTS = (
    "forces_early_30ms",
    "plate_turned",
    "pressure_runs_backward",
    "heel_and_toe_exchanged",
    "sides_swapped",
    "mass_wrong",
)


@pytest.fixture(scope="module", params=HEADINGS)
def walked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    options = HEADINGS[request.param]
    return synthetic_recording(
        tmp_path_factory.mktemp(request.param), truth=False, force_rate_hz=300.0, **options
    )


@pytest.mark.in_part(2)
@pytest.mark.parametrize("name", some(FAULTS, 3))
def test_faults_are_found_whichever_way_the_subject_walks(walked: Path, name: str, tmp_path: Path) -> None:
    report = examined(plant(name, walked, tmp_path))
    assert report.findings[0].code == faults()[name].code, str(report)


def test_a_quarter_turn_and_a_walk_back_are_a_warning(tmp_path: Path) -> None:
    for heading, name in ((90.0, '"+y"'), (-170.0, '"-x"')):
        folder = tmp_path / name[2]
        report = examined(synthetic_recording(folder, truth=False, force_rate_hz=300.0, heading_deg=heading))
        (found,) = [f for f in report.findings if f.severity != "note"]
        assert (found.code, found.severity) == ("walking_direction", "warning")
        assert f"forward = {name}" in found.remedy
