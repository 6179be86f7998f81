"""What is no camera, no image and no noise is refused with a sentence, whatever it is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from musclesolve.errors import InputError
from musclesolve.recording.cameras.calibration import calibrate
from musclesolve.recording.cameras.camera import Camera
from musclesolve.recording.cameras.camera_setups import camera_at, ring
from musclesolve.recording.cameras.reconstruction import reconstruct

CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (0.0, 2.0)])
FOUR = ring(4)
SEEN = np.stack([camera.project(CUBE[None]) for camera in FOUR])
A = FOUR[0].coefficients


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: reconstruct(FOUR, "abc"), "the images are no array of numbers"),
        (lambda: reconstruct(FOUR, [[1, 2], [3]]), "the images are no array of numbers"),
        (lambda: reconstruct(FOUR, SEEN + 1j), "the images are no array of numbers"),
        (lambda: reconstruct(FOUR, None), "shape"),
        (lambda: reconstruct([1, 2], SEEN[:2]), "camera 1 is a int"),
        (lambda: reconstruct([FOUR[0], "left"], SEEN[:2]), "camera 2 is a str"),
        (lambda: reconstruct("ab", SEEN[:2]), "the cameras are a str"),
        (lambda: reconstruct(FOUR[0], SEEN[:1]), "the cameras are a Camera"),
        (lambda: reconstruct(FOUR, SEEN, "x"), "the noise is 'x'"),
        (lambda: reconstruct(FOUR, SEEN, np.nan), "the noise is nan"),
        (lambda: reconstruct(FOUR, SEEN, [1.0, 2.0]), "the noise is"),
        (lambda: reconstruct(FOUR, SEEN, -1.0), "the noise is -1 px"),
        (lambda: Camera("a", ["x"] * 11), "camera 'a' are not all numbers"),
        (lambda: Camera("a", A + 1j), "camera 'a' are not all numbers"),
        (lambda: Camera("a", A, np.nan), "camera 'a': the sign 'front' is nan"),
        (lambda: Camera("a", A, "x"), "the sign 'front' is 'x'"),
        (lambda: Camera("a", A, 0.0), "camera 'a' has no front"),
        (lambda: camera_at("a", [5.0, 1.0], [0.0, 0.0]), r"camera 'a': the center is \[5.0, 1.0\]"),
        (lambda: camera_at("a", [5.0, 1.0, np.nan], [0.0, 0.0, 1.0]), "the center is"),
        (lambda: camera_at("a", [5.0, 1.0, 1.0], "x"), "the target is 'x'"),
        (lambda: camera_at("a", [5.0, 1.0, 1.0], [0.0, 0.0, 1.0], -5.0), "the focal length is -5"),
        (lambda: camera_at("a", [5.0, 1.0, 1.0], [0.0, 0.0, 1.0], np.nan), "the focal length is nan"),
        (
            lambda: camera_at("a", [5.0, 1.0, 1.0], [0.0, 0.0, 1.0], image_size=(0.0, 5.0)),
            "a side of the image is 0",
        ),
        (
            lambda: camera_at("a", [5.0, 1.0, 1.0], [0.0, 0.0, 1.0], image_size=7.0),
            "the size of the image is 7",
        ),
        (lambda: camera_at("a", [5.0, 1.0, 1.0], [0.0, 0.0, 1.0], up=[0.0, 1.0]), "the upward direction is"),
        (lambda: ring(-1), "the number of cameras is -1"),
        (lambda: ring(0), "the number of cameras is 0"),
        (lambda: ring(2.5), "the number of cameras is 2.5"),
        (lambda: ring(np.nan), "the number of cameras is nan"),
        (lambda: ring(3, 0.0), "the radius is 0"),
        (lambda: ring(3, height=np.inf), "the height is inf"),
        (lambda: ring(3, target=[0.0, 1.0]), "the target is"),
        (lambda: calibrate(CUBE, SEEN[0, 0], "a", 5), "camera 'a': the labels are 5"),
        (lambda: calibrate(CUBE, SEEN[0, 0], "a", ["b"]), "1 names"),
        (lambda: calibrate(CUBE + 1j, SEEN[0, 0]), "not an array of n rows and 3 columns"),
        (lambda: calibrate(None, None), "not an array of n rows and 3 columns"),
        (lambda: calibrate([[1.0, 2.0], [3.0]], SEEN[0, 0]), "not an array of n rows and 3 columns"),
    ],
)
def test_what_is_none_is_refused(call: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        call()
    message = str(error.value)
    assert "expected" in message and "remedy" in message and len(message) < 500


def test_whole_numbers_lists_and_names_that_are_numbers_are_taken() -> None:
    assert camera_at("a", [5, 1, 1], (0, 0, 1), 1000).front == 1.0
    assert len(ring(np.int64(3))) == 3
    assert reconstruct(tuple(FOUR), SEEN.tolist(), 0).noise == 0.0
    assert calibrate(CUBE.tolist(), SEEN[0, 0].tolist(), labels=range(8)).labels[7] == "7"
    assert Camera("a", list(A), -3).front == -1.0
