"""Metabolic power of the muscles in results of trials."""

from __future__ import annotations

import pytest

from musclesolve.data import reference_stride
from musclesolve.laboratory.forces import prepare, share
from musclesolve.laboratory.results.facts import Facts
from musclesolve.models.body import energy_state, leg_volume

SLOW, STRENGTH, OPTIMAL, FASTEST, DENSITY, TENSION = 0.6, 1000.0, 0.10, 10.0, 1059.7, 0.25e6


def test_muscles_of_a_leg_have_the_volume_of_a_leg():
    analysis = share(prepare(reference_stride()))
    subject = analysis.body.trial.subject
    volume = 1e-6 * (47.0 * subject.mass * subject.stature + 1285.0)
    assert leg_volume(analysis) == pytest.approx(volume)
    for part in analysis.parts:
        assert energy_state(analysis, part).mass.sum() == pytest.approx(DENSITY * volume)


def test_a_result_states_the_rate_of_walking(stride_result):
    found = Facts(stride_result).metabolic_rate
    assert found is not None
    assert found.measured == pytest.approx(1.22 + 2.09 * found.speed, rel=2e-3)
    assert 0.8 < found.rate / found.measured < 1.6
    assert found.cost_of_transport == pytest.approx(found.rate / found.speed)
    assert stride_result["metabolic_power"].attrs["units"] == "W"
    assert Facts(stride_result.drop_vars("metabolic_power")).metabolic_rate is None
