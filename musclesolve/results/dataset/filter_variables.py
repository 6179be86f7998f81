"""Variables of the filter: cut-offs, noise and residual curves where the recording chose them."""

from __future__ import annotations

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve.motion.signals.filter_choice import FilterChoice
from musclesolve.motion.signals.residual_analysis import Verdict

Variable = tuple[tuple[str, ...], Array]


def filter_variables(chosen: FilterChoice) -> dict[str, Variable]:
    """Cut-off and noise of every marker and axis and, of a residual analysis, what it saw; none of a given cut-off."""
    if chosen.noise is None:
        return {}
    each, curves = ("marker", "axis"), ("tried_cutoff", "marker", "axis")
    own: dict[str, Variable] = {
        "marker_cutoff": (each, chosen.cutoff_hz),
        "marker_noise": (each, chosen.noise),
    }
    if (analysis := chosen.analysis) is None:
        return own
    return own | {
        "marker_residual": (curves, analysis.residual),
        "marker_residual_line": (curves, analysis.line),
        "marker_linear_from": (each, analysis.linear_from_hz),
        "marker_linear_to": (each, analysis.linear_to_hz),
        "marker_verdict": (each, analysis.verdict.astype(np.int8)),
    }


def name_verdicts(result: xr.Dataset) -> None:
    """Say in the result what the numbers of its verdicts mean."""
    if "marker_verdict" in result:
        result["marker_verdict"].attrs |= {
            "flag_values": np.array([int(verdict) for verdict in Verdict], dtype=np.int8),
            "flag_meanings": " ".join(verdict.name for verdict in Verdict),
        }


def filter_coordinates(chosen: FilterChoice) -> dict[str, object]:
    """Names of the markers and the cut-off frequencies of the residual curves."""
    if chosen.noise is None:
        return {}
    coordinates: dict[str, object] = {"marker": list(chosen.markers)}
    if chosen.analysis is not None:
        coordinates["tried_cutoff"] = ("tried_cutoff", chosen.analysis.frequency_hz, {"units": "Hz"})
    return coordinates


def filter_attributes(chosen: FilterChoice) -> dict[str, object]:
    """Method and order; the cut-off where it was given, else who chose it and that of the forces."""
    options = chosen.options
    attributes: dict[str, object] = {"filter_method": options.method, "filter_order": options.order}
    if options.force_cutoff_hz is not None:
        attributes["force_cutoff_hz"] = options.force_cutoff_hz
    if options.cutoff_hz is not None:
        return attributes | {"cutoff_hz": options.cutoff_hz}
    return attributes | {"cutoff_choice": options.choice, "force_cutoff_hz": chosen.force_cutoff_hz}


def filter_line(result: xr.Dataset) -> str:
    """The filter in a few words; nothing where the result has none."""
    given = result.attrs
    name, order = "low-pass filter", ""
    if given.get("filter_method") == "spline":
        name = {2: "cubic", 3: "quintic"}[int(given["filter_order"])] + " smoothing spline"
    elif given.get("filter_order", 2) != 2:
        order = f" of order {given['filter_order']},"
    if "cutoff_hz" in given:
        forces = f" (forces {given['force_cutoff_hz']:g} Hz)" if "force_cutoff_hz" in given else ""
        return f"{name}{order} {given['cutoff_hz']:g} Hz{forces}"
    if "marker_cutoff" not in result:
        return ""
    cutoff, noise = result["marker_cutoff"].values, 1000.0 * result["marker_noise"].values
    return (
        f"{name}{order.rstrip(',')}, cut-off {cutoff.min():.1f} to {cutoff.max():.1f} Hz from the data (forces "
        f"{given['force_cutoff_hz']:.1f} Hz), noise {np.median(noise):.2g} mm"
    )
