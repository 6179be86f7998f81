"""What `import musclesolve as ms` offers."""

from __future__ import annotations

import numpy as np
import pytest

import musclesolve as ms


def test_every_public_name_is_there():
    assert all(hasattr(ms, name) for name in ms.__all__)
    with pytest.raises(AttributeError, match="walk"):
        ms.walk  # noqa: B018


def test_the_errors_can_be_caught_by_their_public_names():
    with pytest.raises(ms.InputError):
        ms.solve(None)
    assert issubclass(ms.InputError, ms.MuscleSolveError)


def test_a_solution_introduces_itself_in_a_line():
    problem = ms.Problem(np.ones((3, 1, 2)), np.full((3, 1), 10.0), np.full((3, 2), 100.0), np.full(2, 100.0))
    solution = ms.solve(problem)
    assert (
        repr(solution)
        == "<Solution of 3 frames, 2 muscles, 1 moments by 'batch' for 'stress_cubed': 3 solved>"
    )
    assert repr(solution.drop_frame_axis()).startswith("<Solution of 1 frames, 2 muscles")
