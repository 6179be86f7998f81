"""Transcription of a motion in continuous time to finitely many unknowns and equations: the two schemes.

At S times, the points, the state z, its rate y = dz/dt and the activation a of each muscle are unknown. At every point
tendon and fiber are in balance; linear equations connect states and rates,

    B_z z + B_y y = 0;

moments hold at the points; the limits of activation hold between neighboring points, and the cost is sum_s w_s phi_s.
Frames are points.

spline     One cubic spline with knots at the nodes (time_basis.py), which are the points: second derivatives from both
           sides agree at inner nodes, third derivatives are zero in the first and the last interval; w: trapezoids.
radau      In each interval between nodes a polynomial of the degree d = `order`, given by its values at the first node
           and at d Radau points, of which the last one is the next node. Points are the first node and the Radau
           points; w: the quadrature of Radau.

Counts, for n muscles, m moments and K intervals: rates follow from the states, and activations from the balance. With
the spline n (K + 1) states are left for m (K + 1) moments, with the polynomials n (d K + 1) for m (d K + 1): in each
interval a polynomial has as many new coefficients as there are new moments for each degree of freedom.

Ends: the first state is free in both schemes (the earlier stretch of tendons is unknown), and no excitation before the
first frame limits its activation. But tendon and fiber are in balance there, too. The last state follows from the
interval before it.
"""

from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np

from musclesolve._util.arrays import Array, Indices

SCHEMES = ("spline", "radau")


@dataclass(frozen=True, eq=False)
class Middles:
    """States at the C middles between points, where the balance is not enforced.

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

    time (S,) [s]; frame (T,): numbers of the points at frames; by_state, by_rate: B_z, B_y, sparse (L, S); weight (S,):
    w over the mean time between frames; middles: points at which the error is measured.
    """

    time: Array
    frame: Indices
    by_state: Any
    by_rate: Any
    weight: Array
    middles: Middles


def nodes(time: Array, mesh: int) -> Array:
    """The times (T,) [s] of frames with mesh - 1 more times evenly between each two."""
    share = np.arange(mesh) / mesh
    inner = (time[:-1, None] + share * np.diff(time)[:, None]).ravel()
    return np.append(inner, time[-1])


def spline_scheme(time: Array, mesh: int) -> Transcription:
    """The transcription by one spline of frames at times (T,) [s]; mesh: nodes from one frame to the next."""
    from scipy import sparse

    node = nodes(time, mesh)
    step, count = np.diff(node), len(node)
    before, after = np.append(0.0, 1.0 / step), np.append(1.0 / step, 0.0)  # an end has one interval
    # second derivatives: (2 y0 + 4 y1)/h - 6 (z1 - z0)/h^2 at the end, -(4 y0 + 2 y1)/h + 6 (z1 - z0)/h^2 at the start
    by_rate = [2.0 * before[1:], 4.0 * (before + after), 2.0 * after[:-1]]
    by_state = [6.0 * before[1:] ** 2, 6.0 * (after**2 - before**2), -6.0 * after[:-1] ** 2]
    # third derivatives, over 6: (y0 + y1)/h^2 - 2 (z1 - z0)/h^3 = 0
    by_rate[1][[0, -1]] = by_rate[2][0], by_rate[0][-1]
    by_state[1][0], by_state[2][0] = 4.0 * after[0] ** 2, -4.0 * after[0] ** 2
    by_state[1][-1], by_state[0][-1] = -4.0 * before[-1] ** 2, 4.0 * before[-1] ** 2
    size = step.mean() ** 2 / 6.0
    weight = np.append(0.5 * step, 0.0) + np.append(0.0, 0.5 * step)
    change = sparse.diags([-1.0, 1.0], [0, 1], shape=(count - 1, count))
    mean = sparse.diags([0.5, 0.5], [0, 1], shape=(count - 1, count))
    return Transcription(
        time=node,
        frame=np.arange(0, count, mesh),
        by_state=size * sparse.diags(by_state, [-1, 0, 1]).tocsr(),
        by_rate=size * sparse.diags(by_rate, [-1, 0, 1]).tocsr(),
        weight=weight / np.diff(time).mean(),
        middles=Middles(  # by the cubic through states and rates at both nodes
            time=0.5 * (node[1:] + node[:-1]),
            interval=np.arange(count - 1) // mesh,
            value=(mean, -0.125 * sparse.diags(step) @ change),
            rate=(1.5 * sparse.diags(1.0 / step) @ change, -0.5 * mean),
        ),
    )


def radau_scheme(time: Array, order: int, mesh: int) -> Transcription:
    """The transcription by polynomials of frames at times (T,) [s]; mesh: intervals from one frame to the next."""
    from scipy import sparse

    node = nodes(time, mesh)
    place = np.array(casadi.collocation_points(order, "radau"))
    quadrature = np.linalg.solve(place ** np.arange(order)[:, None], 1.0 / np.arange(1, order + 1))
    step, intervals = np.diff(node), len(node) - 1
    first, count = order * np.arange(intervals), order * intervals + 1
    state = first[:, None] + np.arange(order + 1)
    unit, one = sparse.identity(count, format="csr"), sparse.identity(intervals)
    states = unit[state.ravel()]  # of all intervals
    times, weight = np.full(count, node[-1]), np.zeros(count)
    times[state[:, :order]] = node[:-1, None] + step[:, None] * np.append(0.0, place)[:order]
    weight[state[:, 1:]] = step[:, None] * quadrature
    times[first] = node[:-1]

    # rates: a point at the end of one interval and the beginning of the next belongs to the one in which it is a point
    # of collocation, otherwise to the later one; the slope at each point over the length of the interval
    owner, local = np.full(count, intervals - 1), np.zeros(count, dtype=int)
    owner[state[:, 0]], local[state[:, 0]] = np.arange(intervals), 0
    owner[state[:, 1:]], local[state[:, 1:]] = np.arange(intervals)[:, None], np.arange(1, order + 1)
    local[-1] = order
    slopes = _basis(place, np.append(0.0, place))[1][local]
    places = np.repeat(np.arange(count), order + 1), state[owner].ravel()
    ends = np.append(0.0, place)
    middle = 0.5 * (ends[1:] + ends[:-1])
    value, rate = _basis(place, middle)
    nothing = sparse.csr_matrix((intervals * len(middle), count))
    return Transcription(
        time=times,
        frame=np.arange(0, count, order * mesh),
        by_state=-sparse.csr_matrix((slopes.ravel(), places), shape=(count, count)),
        by_rate=sparse.diags(step[owner]).tocsr(),
        weight=weight / np.diff(time).mean(),
        middles=Middles(
            time=(node[:-1, None] + step[:, None] * middle).ravel(),
            interval=np.repeat(np.arange(intervals) // mesh, len(middle)),
            value=(sparse.kron(one, value) @ states, nothing),
            rate=(sparse.kron(sparse.diags(1.0 / step), rate) @ states, nothing),
        ),
    )


def _basis(place: Array, at: Array) -> tuple[Array, Array]:
    """Values and slopes (k, d + 1) at k places of the Lagrange polynomials of 0 and d places."""
    local, powers = np.append(0.0, place), np.arange(len(place) + 1)
    inverse = np.linalg.inv(local[:, None] ** powers)
    slope = powers * at[:, None] ** np.maximum(powers - 1, 0)
    return at[:, None] ** powers @ inverse, slope @ inverse
