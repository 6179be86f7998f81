"""A result on the desk: the verdict, the summary of the command line, peaks as rows of tables, and its files."""

import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import xarray as xr

from musclesolve._util.sides import SIDE_NAMES, side_of, split_side
from musclesolve.constants import RESULT_FILE
from musclesolve.laboratory.plotting.figure_names import REPORT, UNCERTAINTY
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.result_quantities import force_unit, listed, short_unit
from musclesolve.laboratory.results.fact_table import ROW, Fact, chosen, rows
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.files.result_netcdf import read_result, result_attributes
from musclesolve.laboratory.results.judgement import NOT_USABLE, USABLE, Judgement, judge
from musclesolve.laboratory.results.result_facts import facts_of
from musclesolve.laboratory.results.tables.comparison_tables import ComparisonFacts
from musclesolve.studies.compare_results import peak_rows

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class ResultFacts:
    """A result in words and rows.

    why: use and reasons of the judgement. summary: the lines that `musclesolve run` prints, subject and statement.
    contact, muscles: rows of tables.
    """

    judgement: Judgement
    why: str
    remarks: list[str]
    summary: list[tuple[str, str]]
    contact: Rows
    muscles: Rows


def css_of(verdict: str) -> str:
    """Class of a verdict: green is for a usable result alone."""
    return {USABLE: "good", NOT_USABLE: "error"}.get(verdict, "warning")


def result_facts(path: Path) -> ResultFacts:
    """Return the facts of the result.nc of a path."""
    facts, beside = Facts(read_result(path)), path.parent / UNCERTAINTY
    table = facts_of(facts, read_result(beside) if beside.is_file() else None)
    top = judge(facts)
    return ResultFacts(
        top,
        " ".join((top.use, *top.why)),
        [each.sentence for each in chosen(table, "error", "warning", "remark")],
        rows(table),
        _contact(table),
        _muscles(facts),
    )


@dataclass(frozen=True)
class ComparedFacts:
    """Peaks of several results, or of one trial under several costs, in rows: name, leg, unit, and a column for each.

    columns: names of the compared results; the first is the reference. unlike: choices of method that differ.
    """

    columns: list[str]
    rows: Rows
    unlike: list[str]


def compared_costs(path: Path) -> ComparedFacts:
    """Peaks under each cost, of a file that `musclesolve compare` wrote."""
    facts = ComparisonFacts(read_result(path))
    weight, unit = force_unit(facts.comparison)
    peaks = [
        {peak.joint: peak.newton / weight for peak in under.contact_peaks} for under in facts.under.values()
    ]
    rows = [
        _compared(
            f"contact force, {split_side(joint)[0]}", joint, [of.get(joint) for of in peaks], short_unit(unit)
        )
        for joint in dict.fromkeys(joint for of in peaks for joint in of)
    ]
    for group, values in facts.rows("function_group").items():
        rows.append(_compared(split_side(group)[0], group, [float(row[0]) for row in values], "N"))
    return ComparedFacts(facts.costs, rows, [])


def compared_results(path: Path) -> ComparedFacts:
    """Peaks of each result, of a file that `compare_results` wrote."""
    compared = read_result(path)
    rows = []
    for row in peak_rows(compared):
        unit = str(compared[row["quantity"]].attrs["units"])
        name = f"contact force, {row['name']}" if row["quantity"] == "contact_force" else row["name"]
        rows.append(_compared(name, f"_{row['leg'][0]}", row["peaks"], unit))
    rows.sort(key=lambda row: not row["name"].startswith("contact force"))
    return ComparedFacts([str(name) for name in compared["result"].values], rows, listed(compared, "unlike"))


def _compared(name: str, sided: str, peaks: Sequence[float | None], unit: str) -> dict[str, Any]:
    """A row: peak_0, peak_1, ..., and change_1, ... in per cent of the first."""
    digits = 0 if unit == "N" else 2
    first = peaks[0]
    row: dict[str, Any] = {
        "name": name.replace("_", " "),
        "leg": SIDE_NAMES.get(side_of(sided), ""),
        "unit": "body weights" if unit == "BW" else unit,
    }
    for number, peak in enumerate(peaks):
        row[f"peak_{number}"] = None if peak is None else _rounded(peak, digits)
        if number:
            more = 100.0 * (peak / first - 1.0) if peak is not None and first else None
            row[f"change_{number}"] = None if more is None else _rounded(more, 0)
    return row


def _share(force: float, facts: Facts) -> float | None:
    """A force in body weights; None where the weight is not known."""
    return _rounded(force / facts.body_weight, 2) if np.isfinite(facts.body_weight) else None


def _contact(table: Iterable[Fact]) -> Rows:
    """Peak contact force of every joint, and of the parts of the knee; body weights are None where not known."""
    return [
        {
            "name": f"knee, {peak.subject}" if peak.section == "knee" else peak.subject,
            "leg": SIDE_NAMES.get(peak.value["side"], ""),
            "bw": _rounded(peak.value["body_weights"], 2),
            "newton": round(peak.value["newton"]),
            "time": round(peak.value["time_s"], 3),
        }
        for peak in chosen(table, ROW)
    ]


def _muscles(facts: Facts) -> Rows:
    """Peak force of every muscle over the valid frames of its leg."""
    result: xr.Dataset = facts.result
    if "muscle_force" not in result:
        return []
    force = result["muscle_force"].transpose("time", "muscle").values
    strength = result["max_isometric_force"].values if "max_isometric_force" in result else None
    groups = result["group"].values if "group" in result.variables else None
    rows = []
    for k, (name, side) in enumerate(frames.muscle_sides(result).items()):
        values = np.where(facts.valid[side], force[:, k], np.nan)
        if not np.isfinite(values).any():
            continue
        at = int(np.nanargmax(values))
        rows.append(
            {
                "name": split_side(name)[0].replace("_", " "),
                "leg": SIDE_NAMES.get(side, ""),
                "group": "" if groups is None else str(groups[k]).replace("_", " "),
                "newton": round(float(values[at])),
                "bw": _share(float(values[at]), facts),
                "percent": None if strength is None else _rounded(100.0 * values[at] / strength[k], 0),
                "time": round(float(result["time"].values[at]), 3),
            }
        )
    return sorted(rows, key=lambda row: -row["newton"])


def _rounded(value: float | None, digits: int) -> float | None:
    """Round a number for JSON; None for a number that is not known or not finite."""
    return round(float(value), digits) if value is not None and np.isfinite(value) else None


PICTURE, FIGURES = "picture.html", "figures.html"


def files_in(folder: Path) -> list[Path]:
    """The files in a folder and below, the result first; without links and hidden (incomplete) files."""
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    shown = [
        path for path in paths if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    first = (RESULT_FILE, REPORT, PICTURE, FIGURES)
    return sorted(
        shown,
        key=lambda path: (path.parent != folder, path.name not in first, path.relative_to(folder).as_posix()),
    )


def address(folder: Path, path: Path) -> str:
    """The address of a file on the page, which changes when the file is written again."""
    return f"files/{quote(path.relative_to(folder).as_posix())}?{path.stat().st_mtime_ns}"


def size_words(size: int) -> str:
    """A size in bytes, in words."""
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{max(size, 100) / 1e3:.1f} kB"


def is_older(path: Path, than: Path) -> bool:
    """Return whether a file was made before the present result."""
    return path.stat().st_mtime < than.stat().st_mtime


def report_inputs(result: Path, others: Iterable[Path]) -> list[Path]:
    """The input files of a report: the result, and other files from the same recordings and the same trial file."""
    inputs = result_attributes(result).get("inputs")
    there = [path for path in others if inputs is not None and path.is_file()]
    return [result, *(path for path in there if result_attributes(path).get("inputs") == inputs)]


def zipped(folder: Path) -> Path:
    """All files of a folder as a zip archive, a temporary file."""
    with tempfile.NamedTemporaryFile(prefix="musclesolve-", suffix=".zip", delete=False) as archive:
        path = Path(archive.name)
        try:
            with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
                for file in files_in(folder):
                    packed.write(file, f"{folder.name}/{file.relative_to(folder).as_posix()}")
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    return path
