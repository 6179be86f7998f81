"""A set that is stated by its differences from a bundled one: what is taken over, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import muscle_db
from muscle_db import MuscleDatabaseError, to_toml

STATED = """\
name = "stronger"
source = "silva_2003 with a stronger soleus and a wrapped psoas"
based_on = "silva_2003"

[[wrap]]
name = "brim"
kind = "sphere"
frame = "pelvis"
radius = 0.02
center = [-0.02, -0.08, -0.05]
axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]

[[muscle]]
name = "soleus"
max_isometric_force = 3000

[[muscle]]
name = "psoas"
wraps = [ { object = "brim" } ]
"""


def saved(folder: Path, text: str) -> Path:
    path = folder / "stronger.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_all_else_is_that_of_the_set_it_is_based_on(tmp_path: Path) -> None:
    mine, base = muscle_db.load(saved(tmp_path, STATED)), muscle_db.load("silva_2003")
    assert (mine.name, len(mine), list(mine.wrap_objects)) == ("stronger", 43, ["brim"])
    assert mine["soleus"].max_isometric_force == 3000
    assert [wrap.object for wrap in mine["psoas"].wraps] == ["brim"]
    assert mine["psoas"].path == base["psoas"].path
    assert {a.name for a, b in zip(mine, base, strict=True) if a != b} == {"soleus", "psoas"}
    for key in ("reference", "groups", "curves", "fiber_lengths", "operating_range_of", "calibrated_passive"):
        assert getattr(mine, key) == getattr(base, key)


def test_it_can_be_written_in_full(tmp_path: Path) -> None:
    for name in (saved(tmp_path, STATED), "silva_2003_wrapped"):
        mine = muscle_db.load(name)
        path = tmp_path / "whole.toml"
        path.write_text(to_toml(mine), encoding="utf-8")
        whole = muscle_db.load(path)
        assert whole.wrap_objects == mine.wrap_objects
        assert [(m.name, m.wraps, m.tendon_slack_length) for m in whole] == [
            (m.name, m.wraps, m.tendon_slack_length) for m in mine
        ]


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('based_on = "silva_2003"', 'based_on = "silva_203"', 3, ["unknown based_on", "silva_2003"]),
        ('name = "soleus"', 'name = "soleuss"', 14, ["unknown name", "soleus"]),
        ('name = "psoas"', 'name = "soleus"', 18, ["occurs twice"]),
        ("max_isometric_force = 3000", "max_isometric_force = -1", 15, ["muscle 1 (soleus)", "out of range"]),
        ("max_isometric_force = 3000", 'short_name = "sol"', 15, ['unknown key "short_name"']),
        ('object = "brim"', 'object = "rim"', 19, ["unknown object", "brim"]),
        ('wraps = [ { object = "brim" } ]', "pennation_deg = 8", 6, ["no path uses the wrap object"]),
        ('name = "stronger"', 'name = "stronger"\ncurves = "thelen_2003"', 2, ['unknown key "curves"']),
        (
            "max_isometric_force = 3000",
            "path = [ { point = 1 }, { point = 9 } ]",
            15,
            ["no point 9", "1 to 2"],
        ),
        ("max_isometric_force = 3000", 'reasons = { wraps = "none" }', 15, ["wraps does not differ"]),
        ("max_isometric_force = 3000", "deviation = []", 15, ['unknown key "deviation"']),
    ],
)
def test_refusals_name_the_line(tmp_path: Path, old: str, new: str, line: int, says: list[str]) -> None:
    assert STATED.count(old) == 1
    with pytest.raises(MuscleDatabaseError) as caught:
        muscle_db.load(saved(tmp_path, STATED.replace(old, new)))
    assert caught.value.line == line
    assert [part for part in says if part not in str(caught.value)] == []


def test_reasons_make_deviations_of_differences(tmp_path: Path) -> None:
    more = '= 3000\npath = [ { point = 2 }, { point = 1 } ]\nreasons = { point = "reversed" }'
    soleus = muscle_db.load(saved(tmp_path, STATED.replace("= 3000", more)))["soleus"]
    base = muscle_db.load("silva_2003")["soleus"]
    assert [(each.field, each.point, each.reason) for each in soleus.deviations] == [
        ("point", 1, "reversed"),
        ("point", 2, "reversed"),
    ]
    assert soleus.path == base.path[::-1] and soleus.printed().path == base.path


def test_words_of_another_set(tmp_path: Path) -> None:
    """Where a muscle states none; gait2392 and silva_2003 have the same muscles."""
    text = to_toml(muscle_db.load("gait2392"))
    assert "origin" not in text and muscle_db.load(saved(tmp_path, text)) == muscle_db.load("gait2392")
    assert all(
        mine.action == muscle_db.load("silva_2003")[mine.name].action for mine in muscle_db.load("gait2392")
    )
    text = text.replace('anatomy_of = "silva_2003"', 'anatomy_of = "silva"')
    with pytest.raises(MuscleDatabaseError, match="unknown anatomy_of"):
        muscle_db.load(saved(tmp_path, text))


def test_a_wrap_object_of_the_base_is_not_replaced(tmp_path: Path) -> None:
    text = STATED.replace("silva_2003", "rajagopal_2023").replace("brim", "gasmed_at_condyles")
    with pytest.raises(MuscleDatabaseError, match="already"):
        muscle_db.load(saved(tmp_path, text))


@pytest.mark.parametrize("base", ["silva_2003_wrapped", "gait2392_hip"])
def test_a_set_can_be_based_on_a_set_of_differences(tmp_path: Path, base: str) -> None:
    text = f'name = "weak"\nsource = "an example"\nbased_on = "{base}"\n\n[[muscle]]\nname = "soleus"\n'
    mine = muscle_db.load(saved(tmp_path, f"{text}max_isometric_force = 1700\n"))
    parent = muscle_db.load(base)
    assert {a.name for a, b in zip(mine, parent, strict=True) if a != b} == {"soleus"}
    assert mine["soleus"].max_isometric_force == 1700 and mine.wrap_objects == parent.wrap_objects


def test_points_by_number_are_those_of_the_set_below(tmp_path: Path) -> None:
    parent = muscle_db.load("gait2392_hip")["rectus_femoris"]
    text = 'name = "weak"\nsource = "an example"\nbased_on = "gait2392_hip"\n\n[[muscle]]\nname = "rectus_femoris"\n'
    assert muscle_db.load(saved(tmp_path, f"{text}pennation_deg = 7\n"))["rectus_femoris"].path == parent.path
    shorter = f"{text}path = [ {{ point = 1 }}, {{ point = 3 }} ]\n"
    assert muscle_db.load(saved(tmp_path, shorter))["rectus_femoris"].path == parent.path[::2]
