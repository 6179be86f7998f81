"""Each marker is left out once, predictions do not know it, and the least of a column is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import musclesolve as ms
from benchmarks.smoothness import folds, least, smoothness

LEG = Path(__file__).parents[2] / "examples" / "opensim_model" / "leg.osim"
PLACES = {
    "thigh": ("femur_r", (0.05, -0.1, 0.0)),
    "knee": ("femur_r", (0.05, -0.35, 0.02)),
    "shank": ("tibia_r", (0.04, -0.35, 0.02)),
    "toe": ("foot_r", (0.15, -0.02, 0.0)),
}


@pytest.fixture(scope="module")
def swing():
    """A swing of a leg with 2 mm of noise on its markers, and its true markers."""
    body, time = ms.symbolic.skeleton(ms.read_osim(LEG)), 0.02 * np.arange(24)
    phase = 2.0 * np.pi * 1.5 * time
    angles = np.stack(
        [0.3 + 0.3 * np.sin(phase), -0.6 - 0.3 * np.sin(phase + 1.0), 0.1 * np.sin(phase)], axis=1
    )
    position = body.markers(PLACES)
    true = np.stack([np.array(position(pose)).T for pose in angles])
    noise = 0.002 * np.random.default_rng(1).normal(size=true.shape)
    return body, time, true, true + noise


def test_every_marker_of_the_inner_frames_is_left_out_once() -> None:
    ways = folds(0.02 * np.arange(60), 3)
    assert list(ways) == ["single", "100 ms", "170 ms"]
    for fold in ways.values():
        assert (fold[:8] == -1).all() and (fold[-8:] == -1).all()
        assert set(fold[8:-8].ravel().tolist()) == {0, 1, 2, 3}
    assert (np.diff(ways["single"][8:-8], axis=0) % 4 == 1).all()  # no marker in two frames of a fold in turn
    assert (np.ptp(ways["100 ms"], axis=1) == 0).all() and (ways["100 ms"][10:15] == 2).all()


def test_errors_are_those_of_programs_that_lack_the_markers(swing) -> None:
    body, time, _, measured = swing
    program = ms.symbolic.motion_program(body, time, PLACES, measured)
    fold = folds(time, len(PLACES), slice(4, -4))["single"]
    (row,) = smoothness(program, [1000.0], {"single": fold}, program.nearest_poses())
    weights, squares = ms.symbolic.MotionWeights(jerk=1000.0), 0.0
    for k in range(4):
        hidden = np.where((fold == k)[..., None], np.nan, measured)
        found = ms.symbolic.motion_program(body, time, PLACES, hidden).solve(weights)
        squares += np.square(found.markers - measured)[fold == k].sum()
    assert row.missed["single"] == pytest.approx(np.sqrt(squares / (3 * (fold >= 0).sum())), rel=1e-5)
    assert row.jerk == 1000.0 and row.motion.converged


def test_white_noise_of_single_frames_contradicts_both_a_stiff_and_a_loose_motion(swing) -> None:
    """The least error is within the range of jerks, and at least the noise of the markers themselves."""
    body, time, _, measured = swing
    program = ms.symbolic.motion_program(body, time, PLACES, measured)
    ways = {"single": folds(time, len(PLACES), slice(4, -4))["single"]}
    rows = list(smoothness(program, [1e5, 1e3, 3.0], ways, program.nearest_poses()))
    loose, right, stiff = (row.missed["single"] for row in rows)
    assert 0.0015 < right < loose and right < 0.5 * stiff


def test_the_least_of_a_column() -> None:
    jerks = [3200.0, 800.0, 200.0, 100.0]
    curve = [np.log(jerk / 500.0) ** 2 for jerk in jerks]
    assert least(jerks, curve) == "500"
    assert (least(jerks, jerks), least(jerks, [-jerk for jerk in jerks])) == ("< 100", "> 3200")
