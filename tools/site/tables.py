"""Tables of the site, made of the package: `<!-- table: NAME -->` on a line is replaced by the table of the name."""

from __future__ import annotations

import re
from collections.abc import Callable

TABLE = re.compile(r"^<!-- table: (\w+) -->$", flags=re.MULTILINE)


def quantities() -> list[tuple[str, ...]]:
    """Name, dimensions, unit and meaning of every quantity of results, and of answers to questions with its file."""
    from musclesolve.results.dataset.quantities import QUANTITIES

    rows = [
        (
            f"`{each.name}`",
            ", ".join(each.dims),
            each.units,
            each.long_name,
            f"`{each.answer or 'result'}.nc`",
        )
        for each in QUANTITIES.values()
    ]
    return [("quantity", "over", "unit", "what", "in the answer"), *rows]


TABLES: dict[str, Callable[[], list[tuple[str, ...]]]] = {"quantities": quantities}


def with_tables(markdown: str) -> str:
    """A page with the tables that it asks for."""

    def table(found: re.Match[str]) -> str:
        head, *rows = TABLES[found[1]]()
        lines = [head, tuple("---" for _ in head), *rows]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

    return TABLE.sub(table, markdown)
