"""Public recordings and models of many laboratories: what is drafted, found and computed without a hand.

    python -m benchmarks.real_files [FOLDER] [--cases "gc6/*"] [--out after.csv] [--compare before.csv] [--judge]

Each case is copied and unpacked, drafted as `musclesolve init` does, completed with mass, stature and sex where no file
states them (facts of the case, else the suggestion of the draft, else 70 kg, 1.70 m, male), checked and run, in a
process of its own. Other open lines of a draft stay open. --out stores one row a case; --compare prints what changed
since an earlier file; --from prints the tables of a stored file and computes nothing. --judge prints each error and
warning beside the facts of its case, with its judgement by hand (judged.csv beside this file).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from rich.table import Table

import musclesolve as ms
from benchmarks.arguments import command_line, input_file, input_folder
from benchmarks.real_files.cases import RealCase, real_cases
from benchmarks.real_files.outcome import FORCES, STAGES, Outcome, outcome_of
from benchmarks.real_files.stored import (
    JUDGEMENTS,
    LEVELS,
    changes,
    counted,
    findings_of,
    read_judgements,
    read_outcomes,
    write_outcomes,
)
from benchmarks.timing import console

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "real_files"


def computed(cases: list[RealCase], limit: int, processes: int, run: bool) -> Iterator[Outcome]:
    """Compute the cases side by side, and print a line as each ends; compilation is before the first."""
    ms.run(ms.data.reference_stride())
    with ThreadPoolExecutor(processes) as pool:
        started = [pool.submit(outcome_of, case, limit, run) for case in cases]
        for outcome in (each.result() for each in as_completed(started)):
            words = (outcome[column] for column in ("case", "stage", "verdict", "stopped"))
            console.print("  ".join(words)[:150], highlight=False)
            yield outcome


def print_tables(outcomes: list[Outcome]) -> None:
    """Print the findings by code, the verdicts, and who reached which stage."""
    judgements = read_judgements()
    table = Table("code", *(f"{level}s" for level in LEVELS), "cases", *JUDGEMENTS)
    for code, levels in counted(outcomes).items():
        cases = [o["case"] for o in outcomes if any(f.code == code for f in findings_of(o))]
        judged = Counter(each.judgement for case in cases for each in judgements.get((code, case), ()))
        table.add_row(
            code,
            *(str(levels[level] or "") for level in LEVELS),
            str(len(cases)),
            *(str(judged[each] or "") for each in JUDGEMENTS),
        )
    console.print(table)
    verdicts = Counter(outcome["verdict"] or "none" for outcome in outcomes)
    console.print("verdicts: " + ", ".join(f"{count} {name}" for name, count in verdicts.most_common()))
    stages = Counter(outcome["stage"] for outcome in outcomes)
    console.print("last stage: " + ", ".join(f"{stages[stage]} {stage}" for stage in STAGES))
    sources = {outcome["case"].partition("/")[0]: False for outcome in outcomes}
    for outcome in outcomes:
        sources[outcome["case"].partition("/")[0]] |= outcome["stage"] == FORCES
    console.print(
        f"forces: {stages[FORCES]} of {len(outcomes)} cases, {sum(sources.values())} of {len(sources)} sources"
    )


def print_beside_facts(outcomes: list[Outcome], cases: list[RealCase]) -> None:
    """Print the errors and warnings of each case with their judgements by hand, and the facts of the case."""
    judgements, facts = read_judgements(), {case.name: case.facts for case in cases}
    for outcome in outcomes:
        console.rule(f"{outcome['case']}: {outcome['stage']}, {outcome['verdict'] or 'no verdict'}")
        for finding in findings_of(outcome):
            if finding.level != "note":
                judged = judgements.get((finding.code, finding.case), ())
                words = "; ".join(f"{each.judgement}: {each.reason}" for each in judged) or "not judged"
                console.print(
                    f"{finding.level} {finding.code}: {finding.sentence}\n    [{words}]", markup=False
                )
        for file, fact, value in facts.get(outcome["case"], ()):
            console.print(f"    {file}: {fact} = {value}", highlight=False)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("folder", nargs="?", type=input_folder, default=DATA, metavar="FOLDER")
    parser.add_argument("--cases", default="*", metavar="PATTERN", help='names of cases, such as "gc6/*"')
    parser.add_argument("--out", type=Path, metavar="FILE.csv", help="store one row a case")
    parser.add_argument("--compare", type=input_file, metavar="FILE.csv", help="an earlier file of --out")
    parser.add_argument("--from", type=input_file, dest="stored", metavar="FILE.csv", help="compute nothing")
    parser.add_argument("--limit", type=int, default=120, help="seconds of the processor for a case")
    parser.add_argument("--processes", type=int, default=2, help="cases at a time")
    parser.add_argument("--no-run", action="store_true", help="stop after `check`, which shares forces, too")
    parser.add_argument("--judge", action="store_true", help="print each sentence beside the facts")
    given = parser.parse_args()
    cases = real_cases(given.folder, given.cases)
    if not cases:
        parser.error(f"no case of {given.folder} is called {given.cases!r}")
    if given.stored is None:
        of_cases = computed(cases, given.limit, given.processes, not given.no_run)
        outcomes = list(of_cases if given.out is None else write_outcomes(given.out, of_cases))
        outcomes.sort(key=lambda outcome: outcome["case"])
    else:
        names = {case.name for case in cases}
        outcomes = [outcome for outcome in read_outcomes(given.stored) if outcome["case"] in names]
    if given.judge:
        print_beside_facts(outcomes, cases)
    print_tables(outcomes)
    if given.compare is not None:
        console.rule(f"since {given.compare}")
        for line in changes(read_outcomes(given.compare), outcomes):
            console.print(line, highlight=False)


if __name__ == "__main__":
    main()
