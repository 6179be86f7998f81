"""The uncertainty of a result for people: how sure the peaks are, and what that hangs on most."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve.printing import INDENT
from musclesolve.results import frames
from musclesolve.results.shares import shares_at_peak
from musclesolve.results.subject import body_weight

MOST_SOURCES, MOST_MUSCLES = 3, 6


def summary(found: xr.Dataset) -> str:
    """Several lines: samples, peak of every contact force, the least certain muscles, the sources that matter."""
    weight = body_weight(found)
    lines = [_line("uncertainty", _samples(found))]
    for number, joint in enumerate(map(str, found["joint"].values)):
        peak = found.sel(joint=joint)
        nominal, mean, sd = (
            float(peak[f"contact_force_peak{part}"]) / weight for part in ("", "_mean", "_sd")
        )
        name, mostly = f"{frames.SIDE_NAMES[joint[-1]]} {joint[:-2]}", _mostly(found, joint)
        text = f"{name} {mean:.1f} ± {sd:.1f} body weights (nominal {nominal:.1f}){mostly}"
        lines.append(_line("" if number else "contact peaks", text))
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
    return ", ".join(parts) + f"; frames with reserve: {', '.join(helped)}"


def _mostly(found: xr.Dataset, joint: str) -> str:
    """The sources that contribute most to the variance of a contact force at its peak."""
    if "contact_force_contribution" not in found or not np.isfinite(
        found["contact_force_peak"].sel(joint=joint)
    ):
        return ""
    share = np.nan_to_num(shares_at_peak(found, joint).values)
    order = np.argsort(-share)[:MOST_SOURCES]
    labels = found["source_label"].values
    return ": " + ", ".join(f"{labels[k]} {100.0 * share[k]:.0f} %" for k in order if share[k] > 0.0)


def _muscles(found: xr.Dataset) -> str:
    """The muscles whose peak forces vary most [N]."""
    mean, sd = (found[f"muscle_force_peak{part}"] for part in ("_mean", "_sd"))
    order = np.argsort(-np.nan_to_num(sd.values))[:MOST_MUSCLES]
    names = found["muscle"].values
    return "peaks of " + ", ".join(f"{names[k]} {float(mean[k]):.0f} ± {float(sd[k]):.0f} N" for k in order)


def _line(subject: str, text: str) -> str:
    return f"{subject:<{INDENT - 1}} {text}"
