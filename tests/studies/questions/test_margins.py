"""Margins of the bundled stride: laws of order, the path, the command."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from command_line import typed
from drawn_texts import drawn_texts, outside, overprinted
from refusals import refused

import musclesolve as ms
from musclesolve import Status
from musclesolve.data import reference_stride
from musclesolve.laboratory.plotting import page_style, strength_margins
from musclesolve.laboratory.results.fact_table import document as document_of
from musclesolve.laboratory.results.files.result_netcdf import trial_from
from musclesolve.laboratory.results.tables.question_tables import (
    assistance_records,
    margin_facts,
    ordered_margins,
)
from musclesolve.studies import Scenario, margins, what_if
from musclesolve.studies.questions.what_if import strengths_from_texts


@pytest.fixture(scope="module")
def found() -> xr.Dataset:
    return margins(reference_stride())


@pytest.mark.thorough
def test_a_group_needs_at_least_what_one_of_its_muscles_needs(found, stride_result):
    group = {
        f"{g}_{m[-1]}": []
        for g, m in zip(stride_result.group.values, stride_result.muscle.values, strict=True)
    }
    for name, muscle in zip(stride_result.group.values, stride_result.muscle.values, strict=True):
        group[f"{name}_{muscle[-1]}"].append(str(muscle))
    several = [name for name in group if len(group[name]) > 1]
    assert set(several) == set(found["of"].values[found["kind"].values == "group"])
    for name in several:
        single = found["margin"].sel(of=group[name])
        assert float(found["margin"].sel(of=name)) >= float(single.max()) - 1e-9
    assert ordered_margins(found)["least_strength"][0] > 0.3


def test_the_margin_is_the_greatest_of_the_frames(found):
    np.testing.assert_array_equal(found["margin"], found["least_strength"].max("time"))
    needed = found.isel(of=np.flatnonzero(found["margin"].values > 0))
    at = needed["least_strength"].sel(time=needed["margin_time"])
    np.testing.assert_array_equal(at, needed["margin"])
    assert found["possible"].all() and found.attrs["frames_possible"] == found["possible"].size
    calf = needed.sel(of="triceps_surae_r")
    assert (calf.margin_dof.item(), calf.margin_sign.item()) == ("ankle_dorsiflexion_r", -1)
    assert all(
        dof[-2:] == name[-2:] for dof, name in zip(needed.margin_dof.values, needed.of.values, strict=True)
    )


def test_the_path_ends_where_muscles_are_at_their_limit(found):
    of = found.attrs["path_of"]
    np.testing.assert_allclose(found["strength"].values[-1], float(found["margin"].sel(of=of)))
    result = ms.run(reference_stride(), least_activation=0.0)
    solved = np.repeat((result["status"] == Status.SOLVED).values, 43, axis=1)
    np.testing.assert_allclose(
        found["activation"].values[0][solved], result["activation"].values[solved], atol=1e-9
    )
    assert float(found["peak_activation"].isel(strength=-1).max()) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.thorough
def test_what_is_weak_already_raises_the_margins_of_others(found):
    weak = margins(reference_stride(), strength={"soleus": 0.8})
    assert (weak["margin"] >= found["margin"] - 1e-9)[weak["of"].values != "soleus"].all()
    assert float(weak["margin"].sel(of="gastrocnemius_medial_r")) >= 0.0
    assert weak.attrs["weak"] == "soleus 0.8"
    single, before = (each["margin"].sel(of="soleus_r").item() for each in (weak, found))
    assert single == pytest.approx(before / 0.8, rel=1e-4), "a share of the strength that is left"


def test_a_weakness_that_makes_frames_impossible_is_said_in_tables_and_exit_code(tmp_path):
    trial = str(reference_stride())
    command = ["ask", "margins", trial, "-o", str(tmp_path), "--side", "r", "--strength", "triceps_surae=0"]
    out = typed(*command)
    assert out.exit_code == 3, out.output
    answer = xr.open_dataset(tmp_path / "margins.nc")
    lost = answer.attrs["frames_impossible"]
    assert lost > 0 and lost + answer.attrs["frames_possible"] == answer.sizes["time"]
    assert f"(not {lost} others)" in " ".join(out.stdout.split())
    assert "the motion is possible" not in out.stdout


def test_the_command_writes_margins(tmp_path):
    trial = str(reference_stride())
    out = typed("ask", "margins", trial, "-o", tmp_path, "--json", "--side", "r")
    assert out.exit_code == 0, out.output
    document = json.loads(out.stdout)
    assert {path.name for path in tmp_path.iterdir()} >= {"margins.nc", "margins.csv", "strength_margins.png"}
    margin = {each["of"]: each["least_strength"] for each in document["margins"]}
    assert all(0.0 <= each <= 1.0 for each in margin.values())
    stored = document_of(margin_facts(xr.open_dataset(tmp_path / "margins.nc")))
    assert margin == pytest.approx({each["of"]: each["least_strength"] for each in stored["margins"]})


def test_no_text_lies_on_another_in_a_column_of_a_paper(found):
    with page_style(width_mm=85.0, font_pt=7.0):
        figure = strength_margins(found)
        drawn = drawn_texts(figure)
    assert not overprinted(drawn) and not outside(figure, drawn)


def test_a_folder_holds_the_answers_on_one_trial(tmp_path):
    """Whichever answer is there: one on another trial is refused, its files stay."""
    other = tmp_path / "other.toml"
    other.write_bytes(reference_stride().read_bytes())
    answer = xr.Dataset(attrs=trial_from(other, tmp_path))
    answer.to_netcdf(tmp_path / "what_if.nc")
    out = typed("ask", "margins", reference_stride(), "-o", tmp_path)
    assert out.exit_code == 2 and not (tmp_path / "margins.nc").exists()


def test_what_cannot_be_asked(tmp_path):
    with refused("unknown_name", "soleos"):
        margins(reference_stride(), path="soleos")
    with refused("unknown_name", "muscle"):
        margins(reference_stride(), path="")
    with refused("bad_number", "soleus"):
        margins(reference_stride(), strength={"soleus": 50.0})
    with refused("wrong_type", "strength"):
        margins(reference_stride(), side="r", strength=3)
    for text in ("", "soleus", "=0.5", "torque.ankle_dorsiflexion=-30:0"):
        with refused("bad_value", "strength"):
            strengths_from_texts([text])
    with refused("conflict", "tendon"):
        margins(ms.read_trial(reference_stride()).with_settings(muscles={"tendon": "elastic"}))
    trial = str(reference_stride())
    out = typed("ask", "margins", trial, "-o", tmp_path, "--strength", "torque.ankle=1:2")
    assert out.exit_code == 2


@pytest.fixture(scope="module")
def more() -> xr.Dataset:
    """The right leg with a weak calf, and pairs of groups."""
    strength = {"triceps_surae": 0.5}
    return margins(reference_stride(), strength, side="r", pairs=True)


@pytest.mark.thorough
def test_a_pair_needs_at_least_what_each_group_needs(more):
    alone = more["margin"].to_series()
    for pair, margin in more["pair_margin"].to_series().items():
        one, other = pair.split(" + ")
        if np.isfinite(margin):
            assert margin >= max(alone[one], alone[other]) - 2e-5


def test_the_least_assistance_makes_each_frame_possible(more):
    """A device with the limits that are printed: what-if needs no reserve, and with 5 % less it does."""
    facts = assistance_records(more)
    assert [each["dof"] for each in facts] == ["ankle_dorsiflexion_r"]
    low = facts[0]["least_nm"]
    assert low < -1.0 and facts[0]["greatest_nm"] == 0.0
    assert facts[0]["frames"] == int((~more["possible"]).sum())
    weak = Scenario("weak", {"triceps_surae": 0.5})
    enough = replace(weak, name="enough", torque={"ankle_dorsiflexion": (1.02 * low, 0.0)})
    little = replace(weak, name="little", torque={"ankle_dorsiflexion": (0.95 * low, 0.0)})
    relaxed = ms.read_trial(reference_stride()).with_settings(sharing={"least_activation": 0.0})
    answer = what_if(relaxed, [weak, enough, little], side="r")
    reserves = [
        int((answer["status"].sel(scenario=name) != Status.SOLVED).sum()) for name in answer.scenario.values
    ]
    assert reserves[2] == 0 and 0 < reserves[3] <= reserves[1] == facts[0]["frames"]
