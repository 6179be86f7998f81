"""Attributes of an answer on its trial: the files, and the judgement, which holds for every answer."""

import json
from typing import Any

import xarray as xr

from musclesolve.results.facts import Facts
from musclesolve.results.finding import FINDINGS
from musclesolve.results.judgement import judge

VERDICT = "verdict"
"""Attribute of an answer: the verdict on the trial, in words."""


def judgement_of(result: xr.Dataset) -> dict[str, Any]:
    """The attributes of an answer with the files of the trial, the verdict on its result and the findings on both."""
    judged = judge(Facts(result))
    findings = json.dumps([entry.as_dict() for entry in judged.findings])
    return {**of_trial(result), VERDICT: judged.label, FINDINGS: findings}


def of_trial(result: xr.Dataset) -> dict[str, Any]:
    """The attributes of a result that name its files."""
    return {key: result.attrs[key] for key in ("inputs", "trial_file") if key in result.attrs}
