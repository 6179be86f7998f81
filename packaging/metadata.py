"""The parts of the metadata that depend on the address of the repository, for the build (hatchling).

MUSCLESOLVE_REPOSITORY is the address, such as https://github.com/OWNER/musclesolve. With it the package states its
links, and the page on PyPI shows the pictures and pages that README.md names by paths. Without it neither is stated.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "MUSCLESOLVE_REPOSITORY"
PICTURES = (".png", ".svg")
LINK = re.compile(r"(\]\(|^\[[^\]]+\]: )(?!https?://|#)([^)\s]+)", re.MULTILINE)
"""A link of Markdown to a file of the repository: `[text](file)`, or `[name]: file` at the beginning of a line."""


class Metadata(MetadataHookInterface):
    """Readme and URLs of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the readme, and the URLs where the repository is known."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = os.environ.get(VARIABLE, "").strip().rstrip("/")
        if repository:
            text = with_addresses(text, repository, f"v{metadata['version']}")
            metadata["urls"] = urls(repository)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def urls(repository: str) -> dict[str, str]:
    """The addresses that PyPI lists."""
    return {
        "Source": repository,
        "Documentation": f"{repository}/blob/main/docs/index.md",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }


def with_addresses(text: str, repository: str, tag: str) -> str:
    """The text with whole addresses of files at a tag: pictures as they are, other files as pages."""

    def address(match: re.Match[str]) -> str:
        kind = "raw" if match[2].partition("#")[0].endswith(PICTURES) else "blob"
        return f"{match[1]}{repository}/{kind}/{tag}/{match[2]}"

    return LINK.sub(address, text)
