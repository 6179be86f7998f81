"""The initial pose of an occupant from pixels alone: exact without noise, with it as near as the row says."""

from __future__ import annotations

import numpy as np
import pytest
from source_rows import TEXT
from thorough import THOROUGH

from benchmarks.recorded_figures import recorded
from benchmarks.rollover.seating import LABORATORY, cameras, rolled_over, seat
from musclesolve.cameras import ring


def test_without_noise_the_chain_returns_the_pose_that_was_filmed() -> None:
    one = seat("passenger", noise=0.0)
    assert one.raw.max() < 1e-6 and one.off.max() < 1e-5
    assert one.seen.max() == 3  # one camera of four is hidden


def test_with_a_pixel_of_noise_it_is_as_near_as_the_row_says() -> None:
    one = seat("driver")
    points, pose = (1000.0 * float(np.sqrt(np.mean(off**2))) for off in (one.raw, one.off))
    assert f"points come back to {points:.1f} mm, poses to {pose:.1f} mm rms (driver)" in TEXT
    assert pose < points  # lengths of the subject take a part of the noise away
    assert np.abs(LABORATORY).max() > 0.1


@pytest.mark.skipif(not THOROUGH, reason="a whole rollover, twenty seconds; MUSCLESOLVE_TESTS=thorough")
def test_the_rollover_from_the_pose_found_is_as_the_row_says() -> None:
    numbers = rolled_over("driver", seat("driver"))
    typed = recorded()["rollover"]["50th percentile, driver"]
    said = (
        f"HIC {numbers['criterion_15']:.0f} in place of {typed['criterion_15']:.0f}, SI {numbers['severity']:.0f} in "
        f"place of {typed['severity']:.0f}, lap belt {numbers['lap_early']:.1f} and {numbers['lap_late']:.1f} kN"
    )
    assert said in TEXT


def test_calibrated_cameras_see_as_the_true_ones() -> None:
    random = np.random.default_rng(0)
    place = random.uniform((-0.5, -0.5, 0.2), (0.5, 0.5, 1.2), (20, 3))
    for known, true in zip(cameras(random, 0.0), ring(4, 2.5, 1.6, target=(0.0, 0.0, 0.7)), strict=True):
        np.testing.assert_allclose(known.project(place), true.project(place), atol=1e-6)
