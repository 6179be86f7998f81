"""The example of docs/speed.md runs and solves what it says."""

from __future__ import annotations

import re
from pathlib import Path

import musclesolve as ms

TEXT = (Path(__file__).parents[2] / "docs" / "speed.md").read_text(encoding="utf-8")


def test_the_example_solves_ten_thousand_frames() -> None:
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL):
        exec(compile(block, "docs/speed.md", "exec"), names)
    solution = names["solution"]
    assert (solution.status == ms.Status.SOLVED).all() and len(solution.status) == 10_000
    assert solution.gap.max() <= 1e-9
