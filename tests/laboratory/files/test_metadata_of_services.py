"""Metadata of OpenCap and AddBiomechanics: unknown values state nothing, and unusable ones are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from musclesolve.laboratory.files.service_folders import METADATA, SUBJECT_FILE, stated_subject


@pytest.mark.parametrize(
    ("name", "text", "facts", "faults"),
    [
        (METADATA, "mass_kg:\nheight_m: ~\nage: null\ngender_mf: m\n", {"sex": "male"}, {}),
        (METADATA, "\ufeffmass_kg: 75 # weighed\r\n", {"mass_kg": 75.0}, {}),
        (METADATA, "mass_kg: 75 kg\nheight_m: 1.8\n", {"stature_m": 1.8}, {"mass_kg": "is no number"}),
        (SUBJECT_FILE, '{"massKg": 75, "heightM": 0, "sex": "unknown"}', {"mass_kg": 75.0}, {}),
        (SUBJECT_FILE, '{"massKg": [75]}', {}, {"mass_kg": "[75], which is no number"}),
        (SUBJECT_FILE, '{"massKg": true}', {}, {"mass_kg": "True, which is no number"}),
        (SUBJECT_FILE, f'{{"massKg": 1{400 * "0"}}}', {}, {"mass_kg": "not from 2 to 400 kg"}),
    ],
)
def test_what_a_service_states_of_the_subject(
    tmp_path: Path, name: str, text: str, facts: dict[str, object], faults: dict[str, str]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    stated = stated_subject(tmp_path / name)
    assert stated.facts == facts and [*stated.faults] == [*faults]
    assert all(words in stated.faults[key] for key, words in faults.items())
