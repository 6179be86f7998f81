"""Who may use a page that this machine serves: the browser that received its address, and no other page in it."""

import secrets
from collections.abc import Mapping

HOST = "127.0.0.1"


def refusal_of(headers: Mapping[str, str], port: int, shown: str, token: str, printed_by: str) -> str:
    """Return the reason why a request is refused, "" where it is not.

    It must call this machine by its own name, which a page that points its name here does not (DNS rebinding), come
    from this page where the browser says where it comes from, and state the token of the address.
    """
    names = {f"{name}:{port}" for name in (HOST, "localhost")}
    if headers.get("host") not in names:
        return "unknown host"
    if headers.get("origin") not in {None, *(f"http://{name}" for name in names)}:
        return "foreign origin"
    if not secrets.compare_digest(shown.encode(), token.encode()):
        return f"the token of the address is missing or wrong: use the address that {printed_by} has printed"
    return ""
