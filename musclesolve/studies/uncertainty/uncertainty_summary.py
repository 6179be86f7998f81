"""The uncertainty of a result for people: how sure the peaks are, and what that hangs on most."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.subject_variables import body_weight
from musclesolve.results.tables.error_shares import peak

MOST_SOURCES, MOST_MUSCLES = 3, 6


def summary(found: xr.Dataset) -> str:
    """Several lines: samples, peak of every contact force, the least certain muscles, the sources that matter."""
    lines = [_line("uncertainty", _samples(found))]
    for number, joint in enumerate(map(str, found["joint"].values)):
        name = f"{frames.SIDE_NAMES[joint[-1]]} {joint[:-2]}"
        lines.append(_line("" if number else "peaks in stance", f"{name} {_contact(found, joint)}"))
    lines.append(_line("least certain", _muscles(found)))
    if found.attrs["without_contributions"]:
        lines.append(_line("sources", f"not told apart: {found.attrs['without_contributions']}"))
    return "\n".join(lines)


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


def _line(subject: str, text: str) -> str:
    return f"{subject:<17} {text}"
