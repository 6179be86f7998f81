"""The outline of a sole on the floor: a convex polygon around the heel and toe points of the model."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.dynamics.model.model import Model

_UP = np.array([0.0, 0.0, 1.0])


def foot_outline(model: Model, q: Array, side: str) -> Array:
    """Vertices (T, 6, 2) [m] of the sole in poses q (T, N, 3), horizontal places, counter-clockwise seen from above.

    The foot points at right angles to the line through the malleoli, which stays level when the heel rises; the sole
    is as long as heel and toe are apart in that direction, plus what `foot_outline.toml` adds.
    """
    size = bundled_toml(__package__, "foot_outline.toml")
    scale = (model.stature or size["reference_stature"]) / size["reference_stature"]
    heel, toe = (q[:, model.slot(f"{name}_{side}"), :2] for name in ("heel", "toe"))
    forward = np.cross(q[:, model.slot(f"ankle_axis_{side}")], _UP)[:, :2]
    forward /= np.linalg.norm(forward, axis=1, keepdims=True)
    left = np.stack([-forward[:, 1], forward[:, 0]], axis=1)
    length = np.sum((toe - heel) * forward, axis=1, keepdims=True)
    back = heel + np.minimum(length, 0.0) * forward - scale * size["behind"] * forward
    ball = heel + np.maximum(length, 0.0) * forward
    tip = ball + scale * size["ahead"] * forward
    across = [scale * size[name] * left for name in ("heel", "ball", "tip")]
    right = [middle - half for middle, half in zip((back, ball, tip), across, strict=True)]
    other = [middle + half for middle, half in zip((tip, ball, back), reversed(across), strict=True)]
    return np.stack([*right, *other], axis=1)


def distance_outside(outline: Array, point: Array) -> Array:
    """How far points (T, 2) lie outside of convex polygons (T, V, 2), (T,) [m]; 0 inside."""
    edge = np.roll(outline, -1, axis=1) - outline
    away = point[:, None] - outline
    share = np.clip((away * edge).sum(axis=2) / (edge**2).sum(axis=2), 0.0, 1.0)
    nearest = np.linalg.norm(away - share[..., None] * edge, axis=2).min(axis=1)
    return np.where(is_inside(outline, point), 0.0, nearest)


def is_inside(outline: Array, point: Array) -> Mask:
    """Whether points (T, 2) lie in convex polygons (T, V, 2), counter-clockwise, (T,); their edges belong to them."""
    edge = np.roll(outline, -1, axis=1) - outline
    away = point[:, None] - outline
    return np.asarray((edge[..., 0] * away[..., 1] - edge[..., 1] * away[..., 0] >= 0.0).all(axis=1))
