"""Muscle forces of an OpenSim model from its coordinates and joint moments; OpenSim itself is not needed.

One learns which two files a model needs beside it (a MOT file of coordinates, an STO file of moments), and how the
result goes back to OpenSim. Angles and moments are those of the bundled stride; the model is a small one of this
folder, three hinges and eight muscles: put your own in its place.
"""

import sys
from pathlib import Path

import numpy as np

import musclesolve as ms
from musclesolve.data import reference_stride

MODEL = Path(__file__).with_name("opensim_model") / "leg.osim"
COORDINATES = {"hip_flexion_r": (1, "hip_flexion_r"), "knee_angle_r": (-1, "knee_flexion_r"),
               "ankle_angle_r": (1, "ankle_dorsiflexion_r")}  # fmt: skip
"""Coordinate of the model, whose knee bends in the negative direction -> sign and angle of the stride."""


def columns(variable, time, suffix="") -> ms.Table:
    """The three angles or moments under the names that the model gives them."""
    values = [sign * variable.sel(dof=dof).values for sign, dof in COORDINATES.values()]
    names = tuple(name + suffix for name in COORDINATES)
    return ms.Table(time, names, np.stack(values, axis=1), False, Path("stride"))


def main(folder: Path) -> None:
    """Write the inputs as OpenSim would, share, and write STO files that OpenSim opens."""
    stride = ms.run(reference_stride(), side="r")
    time = stride["time"].values
    ms.write_mot(folder / "ik.mot", columns(stride["joint_angle"], time))
    ms.write_mot(folder / "id.sto", columns(stride["joint_moment"], time, "_moment"))

    # The same on the command line: musclesolve share --model leg.osim --coordinates ik.mot --moments id.sto -o OUT
    result = ms.share_model(MODEL, folder / "ik.mot", folder / "id.sto", cost="stress_cubed")
    for name in result["muscle"].values:
        force = result["muscle_force"].sel(muscle=name)
        print(f"{name:<22} peak {float(force.max()):5.0f} N at {float(force.idxmax()):.2f} s")
    valid = int(result["valid"].sel(side="r").sum())
    print(
        f"{valid} of {time.size} frames solved, largest reserve {float(abs(result['reserve_moment']).max()):.1f} N m"
    )
    ms.export(result, folder / "walk.sto")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path())
