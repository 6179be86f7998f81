"""The examples of docs/reference_stride.md run as they are printed."""

import re
from pathlib import Path

import numpy as np
import pytest
from command_line import typed

pytestmark = pytest.mark.thorough  # with the pages: `make docs`

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "reference_stride.md").read_text(encoding="utf-8")


def test_the_python_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL):
        exec(block, names)
    assert np.abs(names["stride"].pelvis_residual(names["time"])).max() < 1e-9
    assert float(np.sqrt((names["error"] ** 2).mean())) < 10.0


def test_the_shell_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^musclesolve (synthesize .*)$", TEXT, flags=re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        done = typed(*line.split())
        assert done.exit_code == 0, done.output


def test_the_picture_is_there_and_small():
    picture = Path(__file__).resolve().parents[2] / "docs" / "reference_stride.png"
    assert 10_000 < picture.stat().st_size < 150_000
