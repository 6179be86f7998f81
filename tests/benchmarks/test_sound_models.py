"""Other sizes, strengths, names, muscles and files of a sound walk have no findings of their own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from recorded_data import recorded

from benchmarks.planted_model_faults import Case
from benchmarks.sound_models import FACTS, VARIATIONS, findings, mirrored, sized, walk, walks


def codes(case: Case) -> set[str]:
    return {each.code for each in findings(case)}


@cache
def as_recorded(name: str, folder: Path) -> tuple[Case, set[str]]:
    """A walk and the codes of its findings."""
    case = walk(walks(recorded("rajagopal_walk").parent, folder)[name])
    return case, codes(case)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("walks")


@pytest.mark.parametrize("title", VARIATIONS)
def test_a_variation_has_no_finding_that_its_walk_does_not_have(title: str, folder: Path) -> None:
    """Each in one of the walks after the other: with moments, on a treadmill, and with loads."""
    walks = ("moments", "belt 1") if VARIATIONS[title] is mirrored else ("moments", "belt 1", "service")
    name = walks[list(VARIATIONS).index(title) % len(walks)]
    case, sound = as_recorded(name, folder)
    assert codes(VARIATIONS[title](case, folder)) <= sound, name


@pytest.mark.parametrize("name", ["service walking2", "weakened knee", "before reduction", "r14_split_shank"])
def test_a_fact_about_a_sound_walk_makes_each_finding_true(name: str, folder: Path) -> None:
    assert as_recorded(name, folder)[1] <= {*FACTS.get(name, {})}


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_a_strength_that_no_person_has_is_found_in_a_child(factor: float, folder: Path) -> None:
    case, sound = as_recorded("moments", folder)
    assert "muscle_strength" in codes(sized(0.65, 2.0, factor)(case, folder)) - sound
