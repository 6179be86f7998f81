"""The page of the quantities of results and of answers to questions, from the table that defines them."""

from __future__ import annotations

import re

PAGE = "quantities.md"
HEAD = """# Quantities of results

Every variable of `result.nc` and of the answers to [questions](questions.md): its dimensions, its unit and its
meaning. The attributes of a file have the whole descriptions. [Results](results.md) shows how to read them.
"""


def quantities_page() -> str:
    """The text of the page: one table for each file."""
    from musclesolve.laboratory.results.dataset.quantities import QUANTITIES

    files: dict[str, list[str]] = {}
    for each in QUANTITIES.values():
        plain = re.sub(r" \([^()]*[;:][^()]*\)", "", each.long_name)
        cells = (f"`{each.name}`", ", ".join(each.dims), each.units, re.split(r"[;:]", plain)[0])
        files.setdefault(each.answer or "result", []).append(f"| {' | '.join(cells)} |")
    head = "| quantity | over | unit | what |\n| --- | --- | --- | --- |"
    return "\n\n".join(
        [HEAD, *(f"## {name}.nc\n\n{head}\n" + "\n".join(rows) for name, rows in files.items())]
    )
