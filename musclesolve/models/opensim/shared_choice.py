"""Coordinates and muscles of an OpenSim model that take part in the force sharing, and the muscles along a motion."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Mask, grouped, slices
from musclesolve._util.checks import check_choice, check_type
from musclesolve._util.messages import WarningNote, check_known, few, shortened
from musclesolve._util.sides import SIDES
from musclesolve.constants import RIGID
from musclesolve.errors import file_error, input_error
from musclesolve.models.body import BLOCK, SharingGroup
from musclesolve.models.opensim.coordinate_motion import CoordinateMotion
from musclesolve.models.opensim.external_loads import toes_of_side
from musclesolve.models.opensim.geometry import (
    OpenSimGeometry,
    difference_note,
    fiber_path_lengths,
    opensim_geometry,
    shift_note,
    tendon_shifts,
)
from musclesolve.models.opensim.kinematics import joints_crossed
from musclesolve.models.opensim.model import PRESCRIBED, OpenSimModel, OpenSimMuscle
from musclesolve.models.opensim.read_muscles import muscle_parameters
from musclesolve.models.settings import ModelMuscleSettings
from musclesolve.muscles.muscle_state import MuscleState, zero_arms
from musclesolve.muscles.person import PersonMuscles
from musclesolve.muscles.strength import check_tendon_strains, parameter_warnings

LEFT_OUT = {"r": "_l", "l": "_r", "both": ""}
"""Side -> ending of the names to leave out."""
_NAMED = 6


@dataclass(frozen=True, eq=False)
class SharedChoice:
    """Shared coordinates `dofs` (m) and the `muscles` (n) that act on them.

    crossing: independent coordinates on which the length of each muscle depends; notes: sentences on coordinates and
    muscles left out.
    """

    dofs: tuple[str, ...]
    muscles: tuple[OpenSimMuscle, ...]
    crossing: Mapping[str, frozenset[str]]
    notes: tuple[str, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the n muscles."""
        return tuple(muscle.name for muscle in self.muscles)

    @property
    def acts(self) -> Mask:
        """Mask of the muscles that act on each coordinate, (m, n)."""
        return np.array([[dof in self.crossing[name] for name in self.names] for dof in self.dofs])

    @property
    def needed(self) -> frozenset[str]:
        """The independent coordinates on which the lengths of the muscles depend."""
        return frozenset().union(*(self.crossing[name] for name in self.names))


def shared_choice(
    model: OpenSimModel,
    dofs: Sequence[str] | None = None,
    muscles: Sequence[str] | None = None,
    side: str = "both",
    without: Sequence[str] = (),
    without_muscles: Sequence[str] = (),
) -> SharedChoice:
    """Look up the requested coordinates and muscles, or choose them.

    Args:
        dofs: names of coordinates. By default all rotations on which a muscle acts, except locked and driven
            coordinates, coordinates with muscles of the side that is left out, such as at the lumbar joint, and the
            angles of the toes: one ground reaction acts on the foot as a whole, so that inverse dynamics finds the
            moment of the inertia of the toes alone (below 1 N m), which would keep the muscles of the toes at rest
            although they flex the ankle.
        muscles: names; by default all that act on these coordinates.
        side: "r" or "l" leaves out the coordinates and muscles of the other side (_l or _r), except requested names.
        without: names of coordinates that are left out, whose moments no muscle has to produce.
        without_muscles: names of muscles that are left out, also ones with parts that are not supported.
    """
    check_choice(side, "side", LEFT_OUT)
    requested = _known(muscles, model.muscles, "muscle", model) if muscles is not None else None
    left_out = _known(without_muscles, (*model.muscles, *model.pathless), "muscle", model)
    _check_apart(requested or (), left_out, "muscle", "without_muscles")
    candidates = requested or _usual_muscles(model, LEFT_OUT[side], left_out)
    excluded = _known(without, model.coordinates, "coordinate", model)
    notes: dict[str, Sequence[str]] = {}
    if dofs is None:
        other = "" if requested else LEFT_OUT[side]
        across = (
            [name for name in _usual_muscles(model, "", left_out) if name.endswith(other)] if other else []
        )
        shared, notes = _usual_coordinates(model, side, candidates, across, excluded)
    else:
        shared = _known(dofs, model.coordinates, "coordinate", model)
        _check_apart(shared, excluded, "coordinate", "without")
        _check_not_driven(model, shared)
    acting = tuple(name for name in candidates if model.crossing[name] & set(shared))
    _check_served(model, shared, acting)
    _check_unconstrained(model, shared)
    chosen = tuple(model.chosen(acting))
    notes |= {
        "Coordinates left out as requested: {}.": excluded,
        "Muscles left out as requested: {}.": left_out,
        "Muscles left out, which the model switches off: {}.": [
            name
            for name, muscle in model.muscles.items()
            if not muscle.enabled and name not in (*candidates, *left_out)
        ],
        "Muscles left out, which act on no shared coordinate: {}.": [
            name for name in candidates if name not in acting
        ],
    }
    lost, of_parts = _unsupported_parts(model)
    notes |= of_parts
    copies = [
        WarningNote(
            f"{', '.join(names)} are copies of one muscle, with the same points and parameters. The model is too "
            "strong by the copies, and each bears its share of the force.",
            "model",
            f"leave the copies out: --without-muscle {names[-1]}",
        )
        for names in copies_of_muscles(chosen)
    ]
    sentences = [sentence.format(shortened(names, _NAMED)) for sentence, names in notes.items() if names]
    return SharedChoice(shared, chosen, model.crossing, (*model.notes, *lost, *copies, *sentences))


def _check_apart(chosen: Sequence[str], left_out: Sequence[str], what: str, where: str) -> None:
    """Refuse names that are both chosen and left out."""
    if both := [name for name in chosen if name in left_out]:
        raise input_error(
            "conflict",
            where=where,
            problem=f"{', '.join(both)}: to be shared and left out",
            expected=f"a {what} that is shared, or left out",
            remedy="remove each from one of the two lists",
        )


def _usual_coordinates(
    model: OpenSimModel, side: str, muscles: Sequence[str], across: Sequence[str], excluded: Sequence[str]
) -> tuple[tuple[str, ...], dict[str, Sequence[str]]]:
    """The coordinates that are shared by default, see `shared_choice`, and sentences on the ones left out.

    across: muscles of the side that is left out, whose coordinates are left out too.
    """
    other = LEFT_OUT[side]
    free = _crossed(model, muscles) & model.turning - {coupler.dependent for coupler in model.couplers}
    candidates = tuple(
        name
        for name, coordinate in model.coordinates.items()
        if name in free and not coordinate.locked and not (other and name.endswith(other))
    )
    of_both_sides = _crossed(model, across)
    halved = tuple(name for name in candidates if name in of_both_sides)
    candidates = tuple(name for name in candidates if name not in (*halved, *excluded))
    held = frozenset().union(
        *(constraint.involved for constraint in model.other_constraints if constraint.kind == PRESCRIBED)
    )
    prescribed = tuple(name for name in candidates if name in held)
    ends = {toes_of_side(model, side) for side in SIDES}
    of_toes = {name for joint in model.joints if joint.outboard.body in ends for name in joint.moved_by}
    toes = tuple(name for name in candidates if name in of_toes.difference(prescribed))
    shared = tuple(name for name in candidates if name not in (*prescribed, *toes))
    return shared, {
        "Coordinates left out, whose moments muscles of both sides produce: {}; with both sides they are shared.": (
            halved
        ),
        "Coordinates of the toes left out: {}. Ground reactions act on the foot as a whole, and do not show the moment "
        "at the toes; name all coordinates to share it.": toes,
        "Coordinates left out, which the model prescribes over time: {}. Their values come from the file, and the "
        "prescription bears their moments; name all coordinates to share these.": prescribed,
    }


def _crossed(model: OpenSimModel, muscles: Iterable[str]) -> frozenset[str]:
    """The coordinates that muscles cross."""
    return frozenset().union(*(model.crossing[name] for name in muscles))


def _check_not_driven(model: OpenSimModel, dofs: Sequence[str]) -> None:
    """Refuse coordinates that follow from others."""
    for coupler in model.couplers:
        if coupler.dependent in dofs:
            raise file_error(
                "conflict",
                model.file,
                f"{coupler.dependent} is driven by {', '.join(map(str, coupler.independent))}",
                "coordinates that move independently",
                f"choose {', '.join(map(str, coupler.independent))}, whose moment arms "
                "include the driven coordinate",
            )


def _check_served(model: OpenSimModel, dofs: Sequence[str], muscles: Sequence[str]) -> None:
    """Refuse coordinates on which none of the muscles acts."""
    acted_on = _crossed(model, muscles)
    bare = [name for name in dofs if name not in acted_on]
    if bare or not dofs:
        raise file_error(
            "conflict",
            model.file,
            f"no muscle acts on {', '.join(bare) or 'any free angle'}",
            "coordinates that one of the chosen muscles moves",
            "choose other coordinates or muscles",
        )


def _check_unconstrained(model: OpenSimModel, dofs: Sequence[str]) -> None:
    """Refuse coordinates whose moments depend on other coordinates by a constraint that is not supported."""
    for constraint in model.other_constraints:
        if constraint.kind == PRESCRIBED:
            continue
        if constrained := [name for name in dofs if name in constraint.involved]:
            raise file_error(
                "unsupported",
                model.file,
                f"{', '.join(map(str, constrained[:8]))}: the constraint {constraint.name} "
                f"({constraint.kind}) ties these coordinates to others",
                "coordinates that no constraint of this kind acts on",
                "choose other coordinates or muscles, or remove the constraint in OpenSim",
            )


def _unsupported_parts(model: OpenSimModel) -> tuple[list[WarningNote], dict[str, Sequence[str]]]:
    """A warning of forces of the model that are not computed, and sentences on its other parts without support."""
    parts = {name: f"{name} ({kind})" for name, kind in model.unsupported.items()}
    contacts = [part for name, part in parts.items() if _is_contact(name, model)]
    forces = [part for name, part in parts.items() if name.startswith("force ") and part not in contacts]
    warning = WarningNote(
        f"The model has forces that are not computed: {shortened(forces, _NAMED)}. The muscles also get the part of "
        "the joint moments that these forces produce.",
        "model",
        "write them as a force that is computed (docs/opensim.md, what is supported), or share moments "
        "without their part (--moments)",
    )
    return [warning] * bool(forces), {
        "Contacts of the model are left out, because loads or moments stand in their place: {}.": contacts,
        "Parts of the model that are not supported, and are not needed here: {}.": [
            part for name, part in parts.items() if not name.startswith("force ")
        ],
    }


def copies_of_muscles(muscles: Sequence[OpenSimMuscle]) -> list[list[str]]:
    """Names of muscles with the same points, to .1 mm, and the same strength and lengths, whatever their names are."""

    def content(muscle: OpenSimMuscle) -> tuple[object, ...]:
        places = [
            (point.frame.body, *np.round(1e4 * point.frame.place(point.location)), point.condition)
            for point in muscle.points
            if point.location is not None
        ]
        sizes = muscle.max_isometric_force, muscle.optimal_fiber_length, muscle.tendon_slack_length
        return (*places, len(muscle.points), *sizes)

    alike = grouped((content(muscle), muscle.name) for muscle in muscles if muscle.points)
    return [names for names in alike.values() if len(names) > 1]


def _is_contact(part: str, model: OpenSimModel) -> bool:
    """Return whether an unsupported part of a model is a force of contacts."""
    kind = model.unsupported[part]
    return part.startswith("force ") and any(
        word in kind for word in ("HuntCrossley", "Elastic", "HalfSpace")
    )


def _usual_muscles(model: OpenSimModel, other: str, without: Sequence[str]) -> tuple[str, ...]:
    """Names of all other muscles that the model does not disable; each must have a path."""
    model.require_paths(without)
    enabled = [name for name, muscle in model.muscles.items() if muscle.enabled and name not in without]
    return tuple(name for name in enabled if not (other and name.endswith(other)))


def _known(names: Sequence[str], known: Iterable[str], what: str, model: OpenSimModel) -> tuple[str, ...]:
    """Return the names; refuse an unknown or repeated name."""
    check_type(names, Iterable, what, "a list of names")
    names, known = tuple(map(str, [names] if isinstance(names, str) else names)), tuple(known)
    for k, name in enumerate(names):
        check_known([name], what, known, f" in the model {model.name}", model.file)
        if name in names[:k]:
            raise input_error(
                "duplicate_name", problem=f"{what} {name} occurs twice", expected=f"every {what} once"
            )
    return names


COMPARED = 256
"""Number of frames up to which all moment arms are compared with those that OpenSim reports, which take as long again;
of a longer motion a quarter as many."""
LACKING_SHARE = 0.1
"""Share of the peak moment of a coordinate that its muscles may lack, like a reserve."""
_NEARLY_ALL, _OFTEN = 0.9, 0.25
"""Share of the frames with a large moment, and of all frames, in which the moment must exceed the muscles."""
_LEAST_MOMENT = 1.0
"""Peak moment below which a coordinate needs no muscles [N m], like a negligible reserve."""


def muscles_along(
    model: OpenSimModel,
    choice: SharedChoice,
    motion: CoordinateMotion,
    chosen: ModelMuscleSettings,
    person: PersonMuscles | None,
) -> tuple[MuscleState, list[str]]:
    """The muscles along a motion, scaled by the factors of a person, and notes and warnings on them."""
    # elastic tendons are longer than the tendons of the model where the paths are longer
    notes: list[str] = []
    rigid = chosen.tendon == RIGID
    muscles = muscle_parameters(
        choice.muscles,
        with_passive=chosen.passive == "table",
        tendon_strain=chosen.tendon_strain,
        joints_crossed=joints_crossed(model, choice.names),
    )
    shift = np.zeros(len(muscles.names))
    if not rigid:
        check_tendon_strains(muscles.tendon_strain, muscles.names, f"the model {model.name}")
        shift = tendon_shifts(model, muscles.names)
        muscles = replace(muscles, tendon_slack_length=muscles.tendon_slack_length + shift)
    if person is not None:
        muscles = person.applied(muscles)
        notes += person.notes(muscles.names, chosen.tendon)
    every = 1 if len(motion.time) <= COMPARED else 4 * len(motion.time) // COMPARED
    some_frames = motion.frames(slice(None, None, every))
    compared = geometry_along(model, choice, some_frames)
    geometry, velocity = compared if every == 1 else geometry_along(model, choice, motion, reported=False)
    if len(motion.time) > 1:
        notes += jump_notes(choice.muscles, motion.time, geometry.length, velocity)
    if differing := difference_note(compared[0], (model, some_frames.by_name(some_frames.value))):
        here = (
            "Here moment arms, velocities and lengths follow the path. Muscles over several wrap objects have "
            "OpenSim's lengths, because the tendons of such models were chosen with them."
        )
        some = f"{len(compared[1])} of {len(motion.time)} frames were compared. " if every > 1 else ""
        notes.append(f"{differing} {some}{here if rigid else 'Here all numbers follow the path.'}")
    if shifted := shift_note(choice.names, shift):
        notes.append(shifted)
    # with rigid tendons frames are independent: the fibers have the lengths of OpenSim
    length = fiber_path_lengths(model, geometry) if rigid else geometry.length
    notes += parameter_warnings([muscles])
    return MuscleState.from_lengths(muscles, length, velocity, geometry.moment_arm), notes


def unserved_dofs(part: SharingGroup) -> dict[str, float]:
    """Shared coordinates whose moments the muscles cannot produce -> share of the peak moment that exceeds the muscles.

    All muscles of one direction add at most sum_i |r_i| F_i to the moment of the passive forces, with moment arm r and
    F the force at activation 1, or the maximum isometric force where larger, which fibers on elastic tendons may reach.
    A coordinate is named where its moment exceeds this limit by more than LACKING_SHARE of its peak in nearly all
    frames with so large a moment; a single peak is a lack of strength, or a fault of the moment. The result is empty
    where most coordinates would be named: then the moments are wrong or the muscles too weak, and reserves show it.
    """
    state = part.state
    arm, isometric = state.moment_arm, state.parameters.max_isometric_force
    required = part.moment - (arm @ state.passive_force[..., None])[..., 0]
    measured = np.isfinite(required) & part.usable[:, None]
    moment = np.where(measured, required, 0.0)
    most = _largest_moments(arm, np.maximum(state.force_capacity, isometric), moment)
    size = np.abs(moment)
    peak = size.max(axis=0, initial=0.0)
    large = size > np.maximum(LACKING_SHARE * peak, 1e-12)
    lacks = large & (size - most > LACKING_SHARE * peak)
    enough = np.maximum(_NEARLY_ALL * large.sum(axis=0), _OFTEN * measured.sum(axis=0))
    unserved = (peak > _LEAST_MOMENT) & (lacks.sum(axis=0) > enough)
    if 2 * unserved.sum() > unserved.size:
        return {}
    return {
        part.dofs[k]: float(1.0 - most[size[:, k].argmax(), k] / peak[k]) for k in np.flatnonzero(unserved)
    }


def _largest_moments(arm: Array, strength: Array, moment: Array) -> Array:
    """Largest sizes (T, m) of the moments of muscles in the directions of some moments (T, m) [N m]."""
    largest = np.empty_like(moment)
    for some in slices(len(arm), BLOCK):
        up, down = (
            (np.maximum(sign * arm[some], 0.0) @ strength[some, :, None])[..., 0] for sign in (1.0, -1.0)
        )
        largest[some] = np.where(moment[some] > 0.0, up, down)
    return largest


JUMP_M = 0.002
"""Change of a length beyond its rate that is a jump [m]: in public walks without one at most 0.001."""


def holes(step: Array) -> Mask:
    """Steps between frames (T-1,) [s] over a hole of the moments."""
    return np.asarray(step > 1.5 * np.median(step))


def beyond_rate(step: Array, length: Array, rate: Array) -> Array:
    """Change (T-1,) [m] of a length (T,) beyond its rate (T,) [m/s], integrated over steps [s] by the trapezoid rule.

    It is zero but for terms of the third order in the step, unless the path jumps: moment arms give the rate.
    """
    return np.asarray(np.diff(length) - 0.5 * (rate[1:] + rate[:-1]) * step)


def jump_notes(muscles: Sequence[OpenSimMuscle], time: Array, length: Array, rate: Array) -> list[str]:
    """A sentence on paths that jump: whose lengths (T, n) [m] change otherwise than their rates (T, n) [m/s] say."""
    step, parts = np.diff(time), list[str]()
    hole = holes(step)
    for muscle, along, speed in zip(muscles, length.T, rate.T, strict=True):
        jump = np.where(hole, 0.0, np.abs(beyond_rate(step, along, speed)))
        frame = int(jump.argmax())
        if jump[frame] > JUMP_M:
            parts.append(f"{muscle.name} {1e3 * jump[frame]:.0f} mm at {time[frame + 1]:.3f} s")
    if not parts:
        return []
    return [
        f"Paths of muscles jump from one frame to the next: {few(parts, 6)}. Points or wrap objects let the path "
        "change its side; fiber lengths, forces and moment arms change abruptly there."
    ]


def shared_coordinates(
    model: OpenSimModel, motion: CoordinateMotion, names: Sequence[str]
) -> tuple[Array, Array]:
    """Values and rates (T, k) of some coordinates; locked coordinates stay at their default."""
    value, speed = motion.by_name(motion.value), motion.by_name(motion.speed)
    none = np.zeros(len(motion.time))
    for name in names:
        if (coordinate := model.coordinates[name]).locked:
            value[name], speed[name] = none + coordinate.default, none
    values, speeds = (np.stack([by[name] for name in names], axis=1) for by in (value, speed))
    return values, speeds


def geometry_along(
    model: OpenSimModel, choice: SharedChoice, motion: CoordinateMotion, reported: bool = True
) -> tuple[OpenSimGeometry, Array]:
    """Lengths and moment arms about the shared coordinates, and the rates of the lengths (T, n) [m/s].

    The arms of a muscle about coordinates that it does not cross are exactly zero: where the muscles of a coordinate
    have no capacity, round-off in its row would determine the optimum. reported: see `opensim_geometry`.
    """
    names = (*choice.dofs, *sorted(choice.needed - set(choice.dofs)))
    value, speed = shared_coordinates(model, motion, names)
    crosses = np.array([[name in choice.crossing[muscle] for muscle in choice.names] for name in names])
    frames, shared, count = shape = len(value), len(choice.dofs), len(choice.names)
    velocity, length, opensim_length = (np.empty((frames, count)) for _ in range(3))
    arm = theirs = zero_arms(*shape)
    for block in slices(frames, BLOCK):  # arms about the other coordinates are needed for the rates alone
        poses = dict(zip(names, value[block].T, strict=True))
        geometry = opensim_geometry(model, poses, names, choice.names, reported)
        np.copyto(geometry.moment_arm, 0.0, where=~crosses)
        velocity[block] = -np.einsum("tk,tkn->tn", speed[block], geometry.moment_arm)
        length[block], opensim_length[block] = geometry.length, geometry.opensim_length
        arm[block][:, crosses[:shared]] = geometry.moment_arm[:, :shared][:, crosses[:shared]]
        if geometry.opensim_arm is not geometry.moment_arm:
            theirs = zero_arms(*shape) if theirs is arm else theirs
            theirs[block][:, crosses[:shared]] = geometry.opensim_arm[:, :shared][:, crosses[:shared]]
    return OpenSimGeometry(choice.dofs, choice.names, length, arm, opensim_length, theirs), velocity
