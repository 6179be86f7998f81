"""Camera files: two or more calibrated cameras and their digitized images, frame by frame.

A TOML file names the control points with their positions, and for every camera the pixels of the control points and of
the markers. The cameras are calibrated with the control points while reading (direct linear transformation).

Its tables are CSV files: optional lines that begin with #, a line of column names, then one row per point or frame.
Cells are separated by commas, semicolons or tabs. An empty cell is a point that was not seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_number, check_type
from musclesolve._util.messages import check_known, few, inert
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.laboratory.files.cameras.calibration import Calibration, calibrate_cameras
from musclesolve.laboratory.files.cameras.camera import Camera, camera_list
from musclesolve.laboratory.recording.file_settings import CameraFileSettings
from musclesolve.tables.cells import cells_of, separator_of
from musclesolve.tables.document import Document, validated
from musclesolve.tables.number_rows import RowReader, check_measured, check_unique, number_table
from musclesolve.tables.opensim_text import check_writable
from musclesolve.tables.sampled import Markers
from musclesolve.tables.text_file import file_path, write_text
from musclesolve.tables.units import METERS

# The most frames of a recording with gaps: this number for every row of the longest file of markers, plus a constant. A
# larger number results from a wrong frame number, and would fill the memory.
SPARSEST, SPARE_FRAMES = 10, 1000
# A frame's time may differ from its place on the grid by this share of a frame.
OFF_GRID = 0.1
# Largest number of a frame: no recording has more frames.
LAST_FRAME = 1e9


@dataclass(frozen=True)
class CameraFile:
    """Content of a camera file: calibrated cameras and their digitized images.

    Args:
        path: the camera file.
        calibrations: of C cameras.
        first: number of the first frame.
        rate: frames a second [Hz].
        start: time of frame 0 [s].
        names: n markers.
        image: (C, T, n, 2) pixels, NaN where not seen.
        largest_residual: reprojection error beyond which a point is omitted [px]; infinite without a limit.
        sources: the files that the camera file names.
    """

    path: Path
    calibrations: tuple[Calibration, ...]
    first: int
    rate: float
    start: float
    names: tuple[str, ...]
    image: Array
    largest_residual: float
    sources: tuple[Path, ...]

    @property
    def time(self) -> Array:
        """Time of every frame (T,) [s]."""
        return self.start + (self.first + np.arange(self.image.shape[1])) / self.rate


def read_camera_file(path: str | Path) -> CameraFile:
    """Read a camera file and the tables it names, and calibrate its cameras.

    Args:
        path: of the camera file (.toml).

    Returns:
        The calibrated cameras and the digitized markers.

    Raises:
        InputError: a file that is missing or contradicts itself, with the line, or unsuitable control points.

    Examples:
        >>> trial = ms.studies.synthetic_recording("filmed", cameras=4)
        >>> len(ms.laboratory.read_camera_file("filmed/walk.toml").calibrations)
        4
    """
    document = Document(file_path(path), CameraFileSettings)
    settings = validated(document, CameraFileSettings)
    recording, entries = settings.recording, settings.camera
    if len(entries) < 2:
        raise document.fault(
            "bad_camera",
            "camera",
            "there is only one camera",
            "two or more: one image shows no distance",
            "add another [[camera]]",
        )
    cameras = [entry.name for entry in entries]
    for index, name in enumerate(cameras):
        if name in cameras[:index]:
            raise document.fault(
                "duplicate_name",
                ("camera", "name", index),
                f"the camera '{name}' is stated twice",
                "a different name for every camera",
                "rename one of them",
            )
    sources = [document.input_file("recording", "control_points", recording.control_points)]
    known, places = read_control_points(sources[0])
    calibrations, digitized = [], []
    for index, entry in enumerate(entries):
        control, markers = (
            document.input_file("camera", key, entry[key], index) for key in ("control_points", "markers")
        )
        name, (points, pixels) = entry.name, read_control_image(control)
        check_known(points, "control point", known, f" in {sources[0].name}", control)
        try:
            fit = calibrate_cameras(places[[known.index(point) for point in points]], pixels, name, points)
        except InputError as error:
            before = f"camera '{name}', {control.name}: "
            raise document.placed(error, "camera", "control_points", index, before) from None
        calibrations.append(fit)
        seen, offset = read_digitized(markers, recording.rate_hz), entry.offset_frames
        if offset != int(offset):
            raise document.fault(
                "bad_value",
                ("camera", "offset_frames", index),
                f"the offset is {offset:g} frames",
                "a whole number of frames",
                "synchronize the cameras to the frame",
            )
        digitized.append(replace(seen, frames=seen.frames + int(offset)))
        sources += [control, markers]
    first, names, image = _on_common_frames(document, digitized)
    limit = recording.largest_residual_px
    return CameraFile(
        path=document.path,
        calibrations=tuple(calibrations),
        first=first,
        rate=recording.rate_hz,
        start=recording.start_s,
        names=names,
        image=image,
        largest_residual=np.inf if limit is None else limit,
        sources=tuple(sources),
    )


def _on_common_frames(
    document: Document, digitized: "Sequence[Digitized]"
) -> tuple[int, tuple[str, ...], Array]:
    """Return the first frame, the names of all markers and their images (C, T, n, 2) on common frames.

    Refuses cameras with few rows for many frames, with the row that jumps, or the offsets of the cameras.
    """
    first = min(int(seen.frames[0]) for seen in digitized)
    count = max(int(seen.frames[-1]) for seen in digitized) + 1 - first
    if count > SPARSEST * max(len(seen.frames) for seen in digitized) + SPARE_FRAMES:
        steps = [int(np.diff(seen.frames).max(initial=0)) for seen in digitized]
        seen, step = digitized[int(np.argmax(steps))], max(steps)
        if step > SPARE_FRAMES:
            row = int(np.argmax(np.diff(seen.frames))) + 1
            raise file_error(
                "bad_value",
                (seen.path, seen.lines[row]),
                f"the frame is {step} frames after the frame of the row before",
                f"frames of one recording; this file has {len(seen.frames)} rows",
                "correct the frame number",
            )
        rows = sum(len(seen.frames) for seen in digitized)
        raise document.fault(
            "bad_camera",
            ("camera", "offset_frames"),
            f"the cameras have {rows} rows for {count} frames, from {first} to {first + count - 1}",
            "frames of one recording",
            "check the numbers of the frames in the files of markers, rate_hz and offset_frames",
        )
    names = tuple(dict.fromkeys(name for seen in digitized for name in seen.names))
    image = np.full((len(digitized), count, len(names), 2), np.nan)
    for k, seen in enumerate(digitized):
        columns = [names.index(name) for name in seen.names]
        image[k][(seen.frames - first)[:, None], columns] = seen.image
    return first, names, image


@dataclass(frozen=True)
class Heading:
    """The column names of a table with their line, and the character between cells."""

    path: Path
    columns: list[str]
    separator: str
    line: int

    def fault(self, code: str, problem: str, expected: str, line: int | None = None) -> InputError:
        """Return the error of the table at a line, by default the line of the column names."""
        place = self.path, self.line if line is None else line
        return file_error(code, place, problem, expected, "correct the table")

    def half_seen(self, name: str, line: int) -> InputError:
        """Return the error of a point with one coordinate of two."""
        return self.fault(
            "bad_format", f"the point '{name}' has only one of its two coordinates", "both or neither", line
        )


@dataclass(frozen=True)
class Digitized:
    """Markers digitized from one camera: n markers in R rows.

    The line of every row (R,), increasing frame numbers (R,) and pixels (R, n, 2), NaN where not seen.
    """

    path: Path
    lines: NDArray[np.int64]
    frames: NDArray[np.int64]
    names: tuple[str, ...]
    image: Array


def read_control_points(path: Path) -> tuple[tuple[str, ...], Array]:
    """Return names and positions (n, 3) of control points [m]."""
    heading, names, table, lines = _named_rows(path)
    columns = heading.columns[1:]
    unit = next((unit for unit in METERS if set(columns) == {f"{axis}_{unit}" for axis in "xyz"}), None)
    if unit is None:
        raise heading.fault(
            "bad_format",
            f"the columns are {few(heading.columns, 12)}",
            "name,x_mm,y_mm,z_mm, or the same in cm or m",
        )
    position = METERS[unit] * table[:, [columns.index(f"{axis}_{unit}") for axis in "xyz"]]
    for k in np.flatnonzero(np.isnan(position).any(axis=1)):
        raise heading.fault(
            "bad_format", f"the control point '{names[k]}' has no place", "its three coordinates", lines[k]
        )
    return names, position


def read_control_image(path: Path) -> tuple[tuple[str, ...], Array]:
    """Return names and pixels (n, 2) of the control points in the image of a camera."""
    heading, names, table, lines = _named_rows(path)
    if heading.columns[1:] != ["u", "v"]:
        raise heading.fault("bad_format", f"the columns are {few(heading.columns, 12)}", "name,u,v")
    for k in np.flatnonzero(np.isnan(table).sum(axis=1) == 1):
        raise heading.half_seen(names[k], lines[k])
    seen = ~np.isnan(table[:, 0])
    return tuple(name for name, there in zip(names, seen, strict=True) if there), table[seen]


def read_digitized(path: Path, rate: float) -> Digitized:
    """Return the pixels of the markers in one camera: columns frame, or time [s], and NAME_u, NAME_v of every marker.

    `rate` turns times into frames [Hz].
    """
    with RowReader(path) as reader:
        heading = _heading(reader, path)
        clock, *columns = heading.columns
        if clock not in ("frame", "time", "time_s"):
            raise heading.fault(
                "missing_column", f"the first column is '{clock}'", "frame, or time in seconds"
            )
        for column in columns:
            name, axis = column[:-2], column[-2:]
            if not name or axis not in ("_u", "_v") or not {f"{name}_u", f"{name}_v"} <= set(columns):
                raise heading.fault(
                    "missing_column",
                    f"the column '{column}' is not one of a pair",
                    "NAME_u and NAME_v for every marker",
                )
        names = tuple(dict.fromkeys(column[:-2] for column in columns))
        split = partial(cells_of, separator=heading.separator)
        blocks = list(reader.blocks(heading.columns, split, heading.separator))
    if not blocks:
        raise heading.fault("truncated_file", "no rows follow the column names", "one row per frame")
    table, lines = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    exact = table[:, 0] if clock == "frame" else table[:, 0] * rate
    near = np.abs(exact - np.round(exact)) <= (1e-6 if clock == "frame" else OFF_GRID)
    for row in np.flatnonzero(~(near & (np.abs(exact) < LAST_FRAME))):
        problem, expected = f"the {clock} is {table[row, 0]:.10g}", "a whole number"
        if clock != "frame":
            expected = f"a multiple of 1/{rate:g} s (rate_hz of the camera file)"
        raise heading.fault("bad_value", problem, expected, lines[row])
    frames = np.round(exact).astype(np.int64)
    for row in np.flatnonzero(np.diff(frames) <= 0):
        raise heading.fault(
            "time_not_increasing",
            f"frame {frames[row + 1]} follows frame {frames[row]}",
            "increasing frames",
            lines[row + 1],
        )
    image = table[:, [[heading.columns.index(f"{name}_{axis}") for axis in "uv"] for name in names]]
    for row, column in np.argwhere(np.isnan(image).sum(axis=-1) == 1):
        raise heading.half_seen(names[column], lines[row])
    return Digitized(path, lines, frames, names, image)


def _heading(reader: RowReader, path: Path) -> Heading:
    line = reader.first_line()
    separator = separator_of(line)
    columns = cells_of(line, separator)
    heading = Heading(path, columns, separator, reader.line_number)
    if len(columns) < 3 or "" in columns:
        problem = "a column has no name" if len(columns) > 2 else "this is not a table of points"
        expected = "a line of column names separated by commas, and rows below it"
        raise heading.fault("bad_format", problem, expected)
    check_unique(columns, "column", path, heading.line)
    return heading


def _named_rows(path: Path) -> tuple[Heading, tuple[str, ...], Array, NDArray[np.int64]]:
    """Return heading, the names in the first column, the numbers (r, k) beside them, and their lines."""
    rows, numbers = [], []
    with RowReader(path) as reader:
        heading = _heading(reader, path)
        while (line := reader.filled_line()) is not None:
            rows.append(cells_of(line, heading.separator))
            numbers.append(reader.line_number)
    if heading.columns[0] != "name":
        raise heading.fault("missing_column", f"the first column is '{heading.columns[0]}'", "name")
    if not rows:
        raise heading.fault("truncated_file", "no rows follow the column names", "one row per point")
    names = tuple(row[0] for row in rows)
    for k, name in enumerate(names):
        if not name or name in names[:k]:
            problem = f"the point '{name}' occurs twice" if name else "a point has no name"
            raise heading.fault("duplicate_name", problem, "a different name for every point", numbers[k])
    lines, columns = np.array(numbers, dtype=np.int64), heading.columns[1:]
    values = number_table([row[1:] for row in rows], lines, columns, path)
    check_measured(values, lines, columns, path)
    return heading, names, values, lines


PIXEL_DECIMALS = 6
PLACE_DECIMALS = 9


def write_camera_file(
    folder: str | Path,
    cameras: Sequence[Camera],
    control_points: ArrayLike,
    markers: Markers,
    noise_px: float = 0.0,
    rng: np.random.Generator | None = None,
    *,
    control_noise_px: float | None = None,
    name: str = "cameras",
) -> Path:
    """Write synthetic images of markers and control points, and return the path of the camera file.

    Args:
        folder: where NAME.toml and its tables are written.
        cameras: two or more.
        control_points: (n, 3) known positions, in the axes of the markers [m]; their names are P1, P2, ...
        markers: evenly sampled; a marker that is lost, or not before a camera, gives empty cells.
        noise_px: standard deviation of the error of every pixel coordinate of a marker [px].
        rng: of the noise; needed when there is any.
        control_noise_px: standard deviation for control points; None: as for markers.
        name: the beginning of the file names, so that several camera files can lie in one folder.

    Raises:
        InputError: a name that the files cannot hold, unevenly sampled markers, or noise without a generator.

    Examples:
        >>> markers = ms.laboratory.read_markers(ms.data.reference_stride().parent / "static.trc")
        >>> points = np.random.default_rng(0).uniform(-0.5, 0.5, (8, 3))
        >>> ms.laboratory.write_camera_file(".", ms.laboratory.camera_ring(4), points, markers).name
        'cameras.toml'
    """
    folder, place = file_path(folder), "write_camera_file"
    cameras = camera_list(cameras, "cameras")
    check_type(markers, Markers, "markers", "markers, as from ms.laboratory.read_markers")
    noise_px = check_number(noise_px, "noise_px", "zero or more pixels", least=0.0)
    control_noise = noise_px if control_noise_px is None else control_noise_px
    control_noise = check_number(control_noise, "control_noise_px", "zero or more pixels", least=0.0)
    control_positions = check_array(control_points, "control_points", ("n", 3), real=True, where=place)
    check_type(rng, np.random.Generator | None, "rng", "a numpy.random.Generator")  # type: ignore[arg-type]
    if rng is None and (noise_px or control_noise):
        fault = "noise needs a generator"
        expected = "rng: a numpy.random.Generator"
        remedy = "give rng=numpy.random.default_rng(1)"
        raise input_error("missing_argument", where=place, problem=fault, expected=expected, remedy=remedy)
    check_writable(folder, "marker", markers.names, markers.time, markers.position, PIXEL_DECIMALS)
    for text in (
        check_type(name, str, "name", "a text"),
        *markers.names,
        *(camera.name for camera in cameras),
    ):
        if not text or inert(text) != text.strip() or any(letter in text for letter in ',;\t\n\r"\\/#'):
            fault = f"the files of cameras cannot hold the name {text!r}"
            expected = (
                "a name without separators, quotes, slashes, #, outer blanks, and without = + - @ before it"
            )
            remedy = "rename it before writing"
            raise input_error("bad_value", where=place, problem=fault, expected=expected, remedy=remedy)
    points = [f"P{k}" for k in range(1, len(control_positions) + 1)]
    exact = (markers.time - markers.time[0]) * markers.rate
    if np.abs(exact - np.round(exact)).max() > 0.01:
        fault = "the markers are unevenly sampled"
        expected = "even samples"
        remedy = "resample them"
        raise input_error("uneven_sampling", where=place, problem=fault, expected=expected, remedy=remedy)
    frames = [str(int(frame)) for frame in np.round(exact)]
    _write_csv(
        folder / f"{name}_points.csv",
        ["name", "x_m", "y_m", "z_m"],
        points,
        control_positions,
        PLACE_DECIMALS,
    )
    columns = ["frame", *(f"{marker}_{axis}" for marker in markers.names for axis in "uv")]
    lines = [
        "[recording]",
        f"rate_hz = {markers.rate:.12g}",
        f"start_s = {float(markers.time[0])!r}",
        f'control_points = "{name}_points.csv"',
    ]
    for camera in cameras:
        control, seen = (f"{name}_{camera.name}_{what}.csv" for what in ("points", "markers"))
        for path, titles, labels, image, noise in (
            (folder / control, ["name", "u", "v"], points, camera.project(control_positions), control_noise),
            (folder / seen, columns, frames, camera.project(markers.position), noise_px),
        ):
            if rng is not None and noise:
                image = image + noise * rng.normal(size=image.shape)
            _write_csv(path, titles, labels, image.reshape(len(labels), -1), PIXEL_DECIMALS)
        lines += ["", "[[camera]]", f'name = "{camera.name}"']
        lines += [f'control_points = "{control}"', f'markers = "{seen}"']
    # Last, so that the tables of an existing camera file are complete.
    write_text(folder / f"{name}.toml", "\n".join(lines) + "\n")
    return folder / f"{name}.toml"


def _write_csv(path: Path, columns: list[str], labels: list[str], values: Array, decimals: int) -> None:
    rows = [
        ",".join([label, *("" if np.isnan(value) else f"{value:.{decimals}f}" for value in row)])
        for label, row in zip(labels, values, strict=True)
    ]
    write_text(path, "\n".join([",".join(columns), *rows]) + "\n")
