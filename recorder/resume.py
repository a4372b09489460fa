"""Going on with a run that was recorded before: a new directory of the same id, whose steps continue the old ones.

A log is never appended to. What a new one has to know of the older ones is the last step, which is read from their
ends: blocks begin at multiples of 32 KiB, so reading can begin at any of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recorder.errors import UsageError
from recorder.notices import warn
from recorder.settings import Settings
from recorder.transaction_log.framing import BLOCK, CHUNK_HEADER, FIRST, FULL, HEADER, LAST, MIDDLE, TYPE_CRC

AUTO_FILE = "wandb-resume.json"
"""Beside the runs; names the run that `resume="auto"` goes on with. It is gone when that run has ended well."""

_READ_FIRST = 8
_FORK = re.compile(r"(?P<run>[^?]+)\?(?P<metric>[\w/.]+)=(?P<value>\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Branch:
    """Where a run leaves another one (`fork_from`) or its own past (`resume_from`): `<run>?_step=<value>`."""

    run: str
    metric: str
    value: float

    def record(self) -> dict[str, object]:
        """The fields of a BranchPoint."""
        return {"run": self.run, "metric": self.metric, "value": self.value}


def branch(text: str, setting: str) -> Branch:
    """Reads `<run>?_step=<value>`. Raises UsageError for anything else."""
    match = _FORK.fullmatch(text)
    if match is None or match["metric"] != "_step":
        raise UsageError(f"{setting} = {text!r} is not possible: write it like <run id>?_step=100")
    return Branch(match["run"], match["metric"], float(match["value"]))


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where a run begins."""

    step: int = 0
    resumed: bool = False
    branch: Branch | None = None


def beginning(settings: Settings, base: Path) -> Beginning:
    """Where the run of these settings begins, among the runs in `base`; gives it its id for `resume="auto"`.

    Raises UsageError where the settings contradict each other or what is there.
    """
    if settings.fork_from and settings.resume_from:
        raise UsageError("fork_from and resume_from exclude each other")
    if settings.fork_from or settings.resume_from:
        if settings.resume:
            raise UsageError("resume goes with neither fork_from nor resume_from")
        setting = "fork_from" if settings.fork_from else "resume_from"
        point = branch(getattr(settings, setting), setting)
        if setting == "resume_from":
            if settings.run_id not in (None, point.run):
                raise UsageError(f"resume_from names the run {point.run!r}, and the id is {settings.run_id!r}")
            settings.run_id = point.run
        elif settings.run_id == point.run:
            raise UsageError("a run cannot be forked from itself; resume_from goes back to an earlier step")
        return Beginning(int(point.value) + 1, setting == "resume_from", point)
    if not settings.resume:
        return Beginning()
    if settings.resume == "auto":
        settings.run_id = settings.run_id or _noted_id(base)
    older = logs_of(base, settings.run_id) if settings.run_id else []
    if settings.resume == "must" and not older:
        what = f"no run {settings.run_id!r} is recorded in {base}" if settings.run_id else "no id was given"
        raise UsageError(f"resume='must', and {what}; resume='allow' begins it where it is not there")
    if settings.resume == "never":
        if older:
            raise UsageError(f"resume='never', and run {settings.run_id!r} is recorded in {older[-1].parent}")
        return Beginning()
    steps = [step for step in map(last_step, older) if step is not None]
    return Beginning(max(steps) + 1 if steps else 0, bool(older))


def logs_of(base: Path, run_id: str) -> list[Path]:
    """The logs of a run, the oldest first."""
    name = f"run-{run_id}.wandb"
    try:
        directories = sorted(path for path in base.iterdir() if path.name.endswith(f"-{run_id}"))
    except OSError:
        return []
    return [path / name for path in directories if not path.is_symlink() and (path / name).is_file()]


def note_id(base: Path, run_id: str) -> None:
    """Notes the run for the next `resume="auto"`."""
    try:
        (base / AUTO_FILE).write_text(json.dumps({"run_id": run_id}), encoding="utf-8")
    except OSError as error:
        warn(f"resume='auto' will not find run {run_id}: {error.strerror}")


def forget_id(base: Path) -> None:
    """The run has ended well: the next one is another."""
    with contextlib.suppress(OSError):
        (base / AUTO_FILE).unlink()


def _noted_id(base: Path) -> str | None:
    try:
        noted = json.loads((base / AUTO_FILE).read_text(encoding="utf-8"))
        return str(noted["run_id"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def last_step(log: Path) -> int | None:
    """The largest step near the end of a log; None for a log without rows, or one that cannot be read."""
    try:
        size = os.path.getsize(log)
        blocks = _READ_FIRST
        while True:
            start = max(0, (size // BLOCK - blocks) * BLOCK)
            with open(log, "rb") as file:
                file.seek(start)
                data = file.read()
            steps = [step for step in map(_step_of, _payloads(data, start)) if step is not None]
            if steps or start == 0:
                return max(steps, default=None)
            blocks *= 4
    except OSError as error:
        warn(f"{log} cannot be read, so steps may begin anew: {error.strerror}")
        return None


def _payloads(data: bytes, start: int) -> Iterator[bytes]:
    """The whole records in the bytes of a log from the block at `start` on; what is damaged is left out."""
    at = len(HEADER) if start == 0 else 0
    parts: list[bytes] | None = None
    while at + CHUNK_HEADER.size <= len(data):
        left = BLOCK - at % BLOCK
        if left < CHUNK_HEADER.size:
            at += left
            continue
        crc, length, kind = CHUNK_HEADER.unpack_from(data, at)
        payload = data[at + CHUNK_HEADER.size : at + CHUNK_HEADER.size + length]
        if length + CHUNK_HEADER.size > left or zlib.crc32(payload, TYPE_CRC[kind]) != crc:
            parts = None
            at += left
            continue
        at += CHUNK_HEADER.size + length
        if kind == FULL:
            parts = None
            yield payload
        elif kind == FIRST:
            parts = [payload]
        elif kind in (MIDDLE, LAST) and parts is not None:
            parts.append(payload)
            if kind == LAST:
                yield b"".join(parts)
                parts = None


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field of a message. Raises IndexError or ValueError for what is none."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield tag >> 3, value
        elif kind == 2:
            length, at = _varint(message, at)
            yield tag >> 3, message[at : at + length]
            at += length
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise ValueError("not a message")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _step_of(payload: bytes) -> int | None:
    """The step of a history record; None for any other. The item `_step` counts, as it does for every reader."""
    try:
        for number, history in _fields(payload):
            if number != 2 or not isinstance(history, bytes):
                continue
            step = 0
            for field, value in _fields(history):
                if field == 1 and isinstance(value, bytes) and b"_step" in value:
                    item = [(n, v) for n, v in _fields(value) if isinstance(v, bytes)]
                    keys = [v for n, v in item if n in (1, 2)]
                    texts = [v for n, v in item if n == 16]
                    if keys == [b"_step"] and texts:
                        return int(float(texts[0]))
                elif field == 2 and isinstance(value, bytes):
                    step = next((int(v) for n, v in _fields(value) if n == 1 and isinstance(v, int)), 0)
            return step
    except (IndexError, ValueError):
        return None
    return None
