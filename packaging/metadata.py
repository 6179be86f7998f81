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
NOTEBOOK = "examples/first_forces.ipynb"
LINK = re.compile(r"(\]\(|^\[[^\]]+\]: )(?!https?://|#)([^)\s]+)", re.MULTILINE)
"""A link of Markdown to a file of the repository: `[text](file)`, or `[name]: file` at the beginning of a line."""


class Metadata(MetadataHookInterface):
    """Readme and URLs of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the readme, and the URLs where the repository is known."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = os.environ.get(VARIABLE, "").strip().rstrip("/")
        if repository:
            tag = f"v{metadata['version']}"
            text = with_badges(with_addresses(text, repository, tag), repository, tag)
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


def with_badges(text: str, repository: str, tag: str) -> str:
    """The text with links below its title that open the notebook; as it is, where GitHub is not the host."""
    place = repository.removeprefix("https://github.com/")
    if place == repository:
        return text
    binder = f"https://mybinder.org/v2/gh/{place}/{tag}?labpath={NOTEBOOK}"
    colab = f"https://colab.research.google.com/github/{place}/blob/{tag}/{NOTEBOOK}"
    title, _, rest = text.partition("\n")
    badges = (
        f"[![Binder](https://mybinder.org/badge_logo.svg)]({binder}) "
        f"[![Colab](https://colab.research.google.com/assets/colab-badge.svg)]({colab})"
    )
    return f"{title}\n\n{badges}\n{rest}"


def with_addresses(text: str, repository: str, tag: str) -> str:
    """The text with whole addresses of files at a tag: pictures as they are, other files as pages."""

    def address(match: re.Match[str]) -> str:
        kind = "raw" if match[2].partition("#")[0].endswith(PICTURES) else "blob"
        return f"{match[1]}{repository}/{kind}/{tag}/{match[2]}"

    return LINK.sub(address, text)
