"""A watched folder: each new recording becomes a trial file, a result and its page, by a template.

The template is the trial file of an earlier recording of the same protocol: same laboratory, marker set and plates. A
new recording has the name of the template's recording but for the part that names the motion, and so have the files
that belong to it: markers = "walk_03.trc", forces = "walk_03_grf.mot" find `walk_07.trc`, and wait for
`walk_07_grf.mot`. The recording of an OpenSim model is the file of its coordinates. The recording of cameras is the
marker table of the first camera of a camera file: each recording gets a camera file, too. Standing and functional
trials and models belong to a session: they are looked for beside the recording, then in the folders above.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import product, takewhile
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from muscle_db.regular_file import file_state
from musclesolve._util.messages import natural_place, suggestion
from musclesolve._util.worker_pool import DONE, RAISED, Helper
from musclesolve.constants import FILE_SETTLED
from musclesolve.errors import BusyError, MuscleSolveError, file_error
from musclesolve.laboratory.draft.folder_contents import (
    bent_joints,
    is_kind_word,
    says_functional,
    says_maximum,
    says_static,
    stands_by_name,
)
from musclesolve.laboratory.files.service_folders import data_file
from musclesolve.laboratory.recording.file_settings import CameraFileSettings
from musclesolve.laboratory.recording.trial_document import of_model, trial_document
from musclesolve.laboratory.recording.trial_settings import RecordedSettings, is_predicted
from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
from musclesolve.laboratory.trial.settings import with_paths
from musclesolve.studies.many_trials.one_trial import Further, Job, leave_message
from musclesolve.studies.many_trials.run_many import find_name, write_table
from musclesolve.studies.many_trials.trial_record import CSV, Outcome, TrialRecord, check_table
from musclesolve.tables.document import Document, examined, tables_text, validated
from musclesolve.tables.text_file import name_from

LOOK = 0.05
"""Interval at which the computing process is checked [s]."""
TASK = ("musclesolve.studies.many_trials.run_many", "attempt_task")
SUBJECT_FILE = "subject.toml"
"""Name of a file with the table [subject] for the recordings in its folder and below."""
Place = tuple[str, str | int]
"""Table and key of a file in a trial file, or table and index of a camera in a camera file."""
OF_MOTION = (*product(("files",), ("forces", "moments", "loads")), *product(("emg", "fascicle"), ("file",)))
"""Table and key of the files that are recorded with each motion."""
OF_ONE = {"time": ("start_s", "end_s", "cycles_s"), "events": None}
"""Table -> keys of a trial file that hold for one recording alone; None: all of them."""
SEPARATORS = "_. -"
"""Characters between the words of a name."""
_WRITTEN = re.compile(r"# Written by `musclesolve watch` from (.*); ([0-9a-f]{16})\n")


@dataclass(frozen=True)
class NamePattern:
    """The names of one kind of file of a motion: `head` + the name of the motion + `tail`, in a folder beside it."""

    head: str
    tail: str
    suffix: str
    folder: str = "."

    def motion(self, path: Path) -> str:
        """The part of the name of a file that names the motion; "" where the name is of another kind."""
        stem, long = path.stem, len(self.head) + len(self.tail)
        fits = stem.startswith(self.head) and stem.endswith(self.tail) and len(stem) > long
        if not fits or path.suffix.casefold() != self.suffix.casefold():
            return ""
        return stem[len(self.head) : len(stem) - len(self.tail)]

    def path(self, recording: Path, motion: str) -> Path:
        """The file of this kind that belongs to a recording."""
        name = f"{self.head}{motion}{self.tail}{self.suffix}"
        return Path(os.path.normpath(recording.parent / self.folder / name))


class Template:
    """Settings of a trial file that hold for every recording of its protocol; its own need not be there."""

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.realpath(path))
        document = trial_document(self.path)
        validated(document, document.kind)
        self.is_model, self.content = of_model(document), document.content
        self.cameras: Document | None = None
        self.place: Place = ("files", "coordinates" if self.is_model else "markers")
        recording = self._path("files", str(self.place[1]))
        self.of_motion = dict[Place, NamePattern]()
        if not self.is_model and recording.suffix.casefold() == ".toml":
            self.cameras, self.place = Document(recording, CameraFileSettings), ("camera", 0)
            cameras = validated(self.cameras, CameraFileSettings).camera
            files = [recording.parent / camera.markers for camera in cameras]
            recording = files[0]
            motion = motion_of_cameras([file.stem for file in files], [camera.name for camera in cameras])
            if not motion:
                names = ", ".join(file.name for file in files)
                raise self.cameras.error(
                    "bad_name",
                    "camera",
                    "markers",
                    problem=f"the names {names} do not show which part names the motion",
                    expected="names that differ by the camera at one end, such as left_walk_03.csv "
                    "and right_walk_03.csv",
                    remedy="name the files of the cameras so, or put them into a folder for each "
                    "camera under equal names",
                )
            for number, other in enumerate(files[1:], start=1):
                self.of_motion["camera", number] = _pattern(other, recording, motion)
        else:
            motion = _motion_of(recording.stem)
        self.recording = _pattern(recording, recording, motion)
        for place in OF_MOTION:
            name = (self.content.get(place[0]) or {}).get(place[1])
            if name is None or is_predicted(name):
                continue
            companion = self._path(*place)
            if motion not in companion.stem:
                raise document.error(
                    "bad_name",
                    *place,
                    problem=f"{companion.name!r} does not have the name of its motion, {motion!r}, in its own",
                    expected="a name by which the file of the next motion can be found, such as "
                    f"{motion}_{companion.name}",
                    remedy="name the files of a motion alike, as your export program can, and draft the template anew",
                )
            self.of_motion[place] = _pattern(companion, recording, motion)
        roles = self.content["files"]
        of_trial = {"markers", "coordinates", *(key for table, key in self.of_motion if table == "files")}
        session = [role for role, name in roles.items() if role not in of_trial and not is_predicted(name)]
        self.of_session = {role: self._path("files", role) for role in session}
        self.session_folders = {
            role: os.path.relpath(file.parent, recording.parent) for role, file in self.of_session.items()
        }
        self._of_other_kind = [
            says
            for says in (says_static, says_functional, says_maximum)
            if not says(recording.stem) and not bent_joints(recording.stem)
        ]

    def _path(self, table: str, key: str) -> Path:
        return Path(os.path.normpath(self.path.parent / self.content[table][key]))

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the trial file, and the camera file that it names."""
        return (self.path,) if self.cameras is None else (self.path, self.cameras.path)

    def motion(self, path: Path) -> str:
        """The part of the name of a file that names the motion; "" where it is no recording of a motion."""
        motion = self.recording.motion(path)
        others = {entry.name.casefold() for entry in self.of_session.values()}
        if not motion or path.name.casefold() in others:
            return ""
        if any(says(path.stem) for says in self._of_other_kind) or (
            says_static in self._of_other_kind and stands_by_name(path)
        ):
            return ""
        # of two matching patterns, such as "NAME.csv" and "NAME_grf.csv", the longer one decides
        long = len(self.recording.head) + len(self.recording.tail)
        for entry in self.of_motion.values():
            if len(entry.head) + len(entry.tail) > long and entry.motion(path):
                return ""
            if entry.path(path, motion) == path:  # of another camera, with equal names in folders of cameras
                return ""
        return motion

    def camera_file(self, trial: Path) -> Path | None:
        """Return the path of the camera file of a recording, from the path of its trial file; None without cameras."""
        return None if self.cameras is None else trial.with_name(f"{trial.stem}_cameras.toml")

    def texts(self, path: Path, inputs: Mapping[Place, Path], subject: Mapping[str, Any]) -> dict[Path, str]:
        """The trial file of a recording at a path, and its camera file, by their paths; subject: for [subject]."""
        tables, texts = with_paths(self.content, self.path.parent, path), dict[Path, str]()
        for name, keys in OF_ONE.items():
            if keys is None:
                tables.pop(name, None)
            elif name in tables:
                tables[name] = {key: value for key, value in tables[name].items() if key not in keys}
        # labels that are exchanged for a while are of one motion; its standing trial is of all
        lasting = (
            {key: value for key, value in entry.items() if key == "static" or "times_s" not in entry}
            for entry in tables.get("exchanged", ())
        )
        tables["exchanged"] = [entry for entry in lasting if entry]
        tables["subject"] = {**tables.get("subject", {}), **subject}
        for (table, key), file in inputs.items():
            if table != "camera":
                tables[table][key] = name_from(file, path)
        camera_file = self.camera_file(path)
        if self.cameras is not None and camera_file is not None:
            folder = self.cameras.path.parent
            content = dict(self.cameras.content)
            points = "control_points"
            content["recording"] = {
                **content["recording"],
                points: name_from(folder / content["recording"][points], camera_file),
            }
            content["camera"] = [
                {
                    **camera,
                    points: name_from(folder / camera[points], camera_file),
                    "markers": name_from(inputs["camera", number], camera_file),
                }
                for number, camera in enumerate(content["camera"])
            ]
            texts[camera_file] = _signed(content, self.cameras.path, camera_file)
            tables["files"]["markers"] = name_from(camera_file, path)
        return {**texts, path: _signed(tables, self.path, path)}


@dataclass
class _Recording:
    """A recording of the watched folder: its name, trial file, state of all its files, and since when it has it."""

    name: str
    trial: Path
    state: object = None
    handed_out: object = None  # the state in which it was handed out to be computed
    since: float = 0.0
    is_open: bool = True  # whether something is left to do with it
    record: TrialRecord | None = None


@dataclass
class Watch:
    """The recordings of a folder and their states.

    Args:
        folder: with the recordings, in it and below.
        template: settings of all recordings.
        output: folder for a folder of each result, and trials.csv; FOLDER/results unless given.
        settled: time after which a file with unchanged size and time of change counts as complete [s].
        further: see `Job`.
        clock: a time that never goes back [s].

    Attributes:
        results: the folder of the results.
    """

    folder: Path
    template: Template
    output: Path | None = None
    settled: float = FILE_SETTLED
    further: Mapping[str, Further | None] = field(default_factory=dict)
    clock: Callable[[], float] = monotonic

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            beside = list[str]()
            with suppress(OSError):
                beside = sorted(path.name for path in self.folder.parent.iterdir() if path.is_dir())
            meant = suggestion(self.folder.name, beside)
            raise file_error(
                "missing_file",
                self.folder,
                "there is no such folder",
                remedy=f"{f'{meant} Else ' if meant else ''}make it, or name the folder into which "
                "the recordings are saved",
            )
        self.folder = Path(os.path.realpath(self.folder))
        self.results = Path(os.path.realpath(self.output or self.folder / "results"))
        if self.folder.is_relative_to(self.results):
            problem = f"the results would lie among the recordings of {self.folder}"
            raise file_error("conflict", self.results, problem, remedy="name another folder with -o")
        check_table(self.results / CSV)
        self._found = dict[Path, _Recording]()
        self._read = _states(self.template.files)
        self._fault: MuscleSolveError | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the folder, into which trial files are written, and the results against other programs.

        Raises:
            BusyError: another program does.
        """
        with ExitStack() as held:
            try:
                held.enter_context(reserved(self.folder))
            except BusyError:
                raise BusyError.from_template(
                    "busy",
                    file=self.folder,
                    problem="another watch, or another run, is writing into this folder",
                    expected="one watch at a time: the trial files stand beside the recordings, whatever -o is",
                    remedy="end the other one, or wait until it has ended",
                ) from None
            held.enter_context(reserved(self.results))
            yield

    @property
    def records(self) -> list[TrialRecord]:
        """Return the state of each recording, waiting ones included, by name: walk_2 before walk_10."""
        records = [entry.record for entry in self._found.values() if entry.record is not None]
        return sorted(records, key=lambda record: natural_place(record.name))

    @property
    def is_open(self) -> bool:
        """Return whether a recording is still being written or not computed yet; waiting for files does not count."""
        return any(entry.is_open for entry in self._found.values())

    def look(self) -> list[Job]:
        """Search the folder; return the complete recordings, with all their files, that are not computed yet.

        A job is returned until `take` gets its record. A recording that waits, or cannot have a trial file, becomes a
        record at once.
        """
        ready, now, changed = list[Job](), self.clock(), False
        self._read_template()
        there = self._motions()
        changed |= any(self._found.pop(path).record is not None for path in {*self._found} - {*there})
        for path in there:
            if path not in self._found:
                self._found[path] = self._named(path)
            motion = self._found[path]
            inputs, missing = self._inputs(path)
            camera_file = self.template.camera_file(motion.trial)
            files = (
                *inputs.values(),
                *_data_files(inputs.values()),
                *(() if camera_file is None else (camera_file,)),
                motion.trial,
                *self.template.files,
                *self._subject_files(path),
            )
            state = missing, _states(files)
            if state != motion.state:
                motion.state, motion.since, motion.is_open = state, now, True
            if not motion.is_open or now - motion.since < self.settled:
                continue
            job = Job(
                motion.name, motion.trial, self.results / motion.name, {}, figures=False, further=self.further
            )
            if missing:
                motion.record = job.record(Outcome.WAITING, f"waits for {missing}")
                motion.is_open, changed = False, True
                continue
            try:
                if self._fault is not None:
                    raise self._fault
                self._write(path, motion.trial, inputs)
            except MuscleSolveError as error:
                motion.record, motion.is_open, changed = job.record(Outcome.REFUSED, str(error)), False, True
                leave_message(motion.record)
            else:
                motion.state = motion.handed_out = missing, _states(files)
                ready.append(job)
        if changed:
            write_table(self.records, self.results)
        return ready

    def take(self, record: TrialRecord) -> None:
        """Store the record of a recording, and write the table of all."""
        motion = next((entry for entry in self._found.values() if entry.name == record.name), None)
        if motion is None:
            return  # it was removed meanwhile
        motion.record, motion.is_open = record, motion.state != motion.handed_out
        if not record.outcome.has_result:
            leave_message(record)
        write_table(self.records, self.results)

    def _read_template(self) -> None:
        """Read a changed template again; a faulty template refuses the recordings until it is corrected."""
        state = _states(self.template.files)
        if state == self._read:
            return
        self._read = state
        try:
            self.template, self._fault = Template(self.template.path), None
            self._read = _states(self.template.files)
        except MuscleSolveError as error:
            self._fault = error

    def _motions(self) -> list[Path]:
        """The recordings of motions by name: walk_2 before walk_10."""
        motions = list[Path]()
        for folder, below, names in os.walk(self.folder):
            here = Path(folder)
            below[:] = sorted(x for x in below if not x.startswith(".") and here / x != self.results)
            for name in names:
                path = here / name
                if not name.startswith(".") and self.template.motion(path) and file_state(path) is not None:
                    motions.append(path)
        return sorted(motions, key=lambda path: natural_place(str(path)))

    def _named(self, path: Path) -> _Recording:
        """Register a new recording under a unique name."""
        inside = path.relative_to(self.folder)
        wanted = "-".join([*inside.parts[:-1], self.template.motion(path)])
        name = find_name(wanted, [entry.name for entry in self._found.values()], str(inside))
        return _Recording(name, self.folder / f"{name}.toml")

    def _inputs(self, path: Path) -> tuple[dict[Place, Path], str]:
        """The files of a recording by their places in its trial file, and the missing files in words."""
        template, motion = self.template, self.template.motion(path)
        inputs: dict[Place, Path] = {template.place: path}
        for place, pattern in template.of_motion.items():
            inputs[place] = pattern.path(path, motion)
        missing = [x.name for x in (*inputs.values(), *_data_files(inputs.values())) if not x.is_file()]
        for role, template_file in template.of_session.items():
            files = self._of_session(path, role, template_file)
            if not files and role == "model" and template_file.is_file():
                files = [template_file]
            if len(files) == 1:
                inputs["files", role] = files[0]
            else:
                among = f"; {' and '.join(x.name for x in files)} may be it: rename one" if files else ""
                missing.append(f"{template_file.name} ({role}{among})")
        return inputs, ", ".join(missing)

    def _of_session(self, path: Path, role: str, template_file: Path) -> list[Path]:
        """Files of the session of a recording with the template's name; or standing trials, recognized by their
        names, or models. They lie as in the template, beside the recording, or in a folder above it.
        """
        as_there = Path(os.path.normpath(path.parent / self.template.session_folders[role]))
        for folder in (as_there, *self._folders(path)):
            if not folder.is_relative_to(self.folder) or not folder.is_dir():
                continue
            if (folder / template_file.name).is_file():
                return [folder / template_file.name]
            if role not in ("static", "model"):
                continue
            alike = [
                file
                for file in sorted(folder.iterdir())
                if file.suffix.casefold() == template_file.suffix.casefold()
                and (role == "model" or says_static(file.stem))
                and file.is_file()
            ]
            if alike:
                return alike
        return []

    def _folders(self, path: Path) -> list[Path]:
        """The folder of a recording and those above it, up to the one that is watched."""
        return [parent for parent in path.parents if parent.is_relative_to(self.folder)]

    def _subject_files(self, path: Path) -> list[Path]:
        """The places of files of the subject; none for a model, which has mass and lengths of its own."""
        return [] if self.template.is_model else [folder / SUBJECT_FILE for folder in self._folders(path)]

    def _subject(self, path: Path) -> Mapping[str, Any]:
        """Return the entries of the nearest `subject.toml`; nothing where there is none."""
        file = next((place for place in self._subject_files(path) if place.is_file()), None)
        if file is None:
            return {}
        document = Document(file, RecordedSettings)
        wrong = [error for error in examined(document, RecordedSettings)[1] if error.code != "missing_key"]
        if wrong:
            raise wrong[0]
        stated = document.content.get("subject")
        if not isinstance(stated, dict) or len(document.content) > 1:
            expected = "one table [subject] with the keys of a trial file, such as mass_kg = 70.5"
            raise file_error("bad_format", file, "this is no file of a subject", expected)
        return stated

    def _write(self, path: Path, trial: Path, inputs: Mapping[Place, Path]) -> None:
        """Write the trial file of a recording, and its camera file, unless a user has changed the existing one."""
        for file, text in self.template.texts(trial, inputs, self._subject(path)).items():
            try:
                before = file.read_text(encoding="utf-8")
            except FileNotFoundError:
                before = ""
            except (OSError, UnicodeDecodeError):
                continue  # the run reports its faults
            if before != text and (not before or is_untouched(before)):
                write_files(file.parent, {file.name: text.encode()})


class Computer:
    """A process that computes one recording at a time; its crash ends neither the watch nor the next recording."""

    def __init__(self) -> None:
        self._helper: Helper | None = None

    def __call__(self, job: Job) -> TrialRecord:
        """The record of a job, when it is there."""
        self._helper = self._helper or Helper(*TASK)
        self._helper.give(job)
        try:
            while True:
                for kind, content in self._helper.news():
                    if kind == DONE and isinstance(content, TrialRecord):
                        return content
                    if kind == RAISED:
                        raise MuscleSolveError(f"the program failed: {content}")
                sleep(LOOK)
        except MuscleSolveError as error:
            self.close()
            return job.record(Outcome.FAILED, str(error))

    def close(self) -> None:
        """End the process."""
        if self._helper is not None:
            self._helper.end()
        self._helper = None


def is_untouched(text: str) -> bool:
    """Return whether a trial file is unchanged since `Template.texts` wrote it."""
    written = _WRITTEN.match(text)
    return written is not None and _digest(text[written.end() :]) == written[2]


def _data_files(files: Iterable[Path]) -> list[Path]:
    """The data files of ExternalLoads files; a faulty file has none here, and the run reports its faults."""
    data_files = list[Path]()
    for file in files:
        if file.suffix.casefold() == ".xml" and file.is_file():
            with suppress(MuscleSolveError):
                data_files += filter(None, [data_file(file)])
    return data_files


def _states(files: Iterable[Path]) -> list[tuple[Path, object]]:
    return [(file, file_state(file)) for file in files]


def _signed(content: Mapping[str, Any], template: Path, path: Path) -> str:
    """The text of a file of a recording, whose first line shows whether it was changed by hand."""
    body = tables_text(content)
    return f"# Written by `musclesolve watch` from {name_from(template, path)}; {_digest(body)}\n{body}"


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:16]


def _motion_of(stem: str) -> str:
    """The part of a name that names the motion: without words such as "markers" and "grf" at its ends."""
    parts = re.split(f"([{SEPARATORS}]+)", stem)
    while len(parts) > 2 and is_kind_word(parts[0]):
        parts = parts[2:]
    while len(parts) > 2 and is_kind_word(parts[-1]):
        parts = parts[:-2]
    return "".join(parts)


def motion_of_cameras(stems: Sequence[str], cameras: Sequence[str]) -> str:
    """The part of a name that names the motion, in the names of the files of all cameras; "" where it is not clear.

    It is the name without the camera's name, else the words that all names begin or end with.
    """
    without = {
        _motion_of(
            re.sub(rf"(?<![^\W_]){re.escape(camera)}(?![^\W_])", "", stem, flags=re.I).strip(SEPARATORS)
        )
        for stem, camera in zip(stems, cameras, strict=True)
    }
    if len(without) == 1 and (motion := without.pop()) and all(motion in stem for stem in stems):
        return motion
    words = [re.split(f"([{SEPARATORS}]+)", _motion_of(stem)) for stem in stems]
    first = _common(words)
    last = _common([word[::-1] for word in words])[::-1]
    return "" if first and last else "".join(first or last).strip(SEPARATORS)


def _common(lists: Sequence[Sequence[str]]) -> list[str]:
    """The texts with which all lists begin, without separators alone."""
    alike = takewhile(lambda texts: len({*texts}) == 1, zip(*lists, strict=False))
    common = [texts[0] for texts in alike]
    return common if "".join(common).strip(SEPARATORS) else []


def _pattern(file: Path, recording: Path, motion: str) -> NamePattern:
    head, _, tail = file.stem.partition(motion)
    return NamePattern(head, tail, file.suffix, os.path.relpath(file.parent, recording.parent))
