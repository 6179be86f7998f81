"""Rigid registration: least-squares displacements of reference shapes to every frame at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, slices
from musclesolve.errors import input_error

# The rotation about a line is undetermined: points closer to one than this are refused.
SMALLEST_BREADTH = 0.004
_BLOCK = 500  # Frames whose bodies are placed together
SKEW = np.zeros((3, 9))
"""Matrix of v x u, by rows, for each component of v."""
SKEW[[0, 0, 1, 1, 2, 2], [7, 5, 2, 6, 3, 1]] = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0]


@dataclass(frozen=True)
class Poses:
    """Rigid displacements of one body from its reference to T frames: p(t) = R(t) p_reference + d(t).

    R (T, 3, 3), d (T, 3) [m], and the root mean square distance of registered and measured points (T,) [m].
    """

    rotation: Array
    translation: Array
    residual: Array

    def point(self, reference: Array) -> Array:
        """Return the positions (T, 3) of a point (3,) of the reference in every frame."""
        return self.rotation @ reference + self.translation

    def direction(self, reference: Array) -> Array:
        """Return the directions (T, 3), in every frame, of a direction (3,) of the reference."""
        return np.asarray(self.rotation @ reference)


def breadth(points: Array) -> float:
    """Return the rms distance of points (n, 3) from the line nearest to them [m]; zero for fewer than three points."""
    return _breadth(np.ascontiguousarray(points, float).tobytes())


@lru_cache(maxsize=1024)
def _breadth(places: bytes) -> float:
    """The breadth of points as bytes, cached because one shape is registered in many frames."""
    points = np.frombuffer(places).reshape(-1, 3)
    if len(points) < 3:
        return 0.0
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) / np.sqrt(len(points))
    return float(spread[1])


def check_shape(reference: Array, name: str) -> None:
    """Refuse points (n, 3) [m] of a body that do not show how it rotates: fewer than three, or points on a line."""
    broad = breadth(reference)
    if broad < SMALLEST_BREADTH:
        raise input_error(
            "bad_shape",
            problem=f"the points of {name} lie on a line to within {1000 * broad:.1f} mm, so its rotation is unknown",
            expected="three or more points that span a triangle",
            remedy="check that no two markers are exchanged or copied, or use a marker away from the line",
        )


@dataclass(frozen=True, eq=False)
class Shapes:
    """Reference shapes of C bodies, which are registered together; each has passed `check_shape`.

    names (C,); reference (M, 3) [m]: the points of all bodies, one body after the other; first (C+1,): their begins;
    places (M,): number of each among the n measured points of a frame.
    """

    names: tuple[str, ...]
    reference: Array
    places: Indices
    first: Indices

    @classmethod
    def from_bodies(cls, bodies: Mapping[str, tuple[Array, Sequence[int]]]) -> Self:
        """Shapes from the points (k, 3) [m] of each body and their places (k,) among the measured points."""
        sizes = [len(shape) for shape, _ in bodies.values()]
        return cls(
            tuple(bodies),
            np.concatenate([np.zeros((0, 3)), *(shape for shape, _ in bodies.values())]),
            np.array([place for _, places in bodies.values() for place in places], np.intp),
            np.cumsum([0, *sizes]).astype(np.intp),
        )

    @cached_property
    def _padded(self) -> tuple[Indices, Mask, Indices, Array, Array, Array]:
        """Places (C, k) of as many points of each body, which of them it has (C, k, 1), and how many (C, 1).

        And its shape (C, k, 3), the mean of it (C, 3), and its points from there, transposed (C, 3, k) [m].
        """
        count, steps = np.diff(self.first)[:, None], np.arange(np.diff(self.first).max(initial=0))
        inside = (steps < count)[..., None]
        chosen = np.where(steps < count, self.first[:-1, None] + steps, 0)
        shape = self.reference[chosen]
        center = np.sum(shape, axis=1, where=inside) / count
        apart = np.swapaxes((shape - center[:, None]) * inside, 1, 2)
        return self.places[chosen], inside, count, shape, center, apart

    def register(self, points: Array) -> tuple[Array, Array, Array]:
        """Return the displacements that bring the shapes nearest to measured points (T, n, 3) [m].

        Minimizes sum_k |R r_k + d - p_k|^2 per frame and body (Soderkvist & Wedin 1993, J Biomech 26:1473-77). With
        M = sum_k (r_k - r)(p_k - p)^T about the means, the unit quaternion of R is the eigenvector of the largest
        eigenvalue of the symmetric matrix

            N = [ trace M    d^T                   ]      d = (M_yz - M_zy, M_zx - M_xz, M_xy - M_yx)
                [ d          M + M^T - (trace M) 1 ]

        (Horn 1987, J Opt Soc Am A 4:629-42), which is never a reflection.

        Returns:
            R (C, T, 3, 3), d (C, T, 3) [m] and the root mean square distance (C, T) [m], as in `Poses`.
        """
        parts = [self._registered(points[some]) for some in slices(len(points), _BLOCK)]
        rotation, translation, off = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
        return rotation, translation, off

    def _registered(self, points: Array) -> tuple[Array, Array, Array]:
        """See `register`."""
        places, inside, count, shape, center, apart = self._padded
        p = np.where(inside[:, None], points[:, places].swapaxes(0, 1), 0.0)
        middle = p.sum(axis=2) / count[..., None]
        M = apart[:, None] @ p
        y, z = [1, 2, 0], [2, 0, 1]
        N = np.empty((*M.shape[:2], 4, 4))
        N[..., 0, 0] = trace = np.trace(M, axis1=2, axis2=3)
        N[..., 0, 1:] = N[..., 1:, 0] = M[..., y, z] - M[..., z, y]
        N[..., 1:, 1:] = M + np.swapaxes(M, 2, 3) - trace[..., None, None] * np.eye(3)
        quaternion = np.linalg.eigh(np.nan_to_num(N))[1][..., -1]
        w, v = quaternion[..., :1, None], quaternion[..., None, 1:]
        turned = (v @ SKEW).reshape(*v.shape[:2], 3, 3)  # turned u = v x u
        along = np.swapaxes(v, 2, 3) * v
        rotation = (w**2 - np.sum(v**2, axis=3, keepdims=True)) * np.eye(3) + 2.0 * (along + w * turned)
        translation = middle - (rotation @ center[:, None, :, None])[..., 0]
        off = (shape[:, None] @ np.swapaxes(rotation, 2, 3) + translation[:, :, None] - p) * inside[:, None]
        residual = np.sqrt((off**2).sum(axis=(2, 3)) / count)
        return rotation, translation, residual

    def poses(self, registered: tuple[Array, Array, Array]) -> dict[str, Poses]:
        """Return the results of `register` by body."""
        return dict(zip(self.names, map(Poses, *registered), strict=True))


def register(reference: Array, moving: Array, name: str = "cluster") -> Poses:
    """Return the displacements that bring a reference shape (n, 3) nearest to the measured points (T, n, 3) [m].

    See `Shapes.register`. Refuses fewer than three points and points on a line, with the name of the body.
    """
    check_shape(reference, name)
    shape = Shapes.from_bodies({name: (reference, range(len(reference)))})
    return shape.poses(shape.register(moving))[name]
