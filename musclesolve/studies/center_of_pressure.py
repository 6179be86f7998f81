"""The center of pressure that minimizes the residual moment at the pelvis (Silva 2003, 7.2): the point that would be
needed.

A shift d of the point where the ground force F acts changes the moment that the pelvis lacks from r to r - d x F.
While one foot alone is on the ground, the horizontal shift that leaves the smallest |r - d x F| is a least-squares
problem in two unknowns, bounded by the outline of the sole, a convex polygon around the heel and toe points of the
model. f(d) = 1/2 |A d - b|^2 is least at its unconstrained minimum where that lies inside, else at the least of the
minima along the edges: f is convex, so its minimum lies on the boundary then. In closed form for all frames at once.

The point is only reported: the residual has other causes, too (masses, accelerations, the force itself), and this
correction attributes all of them to the center of pressure.
"""

from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import UP, Array, Mask
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.constants import LOADED_FROM_N
from musclesolve.dynamics.model.model import Model
from musclesolve.laboratory.analysis.mechanics import Mechanics, measured_moments
from musclesolve.laboratory.analysis.recorded_body import RecordedBody
from musclesolve.laboratory.forces import mechanics, recording_of
from musclesolve.laboratory.motion.ground_reaction import GroundReaction
from musclesolve.laboratory.recording.data import Trial
from musclesolve.models.body import Analysis

NOT_MEASURED, NOT_ONE_FOOT, CORRECTED, AT_BOUND, OFF_THE_FOOT = range(5)
MEANINGS = ("not_measured", "not_one_foot", "corrected", "at_bound", "off_the_foot")

_UNITS = {
    "center_of_pressure": ("m", "where the force acts as it was measured"),
    "shift": ("m", "from there to the point of the sole that leaves the smallest residual moment"),
    "shift_length": ("m", "length of the shift"),
    "residual_before": ("N m", "residual moment at the pelvis, about the middle of the hips, as measured"),
    "residual_after": ("N m", "the same with the force at the shifted point"),
    "outside": ("m", "distance of the measured point from the outline of the sole; 0 inside"),
    "gap": ("(N m)2", "largest excess of half the squared residual over its least value in the outline"),
    "outline": ("m", "vertices of the sole on the floor, seen from above"),
}


def center_of_pressure_correction(source: Trial | str | Path | RecordedBody | Analysis) -> xr.Dataset:
    """Return the shift of the center of pressure under the foot that minimizes the residual moment at the pelvis.

    Args:
        source: a trial, its path, or what `prepare` or `share` returned for it.

    Returns:
        Dataset over time: side (the foot, empty where it is not one), status (`flag_meanings`: not_measured,
        not_one_foot, corrected, at_bound: the best point lies at the edge of the sole; off_the_foot: the measured point
        lies off the sole and no point of the sole is better, so the shift is zero), center_of_pressure and shift (time,
        axis) [m], residual_before and residual_after (time, axis) [N m], shift_length, outside, gap and outline. NaN
        in frames without one foot on the ground.

    Raises:
        InputError: as in `run`.
    """
    if isinstance(source, Analysis):
        assert isinstance(source.body, RecordedBody)
        source = source.body
    if isinstance(source, RecordedBody):
        return _labeled(source.mechanics, source.trial)
    trial = recording_of(source, "the center of pressure")
    return _labeled(mechanics(trial), trial)


def least_residual(
    recorded: Mechanics, ground: GroundReaction, residual: Array, frames: Mask
) -> dict[str, Array]:
    """Shift (T, 2), residual after it (T, 3), status, outside and gap (T,), outline (T, 6, 2) of one foot.

    residual (T, 3): moment that the pelvis lacks [N m]; frames (T,): those in which this foot alone is on the ground.
    """
    q = recorded.unchanged.q[frames]
    force = ground.force[frames]
    point = ground.center_of_pressure[frames, :2]
    right, outline = residual[frames], foot_outline(recorded.model, q, ground.side)
    zero = np.zeros(len(force))
    x, y, z = force.T
    matrix = np.stack([np.stack([zero, -z, y], axis=1), np.stack([z, zero, -x], axis=1)], axis=2)
    polygon = outline - point[:, None]
    shift, bound = polygon_least_squares(matrix, right, polygon)
    gap = optimality_gap(matrix, right, polygon, shift)
    after = right - np.einsum("trd,td->tr", matrix, shift)
    worse = np.linalg.norm(after, axis=1) > np.linalg.norm(right, axis=1)
    outside = distance_outside(outline, point)
    kept = worse & (outside > 0.0)
    # Round-off of a zero residual is no correction.
    shift, after = (np.where(worse[:, None], old, new) for old, new in ((0.0, shift), (right, after)))
    status = np.where(kept, OFF_THE_FOOT, np.where(bound & ~worse, AT_BOUND, CORRECTED))
    correction = {"shift": shift, "residual_after": after, "status": status}
    return correction | {"outside": outside, "gap": gap, "outline": outline}


def _labeled(recorded: Mechanics, trial: Trial) -> xr.Dataset:
    motion = recorded.unchanged
    time, moments = motion.time, measured_moments(trial, recorded.model, motion, recorded.wrenches)
    residual, count = moments[:, -3:], len(time)
    measured = np.isfinite(residual).all(axis=1)
    on_ground = [np.abs(ground.force[:, 2]) >= LOADED_FROM_N for ground in recorded.reactions]
    alone = measured & (np.sum(on_ground, axis=0) == 1)
    vectors, numbers = ("center_of_pressure", "shift", "residual_after"), ("outside", "gap")
    shapes = {**dict.fromkeys(vectors, (3,)), **dict.fromkeys(numbers, ()), "outline": (6, 2)}
    correction = {name: np.full((count, *shape), np.nan) for name, shape in shapes.items()}
    correction["status"] = np.where(measured, NOT_ONE_FOOT, NOT_MEASURED).astype(np.int8)
    side = np.full(count, "", dtype="<U1")
    for ground, loads in zip(recorded.reactions, on_ground, strict=True):
        frames = alone & loads
        side[frames] = ground.side
        correction["center_of_pressure"][frames] = ground.center_of_pressure[frames]
        one = least_residual(recorded, ground, residual, frames)
        one["shift"] = np.column_stack([one["shift"], np.zeros(len(one["shift"]))])
        for name, values in one.items():
            correction[name][frames] = values
    correction["residual_before"] = np.where(alone[:, None], residual, np.nan)
    correction["shift_length"] = np.linalg.norm(correction["shift"], axis=1)
    dims = {"outline": ("time", "vertex", "plane")}
    variables = {
        name: (dims.get(name, ("time", "axis") if values.ndim == 2 else ("time",)), values)
        for name, values in correction.items()
    }
    coords = {"time": ("time", time, {"units": "s"}), "axis": ["x", "y", "z"], "plane": ["x", "y"]}
    result = xr.Dataset(variables | {"side": (("time",), side)}, coords, {"note": _sentence(correction)})
    for name, (units, meaning) in _UNITS.items():
        result[name].attrs |= {"units": units, "long_name": meaning}
    result["status"].attrs |= {"flag_values": list(range(5)), "flag_meanings": " ".join(MEANINGS)}
    return result


def _sentence(correction: dict[str, Array]) -> str:
    """Return the correction in words."""
    status = correction["status"]
    shown = status >= CORRECTED
    if not shown.any():
        return "In no frame is one foot alone on the ground, with all plates measured."
    before, after = (
        float(np.sqrt((correction[name][shown] ** 2).sum(axis=1).mean()))
        for name in ("residual_before", "residual_after")
    )
    shift = np.sqrt((correction["shift_length"][shown] ** 2).mean())
    return (
        f"Not applied. A center of pressure {1000.0 * shift:.0f} mm away "
        f"(root mean square of {shown.sum()} frames on one foot) would lower the residual moment at the pelvis from "
        f"{before:.3g} to {after:.3g} N m; at the edge of the sole in {(status == AT_BOUND).sum()} frames, "
        f"measured off the foot and left there in {(status == OFF_THE_FOOT).sum()}."
    )


def polygon_least_squares(matrix: Array, right: Array, polygon: Array) -> tuple[Array, Mask]:
    """Minimizers (T, 2) of |A d - b| over convex polygons (T, V, 2), counter-clockwise; A (T, r, 2), b (T, r).

    Also the mask (T,) of minimizers on the boundary, whose unconstrained minimizers lie outside.
    """
    square = np.swapaxes(matrix, 1, 2) @ matrix
    pull = np.einsum("trd,tr->td", matrix, right)
    free = np.linalg.solve(square, pull[..., None])[..., 0]
    edge = np.roll(polygon, -1, axis=1) - polygon
    steep = np.einsum("tvd,tde,tve->tv", edge, square, edge)
    slope = np.einsum("tvd,tvd->tv", edge, pull[:, None] - np.einsum("tde,tve->tvd", square, polygon))
    on_edge = polygon + np.clip(slope / steep, 0.0, 1.0)[..., None] * edge
    misfit = ((np.einsum("trd,tvd->tvr", matrix, on_edge) - right[:, None]) ** 2).sum(axis=2)
    best = np.take_along_axis(on_edge, misfit.argmin(axis=1)[:, None, None], axis=1)[:, 0]
    inside = is_inside(polygon, free)
    return np.where(inside[:, None], free, best), ~inside


def optimality_gap(matrix: Array, right: Array, polygon: Array, correction: Array) -> Array:
    """Upper bound (T,) on f(found) - min f: max over the vertices of grad f . (found - vertex), 0 at the optimum.

    It is zero where grad f . (d - found) >= 0 for all d of the polygon: the conditions of Karush, Kuhn and Tucker.
    """
    gradient = np.einsum("trd,tr->td", matrix, np.einsum("trd,td->tr", matrix, correction) - right)
    return np.asarray(np.einsum("td,tvd->tv", gradient, correction[:, None] - polygon).max(axis=1))


def foot_outline(model: Model, q: Array, side: str) -> Array:
    """Vertices (T, 6, 2) [m] of the sole in poses q (T, N, 3), horizontal places, counter-clockwise seen from above.

    The foot points at right angles to the line through the malleoli, which stays level when the heel rises; the sole
    is as long as heel and toe are apart in that direction, plus what `foot_outline.toml` adds.
    """
    size = bundled_toml(__package__, "foot_outline.toml")
    scale = (model.stature or size["reference_stature"]) / size["reference_stature"]
    heel, toe = (q[:, model.slot(f"{name}_{side}"), :2] for name in ("heel", "toe"))
    forward = np.cross(q[:, model.slot(f"ankle_axis_{side}")], UP)[:, :2]
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
    """Return the distance of points (T, 2) outside convex polygons (T, V, 2), (T,) [m]; 0 inside."""
    edge = np.roll(outline, -1, axis=1) - outline
    away = point[:, None] - outline
    share = np.clip((away * edge).sum(axis=2) / (edge**2).sum(axis=2), 0.0, 1.0)
    nearest = np.linalg.norm(away - share[..., None] * edge, axis=2).min(axis=1)
    return np.where(is_inside(outline, point), 0.0, nearest)


def is_inside(outline: Array, point: Array) -> Mask:
    """Return which points (T, 2) lie in convex polygons (T, V, 2), counter-clockwise, edges included, (T,)."""
    edge = np.roll(outline, -1, axis=1) - outline
    away = point[:, None] - outline
    return np.asarray((edge[..., 0] * away[..., 1] - edge[..., 1] * away[..., 0] >= 0.0).all(axis=1))
