"""How a motion in continuous time becomes finitely many unknowns and equations: the three schemes.

States z are unknown at S times, their rates y = dz/dt and the activations a at P of these times, the points. Linear
equations tie states and rates,

    B_z z + B_y y = 0,

the balance of tendon and fiber holds at the points, the moments at the points and at all frames, and the limits of
activation between neighboring points. The cost is sum_p w_p phi_p.

spline     One cubic spline with knots at the nodes (time_basis.py): second derivatives from both sides agree at inner
           nodes, third derivatives are zero in the first and the last interval. Every node is a point; w: trapezoids.
legendre   In each interval between nodes a polynomial of the degree `order`, given by its value at the first node and
           at the Gauss points, ends with the value at the next node; w: the quadrature of Gauss. Frames are no points.
radau      The same with Radau points, of which the last is the next node, so that all frames but the first are points.

Counts for n muscles, K intervals, d points in each: the rates follow from the states. spline: the balance gives the
activations, n (K + 1) states are left, with m (K + 1) moments. legendre, radau: one state at the start and K d
activations of each muscle are left, n (K d + 1), with m K d moments at the points and one more set at each frame (at
the first frame only for radau). With n > 2 m this leaves muscles to choose between, whatever the order.

Ends: the first state is free, as it is in the spline: nobody knows how far tendons were stretched before. Moments hold
there, by the state alone. No activation belongs to a frame that is not a point: `at_frames` takes the straight line
through the two nearest points, between the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.trajectory.collocation.motion_between_frames import between

SCHEMES = ("spline", "legendre", "radau")


@dataclass(frozen=True, eq=False)
class Middles:
    """States in the middles between points, where nothing holds the balance; C middles.

    time (C,); interval (C,): number of the frame before; z = value[0] Z + value[1] Y, y = rate[0] Z + rate[1] Y with
    sparse matrices (C, S) and (C, P).
    """

    time: Array
    interval: Indices
    value: tuple[Any, Any]
    rate: tuple[Any, Any]


@dataclass(frozen=True, eq=False)
class Transcription:
    """Times of states (S,), which of them are points (P,) and frames (T,), the linear equations B_z (L, S), B_y (L, P)
    as sparse matrices, w (P,) over the mean time between frames, and where to look at the error.
    """

    time: Array
    point: Indices
    frame: Indices
    by_state: Any
    by_rate: Any
    weight: Array
    middles: Middles

    @cached_property
    def moment(self) -> Indices:
        """(M,) the states at which moments hold: points and frames."""
        return np.union1d(self.point, self.frame)

    def at_frames(self, activation: Array, lower: Array, upper: Array) -> Array:
        """Activations of the points (P, n) at the frames, (T, n), between bounds (T, n)."""
        where = between(self.time[self.point], activation, self.time[self.frame])
        return np.clip(where, lower, upper)


def nodes(time: Array, mesh: int) -> Array:
    """Frames (T,) with mesh - 1 more times evenly between each two."""
    share = np.arange(mesh) / mesh
    inner = (time[:-1, None] + share * np.diff(time)[:, None]).ravel()
    return np.append(inner, time[-1])
