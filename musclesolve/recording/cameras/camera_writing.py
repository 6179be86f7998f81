"""Camera files of synthetic recordings: what cameras would have seen of markers and control points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve.recording.cameras.camera import Camera
from musclesolve.recording.data import Markers
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.text_file import check_writable, file_path, write_text

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
    """Write what cameras would have seen of markers and control points, and return the path of the camera file.

    Args:
        folder: where NAME.toml and its tables are written.
        cameras: two or more.
        control_points: (n, 3) known places, in the axes of the markers [m]; they are called P1, P2, ...
        markers: evenly sampled; a marker that is lost, or not before a camera, gives empty cells.
        noise_px: standard deviation of the error of every pixel coordinate of a marker [px].
        rng: of the noise; needed when there is any.
        control_noise_px: the same for control points; None: as for markers.
        name: the beginning of the file names, so that several camera files can lie in one folder.

    Raises:
        InputError: a name that the files cannot hold, unevenly sampled markers, or noise without a generator.
    """
    folder, place = file_path(folder), "write_camera_file"
    control_noise = noise_px if control_noise_px is None else control_noise_px
    if rng is None and (noise_px or control_noise):
        problem, expected = "noise needs a generator", "rng: a numpy.random.Generator"
        remedy = "give rng=numpy.random.default_rng(1)"
        raise error_at(None, place, problem, expected, remedy, code="missing_argument")
    check_writable(folder, "marker", markers.names, markers.time, markers.position, PIXEL_DECIMALS)
    for text in (name, *markers.names, *(camera.name for camera in cameras)):
        if not text or text != text.strip() or any(letter in text for letter in ',;\t\n\r"\\/#'):
            problem = f"the files of cameras cannot hold the name {text!r}"
            expected = "a name without separators, quotes, slashes, # and surrounding blanks"
            raise error_at(None, place, problem, expected, "rename it before writing", code="bad_value")
    known = np.asarray(control_points, dtype=np.float64)
    points = [f"P{k}" for k in range(1, len(known) + 1)]
    exact = (markers.time - markers.time[0]) * markers.rate
    if np.abs(exact - np.round(exact)).max() > 0.01:
        problem = "the markers are unevenly sampled"
        raise error_at(None, place, problem, "even samples", "resample them", code="uneven_sampling")
    frames = [str(int(frame)) for frame in np.round(exact)]
    _write_csv(folder / f"{name}_points.csv", ["name", "x_m", "y_m", "z_m"], points, known, PLACE_DECIMALS)
    columns = ["frame", *(f"{marker}_{axis}" for marker in markers.names for axis in "uv")]
    lines = [
        "[recording]",
        f"rate_hz = {markers.rate:.12g}",
        f"start_s = {float(markers.time[0])!r}",
        f'control_points = "{name}_points.csv"',
    ]
    for camera in cameras:
        control, seen = (f"{name}_{camera.name}_{what}.csv" for what in ("points", "markers"))
        image = _noisy(camera.project(known), control_noise, rng)
        _write_csv(folder / control, ["name", "u", "v"], points, image, PIXEL_DECIMALS)
        image = _noisy(camera.project(markers.position), noise_px, rng).reshape(len(frames), -1)
        _write_csv(folder / seen, columns, frames, image, PIXEL_DECIMALS)
        lines += ["", "[[camera]]", f'name = "{camera.name}"']
        lines += [f'control_points = "{control}"', f'markers = "{seen}"']
    # Last: a camera file that is there names tables that are complete.
    write_text(folder / f"{name}.toml", "\n".join(lines) + "\n")
    return folder / f"{name}.toml"


def _noisy(image: Array, scale: float, rng: np.random.Generator | None) -> Array:
    return image if rng is None or not scale else image + scale * rng.normal(size=image.shape)


def _write_csv(path: Path, columns: list[str], labels: list[str], values: Array, decimals: int) -> None:
    rows = [
        ",".join([label, *("" if np.isnan(value) else f"{value:.{decimals}f}" for value in row)])
        for label, row in zip(labels, values, strict=True)
    ]
    write_text(path, "\n".join([",".join(columns), *rows]) + "\n")
