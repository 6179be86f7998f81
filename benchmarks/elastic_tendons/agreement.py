"""EMG, reserves and contact forces with rigid and with elastic tendons."""

from __future__ import annotations

import numpy as np
import xarray as xr

from benchmarks.elastic_tendons.variants import COSTS, OWN, RIGID, SETS, SOFT, kinds, result
from benchmarks.validation.page import table
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.sharing.status import Status

JOINTS = ("hip", "knee", "ankle")
LARGE = 200.0
"""Peaks of forces that are compared [N]."""


def emg() -> str:
    """Pearson r of activation and envelope of every channel, and the delay of the plantarflexors."""
    rows = []
    for database in SETS:
        for tendons in kinds(database):
            found = result(database, tendons)
            r = found.emg_correlation.values
            delays = ", ".join(f"{1e3 * d:.0f}" for d in found.emg_delay.values[:2])
            cells = (f"{value:.2f}" for value in r)
            rows.append(
                (f"`{database}`", tendons.label, *cells, f"{np.median(r):.3f}", f"{r.mean():.3f}", delays)
            )
    channels = result(SETS[0], RIGID).channel.values
    return table(("set", "tendons", *channels, "median", "mean", "delay of SOL, GAS [ms]"), rows)


def costs() -> str:
    """Return the agreement in one number for several costs, with reserves and contact forces."""
    rows = [
        (f"`{database}`", f"`{cost}`", tendons.label, *_measures(result(database, tendons, cost)))
        for database in SETS
        for cost in COSTS
        for tendons in (RIGID, OWN, SOFT[1])
    ]
    return table(("set", "cost", "tendons", "r median", "mean", "reserves", "contact", "certificate"), rows)


def _measures(found: xr.Dataset) -> tuple[str, ...]:
    r, status = found.emg_correlation.values, found.status.values
    reserve = float(np.abs(found.reserve_moment).max())
    weight = float(found.attrs["subject_mass_kg"]) * STANDARD_GRAVITY
    peaks = np.sqrt((found.joint_reaction**2).sum("axis")).max("time") / weight
    contact = " ".join(f"{max(float(peaks.sel(joint=f'{j}_{side}')) for side in 'rl'):.2f}" for j in JOINTS)
    assert np.isin(status, (Status.SOLVED, Status.SOLVED_WITH_RESERVE)).all()
    return (
        *(f"{np.median(r):.3f}", f"{r.mean():.3f}"),
        f"{int((status == Status.SOLVED_WITH_RESERVE).sum())} ({reserve:.1f})",
        *(contact, f"{float(found.kkt_residual.max()):.0e}"),
    )


def forces() -> str:
    """How far muscle forces of elastic tendons are from muscle forces of rigid tendons, both legs."""
    rows = []
    for database in SETS:
        for cost in COSTS:
            before = result(database, RIGID, cost).muscle_force.values
            cells = (
                _apart(before, result(database, kind, cost).muscle_force.values) for kind in (OWN, SOFT[1])
            )
            rows.append((f"`{database}`", f"`{cost}`", *(cell for pair in cells for cell in pair)))
    head = (f"{kind.label}: {what}" for kind in (OWN, SOFT[1]) for what in ("rms", "ratio of peaks"))
    return table(("set", "cost", *head), rows)


def _apart(before: np.ndarray, after: np.ndarray) -> tuple[str, str]:
    """Relative rms difference; 5 %, median and 95 % of the ratios of peaks of muscles that reach LARGE in both."""
    rms = np.sqrt(((after - before) ** 2).mean() / (before**2).mean())
    peaks = before.max(axis=0), after.max(axis=0)
    ratio = (peaks[1] / np.maximum(peaks[0], 1.0))[(peaks[0] > LARGE) & (peaks[1] > LARGE)]
    low, middle, high = np.quantile(ratio, [0.05, 0.5, 0.95])
    return f"{100.0 * rms:.0f} %", f"{low:.2f}, {middle:.2f}, {high:.2f}"
