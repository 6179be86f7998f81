"""Coverage counts intervals that hold the truth and intervals that end; its EMG shows the true cost."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.cost_coverage import Coverage, coverage, random_problem


def test_an_exponent_is_found_again_with_its_interval():
    found = coverage(random_problem(), "activation_power", {"exponent": (1.15, 8.0)}, [3.0], 0.01, 10, 2)
    assert found.estimates.shape == found.standard_errors.shape == (2, 1)
    assert found.estimates == pytest.approx(3.0, abs=0.3)
    assert found.estimates[0] != found.estimates[1]
    assert found.ends.tolist() == [2] and found.holds[0] >= 1
    assert (found.intervals[:, 0, 0] < found.estimates[:, 0]).all()


def test_the_truth_of_a_mixture_is_the_logarithm_of_its_weight():
    found = coverage(random_problem(), ["activation_power", "stress_cubed"], None, [0.5], 1e-6, 25, 1)
    assert found.estimates == pytest.approx(0.5, abs=1e-2)


def test_noise_that_is_cut_at_zero_gives_other_estimates():
    arguments = random_problem(), "activation_power", {"exponent": (1.15, 8.0)}, [3.0], 0.05, 25, 1
    plain, cut = (coverage(*arguments, cut=cut).estimates.item() for cut in (False, True))
    assert abs(plain - 3.0) < abs(cut - 3.0)


def test_intervals_that_hold_and_that_end_are_counted_for_each_parameter():
    found = Coverage(
        ("a", "b"),
        np.array([1.0, 2.0]),
        np.zeros((3, 2)),
        np.zeros((3, 2)),
        np.array([[[0, 2], [-np.inf, np.inf]], [[2, 3], [-np.inf, 3]], [[0.5, np.inf], [2.5, 3]]]),
    )
    assert found.holds.tolist() == [2, 2]
    assert found.ends.tolist() == [2, 1]
