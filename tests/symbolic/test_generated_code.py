"""C code of the chain: compiled, it gives the same numbers."""

import shutil
import subprocess

import casadi as ca
import numpy as np
import pytest

import musclesolve as ms
from benchmarks.symbolic import random_states
from musclesolve.muscles.muscle_set import load_muscle_set


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("tendon", ["rigid", "elastic"])
def test_compiled_code_gives_the_same_moments(tendon, tmp_path, monkeypatch):
    """Of OpenSim's curves, conditional and moving points, cylinders, and the equilibrium of elastic tendons."""
    monkeypatch.chdir(tmp_path)  # CasADi writes into the working folder
    database = load_muscle_set("gait2392_hip")
    muscles = ms.muscles.scale_muscles(ms.dynamics.human_model(), database, "r", curves="millard_2013")
    chain = ms.symbolic.muscle_chain(muscles=muscles, tendon=tendon)
    chain.moment.generate("moment.c")
    subprocess.run(["cc", "-O0", "-fPIC", "-shared", "moment.c", "-o", "moment.so", "-lm"], check=True)
    compiled = ca.external("moment", "./moment.so")
    for state in zip(*random_states(chain, 5), strict=True):
        np.testing.assert_allclose(compiled(*state), chain.moment(*state), rtol=1e-12, atol=1e-10)
