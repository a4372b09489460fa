"""Reading a page of an endpoint that the user named, within limits of time and size."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

TIME_LIMIT = 5.0
SIZE_LIMIT = 32 << 20
REDIRECTS = 3
_PIECE = 1 << 16


def fetch(url: str, headers: Mapping[str, str] | None = None, *, time_limit: float = TIME_LIMIT) -> bytes:
    """
    The body of a page. OSError (urllib's URLError is one) says what went wrong: no connection, a status other than
    200, more than `SIZE_LIMIT` bytes, or more than `time_limit` seconds in all. Only http and https; the headers,
    which may hold a password, follow a redirect only to the same host. This machine is never asked through a proxy.
    """
    import urllib.error
    import urllib.parse
    import urllib.request

    class Redirects(urllib.request.HTTPRedirectHandler):
        max_redirections = REDIRECTS

        def redirect_request(  # type: ignore[no-untyped-def]
            self, request, answer, code, message, answer_headers, new_url
        ):
            following = super().redirect_request(request, answer, code, message, answer_headers, new_url)
            if following is not None and _place(new_url) != _place(request.full_url):
                for name in headers or ():
                    following.remove_header(name.capitalize())
            return following

    def _place(address: str) -> tuple[str, str]:
        parts = urllib.parse.urlsplit(address)
        return parts.scheme, parts.netloc

    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise OSError(f"{url} is not an http or https address")
    end = time.monotonic() + time_limit
    request = urllib.request.Request(url, headers=dict(headers or {}))
    handlers: list[Any] = [Redirects]
    if _is_this_machine(urllib.parse.urlsplit(url).hostname or ""):
        handlers.append(urllib.request.ProxyHandler({}))
    with urllib.request.build_opener(*handlers).open(request, timeout=time_limit) as answer:
        if answer.status != 200:
            raise OSError(f"{url} answers with status {answer.status}")
        pieces = []
        size = 0
        while piece := answer.read1(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > SIZE_LIMIT:
                raise OSError(f"{url} sends more than {SIZE_LIMIT >> 20} MiB")
            if time.monotonic() > end:
                raise TimeoutError(f"{url} takes longer than {time_limit:g} s")
    return b"".join(pieces)


def _is_this_machine(host: str) -> bool:
    """`localhost`, or an address of the loopback."""
    import ipaddress

    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
