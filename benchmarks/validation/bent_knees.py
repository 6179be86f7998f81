"""The forces that press a bent knee: a squat and a rise from a chair at rest, one thing exchanged at a time.

The standard subject (70.25 kg, 1.70 m) holds poses, half of the weight on each foot: motion and moments are known
without markers. Forces in body weights, default set and cost unless stated.

Squat to 110 degrees, force in the knee by its flexion:

- the moment alone: tension of the patellar ligament where the quadriceps alone has the moment of the knee;
- along the shank: the part of the force that load cells under a tibial tray measure;
- arm: distance of the patellar ligament from the axis of the knee;
- axis behind: the axis of the knee lies 10 mm behind the point that the moment is computed about, as under sliding
  skin; the ligament keeps its arm, or its place and so has an arm 10 mm longer;
- at least: least activation of the hamstrings or of all muscles.

Rise from a chair when the seat is left, knees at 90 degrees, feet flat: force in knee and hip and the moment of the
flexors of the knee, by the flexion of the hip; *: with a reserve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

import muscle_db
import musclesolve as ms
from benchmarks.validation.page import table
from muscle_db.model import LEG_DOFS
from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY, USUAL_COST, USUAL_LEAST_ACTIVATION
from musclesolve.dynamics import Model, Wrench, human_model, projected_moments
from musclesolve.dynamics.inverse.newton_euler import distal_loads, segment_motion
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.muscles import scale_muscles
from musclesolve.muscles.muscle_state import muscle_state
from musclesolve.pipeline.body import Sharing, SharingGroup, SolvedGroup
from musclesolve.pipeline.recorded_body import Knee, MuscleJoints, sharing_group
from musclesolve.pipeline.run_options import Options
from musclesolve.pipeline.share import sharing_problem
from musclesolve.sharing.cost import Cost, JointReactionSquared
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import find_solver
from musclesolve.sharing.status import Status

KNEE, SERVED = LEG_DOFS.index("knee_flexion"), LEG_DOFS[:5]
LEAST_KNEE = JointReactionSquared({"knee": 1.0}, effort=1e-3)
"""The least contact force of the knee; the effort only decides between forces that load the knee alike."""
HANDSFIELD = "handsfield_2014"
HAMSTRINGS = ("semimembranosus", "semitendinosus", "biceps_femoris_long_head")


@dataclass(frozen=True)
class Pose:
    """Angles of both legs, of the trunk and the tilt of the pelvis [deg]."""

    legs: dict[str, float]
    trunk: float
    tilt: float

    def coordinates(self, model: Model) -> Array:
        """Among all degrees of freedom [rad]."""
        pose = np.zeros(len(model.topology.dof_names))
        angles = {f"{dof}_{side}": angle for dof, angle in self.legs.items() for side in "rl"}
        for dof, angle in (angles | {"trunk_flexion": self.trunk, "pelvis_tilt": self.tilt}).items():
            pose[model.dof(dof)] = np.radians(angle)
        return pose


DEEPEST = 110.0
SQUAT = Pose(
    {"hip_flexion": 90.0, "knee_flexion": DEEPEST, "ankle_dorsiflexion": 25.0, "shoulder_flexion": 90.0},
    trunk=50.0,
    tilt=5.0,
)
"""Trunk and tilt put the center of mass above the feet and leave the feet flat, here and below."""
FLEXION = (60.0, 80.0, 97.0, DEEPEST)
HIPS = (90.0, 95.0, 100.0, 105.0, 110.0)


def seat_off(hip: float) -> Pose:
    """Knees at 90, ankles at 20 degrees, and as much flexion of the hip [deg] as the pelvis tilts."""
    legs = {"hip_flexion": hip, "knee_flexion": 90.0, "ankle_dorsiflexion": 20.0, "shoulder_flexion": 70.0}
    return Pose(legs, trunk=40.0, tilt=hip - 70.0)


@dataclass(frozen=True)
class Held:
    """How a pose is held and shared.

    period: of a squat down and up again [s], None at rest; pressure: how far forward the force on the feet is moved
    [m]; behind: how far behind the point of the model the axis of the knee is [m]; ligament: factor on its arm; least:
    activation of the muscles whose names are among `of`, or of all.
    """

    database: str = muscle_db.DEFAULT
    passive: str = "none"
    strength: str = "table"
    cost: Cost | str = USUAL_COST
    period: float | None = None
    pressure: float = 0.0
    behind: float = 0.0
    ligament: float = 1.0
    least: float = USUAL_LEAST_ACTIVATION
    of: tuple[str, ...] = ()

    def solved(self, pose: Pose, depth: Array) -> SolvedGroup:
        """Muscle forces of the right leg at shares (T,) of the pose, half of what holds the body on each foot."""
        model, rate, change = subject(), np.zeros_like(depth), np.zeros_like(depth)
        if self.period is not None:
            # depth (1 - cos w t) / 2 on its way up
            w = 2.0 * np.pi / self.period
            rate, change = -w * np.sqrt(depth * (1.0 - depth)), w**2 * (0.5 - depth)
        whole = pose.coordinates(model)
        coordinates = [np.multiply.outer(each, whole) for each in (depth, rate, change)]
        # the feet stay: the pelvis sinks by p(depth), p' rate, p'' rate^2 + p' change
        before, here, after = (sunk(pose, depth + step) for step in (-STEP, 0.0, STEP))
        slope, bend = (after - before) / (2.0 * STEP), (after - 2.0 * here + before) / STEP**2
        rate, change = rate[:, None], change[:, None]
        for each, moved in zip(
            coordinates, (here, slope * rate, bend * rate**2 + slope * change), strict=True
        ):
            each[:, -6:-3] = moved
        motion = motion_from(model, np.arange(0.0, len(depth)), *coordinates)
        needed = projected_moments(model, motion, [])[:, -6:]
        force = 0.5 * needed[:, :3]
        moment = 0.5 * (needed[:, 3:] + np.cross(motion.origin, needed[:, :3]))
        wrenches = []
        for side in "rl":
            beside = motion.q[:, model.slot(f"ankle_{side}")] * [0.0, 1.0, 0.0]
            place = np.add(beside, [self.pressure, 0.0, 0.0])
            wrenches.append(Wrench(f"foot_{side}", force, moment + np.cross(place, force)))
        cost = self.cost if isinstance(self.cost, Cost) else find_cost(self.cost)
        sharing = Sharing(cost, find_solver("batch"))
        options = Options(("r",), muscle_db.load(self.database), sharing, SERVED, self.strength, self.passive)
        muscles = scale_muscles(model, options.database, "r", self.strength, self.passive)
        found = (
            *(model, motion, distal_loads(model, segment_motion(model, motion), wrenches)),
            *(muscle_state(model, muscles, motion), projected_moments(model, motion, wrenches)),
        )
        joints = MuscleJoints.from_model(model, muscles, self.ligament)
        leg = sharing_group(options, *found, np.ones(len(depth), bool), joints=joints)
        if self.behind:
            axis = motion.axes(model.tree)[:, model.dof("knee_flexion_r")]
            shank = model.rigid_bodies.subset(np.array([model.body("shank_r")])).rotation(motion.q)[:, 0]
            leg = about_another_axis(leg, axis, self.behind * shank[..., 0])
        problem = sharing_problem(leg, sharing)
        chosen = [name.removesuffix("_r") in self.of or not self.of for name in names(leg)]
        floor = np.where(chosen, self.least, sharing.least_activation)
        problem = problem.with_arrays(lower=np.broadcast_to(floor, problem.force_capacity.shape).copy())
        return SolvedGroup(leg, problem.frames, ms.solve(problem, sharing.cost, on_infeasible="reserve"))


STEP = 1e-3
"""Of the differences of the way of the pelvis, as a share of the pose."""


def sunk(pose: Pose, depth: Array) -> Array:
    """Way of the pelvis at shares (T,) of a pose whose feet stay where they are in standing, (T, 3) [m]."""
    coordinates = np.multiply.outer(np.append(depth, 0.0), pose.coordinates(subject()))
    still = np.zeros_like(coordinates)
    motion = motion_from(subject(), np.arange(0.0, len(coordinates)), coordinates, still, still)
    ankle = motion.q[:, subject().slot("ankle_r")]
    return np.asarray(ankle[-1] - ankle[:-1]) * [1.0, 0.0, 1.0]


def about_another_axis(leg: SharingGroup, axis: Array, forward: Array) -> SharingGroup:
    """The leg with the moment of the knee about an axis (T, 3) that lies behind by `forward` (T, 3) [m].

    What lies beyond the knee needs F and M there, and M + forward x F about the other axis.
    """
    assert leg.loads is not None
    net = leg.loads.net[:, leg.loads.joints.index("knee_r")]
    moment = leg.moment.copy()
    moment[:, KNEE] += np.einsum("tx,tx->t", np.cross(forward, net), axis)
    return replace(leg, moment=moment)


@cache
def subject() -> Model:
    """The standard subject."""
    return human_model()


def names(leg: SharingGroup) -> tuple[str, ...]:
    """Names of the muscles."""
    return tuple(leg.state.parameters.names)


def weight() -> float:
    """Weight of the subject [N]."""
    return subject().mass.total * STANDARD_GRAVITY


def ligament_arm() -> float:
    """Distance of the patellar ligament of the subject from the axis of the knee [m]."""
    return Knee.from_model(subject(), "r").ligament.arm


def contact(found: SolvedGroup, joint: str = "knee") -> Array:
    """Force at a joint, (T,) [body weights]."""
    return np.asarray(np.linalg.norm(found.contact_force[f"{joint}_r"], axis=1) / weight())


def antagonists(found: SolvedGroup) -> Array:
    """Moment of the muscles that flex the knee, (T,) [N m]."""
    moment = found.state.moment_arm[:, KNEE] * found.tension
    return np.asarray(np.maximum(moment, 0.0).sum(axis=1))


def bent() -> str:
    """Both tables."""
    return f"{squats()}\n\n{chairs()}"


def squats() -> str:
    """The squat, one thing exchanged at a time."""
    arm, usual = ligament_arm(), Held()
    depth = np.array(FLEXION) / DEEPEST
    head = ("exchanged", *(f"{angle:.0f}" for angle in FLEXION), "flexors at 97 [N m]")
    rows = list[tuple[str, ...]]()

    def row(about: str, values: Array, found: SolvedGroup | None = None) -> None:
        lacking = found is not None and (found.solution.status != Status.SOLVED).any()
        flexors = "" if found is None else f"{antagonists(found)[2]:.1f}"
        rows.append((about + (" (reserve)" if lacking else ""), *(f"{x:.2f}" for x in values), flexors))

    nothing = usual.solved(SQUAT, depth)
    rows.append(("moment of the knee [N m]", *(f"{x:.0f}" for x in nothing.part.moment[:, KNEE]), ""))
    row("nothing", contact(nothing), nothing)
    row("the moment alone", -nothing.part.moment[:, KNEE] / arm / weight())
    coordinates = depth[:, None] * SQUAT.coordinates(subject())
    motion = motion_from(subject(), depth, coordinates, 0.0 * coordinates, 0.0 * coordinates)
    turned = subject().rigid_bodies.subset(np.array([subject().body("shank_r")])).rotation(motion.q)[:, 0]
    along = np.einsum("tx,tx->t", nothing.contact_force["knee_r"], turned[..., 2]) / weight()
    row("along the shank", np.abs(along))
    exchanges: dict[str, dict[str, Any]] = {
        **{
            f"arm of {arm_mm} mm (else {1e3 * arm:.0f})": {"ligament": 1e-3 * arm_mm / arm}
            for arm_mm in (36, 40, 52, 60)
        },
        "axis 10 mm behind": {"behind": 0.01},
        "axis 10 mm behind, ligament in its place": {"behind": 0.01, "ligament": 1.0 + 0.01 / arm},
        "axis 10 mm ahead": {"behind": -0.01},
        "force on the feet 10 mm forward": {"pressure": 0.01},
        "down and up in 4 s, not at rest": {"period": 4.0},
        "down and up in 2 s": {"period": 2.0},
        "hamstrings at least 0.05": {"least": 0.05, "of": HAMSTRINGS},
        "hamstrings at least 0.1": {"least": 0.1, "of": HAMSTRINGS},
        "all muscles at least 0": {"least": 0.0},
        "all muscles at least 0.02": {"least": 0.02},
        "cost activation_power": {"cost": "activation_power"},
        "least force that the muscles can have": {"cost": LEAST_KNEE},
        "passive = calibrated": {"passive": "calibrated"},
        "strength = handsfield_2014": {"strength": HANDSFIELD},
        "set gait2392": {"database": "gait2392"},
        "set rajagopal_2023": {"database": "rajagopal_2023"},
    }
    for about, exchanged in exchanges.items():
        found = replace(usual, **exchanged).solved(SQUAT, depth)
        row(about, contact(found), found)
    return table(head, rows)


def chairs() -> str:
    """The seat is left: force in the knee and in the hip, and the moment of the flexors of the knee."""
    rows = list[tuple[str, ...]]()
    usual, once = Held(), np.ones(1)
    exchanges = {
        "nothing": usual,
        "strength = handsfield_2014": replace(usual, strength=HANDSFIELD),
        "cost activation_power": replace(usual, cost="activation_power"),
        "least force that the muscles can have": replace(usual, cost=LEAST_KNEE),
        "set gait2392": replace(usual, database="gait2392"),
        "set rajagopal_2023": replace(usual, database="rajagopal_2023"),
    }
    moments = list[str]()
    for about, held in exchanges.items():
        cells = []
        for hip in HIPS:
            found = held.solved(seat_off(hip), once)
            lacks = "*" if (found.solution.status != Status.SOLVED).any() else ""
            pressed = f"{contact(found)[0]:.1f}, {contact(found, 'hip')[0]:.1f}"
            cells.append(
                f"{pressed}, {antagonists(found)[0]:.0f}{lacks}" if found.solution.solved[0] else "none"
            )
            if len(moments) < len(HIPS):
                knee, at_hip = found.part.moment[0, KNEE], found.part.moment[0, 0]
                moments.append(f"{knee:.0f}, {at_hip:.0f}")
        if about == "nothing":
            rows.append(("moment of knee and hip [N m]", *moments))
        rows.append((about, *cells))
    head = ("exchanged", *(f"hip at {hip:.0f}" for hip in HIPS))
    return table(head, rows)
