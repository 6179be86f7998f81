"""`musclesolve warm` knows every module with compiled functions."""

from __future__ import annotations

from pathlib import Path

import musclesolve
from musclesolve.cli.commands.desk_commands import KERNELS


def test_every_module_with_compiled_functions_is_warmed():
    root = Path(musclesolve.__file__).parent
    found = {
        ".".join(path.relative_to(root.parent).with_suffix("").parts)
        for path in root.rglob("*.py")
        if any(" CompiledFunction(" in line for line in path.read_text(encoding="utf-8").splitlines())
    }
    assert found == set(KERNELS)
