"""The uncertainty of a result: forces at their peaks in stance, sources of error in them, and a summary as text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.result_quantities import body_weight
from musclesolve.results.tables.lines import line, lines

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


def counted_frames(result: xr.Dataset, side: str) -> frames.Mask:
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
    known = counted_frames(found, which[-1]) & np.isfinite(nominal)
    if not known.any():
        return None
    frame = int(np.where(known, nominal, -np.inf).argmax())
    mean, sd = (float(found[f"{name}_{part}"].sel(own).values[frame]) for part in ("mean", "sd"))
    shares = found.get(f"{name}_contribution")
    own_shares = None if shares is None else shares.sel(own).isel(time=frame)
    return Peak(float(found["time"].values[frame]), float(nominal[frame]), mean, sd, own_shares)


MOST_SOURCES, MOST_MUSCLES = 3, 6


def summary(found: xr.Dataset) -> str:
    """Several lines: samples, peak of every contact force, the least certain muscles, the sources that matter."""
    joints = [str(joint) for joint in found["joint"].values]
    peaks = [f"{frames.SIDE_NAMES[joint[-1]]} {joint[:-2]} {_contact(found, joint)}" for joint in joints]
    text = [line("uncertainty", _samples(found)), *lines("peaks in stance", peaks)]
    text.append(line("least certain", _muscles(found)))
    if missing := found.attrs["without_contributions"]:
        text.append(line("sources", f"no contributions: {missing}"))
    return "\n".join(text)


def _samples(found: xr.Dataset) -> str:
    given = found.attrs
    parts = [f"{given['samples']} samples, seed {given['seed']}"]
    if given["failed_samples"]:
        parts.append(f"{given['failed_samples']} of them FAILED")
    helped = [
        f"{frames.SIDE_NAMES[str(side)]} {100.0 * float(found['reserve_share'].sel(side=side).mean()):.0f} %"
        for side in found["side"].values
        if np.isfinite(found["reserve_share"].sel(side=side)).any()
    ]
    return ", ".join(parts) + (f"; frames with reserve: {', '.join(helped)}" if helped else "")


def _contact(found: xr.Dataset, joint: str) -> str:
    """Contact force, standard deviation and shares of the sources, all at the peak."""
    at, weight = peak(found, "contact_force", joint), body_weight(found)
    if at is None:
        return "has no valid frame"
    return (
        f"{at.value / weight:.1f} ± {at.sd / weight:.1f} body weights at {at.time:.3f} s "
        f"(mean of the samples {at.mean / weight:.1f}){_mostly(at.shares)}"
    )


def _mostly(shares: xr.DataArray | None) -> str:
    """The sources that contribute most to a variance."""
    if shares is None:
        return ""
    share, labels = np.nan_to_num(shares.values), shares["source_label"].values
    order = np.argsort(-share)[:MOST_SOURCES]
    named = ", ".join(f"{labels[k]} {100.0 * share[k]:.0f} %" for k in order if share[k] > 0.0)
    return f": {named}" if named else ""


def _muscles(found: xr.Dataset) -> str:
    """The muscles whose forces vary most at their peaks in stance [N]."""
    peaks = {name: peak(found, "muscle_force", name) for name in map(str, found["muscle"].values)}
    known = {name: at for name, at in peaks.items() if at is not None and np.isfinite(at.sd)}
    order = sorted(known, key=lambda name: -known[name].sd)[:MOST_MUSCLES]
    texts = (f"{name} {known[name].value:.0f} ± {known[name].sd:.0f} N" for name in order)
    return f"at their peaks in stance {', '.join(texts)}" if known else "no leg has a valid frame"
