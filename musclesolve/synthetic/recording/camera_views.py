"""Virtual cameras around the walkway of a synthetic recording."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.cameras.camera import Camera
from musclesolve.recording.cameras.camera_setups import ring
from musclesolve.recording.cameras.camera_writing import write_camera_file
from musclesolve.recording.data import Markers
from musclesolve.synthetic.recording.recording_options import RecordingOptions

CLEARANCE = 0.4
"""How far the control points reach beyond the markers [m]."""

NEAREST = 5.0
"""Least distance of a camera from the middle of the walkway [m]."""

FOCAL_LENGTH = 1200.0
"""Of a camera at the least distance [px]; farther away it is longer, so that a pixel shows as much everywhere."""


def write_views(
    folder: Path, options: RecordingOptions, recordings: Mapping[str, Markers], axes: Array
) -> None:
    """Write what the cameras saw of each recording as a camera file NAME.toml with its tables.

    recordings: markers by the name of their file, in the axes of the files; axes R (3, 3): p_global = R p_file.
    """
    seen = np.concatenate([markers.position.reshape(-1, 3) @ axes.T for markers in recordings.values()])
    low, high = np.nanmin(seen, axis=0) - CLEARANCE, np.nanmax(seen, axis=0) + CLEARANCE
    low[2] = 0.0
    middle = 0.5 * (low + high)
    target = [middle[0], middle[1], 0.9]
    radius = max(NEAREST, high[0] - low[0])
    focal_length = FOCAL_LENGTH * radius / NEAREST
    cameras = ring(options.cameras, radius=radius, target=target, focal_length=focal_length)
    control = np.stack(np.meshgrid(*np.linspace(low, high, 3).T, indexing="ij"), axis=-1).reshape(-1, 3)
    for number, (name, markers) in enumerate(recordings.items()):
        write_camera_file(
            folder,
            [_in_file_axes(camera, axes) for camera in cameras],
            control @ axes,
            markers,
            options.noise_px,
            np.random.default_rng([options.seed, 4, number]),
            name=name,
        )


def _in_file_axes(camera: Camera, axes: Array) -> Camera:
    """The same camera for points in the axes of the files: a . p_global = (a R) . p_file."""
    rows = np.append(camera.coefficients, 1.0).reshape(3, 4)
    rows = np.column_stack([rows[:, :3] @ axes, rows[:, 3]])
    return Camera(camera.name, rows.reshape(-1)[:11], camera.front)
