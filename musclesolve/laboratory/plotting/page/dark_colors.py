"""Colors of figures on a dark ground, of a page or of matplotlib.

Text and axes of a drawing keep their contrast with the ground, so that black becomes nearly white. Pale bands keep
their contrast and hue, and become dark. Other colors, of the legs among them, keep their hue, and are made lighter only
where their contrast would fall below 4.5 (WCAG 2.1 asks 3 of graphics).
"""

import re
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array

LIGHT, DARK = "#ffffff", "#16191d"
"""Colors of the ground of pages; `--paper` in style.css."""
CONTRAST = 4.5
"""Least contrast of a line or area on the dark ground."""
PALE = 2.0
"""Contrast with the light ground below which a color is a band or a rule."""
GRAY = 0.15
"""Largest difference between the channels of a color without a hue."""
_STATED = re.compile(r"""[=:] ?"(#[0-9a-fA-F]{6}|#[0-9a-fA-F]{3})\"""")


def dark_rules(page: str) -> str:
    """Return CSS rules that replace every color of the drawings in a page, where the system is dark."""
    rules = (
        f'  svg [{name}="{color}" i] {{ {name}: {dark_color(color)}; }}'
        for color in sorted({color.lower() for color in _STATED.findall(page)})
        for name in ("fill", "stroke")
    )
    return "\n".join(("@media screen and (prefers-color-scheme: dark) {", *rules, "}"))


def dark_color(color: str) -> str:
    """Return the color on the dark ground, "#rrggbb", for a color on the light ground."""
    channels, ground = _channels(color), _channels(DARK)
    light = contrast(color, LIGHT)
    hue = float(np.ptp(channels)) > GRAY
    if hue and light >= PALE:
        base, toward, wanted = channels, np.ones(3), CONTRAST
    else:
        vivid = (channels - channels.min()) / np.ptp(channels) if hue else np.ones(3)
        base, toward, wanted = ground, vivid, light
    mixed = np.rint(255.0 * (base + np.linspace(0.0, 1.0, 101)[:, None] * (toward - base)))
    enough = _contrast(mixed / 255.0, ground) >= wanted
    return "#" + "".join(f"{int(channel):02x}" for channel in mixed[enough.argmax() if enough.any() else -1])


def on_dark_ground(figure: Any) -> None:
    """On the dark ground of a figure of matplotlib, lighten what is not seen there and darken pale areas."""
    from matplotlib.collections import Collection
    from matplotlib.colors import to_hex
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Text

    for artist in figure.findobj(lambda part: isinstance(part, (Text, Line2D, Collection, Patch))):
        if isinstance(artist, (Text, Line2D)):
            if contrast(color := to_hex(artist.get_color()), DARK) < CONTRAST:
                artist.set_color(dark_color(color))
        elif artist is not figure.patch:
            faces = np.reshape(artist.get_facecolor(), (-1, 4))
            if not len(faces) or faces[0, 3] == 0.0:
                continue
            color, faint = to_hex(faces[0]), artist.get_alpha() is not None
            if contrast(color, DARK) < CONTRAST if faint else contrast(color, LIGHT) < PALE:
                artist.set_facecolor(dark_color(color))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors, 1 to 21 (WCAG 2.1: (L1 + 0.05)/(L2 + 0.05) of the relative luminances)."""
    return float(_contrast(_channels(one), _channels(other)))


def _contrast(one: Array, other: Array) -> Array:
    """The contrast (...) of channels (..., 3)."""
    first, second = _luminance(one), _luminance(other)
    return (np.maximum(first, second) + 0.05) / (np.minimum(first, second) + 0.05)


def _luminance(channels: Array) -> Array:
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ [0.2126, 0.7152, 0.0722])


def _channels(color: str) -> Array:
    digits = color.removeprefix("#")
    pairs = [2 * digit for digit in digits] if len(digits) == 3 else re.findall("..", digits)
    return np.array([int(pair, 16) for pair in pairs]) / 255.0
