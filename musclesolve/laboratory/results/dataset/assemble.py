"""An analysis as one labeled Dataset: labels of every body, labels of recordings or models, and labels of the knees
(medial, lateral and patellofemoral contact force).
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array, by_name, dot
from musclesolve._util.long_arrays import blocks, in_blocks, in_files, in_memory, unknown
from musclesolve._util.messages import REMARK, Progress, WarningNote, few, no_progress
from musclesolve._util.sides import SIDE_NAMES, joint_kind, side_of
from musclesolve.laboratory.analysis.emg_informed import followed_notes
from musclesolve.laboratory.analysis.measured_body import MeasuredAnalysis, MeasuredBody
from musclesolve.laboratory.analysis.recorded_body import RecordedBody
from musclesolve.laboratory.results.dataset.labels import DIRECTIONS, Labels, Variable
from musclesolve.laboratory.results.dataset.muscle_labels import (
    balance_error,
    emg_labels,
    fascicle_labels,
    fiber_range,
)
from musclesolve.laboratory.results.dataset.quantities import ANALYSIS, QUANTITIES, by_formula, of_parts
from musclesolve.laboratory.results.dataset.recording_labels import recording_axes, recording_labels
from musclesolve.laboratory.results.dataset.result_quantities import storable
from musclesolve.laboratory.results.finding import FINDINGS, Finding, finding, texts
from musclesolve.laboratory.results.plausibility import with_verdict
from musclesolve.models.body import Body, SolvedGroup, metabolic_power
from musclesolve.models.knee import compartments, quadriceps
from musclesolve.models.share import share
from musclesolve.models.simulated_body import SimulatedBody
from musclesolve.sharing.status import status_flags
from musclesolve.version import __version__

BEARING = 0.25
"""Share of its greatest force above which a knee is loaded: a contact that lifts off below hardly matters."""
EXTENDS = 0.02
"""Mean moment arm beyond which a muscle counts as a knee extensor [m]: heads of the quadriceps have 0.03 to 0.05,
tensor fasciae latae less than 0.01 in some models."""
SAMPLED = 25
"""Number of frames that represent the motion in a mean."""


def knee_labels(analysis: MeasuredAnalysis, segment_axes: dict[str, Array]) -> Labels:
    """Variables of the knees over time and side, NaN for a side without a knee; contact spacing and lift-off.

    The external knee adduction moment is -M . (e_axial x e_medial), with the net moment M on the shank about the knee
    center, muscle forces not included, and the unit vectors of `DIRECTIONS` of the shank: about their cross product the
    distal end turns to the median plane. Empty where no force at a knee is known.
    """
    variables, notes, sides = dict[str, Variable](), list[str](), analysis.sides
    spacing = {
        joint: apart for joint, apart in analysis.body.contact_spacing.items() if joint in segment_axes
    }
    notes += [note for part in analysis.parts for note in unrecognized(part, segment_axes, spacing)]

    def store(name: str, joint: str, force: Array) -> None:
        """Store one column of a variable."""
        none = np.full((len(analysis.body.time), len(sides)), np.nan)
        variables.setdefault(name, (("time", "side"), none))[1][:, sides.index(side_of(joint))] = force

    missing = set(sides)
    for part in analysis.parts:
        for joint, force in part.patellofemoral_force.items():
            if side_of(joint) in sides:
                store("patellofemoral_force", joint, np.linalg.norm(force, axis=1))
        for joint in sorted(part.contact_force, key=lambda joint: joint not in spacing):
            if joint_kind(joint) == "knee" and side_of(joint) in missing and joint in segment_axes:
                missing.remove(side_of(joint))
                axial, _, medial_axis = np.moveaxis(segment_axes[joint], 1, 0)
                assert part.part.loads is not None
                moment = by_name(part.part.loads.joints, part.part.loads.net_moment)[joint]
                adduction = in_blocks(lambda m, *axes: -dot(m, np.cross(*axes)), moment, axial, medial_axis)
                store("knee_adduction_moment", joint, adduction)
        for joint in spacing.keys() & part.contact_force.keys():
            if side_of(joint) not in sides:
                continue
            loads = part.contact_force[joint], part.contact_moment[joint], segment_axes[joint]
            borne = partial(compartments, spacing=spacing[joint].distance)
            medial, lateral, lifted = in_blocks(borne, *loads)
            store("knee_contact_medial", joint, medial)
            store("knee_contact_lateral", joint, lateral)
            bearing = part.solution.solved & (
                medial + lateral > BEARING * np.nanmax(medial + lateral, initial=0.0)
            )
            if count := int((lifted & bearing).sum()):
                notes.append(
                    f"In {count} of the {int(bearing.sum())} frames with a large contact force, the "
                    f"{SIDE_NAMES[side_of(joint)]} knee carries the whole force on one side. The other contact cannot "
                    "pull. Ligaments carry the rest of the frontal moment."
                )
    stated = [f"{joint} {apart.distance:.4f} m, {apart.origin}" for joint, apart in spacing.items()]
    return Labels(variables, {}, {"knee_contact_spacing": stated} if stated else {}, notes)


def segment_axes(body: Body) -> dict[str, Array]:
    """Axes of `DIRECTIONS` of the segments at hips, knees and ankles, (T, 3, 3), by the names of the joints."""
    if isinstance(body, RecordedBody):
        return recording_axes(body)
    from musclesolve.laboratory.results.dataset.model_labels import model_axes

    return {} if isinstance(body, SimulatedBody) else model_axes(body)  # type: ignore[arg-type]


def labels_of(body: Body, analysis: MeasuredAnalysis, paths: bool) -> Labels:
    """Labels of one kind of body in an analysis, which no other kind has."""
    if isinstance(body, RecordedBody):
        return recording_labels(body, analysis, paths)
    from musclesolve.laboratory.results.dataset.model_labels import model_labels, simulated_labels

    if isinstance(body, SimulatedBody):
        return simulated_labels(body, analysis, paths)
    return model_labels(body, analysis, paths)  # type: ignore[arg-type]


def unrecognized(part: SolvedGroup, segment_axes: dict[str, Array], knees: Collection[str]) -> Iterator[str]:
    """Yield a sentence on knee extensors whose names are not names of heads of the quadriceps."""
    names, loads = part.state.parameters.names, part.part.loads
    others = np.delete(np.arange(len(names)), quadriceps(names))
    if loads is None or not set(knees) & set(loads.joints):
        return
    some = slice(None, None, max(len(loads.net) // SAMPLED, 1))
    across = by_name(loads.joints, loads.pulls(some).moment)
    for joint in [knee for knee in knees if knee in across]:
        left = segment_axes[joint][some, 2] * (1.0 if side_of(joint) == "r" else -1.0)
        arm = np.einsum("tnx,tx->tn", across[joint][:, others], left).mean(axis=0)
        if named := [names[m] for m in others[arm > EXTENDS]]:
            yield (
                f"Muscles that extend {joint} and are not known by name as heads of the quadriceps: {few(named, 4)}. "
                "Their whole tension pulls at the shank, not the tension of the patellar ligament, and they press "
                "no patella. Names such as vas_med_r or R_RectFem are known."
            )


OF_ANALYSIS = ("file_changed", "gait_events", "muscle_parameters", "remark")
"""Codes of warnings of an analysis that the checks of the recording or model do not report."""


def assemble(
    analysis: MeasuredAnalysis, examined: Sequence[Finding] | None = None, paths: bool = True
) -> xr.Dataset:
    """Label all numbers of an analysis, with units and provenance.

    examined: findings on the recording or model; None without a check, and then the warnings of the analysis itself
    take their place. paths: whether the paths of the muscles, for pictures, are in the result.
    """
    body, parts = analysis.body, analysis.parts
    labels = labels_of(body, analysis, paths)
    emg, channels = emg_labels(analysis)
    fascicles, columns = fascicle_labels(analysis)
    knees = knee_labels(analysis, labels.segment_axes)
    variables: dict[str, Variable] = in_files(
        {
            **_of_dofs(analysis),
            **_of_muscles(analysis),
            **_of_sides(analysis),
            **_components(analysis, labels.segment_axes),
            **knees.variables,
            **balance_error(analysis),
            **emg,
            **fascicles,
            **labels.variables,
        }
    )
    known = {ANALYSIS: analysis} | {name: values[1] for name, values in variables.items()}
    variables |= {
        name: (QUANTITIES[name].dims, values) for name, values in by_formula(known, "result").items()
    }
    coordinates = {
        "time": ("time", body.time, {"units": "s"}),
        "dof": list(body.dofs),
        "muscle": list(body.muscles),
        "side": list(analysis.sides),
        "axis": list("xyz"),
        **channels,
        **columns,
        **labels.coordinates,
    }
    if body.joints:
        coordinates |= {"joint": list(body.joints)}
    if "contact_force_component" in variables:
        coordinates |= {"direction": list(DIRECTIONS)}
    # largest number of iterations of a motion with elastic tendons, by side: "r 31"
    iterations = {
        side: [
            int(np.max(part.solution.iterations, initial=0))
            for part in analysis.of_side(side)
            if part.tendons is not None
        ]
        for side in analysis.sides
    }
    most = [f"{side} {max(counts)}" for side, counts in iterations.items() if counts]
    notes = [*labels.notes, *knees.notes, *followed_notes(analysis)]
    warnings = [note for note in notes if isinstance(note, WarningNote)]
    new = [note for note in warnings if examined is None or note.code in OF_ANALYSIS]
    stated = {entry.what for entry in examined or ()}
    findings = [*(examined or ()), *(_of_warning(note) for note in new if note not in stated)]
    first = [entry.line for entry in findings if entry.severity != "note"]
    attributes = {
        "musclesolve_version": __version__,
        "cost": parts[0].solution.cost_name,
        "solver": ", ".join(dict.fromkeys(part.solution.solver for part in parts if part.solution.solver)),
        "tendon": analysis.sharing.tendon,
        **({"stationary_only": 1} if any(part.solution.stationary_only for part in parts) else {}),
        **({"least_activation": least} if (least := analysis.sharing.least_activation) else {}),
        **({"motion_iterations": most} if most else {}),
        "shared_dofs": sorted((dof for part in parts for dof in part.part.shared), key=body.dofs.index),
        **labels.attributes,
        **knees.attributes,
        FINDINGS: json.dumps([entry.as_dict() for entry in findings]),
        **({"warnings": first} if first else {}),
        "notes": [str(note) for note in notes if not isinstance(note, WarningNote)],
    }
    attributes = {key: storable(value) for key, value in attributes.items()}
    result = xr.Dataset(variables, coordinates, attributes)
    result["status"].attrs |= status_flags()
    for name in result.data_vars:
        quantity = QUANTITIES[str(name)]
        result.variables[name].attrs |= quantity.attrs
        if labels.translates and quantity.translation:
            result[name].attrs["units"] = f"{quantity.units}; {quantity.translation} of a translation"
    return result


def _of_warning(note: WarningNote) -> Finding:
    """Make a finding of a warning of the analysis."""
    code = note.code if "sentence" in texts()[note.code].get("what", "") else "remark"
    entry = finding(code, "warning", {"sentence": str(note)})
    return replace(entry, code=note.code, remedy=note.remedy or entry.remedy)


def _of_dofs(analysis: MeasuredAnalysis) -> dict[str, Variable]:
    """Motion and moments, and the moments that muscles do not produce; NaN without muscles.

    The remaining moment is a reserve where the moment is shared among muscles, otherwise an unassigned moment; the
    respective other variable is zero.
    """
    body, row = analysis.body, {name: k for k, name in enumerate(analysis.body.dofs)}
    moment = body.moment
    reserve, unassigned = (unknown(moment.shape) for _ in range(2))

    def moments(arm: Array, tension: Array) -> Array:
        return np.asarray(np.einsum("tkm,tm->tk", in_memory(arm), tension))

    for part in analysis.parts:
        rows, shared = [row[dof] for dof in part.part.dofs], [row[dof] for dof in part.part.shared]
        of_muscles = in_blocks(moments, part.state.moment_arm, part.tension)
        for some in blocks(len(moment)):
            left, lacking = moment[some][:, rows] - of_muscles[some], part.solution.reserve[some]
            unassigned[some, rows], reserve[some, rows] = left, np.where(np.isfinite(left), 0.0, np.nan)
            unassigned[some, shared], reserve[some, shared] = (
                np.where(np.isfinite(lacking), 0.0, np.nan),
                lacking,
            )
    arrays = {
        "joint_angle": body.angle,
        "joint_moment": moment,
        "joint_power": in_blocks(np.multiply, moment, body.speed),
        "reserve_moment": reserve,
        "unassigned_moment": unassigned,
    }
    return {name: (("time", "dof"), values) for name, values in arrays.items()}


def _of_muscles(analysis: MeasuredAnalysis) -> dict[str, Variable]:
    """Return the variables of muscles and joints of the shared parts, with moment arms and ranges of the fibers."""
    parts, joints = analysis.parts, analysis.body.joints
    rigid = any(part.tendons is None for part in parts)

    def over_joints(arrays: Sequence[Array]) -> Array:
        whole = unknown((*arrays[0].shape[:-1], len(joints)))
        for part, array in zip(parts, arrays, strict=True):
            of_part = () if part.part.loads is None else part.part.loads.joints
            whole[..., [joints.index(joint) for joint in of_part]] = array
        return whole

    variables: dict[str, Variable] = {
        name: (quantity.dims, of_parts(name, parts, analysis.over_muscles, over_joints))
        for name, quantity in QUANTITIES.items()
        if quantity.part
        and (joints or "joint" not in quantity.dims)
        and not (rigid and quantity.part.startswith("tendons"))
    }
    variables["moment_arm"] = (("time", "dof", "muscle"), analysis.moment_arm)
    if all(part.state.parameters.families for part in parts):
        power = analysis.over_muscles([metabolic_power(analysis, part) for part in parts])
        variables["metabolic_power"] = (("time", "muscle"), power)
    for name, lengths in zip(("least", "greatest"), fiber_range(analysis), strict=True):
        variables[f"{name}_normalized_fiber_length"] = (("muscle",), lengths)
    return variables


def _of_sides(analysis: MeasuredAnalysis) -> dict[str, Variable]:
    """Status (the worst of its parts), certificate and cost of each side."""
    of_sides = [[part.solution for part in analysis.of_side(side)] for side in analysis.sides]
    combined: dict[str, tuple[str, Callable[..., AnyArray]]] = {
        "status": ("status", np.max),
        "valid": ("solved", np.all),
        "gap": ("gap", np.max),
        "moment_error": ("moment_error", np.max),
        "cost": ("cost", np.sum),
        "cost_bound": ("cost_bound", np.sum),
    }
    variables: dict[str, Variable] = {}
    for name, (field, combine) in combined.items():
        columns = [combine([getattr(solution, field) for solution in side], axis=0) for side in of_sides]
        variables[name] = (("time", "side"), np.stack(columns, axis=1))
    return variables


def _components(analysis: MeasuredAnalysis, segment_axes: dict[str, Array]) -> dict[str, Variable]:
    """Forces at the joints with muscle forces, in the axes of a segment."""
    joints = analysis.body.joints
    if not joints or not segment_axes:
        return {}
    contact = {name: force for part in analysis.parts for name, force in part.contact_force.items()}
    components = unknown((len(analysis.body.time), len(joints), len(DIRECTIONS)))
    along = partial(np.einsum, "tdx,tx->td")
    for number, joint in enumerate(joints):
        if joint in segment_axes:
            components[:, number] = in_blocks(along, segment_axes[joint], contact[joint])
    return {"contact_force_component": (("time", "joint", "direction"), components)}


def judged_result(
    body: MeasuredBody, findings: Sequence[Finding], progress: Progress | None = None
) -> xr.Dataset:
    """Share the moments of a body, label the result with the findings on the trial, and judge it."""
    return with_verdict(shared_result(body, findings, progress))


def shared_result(
    body: MeasuredBody, findings: Sequence[Finding], progress: Progress | None = None, paths: bool = True
) -> xr.Dataset:
    """Share the moments of a body, and label the result with the findings on the trial; paths: as of `assemble`."""
    report = progress or no_progress
    analysis = share(body, progress=report)
    report("result", 1.0)
    return assemble(analysis, without_remarks(findings), paths)


def without_remarks(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without the notes of the analysis, which a result states in its `notes`.

    The examination analyzes the repaired recording, whose notes have other numbers than the notes of the result.
    """
    return [entry for entry in findings if (entry.code, entry.severity) != (REMARK, "note")]
