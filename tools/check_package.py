"""Build wheel and sdist, check their metadata, install the wheel into an empty environment, use it elsewhere.

What a user gets with `pip install` is neither this checkout nor its test extra: a file that is missing in the wheel, or
a dependency that only the tests install, shows here. `dist/` keeps what was built.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
SCRIPT = """
import musclesolve as ms
from musclesolve.data import reference_stride

result = ms.run(reference_stride(), side="r")
assert bool(result.valid.all()), "the reference stride has frames without a solution"
print(f"musclesolve {ms.__version__}: {result.sizes['time']} frames, gap {float(result.gap.max()):.1e}")
"""


def main() -> None:
    """Build, install, use; the first step that fails ends with its own message."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, sdist = build()
        check_contents(wheel, sdist)
        run([sys.executable, "-m", "twine", "check", "--strict", wheel, sdist])
        python = environment(folder / "env", wheel)
        elsewhere = folder / "elsewhere"
        elsewhere.mkdir()
        run([python, "-m", "musclesolve", "demo", "-o", "demo-output"], cwd=elsewhere)
        if not (elsewhere / "demo-output" / "result.nc").is_file():
            sys.exit("the demo wrote no result.nc")
        run([python, "-c", SCRIPT], cwd=elsewhere)
    print(f"{wheel.name} and {sdist.name} are in {DIST}")


def build() -> tuple[Path, Path]:
    """Build both into an empty `dist` and return their paths."""
    for old in DIST.glob("musclesolve-*"):
        old.unlink()
    run([sys.executable, "-m", "build", "--outdir", DIST, ROOT])
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    return wheel, sdist


def check_contents(wheel: Path, sdist: Path) -> None:
    """Every file that git tracks in the packages is in both, and nothing compiled is."""
    tracked = run(
        ["git", "ls-files", "musclesolve", "muscle_db"], cwd=ROOT, capture_output=True
    ).stdout.split("\n")
    wanted = {line for line in tracked if line}
    with zipfile.ZipFile(wheel) as file:
        in_wheel = set(file.namelist())
    with tarfile.open(sdist) as file:
        in_sdist = {name.partition("/")[2] for name in file.getnames()}
    for built, names in ((wheel, in_wheel), (sdist, in_sdist)):
        if missing := sorted(wanted - names):
            sys.exit(f"{built.name} lacks {', '.join(missing)}")
        if compiled := [name for name in names if name.endswith((".pyc", ".nbi", ".nbc"))]:
            sys.exit(f"{built.name} holds {', '.join(compiled)}")


def environment(folder: Path, wheel: Path) -> Path:
    """Return the Python of a new environment that holds the wheel and what it asks for, nothing else."""
    run([sys.executable, "-m", "venv", folder])
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel])
    return python


def run(command: list[object], **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command; its failure is ours."""
    own = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    words = [str(word) for word in command]
    done = subprocess.run(words, check=False, text=True, env=own, **options)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{' '.join(words[:4])} ... ended with exit code {done.returncode}")
    return done


if __name__ == "__main__":
    main()
