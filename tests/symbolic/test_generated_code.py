"""C code of the chain: compiled, it gives the same numbers."""

import shutil
import subprocess
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from symbolic_states import random_states

import musclesolve as ms
from musclesolve.muscles.muscle_parameters import load_muscle_set


@pytest.mark.in_part(2)
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("tendon", ["elastic", "rigid"])
def test_compiled_code_gives_the_same_moments(tendon, tmp_path, monkeypatch):
    """Of OpenSim's curves, conditional and moving points, cylinders, and the equilibrium of elastic tendons."""
    monkeypatch.chdir(tmp_path)  # CasADi writes into the working folder
    subject, curves = ms.dynamics.human_model(), "millard_2013" if tendon == "rigid" else None
    muscles = ms.muscles.scale_muscles(subject, load_muscle_set("gait2392_hip"), "r", curves=curves)
    chosen = np.array([4, 15, 22, 30, 36])
    paths, parameters = muscles.paths.subset(chosen), muscles.parameters.muscles(chosen)
    chain = ms.symbolic.muscle_chain(
        subject, replace(muscles, paths=paths, parameters=parameters), tendon=tendon
    )
    chain.moment.generate("moment.c")
    subprocess.run(["cc", "-O0", "-fPIC", "-shared", "moment.c", "-o", "moment.so", "-lm"], check=True)
    compiled = ca.external("moment", "./moment.so")
    for state in zip(*random_states(chain, 5), strict=True):
        np.testing.assert_allclose(compiled(*state), chain.moment(*state), rtol=1e-12, atol=1e-10)
