"""A certified solver as one C file, for controllers: written, compiled, and timed on the bundled stride.

One learns how the code of a fixed leg and cost is made, how C calls it (c_solver/run_leg.c), that it gives the numbers
of `ms.solve`, and how long a frame takes. Without a C compiler named cc the code is written, and nothing is run.
"""

import shutil
import subprocess
import time
from pathlib import Path

import numpy as np

import musclesolve as ms
from musclesolve.data import reference_stride

COST, ROUNDS = "stress_cubed", 40
CALLER = Path(__file__).parent / "c_solver" / "run_leg.c"
ARRAYS = ("moment", "moment_arm", "force_capacity", "fiber_force_capacity", "lower", "upper")

# The code of the right leg: sizes, cost and maximum isometric forces are fixed
problem = ms.leg_problem(ms.run(reference_stride(), side="r"), "r")
code = ms.sharing.write_c_solver("leg.c", problem, COST, name="leg")
print(f"{code}: {problem.n_dof} moments, {problem.n_muscles} muscles, {COST}")

# The same frames in Python, the best of some calls
solution, seconds = ms.solve(problem, COST), []
for _ in range(ROUNDS):
    began = time.perf_counter()
    ms.solve(problem, COST)
    seconds.append(time.perf_counter() - began)
print(f"batch  {1e6 * min(seconds) / problem.n_frames:6.1f} us a frame in one call of {problem.n_frames}")

if shutil.which("cc"):
    flags = ["-std=c99", "-O3", "-D_POSIX_C_SOURCE=199309L", f"-DROUNDS={ROUNDS}", "-I."]
    subprocess.run(["cc", *flags, str(CALLER), "-o", "run_leg", "-lm"], check=True)
    frames = [getattr(problem, name).reshape(problem.n_frames, -1) for name in ARRAYS]
    given = np.ascontiguousarray(np.concatenate(frames, axis=1)).tobytes()
    written = subprocess.run(["./run_leg"], input=given, capture_output=True, check=True).stdout
    found = np.frombuffer(written).reshape(problem.n_frames, -1)
    took, apart = 1e6 * found[:, 1], np.abs(found[:, 2:] - solution.activation).max()
    print(f"C      {took.mean():6.1f} us a frame, the worst {took.max():.1f} us")
    print(f"{int((found[:, 0] == ms.Status.SOLVED).sum())} of {problem.n_frames} frames solved and certified")
    print(f"largest difference of an activation: {apart:.0e}")
