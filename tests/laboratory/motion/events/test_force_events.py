"""Heel strikes and toe-offs from the forces, on plates that are noisy, broken, crossed or left half-way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stepping_trial import LATE, THRESHOLD, WEIGHT, Steps

from musclesolve.laboratory.motion.events.foot_events import FootLoads, contacts, foot_contacts, force_events
from musclesolve.laboratory.recording.data import PlateGap

STEPS = Steps(duration=3.6)
FIRM = 0.1 * WEIGHT


def of(events, kind, side):
    return np.array([event.time for event in events if (event.kind, event.side) == (kind, side)])


@pytest.mark.parametrize("side", ["r", "l"])
def test_the_threshold_is_crossed_between_the_samples(side):
    """The force rises in a straight line, so that the crossing is exact at any rate of the plate."""
    events = force_events(FootLoads.from_trial(STEPS.trial()))
    np.testing.assert_allclose(of(events, "heel_strike", side), STEPS.strikes(side) + LATE, atol=1e-9)
    np.testing.assert_allclose(of(events, "toe_off", side), STEPS.toe_offs(side) - LATE, atol=1e-9)
    assert {event.source for event in events} == {"forces"}


def test_a_foot_on_the_plate_at_the_ends_neither_strikes_nor_leaves_there():
    time = STEPS.plate("r").time
    inside = (time > 0.5) & (time < 1.6)  # from within the first contact to within the second one
    (first, second) = contacts(time[inside], STEPS.vertical("r", time[inside]), THRESHOLD, FIRM)
    assert first[0] == -np.inf and second[1] == np.inf
    assert first[1] == pytest.approx(STEPS.toe_offs("r")[0] - LATE)
    assert second[0] == pytest.approx(STEPS.strikes("r")[1] + LATE)


@settings(max_examples=30)
@given(seed=st.integers(0, 1000), noise=st.floats(0.0, 8.0))
def test_plate_noise_moves_events_by_little_and_adds_none(seed, noise):
    time = STEPS.plate("r").time
    vertical = STEPS.vertical("r", time) + noise * np.random.default_rng(seed).normal(size=time.size)
    found = contacts(time, vertical, THRESHOLD, FIRM)
    truth = np.stack([STEPS.strikes("r") + LATE, STEPS.toe_offs("r") - LATE], axis=1)
    assert found.shape == truth.shape
    assert np.abs(found - truth).max() < 0.004  # the force takes 1.5 ms for 20 N


def test_spikes_dropouts_and_light_touches_are_no_steps():
    time = STEPS.plate("r").time
    vertical = STEPS.vertical("r", time)
    expected = contacts(time, vertical, THRESHOLD, FIRM)
    vertical[np.abs(time - 1.15) < 0.004] += 900.0  # somebody drops something while the foot is in the air
    vertical[np.abs(time - 0.33) < 0.003] += 400.0  # shortly before the strike at 0.35 s
    vertical[np.abs(time - 0.6) < 0.01] = 0.0  # a cable
    vertical[np.abs(time - 0.39) < 0.002] = 0.0  # the same, shortly after the strike
    vertical[(time > 2.2) & (time < 2.5)] += 40.0  # drift, or a knock: never firm
    np.testing.assert_array_equal(contacts(time, vertical, THRESHOLD, FIRM), expected)


def touched(force, seconds):
    """The contacts of the right foot when something stands on its plate for a while, with the foot in the air."""
    trial = STEPS.trial(plates="r")
    plate = trial.forces[0]
    added = np.where((plate.time > 1.15) & (plate.time < 1.15 + seconds), force, 0.0)[:, None] * [
        0.0,
        0.0,
        1.0,
    ]
    return foot_contacts(
        FootLoads.from_trial(replace(trial, forces=(replace(plate, force=plate.force + added),))), "r"
    )


@pytest.mark.parametrize(
    ("force", "seconds", "contact"),
    [(0.09, 0.2, False), (0.11, 0.2, True), (0.8, 0.09, False), (0.8, 0.12, True)],
)
def test_a_contact_bears_a_tenth_of_the_body_weight_and_lasts_a_tenth_of_a_second(force, seconds, contact):
    assert (
        len(touched(force * WEIGHT, seconds))
        == len(foot_contacts(FootLoads.from_trial(STEPS.trial()), "r")) + contact
    )


def test_a_foot_that_passes_between_plates_strikes_once():
    whole = STEPS.plate("r")
    share = np.clip((whole.time % STEPS.stride - 0.6) / 0.2, 0.0, 1.0)[:, None]
    parts = replace(whole, force=whole.force * share), replace(whole, force=whole.force * (1.0 - share))
    trial = STEPS.trial(plates="l")
    trial = replace(trial, forces=(*trial.forces, *parts))
    np.testing.assert_allclose(
        foot_contacts(FootLoads.from_trial(trial), "r"),
        foot_contacts(FootLoads.from_trial(STEPS.trial()), "r"),
        atol=1e-9,
    )


def test_a_foot_without_a_plate_or_in_the_air_has_no_events():
    assert {event.side for event in force_events(FootLoads.from_trial(STEPS.trial(plates="l")))} == {"l"}
    assert contacts(np.arange(5.0), np.zeros(5), THRESHOLD, FIRM).shape == (0, 2)


def test_the_recorded_walk(recorded_walk_trial):
    events = force_events(FootLoads.from_trial(recorded_walk_trial))
    np.testing.assert_allclose(of(events, "heel_strike", "r"), [0.268, 1.412], atol=0.001)
    np.testing.assert_allclose(of(events, "toe_off", "r"), [1.023, 2.167], atol=0.001)
    np.testing.assert_allclose(of(events, "heel_strike", "l"), [0.836], atol=0.001)
    np.testing.assert_allclose(of(events, "toe_off", "l"), [1.589], atol=0.001)


def test_the_edges_of_a_gap_are_no_events():
    """A plate sends no numbers from within one contact into the next one."""
    plate, first, last = STEPS.plate("r"), 0.6, 1.6
    force = plate.force.copy()
    force[(plate.time >= first) & (plate.time <= last), 2] = WEIGHT  # a line across the gap
    without = replace(plate, force=force, gaps=(PlateGap(first, last, False, ""),))
    events = force_events(FootLoads.from_trial(replace(STEPS.trial(), forces=(without, STEPS.plate("l")))))
    for kind, times in (("heel_strike", STEPS.strikes("r") + LATE), ("toe_off", STEPS.toe_offs("r") - LATE)):
        np.testing.assert_allclose(of(events, kind, "r"), times[(times < first) | (times > last)], atol=1e-9)
