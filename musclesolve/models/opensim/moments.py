"""Generalized forces of inverse dynamics by coordinate, at the times of the coordinates.

Long gaps of a file are not filled: holes beyond a fifth of the period of the cut-off of the coordinates stay empty, and
their frames count as not measured (`musclesolve._util.splines`).

Moments of the shared coordinates differ in two points from the output of OpenSim's inverse dynamics. A force of OpenSim
acts at its own joint alone: where couplers drive other coordinates with q_i, the muscles that move q_i have to produce

    tau_i = M_i + sum_d M_d dq_d/dq_i.

And the forces of the angles of ball and free joints belong to the components of the angular velocity omega of the
child in the parent frame, not to the rates of the angles. With omega = sum_k a_k qd_k about the axes a_k of the three
rotations, equal power means M_k = a_k . M (Simbody's mobilizers; Featherstone 2008, 4.4). Arrays of a caller belong
to the rates already, like the forces of `inverse_dynamics`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array, within
from musclesolve._util.checks import check_real_array
from musclesolve._util.messages import count_of, few
from musclesolve._util.splines import HoleLimits, hole_note
from musclesolve.constants import WALKING_CUTOFF_HZ
from musclesolve.errors import file_error, input_error
from musclesolve.models.opensim.coordinate_motion import CoordinateMotion, Source, as_table
from musclesolve.models.opensim.external_loads import ExternalLoad, is_whole_person, read_external_loads
from musclesolve.models.opensim.geometry import coordinate_chain
from musclesolve.models.opensim.kinematics import body_motion, body_poses, coordinate_values, joint_axes
from musclesolve.models.opensim.load_dynamics import (
    COLUMN_ENDINGS,
    CoordinateMoments,
    moments_under_loads,
    whole_motion,
)
from musclesolve.models.opensim.loads_without_plates import found_loads, predicted_loads
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.models.settings import PREDICTED_NOTE, REDUCED, UNLOADED_NOTE, OpenSimSettings
from musclesolve.tables.number_rows import check_used
from musclesolve.tables.sampled import Table

FOUND_NOTE = "The loads on the feet follow from the moments of all coordinates and the forces of the root."
_OF_PLATE = re.compile("[vp][xyz]$")
"""Columns of forces and centers of pressure, such as ground_force_vx."""


def coordinate_moments(
    source: Source,
    names: Sequence[str],
    time: Array,
    optional: Sequence[str] = (),
    cutoff_hz: float | None = None,
) -> CoordinateMoments:
    """Interpolate generalized forces of coordinates linearly to some times.

    Args:
        source: columns NAME_moment or NAME_force over time; also NAME unless the source is a file, where NAME is a
            coordinate; arrays by name without "time" have the times `time`.
        names: coordinates.
        time: (T,) [s].
        optional: further coordinates, after the others in the result; zero where there is no column.
        cutoff_hz: of the filter of the coordinates, which limits the length of a hole; None: the usual cut-off.
    """
    if isinstance(source, Mapping) and "time" not in source and not hasattr(source, "data_vars"):
        expected = f"{len(time)} numbers, one for each time of the coordinates"
        arrays = {
            str(name): check_real_array(column, str(name), expected, where="moments", shapes=((len(time),),))
            for name, column in source.items()
        }
        source = {"time": time, **arrays}
    table = as_table(source, "moments")
    file = table.path if table.path.name else None
    columns: dict[str, int] = {}
    for name in (*names, *optional):
        named = [f"{name}{suffix}" for suffix in (COLUMN_ENDINGS if file else (*COLUMN_ENDINGS, ""))]
        if column := next((column for column in named if column in table.names), None):
            check_used([column], "column", table.repeated, table.path)
            columns[name] = table.names.index(column)
        elif name in names:
            problem, wanted = f"there is no moment of the coordinate {name}", f"a column {name}_moment"
            remedy = "give the file of inverse dynamics of this model, or choose the coordinates to be shared"
            if any(map(_OF_PLATE.search, table.names)):
                problem = f"{problem}: these are ground reactions"
                remedy = "name the file as loads (--loads, loads=) instead of moments"
            else:
                wanted = f"{wanted}, or {name}_force for a translation"
            expected = f"{wanted}; there are {few(table.names, 12)}"
            raise file_error("missing_column", file, problem, expected, remedy)
    covered = within(time, table.time[0], table.time[-1])
    if not covered.any():
        raise file_error(
            "no_overlap",
            file,
            f"the moments are from {table.time[0]:g} to {table.time[-1]:g} s, the coordinates "
            f"from {time[0]:g} to {time[-1]:g} s",
            "moments of the same trial",
            "give inverse dynamics of these coordinates",
        )
    limits = HoleLimits.from_times(table.time, cutoff_hz or WALKING_CUTOFF_HZ)
    moment = np.zeros((len(time), len(names) + len(optional)))
    by_holes: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for place, name in enumerate((*names, *optional)):
        if name in columns:
            values = table.values[:, columns[name]]
            moment[:, place] = limits.filled(table.time, values, time)
            seen = ~np.isnan(values)
            seen[[0, -1]] = True  # so that rows without a number at the ends are holes, too
            if holes := tuple(limits.long_holes(table.time[seen])):
                by_holes.setdefault(holes, []).append(table.names[columns[name]])
    lacking = f"{table.path.name or 'The table of moments'} lacks"
    notes = [hole_note(f"{lacking} {few(those)}", holes, limits) for holes, those in by_holes.items()]
    if missing := [name for name in optional if name not in columns]:
        notes.append(
            f"There is no moment of {', '.join(missing)}, which other coordinates drive: taken as zero, which is right "
            "where the file has it in the moments of these."
        )
    return CoordinateMoments(moment, covered, file, (*table.sentences, *notes))


def _with_short_holes_filled(table: Table, cutoff_hz: float | None) -> tuple[Table, list[str]]:
    """A table of generalized forces without short holes, and a sentence on the cells filled if there are any."""
    limits = HoleLimits.from_times(table.time, cutoff_hz or WALKING_CUTOFF_HZ)
    values = np.stack([limits.filled(table.time, column, table.time) for column in table.values.T], axis=1)
    cells = np.isnan(table.values) & np.isfinite(values)
    cells &= [name.endswith(COLUMN_ENDINGS) for name in table.names]
    values = np.where(cells, values, table.values)
    named = []
    for k in np.flatnonzero(cells.any(axis=0)):
        times, count = table.time[cells[:, k]], int(cells[:, k].sum())
        more = f" and {count - 1} more" if count > 1 else ""
        named.append(f"{table.names[k]} at {times[0]:.4g} s{more}")
    sentence = (
        f"{table.path.name or 'The table of moments'} has {count_of(int(cells.sum()), 'cell')} without a number: "
        f"{few(named, 6)}. Such short holes are filled by a curve through the samples beside them."
    )
    return replace(table, values=values), [sentence] if named else []


def shared_moments(
    model: OpenSimModel, source: Source, dofs: Sequence[str], motion: CoordinateMotion
) -> CoordinateMoments:
    """Generalized forces (T, m) of the shared coordinates, forces of driven coordinates included.

    Args:
        source: see `coordinate_moments`; a path and a Table have the form of OpenSim's output. A driven coordinate may
            be missing, with a note.
    """
    number = model.coordinate_number
    values = coordinate_values(model, motion.by_name(motion.value))
    chain = coordinate_chain(model, values, dofs)
    moved = [name for name in model.coordinates if chain[:, number[name]].any()]
    if motion.resampled and isinstance(source, Mapping) and "time" not in source:
        raise file_error(
            "uneven_sampling",
            (motion.file, "moments"),
            "the coordinates have uneven steps and are interpolated to even ones, and the moments have no times",
            "moments with their times",
            'add "time" to the arrays',
        )
    turned = [  # the first three coordinates of a ball or free joint are its rotations
        candidate
        for candidate in model.joints
        if candidate.speeds_are_angular and set(moved) & set(candidate.coordinates[:3])
    ]
    angular = turned if isinstance(source, str | Path | Table) else []
    together = [name for joint in angular for name in joint.coordinates[:3]]
    required = tuple(dict.fromkeys([*dofs, *together]))
    driven = tuple(name for name in moved if name not in required)
    read = coordinate_moments(source, required, motion.time, driven, motion.cutoff_hz)
    force = np.zeros(values.shape)
    force[:, [number[name] for name in (*required, *driven)]] = read.moment
    pose = body_motion(model, values) if angular else None
    for joint in angular:  # M_k = a_k . M, with the axes a_k (T, 3, 3) in the parent frame
        assert pose is not None
        every = joint_axes(model)
        frame = pose.rotation[:, model.body_number[joint.parent.body]] @ joint.parent.rotation
        of_joint = np.flatnonzero(every.joint == model.joints.index(joint)).tolist()
        axis_of = {every.axes[a].coordinates[0]: a for a in of_joint if every.axes[a].coordinates}
        axes = pose.unit[:, [axis_of[name] for name in joint.coordinates[:3]], :3] @ frame
        columns = [number[name] for name in joint.coordinates[:3]]
        force[:, columns] = np.einsum("tki,ti->tk", axes, force[:, columns])
    moment = np.empty((len(values), len(dofs)))
    for j in range(len(dofs)):
        involved = chain[:, :, j].any(axis=0)  # an unknown moment affects no other coordinate
        moment[:, j] = (force[:, involved] * chain[:, involved, j]).sum(axis=1)
    notes = [*read.notes]
    if added := [
        name
        for name, involved in zip(driven, read.moment[:, len(required) :].T, strict=True)
        if involved.any()
    ]:
        notes.append(
            f"The moments of {', '.join(added)} are added to the moments of the coordinates that drive them."
        )
    notes += [
        f"Moments of {', '.join(joint.coordinates[:3])} are read as moments of the angular velocity of {joint.name}, "
        "as OpenSim writes them, and given as moments of the rates of the angles."
        for joint in angular
    ]
    return replace(read, moment=moment, notes=tuple(notes))


def _under_stated_loads(
    model: OpenSimModel,
    motion: CoordinateMotion,
    dofs: Sequence[str],
    settings: OpenSimSettings,
    given: bool = False,
) -> CoordinateMoments:
    """Moments under the loads of a file, or without loads; given: see `moments_under_loads`."""
    loads, acting = str(settings.files.loads), list[ExternalLoad]()
    if not settings.files.unloaded:
        whole = whole_motion(model, motion)
        pose = body_poses(model, whole.value)
        acting = read_external_loads(loads, model, whole.time, pose, settings.plates.feet)
    return moments_under_loads(model, motion, dofs, acting, Path(loads), given)


def _beside_loads(
    model: OpenSimModel,
    motion: CoordinateMotion,
    dofs: Sequence[str],
    due: CoordinateMoments,
    settings: OpenSimSettings,
) -> CoordinateMoments:
    """Given moments with the loads that act beside them: joint forces follow from the loads."""
    under = _under_stated_loads(model, motion, dofs, settings, given=True)
    covered = due.covered & under.covered
    if not covered.any():
        raise file_error(
            "no_overlap",
            due.file,
            "no frame of the coordinates has both moments and loads",
            "moments and loads of the same trial",
            "leave out --moments or --loads",
        )
    return replace(
        under,
        # not where a leg stands without a load
        moment=np.where(np.isnan(under.moment), np.nan, due.moment),
        covered=covered,
        file=due.file,
        notes=(*due.notes, *under.notes),
        dynamics=under.dynamics if np.array_equal(covered, under.covered) else None,
    )


def due_moments(
    model: OpenSimModel,
    motion: CoordinateMotion,
    dofs: Sequence[str],
    moments: Source | None,
    settings: OpenSimSettings,
) -> tuple[CoordinateMoments, Table | None]:
    """The moments to share, from moments, loads or predicted loads, and the table of given moments.

    The loads that a table contains act on the model, too.
    """
    loads_file, table = settings.files.loads, None
    if settings.files.predicted and moments is None:
        loads_of_feet = predicted_loads(model, whole_motion(model, motion))
        due = moments_under_loads(model, motion, dofs, loads_of_feet, motion.file)
        due = replace(due, file=None, notes=(PREDICTED_NOTE, *due.notes))
    elif settings.files.unloaded and moments is None:
        due = moments_under_loads(model, motion, dofs, (), motion.file)
        due = replace(due, file=None, notes=(UNLOADED_NOTE, *due.notes))
    elif loads_file is not None and moments is None:
        due = _under_stated_loads(model, motion, dofs, settings)
    elif moments is not None and not settings.files.predicted:
        if isinstance(moments, str | Path | Table):
            table = moments = as_table(moments, "moments")
        due = shared_moments(model, moments, dofs, motion)
        if table is not None and np.isnan(table.values).any():
            table, note = _with_short_holes_filled(table, motion.cutoff_hz)
            due = replace(due, notes=(*due.notes, *note))
        why = "moments in arrays do not state the forces of the root"
        if loads_file is not None:
            if settings.consistency.residual == REDUCED:
                raise input_error("models.opensim.reduced_beside_moments", where="residual")
            due, why = _beside_loads(model, motion, dofs, due, settings), ""
            if table is None and isinstance(moments, Mapping):
                arrays = {str(name): np.asarray(column) for name, column in moments.items()}
                table = as_table({"time": motion.time} | arrays, "moments")
        elif table is not None:
            loads_of_feet, why = found_loads(model, motion.frames(due.covered), table)
            if loads_of_feet:
                under = moments_under_loads(model, motion, dofs, loads_of_feet, due.file)
                # not where a leg stands without a load
                moment = np.where(np.isnan(under.moment), np.nan, due.moment)
                due = replace(under, moment=moment, file=due.file, notes=(*due.notes, FOUND_NOTE))
        if why:
            unknown = f"the loads on the feet are not known: {why}"
            if not is_whole_person(model.bodies):
                unknown = "the loads are not known: --loads none or a file states them"
            due = replace(due, notes=(*due.notes, f"No contact forces are computed, because {unknown}."))
    else:
        which = "neither moments nor" if moments is None else "both moments and"
        code = "missing_argument" if moments is None else "conflict"
        raise input_error("models.opensim.moments_or_loads", which=which, code=code)
    return due, table
