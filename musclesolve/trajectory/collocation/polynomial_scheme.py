"""The schemes "legendre" and "radau": a polynomial in each interval (transcription.py)."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.trajectory.collocation.transcription import Middles, Transcription, nodes


def polynomial_scheme(time: Array, scheme: str, order: int, mesh: int) -> Transcription:
    """Of frames at times (T,) [s]; mesh: nodes from one frame to the next."""
    from scipy import sparse

    node = nodes(time, mesh)
    place = np.array(casadi.collocation_points(order, scheme))
    slope, end, quadrature = (np.asarray(part) for part in casadi.collocation_coeff(place.tolist()))
    step, intervals = np.diff(node), len(node) - 1
    own = order + 1 if scheme == "legendre" else order  # new states of an interval
    first = own * np.arange(intervals)
    state = first[:, None] + np.arange(order + 1)
    count = own * intervals + 1
    times = np.full(count, node[-1])
    times[state] = node[:-1, None] + step[:, None] * np.append(0.0, place)
    times[np.arange(0, count, own)] = node
    rows = sparse.kron(sparse.identity(intervals), -slope.T) @ _rows(state.ravel(), count)
    relative = np.repeat(step, order)
    by_rate = sparse.diags(relative)
    if scheme == "legendre":
        last = sparse.kron(sparse.identity(intervals), end.T) @ _rows(state.ravel(), count)
        rows = sparse.vstack([rows, last - _rows(first + own, count)])
        by_rate = sparse.vstack([by_rate, sparse.csr_matrix((intervals, intervals * order))])
    weight = (step[:, None] * quadrature.ravel()).ravel()
    return Transcription(
        time=times,
        point=state[:, 1:].ravel(),
        frame=np.arange(0, count, own * mesh),
        by_state=rows.tocsr(),
        by_rate=by_rate.tocsr(),
        weight=weight / np.diff(time).mean(),
        middles=_polynomial_middles(node, place, _rows(state.ravel(), count), mesh),
    )


def _polynomial_middles(node: Array, place: Array, rows: Any, mesh: int) -> Middles:
    """By the polynomials; rows: all states of all intervals."""
    from scipy import sparse

    order, step = len(place), np.diff(node)
    local = np.append(0.0, place)
    ends = np.unique(np.append(local, 1.0))
    middle = 0.5 * (ends[1:] + ends[:-1])
    powers = np.arange(order + 1)
    basis = np.linalg.inv(local[:, None] ** powers)
    value = middle[:, None] ** powers @ basis
    rate = (powers * middle[:, None] ** np.maximum(powers - 1, 0)) @ basis
    nothing = sparse.csr_matrix((len(step) * len(middle), len(step) * order))
    return Middles(
        time=(node[:-1, None] + step[:, None] * middle).ravel(),
        interval=np.repeat(np.arange(len(step)) // mesh, len(middle)),
        value=(sparse.kron(sparse.identity(len(step)), value) @ rows, nothing),
        rate=(sparse.kron(sparse.diags(1.0 / step), rate) @ rows, nothing),
    )


def _rows(which: Indices, count: int) -> Any:
    """The rows of the unit matrix with these numbers."""
    from scipy import sparse

    return sparse.identity(count, format="csr")[which]
