"""Forces that would spoil the moments: points under little force, moments, spikes beside the range, units, columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examined import examined
from synthetic_trial import write_trial

import musclesolve as ms
from musclesolve import read_trial
from musclesolve._util.arrays import nearest_times
from musclesolve._util.messages import WarningNote
from musclesolve.data import reference_stride
from musclesolve.errors import InputError
from musclesolve.laboratory import Trial
from musclesolve.laboratory.bodies.mechanics import measured_moments
from musclesolve.laboratory.forces import mechanics
from musclesolve.laboratory.trial.plates.foot_forces import unmeasured_free_moments
from musclesolve.laboratory.trial.plates.plate_checks import impossible_samples, sample_fault
from musclesolve.tables import Table, read_mot, read_trc, write_mot, write_trc

RIGHT = [f"r_v{axis}" for axis in "xyz"]


def rewritten(folder: Path, change: Callable[[Table, np.ndarray], None], *edits: tuple[str, str]) -> Path:
    """A trial of which the values (S, k) of the forces were changed in place."""
    folder.mkdir(exist_ok=True)
    path = write_trial(folder, *edits)
    table = read_mot(folder / "forces.mot")
    values = table.values.copy()
    change(table, values)
    write_mot(folder / "forces.mot", replace(table, values=values))
    return path


def setting(names: str | list[str], rows: slice, value: float) -> Callable[[Table, np.ndarray], None]:
    def change(table: Table, values: np.ndarray) -> None:
        for name in [names] if isinstance(names, str) else names:
            values[rows, table.names.index(name)] = value

    return change


def unloading(newtons: float, astray: float) -> Callable[[Table, np.ndarray], None]:
    """The right foot bears so little at 0.9 to 0.96 s, with its point so far off [m]."""

    def change(table: Table, values: np.ndarray) -> None:
        rows = slice(900, 960)
        share = newtons / values[rows, table.names.index("r_vy")]
        for name in RIGHT:
            values[rows, table.names.index(name)] *= share
        values[rows, table.names.index("r_px")] += astray

    return change


def refused(path: Path) -> str:
    with pytest.raises(InputError) as error:
        read_trial(path)
    return str(error.value)


def lost(trial: Trial, side="r") -> np.ndarray:
    """The times of the frames in which a leg counts as not measured."""
    time = trial.markers.time[trial.frames()]
    return time[~trial.measured(side, time)]


@pytest.mark.parametrize(("newtons", "astray"), [(30.0, 2.0), (100.0, 0.8), (200.0, 0.5)])
def test_a_point_far_away_under_little_force_costs_its_leg_that_instant(
    tmp_path: Path, newtons: float, astray: float
) -> None:
    clean = read_trial(write_trial(tmp_path))
    trial = read_trial(rewritten(tmp_path / "spoiled", unloading(newtons, astray)))
    assert isinstance(trial, Trial) and isinstance(clean, Trial)
    # 0.9 to 0.96 s and the reach of the filter; the other leg loses nothing
    assert lost(trial)[[0, -1]] == pytest.approx([0.80, 1.05], abs=0.011)
    assert not lost(trial, "l").size and not lost(clean).size
    assert any(f"under {newtons:.0f} N" in note for note in trial.notes)


def test_noise_of_an_idle_plate_costs_nothing(tmp_path: Path) -> None:
    """Single samples of some 35 N far from the foot, on a plate whose foot is stated, belong to no contact."""
    path = ms.studies.synthetic_recording(tmp_path, truth=False, strides=2)
    clean, table = read_trial(path), read_mot(tmp_path / "forces.mot")
    values = table.values.copy()
    upward, along = (table.names.index(f"right_{name}") for name in ("force_z", "point_x"))
    idle = np.flatnonzero(values[:, upward] == 0.0)[20:-20:31]
    values[idle, upward], values[idle, along] = 35.0, 9.0
    write_mot(tmp_path / "forces.mot", replace(table, values=values))
    trial = read_trial(path)
    assert isinstance(trial, Trial) and isinstance(clean, Trial) and idle.size > 9
    assert not lost(trial).size and not any("35 N" in note for note in trial.notes)
    for measured, noisy in zip(clean.forces, trial.forces, strict=True):
        np.testing.assert_array_equal(noisy.force, measured.force)


def test_what_is_not_measured_changes_nothing_else(tmp_path: Path) -> None:
    moments = []
    for folder, change in (("clean", lambda *_: None), ("spoiled", setting("r_px", slice(900, 912), 4.0))):
        trial = read_trial(rewritten(tmp_path / folder, change))
        assert isinstance(trial, Trial)
        recorded = mechanics(trial)
        moments.append(measured_moments(trial, recorded.model, recorded.motion, recorded.wrenches))
    clean, spoiled = moments
    known = np.isfinite(spoiled)
    assert np.isfinite(clean).all() and known.any() and not known.all()
    assert np.abs(spoiled - clean)[known].max() < 0.05  # of some 100 N m


def test_the_force_from_which_on_points_are_reliable_is_reported_as_the_remedy(tmp_path: Path) -> None:
    path = rewritten(tmp_path, unloading(30.0, 2.0))
    assert any("unloaded_below_n = 35 in [filter]" in note for note in read_trial(path).notes)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("[filter]\n", "[filter]\nunloaded_below_n = 35\n"), encoding="utf-8")
    trial = read_trial(path)
    assert isinstance(trial, Trial) and not lost(trial).size


def test_a_force_that_still_strays_above_the_worst_sample_is_part_of_the_remedy(tmp_path: Path) -> None:
    """The point is farther off under 30 N than under 60 N: counting only the first as unloaded leaves the second."""

    def change(table: Table, values: np.ndarray) -> None:
        for newtons, astray, rows in ((30.0, 3.0, slice(900, 930)), (60.0, 1.0, slice(930, 960))):
            share = newtons / values[rows, table.names.index("r_vy")]
            for name in RIGHT:
                values[rows, table.names.index(name)] *= share
            values[rows, table.names.index("r_px")] += astray

    path = rewritten(tmp_path, change)
    assert any("under 30 N" in note and "unloaded_below_n = 65" in note for note in read_trial(path).notes)
    path.write_text(path.read_text().replace("[filter]\n", "[filter]\nunloaded_below_n = 65\n"))
    trial = read_trial(path)
    assert isinstance(trial, Trial) and not lost(trial).size


@pytest.mark.thorough
def test_points_that_stray_for_a_large_part_of_the_contact_are_refused(tmp_path: Path) -> None:
    path = rewritten(tmp_path, setting("r_px", slice(600, 1200), 4.0))
    assert "strays" in refused(path)
    assert not examined(path).ok


def test_limits_of_samples_are_those_of_one_sample() -> None:
    """Live, sample by sample, and recordings judge by the same limits."""
    rng = np.random.default_rng(3)
    force = rng.normal(size=(4000, 3)) * [500.0, 500.0, 2000.0]
    moment = rng.normal(size=(4000, 3)) * 200.0
    beside = rng.exponential(0.15, size=4000)
    of_force, of_moment = impossible_samples(force, moment, beside, 700.0)
    single = [
        bool(sample_fault(f, m, float(b), 700.0)) for f, m, b in zip(force, moment, beside, strict=True)
    ]
    assert (single == (of_force | of_moment)).all()
    assert 0.1 < np.mean(single) < 0.9


def test_the_quotient_of_small_numbers_may_be_a_little_off(tmp_path: Path) -> None:
    read_trial(rewritten(tmp_path, unloading(25.0, 0.5)))


def test_a_foot_that_was_not_seen_beside_the_range_says_nothing_of_the_point(tmp_path: Path) -> None:
    """The range begins at 0.6 s; the force of 0.4 s reaches into it, the foot is seen from 0.5 s on."""
    path = rewritten(tmp_path, setting("r_px", slice(395, 405), 3.0))
    (plate,) = [plate for plate in read_trial(path).forces if plate.side == "r"]
    assert plate.impossible
    walk = read_trc(tmp_path / "walk.trc")
    position = walk.position.copy()
    position[:50, [walk.names.index("RHEE"), walk.names.index("RTOE")]] = np.nan
    write_trc(tmp_path / "walk.trc", replace(walk, position=position))
    assert not any(plate.impossible for plate in read_trial(path).forces)


def test_moments_in_newton_millimeters_are_refused(tmp_path: Path) -> None:
    def change(table: Table, values: np.ndarray) -> None:
        values[:, [table.names.index(f"r_m{axis}") for axis in "xyz"]] *= 1000.0

    message = refused(rewritten(tmp_path, change))
    assert "[[force]] moment" in message and "newton meters" in message


def test_columns_in_stated_units_are_the_same_forces(tmp_path: Path) -> None:
    def in_millimeters(table: Table, values: np.ndarray) -> None:
        values[:, [k for k, name in enumerate(table.names) if not name[1:].startswith("_v")]] *= 1000.0

    stated = ("point_unit", "mm"), ("moment_unit", "N mm")
    lines = "".join(f'{key} = "{unit}"\n' for key, unit in stated)
    edits = [(f'side = "{side}"\n', f'side = "{side}"\n{lines}') for side in "rl"]
    (tmp_path / "sound").mkdir()
    sound = read_trial(write_trial(tmp_path / "sound")).forces
    for plate, other in zip(
        read_trial(rewritten(tmp_path, in_millimeters, *edits)).forces, sound, strict=True
    ):
        np.testing.assert_allclose(plate.point, other.point, atol=1e-9)
        np.testing.assert_allclose(plate.moment, other.moment, atol=1e-6)


def test_forces_as_moments_are_refused(tmp_path: Path) -> None:
    def change(table: Table, values: np.ndarray) -> None:
        values[:, table.names.index("r_my")] = values[:, table.names.index("r_vy")]

    assert "columns of the free moment" in refused(rewritten(tmp_path, change))


@pytest.mark.parametrize("time", [0.35, 1.5])
def test_a_spike_costs_its_instant_and_one_far_away_nothing(tmp_path: Path, time: float) -> None:
    row = round(1000 * time)
    path = rewritten(tmp_path, setting("r_vy", slice(row, row + 5), 5000.0))
    text = path.read_text(encoding="utf-8")
    near = {0.35: "start_s = 0.4", 1.5: "end_s = 1.45"}[time]
    old = {0.35: "start_s = 0.6", 1.5: "end_s = 1.8"}[time]
    assert old in text
    path.write_text(text.replace(old, near), encoding="utf-8")
    spikes = [each for plate in read_trial(path).forces for each in plate.impossible]
    assert [each.first for each in spikes] == pytest.approx([time], abs=1e-6)
    far = {0.35: "start_s = 0.8", 1.5: "end_s = 1.1"}[time]
    path.write_text(text.replace(old, far), encoding="utf-8")
    assert not any(plate.impossible for plate in read_trial(path).forces)


@pytest.mark.parametrize("samples", [30, 120])
def test_a_plate_that_loses_a_foot_for_a_moment_costs_this_instant(tmp_path: Path, samples: int) -> None:
    """30 ms are no step, however small the force is that is lost; 120 ms may be one."""
    lost = []

    def change(table: Table, values: np.ndarray) -> None:
        force = values[:, table.names.index("r_vy")]
        heavy = 0.75 * force.max()
        (row, *_) = np.flatnonzero((force[1:] > 300.0) & (force[1:] < heavy) & (table.time[1:] > 0.8)) + 1
        lost.append(float(table.time[row]))
        values[row : row + samples, [table.names.index(f"r_v{axis}") for axis in "xyz"]] = 0.0

    plates = read_trial(rewritten(tmp_path, change)).forces
    found = [each.first for plate in plates for each in plate.impossible]
    assert found == (pytest.approx(lost, abs=0.002) if samples == 30 else [])


@pytest.mark.parametrize("column", ["r_vy", "l_px", "r_mz"])
@pytest.mark.parametrize("value", [1e6, 1e11])
def test_a_number_that_was_not_measured_is_refused_wherever_it_is(
    tmp_path: Path, column: str, value: float
) -> None:
    path = rewritten(tmp_path, setting(column, slice(5, 6), value))
    message = refused(path)
    # Seven lines of header, then one row per millisecond.
    assert f"forces.mot, line 13, column '{column}': the number is {value:.3g}" in message
    assert not examined(path).ok


@pytest.mark.in_part(2)
@pytest.mark.parametrize("divisor", [1000.0, 834.0, np.inf])
def test_forces_that_never_load_a_plate_are_refused(tmp_path: Path, divisor: float) -> None:
    def change(table: Table, values: np.ndarray) -> None:
        values[:, [k for k, name in enumerate(table.names) if "_v" in name]] /= divisor

    path = rewritten(tmp_path, change)
    message = refused(path)
    assert "no foot ever stands on a plate" in message and "newtons" in message
    assert not examined(path).ok


def test_a_plate_without_a_step_is_no_fault_beside_one_with(tmp_path: Path) -> None:
    read_trial(rewritten(tmp_path, setting([f"l_v{axis}" for axis in "xyz"], slice(None), 0.0)))


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("edit", "part"),
    [
        (('force = "r_v"', 'force = ["r_vx", "r_vy", "r_vx"]'), "force: the column 'r_vx' is named twice"),
        (('point = "r_p"', 'point = ["r_px", "r_py", "r_vx"]'), "point: the column 'r_vx' is named twice"),
        (('force = "l_v"', 'force = "r_v"'), "force: the column 'r_vx' is named twice, for two plates"),
    ],
)
def test_a_column_that_is_named_twice_is_refused(tmp_path: Path, edit: tuple[str, str], part: str) -> None:
    path = write_trial(tmp_path, edit)
    message = refused(path)
    assert part in message and "line " in message
    assert not examined(path).ok


def test_a_column_of_zeros_may_stand_for_what_is_not_measured(tmp_path: Path) -> None:
    """In the file y points up: only the moment about it is there, and the height of the point is zero."""
    path = write_trial(tmp_path, ('"r_mx", "r_my", "r_mz"', '"r_mx", "r_my", "r_mx"'))
    moment = read_trial(path).forces[0].moment
    assert np.abs(moment[:, 2]).max() > 0.5 and not moment[:, :2].any()


def test_a_range_may_end_where_a_foot_lands(tmp_path: Path) -> None:
    """Its plate carries 30 N there, and in newtons: the whole recording shows it."""
    own = Path(__file__).parents[4] / "examples" / "own_recording"
    for file in own.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    text = (tmp_path / "trial.toml").read_text(encoding="utf-8")
    for old, new in (("start_s = 0.40", "start_s = 0.60"), ("end_s = 1.48", "end_s = 0.95")):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "trial.toml").write_text(text, encoding="utf-8")
    trial = read_trial(tmp_path / "trial.toml")
    (left,) = [plate for plate in trial.forces if plate.side == "l"]
    inside = left.force[(left.time >= 0.6) & (left.time <= 0.95), 2]
    assert 20.0 < inside.max() < 70.0


def test_the_nearest_samples_are_found_without_a_table_of_all_pairs():
    """A table of ten minutes at 1200 Hz takes 3 GB and more."""
    times, wanted = np.array([0.0, 1.0, 3.0, 7.0]), np.array([-1.0, 0.4, 0.5, 2.0, 2.1, 5.0, 6.0, 9.0])
    every = np.abs(times[None] - wanted[:, None]).argmin(axis=1)
    np.testing.assert_array_equal(nearest_times(times, wanted), every)
    np.testing.assert_array_equal(nearest_times(times[:1], wanted), 0)


@pytest.mark.parametrize(
    ("rows", "way"), [(slice(None), "or leave this plate out"), (slice(300, 700), "range without it")]
)
def test_a_plate_without_numbers_has_a_way_out(tmp_path: Path, rows: slice, way: str) -> None:
    with pytest.raises(InputError) as error:
        read_trial(rewritten(tmp_path, setting(RIGHT, rows, np.nan)))
    assert way in (error.value.remedy or "")


def test_a_free_moment_that_is_not_measured_is_a_warning_and_repeated_by_no_note():
    trial = read_trial(reference_stride())
    forces = tuple(replace(plate, number=1, moment_fault="channel 6 rests") for plate in trial.forces)
    (said,) = unmeasured_free_moments(forces)
    assert isinstance(said, WarningNote) and said.code == "moment_channel" and "channel 6 rests" in said


def test_axes_of_columns_may_be_capitals(tmp_path: Path) -> None:
    path = rewritten(tmp_path, lambda table, values: None)
    before, table = read_trial(path).forces[0].force, read_mot(tmp_path / "forces.mot")
    names = tuple(name[:-1] + name[-1].upper() if name in RIGHT else name for name in table.names)
    write_mot(tmp_path / "forces.mot", replace(table, names=names))
    np.testing.assert_allclose(read_trial(path).forces[0].force, before, atol=1e-3)
