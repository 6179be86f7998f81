"""Every model of some folders beside OpenSim: read, lengths, arms, inverse dynamics, reactions.

python -m benchmarks.foreign_models FOLDER ... [--limit S] [-o TABLE.csv]

Each OpenSim model (.osim) is computed by the package and by OpenSim 4.6 in random poses within its ranges, in two
processes of their own with a limit of time [s]. Models of biorbd (.bioMod) and MuJoCo (.xml, .mjb) rest in their
first pose; their arms and moments are those programs' own. A row has the largest differences, and how many muscles or
coordinates differ by more than 1 mm or 1 N m and are in no note. Lengths and arms: of OpenSim's own rules, as the
package follows them (`opensim`), and of the shortest path (`path`). Inverse dynamics [N m or N]: with the forces of
the model but muscles and actuators, of coordinates whose rates are OpenSim's speeds. Reactions [N]: of the joints of
the model that falls from rest without muscle forces. Arms about the coordinates of closed loops have another meaning
in OpenSim, and are not compared.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.table import Table

from benchmarks.arguments import command_line, input_folder
from benchmarks.foreign_models.package_numbers import COLUMNS
from benchmarks.timing import console

LIMIT_S = 120.0
KINDS = (".osim", ".biomod", ".mjb", ".xml")


def main() -> None:
    """Print the table, and store it where -o says."""
    parser = command_line(__doc__)
    parser.add_argument("folders", nargs="+", type=input_folder, metavar="FOLDER")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds for each model and program")
    parser.add_argument("-o", "--output", type=Path, help="file for the table (.csv)")
    given = parser.parse_args()
    rows = []
    for file in models_in(given.folders):
        rows.append(row_of(file, given.limit))
        console.print(" ".join(f"{name} {rows[-1].get(name, '')}" for name in COLUMNS), soft_wrap=True)
    table = Table(*COLUMNS)
    for row in rows:
        table.add_row(*(str(row.get(name, "")) for name in COLUMNS))
    console.print(table)
    unnamed = [row["model"] for row in rows if row.get("unnamed")]
    console.print(f"{len(rows)} models; differences that no note names: {', '.join(unnamed) or 'none'}")
    if given.output:
        with given.output.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, COLUMNS, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)


def models_in(folders: list[Path]) -> Iterator[Path]:
    """Model files, each content once."""
    seen = set()
    for folder in folders:
        for file in sorted(folder.rglob("*")):
            if file.suffix.lower() not in KINDS or not file.is_file():
                continue
            content = file.read_bytes()
            if file.suffix.lower() == ".xml" and not re.search(rb"<mujoco[ >]", content):
                continue
            if content not in seen:
                seen.add(content)
                yield file


def row_of(file: Path, limit: float) -> dict[str, Any]:
    """The numbers of one model, or why there are none."""
    with TemporaryDirectory() as folder:
        numbers = Path(folder) / "numbers.json"
        steps = [("benchmarks.foreign_models.package_numbers", "poses")]
        if file.suffix.lower() == ".osim":
            steps += [
                ("benchmarks.foreign_models.opensim_numbers", ""),
                ("benchmarks.foreign_models.package_numbers", "compare"),
            ]
        for module, step in steps:
            words = [sys.executable, "-W", "ignore", "-m", module, str(file), str(numbers), step]
            try:
                done = subprocess.run(
                    words, timeout=limit, capture_output=True, text=True, check=False, env={**os.environ}
                )
            except subprocess.TimeoutExpired:
                return {"model": file.name, "read": f"{module.rpartition('.')[2]}: no answer in {limit:g} s"}
            if done.returncode:
                faults = re.findall(r"^[\w.]+(?:Error|Exception): .*", done.stderr, re.MULTILINE)
                reason = faults[-1] if faults else f"ended with code {done.returncode}"
                return {"model": file.name, "read": f"{module.rpartition('.')[2]}: {reason[:200]}"}
        row: dict[str, Any] = json.loads(numbers.read_text(encoding="utf-8"))["row"]
        return {"model": file.name, **row}


if __name__ == "__main__":
    main()
