"""What the status line says of the line to another machine: whether it is up, how much comes, how far it is behind."""

from __future__ import annotations

import time

from leet.model.safe_text import clean
from leet.model.units import format_bytes
from leet.remote.link import Link
from leet.tui.widgets.status_line import Part

LATE = 5.0
"""Seconds behind from which on it is worth saying."""


def link_part(link: Link, *, live: bool = True) -> Part:
    """The line in a few words; the host is named, for there may be several. `live`: more may come."""
    state = link.state
    host = clean(link.address.host)
    behind = _seconds(link.lag)
    if state.kind == "refused":
        return Part(f"{host}: lost {behind} ago, asks for a password: q, and open it again", "status--bad", rank=9)
    if state.kind == "lost":
        wait = state.again - time.monotonic()
        again = f"again in {_seconds(wait)}" if wait >= 1 else "connecting"
        return Part(f"{host}: connection lost, {behind} behind, {again}", "status--bad", rank=9)
    if state.kind == "gone":
        return Part(f"{host}: {clean(state.reason)}", "status--bad", rank=9)
    if state.kind == "connecting":
        return Part(f"{host}: connecting", "status--warn", rank=8)
    if link.complete and not live:  # a rate would stand there for ever
        return Part(host, "status--quiet", rank=4)
    rate = f"{host} {format_bytes(link.rate)}/s"
    if state.missing and link.lag >= LATE:
        return Part(f"{rate}, {behind} behind", "status--warn", rank=8)
    return Part(rate, "status--quiet", rank=4)


_TROUBLE = {"refused": 4, "lost": 3, "gone": 2, "connecting": 1, "up": 0}


def worse(line: Link, other: Link | None) -> Link:
    """Of two lines to one machine the one that is worse off; `other` where neither is."""
    if other is None:
        return line
    return line if _TROUBLE[line.state.kind] > _TROUBLE[other.state.kind] else other


def _seconds(seconds: float) -> str:
    whole = max(0, round(seconds))
    return f"{whole} s" if whole < 120 else f"{whole // 60} min"
