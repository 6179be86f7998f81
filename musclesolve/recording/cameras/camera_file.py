"""Camera files: two or more calibrated cameras and what they saw, frame by frame.

A TOML file names the control points with their places, and for every camera the pixels of the control points and of
the markers. The cameras are calibrated on the control points as they are read (direct linear transformation).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.message_text import few
from musclesolve._util.names import suggestion
from musclesolve.errors import InputError
from musclesolve.recording.cameras.calibration import Calibration, calibrate
from musclesolve.recording.cameras.pixel_tables import (
    Digitised,
    read_control_image,
    read_control_points,
    read_digitised,
)
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.text.text_file import file_path
from musclesolve.recording.trial.schema import Document, validated

KEYS = "camera_keys.toml"
# The most frames of a recording with gaps: so many for every row of the longest file of markers, and some to spare.
# More come from a wrong frame number, and would fill the memory.
SPARSEST, SPARE_FRAMES = 10, 1000


@dataclass(frozen=True)
class CameraFile:
    """A camera file that has been read: calibrated cameras and what they saw.

    Args:
        path: the camera file.
        calibrations: of C cameras.
        first: number of the first frame.
        rate: frames a second [Hz].
        start: time of frame 0 [s].
        names: n markers.
        image: (C, T, n, 2) pixels, NaN where not seen.
        largest_residual: reprojection error beyond which a point is left out [px]; infinite when there is no limit.
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
    """Read a camera file and the tables it names, and calibrate its cameras."""
    document = Document(file_path(path), KEYS)
    content = validated(document)
    entries = content["camera"]
    _check_cameras(document, entries)
    given = content["recording"]
    sources = [document.input_file("recording", "control_points", given["control_points"])]
    names, places = read_control_points(sources[0])
    calibrations, digitised = [], []
    for index, entry in enumerate(entries):
        control, markers = (
            document.input_file("camera", key, entry[key], index) for key in ("control_points", "markers")
        )
        calibrations.append(_calibration(document, index, entry["name"], control, names, places))
        seen = read_digitised(markers, float(given["rate_hz"]))
        digitised.append(replace(seen, frames=seen.frames + _offset(document, index, entry)))
        sources += [control, markers]
    first, markers_seen, image = _together(document, digitised)
    limit = given["largest_residual_px"]
    return CameraFile(
        path=document.path,
        calibrations=tuple(calibrations),
        first=first,
        rate=float(given["rate_hz"]),
        start=float(given["start_s"]),
        names=markers_seen,
        image=image,
        largest_residual=np.inf if limit is None else float(limit),
        sources=tuple(sources),
    )


def _check_cameras(document: Document, entries: Sequence[dict[str, Any]]) -> None:
    if len(entries) < 2:
        problem, expected = "there is only one camera", "two or more: one image shows no distance"
        remedy = "add another [[camera]]"
        raise document.error(problem, "camera", None, 0, expected, remedy, code="bad_camera")
    names = [entry["name"] for entry in entries]
    for index, name in enumerate(names):
        if name in names[:index]:
            problem, expected = f"the camera '{name}' stands twice", "a name of its own for every camera"
            remedy = "rename one of them"
            raise document.error(problem, "camera", "name", index, expected, remedy, code="duplicate_name")


def _offset(document: Document, index: int, entry: dict[str, Any]) -> int:
    offset = entry["offset_frames"]
    if offset != int(offset):
        problem, remedy = f"the offset is {offset:g} frames", "synchronise the cameras to the frame"
        raise document.error(problem, "camera", "offset_frames", index, "a whole number of frames", remedy)
    return int(offset)


def _calibration(
    document: Document, index: int, name: str, file: Path, known: tuple[str, ...], places: Array
) -> Calibration:
    """Calibrate one camera on the control points it saw."""
    names, image = read_control_image(file)
    for point in names:
        if point not in known:
            problem, expected = f"there is no control point '{point}'", "a name of the file of control points"
            remedy = suggestion(point, known) or f"its points are {few(known, 24)}"
            raise error_at(file, None, problem, expected, remedy, code="unknown_name")
    try:
        return calibrate(places[[known.index(point) for point in names]], image, name, names)
    except InputError as error:
        error.problem = f"camera '{name}', {file.name}: {error.problem}"
        raise document.placed(error, "camera", "control_points", index) from None


def _together(document: Document, digitised: Sequence[Digitised]) -> tuple[int, tuple[str, ...], Array]:
    """Return the first frame, the names of all markers and their images (C, T, n, 2) on common frames."""
    first = min(int(seen.frames[0]) for seen in digitised)
    count = max(int(seen.frames[-1]) for seen in digitised) + 1 - first
    if count > SPARSEST * max(len(seen.frames) for seen in digitised) + SPARE_FRAMES:
        raise _too_sparse(document, digitised, first, count)
    names = tuple(dict.fromkeys(name for seen in digitised for name in seen.names))
    image = np.full((len(digitised), count, len(names), 2), np.nan)
    for k, seen in enumerate(digitised):
        columns = [names.index(name) for name in seen.names]
        image[k][(seen.frames - first)[:, None], columns] = seen.image
    return first, names, image


def _too_sparse(document: Document, digitised: Sequence[Digitised], first: int, count: int) -> InputError:
    """Return the refusal of cameras that have few rows for many frames: at the row that jumps, or at the offsets."""
    steps = [int(np.diff(seen.frames).max(initial=0)) for seen in digitised]
    seen, step = digitised[int(np.argmax(steps))], max(steps)
    if step > SPARE_FRAMES:
        row = int(np.argmax(np.diff(seen.frames))) + 1
        problem = f"the frame is {step} frames after that of the row before"
        expected = f"frames of one recording; this file has {len(seen.frames)} rows"
        remedy = "correct the frame number"
        return error_at(seen.path, seen.lines[row], problem, expected, remedy, code="bad_value")
    rows = sum(len(seen.frames) for seen in digitised)
    problem = f"the cameras have {rows} rows for {count} frames, from {first} to {first + count - 1}"
    expected = "frames of one recording"
    remedy = "check the numbers of the frames in the files of markers, rate_hz and offset_frames"
    return document.error(problem, "camera", "offset_frames", 0, expected, remedy, code="bad_camera")
