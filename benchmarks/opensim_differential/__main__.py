"""OpenSim models, and mutants of a small one, as OpenSim computes them and as this package does.

python -m benchmarks.opensim_differential [--mutants 2000] [--seed 7] [--poses 2] [--kind TEXT]
    [--keep FOLDER] [--no-models]

Compared in random poses: values of coupled coordinates, muscle parameters, lengths, moment arms about free coordinates,
moments of inverse dynamics, tendon forces of rigid tendons, and shared forces where the problem is made here and where
it is made of OpenSim's arms and lengths. Models lie in ../shared/data (or MUSCLESOLVE_DATA). Every model agrees,
or is refused by name; what differs is listed with its size.
"""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from benchmarks.arguments import command_line
from benchmarks.opensim_differential.comparison import AGREES, DIFFERS, QUANTITIES, REFUSED, SELF, TOLERANCE
from benchmarks.opensim_differential.sweep import Outcome, mutants, outcomes, public_models
from benchmarks.timing import console
from benchmarks.validation.page import data_folder


def main() -> None:
    """Compare, print what is refused and what differs, and the table of all."""
    parser = command_line(__doc__)
    parser.add_argument("--mutants", type=int, default=400)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--poses", type=int, default=2)
    parser.add_argument("--kind", default="", help="only mutants whose name contains this")
    parser.add_argument("--keep", type=Path, help="folder for the files of the mutants")
    parser.add_argument("--no-models", action="store_true", help="mutants only")
    asked = parser.parse_args()
    if importlib.util.find_spec("opensim") is None:
        sys.exit("skipped: OpenSim is not installed (pip install opensim)")
    data = data_folder().resolve()
    with TemporaryDirectory() as folder:
        kept = asked.keep or Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        cases = [] if asked.no_models else list(public_models(data, asked.seed, asked.poses))
        cases += [
            each for each in mutants(asked.mutants, asked.seed, kept, asked.poses) if asked.kind in each.name
        ]
        done = []
        for outcome in outcomes(cases):
            done.append(outcome)
            for line in lines(outcome):
                console.print(line, soft_wrap=True)
    console.print(table(done))


def lines(outcome: Outcome) -> list[str]:
    """Return the disagreements, a line for each quantity and verdict."""
    if outcome.refusal:
        return [f"{outcome.case.name}: OpenSim refuses it: {outcome.refusal[-120:]}"]
    found = {}
    for each in outcome.findings:
        if each.verdict != AGREES:
            amount = f"{each.amount:.3g} " if each.amount else ""
            found.setdefault(
                (each.quantity, each.verdict), f"{each.quantity} {each.verdict}: {amount}{each.what}"
            )
    return [f"{outcome.case.name} ({outcome.case.file.name}): {text}" for text in found.values()]


def table(done: Iterable[Outcome]) -> Table:
    """Models by quantity and verdict."""
    made = Table("quantity", "largest", AGREES, REFUSED, SELF, DIFFERS, title="models")
    done = list(done)
    for quantity in QUANTITIES:
        worst: Counter[str] = Counter()
        for outcome in done:
            verdicts = {each.verdict for each in outcome.findings if each.quantity == quantity}
            worst.update(
                [next(v for v in (DIFFERS, REFUSED, SELF, AGREES) if v in verdicts)] if verdicts else []
            )
        limit = f"{TOLERANCE[quantity]:g}" if quantity in TOLERANCE else ""
        made.add_row(quantity, limit, *(str(worst[v]) for v in (AGREES, REFUSED, SELF, DIFFERS)))
    made.add_row("OpenSim refuses", "", str(sum(bool(each.refusal) for each in done)), "", "", "")
    return made


if __name__ == "__main__":
    main()
