"""The findings of a study in one list: on subjects, and from the results of trials, each fault once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import netCDF4
import numpy as np

from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve.recording.data import SIDES
from musclesolve.results.finding import FINDINGS, Finding, Run, stored_findings, texts

Listed = tuple[Finding, tuple[str, ...]]
"""A finding, and the names of its trials."""


def findings_of_result(result: netCDF4.Dataset) -> tuple[Finding, ...]:
    """The findings that are stored with a result; none where its recording was not examined."""
    return stored_findings(str(getattr(result, FINDINGS, "[]")))


@dataclass(frozen=True)
class Unusable:
    """Part of a trial that an error makes unusable: a leg, or its cycles at some times."""

    side: str
    what: str
    times: tuple[Run, ...] = ()  # first and last of each stretch [s]; none: throughout

    def spoils(self, side: AnyArray, start: Array, end: Array) -> Mask:
        """Return which cycles (C,) of a trial the error spoils, by their legs, starts and ends [s]."""
        reached = np.full(start.shape, not self.times)
        for first, last in self.times:
            reached |= (start <= last) & (end >= first)
        return np.asarray((side == self.side) & reached)


def unusable(findings: Iterable[Finding]) -> list[Unusable]:
    """Return the parts that the errors among some findings make unusable; an error without a leg counts for both.

    `at_times` of findings.toml marks faults of an instant, such as a marker that jumps.
    """
    return [
        Unusable(
            side,
            f"{found.what} ({found.code})",
            found.where.times if texts().get(found.code, {}).get("at_times") else (),
        )
        for found in findings
        if found.severity == "error"
        for side in (SIDES if found.side not in SIDES else (found.side,))
    ]


def each_once(found: Mapping[str, Sequence[Finding]]) -> list[Listed]:
    """List every code and severity once, with its trials; the words come from the trial with the highest cost, or
    from one whose verdict rests on the fault.

    Args:
        found: name of a trial -> its findings.

    Returns:
        In the order of their remedies (`Finding.urgency`).
    """
    alike: dict[tuple[str, str], dict[str, Finding]] = {}
    for name, findings in found.items():
        for entry in findings:
            own = alike.setdefault((entry.severity, entry.code), {})
            own[name] = max((own.get(name, entry), entry), key=_cost)
    largest = [(max(own.values(), key=_cost), tuple(own)) for own in alike.values()]
    return sorted(largest, key=lambda entry: entry[0].urgency)


def of_kind(found: Mapping[str, Sequence[Finding]], one: Finding) -> list[tuple[str, Finding]]:
    """The findings of all trials that have the code and severity of one, each with its trial; this one first.

    Args:
        found: name of a trial -> its findings.
        one: a finding among them, as `each_once` chooses it.
    """
    named = ((name, entry) for name, findings in found.items() for entry in findings)
    alike = [pair for pair in named if (pair[1].severity, pair[1].code) == (one.severity, one.code)]
    return sorted(alike, key=lambda own: own[1] is not one)


def _cost(found: Finding) -> tuple[bool, float]:
    return found.decides, 0.0 if found.cost is None else found.cost.size
