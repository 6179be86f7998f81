"""The rows of docs/source_rows.md by the document that they are of."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "source_rows.md").read_text(encoding="utf-8")


def rows_of(section):
    """The rows of the tables of a section, without their headings."""
    return [
        line for line in section.splitlines() if line.startswith("| ") and not re.match(r"\| (row|---)", line)
    ]


THESIS = "Silva (2003)"
SECTIONS = [section.partition("\n")[::2] for section in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]]
DOCUMENTS = [(THESIS if title.startswith("Chapter") else title, rows_of(text)) for title, text in SECTIONS]
ROWS = {
    document: [row for _, rows in parts for row in rows]
    for document, parts in groupby(DOCUMENTS, key=lambda part: part[0])
}
"""Rows by the document that they are of: the chapters of the thesis, then a section for each paper."""
