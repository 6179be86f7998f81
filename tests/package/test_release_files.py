"""Files of a release that no test runs: conda recipe, Dockerfile, workflows and citation agree with pyproject.toml."""

from __future__ import annotations

import json
import re
import runpy
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from document_pages import site_module
from packages import imported

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OF_CONDA = {"cyipopt-wheels": "cyipopt", "matplotlib": "matplotlib-base", "lazy-loader": "lazy_loader"}
"""Packages with another name at conda-forge."""
OWN_VERSION = {"cyipopt"}
"""Packages whose wheels count otherwise than their recipe."""
RECIPE = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")
YAML = sorted([*(ROOT / ".github").rglob("*.yml"), ROOT / "CITATION.cff"])


def requirement(text: str) -> tuple[str, str]:
    """Name at conda-forge, and the rest without blanks and markers."""
    name, rest = re.match(r"([\w-]+)\s*(.*)", text.partition(";")[0].strip()).groups()
    name = OF_CONDA.get(name.lower(), name.lower())
    return name, "" if name in OWN_VERSION else rest.replace(" ", "")


def listed(section: str) -> set[tuple[str, str]]:
    """The requirements of a section of the recipe."""
    block = re.search(rf"^  {section}:\n((?:    - .*\n)+)", RECIPE, flags=re.MULTILINE)[1]
    return {requirement(line.strip("- ")) for line in block.splitlines()}


def test_the_recipe_needs_what_the_package_needs():
    needed = {requirement(text) for text in PROJECT["dependencies"]}
    assert listed("run") == needed | {("python", PROJECT["requires-python"])}


def test_versions_agree():
    version = PROJECT["version"]
    assert f'{{% set version = "{version}" %}}' in RECIPE
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(rf"^version: {re.escape(version)}$", citation, flags=re.MULTILINE)


@pytest.mark.parametrize("file", YAML, ids=lambda file: file.name)
def test_yaml_is_yaml(file):
    assert imported("yaml").safe_load(file.read_text(encoding="utf-8"))


def test_jobs_of_workflows_run_commands_that_exist():
    targets = set(
        re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        content = imported("yaml").safe_load(file.read_text(encoding="utf-8"))
        steps = [step for job in content["jobs"].values() for step in job["steps"]]
        assert all(("run" in step) != ("uses" in step) for step in steps)
        for step in steps:
            for target in re.findall(r"^make ([\w-]+)", step.get("run", ""), flags=re.MULTILINE):
                assert target in targets, (file.name, target)


def test_the_image_has_a_python_that_the_package_takes():
    lines = (ROOT / "packaging" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    words = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert {word for word, _ in words} <= {"FROM", "WORKDIR", "COPY", "RUN", "ENV", "ENTRYPOINT", "CMD"}
    version = re.fullmatch(r"python:(3\.\d+)-slim", dict(words)["FROM"])[1]
    assert f"Programming Language :: Python :: {version}" in PROJECT["classifiers"]


def test_extras_that_pages_name_exist():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    named = {
        name
        for page in pages
        for names in re.findall(r"pip install [\"']\.\[([\w,]+)\]", page.read_text(encoding="utf-8"))
        for name in names.split(",")
    }
    assert named and named <= set(PROJECT["optional-dependencies"])


def test_the_notebook_is_what_its_tool_writes_and_holds_its_figure():
    site_module("places")
    tool = site_module("notebook")
    cells = json.loads(tool.NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert ["".join(cell["source"]) for cell in cells[2:]] == list(tool.CELLS)
    kinds = [kind for cell in cells[2:] for output in cell["outputs"] for kind in output.get("data", {})]
    assert kinds == ["image/png"]
    assert "[100. 300.] True" in "".join(cells[2]["outputs"][0]["text"])


def test_badges_lead_to_the_notebook_where_the_repository_is_known(monkeypatch):
    """The hook is a class of hatchling, which only builds need."""
    interface = SimpleNamespace(MetadataHookInterface=object)
    monkeypatch.setitem(sys.modules, "hatchling.metadata.plugin.interface", interface)
    metadata = runpy.run_path(str(ROOT / "packaging" / "metadata.py"))
    text = metadata["with_badges"]("# title\n\ntext", "https://github.com/some/one", "v1")
    assert text.count("some/one") == 2 and text.count(metadata["NOTEBOOK"]) == 2
    assert (ROOT / metadata["NOTEBOOK"]).is_file()
    assert metadata["with_badges"]("# title", "https://other.example/one", "v1") == "# title"
