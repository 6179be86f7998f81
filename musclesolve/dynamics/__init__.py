"""Multibody dynamics in natural coordinates: a core that stands alone.

A model is a set of points and unit vectors laid out in the standing pose (`Layout`), the rigid bodies that they
form, and the degrees of freedom between them (`Topology`). Everything else follows: constraints, mass matrices,
forward kinematics, the nearest consistent motion, inverse dynamics by independent routes, and forward dynamics.
"""

from musclesolve.dynamics.applied import JointMoments, OutsideForces
from musclesolve.dynamics.constraints import Constraints
from musclesolve.dynamics.elements import Elements
from musclesolve.dynamics.external import Wrench
from musclesolve.dynamics.fit import fit_pose
from musclesolve.dynamics.forward import Simulation, simulate
from musclesolve.dynamics.forward_human import forward_human_model
from musclesolve.dynamics.human import human_model
from musclesolve.dynamics.inverse import lagrange_multipliers, projected_moments
from musclesolve.dynamics.model import Model
from musclesolve.dynamics.motion import Motion, differentiate
from musclesolve.dynamics.resistance import JointResistance
from musclesolve.dynamics.topology import Topology, load_topology

__all__ = [
    "Constraints",
    "Elements",
    "JointMoments",
    "JointResistance",
    "Model",
    "Motion",
    "OutsideForces",
    "Simulation",
    "Topology",
    "Wrench",
    "differentiate",
    "fit_pose",
    "forward_human_model",
    "human_model",
    "lagrange_multipliers",
    "load_topology",
    "projected_moments",
    "simulate",
]
