"""The schemes "legendre" and "radau": a polynomial in each interval (transcription.py)."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.trajectory.collocation.transcription import Middles, Transcription, nodes


def polynomial_scheme(time: Array, scheme: str, order: int, mesh: int) -> Transcription:
    """Of frames at times (T,) [s]; mesh: intervals from one frame to the next."""
    from scipy import sparse

    node = nodes(time, mesh)
    place = np.array(casadi.collocation_points(order, scheme))
    quadrature = np.linalg.solve(place ** np.arange(order)[:, None], 1.0 / np.arange(1, order + 1))
    step, intervals = np.diff(node), len(node) - 1
    own = order + (scheme == "legendre")  # points from one node to the next
    first, count = own * np.arange(intervals), own * intervals + 1
    state = first[:, None] + np.arange(order + 1)
    times, weight = np.full(count, node[-1]), np.zeros(count)
    times[state[:, :own]] = node[:-1, None] + step[:, None] * np.append(0.0, place)[:own]
    weight[state[:, 1:]] = step[:, None] * quadrature
    times[first] = node[:-1]
    rows, owner = _rate_rows(place, state, count)
    by_state, by_rate = [-rows], [sparse.diags(step[owner])]
    if scheme == "legendre":
        end = sparse.kron(sparse.identity(intervals), _basis(place, np.ones(1))[0])
        by_state.append(end @ _rows(state.ravel(), count) - _rows(first + own, count))
        by_rate.append(sparse.csr_matrix((intervals, count)))
    held, at_moments = _moments(scheme, place, state, count)
    moment_frame = np.arange(0, len(held) * intervals + 1, len(held) * mesh)
    return Transcription(
        time=times,
        frame=np.arange(0, count, own * mesh),
        moment_time=np.append((node[:-1, None] + step[:, None] * held).ravel(), node[-1]),
        moment_frame=moment_frame,
        at_moments=at_moments,
        by_state=sparse.vstack(by_state).tocsr(),
        by_rate=sparse.vstack(by_rate).tocsr(),
        weight=weight / np.diff(time).mean(),
        middles=_middles(node, place, _rows(state.ravel(), count), mesh),
    )


def _moments(scheme: str, place: Array, state: Indices, count: int) -> tuple[Array, Any]:
    """Where in an interval moments hold, the next node left out, and the matrix A."""
    from scipy import sparse

    if scheme == "radau":
        return np.append(0.0, place[:-1]), sparse.identity(count, format="csr")
    inner = np.sort(np.real(np.polynomial.Legendre.basis(len(place)).deriv().roots()))
    held = np.append(0.0, 0.5 + 0.5 * inner)
    inside = sparse.kron(sparse.identity(len(state)), _basis(place, held)[0]) @ _rows(state.ravel(), count)
    return held, sparse.vstack([inside, _rows(np.array([count - 1]), count)]).tocsr()


def _rate_rows(place: Array, state: Indices, count: int) -> tuple[Any, Indices]:
    """What states count for in the rate at each point over the length of its interval, (S, S), and that interval (S,).

    A point at the end of one interval and the beginning of the next belongs to the one in which it is a point of
    collocation, otherwise to the later one.
    """
    from scipy import sparse

    intervals, order = len(state), len(place)
    owner, local = np.full(count, intervals - 1), np.zeros(count, dtype=int)
    owner[state[:, 0]], local[state[:, 0]] = np.arange(intervals), 0
    owner[state[:, 1:]], local[state[:, 1:]] = np.arange(intervals)[:, None], np.arange(1, order + 1)
    local[-1] = order if place[-1] == 1.0 else order + 1
    slopes = _basis(place, np.append(np.append(0.0, place), 1.0))[1]
    columns, entries = state[owner], slopes[local]
    rows = np.repeat(np.arange(count), order + 1)
    return sparse.csr_matrix((entries.ravel(), (rows, columns.ravel())), shape=(count, count)), owner


def _basis(place: Array, at: Array) -> tuple[Array, Array]:
    """Values and slopes (k, d + 1) at k places of the polynomials through 0 and d places: one there, else zero."""
    local, powers = np.append(0.0, place), np.arange(len(place) + 1)
    inverse = np.linalg.inv(local[:, None] ** powers)
    slope = powers * at[:, None] ** np.maximum(powers - 1, 0)
    return at[:, None] ** powers @ inverse, slope @ inverse


def _middles(node: Array, place: Array, rows: Any, mesh: int) -> Middles:
    """By the polynomials; rows: all states of all intervals."""
    from scipy import sparse

    step, ends = np.diff(node), np.unique(np.concatenate([[0.0], place, [1.0]]))
    middle = 0.5 * (ends[1:] + ends[:-1])
    value, rate = _basis(place, middle)
    nothing = sparse.csr_matrix((len(step) * len(middle), rows.shape[1]))
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
