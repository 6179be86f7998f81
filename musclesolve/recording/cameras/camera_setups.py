"""Cameras placed by hand, without calibration: for synthetic recordings, teaching and planning a laboratory."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.checks import check_array, check_integer, check_number
from musclesolve.recording.cameras.camera import Camera
from musclesolve.recording.place_errors import error_at

_POSITIVE = "a number above zero"


def camera_at(
    name: str,
    center: ArrayLike,
    target: ArrayLike,
    focal_length: float = 1200.0,
    image_size: tuple[float, float] = (1920.0, 1080.0),
    up: ArrayLike = (0.0, 0.0, 1.0),
) -> Camera:
    """Place a camera that looks at a point, upright; u runs to the right of the image and v down.

    Args:
        name: of the camera.
        center: (3,) its position [m].
        target: (3,) the point in the middle of its image [m].
        focal_length: focal length over the width of a pixel [px].
        image_size: width and height of the image [px].
        up: (3,) the upward direction of the world.

    Raises:
        InputError: it looks straight up or down, or stands at its target; a point that is not three finite numbers, a
            focal length or an image that is not above zero.
    """
    place = f"camera '{name}'"
    center, target, upward = (
        check_array(given, what, (3,), axis=0, real=True, where=place)
        for given, what in ((center, "the center"), (target, "the target"), (up, "the upward direction"))
    )
    focal_length = check_number(focal_length, "the focal length", _POSITIVE, above=0.0, where=place)
    size = check_array(image_size, "the size of the image", (2,), axis=0, real=True, where=place)
    width, height = (
        check_number(side, "a side of the image", _POSITIVE, above=0.0, where=place) for side in size
    )
    ahead = target - center
    right = np.cross(ahead, upward)
    if not np.linalg.norm(right) > 1e-9 * np.linalg.norm(ahead) * np.linalg.norm(upward):
        problem = "it looks along the upward direction, so what is up in its image is unknown"
        expected, remedy = "another view", "move it, or give another 'up'"
        raise error_at(None, place, problem, expected, remedy, code="bad_camera")
    ahead, right = ahead / np.linalg.norm(ahead), right / np.linalg.norm(right)
    attitude = np.stack([right, np.cross(ahead, right), ahead])
    lens = np.array([[focal_length, 0.0, width / 2], [0.0, focal_length, height / 2], [0.0, 0.0, 1.0]])
    matrix = lens @ np.column_stack([attitude, -attitude @ center])
    return Camera.from_matrix(name, matrix, target)


def ring(
    count: int = 4,
    radius: float = 5.0,
    height: float = 2.0,
    target: ArrayLike = (0.0, 0.0, 1.0),
    focal_length: float = 1200.0,
) -> list[Camera]:
    """Place cameras evenly on a circle around a point, all looking at it, neighbors at most 90 degrees apart.

    Args:
        count: how many.
        radius: of the circle about the vertical through the target [m].
        height: of the cameras above the ground [m]; every second one stands a fifth higher.
        target: (3,) the point all look at [m].
        focal_length: focal length over the width of a pixel [px].

    Raises:
        InputError: fewer than one camera, a radius that is not above zero, and what ``camera_at`` refuses.
    """
    place = "a ring of cameras"
    number = check_integer(count, "the number of cameras", 1, where=place)
    radius = check_number(radius, "the radius", _POSITIVE, above=0.0, where=place)
    height = check_number(height, "the height", "a finite number", where=place)
    target = check_array(target, "the target", (3,), axis=0, real=True, where=place)
    cameras = []
    for k in range(number):
        # Half a step off the axes: no camera looks along the walkway or stands beside the origin.
        angle = min(2.0 * np.pi / number, 0.5 * np.pi) * (k + 0.5)
        beside = target[:2] + radius * np.array([np.cos(angle), np.sin(angle)])
        center = np.append(beside, height * (1.0 + 0.2 * (k % 2)))
        cameras.append(camera_at(f"camera_{k + 1}", center, target, focal_length))
    return cameras
