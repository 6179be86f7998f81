"""A standing trial in other axes than the motion: drafted, checked, and the proposed lines applied."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from drafted_folders import OWN, drafted, largest_difference, recordings, table
from refusals import refused

from musclesolve import check, read_trial
from musclesolve.laboratory import read_markers
from musclesolve.laboratory.draft.draft_folder import draft_folder
from musclesolve.laboratory.recording.axes import global_from_laboratory
from musclesolve.tables import write_trc

AXES = [("+x", "+y"), ("-y", "+x"), ("+z", "-x")]


def turned(folder: Path, forward: str, up: str) -> Path:
    """A recording with z up whose standing trial has other axes."""
    recordings(folder, own=True, forward="+x", up="+z")
    static = read_markers(folder / "static.trc")
    rotation = global_from_laboratory(forward, up).T
    write_trc(folder / "static.trc", replace(static, position=static.position @ rotation.T), decimals=6)
    return folder


@pytest.mark.in_part(3)
@pytest.mark.parametrize(("forward", "up"), AXES)
def test_the_draft_states_them_and_gives_the_moments_of_one_set_of_axes(
    forward: str, up: str, tmp_path: Path
) -> None:
    recordings(tmp_path / "plain", own=True, forward="+x", up="+z")
    folder = turned(tmp_path / "turned", forward, up)
    draft = draft_folder(folder)
    assert table(draft, "laboratory") == {
        "forward": "+x", "up": "+z", "static_forward": forward, "static_up": up
    }  # fmt: skip
    path = drafted(folder)
    assert check(path).ok
    assert any(f"forward {forward}, up {up}" in note for note in read_trial(path).notes)
    assert largest_difference(path, tmp_path / "plain" / OWN) < 0.25


@pytest.mark.in_part(3)
@pytest.mark.parametrize(("forward", "up"), AXES)
def test_check_proposes_lines_that_mend_it(forward: str, up: str, tmp_path: Path) -> None:
    path = turned(tmp_path, forward, up) / OWN
    (found,) = [finding for finding in check(path).findings if finding.severity == "error"]
    assert found.code == "up_axis"
    lines = f'static_up = "{up}" and static_forward = "{forward}"'
    assert lines in found.remedy
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("[laboratory]\n", "[laboratory]\n" + lines.replace(" and ", "\n") + "\n"))
    assert check(path).ok


def test_wrong_axes_of_the_motion_leave_a_standing_trial_with_its_own_alone(tmp_path: Path) -> None:
    path = turned(tmp_path, "+x", "+y") / OWN
    text = path.read_text(encoding="utf-8").replace('up = "+z"', 'up = "+y"')
    own = '[laboratory]\nstatic_up = "+y"\nstatic_forward = "+x"\n'
    path.write_text(text.replace("[laboratory]\n", own), encoding="utf-8")
    errors = [finding for finding in check(path).findings if finding.severity == "error"]
    assert [finding.code for finding in errors] == ["up_axis"] and 'up = "+z"' in errors[0].remedy


def test_one_axis_twice_is_refused_and_found(tmp_path: Path) -> None:
    path = turned(tmp_path, "+x", "+y") / OWN
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("[laboratory]\n", '[laboratory]\nstatic_up = "+x"\n'), encoding="utf-8")
    with refused("bad_axes", "[laboratory] static_up"):
        read_trial(path)
    assert "trial_file" in check(path).codes
