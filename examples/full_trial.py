"""A whole trial, from markers and ground forces to the force of every muscle.

One learns to check a recording, to run it, to see which frames may be used, and to take numbers from the result. The
recording is the bundled stride; put the path of a trial file of your own in its place (own_recording/trial.toml is a
complete one).
"""

# What is wrong with the recording, before anything is computed
import musclesolve as ms
from musclesolve.data import reference_stride

report = ms.check(reference_stride())
print(report.verdict)

# The forces of all muscles
trial = ms.read_trial(reference_stride())
result = ms.run(trial, cost="activation_volume", side="both")

# Numbers: a frame that is not valid holds nan
valid = result["valid"].sel(side="r")
print(f"{int(valid.sum())} of {valid.size} frames of the right leg have a valid solution")
for muscle in ("soleus_r", "vastus_lateralis_r", "gluteus_medius_anterior_r"):
    force = result["muscle_force"].sel(muscle=muscle)
    print(f"{muscle}: at most {float(force.max()):.0f} N, at {float(force.idxmax('time')):.2f} s")
knee = (result["joint_reaction"].sel(joint="knee_r") ** 2).sum("axis", skipna=False) ** 0.5
weight = 9.80665 * result.attrs["subject_mass_kg"]
print(f"knee contact force: at most {float(knee.max()) / weight:.1f} body weights")

# Files, into the current folder
ms.export(result, "walk.csv", variables=["muscle_force"])  # also .sto, .mot, .mat, .parquet
ms.laboratory.save_picture(result, "walk.html")  # the moving picture
result.to_netcdf("walk.nc")
