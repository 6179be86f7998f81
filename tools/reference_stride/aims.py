"""The least-squares problem: how far a stride is from what it is meant to be, and the slopes of that.

Every row is (value - aim) / spread; a floor or a band gives a row that is zero while it is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from frames import linearized
from series import Plan, inputs
from targets import TRANSLATIONS, aimed_angles, aimed_ground, bands, normative

from muscle_db.model import LEG_DOFS
from musclesolve.studies.synthetic.reference_stride import MIRROR, WRENCH

Array = np.ndarray

FRAMES = 60
"""Instants in half a stride; the other half is the mirror image."""

CALM = 3.0
"""Waves a stride above which leaving a curve costs more for its acceleration than for its size."""

MARGIN = 0.02
"""How far within its band a moment is wanted [N m/kg], so that it stays inside between the instants too."""

SPREAD = {
    "residual_force": 1.0,  # N
    "residual_moment": 0.5,  # N m
    "flat": 0.0012,  # m
    "rolling": 0.0025,  # m
    "leaving": 0.006,  # m
    "height": 0.001,  # m
    "force_forward": 0.012,  # body weights
    "force_left": 0.02,
    "force_vertical": 0.03,
    "path": 0.002,  # m
    "free_moment": 0.004,  # body weight meters
    "band": 0.01,  # N m/kg
    "moment": 0.6,  # standard deviations
    "bend_force": 0.01,  # body weights: third differences of the coefficients of the ground's wrench
    "bend_vertical": 0.03,
    "bend_moment": 0.0015,  # body weight meters
    "stride": 0.004,  # m
    "place": 0.01,  # m
}


@dataclass
class Rows:
    """Rows of the problem as they come."""

    values: list[Array] = field(default_factory=list)
    slopes: list[Array] = field(default_factory=list)

    def near(self, value: Array, slope: Array, spread: Array | float) -> None:
        """Rows for values (T,) that should be zero; slope (T, P)."""
        spread = np.broadcast_to(np.asarray(spread, float), value.shape)
        self.values.append(value / spread)
        self.slopes.append(slope / spread[:, None])

    def above(self, value: Array, slope: Array, spread: float) -> None:
        """Rows for values (T,) that should not be negative."""
        low = value < 0.0
        self.near(np.where(low, value, 0.0), slope * low[:, None], spread)


class Problem:
    """All rows for one person's stride."""

    def __init__(self, plan: Plan) -> None:
        """Prepare the linear maps and the curves to follow."""
        self.plan, self.person = plan, plan.person
        self.phase = 0.5 * np.arange(FRAMES) / FRAMES
        motion, wrench = inputs(plan.layout, self.phase)
        self.map = np.concatenate([motion, wrench], axis=1)
        self.varied = np.flatnonzero(np.abs(self.map).max(axis=(0, 2)) > 0.0)
        self.ground = aimed_ground(plan, np.concatenate([self.phase, self.phase + 0.5]))
        self.bands = bands()
        self.curves = normative()

    def rows(self, unknowns: Array) -> Rows:
        """Values and slopes at the unknowns (P,)."""
        given = self.map @ unknowns
        results, local = linearized(self.person, given, self.varied)
        slopes = np.einsum("trk,tkp->trp", local, self.map[:, self.varied])
        rows = Rows()
        self._follow(rows, unknowns)
        self._smooth(rows, unknowns)
        self._balance(rows, results, slopes)
        for side in range(2):
            self._contact(rows, unknowns, side, results[:, 6 * side :][:, :6], slopes[:, 6 * side :][:, :6])
            self._moments(rows, side, results[:, 12 + 7 * side :][:, :7], slopes[:, 12 + 7 * side :][:, :7])
            start = 3 * len(self.person.model.topology.dof_names) + 6 * side
            wrench = slice(start, start + 6)
            self._forces(
                rows, side, given[:, wrench] / self.person.weight, self.map[:, wrench] / self.person.weight
            )
        return rows

    def start(self) -> Array:
        """Unknowns that follow the normative curves, feet about where they should be."""
        unknowns, phase = np.zeros(self.plan.size), np.arange(200) / 200
        for name in self.plan.series:
            basis = self.plan.layout.basis(name, phase)
            unknowns[self.plan.slices[name]] = np.linalg.lstsq(basis, self._aim(name, phase), rcond=None)[0]
        standing = self.person.model.standing
        ball = standing[self.person.slot("toe_r")]
        unknowns[self.plan.slices["pelvis_tz"].start] = -ball[2] - 0.02
        unknowns[self.plan.slices["speed"]] = self._stride_length() / self.person.period
        unknowns[self.plan.slices["place"]] = [0.2 * self._stride_length() + ball[0], self._aimed_ball()]
        return unknowns

    def _stride_length(self) -> float:
        return float(self.plan.aims["gait"]["stride_length_m"])

    def _aimed_ball(self) -> float:
        """Return the place of the right ball beside the line of progression, for the wanted distance between the
        heels.
        """
        heel = 0.5 * float(self.plan.aims["gait"]["step_width_m"])
        return -heel - self.person.sole_length * float(np.sin(self.person.toe_out))

    def _aim(self, name: str, phase: Array) -> Array:
        tilt = float(self.plan.aims["gait"]["standing_tilt_deg"])
        return aimed_angles(name, self.plan.series[name], self.curves, phase, tilt)

    def _follow(self, rows: Rows, unknowns: Array) -> None:
        """Stay near the normative curves, the wanted stride length and step width."""
        phase = np.arange(2 * FRAMES) / (2 * FRAMES)
        for name, entry in self.plan.series.items():
            if name == "pelvis_tz":
                continue
            part, basis = self.plan.slices[name], self.plan.layout.basis(name, phase)
            slope = np.zeros((phase.size, self.plan.size))
            slope[:, part] = basis
            unit = 1.0 if name in TRANSLATIONS else np.deg2rad(1.0)
            aim = self._aim(name, phase)
            rows.near(basis @ unknowns[part] - aim, slope, entry["spread"] * unit)
            # Bending away from the curve: a deviation of `CALM` waves a stride costs as much again as its size does.
            best = np.linalg.lstsq(basis, aim, rcond=None)[0]
            bend = (
                self.plan.layout.basis(name, phase, order=2)
                * (self.person.period / (2.0 * np.pi * CALM)) ** 2
            )
            slope = np.zeros((phase.size, self.plan.size))
            slope[:, part] = bend
            rows.near(bend @ (unknowns[part] - best), slope, entry["spread"] * unit)
        unit_rows = np.eye(self.plan.size)
        speed, place = self.plan.slices["speed"], self.plan.slices["place"]
        length = unknowns[speed] * self.person.period - self._stride_length()
        rows.near(length, unit_rows[speed] * self.person.period, SPREAD["stride"])
        beside = slice(place.start + 1, place.stop)
        rows.near(unknowns[beside] - self._aimed_ball(), unit_rows[beside], SPREAD["place"])

    def _smooth(self, rows: Rows, unknowns: Array) -> None:
        """The ground's wrench does not wave more than it must: third differences of its coefficients."""
        for name in WRENCH:
            part = self.plan.slices[name]
            kind = "moment" if name.startswith("moment") else "vertical" if name == "force_up" else "force"
            count = part.stop - part.start
            # Zero before the first and after the last coefficient, as the wrench is.
            ends = np.pad(np.eye(count), ((1, 1), (0, 0)))
            slope = np.zeros((count - 1, self.plan.size))
            slope[:, part] = np.diff(ends, 3, axis=0)
            rows.near(slope @ unknowns, slope, SPREAD[f"bend_{kind}"])

    def _balance(self, rows: Rows, results: Array, slopes: Array) -> None:
        """Newton and Euler for the whole body: the ground alone supplies what the motion needs."""
        for component in range(6):
            spread = SPREAD["residual_force" if component < 3 else "residual_moment"]
            rows.near(results[:, 26 + component], slopes[:, 26 + component], spread)

    def _contact(self, rows: Rows, unknowns: Array, side: int, points: Array, slopes: Array) -> None:
        """The foot neither slips nor sinks while it is down, and clears the ground while it is not."""
        phase, settings = self.phase + 0.5 * side, self.plan.aims["contact"]
        place, slope = self._standing_place(unknowns, side)
        flat, heel_off, ball_off = (settings[key] for key in ("flat", "heel_off", "ball_off"))
        down = phase < self.person.toe_off
        spreads = (
            np.select([phase < flat, phase < heel_off], [SPREAD["rolling"], SPREAD["flat"]], np.inf),
            np.select(
                [phase < flat, phase < heel_off, phase < ball_off, down],
                [np.inf, SPREAD["flat"], SPREAD["rolling"], SPREAD["leaving"]],
                np.inf,
            ),
        )
        swing = np.clip((phase - self.person.toe_off) / (1.0 - self.person.toe_off), 0.0, 1.0)
        least = settings["clearance"] * np.sin(np.pi * swing) ** 0.5
        for k, spread in enumerate(spreads):
            held = np.isfinite(spread)
            for axis in range(3):
                column = 3 * k + axis
                off = points[held, column] - place[k, axis]
                rows.near(off, slopes[held, column] - slope[k, axis], spread[held])
            height, rise = points[~held, 3 * k + 2] - least[~held], slopes[~held, 3 * k + 2]
            rows.above(height, rise, SPREAD["height"])

    def _standing_place(self, unknowns: Array, side: int) -> tuple[Array, Array]:
        """Return the places of heel and ball of a foot (2, 3) [m], and the slopes (2, 3, P)."""
        place, speed = self.plan.slices["place"], self.plan.slices["speed"]
        slope = np.zeros((2, 3, self.plan.size))
        mirror = -1.0 if side else 1.0
        slope[:, 0, place.start] = 1.0
        slope[:, 1, place.start + 1] = mirror
        slope[:, 0, speed.start] = -0.5 * self.person.period * side
        where = slope @ unknowns
        where[0, 0] -= self.person.sole_length * np.cos(self.person.toe_out)
        where[0, 1] += mirror * self.person.sole_length * np.sin(self.person.toe_out)
        return where, slope

    def _forces(self, rows: Rows, side: int, wrench: Array, slopes: Array) -> None:
        """The ground reaction looks like a person's and acts under the foot, with little free moment."""
        down = (self.phase + 0.5 * side) < self.person.toe_off
        half = slice(FRAMES * side, FRAMES * (side + 1))
        aim, ahead = self.ground.force[half], self.ground.ahead[half]
        mirror = MIRROR if side else np.ones(6)
        wrench, slopes = (wrench * mirror)[down], (slopes * mirror[:, None])[down]
        aim, ahead = aim[down], ahead[down]
        for axis, name in enumerate(("forward", "left", "vertical")):
            rows.near(wrench[:, axis] - aim[:, axis], slopes[:, axis], SPREAD[f"force_{name}"])
        x, y = ahead * np.cos(self.person.toe_out), -ahead * np.sin(self.person.toe_out)
        # A force at (x, y) has these moments about the ball; what is left is force times distance from the path.
        spread = SPREAD["path"] * (aim[:, 2] + 0.015)
        for column, arm in ((3, y), (4, -x)):
            off = wrench[:, column] - arm * wrench[:, 2]
            rows.near(off, slopes[:, column] - arm[:, None] * slopes[:, 2], spread)
        turning = wrench[:, 5] - (x * wrench[:, 1] - y * wrench[:, 0])
        slope = slopes[:, 5] - (x[:, None] * slopes[:, 1] - y[:, None] * slopes[:, 0])
        rows.near(turning, slope, SPREAD["free_moment"])

    def _moments(self, rows: Rows, side: int, moments: Array, slopes: Array) -> None:
        """Joint moments are drawn to the published means and kept within their bands."""
        mass, phase = self.person.subject.mass, self.phase + 0.5 * side
        for name, band in self.bands.items():
            column = LEG_DOFS.index(name)
            value, slope = moments[:, column] / mass, slopes[:, column] / mass
            rows.near(value - band.mean(phase), slope, SPREAD["moment"] * band.deviation(phase))
            low, high = band.limits(phase)
            rows.above(value - low - MARGIN, slope, SPREAD["band"])
            rows.above(high - MARGIN - value, -slope, SPREAD["band"])
