"""A complete run fails where a test is skipped, and a plain run reports what it left out: `tests/support/skips.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import skips
from packages import NEEDS
from packaging.markers import Marker

SUPPORT = Path(skips.__file__).parent
TESTS = {
    "conftest.py": f"""
import sys
sys.path.insert(0, {str(SUPPORT)!r})
import skips
def pytest_addoption(parser):
    parser.addoption("--no-skips", action="store_true")
def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(skips.Skips(config))
""",
    "test_whole.py": """
from packages import imported
engine = imported("no_such_engine")
def test_one(): pass
def test_other(): pass
""",
    "test_parts.py": """
import pytest
from packages import need
def test_that_runs(): pass
def test_for_want_of_a_package(): need("no_such_engine")
@pytest.mark.skip(reason="the sun shines")
def test_for_another_reason(): pass
@pytest.mark.xfail
def test_that_is_known_to_fail(): assert False
""",
}


def run_of(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of TESTS."""
    for name, text in TESTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "xdist.plugin",
        str(folder),
    ]
    environment = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # other plugins take most of the time
    return subprocess.run(
        [*command, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_skip_fails_a_complete_run_alone(tmp_path: Path) -> None:
    """Also where another process runs the tests, and this one distributes them."""
    plain, complete = run_of(tmp_path), run_of(tmp_path, "-n", "1", "--no-skips")
    assert (plain.returncode, complete.returncode) == (0, 1), complete.stdout
    for done in (plain, complete):
        assert "3 tests: needs the package no_such_engine (" in done.stdout, done.stdout
        assert "1 test: the sun shines" in done.stdout and "fail:" not in done.stdout
    refused = complete.stdout.partition("not in tests/allowed_skips.toml")[2]
    for words in ("test_whole.py: needs", "package: needs", "reason: the sun shines"):
        assert words in refused, complete.stdout
    assert "test_that_runs" not in complete.stdout


def test_a_missing_package_is_named_with_the_extra_that_brings_it() -> None:
    assert [skips.extra_of(name) for name in ("torch", "qtm_rt", "numpy", "osqp", "mujoco", "none")] == [
        "torch", "qualisys", "", "qp", "mujoco", None,
    ]  # fmt: skip
    assert skips.install_of("jax") == "pip install -e '.[jax]'"


def test_a_package_may_be_missing_where_no_wheel_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any(skips.is_allowed("tests/x.py::test", NEEDS + name) for name in ("torch", "no_such_engine"))
    never = skips.Requirement("torch; python_version < '3'")
    monkeypatch.setattr(skips, "extras", lambda: {"torch": [never]})
    assert skips.is_allowed("tests/x.py::test", NEEDS + "torch")


def test_every_allowed_skip_has_a_test_and_a_reason() -> None:
    for entry in skips.allowed_skips():
        assert {"test", "reason", "why"} <= set(entry) <= {"test", "reason", "why", "where"}
        path = skips.REPOSITORY / entry["test"]
        files = [path] if path.is_file() else sorted((path / "support").glob("*.py"))
        assert any(f'"{entry["reason"]}"' in file.read_text(encoding="utf-8") for file in files), entry
        here = "where" not in entry or Marker(entry["where"]).evaluate()
        test = f"{entry['test']}::test"
        assert skips.is_allowed(test, entry["reason"]) == here
        assert not skips.is_allowed(test, "another reason")
