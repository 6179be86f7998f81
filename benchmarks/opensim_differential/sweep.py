"""Cases of the comparison: models of others as they are, mutants of the small leg."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.opensim_differential.comparison import Finding, compared
from benchmarks.opensim_differential.mutations import KINDS
from benchmarks.opensim_differential.opensim_answers import Answers
from benchmarks.opensim_differential.small_leg import small_leg


@dataclass(frozen=True)
class Case:
    """A model file to compare; `name` says what it is."""

    name: str
    file: Path
    seed: int
    poses: int = 2
    frames: int = 3


@dataclass(frozen=True)
class Outcome:
    """The findings on a case; `refusal` of OpenSim instead, where it cannot use the model."""

    case: Case
    findings: tuple[Finding, ...] = ()
    refusal: str = ""


def mutants(count: int, seed: int, folder: Path, poses: int = 2, frames: int = 3) -> Iterator[Case]:
    """Mutants of the small leg: every kind of edit in turn, then pairs of kinds."""
    kinds = list(KINDS)
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        names = [kinds[k % len(kinds)]]
        if k >= len(kinds):
            names.append(kinds[rng.integers(len(kinds))])
        leg = small_leg(rng)
        try:
            for name in names:
                KINDS[name](leg)
        except (StopIteration, AssertionError, IndexError, AttributeError, TypeError):
            continue  # the second edit needs what the first has taken away
        file = folder / f"mutant_{seed}_{k}.osim"
        file.write_text(leg.text(), encoding="utf-8")
        yield Case(" and ".join(names), file, 1000 * seed + k, poses, frames)


def outcomes(cases: Iterable[Case]) -> Iterator[Outcome]:
    """Compare cases one after the other, with one process of OpenSim."""
    with Answers() as opensim:
        for case in cases:
            task = {"model": str(case.file), "seed": case.seed, "poses": case.poses, "frames": case.frames}
            answer = opensim.ask(task)
            if "error" in answer:
                yield Outcome(case, refusal=answer["error"])
            else:
                yield Outcome(case, tuple(compared(case.file, answer, np.random.default_rng(case.seed))))


MODELS = (
    "opensim_models/*.osim",
    "instrumented_knee/*.osim",
    "fascicle_walk/model.osim",
    "rajagopal_walk/reference/*.osim",
    "addbiomechanics/**/*.osim",
)
"""Models of others in the folder of recorded data."""


def public_models(data: Path, seed: int, poses: int = 2, frames: int = 3) -> Iterator[Case]:
    """The models of others that lie in the folder of recorded data."""
    for pattern in MODELS:
        for file in sorted(data.glob(pattern)):
            yield Case(str(file.relative_to(data)), file, seed, poses, frames)
