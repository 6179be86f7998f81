"""The external loads of an OpenSim model as variables of a result."""

from __future__ import annotations

import numpy as np

from musclesolve.opensim.inverse.external_load import load_in_ground
from musclesolve.opensim.model import OpenSimModel
from musclesolve.pipeline.opensim.load_dynamics import LoadDynamics
from musclesolve.results.dataset.frame_validity import STANCE_THRESHOLD
from musclesolve.results.dataset.picture.model_skeleton import TO_GLOBAL
from musclesolve.results.dataset.picture.skeleton import Variable


def load_variables(model: OpenSimModel, dynamics: LoadDynamics | None) -> dict[str, Variable]:
    """Forces and their points over time and external_load, named as in variables.toml; none without loads."""
    if dynamics is None or not dynamics.loads:
        return {}
    time, pose = dynamics.motion.time, dynamics.dynamics.bodies.pose
    found = [load_in_ground(model, load, time, pose) for load in dynamics.loads]
    force, point = (np.stack(parts, axis=1) @ TO_GLOBAL.T for parts in zip(*found, strict=True))
    point = np.where(force[..., 2:] > STANCE_THRESHOLD, point, np.nan)
    over = ("time", "external_load", "axis")
    return {"external_force": (over, force), "external_point": (over, point)}


def load_coordinates(dynamics: LoadDynamics | None) -> dict[str, object]:
    """Name of each load, with the body that it acts on."""
    if dynamics is None or not dynamics.loads:
        return {}
    return {"external_load": [f"{load.name} on {load.body}" for load in dynamics.loads]}
