"""Analysis of a study: all cycles in one file, means, tests, discrete values, unusual cycles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import xarray as xr

from musclesolve._util.arrays import grouped
from musclesolve._util.messages import Progress, count_of, no_progress, shortened
from musclesolve.errors import InputError
from musclesolve.laboratory.recording.command_settings import VALUES_FORMATS
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.laboratory.results.cycles.discrete_values import discrete_values, values_file, with_values
from musclesolve.laboratory.results.cycles.gait_cycles import SPREAD
from musclesolve.laboratory.results.cycles.outliers import JUDGED, with_outliers
from musclesolve.laboratory.results.dataset.quantities import in_set
from musclesolve.laboratory.results.dataset.result_quantities import listed
from musclesolve.laboratory.results.files.atomic_writing import reserved, write_files
from musclesolve.laboratory.results.plausibility import NOT_KNOWN, NOT_PLAUSIBLE
from musclesolve.laboratory.results.tables.study_tables import comparisons_csv
from musclesolve.studies.study.compare_subjects import ComparedSubjects, compare_subjects
from musclesolve.studies.study.curve_tests import FEWEST_SUBJECTS, LEG, compare_curves
from musclesolve.studies.study.means import (
    CURVES,
    SUBJECT_VALUES,
    WITHIN,
    csv_of,
    curves_table,
    group_means,
    groups_of,
    subject_means,
    values_table,
    without,
)
from musclesolve.studies.study.run_study import COMPUTING, ComputedStudy, compute_trials, write_table
from musclesolve.studies.study.study_data import Collected, add_to_cycles, open_study, write_study_data
from musclesolve.studies.study.study_file import Study
from musclesolve.studies.study.study_findings import LegVerdict, Listed, believable, each_once, sensitivity

NO_CYCLES = "not tested: there are no cycles"


@dataclass(frozen=True)
class StudyResult:
    """The result of a study: trials, cycles, means, tests and values.

    Args:
        computed: the trials.
        cycles: of all trials (`open_study`); None where no trial has any.
        groups: mean curves of groups and conditions (`group_means`).
        comparisons: tests (`compare_curves`); None where there are none.
        not_compared: reason without tests; "" with tests.
        not_averaged: name of a trial with a result -> why none of its cycles is in `cycles`.
        compared: each subject held against the others.
        left_out: name of a trial whose cycles are in `cycles` -> why its subject does not count there.
        findings: all findings, on subjects and on trials, each fault once with its trials.
        verdicts: whether each leg of each trial in `cycles` is plausible, and why not.
        plausible: tests without the legs that are not plausible; None where all are, or nothing can be tested.
        sensitivity: change of the differences without these legs, in a sentence; "" where all are plausible.
        values: mean and standard deviation over subjects of the discrete values, by variable, name, phase, measure,
            unit, group and condition.
        sizes: subject -> mass_kg and stature_m that its trial files and models state, means over its trials.
        files: files that were written beside the folders of the trials.
    """

    computed: ComputedStudy
    cycles: xr.Dataset | None = None
    groups: xr.Dataset | None = None
    comparisons: xr.Dataset | None = None
    not_compared: str = NO_CYCLES
    not_averaged: Mapping[str, str] = field(default_factory=dict)
    compared: ComparedSubjects = field(default_factory=ComparedSubjects)
    left_out: Mapping[str, str] = field(default_factory=dict)
    findings: Sequence[Listed] = ()
    verdicts: Sequence[LegVerdict] = ()
    plausible: xr.Dataset | None = None
    sensitivity: str = ""
    values: pd.DataFrame = field(default_factory=pd.DataFrame)
    sizes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    files: tuple[Path, ...] = ()


VALUES, COMPARISONS = "values", "comparisons.csv"
CSV, PARQUET = VALUES_FORMATS
FILES = {f"{VALUES}.{CSV}", f"{VALUES}.{PARQUET}", COMPARISONS, CURVES, SUBJECT_VALUES}
"""Tables of a study; those of an earlier analysis that are not written again are removed."""
CYCLES_AT_ONCE = 500
"""Number of cycles whose values are in memory at the same time."""
OF_VALUE = ["variable", "name", "phase", "measure", "unit"]
OF_SUBJECT = ["subject", "group", "condition"]
OF_LEG = ["cycle_leg", "plausibility"]
LEG_NAMES = {"right_left": ("right", "left"), "affected": ("sound", "affected"), "inner": ("outer", "inner")}
"""Legs distinguished by [design] legs: the reference, and the leg that is compared with it."""
LONGEST_CYCLE = 2.5
"""Factor of the median length of the cycles, beyond which a cycle is named."""


def run_study(
    study: Study | str | Path,
    output: str | Path,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    again: bool = False,
    samples: int | str | None = None,
    values_format: str = CSV,
    progress: Progress | None = None,
) -> StudyResult:
    """Compute the trials of a study, put their cycles together, describe and compare groups and conditions.

    A result that is up to date is kept, and a trial that fails does not stop the others. In `output` there are then
    trials/NAME/ with result.nc and cycles.nc, trials.csv, study.nc, values.csv, subject_values.csv, curves.csv and, if
    curves are compared, comparisons.csv; ``musclesolve study`` writes a page and the figures besides. On one machine
    this starts processes: in a script, call it below ``if __name__ == "__main__":``.

    Args:
        study: what `read_study` returned, or the path of the study file.
        output: folder of the results, made when it is missing.
        jobs, scheduler, again, progress: see `ManyOptions`.
        samples: of the uncertainty of every trial, uncertainty.nc, as in `uncertainty`; None without one.
        values_format: "csv" or "parquet".

    Returns:
        The records of the trials, the cycles, the means of groups and conditions, and the comparisons.

    Raises:
        InputError: the study file is at fault, the folder cannot be written, or the trials cannot be put together:
            forces of different muscles or costs, a unit that needs an unknown mass or stature.
        KeyboardInterrupt: after Ctrl-C; the same call goes on with the trials that are left.

    Examples:
        >>> data = ms.studies.make_dataset(ms.data.reference_stride().parent, "walks", jobs=1)   # drafts a study
        >>> study = ms.studies.run_study("walks/inputs/study.toml", "study", jobs=1)
        >>> study.cycles["joint_moment"].attrs["units"]
        'N m/kg'
    """
    how: dict[str, Any] = {"jobs": jobs, "scheduler": scheduler, "again": again, "samples": samples}
    return analyze_study(compute_trials(study, output, progress=progress, **how), progress, values_format)


def analyze_study(
    computed: ComputedStudy, progress: Progress | None = None, values_format: str = CSV
) -> StudyResult:
    """Collect the cycles of a study, mark unusual ones, and describe and compare groups and conditions.

    Subjects with an error, found by comparison with the others, have `counts` false in study.nc and values.csv, and are
    in no mean and no test, unless `keep` of the subject is stated. Writes study.nc, values.csv (or values.parquet),
    subject_values.csv, curves.csv, comparisons.csv and, with the reasons why trials do not count, trials.csv into the
    folder of the study.
    """
    report, folder = progress or no_progress, computed.folder
    with reserved(folder):
        collected = write_study_data(computed, lambda stage, share: report(stage, COMPUTING + 0.03 * share))
        computed = replace(computed, notes=(*computed.notes, *collected.notes))
        if collected.path is None:
            write_table(computed, collected.not_averaged)
            findings = each_once(collected.findings)
            result = StudyResult(computed, not_averaged=collected.not_averaged, findings=findings)
        else:
            result = _analyzed(computed, collected, collected.path, report, values_format)
        write_files(folder, {}, FILES - {path.name for path in result.files})
    return result


def _analyzed(
    computed: ComputedStudy, collected: Collected, path: Path, report: Progress, values_format: str
) -> StudyResult:
    """The analysis of a study whose cycles are in study.nc."""
    folder, design = computed.folder, computed.study.design
    report("unusual cycles", COMPUTING + 0.03)
    add_to_cycles(path, _unusual)
    with open_study(folder) as cycles:
        plan = _Plan.from_study(computed, cycles)
        judged = [str(name) for name in cycles if name in JUDGED or cycles[name].dims == ("cycle",)]
        everyone = plan.means(cycles, judged)
        compared = compare_subjects(everyone, *_of_subjects(computed, cycles))
        trials = dict.fromkeys(map(str, cycles["trial"].values))
    verdicts = [leg for name in trials for leg in collected.verdicts[name]]
    kept = {subject: computed.study.of_subject(subject, "keep_subject") for subject, _ in compared.wrong}
    cells = {cell: why for cell, why in compared.wrong.items() if not kept[cell[0]]}
    add_to_cycles(path, lambda cycles: _counting(cycles, cells, computed, verdicts))
    cycles = open_study(folder)
    why_not = zip(map(str, cycles["trial"].values), map(str, cycles["not_counted"].values), strict=True)
    left_out = {name: reason for name, reason in why_not if reason}
    write_table(computed, {**collected.not_averaged, **left_out})

    report("values", COMPUTING + 0.05)
    files = [path, folder / f"{VALUES}.{values_format}"]
    values = _write_values(cycles, [*plan.variables, *plan.primary], files[-1])
    report("tests", COMPUTING + 0.07)
    if legs := _legs(cycles, design.legs):
        plan = replace(plan, legs=legs)
        everyone = plan.means(cycles)
    wanted = [name for name in everyone if str(name).removesuffix(WITHIN).removesuffix(SPREAD) in plan.wanted]
    means = without(everyone[["cycles", *wanted]], set(cells))
    tidy = {CURVES: csv_of(curves_table(means))}
    if not (by_subject := plan.of_subjects(values)).empty:
        tidy[SUBJECT_VALUES] = csv_of(values_table(by_subject, plan.apart))
    comparisons, why, few = plan.tests(means, values)
    if comparisons is not None:
        tidy[COMPARISONS] = comparisons_csv(comparisons).encode()
    files += write_files(folder, tidy)

    # The same tests without the legs that are not plausible.
    counting = cycles["counts"].values.astype(bool)
    trusted, counted = believable(cycles, verdicts) & counting, set(cycles["trial"].values[counting].tolist())
    verdicts = [leg for leg in verdicts if leg.trial in counted]
    plausible, said = None, ""
    if (trusted != counting).any():
        not_tested = "no leg is left"
        if trusted.any():
            curve = plan.means(cycles.isel(cycle=np.flatnonzero(trusted)))
            plausible, not_tested, _ = plan.tests(curve, values[values["plausibility"] != NOT_PLAUSIBLE])
        said = sensitivity(comparisons, plausible, not_tested, verdicts)
    if design.legs in LEG_NAMES and not legs:
        both = " and ".join(LEG_NAMES[design.legs])
        few.append(f'legs = "{design.legs}" is not followed: there are no cycles of {both} legs to compare')
    on_kept = (f"{name} counts although an error was found: {why}" for name, why in kept.items() if why)
    notes = (*computed.notes, *on_kept, *_on_cycles(cycles), *few)
    return StudyResult(
        replace(computed, notes=notes),
        cycles,
        groups=group_means(means, level=design.level),
        comparisons=comparisons,
        not_compared=why,
        not_averaged=collected.not_averaged,
        compared=compared,
        left_out=left_out,
        findings=[(entry, entry.where.trials) for entry in compared.findings] + each_once(collected.findings),
        verdicts=verdicts,
        plausible=plausible,
        sensitivity=said,
        values=_summary(_of_subjects_values(values), plan.order),
        sizes=collected.sizes,
        files=tuple(files),
    )


@dataclass(frozen=True)
class _Plan:
    """Choice of what is described and compared, from the study file and the cycles.

    Args:
        computed: the study.
        variables: the variables that are compared.
        primary: further variables of primary outcomes.
        order: "groups" and "conditions" -> those that have cycles, in order.
        legs: names of the legs that are compared, the reference first; empty where both legs are averaged.
    """

    computed: ComputedStudy
    variables: list[str]
    primary: list[str]
    order: dict[str, list[str]]
    legs: Sequence[str] = ()

    @classmethod
    def from_study(cls, computed: ComputedStudy, cycles: xr.Dataset) -> Self:
        """The choice of [design], as far as cycles have it."""
        variables = _quantities(computed, cycles)
        primary = [
            name
            for name in computed.study.outcome_variables
            if name in cycles and "percent" in cycles[name].dims and name not in variables
        ]
        design = computed.study.design
        order = {key: _there(cycles, key, design[key]) for key in ("groups", "conditions")}
        return cls(computed, variables, primary, order)

    @property
    def wanted(self) -> set[str]:
        """Variables of the means; the norms in figures depend on speed."""
        return {*self.variables, *self.primary, "walking_speed"}

    @property
    def apart(self) -> list[str]:
        """Columns that distinguish the observations of a subject in a condition."""
        return [LEG] if self.legs else []

    def means(self, cycles: xr.Dataset, more: Sequence[str] = ()) -> xr.Dataset:
        """Means of the subjects, of the wanted variables with their uncertainty, and of more."""
        wanted = [str(name) for name in cycles if str(name).removesuffix(SPREAD) in self.wanted]
        order: dict[str, Any] = {key: _there(cycles, key, names) for key, names in self.order.items()}
        return subject_means(cycles, variables=list(dict.fromkeys([*wanted, *more])), legs=self.legs, **order)

    def of_subjects(self, values: pd.DataFrame) -> pd.DataFrame:
        """The mean of each value over the cycles of a subject in a condition, of the compared legs apart."""
        if not self.legs:
            return _of_subjects_values(values)
        rows = _of_subjects_values(values.rename(columns={"cycle_leg": LEG}), self.apart)
        return rows[rows[LEG] != ""]

    def tests(self, means: xr.Dataset, values: pd.DataFrame) -> tuple[xr.Dataset | None, str, list[str]]:
        """The tests, or the reason without tests, and notes on groups and conditions with too few subjects.

        Outcomes that are values, and the covariate, are added to the means.
        """
        study, design = self.computed.study, self.computed.study.design
        if (number := design.covariate) is not None:
            known = [study.of_subject(str(name), number, np.nan) for name in means["subject"].values]
            means = means.assign_coords({number: ("subject", np.array(known, float))})
        tested, few = _testable(means)
        chosen: dict[str, Any] = {**design.stated, **tested, "quantities": self.variables}
        try:
            means = with_values(means, design.outcomes or (), self.of_subjects(values), self.legs)
            comparisons = compare_curves(means, chosen)
        except InputError as error:
            raise study.document.placed(error, "design", str(error.where).removeprefix("[design] ")) from None
        if int(comparisons.attrs["tests"]):
            return comparisons, "", few
        notes = [note for note in map(str, comparisons["note"].values) if note]
        return None, notes[0] if notes else " ".join(listed(comparisons, "said")), few


def _quantities(computed: ComputedStudy, cycles: xr.Dataset) -> list[str]:
    """The variables that are described and compared."""
    there = [str(name) for name, variable in cycles.data_vars.items() if "percent" in variable.dims]
    stated = computed.study.design.quantities
    place = "design", "quantities"
    computed.study.document.check_known(stated or (), "no trial has curves of", there, *place)
    return list(stated or [name for name in in_set("compared") if name in there])


def _there(cycles: xr.Dataset, key: str, stated: Sequence[str] | None) -> list[str]:
    """The groups or conditions that have cycles, in order; cycles without a name count only if none has a name."""
    labels = list(dict.fromkeys(str(value) for value in cycles[key.removesuffix("s")].values))
    named = [name for name in (stated or labels) if name in labels and name]
    return named or [""]


def _testable(means: xr.Dataset) -> tuple[dict[str, list[str]], list[str]]:
    """The groups and conditions with enough subjects for a test, and notes on the others."""
    chosen, notes = dict[str, list[str]](), list[str]()
    there = means["cycles"] > 0
    present = there.any([dim for dim in there.dims if dim == LEG])
    of_group = present.any("condition").groupby("group").sum().to_series()
    subjects = {
        "groups": {name: int(of_group.get(name, 0)) for name in groups_of(means)},
        "conditions": present.sum("subject").to_series().to_dict(),
    }
    for key, count in subjects.items():
        enough = [name for name, number in count.items() if number >= FEWEST_SUBJECTS]
        chosen[key] = enough if enough and len(enough) < len(count) else list(count)
        if enough:
            notes += [
                f"the {key.removesuffix('s')} {name!r} has {count_of(number, 'subject')}, a test needs "
                f"{FEWEST_SUBJECTS}: it is shown and not tested"
                for name, number in count.items()
                if number < FEWEST_SUBJECTS
            ]
    return chosen, notes


def _unusual(cycles: xr.Dataset) -> xr.Dataset:
    """Whether each cycle is far from the others of its subject, and why."""
    cycles = with_outliers(cycles)
    return xr.Dataset({name: cycles[name].variable for name in ("outlier", "outlier_reason", "distance")})


def _of_subjects(
    computed: ComputedStudy, cycles: xr.Dataset
) -> tuple[dict[str, float], dict[tuple[str, str], list[str]]]:
    """Mass of each subject that the study file states, and (subject, condition) -> its trials."""
    averaged = (computed.study.trial_of[name] for name in dict.fromkeys(map(str, cycles["trial"].values)))
    trials = grouped(((trial.subject, trial.condition), trial.name) for trial in averaged)
    stated = {subject: computed.study.of_subject(subject, "mass_kg") for subject, _ in trials}
    return {subject: float(mass) for subject, mass in stated.items() if mass is not None}, trials


def _legs(cycles: xr.Dataset, told_apart: str) -> list[str]:
    """The names of the compared legs, the reference first; empty where both legs are averaged."""
    names = LEG_NAMES.get(told_apart, ())
    there = set(map(str, cycles["cycle_leg"].values)) if names else set()
    return list(names) if there.issuperset(names) else []


def _of_subjects_values(sums: pd.DataFrame, apart: Sequence[str] = ()) -> pd.DataFrame:
    """The mean of each value over the cycles of a subject in a condition, from sums and counts of parts of these."""
    by = [*OF_VALUE, *OF_SUBJECT, *apart]
    total = sums.groupby(by, sort=False)[["sum", "count"]].sum().reset_index()
    return total.assign(value=total["sum"] / total["count"])


def _on_cycles(cycles: xr.Dataset) -> list[str]:
    """A note on cycles that are much shorter or longer than the others."""
    length = cycles["cycle_end"].values - cycles["cycle_start"].values
    middle = float(np.median(length))
    odd = np.flatnonzero((length < middle / LONGEST_CYCLE) | (length > middle * LONGEST_CYCLE))
    if not odd.size:
        return []
    said = [f"{cycles['trial'].values[k]} {length[k]:.2f} s" for k in odd]
    return [
        f"cycles of unusual length, where the median is {middle:.2f} s: {shortened(said)}; they count: state cycles_s "
        "in the line of the trial, or exclude it"
    ]


def _counting(
    cycles: xr.Dataset,
    cells: Mapping[tuple[str, str], str],
    computed: ComputedStudy,
    verdicts: Sequence[LegVerdict],
) -> xr.Dataset:
    """Whether each cycle counts and why not, which leg it is of, and whether this leg is plausible."""
    verdict = {(leg.trial, leg.side): leg.verdict for leg in verdicts}
    trials, sides = (cycles[key].values.astype(str) for key in ("trial", "cycle_side"))
    judged = [verdict.get(leg, NOT_KNOWN) for leg in zip(trials, sides, strict=True)]
    legs = []
    for name, side in zip(trials, sides, strict=True):
        trial, told_apart = computed.study.trial_of[name], computed.study.design.legs
        first = {
            "right_left": "l",
            "affected": computed.study.of_subject(trial.subject, "affected_side"),
            "inner": trial.inner_leg,
        }.get(told_apart)
        names = LEG_NAMES.get(told_apart, ("", ""))
        legs.append(names[side == first] if first in SIDES and side in SIDES else "")
    cell_of_cycle = zip(map(str, cycles["subject"].values), map(str, cycles["condition"].values), strict=True)
    why = np.array([cells.get(cell, "") for cell in cell_of_cycle], dtype=object)
    texts = {"not_counted": why.astype(str), "cycle_leg": legs, "plausibility": judged}
    described = {key: ("cycle", np.array(values, str)) for key, values in texts.items()}
    return xr.Dataset({"counts": ("cycle", why == "")} | described)


def _write_values(cycles: xr.Dataset, variables: Sequence[str], path: Path) -> pd.DataFrame:
    """Write the discrete values of all cycles, some at a time; return sums for each subject, condition and leg."""
    sums, by = list[pd.DataFrame](), [*OF_VALUE, *OF_SUBJECT, *OF_LEG]
    with values_file(path) as add:
        for start in range(0, cycles.sizes["cycle"], CYCLES_AT_ONCE):
            part = cycles.isel(cycle=slice(start, start + CYCLES_AT_ONCE)).load()
            table = discrete_values(part, variables)
            table["cycle"] += start
            add(table)
            counted = table[table["counts"]] if "counts" in table else table
            by_subject = counted.dropna(subset=["value"]).groupby(by, observed=True, sort=False)
            sums.append(by_subject["value"].agg(["sum", "count"]).reset_index())
    together = pd.concat([part.astype(dict.fromkeys(by, str)) for part in sums], ignore_index=True)
    return together.groupby(by, sort=False)[["sum", "count"]].sum().reset_index()


def _summary(values: pd.DataFrame, order: Mapping[str, list[str]]) -> pd.DataFrame:
    """Mean, standard deviation and number of subjects of every value in each group and condition."""
    values = values[values["group"].isin(order["groups"]) & values["condition"].isin(order["conditions"])]
    by = values.groupby([*OF_VALUE, "group", "condition"], sort=False)["value"]
    return by.agg(["mean", "std", "count"]).reset_index()
