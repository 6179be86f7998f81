"""The server of the desk: NiceGUI on uvicorn, bound to this machine, behind a guard.

NiceGUI because one file in Python makes a page with its events, uploads, a scene in three dimensions and charts,
without a build of JavaScript, because its wheel holds all that a browser loads, so that it works without internet, and
because it stands on starlette and uvicorn, which the live page uses.

The page is open to the browser that received its address, on this machine, and to no other page in it. The address
begins with a token that nobody can guess, `http://127.0.0.1:PORT/TOKEN/`: every page, every file, every upload and the
stream of the page lie below it. Nothing is loaded from elsewhere and no other page may frame this one
(Content-Security-Policy).
"""

import asyncio
import contextlib
import logging
import os
import secrets
import signal
import socket
import webbrowser
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from threading import Thread

import uvicorn
from fastapi import FastAPI
from nicegui import app as pages
from nicegui import ui
from starlette.background import BackgroundTask
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from musclesolve._util.processes import interrupts
from musclesolve.apps.desk.desk import Desk
from musclesolve.apps.desk.result_facts import zipped
from musclesolve.apps.desk.steps.check_step import CHECK
from musclesolve.apps.desk.steps.compare_step import COMPARE
from musclesolve.apps.desk.steps.emg_step import EMG
from musclesolve.apps.desk.steps.events_step import EVENTS
from musclesolve.apps.desk.steps.export_step import EXPORT
from musclesolve.apps.desk.steps.files_step import FILES, SUBJECT
from musclesolve.apps.desk.steps.markers_step import MARKERS
from musclesolve.apps.desk.steps.plates_step import PLATES
from musclesolve.apps.desk.steps.questions_step import QUESTIONS
from musclesolve.apps.desk.steps.result_step import RESULT
from musclesolve.apps.desk.steps.study_step import STUDY
from musclesolve.apps.desk.view import View
from musclesolve.apps.desk.work_folder import LARGEST
from musclesolve.apps.page_access import HOST, refusal_of
from musclesolve.errors import InputError, input_error
from musclesolve.tables.text_file import STORAGE

LOOK = 1.0
"""Interval at which the trial file is checked for changes of other programs [s]."""
POLL = 0.1
"""Interval at which messages of the task process are received [s]."""
STEPS = (FILES, SUBJECT, MARKERS, PLATES, EVENTS, EMG, CHECK, RESULT, QUESTIONS, COMPARE, EXPORT, STUDY)
"""The steps of the desk, in their order."""
SHOWN = (".html", ".png", ".svg", ".pdf", ".csv", ".nc", *STORAGE, ".mat", ".parquet", ".toml")
"""Suffixes of files that the page may show or send."""
CONTAINED = (
    "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; script-src 'unsafe-inline' blob: data:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; worker-src blob:"
)
"""Security policy of a shown report: its own scripts run and print, without access to the desk or to anything else."""


def serve(folder: Path, port: int, opens: bool, announce: Callable[[str], None]) -> None:
    """Serve the desk until Ctrl-C, SIGTERM, SIGHUP or the button that closes it.

    Args:
        folder: with the recordings.
        port: 0 for any that is free.
        opens: whether a browser is opened.
        announce: called with the address.
    """
    logging.getLogger("nicegui").setLevel(logging.ERROR)  # no log line for every missing page
    made = not folder.exists()
    try:
        desk = Desk(folder)
        with contextlib.closing(_listening(port)) as listening:
            port, token = listening.getsockname()[1], secrets.token_urlsafe(24)
            config = uvicorn.Config(
                Guard(_application(desk, token), token, port, LARGEST + (1 << 20)),
                log_level="critical",
                access_log=False,
                timeout_graceful_shutdown=1,
                ws_max_size=1 << 24,
            )
            server = uvicorn.Server(config)
            pages.on_shutdown(desk.runner.end)
            desk.close = lambda: setattr(server, "should_exit", True)
            address = f"http://{HOST}:{port}/{token}/"
            announce(address)
            if made:
                say = logging.getLogger("musclesolve").info
                say(f"{folder} is a new folder, and empty. Ctrl-C removes it while it is empty.")
            if opens:
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()
            with contextlib.suppress(KeyboardInterrupt), interrupts(signal.SIGTERM):
                asyncio.run(server.serve(sockets=[listening]))
    finally:
        if made:  # a folder of a name that was not meant is not left behind
            with contextlib.suppress(OSError):  # it is not empty
                folder.rmdir()


def _listening(port: int) -> socket.socket:
    """The socket of a port from 0 to 65535."""
    try:
        return socket.create_server((HOST, port), backlog=64)
    except OSError as error:
        raise input_error(
            "no_stream",
            where="--port",
            problem=f"port {port} cannot be used: {os.strerror(error.errno) if error.errno else error}",
            remedy="leave --port out: then one that is free is taken",
        ) from error


def _application(desk: Desk, token: str) -> FastAPI:
    """The pages of the desk below the token."""
    style, script = (
        resources.files(__package__).joinpath(f"desk.{kind}").read_text(encoding="utf-8")
        for kind in ("css", "js")
    )

    for field in (ui.select, ui.input, ui.number):
        field.default_props("outlined dense options-dense")
    for clicked in (ui.button, ui.toggle, ui.tabs):
        clicked.default_props("no-caps")

    @ui.page("/", title="musclesolve desk", dark=None)
    def page(step: str = "", trial: str = "") -> None:
        ui.colors(primary="#0b5c8c", negative="#8a1c1c", positive="#2e6b34")
        ui.add_css(style)
        ui.add_body_html(f"<script>{script}</script>")
        desk.look_at_file()  # the window begins with the file as it is, and is not drawn anew under a click
        view = View(desk, STEPS, {"step": step, "trial": trial})
        ui.context.client.on_delete(lambda: desk.forget(view))
        view.show()

    @pages.get("/files/{name:path}")
    def file(name: str) -> Response:
        path = None
        with contextlib.suppress(InputError, OSError):
            # such as a name that is longer than those of files may be
            file = desk.folder.inside(name)
            path = file if file.is_file() else None
        if path is None or path.suffix.lower() not in SHOWN:
            return PlainTextResponse("There is no such file.", 404)
        policy = {"Content-Security-Policy": CONTAINED} if path.suffix.lower() in (".html", ".svg") else {}
        return FileResponse(path, headers={**policy, "Cache-Control": "no-store"})

    @pages.get("/archive/{name}")
    def archive(name: str) -> Response:
        """All files of a result, packed; a temporary file that is removed once it has been sent."""
        folder = desk.results.get(name)
        if folder is None:
            return PlainTextResponse("There is no such result.", 404)
        path = zipped(folder.parent)
        return FileResponse(
            path,
            filename=f"{name}.zip",
            headers={"Cache-Control": "no-store"},
            background=BackgroundTask(path.unlink),
        )

    def poll() -> None:
        if desk.runner.poll():
            desk.changed("task")

    async def repeat(period: float, look: Callable[[], None]) -> None:
        while True:
            await asyncio.sleep(period)
            look()

    watching = list[asyncio.Task[None]]()

    async def begin() -> None:
        for period, look in ((POLL, poll), (LOOK, desk.look_at_file)):
            watching.append(asyncio.create_task(repeat(period, look)))
        desk.runner.prepare()
        # the terminal is closed; not under nohup, and not outside the main thread
        if (hang_up := getattr(signal, "SIGHUP", None)) and signal.getsignal(hang_up) == signal.SIG_DFL:
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                asyncio.get_running_loop().add_signal_handler(hang_up, lambda: desk.close())

    pages.on_startup(begin)
    pages.on_shutdown(lambda: [task.cancel() for task in watching])
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    ui.run_with(
        app,
        title="musclesolve desk",
        mount_path=f"/{token}",
        show_welcome_message=False,
        reconnect_timeout=30.0,
    )
    return app


POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'self'; object-src 'none'"
)
LONGEST_PATH = 4096
"""Largest length of the path of an address, as of a file on any system."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """An application that answers only those who may use it.

    Args:
        app: application behind the guard.
        token: first part of every path.
        port: of the address.
        largest: bytes of a request.
    """

    def __init__(self, app: ASGIApp, token: str, port: int, largest: int) -> None:
        self.app, self.token, self.port, self.largest = app, token, port, largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, refuse, or pass on what is no request."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers, shown = Headers(scope=scope), scope["path"].lstrip("/").partition("/")[0]
        refusal, status = refusal_of(headers, self.port, shown, self.token, "the desk"), 403
        announced = headers.get("content-length", "")
        if not refusal and announced.isdecimal() and int(announced) > self.largest:
            refusal, status = "the upload is too large", 413
        if not refusal and len(scope["path"]) > LONGEST_PATH:
            refusal, status = f"the address is longer than {LONGEST_PATH} letters", 414
        if refusal and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif refusal:
            answer = PlainTextResponse(f"Refused: {refusal}.", status, {**HEADERS, "Connection": "close"})
            await answer(scope, receive, send)
        else:
            await self.app(scope, self._counted(receive), _with_headers(send))

    def _counted(self, receive: Receive) -> Receive:
        """Return a receiver that ends a request that is longer than it announced."""
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            if message["type"] == "http.request":
                read += len(message.get("body", b""))
                if read > self.largest:
                    return {"type": "http.disconnect"}
            return message

        return counted


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
