"""The scan of a workspace: what its thread does.

    Directories ─► parts ─► what the cache knows ─► entries
                        └─► other processes look at the rest, the newest first ─► entries
    and then, for ever: changed directories, and logs whose turn it is

Logs that may grow are looked at every second, silent ones less and less often, ended ones hardly ever, each look being
one `stat` as long as nothing has changed. No file is kept open.
"""

from __future__ import annotations

import heapq
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson

from leet.model.facts_cache import PART, FactsCache, Kept
from leet.model.facts_process import FEWEST, Stamp, look_at, stamp_at, stamp_of
from leet.model.run_entry import RunEntry
from leet.model.run_facts import facts_of
from leet.model.run_part import ENDED, RunPart, order, run_entry
from leet.model.state import SILENCE
from leet.model.workspace_directories import Directories, Listing
from leet.reading.peek import peek

TICK = 0.5
"""Seconds between two looks around."""
DIRECTORIES = 1.0
"""Seconds between two looks at the directories."""
FIRST = 200
"""Runs that are shown before all others, as many as may be seen at once."""
SEEN_FIRST = 48
"""Runs of which something more than the name should be seen at once."""
MANY = 500
"""Runs in one directory from which on they are shown before it is known that each has a log."""
MOST_LOOKS = 200
"""Logs that are looked at in a row."""
_BREATH = 0.0005
"""Pause in seconds in which the thread that draws gets its turn …"""
_STRETCH = 0.002
"""… after this many of work."""
_SHOW = 0.1
"""Seconds between two announcements."""

News = Mapping[str, RunEntry | None]
"""Key → entry that is new or different, None for one that is gone."""


class Scan:
    """Finds and watches the runs below a root. Everything but the constructor belongs to one thread."""

    def __init__(
        self,
        root: str,
        publish: Callable[[News], None],
        stopping: threading.Event,
        *,
        recursive: bool = True,
        cache: FactsCache | None = None,
    ) -> None:
        """`publish` is told what has changed; with nothing, when the first listing is complete."""
        self.root = root
        self.directories = Directories(root, recursive=recursive)
        self.listed = False
        """All directories have been listed once."""
        self._publish = publish
        self._stopping = stopping
        self._cache = cache
        self._parts: dict[str, dict[str, RunPart]] = {}
        self._runs: dict[tuple[str, str], RunPart | list[RunPart]] = {}
        self._shown: dict[tuple[str, str], RunEntry] = {}
        self._changed: dict[tuple[str, str], None] = {}
        self._due: list[RunPart] = []
        self._spread_so_far = 0
        self._published = 0.0
        self._breathed = 0.0
        self._looked = 0
        """Logs that had to be looked into."""
        self._kept = cache is None
        """The cache has been written, or there is none."""

    def run(self) -> None:
        """Until it is stopped."""
        for listing in self.directories.find():
            self._take(listing)
            self._show()
            if self._stopping.is_set():
                return
        self._look_at_few()
        self.listed = True
        self._show(now=True)
        self._read_cache()
        self._look_at_many()
        self._show(now=True)
        self._write_cache()
        directories_due = 0.0
        while not self._stopping.wait(TICK):
            if time.monotonic() >= directories_due:
                for listing in self.directories.look():
                    self._take(listing)
                directories_due = time.monotonic() + DIRECTORIES - TICK / 2
            self._look_at_due()
            self._show(now=True)

    def _breathe(self) -> None:
        if time.monotonic() - self._breathed >= _STRETCH:
            time.sleep(_BREATH)
            self._breathed = time.monotonic()

    # Directories and parts

    def _take(self, listing: Listing) -> None:
        """A directory has other runs than before."""
        parts = self._parts.setdefault(listing.path, {})
        for name in parts.keys() - listing.names:
            self._drop(parts.pop(name))
        new = sorted(listing.names - parts.keys(), key=order, reverse=True)
        for number, name in enumerate(new):
            part = parts[name] = RunPart.named(self.root, listing.path, name)
            part.absent = len(new) < MANY  # until it has been looked at, which is soon
            self._join(part)
            if self.listed:
                part.came = time.time()
                self._schedule(part, 0.0)
            self._breathe()
            if number == FIRST:
                self._show(now=True)
                if not self.listed:
                    self._look_at([parts[name] for name in new[:SEEN_FIRST]])
                    self._show(now=True)
        if not parts:
            del self._parts[listing.path]

    def _parts_of(self, run: tuple[str, str]) -> list[RunPart]:
        found = self._runs.get(run)
        return [] if found is None else found if isinstance(found, list) else [found]

    def _join(self, part: RunPart) -> None:
        parts = self._parts_of(part.run)
        self._runs[part.run] = [*parts, part] if parts else part
        self._changed[part.run] = None

    def _leave(self, part: RunPart) -> None:
        parts = [other for other in self._parts_of(part.run) if other is not part]
        if parts:
            self._runs[part.run] = parts
        else:
            self._runs.pop(part.run, None)
        self._changed[part.run] = None

    def _drop(self, part: RunPart) -> None:
        part.dropped = True
        self._leave(part)

    def _schedule(self, part: RunPart, due: float) -> None:
        part.due = due
        heapq.heappush(self._due, part)

    # Logs

    def _look_at_few(self) -> None:
        """Look at all of a few runs at once, before anything is said of them; of many, at those that are seen first."""
        parts = self._unknown()
        self._look_at(parts if len(parts) < FEWEST else parts[:SEEN_FIRST])

    def _look_at(self, parts: Iterable[RunPart]) -> None:
        """Look at logs for the first time, in this thread."""
        for part in parts:
            if self._stopping.is_set():
                return
            self._look(part)
            self._spread(part)
            self._breathe()
            self._show()

    def _look_at_many(self) -> None:
        """Look at what is not known yet, the newest first."""
        parts = self._unknown()
        if len(parts) >= FEWEST:
            for looked in look_at([part.log for part in parts], self._stopping):
                self._looked += len(looked)
                for place, stamp, facts in looked:
                    if stamp[0]:  # else there is no such file
                        self._take_over(parts[place], stamp, facts)
                self._breathe()
                self._show()
        self._look_at(self._unknown())

    def _unknown(self) -> list[RunPart]:
        """Parts that nobody has looked at yet, the newest first."""
        parts = [part for parts in self._parts.values() for part in parts.values() if not part.located]
        return sorted(parts, key=lambda part: part.order, reverse=True)

    def _look_at_due(self) -> None:
        for _ in range(MOST_LOOKS):
            now = time.monotonic()
            if not self._due or self._due[0].due > now or self._stopping.is_set():
                return
            part = heapq.heappop(self._due)
            if not part.dropped:
                self._look(part)
                self._schedule(part, time.monotonic() + part.pause(time.time()))
            self._breathe()

    def _look(self, part: RunPart) -> None:
        """Look at a log, if it is not as it was."""
        stamp = None
        try:
            stamp = stamp_of(os.stat(part.log))
        except (FileNotFoundError, NotADirectoryError):
            if not self._find_log(part):
                return
        except OSError:  # a file system that does not answer: what was known stays, else the reason is shown
            if part.located:
                return
        if stamp is not None and stamp == part.stamp:
            return
        before = part.entry
        self._looked += 1
        seen = peek(part.log, part.peek)
        if not seen.identity[1]:  # it has gone this moment, or must not be read
            part.stamp, part.peek = None, None
        facts = facts_of(seen)
        part.take(stamp_at(seen), facts)
        live = part.entry.exit_code is None and time.time() - part.entry.modified < SILENCE
        part.peek = seen if live and not seen.trouble else None
        if not self._kept:
            self._keep(part, facts)
        if part.entry != before:
            self._changed[part.run] = None

    def _find_log(self, part: RunPart) -> bool:
        """The log is not where it was expected: whether there is another one in the directory."""
        directory = os.path.dirname(part.log)
        try:
            with os.scandir(directory) as entries:
                names = [e.name for e in entries if e.name.startswith("run-") and e.name.endswith(".wandb")]
        except OSError:
            names = []
        if names:
            self._leave(part)
            part.move_to(os.path.join(directory, max(names)))
            self._join(part)
            return True
        if not part.absent or not part.located:
            part.absent, part.located = True, True
            part.stamp, part.peek = None, None
            self._changed[part.run] = None
        return False

    def _spread(self, part: RunPart) -> None:
        """Many logs become known at once, and should not all be due at once later."""
        self._spread_so_far += 1
        pause = part.pause(time.time())
        if pause >= ENDED:
            pause += ENDED * (self._spread_so_far * 0.618 % 1)
        self._schedule(part, time.monotonic() + pause)

    # The cache

    def _read_cache(self) -> None:
        parts = {part.log: part for part in self._unknown()}
        if self._cache is None or len(parts) < FEWEST:
            return
        root = os.path.join(self.root, "")
        for known in self._cache.read():
            for path, stamp, facts in known:
                part = parts.get(f"{root}{path}")
                if part is not None and _is_as_it_was(part.log, stamp):
                    self._take_over(part, stamp, facts)
            self._breathe()
            self._show()
            if self._stopping.is_set():
                return

    def _take_over(self, part: RunPart, stamp: Stamp, text: bytes) -> None:
        """Facts of a log that this thread has not looked into, as JSON text."""
        facts = orjson.loads(text)
        part.take(stamp, facts)
        self._keep(part, facts, text)
        self._changed[part.run] = None
        self._spread(part)

    def _keep(self, part: RunPart, facts: dict[str, Any], text: bytes = b"") -> None:
        """Keep facts for the cache; `text` is the same as JSON."""
        if self._cache is not None and "trouble" not in facts and _is_text(part.log):
            part.facts = text or orjson.dumps(facts)

    def _write_cache(self) -> None:
        """Keep what is known, if looking at it has taken a while."""
        self._kept = True
        if self._cache is not None and self._looked >= FEWEST and not self._stopping.is_set():
            self._cache.write(self._facts_in_parts())
        for of_directory in self._parts.values():
            for part in of_directory.values():
                part.facts = b""

    def _facts_in_parts(self) -> Iterator[list[Kept]]:
        found: list[Kept] = []
        for of_directory in self._parts.values():
            for part in of_directory.values():
                if part.facts and part.stamp is not None:
                    found.append((part.log[len(self.root) :].lstrip("/"), part.stamp, part.facts))
                if len(found) == PART:
                    yield found
                    found = []
                    self._breathe()
        yield found

    # Entries

    def _show(self, now: bool = False) -> None:
        """Tell what has changed, if it is time to."""
        if not now and time.monotonic() - self._published < _SHOW:
            return
        self._published = time.monotonic()
        news: dict[str, RunEntry | None] = {}
        for run in self._changed:
            old = self._shown.pop(run, None)
            entry = run_entry(self._parts_of(run))
            if entry is not None:
                self._shown[run] = entry
            if old is not None and (entry is None or entry.key != old.key):
                news.setdefault(old.key, None)
            if entry is not None:
                news[entry.key] = entry
        self._changed.clear()
        self._publish(news)


def _is_as_it_was(log: str, stamp: Stamp) -> bool:
    try:
        return stamp_of(os.stat(log)) == stamp
    except OSError:
        return False


def _is_text(path: str) -> bool:
    """Whether a path can be spelt in UTF-8."""
    if path.isascii():
        return True
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
