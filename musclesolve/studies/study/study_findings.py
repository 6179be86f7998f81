"""The findings of a study in one list: on subjects, and those stored with the results of trials, each fault once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from musclesolve.recording.data import SIDES
from musclesolve.results.files.result_netcdf import result_attributes
from musclesolve.results.finding import SEVERITIES, Finding, codes

FINDINGS = "findings"
"""Attribute of a result: a list of `Finding.as_dict` as JSON. Results of earlier versions have none."""
Listed = tuple[Finding, tuple[str, ...]]
"""A finding, and the names of its trials."""


def stored_findings(path: Path) -> tuple[Finding, ...]:
    """The findings that are stored with a result; none where it has none, or they cannot be read.

    A code that this version does not know is kept: a result may come from a later one.
    """
    try:
        stored = json.loads(result_attributes(path).get(FINDINGS, "[]"))
        return tuple(Finding.from_dict(each) for each in stored)
    except (ValueError, TypeError, KeyError, AttributeError):
        return ()


def unusable_legs(findings: Iterable[Finding]) -> dict[str, str]:
    """Leg ("r" or "l") -> what the first error says that is of it; an error without a leg is of both."""
    legs: dict[str, str] = {}
    for found in findings:
        if found.severity == "error":
            for side in SIDES if found.side not in SIDES else (found.side,):
                legs.setdefault(side, f"{found.what} ({found.code})")
    return legs


def each_once(found: Mapping[str, Sequence[Finding]]) -> list[Listed]:
    """Every code and severity once, with its trials; the words are those of the trial where it costs most.

    Args:
        found: name of a trial -> its findings.

    Returns:
        Errors first; of one severity causes before consequences.
    """
    alike: dict[tuple[str, str], dict[str, Finding]] = {}
    for name, findings in found.items():
        for each in findings:
            own = alike.setdefault((each.severity, each.code), {})
            own[name] = max((own.get(name, each), each), key=_cost)
    known = {code: place for place, code in enumerate(codes())}
    order = sorted(
        alike,
        key=lambda key: (SEVERITIES.index(key[0]), known.get(key[1], len(known))),  # type: ignore[arg-type]
    )
    return [(max(alike[key].values(), key=_cost), tuple(alike[key])) for key in order]


def _cost(found: Finding) -> float:
    return 0.0 if found.cost is None else found.cost.size
