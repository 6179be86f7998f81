"""Forces that would spoil the moments: points under little force, moments, spikes beside the range, units, columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from synthetic_trial import write_trial

from musclesolve.checking.check import check
from musclesolve.errors import InputError
from musclesolve.recording.data import Table
from musclesolve.recording.text.mot_file import read_mot, write_mot
from musclesolve.recording.text.trc_file import read_trc, write_trc
from musclesolve.recording.trial.trial_file import read_trial

RIGHT = [f"r_v{axis}" for axis in "xyz"]


def rewritten(folder: Path, change: Callable[[Table, np.ndarray], None], *edits: tuple[str, str]) -> Path:
    """A trial of which the values (S, k) of the forces were changed in place."""
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


@pytest.mark.parametrize(("newtons", "astray"), [(30.0, 2.0), (100.0, 0.8), (200.0, 0.5)])
def test_a_point_far_away_under_little_force_is_refused(
    tmp_path: Path, newtons: float, astray: float
) -> None:
    message = refused(rewritten(tmp_path, unloading(newtons, astray)))
    assert f"under {newtons:.0f} N" in message and "[[force]] point" in message


def test_the_force_from_which_on_points_are_reliable_is_reported_as_the_remedy(tmp_path: Path) -> None:
    path = rewritten(tmp_path, unloading(30.0, 2.0))
    assert "unloaded_below_n = 35 in [filter]" in refused(path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("[filter]\n", "[filter]\nunloaded_below_n = 35\n"), encoding="utf-8")
    read_trial(path)


def test_the_quotient_of_small_numbers_may_be_a_little_off(tmp_path: Path) -> None:
    read_trial(rewritten(tmp_path, unloading(25.0, 0.5)))


def test_a_foot_that_was_not_seen_beside_the_range_says_nothing_of_the_point(tmp_path: Path) -> None:
    """The range begins at 0.6 s; the force of 0.4 s reaches into it, the foot is seen from 0.5 s on."""
    path = rewritten(tmp_path, setting("r_px", slice(395, 405), 3.0))
    assert "strays" in refused(path)
    walk = read_trc(tmp_path / "walk.trc")
    position = walk.position.copy()
    position[:50, [walk.names.index("RHEE"), walk.names.index("RTOE")]] = np.nan
    write_trc(tmp_path / "walk.trc", replace(walk, position=position))
    read_trial(path)


def test_moments_in_newton_millimetres_are_refused(tmp_path: Path) -> None:
    def change(table: Table, values: np.ndarray) -> None:
        values[:, [table.names.index(f"r_m{axis}") for axis in "xyz"]] *= 1000.0

    message = refused(rewritten(tmp_path, change))
    assert "[[force]] moment" in message and "newton metres" in message


def test_forces_as_moments_are_refused(tmp_path: Path) -> None:
    def change(table: Table, values: np.ndarray) -> None:
        values[:, table.names.index("r_my")] = values[:, table.names.index("r_vy")]

    assert "columns of the free moment" in refused(rewritten(tmp_path, change))


@pytest.mark.parametrize("time", [0.35, 1.5])
def test_a_spike_beside_the_range_is_refused_and_one_far_away_is_not(tmp_path: Path, time: float) -> None:
    row = round(1000 * time)
    path = rewritten(tmp_path, setting("r_vy", slice(row, row + 5), 5000.0))
    text = path.read_text(encoding="utf-8")
    near = {0.35: "start_s = 0.4", 1.5: "end_s = 1.45"}[time]
    old = {0.35: "start_s = 0.6", 1.5: "end_s = 1.8"}[time]
    assert old in text
    path.write_text(text.replace(old, near), encoding="utf-8")
    message = refused(path)
    assert f"at {time:g} s" in message and "[time]" in message
    far = {0.35: "start_s = 0.8", 1.5: "end_s = 1.1"}[time]
    path.write_text(text.replace(old, far), encoding="utf-8")
    read_trial(path)


@pytest.mark.parametrize("column", ["r_vy", "l_px", "r_mz"])
@pytest.mark.parametrize("value", [1e6, 1e11])
def test_a_number_that_was_not_measured_is_refused_wherever_it_is(
    tmp_path: Path, column: str, value: float
) -> None:
    path = rewritten(tmp_path, setting(column, slice(5, 6), value))
    message = refused(path)
    # Seven lines of header, then one row per millisecond.
    assert f"forces.mot, line 13, column '{column}': the number is {value:.3g}" in message
    assert not check(path).ok


@pytest.mark.parametrize("divisor", [1000.0, 834.0, np.inf])
def test_forces_that_never_load_a_plate_are_refused(tmp_path: Path, divisor: float) -> None:
    def change(table: Table, values: np.ndarray) -> None:
        values[:, [k for k, name in enumerate(table.names) if "_v" in name]] /= divisor

    path = rewritten(tmp_path, change)
    message = refused(path)
    assert "no foot ever stands on a plate" in message and "newtons" in message
    assert not check(path).ok


def test_a_plate_without_a_step_is_no_fault_beside_one_with(tmp_path: Path) -> None:
    read_trial(rewritten(tmp_path, setting([f"l_v{axis}" for axis in "xyz"], slice(None), 0.0)))


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
    assert not check(path).ok


def test_a_column_of_zeros_may_stand_for_what_is_not_measured(tmp_path: Path) -> None:
    """In the file y points up: only the moment about it is there, and the height of the point is zero."""
    path = write_trial(tmp_path, ('"r_mx", "r_my", "r_mz"', '"r_mx", "r_my", "r_mx"'))
    moment = read_trial(path).forces[0].moment
    assert np.abs(moment[:, 2]).max() > 0.5 and not moment[:, :2].any()


def test_a_range_may_end_where_a_foot_lands(tmp_path: Path) -> None:
    """Its plate carries 30 N there, and in newtons: the whole recording shows it."""
    own = Path(__file__).parents[3] / "examples" / "own_recording"
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
