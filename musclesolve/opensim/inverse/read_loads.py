"""Reads external loads: an ExternalLoads XML of OpenSim, or a MOT file with the usual column names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.errors import InputError
from musclesolve.opensim.inverse.external_load import ExternalLoad
from musclesolve.opensim.inverse.plate_columns import identified_columns, plate_columns
from musclesolve.opensim.inverse.plate_feet import foot_of_plate
from musclesolve.opensim.kinematics import BodyMotion
from musclesolve.opensim.model import GROUND, OpenSimModel
from musclesolve.opensim.read_context import last_part
from musclesolve.opensim.xml_tree import Element, read_xml
from musclesolve.recording.data import Table
from musclesolve.recording.text.mot_file import read_mot
from musclesolve.recording.text.repeated_names import check_used

_KINDS = ("force", "point", "torque")


def read_external_loads(
    path: str | Path,
    model: OpenSimModel,
    time: Array | None = None,
    pose: BodyMotion | None = None,
    bodies: Mapping[str, str] | None = None,
) -> list[ExternalLoad]:
    """Loads on the bodies of a model.

    A suffix .xml names an ExternalLoads file, whose <datafile> is looked for beside it. Any other file is a MOT or STO
    file of ground reactions: columns such as ground_force_vx, ground_force_px and ground_torque_x, with a number or
    a side in their common part (1_ground_force_vx, ground_force_r_vx). Its plates act on the foot that `bodies`
    names, else of the side in the column name, else on the foot that is nearest to the center of pressure.

    Args:
        path: the file.
        model: whose bodies they act on.
        time: (T,) [s] and
        pose: of all bodies then, to find the feet; needed only where columns name no side.
        bodies: body by common part of the column names ("ground_force_", "1_ground_force_", ...).

    Raises:
        InputError: what is missing or contradicts itself, with its place.
    """
    file = Path(path)
    if file.suffix.lower() == ".xml":
        return _from_xml(read_xml(file, "external loads of OpenSim (.xml)"))
    table, loads = read_mot(file), []
    for plate in plate_columns(table):
        load = _load(table, plate.stem, "", plate.force, plate.point, plate.moment)
        body = foot_of_plate(model, load, bodies or {}, time, pose)
        if body:
            loads.append(_load(table, plate.stem, body, plate.force, plate.point, plate.moment))
    return loads


def _from_xml(root: Element) -> list[ExternalLoad]:
    holder = root if root.tag == "ExternalLoads" else root.find("ExternalLoads")
    if holder is None:
        root.fail(
            "there is no <ExternalLoads>", expected="external loads of OpenSim", remedy="name another file"
        )
    name = holder.require("datafile")
    table = read_mot(_beside(name))
    return [_external_force(each, table) for each in _objects(holder) if _applies(each)]


def _objects(holder: Element) -> list[Element]:
    objects = holder.find("objects")
    return objects.children if objects is not None else []


def _beside(name: Element) -> Path:
    """The data file, relative to the folder of the XML file."""
    text = name.text.strip().replace("\\", "/")
    if not text:
        name.fail("no data file is named", expected="a MOT or STO file", remedy="write its name here")
    found = name.file.parent / text
    if not found.is_file():
        name.fail(
            f"there is no file {found}",
            expected="the file of the ground reactions, relative to the folder of this file",
            remedy="correct the name, or copy the file there",
            code="missing_file",
        )
    return found


def _applies(element: Element) -> bool:
    if element.tag != "ExternalForce":
        element.fail(
            f"a load of the kind {element.tag}",
            expected="<ExternalForce>",
            remedy="open the file in OpenSim and save it again",
            code="unsupported",
        )
    switch, disabled = element.find("appliesForce"), element.find("isDisabled")
    if switch is not None and switch.words():
        return switch.flag()
    return not (disabled is not None and disabled.words() and disabled.flag())


def _external_force(element: Element, table: Table) -> ExternalLoad:
    force, point, moment = (_columns(element, f"{kind}_identifier", table) for kind in _KINDS)
    if not force and not moment:
        element.fail(
            "neither force nor torque is named",
            expected="<force_identifier> or <torque_identifier>",
            remedy="name the columns of the data file",
            code="missing_key",
        )
    body = element.require("applied_to_body")
    axes, origin = (_body(element, f"{kind}_expressed_in_body") for kind in ("force", "point"))
    if force and not point:  # the force acts at the origin of the body
        origin = last_part(body.text)
    name, on = element.name or body.text.strip(), last_part(body.text)
    return _load(table, name, on, force, point, moment, (axes, origin))


def _body(element: Element, tag: str) -> str:
    found = element.find(tag)
    return last_part(found.text) if found is not None and found.words() else GROUND


def _columns(element: Element, tag: str, table: Table) -> tuple[str, ...]:
    """The three columns that begin with an identifier; none where there is no identifier."""
    holder = element.find(tag)
    stem = holder.text.strip() if holder is not None else ""
    if not stem:
        return ()
    found = identified_columns(table, stem)
    if len(found) != 3:
        element.fail(
            f"{tag} '{stem}' fits {len(found)} columns of {table.path.name}",
            expected="three columns that begin like this, for x, y and z",
            remedy="correct the identifier, or the names in the data file",
            code="missing_column",
        )
    return found


def _load(
    table: Table,
    name: str,
    body: str,
    force: tuple[str, ...],
    point: tuple[str, ...],
    moment: tuple[str, ...],
    frames: tuple[str, str] = (GROUND, GROUND),
) -> ExternalLoad:
    vectors = [_vector(table, names) for names in (force, point, moment)]
    loaded = np.abs(vectors[0]).any(axis=1)
    vectors[1][~loaded] = 0.0  # the point of no force is arbitrary, and may be missing
    for names, vector in zip((force, point, moment), vectors, strict=True):
        bad = np.argwhere(~np.isfinite(vector))
        if bad.size:
            row, column = bad[0]
            place = (
                f"line {table.lines[row]}, column '{names[column]}'" if table.lines.size else names[column]
            )
            raise InputError(
                f"a number is missing at {table.time[row]:g} s",
                code="missing_samples",
                file=table.path,
                where=place,
                expected="a number in every row, except the point of a force that is zero",
                remedy="fill the gap in the software that exported the file",
            )
    forces, points, moments = vectors
    notes = tuple(table.sentences)
    return ExternalLoad(
        name, body, table.time, forces, points, moments, *frames, file=table.path, notes=notes
    )


def _vector(table: Table, names: tuple[str, ...]) -> Array:
    if not names:
        return np.zeros((len(table.time), 3))
    check_used(names, "column", table.repeated, table.path)
    return np.stack([table[name] for name in names], axis=1)
