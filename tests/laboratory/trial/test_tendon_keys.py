"""Keys of elastic tendons in a trial file: what is read, and the line of what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused
from synthetic_trial import write_trial

from musclesolve import read_trial
from musclesolve.errors import InputError
from musclesolve.muscles.settings import MuscleSettings

OLD = '[muscles]\ndatabase = "silva_2003"\npassive = "table"\n'
ELASTIC = 'tendon = "elastic"\n'


def with_keys(folder: Path, lines: str) -> Path:
    return write_trial(folder, (OLD, OLD + lines))


def options(folder: Path, lines: str) -> MuscleSettings:
    return read_trial(with_keys(folder, lines)).settings.muscles


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", {}),
        ('tendon = "rigid"', {}),
        (ELASTIC, {"tendon": "elastic"}),
        ('curves = "millard_2013"', {"curves": "millard_2013"}),
        (f"{ELASTIC}tendon_strain = 0.5", {"tendon": "elastic", "tendon_strain": 0.5}),
        (
            f"{ELASTIC}tendon_strain = {{ achilles = 0.08, all = 0.06 }}",
            {"tendon": "elastic", "tendon_strain": {"achilles": 0.08, "all": 0.06}},
        ),
        (f"{ELASTIC}tendon_strain.sol = 0.1", {"tendon": "elastic", "tendon_strain": {"sol": 0.1}}),
        (
            f"{ELASTIC}[muscles.tendon_strain]\nhamstrings = 0.04",
            {"tendon": "elastic", "tendon_strain": {"hamstrings": 0.04}},
        ),
    ],
)
def test_what_is_read(tmp_path: Path, lines: str, expected: dict[str, object]) -> None:
    assert options(tmp_path, lines) == MuscleSettings(database="silva_2003", passive="table", **expected)


@pytest.mark.parametrize(
    ("lines", "code", "fault", "parts"),
    [
        ('tendon = "elastc"', "bad_value", "elastc", ["tendon", "rigid, elastic"]),
        ("tendon = true", "bad_value", "tendon = true", ["tendon"]),
        ("curves = 3", "bad_value", "curves = 3", ["curves"]),
        ('tendons = "elastic"', "unknown_key", "tendons", ["'tendon'"]),
        ("tendon_strain = 0.06", "conflict", "tendon_strain", ["tendon_strain", "elastic"]),
        *(
            (
                f"{ELASTIC}tendon_strain = {value}",
                "bad_value",
                "tendon_strain",
                ["[muscles] tendon_strain", part],
            )
            for value, part in (
                ("0", "above 0 and at most 0.5"),
                ("-0.05", "above 0 and at most 0.5"),
                ("0.51", "above 0 and at most 0.5"),
                ("nan", "above 0 and at most 0.5"),
                ("inf", "above 0 and at most 0.5"),
                ("true", "True"),
                ('"stiff"', "achilles = 0.08"),
                ("[0.05]", "achilles = 0.08"),
                ("{ achilles = 0.0 }", "'achilles' is 0.0"),
                ("{ soleus = 0.05, achilles = nan }", "'achilles' is nan"),
                ('{ achilles = "soft" }', "'achilles' is 'soft'"),
            )
        ),
        (f"{ELASTIC}tendon_strain.achilles = 9", "bad_value", "tendon_strain.achilles", ["'achilles' is 9"]),
        (
            f"{ELASTIC}\n[muscles.tendon_strain]\nachilles = 9",
            "bad_value",
            "[muscles.tendon_strain]",
            ["'achilles' is 9"],
        ),
    ],
)
def test_what_is_refused(tmp_path: Path, lines: str, code: str, fault: str, parts: list[str]) -> None:
    path = with_keys(tmp_path, lines)
    text = path.read_text(encoding="utf-8")
    line = text[: text.index(fault, text.index("[muscles]"))].count("\n") + 1
    with refused(code, f"line {line}, [muscles]", *parts, "\n  remedy: "):
        read_trial(path)


def test_a_faulty_word_for_the_tendon_is_not_taken_for_a_rigid_one(tmp_path: Path) -> None:
    """The error is about the word, not about the strain beside it."""
    path = with_keys(tmp_path, 'tendon = "elastc"\ntendon_strain = 0.06\n')
    with pytest.raises(InputError) as caught:
        read_trial(path)
    assert caught.value.code == "bad_value" and "tendon_strain" not in str(caught.value)
