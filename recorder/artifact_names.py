"""Names that artifacts, their versions and the files in them can have."""

from __future__ import annotations

import base64
import os
import re
import secrets
import string
import zlib
from collections.abc import Iterable
from pathlib import PurePosixPath, PureWindowsPath

LONGEST_NAME = 128
_NAME = re.compile(r"[a-zA-Z0-9_\-.]+")
_TAG = re.compile(r"[-\w]+( +[-\w]+)*")
_ALPHABET = string.ascii_lowercase + string.digits


def checked_name(name: str) -> str:
    """The name of an artifact. Raises ValueError for one that it cannot have."""
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise ValueError(
            f"the name of an artifact has up to {LONGEST_NAME} letters, digits, _, - and ., and {name!r} is none"
        )
    return name


def all_aliases(given: Iterable[str] | str | None) -> list[str]:
    """The aliases of a version, `latest` among them. Raises ValueError for names with `/` or `:`."""
    names = [given] if isinstance(given, str) else list(given or ())
    for name in names:
        if set(name) & set("/:"):
            raise ValueError(f"an alias has neither / nor :, and {name!r} has")
    return list(dict.fromkeys((*names, "latest")))


def all_tags(given: Iterable[str] | str | None) -> list[str]:
    """The tags of a version. Raises ValueError for those with characters that a tag cannot have."""
    tags = [given] if isinstance(given, str) else list(given or ())
    for tag in tags:
        if not _TAG.fullmatch(tag):
            raise ValueError(f"a tag has letters, digits, -, _ and blanks between them, and {tag!r} has others")
    return list(dict.fromkeys(tags))


def internal_name(name: str) -> str:
    """A name made of a metric's: other characters go, and a checksum keeps it apart, as the SDK does."""
    clean = re.sub(r"[^a-zA-Z0-9_\-.]+", "", name)
    if clean == name and len(name) <= LONGEST_NAME:
        return name
    code = base64.urlsafe_b64encode(zlib.crc32(name.encode("utf-8", "replace")).to_bytes(4, "big"))
    return f"{clean[: LONGEST_NAME - 7]}-{code.rstrip(b'=').decode()}"


def client_id() -> str:
    """An id that is made here, by which other records refer to an artifact before a server has named it."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(128))


def safe_path(given: str | os.PathLike[str]) -> str:
    """A path in an artifact: relative, with slashes, and never out of it. Raises ValueError."""
    text = os.fspath(given)
    path = PurePosixPath(text.replace("\\", "/") if os.name == "nt" else text)
    windows = PureWindowsPath(text)
    if not path.parts or path.anchor or windows.anchor or ".." in (*path.parts, *windows.parts) or "\0" in text:
        raise ValueError(f"{given!r} is no path in an artifact")
    return str(path)


def renamed(path: str, digest: str) -> str:
    """The path with the beginning of the MD5 for the name, and the same suffixes."""
    number = base64.b64decode(digest).hex()[:20]
    place = PurePosixPath(path)
    return str(place.with_name(".".join((number, *place.name.split(".")[1:]))))
