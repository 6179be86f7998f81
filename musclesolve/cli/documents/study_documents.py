"""Many trials, a line each, and the measurements of a benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from musclesolve.studies.benchmark.benchmark import Report
from musclesolve.studies.many_trials.trial_record import Outcome, TrialRecord


def many_trials_document(records: Sequence[TrialRecord]) -> dict[str, Any]:
    """What became of each trial, and how many ended how."""
    count = Counter(record.outcome for record in records)
    return {
        "counts": {each.value.replace(" ", "_"): count[each] for each in Outcome},
        "trials": [_trial(record) for record in records],
    }


def _trial(record: TrialRecord) -> dict[str, Any]:
    found = record.measures
    frames = None if found is None else {
        "solved": found.solved,
        "with_reserve": found.with_reserve,
        "without_valid_solution": found.without_solution,
    }  # fmt: skip
    return {
        "name": record.name,
        "status": record.outcome.value,
        "trial": record.trial,
        "folder": record.folder,
        "seconds": record.seconds,
        "frames": frames,
        "peak_pelvis_residual_percent_body_weight": found and found.residual_percent,
        "contact_force_peaks_body_weights": found and found.contact,
        "message": record.message or None,
    }


def benchmark_document(report: Report) -> dict[str, Any]:
    """The machine, the solvers side by side, and the latency of one frame [s]."""
    single = [
        {"cost": each.cost, "solve": asdict(each.solving), "problem_and_solve": asdict(each.with_problem)}
        for each in report.single
    ]
    machine = {key: int(text) if text.isdecimal() else text for key, text in report.machine.items()}
    return {
        "machine": machine,
        "solvers": [asdict(row) for row in report.rows],
        "single_frames": single,
    }
