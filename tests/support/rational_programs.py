"""Linear programs in rational numbers: the exact optimum of a program whose numbers are floats."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Number = float | Fraction


def rational_optimum(
    cost: Sequence[Number],
    rows: Sequence[Sequence[Number]],
    right: Sequence[Number],
    lower: Sequence[Number],
    upper: Sequence[Number],
) -> tuple[Fraction, list[Fraction]] | Fraction:
    """The least cost . x with rows x = right, lower <= x <= upper, and x; else the least sum of what is missing.

    Two phases of a tableau with the first variable that improves (Bland's rule), in x - lower and upper - x.
    """
    count, equations = len(cost), len(rows)
    low, high = [Fraction(v) for v in lower], [Fraction(v) for v in upper]
    table, basis, width = [], [], 2 * count + equations
    for k, row in enumerate(rows):
        entries = [Fraction(v) for v in row]
        needed = Fraction(right[k]) - sum((a * v for a, v in zip(entries, low, strict=True)), Fraction(0))
        sign = -1 if needed < 0 else 1
        helpers = [Fraction(int(j == k)) for j in range(equations)]
        table.append([sign * v for v in entries] + [Fraction(0)] * count + helpers + [sign * needed])
        basis.append(2 * count + k)
    for i in range(count):
        entries = [Fraction(int(j in (i, count + i))) for j in range(width)]
        table.append([*entries, high[i] - low[i]])
        basis.append(count + i)

    def minimized(costs: list[Fraction], allowed: int) -> Fraction:
        line = [*costs, Fraction(0)]
        for row, own in zip(table, basis, strict=True):
            line = [a - costs[own] * b for a, b in zip(line, row, strict=True)]
        while (column := next((j for j in range(allowed) if line[j] < 0), None)) is not None:
            steps = [(row[-1] / row[column], basis[k], k) for k, row in enumerate(table) if row[column] > 0]
            pivot = min(steps)[2]
            table[pivot] = [v / table[pivot][column] for v in table[pivot]]
            for k, row in enumerate(table):
                if k != pivot and row[column] != 0:
                    factor = row[column]
                    table[k] = [a - factor * b for a, b in zip(row, table[pivot], strict=True)]
            factor = line[column]
            line = [a - factor * b for a, b in zip(line, table[pivot], strict=True)]
            basis[pivot] = column
        return -line[-1]

    missing = minimized([Fraction(0)] * (2 * count) + [Fraction(1)] * equations, width)
    if missing > 0:
        return missing
    least = minimized([Fraction(v) for v in cost] + [Fraction(0)] * (count + equations), 2 * count)
    values = dict(zip(basis, (row[-1] for row in table), strict=True))
    x = [low[i] + values.get(i, Fraction(0)) for i in range(count)]
    return least + sum((Fraction(c) * v for c, v in zip(cost, low, strict=True)), Fraction(0)), x
