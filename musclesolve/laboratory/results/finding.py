"""A finding: a fault of a trial or its result, its place, its cost, and the remedy; see judgement.py."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from numbers import Real
from pathlib import Path
from string import Formatter
from typing import Any, Literal, Self

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import capitalized, shortened

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
FINDINGS = "findings"
"""Attribute of a result with the findings on its recording or model: a list of `Finding.as_dict` in JSON."""
Run = tuple[float, float]
"""First and last time of a stretch of time [s]."""
Change = tuple[tuple[tuple[str | int, ...], Any], ...]
"""Changes of a trial file: places (names of tables and keys, numbers of [[tables]]), each with the value to state."""


def texts() -> dict[str, dict[str, Any]]:
    """Return every code that a finding may have with its texts, causes before their consequences."""
    return bundled_toml(__package__, "findings.toml")


def codes() -> dict[str, str]:
    """Return every code with its meaning."""
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
        """Return values for JSON, which has no paths and no NaN; the file is found from every folder."""
        return asdict(self) | {
            "file": str(self.file.absolute()) if self.file else None,
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
        parts += [shortened(self.trials)] if self.trials else []
        spans = [f"{a:.2f} s" if b - a < 0.005 else f"{a:.2f} to {b:.2f} s" for a, b in self.times]
        return ", ".join([*parts, *([shortened(spans)] if spans else [])])


FIRST = frozenset({"trial_file", "marker_units", "up_axis", "sides_swapped"})
"""Codes of errors in the trial file and of whole recordings, from which others follow."""
BEYOND_NM = 1000.0
"""Moment beyond that of any joint of a person [N m]: a larger change says no more than that results are wrong."""


@dataclass(frozen=True)
class Cost:
    """Largest change that a fault causes in the numbers of a result."""

    size: float
    unit: str  # "N m", "N" or "body weights"
    of: str  # degree of freedom, muscle or joint with the largest change
    limit: float | None = None  # size from which it makes a fault an error; None where there is no such size

    @property
    def ratio(self) -> float | None:
        """Return the size as a multiple of the limit; None without a limit."""
        return self.size / self.limit if self.limit else None

    def __str__(self) -> str:
        """Return the cost in words, as "up to 83 N m at ankle_dorsiflexion_r"."""
        if self.unit == "N m" and self.size > BEYOND_NM:
            return f"more than {BEYOND_NM:g} {self.unit} at {self.of}"
        digits = ".1f" if self.unit == "body weights" else ".3g" if self.size < 100.0 else ".0f"
        return f"up to {self.size:{digits}} {self.unit} at {self.of}"


@dataclass(frozen=True)
class Finding:
    """A fault, or a fact of interest."""

    code: str  # short stable name, one of `codes()`
    # "error": the recording cannot be analyzed, or its results would be wrong; "warning": results would be
    # less certain; "note": good to know
    severity: Severity
    what: str  # statement with the measured and the expected number
    remedy: str  # how to fix it
    where: Where = field(default_factory=Where)  # the place
    # the largest change of a result by the fault; None where it is not known
    cost: Cost | None = None
    side: str = ""  # the only leg that it concerns, "r" or "l"; "": both
    # settings of the trial file that alone correct the fault, with the measured values
    change: Change = ()
    # whether the verdict "not plausible" rests on it
    decides: bool = field(default=False, repr=False, compare=False)

    @property
    def urgency(self) -> tuple[float, ...]:
        """Return the place in the order of remedies: the smallest first.

        Errors come before warnings and notes. Within a severity a finding on which the verdict rests comes first, and
        an error that concerns everything (`FIRST`); then the larger cost, as a multiple of its limit where it has one;
        faults of unknown cost follow, causes before their consequences, and longer stretches of time first.
        """
        cost = self.cost and (self.cost.ratio or (self.cost.size if self.decides else None))
        order = list(texts())
        place = order.index(self.code) if self.code in order else len(order)
        lasting = sum(last - first for first, last in self.where.times)
        first = self.decides or (self.severity == "error" and self.code in FIRST)
        return SEVERITIES.index(self.severity), not first, -(cost or 0.0), place, -lasting

    def since(self, start: float) -> Self:
        """The finding with times that count from `start` [s]."""
        times = tuple((first - start, last - start) for first, last in self.where.times)
        return replace(self, where=replace(self.where, times=times))

    @property
    def sentence(self) -> str:
        """Statement of the fault and its cost."""
        if self.cost and self.cost.unit == "N" and self.cost.size < 1.0:
            return f"{self.what}; no muscle force changes by 1 N"
        return self.what + (f"; this changes results by {self.cost}" if self.cost else "")

    @property
    def placed(self) -> str:
        """Place and finding in a sentence."""
        place, said = str(self.where), self.sentence.rstrip(".")
        return f"{place}: {said}." if place and not said.startswith(f"{place} ") else f"{capitalized(said)}."

    @property
    def line(self) -> str:
        """Place, finding and remedy in a line."""
        return f"{self.placed} Remedy: {self.remedy.rstrip('.')}."

    def __str__(self) -> str:
        """Return the finding in a few lines."""
        head = ", ".join(filter(None, (f"{self.severity} ({self.code})", str(self.where))))
        return f"{head}: {self.sentence}\n  {self.remedy}"

    def as_dict(self) -> dict[str, Any]:
        """Return values for JSON."""
        named = {
            name: getattr(self, name) for name in ("code", "severity", "what", "remedy", "side", "decides")
        }
        return named | {
            "where": self.where.as_dict(),
            "cost": None if self.cost is None else asdict(self.cost),
            "change": [{"place": list(place), "value": value} for place, value in self.change],
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Return the finding of a document of `as_dict`."""
        where, cost = dict(document["where"]), document.get("cost")
        where["file"] = Path(where["file"]) if where["file"] else None
        where["markers"] = tuple(where["markers"])
        where["times"] = tuple((a, b) for a, b in where["times"] if a is not None and b is not None)
        where["trials"] = tuple(where.get("trials", ()))
        return cls(
            **{name: document.get(name, "") for name in ("code", "severity", "what", "remedy", "side")},
            where=Where(**where),
            cost=None if cost is None else Cost(**cost),
            change=tuple((tuple(entry["place"]), entry["value"]) for entry in document.get("change", ())),
            decides=bool(document.get("decides", False)),
        )


def stored_findings(text: str) -> tuple[Finding, ...]:
    """Return the findings of the attribute `FINDINGS` of a result; an unreadable attribute becomes a finding.

    A code that this version does not know is kept: a result may come from a later one.
    """
    try:
        entries = tuple(map(Finding.from_dict, json.loads(text)))
    except (ValueError, TypeError, KeyError, AttributeError):
        return (finding("findings_unread", "error", {}),)
    return tuple(one if one.severity in SEVERITIES else replace(one, severity="error") for one in entries)


class Units(Formatter):
    """Formatter of texts: numbers in thousandths, {size!m}, in percent, {share!p}, and plain ones, {size:plain3}.

    A plain number has this many digits and no exponent; a number that is not finite is a dash, and zero has no sign.
    """

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """See Formatter."""
        factor = {"m": 1000, "p": 100}.get(conversion)
        return super().convert_field(value, conversion) if factor is None else factor * value

    def format_field(self, value: Any, spec: str) -> str:
        """See Formatter."""
        if spec and isinstance(value, Real) and not isfinite(value):
            return "-"
        if not spec.startswith("plain"):
            fixed = spec.startswith(".") and spec.endswith("f")
            return str(super().format_field(value, f"z{spec}" if fixed else spec))
        digits = int(spec.removeprefix("plain"))
        return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def finding(
    name: str,
    severity: Severity,
    values: Mapping[str, object],
    where: Where = Where(),
    *,
    cost: Cost | None = None,
    side: str = "",
    change: Mapping[Any, Any] | None = None,
) -> Finding:
    """Return a finding with a text of findings.toml, by its code, or "code.case" where a code has several texts.

    What a case does not state is as in the text of its code. values: fields of the text. change: see `Finding`.
    """
    code, _, case = name.partition(".")
    text = texts()[code] | (texts()[code][case] if case else {})
    what, remedy = (Units().format(text[key], **values) for key in ("what", "remedy"))
    return Finding(code, severity, what, remedy, where, cost, side, tuple((change or {}).items()))


def error_if(grave: object) -> Severity:
    """Return the severity of a fault: error or warning."""
    return "error" if grave else "warning"


def sorted_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in the order of their remedies (`Finding.urgency`); each sentence once."""
    unique = list({(f.code, f.what, str(f.where)): f for f in findings}.values())
    return tuple(sorted(unique, key=lambda entry: entry.urgency))
