"""The recipes of CONTRIBUTING.md work on a copy of the package; `make recipes` runs all tests on such a copy."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import muscle_db

ROOT = Path(__file__).parents[2]
follow_recipes = runpy.run_path(str(ROOT / "tools" / "follow_recipes.py"))["follow_recipes"]
USE = """
import runpy
from pathlib import Path
import numpy as np
import muscle_db
import musclesolve as ms
from musclesolve.laboratory.checks.check import all_checks, examined_file
from musclesolve.data import reference_stride

elbow = ms.Problem([[0.05, 0.03, -0.04]], [20.0], [1000.0, 400.0, 400.0], [1000.0, 400.0, 400.0],
                   optimal_fiber_length=[0.1, 0.1, 0.1], joints_crossed=[1, 1, 2])
assert "fiber_work" in ms.costs() and "cobyqa" in ms.solvers()
wanted = ms.solve(elbow, "force_squared", "slsqp").activation
np.testing.assert_allclose(ms.solve(elbow, "fiber_work", "slsqp").activation, wanted, atol=1e-6)
assert np.abs(elbow.moment_matrix[0] @ ms.solve(elbow, "fiber_work", "cobyqa").activation - 20).max() < 1e-4

Path("heel.xyz").write_text("0.00 1 2 3\\n0.01 1 2 3\\n0.02 1 2 4\\n")
assert ms.laboratory.read_markers("heel.xyz")["heel"][2].tolist() == [0.001, 0.002, 0.004]
Path("heel.xyz").write_text("0.00 1 2 three\\n")
try:
    ms.laboratory.read_markers("heel.xyz")
except ms.InputError as error:
    assert error.code == "not_numbers" and error.where == "line 1, column 'z'"

from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, in_set
from musclesolve.laboratory.plotting.figure_names import FIGURE_NAMES
assert "horizontal_contact_force" in in_set("result", "uncertainty") and QUANTITIES["horizontal_contact_force"]
assert FIGURE_NAMES["horizontal_contact_force"].section == "contact"

assert muscle_db.load("one_muscle")["soleus"].max_isometric_force == 2839

from musclesolve.cli.printing import json_text
from musclesolve.apps.desk.result_facts import result_facts
from musclesolve.laboratory.report import sections
from musclesolve.laboratory.report.page import write_report
from musclesolve.laboratory.results.fact_table import document, summary
from musclesolve.laboratory.results.result_facts import facts_of
from report_inputs import small

sections.figures_of = lambda data, kind: {}
result = small()
said = facts_of(result)
force = float(result["muscle_force"].max())
muscle = str(result["muscle_force"].max("time").idxmax("muscle").values)
words = f"{force:.0f} N of {muscle}"
assert f"largest force     {words}" in summary(said)
assert document(said)["strongest"] == {"muscle": muscle, "force_n": force} and '"force_n"' in json_text(document(said))
path = Path("result.nc")
result.to_netcdf(path)
page = write_report([path], "report.html")[0].read_text()
in_page = f'Largest force: <data data-name="strongest.force_n" value="{force!r}">{force:.0f}</data> N of {muscle}'
assert in_page in page.partition('id="t1-s-muscles"')[2].partition("</section>")[0]
assert ("largest force", words) in result_facts(path).summary

import json
import typer
from musclesolve.cli import app
from musclesolve.apps.desk.fields import title_of
from musclesolve.apps.desk.steps.run_step import further_settings
from musclesolve.models.opensim.model_settings import model_settings
from musclesolve.laboratory.recording.trial_document import trial_document
from musclesolve.tables.document import validated
from musclesolve.tables.settings import schema_text
from musclesolve.tables.settings import tables_of
from musclesolve.laboratory.recording.trial_settings import RecordedSettings

text = reference_stride().read_text()
Path("braced.toml").write_text(text + "\\n[knee]\\nbrace_stiffness = 40\\n")
assert validated(trial_document(Path("braced.toml")), RecordedSettings).knee.brace_stiffness == 40.0
Path("braced.toml").write_text(text + "\\n[knee]\\nbrace_stiffness = 4000\\n")
try:
    validated(trial_document(Path("braced.toml")), RecordedSettings)
except ms.InputError as error:
    assert error.where == f"line {text.count(chr(10)) + 3}, [knee] brace_stiffness"
    assert "at most 500" in error.expected
options = {option for each in typer.main.get_command(app.app).commands["share"].params for option in each.opts}
assert "--brace-stiffness" in options and model_settings(brace_stiffness=3.0).knee.brace_stiffness == 3.0
assert ("knee", "brace_stiffness") in further_settings(is_model=False)
setting = tables_of(RecordedSettings)["knee"].settings["brace_stiffness"]
assert setting.unit == "N m/rad"
schema = json.loads(schema_text(RecordedSettings))["properties"]["knee"]["properties"]["brace_stiffness"]
assert schema["maximum"] == 500.0 and schema["description"] == setting.about
tables = runpy.run_path(TABLES)["tables"]
assert "| `brace_stiffness` | `0` |" in tables("RecordedSettings")

# Other checks compile the dynamics anew in the copy.
added = [check for check in all_checks() if check.detect.__name__ == "subject_name"]
assert "subject_name" in [found.code for found in examined_file(reference_stride(), added)]
"""


@pytest.mark.thorough
def test_every_recipe_works(tmp_path):
    # with the bytecode of what no recipe changes; another process may be writing compiled code
    written = shutil.ignore_patterns("*.nb?", "*.tmp.*", "*.pyc.*")
    for folder in ("musclesolve", "muscle_db", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=written)
    if "one_muscle" not in muscle_db.available():  # else this is the copy in which they were followed
        assert follow_recipes(tmp_path) == 15
    done = subprocess.run(
        [sys.executable, "-c", f"TABLES = {str(ROOT / 'tools' / 'settings_tables.py')!r}\n{USE}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "tests" / "support")])},
    )
    assert done.returncode == 0, done.stderr
