"""Studies of trials with elastic tendons: they work, or refuse and say so."""

from __future__ import annotations

import numpy as np
from elastic_stride import elastic_result, elastic_trial
from refusals import refused

import musclesolve as ms
from musclesolve.constants import USUAL_COST
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, following


def test_a_comparison_has_the_state_of_muscles_under_every_cost():
    found = ms.compare(elastic_trial(), [USUAL_COST, "stress_cubed"], side="r")
    of_cost = [*following("state"), "tendon_length", "tendon_strain", "tendon_energy", "fiber_power"]
    measured = ("fascicle_rms_error", "fascicle_mean_error", "fascicle_correlation")  # not in this recording
    for name in (each for each in of_cost if QUANTITIES[each].function is None and each not in measured):
        assert found[name].dims[0] == "cost", name
    np.testing.assert_array_equal(found["fiber_length"][0], elastic_result()["fiber_length"])
    assert float(np.abs(found["fiber_length"][1] - found["fiber_length"][0]).max()) > 1e-4
    assert found["co_contraction"].dims == ("cost", "time", "dof")
    assert found.attrs["solver"] == "structured"


def test_uncertainty_solves_every_sample_and_has_no_contributions():
    found = ms.studies.uncertainty(elastic_trial(), samples=2, side="r", jobs=1)
    np.testing.assert_allclose(found["muscle_force"], elastic_result()["muscle_force"], rtol=1e-3, atol=1.0)
    assert float(found["muscle_force_sd"].max()) > 10.0
    assert "muscle_force_contribution" not in found and int(found.attrs["failed_samples"]) == 0


def test_the_force_sensitivity_is_refused():
    with refused("conflict", "[muscles]", "tendon"):
        ms.studies.force_sensitivity(elastic_trial(), side="r")


def test_a_forward_problem_is_refused():
    with refused("conflict", "[muscles]", "tendon"):
        ms.studies.forward_problem(elastic_trial())
    with refused("conflict", "result"):
        ms.studies.forward_problem(elastic_trial(tendon="rigid"), result=elastic_result())
