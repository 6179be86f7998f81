"""The dataset of a simulation for a picture.

Its variables bear the names of a result where they mean the same: skeleton_position with bone_start and bone_end,
path_position with path_muscle, activation, muscle_force. Forces of contact are its own: contact_force and contact_point
of every pair of surfaces that ever pressed; contact_event_time and so on, when surfaces met and parted; the surfaces as
they lie in the standing layout of their bodies (surface_center and so on), with body_place and body_rotation of these.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import xarray as xr

from musclesolve._util.checks import check_type
from musclesolve._util.messages import as_text
from musclesolve.dynamics.forward.contact_simulation import ContactSimulation
from musclesolve.dynamics.forward.simulate import Simulation
from musclesolve.errors import input_error
from musclesolve.laboratory.report.picture.picture_data import KIND
from musclesolve.laboratory.results.dataset.labels import (
    Skeleton,
    Variable,
    VariablesAndAttributes,
    path_labels,
    subject_skeleton,
)
from musclesolve.muscles.driving.muscle_forces import MuscleForces

BONES_OF = "inverse_human"
"""The model whose bones skeleton.toml lists."""


def simulation_picture(
    simulation: Simulation | ContactSimulation,
    muscles: MuscleForces | Sequence[MuscleForces] = (),
    title: str = "",
) -> xr.Dataset:
    """Return the dataset of a picture of a simulation: skeletons, contact forces, surfaces and, where stated, the
    muscles.

    Args:
        simulation: of `simulate`, `simulate_contact` or `ForwardProblem.simulate`.
        muscles: those that drove it (`problem.muscles`); they are colored by their activation.
        title: of the picture; else the names of the models.
    """
    if not isinstance(simulation, Simulation | ContactSimulation):
        raise input_error(
            "bad_type",
            problem=f"{as_text(simulation)} cannot be drawn",
            expected="a result, or a simulation of simulate, simulate_contact or ForwardProblem.simulate",
        )
    # the simulated motions by the names of their models; a single one may have none
    motions = simulation.motions if isinstance(simulation, ContactSimulation) else {"": simulation}
    prefixes = {name: f"{name} " if len(motions) > 1 else "" for name in motions}
    driving = [muscles] if isinstance(muscles, MuscleForces) else list(muscles)
    parts = [_skeletons(motions, prefixes), _muscles(motions, prefixes, driving)]
    if isinstance(simulation, ContactSimulation):
        parts += [_contacts(simulation), _surfaces(simulation, prefixes)]
    variables: dict[str, Variable] = {}
    coordinates: dict[str, object] = {"time": np.asarray(simulation.time), "axis": list("xyz")}
    for part_variables, part_coordinates in parts:
        variables |= part_variables
        coordinates |= part_coordinates
    names = title or ", ".join(name or motion.model.topology.name for name, motion in motions.items())
    attributes = {"kind": KIND, "subject": names, "prefixes": list(prefixes.values())}
    return xr.Dataset(variables, coordinates, attributes)


def _skeletons(motions: dict[str, Simulation], prefixes: dict[str, str]) -> VariablesAndAttributes:
    """Points and bones of all models, the name of the model before the names of its points where there are several."""
    whole: list[Skeleton] = []
    for name, motion in motions.items():
        shown, before = model_bones(motion), prefixes[name]
        points, segments = (tuple(before + one for one in names) for names in (shown.points, shown.segments))
        bones = tuple((before + start, before + end, before + segment) for start, end, segment in shown.bones)
        whole.append(replace(shown, points=points, bones=bones, segments=segments))
    return Skeleton(
        points=tuple(point for skeleton in whole for point in skeleton.points),
        position=np.concatenate([skeleton.position for skeleton in whole], axis=1),
        bones=tuple(bone for skeleton in whole for bone in skeleton.bones),
        segments=tuple(segment for skeleton in whole for segment in skeleton.segments),
        place=np.concatenate([skeleton.place for skeleton in whole], axis=1),
        rotation=np.concatenate([skeleton.rotation for skeleton in whole], axis=1),
    ).labels


def model_bones(motion: Simulation) -> Skeleton:
    """Points of a model, and bones between the points of each body.

    A body with a further point is drawn from there to its others; every other one as lines between all of its points.
    Bones with a shape, which are fixed to segments, belong to the inverse model alone.
    """
    topology = motion.model.topology
    if topology.name == BONES_OF:
        return subject_skeleton(motion.model, motion.motion)
    names = tuple(point.name for point in topology.points)
    bones: dict[tuple[str, str], str] = {}
    for body in topology.bodies:
        if extra := [point for point in body.extra if point in names]:
            lines = [(extra[0], point) for point in (*body.points, *extra[1:])]
        else:
            lines = list(combinations(body.points, 2))
        bones |= dict.fromkeys(lines, body.name)
    lines_of_bodies = tuple((*ends, body) for ends, body in bones.items())
    position = motion.q[:, : len(names)].astype(np.float32)
    place = np.zeros((len(position), 0, 3), np.float32)
    rotation = np.zeros((len(position), 0, 3, 3), np.float32)
    return Skeleton(names, position, lines_of_bodies, (), place, rotation)


def _muscles(
    motions: dict[str, Simulation], prefixes: dict[str, str], driving: Sequence[MuscleForces]
) -> VariablesAndAttributes:
    """Paths, activation and force of all muscles; where forces are prescribed there is no activation."""
    names: list[str] = []
    lines, activation, tension, strength, fiber = [], [], [], [], []
    for muscles in driving:
        name, motion = _driven(motions, muscles)
        named = [prefixes[name] + muscle for muscle in muscles.names]
        names += named
        lines.append((named, muscles.lines(motion.q)))
        course = muscles.course(motion.time)
        activation.append(np.full(course.shape, np.nan) if muscles.prescribed else course)
        tension.append(muscles.tension(motion.time, motion.q, motion.qd))
        strength.append(muscles.parameters.max_isometric_force)
        fiber.append(muscles.parameters.optimal_fiber_length)
    if not names:
        return {}, {"muscle": np.zeros(0, np.str_)}
    owner = np.concatenate([np.array(named)[line.muscle] for named, line in lines])
    paths, path_muscles = path_labels(owner, np.concatenate([line.position for _, line in lines], axis=1))
    over = "time", "muscle"
    values: dict[str, Variable] = {
        "activation": (over, np.concatenate(activation, axis=1)),
        "muscle_force": (over, np.concatenate(tension, axis=1)),
        "max_isometric_force": (("muscle",), np.concatenate(strength)),
        "optimal_fiber_length": (("muscle",), np.concatenate(fiber)),
    }
    return paths | values, path_muscles | {"muscle": names}


def _driven(motions: dict[str, Simulation], muscles: MuscleForces) -> tuple[str, Simulation]:
    """The motion of the model that muscles are on, with its name."""
    expected = "the muscles that drove the simulation, from muscle_forces or forward_problem"
    check_type(muscles, MuscleForces, "muscles", expected)
    for name, motion in motions.items():
        if motion.model is muscles.model:
            return name, motion
    problem = "muscles of a model that is not in the simulation"
    raise input_error("conflict", problem=problem, expected=expected)


def _contacts(simulation: ContactSimulation) -> VariablesAndAttributes:
    """Forces on the second surface of the pairs that ever pressed, NaN while they do not, and all events."""
    pressing = np.linalg.norm(simulation.force, axis=2) > 0.0
    (kept,) = np.nonzero(pressing.any(axis=0))
    apart = ~pressing[:, kept, None]
    force, point = (np.where(apart, np.nan, whole[:, kept]) for whole in (simulation.force, simulation.point))
    over, events = ("time", "contact_pair", "axis"), simulation.events
    variables: dict[str, Variable] = {
        "contact_force": (over, force),
        "contact_point": (over, point),
        "contact_event_time": (("contact_event",), np.array([event.time for event in events], float)),
        "contact_event_pair": (("contact_event",), np.array([event.pair for event in events], np.str_)),
        "contact_event_begins": (("contact_event",), np.array([event.begins for event in events], bool)),
        "contact_event_speed": (("contact_event",), np.array([event.speed for event in events], float)),
    }
    return variables, {"contact_pair": np.array([simulation.pairs.names[k] for k in kept], np.str_)}


def _surfaces(simulation: ContactSimulation, prefixes: dict[str, str]) -> VariablesAndAttributes:
    """All surfaces of the pairs, and where the bodies are that carry them; the ground is the last of all bodies."""
    surfaces = simulation.pairs.surfaces
    carrying, body = np.unique(simulation.pairs.body, return_inverse=True)
    # place (T, B, 3) of the standing layout's origin and rotation (T, B, 3, 3) of all bodies; the ground rests
    places, rotations = [], []
    for motion in simulation.motions.values():
        bodies = motion.model.rigid_bodies
        turned = bodies.rotation(motion.q)
        places.append(bodies.basic(motion.q)[:, :, 0] - np.einsum("tbij,bj->tbi", turned, bodies.origin))
        rotations.append(turned)
    frames = len(simulation.time)
    place = np.concatenate([*places, np.zeros((frames, 1, 3))], axis=1)
    rotation = np.concatenate([*rotations, np.tile(np.eye(3), (frames, 1, 1, 1))], axis=1)
    only = next(iter(simulation.motions))
    # the model of every surface; none of one on the ground
    owners = [prefixes[surface.model or only] if surface.body else "" for surface in surfaces]
    shapes = {"center": (3,), "axes": (3, 3), "semi_axes": (3,), "order": (), "radius": ()}
    several = {
        name: np.array([getattr(surface, name) for surface in surfaces], float).reshape(len(surfaces), *shape)
        for name, shape in shapes.items()
    }
    variables: dict[str, Variable] = {
        f"surface_{name}": (("surface", "axis", "own_axis")[: values.ndim], values)
        for name, values in several.items()
    }
    variables |= {
        "surface_is_plane": (("surface",), np.array([surface.is_plane for surface in surfaces], bool)),
        "surface_body": (("surface",), body.reshape(-1)),
        "surface_on_ground": (("surface",), np.array([not surface.body for surface in surfaces], bool)),
        "surface_prefix": (("surface",), np.array(owners, np.str_)),
        "body_place": (("time", "surface_body_number", "axis"), place[:, carrying]),
        "body_rotation": (("time", "surface_body_number", "axis", "own_axis"), rotation[:, carrying]),
    }
    return variables, {"surface": np.array([surface.name for surface in surfaces], np.str_)}
