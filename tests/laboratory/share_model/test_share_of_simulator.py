"""`musclesolve share` of models of other programs, on a pendulum of two muscles that needs none of these programs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from command_line import typed
from refusals import refused

import musclesolve as ms
from musclesolve._util.arrays import Array
from musclesolve.laboratory.plotting.result.joint_figures import clinical_sheet
from musclesolve.laboratory.recording.trial_settings import share_arguments
from musclesolve.models.simulated_body import (
    ANGLE,
    Drawing,
    SimulatedModel,
    SimulatedMotion,
    simulated_motion,
    simulated_muscles,
)

ARM, FORCE, MASS, LENGTH = 0.05, 800.0, 3.0, 0.4
FILES = ("leg.xml", "arm.bioMod")


@dataclass(frozen=True, eq=False)
class Pendulum(SimulatedModel):
    """A point mass below a hinge, between a front and a back muscle of constant arms."""

    program: ClassVar[str] = "MuJoCo"
    file: Path | None = None
    positions: tuple[str, ...] = ("hip",)
    units: tuple[str, ...] = (ANGLE,)
    muscles: tuple[str, ...] = ("front", "back")
    mass: float = MASS
    followers: tuple[str, ...] = ()

    @property
    def ranges(self) -> Array:
        return np.array([[-1.0, 1.0]])

    def along(
        self, time: Array, positions: Array, loads: Path | None = None, contacts: Sequence[str] = ()
    ) -> SimulatedMotion:
        frames, rate = len(time), np.gradient(positions, time, axis=0)
        moment = MASS * 9.81 * LENGTH * np.sin(positions)
        arm = np.broadcast_to([ARM, -ARM], (frames, 1, 2))
        ones = np.ones((frames, 2))
        return simulated_motion(
            *(time, [("hip", ANGLE, "thigh")], arm, moment, positions, rate),
            simulated_muscles(self.file, self.muscles, FORCE, 0.2, 0.2, 10.0),
            musculotendon_length=0.4 * ones,
            musculotendon_velocity=0.0 * ones,
            fiber_length=0.2 * ones,
            fiber_velocity=0.0 * ones,
            force_capacity=FORCE * ones,
            passive_force=0.0 * ones,
        )

    def drawing(self, positions: Array) -> Drawing:
        origin = np.zeros((len(positions), 1, 3))
        path = np.broadcast_to([[0.05, 0.0, 0.1], [0.05, 0.0, -0.2]], (len(positions), 2, 3))
        return Drawing(("thigh",), (-1,), origin, dict.fromkeys(self.muscles, path))


@pytest.fixture
def pendulum(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of two models, which are read as pendulums, and of a motion."""
    for reader in (ms.models.mujoco.MujocoModel, ms.models.biorbd.BiorbdModel):
        monkeypatch.setattr(reader, "read", lambda path: Pendulum(file=Path(path)))
    for name in FILES:
        (tmp_path / name).write_text("<mujoco/>", encoding="utf-8")
    rows = "".join(f"{0.02 * k:.2f},{0.3 * np.sin(0.1 * k):.9g}\n" for k in range(20))
    (tmp_path / "q.csv").write_text("time,hip\n" + rows, encoding="utf-8")
    return tmp_path


def share(folder: Path, model: str, *options: object) -> tuple[int, str]:
    """The exit code of the command and what it prints."""
    files = ("--model", folder / model, "--coordinates", folder / "q.csv", "-o", folder / "out")
    found = typed("share", *files, *options, env={"COLUMNS": "300"})
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, " ".join(found.output.split())


@pytest.mark.parametrize("model", FILES)
def test_the_command_writes_result_and_page(pendulum: Path, model: str) -> None:
    code, printed = share(pendulum, model)
    assert code == 0, printed
    out = pendulum / "out"
    assert {path.name for path in out.iterdir()} == {"result.nc", "activations.csv", "report.html"}
    result = ms.read_result(out / "result.nc")
    assert result["valid"].all() and result["muscle"].values.tolist() == ["front", "back"]
    force = result["muscle_force"].values
    due = MASS * 9.81 * LENGTH * np.sin(0.3 * np.sin(0.1 * np.arange(20)))
    np.testing.assert_allclose(ARM * (force[:, 0] - force[:, 1]), due, atol=1e-5)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "come from the model in MuJoCo" in page
    assert not any(words in page for words in ("Skin markers", "Soleus", "a muscle set,"))


def test_every_keyword_is_taken_or_refused_by_name(pendulum: Path) -> None:
    """Also with its usual value: a model that is not filtered must not pass as filtered."""
    taken = {"cost": "force_squared", "solver": "batch", "least_activation": 0.02, "reserve_weight": 3.0}
    taken |= {"contacts": ("floor",), "mass_kg": 70.0}
    for name in {*share_arguments(), *taken, "moments", "side"}:
        value = taken.get(name, "r")
        given = {name: value}
        if name in taken:
            assert ms.share_model(pendulum / "leg.xml", pendulum / "q.csv", **given)["valid"].all()  # type: ignore[arg-type]
        else:
            with refused("conflict", "leg.xml", name):
                ms.share_model(pendulum / "leg.xml", pendulum / "q.csv", **given)  # type: ignore[arg-type]
    with refused("conflict", "loads predicted from the motion"):
        ms.share_model(pendulum / "leg.xml", pendulum / "q.csv", loads="predicted")
    with pytest.raises(TypeError, match="sidde"):
        ms.share_model(pendulum / "leg.xml", pendulum / "q.csv", sidde="r")


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--least-activation", 0.1, "--reserve-weight", 2, "--cost", "min_max"), 0, ""),
        (("--loads", "loads.xml"), 0, ""),
        (("--loads", "none", "--contacts", "floor", "--contacts", "seat"), 0, ""),
        (("--side", "both"), 0, ""),
        (("--cutoff-hz", 6), 2, "only OpenSim models take cutoff_hz "),
        (("--tendon", "rigid", "--coordinate", "hip"), 2, "take tendon, dofs (--coordinate)"),
        (("--moments", "q.csv", "--side", "l"), 2, "only OpenSim models take moments, side"),
        (("--loads", "predicted"), 2, "only OpenSim models take loads predicted from the motion"),
        (("--least-activation", 2), 2, "least_activation"),
        (("--cost", "joint_reaction_squared"), 2, "joint_reaction_squared needs reaction_matrix"),
        (("--solver", "nix"), 2, "nix"),
    ],
)
def test_options_work_or_are_refused(
    pendulum: Path, options: tuple[object, ...], code: int, words: str
) -> None:
    (pendulum / "loads.xml").write_text("<a/>", encoding="utf-8")
    found = [pendulum / str(part) if (pendulum / str(part)).is_file() else part for part in options]
    ended, printed = share(pendulum, "leg.xml", *found)
    assert ended == code and words in printed, printed
    assert (pendulum / "out").exists() == (code == 0)


def test_coordinates_of_another_format_are_named_so(pendulum: Path) -> None:
    (pendulum / "q.xyz").write_text("", encoding="utf-8")
    with refused("bad_format", "q.xyz", "coordinates"):
        ms.share_model(pendulum / "leg.xml", pendulum / "q.xyz")


@pytest.mark.parametrize(("model", "package"), [("leg.xml", "mujoco"), ("arm.bioMod", "biorbd")])
def test_a_package_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / model).write_text("<mujoco/>", encoding="utf-8")
    (tmp_path / "q.csv").write_text("time,hip\n0,0\n0.1,0\n0.2,0\n", encoding="utf-8")
    code, printed = share(tmp_path, model)
    assert code == 2 and f"[{package}]" in printed, printed
    assert not (tmp_path / "out").exists()


def test_figures_without_legs_are_drawn_beside_no_clinical_sheet(pendulum: Path) -> None:
    code, printed = share(pendulum, "leg.xml", "--figures")
    assert code == 0, printed
    drawn = {path.name for path in (pendulum / "out").glob("*.png")}
    assert {"muscle_forces.png", "coordinates_and_moments.png"} <= drawn and "clinical_sheet.png" not in drawn
    with refused("bad_result", "clinical_sheet", "leg"):
        clinical_sheet(ms.read_result(pendulum / "out" / "result.nc"))


@pytest.mark.parametrize(("force", "optimal"), [(0.0, 0.2), (800.0, 0.0)])
def test_muscles_without_strength_or_length_are_refused(force: float, optimal: float) -> None:
    with refused("bad_model", "arm.bioMod", "back", " 0 "):
        simulated_muscles(Path("arm.bioMod"), ("front", "back"), [800.0, force], [0.2, optimal], 0.2, 10.0)
