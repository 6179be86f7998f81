"""The documents of `run`, `demo`, `share`, `compare`, `average` and `benchmark`: facts under the keys of JSON.

A key whose quantity the result does not have is None.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import xarray as xr

from musclesolve._util.sides import SIDE_NAMES
from musclesolve.results.comparison_facts import PREFIX, ComparisonFacts
from musclesolve.results.dataset.result_quantities import listed
from musclesolve.results.facts import ContactPeak, Facts, LegFacts, Strain, UncertainPeak, UncertaintyFacts
from musclesolve.results.judgement import judge
from musclesolve.results.plausibility import DEGREES, plausibility
from musclesolve.results.tables.average_table import MEASURES

if TYPE_CHECKING:
    from musclesolve.studies.benchmark.benchmark import BenchmarkReport
    from musclesolve.studies.many_trials.trial_record import TrialRecord
    from musclesolve.studies.study.analysis import StudyResult

SUBJECT = {"name": "subject", "mass_kg": "subject_mass_kg", "stature_m": "subject_stature_m"}
CHOICES = {
    "cost": "cost",
    "solver": "solver",
    "muscle_set": "muscle_database",
    "muscle_person": "muscle_person",
    "passive": "passive",
    "strength": "strength",
    "tendon": "tendon",
    "cutoff_hz": "cutoff_hz",
    "hip_method": "hip_method",
    "knee_method": "knee_method",
    "ankle_method": "ankle_method",
    "consistency_method": "consistency_method",
}
STRIDE = {
    "cadence_steps_per_minute": "cadence",
    "stance_percent": "stance_percent",
    "double_support_percent": "double_support_percent",
    "length_m": "stride_length",
    "speed_m_s": "walking_speed",
}
"""Keys of a document and the attributes or variables that they stand for."""
AGREEMENT = ("peak_n", "rms_difference_n", "correlation", "peak_ratio")


def run_document(result: xr.Dataset, uncertainty: xr.Dataset | None = None) -> dict[str, Any]:
    """What the summary says, as numbers."""
    facts, given, time = Facts(result), result.attrs, result["time"].values
    moved, size, fibers = facts.moved, facts.pelvis_residual, facts.fibers
    return {
        "version": given.get("musclesolve_version"),
        "trial": given.get("trial_file") or given.get("model_file"),
        "subject": {key: given.get(name) for key, name in SUBJECT.items()},
        "choices": {key: given.get(name) for key, name in CHOICES.items()},
        "frames": {"count": time.size, "start_s": time[0], "end_s": time[-1]},
        "legs": {leg.name: leg_document(leg) for leg in facts.legs.values()},
        "largest_kkt_residual": facts.largest_kkt_residual,
        "tendons": _tendons(facts),
        "fiber_lengths": fibers and dict(zip(("shortest", "longest"), map(asdict, fibers), strict=True)),
        "contact_force_peaks_body_weights": _contact(facts.contact_by_joint)
        if "joint_reaction" in result
        else None,
        "knee_contact_peaks_body_weights": _contact(facts.knee_peaks) or None,
        "knee_contact_spacing": listed(result, "knee_contact_spacing") or None,
        "judgement": judge(facts).as_dict(),
        "plausibility": _plausibility(facts),
        "consistency": moved
        and {
            "rms_m": moved.overall,
            "worst_m": moved.worst,
            "rms_of_points_m": dict(zip(moved.points, moved.rms, strict=True)),
        },
        "pelvis_residual": size
        and {
            "peak_force_percent_body_weight": size.peak_percent,
            "rms_force_percent_body_weight": size.rms_percent,
            "peak_moment_nm": size.peak_moment,
            "rms_moment_nm": size.rms_moment,
        },
        "emg": _emg(facts),
        "fascicles": _fascicles(facts),
        "strides": [
            {"leg": _side(stride.side), "start_s": stride.start, "end_s": stride.end}
            | {key: stride.measures.get(name) for key, name in STRIDE.items()}
            for stride in facts.strides
        ],
        "warnings": [each.sentence for each in judge(facts).of("error", "warning")],
        "notes": listed(result, "notes"),
        "completed": listed(result, "completed"),
        "uncertainty": None if uncertainty is None else uncertainty_document(uncertainty),
    }


def leg_document(leg: LegFacts) -> dict[str, Any]:
    """How the frames of a leg ended."""
    most = leg.largest_reserve
    return {
        "solved": leg.solved,
        "with_reserve": leg.with_reserve,
        "not_analysed": leg.not_analysed,
        "without_valid_solution": leg.without_solution,
        "largest_reserve": most and {"moment_nm": most.moment, "dof": most.dof, "time_s": most.time},
        "failures": [
            {
                "reason": verdict,
                "frames": sum(each.count for each in stretches),
                "stretches_s": [(each.start, each.end) for each in stretches],
            }
            for verdict, stretches in leg.failures.items()
        ],
        "reasons": leg.reasons,
    }


def _side(side: str) -> str:
    return SIDE_NAMES.get(side, side)


def _contact(peaks: Mapping[str, Mapping[str, ContactPeak]]) -> dict[str, dict[str, float]]:
    return {
        joint: {_side(side): peak.body_weights for side, peak in of_legs.items()}
        for joint, of_legs in peaks.items()
    }


def _plausibility(facts: Facts) -> dict[str, Any]:
    judged = plausibility(facts)
    return {
        "verdict": judged.verdict,
        "reason": judged.reason,
        "use": judged.use or None,
        "movement": judged.movement.name,
        "movement_is_stated": judged.movement.stated,
        "movement_seen": judged.movement.seen or None,
        "speed_m_s": judged.movement.speed,
        "legs": {_side(side): judged.verdict_of(side) for side in judged.sides},
        "criteria": [
            {
                "criterion": each.criterion,
                "leg": _side(each.side) or None,
                "passed": each.passed,
                "degree": DEGREES[each.verdict],
                "value": each.value,
                "sentence": each.sentence,
            }
            for each in judged.comparisons
        ],
    }


def _tendons(facts: Facts) -> dict[str, Any] | None:
    """How elastic tendons were solved, and their largest strains; None where they are rigid."""
    if (tendons := facts.tendons) is None:
        return None

    def strain(each: Strain | None) -> dict[str, Any] | None:
        return None if each is None else {"strain": each.strain, "muscle": each.muscle, "time_s": each.time}

    return {
        "iterations": {_side(side): count for side, count in tendons.iterations.items()},
        "balance_error": tendons.balance and tendons.balance.error,
        "largest_strain": {"achilles": strain(tendons.achilles), "all": strain(tendons.all)},
    }


def _emg(facts: Facts) -> dict[str, Any] | None:
    if not facts.channels:
        return None
    median, mean = facts.median_and_mean_correlation or (None, None)
    channels = {
        each.name: {"correlation": each.correlation, "delay_s": each.delay} for each in facts.channels
    }
    for name, correlation in facts.followed_correlations.items():
        channels[name]["correlation_followed"] = correlation
    document: dict[str, Any] = {"median_correlation": median, "mean_correlation": mean, "channels": channels}
    followed = {"followed": facts.follows_emg, "weight": facts.result.attrs.get("emg_weight")}
    return document | followed


def _fascicles(facts: Facts) -> dict[str, Any] | None:
    """Agreement of fibers with measured fascicle lengths by column; None where none was measured."""
    return {
        each.name: {
            "muscle": each.muscle,
            "rms_error_m": each.rms,
            "mean_error_m": each.mean,
            "correlation": each.correlation,
        }
        for each in facts.fascicles
    } or None


def uncertainty_document(found: xr.Dataset) -> dict[str, Any]:
    """Samples, and the peaks in stance of contact forces [body weights] and muscle forces [N].

    Every number of a peak is of the frame whose time stands beside it.
    """
    given, facts = found.attrs, UncertaintyFacts(found)
    return {
        "samples": given["samples"],
        "failed_samples": given["failed_samples"],
        "seed": given["seed"],
        "without_contributions": given["without_contributions"] or None,
        "contact_force_peaks_body_weights": {
            name: _uncertain(at, facts.body_weight) for name, at in facts.contact.items()
        },
        "muscle_force_peaks_n": {name: _uncertain(at, 1.0) for name, at in facts.muscles.items()},
    }


def _uncertain(at: UncertainPeak | None, unit: float) -> dict[str, Any] | None:
    if at is None:
        return None
    shares = None
    if at.shares is not None:
        shares = dict(zip(at.shares["source"].values.tolist(), at.shares.values.tolist(), strict=True))
    value, mean, sd = (number / unit for number in (at.value, at.mean, at.sd))
    return {"time_s": at.time, "value": value, "mean": mean, "sd": sd, "shares_of_variance": shares}


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
                "legs": {leg.name: leg_document(leg) for leg in under.legs.values()},
                "contact_force_peaks_body_weights": _contact(under.contact_by_joint),
                "judgement": judge(under).as_dict(),
                "plausibility": _plausibility(under),
                "mean_co_contraction": facts.co_contraction[cost],
                "emg_correlation": {each.name: each.correlation for each in under.channels} or None,
            }
            for cost, under in facts.under.items()
        },
        "against": facts.costs[0],
        "function_groups": tables["function_group"],
        "muscles": tables["muscle"],
    }


def average_document(average: xr.Dataset) -> dict[str, Any]:
    """Measures of the strides of each leg, and what is left out."""

    def leg_measures(leg: xr.Dataset) -> dict[str, Any]:
        return {"cycles": int(leg["cycles"])} | {
            name: {"mean": _number(leg, name), "standard_deviation": _number(leg, f"{name}_std")}
            for name, _ in MEASURES.values()
        }

    sentences = ("left_out", "invalid", "unlike", "persons", "reserves")
    return {
        "legs": {
            _side(side): leg_measures(average.sel(side=side)) for side in map(str, average["side"].values)
        }
    } | {key: list(average.attrs[key]) for key in sentences}


def _number(leg: xr.Dataset, name: str) -> float | None:
    return float(leg[name]) if name in leg else None


def many_trials_document(records: Sequence[TrialRecord]) -> dict[str, Any]:
    """What became of each trial, and how many ended how."""
    from musclesolve.studies.many_trials.trial_record import Outcome

    count, trials = Counter(record.outcome for record in records), []
    for record in records:
        measured = record.measures
        leg_frames = measured and {
            "solved": measured.solved,
            "with_reserve": measured.with_reserve,
            "without_valid_solution": measured.without_solution,
            "not_analysed": measured.not_measured,
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
    return {"counts": {each.value.replace(" ", "_"): count[each] for each in Outcome}, "trials": trials}


def study_document(result: StudyResult) -> dict[str, Any]:
    """The trials of a study, its cycles, tests and mean values."""
    study, cycles, tests = result.computed.study, result.cycles, result.comparisons
    trials = many_trials_document(list(result.computed.records.values()))
    unusual = []
    if cycles is not None:
        for place in range(cycles.sizes["cycle"]):
            if not bool(cycles["outlier"].values[place]):
                continue
            one = cycles.isel(cycle=place)
            unusual.append({"trial": str(one["trial"].values), "reason": str(one["outlier_reason"].values)})
    found = []
    if tests is not None:
        for place in range(tests.sizes["cluster"]):
            cluster = tests.isel(cluster=place)
            test = tests.isel(test=int(cluster["cluster_test"]))
            found.append(
                {key: str(test[key].values) for key in ("variable", "name", "effect", "kind", "units")}
                | {key: float(cluster[key]) for key in ("start", "end", "p", "mean_difference")}
            )
    return {
        "title": study.title,
        **trials,
        "excluded": {trial.name: trial.exclude for trial in study.trials if trial.exclude},
        "not_averaged": dict(result.not_averaged),
        "left_out": dict(result.left_out),
        "findings": [found.as_dict() | {"trials": list(trials)} for found, trials in result.findings],
        "notes": list(result.computed.notes),
        "cycles": 0 if cycles is None else cycles.sizes["cycle"],
        "unusual_cycles": unusual,
        "tests": 0 if tests is None else int(tests.attrs["tests"]),
        "not_compared": result.not_compared or None,
        "clusters": found,
        "values": result.values.to_dict("records"),
    }


def benchmark_document(report: BenchmarkReport) -> dict[str, Any]:
    """The machine, the solvers side by side, and the latency of one frame [s]."""
    return {
        "machine": {key: int(text) if text.isdecimal() else text for key, text in report.machine.items()},
        "solvers": [asdict(row) for row in report.rows],
        "single_frames": [
            {"cost": each.cost, "solve": asdict(each.solving), "problem_and_solve": asdict(each.with_problem)}
            for each in report.single
        ],
    }
