"""Recordings that are well formed and yet cannot be what the trial file says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from synthetic_trial import write_trial

from musclesolve import read_trial
from musclesolve.errors import InputError
from musclesolve.laboratory.forces import anatomy
from musclesolve.laboratory.motion.ground_reaction import origin_wrench
from musclesolve.laboratory.motion.motion_plausibility import beside_marker_jumps
from musclesolve.laboratory.trial.recording_checks import with_arms_on_their_sides
from musclesolve.tables import Markers, Table, read_mot, read_trc, write_mot, write_trc


def rewrite_markers(path: Path, change: Callable[[Markers], Markers]) -> None:
    write_trc(path, change(read_trc(path)))


def rewrite_forces(path: Path, change: Callable[[Table], Table]) -> None:
    write_mot(path, change(read_mot(path)))


def refused(path: Path) -> str:
    with pytest.raises(InputError) as error:
        read_trial(path)
    return str(error.value)


@pytest.mark.parametrize("file", ["walk.trc", "static.trc"])
def test_a_subject_of_another_size_is_refused(tmp_path: Path, file: str) -> None:
    path = write_trial(tmp_path)
    text = (tmp_path / file).read_text().replace("\tmm\t", "\tcm\t")
    (tmp_path / file).write_text(text)
    message = refused(path)
    assert "shoulders are" in message and "1.75 m tall" in message and file in message and "Units" in message


def test_a_wrong_up_axis_is_refused(tmp_path: Path) -> None:
    assert "up in [laboratory]" in refused(write_trial(tmp_path, ('up = "+y"', 'up = "+z"')))


@pytest.mark.parametrize("axis", ["-x", "+z", "-z"])
def test_forward_is_the_axis_of_the_laboratory_whichever_way_the_subject_faces(
    tmp_path: Path, axis: str
) -> None:
    assert read_trial(write_trial(tmp_path, ('forward = "+x"', f'forward = "{axis}"'))).markers.time.size


def displaced(name: str, frames: slice, by: float) -> Callable[[Markers], Markers]:
    def change(markers: Markers) -> Markers:
        position = markers.position.copy()
        position[frames, markers.names.index(name), 1] += by
        return replace(markers, position=position)

    return change


@pytest.mark.parametrize("frames", [slice(100, 101), slice(100, 106)])
def test_a_marker_that_jumps_and_is_back_is_a_gap(tmp_path: Path, frames: slice) -> None:
    path = write_trial(tmp_path)
    plain = read_trial(path).markers["RSH1"]
    rewrite_markers(tmp_path / "walk.trc", displaced("RSH1", frames, 0.15))
    trial = read_trial(path)
    np.testing.assert_allclose(trial.markers["RSH1"], plain, atol=0.003)
    assert any("'RSH1' is up to 150 mm off for a moment" in note for note in trial.notes)
    assert [gap.marker for gap in trial.gaps] == ["RSH1"]


def test_the_first_sample_after_a_gap_that_alone_is_off_is_a_part_of_the_gap(tmp_path: Path) -> None:
    path = write_trial(tmp_path)

    def change(markers: Markers) -> Markers:
        position = markers.position.copy()
        k = markers.names.index("RSH1")
        position[100:103, k] = np.nan
        position[103, k, 1] += 0.13
        return replace(markers, position=position)

    plain = read_trial(path).markers["RSH1"]
    rewrite_markers(tmp_path / "walk.trc", change)
    trial = read_trial(path)
    np.testing.assert_allclose(trial.markers["RSH1"], plain, atol=0.003)
    assert any("'RSH1' is up to 130 mm off for a moment" in note for note in trial.notes)


def test_a_marker_that_jumps_and_stays_costs_the_frames_beside_the_jump(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    rewrite_markers(tmp_path / "walk.trc", displaced("RSH1", slice(100, None), 0.15))
    trial = read_trial(path)
    time, cutoff_hz = trial.markers.time[trial.frames()], 6.0
    lost = beside_marker_jumps(trial, time, cutoff_hz, "r")
    jump = trial.markers.time[99]
    assert jump == pytest.approx(0.99)
    assert lost[np.abs(time - jump) < 1.0 / cutoff_hz - 0.01].all()
    assert not lost[np.abs(time - jump) > 1.0 / cutoff_hz + 0.02].any()
    assert not beside_marker_jumps(trial, time, cutoff_hz, "l").any()  # RSH1 is on the right shank


def test_a_jump_of_a_hand_or_a_shoulder_costs_no_frame(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    trial = read_trial(path)
    for part in ("wrist_r", "shoulder_r"):
        (marker,) = trial.mapping[part]
        rewrite_markers(tmp_path / "walk.trc", displaced(marker, slice(100, None), 0.15))
        changed = read_trial(path)
        assert not any(beside_marker_jumps(changed, changed.markers.time, 6.0, side).any() for side in "rl")


@pytest.mark.parametrize("frame", [59, 181])
def test_a_jump_just_outside_the_range_leaves_the_motion_as_it_was(tmp_path: Path, frame: int) -> None:
    path = write_trial(tmp_path)
    plain = anatomy(read_trial(path))
    rewrite_markers(tmp_path / "walk.trc", displaced("RHEE", slice(frame, frame + 1), 2.0))
    found = anatomy(read_trial(path))
    np.testing.assert_allclose(found.points["heel_r"], plain.points["heel_r"], atol=0.002)


@pytest.mark.parametrize("frame", [55, 185])
def test_a_jump_farther_outside_makes_the_ends_less_certain(tmp_path: Path, frame: int) -> None:
    path = write_trial(tmp_path)
    plain = anatomy(read_trial(path))
    rewrite_markers(tmp_path / "walk.trc", displaced("RHEE", slice(frame, frame + 1), 2.0))
    found = anatomy(read_trial(path))
    np.testing.assert_allclose(found.points["heel_r"], plain.points["heel_r"], atol=0.002)
    end = "first" if frame == 55 else "last"
    assert any(f"The {end} frames are less certain" in note for note in found.notes)


@pytest.mark.parametrize("factor", [10.0, 1000.0])
def test_wrong_units_are_not_called_jumps(tmp_path: Path, factor: float) -> None:
    path = write_trial(tmp_path)
    rewrite_markers(tmp_path / "walk.trc", lambda m: replace(m, position=factor * m.position))
    message = refused(path)
    assert "Units" in message and "jumps" not in message


@pytest.mark.parametrize(
    ("landmark", "marker"),
    [("heel", "HEE"), ("toe", "TOE"), ("ankle_lateral", "ANL"), ("knee_lateral", "KNL"), ("psis", "PSI")],
)  # fmt: skip
def test_a_pair_of_landmarks_whose_sides_are_swapped_is_named(
    tmp_path: Path, landmark: str, marker: str
) -> None:
    edits = tuple(
        (f'{landmark}_{side.lower()} = "{side}{marker}"', f'{landmark}_{side.lower()} = "{other}{marker}"')
        for side, other in ("RL", "LR")
    )
    message = refused(write_trial(tmp_path, *edits))
    assert f"[mapping] {landmark}_r: right and left are swapped" in message
    assert f"swap the markers of {landmark}_r and {landmark}_l" in message


def test_one_bad_frame_of_the_standing_trial_does_not_matter(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    plain = anatomy(read_trial(path))

    def spoil(markers: Markers) -> Markers:
        position = markers.position.copy()
        position[7] += 1e6
        return replace(markers, position=position)

    rewrite_markers(tmp_path / "static.trc", spoil)
    np.testing.assert_allclose(
        anatomy(read_trial(path)).offsets["knee_r"], plain.offsets["knee_r"], atol=1e-7
    )


def test_swapped_sides_of_the_pelvis_are_refused(tmp_path: Path) -> None:
    edits = (('"RASI"', '"X"'), ('"LASI"', '"RASI"'), ('"X"', '"LASI"'))
    assert "right side of the pelvis" in refused(write_trial(tmp_path, *edits))


def losing(marker: str, *frames: slice) -> Callable[[Markers], Markers]:
    def change(markers: Markers) -> Markers:
        position = markers.position.copy()
        for some in frames:
            position[some, markers.names.index(marker)] = np.nan
        return replace(markers, position=position)

    return change


def test_a_gap_that_nothing_fills_is_refused_with_marker_and_time_unless_it_lies_outside(
    tmp_path: Path,
) -> None:
    path = write_trial(tmp_path)
    walk = read_trc(tmp_path / "walk.trc")
    write_trc(tmp_path / "walk.trc", losing("LTH2", slice(0, 50), slice(200, 230))(walk))
    assert read_trial(path).notes == ()
    write_trc(tmp_path / "walk.trc", losing("LTH2", slice(100, 120))(walk))
    message = refused(path)
    assert "'LTH2' is missing from 1 to 1.19 s (20 of 121 frames" in message
    assert "not filled: fewer than three markers that move with it" in message
    # A gap that reaches over the end of the range, and what the person may choose.
    write_trc(tmp_path / "walk.trc", losing("LTH2", slice(178, 240))(walk))
    assert "'LTH2' is missing from 1.78 to 1.8 s" in refused(path)
    write_trc(tmp_path / "walk.trc", losing("LTH2", slice(100, 103))(walk))
    assert "'LTH2' was not seen from 1 to 1.02 s" in read_trial(path).notes[0]
    path.write_text(path.read_text() + "\n[gaps]\nspline_s = 0.02\nrigid_s = 0.02\n")
    assert "gaps of more than 0.02 s are not filled" in refused(path)


def test_a_gap_in_an_unneeded_marker_is_no_matter(tmp_path: Path) -> None:
    path = write_trial(tmp_path, ('elbow_medial_r = { midpoint = ["RELM", "RELM2"] }\n', ""))

    def lose(markers: Markers) -> Markers:
        position = markers.position.copy()
        position[:, markers.names.index("RELM")] = np.nan
        return replace(markers, position=position)

    rewrite_markers(tmp_path / "walk.trc", lose)
    assert read_trial(path).notes == ()


def test_a_marker_never_seen_standing_is_refused(tmp_path: Path) -> None:
    path = write_trial(tmp_path)

    def lose(markers: Markers) -> Markers:
        position = markers.position.copy()
        position[:, markers.names.index("RANM")] = np.nan
        return replace(markers, position=position)

    rewrite_markers(tmp_path / "static.trc", lose)
    assert "'RANM' is in no frame of" in refused(path)


def test_uneven_sampling_is_refused(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    rewrite_markers(
        tmp_path / "walk.trc", lambda m: replace(m, time=m.time + 0.004 * (np.arange(m.time.size) == 90))
    )
    message = refused(path)
    assert "not evenly spaced" in message and "0.904 s" in message


@pytest.mark.parametrize(("share", "is_taken"), [(0.005, False), (0.1, True), (0.2, True)])
def test_times_that_jitter_are_taken_as_even(share: float, is_taken: bool, tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    sound, draw = read_trial(path).markers.time, np.random.default_rng(1)
    step = sound[1] - sound[0]
    off = share * step * np.r_[0.0, draw.uniform(-1.0, 1.0, sound.size - 2), 0.0]
    rewrite_markers(tmp_path / "walk.trc", lambda m: replace(m, time=m.time + off))
    trial = read_trial(path)
    assert any("jitter by up to" in note for note in trial.notes) == is_taken
    assert (np.ptp(np.diff(trial.markers.time)) < 1e-9) == is_taken


def test_a_force_file_that_ends_early_is_refused(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    rewrite_forces(tmp_path / "forces.mot", lambda t: replace(t, time=t.time[:1500], values=t.values[:1500]))
    message = refused(path)
    assert "end_s" in message and "1.8 s" in message and "forces 0 to 1.499 s" in message


def test_forces_of_the_feet_on_the_plates_are_turned(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    sound = read_trial(path).forces

    def turned(table: Table) -> Table:
        signs = np.array([1.0 if "_p" in name else -1.0 for name in table.names])
        return replace(table, values=signs * table.values)

    rewrite_forces(tmp_path / "forces.mot", turned)
    trial = read_trial(path)
    assert sum("its sign is inverted" in note for note in trial.notes) == len(sound)
    for plate, other in zip(trial.forces, sound, strict=True):
        np.testing.assert_array_equal(plate.force, other.force)
        np.testing.assert_array_equal(plate.moment, other.moment)


def test_forces_in_another_unit_are_refused(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    rewrite_forces(tmp_path / "forces.mot", lambda t: replace(t, values=t.values * 1000.0))
    assert "in newtons" in refused(path)


def test_forces_of_swapped_feet_are_refused(tmp_path: Path) -> None:
    # The feet are set wide apart: side by side they are too near to tell.
    wide = 0.3
    path = write_trial(tmp_path)

    def stride(markers: Markers) -> Markers:
        left = np.array([name in ("LHEE", "LTOE") for name in markers.names])
        return replace(markers, position=markers.position + np.where(left[:, None], [wide, 0.0, 0.0], 0.0))

    def swap(table: Table) -> Table:
        values = table.values.copy()
        values[:, table.names.index("l_px")] += wide
        other = [("l" if name[0] == "r" else "r") + name[1:] for name in table.names]
        return replace(table, values=values, names=tuple(other))

    rewrite_markers(tmp_path / "walk.trc", stride)
    rewrite_forces(tmp_path / "forces.mot", swap)
    message = refused(path)
    assert "from the left one" in message and 'side = "l"' in message


def test_a_force_far_from_either_foot_is_refused(tmp_path: Path) -> None:
    path = write_trial(tmp_path)

    def apart(table: Table) -> Table:
        values = table.values.copy()
        values[:, table.names.index("r_pz")] += 0.5
        return replace(table, values=values)

    rewrite_forces(tmp_path / "forces.mot", apart)
    message = refused(path)
    assert "right foot acts 0.5" in message and "share axes" in message


@pytest.mark.parametrize(
    ("column", "by", "side", "fault"),
    [("r_vz", 900.0, "r", "pushes it sideways"), ("l_pz", 5.0, "l", "acts 4.97 m away")],
)
def test_a_single_sample_that_cannot_be_of_the_foot_is_left_out(
    tmp_path: Path, column: str, by: float, side: str, fault: str
) -> None:
    path = write_trial(tmp_path)
    rewrite_forces(tmp_path / "forces.mot", spiked(column, by))
    (instant,) = [
        each for plate in read_trial(path).forces for each in plate.impossible if plate.side == side
    ]
    assert instant.first == instant.last == pytest.approx(0.9) and fault in instant.fault


def spiked(column: str, by: float) -> Callable[[Table], Table]:
    def change(table: Table) -> Table:
        values = table.values.copy()
        values[900, table.names.index(column)] += by
        return replace(table, values=values)

    return change


def test_points_of_force_in_millimeters_are_refused(tmp_path: Path) -> None:
    path = write_trial(tmp_path)

    def in_millimeters(table: Table) -> Table:
        factors = [1000.0 if "_p" in name else 1.0 for name in table.names]
        return replace(table, values=table.values * factors)

    rewrite_forces(tmp_path / "forces.mot", in_millimeters)
    assert "points are in meters" in refused(path)


def test_a_missing_point_of_nothing_is_not_refused(tmp_path: Path) -> None:
    path = write_trial(tmp_path)

    def unload(table: Table) -> Table:
        values = table.values.copy()
        for name in table.names:
            if name.startswith("r_"):
                values[:300, table.names.index(name)] = np.nan if "_p" in name else 0.0
        return replace(table, values=values)

    rewrite_forces(tmp_path / "forces.mot", unload)
    assert np.isnan(read_trial(path).forces[0].point[0]).all()


def lose_forces(path: Path, first: int, stop: int) -> None:
    def lose(table: Table) -> Table:
        values = table.values.copy()
        values[first:stop, [k for k, name in enumerate(table.names) if name.startswith("r_")]] = np.nan
        return replace(table, values=values)

    rewrite_forces(path, lose)


def test_a_short_gap_of_a_plate_is_a_straight_line_and_a_long_one_in_the_range_is_refused(
    tmp_path: Path,
) -> None:
    path = write_trial(tmp_path)
    whole = read_trial(path)
    lose_forces(tmp_path / "forces.mot", 690, 720)
    found = read_trial(path)
    one, other = whole.forces[0], found.forces[0]
    (gap,) = other.gaps
    assert gap.filled and (gap.first, gap.last) == pytest.approx((0.69, 0.719))
    assert any("filled by straight lines" in note and "30 ms" in note for note in found.notes)
    lose_forces(tmp_path / "forces.mot", 690, 740)
    lost = slice(690, 720)
    wrench, filled = (origin_wrench(p.force, p.point, p.moment, 20.0) for p in (one, other))
    assert np.array_equal(wrench[:690], filled[:690]) and np.array_equal(wrench[720:], filled[720:])
    assert np.abs(np.diff(filled[lost], n=2, axis=0)).max() < 1e-6 * np.abs(wrench).max()
    assert np.abs(wrench - filled).max() < 0.05 * np.abs(wrench).max()

    lose_forces(tmp_path / "forces.mot", 690, 1000)
    message = refused(path)
    # Seven lines of header, then one row per millisecond.
    assert "line 698, column 'r_vx'" in message and "at 0.69 s, and up to 0.999 s" in message


def test_columns_without_a_stated_foot_go_to_the_foot_of_each_contact(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    stated = read_trial(path)
    path.write_text(
        path.read_text().replace('side = "r"', 'side = "auto"').replace('side = "l"', 'side = "auto"')
    )
    found = read_trial(path)
    assert any("foot was found on plate" in note for note in found.notes)
    for side in "rl":
        one, other = (
            np.sum([plate.force for plate in trial.forces if plate.side == side], axis=0)
            for trial in (stated, found)
        )
        # what is below the threshold belongs to no contact
        assert np.abs(one - other).max() < 1.5 * stated.unloaded_below and one[:, 2].max() > 300.0


def test_arms_whose_labels_are_exchanged_are_read_the_other_way_round(tmp_path: Path) -> None:
    trial = read_trial(write_trial(tmp_path))
    arms = ["shoulder", "elbow_lateral"]
    mapping = dict(trial.mapping)
    for name in arms:
        mapping[f"{name}_r"], mapping[f"{name}_l"] = mapping[f"{name}_l"], mapping[f"{name}_r"]
    mended = with_arms_on_their_sides(replace(trial, mapping=mapping))
    for name in (f"{arm}_{side}" for arm in arms for side in "rl"):
        for of in ("markers", "static"):
            one, other = getattr(trial, of), getattr(mended, of)
            np.testing.assert_array_equal(one.weighted(trial.mapping[name]), other.weighted(mapping[name]))
    assert "read the other way round" in mended.notes[-1] and all(name in mended.notes[-1] for name in arms)
    # labels that are exchanged in one recording leave the other one as it is
    pairs = {next(iter(trial.mapping[f"{arm}_r"])): next(iter(trial.mapping[f"{arm}_l"])) for arm in arms}
    walk = with_arms_on_their_sides(replace(trial, markers=trial.markers.exchanged(pairs)))
    np.testing.assert_array_equal(walk.markers.position, trial.markers.position)
    assert walk.static is trial.static and len(walk.notes) == len(trial.notes) + 1
    assert with_arms_on_their_sides(trial) is trial
