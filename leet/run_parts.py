"""The logs of one run that was resumed: each time in a directory of its own, with the same id in its name.

wandb/offline-run-20251130_105320-abc/run-abc.wandb    part 1
wandb/offline-run-20251130_142001-abc/run-abc.wandb    part 2
"""

from __future__ import annotations

import os
from pathlib import Path

from leet.discovery import RUN_DIRECTORY


def parts_of(log: Path) -> tuple[Path, ...]:
    """The logs of the run that `log` is a part of, oldest first, itself among them; it alone where there are no others.

    Those that cannot be looked for are left out.
    """
    directory = log.parent
    if not RUN_DIRECTORY.match(directory.name):  # `.`, or the link to the latest run
        directory = directory.resolve()
    match = RUN_DIRECTORY.match(directory.name)
    if match is None:
        return (log,)
    found = [(match["time"], directory.name, log)]
    ending = f"-{match['id']}"
    try:
        with os.scandir(directory.parent) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(ending) and entry.name != directory.name]
    except OSError:
        return (log,)
    for name in names:
        other, there = RUN_DIRECTORY.match(name), directory.parent / name / log.name
        if other is not None and other["id"] == match["id"] and there.is_file():
            found.append((other["time"], name, there))
    return tuple(part for _, _, part in sorted(found))


def place(log: Path) -> tuple[int, int]:
    """(which part of its run a log is, counted from 1; how many there are)."""
    parts = parts_of(log)
    return parts.index(log) + 1, len(parts)


def told(log: Path) -> str:
    """What is to be said of a log that is one part of several; empty for the only one."""
    parts = parts_of(log)
    if len(parts) < 2:
        return ""
    others = ", ".join(str(part) for part in parts if part != log)
    return f"{log} is part {parts.index(log) + 1} of {len(parts)} of a resumed run; without {others}"
