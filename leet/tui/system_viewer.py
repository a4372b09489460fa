"""Opening a file with the program that the system has for it, beside the screen."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


class NoViewer(Exception):  # noqa: N818 — named for what there is not
    """Nothing here can open it; the message is one line for people."""


def open_file(file: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Start the system's viewer. It is given no terminal, so that it cannot write over the screen. Raises NoViewer."""
    path = os.path.abspath(file)
    program = _program(environ)
    if program is None:
        raise NoViewer(f"no viewer here: {_reason(environ)}")
    try:
        subprocess.Popen(
            [program, path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise NoViewer(f"{program} cannot be started: {error.strerror or error}") from error


def _program(environ: Mapping[str, str]) -> str | None:
    path = environ.get("PATH")
    if sys.platform == "darwin":
        return None if "SSH_CONNECTION" in environ else shutil.which("open", path=path)
    if environ.get("WSL_DISTRO_NAME") and (found := shutil.which("wslview", path=path)):
        return found
    if not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        return None
    return shutil.which("xdg-open", path=path)


def _reason(environ: Mapping[str, str]) -> str:
    if "SSH_CONNECTION" in environ:
        return "over ssh"
    if sys.platform != "darwin" and not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        return "no graphical screen"
    return "xdg-open is not installed"
