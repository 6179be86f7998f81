"""Fixtures that several test folders share: paths of recorded data, and random motions of the model."""

from __future__ import annotations

import gc
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: threads of two processes wait for each other

from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from browser import end_browser, shown
from computed_once import compute_once
from here import computed_here, computed_in_processes
from hypothesis import HealthCheck, settings
from opensim_answers import end_opensim
from recorded_data import REPOSITORY, recorded
from skips import Skips
from thorough import THOROUGH, left_out

from musclesolve import read_osim, read_trial, run
from musclesolve.data import reference_stride
from musclesolve.dynamics import Model, Wrench, differentiate, human_model
from musclesolve.laboratory import Trial

# No test fails for a slow machine. Of inputs that can be anything, as many as hypothesis draws by default only in a
# thorough run.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("part", settings.get_profile("untimed"), max_examples=25)
settings.load_profile("untimed" if THOROUGH else "part")


LONG = ("tests/apps/desk", "tests/studies/study", "tests/laboratory/report")
"""Folders of the longest tests: what runs last should be short, so that two processes end together."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-skips", action="store_true", help="fail where a test is skipped, see tests/support/skips.py"
    )


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the process that distributes tests, or the only one
        config.pluginmanager.register(Skips(config))


def pytest_sessionstart() -> None:
    """Compile in the second of two processes that test side by side, unless the compiled code is on disk.

    Meanwhile the first collects, and keeps the test modules as bytecode, which the second then finds.
    """
    gc.disable()  # what imports and collection make stays to the end
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw1":
        from musclesolve.dynamics.kernel import entry as contact
        from musclesolve.muscles.paths.kernel import entry as paths
        from musclesolve.trajectory import balance_kernel, chain_kernel, step_kernel

        for function in (contact.SOLVE, contact.RESIST, contact.TOUCH):
            function.load()
        load_all(paths, chain_kernel, balance_kernel, step_kernel)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out pairs of crossed parametrizations, unless a test is named; long tests come first."""
    if not any("::" in part for part in config.args):
        omitted = left_out(items)
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in omitted])
        items[:] = [item for item in items if item.nodeid not in omitted]
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


def load_all(*modules: ModuleType) -> None:
    """Load the compiled functions of some modules, or compile them."""
    from musclesolve._util.compiled_code import CompiledFunction

    for module in modules:
        for function in vars(module).values():
            if isinstance(function, CompiledFunction):
                function.load()


def pytest_collection_finish() -> None:
    """The first process compiles the other half; from now on garbage is looked for, in what tests make alone.

    Every `solve` waits for the kernel: two calls have the same digits.
    """
    monkey = pytest.MonkeyPatch()
    monkey.setattr("musclesolve.sharing.solver.batch.kernel_is_near", lambda: True)
    if os.environ.get("PYTEST_XDIST_WORKER") == "gw0":
        from musclesolve.dynamics.kernel import entry as dynamics
        from musclesolve.sharing import compile_kernel

        compile_kernel()
        load_all(dynamics)
    gc.freeze()
    gc.set_threshold(100_000)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test of a page prints what the page shows."""
    report = yield
    if report.failed and call.when == "call":
        values = [getattr(value, "page", value) for value in item.funcargs.values()]
        pages = dict.fromkeys(value for value in values if hasattr(value, "url"))
        report.sections += [("what the page shows", shown(page)) for page in pages]
    return report


def pytest_sessionfinish() -> None:
    end_browser()
    end_opensim()


@pytest.fixture(scope="session", autouse=True)
def _computed_once() -> Iterator[None]:
    """Parse each text once, compute each set of plates once, and compute trials and samples in this process."""
    with pytest.MonkeyPatch.context() as patch, computed_here():
        compute_once(patch)
        yield


@pytest.fixture
def in_processes() -> Iterator[None]:
    """Trials and samples are computed in processes of their own, for tests of these processes."""
    with computed_in_processes():
        yield


@pytest.fixture(scope="session")
def recorded_walk() -> Path:
    """Folder of the recorded walk; tests that need it are skipped where it is absent."""
    return recorded("rajagopal_walk")


@pytest.fixture(scope="session")
def instrumented_knee() -> Path:
    """Folder of the walks with an instrumented knee; tests that need it are skipped where it is absent."""
    return recorded("instrumented_knee")


@pytest.fixture(scope="session")
def recorded_walk_text(recorded_walk: Path) -> str:
    """The trial file of the recorded walk, wherever its files lie, with the defaults for muscles and cost."""
    text = (REPOSITORY / "tests" / "real" / "rajagopal_walk.toml").read_text(encoding="utf-8")
    return text.replace("../../../shared/data/rajagopal_walk", recorded_walk.as_posix())


@pytest.fixture(scope="session")
def recorded_walk_trial(recorded_walk_text: str, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """The trial of the recorded walk with the muscles of 2003 and the cost stress_cubed."""
    file = tmp_path_factory.mktemp("recorded") / "rajagopal_walk.toml"
    file.write_text(with_silva_2003(recorded_walk_text), encoding="utf-8")
    return read_trial(file)


@pytest.fixture(scope="session")
def default_walk_trial(recorded_walk_text: str, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """The trial of the recorded walk as its file has it."""
    file = tmp_path_factory.mktemp("default") / "rajagopal_walk.toml"
    file.write_text(recorded_walk_text, encoding="utf-8")
    return read_trial(file)


def with_silva_2003(trial_text: str) -> str:
    """A trial file with other muscles and another cost: those of the source, which need reserves on the walk."""
    other = trial_text.replace('database = "gait2392_hip"', 'database = "silva_2003"\npassive = "table"')
    return other.replace('cost = "knee_sparing_activation"', 'cost = "stress_cubed"\nleast_activation = 0')


@pytest.fixture(scope="session")
def model_folder() -> Path:
    """Folder of the public models and their sampled geometry; tests that need it are skipped where it is absent."""
    return recorded("opensim_models")


@pytest.fixture(scope="session")
def addbiomechanics() -> Path:
    """Folder of results of AddBiomechanics; tests that need it are skipped where it is absent."""
    return recorded("addbiomechanics")


@pytest.fixture(scope="session")
def public_model(model_folder: Path) -> Callable[[str], Any]:
    """Reads one of the public models, once."""
    return cache(lambda name: read_osim(model_folder / f"{name}.osim"))


@pytest.fixture(scope="session")
def stride_result() -> Any:
    """The result of the bundled stride with the usual choices; a test that changes it copies it first."""
    return run(reference_stride())


@pytest.fixture(scope="session")
def model() -> Model:
    """The standard subject."""
    return human_model()


@pytest.fixture(scope="session")
def motion(model: Model):
    """A smooth random motion of all 44 degrees of freedom, one second."""
    rng = np.random.default_rng(20)
    time = np.linspace(0.0, 1.0, 41)
    amplitude, phase = rng.normal(size=(2, 44, 3))
    waves = [0.25 * amplitude[:, k] * np.sin(2.0 * (k + 1) * time[:, None] + phase[:, k]) for k in range(3)]
    return differentiate(model, time, np.sum(waves, axis=0))


@pytest.fixture(scope="session")
def wrenches(motion) -> list[Wrench]:
    """Random forces and moments on both feet."""
    rng = np.random.default_rng(21)
    size = (len(motion.time), 3)
    return [
        Wrench(f"foot_{side}", 500.0 * rng.normal(size=size), 50.0 * rng.normal(size=size)) for side in "rl"
    ]
