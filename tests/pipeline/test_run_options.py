"""Names in a trial file are looked up before anything is computed."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from synthetic_trial import write_trial

import musclesolve as ms


def refusal(path: Path, *parts: str, **given: str) -> str:
    stages: list[str] = []
    with pytest.raises(ms.InputError) as caught:
        ms.run(ms.read_trial(path), progress=lambda stage, share: stages.append(stage), **given)
    assert stages == [], "nothing may be computed before the names are known"
    message = str(caught.value)
    assert [part for part in parts if part not in message] == []
    return message


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ('cost = "stress_cubed"', 'cost = "stress_cube"', ["[sharing] cost", "'stress_cubed'"]),
        ('solver = "batch"', 'solver = "batsch"', ["[sharing] solver", "batch, ipopt"]),
        ('solver = "batch"', 'dofs = ["knee"]', ["[sharing] dofs", "'knee'", "'knee_flexion'"]),
        ('solver = "batch"', 'dofs = ["hip_flexion", "hip_flexion"]', ["[sharing] dofs", "'hip_flexion'"]),
        ('"silva_2003"', '"silva"', ["[muscles] database", str(Path("silva").absolute())]),
        ('"silva_2003"', '"m.toml"', ["[muscles] database", "{folder}/m.toml"]),
    ],
)
def test_a_wrong_name_in_the_trial_file_is_refused_with_its_line(tmp_path, old, new, parts):
    path = write_trial(tmp_path, (old, new))
    line = path.read_text(encoding="utf-8")[: path.read_text(encoding="utf-8").index(new)].count("\n") + 1
    message = refusal(path, *(part.format(folder=tmp_path) for part in parts))
    assert message.startswith(f"{path}, line {line}, [")
    assert "object" not in message


@pytest.mark.parametrize("given", [{"cost": "stress"}, {"solver": "ipop"}, {"side": "right"}])
def test_a_wrong_argument_does_not_point_at_the_trial_file(tmp_path, given):
    path = write_trial(tmp_path)
    assert str(path) not in refusal(path, *map(repr, given.values()), **given)


def test_a_fault_in_a_muscle_file_points_at_that_file(tmp_path):
    path = write_trial(tmp_path, ('"silva_2003"', '"m.toml"'))
    (tmp_path / "m.toml").write_text('name = "mine"\nsurce = 3\n', encoding="utf-8")
    assert refusal(path).startswith(f"{tmp_path / 'm.toml'}, line 2")


@pytest.mark.parametrize(
    ("old", "new", "place", "parts"),
    [
        (
            "tendon_slack_length = 0.25\n",
            "tendon_slack_length = 0.75\n",
            "[muscles] database",
            ("soleus", "0 of 128 poses", "standing"),
        ),
        (
            'curves = "de_groote_2016"\n',
            'curves = "de_groote"\n',
            "own.toml, line 17, curves",
            ("de_groote", '"de_groote_2016"'),
        ),
        (
            'fiber_lengths = "operating_range"\n',
            'fiber_lengths = "operating_range"\noperating_range_of = "gait2393"\n',
            "[muscles] database",
            ("gait2393", '"gait2392"'),
        ),
    ],
)
def test_a_set_of_the_user_that_cannot_be_placed_is_refused_at_once(tmp_path, old, new, place, parts):
    text = (files("muscle_db") / "gait2392.toml").read_text(encoding="utf-8")
    (tmp_path / "own.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    path = write_trial(tmp_path, ('"silva_2003"', '"own.toml"'))
    refusal(path, place, *parts)
    assert any(parts[0] in found.what for found in ms.check(path).findings)


def test_run_reads_the_trial_file_itself(tmp_path):
    with pytest.raises(ms.InputError, match=r"nowhere\.toml"):
        ms.run(tmp_path / "nowhere.toml")
    with pytest.raises(ms.InputError, match="'x'"):
        ms.run(str(write_trial(tmp_path)), cost="x")
