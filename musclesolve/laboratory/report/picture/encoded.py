"""The data of a picture as text of a page: numbers in base64, positions in tenths of a millimeter.

Positions are 16-bit integers relative to the place of the body in each frame, values 16-bit shares of their range,
forces floats of 32 bits; the last integer stands for "none". Rotations of bodies are quaternions of 16-bit integers.
"""

import base64
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import SIDE_NAMES, split_side
from musclesolve.dynamics.rotations import to_quaternion
from musclesolve.laboratory.report.picture.bones import Bones
from musclesolve.laboratory.report.picture.picture_data import (
    PROXIMAL,
    THIN,
    Arrows,
    PictureData,
    Quantity,
    Shapes,
)
from musclesolve.laboratory.results.dataset.result_quantities import identity
from musclesolve.models.opensim.muscle_set import long_name
from musclesolve.sharing.status import verdict_reason, verdict_words

POSITION_STEP = 1e-4
"""Step of positions [m]."""
NO_PLACE = -32768
NO_VALUE, FULL = 65535, 65534
"""Codes of values: missing, and the upper end of the range. Values beyond the range are set to its ends."""
TURN = FULL_STEPS = 32767
"""Codes of the number 1 in quaternions, and of the greatest coordinate of a surface."""
MUSCLE = ("name", "full", "label", "side", "volume", "tendon", "first")
"""What a page knows of a muscle."""
MOST_SHORT = 65536
"""Largest number of vertices of a surface with 16-bit numbers."""


def json_text(content: Any) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")


def as_dict(data: PictureData, result: xr.Dataset) -> dict[str, Any]:
    """The data in types of JSON."""
    return page_data(data, str(result.attrs.get("subject", "")) or "Moving picture", subtitle(data, result))


def page_data(data: PictureData, title: str, subtitle: str) -> dict[str, Any]:
    """Return the data of a page: constant and moving parts, with a title and a line of text."""
    names = [long_name(split_side(name)[0])[0].replace("_", " ") for name in data.muscles]
    sizes = (part.tolist() for part in (data.bellies.volume, data.bellies.tendon, data.first[:-1]))
    columns = zip(data.muscles, names, data.short_names, data.sides, *sizes, strict=True)
    still: dict[str, Any] = {
        "title": title,
        "subtitle": subtitle,
        "missing": list(data.missing),
        "every": data.every,
        "simulated": data.simulated,
        "floor": data.floor,
        "level": data.level,
        "heading": data.heading,
        "points": list(data.points),
        "lines": data.lines.tolist(),
        "bones": _bones(data.bones),
        "heads": _numbered(data, "head", ("points",), ("points", "up")),
        "ribs": _numbered(data, "ribs", ("spine", "across"), ("spine", "across")),
        "hoops": bundled_toml(__package__, "picture.toml")["hoops"],
        "shapes": _shapes(data.shapes),
        "events": data.events,
        "muscles": [dict(zip(MUSCLE, muscle, strict=True)) for muscle in columns],
        "belly": {"thin": THIN, "proximal": PROXIMAL},
        "pathPoints": int(data.first[-1]),
        "weight": data.weight,
    }
    moving = moving_data(data)
    moving["quantities"] = [
        {key: quantity.about[key] for key in ("key", "label", "unit", "low")}
        | {"colors": quantity.colors}
        | moves
        for quantity, moves in zip(data.quantities, moving["quantities"], strict=True)
    ]
    moving["legs"] = [
        {"side": leg.side, "label": SIDE_NAMES.get(leg.side, leg.side)} | moves
        for leg, moves in zip(data.legs, moving["legs"], strict=True)
    ]
    for name, arrows in (("ground", data.ground), ("contact", data.contact)):
        moving[name] |= {"names": list(arrows.names), "sides": list(arrows.sides)}
        if arrows.at is not None:
            moving[name]["at"] = arrows.at.tolist()
    return still | moving


def moving_data(data: PictureData) -> dict[str, Any]:
    """The part of the data that changes with the frame; a live picture sends it for every frame."""
    offset = np.rint(data.middle / POSITION_STEP).astype(np.int32)
    verdicts = list(dict.fromkeys(name for leg in data.legs for name in leg.verdict.tolist()))
    return {
        "frames": len(data.time),
        "time": packed(data.time, "<f8"),
        "step": POSITION_STEP,
        "offset": packed(offset, "<i4"),
        "skeleton": packed(_relative(data.position, offset), "<i2"),
        "path": packed(_relative(data.path, offset), "<i2"),
        "poses": _poses(data.bones.place, data.bones.rotation),
        "quantities": [_range_and_values(quantity) for quantity in data.quantities],
        "verdicts": [verdict_of(name) for name in verdicts],
        "legs": [
            {
                "verdict": packed(np.array([verdicts.index(name) for name in leg.verdict.tolist()]), "<u1"),
                "percent": packed(leg.percent, "<f4"),
            }
            for leg in data.legs
        ],
        "ground": _forces(data.ground),
        "contact": _forces(data.contact),
    }


def subtitle(data: PictureData, result: xr.Dataset) -> str:
    """Return the subject, the trial and the choices; for a simulation, its models and its duration."""
    if not data.simulated:
        return identity(result)
    names = ", ".join(before.strip() for before in data.subjects if before)
    what = f"simulated ({names})" if names else "simulated"
    begun = sum(event["begins"] for event in data.events)
    return f"{what}: {float(np.ptp(data.time)):.4g} s{f', {begun} contacts' if begun else ''}"


def packed(values: AnyArray, kind: str) -> str:
    """An array as base64 of its bytes in C order."""
    return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode("ascii")


def _relative(position: Array, offset: AnyArray) -> AnyArray:
    steps = position / POSITION_STEP - offset[:, None]
    known = np.isfinite(steps).all(axis=2, keepdims=True) & (np.abs(np.nan_to_num(steps)) < -NO_PLACE).all(
        axis=2, keepdims=True
    )
    return np.where(known, np.rint(np.nan_to_num(steps)), NO_PLACE).astype(np.int16)


def _range_and_values(quantity: Quantity) -> dict[str, Any]:
    known, low = np.isfinite(quantity.values), quantity.about["low"]
    values = quantity.values[known]
    return {
        "high": quantity.high,
        "below": bool(values.size and values.min() < low - 1e-9),
        "above": bool(values.size and values.max() > quantity.high * (1.0 + 1e-9)),
        "data": packed(np.where(known, np.rint(FULL * np.nan_to_num(quantity.share)), NO_VALUE), "<u2"),
    }


KINDS = {"solved": "good", "solved_with_reserve": "reserve", "not_measured": "unmeasured"}
"""Verdicts of frames with a valid solution, or that were not analyzed, and the kind of their color."""


def verdict_of(name: str) -> dict[str, str]:
    """Kind and text of a verdict by its key."""
    if name in KINDS:
        return {"kind": KINDS[name], "text": verdict_words()[name]["label"]}
    return {"kind": "none", "text": f"no valid solution: {verdict_reason(name)}"}


def _numbered(
    data: PictureData, table: str, needed: Sequence[str], ends: Sequence[str]
) -> list[dict[str, Any]]:
    """For every subject without the segment (skull, thorax), the first entry of a table whose points are present."""
    number, chosen = {name: k for k, name in enumerate(data.points)}, []
    for before in data.subjects:
        for entry in bundled_toml(__package__, "picture.toml")[table].values():
            if before + entry["segment"] in data.bones.segments:
                break
            if all(before + name in number for key in needed for name in entry[key]):
                chosen.append(entry | {key: [number[before + name] for name in entry[key]] for key in ends})
                break
    return chosen


def _shapes(shapes: Shapes | None) -> dict[str, Any] | None:
    """The surfaces in their own axes, and the poses of the bodies."""
    if shapes is None:
        return None
    return {
        "colors": shape_colors(shapes),
        "center": shapes.center.tolist(),
        "axes": shapes.axes.tolist(),
        "semi": shapes.semi_axes.tolist(),
        "order": shapes.order.tolist(),
        "radius": shapes.radius.tolist(),
        "half": shapes.half.tolist(),
        "body": shapes.body.tolist(),
        "bodies": shapes.place.shape[1],
    } | _poses(shapes.place, shapes.rotation)


def _poses(place: Array, rotation: Array) -> dict[str, str]:
    """Positions (T, B, 3) and rotations (T, B, 3, 3) of bodies."""
    return {"place": packed(place, "<f4"), "turn": packed(np.rint(TURN * quaternions(rotation)), "<i2")}


def _bones(bones: Bones) -> list[dict[str, Any]]:
    """Vertices as 16-bit shares of the greatest coordinate, triangles by the numbers of their vertices."""
    surfaces = []
    for surface in bones.surfaces:
        vertices = surface.vertices
        step = max(float(np.abs(vertices).max(initial=0.0)), POSITION_STEP) / FULL_STEPS
        kind = "<u2" if len(vertices) <= MOST_SHORT else "<u4"
        faces = {"long": kind == "<u4", "faces": packed(surface.faces, kind), "closed": surface.closed}
        surfaces.append({"step": step, "vertices": packed(np.rint(vertices / step), "<i2")} | faces)
    return surfaces


def shape_colors(shapes: Shapes) -> list[str]:
    """Return the color "#rrggbb" of each shape, by the subject that carries the shape."""
    about = bundled_toml(__package__, "picture.toml")["shape"]
    every = about["subjects"]
    return [about["ground"] if k < 0 else str(every[k % len(every)]) for k in shapes.owner.tolist()]


def quaternions(rotation: Array) -> Array:
    """(..., 4) x, y, z, w of rotations (..., 3, 3); the identity where one is NaN."""
    r = np.where(np.isfinite(rotation).all(axis=(-2, -1), keepdims=True), rotation, np.eye(3))
    return np.roll(to_quaternion(r.reshape(-1, 3, 3)), -1, axis=1).reshape(*r.shape[:-2], 4)


def _forces(arrows: Arrows) -> dict[str, Any]:
    forces = {"force": packed(arrows.force, "<f4")}
    if arrows.place is not None:
        forces["place"] = packed(arrows.place, "<f4")
    return forces
