"""Folders of AddBiomechanics and OpenCap: trials with model, coordinates, moments or loads, and subject.

AddBiomechanics (keenon/AddBiomechanics, server/engine): `Models/`, `IK/NAME_ik.mot`, `ID/NAME_id.sto`,
`ID/NAME_grf.mot`, `ID/NAME_external_forces.xml`, and `_subject.json` in folders with the uploaded files.

OpenCap (stanfordnmbl/opencap-processing): `sessionMetadata.yaml`, `OpenSimData/Model/NAME_scaled.osim`,
`OpenSimData/Kinematics/NAME.mot`; cameras measure no ground forces. Its scripts write results to `MeasuredForces/NAME/`
and `OpenSimData/InverseDynamics/NAME/NAME.sto` (Examples/ForcePlateIntegration). The data of its validation (simtk.org,
opencap) have `ForceData/NAME_forces.mot` and `Model/`, `IK/` and `ID/` in `OpenSimData/Mocap/` for the markers, in
folders of `OpenSimData/Video/` for the cameras.

This module finds the trials that can be shared; faults of a file are found when it is read.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from musclesolve.constants import PREDICTED
from musclesolve.errors import InputError
from musclesolve.laboratory.recording.trial_settings import SubjectSettings
from musclesolve.tables.settings import settings_of
from musclesolve.tables.text_file import STORAGE, read_lines

NO_FORCES = "no ground forces: muscle forces need them, or joint moments"
WITHOUT_PLATES = "Its folder has no forces: ground reactions are predicted from the motion"
NO_MODEL = "no model (.osim) belongs to it"
ADDBIOMECHANICS, OPENCAP = "AddBiomechanics", "OpenCap"
METADATA = "sessionMetadata.yaml"
SUBJECT_FILE = "_subject.json"
SUBJECT_FILES = METADATA, SUBJECT_FILE
_MODELS = (
    "match_markers_and_physics",
    "final",
    "optimized_scale_and_markers",
    "match_markers_but_ignore_physics",
)
"""Models of AddBiomechanics, from the last processing pass to the first: present and earlier names."""
_COORDINATES, _LOADS, _MOMENTS = "_ik.mot", ("_external_forces.xml", "_grf.mot"), "_id.sto"
_STANDING = ("neutral", "static", "calibration")
"""OpenCap's name of the standing trial."""
_KINEMATICS, _DYNAMICS = ("Kinematics", "IK"), ("InverseDynamics", "ID")
_SYNCHRONIZED = "sync"
_NUMBERS = {"massKg": "mass_kg", "heightM": "stature_m", "ageYears": "age_years"}
_NUMBERS |= {"mass_kg": "mass_kg", "height_m": "stature_m", "age": "age_years"}
_SEXES = dict.fromkeys(("m", "male", "man"), "male") | dict.fromkeys(("f", "female", "w", "woman"), "female")
_UNKNOWN = ("", "none", "null", "~", "unknown")
_LINE = re.compile(r"^(?P<key>\w+)\s*:\s*(?P<value>[^#]*)")


@dataclass(frozen=True)
class ServiceTrial:
    """A trial from a service; reason: why muscle forces cannot be computed, "" if they can.

    loads: their file, or "predicted" without loads and moments. subject: stated values of the subject, by the keys of
    trial files; notes: for users of the trial.
    """

    name: str
    coordinates: Path
    model: Path | None = None
    moments: Path | None = None
    loads: Path | str | None = None
    subject: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def source(self) -> dict[str, Path | str]:
        """Files of the trial by the keys of [files] of a trial file."""
        keys = ("model", "coordinates", "moments", "loads")
        return {key: path for key in keys if (path := getattr(self, key)) is not None}


def service_of(folder: Path) -> str:
    """The service from which a folder comes; "" for another folder."""
    if (folder / "Models").is_dir() and _files(folder / "IK", (_COORDINATES,)):
        return ADDBIOMECHANICS
    if _kinematics(folder):
        return OPENCAP
    return ""


def service_trials(folder: Path) -> list[ServiceTrial]:
    """The trials of a folder of one of the services, in the order of their names; empty for another folder."""
    kinds = {ADDBIOMECHANICS: _addbiomechanics, OPENCAP: _opencap}
    service, about = service_of(folder), subject_of(folder)
    return kinds[service](folder, {} if about is None else about.facts) if service else []


def _addbiomechanics(folder: Path, subject: Mapping[str, Any]) -> list[ServiceTrial]:
    models = {path.stem: path for path in _files(folder / "Models", (".osim",))}
    model = next((models[name] for name in _MODELS if name in models), next(iter(models.values()), None))
    trials = []
    for coordinates in _files(folder / "IK", (_COORDINATES,)):
        name = coordinates.name.removesuffix(_COORDINATES)
        loads = next((path for end in _LOADS if _is_complete(path := folder / "ID" / f"{name}{end}")), None)
        moments = folder / "ID" / f"{name}{_MOMENTS}"
        trials.append(
            _trial(name, coordinates, model, moments if moments.is_file() else None, loads, subject)
        )
    return trials


def _opencap(folder: Path, subject: Mapping[str, Any]) -> list[ServiceTrial]:
    measured = [*_files(folder / "ForceData", STORAGE), *_files_below(folder / "MeasuredForces", STORAGE)]
    # of several, the one that was brought to the clock of the cameras
    measured.sort(key=lambda path: _SYNCHRONIZED not in path.stem.casefold())
    described = _files(folder / "ForceData", (".xml",))
    trials, homes = [], _kinematics(folder)
    for place in homes:
        home = place.parent
        models = _files_below(home / "Model", (".osim",))
        model = next((path for path in models if path.stem.endswith("_scaled")), next(iter(models), None))
        computed = [path for name in _DYNAMICS for path in _files_below(home / name, STORAGE)]
        external = [
            *described,
            *(path for name in _DYNAMICS for path in _files_below(home / name, (".xml",))),
        ]
        for coordinates in _files_below(place, (".mot",)):
            name = coordinates.stem
            if name.casefold().startswith(_STANDING):
                continue
            xml = (path for path in external if _belongs_to(path, name, ("setup_externalloads", "external")))
            grf = (path for path in measured if _belongs_to(path, name, ("forces", "grf")))
            loads = next((path for path in (*xml, *grf) if _is_complete(path)), None)
            moments = next((path for path in computed if _belongs_to(path, name, ("id",))), None)
            called = (
                name if len(homes) == 1 else "_".join((name, *home.relative_to(folder / "OpenSimData").parts))
            )
            trial = _trial(called, coordinates, model, moments, loads, subject)
            if (
                loads is not None
                and "mocap" not in str(home).casefold()
                and _SYNCHRONIZED not in loads.stem.casefold()
            ):
                trial = replace(trial, notes=(f"check that {loads.name} is on the clock of the cameras",))
            trials.append(trial)
    return trials


def _kinematics(folder: Path) -> list[Path]:
    """The folders with coordinates of a session of OpenCap: from cameras, and from the markers of its validation."""
    data = folder / "OpenSimData"
    folders = [path for name in _KINEMATICS for path in data.rglob(name) if path.is_dir()]
    return sorted(path for path in folders if (path.parent / "Model").is_dir() or path.parent == data)


def _trial(
    name: str,
    coordinates: Path,
    model: Path | None,
    moments: Path | None,
    loads: Path | None,
    subject: Mapping[str, Any],
) -> ServiceTrial:
    """A trial with its loads, which also determine contact forces, else with its moments, else without plates."""
    if model is not None and loads is None and moments is None:
        return ServiceTrial(name, coordinates, model, None, PREDICTED, subject, "", (WITHOUT_PLATES,))
    reason = NO_MODEL if model is None else ""
    return ServiceTrial(name, coordinates, model, None if loads else moments, loads, subject, reason)


@dataclass(frozen=True)
class StatedSubject:
    """A file that states facts on the subject, such as a setup of OpenSim's scale tool, by keys of trial files.

    faults: key -> what the file states there and why it is not taken, "" for a fault of the whole file.
    """

    path: Path
    facts: Mapping[str, Any]
    faults: Mapping[str, str] = field(default_factory=dict)


def subject_of(folder: Path) -> StatedSubject | None:
    """The subject that a folder of one of the services states; None without one.

    AddBiomechanics: beside the results, or in the folder that they were unpacked into.
    """
    kept = {
        ADDBIOMECHANICS: (folder / SUBJECT_FILE, folder.parent / SUBJECT_FILE),
        OPENCAP: (folder / METADATA,),
    }
    return next((stated_subject(path) for path in kept.get(service_of(folder), ()) if path.is_file()), None)


def subjects_in(places: Iterable[Path]) -> list[StatedSubject]:
    """Return the subjects that files of the services state in some folders."""
    paths = (place / name for place in places for name in SUBJECT_FILES)
    return [stated_subject(path) for path in paths if path.is_file()]


def stated_subject(path: Path) -> StatedSubject:
    """Return the subject by `_subject.json` of AddBiomechanics, or by the unindented lines `key: value` of
    `sessionMetadata.yaml` of OpenCap; zero, no value and "unknown" state nothing.
    """
    content: Any = {}
    try:
        lines = read_lines(path)
        matches = (match for line in lines if path.name == METADATA and (match := _LINE.match(line)))
        content = {match["key"]: match["value"].strip().strip("'\"") for match in matches}
        if path.name != METADATA:
            content = json.loads("\n".join(lines))
    except (InputError, ValueError, RecursionError) as reason:
        return StatedSubject(
            path, {}, {"": f"{path.name} cannot be read: {getattr(reason, 'problem', reason)}"}
        )
    content = content if isinstance(content, dict) else {}
    name = content.get("subjectID")
    facts: dict[str, Any] = {"name": name} if name and isinstance(name, str) else {}
    faults, rules = dict[str, str](), settings_of(SubjectSettings)
    for key, setting in _NUMBERS.items():
        rule, value = rules[setting], str(content.get(key)).strip()
        if value.casefold() in _UNKNOWN:
            continue
        try:
            number = float(value)
        except ValueError:
            faults[setting] = f"{path.name} states {key} {value:.40}, which is no number"
            continue
        if rule.contains(number) and number:
            facts[setting] = number
        elif number:
            limits = f"from {rule.minimum:g} to {rule.maximum:g} {rule.unit}"
            faults[setting] = f"{path.name} states {key} {value:.40}, which is not {limits}"
    key = next((key for key in ("gender_mf", "sex", "gender") if content.get(key)), "")
    sex = str(content.get(key)).strip().casefold()
    if sex in _SEXES:
        facts["sex"] = _SEXES[sex]
    elif sex not in _UNKNOWN:
        faults["sex"] = f"{path.name} states {key} {sex:.40}, which is neither female nor male"
    if not facts and not faults:
        faults[""] = f"{path.name} states neither mass, stature, age nor sex"
    return StatedSubject(path, facts, faults)


def _belongs_to(path: Path, trial: str, words: Iterable[str]) -> bool:
    """Whether a file is of a trial: in a folder of its name, or with its name, perhaps before one of the words."""
    stem, name = path.stem.casefold(), trial.casefold()
    if path.parent.name.casefold() == name:
        return path.suffix != ".xml" or stem.startswith(tuple(words))
    return stem == name or (stem.startswith(f"{name}_") and any(word in stem[len(name) :] for word in words))


def data_file(path: Path) -> Path | None:
    """Return the path of the data file that an ExternalLoads file names; None if the file names none."""
    match = re.search(r"<datafile>\s*([^<]*?)\s*</datafile>", "\n".join(read_lines(path)))
    return path.parent / match[1].replace("\\", "/") if match and match[1] else None


def _is_complete(path: Path) -> bool:
    """Whether a file exists, with its data file."""
    if not path.is_file() or path.suffix.casefold() != ".xml":
        return path.is_file()
    data = data_file(path)
    return data is not None and data.is_file()


def _files(folder: Path, ends: tuple[str, ...]) -> list[Path]:
    """Files of a folder whose names end in one of some texts; empty without the folder."""
    inside = sorted(folder.iterdir()) if folder.is_dir() else []
    return [
        path
        for path in inside
        if path.is_file() and path.name[0] != "." and path.name.casefold().endswith(ends)
    ]


def _files_below(folder: Path, ends: tuple[str, ...]) -> list[Path]:
    """The files of these endings in a folder and the folders in it."""
    inside = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    return [path for place in (folder, *inside) for path in _files(place, ends)]
