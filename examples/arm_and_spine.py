"""A shoulder and a lumbar spine: models without legs, on which no external load acts.

One learns that `loads="none"` computes moments and joint forces of a motion, that these are in newtons, and how they
lie in the axes of the joint: toward the socket, or as compression and shear. The models are two small ones of this
folder in round numbers, shoulder.osim and lumbar.osim, and no models of a person: put your own, with its inverse
kinematics, in their place.
"""

from pathlib import Path

import numpy as np

import musclesolve as ms

MODELS = Path(__file__).parent / "arm_and_spine"
TIME = np.linspace(0.0, 2.0, 201)
WAVE = 0.5 - 0.5 * np.cos(np.pi * TIME)  # there and back
MOTIONS = {
    "shoulder": {"shoulder_abduction": 5.0 + 60.0 * WAVE},  # the arm to the side [deg]
    "lumbar": {"pelvis_tilt": -30.0 * WAVE, "lumbar_extension": -15.0 * WAVE},  # a bend forward
}

for name, columns in MOTIONS.items():
    motion, angles = Path(f"{name}.mot"), np.radians(np.stack(list(columns.values()), axis=1))
    ms.tables.write_mot(
        motion, ms.tables.Table(TIME, tuple(columns), angles, False, motion)
    )  # as OpenSim would

    # On the command line: musclesolve share --model shoulder.osim --coordinates shoulder.mot --loads none -o OUT
    result = ms.share_model(MODELS / f"{name}.osim", motion, loads="none")
    print(f"{name}: {int(result['valid'].sum())} of {TIME.size} frames solved")
    size = np.linalg.norm(result["joint_reaction"].values, axis=2)
    frame, joint = np.unravel_index(size.argmax(), size.shape)
    there = result.isel(time=frame)
    parts = zip(there["joint_axis_words"].values[joint], there["joint_axis_force"].values[joint], strict=True)
    print(f"  {there['joint'].values[joint]} {size[frame, joint]:.0f} N at {TIME[frame]:.2f} s:", end=" ")
    print(", ".join(f"{words} {force:.0f} N" for words, force in parts))
    strongest = there["muscle"].values[there["muscle_force"].values.argmax()]
    print(f"  strongest then: {strongest} {float(there['muscle_force'].max()):.0f} N")
