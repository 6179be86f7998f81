"""A part of a stride of a sound walk on plates has no finding that the whole walk contradicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from recorded_data import recorded

from benchmarks.sound_models import FACTS, findings, walk, walks
from musclesolve.files import Table


@pytest.mark.parametrize(
    ("name", "first", "seconds"),
    [
        ("before reduction", 0.42, 0.8),
        ("before reduction", 0.38, 1.0),
        ("overground", 0.69, 1.0),
        ("overground", 1.77, 0.6),
        ("service", 0.0, 0.4),
        ("reduced", 0.3, 1.3),  # 0.44 s of two steps show no way of the pressure
        ("reduced", 1.4, 0.4),  # at 1 000 Hz few frames are no time, and less than a stride shows no belt
        ("knee", 0.0, 0.6),  # its first frame is not balanced, as accelerations at ends are wrong
        ("service DJ1", 0.41, 0.8),
    ],
)
def test_a_window_accuses_no_foot_and_no_plate(
    name: str, first: float, seconds: float, tmp_path: Path
) -> None:
    recorded("foreign_recordings")
    case = walk(walks(recorded("rajagopal_walk").parent, tmp_path)[name])

    def part(table: Table) -> Table:
        kept = (table.time >= first - 1e-9) & (table.time <= first + seconds + 1e-9)
        return replace(table, time=table.time[kept], values=table.values[kept])

    said = {each.code for each in findings(replace(case, coordinates=part(case.coordinates)))}
    assert said <= set(FACTS.get(name, {}))


def test_a_push_off_alone_is_no_foot_above_its_plate(tmp_path: Path) -> None:
    """Of the walk with reduced residuals the left foot leaves its plate 0.1 s after the beginning of this part."""
    recorded("foreign_recordings")
    case = walk(walks(recorded("rajagopal_walk").parent, tmp_path)["reduced"])
    kept = (case.coordinates.time >= 0.7) & (case.coordinates.time <= 1.1)
    table = replace(case.coordinates, time=case.coordinates.time[kept], values=case.coordinates.values[kept])
    assert not {"foot_height", "foot_slides"} & {
        each.code for each in findings(replace(case, coordinates=table))
    }
