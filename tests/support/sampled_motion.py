"""Smooth motions of a model with exact derivatives, for the laws of dynamics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.interpolate import make_interp_spline

from musclesolve.dynamics import low_pass
from musclesolve.dynamics.kinematics.low_pass import HALF_POWER
from musclesolve.models.opensim.inverse_dynamics import ModelMotion, model_motion
from musclesolve.tables import read_mot


def free_names(model) -> list[str]:
    """Coordinates that no coupler drives."""
    driven = {coupler.dependent for coupler in model.couplers}
    return [name for name in model.coordinates if name not in driven]


def sine_motion(model, time: np.ndarray, size: float = 0.4) -> ModelMotion:
    """Every free coordinate swings about 0.3 with a frequency and phase of its own."""
    rng = np.random.default_rng(7)
    parts: tuple[dict[str, np.ndarray], ...] = ({}, {}, {})
    for name in free_names(model):
        rate, phase = rng.uniform(2.0, 8.0), rng.uniform(0.0, 6.0)
        parts[0][name] = 0.3 + size * np.sin(rate * time + phase)
        parts[1][name] = size * rate * np.cos(rate * time + phase)
        parts[2][name] = -size * rate**2 * np.sin(rate * time + phase)
    return model_motion(model, time, *parts)


def at_rest(model, values: np.ndarray) -> ModelMotion:
    """Poses (T, K) without speed; coupled coordinates follow."""
    columns = {name: values[:, model.coordinate_number[name]] for name in free_names(model)}
    zero = {name: np.zeros(len(values)) for name in columns}
    return model_motion(model, np.arange(len(values), dtype=float), columns, zero, zero)


def filtered_motion(model, path: Path, cutoff_hz: float) -> ModelMotion:
    """Coordinates of a file as OpenSim's tools treat them: a third-order Butterworth both ways, quintic spline."""
    table, names = read_mot(path), free_names(model)
    rate = (len(table.time) - 1) / (table.time[-1] - table.time[0])
    # There the amplitude at the cut-off is halved; `low_pass` names the frequency where it is 1 / sqrt(2).
    tangent = np.tan(np.pi * cutoff_hz / rate) * HALF_POWER ** (1.0 / 6.0)
    angles = [np.radians(table[n]) if model.coordinates[n].rotational else table[n] for n in names]
    series = low_pass(np.stack(angles, axis=1), rate, np.arctan(tangent) * rate / np.pi, 3)
    spline = make_interp_spline(table.time, series, k=5)
    parts = [dict(zip(names, spline(table.time, order).T, strict=True)) for order in range(3)]
    return model_motion(model, table.time, *parts)
