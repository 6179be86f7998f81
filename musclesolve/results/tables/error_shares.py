"""Uncertainty of a force at its peak in stance, and the shares of the sources of error in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from musclesolve.results.dataset import frame_validity as frames

DIM = {"muscle_force": "muscle", "contact_force": "joint"}
"""Over what a force extends besides time."""


@dataclass(frozen=True, eq=False)
class Peak:
    """A force in the frame in which it is largest without errors; all numbers are of this frame."""

    time: float  # of the frame [s]
    value: float  # without errors [N]
    mean: float  # of the samples [N]
    sd: float  # standard deviation of the samples [N]
    # (source,) shares of the sources in the variance, to first order; None without contributions
    shares: xr.DataArray | None


def counted(result: xr.Dataset, side: str) -> frames.Mask:
    """Valid frames of a leg among which peaks are sought, (T,): those of stance, all of them where there is none.

    In early swing passive forces of stretched fibers have unphysiological bands (docs/uncertainty.md).
    """
    valid = frames.valid(result, side)
    in_stance = valid & frames.stance(result, side)
    return in_stance if in_stance.any() else valid


def peak(found: xr.Dataset, name: str, which: str) -> Peak | None:
    """The peak of "muscle_force" or "contact_force" of a muscle or joint such as "hip_r"; None without valid frames."""
    own = {DIM[name]: which}
    nominal = found[name].sel(own).values
    known = counted(found, which[-1]) & np.isfinite(nominal)
    if not known.any():
        return None
    frame = int(np.where(known, nominal, -np.inf).argmax())
    mean, sd = (float(found[f"{name}_{part}"].sel(own).values[frame]) for part in ("mean", "sd"))
    shares = found.get(f"{name}_contribution")
    own_shares = None if shares is None else shares.sel(own).isel(time=frame)
    return Peak(float(found["time"].values[frame]), float(nominal[frame]), mean, sd, own_shares)
