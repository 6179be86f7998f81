"""The note on fibers beyond plausible lengths says what their own model does."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import muscle_db
from musclesolve.results.dataset.fiber_ranges import fiber_notes

NAMES = ("semimembranosus_r", "soleus_r")


def notes(semimembranosus, soleus, *, database="gait2392", rule=None):
    """Of one leg whose fibers have these normalised lengths over two frames, and a third frame without a solution."""
    normal = np.array([semimembranosus, soleus]).T
    muscles = SimpleNamespace(names=NAMES, optimal_fiber_length=np.array([0.08, 0.05]))
    length = np.vstack([normal, [9.0, 9.0]]) * muscles.optimal_fiber_length
    solution = SimpleNamespace(solved=np.array([True, True, False]))
    leg = SimpleNamespace(solution=solution, state=SimpleNamespace(muscles=muscles, fiber_length=length))
    return fiber_notes([leg], SimpleNamespace(database=muscle_db.load(database), fiber_lengths=rule))


def test_plausible_lengths_need_no_note():
    assert notes((0.41, 1.0), (0.6, 1.59)) == []


def test_a_range_that_the_model_of_the_set_has_as_well_is_said_to():
    (note,) = notes((0.33, 1.0), (0.6, 1.2))
    assert "semimembranosus_r 0.33 to 1.00" in note and "soleus" not in note
    assert "The model of gait2392" in note and "semimembranosus 0.26 to" in note


@pytest.mark.parametrize("given", [{}, {"rule": "standing"}, {"database": "silva_2003"}])
def test_a_range_that_is_not_that_of_the_model_is_named_alone(given):
    lengths = (0.1, 1.0) if not given else (0.33, 1.0)
    (note,) = notes(lengths, (0.6, 1.2), **given)
    assert "semimembranosus_r" in note and "model" not in note
