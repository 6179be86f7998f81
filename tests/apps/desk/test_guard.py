"""The page is open only to the right token, host and origin; the size of a request is counted."""

from __future__ import annotations

import asyncio

import pytest

from musclesolve.apps.desk.server import Guard
from musclesolve.apps.page_access import HOST

TOKEN, PORT = "secret-token", 8123
HERE = {"host": f"{HOST}:{PORT}"}


async def application(scope, receive, send):
    """Read everything and answer with its length."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    length = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        length += len(message["body"])
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(length).encode()})


def sent(path, headers, body=(b"",), kind="http"):
    """The messages that a guarded application sends."""
    parts, messages = list(body), []

    async def receive():
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    async def send(message):
        messages.append(message)

    scope = {
        "type": kind,
        "method": "POST",
        "path": path,
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    asyncio.run(Guard(application, TOKEN, PORT, 1000)(scope, receive, send))
    return messages


def test_the_right_address_is_answered_and_nothing_from_elsewhere_is_loaded():
    start, body = sent(f"/{TOKEN}/", HERE)
    assert start["status"] == 200 and body["body"] == b"0"
    headers = {name.decode(): value.decode() for name, value in start["headers"]}
    policy = headers["content-security-policy"]
    assert "default-src 'self'" in policy and "frame-ancestors 'self'" in policy
    assert not any(part.startswith(("http:", "https:", "*")) for part in policy.replace(";", " ").split())
    assert headers["referrer-policy"] == "no-referrer" and headers["x-content-type-options"] == "nosniff"
    assert sent(f"/{TOKEN}/", {**HERE, "origin": f"http://{HOST}:{PORT}"})[0]["status"] == 200
    assert sent(f"/{TOKEN}/x", {"host": f"localhost:{PORT}"})[0]["status"] == 200


REFUSED = [
    ("/", HERE),
    (f"/{TOKEN}x/", HERE),
    (f"/{TOKEN[:-1]}/", HERE),
    ("/wröng/", HERE),
    (f"/x/{TOKEN}/", HERE),
    ("/_nicegui_ws/socket.io/", HERE),
    (f"/{TOKEN}/", {}),
    (f"/{TOKEN}/", {"host": f"evil.example:{PORT}"}),
    (f"/{TOKEN}/", {"host": f"{HOST}:{PORT + 1}"}),
    (f"/{TOKEN}/", {**HERE, "origin": "http://evil.example"}),
    (f"/{TOKEN}/", {**HERE, "origin": f"http://{HOST}:{PORT + 1}"}),
    (f"/{TOKEN}/", {**HERE, "origin": "null"}),
]


@pytest.mark.parametrize(("path", "headers"), REFUSED)
def test_others_are_refused(path, headers):
    start, body = sent(path, headers)
    assert start["status"] == 403 and TOKEN.encode() not in body["body"]
    (close,) = sent(path, headers, kind="websocket")
    assert close["type"] == "websocket.close"


def test_a_long_address_is_refused_before_it_is_looked_up():
    assert sent(f"/{TOKEN}/files/" + 5000 * "a", HERE)[0]["status"] == 414
    assert sent(f"/{TOKEN}/files/" + 300 * "a", HERE)[0]["status"] == 200


def test_large_requests_are_refused_by_what_they_announce_and_by_what_comes():
    announced = sent(f"/{TOKEN}/", {**HERE, "content-length": "5000000000"})
    assert announced[0]["status"] == 413
    assert sent(f"/{TOKEN}/", HERE, [bytes(600), bytes(400)])[1]["body"] == b"1000"
    assert sent(f"/{TOKEN}/", HERE, [bytes(600), bytes(600), b""]) == []
