"""The summary and the JSON document of elastic tendons: solver, iterations, largest strains."""

from __future__ import annotations

import json

import numpy as np
import pytest
import xarray as xr
from elastic_stride import elastic_result
from said import about, run_document, summary
from synthetic_result import result

from musclesolve.cli.printing import json_text
from musclesolve.laboratory.results.dataset.result_quantities import identity, listed
from musclesolve.laboratory.results.facts import achilles


def iterations(data: xr.Dataset) -> str:
    """Return the iterations of the right leg."""
    return listed(data, "motion_iterations")[0].removeprefix("r ")


def test_the_largest_strain_is_that_of_the_result():
    data = elastic_result()
    first, _, second = about(data, "tendons")
    assert first.startswith("elastic, with activation dynamics; structured, ")
    assert first.split("structured, ")[1].split()[0] == iterations(data)
    calf = data["tendon_strain"].sel(muscle=["soleus_r", "gastrocnemius_medial_r", "gastrocnemius_lateral_r"])
    largest = calf.where(calf == calf.max(), drop=True)
    muscle, time = str(largest["muscle"].values[0]), float(largest["time"].values[0])
    assert f"Achilles tendon {100.0 * float(calf.max()):.1f} % ({muscle} at {time:.3f} s)" in second
    assert first in summary(data) and second in summary(data)


def test_the_balance_between_frames_is_stated_with_its_place():
    data = elastic_result()
    error = data["tendon_balance_error"]
    error = error.copy(data=np.full(error.shape, 0.02))
    error[3, 0], error[4, 0], error[5, 0] = 0.27, 0.15, np.nan
    _, line, _ = about(data.assign(tendon_balance_error=error), "tendons")
    assert (
        f"0.27 (right at {float(data['time'][3]):.3f} s); above 0.1 in 2 of {error.size - 1} frames" in line
    )
    _, line, _ = about(data.assign(tendon_balance_error=0.0 * error), "tendons")
    assert "above" not in line


def test_rigid_tendons_have_no_line():
    assert about(result(), "tendons") == [] and "tendons" not in summary(result())
    assert run_document(result())["tendons"] is None


def test_the_margin_of_a_figure_names_elastic_tendons():
    assert "tendons elastic" in identity(elastic_result())


def test_both_heads_and_the_soleus_pull_on_the_achilles_tendon():
    assert sorted(achilles(elastic_result())) == [
        "gastrocnemius_lateral_r",
        "gastrocnemius_medial_r",
        "soleus_r",
    ]


def test_the_document_has_the_numbers_of_the_lines():
    data = elastic_result()
    found = json.loads(json_text(run_document(data)))["tendons"]
    assert found["largest_strain"]["all"]["strain"] == pytest.approx(float(data["tendon_strain"].max()))
    assert found["iterations"] == {"right": int(iterations(data))}
    assert found["balance_error"] == pytest.approx(float(np.nanmax(data["tendon_balance_error"].values)))
