"""A model of another program, MuJoCo or biorbd, along its positions: its muscles as a body that shares moments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol, Self, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.messages import WarningNote, few, shortened
from musclesolve._util.sides import sides_of
from musclesolve.constants import BIORBD, STANDARD_GRAVITY, USUAL_COST, USUAL_SOLVER
from musclesolve.errors import input_error
from musclesolve.models.body import Sharing, SharingGroup
from musclesolve.models.body_sharing import sharing_problem
from musclesolve.models.knee import ContactSpacing
from musclesolve.muscles.hill_model import PassiveElement
from musclesolve.muscles.muscle_parameters import TENDON_STRAIN, MuscleParameters
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.muscles.scaling.scale_muscles import separate_groups
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.solver_registry import find_solver

_NO_ARM = 1e-12
"""Largest moment arm of a coordinate on which no muscle acts [m; 1 if a length]."""
DIFFERENCED = 3
"""Least number of frames whose differences give rates and accelerations."""
_CARRIED = 0.25
"""Force on coordinates without muscles, as a share of the weight, that shows missing loads."""
ANGLE, LENGTH = "rad", "m"
"""Units of positions and coordinates; parts of a quaternion have none."""


class Drawing(NamedTuple):
    """Bodies with their parents (-1: none) and origins (T, B, 3) [m]; paths (T, P, 3) [m] of muscles; z points up."""

    bodies: tuple[str, ...]
    parents: tuple[int, ...]
    origin: Array
    paths: Mapping[str, Array]


class SimulatedMotion(NamedTuple):
    """Muscles at the coordinates on which they act, with the angles (T, m) there, NaN where a coordinate has none.

    units: of these coordinates. left: names of the other ones, and the largest force [N] and moment [N m] that remain
    on them. notes: sentences on what acts and what does not. positions (T, nq): of the motion with what the model
    computes; None where these are the given ones.
    """

    group: SharingGroup
    angle: Array
    units: tuple[str, ...]
    left: tuple[tuple[str, ...], float, float]
    notes: tuple[str, ...] = ()
    positions: Array | None = None


class SimulatedModel(Protocol):
    """A model of another program whose muscles share moments.

    program: its name; file: None of a model in memory. positions: names of the nq numbers of a pose; units: ANGLE,
    LENGTH or "" for each; ranges: least and greatest numbers (nq, 2) by the model. followers: names of positions that
    others determine. muscles: names of the n muscles. mass [kg].
    """

    program: ClassVar[str]
    file: Path | None

    @property
    def positions(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def units(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def ranges(self) -> Array: ...  # noqa: D102
    @property
    def muscles(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def mass(self) -> float: ...  # noqa: D102

    @property
    def followers(self) -> tuple[str, ...]: ...  # noqa: D102

    def along(
        self, time: Array, positions: Array, loads: Path | None = None, contacts: Sequence[str] = ()
    ) -> SimulatedMotion:
        """Muscles along positions (T, nq), under the external loads of a file and some contacts of the program.

        Raises:
            InputError: a position is beyond its limits; the program takes no external loads or contacts, or not these.
        """
        ...

    def drawing(self, positions: Array) -> Drawing:
        """Bodies and paths of muscles at positions (T, nq)."""
        ...

    @property
    def limits(self) -> Array:
        """Least and greatest numbers (nq, 2) of a pose: a turn of an angle, and its range; others are free."""
        low, high = self.ranges.T
        wide = np.stack([np.minimum(low, -2.0 * np.pi), np.maximum(high, 2.0 * np.pi)], axis=1)
        return np.where(np.array(self.units)[:, None] == ANGLE, wide, [-np.inf, np.inf])

    def check_limits(self, pose: Array, file: Path | None = None) -> None:
        """Refuse angles of a motion (T, nq) beyond their limits, which only degrees explain."""
        limits = self.limits
        for frame, k in np.argwhere((pose < limits[:, 0]) | (pose > limits[:, 1]))[:1]:
            raise input_error(
                "dynamics.angle_beyond_a_turn",
                file=file,
                where=f"{self.positions[k]} in frame {frame}",
                angle=pose[frame, k],
            )


def is_simulated(model: object) -> TypeGuard[str | Path]:
    """Whether a file holds a model of MuJoCo or biorbd: by its name, an XML file by its content."""
    if not isinstance(model, str | Path):
        return False
    path = Path(model)
    suffix = path.suffix.casefold()
    if suffix != ".xml":
        return suffix in (BIORBD, ".mjb")
    try:
        with path.open("rb") as stream:
            return b"<mujoco" in stream.read(20_000)
    except OSError:  # said by the reader of OpenSim models
        return False


def simulated_muscles(
    file: Path | None,
    names: tuple[str, ...],
    force: ArrayLike,
    optimal: ArrayLike,
    slack: ArrayLike,
    fastest: ArrayLike,
    pennation: ArrayLike = 0.0,
) -> MuscleParameters:
    """Parameters of muscles whose curves the program computes: no Hill curves, no passive elements.

    Raises:
        InputError: a strength or optimal length is not positive; file: of the model, for the message.
    """
    force, optimal, slack, fastest, pennation, strain, joints = (
        np.array(np.broadcast_to(numbers, len(names)), float)
        for numbers in (force, optimal, slack, fastest, pennation, TENDON_STRAIN, 1.0)
    )
    for what, unit, numbers in (("maximum isometric force", "N", force), ("optimal length", "m", optimal)):
        if (bad := np.flatnonzero(~(numbers > 0.0))).size:
            raise input_error(
                "bad_model",
                file=file,
                where=few([names[k] for k in bad]),
                problem=f"the {what} is {numbers[bad[0]]:g} {unit}",
                expected="a positive number",
                remedy="correct the muscle in the model",
            )
    none = PassiveElement(*np.zeros((3, len(names))))
    return MuscleParameters(
        names, force, optimal, slack, pennation, fastest, strain, joints, families=(), passive=none
    )


def acting(arm: Array) -> Mask:
    """Whether a muscle acts on a coordinate (m, n), by its arms (T, m, n)."""
    return np.asarray((np.abs(arm) > _NO_ARM).any(axis=0))


def simulated_motion(
    time: Array,
    coordinates: Sequence[tuple[str, str, str]],
    arm: Array,
    tau: Array,
    angle: Array,
    rate: Array,
    parameters: MuscleParameters,
    largest_activation: Array | None = None,
    **state: Array,
) -> SimulatedMotion:
    """Muscles at the coordinates on which one acts, of arms (T, m, n) and forces tau (T, m) of all coordinates.

    coordinates: name, unit and moved body of each; angle, rate (T, m); largest_activation: see `SharingGroup`; state:
    further arrays of `MuscleState`. Muscles that act on no coordinate are left out.

    Raises:
        InputError: no muscle acts on any coordinate.
    """
    acts = acting(arm)
    crosses = np.asarray(acts.any(axis=0))
    notes, crossing = tuple[str, ...](), np.flatnonzero(crosses)
    if not crossing.size:
        raise input_error(
            "bad_model",
            where=shortened(parameters.names),
            problem="no muscle of the model acts on a coordinate",
            expected="muscles whose paths change with a coordinate",
            remedy="see whether the joints that the muscles cross are in the model, and free",
        )
    if crossing.size < acts.shape[1]:
        lacking = [name for name, some in zip(parameters.names, crosses, strict=True) if not some]
        notes = (f"Muscles left out, which act on no free coordinate: {shortened(lacking)}.",)
        acts, arm, parameters = acts[:, crossing], arm[:, :, crossing], parameters.muscles(crossing)
        state = {name: array[:, crossing] for name, array in state.items()}
        if largest_activation is not None:
            largest_activation = largest_activation[:, crossing]
    some = np.flatnonzero(acts.any(axis=1))
    names, units, bodies = map(np.array, zip(*coordinates, strict=True))
    crossed: Array = np.array([np.unique(bodies[of_muscle]).size for of_muscle in acts.T], np.float64)
    slack = state["fiber_length"] <= 0.0
    state["fiber_length"] = np.where(slack, 0.0, state["fiber_length"])
    muscles = MuscleState(
        parameters=replace(parameters, joints_crossed=crossed), moment_arm=arm[:, some], slack=slack, **state
    )
    dofs = tuple(names[some].tolist())
    group = SharingGroup(
        sides=sides_of(dofs),
        dofs=dofs,
        shared=dofs,
        state=muscles,
        moment=tau[:, some],
        usable=np.ones(len(time), bool),
        time=time,
        angle=angle[:, some] if np.isfinite(angle[:, some]).all() else None,
        rate=rate[:, some],
        largest_activation=largest_activation,
    )
    rest = ~acts.any(axis=1)
    force, moment = (
        float(np.linalg.norm(tau[:, rest & (units == unit)], axis=1).max()) for unit in (LENGTH, ANGLE)
    )
    left = tuple(names[rest].tolist()), force, moment
    return SimulatedMotion(group, angle[:, some], tuple(units[some].tolist()), left, notes)


def problem_of(motion: SimulatedMotion, least_activation: float, reserve_weight: float | None) -> Problem:
    """The problem of muscles along a motion, for any cost and solver."""
    usual = find_cost(USUAL_COST), find_solver(USUAL_SOLVER)
    chosen = Sharing(*usual, reserve_weight=reserve_weight, least_activation=least_activation)
    return sharing_problem(motion.group, chosen)


@dataclass(frozen=True, eq=False)
class SimulatedBody:
    """A model of another program along its positions (T, nq); see `Body`. files: role -> file; notes: on the files.

    Nothing else was measured: no EMG (emg), no fascicles, and no trial file (trial).

    speed, moment (T, m): of the m coordinates on which muscles act. person_mass: stated mass of the person [kg].
    """

    model: SimulatedModel
    positions: Array
    motion: SimulatedMotion
    sharing: Sharing
    files: Mapping[str, Path]
    notes: tuple[str, ...]
    time: Array
    dofs: tuple[str, ...]
    angle: Array
    speed: Array
    moment: Array
    muscles: tuple[str, ...]
    mass: float
    parts: tuple[SharingGroup, ...]
    contact_spacing: dict[str, ContactSpacing] = field(default_factory=dict)
    joints: tuple[str, ...] = ()
    emg: None = None
    fascicles: None = None
    trial: None = None
    person: None = None
    stature: None = None
    kind: str = "moments"
    is_predicted: bool = False
    person_mass: float | None = None

    @classmethod
    def from_motion(
        cls,
        model: SimulatedModel,
        positions: Array,
        motion: SimulatedMotion,
        sharing: Sharing,
        files: Mapping[str, Path],
        notes: Sequence[str],
    ) -> Self:
        """Groups of coordinates and muscles that no muscle connects are the parts."""
        whole = motion.group
        groups = separate_groups(acting(whole.state.moment_arm))
        parts = tuple(whole.part(dofs, muscles) for dofs, muscles in groups)
        assert whole.rate is not None
        named = whole.state.parameters.names, model.mass, parts
        known = whole.time, whole.dofs, motion.angle, whole.rate, whole.moment
        placed = positions if motion.positions is None else motion.positions
        return cls(model, placed, motion, sharing, files, (*notes, *motion.notes), *known, *named)

    @property
    def warnings(self) -> list[WarningNote]:
        """Warnings where loads of the motion do not carry the model, and of paths that are too short for a fiber."""
        names, force, moment = self.motion.left
        weight, slack = self.mass * STANDARD_GRAVITY, self.motion.group.state.slack
        notes = list[WarningNote]()
        if names and force > _CARRIED * weight:
            text = (
                f"No muscle acts on {few(names, 7)}, where forces of up to {force:.0f} N and moments of up to "
                f"{moment:.0f} N m remain. The loads of the motion do not carry the model of {weight:.0f} N."
            )
            remedy = "give the loads, or let contacts of the simulator act (for MuJoCo: --loads, --contacts)"
            notes.append(WarningNote(text, "model", remedy))
        if slack.any():
            short = [self.muscles[k] for k in np.flatnonzero(slack.any(axis=0))]
            text = (
                f"By the ranges of length of the model, paths leave no length for the fibers of {few(short, 8)} in "
                f"{int(slack.any(axis=1).sum())} of {len(slack)} frames."
            )
            notes.append(
                WarningNote(text, "model", "see whether these paths leave their wraps in such poses")
            )
        return notes

    def check(self, sharing: Sharing) -> None:
        """Costs that need reactions or EMG are refused where the problem lacks them."""
