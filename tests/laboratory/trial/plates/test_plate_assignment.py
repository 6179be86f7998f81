"""The foot on each plate: contacts of feet that step, stand and pass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusals import refused

from musclesolve.laboratory.files.c3d.force_platforms import Plate, PlateRecording
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.laboratory.trial.plates.foot_contacts import (
    Contact,
    FootTrack,
    Unclear,
    contacts,
    on_feet,
    on_plates_whole,
    stands_loaded,
    to_center_of_pressure,
)
from musclesolve.laboratory.trial.plates.foot_forces import _assigned_plates
from musclesolve.tables import Markers

RATE, FORCE_RATE, DURATION = 100.0, 1000.0, 4.0
TIME = np.arange(round(DURATION * RATE)) / RATE
FORCE_TIME = np.arange(round(DURATION * FORCE_RATE)) / FORCE_RATE
CORNERS = np.array([[0.3, -0.3, 0.0], [-0.3, -0.3, 0.0], [-0.3, 0.3, 0.0], [0.3, 0.3, 0.0]])
PLATE = Plate(1, 2, CORNERS, np.array([0.0, 0.0, -0.04]), np.eye(6))
WALK = Markers(TIME, ("A",), np.zeros((TIME.size, 1, 3)), Path("walk.c3d"))
AWAY = (-2.0, 0.0)
HALF = np.array([0.12, 0.0, 0.0])


def foot(*places: tuple[float, float, tuple[float, float]]) -> FootTrack:
    """A foot that is at a place (x, y) from one time to another, and far off otherwise."""
    middle = np.tile([*AWAY, 0.05], (TIME.size, 1))
    for start, end, (x, y) in places:
        middle[(start <= TIME) & (end >= TIME), :2] = x, y
    return FootTrack(TIME, middle - HALF, middle + HALF)


def pressed(*places: tuple[float, float, tuple[float, float]], newtons: float = 700.0) -> PlateRecording:
    """A plate that carries somebody at a place from one time to another."""
    force, point = np.zeros((2, FORCE_TIME.size, 3))
    for start, end, (x, y) in places:
        during = (start <= FORCE_TIME) & (end >= FORCE_TIME)
        force[during, 2], point[during, :2] = newtons, (x, y)
    return PlateRecording(PLATE, FORCE_TIME, force, point, np.zeros_like(force), Path("walk.c3d"))


def found(recording: PlateRecording, right: FootTrack, left: FootTrack) -> list[Contact]:
    return contacts(recording, WALK, {"r": right, "l": left}, 20.0)


def test_one_plate_serves_both_feet_one_after_the_other() -> None:
    steps = [(0.5, 1.2, (0.0, -0.1)), (2.0, 2.7, (0.1, 0.1))]
    recording = pressed(*steps)
    own = found(recording, foot(steps[0]), foot(steps[1]))
    assert [contact.side for contact in own] == ["r", "l"]
    np.testing.assert_allclose([(c.start, c.end) for c in own], [(0.5, 1.2), (2.0, 2.7)], atol=1e-3)
    right, left = on_feet(recording, own)
    assert (right.side, left.side) == ("r", "l")
    np.testing.assert_array_equal(right.force + left.force, recording.force)
    assert not (right.force[:, 2] * left.force[:, 2]).any()


@pytest.mark.parametrize(("level", "noise"), [(11.0, 16.0), (0.0, 12.0), (15.0, 5.0)])
def test_noise_of_an_idle_plate_joins_no_contacts(level: float, noise: float) -> None:
    steps = [(0.5, 1.2, (0.0, -0.1)), (2.0, 2.7, (0.1, 0.1))]
    recording = pressed(*steps)
    recording.force[:, 2] += np.random.default_rng(4).normal(level, noise, FORCE_TIME.size)
    own = [contact for contact in found(recording, foot(steps[0]), foot(steps[1])) if contact.significant]
    assert [contact.side for contact in own] == ["r", "l"]
    np.testing.assert_allclose([(c.start, c.end) for c in own], [(0.5, 1.2), (2.0, 2.7)], atol=0.03)


def test_noise_of_an_idle_plate_moves_no_edge_of_a_contact() -> None:
    """Single samples reach 50 N; their mean over 20 ms does not reach the threshold."""
    steps = [(0.5, 1.2, (0.0, -0.1)), (2.0, 2.7, (0.1, 0.1))]
    recording = pressed(*steps)
    recording.force[:, 2] += np.random.default_rng(4).normal(0.0, 12.0, FORCE_TIME.size)
    assert recording.force[FORCE_TIME < 0.4, 2].max() > 30.0
    own = found(recording, foot(steps[0]), foot(steps[1]))
    np.testing.assert_allclose([(c.start, c.end) for c in own], [(0.5, 1.2), (2.0, 2.7)], atol=0.011)


@pytest.mark.parametrize("rate", [60.0, 100.0, 2000.0])
def test_a_contact_is_where_force_and_its_mean_exceed_the_threshold(rate: float) -> None:
    time = np.arange(round(2.0 * rate)) / rate
    force = np.where((time > 0.5) & (time < 1.5), 300.0, 0.0)
    force[round(0.2 * rate)] = 19.0
    np.testing.assert_array_equal(stands_loaded(time, force, 20.0), force == 300.0)
    light = np.where(force > 0.0, 30.0, 0.0)
    assert stands_loaded(time, light, 20.0).sum() > 0.9 * rate


def test_the_foot_that_swings_past_is_not_the_one_that_stands() -> None:
    step = (0.5, 1.2, (0.0, -0.1))
    path = np.stack([-1.5 + 2.0 * TIME, np.full_like(TIME, 0.05), np.full_like(TIME, 0.1)], axis=1)
    swing = FootTrack(TIME, path - HALF, path + HALF)
    (contact,) = found(pressed(step), foot(step), swing)
    assert contact.side == "r"


def test_two_feet_that_stand_on_it_are_not_distinguished() -> None:
    stance = (0.5, 1.5, (0.0, -0.12)), (0.5, 1.5, (0.0, 0.12))
    # Even where the center of pressure stays near to one of them.
    (contact,) = found(pressed((0.5, 1.5, (0.0, -0.1))), foot(stance[0]), foot(stance[1]))
    assert contact.side is None and contact.unclear is Unclear.BOTH


def test_weight_that_passes_from_foot_to_foot_is_not_distinguished() -> None:
    recording = pressed((0.5, 1.0, (0.0, -0.12)), (1.0, 1.5, (0.0, 0.12)))
    (contact,) = found(recording, foot((0.5, 1.02, (0.0, -0.12))), foot((0.98, 1.5, (0.0, 0.12))))
    assert contact.side is None and contact.unclear is Unclear.BOTH


@pytest.mark.parametrize("newtons", [700.0, 30.0])
def test_no_foot_near(newtons: float) -> None:
    recording = pressed((0.5, 1.5, (0.0, 0.0)), newtons=newtons)
    (contact,) = found(recording, foot(), foot())
    assert contact.unclear is Unclear.FAR and "1.88 m away" in contact.reason
    assert contact.significant == (newtons == 700.0)
    assert on_feet(recording, [contact]) == []


def test_a_moment_without_load_does_not_part_a_contact() -> None:
    step = (0.5, 1.5, (0.0, -0.1))
    recording = pressed((0.5, 0.6, (0.0, -0.1)), (0.62, 1.5, (0.0, -0.1)))
    assert len(found(recording, foot(step), foot())) == 1
    recording = pressed((0.5, 0.6, (0.0, -0.1)), (0.7, 1.5, (0.0, -0.1)))
    assert len(found(recording, foot(step), foot())) == 2


def test_feet_that_were_not_seen() -> None:
    step = (0.5, 1.5, (0.0, -0.1))
    lost = FootTrack(TIME, np.full((TIME.size, 3), np.nan), np.full((TIME.size, 3), np.nan))
    (contact,) = found(pressed(step), foot(step), lost)
    assert contact.side is None and contact.unclear is Unclear.UNSEEN


@pytest.mark.parametrize("heels", ["seen", "lost"])
def test_feet_that_are_not_seen_are_refused_by_a_code_of_their_own(heels: str) -> None:
    """Another check names the unmapped markers, and leaves out what follows from them."""
    step, recording = (0.5, 1.5, (0.0, -0.1)), pressed((0.5, 1.5, (0.0, -0.1)))
    lost = FootTrack(TIME, np.full((TIME.size, 3), np.nan), np.full((TIME.size, 3), np.nan))
    feet = {"r": foot(step), "l": lost} if heels == "lost" else {"r": foot(step), "l": foot(step)}
    settings = RecordedSettings().changed(time={"start_s": 0.0, "end_s": 3.0})
    steps = {1: contacts(recording, WALK, feet, 20.0)}
    with refused("unseen_feet" if heels == "lost" else "unassigned_plate", "plate 1 from 0.500"):
        _assigned_plates(settings, [recording], steps, feet)


def test_a_plate_under_both_feet_is_not_said_to_be_under_none() -> None:
    step, recording = (0.5, 1.5, (0.0, -0.1)), pressed((0.5, 1.5, (0.0, -0.1)))
    feet = {"r": foot(step), "l": foot(step)}
    with refused("unassigned_plate", "no plate shows the force of one foot: both feet stand on it"):
        _assigned_plates(RecordedSettings(), [recording], {1: contacts(recording, WALK, feet, 20.0)}, feet)


def test_a_plate_that_no_foot_touches() -> None:
    assert found(pressed(), foot(), foot()) == []


def test_a_wrench_about_any_point_has_one_center_of_pressure() -> None:
    rng = np.random.default_rng(3)
    force = rng.normal(size=(50, 3)) * 100.0 + [0.0, 0.0, 700.0]
    pressure, free = rng.normal(size=(2, 50, 3)) * [[[1.0, 1.0, 0.0]], [[0.0, 0.0, 5.0]]]
    about = np.array([0.3, 0.9, 0.0])
    moment = np.cross(pressure - about, force) + free
    point, left = to_center_of_pressure(force, np.tile(about, (50, 1)), moment)
    np.testing.assert_allclose(point, pressure, atol=1e-12)
    np.testing.assert_allclose(left, free, atol=1e-9)
    same = to_center_of_pressure(force, pressure, free)
    assert same[0] is pressure and same[1] is free


@pytest.mark.parametrize(("from_edge", "side"), [(0.021, "r"), (0.002, None)])
def test_a_sole_is_on_its_plate_by_the_point_of_force_not_by_its_markers(
    from_edge: float, side: str | None
) -> None:
    """The heel marker is 42 mm behind the edge; the load begins inside, or on the edge: the rest is on the floor."""
    step = (0.5, 1.2, (-0.3 - 0.042 + HALF[0], 0.0))
    recording = pressed((0.5, 1.2, (-0.3 + from_edge, 0.0)))
    feet = {"r": foot(step), "l": foot()}
    steps = contacts(recording, WALK, feet, 20.0)
    (contact,) = on_plates_whole(recording, steps, feet, [PLATE])
    assert contact.side == side and (contact.unclear is Unclear.BESIDE) == (side is None)
