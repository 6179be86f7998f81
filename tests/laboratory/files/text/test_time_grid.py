"""Times that were rounded when they were printed become even again; times that are uneven stay as they are."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline
from thorough import examples, some

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.dynamics import projected_moments
from musclesolve.errors import InputError
from musclesolve.laboratory import read_markers
from musclesolve.laboratory.files.formats import convert
from musclesolve.laboratory.files.text.csv_file import read_csv_forces, read_csv_markers
from musclesolve.laboratory.forces import mechanics
from musclesolve.tables import Markers, Table, read_mot, read_trc, write_mot, write_trc
from musclesolve.tables.number_rows import even_grid
from tests.support.refusals import refused

RATES = (24.0, 25.0, 29.97, 50.0, 59.94, 60000 / 1001, 60.0, 62.5, 100.0, 119.88, 120.0, 150.0, 240.0, 250.0)
UNITS_MS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0)
GRIDS = some(product(RATES, UNITS_MS), 5)
"""Every rate and every unit, by default not every pair of them."""
STARTS = (0.0, 0.45, 1.2345, 73 / 60)


def rounded(time: np.ndarray, unit: float, cut: bool = False) -> np.ndarray:
    """Times as a file prints them: to the nearest unit, or cut off."""
    whole = np.floor(time / unit + 1e-9) if cut else np.rint(time / unit)
    return np.array([float(f"{value:.4f}") for value in whole * unit])


def is_even(time: np.ndarray) -> bool:
    return bool(np.abs(time - np.linspace(time[0], time[-1], time.size)).max() < 1e-8)


def acceleration_error(time: np.ndarray, true: np.ndarray) -> float:
    """Error of the second derivative of a 2 Hz oscillation of unit amplitude, as a share of its own peak."""
    omega = 4.0 * np.pi
    found = CubicSpline(time, np.sin(omega * true))(time, 2)
    exact = CubicSpline(true, np.sin(omega * true))(true, 2)
    return float(np.abs(found - exact)[10:-10].max()) / omega**2


@pytest.mark.parametrize(("rate", "unit_ms"), GRIDS)
@pytest.mark.parametrize("cut", [False, True], ids=["rounded", "cut off"])
def test_every_rounding_is_undone(rate: float, unit_ms: float, cut: bool) -> None:
    """With the rate of the header and without: the second derivative is that of the exact times."""
    unit = unit_ms / 1000.0
    for start in STARTS:
        true = start + np.arange(240) / rate
        printed = rounded(true, unit, cut)
        for stated in (rate, None, 1.004 * rate):
            if stated != rate and unit * rate > 0.8:
                continue
            grid = even_grid(printed, stated)
            if grid is None:
                # Even already, or so coarse that only a clock that started at zero shows itself.
                assert is_even(printed) or (unit * rate > 0.8 and start > 0.0), start
                continue
            assert np.abs(grid[0] - true).max() <= 1.01 * unit
            assert acceleration_error(grid[0], true) < 0.05 * max(unit_ms, 0.1) / (1.0 + (stated == rate))


def test_taken_literally_the_second_derivative_would_be_noise() -> None:
    true = np.arange(240) / 60.0
    assert acceleration_error(rounded(true, 1e-3), true) > 0.2
    assert acceleration_error(even_grid(rounded(true, 1e-3))[0], true) < 1e-9


@pytest.mark.parametrize("form", ["%.6g", "%.3f", "%.4f", "%.7f", "%.5e", "%.3e", "%.4g"])
@pytest.mark.parametrize("rate", [59.94, 60.0, 120.0])
def test_digits_may_be_decimals_or_significant_ones(form: str, rate: float) -> None:
    true = np.arange(5, 1205) / rate
    grid = even_grid(np.array([float(form % value) for value in true]), rate)
    assert grid is not None and grid[2]
    np.testing.assert_allclose(grid[0], true, atol=1e-9)


@pytest.mark.parametrize(("rate", "decimals"), [(2000.0, 3), (1200.0, 3), (120.0, 2), (200.0, 2)])
def test_a_clock_faster_than_its_digits_is_found(rate: float, decimals: int) -> None:
    """Rows follow each other with one and the same printed time."""
    for first in (0, 90):
        true = np.arange(first, first + 900) / rate
        printed = np.array([float(f"{value:.{decimals}f}") for value in true])
        assert (np.diff(printed) == 0.0).any()
        np.testing.assert_allclose(even_grid(printed)[0], true, atol=1e-9)


@pytest.mark.parametrize(("rate", "unit_ms"), GRIDS)
def test_a_missing_row_is_not_hidden(rate: float, unit_ms: float) -> None:
    true = 0.5 + np.arange(121) / rate
    for at in (3, 40, 60, 117):
        for count in (1, 2, 5):
            kept = np.delete(true, slice(at, at + count)) if at + count < true.size else true[:at]
            printed = rounded(kept, unit_ms / 1000.0)
            grid = even_grid(printed, rate)
            # A step below the unit of the times does not show in them.
            if at + count < true.size and rate * unit_ms < 1000.0:
                assert grid is None, (at, count)


@settings(max_examples=examples(200))
@given(data=st.data())
def test_the_grid_agrees_with_every_time_or_there_is_none(data: st.DataObject) -> None:
    decimals, count = data.draw(st.integers(1, 5)), data.draw(st.integers(2, 60))
    steps = data.draw(st.lists(st.floats(0.0, 0.1), min_size=count, max_size=count))
    printed = np.round(np.cumsum(steps) + data.draw(st.floats(-5.0, 5.0)), decimals)
    stated = data.draw(st.none() | st.floats(0.0, 500.0) | st.just(float("nan")))
    grid = even_grid(printed, stated)
    if grid is not None:
        assert np.abs(np.diff(grid[0]) - 1.0 / grid[1]).max() < 1e-9
        assert np.abs(grid[0] - printed).max() <= 1.001 * _largest_unit(printed)


def _largest_unit(printed: np.ndarray) -> float:
    whole = np.rint(1e5 * printed).astype(int)
    return 1e-5 * float(np.gcd.reduce(np.abs(whole)))


@settings(max_examples=examples(100))
@given(rate=st.floats(20.0, 300.0), seed=st.integers(0, 10**6), spread=st.floats(0.1, 0.4))
def test_a_clock_that_stutters_is_left_as_it_is(rate: float, seed: int, spread: float) -> None:
    rng = np.random.default_rng(seed)
    true = (np.arange(120) + rng.uniform(-spread, spread, 120)) / rate
    assert even_grid(np.round(true, 6), rate) is None


def walk_of(folder: Path, time: np.ndarray, text_time: str, rate: str) -> Path:
    """A TRC file with times printed in a form."""
    position = np.sin(time)[:, None, None] + np.arange(1.0, 7.0).reshape(1, 2, 3)
    path = folder / "walk.trc"
    write_trc(path, Markers(np.arange(time.size) / 60.0, ("A", "B"), position, path))
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[2] = lines[2].replace("60.000000", rate)
    for k, value in enumerate(time):
        cells = lines[6 + k].split("\t")
        lines[6 + k] = "\t".join([cells[0], text_time % value, *cells[2:]])
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_trc_times_become_those_of_the_header(tmp_path: Path) -> None:
    true = np.arange(150) / 60.0
    markers = read_trc(walk_of(tmp_path, true, "%.3f", "60"))
    np.testing.assert_allclose(markers.time, true, atol=1e-12)
    assert "walk.trc are rounded" in markers.notes[0] and "60 Hz of its header" in markers.notes[0]
    assert "0.33 ms" in markers.notes[0]


@pytest.mark.parametrize(
    ("rate", "header"), [(60.0, "59.94"), (60.0, "60.3"), (59.94, "60"), (119.88, "120")]
)
def test_a_header_that_does_not_fit_gives_way_to_the_times(tmp_path: Path, rate: float, header: str) -> None:
    true = np.arange(600) / rate
    markers = read_trc(walk_of(tmp_path, true, "%.3f", header))
    np.testing.assert_allclose(markers.time, true, atol=1e-4)
    assert is_even(markers.time) and f"not the {header} Hz of its header" in markers.notes[0]


def test_a_header_that_is_wrong_is_still_refused(tmp_path: Path) -> None:
    with refused("bad_units", "100 Hz", "60 rows"):
        read_trc(walk_of(tmp_path, np.arange(90) / 60.0, "%.3f", "100"))


@pytest.mark.parametrize("form", ["%.6f", "%.7f", "%.6e", "%.9f"])
def test_fine_digits_say_nothing(tmp_path: Path, form: str) -> None:
    markers = read_trc(walk_of(tmp_path, np.arange(90) / 60.0, form, "60"))
    assert markers.notes == ()
    np.testing.assert_allclose(markers.time, np.arange(90) / 60.0, atol=1e-6)


def test_even_times_come_as_they_are_printed(tmp_path: Path) -> None:
    time = np.arange(90) * 0.01
    markers = read_trc(walk_of(tmp_path, time, "%.2f", "100"))
    assert markers.notes == ()
    np.testing.assert_array_equal(markers.time, [float(f"{value:.2f}") for value in time])


def forces_of(folder: Path, time: np.ndarray, name: str) -> Path:
    """A file of forces whose times have three decimals."""
    path = folder / name
    write_mot(path.with_suffix(".mot"), Table(np.arange(time.size) / 1.0, ("fx",), np.ones((time.size, 1)),
                                              False, path))  # fmt: skip
    lines = path.with_suffix(".mot").read_text(encoding="utf-8").rstrip("\n").split("\n")
    rows = [f"{value:.3f}\t1.0" for value in time]
    head = ["time\tfx"] if path.suffix == ".csv" else lines[: -len(rows)]
    path.write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["f.mot", "f.sto", "f.csv"])
def test_forces_without_a_stated_rate_are_fitted(tmp_path: Path, name: str) -> None:
    true = 0.3 + np.arange(400) / 240.0
    path = forces_of(tmp_path, true, name)
    table = (read_csv_forces if name == "f.csv" else read_mot)(path)
    assert is_even(table.time) and np.abs(table.time - true).max() < 1e-3
    assert f"{name} are rounded" in table.notes[0] and "240 Hz that fit them" in table.notes[0]


def test_csv_markers_in_milliseconds(tmp_path: Path) -> None:
    rows = [f"{1000 * k / 60:.0f};{k},5;2,5;3,5" for k in range(1, 100)]
    path = tmp_path / "m.csv"
    path.write_text("\n".join(["time [ms];A_x [mm];A_y [mm];A_z [mm]", *rows]) + "\n", encoding="utf-8")
    markers = read_csv_markers(path)
    np.testing.assert_allclose(markers.time, np.arange(1, 100) / 60.0, atol=1e-12)
    assert len(markers.notes) == 1


def test_a_missing_row_among_rounded_times_stays(tmp_path: Path) -> None:
    true = np.delete(np.arange(150) / 60.0, 70)
    markers = read_trc(walk_of(tmp_path, true, "%.3f", "60"))
    np.testing.assert_array_equal(markers.time, np.round(true, 3))
    assert markers.notes == ()


def test_convert_writes_the_exact_times(tmp_path: Path) -> None:
    true = np.arange(150) / 60.0
    notes = convert(walk_of(tmp_path, true, "%.3f", "60"), [tmp_path / "exact.trc"])
    assert any("are rounded" in note for note in notes)
    np.testing.assert_allclose(
        [float(line.split("\t")[1]) for line in (tmp_path / "exact.trc").read_text().split("\n")[6:-1]],
        true,
        atol=6e-9,
    )
    assert read_markers(tmp_path / "exact.trc").notes == ()
    notes = convert(forces_of(tmp_path, true, "f.csv"), [tmp_path / "exact.mot"])
    assert any("are rounded" in note for note in notes)
    np.testing.assert_allclose(read_mot(tmp_path / "exact.mot").time, true, atol=6e-9)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic recording at 60 Hz."""
    return ms.studies.synthetic_recording(tmp_path_factory.mktemp("rounded") / "walk", marker_rate_hz=60.0)


def with_rounded_times(trial: Path, folder: Path, decimals: int, drop: int | None = None) -> Path:
    """A copy of a trial whose marker times have so few decimals, without one of its rows."""
    folder.mkdir()
    for file in trial.parent.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    path = folder / read_trial(trial).markers.path.name
    lines = path.read_text(encoding="utf-8").split("\n")
    rows = [k for k in range(5, len(lines)) if lines[k].strip()]
    for k in rows:
        cells = lines[k].split("\t")
        lines[k] = "\t".join([cells[0], f"{float(cells[1]):.{decimals}f}", *cells[2:]])
    if drop is not None:
        del lines[rows[drop]]
        lines[2] = lines[2].replace(f"\t{len(rows)}\t", f"\t{len(rows) - 1}\t")
    path.write_text("\n".join(lines), encoding="utf-8")
    return folder / trial.name


def leg_moments(trial: ms.laboratory.Trial) -> np.ndarray:
    found = mechanics(trial)
    return projected_moments(found.model, found.motion, found.wrenches)[:, : found.model.tree.joint_count]


@pytest.mark.in_part(2)
@pytest.mark.parametrize("decimals", [2, 3, 4])
def test_joint_moments_are_those_of_the_exact_times(recording: Path, tmp_path: Path, decimals: int) -> None:
    exact = read_trial(recording)
    trial = read_trial(with_rounded_times(recording, tmp_path / "copy", decimals))
    assert any("are rounded" in note for note in trial.notes)
    moments = leg_moments(exact)
    assert np.abs(leg_moments(trial) - moments).max() < 1e-3
    literal = replace(exact, markers=replace(exact.markers, time=np.round(exact.markers.time, decimals)))
    assert np.abs(leg_moments(literal) - moments).max() > 10.0 ** (2 - decimals)


def test_check_reports_rounded_times_and_a_missing_row_in_notes(recording: Path, tmp_path: Path) -> None:
    report = ms.check(with_rounded_times(recording, tmp_path / "copy", 3))
    assert report.ok and any("are rounded" in finding.what for finding in report.findings)
    holed = with_rounded_times(recording, tmp_path / "holed", 3, drop=50)
    report = ms.check(holed)
    assert report.ok and any(
        "1 row of" in finding.what and "is absent" in finding.what for finding in report.findings
    )
    assert leg_moments(read_trial(holed)) == pytest.approx(leg_moments(read_trial(recording)), abs=0.5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    rate=st.sampled_from(["60", "59.94", "0", "-60", "nan", "inf", "1e300"]),
    form=st.sampled_from(["%.0f", "%.1f", "%.2f", "%.3f", "%.1e"]),
    count=st.integers(2, 40),
)
def test_any_header_and_digits_give_even_times_or_one_message(
    tmp_path: Path, rate: str, form: str, count: int
) -> None:
    path = walk_of(tmp_path, np.arange(count) / 60.0, form, rate)
    try:
        markers = read_trc(path)
    except InputError as refused:
        assert "\n  remedy: " in str(refused)
    else:
        assert (np.diff(markers.time) > 0.0).all()
