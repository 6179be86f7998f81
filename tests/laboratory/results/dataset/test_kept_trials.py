"""A trial of a data set lacks what was not kept: commands say so, and propose what helps."""

import numpy as np
import pytest
import xarray as xr

import musclesolve as ms
from musclesolve.laboratory.results.dataset.checked import check_parts
from musclesolve.laboratory.results.dataset.quantities import kept_of


@pytest.mark.parametrize("kept", [True, False])
def test_the_remedy_for_missing_variables_depends_on_who_wrote_the_result(kept):
    result = xr.Dataset({"muscle_force": ("time", np.zeros(3))})
    result = kept_of(result, ["muscle_force"]) if kept else result
    with pytest.raises(ms.InputError) as caught:
        check_parts(result, ["activation"])
    refusal = caught.value
    assert "activation" in str(refusal)
    assert ("--keep" in refusal.remedy, "not a result" in str(refusal)) == (kept, not kept)
