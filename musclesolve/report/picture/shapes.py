"""The surfaces of a simulation's bodies, drawn about the bones: planes, and balls rolled over ellipsoids."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Indices

ON_GROUND, ON_BODY = 1.5, 0.25
"""Half the side [m] of the square that is drawn of a plane."""
LEVEL = 1e-6
"""Largest slope of a plane that is a floor."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """Surfaces (S) by what they are (dynamics.contact.surfaces.Surface), and where their bodies (B) are.

    center (S, 3), axes (S, 3, 3), semi_axes (S, 3), order, radius, body, owner (S,): owner is the number of a subject,
    -1 on the ground; half (S,) [m] is half the side of a plane, zero for all others. place (T, B, 3) and rotation
    (T, B, 3, 3) of the bodies. floor: height [m] of the level plane on the ground, which is no surface here.
    """

    names: tuple[str, ...]
    center: Array
    axes: Array
    semi_axes: Array
    order: Array
    radius: Array
    half: Array
    body: Indices
    owner: Indices
    place: Array
    rotation: Array
    floor: float | None

    def placed(self, frame: int) -> tuple[Array, Array]:
        """Centers (S, 3) and axes (S, 3, 3) in the laboratory."""
        turned = self.rotation[frame][self.body]
        return self.place[frame][self.body] + np.einsum("sij,sj->si", turned, self.center), turned @ self.axes

    def rims(self, frame: int, normals: Array) -> Array:
        """Points (S, k, 3) where the surfaces have the normals (k, 3); of a plane, the corner that lies that way."""
        center, axes = self.placed(frame)
        own = np.einsum("kx,sxi->ski", normals, axes)
        corner = np.sign(own) * self.half[:, None, None] * np.array([1.0, 1.0, 0.0])
        reach = corner + support_gradient(own, self.semi_axes, self.order)
        round_part = np.where(self.half > 0.0, 0.0, self.radius)[:, None, None] * normals
        return center[:, None] + np.einsum("sxi,ski->skx", axes, reach) + round_part


def support_gradient(normals: Array, semi_axes: Array, order: Array) -> Array:
    """Points (S, k, 3) of ellipsoids where their normals are (S, k, 3), all in their own axes.

    The gradient of h(n) = |(a_1 n_1, a_2 n_2, a_3 n_3)|_p with 1/p + 1/order = 1; zero without extension.
    """
    dual = (order / (order - 1.0))[:, None, None]
    scaled = np.abs(semi_axes[:, None] * normals)
    size = np.sum(scaled**dual, axis=2, keepdims=True) ** (1.0 / dual)
    share = (scaled / np.where(size > 0.0, size, 1.0)) ** (dual - 1.0)
    return np.asarray(np.where(size > 0.0, semi_axes[:, None] * np.sign(normals) * share, 0.0))


def shapes_of(result: xr.Dataset) -> Shapes | None:
    """The shapes of the dataset of a simulation; None of another dataset."""
    if "surface_center" not in result.variables:
        return None
    flat, ground = (result[f"surface_{name}"].values.astype(bool) for name in ("is_plane", "on_ground"))
    center, axes = result["surface_center"].values, result["surface_axes"].values
    floors = flat & ground & (axes[:, 2, 2] > 1.0 - LEVEL)
    kept = np.flatnonzero(~(floors & (np.cumsum(floors) == 1)))
    prefixes = list(np.atleast_1d(result.attrs["prefixes"]))
    carriers = map(str, result["surface_prefix"].values)
    owner = [-1 if still else prefixes.index(own) for still, own in zip(ground, carriers, strict=True)]
    half = np.where(flat, np.where(ground, ON_GROUND, ON_BODY), 0.0)
    return Shapes(
        tuple(str(name) for name in result["surface"].values[kept]),
        center[kept],
        axes[kept],
        result["surface_semi_axes"].values[kept],
        result["surface_order"].values[kept],
        result["surface_radius"].values[kept],
        half[kept],
        result["surface_body"].values[kept].astype(np.intp),
        np.array(owner, np.intp)[kept],
        result["body_place"].values,
        result["body_rotation"].values,
        float(center[np.argmax(floors), 2]) if floors.any() else None,
    )
