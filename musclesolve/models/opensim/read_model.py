"""Reads OpenSim models (.osim)."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from muscle_db.regular_file import file_state
from musclesolve._util.messages import check_known
from musclesolve.constants import BIORBD, STANDARD_GRAVITY
from musclesolve.errors import InputError, file_error
from musclesolve.models.opensim.model import (
    GROUND,
    PRESCRIBED,
    AttachedMesh,
    BodyMass,
    Device,
    Frame,
    OpenSimModel,
    rotation_xyz,
)
from musclesolve.models.opensim.read_joints import read_coordinates, read_couplers, read_joints, read_links
from musclesolve.models.opensim.read_muscles import read_muscles, read_path_function, read_surfaces
from musclesolve.models.opensim.xml_tree import (
    CURRENT,
    Context,
    Element,
    components,
    last_part,
    name_all,
    read_xml,
    upgrade,
)
from musclesolve.tables.text_file import file_path, suffix_of

LONGEST_BONE = 5.0
"""Largest place on a body of a model in meters [m]: no bone of an animal is longer."""
_OLDEST = 20000
_TENSOR = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])
"""Rows and columns of the entries of <inertia> in the matrix."""
_SLIGHT = 0.05
"""Least moment of inertia below zero, as a share of the largest element, that makes a body unusable; the tensors of
published models are slightly wrong."""
_BEYOND_TRIANGLE = 0.05
"""Allowed excess of the largest moment of inertia over the sum of the others: files are rounded, and models scaled."""


MOST_PARTS = 5000
"""Most bodies and most forces of a model; whole bodies with all their muscles have a tenth of them."""


def read_osim(path: str | Path) -> OpenSimModel:
    """Read the skeleton and the muscles of an OpenSim model, version 2 or later.

    Unsupported parts are listed in `unsupported`; they are an error only if a computation needs them.

    Args:
        path: of the model (.osim).

    Returns:
        Bodies, joints, coordinates and muscles in OpenSim's axes (x forward, y up, z right).

    Raises:
        InputError: the file cannot be read, is no OpenSim model, or contradicts itself; with the place.

    Examples:
        >>> from pathlib import Path
        >>> shank = "<BodySet><objects><Body name='shank'/></objects></BodySet>"
        >>> ends = {"parent": "/ground", "child": "/bodyset/shank"}.items()
        >>> ends = "".join(f"<socket_{end}_frame>{place}</socket_{end}_frame>" for end, place in ends)
        >>> pin = f"<PinJoint name='knee'>{ends}<coordinates><Coordinate name='knee_angle'/></coordinates></PinJoint>"
        >>> text = f"<Model name='leg'>{shank}<JointSet><objects>{pin}</objects></JointSet></Model>"
        >>> _ = Path("leg.osim").write_text(f"<OpenSimDocument Version='40000'>{text}</OpenSimDocument>")
        >>> list(ms.read_osim("leg.osim").coordinates)
        ['knee_angle']
    """
    if suffix_of(path) == BIORBD:
        raise of_another_program(file_path(path))
    root = read_xml(path)
    model = _model(root)
    defaults = {child.tag: child for holder in (root, model) for child in holder.listed("defaults")}
    name_all((*model.listed("ForceSet"), *model.listed("ConstraintSet")))
    context = Context(root, defaults, components(model))
    context.notes += _unit_notes(model)
    bodies = context.of_kind("Body")
    for what, named in (("bodies", bodies), ("forces", model.listed("ForceSet"))):
        if len(named) > MOST_PARTS:
            problem, expected = f"the model has {len(named)} {what}", f"at most {MOST_PARTS}"
            named[MOST_PARTS].fail("too_large", problem, expected, "take out what is not needed")
        seen_names: set[str] = set()
        for element in named:
            if element.name in seen_names:
                element.fail_repeated(what)
            seen_names.add(element.name)
    joints, closing = read_joints(context)
    coordinates = read_coordinates(context, joints)
    couplers, others = read_couplers(context, coordinates)
    surfaces = read_surfaces(context)
    muscles, pathless, devices, actuators = read_muscles(context, model, coordinates, surfaces)
    masses, mass_faults = _masses(context)
    gravity = model.filled("gravity")
    read = OpenSimModel(
        name=model.name,
        file=root.file,
        bodies=(GROUND, *(body.name for body in bodies)),
        joints=joints,
        coordinates=coordinates,
        couplers=couplers,
        muscles=muscles,
        pathless=pathless,
        actuators=actuators,
        surfaces=surfaces,
        unsupported=context.unsupported,
        masses=masses,
        mass_faults=mass_faults,
        notes=tuple(context.notes),
        gravity=np.array([0.0, -STANDARD_GRAVITY, 0.0]) if gravity is None else gravity.vector(),
        credits=" ".join(model.text_of("credits").split()),
        publications=" ".join(model.text_of("publications").split()),
        meshes=read_meshes(context),
        devices=devices,
    )
    computable = tuple(device for device in devices if _is_computable(read, device))
    context.unsupported |= {f"force {one.name}": one.kind for one in devices if one not in computable}
    for point in (point for muscle in muscles.values() for point in muscle.points):
        moving, switching = point.moving.coordinates if point.moving else (), (point.condition or ())[:1]
        model.check_coordinates((*moving, *switching), coordinates, f"correct the point {point.name}")
    loops, unsolved = read_links(context, read, closing)
    others += unsolved
    context.unsupported |= {
        f"constraint {constraint.name}": constraint.kind
        for constraint in others
        if constraint.kind != PRESCRIBED
    }
    return replace(read, couplers=(*couplers, *loops), other_constraints=tuple(others), devices=computable)


def with_function_paths(model: OpenSimModel, path: str | Path) -> OpenSimModel:
    """The model with paths of its muscles as functions of coordinates, from a file of FunctionBasedPath.

    Raises:
        InputError: the file has no such paths, or paths of other muscles or coordinates, or unsupported functions.
    """
    root = read_xml(path, "paths as functions of coordinates (.xml)")
    elements = [descendant for descendant in root.descendants() if descendant.tag == "FunctionBasedPath"]
    if not elements:
        root.fail(
            "bad_format",
            "the file has no FunctionBasedPath",
            "paths of muscles as functions of coordinates, as OpenSim fits them",
            "name such a file",
        )
    muscles, known = dict(model.muscles), {**model.muscles, **model.pathless}
    for element in elements:
        name = last_part(element.name)
        check_known([name], "muscle", known, f" in the model {model.name}", root.file)
        function = read_path_function(element, model.coordinates)
        if function is None:
            element.fail(
                "unsupported",
                "its length is a function of a kind that is not supported",
                "a polynomial, a spline or another function of OpenSim's joints",
                "fit the path by a polynomial",
            )
        muscles[name] = replace(known[name], by_function=function)
    lacking = {name: muscle for name, muscle in model.pathless.items() if name not in muscles}
    unsupported = {
        part: kind
        for part, kind in model.unsupported.items()
        if part not in {f"path of {name}" for name in model.pathless.keys() - lacking.keys()}
    }
    return replace(model, muscles=muscles, pathless=lacking, unsupported=unsupported)


def _is_computable(model: OpenSimModel, device: Device) -> bool:
    """Whether the model has the coordinate, the bodies and the wrap objects of a device."""
    path, frames = device.path, device.frames or ()
    bodies = {frame.body for frame in frames} | (set() if path is None else set(model.bodies_of(path)))
    surfaces = () if path is None else (wrap.surface for wrap in path.wraps)
    named = not device.coordinate or device.coordinate in model.coordinates
    whole = path is None or f"path of {device.name}" not in model.unsupported
    return (
        named
        and whole
        and bodies <= model.reachable
        and all(surface in model.surfaces for surface in surfaces)
    )


def known_osim(path: str | Path) -> OpenSimModel:
    """Read a model as `read_osim` does, unless this process has just read a file of the same name, size and time of
    change: the trials of a person follow each other.
    """
    return _read_in_state(Path(path), file_state(Path(path)))


@lru_cache(maxsize=2)
def _read_in_state(path: Path, state: object) -> OpenSimModel:
    return read_osim(path)


def _model(root: Element) -> Element:
    """The <Model> of a document; refuses an unsupported version."""
    expected, remedy = "an OpenSim model of version 2 or later", "open it in OpenSim 4 and save it again"
    model = root.find("Model")
    if root.tag == "mujoco":
        raise of_another_program(root.file)
    if root.tag != "OpenSimDocument" or model is None:
        root.fail(
            "bad_format", f"the document is <{root.tag}>, without a <Model>", expected, "name a model file"
        )
    if not root.version.isdigit() or int(root.version) < _OLDEST:
        root.fail("bad_format", f"the file has version {root.version or 'none'}", expected, remedy)
    if int(root.version) < CURRENT:
        upgrade(model)
    return model


def _unit_notes(model: Element) -> list[str]:
    """A sentence on a stated unit of length other than meters, which OpenSim ignores.

    Refused where a place on a body is farther than any bone is long: then the numbers are in this unit.
    """
    units = " ".join(model.text_of("length_units").lower().split())
    if units in ("", "unassigned", "meters", "m", "meter"):
        return []
    farthest = 0.0
    for element in model.descendants():
        if element.tag in ("translation", "location", "location_in_parent", "mass_center"):
            values = element.finite_numbers()
            if values is not None and values.size:
                farthest = max(farthest, float(np.abs(values).max()))
    if farthest > LONGEST_BONE:
        model.fail(
            "bad_units",
            f"lengths are in {units}, and places on bodies reach {farthest:g}",
            f"places in meters, of at most {LONGEST_BONE:g}",
            "scale the model to meters",
        )
    return [
        f"The model states lengths in {units}; its places, of at most {farthest:.3g}, are read as meters, as OpenSim "
        "reads them. Correct <length_units> if they are meters."
    ]


def of_another_program(file: Path) -> InputError:
    """The error of a model of MuJoCo or biorbd where an OpenSim model is needed."""
    program = "biorbd" if suffix_of(file) == BIORBD else "MuJoCo"
    return file_error(
        "bad_format",
        file,
        f"this is a model of {program}",
        "an OpenSim model (.osim)",
        f"share its moments along a motion: musclesolve share --model {file.name} --coordinates MOTION; "
        f'in Python ms.share_model("{file.name}", "MOTION")',
    )


def _masses(context: Context) -> tuple[dict[str, BodyMass], dict[str, str]]:
    """Mass properties of the bodies, and for other bodies the reasons why theirs cannot be used."""
    masses, faults, odd = {}, {}, list[str]()
    for body in context.of_kind("Body"):
        if body.find("mass") is None:
            faults[body.name] = f"line {body.line}: body {body.name} has no mass"
            continue
        mass, tensor = body.require("mass"), body.filled("inertia")
        inertia = np.zeros(6) if tensor is None else tensor.numbers()
        if inertia.shape != (6,):
            body.fail(
                "bad_format", f"{inertia.size} numbers of inertia", "xx yy zz xy xz yz", "correct <inertia>"
            )
        center = body.vector_in("mass_center", 0.0)
        masses[body.name] = read = BodyMass(mass.number(), center, inertia[_TENSOR])
        principal = np.linalg.eigvalsh(read.inertia)
        least = float(principal[0])
        if read.mass < 0.0 or least < -_SLIGHT * np.abs(read.inertia).max():
            faults[body.name] = (
                f"line {body.line}: body {body.name} has the mass {read.mass:g} kg and the least principal moment of "
                f"inertia {least:g} kg m2"
            )
        elif principal[2] > (principal[0] + principal[1]) * (1.0 + _BEYOND_TRIANGLE):
            odd.append(body.name)
    if odd:
        context.notes.append(
            f"Of {', '.join(odd)} the largest moment of inertia exceeds the sum of the two others, which is "
            "impossible for a body; it is used unchanged."
        )
    return masses, faults


def read_meshes(context: Context) -> tuple[AttachedMesh, ...]:
    """The visible meshes, in the order of the file.

    As in OpenSim, a mesh of version 4 belongs to the frame in which it is listed; its socket is ignored.
    """
    meshes = []
    for owner in context.frames.values():
        attached = [geometry for geometry in owner.listed("attached_geometry") if geometry.tag == "Mesh"]
        visible = owner.find("VisibleObject")
        shown = [] if visible is None else visible.listed("GeometrySet")
        if not attached and not shown:
            continue
        frame = context.pose(owner)
        if frame is None:
            continue
        for mesh in attached:
            look, file = mesh.find("Appearance"), mesh.find("mesh_file")
            hidden = look is not None and (flag := look.find("visible")) is not None and not flag.flag()
            if file is not None and file.text.strip() and not hidden:
                meshes.append(AttachedMesh(file.text.strip(), frame, mesh.vector_in("scale_factors", 1.0)))
        for geometry in shown:
            assert visible is not None
            file, preference = geometry.find("geometry_file"), geometry.find("display_preference")
            hidden = preference is not None and preference.number() == 0.0
            if file is not None and file.text.strip() and not hidden:
                # transforms follow one another and factors are multiplied, as OpenSim 4 reads files of earlier versions
                placed = _within(_within(frame, visible), geometry)
                scale = visible.vector_in("scale_factors", 1.0) * geometry.vector_in("scale_factors", 1.0)
                meshes.append(AttachedMesh(file.text.strip(), placed, scale))
    return tuple(meshes)


def _within(frame: Frame, element: Element) -> Frame:
    """The frame with the <transform>, three angles [rad] and a translation [m], in another one."""
    stated = element.find("transform")
    if stated is None:
        return frame
    values = stated.transform()
    return Frame(frame.body, frame.rotation @ rotation_xyz(values[:3]), frame.place(values[3:]))
