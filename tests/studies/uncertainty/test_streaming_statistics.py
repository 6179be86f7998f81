"""Statistics of samples that are not kept equal those of all samples at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from musclesolve.studies.uncertainty.replay import Parameters
from musclesolve.studies.uncertainty.sample_statistics import QUANTILES, Statistics


def filled(values: np.ndarray, nominal: np.ndarray) -> Statistics:
    statistics = Statistics(nominal, len(values))
    for sample in values:
        statistics.add(sample)
    return statistics


@settings(max_examples=50)
@given(st.integers(2, 60), st.integers(0, 10**6), st.floats(0.0, 0.5))
def test_they_are_those_of_the_values_that_are_there(samples: int, seed: int, missing: float) -> None:
    rng = np.random.default_rng(seed)
    nominal = 1e3 * rng.normal(size=7)
    values = nominal + rng.normal(size=(samples, 7))
    values[rng.random(values.shape) < missing] = np.nan
    values[0] = nominal + 1.0
    values[1] = nominal - 1.0
    found = filled(values, nominal)
    assert found.mean == pytest.approx(np.nanmean(values, axis=0), rel=1e-12)
    assert found.sd == pytest.approx(np.nanstd(values, axis=0, ddof=1), rel=1e-10)
    # Deviations are kept with the 24 bits of single precision.
    assert found.quantiles() == pytest.approx(np.nanquantile(values, QUANTILES, axis=0), abs=1e-5)
    assert (found.count == (~np.isnan(values)).sum(axis=0)).all()


def test_what_does_not_vary_has_no_spread_at_all() -> None:
    nominal = np.array([0.1, 1e6 / 3.0, np.nan])
    found = filled(np.tile(nominal, (5, 1)), nominal)
    assert (found.sd[:2] == 0.0).all()
    assert (found.mean[:2] == nominal[:2]).all()
    assert (found.quantiles()[:, :2] == nominal[:2]).all()
    assert np.isnan([found.nominal[2], found.mean[2], found.sd[2], *found.quantiles()[:, 2]]).all()


def test_a_sample_is_the_same_whatever_else_is_drawn() -> None:
    few = Parameters({"a": (3,), "b": (2, 2)}, {"a": 1.0, "b": 0.5})
    numbers = few.draw(7, 11)
    few.draw(7, 12)
    assert (few.draw(7, 11) == numbers).all()
    child = np.random.SeedSequence(7).spawn(12)[11]
    assert (np.random.default_rng(child).standard_normal(few.count) == numbers).all()
    assert not (few.draw(8, 11) == numbers).any()
    errors = few.errors(numbers)
    assert (errors["a"] == numbers[:3]).all()
    assert (errors["b"] == 0.5 * numbers[3:].reshape(2, 2)).all()


def test_quantiles_of_few_samples_are_unbiased_in_the_median() -> None:
    drawn = np.random.default_rng(2).standard_normal((64, 3))
    statistics = Statistics(np.zeros(3), 64, few=True)
    for sample in drawn:
        statistics.add(sample)
    expected = np.quantile(drawn, QUANTILES, axis=0, method="median_unbiased")
    np.testing.assert_allclose(statistics.quantiles(), expected, atol=1e-6)
