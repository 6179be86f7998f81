"""The residual at the pelvis of one recorded trial, and its derivatives by masses, centers of mass, clock and plates.

With O the middle of the hips, the generalized force of the base, which nothing supplies, is (Newton and Euler):

    F = sum_b m_b (a_b - g) - sum_p F_p
    M = sum_b [(c_b - O) x m_b (a_b - g) + d(I_b w_b)/dt] - sum_p [M_p - O x F_p]

over bodies b and plates p, M_p about the global origin. A segment s has the mass exp(b_s) m and its center of mass is
moved by d_s along axes that rotate with it, so that with W = [alpha]x + [omega]x [omega]x and the rotation R

    a = a_0 + W R d        c = c_0 + R d        m = exp(b) m_0        d(I w)/dt = exp(b) (d(I w)/dt)_0

(the inertia about the center of mass is the parent's, in proportion to the mass). The plates with a clock that is
late by tau, a shift s of the point of force, and a vertical force with gain and zero give

    F_p(t) = F(t - tau) + ((gain - 1) Fz - gain zero) e_z,      M_p = M(t - tau) + s x F_p + p x e_z (...)

The measured motion depends on none of them. So residual and derivatives are closed forms, without finite differences;
they agree with `projected_moments` to round-off.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import Array, Mask, grouped, true_runs
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.inverse.newton_euler import angular_momentum_rate, segment_motion, turned_inertia
from musclesolve.laboratory.analysis.mechanics import Mechanics
from musclesolve.laboratory.checks.forces.newtons_law import measured
from musclesolve.laboratory.motion.ground_reaction import wrench_at_origin
from musclesolve.laboratory.motion.motion_plausibility import without_joint_jump
from musclesolve.laboratory.recording.axes import rotation_of
from musclesolve.laboratory.recording.data import SIDES, PlateForce, Trial
from musclesolve.laboratory.trial.plates.foot_forces import plate_numbers

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

GROUPS = {
    "trunk": ("upper_torso",),
    "pelvis": ("lower_torso",),
    "head": ("head",),
    "thighs": ("thigh_r", "thigh_l"),
    "shanks": ("shank_r", "shank_l"),
    "feet": ("foot_r", "foot_l"),
    "upper arms": ("upper_arm_r", "upper_arm_l"),
    "forearms": ("forearm_r", "forearm_l"),
    "hands": ("hand_r", "hand_l"),
}
"""Segments whose masses have one factor."""
MOVED = ("trunk", "pelvis")
"""Groups whose center of mass is fitted."""
SHIFT_AXES = {"forward": 0, "left": 1, "up": 2}
"""Axes of the standing pose, along which centers of mass are moved."""
SHORTEST_PIECE, LONGEST_PIECE = 0.3, 2.0
"""Length of the pieces into which the frames of a trial are divided [s]."""
TURNED, LEVER = ("upper_torso", "lower_torso"), 0.15
"""Segments whose orientation has errors, too, and the distance of the markers that show it [m]."""
MASS, CENTER, CLOCK, SHIFT, GAIN, ZERO = "mass", "center_of_mass", "clock", "shift", "gain", "zero"
"""Quantities that are fitted: ln of a mass factor, [m], [s], [m], ln of a gain, [N]."""
BODY = (MASS, CENTER)
"""Quantities of the body; the others are of the plates of a session."""


@dataclass(frozen=True)
class BodyParameter:
    """One number that is fitted; its prior is normal about 0.

    quantity: one of MASS to ZERO; of: the group of segments, or the plate ("" for a clock); axis: of the standing pose,
    or of the files; session: "" for the body; sd: of the prior, in SI or of a logarithm. free: whether trials may move
    it; else it stays at its prior, and its uncertainty widens the intervals of the others.
    """

    quantity: str
    of: str
    axis: str
    session: str
    sd: float
    free: bool = True


@dataclass(frozen=True)
class _Plate:
    """One plate under one foot: filtered wrench about the global origin and its two vertical parts, as splines (18)."""

    name: str
    spline: "CubicSpline"

    def at(self, time: Array) -> list[Array]:
        """The parts (F, 3, 6) and their rates: the wrench, the wrench of the vertical force alone, and of 1 N."""
        inside = np.clip(time, *self.spline.x[[0, -1]])
        return [self.spline(inside, order).reshape(-1, 3, 6) for order in (0, 1)]


@dataclass(frozen=True)
class TrialResidual:
    """Terms of the residual of a piece of a trial: F consecutive frames, in which everything is measured.

    time (F,) [s]; per body b: mass (B,) [kg], push a - g (F, B, 3) [m/s2], arm c - O (F, B, 3) [m], rotation and spin W
    (F, B, 3, 3), momentum_rate d(I w)/dt (F, B, 3) [N m], inertia (F, B, 3, 3) [kg m2]; origin O (F, 3) [m]; axes
    (3, 3): the axes of the files in the global frame, as rows.
    """

    name: str
    trial: Trial
    mechanics: Mechanics
    session: str
    time: Array
    origin: Array
    mass: Array
    segment: tuple[str, ...]
    group: tuple[str, ...]
    push: Array
    arm: Array
    rotation: Array
    spin: Array
    momentum_rate: Array
    inertia: Array
    plates: tuple[_Plate, ...]
    axes: Array

    @property
    def plate_names(self) -> tuple[str, ...]:
        """Names of the plates, each once."""
        return tuple(dict.fromkeys(plate.name for plate in self.plates))

    @property
    def horizontal(self) -> tuple[str, str]:
        """Names of the two axes of the files that are horizontal."""
        flat = [name for name, axis in zip("xyz", self.axes, strict=True) if abs(axis[2]) < 0.5]
        return flat[0], flat[1]

    @property
    def load(self) -> Array:
        """Vertical force of all plates, (F,) [N]."""
        return np.sum([plate.at(self.time)[0][:, 0, 2] for plate in self.plates], axis=0)

    def pieces(self, used: Mask) -> "list[TrialResidual]":
        """The used frames (F,), in pieces without holes, of `SHORTEST_PIECE` to `LONGEST_PIECE` seconds."""
        arrays = ("time", "origin", "push", "arm", "rotation", "spin", "momentum_rate", "inertia")
        rate, pieces = self.trial.markers.rate, []
        for first, stop in true_runs(used):
            parts = max(1, math.ceil((stop - first) / (LONGEST_PIECE * rate)))
            ends = np.linspace(first, stop, parts + 1).round().astype(int)
            for start, end in pairwise(ends.tolist()):
                if end - start >= SHORTEST_PIECE * rate:
                    cut = slice(start, end)
                    pieces.append(replace(self, **{name: getattr(self, name)[cut] for name in arrays}))
        return pieces

    def at(self, parameters: Sequence[BodyParameter], values: Array) -> tuple[Array, Array]:
        """Residual (F, 6) [N, N m] at the values (P,) of parameters, and its derivatives (F, 6, P)."""
        keys = [(one.quantity, one.of, one.axis, one.session) for one in parameters]
        theta = dict(zip(keys, values, strict=True))
        ours = {key: column for column, key in enumerate(keys) if key[3] in ("", self.session)}
        residual, slope = np.zeros((len(self.time), 6)), np.zeros((len(self.time), 6, len(parameters)))
        self._add_body(theta, ours, residual, slope)
        self._add_plates(theta, ours, residual, slope)
        return residual, slope

    def errors_of_motion(self, cutoff: float, sd: float) -> Array:
        """Return the effect of errors of the measured motion on the residual, (F, 6, k), each column one standard
        deviation.

        The center of mass of each segment moves by an error n(t), trunk and pelvis also turn about theirs by phi(t):
        sums of cosines over the frames up to a cut-off [Hz], of root mean square sd [m], and sd / `LEVER` [rad]:

            dF = m n'',    dM = (c - O) x m n'' + n x m (a - g) + I phi''
        """
        clock = self.time - self.time[0]
        count = max(1, int(2.0 * cutoff * clock[-1]))
        wave = np.pi * np.arange(1, count + 1) / clock[-1]
        basis = sd * np.sqrt(2.0 / count) * np.cos(clock[:, None] * wave)
        columns = [
            self._error_of_segment(bodies, basis, wave, segment in TURNED)
            for segment, bodies in grouped((of, b) for b, of in enumerate(self.segment)).items()
        ]
        return np.concatenate(columns, axis=2)

    def _error_of_segment(self, bodies: list[int], basis: Array, wave: Array, turned: bool) -> Array:
        """The columns (F, 6, k) of one segment: errors of its center, and of its orientation where wanted."""
        mass, columns = self.mass[bodies], []
        arm = np.einsum("b,tbx->tx", mass, self.arm[:, bodies])
        push = np.einsum("b,tbx->tx", mass, self.push[:, bodies])
        inertia = self.inertia[:, bodies].sum(axis=1)
        rate = -basis * wave**2
        for axis in np.eye(3):
            force = mass.sum() * np.broadcast_to(axis, arm.shape)[:, :, None] * rate[:, None]
            moment = np.cross(arm, axis)[:, :, None] * rate[:, None]
            moment = moment + np.cross(axis, push)[:, :, None] * basis[:, None]
            columns.append(np.concatenate([force, moment], axis=1))
            if turned:
                twist = (inertia @ axis)[:, :, None] * rate[:, None] / LEVER
                columns.append(np.concatenate([np.zeros_like(twist), twist], axis=1))
        return np.concatenate(columns, axis=2)

    def _add_body(
        self, theta: "dict[_Key, float]", ours: "dict[_Key, int]", residual: Array, slope: Array
    ) -> None:
        """Add the forces that the masses need (equations of the module docstring)."""
        mass = self.mass * np.exp([theta.get((MASS, group, "", ""), 0.0) for group in self.group])
        moved = np.array(
            [[theta.get((CENTER, group, axis, ""), 0.0) for axis in SHIFT_AXES] for group in self.group]
        )
        offset = np.einsum("tbxy,by->tbx", self.rotation, moved)
        arm = self.arm + offset
        push = self.push + np.einsum("tbxy,tby->tbx", self.spin, offset)
        force = mass[:, None] * push
        grown = (mass / np.where(self.mass > 0.0, self.mass, 1.0))[:, None] * self.momentum_rate
        wrench = np.concatenate([force, np.cross(arm, force) + grown], axis=2)
        residual += wrench.sum(axis=1)
        for (quantity, of, axis, _), column in ours.items():
            if quantity not in BODY:
                continue
            bodies = [b for b, group in enumerate(self.group) if group == of]
            if quantity == MASS:
                slope[:, :, column] += wrench[:, bodies].sum(axis=1)
            else:
                step = self.rotation[:, bodies][..., SHIFT_AXES[axis]]
                pushed = np.einsum("tbxy,tby->tbx", self.spin[:, bodies], step)
                turned = np.cross(step, push[:, bodies]) + np.cross(arm[:, bodies], pushed)
                both = mass[bodies, None] * np.concatenate([pushed, turned], axis=2)
                slope[:, :, column] += both.sum(axis=1)

    def _add_plates(
        self, theta: "dict[_Key, float]", ours: "dict[_Key, int]", residual: Array, slope: Array
    ) -> None:
        """Subtract the forces of the plates."""
        late = theta.get((CLOCK, "", "", self.session), 0.0)
        for plate in self.plates:
            gain = np.exp(theta.get((GAIN, plate.name, "", self.session), 0.0))
            zero = theta.get((ZERO, plate.name, "", self.session), 0.0)
            shift = np.zeros(3)
            for axis in self.horizontal:
                by = theta.get((SHIFT, plate.name, axis, self.session), 0.0)
                shift += by * self.axes["xyz".index(axis)]
            weights = np.array([1.0, gain - 1.0, -gain * zero])
            parts, rates = plate.at(self.time - late)

            def about_hips(wrench: Array, shift: Array = shift) -> Array:
                """The wrench of the shifted plate about O."""
                force, moment = wrench[:, :3], wrench[:, 3:]
                return np.concatenate([force, moment + np.cross(shift - self.origin, force)], axis=1)

            wrench = np.einsum("p,tpx->tx", weights, parts)
            residual -= about_hips(wrench)
            changes = {(CLOCK, "", "", self.session): -np.einsum("p,tpx->tx", weights, rates)}
            changes[GAIN, plate.name, "", self.session] = gain * (parts[:, 1] - zero * parts[:, 2])
            changes[ZERO, plate.name, "", self.session] = -gain * parts[:, 2]
            for key, change in changes.items():
                if key in ours:
                    slope[:, :, ours[key]] -= about_hips(change)
            for axis in self.horizontal:
                if (column := ours.get((SHIFT, plate.name, axis, self.session))) is not None:
                    slope[:, 3:, column] -= np.cross(self.axes["xyz".index(axis)], wrench[:, :3])


_Key = tuple[str, str, str, str]


def trial_pieces(trial: Trial, recorded: Mechanics) -> list[TrialResidual]:
    """The residual of a recorded trial in pieces in which all contacts are measured.

    Frames with jumping joints, or with a residual force that makes a frame invalid, are left out, too.
    """
    model, motion = recorded.model, recorded.motion
    held = np.interp(motion.time, trial.markers.time, measured(trial).astype(float)) > 0.5
    for side in SIDES:
        held &= trial.measured(side, motion.time)
    held &= without_joint_jump(recorded.joint_rotations, motion.time)
    joints = model.tree.joint_count
    residual = projected_moments(model, motion, recorded.wrenches)[:, joints : joints + 3]
    weight = model.weight
    held &= np.linalg.norm(residual, axis=1) <= recorded.balance_limit * weight
    segments = segment_motion(model, motion)
    bodies = np.flatnonzero(model.mass.mass > 0.0)
    spin = _cross_matrix(segments.velocity[:, bodies])
    group_of = {segment: group for group, members in GROUPS.items() for segment in members}
    axes = rotation_of(trial.document, trial.settings.laboratory).T
    up = "xyz"[int(np.argmax(np.abs(axes[:, 2])))]
    whole = TrialResidual(
        name=trial.path.name,
        trial=trial,
        mechanics=recorded,
        session=f"{trial.forces[0].path.parent}, {trial.forces[0].path.suffix.lstrip('.').lower()}, {up} up",
        time=motion.time,
        origin=motion.origin,
        mass=model.mass.mass[bodies],
        segment=tuple(model.topology.bodies[body].segment for body in bodies),
        group=tuple(group_of[model.topology.bodies[body].segment] for body in bodies),
        push=segments.center_acceleration[:, bodies] - model.gravity,
        arm=segments.center[:, bodies] - motion.origin[:, None],
        rotation=segments.rotation[:, bodies],
        spin=_cross_matrix(segments.acceleration[:, bodies]) + spin @ spin,
        momentum_rate=angular_momentum_rate(model, segments, bodies),
        inertia=turned_inertia(model, segments, bodies),
        plates=tuple(
            _plate_spline(trial, recorded, number, plate)
            for number, plate in zip(plate_names(trial), trial.forces, strict=True)
        ),
        axes=axes,
    )
    return whole.pieces(held)


def plate_names(trial: Trial) -> list[str]:
    """Name of each plate, the same in all trials of a session: its number in a C3D file, or its columns of force."""
    names = []
    for number, plate in zip(plate_numbers(trial.forces), trial.forces, strict=True):
        if plate.number is not None:
            names.append(f"plate {number}")
        else:
            columns = trial.document.content["force"][number - 1]["force"]
            names.append(f"plate {columns if isinstance(columns, str) else columns[0]}")
    return names


def _plate_spline(trial: Trial, recorded: Mechanics, name: str, plate: PlateForce) -> _Plate:
    """The wrench of a plate filtered as by `ground_reactions`, the wrench of its vertical force, and of 1 N up."""
    from scipy.interpolate import CubicSpline

    wrench = wrench_at_origin(plate, trial.unloaded_below)
    loaded = wrench[:, 2] != 0.0
    point = np.where(loaded[:, None], plate.point, 0.0)
    up = np.zeros_like(wrench)
    up[:, 2], up[:, 3], up[:, 4] = loaded, point[:, 1], -point[:, 0]
    parts = np.concatenate([wrench, wrench[:, 2:3] * up, up], axis=1)
    smooth = recorded.measured.filter.smooth_force(parts, plate.rate)
    return _Plate(name, CubicSpline(plate.time, smooth, axis=0))


def _cross_matrix(vector: Array) -> Array:
    """[v]x (..., 3, 3) of vectors (..., 3): [v]x u = v x u."""
    return np.swapaxes(np.cross(vector[..., None, :], np.eye(3)), -1, -2)
