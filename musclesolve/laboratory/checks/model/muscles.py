"""Does every muscle of a model lie, pull and act as muscles do? Twins, siblings, and the fibers of this motion.

Each row of `INVARIANTS` is a quantity of a muscle that is compared with its twin on the other side, and with the muscle
of the same name in public models (muscle_norms.toml, written by tools/muscle_norms.py). The muscles of the public
models differ from their twins by at most 2 % in optimal fiber length, 0.09 optimal lengths in standing and 4 mm in a
moment arm; a factor of strength that several muscles of a side share is a choice of the author. Lengths and arms are
compared in `POSES`, as multiples of the length of the shank, so that children and adults are alike.

The cost of a faulty muscle in newtons: the forces of some frames are shared again with the muscle mended. It gets the
path of its twin, in the pose in which the legs are exchanged, or a parameter of its twin or an end of a public model;
or it is left out. Tendons are rigid. A muscle without a twin whose path is wrong stays as it is.

Scaling a model multiplies the places of all points of a body by three factors. The factors follow from the ends of all
muscles on the body (weighted medians); an end that lies elsewhere was moved alone.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import few
from musclesolve._util.sides import (
    OTHER,
    SIDE_NAMES,
    SIDES,
    once_for_both_sides,
    sided,
    split_side,
    twin,
    with_side,
)
from musclesolve.constants import RIGID, USUAL_COST
from musclesolve.errors import InputError
from musclesolve.laboratory.checks.case import TABLES
from musclesolve.laboratory.results.finding import Cost, Finding, Severity, Where, finding
from musclesolve.models.opensim.coordinate_motion import CoordinateMotion
from musclesolve.models.opensim.geometry import fiber_path_lengths, opensim_geometry
from musclesolve.models.opensim.model import GROUND, Frame, OpenSimModel, OpenSimMuscle
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.models.opensim.segments import FLEXION, flexion_sign, segments
from musclesolve.models.opensim.shared_choice import geometry_along
from musclesolve.models.share import share_part
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.sharing.cost.cost_registry import find_cost

MOST_FRAMES = 20
"""Frames that are shared again."""
UNKNOWN = "; what this costs in newtons is not known"
FIELDS = {
    "muscle_strength": "max_isometric_force",
    "muscle_fiber": "optimal_fiber_length",
    "muscle_tendon": "tendon_slack_length",
    "muscle_pennation": "pennation_angle",
}
"""Code of a finding -> the parameter of the muscle."""


@dataclass(frozen=True)
class Mended:
    """How muscles are mended.

    changes: code of a finding -> name -> change of the parameter: of the logarithm of force and fiber, of the pennation
    [degrees], of the normalized fiber length by the tendon. paths: muscles that get the path of their twins, mirrored.
    exchanged: muscles that get the path of their twins as it is. ends: muscle -> end, axis and way of its move [mm].
    left_out: muscles.
    """

    changes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    exchanged: tuple[str, ...] = ()
    ends: Mapping[str, tuple[int, int, float]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


def with_cost(fault: Finding, body: ModelBody, mended: Mended | None) -> Finding:
    """The finding with the largest change of a muscle force, or with the sentence that it is not known."""
    known = np.flatnonzero(body.whole.usable & body.whole.measured)
    if mended is not None and known.size:
        frames = known[np.unique(np.linspace(0, known.size - 1, MOST_FRAMES).round().astype(int))]
        as_is = body.whole.state.frames(frames)
        if (state := _mended_state(body, frames, as_is, mended)) is not None:
            now, then = _forces(body, frames, as_is), _forces(body, frames, state, mended.left_out)
            change = {name: float(np.nanmax(np.abs(now[name] - then[name]), initial=0.0)) for name in then}
            worst = max(change, key=lambda name: change[name])
            return replace(fault, cost=Cost(change[worst], "N", sided(worst)))
    return replace(fault, what=f"{fault.what}{UNKNOWN}")


def _mended_state(body: ModelBody, frames: Indices, state: MuscleState, mended: Mended) -> MuscleState | None:
    """The state of all muscles in some frames with the mended ones; None where a path has no twin to be taken from."""
    number, model = {name: k for k, name in enumerate(state.parameters.names)}, body.model
    if not {*mended.exchanged, *map(twin, mended.exchanged)} <= set(number):
        return None
    length, velocity = state.musculotendon_length.copy(), state.musculotendon_velocity.copy()
    arm, parameters = np.array(state.moment_arm), state.parameters
    motion = body.motion.frames(np.isin(np.arange(len(body.time)), frames))

    def follow(
        names: Sequence[str], paths: Sequence[OpenSimMuscle], along: CoordinateMotion, dofs: Any
    ) -> None:
        changed = replace(model, muscles={**model.muscles, **{path.name: path for path in paths}})
        choice, columns = replace(body.choice, muscles=tuple(paths)), [number[name] for name in names]
        geometry, velocity[:, columns] = geometry_along(changed, choice, along)
        length[:, columns], arm[:, :, columns] = (
            fiber_path_lengths(changed, geometry),
            geometry.moment_arm[:, dofs],
        )

    if mended.paths:
        twins = [twin(name) for name in mended.paths]
        crossed = set().union(*(body.choice.crossing.get(name, ()) for name in twins))
        if not {*mended.paths, *twins} <= set(number) or any(twin(name) == name for name in crossed):
            return None
        both = [{name: k for k, name in enumerate(names)} for names in (motion.names, body.dofs)]
        sides, rows = ([at.get(twin(name), k) for name, k in at.items()] for at in both)
        exchanged = {key: getattr(motion, key)[:, sides] for key in ("value", "speed", "acceleration")}
        follow(mended.paths, [model.muscles[name] for name in twins], replace(motion, **exchanged), rows)
    if moved := [name for name in mended.ends if name in number]:
        muscles = [_with_end(model.muscles[name], *mended.ends[name]) for name in moved]
        follow(moved, muscles, motion, slice(None))
    if mended.exchanged:
        from_twin = {number[name]: number[twin(name)] for name in mended.exchanged}
        for values in (length, velocity, arm):
            values[..., [*from_twin]] = values[..., [*from_twin.values()]]
    changed = {key: getattr(parameters, key).copy() for key in FIELDS.values()}
    for code, by_name in mended.changes.items():
        for name, by in by_name.items():
            if (k := number.get(name)) is None:  # a twin that takes no part
                continue
            if code == "muscle_pennation":
                changed["pennation_angle"][k] = max(0.0, changed["pennation_angle"][k] + np.radians(by))
            elif code == "muscle_tendon":
                slack = changed["tendon_slack_length"][k] - by * changed["optimal_fiber_length"][k]
                changed["tendon_slack_length"][k] = max(slack, 1e-3)
            else:
                changed[FIELDS[code]][k] *= np.exp(by)
    return MuscleState.from_lengths(replace(parameters, **changed), length, velocity, arm)


def _with_end(muscle: OpenSimMuscle, end: int, axis: int, way: float) -> OpenSimMuscle:
    """The muscle with its origin (0) or insertion (1) moved along an axis of its side of the body [mm]."""
    points, across = list(muscle.points), -1.0 if axis == 2 and split_side(muscle.name)[1] == "l" else 1.0
    point = points[-end]
    assert point.location is not None  # the places of moving ends are not compared
    by = 0.001 * way * across * point.frame.rotation[axis]
    points[-end] = replace(point, location=point.location + by)
    return replace(muscle, points=tuple(points))


def _forces(
    body: ModelBody, frames: Indices, state: MuscleState, without: Sequence[str] = ()
) -> dict[str, Array]:
    """Forces (F,) of the muscles by name, shared by the cost of the body, or the usual one where it may need more.

    A cost of a user may hold numbers of all frames and muscles.
    """
    sharing, names = replace(body.sharing, tendon=RIGID), state.parameters.names
    if sharing.reads_reactions or "emg" in sharing.cost.data:
        sharing = replace(sharing, cost=find_cost(USUAL_COST))
    forces = dict[str, Array]()
    for part in body.parts:
        rows = np.array([body.dofs.index(name) for name in part.dofs])
        muscles = [name for name in part.state.parameters.names if name not in without]
        columns = np.array([names.index(name) for name in muscles])
        solved = share_part(replace(part.frames(frames), state=state.part(rows, columns)), sharing)
        total = solved.solution.force + solved.part.state.passive_force
        forces |= dict(zip(muscles, total.T, strict=True))
    return forces


POSES: Mapping[str, tuple[float, ...]] = {
    "hip_flexion": (0.0, 30.0, 30.0, -20.0),
    "hip_adduction": (0.0, 0.0, 5.0, 0.0),
    "hip_rotation": (0.0, 0.0, 0.0, 5.0),
    "knee_angle": (0.0, 20.0, 60.0, 5.0),
    "ankle_angle": (0.0, 5.0, -10.0, 10.0),
    "subtalar_angle": (0.0, 0.0, 0.0, 0.0),
}
"""Standing, loading, swing and push-off [degrees]; flexion, adduction, inward rotation, dorsiflexion are positive."""
COUNT = 4
SHANK = 0.4
"""Length of the shank of an adult [m], at which the limits of lengths hold."""
JOINTS = ("hip_flexion", "knee_angle", "ankle_angle", "subtalar_angle")
"""Coordinates of the joints whose places on their bodies are compared with public models."""
PUBLIC = ("gait2392", "rajagopal_2016", "rajagopal_lai_uhlrich_2023")
"""Models of the `ends` in muscle_norms.toml. Scaled models differ from one of them by up to 0.5 mm
(joints that were fitted to a person by 1.3 mm), their sides by 9 mm."""
FEWEST_ENDS, OWN_BODY, MOST_APART = 6, 4.0, 20.0
"""Known ends on a body from which its scale follows; median of their distances from a public model beyond which a body
has other axes or other muscles [mm]; distance of an end beyond which it tells no more of the model [mm]."""
FEWEST = 24
"""Number of known names from which a model follows a public set; fewer are a model of its own."""
SAME = 1e-6
"""Difference of lengths and arms below which two paths are one [m]."""
NEAR = 0.002
"""The same for two muscles of the same strength, of an adult; in 15 public models no two are nearer than 0.0034."""
UNEVEN, COUNTED, ROUNDED, USUAL = 6.0, 0.5, 0.02, 0.8
"""Difference of twins in a place or radius [mm] and an angle [degrees], in a count, and as a share: scaled models have
up to 4.5 mm, others 0. Share of muscles from which others differ: passive curves that were calibrated one by one
have up to 0.07, in each other property of a public model all muscles are alike."""
WRAPS, SHORTENING = "wrap objects of its own side", "fastest shortening"
CONTROLS = "least control", "most control"
"""Properties with a number that public models state: without wrap objects a muscle passes through bone."""
SHARED = 3
"""Number of muscles of a side with the same factor of strength from which it is a choice of the author."""
WEAKER, STRONGER, NEARLY, ALL = float(np.log(4.0)), float(np.log(1.45)), float(np.log(1.25)), "all"
"""Logarithms of how much weaker and stronger a person is than the models of a family, which have 0.91 to 1.07 times its
strength; a factor beyond 1.25 is stated. Measured young men have 0.33 to 1 times (docs/muscles.md); old people and
patients are weaker. The volume of the muscles of a leg grows with mass times height (Handsfield et al. 2014)."""
FAMILY = {0: (0.79, 1.075, 75.3), -1: (1.17, 0.99, 75.3)}
"""Mean strength, size and mass [kg] of the models that follow gait2392 (0) and Rajagopal et al. (-1)."""
PUBLISHED, NONE = 0.6, [0.0] * len(PUBLIC)
"""Share of the muscles with the forces of a public model, up to one factor, from which others were changed: 13 models
have all or 0.84 of one, and 0.10 of another."""
GROUP = 0.6
"""Logarithm of how much stronger or weaker a group is than the other muscles of a model suggest: 13 models have up to
0.24, and one whose muscles of a knee were made weaker to fit an implant has 0.35."""
OF_GROUP = 0.4
"""Share of the mean difference of a group that each of its muscles has, if the group differs and not some of it."""
CHOSEN = (0.5, 2.0)
"""Factors of strength that an author may choose for some muscles of one side."""
LENGTHS = {0: (1.004, 0.943), -1: (1.005, 1.027)}
"""Factors on tendons and fibers with which the muscles of a family fit their paths, see `length_scales`: 13 models have
0.994 to 1.002 times the first and 0.98 to 1.02 times the second."""
STRETCH = 0.2
"""Distance of a normalized fiber length from those of public models that no muscle has."""
REWEIGHTED = 40
"""Solutions of weighted least squares that approach the least sum of absolute values."""
LONGER, MISFIT = (float(np.log(1.03)), float(np.log(1.08))), 0.009
"""Logarithms of the factors beyond which tendons and fibers do not fit the paths; what the factors leave to the muscles
of the ankle in the median, as a share of a length: 13 models have up to 0.005, a shank scaled by 1.06 alone 0.013."""
FIBERS = (0.2, 1.8)
"""Normalized length that no fiber has in this motion [optimal lengths]: force ends at 0.4 and 1.6, and models in
sound walks have 0.26 to 1.6."""
PULLS = 0.1
"""Share of the strength of all muscles of a joint from which the fibers of a muscle matter."""
LEAP = 0.012
"""Change of a moment arm of an adult from one frame to the next beyond that of the frames beside it [m]."""
NAMED = 6


@dataclass(frozen=True, eq=False)
class Anatomy:
    """Muscles (n) of a model in `POSES` (P), in the axes of their own side.

    stems: coordinates (S) without side. length (P, n), arm (P, S, n) [m], other: arms (n,) about coordinates of the
    other side. Parameters (n,) as in the model. size: length of the shank over `SHANK`. mass: of the body [kg]. ends:
    origin and insertion of muscles, then parent and child frame of joints (n + j, 2, 3) [mm] on the bodies bones, NaN
    where they move.
    """

    names: tuple[str, ...]
    stems: tuple[str, ...]
    length: Array
    arm: Array
    other: Array
    force: Array
    fiber: Array
    tendon: Array
    pennation: Array
    size: float
    mass: float
    joints: tuple[str, ...]
    bones: Sequence[Sequence[str]]
    ends: Array

    @property
    def number(self) -> dict[str, int]:
        """Position of each muscle."""
        return {name: k for k, name in enumerate(self.names)}

    @cached_property
    def moved(self) -> Array:
        """Moves (n + j, 6) of the ends against the other ends on their bodies [mm]; NaN where it is not known.

        The public model is the one from which all ends differ least.
        """
        bones, least, nearest = np.array(self.bones).reshape(-1, 2), np.inf, np.full_like(self.ends, np.nan)
        for model in range(len(PUBLIC)):
            public, moved = np.full_like(self.ends, np.nan), np.full_like(self.ends, np.nan)
            for k, name in enumerate((*self.names, *self.joints)):
                for j, (bone, *place) in enumerate(
                    (_norms_of(name) or {}).get("ends", [()] * len(PUBLIC))[model]
                ):
                    if bones[k, j] in (bone, with_side(bone, split_side(name)[1])):
                        public[k, j] = place
            apart = np.full_like(self.ends, MOST_APART)
            for bone in np.unique(bones):
                here = (bones == bone) & np.isfinite(public + self.ends).all(axis=2)
                ends, at = self.ends[here], public[here]
                scales = np.array([_weighted_median(*pair) for pair in zip(ends.T, at.T, strict=True)])
                if len(at) >= FEWEST_ENDS and scales.min() > 0.0:
                    away = ends / scales - at
                    apart[here] = np.minimum(np.abs(away), MOST_APART)
                    moved[here] = away if np.median(np.abs(away)) < OWN_BODY else np.nan
            if apart.mean() < least:
                least, nearest = float(apart.mean()), moved
        return nearest.reshape(-1, 6)


def anatomy_of(model: OpenSimModel, names: Sequence[str]) -> Anatomy:
    """The muscles of a model by name, in the poses.

    Raises:
        InputError: a muscle needs a part of the model that is not supported.
    """
    dependent = {coupler.dependent for coupler in model.couplers}
    free = [name for name, one in model.coordinates.items() if one.rotational and name not in dependent]
    flexion = {name: flexion_sign(model, name) for name in free if split_side(name)[0] in FLEXION}
    poses = {name: np.zeros(COUNT) for name in free}
    for name in free:
        angles = np.array(POSES.get(split_side(name)[0], (0.0,) * COUNT))
        poses[name] = np.radians(angles) * flexion.get(name, 1.0)
    geometry = opensim_geometry(model, poses, free, names, reported=False)
    arm = geometry.moment_arm * np.array([flexion.get(name, 1.0) for name in free])[:, None]
    stems = tuple(dict.fromkeys(split_side(name)[0] for name in free))
    arms, other = np.zeros((COUNT, len(stems), len(names))), np.zeros(len(names))
    for k, (stem, side) in enumerate(map(split_side, free)):
        for j, muscle_side in enumerate(split_side(name)[1] for name in geometry.muscles):
            if side == OTHER:
                arms[:, stems.index(stem), j] = np.abs(arm[:, k, j])
            elif muscle_side in (side, OTHER):
                arms[:, stems.index(stem), j] += arm[:, k, j]
            else:
                other[j] = max(other[j], np.abs(arm[:, k, j]).max())
    muscles = [model.muscles[name] for name in geometry.muscles]
    parameters = [[getattr(muscle, key) for key in FIELDS.values()] for muscle in muscles]
    force, fiber, tendon, pennation = np.reshape(parameters, (-1, 4)).T
    of_muscles = geometry.opensim_length, arms, other, force, fiber, tendon, pennation
    return Anatomy(geometry.muscles, stems, *of_muscles, size_of(model), model.mass, *_ends(model, muscles))


def _ends(
    model: OpenSimModel, muscles: Sequence[OpenSimMuscle]
) -> tuple[tuple[str, ...], list[list[str]], Array]:
    """Names of `JOINTS`, and bodies and places of the ends of muscles and of these joints; see `Anatomy`."""
    of_joints = {name: joint for joint in model.joints for name in joint.coordinates}
    joints = {name: joint for name, joint in of_joints.items() if split_side(name)[0] in JOINTS}
    places: dict[str, list[tuple[Frame, Array | None]]] = {
        muscle.name: [(point.frame, point.location) for point in (*muscle.points[:1], *muscle.points[-1:])]
        for muscle in muscles
    }
    places |= {name: [(end, np.zeros(3)) for end in (at.parent, at.child)] for name, at in joints.items()}
    bones, ends = [["", ""] for _ in places], np.full((len(places), 2, 3), np.nan)
    for k, (name, both) in enumerate(places.items()):
        across = -1.0 if split_side(name)[1] == "l" else 1.0
        for j, (frame, place) in enumerate(both):
            bones[k][j] = frame.body
            if place is not None:
                ends[k, j] = 1000.0 * frame.place(place) * [1.0, 1.0, across]
    return tuple(joints), bones, ends


def size_of(model: OpenSimModel) -> float:
    """Length of the shank over `SHANK`; 1 without one."""
    shanks = [length for knee in segments(model).knees if (length := segments(model).length(knee))]
    return float(np.mean(shanks)) / SHANK if shanks else 1.0


# Quantities (n, k) of muscles; ratios as logarithms


def _stretch(body: Anatomy) -> Array:
    """Normalized fiber lengths in the poses."""
    along = (body.length - body.tendon) / body.fiber
    return np.asarray(np.hypot(along, np.sin(body.pennation)) * np.where(along > 0.0, 1.0, -1.0)).T


def _weighted_median(ends: Array, public: Array) -> float:
    """The factor s with the least sum of absolute differences ends - s public."""
    ratio, weight = ends / np.where(public == 0.0, np.inf, public), np.abs(public)
    order = np.argsort(ratio)
    middle = np.searchsorted(np.cumsum(weight[order]), 0.5 * weight.sum())
    return float(ratio[order][middle]) if weight.any() else 0.0


@dataclass(frozen=True)
class Invariant:
    """A quantity of muscles: the difference of twins and the distance beyond the public models that no muscle has.

    relative: share of the value that is added to both limits. words: with the coordinate, end or axis of the column.
    """

    code: str
    quantity: Callable[[Anatomy], Array]
    key: str  # in muscle_norms.toml
    twin: float
    beyond: float
    relative: float
    words: str
    shown: Callable[[float], str]


INVARIANTS = (
    Invariant(
        "muscle_anatomy", lambda body: np.nan_to_num(body.moved[: len(body.names)]), "ends", 12.0, 8.0, 0.0,
        "{end} displaced along {axis} of its body", lambda value: f"{value:+.0f} mm",
    ),
    Invariant(
        "muscle_anatomy", lambda body: 1000.0 * body.length.T / body.size, "path", 12.0, 30.0, 0.05, "length",
        lambda value: f"{value:.0f} mm",
    ),
    Invariant(
        "muscle_anatomy", lambda body: 1000.0 * body.arm.transpose(2, 0, 1).reshape(len(body.names), -1) / body.size,
        "arm", 3.0, 8.0, 0.1, "moment arm about {stem}", lambda value: f"{value:+.0f} mm",
    ),
    Invariant(
        "muscle_strength", lambda body: np.log(np.maximum(body.force * body.fiber, 1e-9))[:, None], "strength",
        np.log(1.2), np.log(2.0), 0.0, "force times optimal length", lambda value: f"{np.exp(value):.3g} N m",
    ),
    Invariant(
        "muscle_fiber", lambda body: np.log(body.fiber / body.size)[:, None], "fiber", np.log(1.15), np.log(1.4), 0.0,
        "optimal fiber length", lambda value: f"{1000.0 * np.exp(value):.0f} mm",
    ),
    Invariant(
        "muscle_pennation", lambda body: np.degrees(body.pennation)[:, None], "pennation", 6.0, 14.0, 0.0, "pennation",
        lambda value: f"{value:.0f} degrees",
    ),
    Invariant(
        "muscle_tendon", _stretch, "stretch", 0.15, STRETCH, 0.0, "fiber length in optimal lengths",
        lambda value: f"{value:.2f}",
    ),
)  # fmt: skip
"""Causes before consequences: a path or fiber that is wrong changes the stretch, too."""


@cache
def long_names() -> dict[str, str]:
    """Names of muscles in public models in small letters, without side -> long name."""
    names = bundled_toml("musclesolve.models.opensim", "leg_names.toml")["names"]
    return {short.casefold(): name for name, shorts in names.items() for short in (name, *shorts)}


def _norms_of(name: str) -> dict[str, Any] | None:
    """The entry of a muscle or joint in muscle_norms.toml; None of an unknown one."""
    long = long_names().get((stem := split_side(name)[0]).casefold(), stem)
    entry: dict[str, Any] | None = bundled_toml(__package__, "muscle_norms.toml").get(long)
    return entry and {**entry, **entry.get("parameters", {})}


@dataclass(frozen=True)
class Deviation:
    """A quantity of a muscle far from its twin or siblings: how many limits (below one a note), and what is said.

    changes: of several muscles, see `Mended`.
    """

    code: str
    muscle: str
    ratio: float
    said: str
    twin: bool = False
    change: float = 0.0  # to the value of the twin, or the middle of the public models
    end: tuple[int, int, float] | None = None  # that is moved against public models; see `Mended`
    changes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def norms_of(body: Anatomy, key: str, columns: int) -> Array:
    """Lowest and highest values (2, n, k) of a quantity of muscles in public models, NaN of unknown muscles."""
    norms = np.full((len(body.names), columns, 2), np.nan)
    for k, entry in enumerate(map(_norms_of, body.names)):
        if entry is None:
            continue
        if key == "ends":
            norms[k] = 0.0
        elif key == "arm":
            unknown = ([[0.0 if stem in POSES else np.nan] * 2] * COUNT for stem in body.stems)
            arms = [entry["arm"].get(stem, none) for stem, none in zip(body.stems, unknown, strict=True)]
            norms[k] = np.array(arms, dtype=float).swapaxes(0, 1).reshape(-1, 2)
        else:
            norms[k] = np.reshape(entry[key], (-1, 2))
    return norms.transpose(2, 0, 1)


def length_scales(body: Anatomy, norms: Array) -> Array:
    """Factors (2,) on the tendons and the fibers of a model with which its muscles fit their paths; NaN of few muscles.

    Each muscle states a T + b F = L in each pose, with its length L, its tendon T and the length F along the tendon of
    fibers that are stretched as in public models, `norms` (2, n, P). Muscles with long tendons decide a, with short
    ones b. The factors have the least sum of |(a T + b F) / L - 1|, and are divided by the `LENGTHS` of the family.
    """
    stretch = norms.mean(axis=0)
    along = np.sqrt(np.maximum(stretch**2 - np.sin(body.pennation)[:, None] ** 2, 0.0)) * body.fiber[:, None]
    tendon, known, family = body.tendon / body.length, np.isfinite(along), _family(body.names)
    parts = np.stack([tendon.T, along / body.length.T], axis=2)[known]
    ankle = np.abs(body.arm[:, body.stems.index("ankle_angle")]).T[known] > SAME
    if family is None or len(parts) < COUNT * FEWEST or not ankle.any():
        return np.full(2, np.nan)
    weight = np.ones(len(parts))
    for _ in range(REWEIGHTED):
        factors = np.linalg.lstsq(parts * weight[:, None], weight, rcond=None)[0]
        left = parts @ factors - 1.0
        weight = np.maximum(np.abs(left), 1e-3) ** -0.5
    fits = abs(np.median(left[ankle])) < MISFIT
    return np.asarray(factors / LENGTHS[family]) if fits else np.full(2, np.nan)


def _as_published(body: Anatomy) -> Array:
    """Logarithms (n,) of forces over forces of the public model that most muscles have, up to one factor on all.

    NaN where no public model has such forces: they may come from another author, or from a person.
    """
    forces = np.array([(_norms_of(name) or {}).get("force", NONE) for name in body.names], dtype=float)
    published = np.ma.masked_less_equal(forces.reshape(-1, len(PUBLIC)), 0.0)
    ratio = np.ma.log(body.force[:, None] / published)
    ratio -= np.ma.median(ratio, axis=0)
    alike = (np.abs(ratio) < ROUNDED).sum(axis=0).filled(0)
    nearest = ratio[:, alike.argmax()]
    is_published = alike.max() > PUBLISHED * max(nearest.count(), FEWEST)
    return np.asarray(nearest.filled(np.nan)) if is_published else np.full(len(body.names), np.nan)


def _of_lengths(body: Anatomy) -> Iterator[tuple[Deviation, Anatomy]]:
    """Yield tendons and fibers of a model, or of one side, that do not fit the paths, and the muscles that do.

    Single muscles explain what no factor on all of them does.
    """
    low, high = norms = norms_of(body, "stretch", COUNT)
    sides, fits = np.array([split_side(name)[1] for name in body.names]), body
    groups = {side: sides == side for side in SIDES} | {"": np.full(len(sides), True)}
    of_groups = {side: np.where(group[:, None], norms, np.nan) for side, group in groups.items()}
    scales = {side: length_scales(body, of_group) for side, of_group in of_groups.items()}
    uneven = (np.abs(np.log(scales["r"] / scales["l"])) > LONGER).any()
    for side, group in groups.items():
        size = float((np.abs(np.log(scales[side])) / LONGER).max())
        if uneven != bool(side) or not size > 1.0:
            continue
        tendon, fiber = (np.where(group, factor, 1.0) for factor in scales[side])
        longer = replace(fits, tendon=tendon * fits.tendon, fiber=fiber * fits.fiber)
        beyond = (np.maximum(low - stretch, stretch - high) for stretch in map(_stretch, (fits, longer)))
        before, after = (np.sum(far[group].max(axis=1) > STRETCH) for far in beyond)
        if after <= before / 4:
            fits, of_side = longer, f" of the {SIDE_NAMES[side]} side" if side else ""
            said = f"the paths of {group.sum()} muscles{of_side} fit tendons {scales[side][0]:.2f} times and fibers "
            said += f"{scales[side][1]:.2f} times as long as in the model (expected 0.97 to 1.03 and 0.93 to 1.08)"
            shorter = (1.0 - tendon) * body.tendon / body.fiber
            changes = {"muscle_fiber": np.log(fiber), "muscle_tendon": shorter}
            by_name = {code: dict(zip(body.names, by.tolist(), strict=True)) for code, by in changes.items()}
            yield Deviation("muscle_tendon.all", ALL, size, said, changes=by_name), fits


def deviations(body: Anatomy) -> Iterator[Deviation]:
    """Yield what differs from twin or siblings, in the order of `INVARIANTS`."""
    number = body.number
    # the public muscles are compared in `POSES`, which need their coordinates
    known_names = sum(split_side(name)[0].casefold() in long_names() for name in body.names)
    follows = set(FLEXION) <= {*body.stems} and known_names >= FEWEST
    fits = body
    for of_lengths, fitting in _of_lengths(body) if follows else ():
        yield of_lengths
        fits = fitting
    for invariant in INVARIANTS:
        now, values = invariant.quantity(body), invariant.quantity(fits)
        low, high = np.full((2, *values.shape), np.nan)
        if follows:
            low, high = norms_of(body, invariant.key, values.shape[1])
        middle = 0.5 * (low + high)
        if invariant.key == "strength":  # strong and weak people: the muscles of a model among each other
            known = np.isfinite(low[:, 0])
            if known.sum() >= 8 and np.ptp(body.force) < SAME * body.force.max():
                said = f"all {len(body.names)} muscles have the same maximum isometric force, {body.force[0]:.0f} N"
                by_name = zip(body.names, (middle - values)[:, 0].tolist(), strict=True)
                changes = {"muscle_strength": {name: by for name, by in by_name if np.isfinite(by)}}
                yield Deviation("muscle_strength.alike", ALL, np.inf, said, changes=changes)
                continue
            family, sides = _family(body.names), np.array([split_side(name)[1] for name in body.names])
            usual, size, mass = np.log(FAMILY[family]) if family is not None else np.full(3, np.nan)
            legs = [known & (sides == side) for side in SIDES if (known & (sides == side)).any()]
            levels = [float(np.median((values - middle)[leg])) for leg in legs if known.sum() >= 8]
            # one side may be weaker or stronger by a factor
            of_all = min(levels, key=lambda level: abs(level - np.nan_to_num(usual)), default=np.nan)
            values = values - of_all
            # from nothing scaled to forces with the mass and fibers with the length
            more, scaled = of_all - usual, np.log(body.size * (body.mass or np.exp(mass))) - size - mass
            low_end, high_end = min(0.0, scaled), max(0.0, scaled)
            by = more - np.clip(more, low_end, high_end)
            if abs(by) > NEARLY:
                said = f"all muscles are {np.exp(more):.2g} times as strong as in public models (force times fiber); a "
                ends = np.exp(low_end - WEAKER), np.exp(high_end + STRONGER)
                said += f"person of this mass and size has {ends[0]:.2g} to {ends[1]:.2g} times"
                ratio = max(by / STRONGER, -by / WEAKER)
                changes = {"muscle_strength": dict.fromkeys(body.names, -by)}
                yield Deviation("muscle_strength.all", ALL, ratio, said, changes=changes)
            long = [long_names().get(split_side(name)[0].casefold(), name) for name in body.names]
            in_groups = set[str]()
            for group, stems in TABLES["groups_of_muscles"].items():
                of_group = [name.startswith(tuple(stems)) for name in long]
                alike = (values - middle)[of_group, 0]
                alike = alike[np.isfinite(alike)]
                by = float(alike.mean()) if alike.size else 0.0
                if abs(by) > GROUP and (alike / by).min() > OF_GROUP:
                    said = f"the {group} are {np.exp(by):.2g} times as strong (force times fiber) as the other muscles "
                    said += f"of this model suggest, expected {1.0 / np.exp(GROUP):.2g} to {np.exp(GROUP):.2g} times"
                    in_groups |= {*np.array(body.names)[of_group].tolist()}
                    changes = {"muscle_strength": dict.fromkeys(np.array(body.names)[of_group].tolist(), -by)}
                    yield Deviation("muscle_strength.group", ALL, abs(by) / GROUP, said, changes=changes)
            by_author = _as_published(body)
            known = np.isfinite(by_author) & ~np.isin(np.array(body.names), [*in_groups])
            low[known, 0] = high[known, 0] = middle[known, 0] = (values[:, 0] - by_author)[known]
        limit = invariant.beyond + invariant.relative * np.maximum(np.abs(low), np.abs(high))
        if invariant.key == "strength":
            limit = np.where(known[:, None], NEARLY, limit)
        away = np.nan_to_num(np.maximum(low - values, values - high) / limit, nan=0.0)
        of_twins = values[(twins := [number.get(twin(name), k) for name, k in number.items()])]
        size = np.maximum(np.abs(values), np.abs(of_twins))
        apart = np.abs(values - of_twins) / (invariant.twin + invariant.relative * size)
        for (name, k), other in zip(number.items(), twins, strict=True):
            # of twins that differ, the one farther from the siblings, or both
            of_twin = apart[k].max() > 1.0 and away[k].max() >= away[other].max() - 1e-9
            if not of_twin and not away[k].max() > 1.0:
                continue
            column = int((apart if of_twin else away)[k].argmax())
            stem = (*body.stems, "")[column % max(len(body.stems), 1)]
            end, axis = "insertion" if column >= 3 else "origin", "xyz"[column % 3]
            about = invariant.words.format(stem=stem, end=end, axis=axis)
            said = f"{sided(name)}: {about} {invariant.shown(now[k, column])}"
            if of_twin:
                said += f", {sided(body.names[other])} {invariant.shown(now[other, column])}"
            if np.isfinite(low[k, column]) and invariant.key != "strength":
                ends = invariant.shown(low[k, column]), invariant.shown(high[k, column])
                said += f", public models {' to '.join(dict.fromkeys(ends))}"
            elif np.isfinite(low[k, column]):
                factor = float(np.exp(values[k, column] - middle[k, column]))
                said += f", {factor:.2g} times what the other muscles of this model suggest"
            ratio = float(max(apart[k].max() if of_twin else 0.0, away[k].max()))
            to = (values[other, column] if of_twin else middle[k, column]) - values[k, column]
            moved = (column // 3, column % 3, float(to)) if invariant.key == "ends" else None
            yield Deviation(invariant.code, name, ratio, said, bool(of_twin), float(to), moved)


Found = Iterator[tuple[Finding, Mended | None]]
"""Findings, each with how its muscles are mended; None where it is not known."""


def muscles_of_model(body: ModelBody) -> Iterator[Finding]:
    """Find muscles that differ from their twins or from public models, and muscles that stand twice."""
    of_model = _once_for_all_trials(body.model, tuple(body.muscles), body.settings.muscles.names is None)
    for fault, mended in of_model:
        yield fault if fault.severity == "note" and mended is None else with_cost(fault, body, mended)


@lru_cache(maxsize=4)
def _once_for_all_trials(*of_model: Any) -> list[tuple[Finding, Mended | None]]:
    return list(_of_model(*of_model))


def _of_model(model: OpenSimModel, muscles: Sequence[str], whole: bool) -> Found:
    """See `muscles_of_model`; whole: the trial names no muscles."""
    where = Where(model.file)
    try:
        anatomy = anatomy_of(model, [name for name, muscle in model.muscles.items() if muscle.enabled])
    except InputError:
        anatomy = anatomy_of(model, muscles)
    used = {name for name in anatomy.names if {name, twin(name)} & set(muscles)}
    crossed = [name for name, k in anatomy.number.items() if anatomy.other[k] > SAME and name in used]
    if crossed:
        values = {"muscles": few(map(sided, crossed), NAMED), "count": len(crossed)}
        mended = Mended(exchanged=tuple(crossed)) if {*map(twin, crossed)} == {*crossed} else None
        yield finding("muscle_anatomy.side", "error", values, where), mended
    yield from _twice(model, anatomy, used, where)
    if whole:
        yield from _missing(model, where)
        acting = [muscle for muscle in model.muscles.values() if muscle.enabled]
        if idle := [path.name for path in acting if len({point.frame.body for point in path.points}) == 1]:
            values = {"muscles": few(map(sided, idle), NAMED), "count": len(idle)}
            yield finding("muscle_anatomy.idle", "warning", values, where), None
    yield from _moved_joints(model, anatomy, where)
    by_code: dict[str, list[Deviation]] = {}
    told: set[str] = {*crossed}
    for deviation in deviations(anatomy):
        if {deviation.muscle} <= {*used, ALL} - told:
            by_code.setdefault(deviation.code, []).append(deviation)
            if deviation.code in ("muscle_anatomy", "muscle_fiber"):
                told.add(deviation.muscle)
    differ = {deviation.muscle for deviation in by_code.get("muscle_anatomy", ())} | told
    if uncommon := list(uncommon_properties(model, used - differ - {*map(twin, differ)})):
        first = {name: said for name, said, *_ in reversed(uncommon)}
        alike = {said: [name for name, other in first.items() if other == said] for said in first.values()}
        texts = [f"{few(once_for_both_sides(names), 3)}: {said}" for said, names in reversed(alike.items())]
        values = {"muscles": few(texts, NAMED)}
        severity: Severity = "warning" if any(grave for *_, grave in uncommon) else "note"
        mended = Mended(paths=tuple({name: 0 for name, _, of_path, _ in uncommon if of_path}))
        yield finding("muscle_property", severity, values, where), mended if mended.paths else None
    chosen = _chosen_strength(anatomy)
    strengths = by_code.get("muscle_strength", [])
    by_code["muscle_strength"] = [one for one in strengths if one.muscle not in chosen]
    for code, listed in by_code.items():
        listed = sorted(listed, key=lambda deviation: -deviation.ratio)
        if listed:
            values = {"muscles": "; ".join(deviation.said for deviation in listed[:3])}
            values["names"] = few(once_for_both_sides([deviation.muscle for deviation in listed]), NAMED)
            values["more"] = f" (the greatest of {len(listed)})" if len(listed) > 3 else ""
            severity = "warning" if listed[0].ratio > 1.0 else "note"
            yield finding(code, severity, values, where), _as_twins(code, listed)
    if chosen:
        weaker = [name for name, factor in chosen.items() if factor > 1.0]
        factors = few(dict.fromkeys(f"{chosen[name]:g}" for name in weaker), NAMED)
        values = {"muscles": few(map(sided, weaker), NAMED), "count": len(weaker), "factors": factors}
        most = 2 * len(chosen) > len(anatomy.names)
        changes = {name: float(np.log(factor)) for name, factor in chosen.items() if factor > 1.0}
        mended = Mended({"muscle_strength": changes}) if most else None
        yield finding("muscle_strength.chosen", "warning" if most else "note", values, where), mended


def _moved_joints(model: OpenSimModel, anatomy: Anatomy, where: Where) -> Found:
    """Find joints that lie elsewhere on a body, or turn it otherwise, on both sides alike, than its muscles suggest."""
    count, number = len(anatomy.names), {name: k for k, name in enumerate(anatomy.joints)}
    rotation, body = segments(model).upright.rotation[0], model.body_number
    away, said, turned = anatomy.moved[count:], list[str](), dict[str, float]()
    for name, k in number.items():
        other = number.get(twin(name))
        if split_side(name)[1] != "r" or other is None or not np.isfinite(away[[k, other]]).any():
            continue
        moves = np.nan_to_num(away[[k, other]])
        column = int(np.abs(moves).min(axis=0).argmax())
        by = moves[:, column]
        if np.abs(by).min() > 1000.0 * JOINT and by.prod() > 0.0:
            bone = anatomy.bones[count + k][column // 3]
            said.append(f"{name} and {twin(name)} {by[0]:+.0f} mm along {'xyz'[column % 3]} on {bone}")
        bones = (anatomy.bones[count + side] for side in (k, other))
        at_rest = (rotation[body[one]].T @ rotation[body[two]] for one, two in bones)
        turn = min(float(np.linalg.norm(each - np.eye(3))) / np.sqrt(2.0) for each in at_rest)
        if turn > np.radians(TURNED):
            turned[f"{name} and {twin(name)}"] = float(np.degrees(turn))
    if said:
        values: dict[str, object] = {"joints": few(said, NAMED), "limit": JOINT}
        yield finding("joint_center.both", "warning", values, where), None
    if turned:
        values = {"joints": few(turned, NAMED), "off": max(turned.values()), "limit": TURNED}
        yield finding("joint_center.turned", "warning", values, where), None


def _as_twins(code: str, differing: Sequence[Deviation]) -> Mended | None:
    """Muscles as their twins, or as in public models: one of two twins that both differ from each other."""
    apart = {deviation.muscle: deviation for deviation in differing}
    one = [name for name, at in apart.items() if not (at.twin and name.endswith("l") and twin(name) in apart)]
    if differing[0].changes:
        changes: dict[str, dict[str, float]] = {}
        for several in differing:
            for key, by_name in several.changes.items():
                changes[key] = changes.get(key, {}) | dict(by_name)
        return Mended(changes)
    if code != "muscle_anatomy":
        return Mended({code: {name: apart[name].change for name in one}})
    alike = {name: apart[name].end for name in one if not apart[name].twin and twin(name) in apart}
    ends = {name: end for name, end in alike.items() if end is not None}
    paths = tuple(name for name in one if name not in alike)
    return Mended(paths=paths, ends=ends) if len(ends) == len(alike) else None


def properties(model: OpenSimModel, muscle: OpenSimMuscle) -> dict[str, tuple[float, float]]:
    """Numbers that `INVARIANTS` leave out, each with the difference that no twins have; of the path it is not 0."""
    side, controls = split_side(muscle.name)[1], dict(zip(CONTROLS, muscle.controls, strict=True))
    curves = {**muscle.curve, SHORTENING: muscle.max_contraction_velocity, **controls}
    wraps = [wrap.surface for wrap in muscle.wraps if {split_side(wrap.surface)[1], side} != {*SIDES}]
    counts = Counter(f"points on {split_side(point.frame.body)[0]}" for point in muscle.points)
    places = dict[str, float]()
    for k, point in enumerate(muscle.points, start=1):
        for end, angle in zip(("begin", "end"), (point.condition or ())[1:], strict=False):
            places[f"{end} of the condition of point {k} [degrees]"] = float(np.degrees(angle))
    for surface in wraps:
        radii, place = model.surfaces[surface].radii, model.surfaces[surface].frame.position
        sizes = 1000.0 * np.array([*radii, *place[:2], -place[2] if side == "l" else place[2]])
        for key, size in zip(("radius x", "radius y", "radius z", *"xyz"), sizes, strict=True):
            places[f"{key} of {split_side(surface)[0]} [mm]"] = float(size)
    numbers = {key: (float(value), 0.0) for key, value in curves.items()}
    numbers |= {key: (float(value), COUNTED) for key, value in {WRAPS: len(wraps), **counts}.items()}
    return numbers | {key: (value, UNEVEN) for key, value in places.items()}


def uncommon_properties(model: OpenSimModel, used: set[str]) -> Iterator[tuple[str, str, bool, bool]]:
    """Yield muscles with a property that nearly all muscles of the model, public models or their twins have otherwise.

    With what is said, whether the path is concerned, and whether this changes forces as no model should.
    """
    numbers = {name: properties(model, muscle) for name, muscle in model.muscles.items()}
    every = [(key, *number) for muscle in numbers.values() for key, number in muscle.items()]
    counts = Counter((key, value) for key, value, limit in every if not limit)
    usual = {key: value for (key, value), most in counts.items() if most > max(USUAL * len(numbers), SHARED)}
    family = _family([*numbers]) or 0
    for name in sorted(used):
        properties_of, pair = numbers[name], twin(name)
        bare = properties_of[WRAPS][0]
        stated = (_norms_of(name) or {"wraps": [0]})["wraps"][family]
        wraps = stated if model.muscles[name].by_function is None else 0
        public = {WRAPS: max(wraps, bare)}
        for key, (low, high) in TABLES["ranges_of_muscles"].items():
            if key in properties_of and not low <= (value := properties_of[key][0]) <= high:
                yield name, f"{key} {value:.3g}, expected {low:g} to {high:g}", False, True
        for k, point in enumerate(model.muscles[name].points, start=1):
            if point.condition is not None:
                at, first, last = point.condition
                of = model.coordinates[at]
                if of.lower < of.upper and not max(first, of.lower) < min(last, of.upper):
                    ends = f"{np.degrees(first):.0f} to {np.degrees(last):.0f} degrees of {at}"
                    yield name, f"point {k} is on the path from {ends} alone, beyond its range", False, True
        of_twin = numbers.get(pair, {}) if split_side(name)[1] == "r" else {}
        for key, (value, limit) in properties_of.items():
            other = of_twin.get(key, (0.0 if of_twin and limit == COUNTED else value, limit))[0]
            for whose, than, grave in (
                ("most muscles", usual.get(key, value), False),
                ("public models", public.get(key, value), True),
                ("the other side", other, limit == COUNTED),
            ):
                if abs(value - than) > max(limit, ROUNDED * max(abs(value), abs(than))):
                    yield name, f"{key} {value:.3g}, {whose} {than:.3g}", limit > 0.0, grave


def _chosen_strength(body: Anatomy) -> dict[str, float]:
    """Muscles of a side -> strength of their twins over theirs, a factor that several of them share."""
    number, factors = body.number, {}
    for name, k in number.items():
        other = body.force[number.get(twin(name), k)]
        factors[name] = round(float(other / body.force[k]), 2) if body.force[k] > 0.0 else 1.0
    count, (low, high) = Counter(factors.values()), CHOSEN
    shared = {
        k for k, muscles in count.items()
        if k != 1.0 and (4 * muscles > len(factors) or (muscles >= SHARED and low <= k <= high))
    }  # fmt: skip
    return {name: factor for name, factor in factors.items() if factor in shared}


def _twice(model: OpenSimModel, body: Anatomy, used: set[str], where: Where) -> Found:
    """Find muscles with the same path; the later one is left out. Names need not state the sides of muscles."""

    def place(name: str) -> tuple[Any, ...]:
        points = [(point.frame.body, point.location) for point in model.muscles[name].points]
        sides = [(at, *np.sign(() if location is None else location[2:])) for at, location in points]
        return split_side(name)[1], model.crossing[name], sides

    paths = np.concatenate([body.length, body.arm.reshape(-1, len(body.names))])
    pairs: dict[str, str] = {}
    for (j, one), (k, two) in combinations(enumerate(body.names), 2):
        apart = np.abs(paths[:, k] - paths[:, j]).max() / body.size
        as_strong = abs(body.force[k] - body.force[j]) <= ROUNDED * body.force[j]
        if {one, two} <= used and apart < (NEAR if as_strong else SAME) and place(one) == place(two):
            pairs[two] = f"{one} and {two}"
    if pairs:
        values = {"pairs": few(pairs.values(), NAMED), "count": len(pairs)}
        yield finding("muscle_twice", "error", values, where), Mended(left_out=tuple(pairs))


def _missing(model: OpenSimModel, where: Where) -> Found:
    """Find muscles that act on one side alone, which cost the other side as much, and the last that a set lacks."""
    names = [split_side(name) for name, muscle in model.muscles.items() if muscle.enabled]
    stems = {side: {stem for stem, of in names if of == side} for side in SIDES}
    both, either = stems["r"] & stems["l"], stems["r"] | stems["l"]
    if not both:
        return
    severity: Severity = "note" if len(both) < 0.8 * len(either) else "warning"  # a leg with a prosthesis
    one = [with_side(stem, side) for side in SIDES for stem in sorted(either - stems[side])]
    lost = _lost({stem.casefold() for stem in either}) if severity == "warning" else ()
    if one:
        without = Mended(left_out=tuple(map(twin, one)))
        yield finding("muscle_missing", severity, {"muscles": few(map(sided, one), NAMED)}, where), without
    if lost:
        yield finding("muscle_missing.set", "warning", {"muscles": few(lost, NAMED)}, where), None


def _lost(here: set[str]) -> list[str]:
    """Whole groups, and up to two other muscles, that a model with some names has not of the set it follows."""
    of_set = min(map(_names_of, NOT_IN), key=lambda names: len(names - here))
    absent, lost = of_set - here, list[str]()
    groups: dict[str, list[str]] = TABLES["groups_of_muscles"]
    parts = [(f"all {group}", stems) for group, stems in groups.items()]
    parts += [(f"every {stem}", [stem]) for stems in groups.values() for stem in stems]
    for said, stems in parts:
        of_part = {name for name in of_set if long_names()[name].startswith(tuple(stems))}
        if len(of_part) > 2 and of_part <= absent and len(absent) < len(of_set) / 2:
            absent, lost = absent - of_part, [*lost, said]
    return [*sorted(absent), *lost] if len({name.rstrip("123") for name in absent}) <= 2 else []


def _names_of(family: int) -> set[str]:
    """The muscles of a public set, in small letters, without side."""
    names = bundled_toml("musclesolve.models.opensim", "leg_names.toml")["names"]
    return {shorts[family].casefold() for shorts in names.values()} - NOT_IN[family]


def _family(names: Sequence[str]) -> int | None:
    """The public set, 0 or -1, that has more of some names; None where they are less than half of the set."""
    stems = {split_side(name)[0].casefold() for name in names}
    share = {family: len(stems & (of_set := _names_of(family))) / len(of_set) for family in NOT_IN}
    family = max(share, key=lambda number: share[number])
    return family if share[family] >= 0.5 else None


NOT_IN = {0: {"addmagdist"}, -1: {"per_tert", "pect", "quadfem", "gem"}}
"""Muscles that the sets of gait2392 (0) and Rajagopal et al. (-1) do not have."""


def fibers_of_motion(body: ModelBody) -> Iterator[Finding]:
    """Find fibers that are shorter or longer than any fiber in this motion, and moment arms that leap."""
    state, where = body.whole.state, Where(body.model.file)
    frames = np.asarray(body.whole.usable)
    if not frames.any():
        return
    some: Mask | slice = slice(None) if frames.all() else frames
    lows, highs, means, leaps = list[float](), list[float](), list[Array](), list[Array]()
    optimal = state.parameters.optimal_fiber_length
    for k, single in enumerate(optimal):  # one after the other: a motion may be long
        length, arm = state.fiber_length[some, k] / single, state.moment_arm[:, :, k]
        lows.append(np.where(state.slack[some, k], 0.0, length).min())
        highs.append(length.max())
        means.append(np.abs(arm[some]).mean(axis=0))
        step = np.abs(np.diff(arm, axis=0))
        leaps.append((step[1:-1] - np.maximum(step[:-2], step[2:])).max(axis=0, initial=-np.inf))
    pull = np.stack(means, axis=1) * state.parameters.max_isometric_force
    share = (pull / np.maximum(pull.sum(axis=1, keepdims=True), 1e-12)).max(axis=0)
    outside = (np.array(lows) < FIBERS[0]) | (np.array(highs) > FIBERS[1])
    acting = np.flatnonzero(outside & (share > PULLS)).tolist()
    far = {state.parameters.names[k]: (float(lows[k]), float(highs[k])) for k in acting}
    if far:
        texts = [f"{sided(name)} {low:.2f} to {high:.2f}" for name, (low, high) in far.items()]
        values = {"muscles": few(texts, NAMED), "low": FIBERS[0], "high": FIBERS[1]}
        low, high = FIBERS
        into = {name: high - ends[1] if ends[1] > high else low - ends[0] for name, ends in far.items()}
        fault = finding("muscle_fiber.motion", "warning", values, where)
        yield with_cost(fault, body, Mended({"muscle_tendon": into}))
    if len(frames) > 3:
        angles = np.array([body.model.coordinates[name].rotational for name in body.dofs])
        leap = np.stack(leaps, axis=1) * angles[:, None]
        if leap.size and leap.max() > LEAP * size_of(body.model):
            dof, muscle = np.unravel_index(int(leap.argmax()), leap.shape)
            values = {
                "muscle": sided(state.parameters.names[muscle]),
                "dof": body.dofs[dof],
                "leap": leap.max(),
            }
            yield with_cost(finding("muscle_anatomy.leap", "warning", values, where), body, None)


JOINT = 0.012
"""Difference of the centers of joints between the sides that no public model has [m]; theirs are up to 4 mm."""
TURNED = 4.0
"""Difference of the axes of a joint, or of its bodies with all angles zero, between the sides [degrees]; 15 public
models have less than 0.01."""
MASS = 0.15
"""Difference of the masses of segments between the sides that no public model has."""


LIMB = {
    "its mass over the mass of the next segment": (1.3, 4.8),
    "the place of its mass center from the proximal to the distal joint": (0.25, 0.62),
    "the distance of its mass center from the line of its joints over its length": (0.0, 0.12),
    "its moment of inertia about its own line over the least one across": (0.0, 1.0),
}
"""Proportions of a thigh or shank, see `Segments.proportions`. Public models have 2.3 to 2.5, 0.39 to 0.53, at most
0.02, and 0.3; people have 2.1 to 3.5 and 0.36 to 0.45 (Dempster 1955; de Leva 1996)."""
HEAVY, SPREAD = 1.0, 1.2
"""Mass of a body [kg] from which its inertia is judged, and the greatest radius of gyration over the distance of the
farthest joint or muscle point from the mass center: public models have 0.41 to 0.75."""
CENTER = 0.03
"""Difference of the mass centers of the sides on their bodies [m]; public models have at most 0.002."""


def _spread(model: OpenSimModel) -> Iterator[str]:
    """Say which bodies have the inertia of a larger body."""
    points = [(end.body, end.position) for joint in model.joints for end in (joint.parent, joint.child)]
    stations = [point for muscle in model.muscles.values() for point in muscle.points]
    points += [(at.frame.body, at.frame.place(at.location)) for at in stations if at.location is not None]
    places = {name: [point for body, point in points if body == name] for name in model.masses}
    for name, mass in model.masses.items():
        if mass.mass > HEAVY and len(places[name]) >= 3:
            reach = float(np.linalg.norm(np.array(places[name]) - mass.center, axis=1).max())
            gyration = float(np.sqrt(np.linalg.eigvalsh(mass.inertia)[-1] / mass.mass))
            if gyration > SPREAD * reach:
                far = f"its radius of gyration is {gyration:.2f} m, and its joints and muscles lie within {reach:.2f} m"
                yield f"{name}: {far} of its mass center"


def joints_of_model(body: ModelBody) -> Iterator[Finding]:
    """Find joints and masses of segments that differ between the sides, and proportions that no limb has."""
    model, mirror = body.model, np.array([1.0, 1.0, -1.0])
    joint_of = {joint.name: joint for joint in model.joints}
    parts, number = segments(model), model.body_number
    rotation = parts.upright.rotation[0]
    off, turned, loose = dict[str, float](), dict[str, float](), set[str]()
    driven = {coupler.dependent for coupler in model.couplers}
    for name, joint in joint_of.items():
        stem, side = split_side(name)
        left = joint_of.get(with_side(stem, "l"))
        if side != "r" or left is None:
            continue
        pairs = [{*pair} for pair in zip(joint.coordinates, left.coordinates, strict=False)]
        loose = loose.union(*(pair for pair in pairs if len(pair & driven) == 1))
        ends = ((joint.parent, left.parent), (joint.child, left.child))
        away = [np.abs(one.position - mirror * two.position).max() for one, two in ends if one.body != GROUND]
        if max(away) > JOINT:
            off[stem] = float(max(away))
        at_rest = [rotation[number[j.parent.body]].T @ rotation[number[j.child.body]] for j in (joint, left)]
        apart = mirror[:, None] * at_rest[0] * mirror @ at_rest[1].T
        turns = [float(np.linalg.norm(apart - np.eye(3))) / np.sqrt(2.0)]  # 2 sin(angle / 2)
        for one, two in ends:
            for axis, of_left in zip(joint.rotations, left.rotations, strict=False):
                if axis.coordinates and of_left.coordinates:
                    lines = one.rotation @ axis.axis, mirror * (two.rotation @ of_left.axis)
                    turns.append(float(np.linalg.norm(np.cross(*lines))))
        if max(turns) > np.radians(TURNED):
            turned[stem] = float(np.degrees(max(turns)))
    where = Where(model.file)
    if loose:
        said = {"driven": few(sorted(loose & driven), NAMED), "loose": few(sorted(loose - driven), NAMED)}
        yield with_cost(finding("joint_center.coupler", "warning", said, where), body, None)
    for code, sizes, limit in (("joint_center", off, JOINT), ("joint_center.axes", turned, TURNED)):
        if sizes:
            worst = max(sizes, key=lambda stem: sizes[stem])
            values = {"joints": few(sizes, NAMED), "worst": worst, "off": sizes[worst], "limit": limit}
            yield with_cost(finding(code, "warning", values, where), body, None)
    odd = [
        f"{name}: {words} is {proportion:.2g} (expected {low:g} to {high:g})"
        for knee in parts.knees
        if parts.turns(knee)
        for name, proportions in parts.proportions(knee)
        for (words, (low, high)), proportion in zip(LIMB.items(), proportions, strict=True)
        if not low <= proportion <= high
    ]
    odd += _spread(model)
    uneven = []
    for name, mass in model.masses.items():
        stem, side = split_side(name)
        if side == "r" and (other := model.masses.get(pair := with_side(stem, "l"))) is not None:
            apart = float(np.abs(np.abs(mass.center) - np.abs(other.center)).max())
            if abs(mass.mass - other.mass) > MASS * max(mass.mass, other.mass):
                uneven.append(f"{name} {mass.mass:.3g} kg, {pair} {other.mass:.3g} kg")
            elif apart > CENTER:
                far = f"{1000.0 * apart:.0f} mm apart on their bodies"
                uneven.append(f"mass centers of {name} and {pair} {far}")
    for code, said_of in (("segment_mass.limb", odd), ("segment_mass", uneven)):
        if said_of:
            values = {"segments": few(said_of, NAMED)}
            yield with_cost(finding(code, "warning", values, where), body, None)
