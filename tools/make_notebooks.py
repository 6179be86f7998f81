"""The notebooks of examples/: each is made of the script of its name, executed, and stored with small, lasting outputs.

    pip install -e '.[notebook]' && python tools/make_notebooks.py [NAME ...]

A script with lines `# %% what follows` is one. Its docstring and the text behind the marks become Markdown, what stands
between them the cells of code, so that script and notebook cannot differ (`tests/examples/test_notebooks.py`). Outputs
are stored without what changes from run to run or from machine to machine: folders, random ids, messages on stderr.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
MARK = re.compile(r"^# %%(.*)$", flags=re.MULTILINE)
RANDOM_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
Json = dict[str, Any]


def scripts() -> list[Path]:
    """The scripts of which there are notebooks."""
    return [path for path in sorted(EXAMPLES.glob("*.py")) if MARK.search(path.read_text(encoding="utf-8"))]


def cells_of(script: Path) -> list[tuple[str, str]]:
    """Kind ("markdown" or "code") and text of the cells that a script is made of."""
    text = script.read_text(encoding="utf-8")
    title, _, about = (ast.get_docstring(ast.parse(text)) or script.stem).partition("\n\n")
    cells = [("markdown", f"# {title.rstrip('.')}\n\n{about}")]
    _, *parts = MARK.split(text)  # a mark's text and what follows it by turns
    for heading, code in zip(parts[::2], parts[1::2], strict=True):
        cells += [("markdown", f"**{heading.strip()}**")] if heading.strip() else []
        cells.append(("code", code.strip("\n")))
    return cells


def executed(script: Path) -> Json:
    """The notebook of a script, run in a copy of the folder of examples."""
    import nbformat
    from nbclient import NotebookClient

    new = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    notebook = nbformat.v4.new_notebook(cells=[new[kind](text) for kind, text in cells_of(script)])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(EXAMPLES, Path(folder) / "examples", ignore=shutil.ignore_patterns("*.ipynb"))
        client = NotebookClient(
            notebook, record_timing=False, resources={"metadata": {"path": str(copy)}}, timeout=600
        )
        client.execute()
        return lasting(json.loads(nbformat.writes(notebook)), (str(copy), str(ROOT)))


def lasting(notebook: Json, folders: tuple[str, ...]) -> Json:
    """Return the notebook without the outputs of one run or one machine."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook["metadata"] = {"kernelspec": kernel, "language_info": {"name": "python"}}
    known: dict[str, str] = {}
    for number, cell in enumerate(notebook["cells"], start=1):
        cell["id"], cell["metadata"] = f"cell-{number}", {}
        if cell["cell_type"] == "code":
            kept = [each for each in cell["outputs"] if each.get("name") != "stderr"]
            text = json.dumps(kept, ensure_ascii=False)
            for folder in folders:
                text = text.replace(f"{folder}{os.sep}", "")
            text = RANDOM_ID.sub(lambda found: known.setdefault(found[0], f"id-{len(known)}"), text)
            cell["outputs"] = json.loads(text)
    return notebook


def main(names: list[str]) -> None:
    """Write the notebooks of these names, or all of them."""
    for script in scripts():
        if not names or script.stem in names:
            path = script.with_suffix(".ipynb")
            text = json.dumps(executed(script), indent=1, ensure_ascii=False)
            path.write_text(text + "\n", encoding="utf-8")
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
