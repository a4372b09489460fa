"""
Whether a machine can have an NVIDIA driver at all: the answer of those that have none, before anything of `nvidia`,
`ctypes` or `pynvml` is loaded.

The answer is no only where there is neither a device nor the library in any place where the loader would look.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from recorder.system.source import NotHere, SystemSettings

if TYPE_CHECKING:
    from recorder.system.families import Warn
    from recorder.system.nvidia import NvidiaSource

LIBRARY = "libnvidia-ml.so.1"
DEVICES = ("/dev/nvidiactl", "/proc/driver/nvidia", "/dev/dxg", "/dev/nvmap")
"""What the driver makes: on servers and desktops (two, as a container may hide one), under WSL, on Jetson boards."""

LOADER_CACHE = "/etc/ld.so.cache"
"""Where glibc's loader looks libraries up: their names stand in it as plain text."""

_DIRECTORIES = ("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib", "/usr/lib/wsl/lib")


def open_source(settings: SystemSettings, warn: Warn) -> NvidiaSource:
    """NotHere, in a fraction of a millisecond, without a driver; else what `nvidia` says."""
    if sys.platform == "darwin":
        raise NotHere("no NVIDIA driver on macOS")
    if sys.platform.startswith("linux") and not may_be_here():
        raise NotHere(f"no NVIDIA driver (no device, and no {LIBRARY})")
    from recorder.system import nvidia

    return nvidia.open_source(settings, warn)


def may_be_here(devices: tuple[str, ...] = DEVICES, cache: str = LOADER_CACHE) -> bool:
    """Whether a device or the library is there. A machine whose loader keeps no cache may have it anywhere."""
    if any(os.path.exists(device) for device in devices):
        return True
    searched = [path for path in os.environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":") if path]
    if any(os.path.exists(os.path.join(directory, LIBRARY)) for directory in (*searched, *_DIRECTORIES)):
        return True
    try:
        with open(cache, "rb") as names:
            return LIBRARY.encode() in names.read()
    except OSError:
        return True
