"""Where cycles begin and end: as stated, by contacts of a jump, the rise from a seat, the depth of a squat, steps."""

from __future__ import annotations

import numpy as np
import pytest
from on_the_spot import Chair, Squat
from refusals import refused
from seen_motion import motion, stances
from synthetic_result import result

import musclesolve as ms
from musclesolve.laboratory.results.cycles.movement_landmarks import heel_strikes, intervals
from musclesolve.studies import synthetic_recording

COUNT = 180
TIME = np.arange(COUNT) / 100.0


def flying(first: int, stop: int) -> np.ndarray:
    height, frames = np.full(COUNT, 0.9), np.arange(first, stop)
    time = (frames - first) / 100.0
    height[first:stop] += 0.5 * 9.81 * time * (time[-1] - time)
    return height


def test_stated_cycles_are_those_of_both_legs():
    data = result(251)
    data.attrs["cycles_s"] = np.array([0.3, 0.9, 1.0, 2.0, 7.0, 8.0])
    for side in "rl":
        cycles = ms.laboratory.cycles(data, side)
        assert cycles["cycle_start"].values.tolist() == [0.3, 1.0]
        assert cycles["cycle_end"].values.tolist() == [0.9, 2.0]
        assert cycles.attrs["left_out"][0].endswith("7.000 to 8.000 s: no frames in it")
    data.attrs["heel_strike_times_r"] = [0.2, 1.2]
    assert ms.laboratory.cycles(data, "r", strides=True)["cycle_start"].values.tolist() == [0.2]


def test_a_drop_jump_runs_from_contact_to_take_off():
    """Off a box that measures nothing, a contact of 0.5 s with its lowest point after 0.2 s, a flight, a landing."""
    on = stances(COUNT, (30, 80), (130, 180), force=0.8)
    height = np.where((TIME > 0.3) & (TIME < 0.8), 0.9 - 0.2 * np.sin(np.pi * (TIME - 0.3) / 0.5), 0.9)
    height[30:80] = 0.9 - 0.2 * np.interp(TIME[30:80], [0.3, 0.5, 0.79], [0.0, 1.0, 0.0])
    fall = flying(80, 130)
    height[80:130] = fall[80:130]
    height[130:] = 0.9 - 0.2 * np.interp(TIME[130:], [1.3, 1.5, 1.79], [0.0, 1.0, 0.4])
    found = intervals(motion(on, on, height=height), "r")
    (jump,) = found.cycles
    assert found.movement == "jump"
    assert (jump.start, jump.end) == pytest.approx((0.3, 0.79))
    assert jump.landmarks["deepest_percent"] == pytest.approx(100.0 * 0.2 / 0.49, abs=0.1)
    assert found.left_out == [(pytest.approx(1.3), pytest.approx(1.5), "a landing without take-off after it")]


def test_a_landing_alone_ends_at_its_lowest_point():
    on = stances(COUNT, (0, 60), (110, 180), force=0.8)
    height = flying(60, 110)
    height[110:] = 0.9 - 0.2 * np.interp(TIME[110:], [1.1, 1.35, 1.79], [0.0, 1.0, 0.4])
    found = intervals(motion(on, on, height=height), "l")
    assert found.movement == "landing"
    assert [(each.start, each.end) for each in found.cycles] == [pytest.approx((1.1, 1.35))]


def bend(*times: float) -> np.ndarray:
    """Knees straight, and bent to 90 degrees around some times within 0.4 s."""
    angle = np.full(COUNT, 10.0)
    for time in times:
        angle += 80.0 * np.where(
            np.abs(TIME - time) < 0.4, 0.5 * (1.0 + np.cos(np.pi * (TIME - time) / 0.4)), 0.0
        )
    return angle


def sunk(angle: np.ndarray) -> np.ndarray:
    return 0.84 * np.cos(0.5 * np.deg2rad(angle))


def test_every_squat_goes_down_and_up_again():
    angle, feet = bend(0.5, 1.3), np.full(COUNT, 0.5)
    found = intervals(motion(feet, feet, height=sunk(angle), knee_deg=angle), "r")
    assert found.movement == "squat" and len(found.cycles) == 2
    for cycle, middle in zip(found.cycles, (0.5, 1.3), strict=True):
        assert cycle.landmarks["deepest_percent"] == pytest.approx(50.0, abs=2.0)
        # knees that are nearly straight hardly lower the hips: 5 % of the greatest velocity comes 0.03 s later
        assert (cycle.start, cycle.end) == pytest.approx((middle - 0.37, middle + 0.37), abs=0.011)


def test_a_rise_from_a_seat_ends_upright_and_sitting_down_is_none():
    angle = np.interp(TIME, [0.0, 0.4, 1.0, 1.79], [90.0, 90.0, 10.0, 10.0])
    feet = np.where(TIME < 0.55, 0.15, 0.52)
    found = intervals(motion(feet, feet, height=sunk(angle), knee_deg=angle), "l")
    (rise,) = found.cycles
    assert found.movement == "chair" and (rise.start, rise.end) == pytest.approx((0.4, 1.0), abs=0.02)
    left = rise.start + 0.01 * rise.landmarks["seat_off_percent"] * (rise.end - rise.start)
    assert left == pytest.approx(0.55, abs=0.011)
    down = intervals(motion(feet[::-1], feet[::-1], height=sunk(angle)[::-1], knee_deg=angle[::-1]), "l")
    assert down.movement == "chair" and down.cycles == []
    assert "no rise" in down.why_none


def walking(first: float, last: float, strike: float = 0.0) -> object:
    """A walk seen from the hips: the ankle swings to and fro each second, farthest ahead 0.03 s before a strike."""
    time = np.arange(round(100 * first), round(100 * last) + 1) / 100.0
    data = motion(np.zeros(time.size), np.zeros(time.size), ahead=1.2 * time)
    position = data["skeleton_position"].values
    names = [str(name) for name in data["skeleton_point"].values]
    for side, phase in (("r", 0.0), ("l", 0.5)):
        width = {"r": -0.1, "l": 0.1}[side]
        for name in ("hip", "knee", "ankle"):
            position[:, names.index(f"{name}_{side}"), 1] = width
        ahead = 0.3 * np.cos(2.0 * np.pi * (time - strike - phase + 0.03))
        position[:, names.index(f"ankle_{side}"), 0] = 1.2 * time + ahead
    return data.assign_coords(time=time).drop_vars("ground_reaction_force")


def test_strikes_are_seen_without_forces():
    data = walking(0.0, 2.6)
    np.testing.assert_allclose(heel_strikes(data, "r"), [0.0, 1.0, 2.0], atol=0.003)
    np.testing.assert_allclose(heel_strikes(data, "l"), [0.5, 1.5, 2.5], atol=0.003)


@pytest.mark.parametrize("cut", [0.0, 0.02])
def test_a_file_cut_to_one_stride_has_one(cut):
    """The strikes lie up to 0.02 s beyond the frames."""
    strikes = heel_strikes(walking(cut, 1.0 - cut), "r")
    np.testing.assert_allclose(strikes, [0.0, 1.0], atol=0.012)


def test_a_stride_cut_where_the_foot_is_farthest_ahead_has_its_ends():
    """The farthest reach lies at both ends, none between; half a stride has no second strike."""
    np.testing.assert_allclose(heel_strikes(walking(0.97, 1.97), "r"), [0.97, 1.97])
    assert heel_strikes(walking(0.97, 1.47), "r").size == 0


def test_strikes_of_forces_come_first_and_set_the_distance():
    """The forces show a strike 0.05 s after the farthest reach: so do the others."""
    data = walking(0.0, 2.6)
    data.attrs["heel_strike_times_r"] = [1.02]
    np.testing.assert_allclose(heel_strikes(data, "r"), [0.02, 1.02, 2.02], atol=0.003)


def test_who_stands_or_lunges_does_not_step():
    data = walking(0.0, 2.6)
    names = [str(name) for name in data["skeleton_point"].values]
    data["skeleton_position"].values[:, names.index("ankle_r"), 0] += 0.3  # always in front of the hips
    assert heel_strikes(data, "r").size == 0 and heel_strikes(data, "l").size == 3


def test_a_cycle_that_no_walk_has_is_left_out_and_said_but_not_where_it_is_stated():
    """A strike twice, 0.08 s apart, and one in 8 s; a file says otherwise of what it states."""
    data = walking(0.0, 2.6)
    data.attrs |= {"movement": "walking", "heel_strike_times_r": [0.0, 1.0, 1.08, 2.0]}
    found = intervals(data, "r")
    assert [(each.start, each.end) for each in found.cycles] == [(0.0, 1.0), (1.08, 2.0)]
    assert found.left_out[0][:2] == (1.0, 1.08) and "0.08 s is no cycle of walking" in found.left_out[0][2]
    data.attrs["cycles_s"] = np.array([0.0, 0.08])
    assert len(intervals(data, "r").cycles) == 1


@pytest.mark.in_part(2)
@pytest.mark.parametrize("kind", [Squat, Chair])
def test_squat_and_chair_as_recordings(kind, tmp_path):
    data = ms.run(synthetic_recording(tmp_path, kind.to(0.25), truth=False))
    for side in "rl":
        cycles = ms.laboratory.cycles(data, side)
        (movement,), (start,), (end,) = (
            cycles[f"cycle_{name}"].values for name in ("movement", "start", "end")
        )
        if kind is Squat:
            assert (movement, start, end) == ("squat", pytest.approx(0.4), pytest.approx(1.48))
            assert cycles["deepest_percent"].item() == pytest.approx(50.0, abs=1.0)
            assert cycles["missing"].item() == ""
        else:  # the seat bears nothing from 44 % of the rise on
            assert (movement, start, end) == ("chair", pytest.approx(0.4), pytest.approx(0.94, abs=0.011))
            assert cycles["seat_off_percent"].item() == pytest.approx(43.7, abs=4.0)
    walk = ms.laboratory.cycles(result(251), "r")
    walk["percent"].attrs["long_name"] = "gait cycle"
    with refused("not_comparable", "movements"):
        ms.laboratory.average_cycles([cycles, walk])
