"""Answers that are written beside their trial: the dataset, its tables and its figures, all of them or none.

The verdict on the trial holds for every answer, and stands in its attributes.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import xarray as xr

from musclesolve._util.messages import Progress, no_progress
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
from musclesolve.laboratory.results.files.result_netcdf import (
    check_folder,
    check_inputs,
    netcdf_bytes,
    trial_from,
)
from musclesolve.laboratory.results.finding import FINDINGS
from musclesolve.laboratory.results.judgement import judge
from musclesolve.laboratory.trial.trial_file import read_trial

VERDICT = "verdict"
"""Attribute of an answer: the verdict on the trial, in words."""


def judgement_of(result: xr.Dataset) -> dict[str, Any]:
    """The attributes of an answer with the files of the trial, the verdict on its result and the findings on both."""
    judged = judge(Facts(result))
    findings = json.dumps([entry.as_dict() for entry in judged.findings])
    return {**of_trial(result), VERDICT: judged.label, FINDINGS: findings}


def of_trial(result: xr.Dataset) -> dict[str, Any]:
    """The attributes of a result that name its files."""
    return {key: result.attrs[key] for key in ("inputs", "trial_file") if key in result.attrs}


Tables = Mapping[str, Callable[[xr.Dataset], bytes]]
"""File name -> function that makes the table of an answer."""


def write_answer(
    folder: Path, file: str, kind: str, answer: xr.Dataset, tables: Tables, progress: Progress = no_progress
) -> list[Path]:
    """Write a dataset as a file, with its tables and its figures of a kind; figures of an earlier one are removed.

    Without an earlier file of this name, a file that is called as a figure is the user's.
    """
    from musclesolve.laboratory.plotting.figure_names import files_of, pages_of  # loads matplotlib
    from musclesolve.laboratory.plotting.page.page_style import figures_of

    files = {file: netcdf_bytes(answer), **{name: make(answer) for name, make in tables.items()}}
    files |= figures_of(answer, pages_of(answer, kind), progress)
    progress("writing", 1.0)
    return write_files(folder, files, files_of(kind) if (folder / file).is_file() else ())


def answer_about(
    trial: Path,
    folder: Path,
    file: str,
    kind: str,
    ask: Callable[[Any, Progress], xr.Dataset],
    tables: Tables,
    progress: Progress = no_progress,
    beside: Sequence[str] = (),
) -> tuple[xr.Dataset, list[Path]]:
    """Ask about a trial and write the answer, as in `write_answer`; nothing in the folder is of another trial.

    ask: gives the answer for the trial that was read and a callback of the progress. beside: files of other answers,
    which must not be of another trial either.
    """
    with reserved(folder):
        for name in (file, *beside):
            check_folder(folder, name, trial)
        loaded = read_trial(trial)
        check_inputs(loaded.files.values(), folder, tables)
        answer = ask(loaded, progress)
        answer.attrs |= trial_from(trial, folder)
        return answer, write_answer(folder, file, kind, answer, tables, progress)
