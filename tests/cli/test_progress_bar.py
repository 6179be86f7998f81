"""The progress bar shows the time left, of the part of the work that is going on."""

from __future__ import annotations

import io

from rich.console import Console

from musclesolve.cli.printing import mode, progress


def shown(steps: list[float], seconds: float) -> str:
    """Return the text on a terminal at the last of several steps that take so many seconds each."""
    clock = {"time": 0.0}
    out = Console(file=io.StringIO(), force_terminal=True, width=100, get_time=lambda: clock["time"])
    with progress(out) as report:
        for step in steps:
            clock["time"] += seconds
            report("muscle forces", step)
        out.file.truncate(0)
        report("muscle forces", steps[-1])
        clock["time"] += 1.0  # the speed of the estimate is refreshed every half second
        report("muscle forces", steps[-1])
    return out.file.getvalue()


def test_a_quarter_done_in_ten_seconds_leaves_thirty():
    text = shown([0.05, 0.10, 0.15, 0.20, 0.25], 2.0)
    assert "25%" in text and "left" in text
    seconds = int(text.rpartition("0:00:")[2][:2])
    assert 27 <= seconds <= 33


def test_another_part_of_the_work_begins_anew():
    text = shown([0.5, 1.0, 0.0, 0.1, 0.2], 4.0)
    seconds = int(text.rpartition("0:00:")[2][:2])
    assert 28 <= seconds <= 36  # a finished bar would have none left


def test_quiet_has_no_bar(monkeypatch):
    monkeypatch.setattr(mode, "quiet", True)
    assert shown([0.5], 1.0) == ""
