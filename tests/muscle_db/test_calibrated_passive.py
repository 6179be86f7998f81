"""The table [calibrated_passive] of a muscle set: read, written, and refused where it cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from refusals import refused
from whole_legs import WHOLE_LEGS

import muscle_db
from muscle_db import MuscleDatabaseError
from muscle_db.model import CalibratedPassive, PassiveStrain
from muscle_db.toml_text import to_toml

PLAIN = replace(
    muscle_db.load("silva_2003"),
    calibrated_passive=None,
    deviations=(),
    muscles=tuple(replace(muscle, deviations=()) for muscle in muscle_db.load("silva_2003")),
)


def written(tmp_path: Path, more: str = "") -> Path:
    path = tmp_path / "own.toml"
    path.write_text(to_toml(PLAIN) + more, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "strains", [{}, {"soleus": PassiveStrain(-0.1, 0.55), "psoas": PassiveStrain(0.0, 0.4)}]
)
def test_what_is_written_is_read_again(tmp_path, strains):
    path = tmp_path / "own.toml"
    given = CalibratedPassive("by hand", strains)
    path.write_text(to_toml(replace(PLAIN, calibrated_passive=given)), encoding="utf-8")
    assert muscle_db.load(path).calibrated_passive == given


def test_a_set_without_the_table_has_none(tmp_path):
    assert muscle_db.load(written(tmp_path)).calibrated_passive is None


def test_the_bundled_sets_say_how_they_were_calibrated():
    for name in WHOLE_LEGS:
        found = muscle_db.load(name).calibrated_passive
        assert "Silder et al. 2007" in found.found and found.strains


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[calibrated_passive]\n", ["found"]),
        ('[calibrated_passive]\nfound = "x"\nstrain = 1\n', ["strain", "strains"]),
        (
            '[calibrated_passive]\nfound = "x"\nstrains = [\n'
            '  { muscles = ["solus"], at_zero_force = 0, at_one_norm_force = 1 },\n]\n',
            ["solus", "did you mean 'soleus'"],
        ),
        (
            '[calibrated_passive]\nfound = "x"\nstrains = [\n'
            '  { muscles = ["psoas"], at_zero_force = 0, at_one_norm_force = 1 },\n'
            '  { muscles = ["soleus", "psoas"], at_zero_force = 0, at_one_norm_force = 1.5 },\n]\n',
            ["strains 2, muscles", '"psoas" has strains already'],
        ),
        (
            '[calibrated_passive]\nfound = "x"\nstrains = [\n'
            '  { muscles = ["psoas"], at_zero_force = 0, at_one_norm_force = 1 },\n'
            '  { muscles = ["soleus"], at_zero_force = 0.5, at_one_norm_force = 0.5 },\n]\n',
            ["calibrated_passive, strains 2", "at_zero_force below at_one_norm_force"],
        ),
    ],
)
def test_a_wrong_table_is_refused_with_its_line(tmp_path, text, parts):
    path = written(tmp_path, "\n" + text)
    lines = path.read_text(encoding="utf-8").split("\n")
    with refused("bad_muscle_set", *parts, error=MuscleDatabaseError) as raised:
        muscle_db.load(path)
    assert raised.value.line is not None and lines[raised.value.line - 1].strip()
    if '["soleus' in text:
        assert lines[raised.value.line - 1].startswith('  { muscles = ["soleus')
