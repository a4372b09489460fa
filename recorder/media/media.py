"""What all media have in common: a file in the run, and a JSON object in the row that stands for it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

from recorder.media.content import Content

Json = dict[str, Any]


class Files(Protocol):
    """Where the files of a run go; `recorder.files.RunFiles`."""

    def keep(self, content: Content, directory: str, key: str, step: int | str) -> str:
        """Writes a media file and records it. Its path relative to `files/`. Raises OSError."""

    def label(self, kind: str, key: str, value: Any) -> None:
        """Records class labels once, in the config."""

    def chart(self, path: tuple[str, ...], value: Json) -> None:
        """Records what a chart looks like, in the config."""

    def table(self, table: Media, key: str) -> Json:
        """Records the artifact of a table. The addresses of the table in it. Raises OSError."""


class Bundle(Protocol):
    """Where the files of an artifact go; `recorder.artifacts.Artifact`."""

    def hold(self, content: Content, directory: str) -> str:
        """Adds a media file. Its path in the artifact. Raises OSError."""

    def hold_object(self, value: Json, name: str) -> tuple[str, str]:
        """Adds a JSON file. Its path in the artifact and its digest. Raises OSError."""


class Media:
    """A value that is a file. Subclasses make the content and say where it goes."""

    TYPE: ClassVar[str] = ""
    """`_type` of the object in the row."""
    DIRECTORY: ClassVar[str] = ""
    """Below `files/`."""
    BATCH: ClassVar[bool] = True
    """Whether a list of them is one object in the row."""
    MOST: ClassVar[int | None] = None
    """How many of a list are recorded."""

    def __init__(self, content: Content, caption: str | None = None) -> None:
        self.content = content
        self.caption = caption
        self._kept: tuple[Files, str] | None = None
        """The run that it was logged to last, and its path there."""

    def keep(self, files: Files, key: str, step: int | str, *, again: bool = False) -> Json:
        """Writes the file into the run, and gives the object for the row.

        One that is logged under a second key keeps the file of the first, unless it is part of a list (`again`).

        Raises OSError.
        """
        if again or self._kept is None or self._kept[0] is not files:
            self._kept = files, self._write(files, key, step)
        return {**self._object(), "size": self.content.size, "path": self._kept[1], **self._extra()}

    def hold(self, bundle: Bundle) -> Json:
        """Adds the file to an artifact, and gives the object for it there. Raises OSError."""
        path = bundle.hold(self.content, self.DIRECTORY)
        return {**self._object(), "path": path, **self._extra()}

    @classmethod
    def batch(cls, items: Sequence[Any], objects: Sequence[Json]) -> Json:
        """The object in the row for a list of media that are written already."""
        raise NotImplementedError

    def _write(self, files: Files, key: str, step: int | str) -> str:
        return files.keep(self.content, self.DIRECTORY, key, step)

    def _object(self) -> Json:
        found: Json = {} if self.caption is None else {"caption": self.caption}
        return {**found, "_type": self.TYPE, "sha256": self.content.sha256}

    def _extra(self) -> Json:
        """What a kind of media says about itself beyond that."""
        return {}


def file_of(path: str | os.PathLike[str], extension: str | None = None) -> Content:
    """The content of a file of the script's.

    Raises OSError when it cannot be read, ValueError for an address in a cloud, which only a server could follow.
    """
    if re.match(r"(gs|s3|https?)://", str(path)):
        raise ValueError(f"{path} is an address; media that are recorded offline are files or data")
    return Content(path=Path(path).absolute(), extension=extension)


def captions(items: Sequence[Media]) -> list[str | None] | bool:
    """The captions of a list, False where the first has none: as the SDK records them."""
    return [item.caption for item in items] if items[0].caption is not None else False
