"""Models and mutants beside OpenSim: lengths, arms, moments and shared forces agree, or are refused by name."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from thorough import some

from benchmarks.opensim_differential.comparison import AGREES, DIFFERS, REFUSED, compared
from benchmarks.opensim_differential.opensim_answers import Answers
from benchmarks.opensim_differential.sweep import Outcome, mutants, outcomes, public_models

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("opensim") is None, reason="OpenSim is not installed (pip install opensim)"
)
SEED, MUTANTS = 7, 230


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> list[Outcome]:
    """Every fifth kind of mutant once, each in a thorough run, in a pose and in one frame of a motion."""
    folder = tmp_path_factory.mktemp("mutants")
    return list(outcomes(some(mutants(MUTANTS, SEED, folder, poses=1, frames=1), 5)))


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
    assert len(used) >= 0.87 * len(done) > 35
    agree = Counter(f.quantity for each in used for f in each.findings if f.verdict == AGREES)
    least = min(agree[quantity] for quantity in ("length", "arm", "moment", "force", "capacity"))
    assert least >= 0.52 * len(done)
    assert all(f.what for each in used for f in each.findings if f.verdict == REFUSED)


def test_public_models(model_folder: Path) -> None:
    cases = list(public_models(model_folder.parent, SEED, poses=1, frames=1))
    assert len(cases) >= 12
    assert differing(list(outcomes(some(cases, 3)))) == []


def test_what_differs_is_found(tmp_path: Path) -> None:
    """OpenSim's answer beside a model of other places and masses: every kind of number differs."""
    (one,) = mutants(1, SEED, tmp_path, frames=1)
    with Answers() as opensim:
        answer = opensim.ask({"model": str(one.file), "seed": 1, "poses": 1, "frames": 1})
    changed = tmp_path / "changed.osim"
    changed.write_text(
        re.sub(
            r"<(location|mass|max_isometric_force)>([^<]*)<",
            lambda found: (
                f"<{found[1]}>" + " ".join(f"{1.3 * float(word)}" for word in found[2].split()) + "<"
            ),
            one.file.read_text(encoding="utf-8"),
        ),
        encoding="utf-8",
    )
    found = compared(changed, answer, np.random.default_rng(0))
    differing = {each.quantity for each in found if each.verdict == DIFFERS}
    assert {"parameter", "length", "arm", "moment", "capacity", "force"} <= differing
