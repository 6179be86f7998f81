"""One camera: the eleven coefficients of the direct linear transformation, its center and direction.

Cameras may be placed by hand, without calibration: for synthetic recordings, teaching and planning a laboratory.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.checks import (
    check_array,
    check_integer,
    check_number,
    check_real_array,
    check_type,
    one_or_several,
)
from musclesolve.errors import input_error

_POSITIVE = "a number above zero"


@dataclass(frozen=True)
class Camera:
    """A camera that maps points to pixels by a central projection.

    u = (a1 X + a2 Y + a3 Z + a4) / (a9 X + a10 Y + a11 Z + 1),
    v = (a5 X + a6 Y + a7 Z + a8) / (a9 X + a10 Y + a11 Z + 1)
    (Abdel-Aziz & Karara 1971; Silva 2003, eq. 5.1). Distortion by the lens is not modeled.

    Args:
        name: for messages.
        coefficients: (11,) a1 to a11; X, Y, Z in meters, u and v in pixels.
        front: sign of the denominator for points before the camera: 1.0 if the origin of the world is before the
            camera, -1.0 if it is behind.

    Examples:
        >>> camera = ms.laboratory.Camera("front", np.array([800.0, 0, 0, 320, 0, 800.0, 0, 240, 0, 0, 1.0]))
        >>> camera.project(np.array([[0.0, 0.0, 3.0]])).tolist()    # (n, 3) [m] to (n, 2) [px]
        [[80.0, 60.0]]
    """

    name: str
    coefficients: Array
    front: float = 1.0

    def __post_init__(self) -> None:
        place = f"camera '{self.name}'"
        values = check_array(
            self.coefficients, "the array of coefficients", (11,), axis=0, real=True, where=place
        )
        rows = np.append(values, 1.0).reshape(3, 4)
        size = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (size > 0.0).all() or np.linalg.svd(rows / size, compute_uv=False)[2] < 1e-12:
            raise input_error(
                "bad_camera",
                where=place,
                problem="all points are projected to one line",
                expected="height and width in the image",
                remedy="calibrate the camera again, with points at different depths",
            )
        expected = "1.0 when the origin of the world is before the camera, -1.0 when it is behind"
        front = float(np.sign(check_number(self.front, "the sign 'front'", expected, where=place)))
        if front == 0.0:
            raise input_error(
                "bad_number", where=place, problem="the sign 'front' is zero", expected=expected
            )
        object.__setattr__(self, "coefficients", values)
        object.__setattr__(self, "front", front)

    @classmethod
    def from_matrix(cls, name: str, matrix: Array, front: Array) -> Self:
        """Make a camera from its projection matrix.

        Args:
            name: for messages.
            matrix: (3, 4), of any scale: (u w, v w, w) = matrix (X, Y, Z, 1).
            front: (3,) a point before the camera [m].

        Raises:
            InputError: the origin of the world is beside the camera, perpendicular to its view, so that the twelfth
                coefficient cannot be one.
        """
        center = _center(matrix)
        # A parallel projection, with its center (NaN) at infinity, has the same denominator everywhere: reach 0.
        reach = np.nan_to_num(np.linalg.norm(matrix[2, :3]) * np.linalg.norm(front - center))
        if not abs(matrix[2, 3]) > 1e-6 * reach:
            raise input_error(
                "bad_camera",
                where=f"camera '{name}'",
                problem="the origin of the world lies exactly beside it",
                expected="an origin before or behind the plane of the camera",
                remedy="measure the control points from another origin, for example from one of them",
            )
        scaled = matrix / matrix[2, 3]
        return cls(name, scaled.ravel()[:11], float(np.sign(scaled[2, :3] @ front + 1.0)))

    @property
    def matrix(self) -> Array:
        """Projection matrix (3, 4), last element one."""
        return np.append(self.coefficients, 1.0).reshape(3, 4)

    @property
    def center(self) -> Array:
        """Position of the camera (3,) [m]: the point without an image.

        Raises:
            InputError: the projection is parallel, so the camera is infinitely far away.
        """
        center = _center(self.matrix)
        if not np.isfinite(center).all():
            raise input_error(
                "bad_camera",
                where=f"camera '{self.name}'",
                problem="its projection is parallel",
                expected="a center at a finite distance",
                remedy="calibrate the camera again, with points at different depths",
            )
        return center

    @property
    def direction(self) -> Array:
        """Unit vector (3,) along which the camera looks, perpendicular to its image."""
        ahead = self.front * self.coefficients[8:]
        return np.asarray(ahead / np.linalg.norm(ahead))

    def depth(self, points: Array) -> Array:
        """Return the denominators (...,) of points (..., 3), positive before the camera and negative behind it."""
        return np.asarray(self.front * (np.asarray(points) @ self.coefficients[8:] + 1.0))

    def project(self, points: Array) -> Array:
        """Return the pixels (..., 2) of points (..., 3) [m] (eq. 5.1); NaN for points not before the camera."""
        a, points = self.coefficients, check_real_array(points, "points", "points (..., 3) [m]")
        check_array(points, "points", (*map(str, range(points.ndim - 1)), 3), finite=False)
        depth = self.depth(points)
        # NaN is not above zero either: a marker that was not seen has no image.
        depth = np.where(depth > 0.0, depth, np.nan)[..., None]
        numerators = points @ np.stack([a[0:3], a[4:7]], axis=1) + a[[3, 7]]
        return np.asarray(self.front * numerators / depth)


def camera_list(cameras: object, where: str) -> list[Camera]:
    """Return cameras as a list; refuse anything else."""
    expected = "cameras, as ms.laboratory.ring and camera_at make, or calibrate_cameras(...).camera"
    return [
        check_type(camera, Camera, f"{where}, camera {k}", expected)
        for k, camera in enumerate(one_or_several(cameras), 1)
    ]


def _center(matrix: Array) -> Array:
    """Return the point (3,) that a projection matrix (3, 4) maps to zero; NaN if it is at infinity."""
    *_, rows = np.linalg.svd(matrix)
    point = rows[-1]
    if abs(point[3]) < 1e-12:
        return np.full(3, np.nan)
    return np.asarray(point[:3] / point[3])


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

    Examples:
        >>> camera = ms.laboratory.camera_at("front", (5.0, 0.0, 1.0), (0.0, 0.0, 1.0))
        >>> camera.project(np.array([[0.0, 0.0, 1.0]])).round(6).tolist()      # the middle of the image [px]
        [[960.0, 540.0]]
    """
    place = f"camera '{name}'"
    center, target, upward = (
        check_array(point, what, (3,), axis=0, real=True, where=place)
        for point, what in ((center, "the center"), (target, "the target"), (up, "the upward direction"))
    )
    focal_length = check_number(focal_length, "the focal length", _POSITIVE, above=0.0, where=place)
    size = check_array(image_size, "the size of the image", (2,), axis=0, real=True, where=place)
    width, height = (
        check_number(side, "a side of the image", _POSITIVE, above=0.0, where=place) for side in size
    )
    ahead = target - center
    right = np.cross(ahead, upward)
    if not np.linalg.norm(right) > 1e-9 * np.linalg.norm(ahead) * np.linalg.norm(upward):
        fault = "it looks along the upward direction, so that the upward direction in its image is unknown"
        expected = "another view"
        remedy = "move it, or give another 'up'"
        raise input_error("bad_camera", where=place, problem=fault, expected=expected, remedy=remedy)
    ahead, right = ahead / np.linalg.norm(ahead), right / np.linalg.norm(right)
    attitude = np.stack([right, np.cross(ahead, right), ahead])
    lens = np.array([[focal_length, 0.0, width / 2], [0.0, focal_length, height / 2], [0.0, 0.0, 1.0]])
    matrix = lens @ np.column_stack([attitude, -attitude @ center])
    return Camera.from_matrix(name, matrix, target)


def camera_ring(
    count: int = 4,
    radius: float = 5.0,
    height: float = 2.0,
    target: ArrayLike = (0.0, 0.0, 1.0),
    focal_length: float = 1200.0,
) -> list[Camera]:
    """Place cameras evenly on a circle around a point, all looking at it, neighbors at most 90 degrees apart.

    Args:
        count: number of cameras.
        radius: of the circle about the vertical through the target [m].
        height: of the cameras above the ground [m]; every second camera is a fifth higher.
        target: (3,) the point all look at [m].
        focal_length: focal length over the width of a pixel [px].

    Raises:
        InputError: fewer than one camera, a radius that is not above zero, or any fault that ``camera_at`` refuses.

    Examples:
        >>> [camera.name for camera in ms.laboratory.camera_ring(4)]
        ['camera_1', 'camera_2', 'camera_3', 'camera_4']
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
