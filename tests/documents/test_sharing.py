"""The examples of docs/sharing.md run as they stand, one after the other, and show what the text says."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import musclesolve as ms

pytestmark = pytest.mark.thorough  # with the pages: `make docs`

TEXT = (Path(__file__).parents[2] / "docs" / "sharing.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """The names that the examples leave."""
    matplotlib.use("agg")
    names: dict = {}
    with contextlib.chdir(tmp_path_factory.mktemp("examples")):
        run(names)
    return names


def run(names):
    for block in re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL):
        exec(compile(block, "docs/sharing.md", "exec"), names)


def test_weak_plantarflexors_are_named(left):
    assert len(left["why"].frame) > 0
    sentence = left["why"].sentence(left["worst"])
    assert sentence.startswith("ankle_dorsiflexion_r lacks") and "soleus_r" in sentence
    assert (left["helped"].status == ms.Status.SOLVED_WITH_RESERVE).sum() == len(left["why"].frame)


def test_ranges_hold_the_answer_and_one_another(left):
    k, wide, near = left["soleus"], left["wide"], left["near"]
    force = left["solution"].force[:, k]
    assert (near.least[:, k] <= force + 0.5).all() and (near.greatest[:, k] >= force - 0.5).all()
    assert (near.width[:, k] <= wide.width[:, k] + 1.0).all()
    assert np.nanmax(wide.width) > 10 * np.nanmedian(near.width[:, k])


def test_the_mixture_is_found_again(left):
    (stress, _), (force, _) = left["found"].cost.summands
    assert force / stress == pytest.approx(0.01, rel=1e-2)


def test_both_formulations_agree(left):
    assert np.abs(left["full_solution"].activation - left["solution"].activation).max() < 4e-7
    np.testing.assert_array_equal(left["full_solution"].status, left["solution"].status)


def test_rate_limits_cost_something_or_nothing(left):
    limited = left["limited"].solution
    assert limited.solved.all()
    assert limited.cost.sum() >= left["solution"].cost.sum() * (1 - 1e-9)


def test_a_device_lowers_the_cost_as_what_if_says(left):
    """The assisted leg of the text, and a motor that bears what a muscle of its strength would."""
    answer = ms.studies.what_if(ms.data.reference_stride(), ["torque.ankle_dorsiflexion_r=-10:-10"], side="r")
    now, assisted = answer.least_cost.sum(["time", "side"]).values
    assert left["share"] == pytest.approx(assisted / now, rel=1e-6) == pytest.approx(0.997, abs=0.0005)
    assert (
        0.0 < left["torque"].max() < 20.0
        and left["torque"].argmax() == left["assisted"][:, left["ankle"]].argmin()
    )
