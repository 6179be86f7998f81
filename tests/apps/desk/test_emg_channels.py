"""Channels of EMG on the desk: what their names suggest, and what is written when muscles and legs are chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import musclesolve as ms
from musclesolve.apps.desk.desk import Desk
from musclesolve.apps.desk.steps.emg_step import Shown, shown, state, stating, suggested
from musclesolve.laboratory.draft.folder_contents import folder_contents


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """With a walk and EMG of which no name states the leg."""
    ms.studies.synthetic_recording(tmp_path, truth=False).unlink()
    time = np.arange(0.0, 2.0, 0.001)
    signals = np.random.default_rng(1).normal(size=(time.size, 3))
    rows = "\n".join(",".join(f"{x:.6g}" for x in row) for row in np.column_stack([time, signals]))
    (tmp_path / "emg.csv").write_text(f"time,RF,TA,OTHER\n{rows}\n", encoding="utf-8")
    desk = Desk(tmp_path)
    desk.accept(desk.drafted(), replace=False)
    return desk


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("soleus_l", Shown(("soleus",), "l")),
        (["vastus_medialis_r", "vastus_lateralis_r"], Shown(("vastus_medialis", "vastus_lateralis"), "r")),
        (["soleus_r", "soleus_l"], Shown(("soleus_r", "soleus_l"))),
        ("soleus", Shown(("soleus",))),
    ],
)
def test_a_value_of_the_trial_file_is_muscles_and_a_leg(value, meant):
    assert shown(value) == meant
    assert meant.value in (value, None)


def test_channels_without_a_leg_wait_and_count_once_it_is_chosen(desk: Desk):
    assert desk.trial is not None
    (file,) = folder_contents(desk.folder.path).emg
    rows = suggested(file)
    assert rows["RF"] == Shown(("rectus_femoris",)) and rows["OTHER"] == Shown()
    assert state(desk) == "open" and desk.trial.value("emg") is None
    desk.state_all(stating(desk.trial, file, {"RF": Shown(("rectus_femoris",), "l")}))
    assert state(desk) == "done"
    assert desk.trial.value("emg") == {
        "file": "emg.csv",
        "processed": False,
        "channels": {"RF": "rectus_femoris_l"},
    }
    desk.state_all(
        {("subject", "mass_kg"): 70.0, ("subject", "stature_m"): 1.75, ("subject", "sex"): "female"}
    )
    emg = ms.read_trial(desk.trial.path).emg
    assert emg is not None and emg.muscles == (("rectus_femoris_l",),)
    desk.state_all(stating(desk.trial, file, {"RF": Shown()}))
    assert desk.trial.value("emg") is None and state(desk) == ""
