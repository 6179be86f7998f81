from .forward.applied_forces import (
    JointMoments as JointMoments,
)
from .forward.applied_forces import (
    OutsideForces as OutsideForces,
)
from .forward.joint_resistance import (
    JointResistance as JointResistance,
)
from .forward.simulate import (
    Simulation as Simulation,
)
from .forward.simulate import (
    simulate as simulate,
)
from .inverse.expanded_system import (
    joint_reactions as joint_reactions,
)
from .inverse.external_wrenches import (
    Wrench as Wrench,
)
from .inverse.hof_moment import (
    center_of_pressure_from_motion as center_of_pressure_from_motion,
)
from .inverse.hof_moment import (
    intersegmental_moment as intersegmental_moment,
)
from .inverse.hof_moment import (
    neglected_share as neglected_share,
)
from .inverse.inverse_dynamics import (
    lagrange_multipliers as lagrange_multipliers,
)
from .inverse.inverse_dynamics import (
    projected_moments as projected_moments,
)
from .inverse.joint_actuators import (
    actuated_moments as actuated_moments,
)
from .inverse.newton_euler import (
    joint_loads as joint_loads,
)
from .inverse.newton_euler import (
    segment_motion as segment_motion,
)
from .inverse.projection import (
    absolute_system as absolute_system,
)
from .inverse.projection import (
    joint_wrenches as joint_wrenches,
)
from .inverse.projection import (
    reactions_by_projection as reactions_by_projection,
)
from .inverse.projection import (
    reactions_classical as reactions_classical,
)
from .inverse.route_agreement import (
    disagreement as disagreement,
)
from .inverse.route_agreement import (
    joint_moments_by_route as joint_moments_by_route,
)
from .kinematics.consistent_motion import (
    consistent_motion as consistent_motion,
)
from .kinematics.driven_pose import (
    drive_pose as drive_pose,
)
from .kinematics.joint_drivers import (
    driver_rows as driver_rows,
)
from .kinematics.measured_targets import (
    Targets as Targets,
)
from .kinematics.motion_derivatives import (
    Motion as Motion,
)
from .kinematics.motion_derivatives import (
    differentiate as differentiate,
)
from .kinematics.motion_derivatives import (
    motion_from as motion_from,
)
from .kinematics.pose_fit import (
    Fit as Fit,
)
from .kinematics.pose_fit import (
    fit_pose as fit_pose,
)
from .mechanism.assembly import (
    assemble as assemble,
)
from .mechanism.assembly import (
    consistent_rates as consistent_rates,
)
from .mechanism.constraint_rows import (
    Rigid as Rigid,
)
from .mechanism.constraint_rows import (
    coincident as coincident,
)
from .mechanism.constraint_rows import (
    combination as combination,
)
from .mechanism.constraint_rows import (
    fixed as fixed,
)
from .mechanism.constraint_rows import (
    scalar_products as scalar_products,
)
from .mechanism.driven_rows import (
    AngleDriver as AngleDriver,
)
from .mechanism.driven_rows import (
    LengthDriver as LengthDriver,
)
from .mechanism.driven_rows import (
    MotionDriver as MotionDriver,
)
from .mechanism.mechanism_forces import (
    Mechanism as Mechanism,
)
from .mechanism.mechanism_forces import (
    MechanismForces as MechanismForces,
)
from .mechanism.mechanism_forces import (
    mechanism_forces as mechanism_forces,
)
from .model.constraints import (
    Constraints as Constraints,
)
from .model.expansion import (
    expand as expand,
)
from .model.forward_human_model import (
    forward_human_model as forward_human_model,
)
from .model.human_model import (
    human_model as human_model,
)
from .model.mass_matrix import (
    MassProperties as MassProperties,
)
from .model.mass_matrix import (
    mass_matrix as mass_matrix,
)
from .model.model import (
    Model as Model,
)
from .model.rigid_body import (
    Elements as Elements,
)
from .model.segment_inertia import (
    segment_table as segment_table,
)
from .model.topology import (
    Topology as Topology,
)
from .model.topology import (
    load_topology as load_topology,
)
from .model.topology import (
    standing_layout as standing_layout,
)
from .sensitivity.landmark_sensitivity import (
    landmark_sensitivity as landmark_sensitivity,
)
from .sensitivity.moment_sensitivity import (
    application_sensitivity as application_sensitivity,
)
from .sensitivity.moment_sensitivity import (
    force_sensitivity as force_sensitivity,
)
from .sensitivity.moment_sensitivity import (
    mass_sensitivity as mass_sensitivity,
)
