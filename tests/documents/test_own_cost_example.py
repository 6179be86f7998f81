"""The examples of docs/costs.md run as they stand there."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import numpy as np

import musclesolve as ms

COSTS = Path(__file__).parents[2] / "docs" / "costs.md"


def test_the_examples_run():
    code = re.findall(r"```python\n(.*?)```", COSTS.read_text(encoding="utf-8"), re.DOTALL)
    assert len(code) == 4
    trial = ms.read_trial(Path(str(files("musclesolve.data") / "reference_stride" / "trial.toml")))
    names = {"ms": ms, "trial": trial}
    for block in code:
        exec(block, names)
    result = names["result"]
    assert result.attrs["cost"].startswith("1e-06 * joint_reaction_squared(")
    assert result.attrs["cost"].endswith(" + effort")
    solved = np.isin(result.status, (ms.Status.SOLVED, ms.Status.SOLVED_WITH_RESERVE))
    assert solved.all() and (result.gap.values <= 1e-9).all()
    problem = ms.Problem([[0.05, 0.05]], [30.0], [1000.0] * 2, [1000.0] * 2)
    answer = ms.solve(problem, names["LoadToTheFourth"](weight=2.0))
    np.testing.assert_allclose(answer.activation, 0.3, atol=1e-7)
    leg = ms.leg_problem(result, "r")
    assert ms.solve(leg, names["mine"], "batch").solved.all()
