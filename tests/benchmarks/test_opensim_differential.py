"""Models and mutants beside OpenSim: lengths, arms, moments and shared forces agree, or are refused by name."""

from __future__ import annotations

import importlib.util
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.opensim_differential.comparison import AGREES, DIFFERS, REFUSED, compared
from benchmarks.opensim_differential.opensim_answers import Answers
from benchmarks.opensim_differential.sweep import Outcome, mutants, outcomes, public_models

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("opensim") is None, reason="OpenSim is not installed (pip install opensim)"
)
SEED, MUTANTS = 7, 230


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    """Every kind of mutant once, in two poses and one frame of a motion."""
    folder = tmp_path_factory.mktemp("mutants")
    return list(outcomes(mutants(MUTANTS, SEED, folder, poses=2, frames=1)))


def differing(found: list[Outcome]) -> list[str]:
    return [
        f"{each.case.name}: {finding.quantity} differs by {finding.amount:.3g}, {finding.what}"
        for each in found
        for finding in each.findings
        if finding.verdict == DIFFERS
    ]


def test_no_mutant_differs_without_a_word(done: list[Outcome]) -> None:
    assert differing(done) == []


def test_most_mutants_agree_in_all_and_each_kind_of_number_is_compared(done: list[Outcome]) -> None:
    used = [each for each in done if not each.refusal]
    assert len(used) >= 200
    agree = Counter(f.quantity for each in used for f in each.findings if f.verdict == AGREES)
    assert min(agree[quantity] for quantity in ("length", "arm", "moment", "force", "capacity")) >= 120
    assert all(f.what for each in used for f in each.findings if f.verdict == REFUSED)


def test_public_models(model_folder: Path) -> None:
    cases = list(public_models(model_folder.parent, SEED, poses=1, frames=1))
    assert len(cases) >= 12
    assert differing(list(outcomes(cases))) == []


def test_what_differs_is_found(tmp_path: Path) -> None:
    """OpenSim's answer on one mutant beside another: every kind of number differs."""
    one, other = mutants(2, SEED, tmp_path, frames=1)
    with Answers() as opensim:
        answer = opensim.ask({"model": str(one.file), "seed": 1, "poses": 2, "frames": 1})
    moved = (
        one.file.read_text(encoding="utf-8")
        .replace("<location>", "<location>0.0")
        .replace("<translation>-0.07", "<translation>-0.09")
    )
    changed = replace(other, file=tmp_path / "changed.osim")
    changed.file.write_text(moved.replace("<mass>", "<mass>1"), encoding="utf-8")
    found = compared(changed.file, answer, np.random.default_rng(0))
    assert {"length", "arm", "moment", "force"} <= {
        each.quantity for each in found if each.verdict == DIFFERS
    }
