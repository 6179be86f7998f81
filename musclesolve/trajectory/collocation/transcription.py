"""How a motion in continuous time becomes finitely many unknowns and equations: the three schemes.

At S times, the points, the state z, its rate y = dz/dt and the activation a of each muscle are unknown. In every point
tendon and fiber are in balance; linear equations tie states and rates,

    B_z z + B_y y = 0;

moments hold at M times, where the state is A z; the limits of activation hold between neighboring points, and the cost
is sum_s w_s phi_s. Frames are points, and moments hold there.

spline     One cubic spline with knots at the nodes (time_basis.py), which are the points: second derivatives from both
           sides agree at inner nodes, third derivatives are zero in the first and the last interval; moments at the
           nodes; w: trapezoids.
legendre   In each interval between nodes a polynomial of the degree d = `order`, given by its values at the first node
           and at d Gauss points, ends with the value at the next node. Points are nodes and Gauss points; the rate at a
           node is that of the polynomial that begins there. Moments at the d + 1 Lobatto points, of which two are the
           nodes; w: the quadrature of Gauss, zero at the nodes.
radau      The same with d Radau points, of which the last one is the next node; the first node is a further point.
           Moments at all points; w: the quadrature of Radau.

Counts, for n muscles, m moments and K intervals: rates follow from the states, and activations from the balance. With
the spline n (K + 1) states are left for m (K + 1) moments, with the polynomials n (d K + 1) for m (d K + 1): in each
interval a polynomial has as many new coefficients as there are new moments for each degree of freedom. Moments at nodes
and Gauss points, one more, would hold too, but by states that alternate from node to node, since no polynomial of
degree d goes through them.

Ends: the first state is free in all schemes (how far tendons were stretched before is not known), and no excitation
before the first frame limits its activation. But tendon and fiber are in balance there too: at rest, where the balance
alone determines z, Gauss points would carry any other start on from node to node undamped. The last state follows from
the interval before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Indices

SCHEMES = ("spline", "legendre", "radau")


@dataclass(frozen=True, eq=False)
class Middles:
    """States in the middles between points, where nothing holds the balance; C middles.

    time (C,); interval (C,): number of the frame before; z = value[0] Z + value[1] Y, y = rate[0] Z + rate[1] Y with
    sparse matrices (C, S).
    """

    time: Array
    interval: Indices
    value: tuple[Any, Any]
    rate: tuple[Any, Any]


@dataclass(frozen=True, eq=False)
class Transcription:
    """Points and equations of a motion.

    time (S,) [s]; frame (T,): which points are the frames; moment_time (M,) [s]; moment_frame (T,): which of these are
    frames; at_moments: A, sparse (M, S); by_state, by_rate: B_z, B_y, sparse (L, S); weight (S,): w over the mean time
    between frames; middles: where to look at the error.
    """

    time: Array
    frame: Indices
    moment_time: Array
    moment_frame: Indices
    at_moments: Any
    by_state: Any
    by_rate: Any
    weight: Array
    middles: Middles


def nodes(time: Array, mesh: int) -> Array:
    """Frames (T,) with mesh - 1 more times evenly between each two."""
    share = np.arange(mesh) / mesh
    inner = (time[:-1, None] + share * np.diff(time)[:, None]).ravel()
    return np.append(inner, time[-1])
