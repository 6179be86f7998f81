"""The time range that a recording allows: each leg where its contacts are on plates and its markers are seen."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from c3d_files import PlateOnPaper, write_c3d
from examined import examined
from treadmill import on_a_treadmill, on_split_belts
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve import read_trial
from musclesolve._util.arrays import at_times, true_runs
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import find_options
from musclesolve.laboratory.trial.plates.foot_contacts import ground_velocity, unmeasured_contacts
from musclesolve.laboratory.trial.time_range import find_range
from musclesolve.tables import read_mot, read_trc, write_mot
from tests.support.refusals import refused

# Contacts of the reference stride where the recording begins 0.4 s before a right heel strike: [s].
RIGHT_OFF_1, RIGHT_ON_2, RIGHT_OFF_2, RIGHT_ON_3 = 1.07, 1.483, 2.155, 2.567
LEFT_OFF_1, LEFT_ON_2, LEFT_OFF_2, LEFT_ON_3 = 0.53, 0.942, 1.613, 2.025


def walk(folder: Path, **options: object) -> Path:
    """Three strides over two plates in the middle, unless otherwise stated."""
    return ms.studies.synthetic_recording(
        folder, truth=False, **{"strides": 3, "steps": ("r2", "l2")} | options
    )


@pytest.fixture(scope="module")
def standard(tmp_path_factory) -> Path:
    """The walk of most tests, written once."""
    return walk(tmp_path_factory.mktemp("standard"))


def legs_of(trial: Trial) -> list[float]:
    return [time for side in "rl" for time in trial.legs[side]]


def test_each_leg_is_analyzed_from_the_toe_off_before_its_plate_to_the_heel_strike_after_it(standard):
    trial = read_trial(standard)
    assert legs_of(trial) == pytest.approx([RIGHT_OFF_1, RIGHT_ON_3, LEFT_OFF_1, LEFT_ON_3], abs=0.03)
    # Nothing of an unmeasured contact is taken.
    assert trial.legs["r"][0] > RIGHT_OFF_1 - 0.005 and trial.legs["r"][1] < RIGHT_ON_3
    assert trial.time_range == (trial.legs["l"][0], trial.legs["r"][1])
    assert trial.balanced_range == (trial.legs["r"][0], trial.legs["l"][1])
    sentences = "\n".join(trial.analyzed)
    assert (
        "right leg: 1.07 to 2.5" in sentences
        and "on the floor beside the plates (0.40 to 1.05 s)" in sentences
    )
    assert "pelvis residual: both feet 1.07 to 2.0" in sentences


def test_a_toe_that_moves_off_while_it_still_bears_is_waited_for(standard, tmp_path):
    """The markers of the right foot run 60 ms ahead at its first toe-off, while the left plate takes over the body."""
    copy = TrialCopy(standard)
    time = copy.walk.time
    later = time + np.interp(time, (0.8, 0.95, 1.1, 1.3), (0.0, 0.06, 0.06, 0.0))
    for part in ("heel", "toe"):
        path = copy.walk[copy.marker(f"{part}_r")]
        copy.move(copy.marker(f"{part}_r"), slice(None), at_times(time, path, later) - path)
    assert read_trial(copy.write(tmp_path)).legs["r"][0] > RIGHT_OFF_1 - 0.035


@pytest.mark.parametrize(("noise_mm", "rate_hz"), [(3.0, 60.0), (1.0, 200.0)])
def test_noise_and_rate_move_it_little(tmp_path, noise_mm, rate_hz):
    trial = read_trial(walk(tmp_path, noise_mm=noise_mm, marker_rate_hz=rate_hz, force_noise_n=1.0))
    assert legs_of(trial) == pytest.approx([RIGHT_OFF_1, RIGHT_ON_3, LEFT_OFF_1, LEFT_ON_3], abs=0.05)


def test_where_every_step_is_on_a_plate_only_the_ends_are_left_out(tmp_path):
    trial = read_trial(walk(tmp_path, steps=("r1", "r2", "r3", "r4", "l1", "l2", "l3", "l4")))
    end = trial.markers.time[-1]
    assert trial.time_range == pytest.approx((0.1, end - 0.1), abs=0.02)
    assert set(trial.legs.values()) == {trial.time_range}
    assert "the recording begins" in trial.analyzed[0] and "the recording ends" in trial.analyzed[0]


def test_a_range_of_the_trial_file_overrides(standard):
    path = standard
    for line, expected in (("start_s = 1.2", (1.2, 4.05)), ("end_s = 1.9", (0.0, 1.9))):
        given = path.with_name(f"{line[:3]}.toml")
        given.write_text(path.read_text(encoding="utf-8") + f"\n[time]\n{line}\n", encoding="utf-8")
        trial = read_trial(given)
        assert trial.time_range == pytest.approx(expected) and not trial.legs and not trial.analyzed
        assert trial.measured("l", trial.markers.time).all()


def test_markers_of_legs_and_pelvis_bound_it(tmp_path):
    trial = read_trial(walk(tmp_path, gaps=(("asis_r", 0.0, 0.9), ("toe_l", 2.3, 4.05))))
    assert trial.time_range == pytest.approx((1.01, 2.19), abs=0.015)
    assert "before it 'asis_r' not seen at 0.90 s" in trial.analyzed[1]
    assert "after it 'toe_l' not seen at 2.30 s" in trial.analyzed[0]


def test_a_marker_that_is_lost_ends_the_range_of_predicted_forces(tmp_path):
    path = walk(tmp_path, gaps=(("ankle_medial_r", 2.2, 4.0),))
    text = re.sub(r"\[\[force\]\][^\[]*|\[time\][^\[]*", "", path.read_text())
    path.write_text(re.sub(r'forces = ".*"', 'forces = "predicted"', text))
    trial = read_trial(path)
    assert trial.time_range == pytest.approx((0.1, 2.1), abs=0.03)
    (sentence,) = trial.analyzed
    assert "longest stretch that shows" in sentence and "ankle_medial_r" in sentence


def test_gaps_that_are_filled_do_not_bound_it(standard, tmp_path):
    whole = read_trial(standard)
    trial = read_trial(walk(tmp_path, gaps=(("asis_r", 1.5, 1.58),)))
    assert trial.legs == whole.legs and [gap.marker for gap in trial.gaps if gap.filled] == ["asis_r"]


def test_gaps_far_from_it_are_not_spoken_of(tmp_path):
    trial = read_trial(walk(tmp_path, gaps=(("asis_r", 3.5, 4.05), ("heel_l", 3.6, 3.7))))
    assert trial.gaps == () and not any("heel_l" in note for note in trial.notes)


def test_a_leg_without_a_plate_is_analyzed_in_swing_and_without_any_not_at_all(tmp_path):
    trial = read_trial(walk(tmp_path, steps=("r2",)))
    # The left foot swings from 1.61 to 2.03 s, within the time of the right leg.
    assert trial.legs["l"] == pytest.approx((LEFT_OFF_2, LEFT_ON_3), abs=0.05)
    assert trial.legs["r"] == trial.time_range


def test_a_leg_that_was_not_measured_cannot_be_selected(tmp_path):
    """The gap takes the swing of the left foot, which has no plate."""
    trial = read_trial(walk(tmp_path, steps=("r2",), gaps=(("asis_r", 1.9, 4.05),)))
    assert set(trial.legs) == {"r"} and trial.balanced_range is None
    assert trial.analyzed[1].startswith("left leg: not analyzed") and "never both" in trial.analyzed[2]
    with refused("bad_forces", "side"):
        find_options(trial, None, None, "l")
    assert find_options(trial, None, None, "both").sides == ("r", "l")


@pytest.mark.thorough
def test_other_stretches_that_were_measured_are_reported(tmp_path):
    trial = read_trial(walk(tmp_path, strides=5, steps=("r2", "l2", "l4", "l5")))
    right, left = trial.analyzed[:2]
    assert "measured too" not in right
    assert "measured too, for [time] to choose: 0.53 to 2.0" in left


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "options",
    [
        {"strides": 3, "steps": ("r2", "l2")},  # the other contacts beside the plates
        {"strides": 4, "margin_s": 0.25, "noise_mm": 1.0},  # both ends of the recording within contacts
        {"strides": 4, "margin_s": 0.25, "motion": "run", "noise_mm": 1.0},
        {"strides": 4, "forward": "-y", "up": "+x", "marker_rate_hz": 60.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("slower", [None, "l", "r"])
def test_on_a_treadmill_it_is_the_same_as_over_ground(options, slower, tmp_path):
    """The contacts of a foot on a belt are seen from the belt, each foot from its own."""
    path = walk(tmp_path / "ground", **{"steps": None} | options)
    path.write_text(path.read_text(encoding="utf-8").replace("[time]\n", "[time]\n#").replace("end_s", "#"))
    ground, copy = read_trial(path), TrialCopy(path)
    if slower is None:
        on_a_treadmill(copy)
    else:
        on_split_belts(copy, slower, 0.6)
    belt = read_trial(copy.write(tmp_path))
    assert legs_of(belt) == pytest.approx(legs_of(ground), abs=0.04)
    assert len(belt.legs) == 2 and belt.analyzed[0].startswith("right leg: ")


def test_a_belt_may_change_its_speed():
    """Feet on a belt that accelerates from 0.6 to 3 m/s in 40 s, one stride a second; the pelvis sways in place."""
    time = np.arange(0.0, 40.0, 0.01)
    speed, phase = 0.6 + 0.06 * time, time % 1.0
    stance = phase < 0.6
    along = speed * np.where(stance, 0.3 - phase, 1.5 * (phase - 0.6) - 0.3)
    height = 0.03 + np.where(stance, 0.0, 0.2 * np.sin(np.pi * (phase - 0.6) / 0.4))
    heel = np.stack([along, 0.1 + 0.0 * time, height], axis=1)
    pelvis = np.stack([0.05 * np.sin(time), 0.02 * np.cos(time), 1.0 + 0.0 * time], axis=1)
    found = ground_velocity(time, pelvis, heel)
    np.testing.assert_allclose(found[:, 0], -speed, atol=0.15)
    assert not found[:, 1:].any()
    # Over ground the foot stands still, whatever the pelvis does.
    assert not ground_velocity(time, pelvis, heel * [0.0, 1.0, 1.0]).any()
    assert not ground_velocity(time, pelvis + time[:, None] * [1.0, 0, 0], heel).any()


def test_a_toe_that_swings_lower_than_it_stands_hides_no_belt(standard, tmp_path):
    """Marker on the tip of a shoe: it dips by 6 cm as it passes the other foot."""
    copy = TrialCopy(standard)
    on_a_treadmill(copy)
    up, position = copy.in_file((0.0, 0.0, 1.0)), copy.walk.position.copy()
    for side in "rl":
        toe = copy.walk.names.index(copy.marker(f"toe_{side}"))
        speed = np.linalg.norm(np.gradient(position[:, toe], copy.walk.time, axis=0), axis=1)
        position[:, toe] -= 0.12 * np.clip(speed - 2.0, 0.0, 1.0)[:, None] * up
    copy.put(position)
    assert len(read_trial(copy.write(tmp_path)).legs) == 2


def test_feet_that_the_motion_does_not_show_are_named_as_the_reason(standard):
    trial = read_trial(standard)
    hidden = replace(trial, carried={f"heel_{side}": f"foot_{side}" for side in "rl"})
    idle = tuple(replace(plate, force=0.0 * plate.force) for plate in trial.forces)
    for one, reason in (
        (hidden, "heel and toe of no foot"),
        (replace(trial, forces=idle), "measured completely"),
    ):
        (sentence,) = find_range(one)["analyzed"]
        assert reason in sentence


def partial(folder: Path, share: float) -> Path:
    """Write a walk in which the plate measures only a share of the first of two steps of the right foot."""
    path = walk(folder, steps=("r2", "l2", "r3"))
    table = read_mot(folder / "forces.mot")
    values = table.values.copy()
    step = np.flatnonzero((table.time > 1.3) & (table.time < 2.3))
    columns = [k for k, name in enumerate(table.names) if name.startswith(("right_force", "right_moment"))]
    values[np.ix_(step, columns)] *= share
    write_mot(folder / "forces.mot", replace(table, values=values))
    return path


@pytest.mark.parametrize("share", [0.2, 0.7])
def test_a_foot_half_on_a_plate_is_not_measured(tmp_path, share):
    trial = read_trial(partial(tmp_path, share))
    assert trial.legs["r"] == pytest.approx((RIGHT_OFF_2, 3.65), abs=0.05)
    assert "partly beside its plate, or a rail or crutch carries weight (1.4" in trial.analyzed[0]


def test_a_plate_of_another_scale_measures_every_step(tmp_path):
    """A foot beside its plate shows another share in every step; a plate of another scale the same one."""
    path = ms.studies.synthetic_recording(tmp_path, strides=3, truth=False)
    table = read_mot(tmp_path / "forces.mot")
    columns = [k for k, name in enumerate(table.names) if name.startswith(("left_force", "left_moment"))]
    values = table.values.copy()
    values[:, columns] *= 0.7
    write_mot(tmp_path / "forces.mot", replace(table, values=values))
    assert not any(lost.any() for lost in unmeasured_contacts(read_trial(path)).values())


@pytest.mark.parametrize("share", [0.95, 1.05])
def test_a_plate_that_is_a_little_off_is_no_half_step(tmp_path, share):
    trial = read_trial(partial(tmp_path, share))
    assert trial.legs["r"] == pytest.approx((RIGHT_OFF_1, 3.65), abs=0.05)


def test_where_no_contact_is_seen_and_measured_the_whole_recording_is_refused_as_before(tmp_path):
    path = walk(tmp_path, gaps=(("asis_r", 0.9, 2.6),))
    with refused("missing_samples", "'asis_r'", "0.9", "2.6 s"):
        read_trial(path)
    assert {"gap"} == {finding.code for finding in examined(path).findings if finding.severity == "error"} - {
        "contact_without_force"
    }


def test_a_plate_without_numbers_ends_the_range_of_its_leg_alone(standard, tmp_path):
    path = walk(tmp_path)
    table = read_mot(tmp_path / "forces.mot")
    values = table.values.copy()
    columns = [k for k, name in enumerate(table.names) if name.startswith("right_")]
    values[np.ix_((table.time > 1.2) & (table.time < 1.7), columns)] = np.nan
    write_mot(tmp_path / "forces.mot", replace(table, values=values))
    whole, trial = read_trial(standard), read_trial(path)
    assert trial.legs["l"] == whole.legs["l"]
    assert trial.legs["r"] == pytest.approx((1.8, whole.legs["r"][1]), abs=0.03)
    assert "before it a plate has no numbers (1.20 to 1.70 s)" in trial.analyzed[0]


def test_forces_that_end_during_a_contact_are_analyzed_to_their_end(tmp_path):
    path = walk(tmp_path, steps=None)
    path.write_text(re.sub(r"\[time\][^\[]*", "", path.read_text()))
    whole, table = read_trial(path), read_mot(tmp_path / "forces.mot")
    end = 0.5 * (RIGHT_ON_2 + RIGHT_OFF_2)
    kept = table.time < end
    write_mot(tmp_path / "forces.mot", replace(table, time=table.time[kept], values=table.values[kept]))
    trial = read_trial(path)
    assert whole.legs["r"][1] > end + 0.2
    assert [trial.legs[side][1] for side in "rl"] == pytest.approx([end - 0.1] * 2, abs=0.02)
    assert all("after it the recording of forces ends" in sentence for sentence in trial.analyzed[:2])


@pytest.mark.parametrize(("first", "last", "said"), [(0.42, 1.02, "0.42 to 1.02 s"), (0.3, 2.6, "")])
def test_the_numbers_that_a_plate_lacks_are_the_reason_and_no_refusal(tmp_path, first, last, said):
    """A frame just at the end of what the gap spoils has this reason, too; a leg without any range is left out."""
    path = ms.studies.synthetic_recording(tmp_path, truth=False, strides=2)
    path.write_text(re.sub(r"\[time\][^\[]*", "", path.read_text()))
    table = read_mot(tmp_path / "forces.mot")
    values = table.values.copy()
    columns = [k for k, name in enumerate(table.names) if name.startswith("right_")]
    lost = (table.time > first - 1e-6) & (table.time < last + 1e-6)
    values[np.ix_(lost, columns)] = np.nan
    write_mot(tmp_path / "forces.mot", replace(table, values=values))
    trial = read_trial(path)
    assert set(trial.legs) == ({"r", "l"} if said else {"l"})
    assert (f"a plate has no numbers ({said})" if said else "right leg: not analyzed") in trial.analyzed[0]
    assert "partly beside" not in trial.analyzed[0] and examined(path).ok


@pytest.mark.thorough
def test_a_force_while_the_foot_is_in_the_air_is_no_contact(tmp_path):
    path = walk(tmp_path, steps=("r2",))
    table = read_mot(tmp_path / "forces.mot")
    write_mot(tmp_path / "forces.mot", replace(table, values=np.roll(table.values, 700, axis=0)))
    report = ms.check(path)
    assert not report.ok


DOWN = np.diag([1.0, -1.0, -1.0])
LENGTH, WIDTH = 0.25, 0.2


def c3d_walk(folder: Path, shift: dict[str, float], length: float = LENGTH, tables: str = "") -> Path:
    """The walk as C3D: one plate under a step of each foot, moved forward by so much [m]."""
    path = walk(folder)
    table, markers = read_mot(folder / "forces.mot"), read_trc(folder / "walk.trc")
    samples = 10 * markers.time.size
    plates, channels = [], []
    for side, name in (("r", "right"), ("l", "left")):
        force, point, free = (
            np.stack([table[f"{name}_{what}_{axis}"] for axis in "xyz"], axis=1)
            for what in ("force", "point", "moment")
        )
        on = force[:, 2] > 0.0
        middle = 0.5 * (point[on].min(axis=0) + point[on].max(axis=0)) + [shift.get(side, 0.0), 0.0, 0.0]
        plate = PlateOnPaper(2, tuple(middle), DOWN, (length, WIDTH))
        there = np.where(on[:, None], point, middle)
        padding = samples - len(force)
        plates.append(plate)
        channels.append(np.pad(plate.channels(force, there, free), ((0, padding), (0, 0)), mode="edge"))
    write_c3d(
        folder / "walk.c3d", 100.0, list(markers.names), 1000.0 * markers.position, plates, channels, 10
    )
    text = path.read_text(encoding="utf-8")
    text = text[: text.index("[[force]]")] + tables
    text = text.replace('"walk.trc"', '"walk.c3d"').replace('forces = "forces.mot"\n', "")
    path.write_text(text, encoding="utf-8")
    return path


def test_it_is_the_same_through_c3d(standard, tmp_path):
    text, file = read_trial(standard), read_trial(c3d_walk(tmp_path, {}))
    np.testing.assert_allclose(legs_of(file), legs_of(text), atol=0.011)


@pytest.mark.parametrize(
    "tables", ["", '[[force]]\nside = "r"\nplate = 1\n[[force]]\nside = "l"\nplate = 2\n']
)
def test_a_foot_that_stands_over_the_edge_of_its_plate_is_not_measured(tmp_path, tables):
    """The toes of the left foot are beside the plate; the right one stands on its own."""
    trial = read_trial(c3d_walk(tmp_path, {"l": -0.16}, 0.17, tables))
    assert trial.legs["r"] == pytest.approx((RIGHT_OFF_1, RIGHT_ON_3), abs=0.03)
    # What is left of the left leg is a swing.
    assert trial.legs["l"] == pytest.approx((LEFT_OFF_2, LEFT_ON_3), abs=0.05)
    if not tables:
        assert any("the toe of the left foot stands beside the plates" in note for note in trial.notes)


def test_both_feet_on_one_plate_are_left_out(tmp_path):
    """The right foot steps on the plate while the left one still stands on it: only the steps apart are known."""
    path = walk(tmp_path, strides=5, steps=("r2", "l2", "r4", "l4"))
    table, markers = read_mot(tmp_path / "forces.mot"), read_trc(tmp_path / "walk.trc")
    samples = 10 * markers.time.size
    wide, wide_channels, plates, channels = None, 0.0, [], []
    for name in ("right", "left"):
        force, point, free = (
            np.stack([table[f"{name}_{what}_{axis}"] for axis in "xyz"], axis=1)
            for what in ("force", "point", "moment")
        )
        first, second = (slice(*run) for run in true_runs(force[:, 2] > 0.0))
        for step, own in ((first, False), (second, True)):
            on = np.zeros(len(force), bool)
            on[step] = True
            middle = point[on].mean(axis=0)
            plate = PlateOnPaper(2, tuple(middle), DOWN, (0.25, 0.2))
            if not own:
                wide = wide or PlateOnPaper(2, tuple(middle), DOWN, (1.2, 0.6))
                plate = wide
            there = np.where(on[:, None], point, plate.center)
            measured = plate.channels(on[:, None] * force, there, on[:, None] * free)
            measured = np.pad(measured, ((0, samples - len(force)), (0, 0)), mode="edge")
            if own:
                plates.append(plate)
                channels.append(measured)
            else:
                wide_channels = wide_channels + measured
    write_c3d(
        tmp_path / "walk.c3d",
        100.0,
        list(markers.names),
        1000.0 * markers.position,
        [wide, *plates],
        [wide_channels, *channels],
        10,
    )
    text = path.read_text(encoding="utf-8")
    text = text[: text.index("[[force]]")].replace('"walk.trc"', '"walk.c3d"')
    path.write_text(text.replace('forces = "forces.mot"\n', ""), encoding="utf-8")
    trial = read_trial(path)
    assert any("is left out: both feet stand on it" in note for note in trial.notes)
    # The first of the two pairs of steps ends at 2.15 s.
    assert trial.time_range[0] > 2.1


@pytest.mark.thorough
def test_check_does_not_blame_the_contacts_for_a_range_that_was_refused(standard):
    path = standard.with_name("range.toml")
    path.write_text(standard.read_text(encoding="utf-8") + "\n[time]\nstart_s = 50.0\n", encoding="utf-8")
    report = ms.check(path)
    assert {finding.code for finding in report.findings if finding.severity == "error"} == {"time_range"}
    assert "analyzed" in {finding.code for finding in report.findings}


def test_check_does_not_judge_the_plates_by_a_mass_that_is_missing(standard):
    path = standard.with_name("mass.toml")
    path.write_text(standard.read_text(encoding="utf-8").replace("mass_kg", "mass_g"), encoding="utf-8")
    report = ms.check(path)
    assert not report.ok and set(report.codes) >= {"trial_file"} and "force_units" not in report.codes


@pytest.mark.thorough
def test_what_two_plates_measure_of_a_cycle_is_enough_for_an_average(standard):
    result = ms.run(standard)
    for side in ("r", "l"):
        cycles = ms.laboratory.cycles(result, side, strides=True)
        assert cycles.sizes["cycle"] == 1
        assert np.isfinite(cycles["muscle_force"].sel(percent=slice(2, 95))).all()
        assert np.isnan(cycles["muscle_force"].sel(percent=100)).all()


def test_a_leg_without_a_plate_is_noted_as_not_analyzed_in_its_stances(standard):
    path = standard.with_name("swings.toml")
    text = standard.read_text(encoding="utf-8")
    path.write_text(text[: text.rindex("[[force]]")], encoding="utf-8")
    (note,) = [note for note in read_trial(path).notes if "No plate is given" in note]
    assert "its stances are not analyzed" in note


@pytest.mark.parametrize(("times", "option"), [({"start_s": 9.0}, "--start"), ({"end_s": 0.1}, "--end")])
def test_a_time_of_an_argument_is_named_with_its_option_instead_of_a_line(times, option):
    with pytest.raises(ms.InputError) as caught:
        ms.run(ms.data.reference_stride(), **times)
    assert option in str(caught.value.where)
    assert "line" not in str(caught.value.where)
