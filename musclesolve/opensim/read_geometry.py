"""Files of geometry that a model file attaches to its bodies; none is opened."""

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.opensim.model import AttachedMesh, Frame, rotation_xyz
from musclesolve.opensim.read_context import Context
from musclesolve.opensim.xml_tree import Element


def read_meshes(context: Context) -> tuple[AttachedMesh, ...]:
    """The meshes that OpenSim draws, in the order of the file: those that are not switched off.

    As in OpenSim, a mesh of version 4 lies in the frame that it is listed in, whatever its socket names.
    """
    meshes = []
    for owner in context.frames.values():
        attached = [each for each in owner.listed("attached_geometry") if each.tag == "Mesh"]
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
                meshes.append(AttachedMesh(file.text.strip(), frame, _vector(mesh, "scale_factors")))
        for each in shown:
            assert visible is not None
            file, preference = each.find("geometry_file"), each.find("display_preference")
            hidden = preference is not None and preference.number() == 0.0
            if file is not None and file.text.strip() and not hidden:
                # transforms follow one another and factors are multiplied, as OpenSim 4 reads files of earlier versions
                placed = _within(_within(frame, visible), each)
                scale = _vector(visible, "scale_factors") * _vector(each, "scale_factors")
                meshes.append(AttachedMesh(file.text.strip(), placed, scale))
    return tuple(meshes)


def _vector(element: Element, tag: str) -> Array:
    """Three numbers, ones where they are not stated."""
    stated = element.find(tag)
    return np.ones(3) if stated is None else stated.vector()


def _within(frame: Frame, element: Element) -> Frame:
    """The frame that <transform>, three angles [rad] and a translation [m], describes in another one."""
    stated = element.find("transform")
    if stated is None:
        return frame
    values = stated.numbers(6)
    return Frame(frame.body, frame.rotation @ rotation_xyz(values[:3]), frame.place(values[3:]))
