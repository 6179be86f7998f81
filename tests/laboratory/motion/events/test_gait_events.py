"""All the events of a trial: which source counts, what is filled in, and what is reported of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from stepping_trial import LATE, Steps

from musclesolve._util.messages import WarningNote
from musclesolve.laboratory import Event, gait_events

STEPS = Steps(duration=3.6)


def sources(found, kind, side):
    return [event.source for event in found.of(kind, side)]


def times(found, kind, side):
    return np.array([event.time for event in found.of(kind, side)])


def test_forces_count_before_markers():
    found = gait_events(STEPS.trial())
    for side in "rl":
        np.testing.assert_allclose(
            times(found, "heel_strike", side)[1:-1], STEPS.strikes(side) + LATE, atol=1e-9
        )
        assert sources(found, "toe_off", side) == ["forces"] * len(STEPS.toe_offs(side))
    assert [event.time for event in found] == sorted(event.time for event in found)


def test_what_a_file_states_counts_before_forces():
    stated = Event("heel_strike", "r", STEPS.strikes("r")[1] - 0.02, "stated")
    found = gait_events(STEPS.trial(events=(stated,)))
    assert stated in found.events
    assert sources(found, "heel_strike", "r").count("stated") == 1
    assert len(found) == len(gait_events(STEPS.trial()))
    assert not any("differ" in note for note in found.notes)


@pytest.mark.parametrize("exchanged", ["sides", "kinds"])
def test_stated_events_that_the_forces_contradict_are_warned_of(exchanged):
    right = [Event("heel_strike", "r", STEPS.strikes("r")[1], "stated")]
    right += [Event("toe_off", "r", STEPS.toe_offs("r")[1], "stated")]
    wrong = {
        "sides": [replace(event, side="l") for event in right],
        "kinds": [replace(right[0], kind="toe_off"), replace(right[1], kind="heel_strike")],
    }[exchanged]
    notes = [n for n in gait_events(STEPS.trial(events=tuple(wrong))).notes if isinstance(n, WarningNote)]
    assert any(note.code == "gait_events" and "contradict 2 of 2" in note for note in notes)
    assert not any("contradict" in note for note in gait_events(STEPS.trial(events=tuple(right))).notes)


def test_what_the_trial_file_states_of_a_kind_is_all_of_it():
    strikes = STEPS.strikes("r")
    stated = tuple(Event("heel_strike", "r", time + 0.03, "stated") for time in strikes[1:])
    complete = frozenset({("heel_strike", "r")})
    found = gait_events(replace(STEPS.trial(events=stated), all_events_of=complete))
    np.testing.assert_allclose(
        [event.time for event in found.of("heel_strike", "r") if event.source == "stated"], strikes[1:] + 0.03
    )
    assert set(sources(found, "heel_strike", "r")) <= {"stated", "periodic"}
    usual = gait_events(STEPS.trial())
    assert found.of("toe_off", "r") == usual.of("toe_off", "r")
    assert found.of("heel_strike", "l") == usual.of("heel_strike", "l")


def test_markers_alone():
    found = gait_events(STEPS.trial(plates=""))
    assert {event.source for event in found} == {"markers", "periodic"}
    recorded = [
        t
        for e, t in zip(found.of("heel_strike", "r"), times(found, "heel_strike", "r"), strict=True)
        if e.source == "markers"
    ]
    np.testing.assert_allclose(recorded, STEPS.turns("r", "heel_strike"), atol=0.006)
    assert not any("no plate" in note for note in found.notes)


def test_forces_alone():
    trial = STEPS.trial()
    found = gait_events(replace(trial, mapping={}))
    assert {event.source for event in found} == {"forces", "periodic"}


def test_markers_fill_in_for_the_foot_without_a_plate_and_learn_from_the_other_one():
    """By the markers alone the left foot would strike 28 ms early; the right foot shows that."""
    found = gait_events(STEPS.trial(plates="r"))
    assert set(sources(found, "toe_off", "l")) == {"markers"}
    np.testing.assert_allclose(times(found, "toe_off", "l"), STEPS.toe_offs("l") - LATE, atol=0.003)
    inner = times(found, "heel_strike", "l")[1:-1]
    np.testing.assert_allclose(inner, STEPS.strikes("l") + LATE, atol=0.003)
    (note,) = [note for note in found.notes if "no plate" in note]
    assert "heel strikes by +3" in note and "left toe-off at" in note


def test_walking_is_taken_as_periodic_only_beyond_what_was_seen():
    trial = STEPS.trial()
    short = replace(trial, time_range=(STEPS.strikes("r")[0] + LATE, STEPS.strikes("r")[-1]))
    found = gait_events(short)
    assert "periodic" not in sources(found, "heel_strike", "r")
    assert sources(found, "heel_strike", "l")[0] == "periodic"
    first, second = times(found, "heel_strike", "l")[:2]
    assert second - first == pytest.approx(STEPS.stride)
    assert any(
        "Events that were not recorded" in note and f"left heel strike at {first:.3f}" in note
        for note in found.notes
    )


def test_a_leg_caught_once_takes_the_stride_of_the_other():
    trial = replace(STEPS.trial(), mapping={})
    time = trial.forces[1].time
    once = (
        trial.forces[1].force
        * ((time > STEPS.strikes("l")[1] - 0.1) & (time < STEPS.toe_offs("l")[2] + 0.1))[:, None]
    )
    trial = replace(trial, forces=(trial.forces[0], replace(trial.forces[1], force=once)))
    strikes = np.array([event.time for event in gait_events(trial).of("heel_strike", "l")])
    np.testing.assert_allclose(np.diff(strikes), STEPS.stride, atol=1e-6)
    assert strikes.size == 3


def test_a_conflict_between_the_sources_is_said():
    trial = STEPS.trial()
    late = tuple(replace(plate, time=plate.time + 0.1) for plate in trial.forces)
    found = gait_events(replace(trial, forces=late))
    (note,) = [note for note in found.notes if "differ" in note]
    assert "more than 50 ms" in note and "by the forces" in note and "by the markers" in note
    assert "right heel strike at 0.451 s by the forces" in note
    assert any(isinstance(note, WarningNote) and "Sources differ" in note for note in found.notes)


def test_markers_that_are_early_by_the_same_in_all_steps_are_moved_and_no_conflict():
    """The force on the right foot begins 50 ms late, so that its strikes by the markers are 78 ms early."""
    trial = STEPS.trial(plates="r")
    plate = trial.forces[0]
    early = ((plate.time - STEPS.begin("r")) % STEPS.stride < 0.05)[:, None]
    found = gait_events(replace(trial, forces=(replace(plate, force=np.where(early, 0.0, plate.force)),)))
    assert not any("differ" in note for note in found.notes)
    inner = times(found, "heel_strike", "l")[1:-1]
    np.testing.assert_allclose(inner, STEPS.strikes("l") + 0.05, atol=0.004)


def stated_early(early: float, start: float, *, sides: str = "rl"):
    """The walk from a frame at `start` on, with all its events stated so much too early; sides: the names of rl."""
    kinds = (("heel_strike", STEPS.strikes), ("toe_off", STEPS.toe_offs))
    events = tuple(
        Event(kind, named, float(time) + start - early, "stated")
        for kind, of in kinds
        for side, named in zip("rl", sides, strict=True)
        for time in of(side)
    )
    trial = STEPS.trial(events=events)
    forces = tuple(replace(plate, time=plate.time + start) for plate in trial.forces)
    markers = replace(trial.markers, time=trial.markers.time + start)
    return replace(trial, forces=forces, markers=markers, time_range=(start, start + STEPS.duration - 0.01))


@pytest.mark.parametrize(
    ("early", "start", "said"),
    [(0.3, 0.3, "0.30 s too early"), (-0.2, 0.0, "0.20 s too late"), (2.0, 2.0, "first frame, at 2.000 s")],
)
def test_stated_events_on_another_clock_are_not_used(early, start, said):
    found = gait_events(stated_early(early, start))
    assert {event.source for event in found} == {"forces", "periodic"}
    (note,) = [note for note in found.notes if isinstance(note, WarningNote)]
    assert said in note and note.code == "gait_events"
    right = gait_events(stated_early(0.0, start))
    assert not any(isinstance(note, WarningNote) for note in right.notes)
    assert {event.source for event in right} == {"stated", "periodic"}


def test_exchanged_sides_are_no_other_clock():
    (note,) = [
        note
        for note in gait_events(stated_early(0.0, 0.3, sides="lr")).notes
        if isinstance(note, WarningNote) and "contradict" in note
    ]
    assert "exchanged" in note


def test_what_the_forces_rule_out_is_left_out():
    """The plate of one foot bears it all the time, by the markers it steps."""
    trial = STEPS.trial()
    always = replace(trial.forces[0], force=trial.forces[0].force * 0.0 + [0.0, 0.0, 700.0])
    found = gait_events(replace(trial, forces=(always, trial.forces[1])))
    assert not found.of("heel_strike", "r") and not found.of("toe_off", "r")
    assert "Contradicted by the forces" in found.notes[0]


def test_nothing_to_go_by():
    trial = replace(STEPS.trial(plates=""), mapping={})
    found = gait_events(trial)
    assert len(found) == 0 and not any(found.of("heel_strike", side) for side in "rl")


def test_the_recorded_walk(recorded_walk_trial):
    """The plates have the left foot once; the markers show when it left the plate before and struck again."""
    found = gait_events(recorded_walk_trial)
    assert sources(found, "heel_strike", "r") == ["forces", "forces", "periodic"]
    assert sources(found, "heel_strike", "l") == ["periodic", "forces", "markers"]
    assert sources(found, "toe_off", "l") == ["markers", "forces"]
    # The stride of the left leg, which ends with the strike from the markers, is as long as the right one.
    left, right = (np.diff(times(found, "heel_strike", side))[where] for side, where in (("l", 1), ("r", 0)))
    assert left == pytest.approx(right, rel=0.01)
    assert not any("differ" in note for note in found.notes)


def with_force(trial, plate, added):
    """The trial with something added to the vertical force of one plate."""
    forces = list(trial.forces)
    force = forces[plate].force.copy()
    force[:, 2] += added
    forces[plate] = replace(forces[plate], force=force)
    return replace(trial, forces=tuple(forces))


def once(trial, plate, start, end):
    """The trial with one plate that only has what happens in between."""
    force = trial.forces[plate].force[:, 2]
    time = trial.forces[plate].time
    return with_force(trial, plate, -force * ((time < start) | (time > end)))


@pytest.mark.parametrize("offset", [21.0, 25.0, 120.0])
@pytest.mark.parametrize("steps", ["all", "one"])
def test_a_plate_that_never_unloads_leaves_the_steps_to_the_markers(offset, steps):
    """Its zero is off by more than the threshold; the other plate shows how late markers are."""
    trial = STEPS.trial() if steps == "all" else once(STEPS.trial(), 0, 1.3, 2.3)
    found = gait_events(with_force(trial, 0, offset))
    assert set(sources(found, "toe_off", "r")) == {"markers"}
    np.testing.assert_allclose(times(found, "toe_off", "r"), STEPS.toe_offs("r") - LATE, atol=0.003)
    np.testing.assert_allclose(times(found, "heel_strike", "r")[1:-1], STEPS.strikes("r") + LATE, atol=0.003)
    (note,) = [note for note in found.notes if "unload" in note]
    assert f"right foot does not unload where it steps by the markers: {offset:.0f} N" in note
    assert "unloaded_below_n" in note
    assert not any("Contradicted by the forces" in note for note in found.notes)


def test_a_plate_whose_zero_drifts_past_the_threshold():
    """The zero drifts from 30 N to 0: while it is above 20 N the markers give the steps, the forces thereafter."""
    trial = STEPS.trial()
    drift = np.interp(trial.forces[0].time, [0.0, STEPS.duration], [30.0, 0.0])
    found = gait_events(with_force(trial, 0, drift))
    np.testing.assert_allclose(times(found, "heel_strike", "r")[1:-1], STEPS.strikes("r"), atol=0.006)
    assert sources(found, "heel_strike", "r") == ["periodic", "markers", "forces", "forces", "periodic"]


def test_a_step_on_the_plate_stands_against_markers_that_deny_it():
    """By the markers the right foot strikes again in its stance; the forces, cut or not, show that it stands."""
    trial = STEPS.trial()
    moved = replace(STEPS, first=STEPS.first + 0.4).trial()
    found = gait_events(replace(trial, markers=moved.markers))
    assert set(sources(found, "toe_off", "r")) == {"forces"}
    assert not any("unload" in note for note in found.notes)


def test_a_recording_of_one_frame_shows_no_steps():
    trial = STEPS.trial(plates="")
    markers = replace(trial.markers, time=trial.markers.time[:1], position=trial.markers.position[:1])
    assert len(gait_events(replace(trial, markers=markers))) == 0


def test_the_recorded_walk_on_a_plate_that_was_not_zeroed(recorded_walk_trial):
    """With 25 N too much on the plate of the right foot its steps are found by the markers, within a frame or so."""
    clean, drifted = gait_events(recorded_walk_trial), gait_events(with_force(recorded_walk_trial, 0, 25.0))
    assert recorded_walk_trial.forces[0].side == "r"
    for kind, count in (("heel_strike", 2), ("toe_off", 2)):
        seen = times(drifted, kind, "r")[:count]
        np.testing.assert_allclose(seen, times(clean, kind, "r")[:count], atol=0.012)
