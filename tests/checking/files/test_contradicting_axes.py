"""Stated axes that contradict each other are one error: the body shows the axes with which the rest is examined."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from examined import examined

from musclesolve.data import reference_stride
from musclesolve.synthetic.trial_copy import open_copy, write_copy

STRIDE = reference_stride()


@pytest.mark.parametrize("trunk", [True, False], ids=["trunk", "legs"])
@pytest.mark.parametrize(("up", "forward"), [("+y", "-y"), ("+x", "+x"), ("+z", "-z")])
def test_contradicting_axes_are_one_error(up: str, forward: str, trunk: bool, tmp_path: Path) -> None:
    copy = open_copy(STRIDE)
    stated = copy.settings.laboratory
    file = write_copy(copy, tmp_path)
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
