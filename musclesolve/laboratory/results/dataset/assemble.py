"""An analysis as one labeled Dataset: labels of every body, labels of recordings or models, and labels of the knees
(medial, lateral and patellofemoral contact force).
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array, Mask, by_name, dot, slices
from musclesolve._util.messages import REMARK, Progress, WarningNote, few, no_progress
from musclesolve._util.processes import return_memory
from musclesolve._util.sides import SIDE_NAMES, joint_kind, side_of
from musclesolve.laboratory.bodies.emg_informed import followed_notes, follows_emg
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis, MeasuredBody
from musclesolve.laboratory.bodies.recorded_body import RecordedBody, WindowedParts
from musclesolve.laboratory.results.cycles.movement_landmarks import heel_strikes
from musclesolve.laboratory.results.dataset.checked import MODEL
from musclesolve.laboratory.results.dataset.labels import DIRECTIONS, Labels, Variable
from musclesolve.laboratory.results.dataset.muscle_labels import (
    balance_error,
    emg_labels,
    fascicle_labels,
    fiber_range,
)
from musclesolve.laboratory.results.dataset.quantities import ANALYSIS, QUANTITIES, by_formula, of_parts
from musclesolve.laboratory.results.dataset.recording_labels import (
    WholeMotion,
    frame_labels,
    recording_axes,
    recording_labels,
    whole_labels,
)
from musclesolve.laboratory.results.dataset.result_quantities import storable
from musclesolve.laboratory.results.dataset.windows import FileStore, FrameStore, WindowedAnalysis
from musclesolve.laboratory.results.finding import FINDINGS, Finding, finding, texts
from musclesolve.laboratory.results.movement import RUNNING, WALKING, SeenMotion, movement
from musclesolve.laboratory.results.plausibility import with_verdict
from musclesolve.models.body import BLOCK, Body, SharingGroup, metabolic_power
from musclesolve.models.body_sharing import share
from musclesolve.models.knee import ContactSpacing, compartments, quadriceps
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


@dataclass(frozen=True)
class Knees:
    """The knees in some frames: their variables, and the frames (T,) in which one of the two contacts is lifted.

    lifted: by the number of the part and the joint, of knees whose contacts are a known distance apart.
    """

    variables: dict[str, Variable]
    lifted: dict[tuple[int, str], Mask]


def knee_variables(analysis: MeasuredAnalysis, segment_axes: dict[str, Array]) -> Knees:
    """Variables of the knees over time and side, NaN for a side without a knee, and lift-off.

    The external knee adduction moment is -M . (e_axial x e_medial), with the net moment M on the shank about the knee
    center, muscle forces not included, and the unit vectors of `DIRECTIONS` of the shank: about their cross product the
    distal end turns to the median plane. Empty where no force at a knee is known.
    """
    variables, lifted, sides = dict[str, Variable](), dict[tuple[int, str], Mask](), analysis.sides
    spacing = _spacing(analysis.body, segment_axes)

    def store(name: str, joint: str, force: Array) -> None:
        """Store one column of a variable."""
        none = np.full((len(analysis.body.time), len(sides)), np.nan)
        variables.setdefault(name, (("time", "side"), none))[1][:, sides.index(side_of(joint))] = force

    missing = set(sides)
    for number, part in enumerate(analysis.parts):
        for joint, force in part.patellofemoral_force.items():
            if side_of(joint) in sides:
                store("patellofemoral_force", joint, np.linalg.norm(force, axis=1))
        for joint in sorted(part.contact_force, key=lambda joint: joint not in spacing):
            if joint_kind(joint) == "knee" and side_of(joint) in missing and joint in segment_axes:
                missing.remove(side_of(joint))
                axial, _, medial_axis = np.moveaxis(segment_axes[joint], 1, 0)
                assert part.part.loads is not None
                moment = by_name(part.part.loads.joints, part.part.loads.net_moment)[joint]
                store("knee_adduction_moment", joint, -dot(moment, np.cross(axial, medial_axis)))
        for joint in spacing.keys() & part.contact_force.keys():
            if side_of(joint) not in sides:
                continue
            loads = part.contact_force[joint], part.contact_moment[joint], segment_axes[joint]
            medial, lateral, lifted[number, joint] = compartments(*loads, spacing=spacing[joint].distance)
            store("knee_contact_medial", joint, medial)
            store("knee_contact_lateral", joint, lateral)
    return Knees(variables, lifted)


def _spacing(body: Body, joints: Collection[str]) -> dict[str, ContactSpacing]:
    """Distance between the contacts of the knees among some joints."""
    return {joint: apart for joint, apart in body.contact_spacing.items() if joint in joints}


def knee_labels(
    analysis: MeasuredAnalysis, knees: Knees, sampled: Sequence[SharingGroup], axes: dict[str, Array]
) -> Labels:
    """Labels of the knees: their variables, contact spacing and lift-off.

    sampled, axes: the parts and the axes of `DIRECTIONS` in `SAMPLED` frames or a few more.
    """
    spacing = _spacing(analysis.body, axes)
    notes = [note for part in sampled for note in unrecognized(part, axes, spacing)]
    for (number, joint), lifted in knees.lifted.items():
        column, solution = analysis.sides.index(side_of(joint)), analysis.parts[number].solution
        names = "knee_contact_medial", "knee_contact_lateral"
        medial, lateral = (knees.variables[name][1][:, column] for name in names)
        bearing = solution.solved & (medial + lateral > BEARING * np.nanmax(medial + lateral, initial=0.0))
        if count := int((lifted & bearing).sum()):
            notes.append(
                f"In {count} of the {int(bearing.sum())} frames with a large contact force, the "
                f"{SIDE_NAMES[side_of(joint)]} knee carries the whole force on one side. The other contact cannot "
                "pull. Ligaments carry the rest of the frontal moment."
            )
    stated = [f"{joint} {apart.distance:.4f} m, {apart.origin}" for joint, apart in spacing.items()]
    return Labels(knees.variables, {}, {"knee_contact_spacing": stated} if stated else {}, notes)


def sampled_frames(frames: int) -> slice:
    """`SAMPLED` of so many frames, or a few more, evenly."""
    return slice(None, None, max(frames // SAMPLED, 1))


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


def unrecognized(part: SharingGroup, segment_axes: dict[str, Array], knees: Collection[str]) -> Iterator[str]:
    """Yield a sentence on knee extensors whose names are not names of heads of the quadriceps."""
    names, loads = part.state.parameters.names, part.loads
    others = np.delete(np.arange(len(names)), quadriceps(names))
    if loads is None or not set(knees) & set(loads.joints):
        return
    across = by_name(loads.joints, loads.all_pulls.moment)
    for joint in [knee for knee in knees if knee in across]:
        left = segment_axes[joint][:, 2] * (1.0 if side_of(joint) == "r" else -1.0)
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
    labels = labels_of(analysis.body, analysis, paths)
    some, axes = sampled_frames(len(analysis.body.time)), labels.segment_axes
    sampled = [part.part.frames(some, loaded=bool(axes)) for part in analysis.parts]
    of_sampled = {joint: directions[some] for joint, directions in axes.items()}
    knees = knee_labels(analysis, knee_variables(analysis, axes), sampled, of_sampled)
    return labeled(analysis, labels, knees, frame_variables(analysis, axes), examined)


def frame_variables(analysis: MeasuredAnalysis, axes: dict[str, Array]) -> dict[str, Variable]:
    """The variables of every body whose frames do not depend on each other; axes: see `Labels.segment_axes`."""
    return {
        **_of_dofs(analysis),
        **_of_actuators(analysis),
        **_of_muscles(analysis),
        **_of_sides(analysis),
        **_components(analysis, axes),
    }


def labeled(
    analysis: MeasuredAnalysis,
    labels: Labels,
    knees: Labels,
    of_frames: dict[str, Variable],
    examined: Sequence[Finding] | None,
) -> xr.Dataset:
    """The dataset of an analysis from its `frame_variables` and labels, with what follows from the whole motion."""
    body, parts = analysis.body, analysis.parts
    emg, channels = emg_labels(analysis)
    fascicles, columns = fascicle_labels(analysis)
    ends = zip(("least", "greatest"), fiber_range(analysis), strict=True)
    variables: dict[str, Variable] = {
        **of_frames,
        **{f"{name}_normalized_fiber_length": (("muscle",), lengths) for name, lengths in ends},
        **knees.variables,
        **balance_error(analysis),
        **emg,
        **fascicles,
        **labels.variables,
    }
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
    if columns_of := [part.part.actuators for part in parts if part.part.actuators is not None]:
        coordinates["actuator"] = [name for of_part in columns_of for name in of_part.names]
        units = [unit for of_part in columns_of for unit in of_part.units]
        coordinates["actuator_units"] = ("actuator", units)
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
    reserve, unassigned = (np.full(moment.shape, np.nan) for _ in range(2))
    for part in analysis.parts:
        rows, shared = [row[dof] for dof in part.part.dofs], [row[dof] for dof in part.part.shared]
        lacking = part.solution.reserve
        # the order of the sums depends on that of the numbers in memory
        arm = np.ascontiguousarray(part.state.moment_arm)
        left = moment[:, rows] - np.einsum("tkm,tm->tk", arm, part.tension)
        if (borne := part.actuator_moment) is not None:
            left -= borne
        unassigned[:, rows], reserve[:, rows] = left, np.where(np.isfinite(left), 0.0, np.nan)
        unassigned[:, shared], reserve[:, shared] = np.where(np.isfinite(lacking), 0.0, np.nan), lacking
    arrays = {
        "joint_angle": body.angle,
        "joint_moment": moment,
        "joint_power": moment * body.speed,
        "reserve_moment": reserve,
        "unassigned_moment": unassigned,
    }
    return {name: (("time", "dof"), values) for name, values in arrays.items()}


def _of_actuators(analysis: MeasuredAnalysis) -> dict[str, Variable]:
    """Forces of actuators beside the muscles, and their moments at all degrees of freedom; none without any."""
    acting = [part for part in analysis.parts if part.actuator_force is not None]
    if not acting:
        return {}
    row = {name: k for k, name in enumerate(analysis.body.dofs)}
    moment = np.zeros_like(analysis.body.moment)
    for part in acting:
        moment[:, [row[dof] for dof in part.part.dofs]] = part.actuator_moment
    forces = [part.actuator_force for part in acting if part.actuator_force is not None]
    return {
        "actuator_moment": (("time", "dof"), moment),
        "actuator_force": (("time", "actuator"), np.concatenate(forces, axis=1)),
    }


def _of_muscles(analysis: MeasuredAnalysis) -> dict[str, Variable]:
    """Return the variables of muscles and joints of the shared parts, with moment arms."""
    parts, joints = analysis.parts, analysis.body.joints
    rigid = any(part.tendons is None for part in parts)

    def over_joints(arrays: Sequence[Array]) -> Array:
        whole = np.full((*arrays[0].shape[:-1], len(joints)), np.nan)
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
    components = np.full((len(analysis.body.time), len(joints), len(DIRECTIONS)), np.nan)
    for number, joint in enumerate(joints):
        if joint in segment_axes:
            components[:, number] = np.einsum("tdx,tx->td", segment_axes[joint], contact[joint])
    return {"contact_force_component": (("time", "joint", "direction"), components)}


def judged_result(
    body: MeasuredBody, findings: Sequence[Finding], progress: Progress | None = None
) -> xr.Dataset:
    """Share the moments of a body, label the result with the findings on the trial, and judge it."""
    return with_verdict(shared_result(body, findings, progress))


def shared_result(
    body: MeasuredBody,
    findings: Sequence[Finding],
    progress: Progress | None = None,
    paths: bool = True,
    folder: Path | None = None,
) -> xr.Dataset:
    """Share the moments of a body, and label the result with the findings on the trial; paths: as of `assemble`.

    folder: for a file with the wide variables of a long recording, from which the result reads them as long as the
    file is there. Unless given, they lie in memory.
    """
    report = progress or no_progress
    return_memory(len(body.time))
    if isinstance(body, RecordedBody) and by_windows(body):
        return windowed_result(body, without_remarks(findings), report, paths, folder)
    analysis = share(body, progress=report)
    return_memory(len(body.time))
    report("result", 1.0)
    return with_steps(assemble(analysis, without_remarks(findings), paths))


def with_steps(result: xr.Dataset) -> xr.Dataset:
    """State the heel strikes of a model that walks or runs: from its loads and, where no load shows them, its motion.

    Figures then have the gait cycle of each leg, as figures of a recording have.
    """
    if MODEL not in result.attrs or "ground_reaction_force" not in result:
        return result
    if movement(SeenMotion(result)).name in (WALKING, RUNNING):
        strikes = {side: heel_strikes(result, side) for side in SIDE_NAMES if side in result["side"].values}
        result.attrs |= {f"heel_strike_times_{side}": times for side, times in strikes.items() if times.size}
    return result


def without_remarks(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without the notes of the analysis, which a result states in its `notes`.

    The examination analyzes the repaired recording, whose notes have other numbers than the notes of the result.
    """
    return [entry for entry in findings if (entry.code, entry.severity) != (REMARK, "note")]


def by_windows(body: RecordedBody) -> bool:
    """Whether the result of a recording is made window by window: it is long, and its frames are shared one by one."""
    long = isinstance(body.parts, WindowedParts)
    return long and not body.sharing.elastic and not follows_emg(body.sharing.cost)


def windowed_result(
    body: RecordedBody,
    examined: Sequence[Finding],
    progress: Progress,
    paths: bool = True,
    folder: Path | None = None,
) -> xr.Dataset:
    """Share the moments of a long recording and label its result, window by window.

    What a frame needs of other frames is known before: landmarks are filtered, poses fitted, joint coordinates
    differentiated and moments judged over the whole recording, in arrays of a few hundred numbers a frame. What takes
    twenty times as much, the poses of all bodies, paths and states of the muscles, their pulls at the joints, the
    problem of sharing and its labels, depends on no other frame. It is made in windows of `BLOCK` frames and dropped
    when its numbers are stored. A window needs no margin, and equals the result of all frames together, bit for
    bit. Afterward the whole motion is described: `WindowedAnalysis` has what that needs.
    """
    frames, whole = len(body.time), WholeMotion.from_body(body, paths)
    store = FrameStore(frames) if folder is None else FileStore(frames, folder / "frames.nc")
    kept, coordinates, axes = WindowedAnalysis(body), dict[str, object](), dict[str, Array]()
    for window in slices(frames, BLOCK):
        progress("sharing", 0.5 + 0.45 * window.start / frames)
        some = body.frames(window)
        shared, axes = share(some), recording_axes(some)
        knees = knee_variables(shared, axes)
        labels, coordinates = frame_labels(some, shared.sides, whole)
        variables = {**frame_variables(shared, axes), **knees.variables, **labels}
        known = {ANALYSIS: shared} | {name: values[1] for name, values in variables.items()}
        formulas = by_formula(known, "result").items()
        store.put(window, variables | {name: (QUANTITIES[name].dims, values) for name, values in formulas})
        kept.put(window, shared, knees.lifted)
        names = list(labels), list(knees.variables)
        del some, shared, knees, labels, variables, known, formulas  # before the next window is made
        if window.stop % (8 * BLOCK) == 0 or window.stop >= frames:
            return_memory(frames)
    progress("result", 1.0)
    analysis, stored = kept.analysis, store.finished()
    few_frames = body.frames(np.arange(frames)[sampled_frames(frames)])
    of_knees = {name: stored[name] for name in names[1]}
    labels_of_knees = knee_labels(
        *(analysis, Knees(of_knees, kept.lifted), few_frames.parts, recording_axes(few_frames))
    )
    of_body = whole_labels(body, analysis, ({name: stored[name] for name in names[0]}, coordinates), {})
    return labeled(analysis, of_body, labels_of_knees, stored, examined)
