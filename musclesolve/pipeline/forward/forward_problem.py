"""The forward problem of an analysed recording: the muscle forces that were shared, and everything else that acted.

From the recorded start, the simulated motion is the recorded one, but for what lies between the samples and for how
fast the body leaves a motion that nothing holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from musclesolve._util.arrays import Array, true_runs
from musclesolve._util.checks import check_array, check_choice, check_integer, check_number
from musclesolve.dynamics.forward.applied_forces import Force
from musclesolve.dynamics.forward.simulate import Integration, Simulation, simulate
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_from
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError
from musclesolve.muscles.driving.muscle_forces import MuscleForces, muscle_forces
from musclesolve.muscles.leg_muscle_state import MuscleState, muscle_state
from musclesolve.muscles.placing.place_muscles import LegMuscles
from musclesolve.pipeline.forward.drift import Drift, drift_of
from musclesolve.pipeline.forward.recorded_loads import RecordedLoads
from musclesolve.pipeline.forward.tracking import Tracking
from musclesolve.pipeline.run import prepare, share
from musclesolve.pipeline.run_options import check_rigid
from musclesolve.pipeline.types import Analysis
from musclesolve.recording.data import Trial

if TYPE_CHECKING:
    import xarray as xr

INTEGRATION = Integration(tolerance=1e-8)
"""Steps shorten themselves where force-velocity curves damp fast, at rates up to some thousand a second."""

REPLAYS = ("activation", "force")
"""What of the muscles is replayed: activations, with forces from the simulated lengths and velocities, or forces."""


@dataclass(frozen=True, eq=False)
class ForwardProblem:
    """A start and the forces of a simulation that follows a recorded motion.

    motion: the recorded one, over all its frames; net (T, K+6): the generalized forces of inverse dynamics, muscles
    included; first: the frame in which the simulation starts; every: of so many frames one is put out.
    """

    model: Model
    motion: Motion
    muscles: MuscleForces
    loads: RecordedLoads
    net: Array
    first: int = 0
    every: int = 1

    @property
    def q0(self) -> Array:
        """Starting position (N, 3)."""
        return self.motion.q[self.first]

    @property
    def qd0(self) -> Array:
        """Starting velocity (N, 3)."""
        return self.motion.qd[self.first]

    @property
    def forces(self) -> tuple[Force, ...]:
        """Those of the muscles, and all others."""
        return self.muscles, self.loads

    def starting(self, time: float) -> ForwardProblem:
        """The same from the first frame at or after some time [s] on."""
        first, last = float(self.motion.time[0]), float(self.motion.time[-1 - self.every])
        time = check_number(time, "start", f"a time from {first:g} to {last:g} s", least=first, most=last)
        first_after = int(np.searchsorted(self.motion.time[:: self.every], time - 1e-9))
        return replace(self, first=first_after * self.every)

    def tracking(self, frequency: float, damping_ratio: float = 1.0) -> Tracking:
        """Feedback on the joint angles: critically damped with this frequency [rad/s], joint by joint."""
        return Tracking.build(self.model, self.motion, frequency, damping_ratio)

    def simulate(
        self,
        duration: float | None = None,
        extra: Sequence[Force] = (),
        integration: Integration | None = None,
    ) -> Simulation:
        """The motion from the start on, for a duration [s] or to the last frame, in the frames of the recording.

        extra: further forces, such as `tracking`. integration: `INTEGRATION` unless given.
        """
        time = self.motion.time[self.first :: self.every]
        longest = float(time[-1] - time[0])
        if duration is not None:
            shortest = float(time[1] - time[0])
            wanted = check_number(
                duration,
                "duration",
                f"{shortest:g} to {longest:g} s, for which forces are known",
                least=shortest - 1e-9,
                most=longest + 1e-9,
            )
            time = time[time <= time[0] + wanted + 1e-9]
        return simulate(
            self.model,
            self.q0,
            self.qd0,
            time,
            [*self.forces, *extra],
            integration=integration or INTEGRATION,
        )

    def drift(self, simulation: Simulation) -> Drift:
        """How far a simulation is from the recorded motion."""
        return drift_of(simulation, self.motion)


def forward_problem(
    trial: Analysis | Trial | str | Path,
    replay: str = "activation",
    *,
    result: xr.Dataset | None = None,
    between: str = "linear",
    refine: int = 1,
) -> ForwardProblem:
    """The forward problem of a trial: its muscles replayed, and all other forces as inverse dynamics has them.

    Args:
        trial: a trial, the path of its file, or its analysis (`pipeline.run.share`).
        replay: "activation": forces follow from the shared activations and the simulated state; "force": the shared
            tendon forces are prescribed.
        result: activations of this result of the same trial instead of those of a run made now.
        between: "linear" or "spline" between the samples of activations, forces and moments.
        refine: so many samples of all forces for each recorded frame, from inverse dynamics of smooth curves through
            the recording (see `refined`). They remove what the forces miss between the frames.

    Raises:
        InputError: a trial that cannot be analysed, or with elastic tendons; no frames with a valid solution; a result
            without activations, or of other muscles, tendons or times.
    """
    check_choice(replay, "replay", REPLAYS)
    analysis = _analysed(trial)
    _check_tendons(analysis, result)
    legs = [leg.state.muscles for leg in analysis.legs]
    recorded, names = analysis.prepared.mechanics, analysis.muscle_names
    activation = analysis.activation if result is None else _of_result(result, names, recorded.motion.time)
    keep = _solved(activation)
    motion, wrenches = recorded.motion.frames(keep), [wrench.frames(keep) for wrench in recorded.wrenches]
    finer = refined(recorded.model, motion, wrenches, activation[keep], check_integer(refine, "refine", 1))
    problem = problem_of(recorded.model, *finer[:2], legs, finer[2], replay, between)
    return replace(problem, every=refine)


def _analysed(trial: object) -> Analysis:
    """The analysis of a trial, made now unless given."""
    if isinstance(trial, Analysis):
        return trial
    if not isinstance(trial, Trial | str | Path):
        raise InputError(
            f"a {type(trial).__name__} instead of a trial",
            code="bad_type",
            expected="a trial, the path of its file, or its analysis",
            remedy="a result knows no subject and no recording: pass its trial, and the result as result=",
        )
    return share(prepare(trial))


def _check_tendons(analysis: Analysis, result: xr.Dataset | None) -> None:
    """Refuse activations that were found with elastic tendons: the simulated ones are rigid."""
    check_rigid(analysis.prepared.trial, "a forward problem")
    if str(getattr(result, "attrs", {}).get("tendon", "rigid")) != "rigid":
        raise InputError(
            "the activations of the result are those of muscles with elastic tendons",
            code="conflict",
            where="result",
            expected="a result with rigid tendons, as those of the simulation are",
            remedy='run the trial with tendon = "rigid"',
        )


def refined(
    model: Model, motion: Motion, wrenches: list[Wrench], activation: Array, refine: int
) -> tuple[Motion, list[Wrench], Array]:
    """Motion, wrenches and activations (T, n) with `refine` frames for each: (T - 1) refine + 1.

    Joint coordinates follow quintic splines, with their derivatives; wrenches cubic splines; activations monotone
    cubics (Fritsch and Carlson 1980), which leave no range. At one frame for each all is as it was given.
    """
    from scipy.interpolate import CubicSpline, PchipInterpolator, make_interp_spline

    if refine == 1:
        return motion, wrenches, activation
    old = motion.time
    time = np.interp(np.arange((len(old) - 1) * refine + 1) / refine, np.arange(len(old)), old)
    spline = make_interp_spline(old, motion.coordinates, k=5)
    finer = [
        Wrench(wrench.body, CubicSpline(old, wrench.force)(time), CubicSpline(old, wrench.moment)(time))
        for wrench in wrenches
    ]
    smooth = motion_from(model, time, spline(time), spline(time, 1), spline(time, 2))
    return smooth, finer, np.clip(PchipInterpolator(old, activation)(time), 0.0, 1.0)


def problem_of(
    model: Model,
    motion: Motion,
    wrenches: list[Wrench],
    legs: Sequence[LegMuscles],
    activation: Array,
    replay: str = "activation",
    between: str = "linear",
) -> ForwardProblem:
    """The forward problem of a motion under wrenches with activations (T, n) of the muscles of some legs.

    What the muscles do not produce of the net joint moments acts as moments: those of joints without muscles, reserves,
    and what the analysis leaves unassigned. The residual of inverse dynamics acts on the base.
    """
    states = [muscle_state(model, leg, motion) for leg in legs]
    names = [name for leg in legs for name in leg.names]
    activation = check_array(activation, "the activation", (len(motion.time), len(names)), tuple(names))
    tension = activation * _side_by_side(states, "force_capacity") + _side_by_side(states, "passive_force")
    given = {"activation": (activation, None), "force": (None, tension)}[replay]
    muscles = muscle_forces(model, legs, given[0], motion.time, force=given[1], between=between)
    net, joints = projected_moments(model, motion, wrenches), model.tree.joint_count
    moments = net[:, :joints] - _muscle_moments(model, states, tension)
    force, about = net[:, joints : joints + 3], net[:, joints + 3 :]
    base = model.topology.bodies[model.tree.root].name
    residual = Wrench(base, force, about + np.cross(motion.origin, force))
    loads = RecordedLoads.build(model, motion.time, moments, [*wrenches, residual], between)
    return ForwardProblem(model, motion, muscles, loads, net)


def _side_by_side(states: Sequence[MuscleState], name: str) -> Array:
    return np.concatenate([getattr(state, name) for state in states], axis=1)


def _muscle_moments(model: Model, states: Sequence[MuscleState], tension: Array) -> Array:
    """Joint moments (T, K) [N m] of tendon forces (T, n) [N] of the muscles of some legs."""
    moments, first = np.zeros((len(tension), model.tree.joint_count)), 0
    for state in states:
        arm = state.moment_arm
        own = tension[:, first : first + arm.shape[2]]
        moments[:, [model.dof(dof) for dof in state.muscles.dof_names]] += np.einsum("tkn,tn->tk", arm, own)
        first += arm.shape[2]
    return moments


def _solved(activation: Array) -> slice:
    """The longest run of frames in which all activations are known."""
    runs = true_runs(np.asarray(np.isfinite(activation).all(axis=1)))
    first, last = max(runs, key=lambda run: run[1] - run[0], default=(0, 0))
    if last - first < 6:
        raise InputError(
            f"at most {last - first} frames in a row have a valid solution of all analysed legs",
            code="too_few_frames",
            expected="at least 6",
            remedy="analyse the leg that was measured alone (side), or choose another time range",
        )
    return slice(first, last)


def _of_result(result: xr.Dataset, names: list[str], time: Array) -> Array:
    """The activations (T, n) of a result for the muscles and frames of a run."""
    if missing := [
        name for name in ("activation", "time", "muscle") if name not in getattr(result, "variables", ())
    ]:
        raise InputError(
            f"the result has no {' and no '.join(missing)}",
            code="bad_result",
            expected="a result of musclesolve run",
        )
    if absent := set(names) - set(result.muscle.values.tolist()):
        raise InputError(
            f"the result has no {min(absent)} ({len(absent)} of {len(names)} muscles are missing)",
            code="bad_result",
            expected="the muscles of this trial",
        )
    if result.time.size != len(time) or np.abs(result.time.values - time).max() > 1e-6:
        raise InputError(
            f"the result has {result.time.size} frames, the trial {len(time)}, or at other times",
            code="not_comparable",
            expected="a result of this trial",
        )
    return np.asarray(result.activation.sel(muscle=names).transpose("time", "muscle").values, dtype=float)
