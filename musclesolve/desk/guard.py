"""Access to the page: the browser that received its address, on this machine, and no other page in it.

The address begins with a token that nobody can guess, `http://127.0.0.1:PORT/TOKEN/`: every page, every file, every
upload and the stream of the page lie below it. Nothing is loaded from elsewhere and no other page may frame this one
(Content-Security-Policy).
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from musclesolve._util.page_access import refusal_of

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
        given = scope["path"].lstrip("/").partition("/")[0]
        refusal = refusal_of(Headers(scope=scope), self.port, given, self.token, "the desk")
        status = 403
        if not refusal and self._announced(scope) > self.largest:
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

    @staticmethod
    def _announced(scope: Scope) -> int:
        stated = Headers(scope=scope).get("content-length", "0")
        return int(stated) if stated.isdecimal() else 0

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
