"""The server of the desk: NiceGUI on uvicorn, bound to this machine, behind a guard.

NiceGUI because one file in Python makes a page with its events, uploads, a scene in three dimensions and charts,
without a build of JavaScript, because its wheel holds all that a browser loads, so that it works without internet, and
because it stands on starlette and uvicorn, which the live page uses.
"""

import asyncio
import contextlib
import logging
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
from starlette.responses import FileResponse, PlainTextResponse, Response

from musclesolve._util.page_access import HOST
from musclesolve._util.processes import interrupts
from musclesolve.desk.desk import Desk
from musclesolve.desk.guard import Guard
from musclesolve.desk.result_files import zipped
from musclesolve.desk.steps.check_step import CHECK
from musclesolve.desk.steps.compare_step import COMPARE
from musclesolve.desk.steps.emg_step import EMG
from musclesolve.desk.steps.events_step import EVENTS
from musclesolve.desk.steps.export_step import EXPORT
from musclesolve.desk.steps.files_step import FILES
from musclesolve.desk.steps.markers_step import MARKERS
from musclesolve.desk.steps.plates_step import PLATES
from musclesolve.desk.steps.questions_step import QUESTIONS
from musclesolve.desk.steps.result_step import RESULT
from musclesolve.desk.steps.study_step import STUDY
from musclesolve.desk.steps.subject_step import SUBJECT
from musclesolve.desk.steps.watch_step import WATCH
from musclesolve.desk.view import View
from musclesolve.desk.work_folder import LARGEST
from musclesolve.errors import InputError, input_error
from musclesolve.recording.text.text_file import STORAGE

LOOK = 1.0
"""Interval at which the trial file is checked for changes of other programs [s]."""
POLL = 0.1
"""Interval at which messages of the task process are received [s]."""
STEPS = (
    FILES,
    SUBJECT,
    MARKERS,
    PLATES,
    EVENTS,
    EMG,
    CHECK,
    RESULT,
    QUESTIONS,
    COMPARE,
    EXPORT,
    WATCH,
    STUDY,
)
"""The steps of the desk, in their order."""
SHOWN = (
    ".html",
    ".png",
    ".svg",
    ".pdf",
    ".gif",
    ".mp4",
    ".csv",
    ".nc",
    *STORAGE,
    ".mat",
    ".parquet",
    ".toml",
)
"""Suffixes of files that the page may show or send."""
CONTAINED = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline' blob: data:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; worker-src blob:"
)
"""Security policy of a shown report: its own scripts run, without access to the desk or to anything else."""


def serve(folder: Path, port: int, opens: bool, announce: Callable[[str], None]) -> None:
    """Serve the desk until Ctrl-C, SIGTERM or the button that closes it.

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
            guarded = Guard(_application(desk, token), token, port, LARGEST + (1 << 20))
            config = uvicorn.Config(
                guarded,
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
            if opens:
                Thread(target=webbrowser.open, args=(address,), daemon=True).start()
            with contextlib.suppress(KeyboardInterrupt), interrupts(signal.SIGTERM):
                asyncio.run(server.serve(sockets=[listening]))
    finally:
        if made:  # a folder of a name that was not meant is not left behind
            with contextlib.suppress(OSError):  # it is not empty
                folder.rmdir()


def _listening(port: int) -> socket.socket:
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(64)
    except (OSError, OverflowError) as error:
        listening.close()
        raise input_error(
            "no_stream",
            where="--port",
            problem=f"port {port} cannot be used: {getattr(error, 'strerror', None) or error}",
            remedy="leave --port out: then one that is free is taken",
        ) from error
    return listening


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
            found = desk.folder.inside(name)
            path = found if found.is_file() else None
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
        for period, look in ((POLL, poll), (LOOK, desk.look_at_file), (LOOK, desk.look_at_folder)):
            watching.append(asyncio.create_task(repeat(period, look)))
        desk.runner.prepare()

    pages.on_startup(begin)
    pages.on_shutdown(lambda: [each.cancel() for each in watching])
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    ui.run_with(
        app,
        title="musclesolve desk",
        mount_path=f"/{token}",
        show_welcome_message=False,
        reconnect_timeout=30.0,
    )
    return app
