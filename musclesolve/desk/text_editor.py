"""Editor of the text of a file: what is typed and not applied stays while the page is drawn anew."""

from collections.abc import Callable
from pathlib import Path

from nicegui import ui

CHANGED = "The file has changed since you began to type: Apply replaces it, Discard shows it."


class TextEditor:
    """Editor of the files of one window.

    Attributes:
        opened: files whose editor has been opened in the page.
    """

    def __init__(self) -> None:
        self.opened = set[Path]()
        self._drafts: dict[Path, tuple[str, str]] = {}  # the text that typing began with, and what is typed

    def show(
        self, path: Path, text: str, apply: Callable[[str], object], redraw: Callable[[], object], button: str
    ) -> None:
        """Draw the editor with what is typed, or the text of the file where nothing is.

        Args:
            path: of the file.
            text: of the file now.
            apply: called with the typed text by the button named `button`; draws the editor anew where it is taken.
            redraw: draws the editor anew; called once the typed text is discarded.
        """
        began, typed = self._drafts.get(path, (text, text))
        if typed == text:
            self._drafts.pop(path, None)
            began = text

        def keep(typed: str) -> None:
            if typed == text:
                self._drafts.pop(path, None)
            else:
                self._drafts[path] = began, typed

        def discard() -> None:
            self._drafts.pop(path, None)
            redraw()

        if began != text:
            ui.label(CHANGED).classes("ms-verdict ms-warning").props('role="status"')
        editor = ui.codemirror(
            typed, on_change=lambda event: keep(event.value), language="TOML", theme="githubLight"
        ).classes("ms-text")
        with ui.row():
            ui.button(button, on_click=lambda: apply(editor.value))
            ui.button("Discard", on_click=discard).props("flat")
