"""A constant of nature, and a choice, that several parts need."""

from __future__ import annotations

STANDARD_GRAVITY = 9.80665
"""Standard acceleration of gravity [m/s2] (CGPM 1901)."""

USUAL_COST = "joint_weighted_activation"
"""The cost by which moments are shared unless asked otherwise, of recordings and of models alike."""
