"""Joint moments at heel strike by cut-offs of markers and forces, on a walk with impacts whose truth is known.

    python -m benchmarks.heel_strike [TRIAL ...]

The impact: right after heel strike the ground pushes the heel forward and upward for 40 ms, as on a treadmill where
the foot lands faster than the belt. Hip and knee answer as free hinges, so that their true moments hardly change, while
the foot is stopped. With q0(t) the bundled stride, s its reaction to the push and g'' a bump of 40 ms, less two slow
ones that bring velocity and place back to zero,

    q(t) = q0(t) + s g(t),

exact in all derivatives; the ground force of the striking foot follows from Newton's law, nothing being left at the
pelvis. Both legs alike, half a stride apart.

Of recorded trials, named by their files, the table has the measures that need no truth: the force that is missing at
the pelvis in the first 80 ms after heel strikes. A last table has how late heel strikes by markers are, by published
methods, beside the strikes of the plates and of the files.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.arguments import command_line, input_file
from benchmarks.timing import console
from musclesolve._util.arrays import true_runs
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_from
from musclesolve.forces import mechanics, recording_of
from musclesolve.motion.events.force_events import FootLoads, force_events
from musclesolve.motion.events.gait_events import gait_events
from musclesolve.motion.events.marker_events import LANDS, SHORTEST_PERIOD, SHORTEST_SWING, Walk, maxima, walk
from musclesolve.motion.signals.low_pass import low_pass
from musclesolve.pipeline.mechanics import Mechanics, measured_moments
from musclesolve.recording.data import SIDES, Side, Trial
from musclesolve.recording.plates.foot_contacts import ground_velocity
from musclesolve.synthetic.reference_stride import ReferenceStride, reference_stride
from musclesolve.synthetic.synthetic_recording import recording_files

Array = NDArray[np.float64]

PUSH = (0.1, 0.0, 0.15)
"""Peak of the impact, forward, left and up [body weights]: what two people on a treadmill show."""
IMPACT = (0.0, 0.04)
RETURN = ((0.0, 0.3), (0.08, 0.42))
"""When the impact begins and ends, and the slow bumps that take its motion back [s]."""
FREE = ("hip_flexion", "knee_flexion")
"""Joints of the leg that give way; the ankle is held."""
STRIKE = 0.08
"""How long after a heel strike counts as heel strike [s]."""
DOFS = ("hip_flexion", "hip_adduction", "knee_flexion", "ankle_dorsiflexion")
PAIRS: list[tuple[float | str, float | None]] = [
    *((6, forces) for forces in (6, 10, 15, 25, 50)),
    *((10, forces) for forces in (10, 25)),
    *((15, forces) for forces in (15, 50)),
    (20, 20),
    ("residual_analysis", None),
    ("residual_analysis", 20),
]
"""Cut-offs of markers and forces [Hz]; None: the forces have that of the feet's markers."""
CUTOFFS_OF_EVENTS = (6, 8, 10, 15, 20)
"""Cut-offs of the markers of the feet for the methods that find heel strikes [Hz]."""
GROUND_SPEED, SAME_STRIKE = 0.5, 0.2
"""Speed of a heel on the ground [m/s], and longest time between one strike by two sources [s]."""
MARKER_RATE, FORCE_RATE, NOISE_MM = 120.0, 1200.0, 1.0


def bump(time: Array, first: float, last: float, order: int) -> Array:
    """sin^2 from `first` to `last`, or its first (order 1) or second (order 0) integral from the beginning."""
    rate, within = 2.0 * np.pi / (last - first), np.clip(time - first, 0.0, last - first)
    if order == 2:
        return 0.5 - 0.5 * np.cos(rate * within)
    if order == 1:
        return 0.5 * within - np.sin(rate * within) / (2.0 * rate)
    after = 0.5 * (last - first) * np.maximum(time - last, 0.0)
    return after + 0.25 * within**2 + (np.cos(rate * within) - 1.0) / (2.0 * rate**2)


def course(time: Array, order: int) -> Array:
    """g, its first or its second derivative (order 0, 1, 2) at times (T,) after heel strike [s]."""
    end = 1.0  # after all of it
    left = np.array([[bump(np.array(end), *slow, k) for slow in RETURN] for k in (1, 0)])
    factors = np.linalg.solve(left, [bump(np.array(end), *IMPACT, k) for k in (1, 0)])
    slow = sum(factor * bump(time, *each, order) for factor, each in zip(factors, RETURN, strict=True))
    return bump(time, *IMPACT, order) - slow


@dataclass(frozen=True)
class ImpactStride(ReferenceStride):
    """The bundled stride with an impact at every heel strike, `size` times `PUSH`."""

    size: float = 1.0

    @cached_property
    def base(self) -> ReferenceStride:
        """The stride without impacts."""
        return ReferenceStride(self.layout, self.coefficients)

    @cached_property
    def reactions(self) -> dict[str, Array]:
        """Acceleration (K + 6,) of the coordinates by the peak of the push on each foot, the other joints held."""
        found: dict[str, Array] = {}
        for side, lag in zip(SIDES, (0.0, 0.5 * self.period), strict=True):
            time = np.array([lag + 0.5 * sum(IMPACT)])
            place, rate, second = (self.base.coordinates(time, order) for order in range(3))
            model, joints = self.model, self.model.tree.joint_count
            free = [
                model.dof(name) for name in (*(f"{dof}_{side}" for dof in FREE), "pelvis_tx", "pelvis_tz")
            ]
            # Generalized forces of the hinges, and what is left at the pelvis, forward and up.
            rows = [*free[:2], joints, joints + 2]

            def needed(
                second: Array, *push: Wrench, place: Array = place, rate: Array = rate, time: Array = time
            ) -> Array:
                return projected_moments(
                    self.model, motion_from(self.model, time, place, rate, second), [*push]
                )[0]

            still = needed(second)
            unit = np.eye(len(still))[free]
            inertia = np.stack([(needed(second + each) - still)[rows] for each in unit], axis=1)
            force = self.size * self.person.weight * np.array([PUSH])
            heel = self.base.motion(time).q[:, self.person.slot(f"heel_{side}")]
            push = (needed(second, Wrench(f"foot_{side}", force, np.cross(heel, force))) - still)[rows]
            found[side] = np.zeros(len(still))
            found[side][free] = np.linalg.solve(inertia, -push)
        return found

    def _since_strike(self, time: Array) -> list[Array]:
        return [np.mod(time - lag, self.period) for lag in (0.0, 0.5 * self.period)]

    def coordinates(self, time: Array, order: int = 0) -> Array:
        """Joint and base coordinates (T, K + 6), or their derivatives, at times (T,) [s]."""
        time = np.asarray(time, float)
        moved = super().coordinates(time, order)
        for side, since in zip(SIDES, self._since_strike(time), strict=True):
            moved = moved + course(since, order)[:, None] * self.reactions[side]
        return moved

    def _balanced(self, motion: Motion) -> list[Wrench]:
        """Return the forces of the ground on both feet: the impact belongs to the foot that struck last."""
        wrenches = self.base.wrenches(motion.time)
        rest = projected_moments(self.model, motion, wrenches)[:, self.model.tree.joint_count :]
        moment = rest[:, 3:] + np.cross(motion.origin, rest[:, :3])
        found = []
        for wrench, since in zip(wrenches, self._since_strike(motion.time), strict=True):
            on = (since < 0.5 * self.period)[:, None]
            found.append(Wrench(wrench.body, wrench.force + on * rest[:, :3], wrench.moment + on * moment))
        return found


def moments(trial: Trial, markers: float | str, forces: float | None) -> tuple[Mechanics, Array]:
    """Mechanics and generalized forces (T, K + 6) [N m, N] of a trial with such cut-offs."""
    how = {"cutoff_hz": markers} | ({} if forces is None else {"force_cutoff_hz": forces})
    found = mechanics(trial.with_settings(filter=how))
    return found, measured_moments(trial, found.model, found.motion, found.wrenches)


def report_truth(size: float) -> None:
    """Print the errors of joint moments of a synthetic walk."""
    base = reference_stride()
    stride = ImpactStride(base.layout, base.coefficients, size)
    files = recording_files(
        stride, seed=1, strides=2, noise_mm=NOISE_MM, marker_rate_hz=MARKER_RATE, force_rate_hz=FORCE_RATE
    )
    table = Table(title=f"impact x {size:g}: error, at heel strike, of the peak at heel strike [N m/kg]")
    for heading in ("markers [Hz]", "forces [Hz]", *DOFS):
        table.add_column(heading, no_wrap=True)
    with tempfile.TemporaryDirectory() as name:
        for file, content in files.items():
            (Path(name) / file).write_bytes(content)
        trial = recording_of(Path(name) / "trial.toml", "this benchmark")
    mass, names = trial.subject.mass, list(stride.dof_names)
    for markers, forces in PAIRS:
        found, computed = moments(trial, markers, forces)
        time = found.motion.time - trial.time_range[0]
        true = stride.joint_moments(time)
        cells = []
        for dof in DOFS:
            errors, at_strike, peaks = [], [], []
            for side, since in zip(SIDES, stride._since_strike(time), strict=True):
                own = computed[:, found.model.dof(f"{dof}_{side}")] / mass
                truth, struck = true[:, names.index(f"{dof}_{side}")] / mass, since < STRIKE
                peak = np.min if dof == "hip_flexion" else np.max
                errors.append(own - truth)
                at_strike.append((own - truth)[struck])
                peaks.append(peak(own[struck]) - peak(truth[struck]))
            cells.append(f"{_rms(errors):.3f} {_rms(at_strike):.3f} {np.mean(peaks):+.2f}")
        table.add_row(f"{markers}", f"{forces or 'the same'}", *cells)
    console.print(table)


def report_residual(file: Path) -> None:
    """Print what a recorded trial leaves at the pelvis."""
    trial = recording_of(file, "this benchmark")
    strikes = [event.time for side in SIDES for event in gait_events(trial).of("heel_strike", side)]
    table = Table(title=f"{file.parent.name}/{file.name}: force missing at the pelvis [body weights]")
    for heading in ("markers [Hz]", "forces [Hz]", "at heel strike", "forward, largest", "elsewhere"):
        table.add_column(heading, no_wrap=True)
    for markers, forces in PAIRS[:8]:
        found, computed = moments(trial, markers, forces)
        joints = found.model.tree.joint_count
        residual = computed[:, joints : joints + 3] / (trial.subject.mass * STANDARD_GRAVITY)
        since = found.motion.time[:, None] - np.array(strikes)
        struck = ((since >= 0.0) & (since < STRIKE)).any(axis=1)
        size = np.linalg.norm(residual, axis=1)
        cells = _rms([size[struck]]), np.nanmax(np.abs(residual[struck, 0])), _rms([size[~struck]])
        table.add_row(f"{markers}", f"{forces}", *(f"{cell:.3f}" for cell in cells))
    console.print(table)


def strikes_by_methods(walking: Walk) -> dict[str, list[tuple[Side, float, float]]]:
    """Return by method: the side, the time of the turn of the heel [s], and the heel strike [s] (NaN if not found).

    All search about the turn of the heel (Zeni et al. 2008), from 0.05 s before it to 0.2 s after it: the middle of
    the foot fastest down (O'Connor et al. 2007); the heel slower than 0.5 m/s against the ground (Ghoussayni et al.
    2004, at another speed); the heel with the largest acceleration upward (Hreljac & Marshall 2000).
    """
    found: dict[str, list[tuple[Side, float, float]]] = {}
    rate, frames = walking.rate, np.arange(walking.time.size)
    for side in SIDES:
        heel, toe = walking.feet[f"heel_{side}"], walking.feet[f"toe_{side}"]
        turns = maxima(np.sum((heel - walking.pelvis) * walking.heading, axis=1), rate, SHORTEST_SWING)
        for hz in CUTOFFS_OF_EVENTS:
            middle = np.gradient(_smooth(0.5 * (heel + toe)[:, 2], rate, hz)) * rate
            rates = np.stack([np.gradient(_smooth(column, rate, hz)) * rate for column in heel.T], axis=1)
            belt = ground_velocity(walking.time, walking.pelvis, heel, rates)
            speed, rise = np.linalg.norm(rates - belt, axis=1), np.gradient(rates[:, 2])
            for turn in turns:
                first, stop = max(round(turn + LANDS[0] * rate), 0), round(turn + LANDS[1] * rate) + 1
                around = slice(first, stop)
                slow = np.flatnonzero(speed[around] < GROUND_SPEED)
                places = {
                    "Zeni": turn,
                    f"O'Connor, {hz} Hz": _best(-middle, around),
                    f"Ghoussayni, {hz} Hz": first + slow[0] if slow.size else np.nan,
                    f"Hreljac, {hz} Hz": _best(rise, around),
                }
                at = float(np.interp(turn, frames, walking.time))
                for name, place in places.items():
                    if name != "Zeni" or hz == CUTOFFS_OF_EVENTS[0]:
                        time = float(np.interp(place, frames, walking.time)) if np.isfinite(place) else np.nan
                        found.setdefault(name, []).append((side, at, time))
    return found


def _best(signal: Array, around: slice) -> float:
    """Place of the highest sample in a stretch; NaN beside a gap."""
    part = signal[around]
    return around.start + float(part.argmax()) if part.size and np.isfinite(part).all() else np.nan


def report_events(files: list[Path]) -> None:
    """Print how late heel strikes by markers are, by method and recording [ms]: median and standard deviation."""
    late: dict[str, dict[str, list[float]]] = {}
    for file in files:
        trial = recording_of(file, "this benchmark")
        walking, sure = walk(trial), [*force_events(FootLoads.from_trial(trial)), *trial.events]
        if walking is None:
            continue
        for method, strikes in strikes_by_methods(walking).items():
            for side, turn, strike in strikes:
                times = [e.time for e in sure if (e.kind, e.side) == ("heel_strike", side)]
                near = min(times, key=lambda time: abs(time - turn), default=np.inf)
                if abs(near - turn) < SAME_STRIKE:
                    late.setdefault(method, {}).setdefault(str(file), []).append(1000.0 * (strike - near))
    table = Table(title="heel strikes by markers: ms late, median +- standard deviation")
    names = list(next(iter(late.values()), {}))
    for heading in ("method", *(Path(name).parent.name for name in names), "mean", "sd of medians"):
        table.add_column(heading)
    for method, by_file in late.items():
        medians = np.array([np.nanmedian(by_file[name]) for name in names])
        cells = [
            f"{middle:.0f} +- {np.nanstd(by_file[name]):.0f}"
            for name, middle in zip(names, medians, strict=True)
        ]
        table.add_row(method, *cells, f"{medians.mean():.0f}", f"{medians.std():.0f}")
    console.print(table)


def _smooth(signal: Array, rate: float, hz: float) -> Array:
    smooth = np.full(signal.size, np.nan)
    for first, stop in true_runs(np.isfinite(signal)):
        if stop - first > SHORTEST_PERIOD * rate:
            smooth[first:stop] = low_pass(signal[first:stop], rate, min(hz, 0.4 * rate))
    return smooth


def _rms(parts: list[Array]) -> float:
    return float(np.sqrt(np.nanmean(np.concatenate(parts) ** 2)))


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("trials", nargs="*", type=input_file)
    console.width = 130
    for impact in (0.0, 1.0):
        report_truth(impact)
    given = parser.parse_args().trials
    for recorded in given:
        report_residual(recorded)
    if given:
        report_events(given)
