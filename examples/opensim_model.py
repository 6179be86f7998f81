"""Muscle forces of an OpenSim model from its coordinates and joint moments; OpenSim itself is not needed.

One learns which two files a model needs beside it (a MOT file of coordinates, an STO file of moments), and how the
result goes back to OpenSim. Angles and moments come from the bundled stride; the model is a small one of this
folder, three hinges and eight muscles: put your own in its place.
"""

# Coordinate of the model, whose knee bends in the negative direction -> sign and angle of the stride
from pathlib import Path

import numpy as np

import musclesolve as ms
from musclesolve.data import reference_stride

HERE = Path(__file__).parent
MODEL = HERE / "opensim_model" / "leg.osim"
COORDINATES = {"hip_flexion_r": (1, "hip_flexion_r"), "knee_angle_r": (-1, "knee_flexion_r"),
               "ankle_angle_r": (1, "ankle_dorsiflexion_r")}  # fmt: skip

# The inputs, written as OpenSim would, into the current folder
stride = ms.run(reference_stride(), side="r")
time = stride["time"].values


def columns(variable, suffix="") -> ms.tables.Table:
    """The three angles or moments under the names that the model gives them."""
    values = [sign * variable.sel(dof=dof).values for sign, dof in COORDINATES.values()]
    names = tuple(name + suffix for name in COORDINATES)
    return ms.tables.Table(time, names, np.stack(values, axis=1), False, Path("stride"))


ms.tables.write_mot("ik.mot", columns(stride["joint_angle"]))
ms.tables.write_mot("id.sto", columns(stride["joint_moment"], "_moment"))

# On the command line: musclesolve share --model leg.osim --coordinates ik.mot --moments id.sto -o OUT
result = ms.share_model(MODEL, "ik.mot", "id.sto", cost="stress_cubed")

# Numbers, and STO files that OpenSim opens
for name in result["muscle"].values:
    force = result["muscle_force"].sel(muscle=name)
    print(f"{name:<22} peak {float(force.max()):5.0f} N at {float(force.idxmax()):.2f} s")
reserve = float(abs(result["reserve_moment"]).max())
print(f"{int(result['valid'].sum())} of {time.size} frames solved, largest reserve {reserve:.1f} N m")
print(*(path.name for path in ms.export(result, "walk.sto")))
