"""Muscles on a subject's skeleton, and the groups of degrees of freedom that they serve.

A muscle set serves the degrees of freedom that its muscles cross: the joints of a leg, or of an arm. Degrees of freedom
that no muscle connects are separate force-sharing problems.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, Self, get_args

import numpy as np

from muscle_db import MuscleDatabase
from muscle_db.model import LEG_DOFS
from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_choice, check_type
from musclesolve._util.messages import unknown_name
from musclesolve._util.sides import SIDES, split_side
from musclesolve.dynamics.model.model import Model, check_model
from musclesolve.dynamics.model.topology import Topology
from musclesolve.errors import input_error
from musclesolve.muscles.curves.curve_family import CurveFamily, curve_family
from musclesolve.muscles.hill_model import PassiveElement
from musclesolve.muscles.muscle_parameters import MuscleParameters, joined_muscles
from musclesolve.muscles.paths.paths import Paths, joined_paths
from musclesolve.muscles.person import PersonMuscles
from musclesolve.muscles.scaling.fiber_lengths import fiber_and_tendon_lengths
from musclesolve.muscles.scaling.scaled_paths import adjust_switches, frame_maps, scaled_paths, sided
from musclesolve.muscles.settings import MuscleSettings
from musclesolve.muscles.strength import TendonStrain, set_tendon_strains, strengths
from musclesolve.tables.settings import settings_of


@dataclass(frozen=True)
class ScaledMuscles:
    """Muscles (n) on the skeleton of a subject, and the m degrees of freedom that they serve.

    sides: the sides of the muscles. dof_names (m,). parameters: of the Hill model, lengths of the subject; short_names
    and groups (n,) of the set; paths on the skeleton; segment_scale: factors of the positions, forward, left, up, by
    frame and side ("femur r"). acts (m, n): whether a muscle acts on a degree of freedom.
    """

    sides: tuple[str, ...]
    dof_names: tuple[str, ...]
    parameters: MuscleParameters
    short_names: tuple[str, ...]
    groups: tuple[str, ...]
    paths: Paths
    segment_scale: dict[str, Array]
    acts: Mask

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the muscles, with side."""
        return self.parameters.names

    def of_person(self, person: PersonMuscles) -> Self:
        """The muscles with the factors of one person on their parameters."""
        return replace(self, parameters=person.applied(self.parameters))

    def apart(self) -> "tuple[ScaledMuscles, ...]":
        """The muscles of each independent group, see `separate_groups`."""
        groups = separate_groups(self.acts)
        if len(groups) == 1:
            return (self,)
        return tuple(
            replace(
                self,
                dof_names=tuple(self.dof_names[k] for k in dofs),
                parameters=self.parameters.muscles(muscles),
                short_names=tuple(self.short_names[k] for k in muscles),
                groups=tuple(self.groups[k] for k in muscles),
                paths=self.paths.subset(muscles),
                acts=self.acts[np.ix_(dofs, muscles)],
            )
            for dofs, muscles in groups
        )


def joined(parts: ScaledMuscles | Sequence[ScaledMuscles]) -> ScaledMuscles:
    """The muscles of all parts in order, on one subject; no muscle acts on a joint that is only in another part."""
    if isinstance(parts, ScaledMuscles) or len(parts) == 1:
        return parts if isinstance(parts, ScaledMuscles) else parts[0]
    dofs = tuple(dict.fromkeys(name for part in parts for name in part.dof_names))
    acts, first = np.zeros((len(dofs), sum(len(part.names) for part in parts)), bool), 0
    for part in parts:
        acts[[dofs.index(name) for name in part.dof_names], first : first + len(part.names)] = part.acts
        first += len(part.names)
    return ScaledMuscles(
        sides=tuple(dict.fromkeys(side for part in parts for side in part.sides)),
        dof_names=dofs,
        parameters=joined_muscles([part.parameters for part in parts]),
        short_names=tuple(name for part in parts for name in part.short_names),
        groups=tuple(name for part in parts for name in part.groups),
        paths=joined_paths([part.paths for part in parts]),
        segment_scale={name: scale for part in parts for name, scale in part.segment_scale.items()},
        acts=acts,
    )


def separate_groups(acts: Mask) -> list[tuple[Indices, Indices]]:
    """Independent groups of degrees of freedom and muscles, by number: no muscle of a group acts on another group.

    acts (m, n): whether a muscle acts on a degree of freedom. A degree of freedom on which no muscle acts is in the
    first group, as is a muscle that acts on none.

    Returns:
        Degrees of freedom and muscles of each group, in the order of the first degree of freedom.
    """
    linked, reached = acts @ acts.T | np.eye(len(acts), dtype=bool), None
    while reached is None or (reached != linked).any():
        reached, linked = linked, linked @ linked
    group = linked.argmax(axis=1)  # the first that it is linked with
    group[~acts.any(axis=1)] = 0
    of_muscle = group[acts.argmax(axis=0)]
    return [
        (np.flatnonzero(group == first), np.flatnonzero(of_muscle == first)) for first in np.unique(group)
    ]


MUSCLE_SETTINGS = settings_of(MuscleSettings)
"""The settings of a trial file, with their defaults."""


@lru_cache(maxsize=16)
def served_dofs(topology: Topology, database: MuscleDatabase, side: str) -> tuple[str, ...]:
    """The degrees of freedom of a model that the muscles of a set serve on one side.

    The degrees of freedom between the bones of the set, if a muscle crosses them or the set states them: joint after
    joint from the base outward; within a joint the stated ones first, in the order of the set.
    """
    _check_names(topology, database, side)
    body = {
        segment.name: sided(segment.body, side, topology.body_index)
        for segment in database.reference.segments
    }
    bone = {name: name for name in body} | {name: frame.body for name, frame in database.frames.items()}
    spans = {frozenset(body[bone[point.frame]] for point in muscle.path) for muscle in database}
    crossed = set().union(*map(topology.dofs_between, spans))
    stated = [sided(name, side, topology.joint_index) for name in database.dofs]
    dofs = [name for name in topology.dofs_between(body.values()) if name in crossed or name in stated]
    pivot = {dof.name: dof.pivot for dof in topology.dofs}
    joints = list(dict.fromkeys(pivot[name] for name in dofs))
    order = [*(name for name in stated if name in dofs), *(name for name in dofs if name not in stated)]
    return tuple(sorted(order, key=lambda name: joints.index(pivot[name])))


def _check_names(topology: Topology, database: MuscleDatabase, side: str) -> None:
    """Refuse bodies, joint centers and degrees of freedom of a set that the model does not have.

    A set that states no degrees of freedom has the degrees of freedom of a leg; the model may lack some of them.
    """
    place = f" of the muscle set {database.name!r} in the model {topology.name!r}"
    points = [point.name for point in topology.points]
    places: list[tuple[str, str, Collection[str], str]] = [
        (name, kind, known, f", the {key} of bone {segment.name!r}{place}")
        for segment in database.reference.segments
        for key, name, kind, known in (
            ("body", segment.body, "body", topology.body_index),
            ("origin", segment.origin, "point", points),
            ("end", segment.end, "point", points),
        )
        if name is not None
    ]
    if database.dofs != LEG_DOFS:
        places += [
            (name, "degree of freedom", topology.joint_index, f", one of `dofs`{place}")
            for name in database.dofs
        ]
    used = [frame.dof for frame in database.frames.values()]
    for point in (point for muscle in database for point in muscle.path):
        used += [part.dof for part in (point.moving, point.active) if part is not None]
    places += [
        (name, "degree of freedom", topology.joint_index, f", which paths{place} depend on")
        for name in dict.fromkeys(used)
    ]
    for name, kind, known, within in places:
        if sided(name, side, known) not in known:
            raise unknown_name(name, kind, dict.fromkeys(split_side(one)[0] for one in known), within)


PassiveRule = Literal["calibrated", "table", "none"]


def passive_element(database: MuscleDatabase, curves: CurveFamily, rule: str) -> PassiveElement:
    """The passive elements of the muscles of a set.

    Args:
        database: the set, which may have calibrated strains.
        curves: the family of curves, whose usual strains hold for muscles without any.
        rule: "table": strains of the set; "calibrated": strains with which the passive joint moments agree with
            measurement; "none": no passive force.
    """
    rule = checked_passive(rule, database)
    calibrated = database.calibrated_passive
    strain_of = calibrated.strains if rule == "calibrated" and calibrated is not None else {}
    strains = [strain_of.get(muscle.name, muscle.passive) for muscle in database]
    usual = curves.passive_strain
    pairs = [
        usual if strain is None else (strain.at_zero_force, strain.at_one_norm_force) for strain in strains
    ]
    share = 0.0 if rule == "none" else 1.0
    force = share * np.array([muscle.max_isometric_force for muscle in database])
    at_zero, at_one = np.array(pairs, dtype=float).reshape(-1, 2).T
    return PassiveElement(force, at_zero, at_one)


def checked_passive(rule: str, database: MuscleDatabase) -> str:
    """Return the rule for passive forces; refuse an unknown rule, and a set without its parameters."""
    check_choice(rule, "the rule for passive forces", get_args(PassiveRule))
    if rule == "calibrated" and database.calibrated_passive is None:
        raise input_error(
            "bad_muscle_set",
            problem=f"the muscle set {database.name} has no calibrated passive strains",
            expected="a table [calibrated_passive] in its file",
            remedy='write passive = "table" or "none" in [muscles]',
        )
    return rule


def scale_muscles(
    model: Model,
    database: MuscleDatabase,
    side: str,
    strength: str | float = MUSCLE_SETTINGS["strength"].default,
    passive: str = MUSCLE_SETTINGS["passive"].default,
    fiber_lengths: str | None = None,
    curves: str | None = None,
    tendon_strain: TendonStrain | None = None,
    near: ScaledMuscles | None = None,
) -> ScaledMuscles:
    """Put the muscles of a set on the side "r" or "l" of a subject.

    Positions scale by segment (scaled_paths.py), fiber and tendon lengths by one of `FIBER_LENGTHS`, the set's rule
    unless one is given (fiber_lengths.py). strength: see `strengths`; passive: see `passive_element`; curves: name of a
    family of Hill curves instead of the set's; tendon_strain: see `set_tendon_strains`; near: the same muscles on a
    nearly equal subject, by the same rules, from which they keep what no length changes.

    Raises:
        InputError: a muscle for which no fiber and tendon lengths can be found; an unknown family, muscle or group.
    """
    check_type(database, MuscleDatabase, "database", "a muscle set, from muscle_db.load()")
    check_choice(side, "side", SIDES)
    check_type(near, ScaledMuscles | None, "near", "the same muscles on another subject")  # type: ignore[arg-type]
    maps = frame_maps(check_model(model), database, side)
    paths = scaled_paths(model, database, side, maps)
    paths = adjust_switches(model, paths, None if near is None else near.paths)
    optimal, slack = fiber_and_tendon_lengths(model, database, side, paths, fiber_lengths)
    scaled: dict[str, Any] = {
        "max_isometric_force": strengths(database, optimal, model.mass.total, model.stature, strength),
        "optimal_fiber_length": optimal,
        "tendon_slack_length": slack,
    }
    scales = {f"{frame} {side}": placed.scale for frame, placed in maps.items()}
    if near is not None:
        parameters = replace(near.parameters, **scaled)
        return replace(near, parameters=parameters, paths=paths, segment_scale=scales)
    muscles, family = database.sides[side], curve_family(database.curves if curves is None else curves)
    parameters = MuscleParameters.from_values(
        [muscle.name for muscle in muscles],
        family,
        **scaled,
        pennation_angle=[muscle.pennation_angle for muscle in muscles],
        max_shortening_velocity=[muscle.max_shortening_velocity for muscle in muscles],
        tendon_strain=set_tendon_strains(database, tendon_strain),
        passive=passive_element(database, family, passive),
    )
    dofs = served_dofs(model.topology, database, side)
    acts, crossed = _acting(model, paths, dofs)
    return ScaledMuscles(
        sides=(side,),
        dof_names=dofs,
        parameters=replace(parameters, joints_crossed=crossed),
        short_names=tuple(muscle.short_name for muscle in muscles),
        groups=tuple(muscle.group for muscle in muscles),
        paths=paths,
        segment_scale=scales,
        acts=acts,
    )


def _acting(model: Model, paths: Paths, dofs: Sequence[str]) -> tuple[Mask, Array]:
    """Return a mask (m, n) of the degrees of freedom on which each muscle acts, and its number of joints (n,).

    A muscle crosses a joint if it has points on both sides of the joint. It also acts on a degree of freedom whose
    angle moves one of its points.
    """
    joints = np.array([model.dof(dof) for dof in dofs])
    beyond = model.tree.distal_frames[paths.point_body][:, joints] > 0.0
    muscle = paths.layout.node_muscle[: len(beyond)]
    points = np.eye(muscle.max() + 1)[muscle].T  # (n, P)
    count = points @ beyond
    crossed = ((count > 0.0) & (count < points.sum(axis=1, keepdims=True))).T
    pivot = model.tree.pivot[joints]
    number = np.sum([crossed[pivot == joint].any(axis=0) for joint in np.unique(pivot)], axis=0, dtype=float)
    moved = np.zeros_like(crossed)
    for point in np.flatnonzero(paths.point_frame >= 0):
        moved[joints == paths.frames.dof[paths.point_frame[point]], muscle[point]] = True
    return crossed | moved, number
