"""The findings of the checks do not depend on the direction in which the subject walks in the laboratory."""

from __future__ import annotations

from pathlib import Path

from examined import examined

from musclesolve.studies import synthetic_recording


def test_a_quarter_turn_and_a_walk_back_are_a_warning(tmp_path: Path) -> None:
    for heading, name in ((90.0, '"+y"'), (-170.0, '"-x"')):
        folder = tmp_path / name[2]
        report = examined(synthetic_recording(folder, truth=False, force_rate_hz=300.0, heading_deg=heading))
        (found,) = [f for f in report.findings if f.severity != "note"]
        assert (found.code, found.severity) == ("walking_direction", "warning")
        assert f"forward = {name}" in found.remedy
