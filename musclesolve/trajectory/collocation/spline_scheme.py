"""The scheme "spline": one cubic spline with knots at the nodes (transcription.py)."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.trajectory.collocation.transcription import Middles, Transcription, nodes


def spline_scheme(time: Array, mesh: int) -> Transcription:
    """Of frames at times (T,) [s]; mesh: nodes from one frame to the next."""
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
    return Transcription(
        time=node,
        frame=np.arange(0, count, mesh),
        moment_time=node,
        moment_frame=np.arange(0, count, mesh),
        at_moments=sparse.identity(count, format="csr"),
        by_state=size * sparse.diags(by_state, [-1, 0, 1]).tocsr(),
        by_rate=size * sparse.diags(by_rate, [-1, 0, 1]).tocsr(),
        weight=weight / np.diff(time).mean(),
        middles=_spline_middles(node, mesh),
    )


def _spline_middles(node: Array, mesh: int) -> Middles:
    """By the cubic through states and rates at both nodes."""
    from scipy import sparse

    step = sparse.diags(np.diff(node))
    shape = (len(node) - 1, len(node))
    change = sparse.diags([-1.0, 1.0], [0, 1], shape=shape)
    mean = sparse.diags([0.5, 0.5], [0, 1], shape=shape)
    return Middles(
        time=0.5 * (node[1:] + node[:-1]),
        interval=np.arange(shape[0]) // mesh,
        value=(mean, -0.125 * step @ change),
        rate=(1.5 * sparse.diags(1.0 / np.diff(node)) @ change, -0.5 * mean),
    )
