"""The forward problem of an analyzed recording: the shared muscle forces and all other forces drive a simulation.

From the recorded start, the simulated motion follows the recorded one. It differs by errors between the samples, which
grow because the motion is unstable (`Drift`). Small moments at the joints stabilize it (`Tracking`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, true_runs
from musclesolve._util.checks import check_array, check_choice, check_integer, check_number
from musclesolve._util.messages import with_sizes
from musclesolve.constants import RIGID
from musclesolve.dynamics.forward.applied_forces import Force, within
from musclesolve.dynamics.forward.simulate import Integration, Simulation, simulate
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.dynamics.inverse.lagrange_multipliers import Couples
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, joint_angles, motion_from
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import Wrench, mass_matrix
from musclesolve.dynamics.rotations import angle_between
from musclesolve.errors import input_error
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis
from musclesolve.laboratory.bodies.recorded_body import RecordedBody
from musclesolve.laboratory.bodies.run_options import check_rigid
from musclesolve.laboratory.forces import prepare_recording, recording_of
from musclesolve.laboratory.recording.data import Trial
from musclesolve.models.body import Analysis
from musclesolve.models.body_sharing import share
from musclesolve.muscles.driving.muscle_forces import MuscleForces, muscle_forces
from musclesolve.muscles.muscle_state import muscle_state
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles, joined

INTEGRATION = Integration(tolerance=1e-8)
"""Adaptive steps: force-velocity curves damp at rates up to some thousand a second."""

REPLAYS = ("activation", "force")
"""Replayed quantity: activations, with forces from the simulated lengths and velocities, or tendon forces."""


@dataclass(frozen=True, eq=False)
class ForwardProblem:
    """A start and the forces of a simulation that follows a recorded motion.

    motion: the recorded one, over all its frames; net (T, K+6): the generalized forces of inverse dynamics, muscles
    included; first: the frame in which the simulation starts; every: step between the frames of the output.
    """

    model: Model
    motion: Motion
    muscles: MuscleForces
    loads: "RecordedLoads"
    net: Array
    first: int = 0
    every: int = 1

    __repr__ = with_sizes

    @property
    def q0(self) -> Array:
        """Starting positions (N, 3) of the natural coordinates [m]."""
        return self.motion.q[self.first]

    @property
    def qd0(self) -> Array:
        """Starting velocities (N, 3) of the natural coordinates [m/s]."""
        return self.motion.qd[self.first]

    @property
    def forces(self) -> tuple[Force, ...]:
        """The forces of the simulation: muscles, joint moments and wrenches."""
        return self.muscles, self.loads

    def starting(self, time: float) -> Self:
        """The problem that starts in the first frame at or after a time [s]."""
        first, last = float(self.motion.time[0]), float(self.motion.time[-1 - self.every])
        time = check_number(time, "start", f"a time from {first:g} to {last:g} s", least=first, most=last)
        first_after = int(np.searchsorted(self.motion.time[:: self.every], time - 1e-9))
        return replace(self, first=first_after * self.every)

    def tracking(self, frequency: float, damping_ratio: float = 1.0) -> "Tracking":
        """Make a feedback on each joint angle with a frequency [rad/s]; the default damping ratio 1 is critical."""
        return Tracking.build(self.model, self.motion, frequency, damping_ratio)

    def simulate(
        self,
        duration: float | None = None,
        extra: Sequence[Force] = (),
        integration: Integration | None = None,
    ) -> Simulation:
        """Simulate from the start for a duration [s] or to the last frame; the output has the frames of the recording.

        extra: further forces, such as `tracking`. integration: `INTEGRATION` unless given.
        """
        time = self.motion.time[self.first :: self.every]
        longest = float(time[-1] - time[0])
        if duration is not None:
            shortest = float(time[1] - time[0])
            length = check_number(
                duration,
                "duration",
                f"{shortest:g} to {longest:g} s, for which forces are known",
                least=shortest - 1e-9,
                most=longest + 1e-9,
            )
            time = time[time <= time[0] + length + 1e-9]
        forces, how = [*self.forces, *extra], integration or INTEGRATION
        return simulate(self.model, self.q0, self.qd0, time, forces, integration=how)

    def drift(self, simulation: Simulation) -> "Drift":
        """Return the drift of a simulation from the recorded motion, in whose frames its output is."""
        frames = np.searchsorted(self.motion.time, simulation.time - 1e-9)
        model, recorded = simulation.model, self.motion.q[frames]
        tree, count, rigid = model.tree, model.topology.point_count, model.rigid_bodies
        here, there = rigid.rotation(simulation.q), rigid.rotation(recorded)
        off = joint_angles(model, here) - joint_angles(model, there)
        return Drift(
            simulation.time,
            tuple(model.topology.dof_names[: tree.joint_count]),
            tuple(model.topology.coordinate_names[:count]),
            (off + np.pi) % (2.0 * np.pi) - np.pi,
            angle_between(here[:, tree.root], there[:, tree.root]),
            np.linalg.norm(simulation.q[:, :count] - recorded[:, :count], axis=2),
        )


def forward_problem(
    trial: MeasuredAnalysis | Trial | str | Path,
    replay: str = "activation",
    *,
    result: xr.Dataset | None = None,
    between: str = "linear",
    refine: int = 1,
) -> ForwardProblem:
    """Make the forward problem of a trial: replayed muscles, and all other forces from inverse dynamics.

    Args:
        trial: a trial, the path of its file, or its analysis (`pipeline.share.share`).
        replay: "activation": forces follow from the shared activations and the simulated state; "force": the shared
            tendon forces are prescribed.
        result: a result of the same trial, whose activations are replayed; without it the trial is run now.
        between: "linear" or "spline" between the samples of activations, forces and moments.
        refine: number of samples of all forces for each recorded frame, from inverse dynamics of smooth curves through
            the recording (see `refined`); more samples remove the error of the forces between the frames.

    Returns:
        The problem, with `simulate` and `drift`.

    Raises:
        InputError: a trial that cannot be analyzed, or with elastic tendons; no frames with a valid solution; a result
            without activations, or of other muscles, tendons or times.

    Examples:
        >>> problem = ms.studies.forward_problem(ms.data.reference_stride(), between="spline")
        >>> walk = problem.simulate(0.02)
        >>> bool((problem.drift(walk).largest_distance < 0.001).all())     # [m]
        True
    """
    check_choice(replay, "replay", REPLAYS)
    if not isinstance(trial, Analysis | Trial | str | Path):
        raise input_error(
            "bad_type",
            problem=f"a {type(trial).__name__} instead of a trial",
            expected="a trial, the path of its file, or its analysis",
            remedy="a result knows no subject and no recording: pass its trial, and the result as result=",
        )
    analysis = trial
    if not isinstance(analysis, Analysis):
        analysis = share(prepare_recording(recording_of(analysis, "a forward problem")))
    assert isinstance(analysis.body, RecordedBody)
    check_rigid(analysis.body.trial, "a forward problem")
    if str(getattr(result, "attrs", {}).get("tendon", RIGID)) != RIGID:
        raise input_error(
            "conflict",
            where="result",
            problem="the activations of the result belong to muscles with elastic tendons",
            expected="a result with rigid tendons: the simulation has rigid tendons",
            remedy='run the trial with tendon = "rigid"',
        )
    muscles = joined(analysis.body.placed)
    recorded, names = analysis.body.mechanics, analysis.body.muscles
    activation = analysis.activation if result is None else _of_result(result, names, recorded.motion.time)
    # The longest run of frames in which all activations are known.
    runs = true_runs(np.asarray(np.isfinite(activation).all(axis=1)))
    first, last = max(runs, key=lambda run: run[1] - run[0], default=(0, 0))
    if last - first < 6:
        raise input_error(
            "too_few_frames",
            problem=f"at most {last - first} frames in a row have a valid solution of all analyzed legs",
            expected="at least 6",
            remedy="analyze the leg that was measured alone (side), or choose another time range",
        )
    keep = slice(first, last)
    motion, wrenches = recorded.motion.frames(keep), [wrench.frames(keep) for wrench in recorded.wrenches]
    finer = refined(recorded.model, motion, wrenches, activation[keep], check_integer(refine, "refine", 1))
    problem = problem_of(recorded.model, *finer[:2], muscles, finer[2], replay, between)
    return replace(problem, every=refine)


def refined(
    model: Model, motion: Motion, wrenches: list[Wrench], activation: Array, refine: int
) -> tuple[Motion, list[Wrench], Array]:
    """Interpolate motion, wrenches and activations (T, n) to (T - 1) refine + 1 frames.

    Joint coordinates follow quintic splines, with their derivatives; wrenches cubic splines; activations monotone
    cubics (Fritsch and Carlson 1980), which stay within their range. With refine = 1 the arguments are returned.
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
    muscles: ScaledMuscles | Sequence[ScaledMuscles],
    activation: Array,
    replay: str = "activation",
    between: str = "linear",
) -> ForwardProblem:
    """Make the forward problem of a motion under wrenches with activations (T, n) of some muscles.

    The net joint moments without the moments of the muscles act as joint moments: joints without muscles, reserves,
    and unassigned moments. The residual of inverse dynamics acts on the base.
    """
    placed = joined(muscles)
    state = muscle_state(model, placed, motion)
    activation = check_array(activation, "the activation", state.force_capacity.shape, placed.names)
    tension = activation * state.force_capacity + state.passive_force
    replayed = {"activation": (activation, None), "force": (None, tension)}[replay]
    replays = muscle_forces(model, placed, replayed[0], motion.time, force=replayed[1], between=between)
    net, joints = projected_moments(model, motion, wrenches), model.tree.joint_count
    moments = net[:, :joints].copy()
    chosen = [model.dof(dof) for dof in placed.dof_names]
    moments[:, chosen] -= np.einsum("tkn,tn->tk", state.moment_arm, tension)
    force, about = net[:, joints : joints + 3], net[:, joints + 3 :]
    base = model.topology.bodies[model.tree.root].name
    residual = Wrench(base, force, about + np.cross(motion.origin, force))
    loads = RecordedLoads.build(model, motion.time, moments, [*wrenches, residual], between)
    return ForwardProblem(model, motion, replays, loads, net)


def _of_result(result: xr.Dataset, names: Sequence[str], time: Array) -> Array:
    """The activations (T, n) of a result for the muscles and frames of a run."""
    known = getattr(result, "variables", ())
    if missing := [name for name in ("activation", "time", "muscle") if name not in known]:
        problem = f"the result has no {' and no '.join(map(str, missing))}"
        raise input_error("bad_result", problem=problem, expected="a result of musclesolve run")
    if absent := set(names) - set(result.muscle.values.tolist()):
        problem = f"the result has no {min(absent)} ({len(absent)} of {len(names)} muscles are missing)"
        raise input_error("bad_result", problem=problem, expected="the muscles of this trial")
    if result.time.size != len(time) or np.abs(result.time.values - time).max() > 1e-6:
        problem = f"the result has {result.time.size} frames, the trial {len(time)}, or at other times"
        raise input_error("not_comparable", problem=problem, expected="a result of this trial")
    return np.asarray(result.activation.sel(muscle=list(names)).transpose("time", "muscle").values, float)


@dataclass(frozen=True, eq=False)
class RecordedLoads:
    """Joint moments and wrenches on bodies as one force of a simulation.

    onto (B, W): 1 where a wrench acts on a body. course: interpolates, at times (T,), moments of all joints (K) [N m],
    then force [N] and moment about the global origin [N m] of each wrench, (T, K + 6 W).
    """

    couples: Couples
    onto: Array
    course: Callable[[Array], Array]

    @classmethod
    def build(
        cls, model: Model, time: Array, moments: Array, wrenches: list[Wrench], between: str = "spline"
    ) -> Self:
        """Make loads from moments (T, K) and wrenches at times (T,) [s]; "linear" or "spline" between the samples."""
        from scipy.interpolate import make_interp_spline

        samples = np.hstack([moments, *(np.hstack([load.force, load.moment]) for load in wrenches)])
        bodies = np.array([model.body(wrench.body) for wrench in wrenches], dtype=np.intp)
        spline = make_interp_spline(time, samples, k=3 if between == "spline" else 1)
        onto = (np.arange(len(model.topology.bodies))[:, None] == bodies).astype(float)
        said = "loads are known from {:g} to {:g} s, but wanted at {:g} s"
        return cls(Couples.build(model), onto, within(spline, time, said, "simulate within the recording"))

    def joint_moments(self, time: Array) -> Array:
        """The moments (T, K) [N m] at times (T,) [s]."""
        return self.course(time)[:, : len(self.couples.distal)]

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        values = self.course(time)
        joints, rigid_bodies = len(self.couples.distal), self.couples.model.rigid_bodies
        couple = self.couples.spread @ (self.couples.axes(q) * values[:, :joints, None])
        wrench = values[:, joints:].reshape(len(q), -1, 2, 3)
        force, moment = self.onto @ wrench[:, :, 0], self.onto @ wrench[:, :, 1]
        return rigid_bodies.generalized(q, rigid_bodies.wrench_forces(q, force, couple + moment))


@dataclass(frozen=True, eq=False)
class Tracking:
    """Feedback moments stiffness (theta_ref - theta) + damping (rate_ref - rate) at the joints.

    stiffness, damping: (K,) [N m/rad, N m s/rad]. reference: joint angles and rates (2, T, K) at times (T,) [s].
    """

    model: Model
    couples: Couples
    reference: Callable[[Array], tuple[Array, Array]]
    stiffness: Array
    damping: Array

    @classmethod
    def build(cls, model: Model, motion: Motion, frequency: float, damping_ratio: float = 1.0) -> Self:
        """Set the gains w^2 I and 2 z w I from a frequency w [rad/s], with the inertia I of each joint in the first
        pose.

        1 / I = ((D^T M D)^-1)_kk is the acceleration by a unit moment at the joint while all other joints and the base
        are free. So no joint responds faster than w, and the feedback does not make the equations stiff.
        """
        from scipy.interpolate import make_interp_spline

        frequency = check_number(frequency, "frequency", "a positive number [rad/s]", above=0.0)
        ratio = check_number(damping_ratio, "damping_ratio", "a number from 0", least=0.0)
        if len(model.tree.spherical):
            problem = f"the model {model.topology.name!r} has spherical joints"
            raise input_error("unsupported", problem=problem, expected="revolute and universal joints")
        joints = model.tree.joint_count
        spline = make_interp_spline(motion.time, motion.coordinates[:, :joints], k=5)
        q = motion.q[:1]
        directions = model.tree.allowed(q, motion.origin[:1])[0].reshape(3 * q.shape[1], -1)
        mass = mass_matrix(model.rigid_bodies, model.basic_mass, q)[0]
        inertia = 1.0 / np.diag(np.linalg.inv(directions.T @ mass @ directions))[:joints]
        stiffness, damping = frequency**2 * inertia, 2.0 * ratio * frequency * inertia
        return cls(model, Couples.build(model), lambda t: (spline(t), spline(t, 1)), stiffness, damping)

    def moments(self, time: Array, q: Array, qd: Array) -> Array:
        """Return the moments that the feedback adds at each joint, (T, K) [N m]."""
        target, target_rate = self.reference(time)
        off = target - joint_angles(self.model, self.model.rigid_bodies.rotation(q))
        off = (off + np.pi) % (2.0 * np.pi) - np.pi
        return self.stiffness * off + self.damping * (target_rate - self.couples.rates(q, qd))

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        return self.couples.force(q, self.moments(time, q, qd))


@dataclass(frozen=True)
class Drift:
    """Difference of the simulated from the recorded motion at times (T,) [s], for joints (K) and points (P) of the
    model.

    angle (T, K) [rad]; tilt (T,) [rad]: angle between the two orientations of the pelvis; distance (T, P) [m].
    """

    time: Array
    dofs: tuple[str, ...]
    points: tuple[str, ...]
    angle: Array
    tilt: Array
    distance: Array

    @property
    def largest_angle(self) -> Array:
        """Largest drift of a joint angle (T,) [rad]."""
        return np.asarray(np.abs(self.angle).max(axis=1))

    @property
    def largest_distance(self) -> Array:
        """Largest drift of a point (T,) [m]."""
        return np.asarray(self.distance.max(axis=1))
