"""A moving body: the data that the sharing of forces, the labels of a result, studies and figures use.

A body is made from an OpenSim model along its coordinates (opensim/assemble_body.py), from a model of MuJoCo or biorbd
(simulated_body.py), or by the laboratory from a recording. A body has parts whose moments are shared separately, since
no muscle connects them: the legs of the human, groups of coordinates and muscles of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, by_name, slices, stretch
from musclesolve._util.sides import ALL_SIDES, OTHER, side_of, sides_of
from musclesolve.constants import ELASTIC, RIGID, USUAL_LEAST_ACTIVATION
from musclesolve.dynamics.inverse.predicted_reactions import USUAL_STATURE
from musclesolve.models.actuator_columns import ActuatorColumns
from musclesolve.models.knee import ContactSpacing
from musclesolve.muscles.metabolic_power import DENSITY, EnergyState, slow_fibers, umberger_2010_recruitment
from musclesolve.muscles.muscle_state import MuscleState, group_blocks, zero_arms
from musclesolve.muscles.person import PersonMuscles
from musclesolve.muscles.strength import leg_muscle_volume
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import SourceFrames, chosen_frames
from musclesolve.sharing.solution import Solution
from musclesolve.sharing.solver.batch import Batch
from musclesolve.sharing.solver.solver_registry import Solver

if TYPE_CHECKING:
    from musclesolve.trajectory.solve_motion import MotionSolution

BLOCK = 512
"""Number of frames in a window of a longer motion; a multiple of the chains of the compiled solver."""
LONG = 4096
"""Number of frames beyond which a recording is computed window by window."""
EVERY = slice(None)
"""All frames."""


@dataclass(frozen=True)
class Sharing:
    """Settings of the sharing of moments among muscles.

    tendon: one of TENDONS; reserve_weight: see `Problem`; least_activation: of every muscle; on_infeasible: see
    `solve`.
    """

    cost: Cost
    solver: Solver
    tendon: str = RIGID
    reserve_weight: float | None = None
    least_activation: float = USUAL_LEAST_ACTIVATION
    on_infeasible: str = "reserve"

    @property
    def elastic(self) -> bool:
        """Return whether tendons are elastic, so that all frames are solved together."""
        return self.tendon == ELASTIC

    @property
    def reads_reactions(self) -> bool:
        """Whether the cost may read joint reactions; costs of users need not state what they read."""
        return not self.cost.built_in or "reaction_matrix" in self.cost.data

    @property
    def on_one_thread(self) -> Sharing:
        """These settings, for problems that are solved side by side."""
        solver = self.solver
        return replace(self, solver=replace(solver, threads=1)) if isinstance(solver, Batch) else self


class Pulls(NamedTuple):
    """Forces and moments at J joints for one newton in each of n muscles: (T, J, n, 3) [1, m].

    patella: force of the femur on the patella of K knees, (T, K, n, 3) [1].
    """

    force: Array
    moment: Array
    patella: Array

    def frames(self, which: slice | Indices) -> Pulls:
        """The pulls in some frames."""
        return Pulls(*(values[which] for values in self))


@dataclass(frozen=True, eq=False)
class JointLoads:
    """Forces and moments at the joints of a part as a function of its tendon forces.

    force  = net        + sum_m F_m sum_p dL_m/dr_p
    moment = net_moment + sum_m F_m [sum_p (r_p - c) x dL_m/dr_p + moment of the guides of its points]

    over the path points p beyond the joint: a muscle pulls each of its points with -F dL/dr, and the joint carries the
    reaction. The moment is about the center c of the joint. Points that move on their bodies with the joint are guided
    by a couple between the two segments, which counts with the muscle, as in its moment arm. About the axis of a degree
    of freedom of a rotating joint the moment is then joint moment - moment arm . tension, the part without muscles.
    The quadriceps pulls at the shank through the patellar ligament (knee.py). Axes of the laboratory: forward, left,
    up.

    net, net_moment: on the distal segment without muscle forces, (T, J, 3) [N, N m] over `joints`. pulls: gives what
    one newton in each muscle adds in some frames: `Pulls.frames` of pulls in memory, or a function that computes them:
    they take more memory than all other arrays of a body. knees: those with a patella, which are among the joints.
    under: gives what tendon forces (F, n) in F frames add, as pulls of groups of muscles, where this takes less time.
    """

    joints: tuple[str, ...]
    net: Array
    net_moment: Array
    pulls: Callable[[slice | Indices], Pulls]
    knees: tuple[str, ...] = ()
    under: Callable[[slice | Indices, Array], Pulls] | None = None

    @cached_property
    def all_pulls(self) -> Pulls:
        """The pulls in all frames."""
        return self.pulls(EVERY)

    def forces(self, tension: Array) -> Array:
        """Forces on the distal segments with tendon forces (T, n) [N], (T, J, 3) [N]."""
        return self.net + self._sums(tension)[0]

    def _sums(self, tension: Array) -> Sequence[Array]:
        """Force and moment at the joints and force on the patellae by tendon forces (T, n) [N], (T, J, 3) each."""
        if self.under is not None:
            return [pull.sum(axis=2) for pull in self.under(EVERY, tension)]
        return [(tension[:, None, None] @ pull)[:, :, 0] for pull in self.all_pulls]

    def carried(self, tension: Array) -> dict[str, dict[str, Array]]:
        """Loads of the joints with tendon forces (T, n) [N]: arrays (T, 3) by joint.

        contact_force [N] and contact_moment [N m] on the distal segment, about the joint center;
        patellofemoral_force [N] of the femur on the patella.
        """
        force, moment, patella = self._sums(tension)
        return {
            "contact_force": by_name(self.joints, self.net + force),
            "contact_moment": by_name(self.joints, self.net_moment + moment),
            "patellofemoral_force": by_name(self.knees, patella),
        }

    def contact(self, tension: Array) -> dict[str, Array]:
        """Force on the distal segment with tendon forces (T, n) [N], (T, 3) [N] by joint."""
        return by_name(self.joints, self.forces(tension))

    def frames(self, which: slice | Indices) -> JointLoads:
        """The loads in some frames, with their pulls in memory, or computed when they are needed."""
        under, rows = self.under, np.arange(len(self.net))[which]
        loads = replace(self, net=self.net[which], net_moment=self.net_moment[which])
        if under is None:
            return replace(loads, pulls=self.pulls(which).frames)
        return replace(
            loads,
            pulls=lambda some: self.pulls(rows[some]),
            under=lambda some, tension: under(rows[some], tension),
        )

    def alike(self, count: int, joints: slice, muscles: slice) -> JointLoads:
        """Arrange `count` groups of joints and muscles of equal size in one frame as `count` frames of one group.

        joints, muscles: positions of the groups, one after the other. Groups with knees are not possible.
        """
        names = self.joints[joints]
        net, net_moment = (array[0, joints].reshape(count, -1, 3) for array in (self.net, self.net_moment))
        force, moment = (group_blocks(array[:, joints, muscles], count) for array in self.all_pulls[:2])
        pulls = Pulls(force, moment, force[:, :0])
        return JointLoads(names[: len(names) // count], net, net_moment, pulls.frames)

    @property
    def matrix(self) -> Array:
        """All force components for one newton in each muscle, (T, 3 x joints, n)."""
        across = self.all_pulls.force
        frames, joints, muscles, _ = across.shape
        rows = np.empty((frames, 3 * joints, muscles))
        rows.reshape(frames, joints, 3, muscles)[:] = across.transpose(0, 1, 3, 2)
        rows.flags.writeable = False  # a problem need not copy it
        return rows

    def offset(self, passive_force: Array) -> Array:
        """All joint force components (T, 3 x joints) [N] with passive muscle forces (T, n) [N] alone."""
        return self.forces(passive_force).reshape(len(passive_force), 3 * len(self.joints))

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components: knee_r_x is the forward component at the right knee."""
        return tuple(f"{joint}_{axis}" for joint in self.joints for axis in "xyz")


@dataclass(frozen=True, eq=False)
class SharingGroup:
    """A part of a body: degrees of freedom and muscles whose moments are shared separately, along T frames.

    sides: sides whose verdict is the verdict of the part, of "r", "l" and "other"; a leg has one. dofs: the m degrees
    of freedom of the moment arms; shared: the ones whose moments the muscles produce. state: of the n muscles. moment
    (T, m) [N m; N of a translation]: net joint moments, NaN where they were not measured. usable (T,): frames with a
    valid motion. time (T,) [s], NaN of frames without order. loads: None without ground reactions. emg (T, n):
    activations expected from EMG, NaN where not measured; None without EMG. angle, rate (T, m) [rad, rad/s; m, m/s of a
    translation]: of the degrees of freedom, None where not kept. largest_activation (T, n): None where it is 1.
    source_frames: see `Problem`. of_all_frames: arrays of all frames that the problem of some frames has,
    `Problem.largest_arm`. actuators: those that bear moments beside the muscles.
    """

    sides: tuple[str, ...]
    dofs: tuple[str, ...]
    shared: tuple[str, ...]
    state: MuscleState
    moment: Array
    usable: Mask
    time: Array
    loads: JointLoads | None = None
    emg: Array | None = None
    angle: Array | None = None
    rate: Array | None = None
    largest_activation: Array | None = None
    source_frames: SourceFrames | None = None
    of_all_frames: Mapping[str, Any] = field(default_factory=dict)
    actuators: ActuatorColumns | None = None

    def frames(self, which: slice | Indices, loaded: bool = False) -> SharingGroup:
        """Select some frames of the part, without loads unless they are needed."""
        selected = {name: array[which] for name, array in over_frames(self).items()}
        loads = self.loads.frames(which) if loaded and self.loads is not None else None
        source = chosen_frames(self.source_frames, len(self.time), which)
        actuators = None if self.actuators is None else self.actuators.frames(which)
        further: dict[str, Any] = {"loads": loads, "source_frames": source, "actuators": actuators}
        return replace(self, state=self.state.frames(which), **further, **selected)

    def part(
        self,
        dofs: Indices,
        muscles: Indices,
        loads: JointLoads | None = None,
        actuators: Indices | None = None,
    ) -> SharingGroup:
        """Some degrees of freedom, the muscles and actuators that act on them alone, by number, and their loads."""
        names = tuple(self.dofs[k] for k in dofs)
        return replace(
            self,
            sides=sides_of(names),
            dofs=names,
            shared=names,
            state=self.state.part(dofs, muscles),
            moment=self.moment[:, dofs],
            angle=None if self.angle is None else self.angle[:, dofs],
            rate=None if self.rate is None else self.rate[:, dofs],
            largest_activation=None
            if self.largest_activation is None
            else self.largest_activation[:, muscles],
            loads=loads,
            actuators=None
            if self.actuators is None or actuators is None
            else self.actuators.part(dofs, actuators),
        )

    @cached_property
    def rows(self) -> slice | Indices:
        """The shared degrees of freedom among `dofs`: a slice where they are consecutive."""
        return stretch(np.array([self.dofs.index(name) for name in self.shared], np.intp))

    @property
    def shared_moment(self) -> Array:
        """(T, shared) net moments of the shared degrees of freedom [N m]."""
        return self.moment[:, self.rows]

    @cached_property
    def measured(self) -> Mask:
        """(T,) the frames whose shared moments are known."""
        return np.asarray(np.isfinite(self.shared_moment).all(axis=1))


def over_frames(owner: Any) -> dict[str, Any]:
    """The arrays of a part, of the state of its muscles or of its loads, all of them over frames."""
    values = {part.name: getattr(owner, part.name) for part in fields(owner)}
    return {name: array for name, array in values.items() if isinstance(array, np.ndarray)}


@dataclass(frozen=True, eq=False)
class TendonStates:
    """Solved states of the fibers and elastic tendons of n muscles, (T, n) each; NaN in frames without a solution.

    fiber_length [m], fiber_velocity [m/s], cos_pennation; force_capacity and passive_force [N] at the tendon;
    tendon_length [m], tendon_strain [1], tendon_energy [J], fiber_power [W]. defect: the balance error in the middle
    between a frame and the next one (see `MotionSolution`), NaN at the end of each run.
    """

    fiber_length: Array
    fiber_velocity: Array
    cos_pennation: Array
    force_capacity: Array
    passive_force: Array
    tendon_length: Array
    tendon_strain: Array
    tendon_energy: Array
    fiber_power: Array
    defect: Array

    @classmethod
    def empty(cls, frames: int, muscles: int) -> TendonStates:
        """States of all frames and muscles, NaN throughout."""
        return cls(*(np.full((frames, muscles), np.nan) for _ in fields(cls)))

    def store(self, first: int, motion: MotionSolution) -> None:
        """Store the solved frames of a motion that begins with frame number `first`."""
        solved = motion.solved
        rows = first + np.flatnonzero(solved)
        for name in (member.name for member in fields(self)[:-1]):
            getattr(self, name)[rows] = getattr(motion, name)[solved]
        between = np.flatnonzero(solved[:-1] & solved[1:])
        self.defect[first + between] = motion.defect[between]


@dataclass(frozen=True, eq=False)
class SolvedGroup:
    """A part, the problem of its muscles and the solution.

    part: with elastic tendons it has the solved state of its muscles; problem_at: gives the problem of some frames,
    with the columns of actuators; tendons: solved states of fibers and tendons, None for rigid tendons; notes:
    sentences for the user on how the motion was solved. stored: what the joints of a long motion carry, see
    `JointLoads.carried`. actuator_force: (T, K) [N m, N], of the actuators of the part; solution: of the muscles.
    """

    part: SharingGroup
    problem_at: Callable[[slice | Indices], Problem]
    solution: Solution
    tendons: TendonStates | None = None
    notes: tuple[str, ...] = ()
    stored: dict[str, dict[str, Array]] | None = None
    actuator_force: Array | None = None

    @property
    def side(self) -> str:
        """The side of a leg, or the first side of a part with several."""
        return self.part.sides[0]

    @property
    def state(self) -> MuscleState:
        """The muscles along the motion."""
        return self.part.state

    @property
    def tension(self) -> Array:
        """Tendon forces (T, n) [N]; NaN in frames without a solution."""
        return np.asarray(self.solution.force + self.state.passive_force)

    @cached_property
    def fiber_ends(self) -> Array:
        """Least and greatest fiber length of each muscle in the frames that are solved, (2, n) [m]; NaN without any."""
        known = np.where(self.solution.solved[:, None], self.state.fiber_length, np.nan)
        return np.stack([extreme.reduce(known, initial=np.nan) for extreme in (np.fmin, np.fmax)])

    @cached_property
    def whole_problem(self) -> Problem:
        """The problem of all frames, with the columns of actuators."""
        return self.problem_at(EVERY)

    @cached_property
    def problem(self) -> Problem:
        """The problem of the muscles in all frames, less the moments that actuators bear in the solution."""
        if self.part.actuators is None or self.actuator_force is None:
            return self.whole_problem
        return self.part.actuators.without(self.whole_problem, self.actuator_force, self.part.rows)

    @property
    def actuator_moment(self) -> Array | None:
        """Moments (T, m) [N m; N of a translation] that actuators bear, NaN in frames without a solution."""
        if self.part.actuators is None or self.actuator_force is None:
            return None
        return self.part.actuators.moment(self.actuator_force)

    @cached_property
    def carried(self) -> dict[str, dict[str, Array]]:
        """See `JointLoads.carried`; empty where no ground reactions are known."""
        loads = self.part.loads
        return self.stored or ({} if loads is None else loads.carried(self.tension))

    @property
    def contact_force(self) -> dict[str, Array]:
        """Force (T, 3) [N] at each joint with muscle forces; no joints where no ground reactions are known."""
        return self.carried.get("contact_force", {})

    @property
    def contact_moment(self) -> dict[str, Array]:
        """Moment (T, 3) [N m] at each joint about its center with muscle forces; no joints without ground reactions."""
        return self.carried.get("contact_moment", {})

    @property
    def patellofemoral_force(self) -> dict[str, Array]:
        """Force (T, 3) [N] of the femur on the patella by the joint of the knee, where ground reactions are known."""
        return self.carried.get("patellofemoral_force", {})

    @property
    def net_reaction(self) -> dict[str, Array]:
        """Force (T, 3) [N] at each joint without muscle forces, NaN in frames that were not measured."""
        if self.part.loads is None:
            return {}
        net = np.where(self.part.measured[:, None, None], self.part.loads.net, np.nan)
        return by_name(self.part.loads.joints, net)


class Body(Protocol):
    """A body along T frames, ready to share its moments.

    dofs: the M degrees of freedom of a result; angle, speed, moment (T, M) [rad, rad/s, N m; m, m/s, N of a
    translation], moment NaN where it was not measured. muscles: the names of all N muscles in the order of a result;
    joints: of the joints whose forces are known; contact_spacing: distance of the medial and the lateral contact of
    the knees among them, by joint. sharing: default settings of the sharing. person: whose
    factors are on the muscles. mass [kg]; stature [m]: None where it is not known.
    kind: "recording", or the source of the moments of a model, "moments" or "loads"; is_predicted: whether ground
    reactions are predicted.
    """

    @property
    def time(self) -> Array: ...  # noqa: D102
    @property
    def dofs(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def angle(self) -> Array: ...  # noqa: D102
    @property
    def speed(self) -> Array: ...  # noqa: D102
    @property
    def moment(self) -> Array: ...  # noqa: D102
    @property
    def muscles(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def joints(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def contact_spacing(self) -> dict[str, ContactSpacing]: ...  # noqa: D102
    @property
    def parts(self) -> Sequence[SharingGroup]: ...  # noqa: D102
    @property
    def sharing(self) -> Sharing: ...  # noqa: D102
    @property
    def person(self) -> PersonMuscles | None: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def is_predicted(self) -> bool: ...  # noqa: D102
    @property
    def mass(self) -> float: ...  # noqa: D102
    @property
    def stature(self) -> float | None: ...  # noqa: D102

    def check(self, sharing: Sharing) -> None:
        """Refuse a cost that needs data that this body lacks."""


OfBody = TypeVar("OfBody", bound=Body, covariant=True)


@dataclass(frozen=True, eq=False)
class Analysis(Generic[OfBody]):
    """A body and the muscle forces of its parts."""

    body: OfBody
    sharing: Sharing
    parts: tuple[SolvedGroup, ...]

    @property
    def notes(self) -> list[str]:
        """Sentences on how the parts were solved, and what the cost is for every one of them."""
        remarks = [self.sharing.cost.remarks(part.problem_at(np.arange(1))) for part in self.parts]
        of_all = [text for text in remarks[0] if all(text in others for others in remarks)] if remarks else []
        return list(dict.fromkeys([*(note for part in self.parts for note in part.notes), *of_all]))

    @cached_property
    def columns(self) -> list[Indices]:
        """Numbers of the muscles of each part among all muscles of the body."""
        number = {name: k for k, name in enumerate(self.body.muscles)}
        return [
            np.array([number[name] for name in part.state.parameters.names], np.intp) for part in self.parts
        ]

    def over_muscles(self, arrays: Sequence[Array]) -> Array:
        """Join arrays (..., n) of the muscles of each part to one array (..., N) of all muscles."""
        whole = np.full((*arrays[0].shape[:-1], len(self.body.muscles)), np.nan, arrays[0].dtype)
        for columns, array in zip(self.columns, arrays, strict=True):
            whole[..., columns] = array
        return whole

    @cached_property
    def moment_arm(self) -> Array:
        """Moment arms (T, M, N) of all muscles about all degrees of freedom."""
        whole = zero_arms(len(self.body.time), len(self.body.dofs), len(self.body.muscles))
        for columns, part in zip(self.columns, self.parts, strict=True):
            rows = map(self.body.dofs.index, part.part.dofs)
            for row, arm in zip(rows, part.state.moment_arm.transpose(1, 2, 0), strict=True):
                for muscle in np.flatnonzero(arm.any(axis=1)):
                    whole[:, row, columns[muscle]] = arm[muscle]
        return whole

    @cached_property
    def sides(self) -> tuple[str, ...]:
        """The sides of the parts: right, left, other."""
        return tuple(side for side in ALL_SIDES if any(side in part.part.sides for part in self.parts))

    def of_side(self, side: str) -> list[SolvedGroup]:
        """The parts whose verdict counts for a side; a failure of the trunk does not count for the legs."""
        return [part for part in self.parts if side in part.part.sides]

    @cached_property
    def muscle_sides(self) -> list[str]:
        """The side whose verdict counts for each muscle: its own, unless its part has no coordinate of that side."""
        sides = [OTHER] * len(self.body.muscles)
        for part, columns in zip(self.parts, self.columns, strict=True):
            for column in columns:
                side = side_of(self.body.muscles[column])
                sides[column] = side if side in part.part.sides else part.part.sides[-1]
        return sides

    @property
    def activation(self) -> Array:
        """Activations (T, N) of all muscles, NaN in frames without a valid solution."""
        solutions = [(part.solution.solved, part.solution.activation) for part in self.parts]
        return self.over_muscles(
            [np.where(solved[:, None], activation, np.nan) for solved, activation in solutions]
        )


TENSION = 0.35e6
"""Specific tension of muscles that do not belong to a leg [Pa]; muscle sets of legs have 0.3 to 0.6e6."""


def energy_state(analysis: Analysis[Body], part: SolvedGroup, frames: slice = EVERY) -> EnergyState:
    """The state of the muscles of a part in some frames, for models of metabolic power.

    The mass of a muscle is its share of the muscles of the leg: their volume is 47 m h + 1285 cm3 of body mass m [kg]
    and stature h [m] (Handsfield et al. 2014, J Biomech 47:631-638), shared in proportion to maximum isometric force
    times optimal fiber length. So the masses do not depend on the specific tension of the muscle set. Muscles of other
    limbs have F0 L0 density / TENSION.
    """
    state, parameters = part.state, part.state.parameters
    names, optimal = parameters.names, parameters.optimal_fiber_length
    fiber_length, fiber_velocity = state.fiber_length[frames], state.fiber_velocity[frames]
    length = fiber_length / optimal
    isometric = np.zeros_like(length)
    for family, columns in parameters.families:
        isometric[:, columns] = family.active(length[:, columns])
    size = parameters.max_isometric_force * optimal
    mass = DENSITY * size / TENSION
    if any("knee" in dof for dof in part.part.dofs):
        sides = np.array([side_of(name) for name in names])
        for side in set(sides):
            of_side = sides == side
            mass[of_side] = DENSITY * leg_volume(analysis) * size[of_side] / size[of_side].sum()
    thickness = optimal * np.sin(parameters.pennation_angle)
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = np.sqrt(np.maximum(1.0 - (thickness / fiber_length) ** 2, 0.0))
        along = np.where(cosine > 0.0, 1.0 / cosine, 0.0)
    return EnergyState(
        activation=part.solution.activation[frames],
        length=length,
        speed=fiber_velocity / optimal,
        isometric=isometric,
        force=part.solution.force[frames] * along,
        passive=state.passive_force[frames] * along,
        fiber_speed=fiber_velocity,
        mass=mass,
        slow=slow_fibers(names),
        velocity=parameters.max_shortening_velocity,
        strength=parameters.max_isometric_force,
    )


def leg_volume(analysis: Analysis[Body]) -> float:
    """Volume of the muscles of one leg of the subject or model [m3]."""
    return 1e-6 * leg_muscle_volume(analysis.body.mass, analysis.body.stature or USUAL_STATURE)


def metabolic_power(analysis: Analysis[Body], part: SolvedGroup) -> Array:
    """Metabolic power (T, n) [W] of the muscles of a part, NaN in frames without a solution."""
    power = np.empty(part.state.fiber_length.shape)
    for block in slices(len(power), BLOCK):
        power[block] = umberger_2010_recruitment(energy_state(analysis, part, block))
    return power
