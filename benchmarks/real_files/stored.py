"""Outcomes as a CSV file, their findings, the judgements of them by hand, and the changes from one file to another."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.real_files.outcome import COLUMNS, STAGES, Outcome

JUDGED = Path(__file__).parent / "judged.csv"
JUDGEMENTS = ("true", "false", "useless", "undecidable")
"""What a person may judge of a finding. useless: true, but of no consequence for a result, or without a way out."""
LEVELS = ("error", "warning", "note")


@dataclass(frozen=True)
class CaseFinding:
    """One finding of a case, as it is stored."""

    case: str
    level: str
    code: str
    sentence: str


@dataclass(frozen=True)
class HandJudgement:
    """The judgement of the findings of one code on a case, by a person who compared them with the facts."""

    code: str
    case: str
    judgement: str
    reason: str


def write_outcomes(path: Path, outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Write one row a case as soon as it is computed, and yield it."""
    with path.open("w", encoding="utf-8", newline="") as text:
        writer = csv.DictWriter(text, COLUMNS, restval="")
        writer.writeheader()
        for outcome in outcomes:
            writer.writerow(outcome)
            text.flush()
            yield outcome


def read_outcomes(path: Path) -> list[Outcome]:
    """Return the rows of a file of `write_outcomes`."""
    with path.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def findings_of(outcome: Outcome) -> list[CaseFinding]:
    """Return the findings of a case."""
    lines = (line.split(" ", 2) for line in outcome["findings"].splitlines())
    return [CaseFinding(outcome["case"], *words) for words in lines]


def counted(outcomes: Iterable[Outcome]) -> dict[str, Counter[str]]:
    """Return code -> level -> number of findings, the codes with most errors first."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in (finding for outcome in outcomes for finding in findings_of(outcome)):
        counts[each.code][each.level] += 1
    return dict(sorted(counts.items(), key=lambda item: [-item[1][level] for level in LEVELS]))


def read_judgements(path: Path = JUDGED) -> dict[tuple[str, str], list[HandJudgement]]:
    """Return (code, case) -> the judgements by hand of the findings of a code on a case."""
    judgements: dict[tuple[str, str], list[HandJudgement]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            judgements[row["code"], row["case"]].append(HandJudgement(**row))
    return dict(judgements)


def changes(before: Sequence[Outcome], after: Sequence[Outcome]) -> Iterator[str]:
    """Yield a line for each change of a case in both files: its stage, its verdict, and findings by code and level."""
    earlier = {outcome["case"]: outcome for outcome in before}
    for new in after:
        old = earlier.get(new["case"])
        if old is None:
            continue
        if new["stage"] != old["stage"]:
            word = "gained" if STAGES.index(new["stage"]) > STAGES.index(old["stage"]) else "lost"
            yield f"{new['case']}: stage {word}: {old['stage']} -> {new['stage']} {new['stopped']}".rstrip()
        if new["verdict"] != old["verdict"]:
            yield f"{new['case']}: verdict {old['verdict'] or 'none'} -> {new['verdict'] or 'none'}"
        counts = [Counter((f.level, f.code) for f in findings_of(outcome)) for outcome in (old, new)]
        for word, lines in ("lost", counts[0] - counts[1]), ("gained", counts[1] - counts[0]):
            for (level, code), number in sorted(lines.items()):
                yield f"{new['case']}: {word}: {level} {code}" + (f" ({number})" if number > 1 else "")
