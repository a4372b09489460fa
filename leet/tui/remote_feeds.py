"""Feeds of runs on another machine."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import chain, repeat

from leet.model.run_entry import RunEntry
from leet.reading.batch import Notice
from leet.remote.remote_file import Gone
from leet.remote.remote_log import PATIENCE, RemoteLog
from leet.remote.remote_runs import RemoteRuns
from leet.remote.shell import Lost
from leet.tui.feed import RunFeed
from leet.tui.workspace_feeds import JoinedFeed


class JoinedRemoteFeed(JoinedFeed):
    """A run that was resumed, on another machine: its earlier parts are fetched before they are read."""

    def __init__(self, entry: RunEntry, parts: list[RemoteLog], *, live: bool) -> None:
        """`parts`: the logs, oldest first."""
        super().__init__([*(part.path for part in parts[:-1]), entry.log], live=live, remote=parts[-1])
        self._parts = parts
        self._ending = threading.Event()

    @property
    def remote_logs(self) -> Sequence[RemoteLog]:
        return self._parts

    def stop(self) -> None:
        self._ending.set()
        super().stop()

    def _read_parts(self) -> None:
        for part in self._parts[:-1]:
            self._fetch(part)
        super()._read_parts()

    def _fetch(self, part: RemoteLog) -> None:
        for wait in chain(PATIENCE, repeat(PATIENCE[-1])):
            try:
                part.fetch()
            except Lost:
                # The last part, which is watched, tells how it stands with the line.
                if self._ending.wait(wait):
                    return
            except Gone as error:
                self.intake.deliver(Notice("unreadable", f"{part.name}: {error}"))
                return
            else:
                return


class UnfetchedFeed(RunFeed):
    """A run of which there can be no copy here."""

    def __init__(self, entry: RunEntry, reason: str) -> None:
        super().__init__(entry.log, live=False)
        self._reason = reason

    def start(self) -> None:
        self.intake.deliver(Notice("unreadable", f"{self.log.name} cannot be fetched: {self._reason}"))
        self.intake.finish()


def remote_feed_of(runs: RemoteRuns, entry: RunEntry, *, live: bool) -> RunFeed:
    """What fetches and reads a run of another machine: all of its parts. `live`: follow its log as it grows."""
    try:
        parts = [RemoteLog(runs.machine, runs.address_of(part), follow=live) for part in entry.parts]
    except OSError as error:  # no room for a copy
        return UnfetchedFeed(entry, error.strerror or str(error))
    parts[-1].size, parts[-1].modified = entry.size, entry.modified
    if len(parts) > 1:
        return JoinedRemoteFeed(entry, parts, live=live)
    return RunFeed(entry.log, live=live, remote=parts[0])
