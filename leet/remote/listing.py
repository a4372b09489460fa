"""Which runs there are on the far side: names, sizes and times in one answer, and no byte of a log.

PATH is a log                that log
PATH holds one log           it is a run directory
PATH is or holds `wandb/`    its runs, newest first: what `latest-run` points to, then by the time in the name;
                             recordings of the machine alone come last
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from leet.discovery import RUN_DIRECTORY, of_machine
from leet.remote.address import Address, quoted_path
from leet.remote.remote_file import Asked, by_our_clock, reason
from leet.remote.shell import Garbled

PLACES = ("", "wandb/", ".wandb/")
"""Where run directories are, from the path that was given; the first that has any counts."""
ATTEMPTS = 3
"""Lists that are asked for while files come and go."""


class NoRemoteRun(Exception):  # noqa: N818  an answer to the person
    """No run where one was looked for; one line that says what is wrong."""


@dataclass(frozen=True, slots=True)
class RemoteEntry:
    """A log on the far side."""

    path: str
    size: int = 0
    inode: str = ""
    modified: float = 0.0
    """Unix seconds by our own clock; 0 where the far side cannot tell."""
    stamp: int = 0
    """The same by the clock there, to be compared."""

    @property
    def directory(self) -> str:
        """Name of the directory that it lies in."""
        return PurePosixPath(self.path).parent.name

    @property
    def time(self) -> str:
        """When its run began, as the name of its directory tells it: it sorts by age. Empty where it does not."""
        match = RUN_DIRECTORY.match(self.directory)
        return match["time"] if match else ""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a path on the far side is."""

    runs: tuple[RemoteEntry, ...]
    """The newest first. One that was asked for by its own path is alone; none where a directory holds none."""
    directory: str = ""
    """The `wandb/` directory that the runs are in; empty where one was asked for by its own path, or there are none."""
    root: str = ""
    """The directory that was asked for, absolute and without links; empty where it was one log."""


def list_runs(shell: Asked, address: Address) -> Listing:
    """The runs that an address means. Raises NoRemoteRun and Lost."""
    word = quoted_path(address.path or ".")
    for _ in range(ATTEMPTS):
        (answer,) = shell.ask_all([lambda mark: f"leet_look {mark} {word}"])
        kind, *rest = answer.words or ("",)
        if kind == "no":
            said = rest[0] if rest else ""
            # What is a directory all the same is one that may not be entered.
            raise NoRemoteRun(f"{address}: {reason('denied' if said == 'directory' else said)}")
        if kind == "file":
            if not address.path.endswith(".wandb"):
                raise NoRemoteRun(f"{address}: not a run log; give a .wandb file or a directory with one")
            directory = os.fsdecode(answer.body.removesuffix(b"\n"))
            return Listing((RemoteEntry(os.path.join(directory, os.path.basename(address.path))),))
        root, *latest = (os.fsdecode(part.removesuffix(b"\n")) for part in answer.body.split(b"\0", 4)[:4])
        now = float(rest[0]) if rest and rest[0].isdecimal() else 0.0
        entries = parse_entries(answer.body.split(b"\0", 4)[-1], root, now)
        if entries is not None:
            return _choose(address, root, entries, latest)
    raise Garbled("the directory changes faster than it can be listed")


def parse_entries(body: bytes, root: str, now: float) -> list[RemoteEntry] | None:
    """The entries of an answer: groups of names, an empty one, and lines of numbers; None where they do not agree."""
    entries: list[RemoteEntry] = []
    names: list[bytes] = []
    parts = iter(body.split(b"\0"))
    for part in parts:
        if part:
            names.append(part)
            continue
        if not names:
            return entries
        lines = next(parts, b"").split(b"\n")[:-1]
        if len(lines) != len(names):
            return None
        for name, line in zip(names, lines, strict=True):
            try:
                size, inode, modified = line.decode("ascii").split()
                entry = RemoteEntry(
                    os.path.normpath(os.path.join(root, os.fsdecode(name.removeprefix(b"./")))),
                    int(size),
                    inode,
                    by_our_clock(float(modified), now) if now else float(modified),
                    int(float(modified)),
                )
            except ValueError:
                return None
            entries.append(entry)
        names = []
    return entries


def _choose(address: Address, root: str, entries: list[RemoteEntry], latest: Iterable[str]) -> Listing:
    straight = [entry for entry in entries if os.path.dirname(entry.path) == root]
    if len(straight) == 1:
        return Listing((straight[0],))
    if straight:
        names = ", ".join(sorted(os.path.basename(entry.path) for entry in straight)[:3])
        raise NoRemoteRun(f"{address}: holds {len(straight)} logs; name one of them ({names}, …)")
    for place, newest in zip(PLACES, latest, strict=True):
        directory = os.path.join(root, place).rstrip("/")
        runs = [entry for entry in entries if os.path.dirname(os.path.dirname(entry.path)) == directory and entry.time]
        # What a directory is called says when its run began; `latest-run` knows better where clocks were wrong.
        name = os.path.basename(newest)
        runs.sort(key=lambda entry: (entry.directory == name, entry.time, entry.path), reverse=True)
        runs.sort(key=lambda entry: of_machine(entry.directory))
        if runs:
            return Listing(tuple(runs), directory, root)
    return Listing((), "", root)
