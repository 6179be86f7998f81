"""Horizontal forces of another scale turn the body: the factor that balances mid-hip is found for each plate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from examined import examined

from musclesolve.data import reference_stride
from musclesolve.laboratory.analysis.recorded_body import RecordedBody
from musclesolve.laboratory.checks.forces.plate_balance import BalanceFit, _sheared, balance
from musclesolve.laboratory.forces import prepare
from musclesolve.studies import synthetic_recording


@pytest.fixture(scope="module")
def stride() -> tuple[RecordedBody, BalanceFit]:
    body = prepare(reference_stride())
    assert isinstance(body, RecordedBody)
    measured = balance(body.trial, body.mechanics)
    assert measured is not None
    return body, measured


def with_shear(measured: BalanceFit, *factors: float) -> BalanceFit:
    """The balance with the horizontal forces of each plate times a factor: the residual gains what they lose."""
    lost = sum((1.0 - factor) * shear for factor, shear in zip(factors, measured.shear, strict=True))
    shear = [factor * each for factor, each in zip(factors, measured.shear, strict=True)]
    return replace(measured, residual=measured.residual + lost, shear=shear)


@pytest.mark.parametrize("factors", [(0.5, 0.5), (1.5, 1.5), (1.5, 1.0), (1.0, 0.5)])
def test_each_plate_gets_its_own_factor(stride, factors):
    body, measured = stride
    found = list(_sheared(body.trial, with_shear(measured, *factors), [0, 1]))
    wrong = [k for k, factor in enumerate(factors) if factor != 1.0]
    assert len(found) == len(wrong)
    for k, each in zip(wrong, found, strict=True):
        assert each.code == "plate_scale" and f"with {1.0 / factors[k]:.2f} times" in each.what
        assert each.repair is not None


def test_a_sound_stride_has_none(stride):
    body, measured = stride
    assert list(_sheared(body.trial, measured, [0, 1])) == []


def test_a_mass_in_pounds_accuses_no_plate(tmp_path: Path) -> None:
    """The forces of the body are in proportion to a mass that is far off, and lean on the plates."""
    trial = synthetic_recording(tmp_path, truth=False, strides=2)
    stated = trial.read_text()
    trial.write_text(stated.replace("mass_kg = 70.25", "mass_kg = 154.9"))
    assert trial.read_text() != stated
    found = [each for each in examined(trial).findings if each.severity != "note"]
    assert {each.code for each in found} == {"mass", "unusual_value"}
