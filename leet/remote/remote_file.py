"""Ranges of bytes of a file on the far side, and how the file was when they were read."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from leet.remote.address import quoted_path
from leet.remote.shell import Answer, Garbled

_SKEW = 2.0
"""Seconds by which clocks may differ without being put right: a look takes time, and times come in whole seconds."""


class Gone(Exception):  # noqa: N818  named for what has happened
    """The log cannot be read there; the text is a word of `REASONS`."""


REASONS = {
    "missing": "no such file or directory",
    "denied": "permission denied",
    "directory": "it is a directory",
    "irregular": "not a regular file",
}


def reason(word: str) -> str:
    """In words of the user, why a path cannot be read."""
    return REASONS.get(word, "it cannot be read")


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of a remote file, and how the file was when they were read."""

    data: bytes
    size: int
    inode: str
    modified: float
    """Unix seconds by our own clock; 0 where the far side cannot tell."""


class Asked(Protocol):
    """What answers: a shell or a machine."""

    def ask_all(self, codes: Sequence[Callable[[str], str]], heard: Callable[[int], None] = ...) -> list[Answer]: ...


def ask_pieces(
    shell: Asked, path: str, *ranges: tuple[int, int], heard: Callable[[int], None] = lambda size: None
) -> list[Piece]:
    """Ranges (offset, length) of a remote file, each as far as the file goes. Raises Gone and Lost."""
    pieces = []
    for piece in ask_files(shell, [(path, offset, length) for offset, length in ranges], heard):
        if isinstance(piece, Gone):
            raise piece
        pieces.append(piece)
    return pieces


def ask_files(
    shell: Asked, ranges: Sequence[tuple[str, int, int]], heard: Callable[[int], None] = lambda size: None
) -> list[Piece | Gone]:
    """Ranges (path, offset, length) of several files, which travel together. Raises Lost."""

    def code(path: str, offset: int, length: int) -> Callable[[str], str]:
        return lambda mark: f"leet_range {mark} {quoted_path(path)} {offset} {length}"

    return [_piece(answer) for answer in shell.ask_all([code(*wanted) for wanted in ranges], heard)]


def _piece(answer: Answer) -> Piece | Gone:
    kind, *rest = answer.words or ("",)
    if kind == "no":
        return Gone(rest[0] if rest else "unreadable")
    try:
        length, size, inode, modified, now = int(rest[0]), int(rest[1]), rest[2], float(rest[3]), float(rest[4])
    except (ValueError, IndexError) as error:
        raise Garbled("an answer from the far side could not be understood") from error
    if len(answer.body) < length:
        if answer.body:
            raise Garbled("a file became shorter while it was read")
        return Gone("unreadable")
    return Piece(answer.body[:length], size, inode, by_our_clock(modified, now))


def by_our_clock(modified: float, now: float) -> float:
    """A time of the far side, where it is `now`, by the clock of this machine; 0 stays 0."""
    skew = time.time() - now
    return modified + skew if modified and abs(skew) > _SKEW else modified
