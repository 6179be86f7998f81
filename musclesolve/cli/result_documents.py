"""The documents of `compare`, `average`, many trials, studies and `benchmark`; the facts of a result make its
document.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from musclesolve._util.sides import SIDE_NAMES
from musclesolve.laboratory.results.fact_table import document
from musclesolve.laboratory.results.facts import STRIDE_MEASURES
from musclesolve.laboratory.results.result_facts import facts_of
from musclesolve.laboratory.results.tables.comparison_tables import PREFIX, ComparisonFacts
from musclesolve.laboratory.results.tables.study_tables import curve_tests

if TYPE_CHECKING:
    from musclesolve.studies.benchmark.benchmark import BenchmarkReport
    from musclesolve.studies.many_trials.trial_record import TrialRecord
    from musclesolve.studies.study.analysis import StudyResult

AGREEMENT = ("peak_n", "rms_difference_n", "correlation", "peak_ratio")
"""Keys of the rows of `ComparisonFacts`."""
OF_COST = ("legs", "contact_force_peaks_body_weights", "judgement", "plausibility")
"""Keys of the document of a result that stand under each cost."""


def comparison_document(comparison: xr.Dataset) -> dict[str, Any]:
    """Each cost by itself, and against the first one each function group and muscle."""
    facts = ComparisonFacts(comparison)
    tables = {
        dim: {
            name: {
                cost: dict(zip(AGREEMENT, row, strict=True))
                for cost, row in zip(facts.costs, rows, strict=True)
            }
            for name, rows in facts.rows(dim).items()
        }
        for dim in PREFIX
    }
    return {
        "version": comparison.attrs.get("musclesolve_version"),
        "trial": comparison.attrs.get("trial_file"),
        "costs": {
            cost: {
                **{key: value for key, value in document(facts_of(under)).items() if key in OF_COST},
                "mean_co_contraction": facts.co_contraction[cost],
                "emg_correlation": {channel.name: channel.correlation for channel in under.channels} or None,
            }
            for cost, under in facts.under.items()
        },
        "against": facts.costs[0],
        "needless_reserves": comparison.attrs.get("needless_reserves", "").splitlines(),
        "function_groups": tables["function_group"],
        "muscles": tables["muscle"],
    }


def average_document(average: xr.Dataset) -> dict[str, Any]:
    """Measures of the strides of each leg, and what is left out."""

    def leg_measures(leg: xr.Dataset) -> dict[str, Any]:
        return {"cycles": int(leg["cycles"])} | {
            name: {"mean": _number(leg, name), "standard_deviation": _number(leg, f"{name}_std")}
            for name in (measure.variable for measure in STRIDE_MEASURES)
        }

    sentences = ("verdicts", "left_out", "invalid", "unlike", "persons", "reserves")
    return {
        "legs": {
            SIDE_NAMES.get(side, side): leg_measures(average.sel(side=side))
            for side in map(str, average["side"].values)
        }
    } | {key: list(average.attrs[key]) for key in sentences}


def _number(leg: xr.Dataset, name: str) -> float | None:
    return float(leg[name]) if name in leg else None


def _known(value: float) -> float | None:
    return value if np.isfinite(value) else None


def many_trials_document(records: "Sequence[TrialRecord]") -> dict[str, Any]:
    """Return the document of many trials: the outcome of each, and the number of trials by outcome."""
    from musclesolve.studies.many_trials.trial_record import Outcome

    count, trials = Counter(record.outcome for record in records), []
    for record in records:
        measured = record.measures
        leg_frames = measured and {
            "solved": measured.solved,
            "with_reserve": measured.with_reserve,
            "without_valid_solution": measured.without_solution,
            "not_analyzed": measured.not_measured,
        }
        trials.append(
            {
                "name": record.name,
                "status": record.outcome.value,
                "trial": record.trial,
                "folder": record.folder,
                "seconds": record.seconds,
                "leg_frames": leg_frames,
                "peak_pelvis_residual_percent_body_weight": measured and measured.residual_percent,
                "contact_force_peaks_body_weights": measured and measured.contact,
                "movement": measured and measured.movement,
                "plausibility": measured and measured.plausibility,
                "plausibility_reason": measured and measured.reason,
                "message": record.message or None,
            }
        )
    return {
        "counts": {outcome.value.replace(" ", "_"): count[outcome] for outcome in Outcome},
        "trials": trials,
    }


def study_document(result: "StudyResult") -> dict[str, Any]:
    """The trials of a study, its cycles, tests and mean values."""
    study, cycles, tests = result.computed.study, result.cycles, result.comparisons
    trials = many_trials_document(list(result.computed.records.values()))
    excluded = {trial.name: trial.exclude for trial in study.trials if trial.exclude}
    trials["counts"]["excluded"] = len(excluded)  # they have no records
    unusual = []
    if cycles is not None:
        far = cycles.isel(cycle=np.flatnonzero(cycles["outlier"].values))
        pairs = zip(far["trial"].values, far["outlier_reason"].values, strict=True)
        unusual = [{"trial": str(trial), "reason": str(reason)} for trial, reason in pairs]
    known = [
        (test, {key: getattr(test, key) for key in ("variable", "name", "effect", "family", "kind")})
        for test in ([] if tests is None else curve_tests(tests))
    ]
    clusters = [
        about
        | {"units": test.unit, "start": _known(cluster.start), "end": _known(cluster.end)}
        | {"p": _known(cluster.p), "mean_difference": _known(cluster.difference)}
        for test, about in known
        for cluster in test.clusters
    ]
    values_compared = [
        about
        | {"units": test.unit, "p": _known(test.p_largest)}
        | {"difference": x.difference, "low": x.low, "high": x.high, "difference_of": x.of}
        for test, about in known
        if (x := test.interval) is not None
    ]
    return {
        "title": study.title,
        **trials,
        "excluded": excluded,
        "not_averaged": dict(result.not_averaged),
        "left_out": dict(result.left_out),
        "findings": [one.as_dict() | {"trials": list(trials)} for one, trials in result.findings],
        "notes": list(result.computed.notes),
        "cycles": 0 if cycles is None else cycles.sizes["cycle"],
        "unusual_cycles": unusual,
        "legs": [
            {"trial": leg.trial, "side": leg.side, "plausibility": leg.verdict} for leg in result.verdicts
        ],
        "sensitivity": result.sensitivity or None,
        "tests": 0 if tests is None else int(tests.attrs["tests"]),
        "not_compared": result.not_compared or None,
        "clusters": clusters,
        "values_compared": values_compared,
        "values": result.values.to_dict("records"),
    }


def benchmark_document(report: "BenchmarkReport") -> dict[str, Any]:
    """The machine, the solvers side by side, and the latency of one frame [s]."""
    return {
        "machine": {key: int(text) if text.isdecimal() else text for key, text in report.machine.items()},
        "solvers": [asdict(row) for row in report.rows],
        "single_frames": [
            {"cost": one.cost, "solve": asdict(one.solving), "problem_and_solve": asdict(one.with_problem)}
            for one in report.single
        ],
    }
