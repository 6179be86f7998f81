"""The pipeline of a body, repeated with other inputs, for samples and derivatives.

Two kinds: a recording (recorded_replay.py) and an OpenSim model along its coordinates (model_replay.py).
The sources of error are rows of sources.toml, with the size of each in this analysis.

Predicted ground reactions err by smooth curves over the stride, of the force on a foot and of where it acts.
The force of a predicted foot is off by

    e_k = sd r_k W s (1 + g) w_k(phase),    w = (z_0 + z_1 cos + z_2 sin + z_3 cos 2 + z_4 sin 2) / sqrt(3)

along each axis k, with the body weight W and standard normal z, so that w has the standard deviation 1 in every frame.
s rises from 0 to 1 with the first tenth of W on the foot; g does where two predicted feet divide the load between them,
which no law of motion determines. The point where the force acts moves forward and to the left by such curves. A wrong
mass of the body changes all predicted forces in proportion.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import prod
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from musclesolve._util.arrays import AnyArray, Array, Indices, Mask, split_named, vector_product
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.checks import check_number, check_type
from musclesolve._util.messages import check_known
from musclesolve._util.sides import ALL_SIDES, SIDES, side_of
from musclesolve.dynamics.inverse.predicted_reactions import predicted_reactions
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error
from musclesolve.laboratory.recording.trial_settings import UncertaintySettings
from musclesolve.laboratory.trial.dependent_settings import error_keys
from musclesolve.models.body import Body, Sharing, SharingGroup, SolvedGroup
from musclesolve.models.body_sharing import share_part, sharing_problem
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.muscles.person import PersonMuscles
from musclesolve.sharing.cost.sum_of_terms import varied
from musclesolve.sharing.problem import Problem
from musclesolve.tables.settings import settings_of

MILLIMETER, DEGREE = 1e-3, math.pi / 180.0
BODY_WEIGHTS = "body weights"


@dataclass(frozen=True)
class Source:
    """One source of error."""

    name: str  # name in results
    key: str  # name in trial files and arguments, with the unit
    sd: float  # usual standard deviation, in the unit of the key
    label: str  # for figures
    about: str  # description of the error
    source: str  # source of the number

    @property
    def unit(self) -> str:
        """Unit of its standard deviation: "m", "rad", "body weights", or "1" where it is relative."""
        units = {"mm": "m", "deg": "rad", "bw": BODY_WEIGHTS}
        return units.get(self.key.rpartition("_")[2], "1")

    def in_si(self, sd: float) -> float:
        """A standard deviation in the unit of the key as one in `unit`."""
        return sd * {"m": MILLIMETER, "rad": DEGREE}.get(self.unit, 1.0)


@cache
def sources() -> dict[str, Source]:
    """Every source by its name, as ``sources.toml`` has them."""
    return {name: Source(name=name, **of) for name, of in bundled_toml(__package__, "sources.toml").items()}


def standard_deviations(
    stated: Mapping[str, float], changed: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Source -> standard deviation in SI: as given by key, else as a trial file states by key, else the usual one."""
    expected = "keys and numbers, such as {'marker_placement_mm': 3}"
    changes = dict(check_type({} if changed is None else changed, Mapping, "standard deviations", expected))
    keys = [source.key for source in sources().values()]
    for key, sd in changes.items():
        check_known([key], "source of error", keys, where="standard deviations")
        most = settings_of(UncertaintySettings)[key].maximum
        expected = f"a number from 0, which switches the source off, to {most:g}"
        check_number(
            sd, f"the standard deviation {key}", expected, least=0.0, most=most, where="standard deviations"
        )
    chosen = {source.key: source.sd for source in sources().values()} | dict(stated) | changes
    return {name: source.in_si(float(chosen[source.key])) for name, source in sources().items()}


def check_sources(sds: Mapping[str, float], body: str, person: bool = False, predicted: bool = False) -> None:
    """Refuse standard deviations, by key, of sources that a body does not have (`error_keys`), but for zeros."""
    known = error_keys(body, person, predicted)
    about = {source.key: source.about for source in sources().values()}
    for key, sd in sds.items():
        if sd and key not in known:
            raise input_error(
                "conflict",
                where="standard deviations",
                problem=f"{key} does not err here: {about[key]}",
                expected=f"sources of this body: {', '.join(map(str, known))}",
                remedy="leave it out, or write 0",
            )


@dataclass(frozen=True)
class Parameters:
    """Parameters that may err, by source."""

    shapes: Mapping[str, tuple[int, ...]]  # source -> shape of the array of its parameters
    sd: Mapping[str, float]  # source -> standard deviation, SI

    @property
    def count(self) -> int:
        """Standard normal numbers per sample; the numbers of sources that are switched off are drawn too."""
        return sum(prod(shape) for shape in self.shapes.values())

    def draw(self, seed: int, sample: int) -> Array:
        """The standard normal numbers (count,) of a sample, from child number `sample` of the seed.

        So a sample depends neither on its process nor on other samples.
        """
        stream = np.random.SeedSequence(seed, spawn_key=(sample,))
        return np.random.default_rng(stream).standard_normal(self.count)

    def errors(self, numbers: Array) -> dict[str, Array]:
        """Source -> error of its parameters from standard normal numbers (count,); of a factor, its logarithm."""
        return {name: self.sd[name] * part for name, part in split_named(numbers, self.shapes).items()}


Errors = dict[str, AnyArray]

PERSON = "calibration"
"""The source of error of the factors of one person, in standard deviations of their covariance."""
MUSCLE_WEIGHT = "muscle_weight"
"""The source that changes the weight of each muscle in the cost."""
OF_COST = ("cost_exponent", "multi_joint_weight", MUSCLE_WEIGHT)
"""Sources that change the cost."""
CO_CONTRACTION, CONTACT_MODEL = "co_contraction", "contact_model"
"""The sources that keep muscles active, and that change the contact forces alone."""
LIGAMENT = "patellar_ligament"
"""The source that changes the load of the quadriceps on a knee."""


def muscle_shapes(muscles: int) -> dict[str, tuple[int, ...]]:
    """Source -> shape of its parameters, for sources of the numbers of muscles."""
    numbers = dict.fromkeys(
        ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length"), (muscles,)
    )
    return {"strength": (1,), **numbers}


def sharing_shapes(muscles: int, joints: int) -> dict[str, tuple[int, ...]]:
    """Source -> shape of its parameters, for sources of force sharing and joint loads, independent of the body.

    The contact model of each joint has a constant, a cosine and a sine; the patellar ligaments have one arm, since
    the knees of a person are alike. They are drawn behind all others but the errors of a person, so that the others are
    the same whether these are switched on or off.
    """
    shapes: dict[str, tuple[int, ...]] = {
        "cost_exponent": (1,),
        "multi_joint_weight": (1,),
        MUSCLE_WEIGHT: (muscles,),
        CO_CONTRACTION: (1,),
    }
    return shapes | ({CONTACT_MODEL: (joints, 3), LIGAMENT: (1,)} if joints else {})


@dataclass(frozen=True, eq=False)
class ReplayLayout:
    """Numbering of the N muscles, J joints and S sides of a body by its parts, the same in all samples.

    time (T,) [s] and dofs (M) of the results. muscles, joints: numbers of each part's among all of the body; parts:
    numbers of the parts whose verdict counts for each side. muscle_side (N,), joint_side (J,): the side, by number,
    whose verdict counts for each muscle or joint.
    """

    time: Array
    dofs: tuple[str, ...]
    sides: tuple[str, ...]
    muscles: tuple[Indices, ...]
    joints: tuple[Indices, ...]
    parts: tuple[Indices, ...]
    muscle_side: Indices
    joint_side: Indices

    @classmethod
    def from_parts(
        cls, parts: Sequence[SharingGroup], dofs: Sequence[str], muscles: Sequence[str], joints: Sequence[str]
    ) -> Self:
        """The layout of parts of a body, with its degrees of freedom, muscles and joints in its order."""
        sides = tuple(side for side in ALL_SIDES if any(side in part.sides for part in parts))
        of_parts = {
            "muscles": (tuple(muscles), [part.state.parameters.names for part in parts]),
            "joints": (tuple(joints), [() if part.loads is None else part.loads.joints for part in parts]),
        }
        numbers, verdict = {}, {}
        for kind, (known, names) in of_parts.items():
            numbers[kind] = tuple(np.array([known.index(name) for name in some], np.intp) for some in names)
            verdict[kind] = np.zeros(len(known), np.intp)
            for part, some in zip(parts, names, strict=True):
                for name in some:
                    side = side_of(name) if side_of(name) in part.sides else part.sides[-1]
                    verdict[kind][known.index(name)] = sides.index(side)
        return cls(
            time=parts[0].time,
            dofs=tuple(dofs),
            sides=sides,
            parts=tuple(np.flatnonzero([side in part.sides for part in parts]) for side in sides),
            muscles=numbers["muscles"],
            joints=numbers["joints"],
            muscle_side=verdict["muscles"],
            joint_side=verdict["joints"],
        )

    def over_muscles(self, arrays: Sequence[Array]) -> Array:
        """Arrays (..., n) of the muscles of each part as one (..., N) of all muscles."""
        return _scattered(arrays, self.muscles, len(self.muscle_side))

    def over_joints(self, arrays: Sequence[Array]) -> Array:
        """Arrays (..., j) of the joints of each part as one (..., J) of all joints."""
        return _scattered(arrays, self.joints, len(self.joint_side))


def _scattered(arrays: Sequence[Array], columns: Sequence[Indices], count: int) -> Array:
    whole = np.zeros((*arrays[0].shape[:-1], count))
    for array, some in zip(arrays, columns, strict=True):
        whole[..., some] = array
    return whole


def fields_of(
    body: Body, dofs: Sequence[str], shapes: dict[str, tuple[int, ...]], sd: Mapping[str, float]
) -> dict[str, Any]:
    """The fields of a `Replay` that follow from its body, from source -> shape of its parameters.

    The factors of a person are behind: all other numbers stay as they are.
    """
    of_person = {} if body.person is None else {PERSON: (len(body.person.parameters),)}
    return {
        "parameters": Parameters(shapes | of_person, sd),
        "layout": ReplayLayout.from_parts(body.parts, dofs, body.muscles, body.joints),
        "sharing": body.sharing.on_one_thread,
        "person": body.person,
        "nominal": body.parts,
    }


class SampleBody(Protocol):
    """The body of a sample: angle and moment (T, M) of the degrees of freedom [rad, N m; m, N of a translation]."""

    @property
    def angle(self) -> Array: ...  # noqa: D102
    @property
    def moment(self) -> Array: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Replay(ABC):
    """A prepared body that can be computed again with errors in its inputs.

    sharing: how its moments are shared; person: whose factors are on the muscles, with the names of the muscles;
    nominal: the parts of the body without errors; weight: of the body [N]; phase (T,): of the stride of a recording, of
    the whole motion of a model [rad].
    """

    moves_ground: ClassVar[bool]
    """Whether ground reactions have errors of their own, and statistics follow them."""
    parameters: Parameters
    layout: ReplayLayout
    sharing: Sharing
    person: PersonMuscles | None
    nominal: Sequence[SharingGroup]
    weight: float
    phase: Array

    @abstractmethod
    def body(self, errors: Errors) -> Any:
        """Compute the body with all errors except errors of muscles, a `SampleBody`."""

    @abstractmethod
    def part(self, body: Any, errors: Errors, number: int) -> SharingGroup:
        """One part of such a body, by its number, with errors of its muscles."""

    @property
    def points(self) -> tuple[AnyArray, AnyArray]:
        """Number of the part of each path point (P,) that has errors, and number of the point within its muscle."""
        return np.zeros(0, np.intp), np.zeros(0, np.intp)

    def meeting(self, source: str) -> Indices:
        """A number for each parameter of a source, (p,); equal numbers never meet in one part of the body."""
        places = np.arange(prod(self.parameters.shapes[source]))
        if self.parameters.shapes[source] == (len(self.layout.muscle_side),):
            for muscles in self.layout.muscles:
                places[muscles] = np.arange(len(muscles))
        return places

    def run(self, errors: Errors) -> tuple[Any, list[SolvedGroup]]:
        """Run the whole pipeline with errors; zeros give the nominal result."""
        body = self.body(errors)
        parts = [self.part(body, errors, number) for number in range(len(self.layout.muscles))]
        return body, [
            share_part(part, self.sharing_with(errors, part, number), self.problems[number])
            for number, part in enumerate(parts)
        ]

    @cached_property
    def problems(self) -> list[Problem]:
        """The problem of each part without errors, like which the others are."""
        return [sharing_problem(part, self.sharing) for part in self.nominal]

    def sharing_with(self, errors: Errors, part: SharingGroup, number: int) -> Sharing:
        """Return the sharing of a part, by its number, with errors of the cost, and with co-contraction."""
        exponent, several = errors["cost_exponent"][0], errors["multi_joint_weight"][0]
        of_each = errors[MUSCLE_WEIGHT][self.layout.muscles[number]]
        least = min(abs(self.sharing.least_activation + float(errors[CO_CONTRACTION][0])), 1.0)
        sharing = replace(self.sharing, least_activation=least)
        if exponent or several or of_each.any():
            crossed = part.state.parameters.joints_crossed
            factor = np.exp(of_each + several * (crossed > 1.0))
            sharing = replace(sharing, cost=varied(sharing.cost, float(np.exp(exponent)), factor))
        return sharing

    def ligament(self, errors: Errors) -> float:
        """Factor on the arm of the patellar ligaments."""
        return float(np.exp(errors[LIGAMENT][0])) if LIGAMENT in errors else 1.0

    def contact_error(self, errors: Errors) -> Array:
        """The errors of the contact model (T, J) [N], of the size of each contact force.

        sd W (z_0 + z_1 cos + z_2 sin) / sqrt(2) of the phase, W the body weight: sd W in every frame.
        """
        if CONTACT_MODEL not in errors:
            return np.zeros((len(self.phase), 0))
        wave = np.stack([np.ones_like(self.phase), np.cos(self.phase), np.sin(self.phase)])
        return np.asarray(self.weight * np.sqrt(0.5) * (errors[CONTACT_MODEL] @ wave).T)


def parameters_with_errors(
    parameters: MuscleParameters, errors: Errors, columns: Indices, person: PersonMuscles | None = None
) -> MuscleParameters:
    """Parameters of n muscles with their errors, which are those at the columns (n,) among all muscles.

    Numbers with a factor of a person have the errors of the factors, whose logarithms err by S z: S S^T is their
    covariance, z (p,) the errors of the source `PERSON`. They have no others: the calibration saw them.
    """
    names, optimal = parameters.names, parameters.optimal_fiber_length
    exponent = {
        "max_isometric_force": errors["strength"] + errors["max_isometric_force"][columns],
        "optimal_fiber_length": errors["optimal_fiber_length"][columns],
        "tendon_slack_length": optimal * errors["tendon_slack_length"][columns],
        "tendon_strain": np.zeros(len(names)),
    }
    factor = {quantity: np.ones(len(names)) for quantity in exponent}
    if person is not None:
        variance, axes = np.linalg.eigh(person.covariance)
        off = axes @ (np.sqrt(np.maximum(variance, 0.0)) * errors[PERSON])
        for quantity in exponent:
            exponents = person.exponents(quantity, names)
            factor[quantity] = np.exp(exponents @ off)
            exponent[quantity] = np.where(exponents.any(axis=1), 0.0, exponent[quantity])
    slack = parameters.tendon_slack_length * factor["tendon_slack_length"] + exponent["tendon_slack_length"]
    return replace(
        parameters,
        tendon_slack_length=np.maximum(slack, 0.0),
        **{
            quantity: getattr(parameters, quantity) * factor[quantity] * np.exp(exponent[quantity])
            for quantity in exponent
            if quantity != "tendon_slack_length"
        },
    )


RATIO = np.array([0.35, 0.25, 1.0])
"""Errors of the horizontal forces, forward and to the left, over the vertical one: of five walks with hidden plates."""
LATERAL = 0.5
"""Error of the point of force across the foot over the error along it."""
CONTACT, EARLY = 0.1, 0.03
"""Body weights from which a foot is in contact; possible delay of the beginning and advance of the end of contacts
[s].
"""
WAVES = 5
"""Numbers of a curve over the stride."""


def prediction_shapes() -> dict[str, tuple[int, ...]]:
    """Source -> shape of the errors that predicted ground reactions have."""
    feet = len(SIDES)
    return {"body_mass": (1,), "predicted_force": (feet, 3, WAVES), "predicted_pressure": (feet, 2, WAVES)}


def predicted_with_errors(
    model: Model,
    motion: Motion,
    measured: Array,
    predicted: Mask,
    inside: Mask,
    phase: Array,
    weight: float,
    force: Array,
    pressure: Array,
) -> Array:
    """Ground reactions (F, 2, 6) in the frames `inside` of a motion, predicted with errors where they are unmeasured.

    measured (T, 2, 6) as the wrenches of `with_prediction_errors`, whose arguments the others are.
    """
    reactions = predicted_reactions(model, motion, np.where(predicted[:, :, None], np.nan, measured))
    whole = np.stack(
        [np.concatenate([foot.force, foot.moment], axis=1) for foot in reactions.wrenches], axis=1
    )
    of_frames = predicted[inside], motion.time[inside], phase, weight, reactions.level
    return with_prediction_errors(whole[inside], *of_frames, force, pressure)


def with_prediction_errors(
    wrenches: Array,
    predicted: Mask,
    time: Array,
    phase: Array,
    weight: float,
    level: float,
    force: Array,
    pressure: Array,
) -> Array:
    """Ground reactions with errors of their prediction.

    Args:
        wrenches: (T, 2, 6) force [N] and moment about the global origin [N m] of the right and the left foot.
        predicted: (T, 2) where these are predicted; others stay as they are.
        time: (T,) [s].
        phase: (T,) of the stride [rad].
        weight: of the body [N].
        level: height of the ground [m].
        force: (2, 3, 5) the numbers z of each foot and axis, times sd [body weights].
        pressure: (2, 2, 5) of each foot, forward and to the left, times sd [m].

    Returns:
        (T, 2, 6); no foot pulls at the ground.
    """
    harmonics = [np.ones_like(phase)]
    for order in (1, 2):
        harmonics += [np.cos(order * phase), np.sin(order * phase)]
    waves = np.stack(harmonics) / np.sqrt(3.0)
    reach = round(EARLY / float(np.mean(np.diff(time)))) if len(time) > 1 else 0
    vertical = np.pad(wrenches[:, :, 2], ((reach, reach), (0, 0)))
    nearby = np.lib.stride_tricks.sliding_window_view(vertical, 2 * reach + 1, axis=0).max(axis=-1)
    contact = np.clip(nearby / (CONTACT * weight), 0.0, 1.0)
    divided = contact.min(axis=1) * predicted.all(axis=1)
    moved = wrenches.copy()
    for foot in range(2):
        strength = weight * contact[:, foot] * (1.0 + divided)
        change = RATIO * strength[:, None] * (force[foot] @ waves).T
        change[:, 2] = np.maximum(change[:, 2], -wrenches[:, foot, 2])
        point = _held(center_of_pressure(wrenches[:, foot, :3], wrenches[:, foot, 3:], level))
        away = np.zeros_like(point)
        away[:, :2] = np.array([1.0, LATERAL]) * (pressure[foot] @ waves).T
        total = wrenches[:, foot, :3] + change
        moment = wrenches[:, foot, 3:] + vector_product(point, change) + vector_product(away, total)
        columns = predicted[:, foot]
        moved[columns, foot] = np.concatenate([total, moment], axis=1)[columns]
    return moved


def _held(point: Array) -> Array:
    """Fill unknown points (T, 3) by the nearest known one; by the origin without any."""
    known = np.flatnonzero(np.isfinite(point).all(axis=1))
    if not known.size:
        return np.zeros_like(point)
    nearest = np.abs(np.arange(len(point))[:, None] - known).argmin(axis=1)
    return np.asarray(point[known[nearest]])
