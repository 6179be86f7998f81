"""Cycles of a study of random smooth curves, for tests of statistics, tables and figures."""

from __future__ import annotations

import numpy as np
import xarray as xr
from scipy.ndimage import gaussian_filter1d

PERCENT = np.linspace(0.0, 100.0, 101)
MARGIN = 80


def smooth(rng, *shape, fwhm=20.0):
    """Gaussian random curves (*shape, 101) of unit variance; FWHM in percent."""
    sigma = fwhm / np.sqrt(8.0 * np.log(2.0))
    noise = rng.standard_normal((*shape, PERCENT.size + 2 * MARGIN))
    kernel = gaussian_filter1d(np.eye(1, 401, 200)[0], sigma)
    smoothed = gaussian_filter1d(noise, sigma, axis=-1) / np.sqrt((kernel**2).sum())
    return smoothed[..., MARGIN:-MARGIN]


def bump(at, width=8.0):
    """A bell (101,) of height 1 at a percentage."""
    return np.exp(-0.5 * ((PERCENT - at) / width) ** 2)


def cycles(curves, *, groups=None, conditions=None, repeats=2, noise=0.0, seed=0, units="N m/kg"):
    """Study cycles from curves (S, C, K, 101) of subjects, conditions and degrees of freedom: `repeats` of each.

    `groups` (S,) and `conditions` (C,) are names; noise is that from cycle to cycle.
    """
    rng = np.random.default_rng(seed)
    subjects, of_conditions, dofs = curves.shape[:3]
    row, column, _ = (
        axis.ravel()
        for axis in np.meshgrid(*map(np.arange, (subjects, of_conditions, repeats)), indexing="ij")
    )
    values = curves[row, column] + noise * smooth(rng, row.size, dofs)
    names = [f"S{k + 1:02d}" for k in range(subjects)]
    over = {"subject": np.array(names)[row]}
    over |= {"group": np.array(groups)[row]} if groups is not None else {}
    over |= {"condition": np.array(conditions)[column]} if conditions is not None else {}
    over["cycle_side"] = np.where(np.arange(row.size) % 2, "l", "r")
    return xr.Dataset(
        {"joint_moment": (("cycle", "percent", "dof"), np.moveaxis(values, 1, 2), {"units": units})},
        {
            **{name: ("cycle", each) for name, each in over.items()},
            "dof": [f"dof_{k}" for k in range(dofs)],
            "percent": ("percent", PERCENT, {"units": "%"}),
        },
    )
