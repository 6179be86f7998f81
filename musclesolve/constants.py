"""Constants of nature that several parts need."""

from __future__ import annotations

STANDARD_GRAVITY = 9.80665
"""Standard acceleration of gravity [m/s2] (CGPM 1901)."""
