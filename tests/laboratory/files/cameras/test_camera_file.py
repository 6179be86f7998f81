"""The way from camera files to markers, and everything that can be wrong on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from musclesolve.errors import InputError
from musclesolve.laboratory import calibrate_cameras, camera_ring, read_camera_file, write_camera_file
from musclesolve.laboratory.files.cameras.reconstruction import largest_noise, read_camera_markers
from musclesolve.tables import Markers, read_trc
from tests.support.refusals import refused

STRIDE = Path(__file__).resolve().parents[4] / "musclesolve" / "data" / "reference_stride"
FRAME = np.array([[x, y, z] for x in (-1.0, 0.2, 1.5) for y in (-0.6, 0.6) for z in (0.0, 0.9, 1.8)])


def some_markers(frames: int = 12) -> Markers:
    time = 0.3 + np.arange(frames) / 50.0
    turn = 4.0 * time[:, None] + np.arange(4)
    place = np.stack([np.cos(turn), 0.4 * np.sin(turn), 1.0 + 0.5 * np.sin(2.0 * turn)], axis=2)
    return Markers(time, ("HEEL", "TOE tip", "R.ASIS", "x_u"), place, Path("synthetic"))


def written(folder: Path, noise: float = 0.0, cameras: int = 3, markers: Markers | None = None) -> Path:
    rng = np.random.default_rng(1) if noise else None
    return write_camera_file(folder, camera_ring(cameras), FRAME, markers or some_markers(), noise, rng)


def edited(path: Path, *edits: tuple[str, str]) -> None:
    text = path.read_text()
    for old, new in edits:
        assert old in text, f"{path.name} does not say {old!r}"
        text = text.replace(old, new, 1)
    path.write_text(text)


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as error:
        read_camera_markers(path)
    message = str(error.value)
    assert "expected: " in message and "remedy: " in message
    return message


def test_the_reference_stride_comes_back_from_four_cameras(tmp_path: Path) -> None:
    stride = read_trc(STRIDE / "walk.trc")
    middle = np.nanmean(stride.position, axis=(0, 1))
    cameras = camera_ring(4, radius=6.0, target=middle)
    path = write_camera_file(tmp_path, cameras, FRAME + middle - [0.0, 0.0, 0.9], stride)
    found = read_camera_markers(path)
    assert found.names == stride.names and found.path == path
    np.testing.assert_allclose(found.time, stride.time, atol=1e-8)
    assert np.abs(found.position - stride.position).max() < 1e-5
    assert {source.name for source in found.sources} == {p.name for p in tmp_path.glob("*.csv")}
    assert len(found.sources) == 9


def test_noise_in_the_pixels_gives_the_error_that_the_notes_tell(tmp_path: Path) -> None:
    stride = read_trc(STRIDE / "walk.trc")
    middle = np.nanmean(stride.position, axis=(0, 1))
    cameras, frame = camera_ring(4, radius=6.0, target=middle), FRAME + middle - [0.0, 0.0, 0.9]
    rng = np.random.default_rng(2)
    path = write_camera_file(tmp_path, cameras, frame, stride, 0.8, rng, control_noise_px=0.05)
    found = read_camera_markers(path)
    rms = np.sqrt(np.mean(np.sum((found.position - stride.position) ** 2, axis=-1)))
    (sentence,) = (note for note in found.notes if "digitizing errors" in note)
    assert float(sentence.split("by about ")[1].split(" mm")[0]) == pytest.approx(1000.0 * rms, rel=0.1)
    assert any("4 cameras" in note and "Lens distortion is not modeled" in note for note in found.notes)


def change_cells(path: Path, change: Callable[[list[list[str]]], list[list[str]]]) -> None:
    rows = [line.split(",") for line in path.read_text().strip().split("\n")]
    path.write_text("\n".join(",".join(cells) for cells in change(rows)) + "\n")


def empty(row: int, *columns: int) -> Callable[[list[list[str]]], list[list[str]]]:
    def change(rows: list[list[str]]) -> list[list[str]]:
        for column in columns:
            rows[row][column] = ""
        return rows

    return change


def test_what_one_camera_lost_is_no_gap_and_what_two_of_three_lost_is_one(tmp_path: Path) -> None:
    markers, path = some_markers(), written(tmp_path)
    change_cells(tmp_path / "cameras_camera_1_markers.csv", lambda rows: [rows[0], *rows[3:]])
    change_cells(tmp_path / "cameras_camera_2_markers.csv", empty(6, 1, 2))
    np.testing.assert_allclose(read_camera_markers(path).position, markers.position, atol=1e-7)
    change_cells(tmp_path / "cameras_camera_3_markers.csv", empty(6, 1, 2))
    found = read_camera_markers(path)
    lost = np.isnan(found.position).any(axis=2)
    assert lost.sum() == 1 and lost[5, 0]
    note = found.notes[-1]
    assert "Of 48 marker positions 1 are left out: 1 seen by fewer than two cameras" in note
    assert "'HEEL' (1 of 12 frames)" in note


def test_frames_before_and_after_which_nothing_is_seen_are_left_out(tmp_path: Path) -> None:
    markers, path = some_markers(), written(tmp_path, cameras=2)
    change_cells(tmp_path / "cameras_camera_1_markers.csv", lambda rows: [rows[0], *rows[4:]])
    change_cells(tmp_path / "cameras_camera_2_markers.csv", lambda rows: rows[:-2])
    found = read_camera_markers(path)
    np.testing.assert_allclose(found.time, markers.time[3:-2])
    np.testing.assert_allclose(found.position, markers.position[3:-2], atol=1e-7)


def test_columns_that_one_camera_lacks_or_has_in_another_order_do_not_matter(tmp_path: Path) -> None:
    markers, path = some_markers(), written(tmp_path)
    file = tmp_path / "cameras_camera_2_markers.csv"
    change_cells(file, lambda rows: [[row[0], *row[5:], *row[3:5]] for row in rows])
    found = read_camera_markers(path)
    assert found.names == markers.names
    np.testing.assert_allclose(found.position, markers.position, atol=1e-7)


def test_times_offsets_comments_and_semicolons_are_understood(tmp_path: Path) -> None:
    markers, path = some_markers(), written(tmp_path)
    names = [tmp_path / f"cameras_camera_{k}_markers.csv" for k in (1, 2, 3)]

    def timed(rows: list[list[str]]) -> list[list[str]]:
        return [["time", *rows[0][1:]], *([f"{int(row[0]) / 50:.3f}", *row[1:]] for row in rows[1:])]

    def shifted(rows: list[list[str]]) -> list[list[str]]:
        return [rows[0], *([str(int(row[0]) + 17), *row[1:]] for row in rows[1:])]

    change_cells(names[0], timed)
    change_cells(names[1], shifted)
    edited(path, ('camera_2_markers.csv"', 'camera_2_markers.csv"\noffset_frames = -17'))
    text = names[2].read_text().replace(",", ";").replace("HEEL_u", '"HEEL_u"')
    names[2].write_text("# digitized by hand\n\n" + text)
    edited(tmp_path / "cameras_points.csv", ("x_m,y_m,z_m", "x_cm,y_cm,z_cm"))
    found = read_camera_markers(path)
    np.testing.assert_allclose(found.time, markers.time)
    np.testing.assert_allclose(found.position, 0.01 * markers.position, atol=1e-9)


def off(rows: list[list[str]]) -> list[list[str]]:
    """Move HEEL in the third frame by 40 pixels."""
    rows[3][1] = str(float(rows[3][1]) + 40.0)
    return rows


def test_a_point_beyond_the_largest_residual_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, cameras=2)
    change_cells(tmp_path / "cameras_camera_2_markers.csv", off)
    kept = read_camera_markers(path)
    assert not np.isnan(kept.position).any()
    assert any(
        "At 1 marker position(s), most of 'HEEL' (1), the reprojection error" in note for note in kept.notes
    )
    edited(path, ("rate_hz = 50", "largest_residual_px = 0.5\nrate_hz = 50"))
    found = read_camera_markers(path)
    assert np.argwhere(np.isnan(found.position[..., 0])).tolist() == [[2, 0]]
    assert "1 beyond largest_residual_px" in found.notes[-1]
    assert not any("the wrong camera" in note for note in found.notes)


def test_an_image_that_the_other_cameras_contradict_is_left_out_and_noted(tmp_path: Path) -> None:
    path = written(tmp_path)
    change_cells(tmp_path / "cameras_camera_2_markers.csv", off)
    for limit in ("", "largest_residual_px = 5\n"):
        edited(path, ("rate_hz = 50", f"{limit}rate_hz = 50"))
        found = read_camera_markers(path)
        np.testing.assert_allclose(found.position, some_markers().position, atol=1e-6)
        assert "1 image(s) of a marker are left out" in found.notes[-1]
        assert "camera 'camera_2' (1) and of 'HEEL' (1)" in found.notes[-1]


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("cameras", "points"), [(1, 6), (2, 18)])
def test_the_noise_of_control_points_is_rarely_larger_than_stated(cameras: int, points: int) -> None:
    rng, known = np.random.default_rng(4), FRAME[[0, 2, 4, 13, 15, 17, *range(5, 17)]][:points]
    views, limits = camera_ring(cameras), []
    for _ in range(200):
        image = [camera.project(known) + 0.6 * rng.normal(size=(points, 2)) for camera in views]
        limits.append(largest_noise([calibrate_cameras(known, pixels) for pixels in image]))
    # The standard error of the share of 0.95 is 0.015.
    assert 0.9 < np.mean(np.array(limits) > 0.6) < 0.99


def test_a_loose_calibration_is_noted(tmp_path: Path) -> None:
    path = written(tmp_path, 0.5)
    assert not any("Poorly determined" in note for note in read_camera_markers(path).notes)
    # A fifth of the volume, in its middle.
    near = 0.2 * FRAME + [0.0, 0.0, 0.7]
    path = write_camera_file(tmp_path, camera_ring(3), near, some_markers(), 0.5, np.random.default_rng(3))
    loose = [note for note in read_camera_markers(path).notes if "Poorly determined" in note]
    assert len(loose) == 1 and "camera_1, camera_2, camera_3" in loose[0]
    fits = read_camera_file(path).calibrations
    worst = max(fits, key=lambda fit: fit.center_per_pixel / fit.distance_to_points)
    error = largest_noise(fits) * worst.center_per_pixel
    assert (
        f"camera '{worst.camera.name}' is known to {error:.2g} m (standard deviation) at a distance"
        in loose[0]
    )


def test_cameras_that_are_not_synchronized_are_noted(tmp_path: Path) -> None:
    path = written(tmp_path, 0.3)
    assert not any("far worse" in note for note in read_camera_markers(path).notes)
    edited(path, ('camera_2_markers.csv"', 'camera_2_markers.csv"\noffset_frames = 1'))
    assert any("far worse" in note and "offset_frames" in note for note in read_camera_markers(path).notes)


def test_a_badly_digitized_control_point_is_noted(tmp_path: Path) -> None:
    path = written(tmp_path, 0.3)

    def off(rows: list[list[str]]) -> list[list[str]]:
        rows[5][2] = str(float(rows[5][2]) + 9.0)
        return rows

    change_cells(tmp_path / "cameras_camera_2_points.csv", off)
    assert any("'camera_2': the control points P5 fit" in note for note in read_camera_markers(path).notes)


def test_control_points_that_a_camera_does_not_see_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path)
    change_cells(tmp_path / "cameras_camera_1_points.csv", empty(4, 1, 2))
    change_cells(tmp_path / "cameras_camera_2_points.csv", lambda rows: rows[:-3])
    counts = [len(fit.labels) for fit in read_camera_file(path).calibrations]
    assert counts == [17, 15, 18]


POINTS, PIXELS, MARKERS = "cameras_points.csv", "cameras_camera_2_points.csv", "cameras_camera_2_markers.csv"


@pytest.mark.parametrize(
    ("file", "old", "new", "parts"),
    [
        ("cameras.toml", "rate_hz = 50", "rate_hz = 0", "line 2, [recording] rate_hz"),
        ("cameras.toml", "rate_hz = 50", "rate = 50", "there is no such key"),
        (
            "cameras.toml",
            '"camera_2"',
            '"camera_1"',
            "line 12, [[camera]] name: the camera 'camera_1' is stated twice",
        ),
        (
            "cameras.toml",
            PIXELS,
            "no.csv",
            "line 13, [[camera]] control_points: 'no.csv': there is no such file",
        ),
        ("cameras.toml", "[[camera]]", "offset_frames = 0.5\n[[camera]]", "there is no such key"),
        ("cameras.toml", f'"{MARKERS}"', f'"{MARKERS}"\noffset_frames = 0.5', "the offset is 0.5 frames"),
        (
            "cameras.toml",
            f'"{MARKERS}"',
            f'"{MARKERS}"\noffset_frames = 9000000',
            "36 rows for 9000012 frames",
        ),
        ("cameras.toml", f'"{MARKERS}"', f'"{MARKERS}"\noffset_frames = x', "not valid TOML"),
        (POINTS, "name,x_m,y_m,z_m", "name,x,y,z", "line 1: the columns are name, x, y, z"),
        (POINTS, "name,x_m", "point,x_m", "line 1: the first column is 'point'"),
        (POINTS, "name,x_m,y_m,z_m", "name,x_m,y_m,", "a column has no name"),
        (POINTS, "P2,", "P1,", "line 3: the point 'P1' occurs twice"),
        (POINTS, "P2,", ",", "line 3: a point has no name"),
        (POINTS, "P2,-1.000000000", "P2,", "line 3: the control point 'P2' has no place"),
        (POINTS, "P2,-1.000000000", "P2,-1;0", "line 3, column 'x_m': '-1;0' is not a number"),
        (POINTS, "P2,-1.000000000", "P2,inf", "line 3, column 'x_m'"),
        (POINTS, "P2,-1.000000000", "P2,-1,000", "line 3: 4 cells in this row"),
        (POINTS, "P2,", "Q2,", "there is no control point 'P2'"),
        (PIXELS, "name,u,v", "name,v,u", "line 1: the columns are name, v, u"),
        (MARKERS, "frame,", "index,", "line 1: the first column is 'index'"),
        (MARKERS, "HEEL_u", "HEEL_x", "line 1: the column 'HEEL_x' is not one of a pair"),
        (MARKERS, "HEEL_v", "HEEL_u", "the column 'HEEL_u' occurs twice"),
        (MARKERS, "\n3,", "\n3.5,", "line 5: the frame is 3.5"),
        (MARKERS, "\n3,", "\n1e12,", "line 5: the frame is 1e+12"),
        (MARKERS, "\n3,", "\n,", "line 5: the frame is nan"),
        (MARKERS, "\n3,", "\n2,", "line 5: frame 2 follows frame 2"),
        (MARKERS, "\n3,", "\n3,7,", "line 5: 10 cells in this row"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(
    tmp_path: Path, file: str, old: str, new: str, parts: str
) -> None:
    path = written(tmp_path)
    edited(tmp_path / file, (old, new))
    message = refusal(path)
    assert parts in message
    # A name that only the pixels know is a fault of either file.
    assert file in message or old == "P2,"


def test_half_a_pixel_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    change_cells(tmp_path / MARKERS, empty(3, 4))
    assert "line 4: the point 'TOE tip' has only one of its two coordinates" in refusal(path)
    path = written(tmp_path)
    change_cells(tmp_path / PIXELS, empty(3, 2))
    assert "line 4: the point 'P3' has only one of its two coordinates" in refusal(path)


def test_a_time_off_the_grid_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    edited(tmp_path / MARKERS, ("frame,", "time,"))
    change_cells(
        tmp_path / MARKERS, lambda rows: [rows[0], *([f"{int(row[0]) / 60}", *row[1:]] for row in rows[1:])]
    )
    message = refusal(path)
    assert "line 3: the time is 0.01666666667" in message and "rate_hz" in message


def test_too_few_or_flat_control_points_are_refused_with_the_camera(tmp_path: Path) -> None:
    path = written(tmp_path)
    change_cells(tmp_path / PIXELS, lambda rows: rows[:6])
    message = refusal(path)
    assert "line 13, [[camera]] control_points: camera 'camera_2'" in message
    assert "5 control points" in message and "add 1 or more" in message
    path = written(tmp_path)
    change_cells(tmp_path / POINTS, lambda rows: [rows[0], *([*row[:3], "0.5"] for row in rows[1:])])
    assert "the control points lie in one plane" in refusal(path)


def test_one_camera_or_frames_that_never_meet_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    text = path.read_text().split("\n[[camera]]")
    path.write_text("\n[[camera]]".join(text[:2]))
    assert "there is only one camera" in refusal(path)
    path = written(tmp_path, cameras=2)
    edited(path, ('camera_2_markers.csv"', 'camera_2_markers.csv"\noffset_frames = 40'))
    assert "0 frame(s) show a marker to two cameras at once" in refusal(path)


def test_one_mistyped_frame_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = written(tmp_path)
    lines = (tmp_path / MARKERS).read_text().split("\n")
    cells = lines[-2].split(",")
    lines[-2] = ",".join(["200000", *cells[1:]])
    (tmp_path / MARKERS).write_text("\n".join(lines))
    with refused("bad_value", f"{MARKERS}, line {len(lines) - 1}", "199990 frames"):
        read_camera_markers(path)


def test_what_no_camera_digitized_is_no_pixel(tmp_path: Path) -> None:
    path = written(tmp_path)
    change_cells(tmp_path / MARKERS, lambda rows: [*rows[:5], [rows[5][0], "1e300", *rows[5][2:]], *rows[6:]])
    message = refusal(path)
    assert f"{MARKERS}, line 6, column" in message and "1e+300" in message
    written(tmp_path)
    change_cells(tmp_path / MARKERS, lambda rows: [*rows[:5], [rows[5][0], "9e11", *rows[5][2:]], *rows[6:]])
    assert np.isfinite(read_camera_markers(path).time).all()


@pytest.mark.parametrize("line", ["rate_hz = 1e-310", "rate_hz = 0.01", "start_s = 1e17", "start_s = -1e300"])
def test_rates_and_starts_that_no_recording_has_are_refused(tmp_path: Path, line: str) -> None:
    path, key = written(tmp_path), line.split(" ")[0]
    old = next(given for given in path.read_text().split("\n") if given.startswith(key))
    edited(path, (old, line))
    assert f"[recording] {key}: the value is" in refusal(path)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_are_refused_or_read_in_the_right_shape(tmp_path: Path, data: st.DataObject) -> None:
    path = written(tmp_path)
    target = tmp_path / data.draw(st.sampled_from(["cameras.toml", POINTS, PIXELS, MARKERS]))
    raw = target.read_bytes()
    cut = data.draw(st.integers(0, len(raw)))
    junk = data.draw(
        st.one_of(st.binary(max_size=6), st.sampled_from([b",", b"\n", b"1e400", b"nan", b"-", b";"]))
    )
    end = data.draw(st.sampled_from([cut, cut + len(junk), cut + 40, len(raw)]))
    target.write_bytes(raw[:cut] + junk + raw[end:])
    try:
        found = read_camera_markers(path)
    except InputError as error:
        assert str(tmp_path) in str(error) or "\0" in repr(junk)
        return
    assert found.position.shape == (found.time.size, len(found.names), 3)
    assert np.isfinite(found.time).all() and (np.diff(found.time) > 0.0).all()
    assert not np.isinf(found.position).any()


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda m: replace(m, names=("a,b", "c", "d", "e")), ("bad_value", "'a,b'")),
        (lambda m: replace(m, names=("=a()", "c", "d", "e")), ("bad_value", "'=a()'")),
        (lambda m: replace(m, time=m.time**2), ("uneven_sampling", "write_camera_file")),
        (lambda m: replace(m, names=("A", "A", *m.names[2:])), ("duplicate_name", "'A'")),
        (lambda m: replace(m, position=m.position * np.inf), ("not_finite", "inf")),
        (lambda m: replace(m, time=m.time[:1], position=m.position[:1]), ("too_few_frames", "1")),
    ],
)
def test_what_cannot_be_written_is_refused(
    tmp_path: Path, change: Callable[[Markers], Markers], parts: tuple[str, ...]
) -> None:
    with refused(*parts):
        written(tmp_path, markers=change(some_markers()))
    assert not (tmp_path / "cameras.toml").exists()


def test_noise_without_a_generator_is_refused(tmp_path: Path) -> None:
    with refused("missing_argument", "write_camera_file"):
        write_camera_file(tmp_path, camera_ring(2), FRAME, some_markers(), 1.0)
