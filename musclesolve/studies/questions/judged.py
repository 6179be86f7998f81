"""The judgement of the trial that a question is about: it holds for every answer."""

from __future__ import annotations

import json

import xarray as xr

from musclesolve.results.facts import Facts
from musclesolve.results.finding import FINDINGS
from musclesolve.results.judgement import judge

VERDICT = "verdict"
"""Attribute of an answer: the verdict on the trial, in words."""


def judgement_of(result: xr.Dataset) -> dict[str, str]:
    """The attributes of an answer with the verdict on a result, and with the findings on the trial and its result."""
    judged = judge(Facts(result))
    return {VERDICT: judged.label, FINDINGS: json.dumps([each.as_dict() for each in judged.findings])}
