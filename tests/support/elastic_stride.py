"""A part of the bundled stride with elastic tendons: solved once for all tests that look at it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import xarray as xr

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import prepare

PUSH_OFF = (0.7, 0.95)
"""Sixteen frames of the right leg [s]."""
WEAK = 0.5
"""Of the strength: the ankle then lacks some newton meters."""


def elastic_trial(**muscles: Any) -> Trial:
    """The trial of push-off with elastic tendons, and with other options on muscles."""
    trial = ms.read_trial(reference_stride())
    given = {"tendon": "elastic", "passive": "table"} | muscles
    return replace(trial.with_settings(muscles=dict(**given)), time_range=PUSH_OFF)


@cache
def prepared():
    """Its right leg before the sharing; not to be changed."""
    return prepare(elastic_trial(), side="r")


@cache
def elastic_result() -> xr.Dataset:
    """Its result of the right leg; not to be changed."""
    return ms.run(elastic_trial(), side="r")


@cache
def weak_result() -> xr.Dataset:
    """Return the result with muscles that need reserves."""
    return ms.run(elastic_trial(strength=WEAK), side="r")
