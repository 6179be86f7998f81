"""The reaction of the ground: its three components, and the path of the center of pressure."""

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, true_runs
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.plotting.page.curves import PREDICTED, Legs
from musclesolve.plotting.page.keys import line, series
from musclesolve.plotting.page.norm_bands import NormBands
from musclesolve.plotting.page.page_style import PREDICTED_STYLE, SIDE_COLOR, SIDE_WIDTH, current_style
from musclesolve.plotting.page.sheet import Sheet, heading, native, page, zero_line
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.result_quantities import along_heading, body_weight, text

COMPONENTS = {"z": "vertical (+ up)", "x": "fore-aft (+ forward)", "y": "medio-lateral (+ to the other leg)"}
TO_OTHER_LEG = {"r": 1.0, "l": -1.0}
"""Sign of a component to the left, as seen from either leg."""
PATH = "center_of_pressure"
LEAST_SCALE = 0.05
"""Least end of the scale of a component in both directions [body weights]: smaller forces are noise."""
LABEL_INCH = 0.25
"""Space below a panel for the label of its axis [inch], at the default size of text."""


@native
def ground_reaction(result: xr.Dataset) -> Sheet:
    """Components of the reaction of the ground on each foot, in body weights, and the center of pressure from above.

    The last panel is left out where the result has no center of pressure, or no foot is on the ground.
    """
    legs, weight = Legs.from_result(result, analyzed=False), body_weight(result)
    norms = NormBands.from_result(result, legs.x)
    reaction = along_heading(result, result["ground_reaction_force"])
    paths = _paths(result, legs.sides)
    count = len(COMPONENTS) + bool(paths)
    rows, columns = (count, 1) if current_style().narrow or not paths else (2, 2)
    origin = text(result, "ground_reactions")
    found = f"{origin} from the motion" if PREDICTED in origin else origin
    title = "Ground reaction" if origin in ("", "measured") else f"Ground reaction, {found}"
    height, space = 0.12 + 0.16 * rows, {"below": LABEL_INCH}
    sheet, panels = page(result, title, rows, columns, height=height, labels=True, space=space)
    for axes, axis in zip(panels.flat, COMPONENTS, strict=False):
        norms.draw(axes, "ground_reaction_force", axis, 1.0 / STANDARD_GRAVITY)
        for side in legs.sides:
            sign = TO_OTHER_LEG.get(side, 1.0) if axis == "y" else 1.0
            values = sign * reaction.sel(side=side, axis=axis).values / weight
            legs.draw(axes, side, values, measured=True, predicted=frames.predicted(result, side))
        legs.mark_stance(axes)
        heading(axes, COMPONENTS[axis])
        axes.set_ylabel("[body weights]")
        zero_line(axes, LEAST_SCALE)
        axes.locator_params(axis="y", steps=[1, 2, 5, 10])  # no third decimal, which reaches the label
        legs.x.apply(axes, labeled=axis == "y")
    for side, path in paths.items():
        color, axes = SIDE_COLOR[side], panels[-1, -1]
        axes.plot(*path.T, color=color, linewidth=SIDE_WIDTH[side], label=series(side))
        # Contacts that begin within the recording or at its beginning.
        for start, _ in true_runs(np.asarray(np.isfinite(path).all(axis=1))):
            axes.plot(
                *path[start], color=color, marker="o", markersize=3.0, label=series(side, "first frame")
            )
    if paths:  # of its own scale
        axes = panels[-1, -1]
        axes.set_aspect("equal", adjustable="datalim")
        heading(axes, "center of pressure, above 20 N (dot: first frame)")
        sheet.label_below(axes, "in the walking direction [m]")
        axes.set_ylabel("to the left [m]")
    dashed = [side for side in legs.sides if frames.predicted(result, side).any()]
    styles = tuple(line(SIDE_COLOR[side], SIDE_WIDTH[side], linestyle=PREDICTED_STYLE) for side in dashed)
    legs.legend(sheet, measured=True, stance=True, further={PREDICTED: styles} if dashed else None)
    norms.explain(sheet)
    return sheet


def _paths(result: xr.Dataset, sides: list[str]) -> dict[str, Array]:
    """Center of pressure (T, 2) of each foot, forward from the first one and to the left [m], NaN without contact."""
    if PATH not in result:
        return {}
    straight = result
    if "heading" in result:
        # The mean heading throughout: a place turned by a changing angle would wander.
        angle = result["heading"].values
        mean = np.arctan2(np.sin(angle).mean(), np.cos(angle).mean())
        straight = result[[name for name in ("heading", "pelvis_angle") if name in result]].assign(
            heading=xr.full_like(result["heading"], mean)
        )
    place = along_heading(straight, result[PATH])
    paths = {side: place.sel(side=side).transpose("time", "axis").values[:, :2] for side in sides}
    known = [path for path in paths.values() if np.isfinite(path).any()]
    if not known:
        return {}
    first = np.nanmin(np.concatenate(known), axis=0)
    return {side: path - first for side, path in paths.items()}
