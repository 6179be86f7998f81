"""When muscle groups work over the gait cycle: of the recorded walk, its EMG, and the bundled stride; right leg.

python -m benchmarks.on_phases

A group is on where the mean activation of its muscles, by their maximum isometric forces, exceeds a fifth of its peak,
its EMG where the envelope exceeds its least value by a quarter of its range (per cent of the cycle from heel strike).
Default set and cost; published phases and verdicts: docs/muscles.md. Bursts and gaps of less than 3 % are left out.
"""

from __future__ import annotations

import numpy as np
import xarray as xr
from rich.table import Table

import musclesolve as ms
from benchmarks.timing import console
from benchmarks.validation.page import Absent, recorded_walk
from musclesolve._util.arrays import Array, Mask
from musclesolve.data import reference_stride

ACTIVE, MEASURED, SHORTEST = 0.2, 0.25, 3
"""Of the peak; of the range of an envelope; of the cycle [%]."""
GROUPS = {
    "gluteus maximus": (("gluteus_maximus",), "GMAX"),
    "gluteus medius": (("gluteus_medius",), "GMED"),
    "gluteus minimus": (("gluteus_minimus",), ""),
    "tensor fasciae latae": (("tensor_fasciae_latae",), ""),
    "adductor longus": (("adductor_longus",), ""),
    "adductor magnus": (("adductor_magnus",), ""),
    "iliacus, psoas": (("iliacus", "psoas"), ""),
    "rectus femoris": (("rectus_femoris",), "RF"),
    "vasti": (("vastus",), "VL"),
    "semimembranosus, semitendinosus": (("semi",), "MH"),
    "biceps femoris, long head": (("biceps_femoris_long_head",), "BF"),
    "biceps femoris, short head": (("biceps_femoris_short_head",), ""),
    "soleus": (("soleus",), "SOL"),
    "gastrocnemii": (("gastrocnemius",), "GAS"),
    "tibialis anterior, long extensors": (("tibialis_anterior", "extensor"), "TA"),
    "tibialis posterior": (("tibialis_posterior",), ""),
    "peronei": (("peroneus_brevis", "peroneus_longus"), ""),
    "long toe flexors": (("flexor",), ""),
}
"""Beginnings of the names of the muscles, and the channel of EMG."""


def over_cycle(result: xr.Dataset, values: Array) -> Array:
    """Values (T,) over the cycle of the right leg, mean of each per cent, (100,); NaN where none is known."""
    strikes = result["event_time"].values[
        (result["event_kind"].values == "heel_strike") & (result["event_side"].values == "r")
    ]
    begin, end = strikes[:2] if len(strikes) > 1 else (strikes[0], strikes[0] + period(result))
    percent = np.floor(100.0 * ((result["time"].values - begin) / (end - begin) % 1.0)).astype(int)
    known = result["valid"].sel(side="r").values.astype(bool) & np.isfinite(values)
    found = np.full(100, np.nan)
    for place in np.unique(percent[known]):
        found[place] = values[known & (percent == place)].mean()
    places = np.arange(100)
    there = np.isfinite(found)
    return np.asarray(np.interp(places, places[there], found[there], period=100.0))


def period(result: xr.Dataset) -> float:
    """Time between heel strikes of the left foot, where only one of the right foot is known [s]."""
    strikes = result["event_time"].values[
        (result["event_kind"].values == "heel_strike") & (result["event_side"].values == "l")
    ]
    return float(np.diff(np.sort(strikes))[0])


def phases(curve: Array, share: float) -> str:
    """Return the phases in which a curve (100,) over the cycle exceeds a share of its peak: from, to [%]."""
    on = curve > share * curve.max()
    for value in (False, True):  # gaps, then bursts
        on = np.where(short(on == value), not value, on)
    begins = np.flatnonzero(on & ~np.roll(on, 1))
    ends = [int(begin + np.argmin(np.roll(on, -begin))) % 100 for begin in begins]
    return ", ".join(f"{begin}-{end}" for begin, end in zip(begins, ends, strict=True)) or "always"


def short(mask: Mask) -> Mask:
    """Return the places (100,) of a cycle that lie in runs of less than `SHORTEST`."""
    found = np.zeros(100, bool)
    for begin in np.flatnonzero(mask & ~np.roll(mask, 1)):
        length = int(np.argmin(np.roll(mask, -begin)))
        if length < SHORTEST:
            found[(begin + np.arange(length)) % 100] = True
    return found


def activation(result: xr.Dataset, names: tuple[str, ...]) -> Array:
    """Mean activation of the muscles of the right leg that begin with names, by maximum isometric force, (100,)."""
    own = [
        name for name in result["muscle"].values.astype(str) if name.startswith(names) and name.endswith("_r")
    ]
    chosen = result.sel(muscle=own)
    mean = chosen["activation"].weighted(chosen["max_isometric_force"]).mean("muscle", skipna=False)
    return over_cycle(result, mean.values)


def main() -> None:
    results = {"stride": ms.run(reference_stride())}
    try:
        results["walk"] = ms.run(recorded_walk())
    except Absent as reason:
        console.print(f"recorded walk left out: {reason}")
    shown = Table("group", "EMG", "walk", "peak", "stride", "peak")
    for group, (names, channel) in GROUPS.items():
        cells = []
        if (walk := results.get("walk")) is not None:
            envelope = over_cycle(walk, walk["emg"].sel(channel=channel).values) if channel else None
            cells.append("" if envelope is None else phases(envelope - envelope.min(), MEASURED))
        else:
            cells += ["", "", ""]
        for name in ("walk", "stride"):
            if name in results:
                curve = activation(results[name], names)
                cells += [phases(curve, ACTIVE), f"{curve.max():.2f}"]
        shown.add_row(group, *cells)
    console.print(shown)


if __name__ == "__main__":
    main()
