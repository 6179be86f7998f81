"""The movement is recognized by ground reactions and motion, and is unknown where these are of none."""

from __future__ import annotations

import numpy as np
import pytest
from on_the_spot import Chair, Squat
from refusals import refused
from seen_motion import motion, stances

import musclesolve as ms
from musclesolve.laboratory.recording.trial_settings import ModelSettings
from musclesolve.laboratory.results.movement import SeenMotion
from musclesolve.laboratory.results.movement import movement as movement_of
from musclesolve.models.opensim.model_settings import stated_settings
from musclesolve.studies import synthetic_recording

COUNT = 180
STEPS = (stances(COUNT, (0, 70), (110, 180)), stances(COUNT, (50, 130)))
"""Right foot 0 to 0.7 s and from 1.1 s on, left foot 0.5 to 1.3 s."""
ON = np.linspace(0.0, 2.2, COUNT)  # on the way, 1.2 m/s
BEND = 10.0 + 80.0 * np.sin(np.pi * np.linspace(0.0, 1.0, COUNT)) ** 2
"""Knees that bend to 90 degrees and straighten again."""
FEET = np.full(COUNT, 0.5)


def movement(result):
    return movement_of(SeenMotion(result))


def name(*args, **kwargs):
    return movement(motion(*args, **kwargs)).name


def flying(first, stop):
    """Height of hips that rise and fall freely between two frames, 0.9 m elsewhere."""
    height, frames = np.full(COUNT, 0.9), np.arange(first, stop)
    time = (frames - first) / 100.0
    height[first:stop] += 0.5 * 9.81 * time * (time[-1] - time)
    return height


def test_walking_is_level_and_stairs_rise():
    assert name(*STEPS, ahead=ON, height=0.9 + 0.02 * np.sin(np.arange(COUNT) / 9.0)) == "walking"
    assert name(*STEPS, ahead=0.5 * ON, height=0.9 + 0.3 * ON) == "stairs_up"
    assert name(*STEPS, ahead=0.5 * ON, height=2.0 - 0.3 * ON) == "stairs_down"
    assert name(*STEPS, ahead=ON, height=0.9 + 0.17 * ON) == "unknown"  # a ramp


def test_walking_on_a_treadmill_goes_nowhere():
    assert name(*STEPS) == "walking"
    assert np.isnan(movement(motion(*STEPS)).speed)
    assert name(STEPS[0][:100], STEPS[1][:100]) == "unknown"  # one step on the spot


TREAD = 0.3 * np.cos(2.0 * np.pi * np.arange(COUNT) / 110.0)
"""How far the right foot is ahead while somebody walks: most at its strikes, at 0 and 1.1 s."""


def test_marching_on_the_spot_is_not_walking():
    assert name(*STEPS, width=0.2, reach=TREAD) == "walking"
    assert name(*STEPS, width=0.2, reach=0.1 * TREAD) == "unknown"


@pytest.mark.parametrize("angle", [60.0, 90.0, -120.0, 180.0])
@pytest.mark.parametrize("width", [0.0, 0.2])
def test_who_turns_is_not_walking_straight_on(angle, width):
    """Over two strides, or within half a second of them: about a corner."""
    even = np.linspace(0.0, angle, COUNT)
    corner = np.interp(np.arange(COUNT), [0, 120, 170, COUNT], [0.0, 0.0, angle, angle])
    for heading in (even, corner):
        assert name(*STEPS, ahead=ON, heading_deg=heading, width=width) in ("turning", "unknown")
    # half of the time of so short a recording is averaged: of 60 degrees 30 are seen
    expected = "turning" if abs(angle) >= 90.0 else "unknown"
    assert name(*STEPS, ahead=ON, heading_deg=even, width=width) == expected
    assert name(*STEPS, ahead=0.05 * ON, heading_deg=even, width=0.2) == expected  # on the spot


def test_the_pelvis_rotates_in_straight_walking():
    sway = 9.0 * np.sin(2.0 * np.pi * np.arange(COUNT) / 110.0)
    for phase in range(0, 110, 10):
        assert name(*STEPS, ahead=ON, heading_deg=np.roll(sway, phase), width=0.2) == "walking"
    assert (
        name(*STEPS, ahead=ON, heading_deg=30.0, width=0.2) == "walking"
    )  # of the laboratory, not of the body


def test_who_walks_backward_or_sideways_is_not_walking():
    assert name(*STEPS, ahead=ON, width=0.2) == "walking"
    assert name(*STEPS, ahead=-ON, width=0.2) == "unknown"
    data = motion(*STEPS, ahead=ON, width=0.2)
    points = data["skeleton_position"].copy(deep=True)
    points.loc[{"skeleton_point": "hip_r"}] += [-0.1, 0.1, 0.0]  # the line of the hips points ahead
    points.loc[{"skeleton_point": "hip_l"}] += [0.1, -0.1, 0.0]
    assert movement(data.assign(skeleton_position=points)).name == "unknown"


@pytest.mark.parametrize("rise", [0.12, 0.18, -0.15])
def test_a_curb_is_not_level_ground(rise):
    """One step up or down within the way: less than a tenth of it, and not level."""
    up = rise * np.clip((np.arange(COUNT) - 90.0) / 40.0, 0.0, 1.0)
    assert name(*STEPS, ahead=ON, height=0.9 + up, width=0.2) == "unknown"
    # the body stays at its height, and the feet stand at two: over a threshold with the knee bent
    assert name(*STEPS, ahead=ON, width=0.2, reach=TREAD, raised=up) == "unknown"
    assert name(*STEPS, height=0.9 + up, width=0.2, reach=TREAD) == "unknown"  # on a box, at its place
    for height, expected in ((0.0, "walking"), (rise, "unknown")):  # of the plate of the left foot
        data, place = motion(*STEPS, ahead=ON), np.zeros((COUNT, 2, 3))
        place[:, 1, 2] = height
        data["center_of_pressure"] = (("time", "side", "axis"), place)
        assert movement(data).name == expected
    assert name(*STEPS, ahead=ON, height=0.9 + 0.1 * up, width=0.2, reach=TREAD, raised=0.1 * up) == "walking"


def test_a_lunge_is_no_squat():
    data = motion(FEET, FEET, knee_deg=BEND)
    points = data["skeleton_position"].copy(deep=True)
    straight = motion(FEET, FEET, knee_deg=0.5 * BEND)["skeleton_position"]
    for point in ("hip_r", "knee_r", "ankle_r"):
        points.loc[{"skeleton_point": point}] = straight.sel(skeleton_point=point)
    assert name(FEET, FEET, knee_deg=0.75 * BEND) == "squat"
    assert movement(data.assign(skeleton_position=points)).name == "unknown"


def test_speed_is_that_of_the_way():
    assert movement(motion(*STEPS, ahead=ON)).speed == pytest.approx(2.2 / 1.79)


def test_running_flies_from_one_foot_to_the_other():
    right, left = stances(COUNT, (10, 35), (80, 105), force=2.2), stances(COUNT, (45, 70), force=2.2)
    height = np.minimum.reduce([flying(first, stop) for first, stop in ((35, 45), (70, 80))])
    height += np.maximum.reduce([flying(35, 45), flying(70, 80)]) - 0.9
    assert name(right, left, ahead=3.0 * ON, height=height) == "running"
    assert movement(motion(right, left, ahead=3.0 * ON, height=height)).speed == pytest.approx(6.6 / 1.79)
    assert np.isnan(
        movement(motion(right, left, ahead=0.2 * ON, height=height)).speed
    )  # on a treadmill, it drifts
    assert name(right, left, ahead=3.0 * ON, height=height, heading_deg=30.0 * ON, width=0.2) == "unknown"
    assert (
        name(right, left, ahead=3.0 * ON) == "unknown"
    )  # nobody falls: the steps between lie beside the plates


def test_a_jump_leaves_or_lands_with_both_feet():
    both = stances(COUNT, (0, 60), (110, 180))
    assert name(both, both, height=flying(60, 110)) == "jump"
    late = stances(COUNT, (0, 60), (114, 180))  # one foot lands a little later
    assert name(both, late, height=flying(60, 110)) == "jump"
    assert name(both, both) == "unknown"  # without a fall, they step off the plates


def test_what_is_done_on_both_feet():
    assert name(FEET, FEET) == "standing"
    assert name(FEET, FEET, knee_deg=BEND) == "squat"
    seated = np.where(BEND > 60.0, 0.15, 0.5)
    assert name(seated, seated, knee_deg=BEND) == "chair"
    assert name(seated[90:], seated[90:], knee_deg=BEND[90:]) == "chair"  # rises only
    assert name(FEET[90:], FEET[90:], knee_deg=BEND[90:]) == "unknown"  # from a squat, or from a seat
    assert name(FEET, FEET, knee_deg=50.0) == "unknown"


def test_standing_on_one_leg():
    assert name(2.0 * FEET, 0.0 * FEET + 0.001) == "unknown"  # nothing is known of a foot that bears nothing
    briefly = stances(COUNT, (0, 5), force=0.5)
    assert name(1.0 - briefly, briefly) == "standing_on_one_leg"


def test_one_leg_tells_no_more_than_walking():
    assert name(*STEPS, ahead=ON, sides="r") == "walking"
    assert name(2.2 * STEPS[0], STEPS[1], ahead=ON, sides="r") == "unknown"
    assert name(FEET, FEET, knee_deg=BEND, sides="r") == "unknown"


def test_what_the_file_states_holds():
    stated = motion(FEET, FEET).assign_attrs(movement="other")
    assert (movement(stated).name, movement(stated).stated, movement(stated).seen) == ("other", True, "")
    assert movement(stated.assign_attrs(movement="standing")).seen == ""
    assert movement(stated.assign_attrs(movement="squat")).seen == "standing"
    assert movement(stated.assign_attrs(movement="squat").isel(time=[0])).seen == ""


@pytest.mark.parametrize("lost", ["ground_reaction_force", "skeleton_position"])
def test_a_result_without_forces_or_pelvis(lost):
    data = motion(*STEPS, ahead=ON).drop_vars(lost)
    assert movement(data).name == ("unknown" if lost == "ground_reaction_force" else "walking")
    assert movement(data.isel(time=[0])).name == "unknown"


def test_a_movement_that_nobody_knows_is_refused(tmp_path):
    with refused("unknown_name", "'walking'"):
        stated_settings(ModelSettings, movement="dancing")
    path = synthetic_recording(tmp_path, truth=False)
    path.write_text(path.read_text().replace("[time]", '[time]\nmovement = "dancing"'))
    with refused("bad_value", "standing_on_one_leg"):
        ms.read_trial(path)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("kind", "expected"), [(Squat, "squat"), (Chair, "chair")])
def test_squat_and_chair_as_recordings(kind, expected, tmp_path):
    """The seat is measured by no plate: who sits is out of balance, and recognized nevertheless."""
    result = ms.run(synthetic_recording(tmp_path, kind.to(0.25), truth=False))
    assert result["plausible"].attrs["movement"] == expected
    assert bool(result["valid"].all()) == (kind is Squat)
    # the squat keeps the trunk upright: 2.1 N m/kg at the knee; what the seat bears is no residual of a chair
    assert result["plausible"].attrs["verdict"] == ("not plausible" if kind is Squat else "plausible")


@pytest.mark.thorough
def test_a_run_and_a_walk_as_recordings(tmp_path):
    for option, expected in (("walk", "walking"), ("run", "running")):
        trial = synthetic_recording(tmp_path / option, motion=option, truth=False)
        assert movement(ms.run(trial, side="both")).name == expected


@pytest.mark.thorough
def test_a_curved_walk_as_a_recording(tmp_path):
    """In exact balance round an arc: no peak of it is compared with those of straight walking."""
    data = ms.run(synthetic_recording(tmp_path, turn_deg=90.0, strides=2, truth=False))
    assert data["plausible"].attrs["movement"] == "turning"
    assert (data["plausible"] == 0).all()


def test_the_trial_file_may_state_it(tmp_path):
    path = synthetic_recording(tmp_path, truth=False)
    path.write_text(path.read_text().replace("[time]", '[time]\nmovement = "stairs_up"'))
    result = ms.run(path)
    assert result.attrs["movement"] == "stairs_up"
    assert result["plausible"].attrs["movement"] == "stairs_up"
