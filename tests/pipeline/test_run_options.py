"""What a trial file names is looked up before anything is computed."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic_trial import write_trial

import musclesolve as ms


def refusal(path: Path, **given: str) -> str:
    stages: list[str] = []
    with pytest.raises(ms.InputError) as caught:
        ms.run(ms.read_trial(path), progress=lambda stage, share: stages.append(stage), **given)
    assert stages == [], "nothing may be computed before the names are known"
    return str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('cost = "stress_cubed"', 'cost = "stress_cube"', ["[sharing] cost", "did you mean 'stress_cubed'"]),
        ('solver = "batch"', 'solver = "batsch"', ["[sharing] solver", "one of batch, ipopt"]),
        ('solver = "batch"', 'dofs = ["knee"]', ["[sharing] dofs", "'knee'", "did you mean 'knee_flexion'"]),
        ('solver = "batch"', 'dofs = ["hip_flexion", "hip_flexion"]', ["[sharing] dofs", "stands twice"]),
        ('"silva_2003"', '"silva"', ["[muscles] database", "did you mean", str(Path("silva").absolute())]),
        ('"silva_2003"', '"m.toml"', ["[muscles] database", "no file {folder}/m.toml"]),
    ],
)
def test_a_name_that_the_trial_file_gets_wrong_is_refused_with_its_line(tmp_path, old, new, says):
    path = write_trial(tmp_path, (old, new))
    line = path.read_text(encoding="utf-8")[: path.read_text(encoding="utf-8").index(new)].count("\n") + 1
    message = refusal(path)
    assert message.startswith(f"{path}, line {line}, [")
    assert [part for part in says if part.format(folder=tmp_path) not in message] == []
    assert "object" not in message


def test_a_name_given_by_hand_is_not_blamed_on_the_trial_file(tmp_path):
    path = write_trial(tmp_path)
    assert refusal(path, cost="stress").startswith("there is no cost 'stress'")
    assert refusal(path, solver="ipop").startswith("there is no solver 'ipop'")
    assert refusal(path, side="right").startswith("there is no side 'right'")


def test_a_fault_in_a_muscle_file_is_blamed_on_that_file(tmp_path):
    path = write_trial(tmp_path, ('"silva_2003"', '"m.toml"'))
    (tmp_path / "m.toml").write_text('name = "mine"\nsurce = 3\n', encoding="utf-8")
    assert refusal(path).startswith(f"{tmp_path / 'm.toml'}, line 2")


def test_run_reads_the_trial_file_itself(tmp_path):
    with pytest.raises(ms.InputError, match=r"nowhere\.toml"):
        ms.run(tmp_path / "nowhere.toml")
    with pytest.raises(ms.InputError, match="no cost 'x'"):
        ms.run(str(write_trial(tmp_path)), cost="x")
