"""The README is short, its links lead somewhere, and its examples in Python run."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import matplotlib

from musclesolve.data import reference_stride

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short():
    lines = TEXT.splitlines()
    assert len(lines) <= 125 and max(map(len, lines)) <= 120


def test_links_of_all_documents_lead_somewhere():
    for file in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", file.read_text(encoding="utf-8")):
            assert (file.parent / link).exists(), (file.name, link)


def test_the_examples_run(tmp_path):
    matplotlib.use("agg")
    names: dict = {}
    with contextlib.chdir(tmp_path):
        for block in re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL):
            code = block.replace('"trial.toml"', repr(reference_stride().as_posix()))
            exec(compile(code, "README.md", "exec"), names)
        assert Path("walk.nc").is_file()
    assert names["solution"].solved.all() and names["result"].valid.all()
