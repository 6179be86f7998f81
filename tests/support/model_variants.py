"""Variants of the XML of an OpenSim model (version 4) that change no number: its physics written in other ways.

`python tests/support/model_variants.py MODEL MOTION LOADS [FIRST LAST [COUNT]]` compares forces, arms and moments of a
few variants, or of so many random ones, with the model.
"""

from __future__ import annotations

import copy
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import xarray as xr
from scipy.spatial.transform import Rotation
from small_model import ZERO, axis

import musclesolve as ms
from musclesolve._util.arrays import Array
from musclesolve.opensim.model import rotation_xyz

Tree = ElementTree.Element
Variant = Callable[[Tree], None]
AXES = [f"{kind}{k}" for kind in ("rotation", "translation") for k in (1, 2, 3)]


def _set(tree: Tree, name: str) -> Tree:
    found = tree.find(f".//{name}/objects")
    assert found is not None
    return found


def _joint(tree: Tree, name: str) -> Tree:
    return next(joint for joint in _set(tree, "JointSet") if joint.get("name") == name)


def _frame(joint: Tree, role: str) -> Tree:
    """The offset frame of a joint on its "parent" or "child"."""
    named = (joint.findtext(f"socket_{role}_frame") or "").strip()
    return next(frame for frame in joint.iter("PhysicalOffsetFrame") if frame.get("name") == named)


def _numbers(element: Tree | None) -> Array:
    assert element is not None
    return np.array((element.text or "").split(), dtype=float)


def _write(element: Tree | None, values: Array) -> None:
    assert element is not None
    element.text = " ".join(map(repr, np.asarray(values, dtype=float).tolist()))


def _angles(rotation: Array) -> Array:
    return Rotation.from_matrix(rotation).as_euler("XYZ")


def _massless(tree: Tree, name: str) -> None:
    text = f'<Body name="{name}"><mass>0</mass><mass_center>0 0 0</mass_center><inertia>0 0 0 0 0 0</inertia></Body>'
    _set(tree, "BodySet").append(ElementTree.fromstring(text))


def _new_joint(
    tree: Tree, name: str, parent: str, child: str, place: Sequence[float] = (0.0, 0.0, 0.0)
) -> Tree:
    """Add a joint without axes between two bodies, their frames at a place of both."""
    frames = "".join(
        f'<PhysicalOffsetFrame name="{role}"><socket_parent>/bodyset/{body}</socket_parent>'
        f"<translation>{' '.join(map(repr, place))}</translation><orientation>0 0 0</orientation></PhysicalOffsetFrame>"
        for role, body in (("pf", parent), ("cf", child))
    )
    text = (
        f'<CustomJoint name="{name}"><socket_parent_frame>pf</socket_parent_frame>'
        f"<socket_child_frame>cf</socket_child_frame><coordinates/><frames>{frames}</frames><SpatialTransform>"
        + "".join(axis(each, "", str(np.roll([1, 0, 0], k % 3))[1:-1], ZERO) for k, each in enumerate(AXES))
        + "</SpatialTransform></CustomJoint>"
    )
    made = ElementTree.fromstring(text)
    _set(tree, "JointSet").append(made)
    return made


def _as_custom(joint: Tree) -> dict[str, Tree]:
    """Write a pin joint as a custom joint; its axes by name."""
    if joint.tag == "PinJoint":
        joint.tag, (coordinate,) = "CustomJoint", [each.get("name") for each in joint.iter("Coordinate")]
        one = "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"
        turns = [axis("rotation1", str(coordinate), "0 0 1", one)]
        turns += [axis(name, "", str(np.roll([1, 0, 0], k))[1:-1], ZERO) for k, name in enumerate(AXES[1:])]
        joint.append(ElementTree.fromstring(f"<SpatialTransform>{''.join(turns)}</SpatialTransform>"))
    return {str(each.get("name")): each for each in joint.iter("TransformAxis")}


def plateau(joint: str, place: Sequence[float]) -> Variant:
    """A massless body between a joint and its child, welded to the child."""

    def change(tree: Tree) -> None:
        socket = _frame(_joint(tree, joint), "child").find("socket_parent")
        assert socket is not None
        body, name = str(socket.text).split("/")[-1].strip(), f"plateau_of_{joint}"
        socket.text = f"/bodyset/{name}"
        _massless(tree, name)
        _new_joint(tree, f"weld_of_{joint}", name, body, place)

    return change


def hanging(body: str) -> Variant:
    """A massless body welded to a body, first in the file."""

    def change(tree: Tree) -> None:
        _massless(tree, f"device_on_{body}")
        made = _new_joint(tree, f"device_joint_of_{body}", body, f"device_on_{body}", (0.01, -0.02, 0.03))
        joints = _set(tree, "JointSet")
        joints.remove(made)
        joints.insert(0, made)

    return change


def reversed_joint(name: str) -> Variant:
    """Parent and child of a joint that only rotates exchanged: its axes in the other order, with the other sign."""

    def change(tree: Tree) -> None:
        joint = _joint(tree, name)
        axes = _as_custom(joint)
        parent, child = joint.find("socket_parent_frame"), joint.find("socket_child_frame")
        assert parent is not None and child is not None
        parent.text, child.text = child.text, parent.text
        for turn in AXES[:3]:
            _write(axes[turn].find("axis"), -_numbers(axes[turn].find("axis")))
        axes["rotation1"].set("name", "rotation3")
        axes["rotation3"].set("name", "rotation1")

    return change


def in_series(name: str) -> Variant:
    """A joint as two, with a massless body between them: its first rotation and its translations, then the others."""

    def change(tree: Tree) -> None:
        joint = _joint(tree, name)
        first, body = _as_custom(joint), f"between_of_{name}"
        _massless(tree, body)
        side = name[-2:] if name[-2:] in ("_r", "_l") else ""
        later = copy.deepcopy(joint)
        later.set("name", f"{name.removesuffix(side)}_second{side}")
        second = _as_custom(later)
        twice = [_text(first[turn], "coordinates").split() for turn in AXES]
        if {*twice[0], *chain(*twice[3:])} & {*twice[1], *twice[2]}:
            raise ValueError(f"{name}: a coordinate would move both joints")
        for kept, other, turns in (
            (first, joint, ("rotation2", "rotation3")),
            (second, later, ("rotation1", *AXES[3:])),
        ):
            for turn in turns:
                empty = ElementTree.fromstring(axis(turn, "", _text(kept[turn], "axis"), ZERO))
                kept[turn][:] = list(empty)
            used = {word for each in kept.values() for word in _text(each, "coordinates").split()}
            holder = other.find("coordinates")
            assert holder is not None
            for coordinate in [each for each in holder if each.get("name") not in used]:
                holder.remove(coordinate)
        for other, role in ((joint, "child"), (later, "parent")):
            frame = _frame(other, role)
            socket = frame.find("socket_parent")
            assert socket is not None
            socket.text = f"/bodyset/{body}"
            _write(frame.find("translation"), np.zeros(3))
            _write(frame.find("orientation"), np.zeros(3))
        if len(list(later.iter("Coordinate"))) == 0 and later.tag != "CustomJoint":
            later.tag = "WeldJoint"
        _set(tree, "JointSet").append(later)

    return change


def _text(element: Tree, tag: str) -> str:
    return (element.findtext(tag) or "").strip()


def other_zero(joint: str, angle: float) -> Variant:
    """The first rotation of a joint counted from another position: its coordinate is greater by an angle [rad]."""

    def change(tree: Tree) -> None:
        slopes = _as_custom(_joint(tree, joint))["rotation1"].find("LinearFunction/coefficients")
        slope, constant = _numbers(slopes)
        _write(slopes, np.array([slope, constant - slope * angle]))

    return change


def turned(body: str, angles: Sequence[float]) -> Variant:
    """Other axes of a body: its old place x is R x' with R = R_x R_y R_z of the angles [rad]."""
    back = rotation_xyz(np.array(angles)).T

    def change(tree: Tree) -> None:
        own = next(each for each in _set(tree, "BodySet") if each.get("name") == body)
        xx, yy, zz, xy, xz, yz = _numbers(own.find("inertia"))
        tensor = back @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ back.T
        _write(own.find("inertia"), np.array([*np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2]]))
        _write(own.find("mass_center"), back @ _numbers(own.find("mass_center")))
        placings = [
            (each, "xyz_body_rotation") for each in own.iter() if each.find("xyz_body_rotation") is not None
        ]
        for frame in tree.iter("PhysicalOffsetFrame"):
            if _text(frame, "socket_parent").endswith(f"/{body}"):
                placings.append((frame, "orientation"))
        for placed, rotation in placings:
            _write(placed.find("translation"), back @ _numbers(placed.find("translation")))
            matrix = back @ rotation_xyz(_numbers(placed.find(rotation)))
            _write(placed.find(rotation), _angles(matrix))
        for point in tree.iter():
            if point.find("location") is not None and _text(point, "socket_parent_frame").endswith(
                f"/{body}"
            ):
                _write(point.find("location"), back @ _numbers(point.find("location")))

    return change


def varied(path: Path, folder: Path, *changes: Variant) -> Path:
    """The model of a file with some changes, as a file in a folder."""
    tree = ElementTree.parse(path)
    for change in changes:
        change(tree.getroot())
    folder.mkdir(parents=True, exist_ok=True)
    tree.write(folder / path.name)
    return folder / path.name


COMPARED = (
    "muscle_force",
    "moment_arm",
    "joint_moment",
    "contact_force_component",
    "joint_reaction",
    "joint_reaction_moment",
    "knee_adduction_moment",
    "knee_contact_medial",
    "knee_contact_lateral",
    "patellofemoral_force",
    "pelvis_angle",
    "foot_angle",
)


def differences(one: xr.Dataset, other: xr.Dataset) -> dict[str, float]:
    """Largest difference of each compared variable over what both have by name, as a share of the greatest value.

    The greatest value is that of the compared variables of the same unit: forces near zero are differences of forces.
    """
    found, sizes = {}, dict[str, float]()
    for name in set(COMPARED) & set(one.data_vars):
        greatest = float(np.nanmax(np.abs(one[name].values), initial=1e-9))
        sizes[one[name].units] = max(greatest, sizes.get(one[name].units, 0.0))
    for name in COMPARED:
        if (name in one) != (name in other):
            found[name] = np.inf
        elif name in one:
            wanted = one[name]
            by_name = {dim: wanted[dim].values for dim in ("joint", "muscle", "dof") if dim in wanted.dims}
            values = other[name].sel(by_name).values
            away = np.abs(values - wanted.values)
            missing = bool((np.isnan(values) != np.isnan(wanted.values)).any())
            found[name] = np.inf if missing else float(np.nanmax(away, initial=0.0)) / sizes[wanted.units]
    return found


def usual_variants(joints: Sequence[str]) -> dict[str, tuple[Variant, ...]]:
    """A few variants of a model with names as in OpenSim's models."""
    knee = next(name for name in joints if "knee" in name and name.endswith("_r"))
    return {
        "welded plateau": (plateau(knee, (0.0, -0.006, 0.0)),),
        "plateau without offset": (plateau(knee, (0.0, 0.0, 0.0)),),
        "reversed hip and ankle": (reversed_joint("hip_r"), reversed_joint("ankle_r")),
        "hip in series": (in_series("hip_r"),),
        "knee in series": (in_series(knee),),
        "body on the shank": (hanging("tibia_r"), hanging("pelvis")),
        "turned pelvis": (turned("pelvis", (0.3, -1.2, 2.0)),),
        "turned foot": (turned("calcn_r", (-0.4, 1.5, 0.7)),),
    }


def random_variants(joints: Sequence[str], count: int, seed: int = 0) -> dict[str, tuple[Variant, ...]]:
    """Variants of one to three changes, of random kinds, sides and sizes, of a model with names as in OpenSim's."""
    chance, found = np.random.default_rng(seed), {}
    kinds: dict[str, Callable[[str], Variant]] = {
        "plateau": lambda name: plateau(name, tuple(chance.uniform(-0.02, 0.02, 3).tolist())),
        "reversed": reversed_joint,
        "in series": in_series,
        "hanging": hanging,
        "turned": lambda name: turned(name, tuple(chance.uniform(-2.0, 2.0, 3).tolist())),
    }
    places = {
        "plateau": [name for name in joints if name.startswith(("hip", "knee", "walker_knee", "ankle"))],
        "reversed": [name for name in joints if name.startswith(("hip", "ankle"))],
        "in series": [name for name in joints if name.startswith(("hip", "knee", "walker_knee"))],
        "hanging": ["pelvis", "femur_r", "femur_l", "tibia_r", "tibia_l", "calcn_r", "calcn_l"],
        "turned": ["pelvis", "femur_r", "femur_l", "tibia_r", "tibia_l", "calcn_r", "calcn_l"],
    }
    while len(found) < count:
        chosen = chance.choice(list(kinds), size=chance.integers(1, 4), replace=False).tolist()
        named = [(kind, str(chance.choice(places[kind]))) for kind in chosen]
        title = f"{len(found) + 1}: " + ", ".join(f"{kind} {name}" for kind, name in named)
        found[title] = tuple(kinds[kind](name) for kind, name in named)
    return found


def compare_variants(arguments: Sequence[str]) -> None:
    """Print a table of variants: the largest relative difference of each, and the variable that has it."""
    model, motion, loads = map(Path, arguments[:3])
    start, end = (*map(float, arguments[3:5]), None, None)[:2]
    count = int((*arguments[5:6], 0)[0])
    options = {"loads": loads, "start_s": start, "end_s": end}
    plain = ms.share_model(model, motion, **options)
    joints, worst = [joint.name for joint in ms.read_osim(model).joints], []
    variants = random_variants(joints, count) if count else usual_variants(joints)
    with tempfile.TemporaryDirectory() as folder:
        for number, (title, changes) in enumerate(variants.items()):
            try:
                path = varied(model, Path(folder) / str(number), *changes)
            except ValueError as error:
                print(f"{title}  left out: {error}")
                continue
            off = differences(plain, ms.share_model(path, motion, **options))
            name = max(off, key=lambda each: off[each])
            worst.append(off[name])
            print(f"{title:70s} {off[name]:8.1e}  {name}", flush=True)
    equal = sum(each < 1e-9 for each in worst)
    print(
        f"{equal} of {len(worst)} variants equal the model to 1e-9; the largest difference is {max(worst):.1e}"
    )


if __name__ == "__main__":
    compare_variants(sys.argv[1:])
