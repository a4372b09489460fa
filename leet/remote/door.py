"""From an address that a person typed to a log that can be read here.

Connecting is the first thing that is done, in the foreground: whatever ssh asks, it asks before there is a screen.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from leet.discovery import RUN_DIRECTORY
from leet.remote.address import Address
from leet.remote.listing import Listing, NoRemoteRun, list_runs
from leet.remote.machine import Machine
from leet.remote.remote_file import Gone, ask_pieces, reason
from leet.remote.remote_log import RemoteLog
from leet.remote.remote_runs import RemoteRuns
from leet.remote.shell import Lost, Shell


@dataclass(frozen=True, slots=True)
class Opened:
    """A machine that has answered, and what an address means there."""

    machine: Machine
    listing: Listing
    address: Address
    """As it was typed."""

    @property
    def is_directory(self) -> bool:
        """A directory was asked for that is not that of one run."""
        return bool(self.listing.root)


def open_address(address: Address) -> Opened:
    """Connect and list. Raises NoRemoteRun for everything that keeps one from it."""
    try:
        shell = Shell.connect(address)
    except Lost as error:
        raise NoRemoteRun(f"{address.login}: {error}{_hint(address, error)}") from error
    try:
        return Opened(Machine(address, shell), list_runs(shell, address), address)
    except Lost as error:
        shell.close()
        raise NoRemoteRun(f"{address.login}: {error}") from error
    except NoRemoteRun:
        shell.close()
        raise


def watch(opened: Opened) -> RemoteLog:
    """The newest log of what was opened, to be started by whoever shows it. Raises NoRemoteRun."""
    _require_runs(opened)
    address = opened.address.at(opened.listing.runs[0].path)
    try:
        log = RemoteLog(opened.machine, address, own=True)
        (piece,) = ask_pieces(opened.machine, address.path, (0, 0))
        log.size, log.modified = piece.size, piece.modified
    except (Lost, Gone, OSError) as error:
        opened.machine.close()
        raise NoRemoteRun(_why(address, error)) from error
    return log


def _require_runs(opened: Opened) -> None:
    if not opened.listing.runs:
        opened.machine.close()
        raise NoRemoteRun(
            f"{opened.address}: no runs here; give a .wandb file, a run directory, or a directory holding wandb/"
        )


def watch_all(opened: Opened) -> RemoteRuns:
    """All runs below the directory that was opened, to be started by whoever shows them. Raises NoRemoteRun."""
    try:
        return RemoteRuns(opened.machine, opened.address.at(opened.listing.root), opened.listing)
    except OSError as error:
        opened.machine.close()
        raise NoRemoteRun(_why(opened.address, error)) from error


def beside(log: RemoteLog) -> RemoteRuns | None:
    """The runs beside a log, over the same connection, which is theirs from now on; None where it is among none."""
    directory, name = os.path.split(os.path.dirname(log.address.path))
    if not directory.startswith("/") or not RUN_DIRECTORY.match(name):
        return None
    try:
        runs = RemoteRuns(log.machine, log.address.at(directory), Listing((), "", directory))
    except OSError:
        return None
    log.own = False
    return runs


def fetch(address: Address, *, follow: bool = False) -> tuple[RemoteLog, int]:
    """Fetch the newest log that an address means, to its present end; the log, whose `path` is that of the local copy,
    and how many others there are. Raises NoRemoteRun.

    With `follow` the copy goes on growing as long as this process lives.
    """
    opened = open_address(address)
    try:
        log = watch(opened)
        log.fetch(_show_progress if sys.stderr.isatty() else lambda have, size: None)
    except (Lost, Gone, OSError) as error:
        opened.machine.close()
        raise NoRemoteRun(_why(address, error)) from error
    if follow:
        log.start(lambda newest: None, lambda: None)
    else:
        opened.machine.close()
    return log, len(opened.listing.runs) - 1


def fetch_all(address: Address) -> list[Path]:
    """Fetch every log that an address means, to its present end; the local copies, oldest first. Raises NoRemoteRun."""
    opened = open_address(address)
    _require_runs(opened)
    copies: list[Path] = []
    try:
        for run in reversed(opened.listing.runs):
            log = RemoteLog(opened.machine, opened.address.at(run.path))
            log.fetch(_show_progress if sys.stderr.isatty() else lambda have, size: None)
            copies.append(log.path)
    except (Lost, Gone, OSError) as error:
        raise NoRemoteRun(_why(address, error)) from error
    finally:
        opened.machine.close()
    return copies


def _why(address: Address, error: Exception) -> str:
    if isinstance(error, Gone):
        return f"{address}: {reason(str(error))}"
    if isinstance(error, OSError):
        return f"{error.filename or 'the copy'}: {error.strerror or error}"
    return f"{address.login}: {error}"


def _hint(address: Address, error: Lost) -> str:
    if error.refused:
        return f"; first make `ssh {address.login}` work"
    if "could not resolve" in str(error).lower():
        return f"; a local file of that name is ./{address}"
    return ""


def _show_progress(have: int, size: int) -> None:
    done = have >= size
    text = "" if done else f"fetching {have / 1e6:.1f} of {size / 1e6:.1f} MB"
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()
