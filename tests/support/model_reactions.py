"""Wrenches of muscles on the bodies of a model, and joint reactions with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from musclesolve.models.opensim.geometry import path_pulls
from musclesolve.models.opensim.inverse_dynamics import InverseDynamics, JointReactions, distal_reactions
from musclesolve.models.opensim.kinematics import body_motion


def path_wrenches(model, values: np.ndarray, muscles: Sequence[str], tendon_force: np.ndarray) -> np.ndarray:
    """Wrenches (T, B, 6) of tendon forces (T, n) [N] on the bodies, about the origin of the ground."""
    pose = body_motion(model, values)
    pulls, _ = path_pulls(model, values, muscles, np.eye(len(model.bodies)), (), pose)
    return -np.einsum("tnbk,tn->tbk", pulls, tendon_force)


def contact_reactions(
    model, dynamics: InverseDynamics, values: np.ndarray, muscles: Sequence[str], tendon_force: np.ndarray
) -> JointReactions:
    """Joint reactions with muscle forces: joint and muscles together supply what the bodies beyond the joint need."""
    wrench = dynamics.wrench - path_wrenches(model, values, muscles, tendon_force)
    return distal_reactions(model, replace(dynamics, wrench=wrench))
