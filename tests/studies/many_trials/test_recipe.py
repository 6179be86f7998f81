"""A result is kept only if everything it was made from is as it was."""

from __future__ import annotations

import importlib
import pickle
import shutil
from types import SimpleNamespace

import pytest

from musclesolve.laboratory.plotting import page_style
from musclesolve.sharing import expression_cost
from musclesolve.sharing.cost import ActivationPower
from musclesolve.studies.many_trials import trial_record as recipes
from musclesolve.studies.many_trials.trial_record import input_hashes, is_current, recipe

OPTIONS = {"side": "both", "cost": ActivationPower(3.0)}


@pytest.fixture
def study(tmp_path):
    (tmp_path / "trials").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "out").mkdir()
    files = {"trial": tmp_path / "trials" / "walk.toml", "markers": tmp_path / "data" / "walk.trc"}
    written = [tmp_path / "out" / name for name in ("result.nc", "forces.png")]
    for path in (*files.values(), *written):
        path.write_text(path.name)
    return SimpleNamespace(
        folder=tmp_path, trial=SimpleNamespace(path=files["trial"], files=files, hashes={})
    )


def current(study, text, options=OPTIONS, figures=True):
    return is_current(text, study.trial.path, study.folder / "out", options, figures)


def made(study, written=("result.nc", "forces.png")):
    return recipe(input_hashes(study.trial), "", OPTIONS, written)


def test_the_same_again_is_current_even_if_the_study_has_moved(study, tmp_path):
    text = made(study)
    assert current(study, text)
    assert current(study, text, {"cost": ActivationPower(3.0), "side": "both"})
    shutil.copytree(study.folder, tmp_path / "moved" / "study", ignore=lambda *_: ["moved"])
    moved = tmp_path / "moved" / "study"
    assert is_current(text, moved / "trials" / "walk.toml", moved / "out", OPTIONS, True)


@pytest.mark.parametrize("options", [{}, {**OPTIONS, "side": "r"}, {**OPTIONS, "cost": ActivationPower(4.0)}])
def test_other_options_are_not(study, options):
    assert not current(study, made(study), options)


@pytest.mark.parametrize("name", ["trials/walk.toml", "data/walk.trc"])
def test_other_input_is_not(study, name):
    text = made(study)
    (study.folder / name).write_text("changed")
    assert not current(study, text)
    (study.folder / name).unlink()
    assert not current(study, text)


def test_a_cost_of_ones_own_that_was_edited_is_not(study, monkeypatch):
    monkeypatch.syspath_prepend(study.folder)
    module = study.folder / "cost_of_ones_own.py"
    module.write_text("def power(a, force, data):\n    return a.T @ a\n")
    power = importlib.import_module("cost_of_ones_own").power
    options = {"cost": expression_cost("own", power)}
    text = recipe(input_hashes(study.trial), "", options, ["result.nc"])
    assert current(study, text, options, figures=False)
    module.write_text("def power(a, force, data):\n    return a.T @ a / 2\n")
    assert not current(study, text, options, figures=False)


def total(a, force, data):
    return data.weight.T @ a


def test_a_cost_of_ones_own_is_the_same_after_use_and_in_another_process(study):
    cost = expression_cost("total", total, constants={"weight": [2.0, 1.0]}, convex=True)
    text = recipe(input_hashes(study.trial), "", {"cost": cost}, ["result.nc"])
    elsewhere = pickle.loads(pickle.dumps(cost))
    assert current(study, text, {"cost": elsewhere}, figures=False)
    assert cost.linear and hash(cost) == hash(elsewhere)
    assert current(study, text, {"cost": cost}, figures=False)


def test_another_version_is_not(study, monkeypatch):
    text = made(study)
    monkeypatch.setattr(recipes, "__version__", "99")
    assert not current(study, text)


def test_figures_that_are_wanted_and_files_that_were_written_have_to_be_there(study):
    assert not current(study, made(study, ["result.nc"]))
    assert current(study, made(study, ["result.nc"]), figures=False)
    assert current(study, made(study), figures=False)
    (study.folder / "out" / "forces.png").unlink()
    assert not current(study, made(study))


@pytest.mark.parametrize("text", ["", "x", "[]", "{}", '{"files": 3}', '{"version": "1", "options": {}}'])
def test_no_recipe_is_not(study, text):
    assert not current(study, text)


def test_figures_in_another_style_are_not(study):
    made_before = made(study)
    with page_style(norms=False):
        assert not current(study, made_before) and current(study, made_before, figures=False)
