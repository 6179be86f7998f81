"""The recipe "Add a quantity": stated once, it is wherever quantities are used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
USE = """
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import xarray as xr

from musclesolve.laboratory.results.dataset import quantities

NAME = "horizontal_contact_force"
exec(Path("recipe.py").read_text(), vars(quantities))

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.apps.live.page.page_settings import ShownQuantities
from musclesolve.apps.live.recorder import frame_columns
from musclesolve.laboratory.plotting import save_figures
from musclesolve.laboratory.plotting.study.group_figures import group_drawings
from musclesolve.laboratory.report.content import trial_sections
from musclesolve.laboratory.report.inputs import read_inputs
from musclesolve.laboratory.report.page import figure_page
from musclesolve.laboratory.report.sections import specifications
from musclesolve.laboratory.results.export.export import export
from musclesolve.laboratory.results.files.result_netcdf import read_result
from musclesolve.studies.study.curve_tests import compare_curves
from musclesolve.studies.study.means import group_means, subject_means

# result.nc, figure, desk, CSV
result = ms.run(reference_stride(), side="r")
result.to_netcdf("result.nc")
force = read_result("result.nc")[NAME]
size = np.hypot(result["joint_reaction"][..., 0], result["joint_reaction"][..., 1])
np.testing.assert_array_equal(force, size)
assert force.attrs["units"] == "N" and "horizontal" in force.attrs["description"]
assert save_figures(result, ".", figures=[NAME]) == [Path(NAME + ".png")]
of_contact = figure_page(Path("result.nc")).partition("<h2>Contact forces</h2>")[2].partition("</section>")[0]
assert f'id="t1-{NAME}"' in of_contact
export("result.nc", "table.csv")
assert NAME + ".knee_r [N]" in Path("table.csv").read_text().splitlines()[0]

# report: figure, and table of extremes in body weights
assert NAME in specifications()["contact"]["figures"]
(trial,) = read_inputs([Path("result.nc")]).trials
assert "Extremes of horizontal contact forces [BW]" in [
    table.caption for table in trial_sections.contact(trial)["tables"]
]

# study: cycles, discrete values, tests and figure
cycles = ms.laboratory.normalized(ms.laboratory.cycles(result, "r", partial=True, without_side=True))
assert cycles[NAME].attrs["units"] == "BW"
values = ms.laboratory.discrete_values(cycles)
assert set(values["measure"][values["variable"] == NAME]) == {"max", "min", "range", "mean", "impulse"}
people = [cycles.assign_coords(subject=("cycle", [name]), condition=("cycle", [kind]), group=("cycle", [""]))
          for name in "ABC" for kind in ("slow", "fast")]
rng = np.random.default_rng(1)
people = [each.assign({NAME: each[NAME] * rng.uniform(0.9, 1.1)}) for each in people]
means = subject_means(xr.concat(people, "cycle", coords="minimal", compat="override"), variables=[NAME])
assert NAME in compare_curves(means)["variable"]
assert f"group_{NAME}" in group_drawings(group_means(means))
assert NAME in quantities.in_set("study")

# uncertainty
found = ms.studies.uncertainty(reference_stride(), samples=2, side="r", jobs=1, contributions=False)
np.testing.assert_allclose(found[NAME], size, rtol=1e-9)
assert float(found[NAME + "_sd"].max()) > 0.0

# live: a column of the recorded frames, a curve of the page
live = SimpleNamespace(sides="r", dofs="q", shared="q", muscles="m", joints=("hip_r",))
assert (NAME + ".hip_r", "N") in frame_columns(live)
kind = [("status", "i1", 1), ("joint_reaction", "f8", (1, 3)), ("wrench", "f8", (2, 6))]
rows = np.zeros(2, [*kind, *((name, "f8", 1) for name in ("force", "activation", "moment", "angle"))])
rows["joint_reaction"][:, 0] = 3.0, 4.0, 9.0
shown = ShownQuantities(("soleus_r",), ("knee_flexion_r",), ("hip_r",), ("r",), 10.0)
place = [each.key for each in shown.every].index(NAME + ":hip_r")
np.testing.assert_allclose(shown.values(rows)[:, place], 0.5)
assert shown.every[place].about["unit"] == "BW"

# the page of the site
import runpy
page = runpy.run_path(ROOT + "/tools/site/quantities.py")["quantities_page"]()
assert f"| `{NAME}` | time, joint | N | horizontal part of the joint contact force |" in page
"""


@pytest.mark.thorough
def test_a_quantity_that_is_stated_once_is_everywhere(tmp_path):
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n# at the end of [^\n]*/quantities.py\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "recipe.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", f"ROOT = {str(ROOT)!r}\n{USE}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"},
    )
    assert done.returncode == 0, done.stderr
