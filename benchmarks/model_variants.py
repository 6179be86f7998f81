"""Variants of OpenSim models (version 4) that change no number: the same physics written in other ways.

    python -m benchmarks.model_variants MODEL... [--count 70] [--seed 0]

Bodies are split, welded with massless ones between or beside them, or get other axes; joints are reversed, or written
as two in series; angles make full turns. The file is written in other ways, too: its elements in another order, paths
of sockets relative or absolute, frames on frames, bodies among the components, points under a condition that always
holds, and the text with a mark of its bytes, other line ends, comments and spaces. Each model moves its right leg
under a load on the foot. A row compares muscle forces, contact forces, moment arms and moments of a variant and of the
model: the largest difference, as a share of the greatest value of the same unit, and the variable that has it.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import xarray as xr
from scipy.spatial.transform import Rotation

import musclesolve as ms
from benchmarks.arguments import command_line
from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.models.opensim.kinematics import body_motion
from musclesolve.models.opensim.load_dynamics import whole_motion
from musclesolve.models.opensim.model import rotation_xyz
from musclesolve.sharing.solver.batch import Batch
from musclesolve.tables import Table

Tree = ElementTree.Element
Variant = Callable[[Tree], None]
Motion = dict[str, Array]
EQUAL = 1e-9
EXACT = Batch(tolerance=1e-12)
"""Solver whose forces are equal where the problems are: the usual one ends at a certificate of 1e-9."""
ZERO = "<Constant><value>0</value></Constant>"
AXES = [f"{kind}{k}" for kind in ("rotation", "translation") for k in (1, 2, 3)]


def _axis(kind: str, coordinates: str, direction: str, function: str = ZERO) -> str:
    return (
        f'<TransformAxis name="{kind}"><coordinates>{coordinates}</coordinates><axis>{direction}</axis>{function}'
        "</TransformAxis>"
    )


def _set(tree: Tree, name: str) -> Tree:
    found = tree.find(f".//{name}/objects")
    assert found is not None
    return found


def _joint(tree: Tree, name: str) -> Tree:
    return next(joint for joint in _set(tree, "JointSet") if joint.get("name") == name)


def _frame(joint: Tree, role: str) -> Tree:
    """The offset frame of a joint on its "parent" or "child"."""
    named = _text(joint, f"socket_{role}_frame").split("/")[-1]
    return next(frame for frame in joint.iter("PhysicalOffsetFrame") if frame.get("name") == named)


def _numbers(element: Tree | None) -> Array:
    assert element is not None
    return np.array((element.text or "").split(), dtype=float)


def _write(element: Tree | None, values: Array) -> None:
    assert element is not None
    element.text = " ".join(map(repr, np.asarray(values, dtype=float).tolist()))


def _angles(rotation: Array) -> Array:
    return Rotation.from_matrix(rotation).as_euler("XYZ")


def _massless(tree: Tree, name: str) -> Tree:
    text = f'<Body name="{name}"><mass>0</mass><mass_center>0 0 0</mass_center><inertia>0 0 0 0 0 0</inertia></Body>'
    made = ElementTree.fromstring(text)
    _set(tree, "BodySet").append(made)
    return made


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
        + "".join(_axis(each, "", str(np.roll([1, 0, 0], k % 3))[1:-1]) for k, each in enumerate(AXES))
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
        turns = [_axis("rotation1", str(coordinate), "0 0 1", one)]
        turns += [_axis(name, "", str(np.roll([1, 0, 0], k))[1:-1]) for k, name in enumerate(AXES[1:])]
        joint.append(ElementTree.fromstring(f"<SpatialTransform>{''.join(turns)}</SpatialTransform>"))
    return {str(each.get("name")): each for each in joint.iter("TransformAxis")}


def plateau(joint: str, place: Sequence[float]) -> Variant:
    """A massless body between a joint and its child, welded to the child."""

    def change(tree: Tree) -> None:
        socket = _frame(_joint(tree, joint), "child").find("socket_parent")
        assert socket is not None
        body = str(socket.text).split("/")[-1].strip()
        name = f"plateau_of_{body}"
        socket.text = f"/bodyset/{name}"
        _massless(tree, name)
        _new_joint(tree, f"weld_of_{body}", name, body, place)

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


def split(body: str, share: float) -> Variant:
    """A share of the mass of a body, with its inertia, as a body of its own that is welded to it."""

    def change(tree: Tree) -> None:
        own = next(each for each in _set(tree, "BodySet") if each.get("name") == body)
        part = _massless(tree, f"part_of_{body}")
        for tag in ("mass", "inertia"):
            whole = _numbers(own.find(tag))
            _write(part.find(tag), share * whole)
            _write(own.find(tag), (1.0 - share) * whole)
        _write(part.find("mass_center"), _numbers(own.find("mass_center")))
        _new_joint(tree, f"weld_in_{body}", body, f"part_of_{body}")

    return change


@dataclass(frozen=True)
class FullTurns:
    """Full turns added to an angle from a share of the motion on."""

    coordinate: str
    turns: int
    since: float

    def __call__(self, tree: Tree) -> None:
        """Change nothing in the model."""

    def moved(self, motion: Motion) -> Motion:
        """Return the motion with the turns."""
        later = np.arange(len(motion["time"])) >= self.since * len(motion["time"])
        return motion | {self.coordinate: motion[self.coordinate] + 2.0 * np.pi * self.turns * later}


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
                empty = ElementTree.fromstring(_axis(turn, "", _text(kept[turn], "axis")))
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


def _on(point: Tree, body: str) -> bool:
    return _text(point, "socket_parent_frame").endswith(f"/{body}")


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
        moving = [each for each in tree.iter("MovingPathPoint") if _on(each, body)]
        if moving:
            raise ValueError(f"{body}: points that move with the knee are functions along its axes")
        for point in tree.iter():
            if point.find("location") is not None and _on(point, body):
                _write(point.find("location"), back @ _numbers(point.find("location")))

    return change


def other_order(seed: int) -> Variant:
    """Bodies, joints and forces in another order."""

    def change(tree: Tree) -> None:
        chance = np.random.default_rng(seed)
        for name in ("BodySet", "JointSet", "ForceSet"):
            objects = _set(tree, name)
            elements = list(objects)
            objects[:] = [elements[k] for k in chance.permutation(len(elements))]

    return change


def other_sockets(tree: Tree) -> None:
    """Frames of joints by absolute paths, and bodies by paths from where they are named."""
    for joint in _set(tree, "JointSet"):
        for role in ("parent", "child"):
            socket = joint.find(f"socket_{role}_frame")
            if socket is not None and "/" not in str(socket.text):
                socket.text = f"/jointset/{joint.get('name')}/{str(socket.text).strip()}"
    depth = {"PhysicalOffsetFrame": 3, "PathPoint": 4, "ConditionalPathPoint": 4, "MovingPathPoint": 4}
    for element in tree.iter():
        for name in ("socket_parent", "socket_parent_frame"):
            socket, text = element.find(name), _text(element, name)
            if socket is not None and text.startswith("/bodyset/") and element.tag in depth:
                socket.text = "../" * depth[element.tag] + text[1:]


def frame_on_frame(joint: str, place: Sequence[float]) -> Variant:
    """The frame of a joint on its parent, on another frame of the parent."""

    def change(tree: Tree) -> None:
        own = _joint(tree, joint)
        frame, between = _frame(own, "parent"), copy.deepcopy(_frame(own, "parent"))
        between.set("name", f"{frame.get('name')}_below")
        turn = rotation_xyz(np.array(place))
        _write(between.find("translation"), np.array(place))
        _write(between.find("orientation"), np.array(place))
        _write(frame.find("translation"), turn.T @ (_numbers(frame.find("translation")) - place))
        matrix = turn.T @ rotation_xyz(_numbers(frame.find("orientation")))
        _write(frame.find("orientation"), _angles(matrix))
        socket, frames = frame.find("socket_parent"), own.find("frames")
        assert socket is not None and frames is not None
        socket.text = f"/jointset/{joint}/{between.get('name')}"
        frames.append(between)

    return change


def always(tree: Tree) -> None:
    """Write every second point of muscles of the right hip under a condition that always holds."""
    for muscle in _set(tree, "ForceSet"):
        points = list(muscle.iter("PathPoint"))
        ends = {_text(point, "socket_parent_frame").split("/")[-1] for point in (*points[:1], *points[-1:])}
        if "pelvis" not in ends or not ends & {
            "femur_r",
            "tibia_r",
        }:  # others would not cross the hip without it
            continue
        for point in points[::2]:
            point.tag = "ConditionalPathPoint"
            for tag, text in (("socket_coordinate", "/jointset/hip_r/hip_flexion_r"), ("range", "-100 100")):
                ElementTree.SubElement(point, tag).text = text


def among_components(body: str) -> Variant:
    """A body among the components of the model instead of its set."""

    def change(tree: Tree) -> None:
        bodies, model = _set(tree, "BodySet"), tree.find("Model")
        assert model is not None
        own = next(each for each in bodies if each.get("name") == body)
        bodies.remove(own)
        holder = model.find("components")
        if holder is None:
            holder = ElementTree.SubElement(model, "components")
        holder.append(own)
        for element in tree.iter():
            if (element.text or "").strip() == f"/bodyset/{body}":
                element.text = f"/{body}"

    return change


@dataclass(frozen=True)
class OtherText:
    """The file with a mark of its bytes, other line ends, comments before all elements of a tag, and spaces."""

    tag: str

    def __call__(self, tree: Tree) -> None:
        """Change nothing in the model."""

    def written(self, text: str) -> bytes:
        """Return the bytes of the file."""
        text = text.replace(f"<{self.tag}>", f"<!-- a < b & c, and {self.tag} -->\n\t<{self.tag}>\n ")
        return b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()


def varied(path: Path, folder: Path, *changes: Variant) -> Path:
    """The model of a file with some changes, as a file in a folder."""
    tree = ElementTree.parse(path)
    for change in changes:
        change(tree.getroot())
    folder.mkdir(parents=True, exist_ok=True)
    text = ElementTree.tostring(tree.getroot(), encoding="unicode")
    others = [change.written(text) for change in changes if isinstance(change, OtherText)]
    (folder / path.name).write_bytes(others[0] if others else text.encode())
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

    The compared variables of the same unit share one greatest value: forces near zero are differences of forces.
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


def random_variants(model: Path, count: int, seed: int = 0) -> dict[str, tuple[Variant, ...]]:
    """Variants of one to three changes, of random kinds, sides and sizes, of a model with names as in OpenSim's."""
    chance, found = np.random.default_rng(seed), dict[str, tuple[Variant, ...]]()
    joints = [joint.name for joint in ms.read_osim(model).joints]
    bodies = ["pelvis", "femur_r", "femur_l", "tibia_r", "tibia_l", "calcn_r", "calcn_l"]
    legs = [name for name in joints if name.startswith(("hip", "knee", "walker_knee", "ankle"))]
    kinds: dict[str, tuple[list[str], Callable[[str], Variant]]] = {
        "plateau": (legs, lambda name: plateau(name, tuple(chance.uniform(-0.02, 0.02, 3).tolist()))),
        "weld without offset": (legs, lambda name: plateau(name, (0.0, 0.0, 0.0))),
        "reversed": ([name for name in legs if name.startswith(("hip", "ankle"))], reversed_joint),
        "in series": ([name for name in legs if not name.startswith("ankle")], in_series),
        "hanging": (bodies, hanging),
        "split": (bodies, lambda name: split(name, float(chance.uniform(0.1, 0.9)))),
        "turned": (bodies, lambda name: turned(name, tuple(chance.uniform(-2.0, 2.0, 3).tolist()))),
        "full turns": (
            [*LEG, "pelvis_rotation"],
            lambda name: FullTurns(
                name, int(chance.choice([-2, -1, 1, 3])), float(chance.choice([0.0, 0.4]))
            ),
        ),
        "component": (bodies, among_components),
        "order": (["of elements"], lambda name: other_order(int(chance.integers(1000)))),
        "sockets": (["absolute"], lambda name: other_sockets),
        "frame on frame": (legs, lambda name: frame_on_frame(name, chance.uniform(-0.5, 0.5, 3).tolist())),
        "always": (["under a condition"], lambda name: always),
        "text": (["mass", "location", "socket_parent_frame", "orientation"], OtherText),
    }
    while len(found) < count:
        chosen = chance.choice(list(kinds), size=chance.integers(1, 4), replace=False).tolist()
        chosen.sort(key=list(kinds).index)  # the ways of writing last
        named = [(kind, str(chance.choice(kinds[kind][0]))) for kind in chosen]
        title = f"{len(found) + 1}: " + ", ".join(f"{kind} {name}" for kind, name in named)
        found[title] = tuple(kinds[kind][1](name) for kind, name in named)
    return found


LEG = {
    "hip_flexion_r": 0.3,
    "hip_adduction_r": 0.05,
    "hip_rotation_r": 0.05,
    "knee_angle_r": 0.2,
    "ankle_angle_r": 0.1,
}
"""Angles of the moving leg, and how far each swings [rad]."""
BENT = 0.4
"""Middle flexion of the knee [rad]."""


def moving_leg(path: Path, folder: Path, frames: int = 21) -> tuple[Motion, Path]:
    """A motion of the right leg of a model, the left one lifted, and a file with the weight on the right foot."""
    model = ms.read_osim(path)
    time = np.linspace(0.0, 0.5, frames)
    motion = {"time": time}
    for name, each in model.coordinates.items():
        if not name.endswith("_beta"):
            motion[name] = np.full(frames, each.default)
    motion |= {name: size * np.sin(4.0 * np.pi * time + k) for k, (name, size) in enumerate(LEG.items())}
    knee = model.coordinates["knee_angle_r"]
    bent = BENT if knee.upper > -knee.lower else -BENT
    motion["knee_angle_r"] += bent
    motion["knee_angle_l"] += 2.5 * bent
    motion["hip_flexion_l"] += 1.5 * BENT
    motion["pelvis_rotation"] = 0.1 * np.cos(4.0 * np.pi * time)
    whole = whole_motion(model, coordinate_motion(model, motion, None))
    foot = body_motion(model, whole.value).position[:, model.body_number["calcn_r"]]
    weight = STANDARD_GRAVITY * sum(each.mass for each in model.masses.values())
    force = weight * np.stack([0.05 * np.sin(time), 1.0 + 0.1 * np.cos(time), 0.0 * time], axis=1)
    names = [f"ground_{kind}{axis}" for kind in ("force_v", "force_p", "torque_") for axis in "xyz"]
    values = np.hstack([force, foot + np.array([0.06, -0.02, 0.0]), np.zeros((frames, 3))])
    loads = folder / "loads.mot"
    ms.tables.write_mot(loads, Table(time, tuple(names), values, False, loads), decimals=9)
    return motion, loads


def compare_variants(model: Path, count: int, seed: int) -> list[float]:
    """Print the rows of a model; return the largest difference of each variant."""
    worst = []
    with tempfile.TemporaryDirectory() as place:
        motion, loads = moving_leg(model, Path(place))
        plain = ms.share_model(model, motion, loads=loads, solver=EXACT)
        shared = plain["muscle_force"].notnull().sum("muscle")
        print(
            f"{model.name}: {int((shared > 0).sum())} frames with forces, of up to {int(shared.max())} muscles"
        )
        for number, (title, changes) in enumerate(random_variants(model, count, seed).items()):
            try:
                path = varied(model, Path(place) / str(number), *changes)
            except ValueError as error:
                print(f"{title}  left out: {error}")
                continue
            own = motion
            for change in changes:
                own = change.moved(own) if isinstance(change, FullTurns) else own
            off = differences(plain, ms.share_model(path, own, loads=loads, solver=EXACT))
            name = max(off, key=lambda each: off[each])
            worst.append(off[name])
            print(f"{title:70s} {off[name]:8.1e}  {name}", flush=True)
    return worst


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("models", nargs="+", type=Path, help="OpenSim models of version 4, with both legs")
    parser.add_argument("--count", type=int, default=70, help="variants of each model")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    worst = [each for model in given.models for each in compare_variants(model, given.count, given.seed)]
    equal = sum(each < EQUAL for each in worst)
    print(
        f"{equal} of {len(worst)} variants equal their model to {EQUAL:g}; the largest difference is {max(worst):.1e}"
    )


if __name__ == "__main__":
    main()
