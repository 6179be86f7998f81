"""The server of the page, in a process of its own: it reads frames from the ring and sends the newest ones.

Starlette on uvicorn with websockets: small, without dependencies beyond these, and what NiceGUI stands on too, so that
a page made with that can be mounted beside this one. Everything lies in two pages of HTML; no file is served.

A browser confirms each message once it has drawn it, and gets the next one after that: one that is slow gets fewer
pictures, with all samples of the curves between them, one that has vanished gets none. No other browser waits for it.
"""

import asyncio
import base64
import contextlib
import hashlib
import json
import os
import re
import signal
import socket
import webbrowser
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from importlib import resources
from multiprocessing.connection import Connection
from threading import Thread
from time import perf_counter
from typing import Any

import numpy as np
import uvicorn
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from musclesolve.apps.live.page.page_settings import DURING, MOST_CURVES, SPANS, VALUES, PageSettings
from musclesolve.apps.live.page.page_state import SHOWN, FrameRing, Order, PageState
from musclesolve.apps.page_access import HOST, refusal_of
from musclesolve.errors import InputError
from musclesolve.laboratory.report.picture.encoded import json_text
from musclesolve.laboratory.report.picture.moving_picture import picture_html
from musclesolve.laboratory.report.rendering import filled

NICE = 5
"""Lower priority of the page: where cores are scarce, the session comes first."""
POLL = 0.004
"""Interval at which the ring is read [s]."""
PERIOD = 0.0145
"""Least time between messages to a browser [s]: with `POLL` sixty a second."""
HEARTBEAT = 0.25
"""Interval of messages with the age of the newest sample while none comes [s]."""
LATENCIES = 120
"""Number of the last latencies, from the arrival of a sample to its picture, in the median."""
END_MESSAGE_S = 1.0
"""Time for the browsers to receive the last message of the session [s]."""
LARGEST_MESSAGE = 65536
"""Bytes of a message from a browser."""


@dataclass(eq=False)
class Client:
    """A browser: the data it received, and whether it has drawn it."""

    sees_all: bool
    news: asyncio.Event = field(default_factory=asyncio.Event)
    drawn: asyncio.Event = field(default_factory=asyncio.Event)
    number: int = -1  # of the newest frame that it was sent
    received: float = np.nan  # when its sample arrived
    version: int = -1  # of the settings that it was sent
    gone: bool = False
    latency: deque[float] = field(default_factory=lambda: deque(maxlen=LATENCIES))


def serve(connection: Connection, memory: Any) -> None:
    """Serve the page that the session orders until the connection ends; the function of the page's process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the session, which then ends this
    if hasattr(os, "nice"):
        os.nice(NICE)
    # whenever the session ends, its end of the connection is closed, and this process ends, too
    with contextlib.suppress(EOFError, ConnectionError), contextlib.ExitStack() as closing:
        order: Order = connection.recv()
        try:
            listening = closing.enter_context(socket.create_server((HOST, order.port), backlog=64))
        except OSError as error:
            connection.send(("refused", os.strerror(error.errno) if error.errno else str(error)))
            return
        server = PageServer(order, FrameRing(memory, order.kind), listening.getsockname()[1])
        connection.send(("ready", server.address))
        if order.opens:
            Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
        asyncio.run(server.run(listening, connection))


class _Quiet(uvicorn.Server):
    """A server that leaves signals alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class PageServer:
    """The pages of operator and subject, and the stream of messages to each browser."""

    def __init__(self, order: Order, ring: FrameRing, port: int) -> None:
        self.order, self.ring, self.port = order, ring, port
        self.state = PageState(order.setup, order.settings)
        self.clients: set[Client] = set()
        self.version, self.ended = 0, False
        self.shown = asyncio.Event()  # set when the first browser has drawn the page
        self.trouble = ""  # reason why choices were not written to their file
        self.reason = ""  # why the session was refused
        self.pages = {"/": self._operator_page(), "/subject": self._subject_page()}

    @property
    def address(self) -> str:
        """Address of the operator's page, with its token."""
        return f"http://{HOST}:{self.port}/?token={self.order.token}"

    async def run(self, listening: socket.socket, connection: Connection) -> None:
        """Serve until `connection` ends."""
        routes = [Route(path, self._page) for path in self.pages]
        app = Starlette(routes=[*routes, WebSocketRoute("/stream", self._stream)])
        config = uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            lifespan="off",
            ws_max_size=LARGEST_MESSAGE,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=1,
        )
        server, loop, over = _Quiet(config), asyncio.get_running_loop(), asyncio.Event()

        def listen() -> None:
            with contextlib.suppress(EOFError, OSError):
                self.reason = connection.recv()
            loop.call_soon_threadsafe(over.set)

        async def say_shown() -> None:
            await self.shown.wait()
            with contextlib.suppress(OSError):  # the session may have ended
                connection.send(SHOWN)

        Thread(target=listen, daemon=True).start()
        saying = asyncio.create_task(say_shown())
        pumping = asyncio.create_task(self._pump())
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        await over.wait()
        pumping.cancel()
        saying.cancel()
        self._read()
        self.ended = True
        for client in self.clients:
            client.drawn.set()  # whatever it was sent before, it gets the last message
        self._notify()
        for _ in range(round(END_MESSAGE_S / POLL)):
            if not self.clients:
                break
            await asyncio.sleep(POLL)
        server.should_exit = True
        await serving

    def _refusal(self, request: HTTPConnection) -> str:
        """The reason why a request is refused, "" for none."""
        token = request.query_params.get("token", "")
        return refusal_of(request.headers, self.port, token, self.order.token, "the session")

    async def _page(self, request: Request) -> Response:
        if refusal := self._refusal(request):
            return PlainTextResponse(f"Refused: {refusal}.", 403, {"Cache-Control": "no-store"})
        text, policy = self.pages[request.url.path]
        return HTMLResponse(
            text,
            headers={
                "Content-Security-Policy": policy,
                "Referrer-Policy": "no-referrer",
                "X-Content-Type-Options": "nosniff",
                "Cache-Control": "no-store",
            },
        )

    def _operator_page(self) -> tuple[str, str]:
        state, setup = self.state, self.order.setup
        picture = picture_html(
            state.base, "live", state.page_data, _source("link.js", "feedback.js", "curves.js", "operator.js")
        )
        return _with_policy(
            filled(
                _source("operator.html"),
                title=setup.title,
                subtitle=setup.subtitle,
                style=Markup(_source("live.css")),
                picture=Markup(picture),
                quantities=Markup(json_text([shown.about for shown in state.every.values()])),
                curves=MOST_CURVES,
                spans=SPANS,
                values=VALUES,
                during=DURING,
            )
        )

    def _subject_page(self) -> tuple[str, str]:
        return _with_policy(
            filled(
                _source("subject.html"),
                title=self.order.setup.title,
                style=Markup(_source("live.css")),
                quantities=Markup(json_text([shown.about for shown in self.state.every.values()])),
                script=Markup(_source("link.js", "feedback.js", "subject.js")),
            )
        )

    async def _pump(self) -> None:
        """Read the ring, and wake the browsers sixty times a second at most."""
        last, fresh = 0.0, False
        while True:
            await asyncio.sleep(POLL)
            fresh, now = self._read() or fresh, perf_counter()
            if now - last >= (PERIOD if fresh else HEARTBEAT):
                last, fresh = now, False
                self._notify()

    def _read(self) -> bool:
        rows, lost = self.ring.read()
        self.state.take(rows, lost)
        return len(rows) > 0

    def _notify(self) -> None:
        for client in self.clients:
            client.news.set()

    async def _stream(self, stream: WebSocket) -> None:
        """Send messages to a browser, each after it has drawn the one before."""
        if self._refusal(stream):
            await stream.close(1008)
            return
        await stream.accept()
        client = Client(sees_all=stream.query_params.get("view") != "subject")
        self.clients.add(client)
        listening = asyncio.create_task(self._listen(stream, client))
        client.news.set()
        try:
            while not client.gone:
                await client.news.wait()
                client.news.clear()
                if client.gone:
                    break
                client.drawn.clear()
                before, message = client.number, self._message(client)
                await stream.send_text(json_text(message))
                if message["ended"]:
                    break
                await client.drawn.wait()
                if client.number > before and not client.gone:
                    client.latency.append(perf_counter() - client.received)
        except (WebSocketDisconnect, RuntimeError, OSError):
            pass  # the browser has gone
        finally:
            self.clients.discard(client)
            listening.cancel()
            with contextlib.suppress(RuntimeError, OSError):
                await stream.close()

    def _message(self, client: Client) -> dict[str, Any]:
        """Return the message of new data for a browser."""
        state = self.state
        message: dict[str, Any] = {
            "number": state.number,
            "ended": self.ended,
            "reason": self.reason if client.sees_all else "",
            "status": state.status(perf_counter())
            | {"latency": _median(client.latency), "trouble": self.trouble},
            "feedback": state.feedback(),
        }
        since = client.number
        if client.version != self.version:
            client.version, since = self.version, -1
            message["settings"] = asdict(state.settings)
        if client.sees_all:
            message["curves"] = state.packed_curves(since) | {"anew": since < 0}
            message["notes"], message["faults"] = state.notes, state.faults
            if state.number > client.number:
                message["picture"] = state.picture()
        client.number, client.received = state.number, state.received
        return message

    async def _listen(self, stream: WebSocket, client: Client) -> None:
        """Take what a browser says: that it has drawn, or other settings."""
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
            while True:
                try:
                    said = json.loads(await stream.receive_text())
                except (ValueError, RecursionError, KeyError):  # neither JSON nor text
                    continue
                if not isinstance(said, dict):
                    continue
                if "drawn" in said:
                    client.drawn.set()
                    self.shown.set()
                if "settings" in said:
                    self._choose(said["settings"])
        client.gone = True
        client.drawn.set()
        client.news.set()

    def _choose(self, stated: Any) -> None:
        """Take other settings, for all browsers; instead of those that cannot be they get the old ones."""
        with contextlib.suppress(InputError):
            self.state.settings = PageSettings.from_document(stated, self.order.setup.keys)
            self.trouble = ""
            if self.order.file is not None:
                try:
                    self.state.settings.write(self.order.file)
                except InputError as error:
                    self.trouble = f"These choices are not kept: {self.order.file}: {error.problem}"
        self.version += 1
        self._notify()


def _median(latencies: deque[float]) -> float | None:
    known = [latency for latency in latencies if np.isfinite(latency)]
    return float(np.median(known)) if known else None


def _source(*names: str) -> str:
    folder = resources.files(__package__).joinpath("web")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def _with_policy(page: str) -> tuple[str, str]:
    """A page, and the policy under which its own scripts run and nothing from elsewhere is loaded."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return page, policy
