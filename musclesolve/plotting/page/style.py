"""Colors, lines and marks of curves: readable in print, in gray and with color vision deficiency."""

from __future__ import annotations

from typing import Any

# Okabe & Ito (2008): distinct under every common color vision deficiency, and in gray.
SIDE_COLOR = {"r": "#0072B2", "l": "#E69F00", "other": "#000000"}
# The right leg is drawn first and wider: where the legs agree, it shows on both sides of the left one.
SIDE_WIDTH = {"r": 1.9, "l": 0.9, "other": 1.2}  # points
RESERVE_STYLE = ":"
REPEATED: dict[str, Any] = {"linewidth": 0.6, "alpha": 0.6}
STANCE_COLOR = {"r": "#99C7E0", "l": "#F5D999"}  # 40 % of the color of the leg
SHADE_COLOR = {"r": "#B8D8E9", "l": "#F8E4B5"}  # 28 % of the color of the leg
STANCE_BAR = {"r": (0.97, 1.0), "l": (0.94, 0.97)}  # shares of the height of a panel
FAILED_MARK: dict[str, Any] = {"marker": "x", "linestyle": "", "markersize": 2.5, "markeredgewidth": 0.7}
# Shares of the height of a panel, below what the curves use of it.
FAILED_ROW = {"r": 0.02, "l": 0.06, "other": 0.02}
NOTE_COLOR, GRID_COLOR = "#555555", "#D9D9D9"
TEXT, SMALL = 8.0, 6.5
"""Points on maps; on pages the style in force decides."""
