"""The trials below a folder: trial files, folders of services, B3D files, OpenSim models with coordinates and loads.

Each is a line of the table of trials. Its subject is the name that its files state, else its own folder in a service,
else the first folder below the folder of the study in which no two bodies are stated: P03/slow/walk_02.toml is a slow
trial of P03. Trials of other bodies are never of one subject.
"""

import filecmp
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any

from muscle_db.regular_file import file_state
from musclesolve._util.arrays import grouped
from musclesolve._util.messages import natural_place
from musclesolve.constants import AVERAGE_FILE, COMPARISON_FILE, PREDICTED, RESULT_FILE, STUDY_FILE
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.laboratory.files.b3d import SUFFIX, left_out, read_b3d, subject_data
from musclesolve.laboratory.files.service_folders import (
    NO_FORCES,
    NO_MODEL,
    WITHOUT_PLATES,
    ServiceTrial,
    data_file,
    service_of,
    service_trials,
    subject_of,
)
from musclesolve.laboratory.files.subjects_table import DAY
from musclesolve.laboratory.files.text.csv_file import has_markers
from musclesolve.laboratory.recording.trial_document import trial_kind
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.models.opensim.coordinate_motion import coordinate_motion, plain_name
from musclesolve.models.opensim.external_loads import contact_fault, is_whole_person, read_external_loads
from musclesolve.models.opensim.kinematics import body_motion
from musclesolve.models.opensim.load_dynamics import whole_motion
from musclesolve.models.opensim.read_model import read_osim
from musclesolve.models.opensim.xml_tree import read_xml
from musclesolve.tables.document import Document, examined
from musclesolve.tables.number_rows import RowReader
from musclesolve.tables.opensim_text import mot_header, read_mot
from musclesolve.tables.settings import is_number
from musclesolve.tables.text_file import (
    MARKER_FILES,
    OPENSIM,
    STORAGE,
    TABLES,
    open_input,
    opening,
    split_cells,
    stem_of,
    suffix_of,
    toml_content,
)

_PART = re.compile(r"[\s_\-]+|(?<=[A-Za-z])(?=[A-Z][a-z])|\.(?!\d)|(?<!\d)\.")
_WORD = re.compile(r"^(?P<letters>.*?)(?P<number>\d+(?:[.p]\d+)?)?$")
_REPETITION = re.compile(r"[\s_-]*\d+$")
"""The number at the end of the name of a trial."""
_USUAL_WORDS = frozenset(
    "walk walking gait run running jog jogging jump stairs slow slower low normal comfortable self free preferred "
    "usual medium fast faster high baseline pre before post after followup without no off unassisted barefoot "
    "unshod with on "
    "assisted exo brace orthosis afo insoles shod shoes boots control controls ctrl healthy hc patient patients case "
    "cases group young old elderly stroke cp oa pd acl trial trials data results segment seg ik id grf kinematics "
    "recordings c3d osim opensim opencap toml study".split()
)
"""Words that are no part of the name of a person."""


@dataclass(frozen=True)
class Word:
    """A word of a level, and the number that ends it, "" for none."""

    letters: str
    number: str

    @property
    def text(self) -> str:
        """The letters and the number."""
        return self.letters + self.number

    @property
    def is_number(self) -> bool:
        """Whether the name is a number alone."""
        return not self.letters and bool(self.number)


def words_of(level: str) -> list[Word]:
    """The words of a folder or trial: subject_walk2_fast is subject, walk 2, fast."""
    words: list[Word] = []
    if date := DAY.search(level):
        before, after = (words_of(part) for part in (level[: date.start()], level[date.end() :]))
        return [*before, Word("", date[0]), *after]
    for part in _PART.split(level):
        if not part:
            continue
        match = _WORD.match(part)
        word = Word(match["letters"], match["number"] or "") if match else Word(part, "")
        if word.is_number and words and not words[-1].number:
            words[-1] = Word(words[-1].letters, word.number)  # walk_02 is walk02
        elif words and words[-1].text.casefold() == "no" and word.letters:
            words[-1] = Word(
                f"{words[-1].letters}_{word.letters}", word.number
            )  # no_exo is another word than exo
        else:
            words.append(word)
    return words


def common_words(one: str, other: str) -> str:
    """The words that begin two names, "" where they name a condition or a group: anna of anna_walk and anna_static."""
    pairs = zip(words_of(one), words_of(other), strict=False)
    words = [word for word, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
    usual = any(word.letters.casefold() in _USUAL_WORDS for word in words)
    return "" if usual else "_".join(word.text for word in words)


@dataclass(frozen=True)
class Role:
    """Subject, group, condition and session of a trial, "" for what its folders do not name."""

    subject: str
    group: str = ""
    condition: str = ""
    session: str = ""


SAME_BODY = {"mass_kg": 0.05, "stature_m": 0.02}
"""Share by which a size may differ between trials of one subject and session. Clothes, shoes, a meal and the hours of a
day change the mass of a person by less than 3 kg of 70, and the stature by less than 3 cm of 170."""
_SESSION = re.compile(r"(?:ses|session|visit|day)[\s_-]*\w*\d", re.IGNORECASE)


def roles(trials: Sequence["FoundTrial"], several: bool = False) -> tuple[list[Role], list[str]]:
    """Subject, group, condition and session of each trial, and sentences on subjects that stand for several bodies.

    The subject is the name that the trial states, unless trials of other bodies state it, too; else the folder or file
    of its subject in a service, else the first folder below the folder of the study in which no trials state different
    bodies. Folders above are the group, folders below the condition, or the session if they are called a day, session
    or visit. Without such folders the condition is the name of the trial without its number, where these differ.

    Args:
        trials: found below a folder.
        several: whether the first level of each is one of several sources; folders of one name in two of them are of
            two subjects.
    """
    services = _source_names({trial.of_service for trial in trials if trial.of_service})
    bodies = [stated_body(trial) for trial in trials]
    of_person = grouped((trial.person, body) for trial, body in zip(trials, bodies, strict=True))
    persons = [trial.person if len(several_bodies(of_person[trial.person])) < 2 else "" for trial in trials]
    folders = [trial.levels[int(several) : -1] or trial.levels[:-1] for trial in trials]
    depth = _depth_of_subjects(
        [one for one, trial in zip(folders, trials, strict=True) if not trial.of_service],
        [body for body, trial in zip(bodies, trials, strict=True) if not trial.of_service],
    )
    found, below = list[tuple[str, str, str]](), list[tuple[str, ...]]()
    for trial, above, person in zip(trials, folders, persons, strict=True):
        here = person if person in above else ("S1", *above)[min(depth + 1, len(above))]
        here = services.get(trial.of_service, here)
        at = above.index(here) if here in above else -1
        found.append((trial.levels[0] if several else "", here, "_".join(above[:at]) if at > 0 else ""))
        below.append(above[at + 1 :] if at >= 0 else ())
    sources_of = grouped(dict.fromkeys((here, source) for source, here, _ in found))
    names = [
        person or (f"{source}_{here}" if len(sources_of[here]) > 1 else here)
        for person, (source, here, _) in zip(persons, found, strict=True)
    ]
    conditions, sessions = list[str](), list[str]()
    for trial, name, inside in zip(trials, names, below, strict=True):
        of_sessions = [part for part in inside if _SESSION.match(part) or DAY.search(part)]
        sessions.append("_".join(of_sessions))
        called = _REPETITION.sub("", trial.levels[-1]).removeprefix(name).strip("_- ")
        conditions.append("_".join(part for part in inside if part not in of_sessions) or called)
    conditions = [""] * len(trials) if len(set(conditions)) == 1 else conditions
    subjects, notes = _of_one_body(names, bodies)
    groups = [group for *_, group in found]
    return [Role(*parts) for parts in zip(subjects, groups, conditions, sessions, strict=True)], notes


def _depth_of_subjects(folders: Sequence[tuple[str, ...]], bodies: Sequence[Mapping[str, Any]]) -> int:
    """The first level of folders in which none has trials of different bodies; 0 where there is no such level."""
    for depth in range(max(map(len, folders), default=0)):
        alike = grouped((folder[: depth + 1], body) for folder, body in zip(folders, bodies, strict=True))
        if all(len(several_bodies(of)) < 2 for of in alike.values()):
            return depth
    return 0


def several_bodies(bodies: Iterable[Mapping[str, Any]]) -> list[dict[str, float]]:
    """The different bodies among some that are stated, by `SAME_BODY`: the smallest mass and stature of each."""
    different = list[dict[str, float]]()
    for body in sorted(
        ({key: body[key] for key in SAME_BODY if is_number(body.get(key))} for body in bodies), key=_size
    ):
        if body and not any(same_body(body, other) for other in different):
            different.append(body)
    return different


def _size(body: Mapping[str, float]) -> tuple[float, ...]:
    return tuple(body.get(key, 0.0) for key in SAME_BODY)


def same_body(body: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two bodies may be of one person, by what both state of mass and stature."""
    return all(
        alike(key, (body[key], other[key]))
        for key in SAME_BODY
        if is_number(body.get(key)) and is_number(other.get(key))
    )


def alike(key: str, values: Collection[float]) -> bool:
    """Whether masses or statures, a key of `SAME_BODY`, may be of one person."""
    return max(values) <= (1.0 + SAME_BODY[key]) * min(values)


def _of_one_body(names: Sequence[str], bodies: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Names of subjects with one body each, by mass or stature where several bodies have a name; sentences on these."""
    different = {name: several_bodies(of) for name, of in grouped(zip(names, bodies, strict=True)).items()}
    notes = list[str]()
    for name, of in different.items():
        if len(of) > 1:
            said = "; ".join(", ".join(f"{key} {value:g}" for key, value in body.items()) for body in of)
            notes.append(f"trials called {name} state {len(of)} bodies ({said}): a subject each; check them")
    subjects = list[str]()
    for name, body in zip(names, bodies, strict=True):
        own = next((one for one in different[name] if same_body(one, body)), {})
        differ = [key for key in own if len({one.get(key) for one in different[name]}) > 1]
        words = [f"{own[key]:g}{key.rpartition('_')[2]}" for key in differ]
        subjects.append("_".join([name, *words]) if len(different[name]) > 1 else name)
    return subjects, notes


def _source_names(sources: set[str]) -> dict[str, str]:
    """Names of subjects by the folder or file of each: a part of its path that no other has, else its end."""
    parts = {source: source.removesuffix(".b3d").split("/") for source in sources}
    for k in range(1, min((len(part) for part in parts.values()), default=0) + 1):
        if len({part[-k].casefold() for part in parts.values()}) == len(parts):
            return {source: part[-k] for source, part in parts.items()}
    ends = {source: ["_".join(part[-k:]) for k in range(1, len(part) + 1)] for source, part in parts.items()}
    count = Counter(end.casefold() for names in ends.values() for end in names)
    return {
        source: next((end for end in names if count[end.casefold()] == 1), names[-1])
        for source, names in ends.items()
    }


def in_order(names: set[str]) -> list[str]:
    """Groups or conditions by name, numbers by size."""
    return sorted(names, key=natural_place)


_RESULTS = (RESULT_FILE, STUDY_FILE, COMPARISON_FILE, AVERAGE_FILE)
_RECORDED = (*MARKER_FILES, *TABLES, *STORAGE, ".xml")
"""Suffixes of the recordings of a trial, and of descriptions of their forces."""
TO_UNPACK = "unpack it to have its trials"
ARCHIVES = (".zip", ".7z", ".rar", ".tar", ".gz", ".tgz")
KEEP_ONE = "keep one of their trials"
"""End of the note on trials of one motion, which counts several times until it is decided."""
_SUBJECT_KEYS = ("mass_kg", "stature_m", "sex", "age_years")
_ROLE_WORDS = frozenset(
    "ik id grf kinematics kinetics inverse dynamics coordinates loads force forces external setup moments data "
    "marker markers trc mot analog plates ground reaction reactions rra q adjusted filtered results".split()
)
"""Words of files and folders that name the kind of content, not the trial."""
_MODEL_FOLDERS = ("model", "models", "osim", "scaledmodel", "scale")
_ANGLE = re.compile(r"pelvis|hip|knee|ankle|subtalar|mtp|lumbar|arm|elbow|pro_sup|wrist")
"""Usual names of coordinates, without a model."""
_SESSION_ID = re.compile(r"^OpenCapData|[0-9a-f]{8}-[0-9a-f]{4}-", re.IGNORECASE)
"""Generated names of folders of OpenCap."""
_COORDINATE = re.compile(r'<Coordinate name="([^"]+)"')
_COPY = re.compile(
    r"(?:an? )?copy of (.+)|(.+?)(?:[\s_-]+copy(?:[\s_-]*\d+)?|[\s_-]*\((?:copy|\d+)\))", re.IGNORECASE
)
"""Names that file managers give to copies: "walk - Copy", "walk (1)", "Copy of walk", "walk copy 2"."""
_MOST_OTHERS = 0.6
"""Largest share of columns of other names in a file of coordinates: those of a fuller model are among them."""


@dataclass(frozen=True)
class FoundTrial:
    """A trial below the folder of a study.

    levels: folders from the folder of the study, and the name of the trial last. source: columns of the table of trials
    that name files. subject: what is stated of the subject. of_service: folder or file of one subject of a service, ""
    otherwise. exclude: why it cannot be computed; notes: doubts. called: name of the file, the last level's name when
    empty. person: the stated name of the subject.
    """

    levels: tuple[str, ...]
    source: Mapping[str, Path | str]
    subject: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "trial file"
    of_service: str = ""
    exclude: str = ""
    notes: tuple[str, ...] = ()
    called: str = ""
    unclear: tuple[Path, ...] = ()
    person: str = ""


@dataclass(frozen=True)
class FoundStudy:
    """The trials below a folder, recordings without a trial file, and what cannot be read.

    recordings: file of a folder in which there is one of markers -> folders and name of its trial. copies: sentences on
    files that are left out as copies of others in their folder.
    """

    trials: tuple[FoundTrial, ...]
    recordings: Mapping[Path, tuple[str, ...]]
    unread: tuple[str, ...]
    copies: tuple[str, ...] = ()


def source_names(sources: Iterable[Path]) -> dict[Path, str]:
    """Name of each of several sources: the first level of the paths of its trials."""
    paths = {source: source.resolve().as_posix() for source in sources}
    names = _source_names(set(paths.values()))
    return {source: names[path] for source, path in paths.items()}


def trials_of_sources(sources: Sequence[Path]) -> FoundStudy:
    """Search several folders and B3D files, of which only the headers are read; the trials of each are below its name.

    Raises:
        InputError: a source is neither a folder nor a B3D file.
    """
    names = source_names(sources)
    studies = list[FoundStudy]()
    for source in dict.fromkeys(sources):
        name = names[source]
        if source.is_file() and source.suffix.casefold() == SUFFIX:
            try:
                study = FoundStudy(tuple(_of_b3d(source, (), whole=False)), {}, ())
            except InputError as error:
                study = FoundStudy((), {}, (f"{source.name}: {error.problem}",))
        elif not source.is_dir():
            there = source.exists()
            raise file_error(
                "bad_format" if there else "missing_file",
                source,
                "this is neither a folder nor a B3D file" if there else "there is no such folder or file",
                "a folder with trials in it or below it, or a B3D file (.b3d)",
                f"name the folder it is in: {source.parent}" if there else "check the name",
            )
        else:
            study = study_trials(source, whole=False)
        if len(sources) > 1:
            trials = [
                replace(
                    trial,
                    levels=_below(name, trial.levels),
                    of_service=trial.of_service
                    and "/".join(_below(name, tuple(trial.of_service.split("/")))),
                )
                for trial in study.trials
            ]
            placed = {path: _below(name, levels) for path, levels in study.recordings.items()}
            study = replace(study, trials=tuple(trials), recordings=placed)
        studies.append(study)
    return FoundStudy(
        tuple(trial for study in studies for trial in study.trials),
        {path: levels for study in studies for path, levels in study.recordings.items()},
        tuple(text for study in studies for text in study.unread),
        tuple(text for study in studies for text in study.copies),
    )


def _below(name: str, levels: tuple[str, ...]) -> tuple[str, ...]:
    """Levels below the name of a source, which a file and a folder of a service have already."""
    return levels if levels[:1] == (name,) else (name, *levels)


@contextmanager
def searching(folder: Path, expected: str) -> Iterator[None]:
    """Refuse what is no folder, or cannot be read."""
    try:
        if not folder.is_dir():
            raise input_error(
                "laboratory.draft.file_not_folder" if folder.exists() else "laboratory.draft.no_such_folder",
                file=folder,
                expected=expected,
                remedy=f"name the folder it is in: {folder.parent}"
                if folder.exists()
                else "name that folder",
            )
        yield
    except InputError:
        raise
    except (OSError, ValueError) as reason:
        problem = f"the folder cannot be read ({getattr(reason, 'strerror', None) or reason})"
        raise file_error("unreadable_file", folder, problem, expected, "name that folder") from reason


def without_copies(files: Sequence[Path], folder: Path) -> tuple[list[Path], list[str]]:
    """Files of a folder without the recordings that are copies of others, and a sentence on each of these."""
    copies = {
        path: f"{path.relative_to(folder).as_posix()} is a copy of {first.name}, byte by byte"
        for path in files
        if suffix_of(path) in (*MARKER_FILES, *TABLES, *STORAGE) and (first := _original(path)) is not path
    }
    return [path for path in files if path not in copies], list(copies.values())


def _original(path: Path) -> Path:
    """The equal file beside one whose name says that it is a copy, else the file; equal trials may be numbered."""
    first, stem = path, stem_of(path)
    while mark := _COPY.fullmatch(stem):
        stem = mark[1] or mark[2]
        other = path.with_name(stem + path.name.removeprefix(stem_of(path)))
        with suppress(OSError):
            first = other if filecmp.cmp(other, path, shallow=False) else first
    return first


def study_trials(folder: Path, whole: bool = True) -> FoundStudy:
    """Search a folder and its subfolders, except results and hidden folders.

    whole: whether the frames of B3D files are read, which show trials without ground forces.
    """
    trials, unread, copies = list[FoundTrial](), list[str](), list[str]()
    raw: dict[Path, list[Path]] = {}
    loose: dict[Path, list[Path]] = {}
    with searching(folder, "a folder with the trials of a study, in it or below it"):
        for place in _folders(folder):
            levels: tuple[str, ...] = place.relative_to(folder).parts
            unread += [
                f"{'/'.join((*levels, path.name))}: a link to a folder; name the folder itself as a source"
                for path in sorted(place.iterdir())
                if path.is_symlink() and path.is_dir()
            ]
            if service_of(place):
                named = levels or (place.name,)
                trials += [_of_service(trial, named, place) for trial in service_trials(place)]
                about = subject_of(place)
                unread += [] if about is None else about.faults.values()
                continue
            files = sorted(path for path in place.iterdir() if path.is_file() and path.name[0] != ".")
            files, left_over = without_copies(files, folder)
            copies += left_over
            of_files = [_of_file(path, levels) for path in files if path.suffix == ".toml"]
            written = [trial for trial in of_files if trial is not None]
            trials += written
            for path in (file for file in files if file.suffix.casefold() == SUFFIX):
                try:
                    trials += _of_b3d(path, levels, whole)
                except InputError as error:
                    unread.append(f"{'/'.join((*levels, path.name))}: {error.problem}")
            unread += [
                f"{'/'.join((*levels, path.name))}: {TO_UNPACK}"
                for path in files
                if path.suffix.casefold() in ARCHIVES and suffix_of(path) not in _RECORDED
            ]
            # models beside trial files may be of motions in folders below
            kinds = (".osim",) if written else (*STORAGE, *OPENSIM)
            if opensim := [path for path in files if path.suffix.casefold() in kinds]:
                loose[place] = opensim
            if not written:
                raw[place] = [path for path in files if suffix_of(path) in _RECORDED]
    modeled, misread = _of_models(folder, loose)
    known = {path.resolve() for trial in trials if "file" in trial.source for path in _named_files(trial)}
    modeled = [one for one in modeled if Path(one.source["coordinates"]).resolve() not in known]
    sources = [path for one in modeled for path in one.source.values()]
    known |= {path.resolve() for path in sources if isinstance(path, Path)}
    used = {path.parent for path in known}
    # beside a motion that is called walk, forces.mot is a file of the same folder
    showing = {path for files in raw.values() for path in files if _shows_markers(path)}
    by_name = {path.parent for path in showing if _name_of(path)}
    levels_of = {
        path: _levels(path, folder, path.parent in by_name)
        for place, files in raw.items()
        if place.resolve() not in used
        for path in files
        if _is_text(str(path))
    }
    # A recording of the same name as coordinates of a model was computed there.
    computed = {one.levels for one in modeled}
    # Without any trial every table is read: its fault is the reason.
    silent = not (showing or trials or modeled)
    with_markers = {one[:-1] for path, one in levels_of.items() if silent or path in showing}
    recordings = {
        path: one for path, one in levels_of.items() if one[:-1] in with_markers and one not in computed
    }
    every = trials + modeled
    odd = {str(path) for one in every for path in one.source.values() if not _is_text(str(path))}
    misread += [f"{path!a}: the name has bytes that are no text; rename it" for path in sorted(odd)]
    kept = tuple(one for one in every if not odd.intersection(map(str, one.source.values())))
    if any("model" in one.source and one.source.get("loads") != PREDICTED for one in kept):
        # beside measured forces predicted ones are another method, and no file that was forgotten
        kept = tuple(
            replace(
                one,
                exclude=one.exclude or NO_FORCES,
                notes=tuple(note for note in one.notes if note != WITHOUT_PLATES),
            )
            if one.source.get("loads") == PREDICTED
            else one
            for one in kept
        )
    return FoundStudy(kept, recordings, tuple(dict.fromkeys(unread + misread)), tuple(copies))


def _shows_markers(path: Path) -> bool:
    """Whether a file holds the motion of markers, by its suffix or by the first lines of a table."""
    return suffix_of(path) in MARKER_FILES or (suffix_of(path) in TABLES and has_markers(path))


def _is_text(name: str) -> bool:
    """Whether a file of text can hold a name; names of files may have any bytes."""
    return name.isascii() or name.encode("utf-8", errors="replace").decode() == name


def has_results(folder: Path) -> bool:
    """Whether a folder holds results: it, and its subfolders, are no inputs."""
    table = folder / "trials.csv"  # of results; the table of a study has other columns
    with suppress(OSError):
        if table.is_file() and table.read_bytes()[:11] == b"name,status":
            return True
    return any((folder / name).is_file() for name in _RESULTS)


def _folders(folder: Path) -> Iterator[Path]:
    """Yield a folder and its subfolders, except results, hidden folders, and folders inside the folder of a service."""
    if has_results(folder):
        return
    yield folder
    if not service_of(folder):
        # a link to a folder may lead back
        inside = (path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
        for inner in sorted(path for path in inside if path.name[0] != "."):
            yield from _folders(inner)


def _of_service(trial: ServiceTrial, levels: tuple[str, ...], place: Path) -> FoundTrial:
    stated = {key: value for key, value in trial.subject.items() if key in _SUBJECT_KEYS}
    person = str(trial.subject.get("name") or "")
    called = person or "/".join(levels)
    kept = levels[:-1] if _SESSION_ID.search(levels[-1]) else levels
    kind = f"folder of {service_of(place)}"
    source, notes = dict(trial.source), list(trial.notes)
    described = source.get("loads")
    if trial.model is not None and isinstance(described, Path) and described.suffix.casefold() == ".xml":
        table = data_file(described)
        if table is not None and (note := _contradiction(trial.model, trial.coordinates, described, table)):
            source["loads"] = table
            notes.append(note)
    rest = kind, called, trial.reason, tuple(notes)
    return FoundTrial((*kept, trial.name), source, stated, *rest, person=person)


def _of_b3d(path: Path, levels: tuple[str, ...], whole: bool) -> list[FoundTrial]:
    subject = read_b3d(path, None if whole else ())
    stated, named = subject_data(subject), (*levels, path.stem)
    return [
        FoundTrial(
            (*named, trial.name),
            {"b3d": path, "trial": trial.name},
            stated,
            "B3D file",
            "/".join(named),
            left_out(subject, trial),
        )
        for trial in subject.trials
    ]


def _of_file(path: Path, levels: tuple[str, ...]) -> FoundTrial | None:
    """The trial of a trial file; None of other files in TOML."""
    content = toml_content(path)
    if not isinstance(content.get("files"), dict) or "camera" in content:
        return None
    subject = content.get("subject")
    subject = subject if isinstance(subject, dict) else {}
    stated = {key: subject[key] for key in _SUBJECT_KEYS if key in subject}
    notes = []
    if "markers" in content["files"] and (
        errors := examined(Document(path, trial_kind), RecordedSettings)[1]
    ):
        notes.append(
            f"{path.name} is not complete: {errors[0].problem} (musclesolve check {shlex.quote(path.name)})"
        )
    person = str(subject.get("name") or "").strip()
    return FoundTrial((*levels, path.stem), {"file": path}, stated, notes=tuple(notes), person=person)


_Key = tuple[tuple[str, ...], str]
"""Folders and name of a trial, without words that say which file of the trial it is."""


def _of_models(root: Path, places: Mapping[Path, list[Path]]) -> tuple[list[FoundTrial], list[str]]:
    """Trials of the OpenSim models of folders: coordinates with loads or moments of the same name.

    Where names do not agree, the only files of forces of a folder without coordinates are of its only motion without
    forces, if their times agree. Several files of coordinates of one name, such as the output of inverse kinematics
    and of the residual reduction, are a trial each.
    """
    models = {at: [f for f in files if f.suffix.casefold() == ".osim"] for at, files in places.items()}
    models = {place: of_key for place, of_key in models.items() if of_key}
    setups = _setups(path for files in places.values() for path in files)
    of_key: dict[_Key, dict[str, list[Path]]] = {}
    unread: list[str] = []
    for place, files in places.items():
        of = _models_of(place, models)
        for path in files:
            try:
                role = _role(path, _coordinates(of[0], file_state(of[0])) if of else frozenset())
            except InputError as error:
                unread.append(f"{path.relative_to(root).as_posix()}: {error.problem}")
                continue
            if role and of:
                of_key.setdefault(_key(path, root), {}).setdefault(role, []).append(path)
            elif role in ("coordinates", "moments"):
                unread.append(f"{path.relative_to(root).as_posix()}: {NO_MODEL}, in its folder or above")
    _beside_tables(of_key)
    trials = []
    for key, roles in of_key.items():
        unclear = list[Path]()
        if "coordinates" in roles and not roles.keys() & set(_FORCES):
            adopted, unclear = _adopted(key, of_key)
            roles = roles | adopted
        elif "coordinates" in roles and "moments" in roles and "loads" not in roles:
            motion = roles["coordinates"][0]
            unclear = [path for path in _of_no_motion(key, of_key, "loads") if _same_times(motion, path)]
        for coordinates in roles.get("coordinates", ()):
            several = len(roles["coordinates"]) > 1
            levels = (*key[0], coordinates.stem) if several else _levels(coordinates, root)
            trial = _model_trial(levels, coordinates, roles, models, setups)
            if several:
                note = f"{_names(roles['coordinates'])} are named as one motion: {KEEP_ONE}"
                trial = replace(trial, notes=(*trial.notes, note))
            trials.append(replace(trial, unclear=tuple(unclear)))
    return trials, unread


_FORCES = ("described", "loads", "moments")
"""Roles of the files of forces, the first one that a trial has is used."""


def _beside_tables(of_key: Mapping[_Key, dict[str, list[Path]]]) -> None:
    """Move ExternalLoads files to the trials of the tables that they name."""
    trial_of = {path.resolve(): roles for roles in of_key.values() for path in roles.get("loads", ())}
    for roles in list(of_key.values()):
        for path in list(roles.get("described", ())):
            table = data_file(path)
            other = None if table is None else trial_of.get(_original(table).resolve())
            if other is not None and other is not roles:
                roles["described"].remove(path)
                other.setdefault("described", []).append(path)
        if "described" in roles and not roles["described"]:
            del roles["described"]


def _adopted(
    key: _Key, of_key: Mapping[_Key, Mapping[str, list[Path]]]
) -> tuple[dict[str, list[Path]], list[Path]]:
    """The files of forces of other names that belong to a motion without any, by role; and those that may."""
    here = [roles for other, roles in of_key.items() if other[0] == key[0]]
    lacking = [roles for roles in here if "coordinates" in roles and not roles.keys() & set(_FORCES)]
    by_role = {role: _of_no_motion(key, of_key, role) for role in _FORCES}
    adopted = {role: paths for role, paths in by_role.items() if paths}
    motion = of_key[key]["coordinates"][0]
    if adopted and len(lacking) == 1 and all(len(paths) == 1 for paths in adopted.values()):
        if all(_same_times(motion, path) for role, (path,) in adopted.items() if role != "described"):
            return adopted, []
    return {}, [path for paths in adopted.values() for path in paths]


def _of_no_motion(key: _Key, of_key: Mapping[_Key, Mapping[str, list[Path]]], role: str) -> list[Path]:
    """The files of a role in the folder of a motion that have the name of no motion."""
    free = [roles for other, roles in of_key.items() if other[0] == key[0] and "coordinates" not in roles]
    return [path for roles in free for path in roles.get(role, ())]


def _same_times(motion: Path, other: Path) -> bool:
    """Whether most of a motion lies within the times of another file."""
    try:
        (first, last), (start, end) = (read_mot(path).time[[0, -1]].tolist() for path in (motion, other))
    except InputError:
        return False
    return min(last, end) - max(first, start) > 0.5 * (last - first)


def _model_trial(
    levels: tuple[str, ...],
    coordinates: Path,
    roles: Mapping[str, list[Path]],
    models: Mapping[Path, list[Path]],
    setups: Mapping[Path, tuple[Path, str]],
) -> FoundTrial:
    """The trial of a file of coordinates, with its model and its forces."""
    of = _models_of(coordinates.parent, models)
    exclude = ""
    if setup := setups.get(coordinates.resolve()):
        path_of_setup, named = setup
        every = [*of, *(path for model in models.values() for path in model)]
        of = [path for path in every if path.name == named][:1] or of
        if of[0].name != named:
            exclude = f"its coordinates belong to {named} ({path_of_setup.name}), which is not here"
    source: dict[str, Path | str] = {"model": of[0], "coordinates": coordinates}
    notes = [f"several models: {_names(of)}; the first is taken"] if len(of) > 1 else []
    due = next((key for key in _FORCES if key in roles), None)
    if due == "described" and "loads" in roles:
        if note := _contradiction(of[0], coordinates, roles["described"][0], roles["loads"][0]):
            due = "loads"
            notes.append(note)
    if due is None:
        source["loads"] = PREDICTED
        notes.append(WITHOUT_PLATES)
    else:
        source["moments" if due == "moments" else "loads"] = roles[due][0]
        if len(roles[due]) > 1:
            notes.append(f"several files may be its {due}: {_names(roles[due])}; the first is taken")
    return FoundTrial(levels, source, {}, "OpenSim model", "", exclude, tuple(notes))


def _setups(files: Iterable[Path]) -> dict[Path, tuple[Path, str]]:
    """File of coordinates -> the setup file of inverse kinematics that it was written by, among some files, and the
    name of the file of its model.
    """
    setups = {}
    for path in files:
        if path.suffix.casefold() != ".xml":
            continue
        try:
            tree = read_xml(path, "a file of OpenSim (.xml)")
        except InputError:  # said where the roles of the files are found
            continue
        for tool in tree.descendants():
            named = [tool.find(tag) for tag in ("output_motion_file", "model_file")]
            output, model = (tag.text.strip().replace("\\", "/") if tag is not None else "" for tag in named)
            if tool.tag == "InverseKinematicsTool" and output and model:
                setups[(path.parent / output).resolve()] = path, model.rpartition("/")[2]
    return setups


def _contradiction(model: Path, coordinates: Path, described: Path, table: Path) -> str:
    """Return the note on an ExternalLoads file that contradicts the motion, "" on one that does not."""
    fault = _described_fault(model, coordinates, described, table)
    taken = f"{table.name} is taken, whose feet are found by their contacts"
    return f"{described.name} contradicts the motion ({fault}); {taken}" if fault else ""


def _described_fault(model_file: Path, coordinates: Path, described: Path, table: Path) -> str:
    """Return the reason why an ExternalLoads file cannot be of a motion beside a table of forces; "" where it can be.

    Reasons are another data file, loads at other times, or contacts under another body. Unreadable models or
    coordinates are reported when the trial is computed.
    """
    try:
        model = read_osim(model_file)
        motion = whole_motion(model, coordinate_motion(model, coordinates, None))
        pose = body_motion(model, motion.value)
    except InputError:
        return ""
    try:
        loads = read_external_loads(described, model)
    except InputError as error:
        return error.problem
    for load in loads:
        if load.file is not None and _original(load.file).resolve() != table.resolve():
            return f"its data file is {load.file.name}"
        if load.time[-1] < motion.time[0] or load.time[0] > motion.time[-1]:
            return (
                f"its loads last from {load.time[0]:g} to {load.time[-1]:g} s, the motion from {motion.time[0]:g} to "
                f"{motion.time[-1]:g} s"
            )
        if fault := contact_fault(model, load, motion.time, pose):
            return fault
    return ""


def _names(paths: list[Path]) -> str:
    return ", ".join(path.name for path in paths)


def _key(path: Path, root: Path) -> _Key:
    """Folders and name of the trial that a file is of: without what says which file of the trial it is."""
    folders = [part for part in path.parent.relative_to(root).parts if not _says_role(part)]
    return tuple(folders), _name_of(path)


def _levels(path: Path, root: Path, by_name: bool = False) -> tuple[str, ...]:
    """Folders and name of the trial that a file is of, the name of the file where neither is left.

    by_name: whether a file that is called forces is one of the trials in its folder; else the folder is the trial.
    """
    folders, name = _key(path, root)
    name = name or (path.stem if by_name else "")
    return (*folders, name) if name else folders or (path.stem,)


def _says_role(part: str) -> bool:
    """Whether a name says only which kind of content it is of: Forces, InverseKinematics."""
    return {word.text.casefold() for word in words_of(part)} <= _ROLE_WORDS


def _name_of(path: Path) -> str:
    """Name of the trial that the name of a file states, "" where it says only which file of a trial it is."""
    return "_".join(part for part in re.split(r"[_\-\s]+", stem_of(path)) if not _says_role(part))


def _models_of(place: Path, models: Mapping[Path, list[Path]]) -> list[Path]:
    """The models of a folder: its own, else of a folder beside it that is called so, else of the nearest one above."""
    for above in (place, *place.parents):
        if above in models:
            return models[above]
        beside = [path for path in models if path.parent == above and path.name.casefold() in _MODEL_FOLDERS]
        if beside:
            return models[beside[0]]
    return []


@cache
def _coordinates(model: Path, state: object) -> frozenset[str]:
    """Names of the coordinates of a model, which is read when a trial is computed; state: another one is read anew."""
    with open_input(model) as stream, opening(model):
        text = stream.read().decode("utf-8", errors="replace")
    # usual names serve where the file is cut off: its trials are refused, with the reason
    return frozenset(_COORDINATE.findall(text) if "</OpenSimDocument>" in text else ())


def _role(path: Path, coordinates: frozenset[str]) -> str:
    """Content of a file of OpenSim: "coordinates", "loads", "moments", "described" (loads in XML), or ""."""
    suffix = path.suffix.casefold()
    if suffix == ".xml":
        tree = read_xml(path, "a file of OpenSim (.xml)")
        return "described" if any(part.tag == "ExternalLoads" for part in tree.descendants()) else ""
    if suffix not in STORAGE:
        return ""
    names = column_names(path)[1:]
    if any(name.endswith("vx") for name in names):
        return "loads"
    if sum(name.endswith("_moment") for name in names) > 1:
        return "moments"
    known = sum(plain_name(x) in coordinates if coordinates else _ANGLE.search(x) is not None for x in names)
    return "coordinates" if names and known >= (1.0 - _MOST_OTHERS) * len(names) else ""


def column_names(path: Path) -> list[str]:
    """Names of the columns of a MOT or STO file, of which only the beginning is read; none where there are none."""
    with RowReader(path) as reader:
        try:
            mot_header(reader, path)
        except InputError:
            return []
        return [cell for cell in split_cells(reader.filled_line() or "") if cell]


def stated_body(trial: FoundTrial) -> Mapping[str, Any]:
    """The body that a trial states; the mass from its OpenSim model of a whole person unless it states one."""
    masses = (_of_model(path, file_state(path))[0] for path in _models(trial))
    mass = None if "mass_kg" in trial.subject else next(masses, None)
    return trial.subject if mass is None else {**trial.subject, "mass_kg": mass}


def body_of(folder: Path, source: Mapping[str, str]) -> Mapping[str, float]:
    """The mass and stature that the files of a trial of a study state, by the columns of its table."""
    paths, found = {key: folder / name for key, name in source.items()}, None
    with suppress(InputError):  # the trial is refused, with the reason
        if "b3d" in source:
            found = FoundTrial((), paths, subject_data(read_b3d(paths["b3d"], ())))
        else:
            found = _of_file(paths["file"], ()) if "file" in source else FoundTrial((), paths)
    body = {} if found is None else stated_body(found)
    return {key: body[key] for key in SAME_BODY if is_number(body.get(key))}


@cache
def _of_model(model: Path, state: object) -> tuple[float | None, bool]:
    """The mass of the person in an OpenSim model [kg], and whether it is of a whole person.

    The mass is None where the model has none or is of a part of a person. A model that cannot be read counts as whole.
    """
    try:
        found = read_osim(model)
    except InputError:
        return None, True
    whole = is_whole_person(found.bodies)
    return (round(found.mass, 2) or None) if whole else None, whole


def _models(trial: FoundTrial) -> list[Path]:
    """The OpenSim models of a trial."""
    named = _named_files(trial) if "file" in trial.source else map(Path, trial.source.values())
    return [path for path in named if path.suffix == ".osim"]


def has_body(trial: FoundTrial) -> bool:
    """Whether a trial shows a person with a mass and a stature, as models of a leg, an arm or a trunk do not."""
    return all(_of_model(path, file_state(path))[1] for path in _models(trial))


def _named_files(trial: FoundTrial) -> list[Path]:
    """The files that a trial file names."""
    path = Path(trial.source["file"])
    return [
        path.parent / name for name in toml_content(path).get("files", {}).values() if isinstance(name, str)
    ]
