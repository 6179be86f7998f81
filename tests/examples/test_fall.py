"""What the example of a fall prints is what falling is like."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "fall.py"


@pytest.fixture(scope="module")
def printed():
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        runpy.run_path(str(SCRIPT), run_name="__main__")
    return text.getvalue()


def test_the_knees_meet_the_floor_before_the_head(printed):
    pattern = "{} +meets the floor after ([0-9.]+) s"
    knee, head = (float(re.search(pattern.format(name), printed)[1]) for name in ("knee_r", "head"))
    assert 0.3 < knee < head < 1.5


def test_the_balance_closes_and_the_floor_carries_the_weight(printed):
    assert float(re.search(r"([\d.]+) J unaccounted for", printed)[1]) < 0.01
    assert re.search(r"carries 1\.0\d body weights|carries 0\.9[89] body weights", printed)
