"""Joint moments beside those that OpenSim computed from the same recording.

python -m benchmarks.accuracy TRIAL.toml INVERSE_DYNAMICS.sto
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.table import Table

import musclesolve as ms
from benchmarks.arguments import command_line, input_file
from benchmarks.timing import console
from musclesolve.tables import read_mot

COLUMNS = {
    "hip_flexion": "hip_flexion_{side}_moment",
    "hip_adduction": "hip_adduction_{side}_moment",
    "hip_internal_rotation": "hip_rotation_{side}_moment",
    "knee_flexion": "knee_angle_{side}_moment",
    "ankle_dorsiflexion": "ankle_angle_{side}_moment",
}


def main(trial_file: Path, reference_file: Path) -> None:
    result, reference = ms.run(ms.read_trial(trial_file)), read_mot(reference_file)
    table = Table("moment", "rms difference [N m]", "correlation", "peak here [N m]", "peak there [N m]")
    for side in "rl":
        for dof, column in COLUMNS.items():
            there = reference[column.format(side=side)]
            here = np.interp(reference.time, result.time, result.joint_moment.sel(dof=f"{dof}_{side}"))
            inside = (reference.time >= float(result.time[0])) & (reference.time <= float(result.time[-1]))
            here, there = here[inside], there[inside]
            table.add_row(
                f"{dof}_{side}",
                f"{np.sqrt(np.mean((here - there) ** 2)):.1f}",
                f"{np.corrcoef(here, there)[0, 1]:.3f}",
                f"{here[np.abs(here).argmax()]:.0f}",
                f"{there[np.abs(there).argmax()]:.0f}",
            )
    console.print(table)


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("trial", type=input_file, help="trial file")
    parser.add_argument("reference", type=input_file, help="joint moments of OpenSim")
    given = parser.parse_args()
    main(given.trial, given.reference)
