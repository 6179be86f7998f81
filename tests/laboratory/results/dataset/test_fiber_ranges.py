"""The note on fibers beyond plausible lengths says what their own model does, and repeats no warning."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from modeled import sharing_by

import muscle_db
from musclesolve.laboratory.bodies.run_options import Options
from musclesolve.laboratory.results.dataset.muscle_labels import fiber_notes
from musclesolve.models.body import Analysis
from musclesolve.muscles import MuscleParameters

NAMES = ("semimembranosus_r", "soleus_r")


def notes(semimembranosus, soleus, *, database="gait2392", rule=None):
    """Return the notes on one leg with these normalized fiber lengths in two frames; a third one has no solution."""
    normal = np.array([semimembranosus, soleus]).T
    parameters = MuscleParameters.from_values(NAMES, "silva_2003", 1000.0, [0.08, 0.05], 0.2)
    length = np.vstack([normal, [9.0, 9.0]]) * parameters.optimal_fiber_length
    solution = SimpleNamespace(solved=np.array([True, True, False]))
    state = SimpleNamespace(parameters=parameters, fiber_length=length)
    ends = np.stack([length[:2].min(axis=0), length[:2].max(axis=0)])
    leg = SimpleNamespace(solution=solution, state=state, fiber_ends=ends)
    sharing = sharing_by("stress_cubed")
    options = Options(("r",), muscle_db.load(database), sharing, (), fiber_lengths=rule)
    return fiber_notes(Analysis(SimpleNamespace(muscles=NAMES), sharing, (leg,)), options)


def test_plausible_lengths_need_no_note():
    assert notes((0.41, 1.0), (0.6, 1.59)) == []


def test_the_note_names_ranges_that_the_model_of_the_set_has_as_well():
    (note,) = notes((0.33, 1.0), (0.6, 1.2))
    assert "soleus" not in note and "0.33" not in note
    assert note.startswith("The model of gait2392") and "semimembranosus 0.26 to" in note


@pytest.mark.parametrize("given", [{}, {"rule": "standing"}, {"database": "silva_2003"}])
def test_a_range_that_is_not_that_of_the_model_is_left_to_the_warning(given):
    lengths = (0.1, 1.0) if not given else (0.33, 1.0)
    assert notes(lengths, (0.6, 1.2), **given) == []
