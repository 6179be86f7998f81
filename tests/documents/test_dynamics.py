"""Every example of docs/dynamics.md runs as it stands, and says what it should."""

import re
import runpy
from pathlib import Path

import matplotlib
import numpy as np
import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "dynamics.md").read_text(encoding="utf-8")
SECTIONS = {part.split("\n", 1)[0].strip(): part for part in re.split(r"^## ", TEXT, flags=re.M)[1:]}
OF_THEIR_OWN = ("A pendulum of your own",)
"""Sections whose examples run in the tests of what they compute."""
LONG = pytest.param("Motion driven by muscles", marks=pytest.mark.thorough)
"""A section whose examples take ten times as long as others; `make docs` runs them."""
WITH_CODE = [
    LONG if name in LONG.values else name
    for name, part in SECTIONS.items()
    if "```python" in part and name not in OF_THEIR_OWN
]


def run(name, folder):
    """The names that the blocks of a section leave, its files written first."""
    for block in re.findall(r"```toml\n(.*?)```", SECTIONS[name], flags=re.S):
        (folder / block.split("\n", 1)[0].removeprefix("# ")).write_text(block, encoding="utf-8")
    left: dict = {}
    for block in re.findall(r"```python\n(.*?)```", SECTIONS[name], flags=re.S):
        exec(compile(block, name, "exec"), left)
    return left


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)


@pytest.mark.in_part(3)
@pytest.mark.parametrize("name", WITH_CODE)
def test_the_examples_run(name, tmp_path, capsys):
    assert run(name, tmp_path)
    printed = capsys.readouterr().out
    assert "nan" not in printed and (printed or list(tmp_path.iterdir()))


def test_the_pendulum_of_the_text_obeys_newton(tmp_path):
    """At the turning point: I a'' + m g sin(a) by hand, and the hinge carries m (a - g)."""
    left = run("A pendulum of your own", tmp_path)
    angle, second, g = np.radians(30.0), -9.0 * np.radians(30.0), 9.80665
    whole = 0.04 + 2.0 * 0.25**2 + 0.01 + 1.0 * 0.7**2
    lever = 2.0 * 0.25 + 1.0 * 0.7
    assert left["moments"][0, 0] == pytest.approx(whole * second + lever * g * np.sin(angle), rel=1e-4)
    across = -np.array([np.cos(angle), 0.0, -np.sin(angle)])  # a turn about +y moves what hangs backward
    expected = lever * second * across + np.array([0.0, 0.0, 3.0 * g])
    np.testing.assert_allclose(left["reactions"].force[0, left["hinge"]], expected, rtol=1e-4, atol=1e-9)
    assert left["swing"].drift < 1e-6 and left["swing"].violation.max() < 1e-6


@pytest.mark.thorough
def test_the_loop_of_the_example_is_closed_and_balanced():
    """Over a turn at constant speed the crank gives back what it takes."""
    left = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "four_bar.py"))
    q, model = left["q"], left["model"]
    np.testing.assert_allclose(q[:, model.slot("c")], q[:, model.slot("e")], atol=1e-9)
    moment = left["forces"].of(left["crank"])
    assert abs(moment[:-1].mean()) < 1e-9 * np.abs(moment).max()
    assert left["pin"].unique.tolist() == [True, False, True, True, True, True]
