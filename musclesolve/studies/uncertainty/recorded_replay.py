"""The pipeline of a recording, repeated with other inputs; unchanged steps are prepared once.

Not repeated are the checks of the recording, the filter (it is linear, and the errors of markers are slow), the search
for the first pose (fits start from the nominal motion), and everything that only describes a result.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from musclesolve._util.arrays import AnyArray, Indices, vector_product
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.newton_euler import DistalLoads, distal_loads, generalized_loads
from musclesolve.dynamics.inverse.residual_reduction import NaturalBody, ResidualReduction
from musclesolve.dynamics.kinematics.consistent_motion import DERIVATIVES, POSITIONS
from musclesolve.dynamics.kinematics.measured_targets import Targets
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, moving_bodies, spline_derivatives
from musclesolve.dynamics.kinematics.pose_fit import Fit
from musclesolve.dynamics.model.human_model import with_mass_factors
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import Wrench
from musclesolve.laboratory.bodies.mechanics import known_moments, subject_model
from musclesolve.laboratory.bodies.recorded_body import RecordedBody, sharing_group
from musclesolve.laboratory.bodies.run_options import Options
from musclesolve.laboratory.markers.landmarks import shows_spines
from musclesolve.laboratory.motion.anatomy.anatomy import Anatomy, measured_body, same_points
from musclesolve.laboratory.motion.ground_reaction import filtered_plates
from musclesolve.laboratory.recording.data import SIDES, Side, Trial
from musclesolve.models.body import SharingGroup
from musclesolve.models.muscle_pulls import MuscleJoints
from musclesolve.muscles.muscle_state import ScaledState, muscle_state
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles
from musclesolve.muscles.scaling.scaled_paths import adjust_switches, sided
from musclesolve.studies.uncertainty.marker_errors import MarkerErrors
from musclesolve.studies.uncertainty.replay import (
    Errors,
    Replay,
    fields_of,
    muscle_shapes,
    parameters_with_errors,
    predicted_with_errors,
    prediction_shapes,
    sharing_shapes,
)

OF_MARKERS = "marker_placement", "hip_center", "soft_tissue"
"""Sources that move markers of every trial."""


@dataclass(frozen=True)
class SubjectWithErrors:
    """The subject in motion: model, motion, loads on the bodies, forces on the feet, moments (T, K+6) [N m].

    angle (T, M) [rad] and moment (T, M) [N m]: of the degrees of freedom that the muscles serve. muscles: of each part,
    without their errors. ground (T, S, 3): the forces on the feet by side [N], NaN where they are not known. still:
    whether skeleton and motion have no errors.
    """

    model: Model
    motion: Motion
    loads: DistalLoads
    wrenches: list[Wrench]
    moments: AnyArray
    angle: AnyArray
    moment: AnyArray
    muscles: Sequence[ScaledMuscles]
    ground: AnyArray
    still: bool


@dataclass(frozen=True, eq=False)
class RecordedReplay(Replay):
    """A trial ready to be run again with errors in its inputs."""

    moves_ground = True
    trial: Trial
    options: Options
    measured: Anatomy  # without errors
    model: Model  # with its dimensions
    markers: MarkerErrors  # and the bodies that their errors move with
    fit: Fit  # its poses without errors, from which every other fit starts
    segments: list[str]  # whose masses have errors
    inside: AnyArray  # which frames of the markers are analyzed
    # side, force (T, 3) [N] and moment about the origin (T, 3) [N m] of each plate, filtered, in all frames of markers
    plates: list[tuple[Side, AnyArray, AnyArray]]
    placed: Sequence[ScaledMuscles]  # the muscles of each part
    reduction: ResidualReduction | None  # of the residual, by a change of the motion over all frames

    @classmethod
    def from_body(cls, prepared: RecordedBody, sd: Mapping[str, float]) -> Self:
        """Keep what the samples need of a trial without errors; sd: source -> standard deviation, SI."""
        trial, options, recorded = prepared.trial, prepared.options, prepared.mechanics
        measured, fit, model = recorded.measured, recorded.fit, recorded.model
        markers = MarkerErrors.from_trial(trial, measured.filter, model, fit.q)
        plates = filtered_plates(trial.forces, trial.unloaded_below, measured.filter, markers.walk.time)
        inside = np.isin(measured.time, recorded.motion.time)
        segments = list(model.topology.segments)
        placed = prepared.placed
        shapes: dict[str, tuple[int, ...]] = {  # in the order of sources.toml
            **muscle_shapes(sum(len(group.names) for group in placed)),
            "muscle_path": (sum(len(group.paths.standing) for group in placed), 3),
            "marker_placement": (len(markers.placed), 3),
            "hip_center": (len(SIDES), 3),
            "soft_tissue": (len(markers.walk.names), 3, 2),
            "center_of_pressure": (len(plates), 2),
            "segment_mass": (len(segments),),
        }
        if trial.static is None and shows_spines(trial.mapping):
            shapes["pelvis_tilt"] = (1,)
        shapes |= sharing_shapes(len(prepared.muscles), len(prepared.joints))
        if trial.predicted_spans is not None:
            shapes |= prediction_shapes()
        dofs = [dof for part in prepared.parts for dof in part.dofs]
        return cls(
            **fields_of(prepared, dofs, shapes, sd),
            weight=trial.subject.mass * STANDARD_GRAVITY,
            phase=markers.phase[inside],
            trial=trial,
            options=options,
            measured=measured,
            model=model,
            markers=markers,
            fit=fit,
            segments=segments,
            inside=inside,
            plates=plates,
            placed=placed,
            reduction=None if recorded.change is None else recorded.change.reduction,
        )

    @property
    def time(self) -> AnyArray:
        """(T,) frames that are analyzed [s]."""
        return self.markers.walk.time[self.inside]

    def _moving(self, errors: Errors) -> tuple[Model, Fit]:
        """The skeleton of the subject with nominal masses, and its poses in all frames, with errors of markers."""
        walk, standing, hips = self.markers.moved(*(errors[name] for name in OF_MARKERS))
        trial, how = self.trial, self.trial.settings.consistency
        tilt = float(errors["pelvis_tilt"][0]) if "pelvis_tilt" in errors else 0.0
        seen = measured_body(trial, trial.subject, trial.hip_regression, walk, standing, hips, False, tilt)
        depths = seen.pelvis_depth, self.measured.pelvis_depth
        same = depths[0] == depths[1] and same_points(seen.offsets, self.measured.offsets)
        model = self.model if same else subject_model(trial, seen, near=self.model)
        targets = Targets.build(model, seen.points, seen.directions, how.weights)
        return model, POSITIONS[how.method](model, targets, walk.time, start=self.fit)

    @cached_property
    def _still(self) -> tuple[Model, Fit]:
        """`_moving` without errors."""
        return self._moving(self.parameters.errors(np.zeros(self.parameters.count)))

    def body(self, errors: Errors) -> SubjectWithErrors:
        """Model, motion and joint moments with errors of markers, masses and plates."""
        still = not any(errors[name].any() for name in (*OF_MARKERS, "pelvis_tilt") if name in errors)
        model, fit = self._still if still else self._moving(errors)
        skeleton = model
        if errors["segment_mass"].any():
            factors = dict(zip(self.segments, np.exp(errors["segment_mass"]).tolist(), strict=True))
            model = skeleton = with_mass_factors(model, factors)
        if "body_mass" in errors and errors["body_mass"].any():
            factor = float(np.exp(errors["body_mass"][0]))
            model = model.weighing(model.mass.scaled(factor))
        time, how = self.markers.walk.time, self.trial.settings.consistency.derivatives
        if how == "constraints" and self.reduction is None and self.trial.predicted_spans is None:
            derivatives = [
                derivative[self.inside] for derivative in spline_derivatives(model, time, fit.coordinates)
            ]
            wrenches = self._on_plates(self._measured(errors)[self.inside])
        else:
            motion = DERIVATIVES[how](model, time, fit)
            if self.reduction is not None:
                body = NaturalBody(model, motion, self._on_plates(self._measured(errors)))
                motion = self.reduction.reduced(body).body.motion
            wrenches = self._wrenches(model, motion, errors)
            motion = motion.frames(self.inside)
            derivatives = [motion.time, motion.coordinates, motion.rates, motion.second]
        motion, segments = moving_bodies(model, *derivatives)
        loads = distal_loads(model, segments, wrenches)
        moments = known_moments(self.trial, model, motion, generalized_loads(model, motion, loads))
        rows = [model.dof(dof) for dof in self.layout.dofs]
        # segments of other masses change no muscle, a heavier body the strength by its rule
        muscles = self._placed_on(model) if model is skeleton else self.options.muscles(model, self._on_sides)
        ground = np.full((len(motion.time), len(self.layout.sides), 3), np.nan)
        for place, side in enumerate(self.layout.sides):
            for wrench in wrenches:
                if side in SIDES and wrench.body == f"foot_{side}":
                    known = self.trial.known(side, motion.time)
                    ground[known, place] = wrench.force[known]
        still = still and self.reduction is None
        angle, moment = motion.coordinates[:, rows], moments[:, rows]
        of_all = loads, wrenches, moments
        return SubjectWithErrors(model, motion, *of_all, angle, moment, muscles, ground, still)

    def _placed_on(self, model: Model) -> Sequence[ScaledMuscles]:
        """The muscles on a skeleton of the subject; placed again only where dimensions differ on which they depend."""
        if model.rigid_bodies is self.model.rigid_bodies:
            return self.placed
        same = np.array_equal(model.standing[self._bones], self.model.standing[self._bones])
        if not (same and model.pelvis_depth == self.model.pelvis_depth):
            return self.options.muscles(model, self._on_sides)
        paths = (replace(group.paths, rigid_bodies=model.rigid_bodies) for group in self.placed)
        return [replace(group, paths=some) for group, some in zip(self.placed, paths, strict=True)]

    @cached_property
    def _on_sides(self) -> Sequence[ScaledMuscles]:
        """The muscles of the set on each side of the subject without errors."""
        return self.options.on_sides(self.model)

    @cached_property
    def _bones(self) -> Indices:
        """The points and vectors that place the muscles: of their bones, and of the bodies that their joints move."""
        topology, reference = self.model.topology, self.options.database.reference
        joints = [self.model.joint(dof) for group in self.placed for dof in group.dof_names]
        moved = self.model.tree.distal_frames[: len(topology.bodies), joints].any(axis=1)
        names = {name for body in np.flatnonzero(moved) for name in topology.bodies[body].members}
        of_bones = (name for b in reference.segments for name in (b.origin, b.end, b.forward) if name)
        names |= {sided(name, side, topology.slot) for name in of_bones for side in SIDES}
        return np.sort([topology.slot[name] for name in names])

    def _wrenches(self, model: Model, motion: Motion, errors: Errors) -> list[Wrench]:
        """Forces on the feet in the analyzed frames of a motion over all frames of the markers.

        The center of pressure of each plate moved by d adds d x F. What no plate measured is predicted from the motion,
        with errors of its own.
        """
        measured = self._measured(errors)
        if self.trial.predicted_spans is None:
            return self._on_plates(measured[self.inside])
        predicted = np.stack([self.trial.predicted(side, motion.time) for side in SIDES], axis=1)
        curves = errors["predicted_force"], errors["predicted_pressure"]
        of_frames = predicted, self.inside, self.phase, self.weight
        return _on_feet(predicted_with_errors(model, motion, measured, *of_frames, *curves), SIDES)

    def _measured(self, errors: Errors) -> AnyArray:
        """Force [N] and moment about the global origin [N m] on the right and the left foot by plates, (T', 2, 6)."""
        measured = np.zeros((len(self.markers.walk.time), len(SIDES), 6))
        for (side, force, moment), by in zip(self.plates, errors["center_of_pressure"], strict=True):
            moment = moment + vector_product(np.append(by, 0.0), force)
            measured[:, SIDES.index(side)] += np.concatenate([force, moment], axis=1)
        return measured

    def _on_plates(self, measured: AnyArray) -> list[Wrench]:
        """The wrenches (T, 2, 6) on the feet that have plates."""
        return _on_feet(measured, {side for side, _, _ in self.plates})

    @cached_property
    def points(self) -> tuple[AnyArray, AnyArray]:
        """Number of the part of each path point (P,) of all muscles, and number of the point within its muscle."""
        owner = [group.layout.point_muscle for group in (placement.paths for placement in self.placed)]
        part = np.repeat(np.arange(len(owner)), [len(of) for of in owner])
        rank = [np.arange(len(of)) - np.searchsorted(of, of) for of in owner]
        return part, np.concatenate(rank)

    def muscles(self, body: SubjectWithErrors, errors: Errors, number: int) -> ScaledMuscles:
        """The muscles of one part, by its number, with errors of path and parameters."""
        muscles = body.muscles[number]
        if errors["muscle_path"].any():
            muscles = _on_other_paths(body.model, muscles, errors["muscle_path"][self.points[0] == number])
        changed = parameters_with_errors(muscles.parameters, errors, self.layout.muscles[number], self.person)
        return replace(muscles, parameters=changed)

    @cached_property
    def _states(self) -> dict[int, ScaledState]:
        """States of the muscles along the motion without errors, by the number of their part (see `part`)."""
        return {}

    def part(self, body: SubjectWithErrors, errors: Errors, number: int) -> SharingGroup:
        """One group of muscles, by its number, with errors of its muscles."""
        nominal, muscles = self.nominal[number], self.muscles(body, errors, number)
        if body.still and muscles.paths is self.placed[number].paths:
            if number not in self._states:
                self._states[number] = muscle_state(body.model, self.placed[number], body.motion)
            state = self._states[number].with_parameters(muscles)
        else:
            state = muscle_state(body.model, muscles, body.motion)
        inputs = body.model, body.motion, body.loads, state, body.moments
        joints = MuscleJoints(body.model, state.muscles, self.ligament(errors))
        return sharing_group(self.options, *inputs, nominal.usable, nominal.emg, joints)


def _on_feet(wrenches: AnyArray, sides: Collection[Side]) -> list[Wrench]:
    """The wrenches (T, 2, 6) on the feet of some sides."""
    both = zip(SIDES, np.moveaxis(wrenches, 1, 0), strict=True)
    return [Wrench(f"foot_{side}", *np.split(wrench, 2, axis=1)) for side, wrench in both if side in sides]


def _on_other_paths(model: Model, muscles: ScaledMuscles, offset: AnyArray) -> ScaledMuscles:
    """Muscles whose path points (P, 3) are moved in the standing pose [m]; k of the lengths follows the path."""
    moved = replace(muscles.paths, standing=muscles.paths.standing + offset)
    paths = adjust_switches(model, moved)
    still, angles = model.standing[None], np.zeros((1, len(model.topology.dof_names)))
    longer = paths.lengths(still, angles)[0] / muscles.paths.lengths(still, angles)[0]
    parameters = replace(
        muscles.parameters,
        optimal_fiber_length=longer * muscles.parameters.optimal_fiber_length,
        tendon_slack_length=longer * muscles.parameters.tendon_slack_length,
    )
    return replace(muscles, paths=paths, parameters=parameters)
