"""From what a person types to the log of a run.

    nothing            $WANDB_DIR if set, else the run directory one stands in, else ./wandb
    FILE.wandb         that log
    a run directory    the one log in it
    any other          the newest run of the `wandb/` directory that it is or holds
    HOST:PATH          the same on another machine, over ssh; a local file of that name comes first

Who can show many runs asks `open_target`, for which a directory that is not that of one run stands for all runs below.

The newest run of a `wandb/` directory is what its `latest-run` link points to; where the link is missing or
points nowhere, the run whose directory name carries the latest time. A recording of the machine alone (`leet top`,
`leet record` without a command) is meant only where there is no other run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leet.settings.store import settings

if TYPE_CHECKING:
    from leet.reading.reader_process import ReaderProcess
    from leet.remote.remote_log import RemoteLog
    from leet.remote.remote_runs import RemoteRuns

RUN_DIRECTORY = re.compile(r"^(?:offline-)?run-(?P<time>\d{8}_\d{6})-(?P<id>.+)$", re.DOTALL)
"""Name of a run directory as the SDK and our recorder make it."""

_MONITOR = re.compile(r"-monitor-[a-z0-9]{8}$")
"""The end of the directory name of a recording of the machine alone, as our recorder makes its id.

Its name tells, and not the job type in its log, since directories are chosen from before logs are read, also on other
machines.
"""

DIRECTORY_NAMES = ("wandb", ".wandb")
"""Where the SDK puts run directories; the second where the first belongs to something else."""


class NoRun(Exception):  # noqa: N818  an answer to the person, not a fault of the program
    """No run where one was looked for; the text is one line saying what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Found:
    """The log to open, how many other runs lie beside its directory, and where a newer one would appear."""

    log: Path
    others: int = 0
    directory: Path | None = None
    """The `wandb/` directory of which the log is the newest; None for one that was asked for by name."""
    remote: RemoteLog | None = None
    """What fetches the log from another machine, while `log` is the local copy of it."""
    origin: str = ""
    """Address of the log of which `log` is a copy; empty for one that is here."""
    process: ReaderProcess | None = None
    """What reads a big log already, before there is anything that shows it."""

    @property
    def name(self) -> str:
        """Where the log is, as a person would say it."""
        return self.origin or str(self.log)

    @property
    def choice(self) -> str:
        """What is to be said of a log that was chosen among others; empty where there were none."""
        return f"{self.name} is the newest of {self.others + 1:,} runs" if self.others else ""

    @property
    def root(self) -> Path | None:
        """The directory in which the run lies among others; None where there is none of the kind."""
        if self.remote is not None:
            return None
        directory = self.log.parent
        if not RUN_DIRECTORY.match(directory.name):  # `.`, or the link to the latest run
            directory = directory.resolve()
        return directory.parent if RUN_DIRECTORY.match(directory.name) else None


@dataclass(frozen=True, slots=True)
class WorkspaceRoot:
    """A directory of which all runs below are meant. There may be none yet."""

    path: Path
    remote: RemoteRuns | None = None
    """What makes it look like a directory on another machine."""


def find_run(path: str | None, environ: Mapping[str, str] = os.environ) -> Path:
    """The `.wandb` file that `path` means; of one on another machine a copy. Raises NoRun."""
    return locate(path, environ).log


def locate(
    path: str | None, environ: Mapping[str, str] = os.environ, *, watched: bool = False, follow: bool = False
) -> Found:
    """Like `find_run`, with the number of runs that were passed over. Raises NoRun.

    A log on another machine is fetched to its present end, and with `follow` from then on in the background; one that
    is to be `watched` is fetched by whoever shows it.
    """
    if path is None:
        return _locate_default(environ)
    if ":" in path and (found := _remote(path, watched, follow=follow)) is not None:
        assert isinstance(found, Found)
        return found
    target = expanded(path)
    try:
        if target.is_dir():
            return _in_directory(target, path)
        if target.exists():
            return _file(target, path)
    except OSError as error:
        raise NoRun(f"{path}: {error.strerror or error}") from error
    if target.is_symlink():
        if target.name == "latest-run" and target.parent.is_dir():
            return _newest(target.parent, path)
        raise NoRun(f"{path}: a link to {os.readlink(target)}, which is not there")
    raise NoRun(f"{path}: no such file or directory{_similar(target)}")


def open_target(
    path: str | None, environ: Mapping[str, str] = os.environ, *, watched: bool = False
) -> Found | WorkspaceRoot:
    """The run to open, or the directory whose runs are to be listed. Raises NoRun.

    Like `locate`, but a directory that was asked for and is not that of one run stands for all runs below it; and so
    does the one that is looked into when nothing was asked for, where the settings say so.
    """
    if path is None and settings().choice("startup") == "workspace":
        directory, _ = _default_directory(environ)
        if not logs_in(directory):
            return WorkspaceRoot(directory)
    if path is not None:
        if ":" in path and watched and (target_there := _remote(path, watched, many=True)) is not None:
            return target_there
        target = expanded(path)
        try:
            if target.is_dir() and not RUN_DIRECTORY.match(target.resolve().name) and not logs_in(target):
                return WorkspaceRoot(target)
        except OSError as error:
            raise NoRun(f"{path}: {error.strerror or error}") from error
    return locate(path, environ, watched=watched)


def _remote(path: str, watched: bool, *, many: bool = False, follow: bool = False) -> Found | WorkspaceRoot | None:
    """What `path` means on another machine, with `many` perhaps all runs of a directory; None for a local path."""
    from leet.remote.address import BadAddress, parse

    try:
        address = parse(path)
    except BadAddress as error:
        raise NoRun(str(error)) from error
    if address is None:
        return None
    from leet.remote import door
    from leet.remote.listing import NoRemoteRun

    try:
        if not watched:
            fetched, others = door.fetch(address, follow=follow)
            return Found(fetched.path, others, origin=str(fetched.address))
        opened = door.open_address(address)
        if many and opened.is_directory:
            runs = door.watch_all(opened)
            return WorkspaceRoot(runs.root, runs)
        log = door.watch(opened)
    except NoRemoteRun as error:
        raise NoRun(str(error)) from error
    return Found(log.path, len(opened.listing.runs) - 1, remote=log)


def logs_there(path: str) -> list[Path] | None:
    """Copies of all logs that `path` means on another machine, oldest first; None for a local path. Raises NoRun."""
    from leet.remote.address import BadAddress, parse

    try:
        address = parse(path)
    except BadAddress as error:
        raise NoRun(str(error)) from error
    if address is None:
        return None
    from leet.remote import door
    from leet.remote.listing import NoRemoteRun

    try:
        return door.fetch_all(address)
    except NoRemoteRun as error:
        raise NoRun(str(error)) from error


def expanded(path: str) -> Path:
    """`path` with `~` and `~name` as home directories; of somebody who is not known here it is the name of a file."""
    return Path(os.path.expanduser(path))


def run_directories(directory: Path) -> list[Path]:
    """The run directories straight under `directory`, oldest first by the time in their names."""
    found = []
    with os.scandir(directory) as entries:
        for entry in entries:
            match = RUN_DIRECTORY.match(entry.name)
            if match and entry.is_dir():
                found.append((match["time"], entry.name))
    return [directory / name for _, name in sorted(found)]


def of_machine(directory: str) -> bool:
    """Whether the run in a directory of this name (or path) is a recording of the machine alone."""
    return _MONITOR.search(directory) is not None


def logs_in(directory: Path) -> list[Path]:
    """The run logs straight inside `directory`."""
    return sorted(p for p in directory.glob("run-*.wandb") if p.is_file())


def newest_log(directory: Path) -> Path | None:
    """The log of the newest run straight under `directory`; None where there is none."""
    try:
        return _newest(directory, str(directory)).log
    except NoRun:
        return None


def _locate_default(environ: Mapping[str, str]) -> Found:
    return _in_directory(*_default_directory(environ))


def _default_directory(environ: Mapping[str, str]) -> tuple[Path, str]:
    """Where to look when nothing was asked for, and what to call it. Raises NoRun where there is no such place."""
    chosen = environ.get("WANDB_DIR")
    if chosen:
        directory = expanded(chosen)
        if not directory.is_dir():
            raise NoRun(f"$WANDB_DIR is {chosen}, which is no directory; unset it or give a PATH")
        return directory, f"$WANDB_DIR ({chosen})"
    here = Path()
    if logs_in(here) or _holds_runs(here):
        return here, "this directory"
    for name in DIRECTORY_NAMES:
        if (here / name).is_dir():
            return here / name, f"./{name}"
    raise NoRun(
        "no ./wandb here: go to where the training was started, or give a PATH "
        "(a .wandb file, a run directory, or a directory holding wandb/)"
    )


def _file(target: Path, shown: str) -> Found:
    if target.suffix != ".wandb":
        raise NoRun(f"{shown}: not a run log; give a .wandb file or a directory with one")
    if not target.is_file():
        raise NoRun(f"{shown}: not a regular file")
    return Found(target)


def _in_directory(directory: Path, shown: str) -> Found:
    logs = logs_in(directory)
    if len(logs) == 1:
        return Found(logs[0])
    if logs:
        names = ", ".join(log.name for log in logs[:3])
        raise NoRun(f"{shown}: holds {len(logs)} logs; name one of them ({names}{', …' if logs[3:] else ''})")
    if _holds_runs(directory):
        return _newest(directory, shown)
    for name in DIRECTORY_NAMES:
        below = directory / name
        if below.is_dir():
            return _newest(below, f"{shown}/{name}" if shown != "this directory" else f"./{name}")
    name = directory.resolve().name
    if name in DIRECTORY_NAMES:
        return _newest(directory, shown)
    if RUN_DIRECTORY.match(name):
        raise NoRun(f"{shown}: a run directory without its run-*.wandb log; it may not have been started")
    if deeper := _holding_runs(directory):
        others = f", or another of {len(deeper):,} such directories" if len(deeper) > 1 else ""
        raise NoRun(f"{shown}: no runs here, but further below; give {directory / deeper[0]}{others}")
    raise NoRun(f"{shown}: no runs here; give a .wandb file, a run directory, or a directory holding wandb/")


def _holding_runs(directory: Path) -> list[str]:
    """Names of the directories straight under `directory` that hold wandb/, sorted."""
    with os.scandir(directory) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir())
    return [name for name in names if any((directory / name / below).is_dir() for below in DIRECTORY_NAMES)]


def _holds_runs(directory: Path) -> bool:
    return (directory / "latest-run").is_symlink() or bool(run_directories(directory))


def _newest(directory: Path, shown: str) -> Found:
    runs = run_directories(directory)
    latest = directory / "latest-run"
    candidates = ([latest.resolve()] if latest.is_dir() else []) + runs[::-1]
    for candidate in sorted(candidates, key=lambda run: of_machine(run.name)):
        logs = logs_in(candidate)
        if logs:
            others = _other_runs(runs, candidate)
            return Found(logs[-1], others, directory)
    if runs:
        raise NoRun(f"{shown}: {len(runs)} run directories, but none holds a run-*.wandb log yet")
    raise NoRun(f"{shown}: no runs yet; start a training, or `leet demo`")


def _other_runs(runs: list[Path], candidate: Path) -> int:
    """How many runs there are besides that of a directory: a run that was resumed has several."""
    ids = [match["id"] for run in runs if (match := RUN_DIRECTORY.match(run.name))]
    own = RUN_DIRECTORY.match(candidate.name)
    return len(set(ids) - {own["id"] if own else ""})


def _similar(target: Path) -> str:
    """A hint where one letter, or the suffix, is all that is wrong."""
    from difflib import get_close_matches

    try:
        names = os.listdir(target.parent)
    except OSError:
        return ""
    close = get_close_matches(target.name, names, n=1, cutoff=0.8)
    return f"; did you mean {target.parent / close[0]}?" if close else ""
