"""Multibody dynamics in natural coordinates: a core that stands alone.

A model is a set of points and unit vectors laid out in the standing pose, the rigid bodies that they form, and the
degrees of freedom between them (`Topology`). Everything else follows: constraints, mass matrices, forward kinematics,
the nearest consistent motion, inverse dynamics by independent routes, and forward dynamics. The modules are listed by
what they answer in docs/dynamics.md; planar models are in `musclesolve.dynamics.planar`.
"""

from musclesolve.dynamics.actuators import actuated_moments
from musclesolve.dynamics.agreement import disagreement, joint_moments_by_route
from musclesolve.dynamics.anthropometry import segment_table
from musclesolve.dynamics.applied import JointMoments, OutsideForces
from musclesolve.dynamics.assembly import assemble, consistent_rates
from musclesolve.dynamics.consistency import consistent_motion
from musclesolve.dynamics.constraints import Constraints
from musclesolve.dynamics.driven_pose import drive_pose
from musclesolve.dynamics.drivers import driver_rows
from musclesolve.dynamics.elements import Elements
from musclesolve.dynamics.expanded import joint_reactions
from musclesolve.dynamics.expansion import expand
from musclesolve.dynamics.external import Wrench
from musclesolve.dynamics.fit import Fit, fit_pose
from musclesolve.dynamics.forward import Simulation, simulate
from musclesolve.dynamics.forward_human import forward_human_model
from musclesolve.dynamics.guided import AngleDriver, LengthDriver, MotionDriver
from musclesolve.dynamics.human import human_model
from musclesolve.dynamics.inertia import MassProperties, mass_matrix
from musclesolve.dynamics.inverse import lagrange_multipliers, projected_moments
from musclesolve.dynamics.landmark_sensitivity import landmark_sensitivity
from musclesolve.dynamics.mechanism import Rigid, coincident, combination, fixed, scalar_products
from musclesolve.dynamics.mechanism_forces import Mechanism, MechanismForces, mechanism_forces
from musclesolve.dynamics.model import Model
from musclesolve.dynamics.motion import Motion, differentiate, motion_from
from musclesolve.dynamics.projection import (
    absolute_system,
    joint_wrenches,
    reactions_by_projection,
    reactions_classical,
)
from musclesolve.dynamics.reactions import joint_loads, segment_motion
from musclesolve.dynamics.resistance import JointResistance
from musclesolve.dynamics.segmental import (
    center_of_pressure_from_motion,
    intersegmental_moment,
    neglected_share,
)
from musclesolve.dynamics.sensitivity import application_sensitivity, force_sensitivity, mass_sensitivity
from musclesolve.dynamics.targets import Targets
from musclesolve.dynamics.topology import Topology, load_topology, standing_layout

__all__ = [
    "AngleDriver",
    "Constraints",
    "Elements",
    "Fit",
    "JointMoments",
    "JointResistance",
    "LengthDriver",
    "MassProperties",
    "Mechanism",
    "MechanismForces",
    "Model",
    "Motion",
    "MotionDriver",
    "OutsideForces",
    "Rigid",
    "Simulation",
    "Targets",
    "Topology",
    "Wrench",
    "absolute_system",
    "actuated_moments",
    "application_sensitivity",
    "assemble",
    "center_of_pressure_from_motion",
    "coincident",
    "combination",
    "consistent_motion",
    "consistent_rates",
    "differentiate",
    "disagreement",
    "drive_pose",
    "driver_rows",
    "expand",
    "fit_pose",
    "fixed",
    "force_sensitivity",
    "forward_human_model",
    "human_model",
    "intersegmental_moment",
    "joint_loads",
    "joint_moments_by_route",
    "joint_reactions",
    "joint_wrenches",
    "lagrange_multipliers",
    "landmark_sensitivity",
    "load_topology",
    "mass_matrix",
    "mass_sensitivity",
    "mechanism_forces",
    "motion_from",
    "neglected_share",
    "projected_moments",
    "reactions_by_projection",
    "reactions_classical",
    "scalar_products",
    "segment_motion",
    "segment_table",
    "simulate",
    "standing_layout",
]
