"""Which disks belong to the watched paths, and which of them to add up."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

_VIRTUAL = ("loop", "ram", "zram")


def choose_devices(partitions: Iterable[tuple[str, str]], paths: Sequence[str], counted: Collection[str]) -> list[str]:
    """
    The devices whose traffic is shown, by the SDK's rules, sorted and each once.

    `partitions` are the mounted real ones as (device, mount point), `counted` the names that have counters.
    A partition counts whose mount point begins a watched path, letter for letter. Where `/` is no partition (the
    overlay of a container) and is all that is watched, every partition counts. Where none of these has counters
    (`mapper/…` names, macOS), every device that has them is taken.
    """
    mounted = [(device.removeprefix("/dev/"), point) for device, point in partitions]
    chosen = {name for name, point in mounted if any(path.startswith(point) for path in paths)}
    if list(paths) == ["/"] and not any(point == "/" for _, point in mounted):
        chosen = {name for name, _ in mounted if not name.startswith(_VIRTUAL)}
    chosen &= set(counted)
    return sorted(chosen or {name for name in counted if not name.startswith(_VIRTUAL)})


def summed_devices(
    devices: Sequence[str], partitions: Iterable[tuple[str, str]], blocks: Path = Path("/sys/block")
) -> list[str]:
    """
    Those of the shown devices whose sum counts every byte once.

    Devices that stand for watched paths lie beside each other and are all added. Where everything was taken, a disk
    comes with its partitions and with what is mapped on top of it: then the real disks alone count (`/sys/block`
    knows them by their hardware), or all of them where the system doesn't say.
    """
    mounted = {device.removeprefix("/dev/") for device, _ in partitions}
    if any(name in mounted for name in devices):
        return list(devices)
    real = [name for name in devices if (blocks / name.replace("/", "!") / "device").exists()]
    return real or list(devices)
