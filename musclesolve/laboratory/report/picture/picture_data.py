"""Data of a picture, as plain arrays: read from a result or a simulation, with forces, events, surfaces and bellies.

Muscles are drawn as bellies between tendons, with the same volume in every frame: a muscle that shortens gets thicker.
The volume of a muscle is its physiological cross section times its fibers, V = F0 L0 / SPECIFIC (60 N/cm^2: Rajagopal
et al. 2016, IEEE Trans Biomed Eng 63:2068-79). A path of length l is drawn as a tendon of constant length with a belly
of length L = l - l_tendon in it, of which a share PROXIMAL of the tendon lies before and the rest after it:

    r(u)^2 = THIN^2 + 2 DRAWN V / (pi L) sin^2(pi u),   0 <= u <= 1 along the belly,

whose volume beyond the tendon is DRAWN V. The belly is as long as its fibers, or SLENDER V^(1/3), which is about the
length of the muscles of the leg (Ward et al. 2009, Clin Orthop 467:1074-82), but no longer than WHOLE of the path.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array, Indices
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import SIDE_NAMES, side_of, split_side
from musclesolve.constants import LOADED_FROM_N, NO_LOADS, STANDARD_GRAVITY
from musclesolve.laboratory.report.picture.bones import Bones, bones_of, bones_of_model
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.checked import (
    MODEL,
    as_dataset,
    check_parts,
    check_status,
    of_data_set,
)
from musclesolve.laboratory.results.dataset.labels import Skeleton
from musclesolve.laboratory.results.dataset.result_quantities import shows_legs, text

ON_GROUND, ON_BODY = 1.5, 0.25
"""Half the side [m] of the square that is drawn of a plane."""
LEVEL = 1e-6
"""Largest slope of a plane that is a floor."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """Surfaces (S) by what they are (dynamics.contact.surfaces.Surface), and where their bodies (B) are.

    center (S, 3), axes (S, 3, 3), semi_axes (S, 3), order, radius, body, owner (S,): owner is the number of a subject,
    -1 on the ground; half (S,) [m] is half the side of a plane, zero for all others. place (T, B, 3) and rotation
    (T, B, 3, 3) of the bodies. floor: height [m] of the level plane on the ground, which is no surface here.
    """

    names: tuple[str, ...]
    center: Array
    axes: Array
    semi_axes: Array
    order: Array
    radius: Array
    half: Array
    body: Indices
    owner: Indices
    place: Array
    rotation: Array
    floor: float | None

    def placed(self, frame: int) -> tuple[Array, Array]:
        """Centers (S, 3) and axes (S, 3, 3) in the laboratory."""
        turned = self.rotation[frame][self.body]
        return self.place[frame][self.body] + np.einsum("sij,sj->si", turned, self.center), turned @ self.axes

    def rims(self, frame: int, normals: Array) -> Array:
        """Points (S, k, 3) where the surfaces have the normals (k, 3); of a plane, the corner that lies that way."""
        center, axes = self.placed(frame)
        along = np.einsum("kx,sxi->ski", normals, axes)
        corner = np.sign(along) * self.half[:, None, None] * np.array([1.0, 1.0, 0.0])
        # the gradient of h(n) = |(a_1 n_1, a_2 n_2, a_3 n_3)|_p with 1/p + 1/order = 1; zero without extension
        dual = (self.order / (self.order - 1.0))[:, None, None]
        scaled = np.abs(self.semi_axes[:, None] * along)
        size = np.sum(scaled**dual, axis=2, keepdims=True) ** (1.0 / dual)
        share = (scaled / np.where(size > 0.0, size, 1.0)) ** (dual - 1.0)
        reach = corner + np.where(size > 0.0, self.semi_axes[:, None] * np.sign(along) * share, 0.0)
        round_part = np.where(self.half > 0.0, 0.0, self.radius)[:, None, None] * normals
        return center[:, None] + np.einsum("sxi,ski->skx", axes, reach) + round_part


def shapes_of(result: xr.Dataset) -> Shapes | None:
    """The shapes of the dataset of a simulation; None of another dataset."""
    if "surface_center" not in result.variables:
        return None
    flat, ground = (result[f"surface_{name}"].values.astype(bool) for name in ("is_plane", "on_ground"))
    center, axes = result["surface_center"].values, result["surface_axes"].values
    floors = flat & ground & (axes[:, 2, 2] > 1.0 - LEVEL)
    kept = np.flatnonzero(~(floors & (np.cumsum(floors) == 1)))
    prefixes = list(np.atleast_1d(result.attrs["prefixes"]))
    carriers = map(str, result["surface_prefix"].values)
    owner = [-1 if still else prefixes.index(body) for still, body in zip(ground, carriers, strict=True)]
    return Shapes(
        tuple(str(name) for name in result["surface"].values[kept]),
        center[kept],
        axes[kept],
        result["surface_semi_axes"].values[kept],
        result["surface_order"].values[kept],
        result["surface_radius"].values[kept],
        np.where(flat, np.where(ground, ON_GROUND, ON_BODY), 0.0)[kept],
        result["surface_body"].values[kept].astype(np.intp),
        np.array(owner, np.intp)[kept],
        result["body_place"].values,
        result["body_rotation"].values,
        float(center[np.argmax(floors), 2]) if floors.any() else None,
    )


SPECIFIC = 60e4
"""Specific tension [Pa]."""
DRAWN = 0.45
"""Drawn share of the volume: whole muscles about their lines of action would hide each other and the bones."""
SLENDER, WHOLE, PROXIMAL = 4.5, 0.9, 0.3
THIN = 0.0025
"""Radius of tendons [m]."""
UNKNOWN = (500.0, 0.07)
"""Maximum isometric force [N] and optimal fiber length [m] of a drawn muscle that has none."""


@dataclass(frozen=True, eq=False)
class Bellies:
    """Drawn volume (n,) [m^3] and length of the tendon (n,) [m] of muscles."""

    volume: Array
    tendon: Array

    @classmethod
    def sized(cls, strength: Array, fiber: Array, path: Array, first: Indices) -> Self:
        """Bellies from maximum isometric forces (n,) [N], optimal fiber lengths (n,) [m], paths (T, P, 3) [m]."""
        strength, fiber = (
            np.where(np.isfinite(size) & (size > 0.0), size, instead)
            for size, instead in zip((strength, fiber), UNKNOWN, strict=True)
        )
        length = path_lengths(path, first)
        known = np.isfinite(length)
        total = np.where(known, length, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        volume = strength * fiber / SPECIFIC
        belly = np.minimum(np.maximum(fiber, SLENDER * np.cbrt(volume)), WHOLE * total)
        return cls(DRAWN * volume, total - belly)

    def radius(self, muscle: Indices, along: Array, length: Array) -> Array:
        """Radius [m] of muscles by number at places along their paths, of such lengths [m]; all of one shape."""
        belly = np.maximum(length - self.tendon[muscle], 0.2 * length)
        share = np.clip((along - PROXIMAL * (length - belly)) / belly, 0.0, 1.0)
        swell = 2.0 * self.volume[muscle] / (np.pi * belly)
        return np.asarray(np.sqrt(THIN**2 + swell * np.sin(np.pi * share) ** 2))


def path_lengths(path: Array, first: Indices) -> Array:
    """Lengths (T, n) [m] of paths of points (T, P, 3)."""
    step = np.linalg.norm(np.diff(path, axis=1, append=path[:, -1:]), axis=2)
    step[:, first[1:] - 1] = 0.0  # from the end of a muscle to the next one
    return np.add.reduceat(step, first[:-1], axis=1) if len(first) > 1 else np.zeros((len(path), 0))


PICTURE_VARIABLES = ("time", "muscle", "side", "status", "valid")
GEOMETRY = "geometry_folder"
"""The attribute with the folder of an OpenSim model's geometry."""
KIND = "simulation"
"""The attribute `kind` of a simulation's dataset."""
SIMULATED = ("time", "muscle", "skeleton_position")
"""Variables that every dataset of a simulation has."""
MOST_BYTES = 6_000_000
"""Largest size of positions and values [bytes], 8 MB in base64; a longer result is shown with fewer frames."""
APART = 1e-3
"""Distance of two points of a path that show a direction [m]."""
BYTES = {
    "skeleton_point": 6,
    "path_point": 6,
    "segment": 20,
    "muscle": 10,
    "joint": 12,
    "surface_body_number": 20,
    "contact_pair": 24,
}
"""Bytes of each array per entry and frame."""


@dataclass(frozen=True, eq=False)
class Quantity:
    """Quantity that can color the muscles: values (T, n), NaN where there is none, and the row of picture.toml."""

    about: dict[str, Any]
    values: Array
    high: float

    @cached_property
    def share(self) -> Array:
        """(T, n) of the range of the quantity, 0 to 1; values beyond the range are its ends."""
        low = self.about["low"]
        return np.clip((self.values - low) / (self.high - low), 0.0, 1.0)

    @cached_property
    def colors(self) -> list[str]:
        """Colors of the range from its lower to its upper end, "#rrggbb"."""
        listed: str = bundled_toml(__package__, "picture.toml")["colors"][self.about["color"]]
        return [f"#{color}" for color in listed.split()]


@dataclass(frozen=True, eq=False)
class DrawnLeg:
    """A side: its words, the verdict on each frame (T,) by its key in picture.toml, and its gait cycle (T,) [%]."""

    side: str
    part: str
    verdict: AnyArray
    percent: Array


@dataclass(frozen=True, eq=False)
class Arrows:
    """Forces (T, k, 3) [N], NaN where there is none, with names and sides (k).

    They act at places (T, k, 3) [m], or at points of the skeleton (k,) by number.
    """

    names: tuple[str, ...]
    sides: tuple[str, ...]
    force: Array
    place: Array | None = None
    at: Indices | None = None


@dataclass(frozen=True, eq=False)
class PictureData:
    """The data of a drawn result or simulation: T frames, every `every`-th one of the result.

    points (S), position (T, S, 3) [m], lines (L, 2) between them by number, of bones without a surface; muscles (n)
    with their sides and bellies; path (T, P, 3) [m] and first (n+1,): the points of each muscle; weight [N];
    heading [rad] from x to the left; missing: sentences on missing parts. subjects: beginning of the names of each
    subject's points and segments. bones: bones with a surface; shapes, events: of a simulation.
    """

    time: Array
    every: int
    simulated: bool
    subjects: tuple[str, ...]
    points: tuple[str, ...]
    position: Array
    lines: Indices
    muscles: tuple[str, ...]
    short_names: tuple[str, ...]
    bellies: Bellies
    path: Array
    first: Indices
    legs: tuple[DrawnLeg, ...]
    quantities: tuple[Quantity, ...]
    ground: Arrows
    contact: Arrows
    weight: float | None
    heading: float
    missing: tuple[str, ...]
    bones: Bones
    shapes: Shapes | None
    events: list[dict[str, Any]]  # of a simulation: two surfaces begin to touch, or part

    @property
    def unit(self) -> str:
        """Force of the ground whose arrow is half a meter long."""
        if self.weight is None:
            return "1 kN"
        if not self.simulated:
            return "body weight"
        return f"{self.weight / 1000.0:g} kN" if self.weight >= 1000.0 else f"{self.weight:g} N"

    @property
    def floor(self) -> float:
        """Height of the ground [m]: of the plane, of the laboratory, or of the lowest point where that is far off."""
        if self.shapes is not None and self.shapes.floor is not None:
            return self.shapes.floor
        lowest = min(float(np.nanmin(at[..., 2], initial=np.inf)) for at in (self.position, self.path))
        return lowest if 0.3 < abs(lowest) < np.inf else 0.0

    @property
    def level(self) -> bool:
        """Whether a floor is drawn: not where all planes are steep."""
        return self.shapes is None or self.shapes.floor is not None

    @property
    def sides(self) -> list[str]:
        """Sides of the muscles (n)."""
        return [side_of(name) for name in self.muscles]

    @property
    def empty(self) -> bool:
        """Whether there is neither a skeleton nor a muscle to draw."""
        return self.position.size == 0 and self.path.size == 0

    @cached_property
    def middle(self) -> Array:
        """The middle (T, 3) of all points of each frame; zero where no point is known."""
        every = np.concatenate([self.position, self.path], axis=1)
        known = np.isfinite(every)
        return np.asarray(np.where(known, every, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1))


def picture_data(result: xr.Dataset) -> PictureData:
    """Read the drawable parts of a result."""
    check_kind(result)
    simulated = is_simulation(result)
    # every n-th frame is shown, so that the numbers fit into a page
    frame = sum(size * result.sizes.get(dim, 0) for dim, size in BYTES.items())
    every = max(1, int(np.ceil(frame * result.sizes["time"] / MOST_BYTES)))
    result = thinned(result, every)
    subjects = tuple(map(str, np.atleast_1d(result.attrs["prefixes"]))) if simulated else ("",)
    skeleton, notes = skeleton_of(result), list[str]()
    if MODEL in result.attrs and skeleton.segments:
        from musclesolve.laboratory.report.picture.model_bones import (
            model_surfaces,  # loads the reader of models
        )

        folder = str(result.attrs.get(GEOMETRY, ""))
        surfaces, notes = model_surfaces(
            Path(str(result.attrs[MODEL])), skeleton.segments, Path(folder) if folder else None
        )
        # bodies without a file as simple bones, where they are called as those are
        bones = bones_of_model(skeleton, surfaces)
    else:
        stated = {side: result.attrs.get(f"knee_width_{side}_m", np.nan) for side in SIDE_NAMES}
        bones = bones_of(skeleton, subjects, {side: float(width) for side, width in stated.items()})
    kept, path, first = _paths(result)
    bones = bones.reaching(ends_of(path, first))
    muscles = result.isel(muscle=kept)
    unknown = np.full(len(kept), np.nan)
    strength, fiber = (
        np.asarray(muscles[name].values if name in muscles else unknown, dtype=float)
        for name in ("max_isometric_force", "optimal_fiber_length")
    )
    short_names = muscles["short_name"] if "short_name" in muscles.variables else muscles["muscle"]
    legs = []
    for side, part in () if simulated else frames.part_names(result).items():
        percent = np.full(result.sizes["time"], np.nan)
        if side in SIDE_NAMES and result.sizes["time"] > 1:
            for cycle in frames.cycles(result, side):
                percent[cycle.index] = cycle.percent
        legs.append(DrawnLeg(side, part, frames.reason_names(result, side), percent))
    if simulated:  # forces on the second surface of every pair, where it presses
        ground = _arrows(result, "contact_force", "contact_point", "contact_pair")
        # a round force such that the greatest arrow is a meter and a half at most
        force = np.linalg.norm(ground.force, axis=2)
        greatest = float(np.nanmax(force, initial=0.0, where=np.isfinite(force)))
        weight = round_above(np.array([greatest / 3.0])) if greatest > 0.0 else None
    else:
        ground, mass = ground_arrows(result), float(result.attrs.get("subject_mass_kg", 0.0))
        weight = mass * STANDARD_GRAVITY if mass > 0.0 else None
    angle = np.asarray(result["heading"].values if "heading" in result else [], dtype=float)
    angle = angle[np.isfinite(angle)]
    heading = float(np.arctan2(np.sin(angle).mean(), np.cos(angle).mean())) if angle.size else 0.0
    return PictureData(
        time=np.asarray(result["time"].values, dtype=float),
        every=every,
        simulated=simulated,
        subjects=subjects,
        points=skeleton.points,
        position=skeleton.position,
        lines=lines_beside(skeleton, bones),
        muscles=tuple(map(str, muscles["muscle"].values)),
        short_names=tuple(split_side(str(name))[0].replace("_", " ") for name in short_names.values),
        bellies=Bellies.sized(strength, fiber, path, first),
        path=path,
        first=first,
        legs=tuple(legs),
        quantities=_quantities(muscles),
        ground=ground,
        contact=contact_arrows(result, skeleton.points),
        weight=weight,
        heading=heading,
        missing=(*_missing(result, every), *notes),
        bones=bones,
        shapes=shapes_of(result),
        events=_contact_events(result),
    )


def thinned(result: xr.Dataset, every: int) -> xr.Dataset:
    """Every n-th frame of a result, in memory; moment arms, which no picture shows, are left out."""
    arms = [name for name, array in result.data_vars.items() if {"dof", "muscle"} <= set(array.dims)]
    return result.drop_vars(arms).isel(time=slice(None, None, every)).load()


def lines_beside(skeleton: Skeleton, bones: Bones) -> Indices:
    """The bones (L, 2) that no surface shows, as lines from one point to another by their numbers."""
    number = {name: k for k, name in enumerate(skeleton.points)}
    bare = [(number[a], number[b]) for a, b, segment in skeleton.bones if segment not in bones.segments]
    return np.array(bare, np.intp).reshape(-1, 2)


def check_kind(result: xr.Dataset) -> None:
    """Refuse a dataset that is neither the result of a single run nor made from a simulation."""
    if is_simulation(result) and set(SIMULATED) <= set(result.variables) and result.sizes["time"]:
        return
    result = as_dataset(result)
    missing = [name for name in PICTURE_VARIABLES if name not in result.variables]
    missing += [name for name in PICTURE_VARIABLES[:3] if not missing and name not in result.dims]
    check_parts(result, missing or [f"entry of {dim}" for dim in ("time", "muscle") if not result.sizes[dim]])
    check_status(result)


def is_simulation(result: xr.Dataset) -> bool:
    """Return whether a dataset was made from a simulation."""
    return getattr(result, "attrs", {}).get("kind") == KIND


def skeleton_of(result: xr.Dataset) -> Skeleton:
    """Points, bones and segments; those that the result does not have are none."""
    count = result.sizes["time"]
    position, place, rotation = (np.zeros((count, 0, *shape)) for shape in ((3,), (3,), (3, 3)))
    points: tuple[str, ...] = ()
    segments: tuple[str, ...] = ()
    bones: list[tuple[str, str, str]] = []
    if {"skeleton_position", "skeleton_point", "bone_start", "bone_end"} <= set(result.variables):
        points = tuple(map(str, result["skeleton_point"].values))
        position = (
            result["skeleton_position"].transpose("time", "skeleton_point", "axis").values.astype(float)
        )
        of = (
            result["bone_segment"].values
            if "bone_segment" in result.variables
            else [""] * result.sizes["bone"]
        )
        ends = zip(result["bone_start"].values, result["bone_end"].values, of, strict=True)
        bones = [(str(a), str(b), str(segment)) for a, b, segment in ends if {str(a), str(b)} <= set(points)]
    if {"segment_position", "segment_rotation"} <= set(result.variables):
        segments = tuple(map(str, result["segment"].values))
        place = result["segment_position"].transpose("time", "segment", "axis").values
        rotation = result["segment_rotation"].transpose("time", "segment", "axis", "segment_axis").values
    return Skeleton(points, position, tuple(bones), segments, place, rotation)


def _paths(result: xr.Dataset) -> tuple[list[int], Array, Indices]:
    """Numbers of the muscles that have points, the points, and where the points of each muscle begin."""
    if not {"path_position", "path_muscle"} <= set(result.variables):
        return [], np.zeros((result.sizes["time"], 0, 3)), np.zeros(1, np.intp)
    owner = np.asarray(result["path_muscle"].values, dtype=str)
    position = np.asarray(result["path_position"].transpose("time", "path_point", "axis").values, dtype=float)
    names = [str(name) for name in result["muscle"].values]
    places = [np.flatnonzero(owner == name) for name in names]
    kept = [k for k, place in enumerate(places) if place.size]
    order = np.concatenate([places[k] for k in kept]) if kept else np.zeros(0, np.intp)
    first = np.concatenate([[0], np.cumsum([places[k].size for k in kept])]).astype(np.intp)
    return kept, position[:, order], first


def ends_of(path: Array, first: Indices) -> Array:
    """Origin and insertion of each muscle, (T, 2 n, 2, 3) [m], each with the next point of the path that lies apart.

    Paths repeat points that they do not use.
    """
    ends = []
    for points in (path[:, start:end] for start, end in pairwise(first)):
        for way in (points, points[:, ::-1]):
            apart = np.linalg.norm(way - way[:, :1], axis=2) > APART
            following = np.take_along_axis(way, apart.argmax(axis=1)[:, None, None], axis=1)[:, 0]
            ends.append(np.stack([way[:, 0], following], axis=1))
    return np.stack(ends, axis=1) if ends else np.zeros((len(path), 0, 2, 3))


def _quantities(muscles: xr.Dataset) -> tuple[Quantity, ...]:
    """The quantities of picture.toml of which the result has numbers; NaN for a leg without a valid solution."""
    lost = np.zeros((muscles.sizes["time"], muscles.sizes["muscle"]), dtype=bool)
    sides = np.array(list(frames.muscle_sides(muscles).values()) if "status" in muscles else [])
    for side in set(sides):
        lost[:, sides == side] = frames.failed(muscles, str(side))[:, None]
    shown = []
    for about in bundled_toml(__package__, "picture.toml")["quantity"]:
        if about["variable"] not in muscles or about.get("of", about["variable"]) not in muscles:
            continue
        values = np.array(muscles[about["variable"]].transpose("time", "muscle").values, dtype=float)
        known = np.isfinite(values).any()
        if "of" in about:
            values /= muscles[about["of"]].values
        values[lost] = np.nan
        if known:
            shown.append(Quantity(about, values, float(about.get("high", round_above(values)))))
    return tuple(shown)


def round_above(values: Array) -> float:
    """1, 2 or 5 times a power of ten, at or above every value."""
    greatest = float(np.nanmax(values, initial=0.0, where=np.isfinite(values)))
    if greatest <= 0.0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(greatest))
    return float(
        next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= greatest * (1 - 1e-9))
    )


def _contact_events(result: xr.Dataset) -> list[dict[str, Any]]:
    """Meetings and partings of surfaces: time [s], the first frame at or after it, pair, begins, speed [m/s]."""
    if "contact_event_time" not in result.variables:
        return []
    time, last = result["time"].values, result.sizes["time"] - 1
    names = ("time", "pair", "begins", "speed")
    columns = (result[f"contact_event_{name}"].values.tolist() for name in names)
    events = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return [{**event, "frame": min(int(np.searchsorted(time, event["time"])), last)} for event in events]


def _arrows(result: xr.Dataset, force: str, place: str, dim: str) -> Arrows:
    """Forces that act at places of their own, named by a dimension; none where the result does not have them."""
    if not {force, place} <= set(result.variables):
        none = np.zeros((result.sizes["time"], 0, 3))
        return Arrows((), (), none, none)
    names = tuple(str(name) for name in result[dim].values)
    sides = names if dim == "side" else tuple(map(side_of, names))
    forces, places = (
        np.array(result[name].transpose("time", dim, "axis").values, dtype=float) for name in (force, place)
    )
    return Arrows(names, sides, forces, place=places)


def ground_arrows(result: xr.Dataset) -> Arrows:
    """Return the arrows of ground forces from the center of pressure; none where the vertical force is at most 20 N."""
    arrows = _arrows(result, "ground_reaction_force", "center_of_pressure", "side")
    if not arrows.names:
        arrows = _arrows(result, "external_force", "external_point", "external_load")
    force, place = arrows.force, arrows.place
    assert place is not None
    known = np.isfinite(force).all(axis=2) & np.isfinite(place).all(axis=2)
    known &= np.nan_to_num(force[..., 2]) > LOADED_FROM_N
    force[~known], place[~known] = np.nan, np.nan
    return arrows


def contact_arrows(result: xr.Dataset, points: tuple[str, ...]) -> Arrows:
    """At the points of the skeleton that bear the names of the joints."""
    joints = [str(name) for name in result["joint"].values] if "joint_reaction" in result.variables else []
    kept = [k for k, name in enumerate(joints) if name in points]
    if not kept:
        return Arrows((), (), np.zeros((result.sizes["time"], 0, 3)), at=np.zeros(0, np.intp))
    names = tuple(joints[k] for k in kept)
    force = np.array(result["joint_reaction"].transpose("time", "joint", "axis").values[:, kept], dtype=float)
    at = np.array([points.index(name) for name in names], np.intp)
    return Arrows(names, tuple(map(side_of, names)), force, at=at)


def _missing(result: xr.Dataset, every: int) -> list[str]:
    """Return sentences on the parts that are not drawn, with reasons."""
    again = "give --keep {}" if of_data_set(result) else "compute it again with this version"
    lacks = [f"One of every {every} frames is shown, to keep the page small."] if every > 1 else []
    if is_simulation(result):
        return lacks
    if "skeleton_position" not in result:
        lacks.append(f"No skeleton: the result holds no points of it; {again.format('skeleton_position')}.")
    elif "segment_rotation" not in result:
        lacks.append(
            f"Bones are lines: the result holds no rotations of segments; {again.format('segment_rotation')}."
        )
    if "path_position" not in result:
        lacks.append(
            f"No muscles: the result holds no points of their paths; {again.format('path_position')}."
        )
    may_stand = shows_legs(result) and text(result, "ground_reactions") != NO_LOADS
    if may_stand and "ground_reaction_force" not in result and "external_force" not in result:
        lacks.append("No ground force: it is not in the result.")
    return lacks + ["No contact forces: they are not in the result."] * ("joint_reaction" not in result)
