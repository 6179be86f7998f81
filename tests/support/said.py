"""Statements of a result and an uncertainty, as the summary of the command line and as the document of --json."""

from __future__ import annotations

from typing import Any

import xarray as xr
from synthetic_result import result

from musclesolve.results.facts import Facts
from musclesolve.results.statements import Statement, document, statements
from musclesolve.results.statements import summary as lines_of


def summary(result: xr.Dataset | Facts) -> str:
    """The summary of a result."""
    return lines_of(statements(result))


def run_document(result: xr.Dataset, uncertainty: xr.Dataset | None = None) -> dict[str, Any]:
    """The document of a result."""
    return document(statements(result, uncertainty))


def about(result: xr.Dataset | Facts, subject: str) -> list[str]:
    """The sentences of a result about a subject."""
    return [each.sentence for each in statements(result) if each.subject == subject and each.pieces]


def of_uncertain(found: xr.Dataset) -> list[Statement]:
    """The statements about an uncertainty, behind the statements about some result; without one the last is empty."""
    stride = result()
    return statements(stride, found)[len(statements(stride)) - 1 :]


def uncertainty_summary(found: xr.Dataset) -> str:
    """The summary of an uncertainty."""
    return lines_of(of_uncertain(found))


def uncertainty_document(found: xr.Dataset) -> dict[str, Any]:
    """The document of an uncertainty."""
    own: dict[str, Any] = document(of_uncertain(found))["uncertainty"]
    return own
