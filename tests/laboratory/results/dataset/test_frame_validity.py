"""Valid frames, and their places in the gait cycle."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from synthetic_result import result, set_status, with_troubles

import musclesolve as ms
from musclesolve.laboratory.plotting.page.curves import abscissa
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.checked import checked_result


def test_every_frame_is_solved_or_with_reserve_or_failed():
    data = with_troubles(result())
    for side in "rl":
        verdicts = [
            frames.solved(data, side),
            frames.solved_with_reserve(data, side),
            frames.failed(data, side),
        ]
        assert (np.sum(verdicts, axis=0) == 1).all()
    assert np.flatnonzero(frames.failed(data, "r")).tolist() == [40, 41, 42]
    assert np.flatnonzero(frames.failed(data, "l")).tolist() == [50]


def test_status_is_read_through_the_flags_of_the_file():
    data = with_troubles(result())
    swapped = data.copy(deep=True)
    swapped["status"].attrs["flag_meanings"] = "INFEASIBLE SOLVED_WITH_RESERVE SOLVED A B C D E F G"
    swapped["status"] = swapped["status"].copy(
        data=np.array([2, 1, 0, 3, 4, 5, 6, 7], dtype=np.int8)[data["status"]]
    )
    for side in "rl":
        assert (frames.solved(swapped, side) == frames.solved(data, side)).all()


def test_an_unknown_status_is_not_solved():
    data = result()
    data["status"].attrs["flag_meanings"] = "SOMETHING_NEW SOLVED_WITH_RESERVE A B C D E F G H"
    assert not frames.solved(data, "r").any() and not frames.solved_with_reserve(data, "r").any()
    with refused("bad_result", "valid"):
        checked_result(data)


def test_sides_follow_the_muscles():
    assert frames.sides(result()) == ["r", "l"]
    assert frames.sides(result(sides="l")) == ["l"]


def test_heel_strikes_are_the_beginnings_of_stance():
    data = result(n_frames=501)
    assert np.allclose(frames.heel_strikes(data, "r"), [0.2, 1.2, 2.2], atol=0.006)
    # The left foot stands on the ground in the first frame: that strike was not recorded.
    assert np.allclose(frames.heel_strikes(data, "l"), [0.7, 1.7], atol=0.006)


def test_named_heel_strikes_take_precedence():
    data = result()
    data.attrs["heel_strike_times_r"] = [0.25, 1.25]
    assert frames.heel_strikes(data, "r").tolist() == [0.25, 1.25]


def test_gait_cycles_run_from_zero_to_a_hundred():
    data = result(n_frames=251)
    cycles = frames.cycles(data, "r")
    assert len(cycles) == 2
    for cycle in cycles:
        assert cycle.percent[0] == 0.0
        assert abs(cycle.percent[-1] - 100.0) < 1e-9
        assert (np.diff(cycle.percent) > 0).all()
        assert cycle.index.size == cycle.percent.size
        assert cycle.complete


def test_half_a_cycle_keeps_its_place():
    data = result(n_frames=251).isel(time=slice(0, 60))
    data.attrs["heel_strike_times_r"] = [-0.5, 0.5]
    (cycle,) = frames.cycles(data, "r")
    assert cycle.index[0] == 0
    assert abs(cycle.percent[0] - 50.0) < 1e-9
    assert not cycle.complete


def test_an_interval_without_a_strike_in_its_middle_is_no_cycle_of_a_figure_either():
    data = result(n_frames=251)
    data.attrs |= {"heel_strike_times_r": [0.1, 0.6, 1.1, 2.1], "heel_strike_times_l": [0.1, 1.1]}
    assert [cycle.start for cycle in frames.cycles(data, "r")] == [0.1, 0.6]
    drawn = abscissa(data).passes["r"]
    assert len(drawn) == 2 and max(data.time.values[each.index[-1]] for each in drawn) < 1.101


@pytest.mark.parametrize(
    ("rate", "beyond", "complete"), [(30, 0.6, True), (30, 1.4, False), (100, 1.4, False)]
)
def test_a_strike_less_than_a_frame_beyond_the_last_one_is_reached(rate, beyond, complete):
    """Nothing more of the cycle could have been recorded at that rate."""
    data = result(n_frames=rate * 5 // 2 + 1)
    data.attrs["heel_strike_times_r"] = [1.6, 2.5 + beyond / rate]
    (cycle,) = frames.cycles(data, "r")
    assert cycle.complete == complete
    angle = ms.laboratory.cycles(data, "r", partial=True, strides=True)["joint_angle"]
    assert bool(np.isfinite(angle).all()) == complete


def test_the_cause_of_an_invalid_motion_comes_before_what_follows_from_it():
    data, frame = result(), np.arange(60)
    data["steady"] = (("time", "side"), np.stack([frame != 10, frame != 11], axis=1))
    data["foot_in_place"] = (("time", "side"), np.stack([frame > 11, frame >= 0], axis=1))
    data["balanced"] = ("time", (frame < 9) | (frame > 12))
    set_status(data, ms.Status.INVALID_MOTION, slice(9, 13))
    right, left = (frames.reason_names(data, side).tolist() for side in "rl")
    assert right[8] == "solved"  # the status decides; the masks say why
    assert right[9:14] == ["foot_displaced", "joint_angle_jump", "foot_displaced", "unbalanced", "solved"]
    assert left[8:14] == ["solved", "unbalanced", "unbalanced", "joint_angle_jump", "unbalanced", "solved"]
    assert frames.credible(data, "l").tolist() == [not 9 <= k <= 12 for k in range(60)]


@pytest.mark.parametrize(
    ("kept", "joints", "words"),
    [
        ("rl", "knee", "leg-frames"),
        ("r", "knee", "frames"),
        ("rl", "elbow", "frames of both sides"),
        ("rlo", "knee", "frames of both legs and other muscles"),
        ("ro", "knee", "frames of the right leg and other muscles"),
    ],
)
def test_frames_that_count_for_each_part_are_called_by_the_parts(kept, joints, words):
    data = result()
    side = [{"r": "r", "l": "l", "o": "other"}[each] for each in kept]
    data = data.isel(muscle=slice(len(side))).assign_coords({frames.MUSCLE_SIDE: ("muscle", side)})
    data = data.sel(side=["r"] * len(side)).assign_coords(side=side)
    data = data.sel(joint=["knee_r"]).assign_coords(joint=[f"{joints}_r"])
    assert frames.frames_word(data) == words
