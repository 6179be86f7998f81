"""The equations of docs/theory.md name functions that exist, and can be drawn; corrections name tests that exist."""

from __future__ import annotations

import importlib
import re

import pytest
from document_pages import DOCS, ROOT, blocks, links, site_module, text_of
from packages import need

THEORY, CORRECTIONS = DOCS / "theory.md", DOCS / "corrections.md"
places = site_module("places")


def test_every_place_in_the_code_exists():
    found = [(text, target) for text, target in links(THEORY) if ":" in text]
    assert len(found) > 100
    for text, target in found:
        file, name = places.link_of(text)
        assert file == (DOCS / target).resolve(), (text, target)
        places.defined_at(file, name)


def test_a_name_that_is_gone_is_noticed():
    with pytest.raises(LookupError):
        places.defined_at(ROOT / "musclesolve" / "version.py", "no_such_name")


def test_every_equation_has_a_source_and_a_place():
    after = re.findall(r"```math\n.*?\n```\n\n(.*?)(?=\n\n|\Z)", text_of(THEORY), flags=re.DOTALL)
    assert len(after) == len(blocks(THEORY, "math")) > 80
    for text in after:
        assert re.search(r"\*[^*]+\.\*\s\[`[\w.]+:[\w.]+`\]", text), text


def test_equations_become_mathml():
    need("latex2mathml")
    equations = site_module("equations")
    for block in blocks(THEORY, "math"):
        drawn = equations.mathml(block)
        assert drawn.startswith("<math") and "\\" not in drawn, block


def test_labels_of_corrections_are_explained():
    known = set(re.findall(r"\b[A-E]\d+\b", text_of(CORRECTIONS)))
    used = re.findall(r"corrections? ((?:[A-E]\d+(?:, )?)+)", text_of(THEORY))
    for label in {label for group in used for label in re.findall(r"[A-E]\d+", group)}:
        assert label in known, label


def test_tests_that_corrections_name_exist():
    named = re.findall(r"`((?:tests/|musclesolve/|test_)[\w/.]+)`", text_of(CORRECTIONS))
    assert len(named) > 30
    assert not [
        name for name in named if not (ROOT / name).exists() and not list(ROOT.glob(f"tests/**/{name}"))
    ]


def test_numbers_of_the_stabilization_are_those_of_the_code():
    system = importlib.import_module("musclesolve.dynamics.forward.simulate")
    accelerations = importlib.import_module("musclesolve.dynamics.forward.accelerations")
    simulate = importlib.import_module("musclesolve.dynamics.forward.simulate")
    assert (accelerations.PENALTY, system.DAMPING, system.FREQUENCY) == (1e6, 1.0, 10.0)
    assert simulate.Integration().tolerance == 1e-9
    words = " ".join(text_of(CORRECTIONS).split())
    assert "alpha = 1e6 times the mean mass on the diagonal, mu = 1 and omega = 10 1/s" in words
