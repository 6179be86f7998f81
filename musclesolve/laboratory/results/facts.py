"""Facts of a result, each computed once.

The printed summary, the documents of `--json`, the tables and the report are renderings of `Facts`: none of them
searches a peak or counts frames by itself. A fact is computed when it is first used, so that a damaged file lacks only
the damaged facts. Results of `run` and of `share` have the same facts; facts that a result lacks are None or empty.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, TypeVar, cast

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Mask, slices, true_runs
from musclesolve._util.sides import SIDE_NAMES, SIDES, joint_kind, side_of, sided, split_side
from musclesolve.constants import BAND_95, STANDARD_GRAVITY
from musclesolve.dynamics.inverse.force_balance import BALANCE_LIMIT
from musclesolve.laboratory.results.cycles.gait_cycles import stride_measures
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.checked import MODEL
from musclesolve.laboratory.results.dataset.result_quantities import (
    body_weight,
    force_unit,
    is_elastic,
    listed,
    magnitude,
    moved_points,
    number,
    pelvis_residual,
    shared_dofs,
    shows_legs,
    text,
)
from musclesolve.laboratory.results.finding import FINDINGS, Finding, finding, stored_findings
from musclesolve.laboratory.results.movement import (
    FEWEST_FRAMES,
    LOST,
    RUNNING,
    WALKING,
    Movement,
    SeenMotion,
    movement,
)
from musclesolve.muscles.metabolic_power import BASAL
from musclesolve.muscles.strength import achilles_muscles
from musclesolve.sharing.analysis.reserve_check import NEGLIGIBLE, share_of_peak, worst_reserve
from musclesolve.sharing.status import is_solved

Decision = TypeVar("Decision")
FULL = 0.99
"""Activation from which a muscle works at its limit."""
SHORTEST_CARRIED = 0.5
"""Time over which the ground force is averaged to estimate the body mass [s]."""
CENTER_HEIGHT = 0.53
"""Height of the center of the body as a share of the stature."""
LARGE_ERROR = 0.1
"""Balance error of activation above which a frame is counted."""


@dataclass(frozen=True)
class Stretch:
    """Neighboring frames of a leg with the same verdict."""

    side: str
    verdict: str  # one of frame_validity.reason_names
    first: int  # frame
    stop: int  # frame after the last one
    start: float  # time of the first frame [s]
    end: float  # time of the last one [s]

    @property
    def count(self) -> int:
        """Number of frames."""
        return self.stop - self.first


@dataclass(frozen=True, eq=False)
class LegFacts:
    """Counts of the frames of a leg, or of the muscles of no side, by status."""

    result: xr.Dataset
    side: str
    part: str  # in words: right leg

    @property
    def name(self) -> str:
        """The side in words: right, left or other."""
        return SIDE_NAMES.get(self.side, self.side)

    @cached_property
    def solved(self) -> int:
        """Number of frames that are solved without a reserve that counts."""
        return int((frames.solved(self.result, self.side) | (self._helped & ~self._counted)).sum())

    @cached_property
    def with_reserve(self) -> int:
        """Number of frames that are solved with a reserve of a coordinate that muscles can serve."""
        return int(self._counted.sum())

    @cached_property
    def _helped(self) -> Mask:
        """Frames (T,) that are solved with a reserve."""
        return frames.solved_with_reserve(self.result, self.side)

    @cached_property
    def _counted(self) -> Mask:
        """Frames with a reserve of a coordinate that muscles serve; with any reserve where muscles serve all."""
        if not self._unserved:
            return self._helped
        return np.asarray(self._helped & (self._reserves[1].max(axis=1, initial=0.0) > NEGLIGIBLE))

    @cached_property
    def not_analyzed(self) -> int:
        """Frames in which the forces on the leg were not measured."""
        return int(frames.not_measured(self.result, self.side).sum())

    @cached_property
    def without_solution(self) -> int:
        """Analyzed frames without a valid solution."""
        return int(frames.unsolved(self.result, self.side).sum())

    @cached_property
    def valid(self) -> int:
        """Frames that may be used."""
        return int(frames.valid(self.result, self.side).sum())

    @cached_property
    def largest_gap(self) -> float:
        """The largest gap of a valid frame; NaN where no frame is valid, or gaps are not in the file."""
        if "gap" not in self.result or not self.valid:
            return float("nan")
        gap = self.result["gap"].sel(side=self.side).values
        return float(gap[frames.valid(self.result, self.side)].max())

    @cached_property
    def _unserved(self) -> list[str]:
        """Coordinates whose moments no muscle can produce; empty if the side has only such coordinates."""
        if not (unserved := listed(self.result, "unserved_dofs")):
            return []
        served = any(side_of(dof) == self.side and dof not in unserved for dof in shared_dofs(self.result))
        return unserved if served else []

    @cached_property
    def _reserves(self) -> tuple[list[str], Array]:
        """Coordinates and the sizes of their reserves (T, m) [N m], zero in frames that are solved without.

        The coordinates of the side; where they have no reserves, all coordinates that its muscles may serve.
        Coordinates whose moments no muscle can produce (`unserved_dofs`) are excluded: a warning of the result names
        them.
        """
        every = [dof for dof in shared_dofs(self.result) if dof not in self._unserved]
        for dofs in ([dof for dof in every if side_of(dof) == self.side], every):
            moment = self.result["reserve_moment"].sel(dof=dofs).transpose("time", "dof").values
            size = np.where(self._helped[:, None] & np.isfinite(moment), np.abs(moment), 0.0)
            if size.any():
                break
        return dofs, size

    @cached_property
    def largest_reserve(self) -> dict[str, Any] | None:
        """The largest moment that the muscles of the leg lack: magnitude moment_nm, dof, time_s; None without any."""
        if not self.with_reserve:
            return None
        dofs, size = self._reserves
        frame, dof = np.unravel_index(int(size.argmax()), size.shape)
        time = float(self.result["time"].values[frame])
        return {"moment_nm": float(size[frame, dof]), "dof": dofs[dof], "time_s": time}

    @cached_property
    def reserve_share(self) -> tuple[float, str] | None:
        """The reserve that decides relative to the peak moment of its degree of freedom, and the degree of freedom.

        The rule is as in `check_reserves`; None where no reserve exceeds NEGLIGIBLE.
        """
        if not self.with_reserve:
            return None
        dofs, size = self._reserves
        moment = self.result["joint_moment"].sel(dof=dofs).transpose("time", "dof").values
        analyzed = ~frames.not_measured(self.result, self.side)
        peak = size.max(axis=0)
        share = share_of_peak(peak, np.nanmax(np.abs(moment[analyzed]), axis=0, initial=0.0))
        worst = worst_reserve(peak, share)
        return (float(share[worst]), dofs[worst]) if peak[worst] > NEGLIGIBLE else None

    @cached_property
    def stretches(self) -> list[Stretch]:
        """Stretches of neighboring frames with the same verdict, in order."""
        names = frames.reason_names(self.result, self.side)
        time = np.asarray(self.result["time"].values, dtype=float)
        runs = [
            Stretch(self.side, name, first, stop, float(time[first]), float(time[stop - 1]))
            for name in dict.fromkeys(names.tolist())
            for first, stop in true_runs(names == name)
        ]
        return sorted(runs, key=lambda run: run.first)

    @cached_property
    def failures(self) -> dict[str, list[Stretch]]:
        """The stretches of analyzed frames without a valid solution, by verdict."""
        names = frames.reason_names(self.result, self.side)
        failed = dict.fromkeys(names[frames.unsolved(self.result, self.side)].tolist())
        return {verdict: [run for run in self.stretches if run.verdict == verdict] for verdict in failed}

    @property
    def reasons(self) -> list[str]:
        """Sentences on the moments that the muscles lack and the sizes of the reserves."""
        return listed(self.result, f"reasons_{self.side}")


@dataclass(frozen=True)
class Counts:
    """Leg-frames: a frame of a result with two legs counts twice."""

    analyzed: int
    valid: int
    with_reserve: int


KNEE_FORCES = {
    "medial": "knee_contact_medial",
    "lateral": "knee_contact_lateral",
    "patellofemoral": "patellofemoral_force",
}
"""Parts of the knee and the variables over time and side of their forces."""


@dataclass(frozen=True)
class ContactPeak:
    """The greatest contact force of a joint over the valid frames of its leg."""

    joint: str  # with its side, hip_r
    newton: float
    body_weights: float  # NaN where the body mass is not known
    time: float  # [s]

    @property
    def stem(self) -> str:
        """The joint without its side."""
        return split_side(self.joint)[0]

    @property
    def side(self) -> str:
        """The side of the joint."""
        return side_of(self.joint)


@dataclass(frozen=True)
class ResidualSize:
    """Peak and root mean square over the frames of the residual at the pelvis."""

    peak_force_percent_body_weight: float
    rms_force_percent_body_weight: float
    peak_moment_nm: float
    rms_moment_nm: float


@dataclass(frozen=True)
class Channel:
    """Agreement of activation with the envelope of an EMG channel."""

    name: str
    muscles: str  # with commas
    correlation: float  # NaN where it is not known
    delay: float  # of activation [s]


@dataclass(frozen=True)
class FascicleAgreement:
    """Error of the fiber length of a muscle against its measured fascicle length; NaN where unknown."""

    muscle: str
    rms_error_m: float
    mean_error_m: float
    correlation: float


@dataclass(frozen=True)
class Moved:
    """Distances between measured points and the points of the consistent motion [m]."""

    points: list[str]
    rms: Array  # over the frames, of each point
    worst: float

    @property
    def overall(self) -> float:
        """Root mean square over frames and points."""
        return float(np.sqrt(np.mean(self.rms**2)))


@dataclass(frozen=True)
class StrideMeasure:
    """A measure of strides, as tables and documents show it."""

    variable: str
    heading: str  # with its unit
    decimals: int
    key: str = ""  # in the document of a result; "" where it has none


STRIDE_MEASURES = (
    StrideMeasure("stride_time", "stride time [s]", 3),
    StrideMeasure("cadence", "cadence [steps/min]", 1, "cadence_steps_per_minute"),
    StrideMeasure("walking_speed", "speed [m/s]", 2, "speed_m_s"),
    StrideMeasure("stride_length", "stride [m]", 2, "length_m"),
    StrideMeasure("step_width", "step width [m]", 3),
    StrideMeasure("stance_percent", "stance [%]", 1, "stance_percent"),
    StrideMeasure("double_support_percent", "double support [%]", 1, "double_support_percent"),
)


@dataclass(frozen=True)
class StrideFacts:
    """A stride from heel strike to heel strike; what was not recorded is missing or NaN among its measures."""

    side: str
    start: float  # [s]
    end: float  # [s]
    measures: Mapping[str, float]  # by the name of the variable


@dataclass(frozen=True)
class AtLimit:
    """A muscle that works at its limit in some valid frames."""

    muscle: str
    count: int  # frames
    share: float  # of the valid frames of its leg


def once(rule: "Callable[[Facts], Decision]") -> "Callable[[Facts], Decision]":
    """Decorator of a rule on facts, such as a verdict: it is applied once to the facts, which keep what it decides."""

    @wraps(rule)
    def applied(facts: Facts) -> Decision:
        if rule.__qualname__ not in facts.decisions:
            facts.decisions[rule.__qualname__] = rule(facts)
        return cast(Decision, facts.decisions[rule.__qualname__])

    return applied


TOGETHER = 4096
"""Number of frames of a long result that are read together."""


class Facts:
    """Facts of a result of `run` or `share`, and what rules decide on them (`once`)."""

    def __init__(self, result: xr.Dataset) -> None:
        self.result = result
        self.decisions = dict[str, Any]()

    @cached_property
    def legs(self) -> dict[str, LegFacts]:
        """The analyzed legs by side, right before left; last the muscles of no side."""
        return {
            side: LegFacts(self.result, side, part) for side, part in frames.part_names(self.result).items()
        }

    @cached_property
    def valid(self) -> dict[str, Mask]:
        """The frames (T,) of every side that may be used."""
        return {side: frames.valid(self.result, side) for side in map(str, self.result["side"].values)}

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Findings on the recording or model; for a result without findings its warnings."""
        if stored := text(self.result, FINDINGS):
            return stored_findings(stored)
        older = (
            finding("remark", "warning", {"sentence": warning}) for warning in listed(self.result, "warnings")
        )
        return (finding("not_examined", "warning", {}), *older)

    @cached_property
    def counts(self) -> Counts:
        """Leg-frames of all legs."""
        legs, frame_count = self.legs.values(), self.result.sizes["time"]
        return Counts(
            analyzed=sum(frame_count - leg.not_analyzed for leg in legs),
            valid=sum(leg.valid for leg in legs),
            with_reserve=sum(leg.with_reserve for leg in legs),
        )

    @cached_property
    def predicted(self) -> dict[str, tuple[int, int]]:
        """Side -> numbers of frames and steps with predicted ground reactions; only sides that have some."""
        counts = {}
        for side in (name for name in map(str, self.result["side"].values) if name in SIDE_NAMES):
            if (mask := frames.predicted(self.result, side)).any():
                counts[side] = int(mask.sum()), len(true_runs(mask & frames.stance(self.result, side)))
        return counts

    @cached_property
    def largest_gap(self) -> float:
        """The largest gap of a valid frame of all legs; NaN where there is none."""
        return max((leg.largest_gap for leg in self.legs.values() if leg.valid), default=float("nan"))

    @cached_property
    def optimality(self) -> str:
        """The property of solved frames that their certificates prove, in words behind "every frame"."""
        stationary = number(self.result, "stationary_only")
        return "meets the necessary conditions of least cost" if stationary else "has the least possible cost"

    @cached_property
    def body_weight(self) -> float:
        """Weight of the subject [N]; NaN where the body mass is not stated."""
        return body_weight(self.result) if number(self.result, "subject_mass_kg") else float("nan")

    @property
    def force_unit(self) -> tuple[float, str]:
        """Unit of joint forces [N] and its name: the body weight where it is known, else newtons."""
        return force_unit(self.result)

    @cached_property
    def shows_legs(self) -> bool:
        """Return whether the result is of a hip, knee or ankle."""
        return shows_legs(self.result)

    @cached_property
    def contact_peaks(self) -> list[ContactPeak]:
        """Peaks of all joints with a valid frame; empty where the result has no contact forces."""
        if "joint_reaction" in self.result:
            force = magnitude(self.result["joint_reaction"])
        elif "contact_force" in self.result:
            force = self.result["contact_force"]
        else:
            return []
        return self._peaks(
            {joint: force.sel(joint=joint).values for joint in map(str, force["joint"].values)}
        )

    @cached_property
    def knee_peaks(self) -> dict[str, dict[str, ContactPeak]]:
        """Peaks of the forces of `KNEE_FORCES` by part of the knee, then by side, as far as they exist."""
        of_part: dict[str, dict[str, ContactPeak]] = {}
        for part, name in KNEE_FORCES.items():
            if name in self.result:
                sides = map(str, self.result["side"].values)
                force = {f"{part}_{side}": self.result[name].sel(side=side).values for side in sides}
                if peaks := {peak.side: peak for peak in self._peaks(force)}:
                    of_part[part] = peaks
        return of_part

    @cached_property
    def contact_spacing(self) -> str:
        """Spacing of the contacts of the knees, and its origin; "" where not stated."""
        distances: dict[str, dict[str, None]] = {}  # [mm], by origin
        for line in listed(self.result, "knee_contact_spacing"):
            stated, _, origin = line.partition(", ")
            distances.setdefault(origin, {})[f"{1000.0 * float(stated.split()[1]):.0f}"] = None
        return "; ".join(
            ", ".join(filter(None, (f"{' and '.join(millimeters)} mm apart", origin)))
            for origin, millimeters in distances.items()
        )

    def _peaks(self, force: Mapping[str, Array]) -> list[ContactPeak]:
        """The greatest of forces (T,) [N] by joint with its side over the valid frames, of those that have one."""
        peaks = []
        for joint, values in force.items():
            side = side_of(joint)
            if side not in self.result["side"].values:
                continue
            values = np.where(self.valid[side], values, np.nan)
            if np.isfinite(values).any():
                frame = int(np.nanargmax(values))
                peak, time = float(values[frame]), float(self.result["time"].values[frame])
                peaks.append(ContactPeak(joint, peak, peak / self.body_weight, time))
        return peaks

    @cached_property
    def contact_by_joint(self) -> dict[str, dict[str, ContactPeak]]:
        """The peaks of every joint of the result by joint without side, then by side; some have none."""
        if "joint" not in self.result.coords:
            return {}
        peaks = {(peak.stem, peak.side): peak for peak in self.contact_peaks}
        stems = dict.fromkeys(split_side(str(joint))[0] for joint in self.result["joint"].values)
        return {
            stem: {side: peaks[stem, side] for side in self.legs if (stem, side) in peaks} for stem in stems
        }

    @cached_property
    def strongest_muscle(self) -> dict[str, Any] | None:
        """The muscle of the greatest force over all frames in words, force_n and time_s; None without a solution."""
        most = _largest(self.result["muscle_force"], "muscle")
        return most and {"muscle": sided(most[1]), "force_n": most[0], "time_s": most[2]}

    @cached_property
    def pelvis_residual(self) -> ResidualSize | None:
        """Size of the residual at the pelvis; None without one, or if no frame has forces of both feet."""
        return self._residual_size("pelvis_residual")

    @cached_property
    def measured_residual(self) -> ResidualSize | None:
        """Size of the residual of the measured motion, before any change to reduce it, in `counted` frames."""
        before = "pelvis_residual_before" in self.result
        return self._residual_size("pelvis_residual_before" if before else "pelvis_residual", self.counted)

    @cached_property
    def counted(self) -> Mask:
        """Frames (T,) of which the residual is judged: those with results, as long as the forces balance most frames.

        Where a seat or a rail carries a part of the body, the frames are refused, and their residual is of no result.
        """
        balanced = self.result.get("balanced", self.result["time"] == self.result["time"]).values
        return np.asarray(balanced if balanced.mean() > 0.5 else np.ones_like(balanced))

    @cached_property
    def motion_change(self) -> dict[str, Any] | None:
        """Change of the motion to reduce the residual, in m, N and N m; None where the motion was not changed.

        Its size, and the residual before and after as root mean squares and peaks over the frames;
        balancing_mass_kg: the body mass that would balance the forces best.
        """
        before, after = self._residual_size("pelvis_residual_before"), self.pelvis_residual
        if before is None or after is None or "motion_change" not in self.result:
            return None
        change = self.result["motion_change"].transpose("time", "point").values
        rms = np.sqrt(np.mean(change**2, axis=0))
        names = [str(name) for name in self.result["point"].values]
        newtons = 0.01 * self.body_weight
        return {
            "rms_m": float(np.sqrt(np.mean(change**2))),
            "largest_m": float(self.result.attrs["largest_motion_change_m"]),
            "rms_of_points_m": dict(zip(names, map(float, rms), strict=True)),
            "rms_force_before_n": newtons * before.rms_force_percent_body_weight,
            "rms_force_n": newtons * after.rms_force_percent_body_weight,
            "peak_force_before_n": newtons * before.peak_force_percent_body_weight,
            "peak_force_n": newtons * after.peak_force_percent_body_weight,
            "rms_moment_before_nm": before.rms_moment_nm,
            "rms_moment_nm": after.rms_moment_nm,
            "balancing_mass_kg": float(self.result.attrs["mass_balancing_forces_kg"]),
        }

    def _residual_size(self, name: str, of: Mask | slice = slice(None)) -> ResidualSize | None:
        """Size of a residual by the name of its variable, in all frames or some; None where it is not known."""
        if name not in self.result:
            return None
        force, moment = (size[of][np.isfinite(size[of])] for size in pelvis_residual(self.result, name))
        if not force.size:
            return None
        percent = 100.0 * force / self.body_weight
        rms = [float(np.sqrt(np.mean(values**2))) for values in (percent, moment)]
        return ResidualSize(float(percent.max()), rms[0], float(moment.max()), rms[1])

    @cached_property
    def root_residual_percent(self) -> float | None:
        """Greatest residual force at the root of an OpenSim model [% of body weight]; None where unknown."""
        force = number(self.result, "root_residual_n")
        return 100.0 * force / self.body_weight if force and np.isfinite(self.body_weight) else None

    @cached_property
    def residual_share(self) -> float | None:
        """Root mean square of the residual force over the peak ground force, which counts at least as the weight.

        At the pelvis, or at the root of an OpenSim model; None where unknown. The measured motion counts: a change that
        reduces the residual does not remove its cause.
        """
        force = number(self.result, "root_residual_rms_n")
        if (size := self.measured_residual) is not None:
            rms = 0.01 * size.rms_force_percent_body_weight
        elif force is not None and np.isfinite(self.body_weight):
            rms = force / self.body_weight
        else:
            return None
        return rms / self._peak_force

    @cached_property
    def residual_moment_share(self) -> float | None:
        """Root mean square of the residual moment over the peak ground force times the height of the body's center.

        None where unknown; see `residual_share`.
        """
        turning = number(self.result, "root_residual_moment_rms_nm")
        height = number(self.result, "root_height_m")
        if (size := self.measured_residual) is not None:
            turning = size.rms_moment_nm
        if height is None and (stature := number(self.result, "subject_stature_m")):
            height = CENTER_HEIGHT * stature
        if turning is None or not height or not np.isfinite(self.body_weight):
            return None
        return turning / (self.body_weight * self._peak_force * height)

    @property
    def _peak_force(self) -> float:
        """Peak ground force, at least the weight of the model [body weights of the person]."""
        bound = number(self.result, "balance_limit")  # the limit of a frame, that share of the peak force
        if bound is not None:
            return bound / BALANCE_LIMIT
        person, model = (number(self.result, f"{whose}_mass_kg") for whose in ("subject", "model"))
        return model / person if model and person else 1.0

    @cached_property
    def duration(self) -> float:
        """Duration of the result [s]."""
        return float(np.ptp(self.result["time"].values)) if self.result.sizes["time"] > 1 else 0.0

    @cached_property
    def movement(self) -> Movement:
        """Movement of the result."""
        return movement(self._seen)

    @cached_property
    def _seen(self) -> SeenMotion:
        """Motion and ground reactions of the result, which show the movement."""
        return SeenMotion(self.result)

    @cached_property
    def mass_carried(self) -> float | None:
        """The mass carried by the ground [kg]; None without half a second in which both feet were measured.

        m = mean vertical ground force / (g + change of the vertical velocity over the time); the pelvis represents the
        center of mass.
        """
        seen, masses, times = self._seen, [], []
        if seen.time.size < FEWEST_FRAMES or len(seen.legs) < 2:
            return None
        vertical = np.sum(list(seen.force.values()), axis=0)  # [body weights]
        rise, known = np.gradient(seen.hips[:, 2], seen.time), np.zeros(seen.time.size, dtype=bool)
        for name, first, stop in seen.phases:
            known[first:stop] = name != LOST
        for first, stop in true_runs(known & np.isfinite(vertical)):
            duration, change = seen.time[stop - 1] - seen.time[first], rise[stop - 1] - rise[first]
            if duration >= SHORTEST_CARRIED and np.isfinite(change):
                force = self.body_weight * np.mean(vertical[first:stop])
                masses.append(force / (STANDARD_GRAVITY + change / duration))
                times.append(duration)
        return float(np.average(masses, weights=times)) if times else None

    def _of_muscles(self, name: str, some: slice) -> Array:
        """A variable of muscles (F, n) in some frames; the rest of a result on disk is not read."""
        values = self.result.variables[name].isel(time=some).transpose("time", "muscle").values
        return np.asarray(values, dtype=float)

    def active_fibers(self, least: float) -> list[tuple[float, str]]:
        """Shortest and longest normalized fiber of each muscle in valid frames of an activation of at least `least`."""
        if not {"fiber_length", "optimal_fiber_length", "activation"} <= set(self.result.data_vars):
            return []
        sides, optimal = (
            frames.muscle_sides(self.result),
            self.result.variables["optimal_fiber_length"].values,
        )
        valid = np.stack([self.valid[side] for side in sides.values()], axis=1)
        shortest, longest = np.full(len(sides), np.inf), np.full(len(sides), -np.inf)
        for some in slices(len(valid), TOGETHER):
            length, activation = (self._of_muscles(name, some) for name in ("fiber_length", "activation"))
            fiber = length / optimal
            active = valid[some] & (activation >= least) & np.isfinite(fiber)
            shortest = np.minimum(shortest, fiber.min(axis=0, initial=np.inf, where=active))
            longest = np.maximum(longest, fiber.max(axis=0, initial=-np.inf, where=active))
        ends = zip(sides, shortest, longest, strict=True)
        return [(float(end), name) for name, *both in ends for end in both if np.isfinite(end)]

    @cached_property
    def fibers(self) -> dict[str, dict[str, Any]] | None:
        """Muscle and length of the shortest and the longest fiber over the valid frames; None where there are none."""
        if "least_normalized_fiber_length" not in self.result:
            return None
        least, greatest = (
            self.result[f"{end}_normalized_fiber_length"].values for end in ("least", "greatest")
        )
        if not np.isfinite(least).any():
            return None
        names, low, high = self.result["muscle"].values, int(np.nanargmin(least)), int(np.nanargmax(greatest))
        return {
            "shortest": {"muscle": str(names[low]), "normalized_length": float(least[low])},
            "longest": {"muscle": str(names[high]), "normalized_length": float(greatest[high])},
        }

    @cached_property
    def muscles_at_limit(self) -> list[AtLimit]:
        """Muscles that reach full activation in valid frames, the one with most such frames first."""
        if "activation" not in self.result:
            return []
        blocks = slices(self.result.sizes["time"], TOGETHER)
        at_limit = np.concatenate(
            [np.nan_to_num(self._of_muscles("activation", some)) >= FULL for some in blocks]
        )
        full = []
        for column, (name, side) in enumerate(frames.muscle_sides(self.result).items()):
            count = int((self.valid[side] & at_limit[:, column]).sum())
            if count:
                full.append(AtLimit(name, count, count / int(self.valid[side].sum())))
        return sorted(full, key=lambda muscle_limit: (-muscle_limit.count, muscle_limit.muscle))

    @cached_property
    def channels(self) -> list[Channel]:
        """The EMG channels recorded with the motion; empty without EMG."""
        if "emg_correlation" not in self.result or not self.result.sizes.get("channel", 0):
            return []
        count, variables = self.result.sizes["channel"], self.result.variables
        muscles = variables["channel_muscles"].values if "channel_muscles" in variables else [""] * count
        delays = variables["emg_delay"].values if "emg_delay" in variables else np.full(count, np.nan)
        correlations = self.result["emg_correlation"].values
        return [
            Channel(str(name), str(muscle), float(r), float(delay))
            for name, muscle, r, delay in zip(
                self.result["channel"].values, muscles, correlations, delays, strict=True
            )
        ]

    @cached_property
    def correlations(self) -> dict[str, float]:
        """Correlation of each channel whose correlation is known."""
        return {
            channel.name: channel.correlation for channel in self.channels if np.isfinite(channel.correlation)
        }

    @cached_property
    def median_and_mean_correlation(self) -> tuple[float, float] | None:
        """Median and mean correlation over the channels where it is known; None without any."""
        known = list(self.correlations.values())
        return (float(np.median(known)), float(np.mean(known))) if known else None

    @property
    def follows_emg(self) -> bool:
        """Return whether the cost follows the EMG, so that agreement with the followed channels is no test."""
        return "emg_tracking" in text(self.result, "cost")

    @cached_property
    def predicts_emg(self) -> bool:
        """Return whether each followed channel is compared with a sharing that follows all channels but this one."""
        return "emg_predicted" in self.result and bool(self.result["emg_predicted"].notnull().any())

    @cached_property
    def followed_correlations(self) -> dict[str, float]:
        """Correlation of each channel with the activation that follows it (no test); empty if none is followed."""
        if "emg_correlation_followed" not in self.result or not self.predicts_emg:
            return {}
        values = self.result["emg_correlation_followed"]
        return dict(zip(map(str, self.result["channel"].values), map(float, values.values), strict=True))

    @cached_property
    def fascicles(self) -> dict[str, FascicleAgreement]:
        """Agreement of fibers with the fascicle lengths that were measured, by the column of the file."""
        if "fascicle_rms_error" not in self.result or not self.result.sizes.get("fascicle", 0):
            return {}
        names, muscles = (map(str, self.result[name].values) for name in ("fascicle", "fascicle_muscle"))
        measures = (
            map(float, self.result[f"fascicle_{name}"].values)
            for name in ("rms_error", "mean_error", "correlation")
        )
        return dict(zip(names, map(FascicleAgreement, muscles, *measures), strict=True))

    @cached_property
    def tendons(self) -> dict[str, Any] | None:
        """Facts on elastic tendons; None where tendons are rigid.

        iterations: of each side. balance: distance of fibers and tendons from balance midway between frames, as an
        error of activation: the largest with its side and time [s], and the leg-frames that have one and that have a
        large one, more than LARGE_ERROR. achilles, all: the largest strains with muscle and time_s.
        """
        if not is_elastic(self.result):
            return None
        balance = None
        if "tendon_balance_error" in self.result:
            errors = self.result["tendon_balance_error"]
            if (most := _largest(errors, "side")) is not None:
                large, known = int((errors > LARGE_ERROR).sum()), int(errors.notnull().sum())
                balance = dict(zip(("error", "side", "time"), most, strict=True), large=large, known=known)
        steps = [iteration.split(" ") for iteration in listed(self.result, "motion_iterations")]
        return {
            "iterations": {side: int(count) for side, count in steps},
            "balance": balance,
            "achilles": self._largest_strain(achilles(self.result)),
            "all": self._largest_strain([str(name) for name in self.result["muscle"].values]),
        }

    def _largest_strain(self, muscles: list[str]) -> dict[str, Any] | None:
        """The largest strain among tendons of some muscles; None without muscles or without a solved frame."""
        if "tendon_strain" not in self.result:
            return None
        most = _largest(self.result["tendon_strain"].sel(muscle=muscles), "muscle")
        return most and dict(zip(("strain", "muscle", "time_s"), most, strict=True))

    @cached_property
    def moved(self) -> Moved | None:
        """Distance of the consistent motion from the measured points; None where the result does not have it."""
        if "consistency_shift" not in self.result:
            return None
        points, rms, worst = moved_points(self.result)
        return Moved(points, rms, float(worst.max()))

    @cached_property
    def strides(self) -> list[StrideFacts]:
        """The strides that were recorded from heel strike to heel strike; of a model, those that its loads show."""
        if MODEL not in self.result.attrs or self.movement.name not in (WALKING, RUNNING):
            return self._measured_strides
        sides = [side for side in frames.sides(self.result) if side in SIDES]
        return [StrideFacts(side, *stride) for side in sides for stride in stride_measures(self.result, side)]

    @cached_property
    def _measured_strides(self) -> list[StrideFacts]:
        """The strides of a recording, with what its events say of them."""
        if not self.result.sizes.get("stride", 0) or "stride_side" not in self.result:
            return []
        measures = {
            str(name): self.result.variables[name].values
            for name in self.result.data_vars
            if self.result.variables[name].dims == ("stride",)
        }
        ends = (self.result[f"stride_{name}"].values for name in ("side", "start", "end"))
        return [
            StrideFacts(
                str(side),
                float(start),
                float(end),
                {name: float(values[k]) for name, values in measures.items() if values.dtype.kind == "f"},
            )
            for k, (side, start, end) in enumerate(zip(*ends, strict=True))
        ]

    @cached_property
    def whole_strides(self) -> tuple[Mask, int] | None:
        """Mask (T,) of the frames of whole strides, and the number of strides; None where none is complete.

        The frames are as many stride times as fit into the longest stretch with known forces of both legs, from any
        point of the gait cycle: over one stride time each leg goes through one cycle.
        """
        if "muscle_force" not in self.result or not set(SIDES) <= set(self.legs):
            return None
        durations = [step.end - step.start for step in self._measured_strides]
        if not durations:
            return None
        time, stride = self.result["time"].values, float(np.median(durations))
        known = np.isfinite(self.result["muscle_force"].transpose("time", "muscle").values).all(axis=1)
        first, stop = max(true_runs(known), key=lambda run: run[1] - run[0], default=(0, 0))
        count = int((time[stop - 1] - time[first]) / stride + 1e-6) if stop - first > 1 else 0
        if count == 0:
            return None
        return known & (time >= time[first]) & (time < time[first] + count * stride), count

    @cached_property
    def metabolic_rate(self) -> "MetabolicRate | None":
        """Gross metabolic rate, mean over whole strides; None where it is not known, as with muscles of arms alone."""
        known = {"metabolic_power"} <= set(self.result) and "subject_mass_kg" in self.result.attrs
        knees = {side_of(dof) for dof in listed(self.result, "shared_dofs") if joint_kind(dof) == "knee"}
        if not known or self.whole_strides is None or not set(SIDES) <= knees:
            return None
        power = self.result["metabolic_power"].sum("muscle", skipna=False).values[self.whole_strides[0]]
        rate = BASAL + float(power.mean()) / float(self.result.attrs["subject_mass_kg"])
        speeds = [stride.measures.get("walking_speed", np.nan) for stride in self.strides]
        return MetabolicRate(rate, float(np.mean(speeds)))


def _largest(values: xr.DataArray, names: str) -> tuple[float, str, float] | None:
    """The largest of values over time and names, its name and time [s]; None where none is known."""
    known: Array = values.transpose("time", names).values
    greatest = np.fmax.reduce(known, axis=1, initial=np.nan)
    if not np.isfinite(greatest).any():
        return None
    frame = int(np.nanargmax(greatest))
    column = int(np.nanargmax(known[frame]))
    return float(known[frame, column]), str(values[names].values[column]), float(values["time"].values[frame])


WALKING_SPEEDS = 0.8, 1.7
"""Walking speeds of the measured metabolic rates [m/s]."""


@dataclass(frozen=True)
class MetabolicRate:
    """Gross metabolic rate of a body in motion [W/kg], and the speed [m/s], NaN where it is not known."""

    rate: float
    speed: float

    @property
    def cost_of_transport(self) -> float:
        """Energy per kilogram and meter [J/(kg m)]."""
        return self.rate / self.speed if self.speed > WALKING_SPEEDS[0] else np.nan

    @property
    def measured(self) -> float:
        """Measured gross rate of level walking at this speed [W/kg]; NaN at other speeds.

        Oxygen of 3.5 + 6 v ml/(kg min) at v m/s (American College of Sports Medicine, Guidelines for Exercise Testing),
        with 20.9 J/ml.
        """
        low, high = WALKING_SPEEDS
        return (3.5 + 6.0 * self.speed) * 20.9 / 60.0 if low <= self.speed <= high else np.nan


def achilles(result: xr.Dataset) -> list[str]:
    """The muscles of the Achilles tendon, with side."""
    names = [str(name) for name in result["muscle"].values]
    short = [str(name) for name in result["short_name"].values] if "short_name" in result.variables else names
    return [names[k] for k in achilles_muscles(list(zip(names, short, strict=True)))]


@dataclass(frozen=True, eq=False)
class UncertainPeak:
    """A force and its spread in the frame in which the force without errors is largest."""

    time: float  # of the frame [s]
    value: float  # without errors [N]
    mean: float  # of the samples [N]
    sd: float  # standard deviation of the samples [N]
    # (source,) shares of the sources in the variance, to first order; None without contributions
    shares: xr.DataArray | None

    def main_sources(self) -> str:
        """Up to three main sources of the variance, "hip center 45 %, soft tissue 21 %"; "" without any."""
        if self.shares is None:
            return ""
        share, labels = np.nan_to_num(self.shares.values), self.shares["source_label"].values
        order = np.argsort(-share)[:3]
        return ", ".join(f"{labels[k]} {100.0 * share[k]:.0f} %" for k in order if share[k] > 0.0)


def counted_frames(result: xr.Dataset, side: str) -> frames.Mask:
    """Mask (T,) of the valid frames of a leg in which peaks are searched: stance, or all frames without a stance.

    In early swing passive forces of stretched fibers have unphysiological bands.
    """
    valid = frames.valid(result, side)
    if "ground_reaction_force" not in result:
        return valid
    in_stance = valid & frames.stance(result, side)
    return in_stance if in_stance.any() else valid


def uncertain_peak(data: xr.Dataset, name: str, which: str) -> UncertainPeak | None:
    """The peak of "muscle_force" or "contact_force" of a muscle or joint such as "hip_r"; None without valid frames.

    The frames of its own side count, or of the last side of an OpenSim model.
    """
    label = {"muscle" if name == "muscle_force" else "joint": which}
    nominal = data[name].sel(label).values
    side, sides = frames.muscle_sides(data).get(which, side_of(which)), list(map(str, data["side"].values))
    known = counted_frames(data, side if side in sides else sides[-1]) & np.isfinite(nominal)
    if not known.any():
        return None
    frame = int(np.where(known, nominal, -np.inf).argmax())
    mean, sd = (float(data[f"{name}_{part}"].sel(label).values[frame]) for part in ("mean", "sd"))
    shares = data.get(f"{name}_contribution")
    own_shares = None if shares is None else shares.sel(label).isel(time=frame)
    return UncertainPeak(float(data["time"].values[frame]), float(nominal[frame]), mean, sd, own_shares)


NEAR_FIRST_ORDER = 0.15
"""Factor within which a spread agrees with the spread of first order."""

BETWEEN_BOUNDS = (0.05, 0.99)
"""Activations of a muscle that is at no bound: 19 of 20 least activations that are drawn lie below 0.03."""


class UncertaintyFacts:
    """Facts of the uncertainty of a result: the peaks of its forces in stance, with their spread."""

    def __init__(self, answer: xr.Dataset) -> None:
        self.answer = answer

    @cached_property
    def contact(self) -> dict[str, UncertainPeak | None]:
        """The peak of the contact force of every joint; None where its leg has no valid frame.

        Empty for an OpenSim model without loads.
        """
        names = map(str, self.answer["joint"].values) if "joint" in self.answer.coords else ()
        return {name: uncertain_peak(self.answer, "contact_force", name) for name in names}

    @cached_property
    def muscles(self) -> dict[str, UncertainPeak | None]:
        """The peak of the force of every muscle; None where its leg has no valid frame."""
        names = map(str, self.answer["muscle"].values)
        return {name: uncertain_peak(self.answer, "muscle_force", name) for name in names}

    @cached_property
    def least_certain(self) -> dict[str, UncertainPeak]:
        """The peaks of the muscles whose standard deviation is known, the largest one first."""
        known = {name: at for name, at in self.muscles.items() if at is not None and np.isfinite(at.sd)}
        return dict(sorted(known.items(), key=lambda entry: -entry[1].sd))

    @cached_property
    def first_order_shares(self) -> dict[str, float]:
        """Share of the values over time, by quantity, whose spread equals the first order to `NEAR_FIRST_ORDER`.

        Values of muscle and contact forces count where their spread is at least a twentieth of its maximum; elsewhere
        muscles reach or leave bounds. Empty without contributions.
        """
        names = ("muscle_force", "contact_force")
        shares = {
            name: self._near_first_order(name) for name in names if f"{name}_first_order_sd" in self.answer
        }
        return {name: share for name, share in shares.items() if share is not None}

    @cached_property
    def first_order_between_bounds(self) -> float | None:
        """Share as `first_order_shares`, of the forces of muscles that stay between their bounds in 95 % of the
        samples; None without any.
        """
        if "muscle_force_first_order_sd" not in self.answer or "activation_quantile" not in self.answer:
            return None
        low, high = (self.answer["activation_quantile"].sel(quantile=level, drop=True) for level in BAND_95)
        within = (low > BETWEEN_BOUNDS[0]) & (high < BETWEEN_BOUNDS[1])
        return self._near_first_order("muscle_force", within)

    @cached_property
    def one_sided_frames(self) -> int:
        """Number of solved frames in which a muscle is just about to reach or leave a bound."""
        if "first_order_unique" not in self.answer:
            return 0
        return int((~self.answer["first_order_unique"] & is_solved(self.answer["status"])).any("side").sum())

    def _near_first_order(self, name: str, where: xr.DataArray | bool = True) -> float | None:
        """See `first_order_shares`, of the values in a mask."""
        spread, first = (self.answer[f"{name}_{way}"] for way in ("sd", "first_order_sd"))
        known = np.isfinite(spread) & np.isfinite(first)
        known &= (spread > 0.0) & (spread >= 0.05 * spread.where(known).max("time")) & where
        off = abs(first / spread - 1.0).where(known)
        return float((off <= NEAR_FIRST_ORDER).sum() / known.sum()) if bool(known.any()) else None

    @property
    def body_weight(self) -> float:
        """Weight of the subject [N]."""
        return body_weight(self.answer)
