"""Conversion of a B3D file to a folder as from AddBiomechanics: models, coordinates, loads, moments.

The model comes from the last processing pass. The wrench (M, F) on a contact body, about the origin of the ground, is
written as a force at the point p of height h with a moment T about the vertical alone, M = p x F + T e_y:

    p_x = (M_z + h F_x) / F_y,   p_z = (h F_z - M_x) / F_y,   T = M_y - (p_z F_x - p_x F_z),

where h is the height of the force plates; with less vertical force than `LOADED_FROM_N` p is the origin of the body,
and T has three components. Frames with missing ground forces by the service are left out of the loads and moments, so
that they count as not measured (`musclesolve._util.splines` defines the gaps that are filled).

The moments of the service include the residual at the root of its model. If it is more than `MOST_RESIDUAL` of the
weight, the moments contradict the motion and are not written; some files were computed with gravity along z
(docs/many_trials.md).
"""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.message_text import count_of
from musclesolve._util.names import unknown_name
from musclesolve._util.written_files import HIDDEN, PART
from musclesolve.constants import LOADED_FROM_N, STANDARD_GRAVITY
from musclesolve.errors import file_error
from musclesolve.opensim.b3d import MISSING_FORCES, PASSES, B3DPass, B3DSubject, B3DTrial, read_b3d
from musclesolve.opensim.kinematics import body_motion, coordinate_values
from musclesolve.opensim.model import GROUND, OpenSimModel
from musclesolve.opensim.read_model import known_osim
from musclesolve.opensim.service_folders import NO_FORCES, NO_MODEL, SUBJECT_FILE, ServiceTrial
from musclesolve.recording.data import Table
from musclesolve.recording.text.opensim_text import mot_text
from musclesolve.recording.text.text_file import write_text, writing

MOST_RESIDUAL = 0.25
"""Largest force at the root in written moments, median over the frames as a share of the weight."""
MODEL = Path("Models", "final.osim")
"""Place of the model in the folder of a subject."""
_AXES, _LOADS = "xyz", "_external_forces.xml"


@dataclass(frozen=True)
class UnpackedSubject:
    """The folder of a B3D file and its trials; `ServiceTrial.reason` states why a trial has no muscle forces."""

    folder: Path
    trials: tuple[ServiceTrial, ...]


def found_trial(subject: B3DSubject, name: str) -> B3DTrial:
    """A trial by its name, or by the name of a recording with no other trial."""
    named = [trial for trial in subject.trials if trial.name == name]
    named = named or [trial for trial in subject.trials if trial.original_name == name]
    if len(named) != 1:
        names = [trial.name for trial in named or subject.trials]
        raise unknown_name(name, "trial", names, f" in {subject.path.name}", subject.path)
    return named[0]


def subject_data(subject: B3DSubject) -> dict[str, float | str]:
    """Return the subject by a B3D file, by the keys of trial files."""
    keys = ("mass_kg", "stature_m", "sex", "age_years")
    return {key: value for key in keys if (value := getattr(subject, key)) is not None}


def left_out(subject: B3DSubject, trial: B3DTrial) -> str:
    """Return the reason why muscle forces cannot be computed from a trial of a B3D file; "" if they can.

    Missing ground forces are seen only where the frames of the trial were read.
    """
    if len(trial.time) < 2:
        return f"it has {count_of(len(trial.time), 'frame')}"
    if not _model_text(subject):
        return NO_MODEL
    if not trial.passes:
        return "the service processed none of its passes"
    last, most = trial.passes[-1], _last_pass(subject)
    if last.number < most:
        return f"the service processed it to pass {last.number + 1} of {most + 1} alone ({last.kind})"
    if len(last.wrench) and not last.wrench.any():
        return NO_FORCES
    if trial.missing.all():
        reasons = sorted({_reason(number) for number in trial.missing})
        return f"the service marks its ground forces as missing in every frame ({'; '.join(reasons)})"
    return ""


def unpack_b3d(
    source: str | Path | B3DSubject, folder: str | Path, names: Iterable[str] | None = None
) -> UnpackedSubject:
    """Write a B3D file as a folder of AddBiomechanics: `Models/final.osim`, `IK/`, `ID/`, `_subject.json`.

    Args:
        source: the file, or its content from `read_b3d`. folder: created if missing; files of the same names are
            replaced. names: of trials, or of recordings with all their trials; all trials unless given.

    Raises:
        InputError: the file cannot be read, its model does not fit its numbers, a name is unknown, or the folder cannot
            be written.
    """
    subject = source if isinstance(source, B3DSubject) else read_b3d(source)
    root, known = Path(folder), [trial.name for trial in subject.trials]
    chosen = known if names is None else [found_trial(subject, name).name for name in names]
    for part in ("Models", "IK", "ID"):
        try:
            (root / part).mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise file_error(
                "not_writable",
                root / part,
                f"the folder cannot be made ({fault.strerror or fault})",
                "a place where you may write",
                "name another folder",
            ) from None
    model_path, text, stated = root / MODEL, _model_text(subject), subject_data(subject)
    if not text:
        raise file_error(
            "bad_model",
            subject.path,
            "no processing pass has a model",
            "the .osim text of the last processing pass",
            "process the subject again",
        )
    services = {"mass_kg": "massKg", "stature_m": "heightM", "sex": "sex", "age_years": "ageYears"}
    content = {services[key]: value for key, value in stated.items()}
    about = json.dumps(content | {"subjectTags": subject.tags, "source": subject.path.name}, indent=1)
    for path, shared in ((model_path, text), (root / SUBJECT_FILE, about)):
        _write_shared(path, shared)
    model = known_osim(model_path)
    order = coordinate_order(model, subject)
    files, trials = unpacked_files(subject, root), list[ServiceTrial]()
    for trial in subject.trials:
        if trial.name not in chosen:
            continue
        coordinates, reason = files[trial.name]["coordinates"], left_out(subject, trial)
        loads = moments = None
        notes: list[str] = []
        if len(trial.time) > 1 and trial.passes:
            _write(coordinates, trial.time, order, trial.passes[-1].position, in_degrees=False)
        if not reason:
            loads, measured = files[trial.name]["loads"], trial.missing == 0
            stem = loads.name.removesuffix(_LOADS)
            data = loads.with_name(f"{stem}_grf.mot")
            names_of, columns = contact_columns(model, order, subject, trial)
            _write(data, trial.time[measured], names_of, columns[measured])
            write_text(loads, _description(subject.contact_bodies, data.name))
            notes += _missing_note(trial)
            last, measured_frames = trial.passes[-1], measured & trial.passes[-1].stated
            residual = root_residual(model, order, last)
            if residual <= MOST_RESIDUAL and measured_frames.sum() > 1:
                moments = loads.with_name(f"{stem}_id.sto")
                ends = ["moment" if model.coordinates[name].rotational else "force" for name in order]
                columns_of = [f"{name}_{end}" for name, end in zip(order, ends, strict=True)]
                _write(moments, trial.time[measured_frames], columns_of, last.moment[measured_frames])
            elif last.stated.any():
                notes.append(
                    f"The joint moments of the service are not used: they hold {100.0 * residual:.0f} % of the weight "
                    f"at the root (expected within {100.0 * MOST_RESIDUAL:.0f} %), so that they contradict the ground "
                    "forces; they are computed again from the loads."
                )
            if last.kind == PASSES[0]:
                notes.append(
                    "The service fitted no motion to the ground forces: its last pass is kinematics."
                )
        trials.append(
            ServiceTrial(trial.name, coordinates, model_path, None, loads, stated, reason, tuple(notes))
        )
    return UnpackedSubject(root, tuple(trials))


def unpacked_files(subject: B3DSubject, folder: Path) -> dict[str, dict[str, Path]]:
    """Return the files that `unpack_b3d` writes for each trial, by the keys of [files] of a trial file."""
    names = [trial.name for trial in subject.trials]
    return {
        name: {
            "model": folder / MODEL,
            "coordinates": folder / "IK" / f"{file}_ik.mot",
            "loads": folder / "ID" / f"{file}{_LOADS}",
        }
        for name, file in zip(names, _file_names(names), strict=True)
    }


def _write_shared(path: Path, text: str) -> None:
    """Write a file that all trials of a subject share, unless it is there; several processes may do so at once."""
    content = text.encode("utf-8")
    with writing(path):
        if path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content:
            return
        own = path.with_name(f"{HIDDEN}{os.getpid()}{PART}")
        own.write_bytes(content)
        own.replace(path)


def coordinate_order(model: OpenSimModel, subject: B3DSubject) -> tuple[str, ...]:
    """Coordinates of a model in the order of the numbers of a B3D file.

    The service lists joints outward, each branch to its end, without coupled bodies such as the patella.
    """
    for joint in (angular for angular in model.joints if angular.speeds_are_angular):
        raise file_error(
            "unsupported",
            subject.path,
            f"joint {joint.name} is a {joint.kind}",
            "joints whose coordinates are angles and lengths, such as a CustomJoint",
            "use the folder that the service gives instead of the file",
        )
    coupled, order = {coupler.dependent for coupler in model.couplers}, list[str]()

    def follow(body: str) -> None:
        for joint in model.joints:
            if joint.inboard.body == body:
                order.extend(name for name in joint.coordinates if name not in coupled)
                follow(joint.outboard.body)

    follow(GROUND)
    if len(order) != subject.coordinate_count:
        raise file_error(
            "bad_model",
            subject.path,
            f"the model has {len(order)} coordinates that are not coupled, the frames have "
            f"{subject.coordinate_count}",
            "a number in every frame for each of them",
            "process the subject again, or read the file with nimblephysics",
        )
    return tuple(order)


def contact_columns(
    model: OpenSimModel, order: tuple[str, ...], subject: B3DSubject, trial: B3DTrial
) -> tuple[list[str], Array]:
    """Names and values (T, 9 B) of force [N], point [m] and moment [N m] on each of the B contact bodies."""
    last = trial.passes[-1]
    for body in subject.contact_bodies:
        if body not in model.body_number:
            raise unknown_name(body, "body", model.bodies, f" in {model.name!r}", subject.path)
    pose = body_motion(model, coordinate_values(model, dict(zip(order, last.position.T, strict=True))))
    height, names, parts = _plate_height(trial), list[str](), list[Array]()
    for number, body in enumerate(subject.contact_bodies):
        moment, force = last.wrench[:, number, :3], last.wrench[:, number, 3:]
        point = pose.position[:, model.body_number[body]].copy()
        loaded = force[:, 1] > LOADED_FROM_N
        (mx, _, mz), (fx, fy, fz) = moment[loaded].T, force[loaded].T
        point[loaded] = np.stack(
            [(mz + height * fx) / fy, np.full(len(fy), height), (height * fz - mx) / fy], axis=1
        )
        parts += [force, point, moment - np.cross(point, force)]
        stems = (f"ground_force_{body}_v", f"ground_force_{body}_p", f"ground_torque_{body}_")
        names += [f"{stem}{axis}" for stem in stems for axis in _AXES]
    return names, np.concatenate(parts, axis=1)


def root_residual(model: OpenSimModel, order: tuple[str, ...], last: B3DPass) -> float:
    """Force at the root in the moments of a pass, median over the frames, as a share of the weight."""
    joints = [joint for joint in model.joints if joint.inboard.body == GROUND]
    along = [name for joint in joints for name in joint.coordinates if not model.coordinates[name].rotational]
    columns = [order.index(name) for name in along if name in order]
    size = np.linalg.norm(last.moment[last.stated][:, columns], axis=1)
    return float(np.median(size)) / (model.mass * STANDARD_GRAVITY) if size.size else 0.0


def _plate_height(trial: B3DTrial) -> float:
    """Height of the force plates [m]: of the centers of pressure under load; zero if none is known."""
    last = trial.passes[-1]
    for force, point in ((trial.plate_force, trial.plate_point), (last.force, last.point)):
        loaded = (np.linalg.norm(force, axis=2) > LOADED_FROM_N) & np.isfinite(point).all(axis=2)
        if loaded.any():
            return float(np.median(point[loaded][:, 1]))
    return 0.0


def _missing_note(trial: B3DTrial) -> list[str]:
    """A sentence on omitted frames; empty without any."""
    if not trial.missing.any():
        return []
    numbers, counts = np.unique(trial.missing[trial.missing > 0], return_counts=True)
    counted = ", ".join(f"{_reason(number)}: {count}" for number, count in zip(numbers, counts, strict=True))
    return [
        f"The service marks the ground forces of {counts.sum()} of {len(trial.time)} frames as missing ({counted}). "
        "The loads do not contain them."
    ]


def _reason(number: int) -> str:
    return MISSING_FORCES[number] if 0 <= number < len(MISSING_FORCES) else f"reason {number}"


def _last_pass(subject: B3DSubject) -> int:
    """Number of the last processing pass of all trials."""
    return max((trial.passes[-1].number for trial in subject.trials if trial.passes), default=0)


def _model_text(subject: B3DSubject) -> str:
    """The model of the last processing pass with a model; a pass without changes of the model may have none."""
    texts = [text for text in subject.models[: _last_pass(subject) + 1] if text.strip()]
    return texts[-1] if texts else ""


def _file_names(names: list[str]) -> list[str]:
    """Different names of files for trials."""
    plain = [re.sub(r"[^\w.+-]", "_", name) for name in names]
    return [name if plain.count(name) == 1 else f"{name}_{k + 1}" for k, name in enumerate(plain)]


def _write(
    path: Path, time: Array, names: Iterable[str], values: Array, in_degrees: bool | None = None
) -> None:
    table = Table(time, tuple(names), values, in_degrees, path)
    write_text(path, mot_text(path, table, decimals=None))


def _description(bodies: Iterable[str], data: str) -> str:
    """An ExternalLoads file of OpenSim for the columns of `contact_columns`."""
    forces = "".join(
        f"""
            <ExternalForce name="{escape(body)}">
                <isDisabled>false</isDisabled>
                <applied_to_body>{escape(body)}</applied_to_body>
                <force_expressed_in_body>ground</force_expressed_in_body>
                <point_expressed_in_body>ground</point_expressed_in_body>
                <force_identifier>ground_force_{escape(body)}_v</force_identifier>
                <point_identifier>ground_force_{escape(body)}_p</point_identifier>
                <torque_identifier>ground_torque_{escape(body)}_</torque_identifier>
            </ExternalForce>"""
        for body in bodies
    )
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<OpenSimDocument Version="30000">
    <ExternalLoads name="ground_reactions">
        <objects>{forces}
        </objects>
        <datafile>{escape(data)}</datafile>
    </ExternalLoads>
</OpenSimDocument>
"""
