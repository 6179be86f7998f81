"""The live page as a sink: frames go into a ring that the process of the page reads."""

import math
import secrets
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic
from typing import Any

from musclesolve._util.messages import capitalized
from musclesolve._util.processes import block_sigint, one_thread_each
from musclesolve.apps.live.live import Frame, Live
from musclesolve.apps.live.page.page_settings import PageSettings
from musclesolve.apps.live.page.page_state import BYTES, SHOWN, FrameRing, Order, PageSetup, row_type
from musclesolve.apps.live.stream import WAIT, Arrival
from musclesolve.errors import InputError, input_error, not_installed

PACKAGES = ("starlette", "uvicorn", "websockets")
SAID_FOR = 6.0
"""Time for which the page shows a sentence that was said to it [s]."""
GRACE = 5.0
"""Time for the process of the page to end [s]."""
FIRST_BROWSER = 60.0
"""Time for which a recording waits for a browser [s]."""


class LivePage:
    """A page with the moving picture, curves, steps and biofeedback, for browsers of this computer alone.

    Its process starts at once and loads its modules while a `Live` is prepared; `begin` then takes little time. In a
    script make it below `if __name__ == "__main__":`, because the process reads the script.

    Args:
        settings: file (JSON) from which the choices made on the page are read, and to which they are written.
        port: of 127.0.0.1; 0: a free one.
        opens: whether `begin` opens the page in the browser.
        announce: called with the address once it is known.

    Attributes:
        address: of the page, with the token without which nothing is shown; "" before `begin`.
    """

    def __init__(
        self,
        settings: str | Path | None = None,
        port: int = 0,
        opens: bool = True,
        announce: Callable[[str], object] = lambda address: None,
    ) -> None:
        if missing := [name for name in PACKAGES if find_spec(name) is None]:
            raise not_installed("The live page needs", missing[0], "live", where="--page")
        self.settings = None if settings is None else Path(settings)
        self.port, self.opens, self.announce, self.address = port, opens, announce, ""
        context = get_context("spawn")
        self._memory = context.RawArray("b", BYTES)
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._memory), daemon=True)
        with one_thread_each(), block_sigint():
            self._process.start()
        theirs.close()
        self._ring: FrameRing | None = None
        self._said, self._said_until = "", math.inf

    def begin(self, live: Live) -> None:
        """Serve the page of a session; nothing when it is served already.

        It takes about a second: call it before streams are opened, and their samples need not wait.
        """
        if self._ring is not None:
            return
        setup, kind = PageSetup.from_live(live), row_type(live)
        settings = PageSettings.read(self.settings, setup.keys)
        token = secrets.token_urlsafe(24)
        try:
            self._connection.send(Order(setup, settings, self.settings, kind, self.port, token, self.opens))
            answer, text = self._connection.recv()
        except (EOFError, OSError):
            raise input_error(
                "bad_environment",
                problem="the process of the live page has ended before it could serve it",
                remedy='in a script call this below `if __name__ == "__main__":`; else run without the page',
            ) from None
        if answer == "refused":
            raise input_error(
                "bad_environment",
                problem=f"port {self.port} of 127.0.0.1 cannot be used: {text}",
                expected="a free port",
                remedy="state another port, or none for one that is free",
            )
        self._ring, self.address = FrameRing(self._memory, kind), text
        self.announce(text)

    def wait_for_browser(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Wait until the first browser shows the page, a minute at most; call it once, after `begin`.

        Args:
            stop: called ten times a second; true ends the wait.

        Returns:
            Whether a browser shows the page.
        """
        until = monotonic() + FIRST_BROWSER
        while monotonic() < until and not stop():
            if self._connection.poll(WAIT):
                try:
                    return bool(self._connection.recv() == SHOWN)
                except (EOFError, OSError):
                    return False  # the process of the page has ended
        return False

    def take(self, arrival: Arrival, frame: Frame) -> None:
        """Put a frame into the ring."""
        if self._ring is None:
            return
        if self._said and self._said_until == math.inf:  # the first frame with it
            self._said_until = arrival.received + SAID_FOR
        if arrival.received > self._said_until or self._said in frame.faults:
            # these the page shows while they last
            self._said = ""
        self._ring.write(arrival.received, frame, self._said)

    def say(self, sentence: str) -> None:
        """Show a sentence on the operator's page beside the next frames, for `SAID_FOR`."""
        self._said_until, self._said = math.inf, sentence

    def refuse(self, error: InputError) -> None:
        """Tell the browsers why the session ends."""
        with suppress(OSError):  # the process of the page may have ended
            self._connection.send(f"{capitalized(error.problem)}. {capitalized(error.remedy or '')}".strip())

    def close(self) -> None:
        """Tell the browsers that the session has ended, and end the process; nothing when it has ended."""
        if self._connection.closed:
            return
        self._connection.close()
        self._process.join(GRACE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


def _serve(connection: Connection, memory: Any) -> None:
    """Run the process of the page; it loads the server's packages, which this process does not need."""
    from musclesolve.apps.live.page.server import serve

    serve(connection, memory)
