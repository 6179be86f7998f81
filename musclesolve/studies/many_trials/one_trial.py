"""One trial, of a recording or of an OpenSim model, from its files to the files of its result."""

import contextlib
import pickle
import time
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from muscle_db import MuscleDatabaseError
from muscle_db.regular_file import FileState, UnsuitableFileError, noted_files
from musclesolve._util.messages import Progress, no_progress
from musclesolve._util.processes import return_memory
from musclesolve.constants import RESULT_FILE, SEED
from musclesolve.errors import BusyError, InputError, MuscleSolveError, file_error
from musclesolve.laboratory.bodies.run_options import read_in_time_range
from musclesolve.laboratory.checks.check import findings_of
from musclesolve.laboratory.checks.named_causes import causes_named
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.plotting.figure_names import (
    MODEL,
    RECORDING,
    REPORT,
    UNCERTAINTIES,
    UNCERTAINTY,
    files_of,
    in_every_format,
    pages_of,
)
from musclesolve.laboratory.plotting.page.page_style import A4_PAGE, PageStyle, figures_of, page_style
from musclesolve.laboratory.results.dataset.assemble import shared_result
from musclesolve.laboratory.results.dataset.quantities import kept_of
from musclesolve.laboratory.results.files.atomic_writing import Content, hidden_folder, reserved, write_files
from musclesolve.laboratory.results.files.result_netcdf import (
    check_folder,
    check_inputs,
    check_model,
    netcdf_bytes,
    opened_result,
    read_result,
    result_attributes,
    result_content,
    storable,
    trial_from,
)
from musclesolve.laboratory.results.plausibility import judged_facts, with_uncertainty
from musclesolve.laboratory.results.recipe import ATTRIBUTE, settings_hash
from musclesolve.laboratory.run_trial import share_model
from musclesolve.models.settings import replaces_file
from musclesolve.models.simulated_body import is_simulated
from musclesolve.studies.many_trials.trial_record import (
    MEASURES,
    Measures,
    Outcome,
    TrialRecord,
    input_hashes,
    is_current,
    opened_hashes,
    recipe,
)

if TYPE_CHECKING:
    from musclesolve.laboratory.bodies.measured_body import MeasuredModel
    from musclesolve.laboratory.bodies.recorded_body import RecordedBody
    from musclesolve.studies.many_trials.b3d_source import B3DSource

ACTIVATIONS = "activations.csv"
OF_MODEL = "a model of OpenSim (.osim), MuJoCo (.xml, .mjb) or biorbd (.bioMod)"
RESULT, ERROR, EARLIER = RESULT_FILE, "error.txt", f"earlier_{RESULT_FILE}"
REFUSAL = "refusal.json"
"""File with the recipe of a refusal, beside `ERROR`: the trial is not tried again while its recipe is the same."""
PASSING = {
    *("busy", "not_writable", "occupied_folder", "missing_file", "unreadable_file", "file_changed"),
    *("missing_package", "bad_environment"),
}
"""Codes of refusals that may have passed at the next call, with the same input."""
Further = Callable[[xr.Dataset, Path], bytes]
"""Function of a module that makes the content of a file beside a result, from the result and its path.

An object may have `made(path)`: whether an existing file is what it would make of the same result.
"""


@dataclass(frozen=True)
class Job:
    """A trial that is to be computed."""

    name: str  # of its folder
    trial: Path  # the trial file, absolute
    folder: Path  # where its files go, absolute
    options: Mapping[str, object]  # keyword arguments of `run`
    figures: bool = True  # whether they are drawn
    again: bool = False  # compute even if a result of the same input, options and version exists
    style: PageStyle = A4_PAGE  # of the figures
    # files beside the result by name, made in this order; None: not wanted, a file of an earlier result is removed
    further: Mapping[str, Further | None] = field(default_factory=dict)
    questions: tuple[str, ...] = ()  # further questions beside those of the trial file
    source: "B3DSource | None" = None  # what writes the input files, before they are read
    # the variables of result.nc, which then has numbers of 32 bits; all unless given
    keep: tuple[str, ...] = ()

    def ready(self) -> Path:
        """Write the input files where they are made from another file; the trial file."""
        if self.source is not None:
            self.source.unpack()
        return self.trial

    def with_answers(self) -> "Job":
        """Put the answers to the questions of the trial first among the further files."""
        from musclesolve.studies.questions.answers import answer_files, asked_of

        answers = answer_files(asked_of(self.trial, self.questions), self.options)
        return replace(self, further={**answers, **self.further})

    def record(self, outcome: Outcome, message: str = "", details: str = "") -> TrialRecord:
        """The record of a trial without a result."""
        return TrialRecord(self.name, self.trial, self.folder, outcome, message=message, details=details)

    @property
    def choices(self) -> Mapping[str, object]:
        """All choices on which a refusal may depend."""
        beside = {"figures": self.figures, "further": dict(self.further), "questions": self.questions}
        return {**_recorded(self.options, self.keep), **beside}

    def refusal(self, error: Exception, opened: Mapping[Path, FileState]) -> TrialRecord:
        """The record of a refused trial; opened: its `noted_files`."""
        made = ""
        if opened and not _may_pass(error):
            # choices that cannot be pickled are not known again
            with contextlib.suppress(pickle.PicklingError, AttributeError, TypeError):
                made = recipe(opened_hashes(opened, self.trial), "", self.choices, [ERROR])
        return replace(self.record(Outcome.REFUSED, str(error)), recipe=made)


def analyze(
    trial: Path,
    folder: Path,
    options: Mapping[str, object],
    figures: bool,
    progress: Progress,
    more: "Callable[[RecordedBody | MeasuredModel, xr.Dataset], tuple[xr.Dataset, dict[str, bytes]]] | None" = None,
    outdated: Iterable[str] = (),
    keep: Sequence[str] = (),
) -> tuple[xr.Dataset, list[Path]]:
    """Read, compute, draw and write one trial; all files are written, or none. Returns the result and the files.

    Figures, page and messages of an earlier result in the folder are removed, and files that are named in `outdated`.
    Options are keyword arguments of `run`; `more` makes further files of the body and its result, by name, and adds
    their verdicts to the result; `keep`: as of `Job`.
    """
    with reserved(folder), noted_files() as opened, hidden_folder(folder) as beside:
        check_folder(folder, RESULT, trial)
        of_trial = dict[str, bytes]()
        with causes_named(trial):
            loaded, others = read_in_time_range(trial, options)
            hashes, chosen = input_hashes(loaded), settings_hash(loaded.document.content)
            body = prepare(loaded, progress=progress, **others)
            paths = not keep or "path_position" in keep
            facts = judged_facts(shared_result(body, findings_of(body, loaded), progress, paths, beside))
            result = facts.result
            if more is not None:
                result, of_trial = more(body, result)
            # a long motion takes more memory than the writing of its numbers
            frames = len(body.time)
            del loaded, body
            return_memory(frames)
        drawn = _figures(result, progress) if figures else {}
        result.attrs |= trial_from(trial, folder)
        result.attrs[ATTRIBUTE] = recipe(
            opened_hashes(opened, trial) | hashes, chosen, _recorded(options, keep), [RESULT, *drawn]
        )
        result.attrs[MEASURES] = Measures.from_result(result, facts).as_json()
        progress("writing", 1.0)
        numbers = result_content(kept_of(result, keep), small=True) if keep else result_content(result)
        files = {RESULT: numbers, **drawn, **of_trial}
        written = write_files(folder, files, _left_over(folder, outdated))
        if any(beside.iterdir()):  # the numbers of a long recording are read where they are needed
            result = opened_result(folder / RESULT)
        return result, written


def analyze_with_uncertainty(
    trial: Path,
    folder: Path,
    options: Mapping[str, object],
    figures: bool,
    progress: Progress,
    samples: int | str | None,
    seed: int = SEED,
) -> tuple[xr.Dataset, list[Path], xr.Dataset | None]:
    """Analyze a trial as `analyze` does, and its uncertainty by samples, unless None: uncertainty.nc.

    Returns the result, the files, and what `uncertainty` returns.
    """
    if samples is None:
        return (*analyze(trial, folder, options, figures, progress), None)
    from musclesolve.studies.uncertainty.monte_carlo import uncertainty

    spread: xr.Dataset | None = None

    def judged(
        body: "RecordedBody | MeasuredModel", result: xr.Dataset
    ) -> tuple[xr.Dataset, dict[str, bytes]]:
        """The result, judged by its uncertainty, and the files of the uncertainty."""
        nonlocal spread
        spread = uncertainty(body, samples, seed, progress=progress, result=result)
        pages = pages_of(spread, UNCERTAINTIES) if figures else {}
        files = {UNCERTAINTY: netcdf_bytes(spread), **figures_of(spread, pages, progress)}
        joints = "joint" in result.coords and "joint" in spread.coords
        return with_uncertainty(result, spread) if joints else result, files

    return (*analyze(trial, folder, options, figures, progress, judged), spread)


def share_into(
    folder: Path,
    inputs: tuple[Path, Path, Path | None],
    options: Mapping[str, Any],
    progress: Progress,
    *,
    figures: bool = True,
) -> tuple[xr.Dataset, list[Path]]:
    """Share the forces of an OpenSim model, draw and write: result.nc, STO files and figures, all of them or none.

    MuJoCo and biorbd have a table of activations instead of STO files. inputs: model, coordinates and moments
    (None where the options have loads). options: further keywords of `share_model`.
    """
    from musclesolve.laboratory.results.export.time_series import ENDINGS, activation_csv, storage_files

    stem = inputs[1].stem
    named = (*inputs, options.get("loads"))
    read = [Path(path) for path in named if path is not None and not replaces_file(path)]
    for path, expected in zip(read, (OF_MODEL, *["a table of numbers over time"] * 3), strict=False):
        if not path.exists():
            raise file_error(
                "missing_file", path, "there is no such file", expected, "check the name and the folder"
            )
    with reserved(folder):
        check_model(folder, RESULT, inputs[1], inputs[0])
        check_inputs(read, folder, [ACTIVATIONS, *(f"{stem}_{ending}.sto" for ending in ENDINGS)])
        progress("sharing", 0.2)
        result = share_model(*inputs, **options)
        if result.sizes["time"] < 2:
            raise file_error(
                "too_few_frames",
                (inputs[1], "time range"),
                f"the analyzed range holds one frame, at {result['time'].values[0]:g} s",
                "two frames or more, as STO files need them",
                "widen --start and --end, or call share_model in Python, which takes a single frame",
            )
        result.attrs |= trial_from(inputs[1], folder)
        drawn = _figures(result, progress) if figures else {}
        progress("writing", 1.0)
        files: dict[str, Content] = {RESULT: result_content(result), **drawn}
        files |= (
            {ACTIVATIONS: activation_csv(result)} if is_simulated(inputs[0]) else storage_files(result, stem)
        )
        return result, write_files(folder, files, _left_over(folder))


def _left_over(folder: Path, more: Iterable[str] = ()) -> list[str]:
    """The figures, page and messages of an earlier result in a folder; without one, such files are the user's."""
    if not any((folder / name).is_file() for name in (RESULT, ERROR, EARLIER)):
        return []
    figures = in_every_format(files_of(RECORDING, MODEL, UNCERTAINTIES))
    return [*figures, UNCERTAINTY, REPORT, ERROR, REFUSAL, EARLIER, *more]


def _figures(result: xr.Dataset, progress: Progress) -> dict[str, bytes]:
    from musclesolve.laboratory.plotting import figure_sets  # loads matplotlib: only where figures are drawn

    return figure_sets.figure_files(result, progress)


def attempt(job: Job, progress: Progress = no_progress) -> TrialRecord:
    """Compute a trial unless its result exists; errors are stored in the record, never raised."""
    start, requested, opened = time.perf_counter(), job, dict[Path, FileState]()
    try:
        with page_style(job.style), reserved(job.folder), noted_files() as opened:
            stored = result_attributes(job.folder / RESULT)
            check_folder(job.folder, RESULT, job.trial, stored)
            job.ready()
            job = job.with_answers()
            measures, outcome = None if job.again else _current(job, stored), Outcome.UNCHANGED
            result = None
            if measures is None:
                files = job.trial, job.folder, job.options, job.figures, progress
                result, _ = analyze(*files, outdated=job.further, keep=job.keep)
                measures, outcome = Measures.from_json(result.attrs[MEASURES]), Outcome.COMPUTED
            if missing := _missing(job):
                path = job.folder / RESULT
                result = read_result(path) if result is None else result
                for name, make in missing.items():
                    write_files(job.folder, {name: make(result, path)})
    except BusyError as error:
        return job.record(Outcome.STOPPED, str(error))
    except (MuscleSolveError, MuscleDatabaseError) as error:
        return requested.refusal(error, opened)
    except Exception as fault:
        # An error of the program must not stop the other trials. Its traceback is stored for a report.
        message = f"the program failed: {type(fault).__name__}: {fault}"
        return job.record(Outcome.FAILED, message, traceback.format_exc())
    return TrialRecord(job.name, job.trial, job.folder, outcome, time.perf_counter() - start, measures)


def _may_pass(error: BaseException | None) -> bool:
    """Whether a refusal may have passed at the next call: behind it stand memory, disk, a process or a missing file."""
    while error is not None:
        of_content = FileNotFoundError, IsADirectoryError, NotADirectoryError, UnsuitableFileError
        if (
            getattr(error, "code", "") in PASSING
            or isinstance(error, MemoryError)
            or (isinstance(error, OSError) and not isinstance(error, of_content))
            or type(error) is MuscleSolveError  # such as a process that died
        ):
            return True
        error = error.__cause__ or error.__context__
    return False


def _recorded(options: Mapping[str, object], keep: Sequence[str]) -> Mapping[str, object]:
    """The options by which a result is recognized as current."""
    return {**options, "keep": " ".join(keep)} if keep else options


def _current(job: Job, stored: Mapping[str, str]) -> Measures | None:
    """Measures of an existing result, from its attributes, if a run would compute the same result."""
    text = stored.get(ATTRIBUTE, "")
    options = _recorded(job.options, job.keep)
    if not is_current(text, job.trial, job.folder, options, job.figures):
        return None
    return Measures.from_json(stored.get(MEASURES, ""))


def _missing(job: Job) -> dict[str, Further]:
    """The makers of the missing files beside a result, from the first missing one: later ones read earlier ones."""
    wanted = {name: make for name, make in job.further.items() if make is not None}
    for place, (name, make) in enumerate(wanted.items()):
        path = job.folder / name
        if not path.is_file() or not getattr(make, "made", Path.is_file)(path):
            return dict(list(wanted.items())[place:])
    return {}


def known_record(job: Job) -> TrialRecord | None:
    """The record of a trial for which nothing is left to do; None where it is to be computed.

    Its current result exists with all files beside it, an earlier call has refused the same, or no forces follow from
    its source. Nothing is unpacked, computed or written, and no folder is reserved: files appear complete. Files that
    cannot be examined, such as a damaged result, are left to `attempt`, which records the fault of this trial alone.
    """
    start = time.perf_counter()
    with contextlib.suppress(Exception), page_style(job.style):
        if job.again or (job.source is not None and not job.source.is_unpacked):
            return None
        try:
            job.ready()
        except InputError as error:
            return job.record(Outcome.REFUSED, str(error))
        if stored := result_attributes(job.folder / RESULT):
            check_folder(job.folder, RESULT, job.trial, stored)
            job = job.with_answers()
            if (measures := _current(job, stored)) is not None and not _missing(job):
                seconds = time.perf_counter() - start
                return TrialRecord(job.name, job.trial, job.folder, Outcome.UNCHANGED, seconds, measures)
        elif (job.folder / REFUSAL).is_file():
            text = (job.folder / REFUSAL).read_text(encoding="utf-8")
            if is_current(text, job.trial, job.folder, job.choices, figures=False):
                message = (job.folder / ERROR).read_text(encoding="utf-8").rstrip()
                return job.record(Outcome.REFUSED_BEFORE, message)
    return None


def leave_message(record: TrialRecord) -> None:
    """Write the reason for a missing result into the folder of a trial; rename an earlier result of another input.

    Nothing is changed in a folder that holds the result of another trial, or into which another run writes, and nothing
    is raised where it cannot be written.
    """
    if record.outcome in (Outcome.STOPPED, Outcome.REFUSED_BEFORE):
        return
    text = "\n".join(part for part in (record.message, record.details) if part)
    with contextlib.suppress(InputError, OSError):
        check_folder(record.folder, RESULT, record.trial)
        files: dict[str, Content] = {ERROR: f"{storable(text.rstrip())}\n".encode()}
        if record.recipe:
            files[REFUSAL] = record.recipe.encode()
        write_files(record.folder, files, [REFUSAL])
        if (record.folder / RESULT).is_file():
            (record.folder / RESULT).replace(record.folder / EARLIER)
