"""The arrays that compiled functions share."""

from __future__ import annotations

from typing import Any, NamedTuple

HALF = 3
"""Half-width of the band of a chain."""


class Basis(NamedTuple):
    """Of time_basis.py: first (T,), value and rate (T, 3)."""

    first: Any
    value: Any
    rate: Any


class Nodes(NamedTuple):
    """Second derivatives of the Lagrangian of n muscles in T frames, (n, T) each.

    zz, zy, yy: by the tendon coordinate and by its rate times the time between frames, the activation eliminated, and
    without the limits of activation; by_z, by_y: the change of the activation that goes with them; limit: second
    derivative of the limits by the activation of a frame; beside: by those of a frame and of the next one.
    """

    zz: Any
    zy: Any
    yy: Any
    by_z: Any
    by_y: Any
    limit: Any
    beside: Any
