"""The road to muscle forces: what must be read, entered and opened, and the size of the package; figures, no gate.

    python tools/road.py

`to read`: files that the docstring of `musclesolve/laboratory/forces.py` lists. `entered`: functions of the
package that a call
enters, seen by a profile hook, in the run of the bundled stride, warm. `opened`: times that the run opens each file of
the recording, seen by an audit hook.
"""

from __future__ import annotations

import ast
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import musclesolve as ms
from musclesolve.laboratory.forces import muscle_forces

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "musclesolve"
ROAD = PACKAGE / "laboratory" / "forces.py"
GOALS = {
    "to read for muscle forces": "15 files, 4000 lines",
    "entered by the stages": "350 functions, 4500 lines",
    "entered by ms.run": "900 functions in 120 files",
    "opened, each input": "1",
    "ms.run of the bundled stride, warm": "330 ms",
}

VAGUE = {"found", "own", "given", "each", "asked", "told"}
"""Names that say nothing of what they are: nouns of the thing are better."""


def lines(files: Iterable[Path]) -> int:
    """The number of lines of some files."""
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def listed() -> list[Path]:
    """The files that the docstring of the road names, one path in each line that has a path."""
    text = ast.get_docstring(ast.parse(ROAD.read_text(encoding="utf-8"))) or ""
    words = {word.strip("`,.;:()") for word in text.split()}
    return [ROAD, *sorted(PACKAGE / word for word in words if word.endswith(".py"))]


def entered(call: Callable[[], Any]) -> set[CodeType]:
    """The functions of the package that a call enters."""
    codes: set[CodeType] = set()

    def see(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    inner = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>", "<module>")
    return {code for code in codes if code.co_filename.startswith(str(PACKAGE)) and code.co_name not in inner}


def length(code: CodeType) -> int:
    """The number of lines of a function."""
    return max(line for _, _, line in code.co_lines() if line) - code.co_firstlineno + 1


def opened(call: Callable[[], Any], folder: Path) -> Counter[str]:
    """How often a call opens each file of a folder for reading."""
    counts: Counter[str] = Counter()
    active = True

    def see(event: str, arguments: tuple[Any, ...]) -> None:
        if active and event == "open" and isinstance(arguments[0], str | Path):
            path = Path(arguments[0])
            if path.parent == folder:
                counts[path.name] += 1

    sys.addaudithook(see)
    call()
    active = False
    return counts


def imported(file: Path) -> int:
    """The number of modules of the package that a file imports."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return sum(name.startswith(("musclesolve", ".")) for name in names)


def deep_imports(file: Path) -> int:
    """The number of statements that import from a module inside a package of the package, not from a facade."""
    modules = re.findall(
        r"^\s*from (musclesolve(?:\.\w+){2,}) import", file.read_text(encoding="utf-8"), re.M
    )
    return sum(not (ROOT / name.replace(".", "/") / "__init__.pyi").exists() for name in modules)


def public_names() -> int:
    """The number of names that `ms` and its packages offer."""
    stubs = [path for path in PACKAGE.rglob("__init__.pyi") if len(path.relative_to(PACKAGE).parts) < 3]
    return sum(
        len(node.names)
        for stub in stubs
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
    )


def counts() -> dict[str, int]:
    """The size of the package: lines, public names, bindings of vague names, records of one module.

    Bindings: variables and parameters. Records: dataclasses and named tuples that only the module that defines them
    names; often a variable, a tuple or a function would do.
    """
    package = list(PACKAGE.rglob("*.py"))
    vague, records, named = 0, Counter[str](), Counter[str]()
    for file in package:
        names, defined = set[str](), set[str]()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                defined.add(node.name)
                heads = ast.unparse(ast.Tuple([*node.bases, *node.decorator_list]))
                records[node.name] += "NamedTuple" in heads or "dataclass" in heads
            elif isinstance(node, ast.arg):
                vague += node.arg in VAGUE
            elif isinstance(node, ast.alias):
                names.add(node.name)
            elif isinstance(node, ast.Name):
                names.add(node.id)
                vague += isinstance(node.ctx, ast.Store) and node.id in VAGUE
            elif isinstance(node, ast.Attribute):
                names.add(node.attr)
        named.update(names - defined)
    return {
        "Python, package and muscle_db": lines([*package, *(ROOT / "muscle_db").rglob("*.py")]),
        "public names": public_names(),
        "bindings of vague names": vague,
        "records of one module": sum(not named[name] for name, is_record in records.items() if is_record),
    }


def main() -> None:
    """Print the road and its goals."""
    trial = ms.data.reference_stride()
    ms.run(trial, cost="stress_cubed")  # compiles and loads what is loaded once
    seconds = []
    for _ in range(7):
        start = time.process_time()
        ms.run(trial, cost="stress_cubed")
        seconds.append(time.process_time() - start)
    run = entered(lambda: ms.run(trial, cost="stress_cubed"))
    reads = opened(lambda: ms.run(trial, cost="stress_cubed"), Path(trial).parent)
    shown = {name: str(count) for name, count in counts().items()}
    shown |= {
        "entered by ms.run": f"{len(run)} functions in {len({code.co_filename for code in run})} files",
        "opened, each input": ", ".join(f"{name} {count}" for name, count in sorted(reads.items())),
        "modules imported by one file, most": str(max(map(imported, PACKAGE.rglob("*.py")))),
        "deep imports of the tests": str(sum(map(deep_imports, (ROOT / "tests").rglob("*.py")))),
        "TOML of the package": f"{lines(PACKAGE.rglob('*.toml'))} lines",
        "ms.run of the bundled stride, warm": f"{1e3 * min(seconds):.0f} ms of processor time",
    }
    read = ms.read_trial(trial)
    stages = entered(lambda: muscle_forces(read, cost="stress_cubed"))
    shown["entered by the stages"] = f"{len(stages)} functions, {sum(map(length, stages))} lines"
    shown["to read for muscle forces"] = f"{len(listed())} files, {lines(listed())} lines"
    for name, value in shown.items():
        print(f"{name:36}{value:60}" + (f"goal {GOALS[name]}" if name in GOALS else ""))


if __name__ == "__main__":
    main()
