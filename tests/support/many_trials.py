"""Small trials for the tests of many: the bundled stride, cut short, under several names."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

REFERENCE = Path(str(resources.files("musclesolve"))) / "data" / "reference_stride"


def write_stride(folder: Path, name: str = "trial", old: str = "", new: str = "") -> Path:
    """Thirteen frames of the reference stride as NAME.toml, with a piece of its text replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in ("walk.trc", "static.trc", "forces.mot"):
        shutil.copy(REFERENCE / file, folder / file)
    text = (REFERENCE / "trial.toml").read_text(encoding="utf-8")
    assert old in text and "end_s = 1.38333333" in text
    text = text.replace("end_s = 1.38333333", "end_s = 0.50000000").replace(old or new, new)
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder / f"{name}.toml"
