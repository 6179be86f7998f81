"""The examples of docs/costs.md run as they stand there."""

from __future__ import annotations

import numpy as np
from document_pages import DOCS, blocks

import musclesolve as ms


def test_the_examples_run():
    code = blocks(DOCS / "costs.md", "python")
    assert len(code) == 3
    names: dict = {}
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
