"""Finding a vendor's program, and running it for its output within a limit of time."""

from __future__ import annotations

import os
from collections.abc import Sequence

TIME_LIMIT = 10.0


def find_tool(name: str, *directories: str) -> str | None:
    """The program of that name on PATH or else in one of the directories. (shutil takes longer to import than this.)"""
    for directory in (*os.get_exec_path(), *directories):
        path = os.path.join(directory, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def output_of(command: Sequence[str], time_limit: float = TIME_LIMIT) -> str:
    """
    What a program prints on standard output. OSError where it can't be started, ends with an error, or takes longer
    than `time_limit` seconds (it is killed then).
    """
    import subprocess

    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=time_limit, check=False)
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"{command[0]} takes longer than {time_limit:g} s") from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise OSError(f"{command[0]} ends with {done.returncode}" + (f": {said[-1]}" if said else ""))
    return done.stdout.decode(errors="replace")
