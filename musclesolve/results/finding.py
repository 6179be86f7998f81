"""A finding: what is wrong with a trial or its result, where, how much it costs, and what to do; see judgement.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from pathlib import Path
from string import Formatter
from typing import Any, Literal

from musclesolve._util.bundled_toml import bundled_toml

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
Run = tuple[float, float]
"""First and last time of a stretch of time [s]."""
Repair = Callable[[Any], Any]
"""Returns what was examined, a recording or the loads of a model, without the fault of a finding."""


def texts() -> dict[str, dict[str, Any]]:
    """Return every code that a finding may have with its texts, causes before their consequences."""
    return bundled_toml(__package__, "findings.toml")


def codes() -> dict[str, str]:
    """Return every code with what it means."""
    return {code: entry["about"] for code, entry in texts().items()}


@dataclass(frozen=True)
class Where:
    """The place of a finding, as far as it has one."""

    file: Path | None = None  # the file at fault
    line: int | None = None  # the line in it
    field: str | None = None  # the table and key of the trial file
    markers: tuple[str, ...] = ()  # the markers concerned
    plate: str | None = None  # "right" or "left", the foot of the plate concerned
    times: tuple[Run, ...] = ()  # stretches of time, (first, last) [s]
    subject: str | None = None  # of a study
    trials: tuple[str, ...] = ()  # of the subject
    quantity: str | None = None  # the curve concerned

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold: it knows no paths and no numbers that are none."""
        return asdict(self) | {
            "file": str(self.file) if self.file else None,
            "line": None if self.line is None else int(self.line),
            "times": [[float(t) if isfinite(t) else None for t in span] for span in self.times],
        }

    def __str__(self) -> str:
        """Return the place in words."""
        parts = [self.file.name] if self.file else []
        parts += [f"line {self.line}"] if self.line else []
        parts += [self.field] if self.field else []
        parts += [", ".join(self.markers)] if self.markers else []
        parts += [f"{self.plate} plate"] if self.plate else []
        parts += [self.quantity] if self.quantity else []
        more = f" and {len(self.trials) - 3} more" * (len(self.trials) > 3)
        parts += [", ".join(self.trials[:3]) + more] if self.trials else []
        parts += [f"{a:.2f} s" if b - a < 0.005 else f"{a:.2f} to {b:.2f} s" for a, b in self.times[:3]]
        return ", ".join(parts) + (f" and {len(self.times) - 3} more" if len(self.times) > 3 else "")


@dataclass(frozen=True)
class Cost:
    """What a fault changes at most in the numbers of a result."""

    size: float
    unit: str  # "N m", "N" or "body weights"
    of: str  # the degree of freedom, muscle or joint that changes most

    def __str__(self) -> str:
        """Return the cost in words, as "83 N m at ankle_dorsiflexion_r"."""
        digits = ".1f" if self.unit == "body weights" else ".3g" if self.size < 100.0 else ".0f"
        return f"{self.size:{digits}} {self.unit} at {self.of}"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or of interest."""

    code: str  # short stable name, one of `codes()`
    # "error": the recording cannot be analysed, or its results would be wrong; "warning": results would be
    # less certain; "note": good to know
    severity: Severity
    what: str  # what was found, with the number measured and the number expected
    remedy: str  # how to fix it
    where: Where = field(default_factory=Where)  # the place
    # of what is examined, in memory; the examination goes on with it
    repair: Repair | None = field(default=None, repr=False, compare=False)
    # whether it counts wherever in time it is; else it is a note out of reach of the time range
    anywhere: bool = field(default=False, repr=False, compare=False)
    # the largest change of a result by the fault; None where it is not known
    cost: Cost | None = None
    side: str = ""  # the only leg that it concerns, "r" or "l"; "": both

    @property
    def sentence(self) -> str:
        """What was found, and what it costs."""
        return self.what + (f"; this changes results by up to {self.cost}" if self.cost else "")

    def __str__(self) -> str:
        """Return the finding in a few lines."""
        place = str(self.where)
        return (
            f"{self.severity} ({self.code}){f', {place}' if place else ''}: {self.sentence}\n  {self.remedy}"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        named = {name: getattr(self, name) for name in ("code", "severity", "what", "remedy", "side")}
        return named | {
            "where": self.where.as_dict(),
            "cost": None if self.cost is None else asdict(self.cost),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Finding:
        """Return the finding of a document of `as_dict`."""
        where, cost = dict(document["where"]), document.get("cost")
        where["file"] = Path(where["file"]) if where["file"] else None
        where["markers"] = tuple(where["markers"])
        where["times"] = tuple((a, b) for a, b in where["times"] if a is not None and b is not None)
        where["trials"] = tuple(where.get("trials", ()))
        named = {name: document.get(name, "") for name in ("code", "severity", "what", "remedy", "side")}
        return cls(**named, where=Where(**where), cost=None if cost is None else Cost(**cost))


class _Units(Formatter):
    """Texts with numbers in thousandths, {size!m}, and in per cent, {share!p}."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        factor = {"m": 1000, "p": 100}.get(conversion)
        return super().convert_field(value, conversion) if factor is None else factor * value


def finding(
    name: str,
    severity: Severity,
    values: Mapping[str, object],
    where: Where = Where(),
    repair: Repair | None = None,
    *,
    anywhere: bool = False,
    cost: Cost | None = None,
    side: str = "",
) -> Finding:
    """Return a finding with a text of findings.toml, by its code, or "code.case" where a code has several texts.

    values: what the text is filled with.
    """
    code, _, case = name.partition(".")
    text = texts()[code][case] if case else texts()[code]
    what, remedy = (_Units().format(text[key], **values) for key in ("what", "remedy"))
    return Finding(code, severity, what, remedy, where, repair, anywhere, cost, side)


@dataclass(frozen=True)
class Report:
    """Everything that was found on one trial."""

    path: Path  # the trial file
    # the most serious ones first; among equals, causes before their consequences
    findings: tuple[Finding, ...]

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        """Return the findings of one severity."""
        return tuple(finding for finding in self.findings if finding.severity == severity)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of all errors and warnings, in order."""
        return tuple(finding.code for finding in self.findings if finding.severity != "note")

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.of("error")

    @property
    def verdict(self) -> str:
        """The report in one line."""
        count = Counter(finding.severity for finding in self.findings)
        counted = ", ".join(f"{count[s]} {s}{'s' if count[s] > 1 else ''}" for s in SEVERITIES if count[s])
        if count["error"]:
            return f"Do not use this recording as it is: {counted}."
        if count["warning"]:
            return f"This recording can be analysed, but look at the warnings first: {counted}."
        return "Nothing is wrong with this recording" + (f" ({counted})." if counted else ".")

    def __str__(self) -> str:
        """Return all findings and the verdict."""
        return "\n".join([*(str(finding) for finding in self.findings), self.verdict])

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        findings = [finding.as_dict() for finding in self.findings]
        return {"trial": str(self.path), "ok": self.ok, "verdict": self.verdict, "findings": findings}


def sorted_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by severity and, among equals, in the order of the codes; each sentence once."""
    order = list(codes())
    unique = list({(f.code, f.what, str(f.where)): replace(f, repair=None) for f in findings}.values())
    return tuple(sorted(unique, key=lambda f: (SEVERITIES.index(f.severity), order.index(f.code))))
