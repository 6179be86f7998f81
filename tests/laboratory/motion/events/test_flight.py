"""Flight is where no plate carries the subject and the pelvis falls; standing, squats and jumps make no strides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from on_the_spot import Squat
from stepping_trial import WEIGHT, Steps
from thorough import some

import musclesolve as ms
from musclesolve import check, read_trial
from musclesolve.laboratory import PlateForce, Trial, gait_events
from musclesolve.laboratory.motion.events.foot_events import FootLoads, flights, jumps, marker_events, walk
from musclesolve.laboratory.motion.events.gait import strides
from musclesolve.studies import synthetic_recording
from musclesolve.studies.synthetic import running_stride
from musclesolve.tables import Markers

GRAVITY = 9.80665


def flights_of(trial):
    return flights(trial, FootLoads.from_trial(trial))


def hops(count: int = 3, flight: float = 0.3, stance: float = 0.4) -> Trial:
    """Return the motion of hops on both feet: the body flies freely, and between two flights it is thrown up again."""
    trial = Steps(speed=0.0, duration=count * (flight + stance)).trial()
    step = flight + stance

    def height(time):
        since = time % step
        rise = 0.5 * GRAVITY * since * (flight - since)
        # The same velocity, down and up again, as a cosine in the stance.
        depth = GRAVITY * flight * stance / (2.0 * np.pi)
        return np.where(
            since < flight, rise, -depth * np.sin(np.pi * np.clip((since - flight) / stance, 0.0, 1.0))
        )

    markers, position = trial.markers, trial.markers.position.copy()
    lift = height(markers.time)[:, None]
    feet = [k for k, name in enumerate(markers.names) if name.startswith(("heel", "toe"))]
    pelvis = [k for k in range(len(markers.names)) if k not in feet]
    position[:, pelvis, 2] += lift
    position[:, feet, 2] += np.maximum(lift, 0.0)

    def plate(old: PlateForce) -> PlateForce:
        since = old.time % step
        grounded = (since > flight)[:, None]
        push = 0.5 * WEIGHT * step / stance * np.ones((old.time.size, 1)) * [0.0, 0.0, 1.0]
        return replace(old, force=np.where(grounded, push, 0.0))

    moved = Markers(markers.time, markers.names, position, markers.path)
    return replace(trial, markers=moved, forces=tuple(plate(old) for old in trial.forces))


def test_a_pelvis_that_falls_onto_a_seat_is_no_flight() -> None:
    """Without plates, a fall is a flight only while both feet are over their floor."""
    trial = replace(hops(), forces=())
    assert len(flights_of(trial)) == 3
    feet = [k for k, name in enumerate(trial.markers.names) if name.startswith(("heel", "toe"))]
    position = trial.markers.position.copy()
    position[:, feet, 2] = np.quantile(position[:, feet, 2], 0.05, axis=0)
    seated = replace(trial, markers=replace(trial.markers, position=position))
    assert len(flights_of(seated)) == 0


@pytest.mark.every_pair
@pytest.mark.parametrize("speed", [0.6, 1.3, 2.0])
@pytest.mark.parametrize("plates", ["rl", "r", ""])
def test_walking_has_no_flight_with_and_without_plates(speed: float, plates: str) -> None:
    assert len(flights_of(Steps(speed=speed, noise=0.001).trial(plates=plates))) == 0


def test_noise_of_digitized_film_does_not_fly_where_no_plate_was_recorded(tmp_path) -> None:
    file = synthetic_recording(
        tmp_path, noise_mm=5.0, strides=8, force_rate_hz=100.0, truth=False, forward="+y"
    )
    trial = read_trial(file)
    unloaded = tuple(replace(plate, force=0.0 * plate.force) for plate in trial.forces)
    assert len(flights_of(replace(trial, forces=unloaded))) == 0


@pytest.mark.thorough
@pytest.mark.parametrize("stance", some([0.31, 0.42], 2))
def test_flight_of_runs_with_much_and_little_of_it(stance: float, tmp_path) -> None:
    file = synthetic_recording(
        tmp_path, running_stride(2.2, 0.72, stance), noise_mm=2.0, force_rate_hz=300.0, truth=False
    )
    found = flights_of(read_trial(file)).mean(axis=1) - 0.4
    middle = 0.72 * (0.5 + stance) / 2.0
    away = np.abs(np.mod(found[1:-1] - middle + 0.18, 0.36) - 0.18)  # the ends of the recording cut others
    assert len(found) >= 4 and away.max() < 0.03


@pytest.mark.parametrize("plates", [True, False])
def test_who_lands_on_both_feet_jumps_with_and_without_plates(plates: bool, tmp_path) -> None:
    file = synthetic_recording(
        tmp_path, running_stride(2.2, 0.72, 0.31), noise_mm=1.0, force_rate_hz=300.0, truth=False
    )
    for trial, jumping in ((hops(), True), (read_trial(file), False)):
        trial = trial if plates else replace(trial, forces=())
        assert len(found := flights_of(trial)) > 2
        assert jumps(trial, FootLoads.from_trial(trial), found) is jumping


def test_the_recorded_walk_has_no_flight(recorded_walk_trial: Trial) -> None:
    assert len(flights_of(recorded_walk_trial)) == 0


def test_hops_are_flights_and_no_strides() -> None:
    trial = hops()
    found = flights_of(trial)
    np.testing.assert_allclose(found.mean(axis=1), [0.15, 0.85, 1.55], atol=0.04)
    events = gait_events(trial)
    assert {event.kind for event in events} == {"heel_strike", "toe_off"}
    assert {event.source for event in events} == {"forces"} and events.notes == ()
    assert strides(events.events, walk(trial)) == []


def test_who_squats_or_stands_makes_no_steps(tmp_path) -> None:
    for depth in (0.0, 0.3):
        folder = tmp_path / f"{depth:g}"
        file = synthetic_recording(
            folder, Squat.to(depth), noise_mm=1.0, force_noise_n=1.0, force_rate_hz=300.0, truth=False
        )
        assert check(file).codes == ()
        trial = read_trial(file)
        assert marker_events(walk(trial)) == [] and len(gait_events(trial)) == 0
        result = ms.run(trial)
        assert result.balanced.all() and (result.status <= 1).all()
        assert result.sizes["stride"] == 0 and result.sizes["event"] == 0
        assert not any(
            word in note for note in result.attrs["notes"] for word in ("walk", "stride", "strike")
        )


@pytest.mark.in_part(2)
@pytest.mark.parametrize("noise", [0, 5])
def test_strikes_by_the_markers_are_early_in_every_run(noise, tmp_path):
    """Before it lands the foot moves back for some 50 ms: no conflict between markers and forces."""
    path = synthetic_recording(tmp_path, motion="run", noise="skin", noise_mm=3.0, strides=2, seed=noise)
    assert not any("differ" in note for note in gait_events(read_trial(path)).notes)
