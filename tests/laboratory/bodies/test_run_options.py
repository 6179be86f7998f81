"""Names in a trial file are looked up before anything is computed."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from examined import examined
from refusals import refused
from small_model import TEXT, save_model
from synthetic_trial import write_trial

import musclesolve as ms
from musclesolve.constants import USUAL_LEAST_ACTIVATION
from musclesolve.data import reference_stride
from musclesolve.dynamics import human_model
from musclesolve.laboratory.forces import find_options


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
        ('"silva_2003"', '"silva"', ["[muscles] database", "silva", "silva_2003"]),
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


@pytest.mark.in_part(2)
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
            ("gait2393", "'gait2392'"),
        ),
    ],
)
def test_a_set_of_the_user_that_cannot_be_placed_is_refused_at_once(tmp_path, old, new, place, parts):
    text = (files("muscle_db") / "gait2392.toml").read_text(encoding="utf-8")
    (tmp_path / "own.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    path = write_trial(tmp_path, ('"silva_2003"', '"own.toml"'))
    refusal(path, place, *parts)
    assert any(parts[0] in found.what for found in examined(path).findings)


def test_run_reads_the_trial_file_itself(tmp_path):
    with pytest.raises(ms.InputError, match=r"nowhere\.toml"):
        ms.run(tmp_path / "nowhere.toml")
    with pytest.raises(ms.InputError, match="'x'"):
        ms.run(str(write_trial(tmp_path)), cost="x")


OLD = '[muscles]\ndatabase = "silva_2003"\npassive = "table"\n'


@pytest.mark.parametrize(
    ("lines", "parts"),
    [
        ('tendon = "elastic"\ntendon_strain = { soleus_r = 0.06 }', ["] tendon_strain", "'soleus'"]),
        ('tendon = "elastic"\ntendon_strain.hamstring = 0.06', ["] tendon_strain", "'hamstrings'"]),
        ('tendon = "elastic"\n[muscles.tendon_strain]\ncalf = 0.06', ["] tendon_strain", "'calf'"]),
        ('curves = "millard"', ["] curves", "'millard_2013'"]),
    ],
)
def test_words_of_elastic_tendons_are_looked_up_with_their_line(tmp_path, lines, parts):
    path = write_trial(tmp_path, (OLD, OLD + lines + "\n"))
    text = path.read_text(encoding="utf-8")
    key = next(key for key in ("[muscles.tendon_strain]", "tendon_strain", "curves") if key in lines)
    line = text[: text.index(key)].count("\n") + 1
    assert refusal(path, *parts).startswith(f"{path}, line {line}, [muscles")
    assert any(f"line {line}" in str(found.where) for found in examined(path).findings)


def test_options_carry_tendons_curves_and_strains_to_the_muscles(tmp_path):
    lines = 'tendon = "elastic"\ncurves = "millard_2013"\ntendon_strain = { achilles = 0.08 }\n'
    options = find_options(ms.read_trial(write_trial(tmp_path, (OLD, OLD + lines))))
    assert (options.sharing.tendon, options.curve_name) == ("elastic", "millard_2013")
    muscles = options.muscles(human_model())[1].parameters
    assert muscles.families[0][0].name == "millard_2013"
    stretched = {
        name for name, strain in zip(muscles.names, muscles.tendon_strain, strict=True) if strain == 0.08
    }
    assert stretched == {"soleus_l", "gastrocnemius_medial_l", "gastrocnemius_lateral_l"}
    usual = find_options(ms.read_trial(write_trial(tmp_path)))
    assert (usual.sharing.tendon, usual.curve_name, usual.tendon_strain) == ("rigid", "silva_2003", None)


def test_a_model_for_rigid_tendons_is_refused_for_elastic_ones_alone(tmp_path):
    text = TEXT.replace(
        ">0.5</FmaxMuscleStrain>", ">0.5</FmaxMuscleStrain><FmaxTendonStrain>0</FmaxTendonStrain>"
    )
    save_model(tmp_path, text)
    model = OLD.replace("silva_2003", "small.osim") + 'fiber_lengths = "standing"\n'
    assert find_options(ms.read_trial(write_trial(tmp_path, (OLD, model)))).sharing.tendon == "rigid"
    path = write_trial(tmp_path, (OLD, model + 'tendon = "elastic"\n'))
    refusal(path, "[muscles] database", "one", "tendon_strain")
    stated = write_trial(tmp_path, (OLD, model + 'tendon = "elastic"\ntendon_strain = 0.05\n'))
    leg = find_options(ms.read_trial(stated)).muscles(human_model())[0]
    assert leg.parameters.tendon_strain.tolist() == [0.05] * 3


def test_a_least_activation_holds_for_every_muscle_and_in_the_problem_of_a_result():
    """[sharing] least_activation: in recordings, by keyword as in the file; `leg_problem` gives the same problem."""
    result = ms.run(reference_stride(), least_activation=0.02, side="r")
    assert float(result["activation"].min()) >= 0.02 - 1e-9 and result.attrs["least_activation"] == 0.02
    problem = ms.leg_problem(result, "r")
    assert (problem.lower == 0.02).all()
    np.testing.assert_allclose(ms.solve(problem).activation, result["activation"].values, atol=1e-9)
    assert ms.run(reference_stride(), side="r").attrs["least_activation"] == USUAL_LEAST_ACTIVATION
    assert "least_activation" not in ms.run(reference_stride(), least_activation=0.0, side="r").attrs
    with refused("bad_number", "least_activation"):
        ms.run(reference_stride(), least_activation=0.7)


def test_a_stated_name_of_knees_is_in_a_name_of_the_body(tmp_path):
    with refused("unknown_name", '"genou" in its name', "knee_flexion_r"):
        ms.run(str(write_trial(tmp_path)), cost="knee_sparing_activation(knee='genou')")
