"""OpenSim's chain beside the live one on the same walk: processor time a frame of kinematics, dynamics and sharing.

python -m benchmarks.opensim.chain [--opensim-python PYTHON]

PYTHON is one that has the wheel `opensim`, this one unless given. The trial is the recorded walk of ../shared/data (or
MUSCLESOLVE_DATA), both legs: OpenSim with 80 muscles and activation squared, without joint reactions; here with the 86
muscles and the cost of tests/real/rajagopal_walk.toml, joint reactions and certificates included.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from benchmarks.opensim.walk import ROOT, python_and_walk, run_tool
from benchmarks.timing import console
from musclesolve.live.live import Live
from musclesolve.live.replay import samples
from musclesolve.studies.benchmark.measure import machine


def main() -> None:
    """Run both and print the table."""
    found = python_and_walk(__doc__.splitlines()[0])
    if found is None:
        return
    with TemporaryDirectory() as folder:
        run_tool(found[0], "chain_tool.py", found[1], Path(folder))
        there = json.loads((Path(folder) / "chain.json").read_text(encoding="utf-8"))

    live = Live(ROOT / "tests" / "real" / "rajagopal_walk.toml")
    live.warm_up()
    every = list(samples(live, live.trial))
    begun = time.process_time()
    count = sum(bool(live.step(*sample).valid.all()) for sample in every)
    here = (time.process_time() - begun) / count

    console.print(", ".join(f"{name} {value}" for name, value in machine().items()))
    table = Table("", "ms a frame", "frames a second", title="processor time, one core, both legs")
    each = {
        f"OpenSim {there['version']}: {name}": s / there["frames"] for name, s in there["seconds"].items()
    }
    whole = sum(each.values())
    for name, seconds in {**each, "OpenSim, all three": whole, "live": here}.items():
        table.add_row(name, f"{1e3 * seconds:.2f}", f"{1.0 / seconds:.1f}")
    table.add_row("OpenSim / live", f"{whole / here:.0f}", "")
    console.print(table)


if __name__ == "__main__":
    main()
