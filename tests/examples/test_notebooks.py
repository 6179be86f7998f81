"""The stored notebooks are those of their scripts, with outputs, small, and without what is of one machine."""

from __future__ import annotations

import importlib.util
import json
import re
import tomllib
from pathlib import Path

import pytest
from document_pages import site_module

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def _tool():
    spec = importlib.util.spec_from_file_location("make_notebooks", ROOT / "tools" / "make_notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _tool()
STORED = sorted(EXAMPLES.glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)


def test_every_script_with_cells_has_its_notebook_and_no_other_has():
    assert [path.stem for path in STORED] == [script.stem for script in TOOL.scripts()]
    assert len(STORED) >= 4
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((\w+)\.ipynb\)", text) == [
        name
        for name in re.findall(r"^\| \[(\w+)\.py\]", text, flags=re.M)
        if (EXAMPLES / f"{name}.ipynb").exists()
    ]


@each_notebook
def test_the_cells_are_those_of_the_script(path):
    """To make them again: python tools/make_notebooks.py."""
    stored = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = [(cell["cell_type"], "".join(cell["source"])) for cell in stored]
    assert texts == TOOL.cells_of(path.with_suffix(".py"))
    code = "".join(text for kind, text in texts if kind == "code")
    assert "".join(code.split()) in "".join(
        re.sub(r"^# %%.*$", "", path.with_suffix(".py").read_text("utf-8"), flags=re.M).split()
    )


@each_notebook
def test_the_outputs_are_stored_small_and_of_no_machine(path):
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) < 1_000_000
    assert not re.search(r"/(home|root|tmp|work|Users|private)/|site-packages|\b\d\d:\d\d:\d\d\b", text)
    assert not TOOL.RANDOM_ID.search(text)
    code = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [each for cell in code for each in cell["outputs"]]
    assert {each["output_type"] for each in outputs} == {"stream", "execute_result"}
    html = "".join("".join(each["data"].get("text/html", "")) for each in outputs if "data" in each)
    assert html.count('class="ms-result"') == 1 and html.count("<figure>") >= 1
    assert any(each.get("name") == "stdout" for each in outputs)


def test_what_executes_them_is_an_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert {re.split(r"\W", each)[0] for each in extras["notebook"]} == {"nbclient", "ipykernel"}


def test_what_is_of_one_run_is_left_out():
    random = "0a1b2c3d-0000-4000-8000-0123456789ab"
    outputs = [
        {"output_type": "stream", "name": "stderr", "text": ["compiling"]},
        {"output_type": "stream", "name": "stdout", "text": [f"/a/b/walk.nc {random} {random}"]},
    ]
    cells = [{"cell_type": "code", "id": "xyz", "metadata": {"execution": {}}, "outputs": outputs}]
    (cell,) = TOOL.lasting({"cells": cells}, ("/a/b",))["cells"]
    assert cell["outputs"] == [{"output_type": "stream", "name": "stdout", "text": ["walk.nc id-0 id-0"]}]
    assert cell["id"] == "cell-1" and cell["metadata"] == {}


@each_notebook
def test_the_page_of_the_site_holds_code_and_outputs(path):
    site = site_module("notebooks")
    page, stored = site.notebook_markdown(path), json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert all("".join(cell["source"]) in page for cell in stored)
    outputs = [site.output_markdown(each) for cell in stored for each in cell.get("outputs", [])]
    assert all(output in page for output in outputs)
    (view,) = (output for output in outputs if "ms-result" in output)
    assert view.startswith("<div") and "\n\n" not in view, "Markdown ends HTML at an empty line"
