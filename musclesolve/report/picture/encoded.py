"""The data of a picture as text of a page: numbers in base64, positions in tenths of a millimetre.

Positions are 16-bit integers relative to the place of the body in each frame, values 16-bit shares of their range,
forces floats of 32 bits; the last integer stands for "none".
"""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.report.picture.forces import Arrows
from musclesolve.report.picture.picture_data import PictureData, Quantity
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.result_quantities import identity

STEP = 1e-4
"""Of positions [m]."""
NO_PLACE = -32768
NO_VALUE, FULL = 65535, 65534
"""Of values: none, and the upper end of their range. Values beyond the range are its ends."""
COLORS = 64


def encoded(data: PictureData, result: xr.Dataset) -> str:
    """The data as JSON that may stand inside a script element."""
    return json.dumps(as_dict(data, result), separators=(",", ":")).replace("<", "\\u003c")


def as_dict(data: PictureData, result: xr.Dataset) -> dict[str, Any]:
    """The data as what JSON knows."""
    table = bundled_toml(__package__, "picture.toml")
    every = np.concatenate([data.position, data.path], axis=1)
    offset = _offsets(every)
    verdicts = list(dict.fromkeys(name for leg in data.legs for name in leg.verdict.tolist()))
    return {
        "title": str(result.attrs.get("subject", "")) or "Moving picture",
        "subtitle": identity(result),
        "missing": list(data.missing),
        "frames": len(data.time),
        "every": data.every,
        "time": packed(data.time, "<f8"),
        "step": STEP,
        "offset": packed(offset, "<i4"),
        "floor": floor(every),
        "heading": data.heading,
        "points": list(data.points),
        "bones": data.bones.tolist(),
        "head": head_of(data.points, table["head"]),
        "ribs": _ribs(data.points, table["ribs"]),
        "skeleton": packed(_relative(data.position, offset), "<i2"),
        "muscles": [
            {"name": name, "label": short, "side": side, "size": round(float(size), 3), "first": int(first)}
            for name, short, side, size, first in zip(
                data.muscles, data.short_names, data.sides, data.size, data.first[:-1], strict=True
            )
        ],
        "pathPoints": int(data.first[-1]),
        "path": packed(_relative(data.path, offset), "<i2"),
        "quantities": [_quantity(each) for each in data.quantities],
        "verdicts": [_verdict(name, table["verdict"]) for name in verdicts],
        "legs": [
            {
                "side": leg.side,
                "label": frames.SIDE_NAMES.get(leg.side, leg.side),
                "verdict": packed(np.array([verdicts.index(name) for name in leg.verdict.tolist()]), "<u1"),
                "percent": packed(leg.percent, "<f4"),
            }
            for leg in data.legs
        ],
        "ground": _arrows(data.ground),
        "contact": _arrows(data.contact),
        "weight": data.weight,
    }


def packed(values: AnyArray, kind: str) -> str:
    """An array as base64 of its bytes in C order."""
    return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode("ascii")


def _offsets(position: Array) -> AnyArray:
    """(T, 3) the middle of all points of each frame, in steps; zero where no point is known."""
    known = np.isfinite(position)
    count = known.sum(axis=1)
    middle = np.where(known, position, 0.0).sum(axis=1) / np.maximum(count, 1)
    return np.rint(middle / STEP).astype(np.int32)


def _relative(position: Array, offset: AnyArray) -> AnyArray:
    steps = position / STEP - offset[:, None]
    known = np.isfinite(steps).all(axis=2, keepdims=True) & (np.abs(np.nan_to_num(steps)) < -NO_PLACE).all(
        axis=2, keepdims=True
    )
    return np.where(known, np.rint(np.nan_to_num(steps)), NO_PLACE).astype(np.int16)


def floor(position: Array) -> float:
    """Height of the ground [m]: that of the laboratory, or of the lowest point where that is far from it."""
    lowest = float(np.nanmin(position[..., 2], initial=np.inf))
    return lowest if 0.3 < abs(lowest) < np.inf else 0.0


def _quantity(quantity: Quantity) -> dict[str, Any]:
    about = quantity.about
    values = quantity.values[np.isfinite(quantity.values)]
    return {
        "key": about["key"],
        "label": about["label"],
        "unit": about["unit"],
        "low": about["low"],
        "high": quantity.high,
        "below": bool(values.size and values.min() < about["low"] - 1e-9),
        "above": bool(values.size and values.max() > quantity.high * (1.0 + 1e-9)),
        "colors": colors(about),
        "data": packed(shares(quantity), "<u2"),
    }


def shares(quantity: Quantity) -> AnyArray:
    """Values (T, n) as 16-bit shares of their range."""
    low, high = quantity.about["low"], quantity.high
    share = np.clip((quantity.values - low) / (high - low), 0.0, 1.0)
    return np.where(np.isfinite(share), np.rint(FULL * np.nan_to_num(share)), NO_VALUE).astype(np.uint16)


def colors(about: dict[str, Any]) -> list[str]:
    """Colors of the range from its lower to its upper end, "#rrggbb"."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    chosen = colormaps[about["color"]](np.linspace(about["from"], about["to"], COLORS))
    return [to_hex(each) for each in chosen]


def _verdict(name: str, known: dict[str, dict[str, str]]) -> dict[str, str]:
    return known.get(name, {"kind": "none", "text": f"no valid solution: {name.replace('_', ' ')}"})


def head_of(points: tuple[str, ...], heads: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    """The first head whose points there are, by their numbers."""
    for head in heads.values():
        if set(head["points"]) <= set(points):
            return {
                "points": [points.index(name) for name in head["points"]],
                "weights": head["weights"],
                "up": [points.index(name) for name in head["up"]],
                "radii": head["radii"],
            }
    return None


def _ribs(points: tuple[str, ...], ribs: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    """The first ribs whose points there are, by their numbers."""
    for lines in ribs.values():
        if {*lines["spine"], *lines["across"]} <= set(points):
            return {name: [points.index(point) for point in ends] for name, ends in lines.items()}
    return None


def _arrows(arrows: Arrows) -> dict[str, Any]:
    found: dict[str, Any] = {
        "names": list(arrows.names),
        "sides": list(arrows.sides),
        "force": packed(arrows.force, "<f4"),
    }
    if arrows.place is not None:
        found["place"] = packed(arrows.place, "<f4")
    if arrows.at is not None:
        found["at"] = arrows.at.tolist()
    return found
