"""The rules of tools/prose.py; `make docs` applies them to all pages, messages and docstrings."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "tools" / "prose.py"


def linter() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prose", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


prose = linter()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The forces are those of the muscles.", "'those of'"),
        ("The angle is that\nof the knee.", "'that\\nof'"),
        ("The user is asked.", "'asked'"),
        ("The color of a grey fibre.", "'fibre'"),
        ("Frames are analysed.", "'analysed'"),
        ("The lever arm of a muscle.", "'lever arm'"),
    ],
)
def test_a_bad_phrase_is_found(text, fault):
    assert any(fault in words for _, words in prose.word_faults(prose.without_code(text)))


@pytest.mark.parametrize(
    "text", ["`those of`", "```\nthat of\n```", "[a page](those_of.md)", "noise and optimism rise"]
)
def test_code_links_and_other_words_are_left_alone(text):
    assert list(prose.word_faults(prose.without_code(text))) == []


def test_a_sentence_that_does_not_begin_with_its_subject_is_found():
    for text in (
        "Of several strides the mean is drawn.",
        "First.\nJudged are the curves.",
        "- Chosen is a block.",
    ):
        assert len(list(prose.inversions(text, "page"))) == 1
    for text in (
        "Of course it is.",
        "Speed is a number.",
        "The mean of several strides is drawn.",
        "Feed is given.",
    ):
        assert list(prose.inversions(text, "page")) == []


def test_sentences_are_counted_in_paragraphs_and_lists():
    text = (
        "# A title\n\nOne two `code here` four. Five six\nseven (et al. 2016).\n\n- a b\n- c\n\n| d | e f |\n"
    )
    assert prose.lengths(text) == [4, 6, 2, 1]


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ("```\nrun\n```\n\nprints a line", True),
        ("```\nrun\n```\n\nIt prints", False),
        ("```math\na\n```\n\nwith a", False),
    ],
)
def test_a_sentence_after_code_has_a_subject(block, found):
    assert bool(prose.NO_SUBJECT.search(f"# Title\n\n{block} of text.\n")) is found


def test_a_docstring_that_cannot_be_read_alone_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    file = tmp_path / "module.py"
    file.write_text('"""A module."""\n\ndef f():\n    """That of the others."""\n', encoding="utf-8")
    found = list(prose.docstring_faults(file))
    assert any("begin" in fault for fault in found) and any("that of" in fault.lower() for fault in found)


def test_a_british_name_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    file = tmp_path / "module.py"
    file.write_text(
        '"""A module."""\n\ndef normalised_force():\n    pass\n\nclass Programme:\n    pass\n',
        encoding="utf-8",
    )
    assert [fault.split(": ")[2] for fault in prose.docstring_faults(file)] == [
        "'normalised' in a name",
        "'Programme' in a name",
    ]
