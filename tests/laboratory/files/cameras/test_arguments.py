"""Every argument that is no camera, no image and no noise is refused with a sentence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from musclesolve.laboratory import Camera, calibrate_cameras, camera_at, camera_ring, reconstruct
from tests.support.refusals import refused

CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (0.0, 2.0)])
FOUR = camera_ring(4)
SEEN = np.stack([camera.project(CUBE[None]) for camera in FOUR])
A = FOUR[0].coefficients


TARGET = [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: reconstruct(FOUR, "abc"), ("not_numbers", "images")),
        (lambda: reconstruct(FOUR, [[1, 2], [3]]), ("bad_shape", "images")),
        (lambda: reconstruct(FOUR, SEEN + 1j), ("not_numbers", "images")),
        (lambda: reconstruct([FOUR[0], "left"], SEEN[:2]), ("bad_type", "camera 2", "str")),
        (lambda: reconstruct("ab", SEEN[:2]), ("bad_type", "str")),
        (lambda: reconstruct(FOUR[0], SEEN[:1]), ("bad_camera", "1 camera")),
        (lambda: reconstruct(FOUR, SEEN, [1.0, 2.0]), ("bad_number", "the noise")),
        (lambda: reconstruct(FOUR, SEEN, -1.0), ("bad_number", "the noise", "-1")),
        (lambda: Camera("a", ["x"] * 11), ("not_numbers", "camera 'a'", "coefficients")),
        (lambda: Camera("a", A, np.nan), ("bad_number", "camera 'a'", "'front'", "nan")),
        (lambda: Camera("a", A, 0.0), ("bad_number", "camera 'a'", "'front'")),
        (lambda: camera_at("a", [5.0, 1.0], TARGET), ("bad_shape", "camera 'a'", "the center")),
        (lambda: camera_at("a", [5.0, 1.0, np.nan], TARGET), ("not_finite", "the center")),
        (lambda: camera_at("a", [5.0, 1.0, 1.0], TARGET, -5.0), ("bad_number", "the focal length", "-5")),
        (lambda: camera_at("a", [5.0, 1.0, 1.0], TARGET, image_size=(0.0, 5.0)), ("bad_number", "side")),
        (lambda: camera_at("a", [5.0, 1.0, 1.0], TARGET, image_size=7.0), ("bad_shape", "size")),
        (lambda: camera_at("a", [5.0, 1.0, 1.0], TARGET, up=[0.0, 1.0]), ("bad_shape", "upward")),
        (lambda: camera_ring(0), ("bad_number", "the number of cameras", "0")),
        (lambda: camera_ring(2.5), ("bad_number", "the number of cameras", "2.5")),
        (lambda: camera_ring(3, 0.0), ("bad_number", "the radius", "0")),
        (lambda: camera_ring(3, height=np.inf), ("bad_number", "the height", "inf")),
        (lambda: camera_ring(3, target=[0.0, 1.0]), ("bad_shape", "the target")),
        (lambda: calibrate_cameras(CUBE, SEEN[0, 0], "a", 5), ("bad_type", "camera 'a'", "int")),
        (lambda: calibrate_cameras(CUBE, SEEN[0, 0], "a", ["b"]), ("bad_shape", "1 names")),
        (lambda: calibrate_cameras(None, None), ("not_numbers", "control points")),
    ],
)
def test_what_is_none_is_refused(call: Callable[[], object], parts: tuple[str, ...]) -> None:
    with refused(*parts, "expected") as raised:
        call()
    assert len(str(raised.value)) < 500


def test_whole_numbers_lists_and_names_that_are_numbers_are_taken() -> None:
    assert camera_at("a", [5, 1, 1], (0, 0, 1), 1000).front == 1.0
    assert len(camera_ring(np.int64(3))) == 3
    assert reconstruct(tuple(FOUR), SEEN.tolist(), 0).noise == 0.0
    assert calibrate_cameras(CUBE.tolist(), SEEN[0, 0].tolist(), labels=range(8)).labels[7] == "7"
    assert Camera("a", list(A), -3).front == -1.0
