"""Stated axes that contradict each other are one error: the body shows the axes with which the rest is examined."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from examined import examined
from trial_copy import TrialCopy

from musclesolve.data import reference_stride

STRIDE = reference_stride()


@pytest.mark.parametrize("trunk", [True, False], ids=["trunk", "legs"])
@pytest.mark.parametrize(("up", "forward"), [("+y", "-y"), ("+x", "+x"), ("+z", "-z"), ("-z", "+z")])
def test_contradicting_axes_are_one_error(up: str, forward: str, trunk: bool, tmp_path: Path) -> None:
    copy = TrialCopy()
    stated = copy.settings.laboratory
    file = copy.write(tmp_path)
    text = file.read_text(encoding="utf-8")
    for name, axis in (("up", up), ("forward", forward)):
        text = re.sub(rf'(?m)^{name} = "[+-][xyz]"', f'{name} = "{axis}"', text)
    if not trunk:
        text = re.sub(r"(?m)^(shoulder|elbow|wrist|hand|neck|head)\w* = .*\n", "", text)
    file.write_text(text, encoding="utf-8")
    report = examined(file)
    (error,) = report.of("error")
    assert f"forward is {forward} and up is {up}" in error.what
    assert not report.of("warning"), str(report)
    if up != stated.up:
        assert any(
            f"along {stated.up} of the files" in f.what for f in report.of("note") if f.code == "up_axis"
        )


@pytest.mark.parametrize("on_plates", [False, True], ids=["on feet", "on plates"])
@pytest.mark.parametrize("trunk", [True, False])
@pytest.mark.parametrize("forward", ["+x", "-x"])
def test_an_upward_axis_that_points_down_is_one_error(
    forward: str, trunk: bool, on_plates: bool, tmp_path: Path
) -> None:
    """Whether a file has the forces on feet or on plates: their points lie under the feet in these axes, too."""
    copy = TrialCopy()
    for plate in copy.plates() if on_plates else ():
        for role in ("force", "moment"):
            copy.set_plate(plate, role, -copy.plate(plate, role))
    copy.set_key("laboratory", "up", '"-z"')
    copy.set_key("laboratory", "forward", f'"{forward}"')
    copy.lines = [line for line in copy.lines if trunk or not line.startswith(("shoulder", "elbow", "wrist"))]
    report = copy.examined(tmp_path)
    (error,) = report.of("error")
    assert error.code == "up_axis" and 'up = "+z"' in error.remedy
    assert not report.of("warning"), str(report)
