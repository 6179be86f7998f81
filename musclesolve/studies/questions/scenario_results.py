"""Results of several scenarios of a trial side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from musclesolve.results.dataset.quantities import explained
from musclesolve.results.dataset.result_quantities import body_weight, magnitude
from musclesolve.studies.questions.judged import judgement_of
from musclesolve.studies.side_by_side import stacked

MINIMIZED = ("minimized_before", "minimized", "minimized_together")
"""Variables of scenarios with `minimize`; NaN in others."""
OF_SCENARIO = (
    *("activation", "muscle_force", "reserve_moment", "device_torque", "knee_contact_medial"),
    *("knee_contact_lateral", "status", "valid", "kkt_residual", "cost"),
    *MINIMIZED,
)
"""Variables with different values in each scenario."""


def scenarios_side_by_side(results: Sequence[xr.Dataset], names: Sequence[str]) -> xr.Dataset:
    """The variables of each scenario along a dimension `scenario`, with names, units and attributes of the first."""
    first = results[0]
    weight = float(body_weight(first))
    variables = stacked(results, OF_SCENARIO, "scenario")
    if "joint_reaction" in first:
        contact = np.stack([magnitude(result["joint_reaction"]).values for result in results]) / weight
        about = {"units": "body weights", "long_name": "magnitude of the joint contact force"}
        variables["contact_force"] = (("scenario", "time", "joint"), contact, about)
    axes = ("time", "dof", "muscle", "side", "joint")
    coords = {name: first[name] for name in axes if name in first.coords}
    coords["group"] = first["group"]
    found = xr.Dataset(
        variables,
        {"scenario": list(names), **coords},
        {
            "costs": [str(result.attrs["cost"]) for result in results],
            **{key: first.attrs[key] for key in ("tendon", "subject") if key in first.attrs},
            **judgement_of(first),
            "notes": "Motion and ground reactions are held in every scenario. People would change them.",
        },
    )
    return explained(found)
