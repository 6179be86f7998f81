"""The sizes of a motion program are counts of its frames, coordinates and muscles."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import musclesolve as ms
from benchmarks.motion_program import sizes

LEG = Path(__file__).parents[2] / "examples" / "opensim_model" / "leg.osim"


def test_sizes_are_counts_of_frames_coordinates_and_muscles():
    model = ms.read_osim(LEG)
    body, chain = ms.symbolic.skeleton(model), ms.symbolic.muscle_chain(model)
    time, places = np.linspace(0.0, 0.1, 4), {"toe": (body.bodies[-1], (0.1, 0.0, 0.0))}
    plain, weights = (body, time, places, np.zeros((4, 1, 3))), ms.symbolic.MotionWeights()
    n, k, moved = len(body.dofs), len(chain.muscles), len(chain.dofs)
    torques = sizes(ms.symbolic.motion_program(*plain), weights)
    muscles = sizes(ms.symbolic.motion_program(*plain, muscles=chain), weights)
    rates = sizes(ms.symbolic.motion_program(*plain, muscles=chain, activation_times=(0.015, 0.06)), weights)
    assert torques.unknowns == 4 * (3 * n + n) and torques.rows == 4 * n + 3 * 2 * n
    assert muscles.unknowns == torques.unknowns + 4 * k and muscles.rows == torques.rows
    assert moved == n  # each muscular coordinate has a reserve in the place of its torque
    assert rates.unknowns == muscles.unknowns and rates.rows == muscles.rows + 3 * k
    assert rates.jacobian == muscles.jacobian + 3 * 2 * k
    assert muscles.jacobian > torques.jacobian and rates.hessian == muscles.hessian > torques.hessian
