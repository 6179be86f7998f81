"""The shell completes commands, options and the names behind them; nothing heavy is loaded for the first two."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from musclesolve.cli import options as completion

HEAVY = ("numpy", "xarray", "matplotlib", "numba", "scipy")
CODE = """
import sys
from musclesolve.cli import app
try:
    app.main()
finally:
    print(*(name for name in {heavy} if name in sys.modules), file=sys.stderr)
"""


def completed(*words: str) -> tuple[list[str], list[str]]:
    """Return the completions that bash offers after these words, the last one incomplete, and the modules loaded for
    them.
    """
    asked = {"_MUSCLESOLVE_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words)}
    env = os.environ | asked | {"COMP_CWORD": str(len(words) - 1)}
    code = CODE.format(heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    return done.stdout.split(), done.stderr.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("musclesolve", "com"), ["compare"]),
        (("musclesolve", "run", "--un"), ["--uncertainty"]),
        (("musclesolve", "compare", "--js"), ["--json"]),
    ],
)
def test_commands_and_options_load_nothing(words, expected):
    assert completed(*words) == (expected, [])


def test_names_behind_an_option():
    assert completed("musclesolve", "run", "--cost", "force_s")[0] == ["force_squared"]


@pytest.mark.parametrize(
    ("names", "beginning", "expected"),
    [
        (completion.cost_names, "stress", ["stress_cubed"]),
        (completion.solver_names, "ba", ["batch"]),
        (completion.marker_set_names, "plug", ["plug_in_gait"]),
        (completion.muscle_set_names, "silva", ["silva_2003", "silva_2003_wrapped"]),
        (completion.muscle_names, "sole", ["soleus"]),
        (completion.cost_names, "nothing", []),
    ],
)
def test_names_of_everything_that_has_some(names, beginning, expected):
    assert names(beginning) == expected
