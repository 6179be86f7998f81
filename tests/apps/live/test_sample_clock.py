"""Samples are chosen by their times alone."""

from __future__ import annotations

import numpy as np

from musclesolve.apps.live.live import SampleClock

RATE = 100.0


def taken(times):
    clock = SampleClock(RATE, bridge=0.05)
    return [clock.take(float(time)) for time in times]


def test_a_single_time_that_is_far_off_is_refused():
    even = np.arange(20) / RATE
    for odd in (1e12, 3.0, -5.0):
        found = taken([*even[:10], odd, *even[11:]])
        assert [k for k, each in enumerate(found) if each.refusal] == [10]
        assert not any(each.anew for each in found) and found[11].slots == 2


def test_a_step_ahead_is_believed_with_the_second_sample():
    even = np.arange(10) / RATE
    found = taken([*even, *(even + 40.0)])
    assert "until another one follows" in found[10].refusal
    assert found[11].anew and found[11].slots == round((even[1] + 40.0 - even[9]) * RATE)
    assert not any(each.refusal or each.anew for each in found[12:])
    # two that are far from each other confirm nothing
    assert all(each.refusal for each in taken([*even, 50.0, 1e12, 70.0])[10:])
