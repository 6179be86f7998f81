"""The table [filter] of a trial file."""

from __future__ import annotations

from typing import Any

from musclesolve.recording.data import FilterOptions
from musclesolve.recording.schema import Document

SPLINE_ORDERS = (2, 3)
# The choice of the cut-off that only the spline has.
OF_SPLINES = "cross_validation"


def filter_of(document: Document, given: dict[str, Any]) -> FilterOptions:
    """Return the filter options."""
    method, order, cutoff = given["method"], int(given["order"]), given["cutoff_hz"]
    if method == "spline" and order not in SPLINE_ORDERS:
        problem = f"there is no smoothing spline of half order {order}"
        raise document.error(problem, "filter", "order", 0, "2 (cubic) or 3 (quintic)", "order = 3")
    if cutoff == OF_SPLINES and method != "spline":
        problem = "cross-validation chooses the smoothness of splines"
        expected = "a number or a residual analysis for a Butterworth filter"
        remedy = 'method = "spline", or cutoff_hz = "residual_analysis"'
        raise document.error(problem, "filter", "cutoff_hz", 0, expected, remedy, code="conflict")
    if cutoff == "residual_analysis" and order < 2:
        problem = "a filter of order 1 has no optimal cut-off"
        expected = "order 2 or higher where cutoff_hz is chosen from accelerations"
        remedy = 'order = 2, or cutoff_hz = "residual_analysis_silva_2003"'
        raise document.error(problem, "filter", "order", 0, expected, remedy)
    unloaded, forces = float(given["unloaded_below_n"]), given["force_cutoff_hz"]
    forces = None if forces is None else float(forces)
    if isinstance(cutoff, str):
        return FilterOptions(method, order, None, cutoff, unloaded, forces)
    return FilterOptions(method, order, float(cutoff), unloaded_below=unloaded, force_cutoff_hz=forces)
