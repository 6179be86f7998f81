"""Residual analysis chooses the cut-off frequency of the low-pass filter."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from musclesolve.dynamics import low_pass, smoothing_spline
from musclesolve.errors import InputError
from musclesolve.laboratory import residual_analysis

ESTIMATES = {
    "low_pass": lambda signal, rate=100.0: low_pass(signal, rate, 6.0),
    "residual_analysis": residual_analysis,
    "smoothing_spline": smoothing_spline,
}


@pytest.mark.every_pair
@pytest.mark.parametrize("name", ESTIMATES)
@pytest.mark.parametrize("lost", [np.nan, np.inf])
def test_gaps_are_refused(name: str, lost: float) -> None:
    signal = np.random.default_rng(8).normal(size=(200, 2))
    signal[30:33, 1] = lost
    with refused("not_finite", "3 of 200", "frame 30"):
        ESTIMATES[name](signal, 100.0)


@pytest.mark.every_pair
@pytest.mark.parametrize("name", ESTIMATES)
@pytest.mark.parametrize(
    ("signal", "rate"),
    [
        (np.zeros((0, 3)), 100.0),
        (np.zeros((200, 0)), 100.0),
        (np.zeros(2), 100.0),
        (1.0, 100.0),
        (None, 100.0),
        ("abc", 100.0),
        (["1", "2", "3"], 100.0),
        (np.zeros(200, complex), 100.0),
        ([[1.0, 2.0], [3.0], [4.0]], 100.0),
        (np.zeros(200), "100"),
        (np.zeros(200), None),
        (np.zeros(200), [100.0]),
        (np.zeros(200), np.inf),
        (np.zeros(200), np.nan),
        (np.zeros(200), 0.0),
        (np.zeros(200), -100.0),
    ],
)
def test_what_is_no_signal_is_refused(name: str, signal: object, rate: object) -> None:
    with pytest.raises(InputError):
        ESTIMATES[name](signal, rate)


@pytest.mark.parametrize("order", [0, 9, 2.5, -1, float("nan"), 20, "2", None, [2, 2]])
def test_an_order_that_there_is_not_is_refused(order: object) -> None:
    signal = np.random.default_rng(9).normal(size=200)
    for call in (
        lambda: low_pass(signal, 100.0, 6.0, order),
        lambda: residual_analysis(signal, 100.0, order),
        lambda: smoothing_spline(signal, 100.0, None, order),
        lambda: smoothing_spline(signal, 100.0).derivative(order if order not in (0, 2.0) else 6),
    ):
        with pytest.raises(InputError, match="order"):
            call()
