"""The verdict of every frame: runs of equal verdicts, reasons, counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from musclesolve._util.arrays import true_runs
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.report.content.pieces import Table
from musclesolve.report.figures.verdict_strip import verdict_strip
from musclesolve.report.inputs import TrialFiles
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.attributes import listed

NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Stretch:
    """Neighboring frames of one leg with the same verdict."""

    side: str
    verdict: str  # a key of verdicts.toml
    first: int  # frame
    stop: int  # frame after the last one
    start: float  # time of the first frame [s]
    end: float  # time of the last one [s]

    @property
    def count(self) -> int:
        """Number of frames."""
        return self.stop - self.first


def meanings() -> dict[str, dict[str, str]]:
    """Label, sentence, color and pattern of every verdict."""
    return bundled_toml("musclesolve.report", "texts", "verdicts.toml")


def stretches(result: xr.Dataset) -> dict[str, list[Stretch]]:
    """The stretches of each analysed leg, in the order of time."""
    return {side: _of_leg(result, side) for side in frames.sides(result)}


def _of_leg(result: xr.Dataset, side: str) -> list[Stretch]:
    names, known = frames.reason_names(result, side), meanings()
    time = np.asarray(result["time"].values, dtype=float)
    found = []
    for name in dict.fromkeys(names.tolist()):
        for first, stop in true_runs(names == name):
            verdict = name if name in known else "other"
            found.append(Stretch(side, verdict, first, stop, float(time[first]), float(time[stop - 1])))
    return sorted(found, key=lambda each: each.first)


def verdicts(trial: TrialFiles, key: str) -> dict[str, object]:
    """The strip, its key, the same as a table, and the reasons of what is not simply solved."""
    result, found, parts = trial.base, stretches(trial.base), frames.part_names(trial.base)
    every = [each for own in found.values() for each in own]
    known = meanings()
    used = [name for name in known if name in {each.verdict for each in every}]
    rows = [
        (
            parts[each.side],
            NO_BREAK.join((f"{each.start:.3f}", "to", f"{each.end:.3f}", "s")),
            each.count,
            known[each.verdict]["label"],
        )
        for each in every
    ]
    return {
        "strip": verdict_strip(result, found, known, key),
        "used": [known[name] | {"count": _count(every, name), "name": name} for name in used],
        "total": sum(each.count for each in every),
        "table": Table("Every frame as text", ("leg", "from first to last frame", "frames", "verdict"), rows),
        "reasons": [(parts[side], line) for side in found for line in listed(result, f"reasons_{side}")],
    }


def _count(found: list[Stretch], verdict: str) -> int:
    return sum(each.count for each in found if each.verdict == verdict)
