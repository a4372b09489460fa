"""The runs of a directory on another machine, as a directory here: enough of each log to list it.

    far side   wandb/run-…/run-a.wandb      │ head │       …        │ tail │
    here       <tree>/wandb/run-…/run-a.wandb      │ head │  (a hole)  │ tail │     same length, same time

Whoever lists runs by looking at the heads and tails of logs lists these. Names, sizes and times come first, in one
answer; then heads and tails, those of the newest runs before others; from then on only what has been written of late.
A log that is opened is fetched as a whole, into its mirror (see `remote_log`).
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from leet.remote.address import Address, quoted_path
from leet.remote.link import Link
from leet.remote.listing import PLACES, Listing, RemoteEntry, parse_entries
from leet.remote.machine import Machine
from leet.remote.mirror import begin_use, default_folder, home_of, plain_name
from leet.remote.remote_file import Piece, ask_files
from leet.remote.remote_log import PATIENCE
from leet.remote.shell import Garbled, Lost

HEAD = 64 * 1024
TAIL = 96 * 1024
BLOCK = 32 * 1024
LOOK_SECONDS = 2.0
LIST_SECONDS = 60.0
"""Seconds after which all names, sizes and times are asked for again."""
FIND_SECONDS = 600.0
"""The same for directories of runs that are not where they usually are."""
RECENT = 2
"""Minutes that a log counts as written of late beyond the time since the last look: clocks of file servers differ."""
DEPTH = 5
"""Levels below the directory in which other directories of runs are sought."""
SETTLED = 2
"""Seconds after which the time of change of a directory tells that nothing has changed since."""
TOGETHER = 6
"""Logs whose heads and tails travel together."""
_INDEX = ".index.json"


@dataclass(frozen=True, slots=True)
class _Stamp:
    """What is here of a log."""

    size: int
    inode: str
    modified: int


class RemoteRuns:
    """A directory of runs on another machine, watched from a thread of its own."""

    def __init__(self, machine: Machine, address: Address, listing: Listing, folder: Path | None = None) -> None:
        """`address` is that of the directory, absolute; `listing` what is known of it already. Raises OSError."""
        self.address = address
        self.machine = machine
        self.link = Link(address)
        self._root = address.path
        self._home = home_of(address, "runs", folder or default_folder())
        begin_use(self._home, address)
        self.root = self._home / (plain_name(PurePosixPath(address.path).name) or "runs")
        """The directory here that looks like the one there."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._here: dict[str, _Stamp] = self._read_index()
        self._directories = {os.path.join(self._root, place).rstrip("/"): "" for place in PLACES}
        self._known = {entry.path: entry for entry in listing.runs}
        # Before anybody looks: what is here of earlier days must not be taken for what is there.
        self._list_known(stale=True)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"list {address.host}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end, and close the connection."""
        self._stopping.set()
        self.machine.close()

    def address_of(self, log: Path) -> Address:
        """Where a log of the directory here is on the far side. Raises ValueError for any other path."""
        return self.address.at(os.path.join(self._root, str(log.relative_to(self.root))))

    def place_of(self, path: str) -> Path | None:
        """Where a log of the far side is in the directory here; None where it has no place."""
        relative = os.path.relpath(path, self._root)
        if not path.startswith("/") or relative.startswith("..") or "\0" in relative:
            return None
        return self.root / relative

    # The thread

    def _run(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            try:
                self.machine.connect()
                self._look_on()
                failures = 0
            except Lost as error:
                if self._stopping.is_set():
                    return
                wait = PATIENCE[min(failures, len(PATIENCE) - 1)]
                failures += 1
                self.link.lost(str(error), wait, refused=error.refused)
                self._stopping.wait(wait)
            except OSError as error:
                self.link.gone(f"{error.filename or self.root}: {error.strerror or error}")
                self._stopping.wait(LOOK_SECONDS * 5)

    def _look_on(self) -> None:
        """Keep the directory here like the one there, until the connection is lost."""
        listed = found = looked = float("-inf")
        self._fetch()
        while not self._stopping.is_set():
            now = time.monotonic()
            if now - found > FIND_SECONDS:
                self._find()
                found = now
                listed = float("-inf")
            if now - listed > LIST_SECONDS or self._moved(now - looked):
                listed = now
                self._list()
            looked = now
            self._fetch()
            self.link.fetched(0, 0)
            self._stopping.wait(LOOK_SECONDS)

    def _ask(self, code: Callable[[str], str]) -> tuple[tuple[str, ...], bytes]:
        (answer,) = self.machine.ask_all([code], self.link.heard)
        return answer.words, answer.body

    def _find(self) -> None:
        """Look for other directories of runs."""
        word = quoted_path(self._root)
        _, body = self._ask(lambda mark: f"leet_find {mark} {word} {DEPTH}")
        paths = [os.fsdecode(line) for line in body.split(b"\n") if line]
        new = [path for path in paths if path not in self._directories and self.place_of(path) is not None]
        self._directories.update(dict.fromkeys(new, ""))

    def _list(self) -> None:
        words = " ".join(quoted_path(path) for path in self._directories)
        entries = self._entries(*self._ask(lambda mark: f"leet_list {mark} {words}"))
        self._known = {entry.path: entry for entry in entries}
        self._list_known(all_known=True)

    def _moved(self, seconds: float) -> bool:
        """Take over what has been written of late; whether directories hold other runs than before."""
        minutes = min(RECENT + int(min(seconds, 1e6) // 60), 100_000)
        words = " ".join(quoted_path(path) for path in self._directories)
        moved = False
        answer_words, body = self._ask(lambda mark: f"leet_recent {mark} {minutes} {words}")
        now = _time_there(answer_words)
        for entry in self._entries(answer_words, body):
            if entry.path in self._directories:
                # Times come in whole seconds: what has just changed may change again without another time.
                stamp = f"{entry.inode} {entry.stamp}" if now - entry.stamp > SETTLED else ""
                moved = moved or not stamp or self._directories[entry.path] != stamp
                self._directories[entry.path] = stamp
            else:
                moved = moved or entry.path not in self._known
                self._known[entry.path] = entry
        return moved

    def _entries(self, words: Sequence[str], body: bytes) -> list[RemoteEntry]:
        entries = parse_entries(body, self._root, _time_there(words))
        if entries is None:
            raise Garbled("the directory changes faster than it can be listed")
        return entries

    # What is here

    def _list_known(self, *, all_known: bool = False, stale: bool = False) -> None:
        """Give every run a place, those that are new without anything in it; with `all_known` others are gone.

        `stale`: those that are not as they are there have nothing in it either.
        """
        kept = set()
        for entry in self._known.values():
            place = self.place_of(entry.path)
            if place is None:
                continue
            kept.add(entry.path)
            here = self._here.get(entry.path)
            if here is None and not place.exists():
                self._make_room_for(place)
            elif stale and here != self._stamp(entry):
                # Who looks at a log that has been silent for long looks seldom; at one without anything, often.
                self._here.pop(entry.path, None)
                self._make_empty(place)
        for path in self._here.keys() - kept if all_known else ():
            del self._here[path]
            self._remove(path)

    def _make_room_for(self, place: Path) -> None:
        """A run directory is never there without its log: one that is would be looked at seldom."""
        above = place.parents[1]
        above.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self._home / f".new.{os.getpid()}"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        (new / place.name).touch()
        try:
            os.rename(new, place.parent)
        except OSError:  # another viewer has just made it
            place.touch()

    @staticmethod
    def _make_empty(place: Path) -> None:
        with contextlib.suppress(OSError), place.open("wb"):
            pass

    def _remove(self, path: str) -> None:
        place = self.place_of(path)
        if place is not None:
            shutil.rmtree(place.parent, ignore_errors=True)

    def _fetch(self) -> None:
        """Fetch heads and tails of all logs that are not here as they are there, the newest first."""
        wanted = [entry for entry in self._known.values() if self._stamp(entry) != self._here.get(entry.path)]
        wanted.sort(key=lambda entry: (entry.time, entry.modified), reverse=True)
        for first in range(0, len(wanted), TOGETHER):
            if self._stopping.is_set():
                return
            group = [
                (entry, place, *self._ranges(entry))
                for entry in wanted[first : first + TOGETHER]
                if (place := self.place_of(entry.path)) is not None
            ]
            pieces = iter(
                ask_files(self.machine, [(e.path, *r) for e, _, _, ranges in group for r in ranges], self.link.heard)
            )
            for entry, place, further, ranges in group:
                found = [next(pieces) for _ in ranges]
                parts = [
                    (offset, piece.data)
                    for (offset, _), piece in zip(ranges, found, strict=True)
                    if isinstance(piece, Piece)
                ]
                if len(parts) == len(ranges):
                    (self._add if further else self._put)(entry, place, parts)
                self._here[entry.path] = self._stamp(entry)
            self._write_index()

    def _ranges(self, entry: RemoteEntry) -> tuple[bool, list[tuple[int, int]]]:
        """What is missing of a log here, and whether it goes behind what is here."""
        here = self._here.get(entry.path)
        if here is not None and here.inode == entry.inode and 0 <= entry.size - here.size <= TAIL:
            return True, [(here.size, entry.size - here.size)]
        start = max(HEAD, (entry.size - TAIL) // BLOCK * BLOCK)
        ranges = [(0, HEAD), (start, entry.size - start)]
        return False, ranges[: 1 + (entry.size > start)]

    @staticmethod
    def _stamp(entry: RemoteEntry) -> _Stamp:
        return _Stamp(entry.size, entry.inode, entry.stamp)

    def _add(self, entry: RemoteEntry, place: Path, parts: list[tuple[int, bytes]]) -> None:
        """Put what has been written since behind what is here."""
        with place.open("r+b") as file:
            for offset, data in parts:
                file.seek(offset)
                file.write(data)
        os.utime(place, (entry.modified, entry.modified))

    def _put(self, entry: RemoteEntry, place: Path, parts: list[tuple[int, bytes]]) -> None:
        """Put head and tail in place, both at once."""
        new = place.with_name(f".{os.getpid()}.new")
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with new.open("wb") as file:
            for offset, data in parts:
                file.seek(offset)
                file.write(data)
            file.truncate(entry.size)
        os.utime(new, (entry.modified, entry.modified))
        os.replace(new, place)

    # From one session to the next

    def _read_index(self) -> dict[str, _Stamp]:
        try:
            kept = json.loads((self._home / _INDEX).read_text(encoding="utf-8"))
            stamps = {path: _Stamp(*stamp) for path, stamp in kept.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            stamps = {}
        places = {path: self.place_of(path) for path in stamps}
        return {path: stamp for path, stamp in stamps.items() if (p := places[path]) is not None and p.is_file()}

    def _write_index(self) -> None:
        stamps = {path: [stamp.size, stamp.inode, stamp.modified] for path, stamp in self._here.items()}
        new = self._home / f"{_INDEX}.{os.getpid()}"
        new.write_text(json.dumps(stamps), encoding="utf-8")
        os.replace(new, self._home / _INDEX)


def _time_there(words: Sequence[str]) -> float:
    """What time it is on the far side, from the header of an answer; 0 where it does not tell."""
    return float(words[1]) if len(words) > 1 and words[1].isdecimal() else 0.0
