"""Skipped tests of a run: what was left out, for want of what, and which of them a complete run may have.

A run prints at its end how many tests it skipped and why. For a package that is missing it prints the extra of
pyproject.toml that has the package. In a complete run (`pytest --no-skips`, as in `.ci/run`) a skipped test is a
failure, but for two kinds: tests of a package for which pyproject.toml has no requirement on this platform, because
there is no wheel; and the entries of tests/allowed_skips.toml.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from packages import NEEDS
from packaging.markers import Marker
from packaging.requirements import Requirement
from recorded_data import REPOSITORY


@cache
def allowed_skips() -> list[dict[str, str]]:
    """The entries of tests/allowed_skips.toml."""
    text = (REPOSITORY / "tests" / "allowed_skips.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["skip"]


@cache
def extras() -> dict[str, list[Requirement]]:
    """The requirements of pyproject.toml: of each extra by its name, of the plain installation by ""."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts = {"": project["dependencies"], **project["optional-dependencies"]}
    return {extra: [Requirement(text) for text in each] for extra, each in texts.items()}


def requirements(module: str) -> list[tuple[str, Requirement]]:
    """Return the requirements of the package of a module, each after its extra."""
    package = module.replace("_", "-")
    names = (package, f"{package}-wheels")
    return [(extra, each) for extra, listed in extras().items() for each in listed if each.name in names]


def extra_of(module: str) -> str | None:
    """Return the smallest extra that brings the package of a module on this platform; None if none does."""
    here = [extra for extra, each in requirements(module) if each.marker is None or each.marker.evaluate()]
    return min(here, key=lambda extra: len(extras()[extra]), default=None)


def install_of(module: str) -> str:
    """Return the command that brings the package of a module, or a sentence where there is none."""
    if (extra := extra_of(module)) is None:
        return "pyproject.toml does not require it on this platform"
    return f"pip install -e '.[{extra}]'" if extra else "pip install -e ."


def is_allowed(test: str, reason: str) -> bool:
    """Whether a complete run may skip a test for a reason."""
    if reason.startswith(NEEDS):
        module = reason.removeprefix(NEEDS)
        return bool(requirements(module)) and extra_of(module) is None
    return any(
        test.startswith(entry["test"])
        and reason == entry["reason"]
        and ("where" not in entry or Marker(entry["where"]).evaluate())
        for entry in allowed_skips()
    )


class Skips:
    """Plugin of pytest that collects the skipped tests of a run; in a complete run they are failures."""

    def __init__(self, config: pytest.Config) -> None:
        self.root = config.rootpath
        self.complete = config.getoption("no_skips")
        self.tests: dict[str, set[str]] = defaultdict(set)
        """Reason -> skipped tests, and modules that were skipped as a whole."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a skipped test; a process that distributes tests gets the reports of all others."""
        self.note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a skipped module."""
        self.note(report)

    def note(self, report: Any) -> None:
        """Note a report of a skip."""
        if report.skipped and not hasattr(report, "wasxfail"):
            self.tests[report.longrepr[2].removeprefix("Skipped: ")].add(report.nodeid)

    def refused(self) -> list[str]:
        """The skipped tests that a complete run has to run, each with its reason."""
        return [
            f"{test}: {reason}"
            for reason, tests in self.tests.items()
            for test in sorted(tests)
            if not is_allowed(test, reason)
        ]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail where a test was skipped that a complete run has to run."""
        if self.complete and self.refused() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print what was left out, and in a complete run what must not be."""
        if self.tests:
            terminalreporter.section("left out")
            for line in self.lines():
                terminalreporter.write_line(line)
        if self.complete and (refused := self.refused()):
            terminalreporter.section("skipped, but not in tests/allowed_skips.toml", red=True)
            for line in refused:
                terminalreporter.write_line(line)

    def size(self, test: str) -> int:
        """Return the number of tests: one, or those of the module where the whole module was skipped."""
        if "::" in test:
            return 1
        return len(re.findall(r"^ *def test_", (self.root / test).read_text(encoding="utf-8"), re.MULTILINE))

    def lines(self) -> Iterator[str]:
        """The number of tests for each reason, those of packages with the command that brings the package."""
        for reason, tests in sorted(self.tests.items()):
            count = sum(map(self.size, tests))
            line = f"{count} test{'s' * (count != 1)}: {reason}"
            module = reason.removeprefix(NEEDS)
            yield line if module == reason else f"{line} ({install_of(module)})"
