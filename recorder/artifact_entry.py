"""One file of an artifact, as its manifest names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of an artifact.

    Attributes:
        path: where it stands in the artifact.
        digest: the MD5 of its content in base 64; for a reference that was not read, the address itself.
        size: in bytes, None for such a reference.
        local_path: where its content lies until it is uploaded; None for a reference.
        ref: the address of a reference.
        skip_cache: whether it is not worth a place in the SDK's cache.
        copied: whether what lies there was put there by the recorder.
    """

    path: str
    digest: str
    size: int | None = None
    local_path: str | None = None
    ref: str | None = None
    skip_cache: bool = False
    copied: bool = False


def fields(entry: Entry) -> dict[str, Any]:
    """What a record tells of it."""
    names = ("path", "digest", "ref", "size", "local_path", "skip_cache")
    return {name: getattr(entry, name) for name in names}
