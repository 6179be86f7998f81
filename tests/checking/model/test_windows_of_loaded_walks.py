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
