"""The trials of a data set, read one by one, as rows of frames, or as arrays for learning."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any
from warnings import warn

import numpy as np
import pandas as pd
import xarray as xr

from muscle_db.similar_names import suggestion
from musclesolve._util.arrays import AnyArray
from musclesolve._util.checks import one_or_several
from musclesolve._util.messages import check_known, unknown_name
from musclesolve._util.sides import side_of
from musclesolve.errors import file_error
from musclesolve.laboratory.results.dataset.frame_validity import muscle_sides
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES
from musclesolve.laboratory.results.files.result_netcdf import read_result
from musclesolve.laboratory.results.judgement import USABLE, WITH_CARE
from musclesolve.studies.many_trials.one_trial import RESULT
from musclesolve.studies.many_trials.trial_record import CSV
from musclesolve.tables.text_file import file_path

SUBJECTS, TRIALS = "subjects.csv", "trials"
"""Table of the subjects, and folder with a folder of each trial."""
SPLITS = {"test": 0.15, "validation": 0.15}
"""Shares of the subjects; the others are for training."""
TRAIN = "train"
NUMBERS = (
    "leg_frames_",
    "peak_",
    "frames",
    "muscles",
    "mass_kg",
    "stature_m",
    "age_years",
    "trials",
    "with_result",
)
"""Beginnings of the names of columns of numbers; the others are texts."""
FIT_FOR_USE = (USABLE, WITH_CARE)
"""Verdicts of the trials that `DataSet.names` chooses by default."""


class DataSet:
    """A data set that `musclesolve dataset` wrote.

    As a sequence it has one dictionary of arrays a trial, variable -> array, frames first: what `torch.utils.data`
    calls a map-style dataset.

    Args:
        folder: of the data set.

    Attributes:
        trials: a row for each trial by its name: subject, split, status, verdict, findings, frames, peaks.
        subjects: a row for each subject by its name: split (of subjects with a result), body, numbers of trials and
            frames.

    Raises:
        InputError: the folder holds no data set, or one that is not complete.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = file_path(folder)
        tables = []
        for name, index in ((CSV, "name"), (SUBJECTS, "subject")):
            try:
                table = pd.read_csv(self.folder / name, dtype=str).set_index(index)
                numbers = [column for column in table if str(column).startswith(NUMBERS)]
                tables.append(table.assign(**{column: pd.to_numeric(table[column]) for column in numbers}))
            except (OSError, ValueError, KeyError) as reason:
                raise file_error(
                    "missing_file",
                    self.folder / name,
                    "this is no complete data set",
                    f"a folder of `musclesolve dataset`, with {CSV} and {SUBJECTS}",
                    "name that folder; a data set that was stopped is completed by the same command",
                ) from reason
        self.trials, self.subjects = tables

    def __repr__(self) -> str:
        """Return path and size in a line."""
        return f"<DataSet {str(self.folder)!r}: {len(self)} trials of {len(self.subjects)} subjects>"

    @cached_property
    def computed(self) -> list[str]:
        """Names of the trials that have a result."""
        return [str(name) for name in self.trials.index[self.trials["file"].notna()]]

    def __len__(self) -> int:
        return len(self.computed)

    def __getitem__(self, number: int) -> dict[str, AnyArray]:
        """The arrays of a trial over its frames, by variable, and `time` (T,)."""
        result = self.read(self.computed[number])
        arrays = {str(name): array.values for name, array in result.variables.items() if "time" in array.dims}
        return {
            name: np.require(values, requirements="W") for name, values in arrays.items()
        }  # as PyTorch needs

    def names(self, split: str | None = None, verdicts: Sequence[str] | None = FIT_FOR_USE) -> list[str]:
        """Names of trials with a result.

        Args:
            split: "train", "validation" or "test"; all of them unless given.
            verdicts: of the trials that are chosen, as `laboratory.results.judgement` names them; None for all.
        """
        chosen = self.trials.loc[self.computed]
        if split is not None:
            known = {TRAIN, *SPLITS, *self.subjects["split"].dropna()}
            check_known([split], "split", sorted(known), f" in {self.folder.name}", self.folder / SUBJECTS)
            chosen = chosen[chosen["split"] == split]
        if verdicts is not None:
            chosen = chosen[chosen["verdict"].isin(list(verdicts))]
        return [str(name) for name in chosen.index]

    def read(self, name: str) -> xr.Dataset:
        """Read one trial as `read_result` does: the kept variables, with numbers of 32 bits.

        Raises:
            InputError: there is no trial of this name, it has no result, or its file is damaged.
        """
        if name not in self.trials.index:
            raise unknown_name(
                name, "trial", [str(trial) for trial in self.trials.index], f" in {self.folder.name}"
            )
        return read_result(self.folder / TRIALS / name / RESULT)

    def frames(
        self, columns: str | Iterable[str], trials: Iterable[str] | None = None, valid: bool = True
    ) -> pd.DataFrame:
        """Return frames of many trials as rows.

        Args:
            columns: variables, such as "joint_angle", or one of their curves, such as "muscle_force soleus_r".
            trials: names of trials, as of `names`, which are also the default.
            valid: whether numbers that follow from the sharing are left out (NaN) where the frames of their leg have
                no valid solution.

        Returns:
            The columns trial, subject, split, time [s], and a column of 32 bits for each curve, NaN where a trial
            lacks it.

        Raises:
            InputError: no trial has one of the columns.
        """
        wanted = [str(column) for column in one_or_several(columns)]
        parts, missing, known = [], dict.fromkeys(wanted), dict[str, None]()
        chosen = list(self.names() if trials is None else trials)
        if trials is None and self.computed and not chosen:
            counts = self.trials.loc[self.computed, "verdict"].value_counts()
            verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
            warn(
                f"no trial is fit for use ({verdicts}): trials=names(verdicts=None) takes them all",
                stacklevel=2,
            )
        for name in chosen:
            result = self.read(name)
            table: dict[str, Any] = {"trial": name, **self.trials.loc[name, ["subject", "split"]]}
            table["time"] = result["time"].values
            for column in wanted:
                variable = column.partition(" ")[0]
                if variable not in result or result[variable].dims[:1] != ("time",):
                    continue
                array = result[variable]
                labels = product(*(map(str, array[dim].values) for dim in array.dims[1:]))
                for label, values in zip(labels, array.values.reshape(len(array), -1).T, strict=True):
                    full = " ".join((variable, *label))
                    known[full] = None
                    if column in (variable, full):
                        table[full] = _valid(result, variable, label, values) if valid else values
                        missing.pop(column, None)
            parts.append(pd.DataFrame(table))
        for column in missing if parts else ():
            names = [*dict.fromkeys(name.partition(" ")[0] for name in known), *known]
            raise file_error(
                "unknown_name",
                self.folder,
                f"no trial has {column!r}",
                "a variable that the data set keeps, or one of its curves",
                suggestion(column, names or QUANTITIES) or "see DATA_CARD.md",
            )
        none = pd.DataFrame(columns=["trial", "subject", "split", "time"])
        return pd.concat(parts or [none], ignore_index=True)


def open_dataset(folder: str | Path) -> DataSet:
    """Open a data set that `musclesolve dataset` wrote; trials are read when they are needed.

    Args:
        folder: of the data set.

    Returns:
        Its tables of trials and subjects, and the trials (`DataSet`).

    Raises:
        InputError: the folder holds no data set, or one that is not complete.

    Examples:
        >>> data = ms.studies.make_dataset(ms.data.reference_stride().parent, "walks", jobs=1)
        >>> ms.studies.open_dataset("walks").subjects.index.tolist()
        ['reference stride']
    """
    return DataSet(folder)


def _valid(result: xr.Dataset, variable: str, label: Sequence[str], values: AnyArray) -> AnyArray:
    """A curve with NaN where what it follows from is not valid for its leg; of no leg, where any leg is not."""
    if QUANTITIES[variable].follows not in ("solution", "state"):
        return values
    there, of_muscles = [str(value) for value in result["side"].values], muscle_sides(result)
    sides = {side for name in label for side in (name, of_muscles.get(name), side_of(name)) if side in there}
    of_leg = result["valid"].sel(side=sorted(map(str, sides)) or there).values.all(axis=1)
    return np.where(of_leg, values, np.nan).astype(values.dtype)
