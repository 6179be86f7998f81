"""Changes of muscle forces by planted errors of a recording, and the findings of `check`.

python -m benchmarks.planted_errors TRIAL.toml [FAULT ...]

Without names: the small errors that a laboratory can have without noticing them, as in docs/recordings.md.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from rich.table import Table

import musclesolve as ms
from benchmarks.timing import console
from musclesolve.synthetic import plant
from musclesolve.synthetic.faults import faults

SMALL = (
    "free_moments_reversed",
    "right_free_moment_reversed",
    "left_free_moment_reversed",
    "right_points_30mm_ahead",
    "left_points_30mm_behind",
    "right_points_30mm_left",
    "left_points_30mm_left",
    "all_points_30mm_left",
    "all_points_30mm_ahead",
    "right_points_15mm_ahead_and_left",
    "left_points_15mm_ahead_and_right",
    "right_plate_10_percent_low",
    "left_plate_10_percent_low",
    "forces_late_10ms",
    "knee_marker_20mm_inward",
    "knee_marker_20mm_ahead",
    "hip_centers_30mm_up",
)


def main(trial_file: str, *names: str) -> None:
    sound = ms.run(trial_file).muscle_force
    table = Table("planted error", "reported as", "largest change of a muscle force [N]", "muscle")
    for name in names or SMALL:
        with tempfile.TemporaryDirectory() as folder:
            path = plant(name, trial_file, Path(folder))
            codes, force = ms.check(path).codes, ms.run(path).muscle_force
        time = sound.time.values[np.isin(sound.time.values, force.time.values)]
        change = np.abs(force.sel(time=time) - sound.sel(time=time)).max("time")
        worst = int(change.values.argmax())
        reported = ", ".join(dict.fromkeys(codes)) or "-"
        table.add_row(
            faults()[name].about, reported, f"{float(change[worst]):.0f}", str(change.muscle.values[worst])
        )
    console.print(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
