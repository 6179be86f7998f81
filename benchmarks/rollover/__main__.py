"""The rollover alone: `python -m benchmarks.impact_cases --case rollover`, with the other options of that command."""

from __future__ import annotations

import sys

from benchmarks.impact_cases import main

if __name__ == "__main__":
    main([*sys.argv[1:], "--case", "rollover"])
