"""Cameras where a laboratory meets them: as the markers of a trial, and as a report of their calibration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_line import typed
from synthetic_trial import write_trial

import musclesolve as ms
from musclesolve.laboratory import camera_ring

# Of the files: x forward, y up, z right.
POINTS = np.array([[x, y, z] for x in (-0.5, 0.5, 1.6) for y in (0.0, 0.9, 1.8) for z in (-0.6, 0.6)])


def with_cameras(folder: Path, noise: float = 0.0) -> Path:
    """Write the synthetic trial with camera files in the place of its marker files."""
    trial = write_trial(
        folder,
        ('markers = "walk.trc"', 'markers = "walk.toml"'),
        ('static = "static.trc"', 'static = "still.toml"'),
    )
    cameras = [
        ms.laboratory.Camera(
            camera.name,
            np.r_[
                rotated(camera.coefficients[:4]),
                rotated(camera.coefficients[4:8]),
                turned(camera.coefficients[8:]),
            ],
        )
        for camera in camera_ring(4, target=(0.5, 0.0, 0.9))
    ]
    for source, name in (("walk.trc", "walk"), ("static.trc", "still")):
        rng = np.random.default_rng(1) if noise else None
        ms.laboratory.write_camera_file(
            folder, cameras, POINTS, ms.tables.read_trc(folder / source), noise, rng, name=name
        )
        (folder / source).unlink()
    return trial


def turned(row: np.ndarray) -> np.ndarray:
    """Coefficients of x, y, z of a file with y up and z right, from those of one with y left and z up."""
    return np.array([row[0], row[2], -row[1]])


def rotated(row: np.ndarray) -> np.ndarray:
    return np.append(turned(row[:3]), row[3])


def test_a_trial_from_cameras_is_the_trial_from_its_markers(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "seen").mkdir()
    plain = ms.read_trial(write_trial(tmp_path / "plain"))
    seen = ms.read_trial(with_cameras(tmp_path / "seen"))
    assert seen.markers.names == plain.markers.names
    # The marker file prints 10 nm, the pixels are printed to the sixth decimal.
    np.testing.assert_allclose(seen.markers.position, plain.markers.position, atol=1e-7)
    np.testing.assert_allclose(seen.static.position, plain.static.position, atol=1e-7)
    notes = "\n".join(seen.notes)
    assert (
        "4 cameras, calibrated on 18" in notes and "Standing trial: The markers are reprojected to" in notes
    )
    read = {path.name for path in seen.files.values()}
    assert {"walk.toml", "walk_points.csv", "still_camera_4_markers.csv"} <= read
    assert len(read) == len(list((tmp_path / "seen").iterdir()))


def test_the_calibration_is_reported(tmp_path: Path) -> None:
    with_cameras(tmp_path, 0.5)
    done = typed("check", tmp_path / "walk.toml")
    assert done.exit_code == 0, done.output
    assert "P18" in done.output and "camera_4" in done.output and "root mean square" in done.output
    fits = ms.laboratory.read_camera_file(tmp_path / "walk.toml").calibrations
    for fit in fits:
        assert f"{fit.distance[0]:.2f}" in done.output
        assert f"{fit.camera.center[0]:.2f}" in done.output


def test_a_wrong_camera_file_is_one_message(tmp_path: Path) -> None:
    trial = with_cameras(tmp_path)
    lines = (tmp_path / "walk_camera_2_points.csv").read_text().splitlines()
    (tmp_path / "walk_camera_2_points.csv").write_text("\n".join(lines[:5]))
    done = typed("check", tmp_path / "walk.toml")
    assert done.exit_code == 2 and "4 control points do not determine" in done.output
    with pytest.raises(ms.InputError, match=r"walk\.toml.*camera_2"):
        ms.read_trial(trial)
