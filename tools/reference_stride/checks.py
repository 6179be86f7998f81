"""Properties of the finished stride, in figures, and their limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import find_peaks
from series import Plan
from targets import TRANSLATIONS, WITHIN, aimed_angles, aimed_ground, bands, normative, spreads

from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.rigid_body import Wrench
from musclesolve.studies.synthetic.reference_stride import ReferenceStride, StrideSubject

Array = np.ndarray

INSTANTS = 520
"""Phases of the stride at which it is judged; a multiple of the half-stride symmetry."""

LOADED = 2.0
"""Vertical force from which on the foot counts as loaded [N]."""


@dataclass(frozen=True)
class Check:
    """A figure and the range it must lie in."""

    name: str
    value: float
    low: float
    high: float
    unit: str

    @property
    def kept(self) -> bool:
        """Whether the figure lies in its range."""
        return self.low <= self.value <= self.high

    def __str__(self) -> str:
        """One line of the report."""
        mark = "  " if self.kept else "!!"
        return f"{mark} {self.name:<58} {self.value:9.3f} {self.unit:<10} [{self.low:g}, {self.high:g}]"


@dataclass(frozen=True)
class Judged:
    """A stride at the phases at which it is judged: right foot's wrench, joint and base loads with both wrenches."""

    plan: Plan
    stride: ReferenceStride
    phase: Array
    motion: Motion
    wrench: Wrench
    moments: Array
    residual: Array

    @property
    def person(self) -> StrideSubject:
        """The subject."""
        return self.plan.person


def judge(plan: Plan, stride: ReferenceStride) -> Judged:
    """Evaluate a stride."""
    phase = np.arange(INSTANTS) / INSTANTS
    time = phase * stride.period
    return Judged(
        plan,
        stride,
        phase,
        stride.motion(time),
        stride.wrenches(time)[0],
        stride.joint_moments(time),
        stride.pelvis_residual(time),
    )


def all_checks(judged: Judged) -> list[Check]:
    """Every figure of the stride."""
    return [*gait(judged), *ground(judged), *feet(judged), *moments(judged), *closeness(judged)]


def gait(judged: Judged) -> list[Check]:
    """Length and speed of the stride, path of the pelvis."""
    stride, motion, joints = judged.stride, judged.motion, judged.person.model.tree.joint_count
    across, up = motion.coordinates[:, joints + 1], motion.coordinates[:, joints + 2]
    speed = motion.rates[:, joints]
    place = stride.coefficients[judged.plan.slices["place"]]
    heel = -place[1] - judged.person.sole_length * np.sin(judged.person.toe_out)
    return [
        Check("stride length", stride.length, 1.3, 1.5, "m"),
        Check("mean speed", stride.length / judged.person.period, 1.2, 1.4, "m/s"),
        Check(
            "largest departure from the mean speed",
            float(np.abs(speed - speed.mean()).max()),
            0.0,
            0.25,
            "m/s",
        ),
        Check("pelvis up and down", 1000 * float(np.ptp(up)), 25, 50, "mm"),
        Check("pelvis to and fro sideways", 1000 * float(np.ptp(across)), 25, 50, "mm"),
        Check("step width between the heels", 2000 * float(heel), 60, 140, "mm"),
    ]


def ground(judged: Judged) -> list[Check]:
    """Ground reaction of the right foot."""
    weight, phase, stride = judged.person.weight, judged.phase, judged.stride
    force = judged.wrench.force / weight
    early, middle, late = phase < 0.22, (phase > 0.2) & (phase < 0.42), (phase > 0.4) & (phase < 0.62)
    off = force - aimed_ground(judged.plan, phase).force
    fitted = [stride.fitted(judged.motion, side) for side in range(2)]
    joints = stride.model.tree.joint_count
    missed = np.abs(projected_moments(stride.model, judged.motion, fitted)[:, joints:]).max(axis=0)
    return [
        Check("pelvis residual", float(np.abs(judged.residual).max()), 0.0, 1e-6, "N, N m"),
        Check("force that the splines miss", float(missed[:3].max()), 0.0, 12.0, "N"),
        Check("moment that the splines miss", float(missed[3:].max()), 0.0, 4.0, "N m"),
        Check("mean vertical force, both feet", 2.0 * float(force[:, 2].mean()), 0.999, 1.001, "BW"),
        Check("least vertical force", float(force[:, 2].min()), 0.0, 0.001, "BW"),
        Check("vertical force, first peak", float(force[early, 2].max()), 1.0, 1.2, "BW"),
        Check("vertical force, trough", float(force[middle, 2].min()), 0.65, 0.85, "BW"),
        Check("vertical force, second peak", float(force[late, 2].max()), 1.0, 1.2, "BW"),
        Check("humps of the vertical force", humps(force[:, 2]), 2, 2, ""),
        Check("braking peak", float(force[early, 0].min()), -0.26, -0.14, "BW"),
        Check("propulsion peak", float(force[late, 0].max()), 0.16, 0.28, "BW"),
        Check("vertical force leaves Winter's, rms", rms(off[:, 2]), 0.0, 0.07, "BW"),
        Check("forward force leaves Winter's, rms", rms(off[:, 0]), 0.0, 0.03, "BW"),
        *sole(judged),
    ]


def sole(judged: Judged) -> list[Check]:
    """Check the point of the force on the right foot, and the moment about the vertical there.

    Mean velocity of the center of pressure: 31.6 (SD 5.3) cm/s (Chiu, Wu, Chang 2013, Gait Posture 37:43-48).
    """
    ahead, left, turning, loaded = pressure(judged)
    foot, path = judged.person.settings["foot"], ahead[loaded]
    velocity = (path.max() - path.min()) / (np.ptp(judged.phase[loaded]) * judged.stride.period)
    width = 1000 * foot["half_width"]
    return [
        Check(
            "pressure behind the ball at most", -1000 * path.min(), 0, 1000 * judged.person.sole_length, "mm"
        ),
        Check("pressure ahead of the ball at most", 1000 * path.max(), 0, 1000 * foot["tip"], "mm"),
        Check("pressure beside the middle of the foot", 1000 * np.abs(left[loaded]).max(), 0, width, "mm"),
        Check("pressure goes back by at most", 1000 * float(goes_back(path)), 0, 5, "mm"),
        Check("mean velocity of the pressure", 100 * float(velocity), 21.0, 42.2, "cm/s"),
        Check("free moment", float(np.abs(turning[loaded]).max()), 0.0, 8.0, "N m"),
    ]


def rms(values: Array) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def goes_back(path: Array) -> float:
    """The longest way back on a path that should lead forward."""
    return float((np.maximum.accumulate(path) - path).max())


def humps(curve: Array) -> int:
    """Return the number of maxima of a curve over the stride that stand out by 2 % of its largest."""
    return len(find_peaks(curve, prominence=0.02 * curve.max())[0])


def pressure(judged: Judged) -> tuple[Array, Array, Array, Array]:
    """Center of pressure ahead of the ball and left of the midline [m], free moment [N m], loaded or not (right)."""
    force, moment = judged.wrench.force, judged.wrench.moment
    loaded = force[:, 2] > LOADED
    vertical = np.where(loaded, force[:, 2], 1.0)
    point = np.stack([-moment[:, 1], moment[:, 0]], axis=1) / vertical[:, None]
    away = point - judged.stride.coefficients[judged.plan.slices["place"]]
    sine, cosine = np.sin(judged.person.toe_out), np.cos(judged.person.toe_out)
    turning = moment[:, 2] - point[:, 0] * force[:, 1] + point[:, 1] * force[:, 0]
    return away @ [cosine, -sine], away @ [sine, cosine], turning, loaded


def feet(judged: Judged) -> list[Check]:
    """Slip, sinking and clearance of the right foot."""
    person, phase, q = judged.person, judged.phase, judged.motion.q
    heel, ball = q[:, person.slot("heel_r")], q[:, person.slot("toe_r")]
    contact = judged.plan.aims["contact"]
    flat = (phase > contact["flat"]) & (phase < contact["heel_off"])
    rolling = (phase > contact["heel_off"]) & (phase < contact["ball_off"])
    swing = (phase > 0.75) & (phase < 0.9)

    def wander(point: Array, when: Array) -> float:
        return 1000 * float(np.linalg.norm(point[when] - point[flat].mean(axis=0), axis=1).max())

    return [
        Check("heel wanders while the foot is flat", wander(heel, flat), 0, 10, "mm"),
        Check("ball wanders while the foot is flat", wander(ball, flat), 0, 10, "mm"),
        Check("ball wanders while the foot rolls over it", wander(ball, rolling), 0, 15, "mm"),
        Check(
            "lowest height of heel or ball",
            1000 * float(min(heel[:, 2].min(), ball[:, 2].min())),
            -4,
            1,
            "mm",
        ),
        Check(
            "clearance in mid-swing",
            1000 * float(min(heel[swing, 2].min(), ball[swing, 2].min())),
            8,
            60,
            "mm",
        ),
    ]


def moments(judged: Judged) -> list[Check]:
    """Check by how much the joint moments of the right leg leave their bands, and how near they stay to the means."""
    found = []
    for name, band in bands().items():
        curve = judged.moments[:, judged.stride.dof_names.index(f"{name}_r")] / judged.person.subject.mass
        low, high = band.limits(judged.phase)
        outside = float(np.maximum(low - curve, curve - high).max())
        found.append(Check(f"{name} moment outside its band by at most", outside, -9.0, 0.0, "N m/kg"))
        away = rms((curve - band.mean(judged.phase)) / band.deviation(judged.phase))
        found.append(Check(f"{name} moment leaves the mean by, rms", away, 0.0, 1.1, "SD"))
    return found


def closeness(judged: Judged) -> list[Check]:
    """Check by how much each series leaves the curve it follows."""
    plan, found = judged.plan, []
    curves, deviations, tilt = normative(), spreads(), float(plan.aims["gait"]["standing_tilt_deg"])
    for name, entry in plan.series.items():
        if name in TRANSLATIONS or "follows" not in entry:
            continue
        value = plan.layout.basis(name, judged.phase) @ judged.stride.coefficients[plan.slices[name]]
        off = np.abs(np.rad2deg(value - aimed_angles(name, entry, curves, judged.phase, tilt)))
        label = f"{name} leaves the curve by at most"
        if entry["follows"] in deviations:
            off = off / deviations[entry["follows"]](judged.phase)
            found.append(Check(label, float(off.max()), 0, WITHIN, "SD"))
        else:
            found.append(Check(label, float(off.max()), 0, 9, "deg"))
    return found
