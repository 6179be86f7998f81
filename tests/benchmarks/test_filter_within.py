"""The filter within the reconstruction: the optimum of one cost, and as far from two steps as the row says."""

import numpy as np
from source_rows import TEXT

from benchmarks.filter_within import experiment, penalty, smoothed
from musclesolve.data import reference_stride


def test_half_of_a_sine_of_the_cutoff_is_left() -> None:
    time = np.arange(0.0, 10.0, 0.01)
    for frequency, gain in ((6.0, 0.5), (3.0, 1.0 / (1.0 + 0.5**4))):
        sine = np.sin(2.0 * np.pi * frequency * time)
        left = smoothed(sine[:, None], penalty(len(time), 0.01, 6.0))[300:-300, 0]
        np.testing.assert_allclose(left, gain * sine[300:-300], atol=0.003)


def test_one_step_is_as_far_from_two_as_the_row_says() -> None:
    found = experiment(reference_stride(), 2, 6.0)
    least, other = found["costs"].T
    assert (least < other).all() and (least > 0.99 * other).all()
    apart, away = found["one step - two steps"], found["one step"]
    faster, off = found["one step - two steps, acceleration"], found["one step, acceleration"]
    numbers = [
        ", ".join(f"{each:.{digits}f}" for each in values) for values, digits in ((apart, 2), (away, 1))
    ]
    further = [", ".join(f"{each:.0f}" for each in values) for values in (faster, off)]
    assert f"{numbers[0]} degrees from two steps, where errors of {numbers[1]} are left in both" in TEXT
    assert f"accelerations {further[0]} of {further[1]} rad/s2" in TEXT
    np.testing.assert_allclose(away, found["two steps"], rtol=0.02)
