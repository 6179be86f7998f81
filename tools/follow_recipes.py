"""Follow the recipes of CONTRIBUTING.md to the letter in a copy of the repository, and run the tests there.

All tests without arguments; arguments go to pytest: `python tools/follow_recipes.py tests/sharing -x`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def follow_recipes(root: Path) -> int:
    """Do in a copy of the repository what the first line of every block says; returns the number of blocks."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:python|toml|markdown)\n# ([^\n]*)\n(.*?)```", text, flags=re.DOTALL)
    for place, code in blocks:
        if place.startswith("new file: "):
            (root / place.removeprefix("new file: ")).write_text(code, encoding="utf-8")
        elif place.startswith("at the end of "):
            with (root / place.removeprefix("at the end of ")).open("a", encoding="utf-8") as file:
                file.write("\n" + code)
        else:
            name, line = place.removeprefix("in ").split(", after: ")
            before = (root / name).read_text(encoding="utf-8")
            if before.count(line + "\n") != 1:
                raise ValueError(f"{name} has no single line {line!r}")
            (root / name).write_text(before.replace(line + "\n", line + "\n" + code), encoding="utf-8")
    return len(blocks)


def main(words: list[str]) -> int:
    """Copy the repository, follow the recipes, and run pytest with these words; returns its exit code."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "musclesolve"
        for name in listed.stdout.splitlines():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
        follow_recipes(copy)
        tables = [sys.executable, "tools/settings_tables.py"]
        subprocess.run(tables, cwd=copy, env=os.environ | {"PYTHONPATH": str(copy)}, check=True)
        data = os.environ.get("MUSCLESOLVE_DATA", str(ROOT.parent / "shared" / "data"))
        environment = os.environ | {"PYTHONPATH": str(copy), "MUSCLESOLVE_DATA": data}
        command = [sys.executable, "-m", "pytest", "-n", "2", *(words or ["tests"])]
        return subprocess.run(command, cwd=copy, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
