"""A strip for each leg with the verdict of every frame: color and pattern, over time, with the gait events."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from markupsafe import Markup

from musclesolve._util.sides import SIDE_NAMES

WIDTH, LEFT, RIGHT = 1000.0, 62.0, 12.0
TOP, ROW, GAP, BELOW = 8.0, 34.0, 30.0, 50.0
"""Sizes in units of the view box, about a pixel on a desktop."""
TICK_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
MOST_TICKS = 12
MARKS = {"heel_strike": "▲", "toe_off": "△"}
PATTERNS = {
    "plain": "",
    "diagonal": '<path d="M0 8L8 0M-2 2L2 -2M6 10L10 6"/>',
    "cross": '<path d="M0 0L8 8M0 8L8 0"/>',
    "vertical": '<path d="M4 0V8"/>',
    "horizontal": '<path d="M0 4H8"/>',
    "dots": '<circle cx="4" cy="4" r="1.4"/>',
    "sparse": '<circle cx="4" cy="4" r="0.6"/>',
}


def verdict_strip(
    result: xr.Dataset, legs: Mapping[str, Sequence[Any]], meanings: Mapping[str, Mapping[str, str]], key: str
) -> Markup:
    """SVG of the stretches of each leg; ids begin with the key. A table beside it has the content as text."""
    time = np.asarray(result["time"].values, dtype=float)
    half = 0.5 * float(np.median(np.diff(time))) if time.size > 1 else 0.01
    ends = (float(time[0]) - half, float(time[-1]) + half)
    # Sorted, so that the page is equal in every process.
    used = sorted({stretch.verdict for stretches in legs.values() for stretch in stretches})
    patterns = Markup("").join(pattern(name, meanings[name], key) for name in used)
    parts = [Markup("<defs>") + patterns + Markup("</defs>")]
    for row, (side, spans) in enumerate(legs.items()):
        y = TOP + row * (ROW + GAP)
        parts.append(
            Markup('<text x="0" y="{:.0f}">{}</text>').format(y + 0.65 * ROW, SIDE_NAMES.get(side, "all"))
        )
        parts += [_stretch(part, meanings[part.verdict], ends, half, y, key) for part in spans]
        parts += _events(result, side, ends, y + ROW)
    height = TOP + len(legs) * (ROW + GAP) + BELOW - GAP
    parts.append(_axis(ends, height - BELOW + 22.0))
    head = Markup(
        '<svg class="strip" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="Verdict of every frame of each side '
        'over time; the table below holds the same as text.">'
    ).format(WIDTH, height)
    return head + Markup("").join(parts) + Markup("</svg>")


def _place(time: float, ends: tuple[float, float]) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (time - ends[0]) / (ends[1] - ends[0])


def pattern(name: str, meaning: Mapping[str, str], key: str) -> Markup:
    """The filling of one verdict."""
    return Markup(
        '<pattern id="{}-{}" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" fill="{}"/>'
        '<g stroke="#111" stroke-width="1.2" fill="#111">{}</g></pattern>'
    ).format(key, name, meaning["color"], Markup(PATTERNS[meaning["pattern"]]))


def _stretch(
    part: Any, meaning: Mapping[str, str], ends: tuple[float, float], half: float, y: float, key: str
) -> Markup:
    left, right = _place(part.start - half, ends), _place(part.end + half, ends)
    return Markup(
        '<rect x="{:.1f}" y="{:.0f}" width="{:.1f}" height="{:.0f}" fill="url(#{}-{})"><title>{}</title></rect>'
    ).format(
        *(left, y, max(1.0, right - left), ROW, key, part.verdict),
        f"{part.start:.3f} to {part.end:.3f} s: {meaning['label']} ({part.count})",
    )


def _events(result: xr.Dataset, side: str, ends: tuple[float, float], y: float) -> list[Markup]:
    """Heel strikes and toe-offs of a leg below its strip, where the result has them."""
    if not {"event_time", "event_kind", "event_side"} <= set(map(str, result.variables)):
        return []
    marks = []
    for time, kind, of in zip(
        *(result[f"event_{name}"].values for name in ("time", "kind", "side")), strict=True
    ):
        if str(of) == side and str(kind) in MARKS and ends[0] <= time <= ends[1]:
            label = f"{str(kind).replace('_', ' ')} at {time:.3f} s"
            marks.append(
                Markup('<text class="event" x="{:.1f}" y="{:.0f}">{}<title>{}</title></text>').format(
                    _place(float(time), ends), y + 13.0, MARKS[str(kind)], label
                )
            )
    return marks


def _axis(ends: tuple[float, float], y: float) -> Markup:
    span = ends[1] - ends[0]
    step = next(
        (size for size in TICK_STEPS if span / size <= MOST_TICKS), 10.0 ** np.ceil(np.log10(span / 10.0))
    )
    marks = Markup("").join(
        Markup(
            '<path d="M{0:.1f} {1:.0f}v5"/><text class="tick" x="{0:.1f}" y="{2:.0f}">{3:g}</text>'
        ).format(_place(float(tick), ends), y, y + 17.0, round(float(tick), 6))
        for tick in step * np.arange(np.ceil(ends[0] / step), np.floor(ends[1] / step) + 1)
    )
    line = Markup('<path d="M{:.1f} {:.0f}H{:.1f}"/>').format(LEFT, y, WIDTH - RIGHT)
    name = Markup('<text x="0" y="{:.0f}">time [s]</text>').format(y + 17.0)
    return Markup('<g class="axis">') + line + marks + Markup("</g>") + name
