"""A whole trial, from markers and ground forces to the force of every muscle.

One learns to check a recording, to run it, to see which frames may be used, and to take numbers from the result. The
recording is the bundled stride; put the path of a trial file of your own in its place (own_recording/trial.toml is a
complete one).
"""

import sys
from pathlib import Path

import musclesolve as ms
from musclesolve.data import reference_stride


def main(folder: Path) -> None:
    """Check, run, look, save."""
    report = ms.check(reference_stride())
    print(report.verdict)

    trial = ms.read_trial(reference_stride())
    result = ms.run(trial, cost="activation_volume", side="both")

    valid = result["valid"].sel(side="r")  # a frame that is not valid holds nan
    print(f"{int(valid.sum())} of {valid.size} frames of the right leg have a valid solution")
    for muscle in ("soleus_r", "vastus_lateralis_r", "gluteus_medius_anterior_r"):
        force = result["muscle_force"].sel(muscle=muscle)
        print(f"{muscle}: at most {float(force.max()):.0f} N, at {float(force.idxmax('time')):.2f} s")
    knee = (result["joint_reaction"].sel(joint="knee_r") ** 2).sum("axis", skipna=False) ** 0.5
    weight = 9.80665 * result.attrs["subject_mass_kg"]
    print(f"knee contact force: at most {float(knee.max()) / weight:.1f} body weights")

    result.to_netcdf(folder / "walk.nc")
    ms.export(result, folder / "walk.csv", variables=["muscle_force"])  # also .sto, .mot, .mat, .parquet


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
