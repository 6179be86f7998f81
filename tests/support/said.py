"""What is said of a result and an uncertainty: judgement, sentences, summary, and the document of --json."""

from __future__ import annotations

from typing import Any

import xarray as xr
from synthetic_result import result

from musclesolve.laboratory.results.fact_table import Fact, chosen, document
from musclesolve.laboratory.results.fact_table import summary as lines_of
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.judgement import Judgement, judge
from musclesolve.laboratory.results.plausibility import Plausibility, plausibility
from musclesolve.laboratory.results.result_facts import facts_of


def summary(result) -> str:
    """The summary of a result."""
    return lines_of(facts_of(result))


def run_document(result: xr.Dataset, uncertainty: xr.Dataset | None = None) -> dict[str, Any]:
    """The document of a result."""
    return document(facts_of(result, uncertainty))


def judgement(result: xr.Dataset) -> Judgement:
    """The judgement of a result, with its findings, verdict and reasons."""
    return judge(Facts(result))


def plausible(result: xr.Dataset) -> Plausibility:
    """The comparisons of a result with measured forces, residuals and fiber lengths."""
    return plausibility(Facts(result))


def remarks(result: xr.Dataset, *severities: str) -> list[str]:
    """The sentences of a result that have one of some severities."""
    return [each.sentence for each in chosen(facts_of(result), *severities)]


def about(result, subject: str) -> list[str]:
    """The sentences of a result about a subject."""
    return [each.sentence for each in facts_of(result) if each.subject == subject and each.pieces]


def of_uncertain(found: xr.Dataset) -> list[Fact]:
    """The facts of an uncertainty, behind the facts of some result; without one the last is empty."""
    stride = result()
    return facts_of(stride, found)[len(facts_of(stride)) - 1 :]


def uncertainty_summary(found: xr.Dataset) -> str:
    """The summary of an uncertainty."""
    return lines_of(of_uncertain(found))


def uncertainty_document(found: xr.Dataset) -> dict[str, Any]:
    """The document of an uncertainty."""
    own: dict[str, Any] = document(of_uncertain(found))["uncertainty"]
    return own
