"""Predicted ground forces and joint moments from noisy key points, on a synthetic walk whose truth is known.

    python -m benchmarks.markerless_noise

The walk has the points of the marker set `opencap`, white noise on each, no standing trial and no force plates. Errors
are root mean squares over both legs: of the ground reaction [% of body weight], of moments [N m/kg].
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr
from rich.table import Table

import musclesolve as ms
from benchmarks.timing import console
from musclesolve._util.sides import SIDES
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.forces import mechanics, recording_of

CASES = (
    *((0.0, 6.0, 60.0), (0.0, 4.0, 60.0), (10.0, 6.0, 60.0), (10.0, 4.0, 60.0)),
    *((20.0, 6.0, 60.0), (20.0, 4.0, 60.0), (20.0, 3.0, 60.0), (10.0, 4.0, 30.0)),
)
"""Noise [mm], cut-off [Hz] and rate of the points [Hz]."""
DOFS = ("hip_flexion", "hip_adduction", "knee_flexion", "ankle_dorsiflexion")


def errors(folder: Path, noise: float, cutoff: float, rate: float) -> list[str]:
    """The cells of a case; the recording is written into a folder."""
    options = {"marker_set": "opencap", "noise_mm": noise, "noise": "white", "marker_rate_hz": rate}
    path = ms.synthetic_recording(folder, strides=3, **options)
    text = path.read_text(encoding="utf-8").replace('forces = "forces.mot"', 'forces = "predicted"')
    text = re.sub(r"static = .*\n", "", text)
    path.write_text(re.sub(r"cutoff_hz = .*", f"cutoff_hz = {cutoff:g}", text), encoding="utf-8")
    found = mechanics(recording_of(path, "this table"))
    time, mass = found.motion.time, found.model.mass.total
    with xr.open_dataset(folder / "truth.nc") as truth:
        force = truth["ground_force"].interp(time=time)
        off = [
            np.square(each.force - force.sel(side=each.side).values).mean(axis=0) for each in found.reactions
        ]
        moments = projected_moments(found.model, found.motion, list(found.wrenches))
        misses = [
            [
                moments[:, found.model.dof(f"{dof}_{side}")]
                - truth["joint_moment"].sel(dof=f"{dof}_{side}").interp(time=time).values
                for side in SIDES
            ]
            for dof in DOFS
        ]
    percent = 100.0 * np.sqrt(np.mean(off, axis=0)) / (mass * STANDARD_GRAVITY)
    of_dofs = [f"{np.sqrt(np.mean(np.square(each))) / mass:.2f}" for each in misses]
    lost = 0 if found.support is None else int((~found.support.carries).sum())
    share = f"{100.0 * lost / len(time):.0f} %" if lost else "0"
    return [*(f"{value:.1f}" for value in percent), *of_dofs, share]


def noise_table() -> Table:
    """A line for each case."""
    heads = (
        "noise [mm]",
        "cut-off [Hz]",
        "rate [Hz]",
        "forward",
        "sideways",
        "upward",
        *DOFS,
        "without result",
    )
    table = Table(*heads, title="predicted ground forces [% BW] and moments [N m/kg] from noisy points")
    with tempfile.TemporaryDirectory() as folder:
        for number, case in enumerate(CASES):
            own = Path(folder) / str(number)
            own.mkdir()
            table.add_row(*(f"{value:g}" for value in case), *errors(own, *case))
    return table


if __name__ == "__main__":
    console.print(noise_table())
