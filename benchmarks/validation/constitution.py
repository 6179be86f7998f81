"""Sections that need no recording: laws, agreement of solvers, and how far errors reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import muscle_db
import musclesolve as ms
from benchmarks.validation.page import table
from musclesolve._util.arrays import Array, Mask
from musclesolve.data import reference_stride
from musclesolve.dynamics import (
    Sensitivity,
    Targets,
    consistent_motion,
    forward_human_model,
    joint_moments_by_route,
    projected_moments,
    simulate,
)
from musclesolve.dynamics.forward.applied_forces import JointMoments
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.laboratory.bodies.linked_bodies import full_problem
from musclesolve.laboratory.bodies.mechanics import Mechanics
from musclesolve.laboratory.forces import mechanics
from musclesolve.muscles import muscle_state, scale_muscles
from musclesolve.sharing import solve_full
from musclesolve.sharing.cost.cost_registry import find_cost

STEP = 1e-5  # of the differences of lengths [rad]
POSES = 60
MILLIMETER = 1e-3
JOINTS = ("hip", "knee", "ankle")


def laws() -> str:
    """Identities that hold whatever the data, with the largest error found."""
    trial = ms.read_trial(reference_stride())
    body, result = mechanics(trial), ms.run(trial)
    routes = joint_moments_by_route(body.model, body.motion, body.wrenches).disagreement()
    stride = ms.studies.synthetic.reference_stride()
    residual = np.abs(stride.pelvis_residual(np.linspace(0.0, stride.period, 200))).max()
    rows = [
        (
            "four routes of inverse dynamics agree",
            "bundled stride",
            f"{max(routes.values()):.0e} of the peak",
        ),
        ("every constraint of the model holds", "bundled stride", f"{largest_violation(body):.0e} m"),
        ("the bundled stride needs no force at the pelvis", "200 instants", f"{residual:.0e} N, N m"),
        *falling(),
        (
            "moment arm = -dL/dtheta",
            f"every muscle set, {POSES} random poses",
            f"{max(map(arms, muscle_db.available())):.0e} mm",
        ),
        ("reduced and full formulation give the same activations", "bundled stride", f"{formulations():.0e}"),
        ("largest gap of a frame", "bundled stride", f"{float(result.gap.max()):.0e}"),
    ]
    return table(("law", "shown on", "largest error"), rows)


def largest_violation(body: Mechanics) -> float:
    """Largest violation of all constraints over the frames [m, or 1 for unit vectors]."""
    return float(np.abs(body.model.constraints.violation(body.motion.q)).max())


def falling() -> list[tuple[str, str, str]]:
    """Energy in a free fall; inverse dynamics of forward dynamics."""
    model, still = forward_human_model(), 0.0 * forward_human_model().standing
    fall = simulate(model, model.standing, still, 0.3)
    share = float(np.ptp(fall.energy) / np.abs(fall.energy[0]))
    moments = {name: 4.0 * k - 6.0 for k, name in enumerate(model.topology.dof_names[:4])}
    moved = simulate(model, model.standing, still, 0.1, forces=[JointMoments.build(model, moments)])
    found = projected_moments(model, moved.motion, [])[:, :4]
    error = float(np.abs(found - list(moments.values())).max())
    where = "12 bodies, 29 degrees of freedom"
    return [
        ("energy is kept in a free fall of 0.3 s", where, f"{share:.0e} of the energy"),
        ("inverse dynamics of a simulated motion returns the moments", where, f"{error:.0e} N m"),
    ]


def arms(database: str) -> float:
    """Largest difference of moment arms from central differences of lengths over random poses [mm]."""
    rng = np.random.default_rng(0)
    ranges = {"hip_flexion_r": (-15, 90), "hip_adduction_r": (-25, 15), "hip_internal_rotation_r": (-20, 20)}
    ranges |= {"knee_flexion_r": (0, 100), "ankle_dorsiflexion_r": (-30, 20)}
    pose = {name: np.radians(rng.uniform(*ends, POSES)) for name, ends in ranges.items()}
    arm = ms.muscle_geometry(pose, muscles=database).moment_arm
    worst = 0.0
    for name in pose:
        ahead, behind = (
            ms.muscle_geometry(pose | {name: pose[name] + step}, muscles=database).musculotendon_length
            for step in (STEP, -STEP)
        )
        slope = -(ahead - behind).values / (2.0 * STEP)
        worst = max(worst, float(np.abs(slope - arm.sel(dof=name).values).max()))
    return 1000.0 * worst


def formulations() -> float:
    """Largest difference of activations between the reduced and the full formulation."""
    trial = ms.read_trial(reference_stride())
    problem = ms.leg_problem(ms.run(trial), "r")
    body, rules = mechanics(trial), (trial.settings.muscles.strength, trial.settings.muscles.passive)
    muscles = scale_muscles(body.model, muscle_db.load(trial.settings.muscles.database), "r", *rules)
    state = muscle_state(body.model, muscles, body.motion)
    full = full_problem(body.model, body.motion, body.wrenches, [state], problem.dof)
    whole = solve_full(replace(full, lower=problem.lower), "stress_cubed").activation
    return float(np.abs(whole - ms.solve(problem, "stress_cubed").activation).max())


def solvers() -> str:
    """Every installed solver on the right leg of the bundled stride, beside `batch`."""
    problem = ms.leg_problem(ms.run(reference_stride()), "r")
    costs = ("force_squared", "stress_cubed", "activation_volume", "soft_saturation")
    best = {cost: ms.solve(problem, cost).activation for cost in costs}
    rows = []
    for name, record in ms.solvers().items():
        if not record.installed or name in ("batch", "trust-constr"):
            continue
        cells = []
        for cost in costs:
            if not record.fits(find_cost(cost)):
                cells.append("")
                continue
            found = ms.solve(problem, cost, name)
            apart = np.abs(found.activation - best[cost])[found.solved].max()
            cells.append(f"{apart:.0e} ({found.solved.sum()} of {len(found.status)})")
        if any(cells):
            rows.append((f"`{name}`", *cells))
    return table(("solver", *(f"`{cost}`" for cost in costs)), rows)


def branches() -> str:
    """How much an error of a measured point moves the moments of each leg, by both methods of consistency."""
    body = mechanics(ms.read_trial(reference_stride()))
    rows = []
    for point in ("head_top", "neck_base", "shoulder_r", "wrist_r", "hip_r", "knee_r", "heel_r", "toe_r"):
        cells = (
            of_legs(body, response(body, point)) for response in (response_of_nearest, response_of_driven)
        )
        rows.append((point, *(f"{value:.0f}" for legs in cells for value in legs)))
    head = ("right leg, nearest", "left leg", "right leg, driven by angles", "left leg")
    return table(("point", *head), rows)


def of_legs(body: Mechanics, response: Array) -> tuple[float, float]:
    """The largest response (T, K+6) of hip, knee and ankle of the right and of the left leg [N m/m]."""
    dofs = body.model.topology.dof_names
    legs = [
        [k for k, name in enumerate(dofs) if name.startswith(JOINTS) and name[-1] == side] for side in "rl"
    ]
    return float(response[:, legs[0]].max()), float(response[:, legs[1]].max())


def response_of_nearest(body: Mechanics, point: str) -> Array:
    """Derivative of the moments by a point in its worst direction, (T, K+6), with the nearest pose."""
    time = body.measured.time
    args = body.model, time, targets(body), body.wrenches, [point], inside(time, body.motion)
    return np.abs(Sensitivity.by_landmark(*args).worst_direction().values[:, :, 0])


def response_of_driven(body: Mechanics, point: str) -> Array:
    """Return the response of a pose driven by joint angles, from differences over 1 mm."""
    base = driven_moments(body, {})
    places = body.measured.points[point]
    moved = [driven_moments(body, {point: places + MILLIMETER * axis}) - base for axis in np.eye(3)]
    return np.asarray(np.linalg.norm(moved, axis=0) / MILLIMETER)


def driven_moments(body: Mechanics, instead: dict[str, Array]) -> Array:
    """Moments (T, K+6) of the pose driven by joint angles, with other places of some points."""
    time = body.measured.time
    _, motion = consistent_motion(body.model, targets(body, instead), time, "joint_angles")
    return projected_moments(body.model, motion.frames(inside(time, body.motion)), body.wrenches)


def targets(body: Mechanics, instead: dict[str, Array] | None = None) -> Targets:
    """The measured points, with other places of some points."""
    return Targets.build(body.model, body.measured.points | (instead or {}), body.measured.directions)


def inside(time: Array, motion: Motion) -> Mask:
    """The measured frames that the motion has."""
    return (time >= motion.time[0] - 1e-9) & (time <= motion.time[-1] + 1e-9)
