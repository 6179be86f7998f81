"""The computation of a data set: a study whose trials are found, tables of trials and subjects, and an estimate."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from musclesolve._util.checks import one_or_several
from musclesolve._util.messages import Progress, shortened
from musclesolve._util.processes import cores
from musclesolve.errors import InputError, file_error, input_error
from musclesolve.laboratory.draft.study_trials import KEEP_ONE
from musclesolve.laboratory.files.b3d import read_b3d
from musclesolve.laboratory.files.service_folders import WITHOUT_PLATES
from musclesolve.laboratory.recording.command_settings import KEPT
from musclesolve.laboratory.recording.trial_document import trial_document
from musclesolve.laboratory.results.dataset.quantities import kept_variables
from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
from musclesolve.models.settings import is_predicted
from musclesolve.studies.dataset.data_set import SPLITS, SUBJECTS, TRAIN
from musclesolve.studies.draft.draft_study import NAME, draft_study, write_study
from musclesolve.studies.many_trials.one_trial import RESULT
from musclesolve.studies.many_trials.run_many import check_for_all
from musclesolve.studies.many_trials.trial_record import CSV, PARTED, Outcome, check_table
from musclesolve.studies.study import study_file
from musclesolve.studies.study.means import csv_of
from musclesolve.studies.study.run_study import ComputedStudy, compute_trials
from musclesolve.studies.study.trials_table import SOURCES
from musclesolve.studies.study.unpacked_trials import INPUTS
from musclesolve.tables.text_file import file_path

OF_RESULT = (
    *("frames", "muscles", "mass_kg", "ground_forces"),
    *("extension_positive", "finding_codes", "inputs_sha256", "file"),
)
"""Columns of a trial that has a result."""
LISTED = 4
"""Largest number of open decisions of the draft that are printed."""
SHORT, LONG = 0.25, 0.5
"""An estimate computes two trials of each kind: this share of the trials is shorter than the short one, and this share
of the frames is in trials that are no longer than the long one.
"""
LONGER = 1.5
"""Ratio of two lengths beyond which a time for each frame and one for each trial can be told apart."""


def dataset_study(sources: str | Path | Iterable[str | Path], output: Path) -> study_file.Study:
    """Return the study of all trials in folders and B3D files, drafted into the folder of the data set; or of a file.

    Raises:
        InputError: a source does not exist, no trial is found, or the folder of the data set holds something else.
    """
    paths = [Path(os.path.realpath(file_path(source, "sources"))) for source in one_or_several(sources)]
    if not paths:
        expected = "folders with trials, B3D files (.b3d), or a study file (.toml)"
        raise input_error("missing_argument", problem="no source is named", expected=expected)
    check_table(output / SUBJECTS, "subject,split")
    if len(paths) == 1 and paths[0].suffix == ".toml":
        return study_file.read_study(paths[0])
    if output in paths:
        raise file_error(
            "occupied_folder",
            output,
            "the data set would be written into a folder of sources, which is then taken for results",
            remedy=f"choose another folder with -o, such as {output / 'forces'}",
        )
    above = Path(os.path.commonpath([path if path.is_dir() else path.parent for path in paths]))
    draft = draft_study(above, output / INPUTS / NAME, paths)
    write_study(draft, force=True)
    study, table = study_file.read_study(draft.path), f"{INPUTS}/{draft.table[0].name}"
    notes = [f"not read: {text}" for text in (*draft.unread, *draft.left_out)]
    if cameras := [trial.name for trial in study.included if is_predicted(trial.source.get("loads"))]:
        notes.append(f"no forces were measured, they are predicted from the motion: {shortened(cameras)}")
    taken = [text for text in draft.todos if WITHOUT_PLATES not in text and not text.startswith("fill in ")]
    taken.sort(key=lambda text: KEEP_ONE not in text)  # a motion that counts twice comes first
    notes += [f"to decide: {text}" for text in taken[:LISTED]]
    if taken:
        more = f", with {len(taken) - LISTED} more" if len(taken) > LISTED else ""
        notes.append(
            f"{INPUTS}/{NAME} has the open decisions{more}; this data set took them as drafted. To change one, copy "
            f"{NAME} and {draft.table[0].name} under other names, change the copies, and give the copied study file as "
            "the source"
        )
    if absent := study_file.lacking(study.subjects, study.included):
        said = f"nothing states {study_file.lacking_text(absent)}: enter it in {table}, and give the command again"
        notes.insert(0, said)
    return replace(study, title=output.name, notes=tuple(notes))


def compute_dataset(
    sources: str | Path | Iterable[str | Path],
    output: str | Path,
    *,
    keep: Sequence[str] = KEPT,
    progress: Progress | None = None,
    **how: Any,
) -> ComputedStudy:
    """Compute the trials of a data set, and write its tables of trials and subjects; see `make_dataset`."""
    variables, output = kept_variables(one_or_several(keep)), _folder(output)
    check_for_all({}, how.get("jobs"))
    with reserved(output):
        study = dataset_study(sources, output)
        (output / SUBJECTS).unlink(missing_ok=True)  # the data set is not complete before this table is there
        computed = compute_trials(study, output, pages={}, keep=variables, progress=progress, **how)
        above = f"{output}{os.sep}"
        inside = {x.name: replace(x, message=x.message.replace(above, "")) for x in computed.records.values()}
        computed = replace(computed, records=inside)
        trials = trials_table(computed)
        write_files(output, {CSV: csv_of(trials)})
        subjects = subjects_table(computed, trials)
        write_files(output, {SUBJECTS: csv_of(subjects)})
    notes = list(computed.notes)
    if "mass_kg" in subjects and (several := list(subjects["subject"][subjects["mass_kg"] == ""])):
        notes.append(
            f"{SUBJECTS} states no mass of {shortened(several)}, whose trials have different ones ({CSV})"
        )
    return replace(computed, notes=tuple(notes))


def split_of(subjects: Iterable[str]) -> dict[str, str]:
    """Assign subjects with results to training, validation or test, by the order of the hashes of their names.

    The same subjects have the same split everywhere. There is a test from two subjects on, a validation from three.
    """
    order = sorted(subjects, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    split, first = dict.fromkeys(order, TRAIN), 0
    for fewest, (name, share) in enumerate(SPLITS.items(), start=2):
        count = max(round(share * len(order)), 1) if len(order) >= fewest else 0
        split |= dict.fromkeys(order[first : first + count], name)
        first += count
    return split


def trials_table(computed: ComputedStudy) -> pd.DataFrame:
    """The table of trials of the study, with what a data set states besides, and without paths of the machine."""
    table = pd.read_csv(computed.folder / CSV, dtype=str, keep_default_na=False)
    of = {name: trial.subject for name, trial in computed.study.trial_of.items()}
    done = {of[name] for name, record in computed.records.items() if record.measures is not None}
    split, rows = split_of(done), []
    for name in table["name"]:
        row: dict[str, Any] = dict.fromkeys(OF_RESULT, "")
        record = computed.records.get(name)
        if record is not None and (measures := record.measures) is not None:
            mass = "" if np.isnan(measures.mass_kg) else f"{measures.mass_kg:.6g}"
            codes = " ".join(code.partition(" ")[2] for code in measures.codes)
            file = (record.folder / RESULT).relative_to(computed.folder).as_posix()
            said = measures.extension, codes, measures.inputs, file
            values = (measures.frames, measures.muscles, mass, measures.ground, *said)
            row = dict(zip(OF_RESULT, values, strict=True))
        of_source = PARTED.join(computed.unusual.get(name, ()))
        rows.append({"split": split.get(of[name], ""), **row, "unusual": of_source})
    more = pd.DataFrame(rows, index=table.index)
    table["message"] = table["message"].str.replace(f"{computed.folder}{os.sep}", "")
    # the same data
    table["status"] = table["status"].replace(Outcome.UNCHANGED.value, Outcome.COMPUTED.value)
    return pd.concat([table.drop(columns=["trial", "folder", "seconds"]), more], axis=1)


def subjects_table(computed: ComputedStudy, trials: pd.DataFrame) -> pd.DataFrame:
    """The table of subjects: what is stated of each, its split, and the numbers of its trials and frames.

    A mass that is not stated is the mass of the trials, "" where their masses differ.
    """
    rows = []
    for name, of_subject in trials.groupby("subject", sort=False):
        entries = computed.study.subjects.get(str(name), {}).items()
        stated = {key: value for key, value in entries if value is not None}
        with_result = of_subject[of_subject["file"] != ""]
        masses = pd.to_numeric(with_result["mass_kg"], errors="coerce").dropna().round(2).unique()
        body = {"mass_kg": masses[0] if len(masses) == 1 else ""} if len(masses) else {}
        frames = int(pd.to_numeric(with_result["frames"]).sum())
        counts = {"trials": len(of_subject), "with_result": len(with_result), "frames": frames}
        rows.append({"subject": name, "split": of_subject["split"].iloc[0], **body, **stated, **counts})
    return pd.DataFrame(rows)


def _folder(output: str | Path) -> Path:
    return Path(os.path.realpath(file_path(output, "output")))


@dataclass(frozen=True)
class Estimate:
    """The time and the size of a data set, from some of its trials.

    Args:
        trials, subjects: their numbers. frames: of the trials whose frames are known before they are read.
        seconds: of the computation of all trials in so many processes. jobs: number of processes.
        size: of all results [bytes].
        sampled: the trials that were tried. failed: sampled trials without a result, and the reason.
        kept: whether the results of the sampled trials are in the folder of the data set.
        notes: what was not read, and what is missing of the subjects.
    """

    trials: int
    subjects: int
    frames: int
    seconds: float
    jobs: int
    size: float
    sampled: tuple[str, ...]
    failed: Mapping[str, str]
    kept: bool
    notes: tuple[str, ...] = ()


def estimate_dataset(
    sources: str | Path | Iterable[str | Path],
    output: str | Path,
    *,
    keep: Sequence[str] = KEPT,
    jobs: int | None = None,
    progress: Progress | None = None,
    **how: Any,
) -> Estimate:
    """Compute a few trials of a data set, and estimate time and size of the others by their lengths.

    The results are kept, except beside a data set that is begun or finished: nothing is changed in its folder.

    A short and a long trial of each kind of source are computed in one process, after another one of the kind: it
    loads and compiles. What passes beside these trials, such as the start of the process, is added once. Trials of a
    kind whose samples fail are taken to be as the mean of the other samples.

    Args:
        sources, output, keep, progress: as of `make_dataset`; jobs: number of processes that will compute.
        **how: other keywords of `make_dataset`, which do not matter.
    """
    del how
    check_for_all({}, jobs)
    variables, output = kept_variables(one_or_several(keep)), _folder(output)
    begun = (output / CSV).is_file()
    with ExitStack() as stack:
        if begun:
            output = _apart(output, Path(stack.enter_context(TemporaryDirectory())))
        stack.enter_context(reserved(output))
        study = dataset_study(sources, output)
        kinds: dict[str, list[tuple[float, str]]] = {}
        for trial in study_file.complete(study) or study.included:
            kind = next(key for key in SOURCES if key in trial.source)
            kinds.setdefault(kind, []).append((_length(study, trial), trial.name))
        chosen, first = list[str](), dict[str, str]()
        for kind, of in kinds.items():
            lengths_of, names = zip(*sorted(of), strict=True)
            total = np.cumsum(lengths_of)
            places = int(SHORT * (len(names) - 1)), int(np.searchsorted(total, LONG * total[-1]))
            pair = list(dict.fromkeys(names[place] for place in places))
            others = [name for name in names if name not in pair]
            first[kind] = others[len(others) // 2] if others else pair[0]
            chosen += pair
        few = replace(
            study, trials=tuple(study.trial_of[name] for name in dict.fromkeys((*first.values(), *chosen)))
        )
        options: dict[str, Any] = {"keep": variables, "jobs": 1, "progress": progress}
        compute_trials(replace(few, trials=few.trials[: len(first)]), output, **options)
        start = perf_counter()
        done = compute_trials(few, output, again=True, **options).records
        beside = perf_counter() - start - sum(done[name].seconds for name in chosen)
        known = {name: done[name] for name in chosen if done[name].outcome.has_result}
        sizes = {name: (record.folder / RESULT).stat().st_size for name, record in known.items()}
        (output / SUBJECTS).unlink(missing_ok=True)
    lengths = {name: length for of in kinds.values() for length, name in of}
    seconds = size = 0.0
    for kind, of in kinds.items():
        tried = [name for _, name in of if name in known]
        at, every = np.array([lengths[name] for name in tried]), np.array([length for length, _ in of])
        if not tried:  # lengths of two kinds are in different units
            tried = list(known)
            at, every = np.ones(len(tried)), np.ones(len(of))
        spent = np.array([known[name].seconds for name in tried])
        seconds += _total(at, spent, every)
        size += _total(at, np.array([sizes[name] for name in tried]), every)
        if (name := first[kind]) not in chosen and name in done and done[name].outcome.has_result:
            beside -= _total(at, spent, every[[place for place, (_, stem) in enumerate(of) if stem == name]])
    frames = sum(int(length) for length, _ in kinds.get("b3d", []))
    subjects = len({trial.subject for trial in study.included})
    failed = {name: record.message for name, record in done.items() if not record.outcome.has_result}
    processes, count = min(jobs or cores(), len(study.included)), len(study.included)
    time = max(beside, 0.0) + seconds / processes
    return Estimate(
        count, subjects, frames, time, processes, size, tuple(done), failed, not begun, study.notes
    )


def _apart(output: Path, place: Path) -> Path:
    """A folder in another place with the files of the inputs of a data set, such as its table of subjects."""
    for path in (output / INPUTS).glob("*.*"):
        if path.is_file():
            (place / output.name / INPUTS).mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place / output.name / INPUTS)
    return place / output.name


def _total(at: np.ndarray, spent: np.ndarray, every: np.ndarray) -> float:
    """The sum over trials of all lengths of what was spent at some lengths: a share a trial, and one a frame."""
    if not at.size:
        return float("nan")
    if at.size > 1 and at.max() > LONGER * at.min():
        slope, start = np.polyfit(at, spent, 1)
        if slope > 0.0 and start > 0.0:
            return float(np.sum(start + slope * every))
    return float(spent.sum() / max(at.sum(), 1.0) * every.sum())


def _length(study: study_file.Study, trial: study_file.StudyTrial) -> float:
    """The frames of a trial of a B3D file, of others the bytes of the file of its motion: what its time grows with."""
    folder, source = study.path.parent, trial.source
    try:
        if "b3d" in source:
            return float(_frames(folder / source["b3d"]).get(source["trial"], 0))
        if "file" in source:
            folder = (folder / source["file"]).parent
            source = trial_document(folder / Path(source["file"]).name).content["files"]
        name = next(source[key] for key in ("coordinates", "markers") if key in source)
        return float((folder / str(name)).stat().st_size)
    except (OSError, InputError, LookupError, StopIteration):
        return 0.0  # the trial itself is refused, with the reason


@lru_cache(maxsize=2)
def _frames(path: Path) -> Mapping[str, int]:
    """Trial of a B3D file -> number of its frames."""
    return {trial.name: len(trial.time) for trial in read_b3d(path, ()).trials}
