"""Columns of printed tables: names that stay whole, words that are folded, numbers on the right."""

from __future__ import annotations

from rich.table import Column


def names(*headings: str) -> list[Column]:
    """Columns that are never broken."""
    return [Column(heading, no_wrap=True) for heading in headings]


def words(*headings: str) -> list[Column]:
    """Columns that are broken between words, or within a word that is too long."""
    return [Column(heading, overflow="fold") for heading in headings]


def numbers(*headings: str, whole: bool = False) -> list[Column]:
    """Columns on the right; `whole` ones are never broken."""
    return [Column(heading, justify="right", no_wrap=whole, overflow="fold") for heading in headings]
