"""A motion recorded from one side, as programs for video of one camera write it: all markers in one plane."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from examined import examined
from synthetic_trial import write_trial

from musclesolve import read_trial
from musclesolve.laboratory.trial.recording_checks import is_plane
from musclesolve.tables import read_trc, write_trc
from tests.support.refusals import refused


def test_the_plane_is_the_refusal(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    for name in ("walk.trc", "static.trc"):
        markers = read_trc(tmp_path / name)
        write_trc(tmp_path / name, replace(markers, position=markers.position * [1.0, 1.0, 0.0]))
    with refused("markers_in_plane", "walk.trc"):
        read_trial(path)
    assert "one plane" in examined(path).of("error")[0].what


def test_who_walks_far_has_a_breadth(tmp_path: Path) -> None:
    """Half a kilometer is a thousand times the breadth of a body."""
    write_trial(tmp_path)
    markers = read_trc(tmp_path / "walk.trc")
    moved = markers.position.copy()
    moved[..., 0] += np.linspace(0.0, 3000.0, len(moved))[:, None]
    assert not is_plane(replace(markers, position=moved))
    assert is_plane(replace(markers, position=moved * [1.0, 1.0, 0.0]))
