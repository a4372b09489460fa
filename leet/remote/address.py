"""`[user@]host:PATH`, told from the name of a local file.

    box:runs/wandb            a path from the home directory there
    me@box:/data/run-1        an absolute one
    box:~ann/runs             ann's home directory
    [fe80::1%eth0]:runs       an IPv6 address stands in brackets
    ssh://me@box:2222/data    with a port; ssh://box/~/runs from the home directory

As with scp, a colon before the first slash makes an address, unless a local file has that name; ./a:b is always local.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import unquote

_LOGIN = r"(?:(?P<user>[^@/:\[\]]+)@)?"
_SCP = re.compile(_LOGIN + r"(?:\[(?P<literal>[^\]/]+)\]|(?P<host>[^:/\[\]@]+)):(?P<path>.*)", re.DOTALL)
_URL = re.compile(
    r"ssh://" + _LOGIN + r"(?:\[(?P<literal>[^\]/]+)\]|(?P<host>[^:/\[\]@]+))(?::(?P<port>\d{1,5}))?(?P<path>/.*)?",
    re.DOTALL | re.IGNORECASE,
)
_HOME = re.compile(r"~[A-Za-z0-9_.-]*(?=/|$)")


class BadAddress(ValueError):  # noqa: N818  an answer to the person
    """Text that is meant as an address and is none; one line."""


@dataclass(frozen=True, slots=True)
class Address:
    """A path on another machine."""

    host: str
    """A name, an address, or an alias of ssh's configuration; without brackets."""
    path: str
    """As it was typed; bytes that are no UTF-8 are surrogates, as in `os.fsdecode`."""
    user: str = ""
    port: int | None = None

    @property
    def login(self) -> str:
        """`user@host`, as ssh takes it."""
        return f"{self.user}@{self.host}" if self.user else self.host

    def at(self, path: str) -> Address:
        """Another path on the same machine."""
        return Address(self.host, path, self.user, self.port)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        login = f"{self.user}@{host}" if self.user else host
        if self.port is None:
            return f"{login}:{self.path}"
        return f"ssh://{login}:{self.port}{self.path if self.path.startswith('/') else '/~/' + self.path}"


def parse(text: str) -> Address | None:
    """The address that `text` is; None for a local path. Raises BadAddress."""
    if match := _URL.fullmatch(text):
        path = unquote(match["path"] or "", errors="surrogateescape")
        path = path[1:] if path.startswith("/~") else path
        port = int(match["port"]) if match["port"] else None
        if port is not None and not 0 < port < 65536:
            raise BadAddress(f"{text}: {port} is no port")
        return _address(match, path, port, text)
    if text.lower().startswith("ssh://"):
        raise BadAddress(f"{text}: write it like ssh://user@host:22/path")
    match = _SCP.fullmatch(text)
    if match is None or os.path.lexists(text):
        return None
    return _address(match, match["path"], None, text)


def quoted(text: str) -> str:
    """`text` as one word for a POSIX shell, whatever is in it."""
    return "'" + text.replace("'", "'\\''") + "'"


def quoted_path(path: str) -> str:
    """A path as one word for a POSIX shell: never an option, and with a leading `~` or `~name` as there."""
    if home := _HOME.match(path):
        # A quoted slash would not end the name.
        rest = path[home.end() + 1 :]
        return f"{home[0]}/{quoted(rest)}" if rest else home[0]
    return quoted(path if path.startswith("/") else f"./{path}")


def _address(match: re.Match[str], path: str, port: int | None, text: str) -> Address:
    host, user = match["literal"] or match["host"], match["user"] or ""
    if host.startswith("-") or user.startswith("-"):
        raise BadAddress(f"{text}: a host or user cannot begin with a dash")
    if any(ord(sign) <= 32 or ord(sign) == 127 for sign in host + user):
        raise BadAddress(f"{text!r}: blanks and control characters are in no host's name; a local file is ./{text!r}")
    if "\0" in path:
        raise BadAddress("a path cannot hold a zero byte")
    return Address(host, path, user, port)
