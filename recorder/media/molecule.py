"""Molecules: files of the usual formats."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from recorder.media.content import Content
from recorder.media.media import Json, Media, captions, file_of

FORMATS = ("pdb", "pqr", "mmcif", "mcif", "cif", "sdf", "sd", "gro", "mol2", "mmtf")


class Molecule(Media):
    """A molecule of a row.

    Args:
        data_or_path: the path of a file, or a file object.
        caption: text below it.
        file_type: the format of a file object that has no name.

    Raises ValueError for a format that is not one of `FORMATS`, OSError for a file that cannot be read.
    """

    TYPE = "molecule-file"
    DIRECTORY = "media/molecule"

    def __init__(self, data_or_path: Any, caption: str | None = None, file_type: str | None = None) -> None:
        super().__init__(file_or_stream(data_or_path, file_type, FORMATS), caption)

    @classmethod
    def batch(cls, items: Sequence[Any], objects: Sequence[Json]) -> Json:
        """`molecule`: the names of the files."""
        names = [found["path"] for found in objects]
        return {"_type": "molecule", "filenames": names, "count": len(names), "captions": captions(items)}


def file_or_stream(given: Any, file_type: str | None, formats: Sequence[str]) -> Content:
    """The content of a path or of a file object, whose format has to be one of those. Raises ValueError, OSError."""
    if not isinstance(given, str | os.PathLike) and isinstance(getattr(given, "name", None), str):
        given = given.name
    if isinstance(given, str | os.PathLike):
        for name in formats:
            if os.fspath(given).lower().endswith(f".{name}"):
                return file_of(given, f".{name}" if os.fspath(given).endswith(f".{name}") else None)
        raise ValueError(f"{given}: one of the formats {', '.join(formats)} is needed")
    if not hasattr(given, "read"):
        raise ValueError(f"the path of a file or a file object is needed, not {type(given).__qualname__}")
    if file_type not in formats:
        raise ValueError(f"a file object needs file_type=, one of {', '.join(formats)}")
    if hasattr(given, "seek"):
        given.seek(0)
    data = given.read()
    return Content(data.encode() if isinstance(data, str) else bytes(data), extension=f".{file_type}")
