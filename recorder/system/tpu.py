"""
Google TPUs: the chips on the PCI bus, and the ways to ask them.

libtpu is loaded only where a chip was found: on other machines its start-up code ends the process. What asks the chips
is in `tpu_source`, which is not imported before either.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from recorder.system.source import NotHere, SystemSettings

if TYPE_CHECKING:
    from recorder.system.families import Warn
    from recorder.system.tpu_source import TpuSource

ROOT = Path("/")
_VENDOR = 0x1AE0


class Kind(NamedTuple):
    """A generation: its name, GiB of memory of a device (of a chip for 7x), devices on a chip."""

    name: str
    hbm_gib: int
    devices: int
    duty_per_chip: bool = True
    """Whether the duty cycle is told once for a chip, also where a chip is two devices."""


CHIPS: dict[tuple[int, int | None], Kind] = {
    (0x0027, 0x004E): Kind("v2", 8, 2),
    (0x0027, 0x004F): Kind("v3", 16, 2),
    (0x005E, None): Kind("v4", 32, 1),
    (0x0063, None): Kind("v5e", 16, 1),
    (0x0062, None): Kind("v5p", 95, 1),
    (0x006F, None): Kind("v6e", 32, 1),
    (0x0076, None): Kind("7x", 192, 2, duty_per_chip=False),
}
"""PCI device and, where it tells generations apart, subsystem → kind."""


def open_source(settings: SystemSettings, warn: Warn, root: Path = ROOT) -> TpuSource:
    """NotHere without a chip, or without a way to ask it."""
    chips = find_chips(root)
    if not chips:
        raise NotHere("no TPU on the PCI bus")
    from recorder.system.tpu_source import TpuSource

    sdk: Any = None
    service = None
    with suppress(ImportError):
        from libtpu.sdk import tpumonitoring

        sdk = tpumonitoring
    with suppress(ImportError):
        from recorder.system.tpu_runtime import RuntimeService

        service = RuntimeService()
    if sdk is None and service is None:
        raise NotHere("a TPU, but neither libtpu nor grpcio is installed")
    return TpuSource(chips, sdk, service)


def find_chips(root: Path = ROOT) -> list[Kind]:
    """The TPU chips on the PCI bus. (Every machine has dozens of other devices there: they are passed over quickly.)"""
    bus = os.path.join(root, "sys/bus/pci/devices")
    chips = []
    with suppress(OSError):
        for name in sorted(os.listdir(bus)):
            device = os.path.join(bus, name)
            if _hexadecimal(device, "vendor") == _VENDOR:
                number, subsystem = _hexadecimal(device, "device"), _hexadecimal(device, "subsystem_device")
                kind = CHIPS.get((number, subsystem)) or CHIPS.get((number, None))
                if kind is not None:
                    chips.append(kind)
    return chips


def _hexadecimal(device: str, name: str) -> int:
    try:
        with open(os.path.join(device, name), "rb", buffering=0) as file:
            return int(file.read(32), 16)
    except (OSError, ValueError):
        return -1
