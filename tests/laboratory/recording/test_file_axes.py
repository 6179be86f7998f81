from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from musclesolve.laboratory.recording.axes import axis_vector, global_from_laboratory
from musclesolve.laboratory.recording.trial_settings import FILE_AXES
from tests.support.refusals import refused

PAIRS = [(forward, up) for forward, up in product(FILE_AXES, FILE_AXES) if forward[1] != up[1]]


@pytest.mark.parametrize(("forward", "up"), PAIRS)
def test_every_laboratory_turns_into_the_global_frame(forward: str, up: str) -> None:
    rotation = global_from_laboratory(forward, up)
    np.testing.assert_array_equal(rotation @ rotation.T, np.eye(3))
    assert np.linalg.det(rotation) == pytest.approx(1.0)
    np.testing.assert_array_equal(rotation @ axis_vector(forward), [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(rotation @ axis_vector(up), [0.0, 0.0, 1.0])


def test_a_laboratory_with_y_up_and_z_to_the_right() -> None:
    np.testing.assert_array_equal(global_from_laboratory("+x", "+y") @ [1.0, 2.0, 3.0], [1.0, -3.0, 2.0])


@pytest.mark.parametrize(("forward", "up"), [("+x", "+x"), ("-y", "+y")])
def test_forward_and_up_on_one_line_are_refused(forward: str, up: str) -> None:
    with refused("bad_axes", "[laboratory]"):
        global_from_laboratory(forward, up)
