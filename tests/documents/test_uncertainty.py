"""The examples of docs/uncertainty.md run, on the bundled stride with few samples; its table is that of the program."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import matplotlib
import pytest

from musclesolve.data import reference_stride
from musclesolve.studies.uncertainty.replay import sources

TEXT = (Path(__file__).parents[2] / "docs" / "uncertainty.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def left(tmp_path_factory) -> dict:
    matplotlib.use("agg")
    names: dict = {"__name__": "__main__"}
    trial = reference_stride().as_posix()
    with contextlib.chdir(tmp_path_factory.mktemp("uncertainty")):
        for block in re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL):
            block = re.sub(r'"(walk|trial)\.toml"', repr(trial), block)
            block = block.replace("samples=1000", "samples=2, jobs=1, contributions=False")
            exec(compile(block, "docs/uncertainty.md", "exec"), names)
        names["files"] = [path.name for path in Path().iterdir()]
    return names


@pytest.mark.thorough
def test_the_examples_leave_what_they_say(left) -> None:
    assert left["files"] == ["map.png"]
    assert {"side", "time", "muscle", "changed"} <= set(left["found"].dims)


def test_the_table_is_that_of_the_program() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \|$", TEXT, flags=re.MULTILINE)
    assert rows == [(each.key, f"{each.sd:g}", each.about) for each in sources().values()]
