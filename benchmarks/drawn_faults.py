"""A bank of faults drawn at random: what each changes in newtons, and whether it is found.

A kind of fault changes a sound case by a draw. A row of the table states the largest change of a muscle force, and
whether the fault is found by its name (one of the codes of its kind, in a note as well), by another error or warning
that the sound case does not have, or not at all. A second table has what stays silent of each kind and what it costs.
The last lines count the rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
import xarray as xr
from rich.table import Table as Rows

from benchmarks.timing import console
from musclesolve.errors import InputError
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.finding import FINDINGS, stored_findings
from musclesolve.laboratory.results.judgement import WEAK
from musclesolve.laboratory.results.plausibility import AT_EDGE

SILENT_N = 300.0
"""Change of a muscle force from which no fault may be silent [N]."""
Case = TypeVar("Case")
Kind = Callable[[Case, np.random.Generator], tuple[Case, str]]


class NotHere(ValueError):
    """A case has nothing that this fault changes."""


def pick(draw: np.random.Generator, values: Sequence[Any]) -> Any:
    """Draw one of some values."""
    if not len(values):
        raise NotHere
    return values[int(draw.integers(len(values)))]


@dataclass(frozen=True)
class Bank(Generic[Case]):
    """Kinds of faults of one kind of case.

    changes: whether faults change the case that they are given. kinds: name -> fault, codes that name it, and whether
    it `needs` what some cases alone have.
    """

    changes: bool = False
    kinds: dict[str, tuple[Kind[Case], tuple[str, ...], bool]] = field(default_factory=dict)

    def kind(self, *codes: str, needs: bool = False) -> Callable[[Kind[Case]], Kind[Case]]:
        """Register a kind of fault with the codes that name it."""

        def register(fault: Kind[Case]) -> Kind[Case]:
            self.kinds[fault.__name__] = fault, codes, needs
            return fault

        return register

    def table(
        self,
        sound: dict[str, tuple[Case, xr.Dataset]],
        shared: Callable[[Case], xr.Dataset],
        has: Callable[[Case], bool],
        count: int,
        seed: int,
        kinds: Sequence[str] = (),
    ) -> None:
        """Print the table of drawn faults.

        sound: name -> case and its result; shared: the result of a case; has: whether a case has what a kind `needs`.
        """
        draw = np.random.default_rng(seed)
        counts: dict[str, list[float]] = {"by name": [], "otherwise": [], "silent": []}
        of_kind: defaultdict[str, list[tuple[str, float, str]]] = defaultdict(list)
        for name, (_, result) in sound.items():
            codes = ", ".join(sorted({code for code, *_ in signs(result)})) or "no finding"
            console.print(f"sound {name}: {codes}")
        names = list(kinds or self.kinds)
        heads = "trial", "planted", "kind", "found", "change [N]", "codes"
        for row in (heads, ["---"] * len(heads)):
            _print_row(row)
        for number in range(count):
            title = names[number % len(names)]
            fault, codes, needs = self.kinds[title]
            for name in draw.permutation(
                [name for name, (case, _) in sound.items() if has(case) or not needs]
            ):
                case, before = sound[name]
                try:
                    spoiled, text = fault(deepcopy(case) if self.changes else case, draw)
                    break
                except NotHere:
                    continue
            size, new = np.nan, set[tuple[str, str, str]]()
            try:
                after = shared(spoiled)
                size, new = change(after, before), signs(after, codes) - signs(before, codes)
            except InputError as error:
                named = getattr(error, "__notes__", ()) or [(error.key or error.code).rpartition(".")[2]]
                new = {(code, "error", "refused") for code in named}
            new = {sign for sign in new if sign[0] in codes or sign[0] != "emg_disagrees"}
            found = "by name" if any(code in codes for code, *_ in new) else "otherwise" if new else "silent"
            counts[found].append(size)
            of_kind[title].append((found, size, f"{name}: {text}"))
            _print_row(
                (name, text, title, found, f"{size:.0f}", ", ".join(sorted({code for code, *_ in new})))
            )
        detected = Rows("kind", "found", "greatest silent change [N]", "planted")
        for title, drawn in of_kind.items():
            silent = sorted((size, text) for found, size, text in drawn if found == "silent")
            size, text = silent[-1] if silent else (np.nan, "")
            greatest = f"{size:.0f}" if silent else "-"
            detected.add_row(title, f"{len(drawn) - len(silent)} of {len(drawn)}", greatest, text)
        console.print(detected)
        for found, sizes in counts.items():
            great = sum(size > SILENT_N for size in sizes)
            console.print(f"{found}: {len(sizes)} of {count}, {great} of them above {SILENT_N:g} N")


def _print_row(cells: Sequence[str]) -> None:
    """Print a row of a table at once: the rows before a stop are there."""
    console.print(f"| {' | '.join(cells)} |", soft_wrap=True)


def signs(result: xr.Dataset, noted: Sequence[str] = ()) -> set[tuple[str, str, str]]:
    """Errors and warnings on a result with the plate, and the criteria of plausibility that it does not meet.

    noted: codes of which notes count, too.
    """
    found = {
        (entry.code, entry.severity, f"{entry.what.split()[0]} {entry.where.plate}")
        for entry in stored_findings(result.attrs[FINDINGS])
        if entry.severity != "note" or entry.code in noted
    }
    found |= {
        ("emg_disagrees", "warning", name) for name, r in Facts(result).correlations.items() if r < WEAK
    }
    bad = [f" {word}:" for word in (AT_EDGE, "outside")]
    lines = result["plausible"].attrs["criteria"].splitlines()
    return found | {
        ("implausible", line.split()[1], line.split()[0])
        for line in lines
        if any(word in line for word in bad)
    }


def change(result: xr.Dataset, sound: xr.Dataset) -> float:
    """The largest change of a muscle force over common muscles [N].

    Frames are compared one by one where there are as many. Else those are compared that are at most half a frame apart,
    or equal phases of the whole result, where this change is smaller: a clock of another rate stretches both.
    """
    one, two = xr.align(result["muscle_force"], sound["muscle_force"], join="inner", exclude="time")
    time, other = one["time"].values, two["time"].values
    if len(time) == len(other):
        return float(np.nanmax(np.abs(one.values - two.values), initial=0.0))
    half = 0.5 * float(np.diff(other).mean())
    at_times = np.abs(time - other[:, None]).argmin(axis=1)
    known = np.abs(time[at_times] - other) <= half + 1e-9
    at_phases = np.round(np.linspace(0, len(time) - 1, len(other))).astype(int)
    pairs = (at_times[known], known), (at_phases, np.full(len(other), True))
    return min(float(np.nanmax(np.abs(one.values[a] - two.values[b]), initial=0.0)) for a, b in pairs)
